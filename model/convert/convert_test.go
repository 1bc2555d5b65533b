package convert_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/convert"
	"github.com/tackle-dev/tackle/tests/clients/fakemodel"
	"github.com/tackle-dev/tackle/tool"
)

var search = model.Tool{Name: "search_google", Description: "Perform a Google search.", Schema: json.RawMessage(
	`{"type":"object","properties":{"query":{"type":"string","description":"The search query string."}},"required":["query"]}`)}

const schema = `{"type":"object","properties":{"query":{"type":"string","description":"The search query string."}},"required":["query"]}`

// T14, 004: a definition in the format of each provider.
func TestT14_Definitions(t *testing.T) {
	for f, want := range map[convert.Format]string{
		convert.OpenAI:    `[{"type":"function","function":{"name":"search_google","description":"Perform a Google search.","parameters":` + schema + `}}]`,
		convert.Ollama:    `[{"type":"function","function":{"name":"search_google","description":"Perform a Google search.","parameters":` + schema + `}}]`,
		convert.Responses: `[{"type":"function","name":"search_google","description":"Perform a Google search.","parameters":` + schema + `,"strict":false}]`,
		convert.Anthropic: `[{"name":"search_google","description":"Perform a Google search.","input_schema":` + schema + `}]`,
		convert.Gemini:    `[{"functionDeclarations":[{"name":"search_google","description":"Perform a Google search.","parametersJsonSchema":` + schema + `}]}]`,
	} {
		got, err := convert.Tools(f, []model.Tool{search})
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", f, err, got, want)
		}
		again, err := convert.Tools(f, []model.Tool{search})
		if err != nil || !bytes.Equal(got, again) {
			t.Errorf("%s: twice is not the same", f)
		}
	}
	if _, err := convert.Tools(convert.OpenAI, []model.Tool{search, {Name: "a b"}}); err == nil || !strings.Contains(err.Error(), `"a b"`) {
		t.Errorf("a name that no provider takes: %v", err)
	}
	if _, err := convert.Tools("soap", nil); err == nil || !strings.Contains(err.Error(), "openai") {
		t.Errorf("an unknown format: %v", err)
	}
	if got, err := convert.Tools(convert.OpenAI, nil); err != nil || string(got) != "[]" {
		t.Errorf("no tools: %s, %v", got, err)
	}
}

// T14, 004: calls of a whole response of each provider.
func TestT14_Calls(t *testing.T) {
	for f, response := range map[convert.Format]string{
		convert.OpenAI:    `{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"search_google","arguments":"{\"query\":\"x\"}"}},{"id":"c2","type":"function","function":{"name":"grep","arguments":""}}]},"finish_reason":"tool_calls"}]}`,
		convert.Responses: `{"output":[{"type":"reasoning","id":"r"},{"type":"function_call","call_id":"c1","name":"search_google","arguments":"{\"query\":\"x\"}"},{"type":"function_call","call_id":"c2","name":"grep","arguments":"{}"}]}`,
		convert.Anthropic: `{"content":[{"type":"text","text":"I search."},{"type":"tool_use","id":"c1","name":"search_google","input":{"query":"x"}},{"type":"tool_use","id":"c2","name":"grep","input":{}}]}`,
		convert.Gemini:    `{"candidates":[{"content":{"role":"model","parts":[{"text":"I search."},{"functionCall":{"id":"c1","name":"search_google","args":{"query":"x"}}},{"functionCall":{"id":"c2","name":"grep"}}]}}]}`,
		convert.Ollama:    `{"message":{"role":"assistant","content":"","tool_calls":[{"id":"c1","function":{"name":"search_google","arguments":{"query":"x"}}},{"id":"c2","function":{"name":"grep","arguments":{}}}]}}`,
	} {
		got, err := convert.Calls(f, []byte(response))
		want := []model.Call{{ID: "c1", Name: "search_google", Arguments: json.RawMessage(`{"query":"x"}`)}, {ID: "c2", Name: "grep", Arguments: json.RawMessage(`{}`)}}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", f, got, err)
		}
		if _, err := convert.Calls(f, []byte("<html>")); err == nil {
			t.Errorf("%s: a page is no response", f)
		}
	}
	got, err := convert.Calls(convert.OpenAI, []byte(`{"choices":[{"message":{"tool_calls":[{"function":{"name":"a","arguments":"{\"x\""}},{"function":{"name":"b","arguments":{"y":1}}}]}}]}`))
	if err != nil || len(got) != 2 || got[0].Malformed != `{"x"` || got[0].Arguments != nil || string(got[1].Arguments) != `{"y":1}` || got[0].ID == "" || got[0].ID == got[1].ID {
		t.Errorf("broken arguments, no ids: %+v, %v", got, err)
	}
	got, err = convert.Calls(convert.Gemini, []byte(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a"},"thoughtSignature":"c2ln"}]}}]}`))
	if err != nil || string(got[0].Opaque) != `"c2ln"` || got[0].ID == "" {
		t.Errorf("a signature: %+v, %v", got, err)
	}
}

// T14, 004: results as the messages of each provider; a failed one says what failed.
func TestT14_Results(t *testing.T) {
	results := []model.Result{
		{CallID: "c1", Name: "search_google", Parts: []content.Part{content.TextPart("Title: Go"), content.TextPart("Link: go.dev")}},
		{CallID: "c2", Name: "grep", Parts: []content.Part{content.TextPart("TOOL ERROR: NOT_FOUND")}, Error: true},
	}
	for f, want := range map[convert.Format]string{
		convert.OpenAI:    `{"role":"tool","tool_call_id":"c1","content":"Title: Go\nLink: go.dev"} {"role":"tool","tool_call_id":"c2","content":"TOOL ERROR: NOT_FOUND"}`,
		convert.Responses: `{"type":"function_call_output","call_id":"c1","output":"Title: Go\nLink: go.dev"} {"type":"function_call_output","call_id":"c2","output":"TOOL ERROR: NOT_FOUND"}`,
		convert.Anthropic: `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"Title: Go"},{"type":"text","text":"Link: go.dev"}]},{"type":"tool_result","tool_use_id":"c2","content":[{"type":"text","text":"TOOL ERROR: NOT_FOUND"}],"is_error":true}]}`,
		convert.Gemini:    `{"role":"user","parts":[{"functionResponse":{"name":"search_google","response":{"output":"Title: Go\nLink: go.dev"}}},{"functionResponse":{"name":"grep","response":{"error":"TOOL ERROR: NOT_FOUND"}}}]}`,
		convert.Ollama:    `{"role":"tool","content":"Title: Go\nLink: go.dev","tool_name":"search_google","tool_call_id":"c1"} {"role":"tool","content":"TOOL ERROR: NOT_FOUND","tool_name":"grep","tool_call_id":"c2"}`,
	} {
		var got []string
		for _, m := range convert.Results(f, results) {
			got = append(got, string(m))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s:\ngot  %s\nwant %s", f, s, want)
		}
	}
	if convert.Results("soap", results) != nil {
		t.Error("an unknown format gives messages")
	}
}

// M4: a picture in a result is seen by the model, right after its marker.
func TestT14_ResultsWithPictures(t *testing.T) {
	// A picture of one pixel.
	png := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00:~\x9bU\x00\x00\x00\nIDATx\x9cc`\x00\x00\x00\x02\x00\x01H\xaf\xa4q\x00\x00\x00\x00IEND\xaeB`\x82")
	results := []model.Result{{CallID: "c1", Name: "read_file", Parts: []content.Part{content.TextPart("[media id: m1 | dot.png]"), {Kind: content.Image, MIME: "image/png", Data: png}, content.TextPart("That is all.")}}}
	for f, want := range map[convert.Format]string{
		convert.OpenAI:    `^\{"role":"tool","tool_call_id":"c1","content":"\[media id: m1 \| dot.png\]\\nThat is all.\\n\(what it shows follows in the next message\)"\} \{"role":"user","content":\[\{"text":"From the result of read_file \(c1\):","type":"text"\},\{"text":"\[media id: m1 \| dot.png\]","type":"text"\},\{"image_url":\{"url":"data:image/png;base64,[^"]*"\},"type":"image_url"\}\]\}$`,
		convert.Responses: `^\{"type":"function_call_output","call_id":"c1","output":\[\{"text":"\[media id: m1 \| dot.png\]","type":"input_text"\},\{"image_url":"data:image/png;base64,[^"]*","type":"input_image"\},\{"text":"That is all.","type":"input_text"\}\]\}$`,
		convert.Anthropic: `"content":\[\{"type":"text","text":"\[media id: m1 \| dot.png\]"\},\{"source":\{"data":"[^"]*","media_type":"image/png","type":"base64"\},"type":"image"\},\{"type":"text","text":"That is all."\}\]`,
		convert.Gemini:    `"output":"\[media id: m1 \| dot.png\]\\nThat is all."\}\}\},\{"text":"From the result of read_file:"\},\{"text":"\[media id: m1 \| dot.png\]"\},\{"inlineData":\{"mimeType":"image/png","data":"[^"]*"\}\}\]\}$`,
		convert.Ollama:    `"content":"\[media id: m1 \| dot.png\]\\nThat is all.","images":\["[^"]*"\]`,
	} {
		var got []string
		for _, m := range convert.Results(f, results) {
			got = append(got, string(m))
		}
		if s := strings.Join(got, " "); !regexp.MustCompile(want).MatchString(s) {
			t.Errorf("%s:\ngot  %s\nwant %s", f, s, want)
		}
	}
}

// loop is somebody's own loop for one provider.
type loop struct {
	path string
	body func(tools json.RawMessage, messages []json.RawMessage) any
	said func(response []byte) []json.RawMessage // the turn of the model, to be appended
}

type fields = map[string]any

func pick(b []byte, path ...string) json.RawMessage {
	for _, p := range path {
		if p == "0" {
			var l []json.RawMessage
			if json.Unmarshal(b, &l) != nil || len(l) == 0 {
				return nil
			}
			b = l[0]
			continue
		}
		var m map[string]json.RawMessage
		if json.Unmarshal(b, &m) != nil {
			return nil
		}
		b = m[p]
	}
	return b
}

// 004, iterative execution: definitions out, calls in, results out, until there are no calls, against a model of each provider's kind.
func Test004_OwnLoop(t *testing.T) {
	chat := func(tools json.RawMessage, messages []json.RawMessage) any {
		return fields{"model": "m", "tools": tools, "messages": messages, "stream": false}
	}
	for f, l := range map[convert.Format]loop{
		convert.OpenAI: {"/v1/chat/completions", chat, func(b []byte) []json.RawMessage { return []json.RawMessage{pick(b, "choices", "0", "message")} }},
		convert.Ollama: {"/api/chat", chat, func(b []byte) []json.RawMessage { return []json.RawMessage{pick(b, "message")} }},
		convert.Responses: {"/v1/responses", func(tools json.RawMessage, messages []json.RawMessage) any {
			return fields{"model": "m", "tools": tools, "input": messages}
		}, func(b []byte) (items []json.RawMessage) { _ = json.Unmarshal(pick(b, "output"), &items); return items }},
		convert.Anthropic: {"/v1/messages", chat, func(b []byte) []json.RawMessage {
			m, _ := json.Marshal(fields{"role": "assistant", "content": pick(b, "content")})
			return []json.RawMessage{m}
		}},
		convert.Gemini: {"/v1beta/models/m:generateContent", func(tools json.RawMessage, messages []json.RawMessage) any {
			return fields{"tools": tools, "contents": messages}
		}, func(b []byte) []json.RawMessage { return []json.RawMessage{pick(b, "candidates", "0", "content")} }},
	} {
		t.Run(string(f), func(t *testing.T) {
			fake := &fakemodel.Model{Script: []fakemodel.Call{{Tool: regexp.MustCompile("search_google"), Args: `{"query":"go"}`}, {Tool: regexp.MustCompile("search_google"), Args: `{"query":"gopher"}`}}}
			s := httptest.NewServer(fake)
			defer s.Close()
			tools, err := convert.Tools(f, []model.Tool{search})
			if err != nil {
				t.Fatal(err)
			}
			first := fields{"role": "user", "content": "Search."}
			if f == convert.Gemini {
				first = fields{"role": "user", "parts": []any{fields{"text": "Search."}}}
			}
			b, err := json.Marshal(first)
			if err != nil {
				t.Fatal(err)
			}
			messages, rounds := []json.RawMessage{b}, 0
			var response []byte
			for {
				body, err := json.Marshal(l.body(tools, messages))
				if err != nil {
					t.Fatal(err)
				}
				res, err := http.Post(s.URL+l.path, "application/json", bytes.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				response, err = io.ReadAll(res.Body)
				res.Body.Close()
				if err != nil {
					t.Fatal(err)
				}
				calls, err := convert.Calls(f, response)
				if err != nil {
					t.Fatalf("%v: %s", err, response)
				}
				if len(calls) == 0 {
					break
				}
				rounds++
				var results []model.Result
				for _, c := range calls {
					results = append(results, model.Result{CallID: c.ID, Name: c.Name, Parts: []content.Part{content.TextPart(fmt.Sprintf("%d results for %s", rounds, c.Arguments))}})
				}
				messages = append(messages, l.said(response)...)
				messages = append(messages, convert.Results(f, results)...)
			}
			seen := fake.Requests()
			if last := seen[len(seen)-1]; rounds != 2 || len(last.Results) != 2 || !strings.Contains(last.Results[1], `2 results for {"query":"gopher"}`) || len(last.Tools) != 1 {
				t.Errorf("%d rounds; the model saw %+v", rounds, last)
			}
			if !bytes.Contains(response, []byte("FINAL: ")) {
				t.Errorf("the last response is %s", response)
			}
		})
	}
}

func Example() {
	tools := []model.Tool{{Name: "now", Description: "Tells the time.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}}
	definitions, err := convert.Tools(convert.OpenAI, tools)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", definitions)

	response := []byte(`{"choices":[{"message":{"tool_calls":[{"id":"call_1","function":{"name":"now","arguments":"{}"}}]}}]}`)
	calls, err := convert.Calls(convert.OpenAI, response)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range calls {
		noon := model.Result{CallID: c.ID, Name: c.Name, Parts: []tool.Part{tool.Text("12:00")}}
		for _, m := range convert.Results(convert.OpenAI, []model.Result{noon}) {
			fmt.Printf("%s\n", m)
		}
	}
	// Output:
	// [{"type":"function","function":{"name":"now","description":"Tells the time.","parameters":{"type":"object","properties":{}}}}]
	// {"role":"tool","tool_call_id":"call_1","content":"12:00"}
}
