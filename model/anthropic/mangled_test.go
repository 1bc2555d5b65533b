package anthropic

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"
	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/internal/wire"
	"github.com/tackle-dev/tackle/model/modeltest"
)

// Whatever a service streams becomes an answer or an error of the seam, and can go back. Streams are mangled here line by line: the
// coverage of a fuzz target costs minutes of building the client.
func TestA2_MangledStreams(t *testing.T) {
	good := whole(modeltest.Reply{Model: "m", Stop: model.Calls, Usage: model.Usage{Input: 3, Output: 4}, Steps: []modeltest.Step{
		{Reasoning: "a", Signature: "eA=="}, {Text: "b"}, {Call: &modeltest.Call{ID: "c", Name: "x", Args: []string{`{"a":`, `1}`}}}}}) +
		block(7, map[string]any{"type": "redacted_thinking", "data": "eA=="}) + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
	m, err := New(Options{Model: "claude-opus-5"})
	if err != nil {
		t.Fatal(err)
	}
	first := model.Request{Messages: []model.Message{say("Go.")}}
	ctx, answers, errs := t.Context(), 0, 0
	rapid.Check(t, func(t *rapid.T) {
		lines := strings.SplitAfter(good, "\n")
		for range rapid.IntRange(0, 6).Draw(t, "changes") {
			i, j := rapid.IntRange(0, len(lines)-1).Draw(t, "line"), rapid.IntRange(0, len(lines)-1).Draw(t, "other")
			switch rapid.IntRange(0, 5).Draw(t, "change") {
			case 0:
				lines = append(slices.Delete(lines, i, i+1), "\n")
			case 1:
				lines = slices.Insert(lines, i, lines[j])
			case 2:
				lines[i], lines[j] = lines[j], lines[i]
			case 3:
				lines[i] = lines[i][:rapid.IntRange(0, len(lines[i])).Draw(t, "cut")]
			case 4:
				from := rapid.SampledFrom([]string{`""`, `{}`, `[]`, "null", "0", `"text"`, `"tool_use"`, `"thinking"`, `"index":`}).Draw(t, "from")
				to := rapid.SampledFrom([]string{"null", "1e999", `"\ud800"`, `[{}]`, `{"type":3}`, `"redacted_thinking"`, "-5"}).Draw(t, "to")
				lines[i] = strings.ReplaceAll(lines[i], from, to)
			case 5:
				lines = lines[:max(1, i)]
			}
		}
		_, past := m.params(first)
		c := collector{Builder: wire.Builder{}, transport: m.transport, names: past.names}
		res := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(strings.Join(lines, "")))}
		err := c.collect(ssestream.NewStream[sdk.MessageStreamEventUnion](ssestream.NewDecoder(res), nil))
		a := c.Done()
		past.seal("anthropic", &a.Message)
		if err == nil {
			answers++
		} else if errs++; m.transport.Error(ctx, err).Class == "" {
			t.Fatalf("no class: %v", err)
		}
		next := first
		next.Messages = append(next.Messages[:1:1], a.Message)
		params, _ := m.params(next)
		if body, err := params.MarshalJSON(); err != nil || !json.Valid(body) {
			t.Fatalf("it cannot go back: %v %s", err, body)
		}
	})
	if answers == 0 || errs == 0 {
		t.Errorf("%d answers and %d errors: the streams are mangled too much or too little", answers, errs)
	}
}
