package anthropic

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
)

type instant string

func (s instant) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(string(s)))}, nil
}

// A whole turn over a conversation of 200 calls and half a megabyte: what the adapter and its client add to the service's time.
func BenchmarkLong(b *testing.B) {
	m, err := New(Options{Model: "claude-sonnet-4-5", Base: instant(done())})
	if err != nil {
		b.Fatal(err)
	}
	req := model.Request{System: strings.Repeat("Be careful. ", 500), Messages: []model.Message{say("Fix it.")}}
	for i := range 40 {
		req.Tools = append(req.Tools, model.Tool{Name: fmt.Sprintf("tool_%d", i), Description: "Does.", Schema: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"path":{"type":"string"},"n%d":{"type":"integer"}},"required":["path"]}`, i))})
	}
	for i := range 200 {
		id := fmt.Sprintf("call_%d", i)
		req.Messages = append(req.Messages,
			model.Message{Role: model.Assistant, Blocks: []model.Block{{Call: &model.Call{ID: id, Name: "tool_1", Arguments: json.RawMessage(`{"path":"a.go"}`)}}}},
			model.Message{Role: model.User, Blocks: []model.Block{{Result: &model.Result{CallID: id, Name: "tool_1", Parts: []content.Part{content.TextPart(strings.Repeat("a line of a file\n", 150))}}}}})
	}
	for b.Loop() {
		if _, err := m.Stream(b.Context(), req, nil); err != nil {
			b.Fatal(err)
		}
	}
}
