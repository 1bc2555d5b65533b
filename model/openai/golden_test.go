package openai

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/internal/form"
	"github.com/tackle-dev/tackle/model/modeltest"
)

var update = flag.Bool("update", false, "rewrite golden files")

const dot = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\xdac\xfc\xcf\xc0P\x0f\x00\x04\x85\x01\x80\x84\xa9\x8c!\x00\x00\x00\x00IEND\xaeB`\x82"

// everything is a request that holds all that the formats have.
func everything() model.Request {
	of := func(p content.Part) model.Block { return model.Block{Part: &p} }
	say := func(s string) model.Block { return of(content.TextPart(s)) }
	picture := content.Part{Kind: content.Image, MIME: "image/png", Data: []byte(dot)}
	return model.Request{
		Tools: []model.Tool{
			{Name: "read_file", Description: "Reads <a> file.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"where"},"limit":{"type":"integer","minimum":1}},"required":["path"]}`)},
			{Name: "list", Description: "Lists.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
		},
		System: "Be careful. Ä & <x>",
		Messages: []model.Message{
			{Role: model.User, Blocks: []model.Block{say("See."), of(picture), of(content.Part{Kind: content.Document, MIME: "application/pdf", Name: "a.pdf", Data: []byte("%PDF-1.7 << /Type /Page >>")}),
				of(content.Part{Kind: content.Audio, MIME: "audio/wav", Data: []byte("RIFF")})}},
			{Role: model.Assistant, Blocks: []model.Block{
				{Reasoning: &model.Reasoning{Text: "Hm.", Provider: "openai", Opaque: json.RawMessage(`{"type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"c2VhbGVk"}`)}},
				say("I look."),
				{Call: &model.Call{ID: "c1", Name: "read_file", Arguments: json.RawMessage(`{"path":"a.go","limit":3}`)}},
				{Call: &model.Call{ID: "c2", Name: "list", Arguments: json.RawMessage(`{}`)}}}},
			{Role: model.User, Blocks: []model.Block{
				{Result: &model.Result{CallID: "c1", Name: "read_file", Parts: []content.Part{content.TextPart("package a"), picture}}},
				{Result: &model.Result{CallID: "c2", Name: "list", Parts: []content.Part{content.TextPart("denied")}, Error: true}},
				say("Go on.")}},
		},
		Choose: model.Required, MaxTokens: 4096, Effort: model.Medium, Session: "session-1",
	}
}

// What the adapter writes and what the fake of chat completions streams are kept in testdata, where tests/wires holds both against the
// official types of chat, which the adapter does without.
func TestA2_Golden(t *testing.T) {
	req := everything()
	chat, err := New(Options{Model: "gpt-6-luna", API: Chat, Info: model.Info{Audio: true}})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "chat-request.json", indent(t, chat.chatBody(req, form.OpenAINames(req.Tools))))
	resp, err := New(Options{Model: "gpt-6-luna"})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "responses-request.json", indent(t, resp.responsesBody(req, form.OpenAINames(req.Tools))))

	x := chatFake{official: true}.Stream(modeltest.Reply{Model: "gpt-6-luna", Stop: model.Calls, Usage: model.Usage{Input: 1000, CacheRead: 200, CacheWrite: 10, Output: 30}, Steps: []modeltest.Step{
		{Text: "I look"}, {Text: " there: ä."},
		{Call: &modeltest.Call{ID: "c1", Name: "read_file", Args: []string{`{"path":"a.go",`, `"limit":3}`}}}, {Call: &modeltest.Call{ID: "c2", Name: "list", Args: []string{"{}"}}}}})
	stream := x.Head + strings.Join(x.Steps, "") + x.Tail
	golden(t, "stream.txt", []byte(stream))
	b := &builder{}
	res := &http.Response{Header: http.Header{"Content-Type": {x.ContentType}}, Body: io.NopCloser(strings.NewReader(stream))}
	if err := chat.readChat(res, &chatReader{builder: b, names: form.OpenAINames(nil), provider: "openai"}); err != nil {
		t.Fatal(err)
	}
	answer, err := json.MarshalIndent(b.Done(), "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "answer.json", append(answer, '\n'))
}

func indent(t *testing.T, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "\t"); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}
