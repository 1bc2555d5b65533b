package openai

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
)

// endpoint answers every request with this body and keeps the last request.
func endpoint(t *testing.T, kind, body string, o Options) (*Model, *atomic.Pointer[[]byte]) {
	t.Helper()
	var last atomic.Pointer[[]byte]
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		last.Store(&b)
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	o.BaseURL = s.URL + "/v1"
	if o.Model == "" {
		o.Model = "some-model"
	}
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m, &last
}

func ask(s string) model.Request {
	p := content.TextPart(s)
	return model.Request{Messages: []model.Message{{Role: model.User, Blocks: []model.Block{{Part: &p}}}}}
}

func read(a model.Answer) (text, thought string, calls []model.Call) {
	for _, b := range a.Message.Blocks {
		switch {
		case b.Part != nil:
			text += b.Part.Text
		case b.Reasoning != nil:
			thought += b.Reasoning.Text
		case b.Call != nil:
			calls = append(calls, *b.Call)
		}
	}
	return text, thought, calls
}

// A2: endpoints that are like OpenAI's differ in known ways, none of which loses anything.
func TestA2_Quirks(t *testing.T) {
	chunk := func(delta, reason string) string {
		if reason != "null" {
			reason = `"` + reason + `"`
		}
		return `data: {"id":"c","model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + reason + "}]}\n\n"
	}
	const sse, done = "text/event-stream", "data: [DONE]\n\n"
	call := func(name, args string) model.Call {
		return model.Call{Name: name, Arguments: json.RawMessage(args)}
	}
	for _, row := range []struct {
		name, kind, body string
		text, thought    string
		calls            []model.Call // their ids are not compared
		stop             model.Stop
		usage            model.Usage
	}{
		{name: "no [DONE], no usage", kind: sse, body: chunk(`{"content":"Hi"}`, "null") + chunk(`{}`, "stop"), text: "Hi", stop: model.End},
		{name: "no reason to stop", kind: sse, body: chunk(`{"content":"Hi"}`, "null") + done, text: "Hi", stop: model.End},
		{name: "carriage returns and comments", kind: sse, body: ": ping\r\n\r\n" + strings.ReplaceAll(chunk(`{"content":"Hi"}`, "stop"), "\n", "\r\n") + ": ping\r\n\r\ndata: [DONE]\r\n\r\n", text: "Hi", stop: model.End},
		{name: "no space after data:", kind: sse, body: strings.ReplaceAll(chunk(`{"content":"Hi"}`, "stop"), "data: ", "data:") + "data:[DONE]\n\n", text: "Hi", stop: model.End},
		{name: "no blank line at the end", kind: sse, body: chunk(`{"content":"Hi"}`, "stop") + "data: [DONE]", text: "Hi", stop: model.End},
		{name: "no content type", kind: "application/octet-stream", body: chunk(`{"content":"Hi"}`, "stop") + done, text: "Hi", stop: model.End},
		{name: "reasoning_content", kind: sse, body: chunk(`{"reasoning_content":"Mm"}`, "null") + chunk(`{"content":"Hi"}`, "stop") + done, text: "Hi", thought: "Mm", stop: model.End},
		{name: "reasoning", kind: sse, body: chunk(`{"reasoning":"Mm","content":""}`, "null") + chunk(`{"content":"Hi"}`, "stop") + done, text: "Hi", thought: "Mm", stop: model.End},
		{name: "reasoning that is an object", kind: sse, body: chunk(`{"reasoning":{"x":1},"content":"Hi"}`, "stop") + done, text: "Hi", stop: model.End},
		{name: "content as a list", kind: sse, body: chunk(`{"content":[{"type":"text","text":"H"},{"type":"text","text":"i"}]}`, "stop") + done, text: "Hi", stop: model.End},
		{name: "nulls everywhere", kind: sse, body: chunk(`{"role":null,"content":null,"refusal":null,"tool_calls":null,"reasoning":null}`, "null") + chunk(`{"content":"Hi"}`, "stop") + done, text: "Hi", stop: model.End},
		{name: "an answer that is not streamed", kind: "application/json", body: `{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi","tool_calls":[{"id":"x","type":"function","function":{"name":"grep","arguments":"{\"a\":1}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":7,"completion_tokens":2}}`,
			text: "Hi", calls: []model.Call{call("grep", `{"a":1}`)}, stop: model.Calls, usage: model.Usage{Input: 7, Output: 2}},
		{name: "calls that end with stop", kind: sse, body: chunk(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"grep","arguments":"{}"}}]}`, "stop") + done, calls: []model.Call{call("grep", `{}`)}, stop: model.Calls},
		{name: "calls without an index", kind: sse, body: chunk(`{"tool_calls":[{"id":"x","function":{"name":"grep","arguments":"{\"a\":1}"}},{"id":"y","function":{"name":"grep","arguments":"{\"a\":2}"}}]}`, "tool_calls") + done,
			calls: []model.Call{call("grep", `{"a":1}`), call("grep", `{"a":2}`)}, stop: model.Calls},
		{name: "fragments without an index", kind: sse, body: chunk(`{"tool_calls":[{"id":"x","function":{"name":"grep","arguments":"{\"a\""}}]}`, "null") + chunk(`{"tool_calls":[{"function":{"arguments":":1}"}}]}`, "null") + chunk(`{"tool_calls":[{"id":"y","function":{"name":"glob","arguments":"{}"}}]}`, "tool_calls") + done,
			calls: []model.Call{call("grep", `{"a":1}`), call("glob", `{}`)}, stop: model.Calls},
		{name: "no id and no index", kind: sse, body: chunk(`{"tool_calls":[{"function":{"name":"grep","arguments":"{\"a\":1}"}}]}`, "null") + chunk(`{"tool_calls":[{"function":{"name":"grep","arguments":"{\"a\":2}"}}]}`, "tool_calls") + done,
			calls: []model.Call{call("grep", `{"a":1}`), call("grep", `{"a":2}`)}, stop: model.Calls},
		{name: "all with the index 0", kind: sse, body: chunk(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"grep","arguments":"{\"a\":1}"}}]}`, "null") + chunk(`{"tool_calls":[{"index":0,"id":"y","function":{"name":"grep","arguments":"{\"a\":2}"}}]}`, "tool_calls") + done,
			calls: []model.Call{call("grep", `{"a":1}`), call("grep", `{"a":2}`)}, stop: model.Calls},
		{name: "name and id in every fragment", kind: sse, body: chunk(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"grep","arguments":"{\"a\":"}}]}`, "null") + chunk(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"grep","arguments":"1}"}}]}`, "tool_calls") + done,
			calls: []model.Call{call("grep", `{"a":1}`)}, stop: model.Calls},
		{name: "fragments that alternate", kind: sse, body: chunk(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"grep","arguments":"{\"a\":"}},{"index":1,"id":"y","function":{"name":"glob","arguments":"{\"b\":"}}]}`, "null") +
			chunk(`{"tool_calls":[{"index":1,"function":{"arguments":"2}"}},{"index":0,"function":{"arguments":"1}"}}]}`, "tool_calls") + done,
			calls: []model.Call{call("grep", `{"a":1}`), call("glob", `{"b":2}`)}, stop: model.Calls},
		{name: "arguments that are an object", kind: sse, body: chunk(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"grep","arguments":{"a":1}}}]}`, "tool_calls") + done, calls: []model.Call{call("grep", `{"a":1}`)}, stop: model.Calls},
		{name: "an empty call at the end", kind: sse, body: chunk(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"grep","arguments":"{}"}}]}`, "null") + chunk(`{"tool_calls":[{"index":1,"id":"","function":{"name":"","arguments":""}}]}`, "tool_calls") + done,
			calls: []model.Call{call("grep", `{}`)}, stop: model.Calls},
		{name: "a refusal in words", kind: sse, body: chunk(`{"refusal":"I can't."}`, "stop") + done, text: "I can't.", stop: model.Refusal},
		{name: "usage of DeepSeek", kind: sse, body: chunk(`{"content":"Hi"}`, "stop") + `data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":3,"prompt_cache_hit_tokens":8,"prompt_cache_miss_tokens":2}}` + "\n\n" + done, text: "Hi", stop: model.End, usage: model.Usage{Input: 2, CacheRead: 8, Output: 3}},
		{name: "usage in each chunk", kind: sse, body: `data: {"choices":[{"index":0,"delta":{"content":"Hi"}}],"usage":{"prompt_tokens":10,"completion_tokens":1}}` + "\n\n" + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":3}}` + "\n\n" + done, text: "Hi", stop: model.End, usage: model.Usage{Input: 10, Output: 3}},
	} {
		t.Run(row.name, func(t *testing.T) {
			m, _ := endpoint(t, row.kind, row.body, Options{})
			a, err := m.Stream(t.Context(), ask("Go."), nil)
			if err != nil {
				t.Fatal(err)
			}
			text, thought, calls := read(a)
			if text != row.text || thought != row.thought || a.Stop != row.stop || a.Usage != row.usage {
				t.Errorf("got %q, reasoning %q, stop %q, usage %+v", text, thought, a.Stop, a.Usage)
			}
			ids := map[string]bool{}
			for i := range calls {
				ids[calls[i].ID] = true
				calls[i].ID = ""
			}
			if !reflect.DeepEqual(calls, row.calls) || len(ids) != len(calls) || ids[""] {
				t.Errorf("got calls %+v with the ids %v, want %+v", calls, ids, row.calls)
			}
		})
	}
}

// A2: errors that endpoints tell within a stream, in their ways.
func TestA2_StreamErrors(t *testing.T) {
	for _, row := range []struct {
		name, kind, body string
		class            model.Class
		status           int
	}{
		{"an object", "text/event-stream", "data: {\"error\":{\"message\":\"Provider returned error\",\"code\":502}}\n\n", model.Retry, 502},
		{"a rate", "text/event-stream", "data: {\"error\":{\"message\":\"slow down\",\"code\":429}}\n\n", model.Retry, 429},
		{"a string", "text/event-stream", "data: {\"error\":\"the prompt is too long: 9000 tokens > 8192\"}\n\n", model.TooLong, 0},
		{"a whole body", "application/json", `{"error":{"message":"context size exceeded","type":"invalid_request_error"}}`, model.TooLong, 0},
		{"only a reason", "text/event-stream", "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"error\"}]}\n\ndata: [DONE]\n\n", model.Retry, 0},
		{"no JSON", "text/event-stream", "data: Internal Server Error\n\n", model.Invalid, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			m, _ := endpoint(t, row.kind, row.body, Options{})
			_, err := m.Stream(t.Context(), ask("Go."), nil)
			var e *model.Error
			if !errors.As(err, &e) || e.Class != row.class || e.Status != row.status {
				t.Errorf("got %+v", err)
			}
		})
	}
}

// A2: what the provider wants back goes back in the field from which it came, and nowhere else.
func TestA2_ReasoningGoesBack(t *testing.T) {
	for _, row := range []struct{ name, delta, want string }{
		{"reasoning_content", `{"reasoning_content":"Mm"}`, `"reasoning_content":"Mm"`},
		{"reasoning", `{"reasoning":"Mm"}`, `"reasoning":"Mm"`},
		{"details", `{"reasoning":"Mm","reasoning_details":[{"type":"reasoning.encrypted","data":"abc"}]}`, `"reasoning_details":[{"type":"reasoning.encrypted","data":"abc"}]`},
	} {
		t.Run(row.name, func(t *testing.T) {
			body := `data: {"choices":[{"index":0,"delta":` + row.delta + "}]}\n\n" + `data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
			m, last := endpoint(t, "text/event-stream", body, Options{})
			req := ask("Go.")
			a, err := m.Stream(t.Context(), req, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Messages = append(req.Messages, a.Message, ask("More.").Messages[0])
			if _, err := m.Stream(t.Context(), req, nil); err != nil {
				t.Fatal(err)
			}
			if got := string(*last.Load()); !strings.Contains(got, row.want) {
				t.Errorf("the next request lacks %s: %s", row.want, got)
			}
			other, last := endpoint(t, "text/event-stream", body, Options{Provider: "elsewhere"})
			if _, err := other.Stream(t.Context(), req, nil); err != nil {
				t.Fatal(err)
			}
			if got := string(*last.Load()); strings.Contains(got, `Mm`) || strings.Contains(got, "abc") {
				t.Errorf("another provider is sent the reasoning: %s", got)
			}
		})
	}
}

// A2: what OpenAI's own models are told about reasoning and warmth follows from their names.
func TestA2_Efforts(t *testing.T) {
	warm := 0.5
	for _, row := range []struct {
		name     string
		official bool
		effort   model.Effort
		sent     string
		warm     bool
	}{
		{"gpt-4o", true, model.High, "", true},
		{"gpt-5", true, model.Off, "minimal", false},
		{"gpt-5.4", true, model.Off, "none", true},
		{"gpt-6.1-sol", true, model.Off, "low", false},
		{"gpt-6-luna", true, model.High, "high", false},
		{"gpt-6-luna", true, "", "", false},
		{"o4-mini", true, model.Medium, "medium", false},
		{"gpt-5-chat-latest", true, model.High, "", true},
		{"some-model", false, model.Low, "low", true},
		{"some-model", false, model.Off, "", true},
		{"openai/gpt-6.1-sol", false, model.High, "high", true},
	} {
		m, err := New(Options{Model: row.name, Official: row.official, BaseURL: "http://localhost:1"})
		if err != nil {
			t.Fatal(err)
		}
		sent := m.effort(row.effort)
		if got := m.warm(&warm, sent) != nil; sent != row.sent || got != row.warm {
			t.Errorf("%s, effort %q: sends %q, temperature %v; want %q, %v", row.name, row.effort, sent, got, row.sent, row.warm)
		}
	}
}

func TestA2_Info(t *testing.T) {
	for _, row := range []struct {
		name, url     string
		window        int
		priced        bool
		images, files bool
		api           API
	}{
		{"gpt-6.1-sol", "", 1_050_000, true, true, true, Responses},
		{"gpt-6.1-sol-2026-09-29", "", 1_050_000, true, true, true, Responses},
		{"gpt-9", "", 0, false, true, true, Responses},
		{"o3-mini", "", 200_000, true, false, false, Responses},
		{"ft:gpt-4o-mini:acme", "https://eu.api.openai.com/v1", 128_000, true, true, true, Responses},
		{"openai/gpt-6.1-sol", "https://router.example/v1", 1_050_000, false, true, false, Chat},
		{"qwen3-vl:8b", "http://localhost:8000/v1", 0, false, true, false, Chat},
		{"qwen3-coder:30b", "http://localhost:8000/v1", 0, false, false, false, Chat},
		{"gpt-oss-20b", "http://localhost:8000/v1", 0, false, false, false, Chat},
	} {
		m, err := New(Options{Model: row.name, BaseURL: row.url})
		if err != nil {
			t.Fatal(err)
		}
		i := m.Info()
		if i.Window != row.window || (i.Price != model.Price{}) != row.priced || i.Images != row.images || i.Files != row.files || m.api != row.api {
			t.Errorf("%s at %q: %+v over %s", row.name, row.url, i, m.api)
		}
	}
	for _, o := range []Options{{}, {Model: "m", BaseURL: "localhost:8000"}, {Model: "m", BaseURL: "file:///x"}, {Model: "m", API: "soap"}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// A key goes nowhere but to the endpoint: a redirection is not followed.
func TestT9_NoRedirect(t *testing.T) {
	asked := make(chan string, 1)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Header.Get("Authorization") }))
	t.Cleanup(other.Close)
	s := httptest.NewServer(http.RedirectHandler(other.URL+"/v1/chat/completions", http.StatusTemporaryRedirect))
	t.Cleanup(s.Close)
	for _, api := range []API{Chat, Responses} {
		m, err := New(Options{Model: "m", Key: "secret", BaseURL: s.URL + "/v1", API: api})
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Stream(t.Context(), ask("Go."), nil)
		var e *model.Error
		if !errors.As(err, &e) || e.Class != model.Invalid || !strings.Contains(e.Message, other.URL) {
			t.Errorf("%s: got %v", api, err)
		}
		select {
		case key := <-asked:
			t.Errorf("%s: the other host was asked with %q", api, key)
		default:
		}
	}
}

// Whatever a stream holds, reading it ends without a panic, with an answer or with an error of package model, and twice alike.
func FuzzChat(f *testing.F) {
	f.Add([]byte("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"x\",\"function\":{\"name\":\"a\",\"arguments\":\"{\"}},{\"function\":{\"arguments\":{\"b\":1}}}]}}]}\r\n\r\n: c\n\ndata: [DONE]"))
	f.Add([]byte("data: {\"error\":{\"message\":\"m\",\"code\":429}}\n\n"))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"reasoning\":\"m\",\"reasoning_details\":[{}]},\"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":-1}}\n\n"))
	m, err := New(Options{Model: "m", BaseURL: "http://localhost:1"})
	if err != nil {
		f.Fatal(err)
	}
	read := func(data []byte) (model.Answer, error) {
		b := &builder{}
		res := &http.Response{Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(string(data)))}
		err := m.readChat(res, &chatReader{builder: b, provider: "openai"})
		return b.Done(), err
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := read(data)
		for _, b := range a.Message.Blocks {
			if c := b.Call; c != nil && (c.ID == "" || (len(c.Arguments) > 0) == (c.Malformed != "")) {
				t.Errorf("call %+v", c)
			}
		}
		if err == nil && a.Stop == "" {
			t.Error("an answer without a reason to stop")
		}
		again, err2 := read(data)
		if (err == nil) != (err2 == nil) || len(a.Message.Blocks) != len(again.Message.Blocks) || a.Stop != again.Stop || a.Usage != again.Usage {
			t.Errorf("read twice: %+v %v, %+v %v", a, err, again, err2)
		}
	})
}
