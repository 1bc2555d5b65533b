package telemetry

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// Config says where spans go.
type Config struct {
	Endpoint string            // of the collector, with the path: http://localhost:4318/v1/traces
	Headers  map[string]string // sent along, such as credentials
	Service  string            // default "tackle"
	Version  string
	Log      *slog.Logger // default: discards
	Client   *http.Client // default: one with a timeout of 10 s

	pause time.Duration // after the first attempt, growing; default 1 s
}

// FromEnv reads the variables that OpenTelemetry fixes. It reports false where no collector is named, or where
// OTEL_SDK_DISABLED is true. Errors: a variable that cannot be read, or a protocol that is not spoken here.
func FromEnv(lookup func(string) (string, bool)) (Config, bool, error) {
	get := func(name string) string {
		for _, prefix := range []string{"OTEL_EXPORTER_OTLP_TRACES_", "OTEL_EXPORTER_OTLP_"} {
			if v, ok := lookup(prefix + name); ok && v != "" {
				return v
			}
		}
		return ""
	}
	var c Config
	if off, _ := lookup("OTEL_SDK_DISABLED"); strings.EqualFold(off, "true") {
		return c, false, nil
	}
	if v, ok := lookup("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"); ok && v != "" {
		c.Endpoint = v // as it is
	} else if v, ok := lookup("OTEL_EXPORTER_OTLP_ENDPOINT"); ok && v != "" {
		c.Endpoint = strings.TrimSuffix(v, "/") + "/v1/traces"
	} else {
		return c, false, nil
	}
	if p := get("PROTOCOL"); p != "" && p != "http/json" {
		return c, false, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q; traces are sent as http/json, usually to port 4318", p)
	}
	c.Headers = map[string]string{}
	for pair := range strings.SplitSeq(get("HEADERS"), ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		k, v, ok := strings.Cut(pair, "=")
		value, err := url.QueryUnescape(strings.TrimSpace(v))
		if !ok || err != nil {
			return c, false, errors.New("OTEL_EXPORTER_OTLP_HEADERS: want name=value,name=value")
		}
		c.Headers[strings.TrimSpace(k)] = value
	}
	c.Service, _ = lookup("OTEL_SERVICE_NAME")
	return c, true, nil
}

// Traces sends spans of calls. It is a hook of a box. Close it to send what waits.
type Traces struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

// New starts sending. Errors: an endpoint that is no address.
func New(c Config) (*Traces, error) {
	u, err := url.Parse(c.Endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("traces: the endpoint %q is no address such as http://localhost:4318/v1/traces", c.Endpoint)
	}
	if c.Service == "" {
		c.Service = "tackle"
	}
	res := resource.NewSchemaless(attribute.String("service.name", c.Service), attribute.String("service.version", c.Version))
	// What the sampler is comes from OTEL_TRACES_SAMPLER.
	p := sdk.NewTracerProvider(sdk.WithBatcher(newExporter(c)), sdk.WithResource(res))
	return &Traces{provider: p, tracer: p.Tracer("github.com/tackle-dev/tackle", trace.WithInstrumentationVersion(c.Version))}, nil
}

// Close sends what waits, within the time of ctx.
func (t *Traces) Close(ctx context.Context) error { return t.provider.Shutdown(ctx) }

// Before is described at toolbox.Hook.
func (t *Traces) Before(context.Context, *toolbox.Request) error { return nil }

// After is described at toolbox.Hook.
func (t *Traces) After(ctx context.Context, req *toolbox.Request, res *tool.Result) error {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, rootOf(req.Session))
	}
	begin := res.Meta.Started
	attrs := []attribute.KeyValue{attribute.String(opName, opExecuteTool), attribute.String(toolName, req.Tool), attribute.String(toolType, "function"),
		attribute.String(toolCallID, req.ID), attribute.String(conversationID, req.Session)}
	if req.Model != "" {
		attrs = append(attrs, attribute.String(requestModel, req.Model))
	}
	if req.Mode != "" {
		attrs = append(attrs, attribute.String(mode, req.Mode))
	}
	if n := len(res.Meta.Changes); n > 0 {
		attrs = append(attrs, attribute.Int(files, n))
	}
	if res.Meta.Artifact != "" {
		attrs = append(attrs, attribute.String(artifact, res.Meta.Artifact))
	}
	if res.Denied != nil {
		attrs = append(attrs, attribute.Bool(denied, true), attribute.String(deniedBy, res.Denied.Decision.By))
	}
	_, span := t.tracer.Start(ctx, opExecuteTool+" "+req.Tool, trace.WithTimestamp(begin), trace.WithSpanKind(trace.SpanKindInternal), trace.WithAttributes(attrs...))
	if res.Err != nil { // its text may quote what the call was about; the code says enough
		span.SetAttributes(attribute.String(errorType, string(res.Err.Code)))
		span.SetStatus(codes.Error, string(res.Err.Code))
	}
	span.End(trace.WithTimestamp(begin.Add(res.Meta.Duration)))
	return nil
}

// rootOf is the span that the calls of a session belong to where nobody named another. It is never sent: whoever runs the
// session may send it.
func rootOf(session string) trace.SpanContext {
	sum := sha256.Sum256([]byte("tackle session|" + session))
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID(sum[:16]), SpanID: trace.SpanID(sum[16:24]), TraceFlags: trace.FlagsSampled, Remote: true})
}

// Middleware lets requests carry the trace of whoever makes them.
func (t *Traces) Middleware(next http.Handler) http.Handler {
	var header propagation.TraceContext
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("traceparent") != "" {
			r = r.WithContext(header.Extract(r.Context(), propagation.HeaderCarrier(r.Header)))
		}
		next.ServeHTTP(w, r)
	})
}

// patience is how long one attempt to send may take.
const patience = 10 * time.Second
