package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// exporter sends spans as OTLP/HTTP in JSON (opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding": ids in hex, 64-bit
// numbers as text, enumerations as numbers).
type exporter struct {
	cfg    Config
	client *http.Client

	mu    sync.Mutex
	quiet time.Time // no failure is logged before
}

func newExporter(c Config) *exporter {
	e := &exporter{cfg: c, client: c.Client}
	if e.client == nil {
		e.client = &http.Client{Timeout: patience}
	}
	if e.cfg.pause == 0 {
		e.cfg.pause = time.Second
	}
	if e.cfg.Log == nil {
		e.cfg.Log = slog.New(slog.DiscardHandler)
	}
	return e
}

// ExportSpans implements the SDK's SpanExporter. What cannot be sent is lost, and said in the log once a minute: traces must
// never stand in the way of the work.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	body, err := json.Marshal(encode(spans))
	if err == nil {
		err = e.send(ctx, body)
	}
	if err != nil {
		e.complain(ctx, err, len(spans))
	}
	return nil
}

// Shutdown implements the SDK's SpanExporter.
func (e *exporter) Shutdown(context.Context) error { return nil }

func (e *exporter) complain(ctx context.Context, err error, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if now := time.Now(); now.After(e.quiet) {
		e.quiet = now.Add(time.Minute)
		e.cfg.Log.WarnContext(ctx, "spans are lost", "spans", n, "endpoint", e.cfg.Endpoint, "err", err)
	}
}

// attempts is how often a batch is sent where the collector says that it may be sent again.
const attempts = 3

func (e *exporter) send(ctx context.Context, body []byte) error {
	for n := 1; ; n++ {
		wait, err := e.try(ctx, body)
		if err == nil || wait < 0 || n == attempts {
			return err
		}
		select {
		case <-time.After(max(wait, time.Duration(n)*e.cfg.pause)):
		case <-ctx.Done():
			return err
		}
	}
}

// try sends a batch once. A negative wait says that it must not be sent again.
func (e *exporter) try(ctx context.Context, body []byte) (wait time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.cfg.Endpoint, bytes.NewReader(body))
	if err != nil {
		return -1, err
	}
	req.Header.Set("Content-Type", "application/json")
	for k, v := range e.cfg.Headers {
		req.Header.Set(k, v)
	}
	res, err := e.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // so that the connection can be used again
	if res.StatusCode < 300 {
		return -1, nil
	}
	err = fmt.Errorf("the collector says %s", res.Status)
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		return time.Duration(min(seconds, 30)) * time.Second, err
	}
	return -1, err
}

// The JSON form of the messages of OTLP, as far as our spans use them.
type (
	traceData struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   resourceOf   `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	resourceOf struct {
		Attributes []keyValue `json:"attributes"`
	}
	scopeSpans struct {
		Scope scope  `json:"scope"`
		Spans []span `json:"spans"`
	}
	scope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	span struct {
		TraceID    string     `json:"traceId"`
		SpanID     string     `json:"spanId"`
		Parent     string     `json:"parentSpanId,omitempty"`
		TraceState string     `json:"traceState,omitempty"`
		Flags      uint32     `json:"flags"`
		Name       string     `json:"name"`
		Kind       int        `json:"kind"`
		Start      string     `json:"startTimeUnixNano"`
		End        string     `json:"endTimeUnixNano"`
		Attributes []keyValue `json:"attributes"`
		Status     *status    `json:"status,omitempty"`
	}
	status struct {
		Code    int    `json:"code"` // 1 ok, 2 error
		Message string `json:"message,omitempty"`
	}
	keyValue struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
)

// encode puts spans into their message. All spans of a provider have one resource and one scope.
func encode(spans []sdk.ReadOnlySpan) traceData {
	first := spans[0]
	s := scopeSpans{Scope: scope{Name: first.InstrumentationScope().Name, Version: first.InstrumentationScope().Version}}
	for _, ro := range spans {
		sc := ro.SpanContext()
		one := span{TraceID: sc.TraceID().String(), SpanID: sc.SpanID().String(), TraceState: sc.TraceState().String(), Flags: uint32(sc.TraceFlags()),
			Name: ro.Name(), Kind: int(ro.SpanKind()), Start: nanos(ro.StartTime()), End: nanos(ro.EndTime()), Attributes: keyValues(ro.Attributes())}
		if ro.Parent().SpanID().IsValid() {
			one.Parent = ro.Parent().SpanID().String()
		}
		switch st := ro.Status(); st.Code {
		case codes.Ok:
			one.Status = &status{Code: 1}
		case codes.Error:
			one.Status = &status{Code: 2, Message: st.Description}
		}
		s.Spans = append(s.Spans, one)
	}
	return traceData{[]resourceSpans{{Resource: resourceOf{keyValues(first.Resource().Attributes())}, ScopeSpans: []scopeSpans{s}}}}
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func keyValues(list []attribute.KeyValue) []keyValue {
	out := make([]keyValue, 0, len(list))
	for _, kv := range list {
		v := map[string]any{}
		switch kv.Value.Type() {
		case attribute.BOOL:
			v["boolValue"] = kv.Value.AsBool()
		case attribute.INT64:
			v["intValue"] = strconv.FormatInt(kv.Value.AsInt64(), 10)
		default:
			v["stringValue"] = kv.Value.String()
		}
		out = append(out, keyValue{string(kv.Key), v})
	}
	return out
}
