package server

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tackle-dev/tackle/permission/ask"
)

// metricsType is the text format of Prometheus.
const metricsType = "text/plain; version=0.0.4; charset=utf-8"

// bounds of the buckets of durations, in seconds.
var bounds = [...]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// metrics counts what happens at the server. The zero value is ready.
type metrics struct {
	mu       sync.Mutex
	requests map[requestKey]int64
	times    map[string]*histogram // by route
	asks     map[string]int64      // by how they ended
	waits    histogram             // of asks that were answered
}

type requestKey struct{ route, status string }

type histogram struct {
	counts [len(bounds) + 1]int64
	sum    float64
	n      int64
}

func (h *histogram) add(v float64) {
	i, _ := slices.BinarySearch(bounds[:], v)
	h.counts[i]++
	h.sum += v
	h.n++
}

func (m *metrics) request(route string, status int, took time.Duration) {
	if status == 0 {
		status = http.StatusOK
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.requests == nil {
		m.requests, m.times = map[requestKey]int64{}, map[string]*histogram{}
	}
	m.requests[requestKey{route, strconv.Itoa(status)}]++
	if route == "events" { // a stream is no request that takes long
		return
	}
	h := m.times[route]
	if h == nil {
		h = &histogram{}
		m.times[route] = h
	}
	h.add(took.Seconds())
}

func (m *metrics) ask(e ask.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asks == nil {
		m.asks = map[string]int64{}
	}
	if e.Kind == ask.Opened {
		m.asks["opened"]++
		return
	}
	m.asks[e.Decision.Verdict.String()]++
	m.waits.add(e.Decision.At.Sub(e.Request.Asked).Seconds())
}

// exposition writes metrics.
type exposition struct{ bytes.Buffer }

func (x *exposition) head(name, kind, help string) {
	fmt.Fprintf(x, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// label writes a label value as the format wants it.
var label = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func (x *exposition) value(name, labels string, v float64) {
	if labels != "" {
		labels = "{" + labels + "}"
	}
	fmt.Fprintf(x, "%s%s %s\n", name, labels, strconv.FormatFloat(v, 'g', -1, 64))
}

func (x *exposition) histogram(name, labels string, h *histogram) {
	sep := ""
	if labels != "" {
		sep = ","
	}
	var total int64
	for i, n := range h.counts {
		total += n
		le := "+Inf"
		if i < len(bounds) {
			le = strconv.FormatFloat(bounds[i], 'g', -1, 64)
		}
		x.value(name+"_bucket", fmt.Sprintf(`%s%sle="%s"`, labels, sep, le), float64(total))
	}
	x.value(name+"_sum", labels, h.sum)
	x.value(name+"_count", labels, float64(h.n))
}

func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request) error {
	info, err := s.core.Info(r.Context())
	if err != nil {
		return err
	}
	var x exposition
	x.head("tackle_info", "gauge", "What runs here.")
	x.value("tackle_info", fmt.Sprintf(`version="%s",posture="%s",mode="%s"`, label.Replace(info.Version), label.Replace(info.Posture), label.Replace(info.Mode)), 1)
	x.head("tackle_start_time_seconds", "gauge", "When the server was started, since 1970.")
	x.value("tackle_start_time_seconds", "", float64(info.Started.Unix()))
	x.head("tackle_event_streams", "gauge", "Event streams that are open.")
	x.value("tackle_event_streams", "", float64(s.core.Streams()))
	x.head("tackle_asks_open", "gauge", "Asks that wait for a person.")
	x.value("tackle_asks_open", "", float64(info.Open))
	x.head("tackle_events_total", "counter", "Events that were ever stored.")
	x.value("tackle_events_total", "", float64(info.Newest))
	s.toolMetrics(&x)
	s.metrics.write(&x)
	h := w.Header()
	h.Set("Content-Type", metricsType)
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(x.Bytes()) // a client that went away reads nothing
	return nil
}

// toolMetrics writes the figures of the tools of this process (T13).
func (s *Server) toolMetrics(x *exposition) {
	figures := s.cfg.Box.Figures()
	for _, m := range []struct {
		name, help string
		of         func(i int) int64
	}{
		{"tackle_tool_calls_total", "Calls of a tool.", func(i int) int64 { return figures[i].Calls }},
		{"tackle_tool_failures_total", "Calls that ended in a tool error; denials not counted.", func(i int) int64 { return figures[i].Failures }},
		{"tackle_tool_denied_total", "Calls that were denied.", func(i int) int64 { return figures[i].Denied }},
		{"tackle_tool_bytes_in_total", "Bytes of arguments.", func(i int) int64 { return figures[i].BytesIn }},
		{"tackle_tool_bytes_out_total", "Bytes of results.", func(i int) int64 { return figures[i].BytesOut }},
	} {
		x.head(m.name, "counter", m.help)
		for i := range figures {
			x.value(m.name, `tool="`+label.Replace(figures[i].Tool)+`"`, float64(m.of(i)))
		}
	}
	x.head("tackle_tool_duration_seconds", "summary", "Duration of calls, waiting for people included; quantiles are exact to 13 %.")
	for _, f := range figures {
		if f.Calls == 0 {
			continue
		}
		for q, v := range map[string]time.Duration{"0.5": f.P50, "0.9": f.P90, "0.99": f.P99} {
			x.value("tackle_tool_duration_seconds", fmt.Sprintf(`tool="%s",quantile="%s"`, label.Replace(f.Tool), q), v.Seconds())
		}
		x.value("tackle_tool_duration_seconds_count", `tool="`+label.Replace(f.Tool)+`"`, float64(f.Calls))
	}
}

func (m *metrics) write(x *exposition) {
	m.mu.Lock()
	defer m.mu.Unlock()
	x.head("tackle_asks_total", "counter", "Asks by what came of them.")
	for _, k := range sortedKeys(m.asks) {
		x.value("tackle_asks_total", `what="`+k+`"`, float64(m.asks[k]))
	}
	x.head("tackle_ask_wait_seconds", "histogram", "How long asks were open.")
	x.histogram("tackle_ask_wait_seconds", "", &m.waits)
	x.head("tackle_http_requests_total", "counter", "Requests by operation and status.")
	keys := make([]requestKey, 0, len(m.requests))
	for k := range m.requests {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b requestKey) int { return strings.Compare(a.route+" "+a.status, b.route+" "+b.status) })
	for _, k := range keys {
		x.value("tackle_http_requests_total", fmt.Sprintf(`operation="%s",status="%s"`, k.route, k.status), float64(m.requests[k]))
	}
	x.head("tackle_http_request_duration_seconds", "histogram", "Duration of requests; event streams not counted.")
	for _, k := range sortedKeys(m.times) {
		x.histogram("tackle_http_request_duration_seconds", `operation="`+k+`"`, m.times[k])
	}
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
