package openai

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/modeltest"
)

// A2: what an endpoint refuses by name is left out, at once and from then on; any other refusal is told.
func TestA2_RefusedFields(t *testing.T) {
	warm := 0.5
	for _, row := range []struct {
		name    string
		o       Options
		fake    modeltest.Fake
		refuse  map[string]string // part of a body, and what is said of it
		lacks   []string          // of the last body
		holds   []string
		refused int // requests
	}{
		{"usage and effort", Options{API: Chat}, chatFake{}, map[string]string{
			"stream_options":   `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`,
			"reasoning_effort": `{"error":{"message":"Unknown parameter: 'reasoning_effort'."}}`,
		}, []string{"stream_options", "reasoning_effort"}, []string{`"max_tokens":9`, "temperature"}, 2},
		{"the name of a limit", Options{API: Chat}, chatFake{}, map[string]string{
			`"max_tokens"`: `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}}`,
		}, []string{`"max_tokens"`}, []string{`"max_completion_tokens":9`}, 1},
		{"the name of a limit, the other way", Options{API: Chat, Official: true}, chatFake{}, map[string]string{
			`"max_completion_tokens"`: `{"error":{"message":"Unrecognized request argument supplied: max_completion_tokens"}}`,
		}, []string{`"max_completion_tokens"`}, []string{`"max_tokens":9`}, 1},
		{"temperature", Options{API: Responses}, responsesFake{}, map[string]string{
			"temperature": `{"error":{"message":"Unsupported parameter: 'temperature' is not supported with this model.","param":"temperature"}}`,
		}, []string{"temperature"}, []string{`"max_output_tokens":9`}, 1},
		{"summaries", Options{API: Responses, Official: true, Model: "gpt-6-luna"}, responsesFake{}, map[string]string{
			`"summary"`: `{"error":{"message":"Your organization must be verified to generate reasoning summaries."}}`,
		}, []string{`"summary"`}, []string{`"effort":"low"`, "reasoning.encrypted_content"}, 1},
		{"the key of a cache", Options{API: Responses, Official: true}, responsesFake{}, map[string]string{
			"prompt_cache_key": `{"error":{"message":"unknown field prompt_cache_key"}}`,
		}, []string{"prompt_cache_key"}, nil, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			var mu sync.Mutex
			var bodies []string
			x := row.fake.Stream(modeltest.Reply{Model: "m", Stop: model.End, Steps: []modeltest.Step{{Text: "Hi"}}})
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				b, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				bodies = append(bodies, string(b))
				mu.Unlock()
				for part, says := range row.refuse {
					if strings.Contains(string(b), part) {
						w.Header().Set("Content-Type", "application/json")
						w.WriteHeader(http.StatusBadRequest)
						_, _ = io.WriteString(w, says)
						return
					}
				}
				w.Header().Set("Content-Type", x.ContentType)
				_, _ = io.WriteString(w, x.Head+strings.Join(x.Steps, "")+x.Tail)
			}))
			defer s.Close()
			o := row.o
			o.BaseURL = s.URL + "/v1"
			if o.Model == "" {
				o.Model = "gpt-4o"
			}
			m, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			req := ask("Go.")
			req.MaxTokens, req.Temperature, req.Effort, req.Session = 9, &warm, model.Low, "session-1"
			for range 2 {
				a, err := m.Stream(t.Context(), req, nil)
				if text, _, _ := read(a); err != nil || text != "Hi" {
					t.Fatalf("%q, %v", text, err)
				}
			}
			if len(bodies) != row.refused+2 {
				t.Errorf("%d requests for two answers, want %d", len(bodies), row.refused+2)
			}
			last := bodies[len(bodies)-1]
			for _, part := range row.lacks {
				if strings.Contains(last, part) {
					t.Errorf("%s is still there: %s", part, last)
				}
			}
			for _, part := range row.holds {
				if !strings.Contains(last, part) {
					t.Errorf("%s is gone: %s", part, last)
				}
			}
		})
	}
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"message":"temperature is not supported, whatever it is"}}`)
	}))
	defer s.Close()
	m, err := New(Options{Model: "m", BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Stream(t.Context(), ask("Go."), nil)
	var e *model.Error
	if !errors.As(err, &e) || e.Class != model.Invalid || asked != 2 {
		t.Errorf("an endpoint that refuses the same for ever was asked %d times: %v", asked, err)
	}
}
