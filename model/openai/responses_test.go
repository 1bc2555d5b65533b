package openai

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/model"
)

// A2: what streams of the responses API may hold beside the usual, also from other endpoints that speak it.
func TestA2_ResponsesStreams(t *testing.T) {
	event := func(s string) string { return "data: " + s + "\n\n" }
	completed := func(output string) string {
		return event(`{"type":"response.completed","response":{"id":"r","model":"m","status":"completed","output":[` + output + `],"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},"output_tokens":3,"output_tokens_details":{"reasoning_tokens":2}}}}`)
	}
	usage := model.Usage{Input: 6, CacheRead: 4, Output: 3, Reasoning: 2}
	for _, row := range []struct {
		name, body    string
		text, thought string
		calls         []model.Call
		stop          model.Stop
		usage         model.Usage
	}{
		{"a refusal in pieces", event(`{"type":"response.refusal.delta","output_index":0,"delta":"I "}`) + event(`{"type":"response.refusal.delta","output_index":0,"delta":"can't."}`) +
			event(`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"I can't."}]}}`) + completed(""), "I can't.", "", nil, model.Refusal, usage},
		{"an item without pieces", event(`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi"}]}}`) + completed(""), "Hi", "", nil, model.End, usage},
		{"two parts of a summary", event(`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"One"}`) + event(`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"Two"}`) +
			event(`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[]}}`) + event(`{"type":"response.output_text.delta","output_index":1,"delta":"Hi"}`) + completed(""), "Hi", "One\n\nTwo", nil, model.End, usage},
		{"a summary without pieces", event(`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"One"},{"type":"summary_text","text":"Two"}]}}`) + completed(""), "", "One\n\nTwo", nil, model.End, usage},
		{"reasoning in the open", event(`{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"delta":"Mm"}`) + event(`{"type":"response.output_text.delta","output_index":1,"delta":"Hi"}`) + completed(""), "Hi", "Mm", nil, model.End, usage},
		{"a call whose arguments are an object", event(`{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c","name":"grep","arguments":{"a":1}}}`) + completed(""), "", "", []model.Call{{ID: "c", Name: "grep", Arguments: []byte(`{"a":1}`)}}, model.Calls, usage},
		{"events that nobody knows", event(`{"type":"response.unheard_of","x":1}`) + event(`{"type":"response.output_item.done","output_index":0,"item":{"type":"web_search_call","id":"w"}}`) + event(`{"type":"response.output_text.delta","output_index":0,"delta":"Hi"}`) + completed(""), "Hi", "", nil, model.End, usage},
		{"no usage", event(`{"type":"response.output_text.delta","output_index":0,"delta":"Hi"}`) + event(`{"type":"response.completed","response":{"id":"r","status":"completed"}}`), "Hi", "", nil, model.End, model.Usage{}},
		{"the end is not waited for", event(`{"type":"response.output_text.delta","output_index":0,"delta":"Hi"}`) + completed("") + "data: {broken\n\n", "Hi", "", nil, model.End, usage},
	} {
		t.Run(row.name, func(t *testing.T) {
			m, _ := endpoint(t, "text/event-stream", row.body, Options{API: Responses})
			a, err := m.Stream(t.Context(), ask("Go."), nil)
			if err != nil {
				t.Fatal(err)
			}
			text, thought, calls := read(a)
			if text != row.text || thought != row.thought || a.Stop != row.stop || a.Usage != row.usage || !reflect.DeepEqual(calls, row.calls) {
				t.Errorf("got %q, reasoning %q, calls %+v, stop %q, usage %+v", text, thought, calls, a.Stop, a.Usage)
			}
		})
	}
	for _, row := range []struct {
		name, body string
		class      model.Class
		status     int
	}{
		{"an event", event(`{"type":"error","code":"server_error","message":"The server is overloaded."}`), model.Retry, 0},
		{"an object", event(`{"error":{"message":"slow down","code":429}}`), model.Retry, 429},
		{"a failure", event(`{"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"rate_limit_exceeded","message":"Rate limit reached."}}}`), model.Retry, 0},
		{"a window", event(`{"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}}`), model.TooLong, 0},
		{"a picture", event(`{"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"invalid_image","message":"The image data you provided does not represent a valid image."}}}`), model.Invalid, 0},
		{"a policy", event(`{"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"image_content_policy_violation","message":"Not this one."}}}`), model.Refused, 0},
		{"no JSON", "data: oops\n\n", model.Invalid, 0},
		{"no end", event(`{"type":"response.output_text.delta","output_index":0,"delta":"Hi"}`), model.Retry, 0},
		{"an end of another format", event(`{"type":"response.output_text.delta","output_index":0,"delta":"Hi"}`) + "data: [DONE]\n\n", model.Retry, 0},
	} {
		t.Run("error/"+row.name, func(t *testing.T) {
			m, _ := endpoint(t, "text/event-stream", row.body, Options{API: Responses})
			_, err := m.Stream(t.Context(), ask("Go."), nil)
			var e *model.Error
			if !errors.As(err, &e) || e.Class != row.class || e.Status != row.status || strings.Contains(e.Message, "\n") {
				t.Errorf("got %+v", err)
			}
		})
	}
}
