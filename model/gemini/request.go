package gemini

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/internal/fit"
	"github.com/tackle-dev/tackle/model/internal/wire"
)

// words is the rule for names of functions.
var words = fit.Rule{Max: 64, First: fit.Letter, Rest: func(c byte) bool { return fit.Word(c) || c == '.' || c == ':' }}

// defaultTokens bounds an answer where nobody says how long it may be. Reasoning counts.
const defaultTokens = 32_000

// request writes a request in the order in which it stays the same: tools, system, contents. It also returns the opaque forms in it.
func (m *Model) request(req model.Request, names *fit.Names) (q request, sent [][]byte) {
	q = request{Generate: generate{MaxTokens: req.MaxTokens, Temperature: req.Temperature, Thinking: m.think(req.Effort)}}
	if q.Generate.MaxTokens == 0 && m.info.Output > 0 {
		q.Generate.MaxTokens = min(m.info.Output, defaultTokens)
	}
	if len(req.Tools) > 0 {
		var fs []function
		for _, t := range req.Tools {
			t = m.schemas.Fit(t)
			fs = append(fs, function{names.Wire(t.Name), t.Description, t.Schema})
		}
		q.Tools = []tools{{fs}}
		if mode := map[model.Choice]string{model.Required: "ANY", model.None: "NONE"}[req.Choose]; mode != "" {
			q.Config = &toolMode{}
			q.Config.Calling.Mode = mode
		}
	}
	if req.System != "" {
		q.System = &turn{Role: "user", Parts: []part{{Text: &req.System}}}
	}
	w := writer{model: m, names: names}
	for _, msg := range req.Messages {
		w.message(msg)
	}
	q.Contents = w.out
	return q, w.sent
}

var (
	budgets = map[model.Effort]int{model.Low: 2048, model.Medium: 8192, model.High: 24_576}
	levels  = map[model.Effort]string{model.Off: "LOW", model.Low: "LOW", model.Medium: "MEDIUM", model.High: "HIGH"}
)

func (m *Model) think(e model.Effort) *thoughts {
	if m.plain.Load() {
		return nil
	}
	switch m.traits.thinks {
	case budgeted:
		t := &thoughts{Include: e != model.Off}
		if b, ok := budgets[e]; ok {
			t.Budget = &b
		} else if e == model.Off {
			t.Budget = &m.traits.off
		}
		return t
	case levelled:
		t := &thoughts{Include: e != model.Off, Level: levels[e]}
		if e == model.Medium && !m.traits.level {
			t.Level = "HIGH"
		}
		return t
	}
	return nil
}

// opaque is what the provider wants back: a signature, and for which kind of part.
type opaque struct {
	Signature string `json:"signature"`
	On        string `json:"on,omitempty"`    // "thought", "text": the text before it; "": a part without words
	Model     string `json:"model,omitempty"` // signatures hold for the model that made them
}

// unsigned stands for the signature of a call that another model made; newer models refuse calls without any. The provider names
// this value for the purpose.
const unsigned = "skip_thought_signature_validator"

// writer writes messages.
type writer struct {
	model *Model
	names *fit.Names
	ids   fit.IDs
	out   []turn
	sent  [][]byte
}

func (w *writer) message(msg model.Message) {
	var parts, results, media []part
	called := false
	for _, b := range msg.Blocks {
		switch {
		case b.Reasoning != nil:
			parts = w.reasoning(parts, b.Reasoning)
		case b.Part != nil:
			parts = append(parts, w.part(*b.Part)...)
		case b.Call != nil:
			parts = append(parts, w.call(b.Call, !called))
			called = true
		case b.Result != nil:
			r, m := w.result(b.Result)
			results, media = append(results, r), append(media, m...)
		}
	}
	// Results come first and together: the provider counts them against the calls before them.
	if parts = slices.Concat(results, media, parts); len(parts) == 0 {
		return
	}
	role := "user"
	if msg.Role == model.Assistant {
		role = "model"
	}
	w.out = append(w.out, turn{role, parts})
}

func (w *writer) open(provider string, raw json.RawMessage) (o opaque, ok bool) {
	if provider != w.model.info.Provider || json.Unmarshal(raw, &o) != nil || o.Signature == "" {
		return o, false
	}
	if o.Model != "" && o.Model != w.model.info.Name || w.model.refused.Has(raw) {
		return o, false
	}
	w.sent = append(w.sent, raw)
	return o, true
}

func (w *writer) reasoning(parts []part, r *model.Reasoning) []part {
	o, ok := w.open(r.Provider, r.Opaque)
	if !ok {
		return parts
	}
	switch n := len(parts); {
	case o.On == "thought":
		return append(parts, part{Text: &r.Text, Thought: true, Signature: o.Signature})
	case o.On == "text" && n > 0 && parts[n-1].Text != nil && parts[n-1].Signature == "":
		parts[n-1].Signature = o.Signature
		return parts
	}
	empty := ""
	return append(parts, part{Text: &empty, Signature: o.Signature})
}

func (w *writer) call(c *model.Call, first bool) part {
	p := part{Call: &call{ID: w.ids.Call(c.ID), Name: w.names.Wire(c.Name), Args: wire.Sent(c)}}
	if o, ok := w.open(c.Provider, c.Opaque); ok {
		p.Signature = o.Signature
	} else if first && w.model.traits.signed {
		p.Signature = unsigned
	}
	return p
}

// result answers a call. Media stand within it, or beside it where the model does not look there.
func (w *writer) result(r *model.Result) (p part, beside []part) {
	out := &response{ID: w.ids.Result(r.CallID), Name: w.names.Wire(r.Name)}
	var texts []string
	for _, x := range r.Parts {
		for _, y := range w.part(x) {
			switch {
			case y.Data == nil:
				texts = append(texts, *y.Text)
			case w.model.traits.beside && !strings.HasPrefix(y.Data.MIME, "audio/"):
				out.Parts = append(out.Parts, &responsePart{Data: y.Data})
			default:
				beside = append(beside, y)
			}
		}
	}
	key := "output"
	if r.Error {
		key = "error"
	}
	out.Result = map[string]any{key: strings.Join(texts, "\n")}
	return part{Response: out}, beside
}

// sounds are the types of sound that the provider takes, by the names that it knows.
var sounds = map[string]string{
	"audio/wav": "audio/wav", "audio/x-wav": "audio/wav", "audio/wave": "audio/wav", "audio/mpeg": "audio/mp3", "audio/mp3": "audio/mp3",
	"audio/aiff": "audio/aiff", "audio/x-aiff": "audio/aiff", "audio/aac": "audio/aac", "audio/ogg": "audio/ogg", "audio/flac": "audio/flac", "audio/x-flac": "audio/flac",
}

// part writes a part; empty text is left out.
func (w *writer) part(p content.Part) []part {
	info := w.model.info
	info.Audio = info.Audio && sounds[p.MIME] != ""
	x := fit.Drawn(model.Fit(p, info), "image/png", "image/jpeg", "image/webp")
	switch {
	case x.Kind == content.Audio:
		return []part{{Data: &blob{sounds[x.MIME], x.Data}}}
	case x.Kind != content.Text:
		return []part{{Data: &blob{x.MIME, x.Data}}}
	case x.Text == "":
		return nil
	}
	return []part{{Text: &x.Text}}
}
