package wires

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"
)

// answer is what the adapter made of the stream, as its golden file holds it.
type answer struct {
	Message struct {
		Blocks []struct {
			Part      *struct{ Text string }
			Reasoning *struct{ Text string }
			Call      *call
		}
	}
	Usage struct{ Input, CacheRead, CacheWrite, Output int }
}

type call struct {
	ID, Name  string
	Arguments map[string]any
}

// told is what both sides made of a stream.
type told struct {
	text, reasoning string
	calls           []call
	input, output   int
}

func read(t *testing.T, adapter, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "model", adapter, "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ours is what the adapter made of its stream. Chat completions of OpenAI show no reasoning.
func ours(t *testing.T, adapter string) (x told) {
	t.Helper()
	var a answer
	if err := json.Unmarshal(read(t, adapter, "answer.json"), &a); err != nil {
		t.Fatal(err)
	}
	for _, b := range a.Message.Blocks {
		switch {
		case b.Part != nil:
			x.text += b.Part.Text
		case b.Reasoning != nil:
			x.reasoning += b.Reasoning.Text
		case b.Call != nil:
			x.calls = append(x.calls, *b.Call)
		}
	}
	x.input, x.output = a.Usage.Input+a.Usage.CacheRead+a.Usage.CacheWrite, a.Usage.Output
	if x.text == "" || x.reasoning == "" && adapter != "openai" || len(x.calls) != 2 || x.input == 0 {
		t.Fatalf("the golden answer of %s holds too little: %+v", adapter, x)
	}
	return x
}

// serve answers with the stream of an adapter's fake and keeps what it was asked.
func serve(t *testing.T, adapter, contentType string) (base string, body *[]byte) {
	t.Helper()
	stream := read(t, adapter, "stream.txt")
	body = new([]byte)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*body = b
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(stream)
	}))
	t.Cleanup(s.Close)
	return s.URL, body
}

func strict(t *testing.T, b []byte, v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Fatalf("the client's own types do not hold the request: %v", err)
	}
}

// same compares JSON without the members that drop takes out of its objects.
func same(t *testing.T, theirs, ours []byte, drop func(map[string]any)) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal(theirs, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(ours, &b); err != nil {
		t.Fatal(err)
	}
	walk(a, drop)
	walk(b, drop)
	if !reflect.DeepEqual(a, b) {
		x, _ := json.MarshalIndent(a, "", "\t")
		y, _ := json.MarshalIndent(b, "", "\t")
		t.Errorf("the client writes\n%s\nthe adapter\n%s", x, y)
	}
}

func walk(v any, drop func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		drop(v)
		for _, x := range v {
			walk(x, drop)
		}
	case []any:
		for _, x := range v {
			walk(x, drop)
		}
	}
}

func TestA2_GeminiClient(t *testing.T) {
	var req struct {
		Tools             []*genai.Tool           `json:"tools"`
		ToolConfig        *genai.ToolConfig       `json:"toolConfig"`
		SystemInstruction *genai.Content          `json:"systemInstruction"`
		Contents          []*genai.Content        `json:"contents"`
		GenerationConfig  *genai.GenerationConfig `json:"generationConfig"`
	}
	want := read(t, "gemini", "request.json")
	strict(t, want, &req)
	base, body := serve(t, "gemini", "text/event-stream")
	client, err := genai.NewClient(t.Context(), &genai.ClientConfig{APIKey: "k", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: base}})
	if err != nil {
		t.Fatal(err)
	}
	g := req.GenerationConfig
	config := &genai.GenerateContentConfig{Tools: req.Tools, ToolConfig: req.ToolConfig, SystemInstruction: req.SystemInstruction, MaxOutputTokens: g.MaxOutputTokens, Temperature: g.Temperature, ThinkingConfig: g.ThinkingConfig}
	var got told
	for res, err := range client.Models.GenerateContentStream(t.Context(), "gemini-4-argon", req.Contents, config) {
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range res.Candidates[0].Content.Parts {
			switch {
			case p.FunctionCall != nil:
				args := p.FunctionCall.Args
				if args == nil {
					args = map[string]any{}
				}
				got.calls = append(got.calls, call{p.FunctionCall.ID, p.FunctionCall.Name, args})
			case p.Thought:
				got.reasoning += p.Text
			default:
				got.text += p.Text
			}
		}
		got.input, got.output = int(res.UsageMetadata.PromptTokenCount), int(res.UsageMetadata.CandidatesTokenCount)
	}
	if w := ours(t, "gemini"); !reflect.DeepEqual(got, w) {
		t.Errorf("the client reads %+v, the adapter %+v", got, w)
	}
	same(t, *body, want, func(m map[string]any) {
		if args, ok := m["args"].(map[string]any); ok && len(args) == 0 {
			delete(m, "args") // the client leaves out what is empty
		}
	})
}

func TestA2_OllamaClient(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	want := read(t, "ollama", "request.json")
	var req api.ChatRequest
	strict(t, want, &req)
	base, body := serve(t, "ollama", "application/x-ndjson")
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	var got told
	if err := api.NewClient(u, http.DefaultClient).Chat(t.Context(), &req, func(r api.ChatResponse) error {
		got.text += r.Message.Content
		got.reasoning += r.Message.Thinking
		for _, c := range r.Message.ToolCalls {
			got.calls = append(got.calls, call{c.ID, c.Function.Name, c.Function.Arguments.ToMap()})
		}
		if r.Done {
			got.input, got.output = r.PromptEvalCount, r.EvalCount
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if w := ours(t, "ollama"); !reflect.DeepEqual(got, w) {
		t.Errorf("the client reads %+v, the adapter %+v", got, w)
	}
	same(t, *body, want, func(m map[string]any) {
		if _, ok := m["arguments"]; ok {
			delete(m, "index") // a number that the client always writes and no template reads
		}
	})
	if !strings.Contains(string(*body), `"num_ctx":32768`) {
		t.Errorf("the window is not asked for: %s", *body)
	}
}

// The client's types of chat and of responses hold what the adapter writes, and its own reader makes the same of a stream.
func TestA2_OpenAIClient(t *testing.T) {
	for name, params := range map[string]any{"chat-request.json": &openai.ChatCompletionNewParams{}, "responses-request.json": &responses.ResponseNewParams{}} {
		want := read(t, "openai", name)
		if err := json.Unmarshal(want, params); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		body, err := json.Marshal(params)
		if err != nil {
			t.Fatal(err)
		}
		same(t, body, want, func(m map[string]any) {
			delete(m, "stream") // set beside the types
			if m["type"] == "reasoning" && m["id"] == "" {
				delete(m, "id") // the client writes it always; a service that stores nothing looks in vain for an item with an id
			}
		})
	}
	base, _ := serve(t, "openai", "text/event-stream")
	client := openai.NewClient(option.WithBaseURL(base), option.WithAPIKey("k"))
	stream := client.Chat.Completions.NewStreaming(t.Context(), openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Go.")}})
	var all openai.ChatCompletionAccumulator
	for stream.Next() {
		if !all.AddChunk(stream.Current()) {
			t.Fatalf("the client refuses a chunk: %s", stream.Current().RawJSON())
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	m := all.Choices[0].Message
	got := told{text: m.Content, input: int(all.Usage.PromptTokens), output: int(all.Usage.CompletionTokens)}
	for _, c := range m.ToolCalls {
		var args map[string]any
		if err := json.Unmarshal([]byte(c.Function.Arguments), &args); err != nil {
			t.Fatal(err)
		}
		got.calls = append(got.calls, call{c.ID, c.Function.Name, args})
	}
	if w := ours(t, "openai"); !reflect.DeepEqual(got, w) {
		t.Errorf("the client reads %+v, the adapter %+v", got, w)
	}
}
