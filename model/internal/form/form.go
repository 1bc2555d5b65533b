// Package form writes messages in the words of providers: whole conversations for OpenAI's two interfaces, and for all the messages
// that answer calls.
package form

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/internal/fit"
)

// writer writes messages of one format.
type writer struct {
	info   model.Info
	sounds func(mime string) string // the name of a format of sound that can be sent, or ""; nil: all, under their own names
	names  *fit.Names
	ids    fit.IDs
	out    []json.RawMessage
}

// openai is what OpenAI takes as a name of a tool, and short its ids.
func openai() (names, ids fit.Rule) {
	every := func(byte) bool { return true }
	return fit.Rule{Max: 64, First: fit.Word, Rest: fit.Word}, fit.Rule{Max: 64, First: every, Rest: every}
}

// OpenAINames returns the names of tools as OpenAI takes them.
func OpenAINames(tools []model.Tool) *fit.Names {
	names, _ := openai()
	return fit.NewNames(names, tools)
}

func newWriter(info model.Info) *writer {
	_, ids := openai()
	return &writer{info: info, names: OpenAINames(nil), ids: fit.IDs{Rule: ids}}
}

// Chat returns a conversation as the field "messages" of chat completions holds it, without system text. What the model does not take,
// as info says, is described in words, and opaque forms are sent only to info.Provider. Texts without a character and messages
// without content are left out: several services refuse them.
func Chat(info model.Info, msgs []model.Message) []json.RawMessage {
	w := newWriter(info)
	w.sounds = sound
	w.chat(msgs)
	return w.out
}

// Responses is Chat for the field "input" of the responses API.
func Responses(info model.Info, msgs []model.Message) []json.RawMessage {
	info.Audio = false
	w := newWriter(info)
	w.responses(msgs)
	return w.out
}

func (w *writer) add(v any) { w.out = append(w.out, Encode(v)) }

// object is a JSON object whose fields come in a fixed order, that of their names.
type object = map[string]any

// Encode writes v as JSON, without the escapes that only HTML needs. It is for values that always marshal.
func Encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("form: %v", err)) // strings, numbers and JSON that was checked
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// List is a field of a request whose items are JSON already.
type List struct {
	Field string
	Items []json.RawMessage
}

// Body writes a request: lists, which may hold megabytes and are not read again, and then the fields of rest, a struct. Lists without
// items are left out.
func Body(rest any, lists ...List) json.RawMessage {
	fields := Encode(rest)
	n := len(fields)
	for _, l := range lists {
		n += len(l.Field) + 6
		for _, x := range l.Items {
			n += len(x) + 1
		}
	}
	b := append(make([]byte, 0, n), '{')
	for _, l := range lists {
		if len(l.Items) == 0 {
			continue
		}
		b = append(append(append(b, '"'), l.Field...), `":[`...)
		for i, x := range l.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, x...)
		}
		b = append(b, "],"...)
	}
	return append(b, fields[1:]...)
}

// opaque returns what the provider wants back, or nil where it is another's or nothing.
func (w *writer) opaque(provider string, raw json.RawMessage) json.RawMessage {
	if provider == "" || provider != w.info.Provider || !json.Valid(raw) {
		return nil
	}
	return raw
}

// part is what becomes of one part of a message.
type part struct {
	content.Part
	show bool // as media; otherwise Text says it all
}

func words(s string) part { return part{content.TextPart(s), false} }

// parts prepares parts: empty texts go, what the model does not take is described.
func (w *writer) parts(in []content.Part) (out []part) {
	for _, p := range in {
		info := w.info
		if w.sounds != nil && w.sounds(p.MIME) == "" {
			info.Audio = false
		}
		if p = model.Fit(p, info); p.Kind != content.Text {
			out = append(out, part{p, true})
		} else if p.Text != "" {
			out = append(out, words(p.Text))
		}
	}
	return out
}

// said is a part of the model's own words, which are never media.
func (w *writer) said(p content.Part) string { return model.Fit(p, model.Info{}).Text }

// sound is the format of sound in the words of OpenAI, or "".
func sound(mime string) string {
	switch mime {
	case "audio/wav", "audio/x-wav", "audio/wave":
		return "wav"
	case "audio/mpeg", "audio/mp3":
		return "mp3"
	}
	return ""
}

// joined is the text of parts of which none is shown as media.
func joined(parts []part) string {
	var b bytes.Buffer
	for i, p := range parts {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

func hasMedia(parts []part) bool {
	for _, p := range parts {
		if p.show {
			return true
		}
	}
	return false
}

// split divides the parts of a result for a format whose results are text: the text, and what a message beside it shows. A
// text that stands right before a picture is its marker and is said in both places.
func split(parts []part) (text string, beside []part) {
	var told []part
	for i, p := range parts {
		if !p.show {
			told = append(told, p)
			continue
		}
		if i > 0 && !parts[i-1].show {
			beside = append(beside, parts[i-1])
		}
		beside = append(beside, p)
	}
	return joined(told), beside
}

// turn is one message, its blocks sorted by what they are.
type turn struct {
	role      model.Role
	results   []*model.Result
	parts     []content.Part
	blocks    []model.Block // all of them, in order
	assistant bool
}

func turns(msgs []model.Message) (out []turn) {
	for _, m := range msgs {
		t := turn{role: m.Role, blocks: m.Blocks, assistant: m.Role == model.Assistant}
		for _, b := range m.Blocks {
			switch {
			case b.Result != nil:
				t.results = append(t.results, b.Result)
			case b.Part != nil:
				t.parts = append(t.parts, *b.Part)
			}
		}
		out = append(out, t)
	}
	return out
}
