package modeltest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
)

// png is a picture of one pixel.
//
//go:embed testdata/pixel.png
var png []byte

// pdf is a document of one empty page.
//
//go:embed testdata/page.pdf
var pdf []byte

func tool(name string) model.Tool {
	return model.Tool{Name: name, Description: "Does " + name + ". Its words — <b>&</b> \"quotes\" — stay.", Schema: json.RawMessage(
		`{"type":"object","properties":{"path":{"type":"string","description":"where"},"limit":{"type":"integer"},"edits":{"type":"array","items":{"type":"object","properties":{"old_string":{"type":"string"}},"required":["old_string"]}}},"required":["path"]}`)}
}

func (s *Suite) requests(t *testing.T) {
	done := s.whole(s.reply(model.End, text("Done.")))
	t.Run("tools and system", func(t *testing.T) {
		v := s.serve(t, 0, done)
		req := ask("Go.")
		req.System, req.Tools = "You are careful.\nÄ & <x>", []model.Tool{tool("read_file"), tool("grep")}
		v.must(req)
		seen := v.last()
		if seen.System != req.System || seen.Key != Key || seen.Model != v.model.Info().Name {
			t.Errorf("system %q, key %q, model %q", seen.System, seen.Key, seen.Model)
		}
		if len(seen.Tools) != 2 {
			t.Fatalf("saw %d tools", len(seen.Tools))
		}
		for i, x := range seen.Tools {
			w := req.Tools[i]
			if x.Name != w.Name || x.Description != w.Description || !sameJSON(x.Schema, w.Schema) {
				t.Errorf("tool %d: saw %+v %s, want %+v %s", i, x, x.Schema, w, w.Schema)
			}
		}
	})
	t.Run("knobs", func(t *testing.T) {
		v := s.serve(t, 0, done)
		warm := 0.25
		req := ask("Go.")
		req.MaxTokens, req.Temperature, req.Session = 321, &warm, "session-1"
		v.must(req)
		seen := v.last()
		if seen.MaxTokens != 321 || seen.Temperature == nil || *seen.Temperature != warm {
			t.Errorf("saw %d tokens, temperature %v", seen.MaxTokens, seen.Temperature)
		}
		req = ask("Go.")
		v.must(req)
		if seen := v.last(); seen.Temperature != nil {
			t.Errorf("temperature %v was sent though none was asked for", *seen.Temperature)
		}
	})
	for _, e := range []model.Effort{model.Off, model.Low, model.Medium, model.High} {
		t.Run("effort "+string(e), func(t *testing.T) {
			v := s.serve(t, 0, done)
			req := ask("Go.")
			req.Effort = e
			v.must(req)
			v.last()
		})
	}
	if s.Can.Choice {
		t.Run("choice", func(t *testing.T) {
			v := s.serve(t, 0, done)
			for _, c := range []model.Choice{model.Auto, model.Required, model.None} {
				req := ask("Go.")
				req.Tools, req.Choose = []model.Tool{tool("grep")}, c
				v.must(req)
				if seen := v.last(); seen.Choose != c {
					t.Errorf("saw choice %q, want %q", seen.Choose, c)
				}
			}
		})
	}
	t.Run("conversation", func(t *testing.T) { s.conversation(t, done) })
	t.Run("media", func(t *testing.T) { s.media(t, done) })
	t.Run("prefix", func(t *testing.T) { s.prefix(t, done) })
	t.Run("empty parts", func(t *testing.T) {
		v := s.serve(t, 0, done)
		m := user(content.TextPart(""), content.TextPart("Go."), content.TextPart(""))
		silent := model.Message{Role: model.Assistant}
		v.must(model.Request{Messages: []model.Message{m, silent, say("Well?")}})
		seen := v.last()
		for _, m := range seen.Messages {
			if len(m.Blocks) == 0 {
				t.Errorf("a message without content was sent: %s", v.body())
			}
			for _, b := range m.Blocks {
				if b.Part != nil && b.Part.Kind == content.Text && b.Part.Text == "" {
					t.Errorf("an empty text was sent: %s", v.body())
				}
			}
		}
	})
	t.Run("unknown media", func(t *testing.T) {
		v := s.serve(t, 0, done)
		v.must(model.Request{Messages: []model.Message{user(content.TextPart("See."),
			content.Part{Kind: content.Image, MIME: "image/x-unheard-of", Data: []byte("??"), Name: "odd.bin"},
			content.Part{Kind: content.Link, URI: "artifact:abc", Name: "log.txt", Size: 99})}})
		if seen := v.last(); !strings.Contains(shown(seen), "artifact:abc") {
			t.Errorf("the model is not told of the link: %s", v.body())
		}
	})
}

// shown is all text of a request.
func shown(seen Seen) string {
	var b strings.Builder
	for _, m := range seen.Messages {
		for _, x := range m.Blocks {
			if x.Part != nil {
				b.WriteString(x.Part.Text + "\n")
			}
			if x.Result != nil {
				b.WriteString(content.JoinText(x.Result.Parts) + "\n")
			}
		}
	}
	return b.String()
}

// talk is a conversation with calls.
func (s *Suite) talk() []model.Message {
	reply := model.Message{Role: model.Assistant, Blocks: []model.Block{
		{Part: &content.Part{Kind: content.Text, Text: "I look."}},
		{Call: &model.Call{ID: "call_1", Name: "read_file", Arguments: json.RawMessage(`{"path":"a.go"}`)}},
		{Call: &model.Call{ID: "call_2", Name: "grep", Arguments: json.RawMessage(`{"path":"b","limit":2}`)}},
	}}
	return []model.Message{say("Fix it."), reply, results(
		model.Result{CallID: "call_1", Name: "read_file", Parts: []content.Part{content.TextPart("package a"), content.TextPart("(end)")}},
		model.Result{CallID: "call_2", Name: "grep", Parts: []content.Part{content.TextPart("denied: not here")}, Error: true},
	)}
}

func (s *Suite) conversation(t *testing.T, done answerFunc) {
	v := s.serve(t, 0, done)
	msgs := s.talk()
	// A person steers: words beside the results.
	msgs[2].Blocks = append(msgs[2].Blocks, model.Block{Part: &content.Part{Kind: content.Text, Text: "Only b, please."}})
	msgs = append(msgs, say("Hurry.")) // two turns of one side in a row
	v.must(model.Request{Tools: []model.Tool{tool("read_file"), tool("grep")}, Messages: msgs})
	seen := v.last()
	var texts, mine []string
	var c []model.Call
	var r []model.Result
	for _, m := range seen.Messages {
		for _, b := range m.Blocks {
			switch {
			case b.Part != nil && m.Role == model.Assistant:
				mine = append(mine, b.Part.Text)
			case b.Part != nil:
				texts = append(texts, b.Part.Text)
			case b.Call != nil:
				c = append(c, *b.Call)
			case b.Result != nil:
				r = append(r, *b.Result)
			}
		}
	}
	if got := strings.Join(texts, "|"); got != "Fix it.|Only b, please.|Hurry." {
		t.Errorf("the user's words: %q", got)
	}
	if got := strings.Join(mine, "|"); got != "I look." {
		t.Errorf("the model's words: %q", got)
	}
	if len(c) != 2 || c[0].Name != "read_file" || !sameJSON(c[0].Arguments, []byte(`{"path":"a.go"}`)) || !sameJSON(c[1].Arguments, []byte(`{"path":"b","limit":2}`)) {
		t.Fatalf("calls %+v", c)
	}
	if len(r) != 2 {
		t.Fatalf("results %+v", r)
	}
	for i := range r {
		if s.Can.CallIDs && (c[i].ID != r[i].CallID || c[i].ID != fmt.Sprintf("call_%d", i+1)) {
			t.Errorf("call %q is answered by the result of %q", c[i].ID, r[i].CallID)
		}
		if r[i].Name != "" && r[i].Name != c[i].Name {
			t.Errorf("result %d is of %q", i, r[i].Name)
		}
	}
	if got := content.JoinText(r[0].Parts); !strings.Contains(got, "package a") || !strings.Contains(got, "(end)") {
		t.Errorf("first result %q", got)
	}
	if got := content.JoinText(r[1].Parts); !strings.Contains(got, "denied: not here") {
		t.Errorf("second result %q", got)
	}
	// A result without any part still answers its call.
	msgs = s.talk()
	msgs[2].Blocks[0].Result.Parts = nil
	v.must(model.Request{Messages: msgs})
	v.last()
}

func (s *Suite) media(t *testing.T, done answerFunc) {
	v := s.serve(t, 0, done)
	picture := content.Part{Kind: content.Image, MIME: "image/png", Data: png, Name: "dot.png", Width: 1, Height: 1}
	document := content.Part{Kind: content.Document, MIME: "application/pdf", Data: pdf, Name: "page.pdf"}
	v.must(model.Request{Messages: []model.Message{user(content.TextPart("[media id: m1 | dot.png]"), picture, content.TextPart("[media id: m2 | page.pdf]"), document)}})
	seen := v.last()
	kinds := []content.Kind{content.Text}
	if s.Can.Images {
		kinds = append(kinds, content.Image)
	} else {
		kinds = append(kinds, content.Text)
	}
	kinds = append(kinds, content.Text)
	if s.Can.Documents {
		kinds = append(kinds, content.Document)
	} else {
		kinds = append(kinds, content.Text)
	}
	var got []content.Kind
	for _, m := range seen.Messages {
		for _, b := range m.Blocks {
			if b.Part == nil {
				continue
			}
			got = append(got, b.Part.Kind)
			switch b.Part.Kind {
			case content.Image:
				if !bytes.Equal(b.Part.Data, png) || b.Part.MIME != "image/png" {
					t.Errorf("the picture came as %d bytes of %q", len(b.Part.Data), b.Part.MIME)
				}
			case content.Document:
				if !bytes.Equal(b.Part.Data, pdf) || b.Part.MIME != "application/pdf" && b.Part.MIME != "" {
					t.Errorf("the document came as %d bytes of %q", len(b.Part.Data), b.Part.MIME)
				}
			}
		}
	}
	// A format that joins texts shows fewer of them; media must stand where they stood.
	if !slices.Equal(slices.Compact(got), slices.Compact(kinds)) {
		t.Errorf("saw %v, want %v", got, kinds)
	}
	if all := shown(seen); !s.Can.Documents && !strings.Contains(all, "page.pdf") || !s.Can.Images && !strings.Contains(all, "dot.png") {
		t.Errorf("what cannot be shown is not described: %q", all)
	}

	msgs := s.talk()
	msgs[2].Blocks[0].Result.Parts = []content.Part{content.TextPart("[media id: m1 | dot.png]"), picture}
	v.must(model.Request{Messages: msgs})
	seen = v.last()
	shows, told := 0, 0
	for _, m := range seen.Messages {
		for _, b := range m.Blocks {
			parts := []content.Part{}
			if b.Part != nil {
				parts = append(parts, *b.Part)
			}
			if b.Result != nil {
				told++
				parts = append(parts, b.Result.Parts...)
			}
			for _, p := range parts {
				if p.Kind == content.Image && bytes.Equal(p.Data, png) {
					shows++
				}
			}
		}
	}
	want := 0
	if s.Can.ResultImages {
		want = 1
	}
	if shows != want || told != 2 {
		t.Errorf("saw %d pictures in %d results, want %d in 2: %.2000s", shows, told, want, v.body())
	}
	if all := shown(seen); !strings.Contains(all, "[media id: m1 | dot.png]") {
		t.Errorf("the marker of the picture is gone: %q", all)
	}
}

// What a cache has seen stays as it was, byte by byte, from turn to turn and from run to run.
func (s *Suite) prefix(t *testing.T, done answerFunc) {
	v := s.serve(t, 0, done)
	picture := content.Part{Kind: content.Image, MIME: "image/png", Data: png}
	msgs := append([]model.Message{user(content.TextPart("[media id: m1]"), picture)}, s.talk()...)
	msgs = append(msgs, model.Message{Role: model.Assistant, Blocks: []model.Block{{Part: &content.Part{Kind: content.Text, Text: "Done."}}}}, say("More."))
	msgs = append(msgs, s.talk()[1:]...)
	var last []string
	// Turns end where a loop calls a model: after words of the user or after results.
	for n := 1; n <= len(msgs); n++ {
		if msgs[n-1].Role != model.User || n < len(msgs) && msgs[n].Role == model.User {
			continue
		}
		req := model.Request{Tools: []model.Tool{tool("read_file"), tool("grep")}, System: "Be careful.", Messages: msgs[:n], Session: "session-1"}
		v.must(req)
		first := v.body()
		v.must(req)
		if !bytes.Equal(first, v.body()) {
			t.Errorf("one request, twice, is not the same:\n%s\n%s", first, v.body())
		}
		seen := v.last()
		if len(seen.Prefix) < len(last) || !slices.Equal(seen.Prefix[:len(last)], last) {
			t.Errorf("turn of %d messages: the prefix changed:\n%.3000q\n%.3000q", n, last, seen.Prefix)
		}
		if len(seen.Prefix) < 3 {
			t.Errorf("prefix %q, want tools, system and messages", seen.Prefix)
		}
		last = seen.Prefix
		if s.Can.CacheMarks != (seen.Marks > 0) || seen.Marks > 4 {
			t.Errorf("%d cache marks", seen.Marks)
		}
	}
}
