package gemini

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/internal/fit"
	"github.com/tackle-dev/tackle/model/internal/wire"
	"github.com/tackle-dev/tackle/model/modeltest"
)

var update = flag.Bool("update", false, "rewrite golden files")

const dot = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\xdac\xfc\xcf\xc0P\x0f\x00\x04\x85\x01\x80\x84\xa9\x8c!\x00\x00\x00\x00IEND\xaeB`\x82"

func blocks(role model.Role, b ...model.Block) model.Message {
	return model.Message{Role: role, Blocks: b}
}

func of(p content.Part) model.Block { return model.Block{Part: &p} }

// everything is a request that holds all that the format has.
func everything(name string) model.Request {
	signed := func(on string) json.RawMessage {
		raw, err := json.Marshal(opaque{"c2lnbmF0dXJl", on, name})
		if err != nil {
			panic(err)
		}
		return raw
	}
	warm := 0.25
	picture := content.Part{Kind: content.Image, MIME: "image/png", Data: []byte(dot)}
	return model.Request{
		Tools: []model.Tool{
			{Name: "read_file", Description: "Reads <a> file.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"where"},"limit":{"type":"integer","minimum":1},"edits":{"type":"array","items":{"type":"object","properties":{"old":{"type":"string"}},"required":["old"]}}},"required":["path"]}`)},
			{Name: "list", Description: "Lists.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
		},
		System: "Be careful. Ä & <x>",
		Messages: []model.Message{
			blocks(model.User, of(content.TextPart("See.")), of(picture), of(content.Part{Kind: content.Document, MIME: "application/pdf", Data: []byte("%PDF-1.7 << /Type /Page >>")}), of(content.Part{Kind: content.Audio, MIME: "audio/wav", Data: []byte("RIFF")})),
			blocks(model.Assistant,
				model.Block{Reasoning: &model.Reasoning{Text: "Hm.", Provider: "gemini", Opaque: signed("thought")}},
				of(content.TextPart("I look.")), model.Block{Reasoning: &model.Reasoning{Provider: "gemini", Opaque: signed("text")}},
				model.Block{Call: &model.Call{ID: "c1", Name: "read_file", Arguments: json.RawMessage(`{"path":"a.go","limit":3}`), Provider: "gemini", Opaque: signed("")}},
				model.Block{Call: &model.Call{ID: "c2", Name: "list", Arguments: json.RawMessage(`{}`)}}),
			blocks(model.User,
				model.Block{Result: &model.Result{CallID: "c1", Name: "read_file", Parts: []content.Part{content.TextPart("package a"), picture}}},
				model.Block{Result: &model.Result{CallID: "c2", Name: "list", Parts: []content.Part{content.TextPart("denied")}, Error: true}},
				of(content.TextPart("Go on."))),
		},
		Choose: model.Required, MaxTokens: 4096, Temperature: &warm, Effort: model.Medium,
	}
}

// What the adapter writes and what the fake streams are kept in testdata, where tests/wires holds both against the provider's own
// client.
func TestA2_Golden(t *testing.T) {
	const name = "gemini-4-argon"
	m, err := New(Options{Model: name})
	if err != nil {
		t.Fatal(err)
	}
	req := everything(name)
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	e.SetIndent("", "\t")
	q, _ := m.request(req, fit.NewNames(words, req.Tools))
	if err := e.Encode(q); err != nil {
		t.Fatal(err)
	}
	golden(t, "request.json", body.Bytes())
	r, err := http.NewRequest(http.MethodPost, m.address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (fake{ids: true}).Request(r, body.Bytes()); err != nil {
		t.Errorf("the fake refuses it: %v", err)
	}

	x := fake{ids: true}.Stream(modeltest.Reply{Model: name, Stop: model.Calls, Usage: model.Usage{Input: 1000, CacheRead: 200, Output: 30}, Steps: []modeltest.Step{
		{Reasoning: "Let me see.", Signature: "c2lnbmF0dXJl"}, {Text: "I look"}, {Text: " there: ä."},
		{Call: &modeltest.Call{ID: "c1", Name: "read_file", Args: []string{`{"path":"a.go",`, `"limit":3}`}}}, {Call: &modeltest.Call{ID: "c2", Name: "list"}}}})
	stream := x.Head
	for _, s := range append(x.Steps, x.Tail) {
		stream += s
	}
	golden(t, "stream.txt", []byte(stream))
	c := collector{model: m, names: fit.NewNames(words, nil)}
	if err := wire.Events(bytes.NewReader([]byte(stream)), c.chunk); err != nil {
		t.Fatal(err)
	}
	if err := c.finish(); err != nil {
		t.Fatal(err)
	}
	answer, err := json.MarshalIndent(c.Done(), "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "answer.json", append(answer, '\n'))
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}
