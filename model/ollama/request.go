package ollama

import (
	"strings"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/internal/fit"
	"github.com/tackle-dev/tackle/model/internal/wire"
)

// words is the rule for names of tools: the server takes all, templates of models expect words.
var words = fit.Rule{Max: 128, First: func(c byte) bool { return c > ' ' }, Rest: func(c byte) bool { return c > ' ' }}

// request writes a request. Its beginning stays the same from turn to turn, so that the server need not read it again.
func (m *Model) request(req model.Request, names *fit.Names) request {
	q := request{Model: m.info.Name, Stream: true, Think: m.think(req.Effort),
		Options: options{Window: m.info.Window, MaxTokens: req.MaxTokens, Temperature: req.Temperature}}
	if req.Choose != model.None {
		for _, t := range req.Tools {
			t = m.schemas.Fit(t)
			q.Tools = append(q.Tools, tool{"function", function{names.Wire(t.Name), t.Description, t.Schema}})
		}
	}
	w := writer{model: m, names: names}
	if req.System != "" {
		w.out = append(w.out, message{Role: "system", Content: req.System})
	}
	for _, msg := range req.Messages {
		w.message(msg)
	}
	q.Messages = w.out
	return q
}

// think maps an effort; only one family of models has levels.
func (m *Model) think(e model.Effort) any {
	switch {
	case e == "" || m.plain.Load():
		return nil
	case e == model.Off:
		return false
	case strings.Contains(m.info.Name, "gpt-oss"):
		return string(e)
	}
	return true
}

// writer writes messages. A message holds one text and pictures behind it, so that one of ours can become several.
type writer struct {
	model *Model
	names *fit.Names
	ids   fit.IDs
	out   []message
}

func (w *writer) message(msg model.Message) {
	if msg.Role == model.Assistant {
		w.assistant(msg)
		return
	}
	var pictures []content.Part
	for _, b := range msg.Blocks {
		if b.Result != nil {
			pictures = append(pictures, w.result(b.Result)...)
		}
	}
	if len(pictures) > 0 { // models look for pictures in what the user says
		w.user(append([]content.Part{content.TextPart("[pictures of the results above]")}, pictures...))
	}
	var parts []content.Part
	for _, b := range msg.Blocks {
		if b.Part != nil {
			parts = append(parts, w.fit(*b.Part))
		}
	}
	w.user(parts)
}

// fit returns a part as the server takes it: it decodes PNG and JPEG, and more only since lately.
func (w *writer) fit(p content.Part) content.Part {
	return fit.Drawn(model.Fit(p, w.model.info), "image/png", "image/jpeg")
}

// user writes parts, each picture with the words before it.
func (w *writer) user(parts []content.Part) {
	var open *message
	flush := func() {
		if open != nil {
			w.out = append(w.out, *open)
		}
		open = nil
	}
	for _, p := range parts {
		if p.Kind == content.Text && p.Text == "" {
			continue
		}
		if open != nil && len(open.Images) > 0 && p.Kind == content.Text {
			flush()
		}
		if open == nil {
			open = &message{Role: "user"}
		}
		switch {
		case p.Kind != content.Text:
			open.Images = append(open.Images, p.Data)
		case open.Content != "":
			open.Content += "\n" + p.Text
		default:
			open.Content = p.Text
		}
	}
	flush()
}

func (w *writer) assistant(msg model.Message) {
	out := message{Role: "assistant"}
	for _, b := range msg.Blocks {
		switch {
		case b.Reasoning != nil && b.Reasoning.Provider == w.model.info.Provider:
			out.Thinking += b.Reasoning.Text
		case b.Part != nil:
			out.Content += model.Fit(*b.Part, model.Info{}).Text
		case b.Call != nil:
			c := call{ID: w.ids.Call(b.Call.ID)}
			c.Function.Name, c.Function.Arguments = w.names.Wire(b.Call.Name), wire.Sent(b.Call)
			out.Calls = append(out.Calls, c)
		}
	}
	if out.Content != "" || len(out.Calls) > 0 {
		w.out = append(w.out, out)
	}
}

// result answers a call and returns the pictures that the model is to see beside it.
func (w *writer) result(r *model.Result) (pictures []content.Part) {
	var texts []string
	for _, p := range r.Parts {
		if p = w.fit(p); p.Kind != content.Text {
			pictures = append(pictures, p)
		} else if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	text := strings.Join(texts, "\n")
	if r.Error && !strings.HasPrefix(strings.ToLower(text), "error") {
		text = "error: " + text
	}
	w.out = append(w.out, message{Role: "tool", Content: text, ToolName: w.names.Wire(r.Name), CallID: w.ids.Result(r.CallID)})
	return pictures
}
