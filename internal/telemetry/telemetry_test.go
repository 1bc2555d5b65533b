package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// collector is one that keeps what it gets.
type collector struct {
	mu     sync.Mutex
	bodies [][]byte
	header http.Header
	status []int // of the next answers; then 200
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.header = r.Header.Clone()
	if len(c.status) > 0 {
		w.WriteHeader(c.status[0])
		c.status = c.status[1:]
		return
	}
	c.bodies = append(c.bodies, body)
	w.Write([]byte("{}"))
}

func (c *collector) spans(t *testing.T) (out []span) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.bodies {
		var d traceData
		if err := json.Unmarshal(b, &d); err != nil {
			t.Fatalf("%v in %s", err, b)
		}
		for _, rs := range d.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				out = append(out, ss.Spans...)
			}
		}
	}
	return out
}

func (s *span) attr(key string) any {
	for _, kv := range s.Attributes {
		if kv.Key == key {
			for _, v := range kv.Value {
				return v
			}
		}
	}
	return nil
}

// box has a tool that works, and one that is never allowed.
func box(t *testing.T, hook toolbox.Hook) *toolbox.Box {
	t.Helper()
	b, err := toolbox.New(toolbox.Config{Hooks: []toolbox.Hook{hook}})
	if err != nil {
		t.Fatal(err)
	}
	type in struct {
		Text string `json:"text,omitempty"`
	}
	add := func(name string, effects []tool.Effect, res func() (tool.Result, error)) {
		d := tool.Define(tool.Spec{Name: name, Category: "test", Title: name, Description: "Does it.", Example: `{"text":"x"}`}, func(context.Context, *tool.Call, in) (tool.Action, error) {
			return tool.Action{Intent: tool.Intent{Effects: effects}, Run: func(context.Context, tool.Runner) (tool.Result, error) { return res() }}, nil
		})
		if err := b.Register(d, "code"); err != nil {
			t.Fatal(err)
		}
	}
	add("look", []tool.Effect{tool.Read}, func() (tool.Result, error) { return tool.TextResult("seen", nil), nil })
	add("fail", []tool.Effect{tool.Read}, func() (tool.Result, error) {
		return tool.Result{}, tool.Errorf(tool.InvalidParameter, "the secret is swordfish.")
	})
	add("break", []tool.Effect{tool.Execute}, func() (tool.Result, error) { return tool.TextResult("broken", nil), nil })
	return b
}

func TestT13_SpansOfCalls(t *testing.T) {
	c := &collector{}
	web := httptest.NewServer(c)
	defer web.Close()
	tr, err := New(Config{Endpoint: web.URL + "/v1/traces", Version: "1.2", Headers: map[string]string{"Authorization": "Bearer x"}})
	if err != nil {
		t.Fatal(err)
	}
	b := box(t, tr)
	call := func(ctx context.Context, name, session string) {
		if _, err := b.Call(ctx, toolbox.Request{Tool: name, Args: json.RawMessage(`{"text":"swordfish"}`), Session: session, Mode: "code", Model: "m", ID: "c-" + name}); err != nil {
			t.Fatal(err)
		}
	}
	call(t.Context(), "look", "s1")
	call(t.Context(), "fail", "s1")
	call(t.Context(), "break", "s2")
	call(t.Context(), "nothing", "s2")
	tr.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { call(r.Context(), "look", "s1") })).ServeHTTP(httptest.NewRecorder(), func() *http.Request {
		r := httptest.NewRequest("POST", "/", nil)
		r.Header.Set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
		return r
	}())
	if err := tr.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	spans := c.spans(t)
	if len(spans) != 5 {
		t.Fatalf("%d spans", len(spans))
	}
	look, fail, denial, unknown, remote := spans[0], spans[1], spans[2], spans[3], spans[4]
	if look.Name != "execute_tool look" || look.Kind != 1 || look.attr(toolName) != "look" || look.attr(toolCallID) != "c-look" || look.attr(conversationID) != "s1" || look.attr(opName) != "execute_tool" ||
		look.attr(requestModel) != "m" || look.Status != nil || look.Start > look.End || len(look.TraceID) != 32 || len(look.Parent) != 16 {
		t.Errorf("look: %+v", look)
	}
	if fail.Status == nil || fail.Status.Code != 2 || fail.attr(errorType) != "INVALID_PARAMETER" || fail.TraceID != look.TraceID {
		t.Errorf("fail: %+v", fail)
	}
	if denial.attr(denied) != true || denial.attr(errorType) != "PERMISSION_DENIED" || denial.TraceID == look.TraceID {
		t.Errorf("break: %+v", denial)
	}
	if unknown.attr(errorType) == nil {
		t.Errorf("nothing: %+v", unknown)
	}
	if remote.TraceID != "0af7651916cd43dd8448eb211c80319c" || remote.Parent != "b7ad6b7169203331" {
		t.Errorf("of another's trace: %+v", remote)
	}
	for _, body := range c.bodies {
		if bytes.Contains(body, []byte("swordfish")) {
			t.Errorf("arguments or texts stand in a span: %s", body)
		}
		if !bytes.Contains(body, []byte(`"service.name"`)) {
			t.Errorf("no resource: %s", body)
		}
	}
	if c.header.Get("Authorization") != "Bearer x" || c.header.Get("Content-Type") != "application/json" {
		t.Errorf("headers: %v", c.header)
	}
}

// A collector that fails holds up no call and is complained about once; what it says may be sent again is.
func TestT13_CollectorsFail(t *testing.T) {
	c := &collector{status: []int{503}}
	web := httptest.NewServer(c)
	defer web.Close()
	var log bytes.Buffer
	again, err := New(Config{Endpoint: web.URL, Log: slog.New(slog.NewTextHandler(&log, nil)), pause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := box(t, again).Call(t.Context(), toolbox.Request{Tool: "look", Args: json.RawMessage(`{}`), Mode: "code"}); err != nil {
		t.Fatal(err)
	}
	if err := again.Close(t.Context()); err != nil || len(c.spans(t)) != 1 || log.Len() > 0 {
		t.Errorf("sent again: %d spans, %v, %s", len(c.spans(t)), err, log.String())
	}
	web.Close()
	gone, err := New(Config{Endpoint: web.URL, Log: slog.New(slog.NewTextHandler(&log, nil)), pause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	b := box(t, gone)
	for range 3 {
		if _, err := b.Call(t.Context(), toolbox.Request{Tool: "look", Args: json.RawMessage(`{}`), Mode: "code"}); err != nil {
			t.Fatal(err)
		}
		if err := gone.provider.ForceFlush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := gone.Close(t.Context()); err != nil || strings.Count(log.String(), "spans are lost") != 1 {
		t.Errorf("%v, %s", err, log.String())
	}
}

func TestFromEnv(t *testing.T) {
	for _, c := range []struct {
		env      map[string]string
		endpoint string
		bad      string
	}{
		{map[string]string{}, "", ""},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h:4318/"}, "http://h:4318/v1/traces", ""},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h:4318", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://t/x"}, "http://t/x", ""},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h:4318", "OTEL_SDK_DISABLED": "TRUE"}, "", ""},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "", "http/json"},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h", "OTEL_EXPORTER_OTLP_HEADERS": "a"}, "", "name=value"},
	} {
		got, on, err := FromEnv(func(k string) (string, bool) { v, ok := c.env[k]; return v, ok })
		switch {
		case c.bad != "":
			if err == nil || !strings.Contains(err.Error(), c.bad) {
				t.Errorf("%v: %v", c.env, err)
			}
		case err != nil || on != (c.endpoint != "") || on && got.Endpoint != c.endpoint:
			t.Errorf("%v: %+v %v %v", c.env, got, on, err)
		}
	}
	got, _, err := FromEnv(func(k string) (string, bool) {
		return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h", "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b, y = c", "OTEL_SERVICE_NAME": "n"}[k], true
	})
	if err != nil || got.Headers["x-key"] != "a b" || got.Headers["y"] != "c" || got.Service != "n" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := New(Config{Endpoint: "localhost:4318"}); err == nil {
		t.Error("an endpoint without a scheme")
	}
}
