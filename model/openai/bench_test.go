package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/modeltest"
)

// instant is a service that answers at once.
type instant string

func (s instant) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(string(s)))}, nil
}

// What the adapter adds to a turn late in a session: 40 tools, 200 calls with their results, half a megabyte.
func BenchmarkLong(b *testing.B) {
	reply := modeltest.Reply{Model: "m", Stop: model.End, Steps: []modeltest.Step{{Text: "Done."}}}
	for api, fake := range map[API]modeltest.Fake{Chat: chatFake{}, Responses: responsesFake{}} {
		b.Run(string(api), func(b *testing.B) {
			x := fake.Stream(reply)
			m, err := New(Options{Model: "m", API: api, Base: instant(x.Head + strings.Join(x.Steps, "") + x.Tail)})
			if err != nil {
				b.Fatal(err)
			}
			req := ask("Fix it.")
			req.System = strings.Repeat("Be careful. ", 500)
			for i := range 40 {
				req.Tools = append(req.Tools, model.Tool{Name: fmt.Sprintf("tool_%d", i), Description: "Does.", Schema: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"path":{"type":"string"},"n%d":{"type":"integer"}},"required":["path"]}`, i))})
			}
			for i := range 200 {
				c := &model.Call{ID: fmt.Sprintf("call_%d", i), Name: "tool_1", Arguments: json.RawMessage(`{"path":"a.go"}`)}
				req.Messages = append(req.Messages,
					model.Message{Role: model.Assistant, Blocks: []model.Block{{Call: c}}},
					model.Message{Role: model.User, Blocks: []model.Block{{Result: &model.Result{CallID: c.ID, Name: c.Name, Parts: []content.Part{content.TextPart(strings.Repeat("a line of a file\n", 150))}}}}})
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Stream(b.Context(), req, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
