package form

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/internal/wire"
)

func dataURL(p content.Part) string {
	return "data:" + p.MIME + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
}

// filename is what OpenAI wants with a file.
func filename(p content.Part) string {
	if p.Name != "" {
		return p.Name
	}
	return "document.pdf"
}

type chatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// ReasoningField is the Opaque form of reasoning that came in a field of a chat message: which field, and its value where it is no text.
type ReasoningField struct {
	Field   string          `json:"field"` // "reasoning_content" or "reasoning"
	Details json.RawMessage `json:"details,omitempty"`
}

func (w *writer) chat(msgs []model.Message) {
	for _, t := range turns(msgs) {
		if t.assistant {
			w.chatAssistant(t)
			continue
		}
		var beside []part
		for _, r := range t.results {
			text, media := split(w.parts(r.Parts))
			if len(media) > 0 {
				beside = append(beside, words(fmt.Sprintf("From the result of %s (%s):", r.Name, r.CallID)))
				beside = append(beside, media...)
				text += "\n(what it shows follows in the next message)"
			}
			w.add(struct {
				Role    string `json:"role"`
				CallID  string `json:"tool_call_id"`
				Content string `json:"content"`
			}{"tool", w.ids.Result(r.CallID), text})
		}
		if parts := append(beside, w.parts(t.parts)...); len(parts) > 0 {
			w.add(struct {
				Role    string `json:"role"`
				Content any    `json:"content"`
			}{"user", chatContent(parts)})
		}
	}
}

// chatContent is text where it can be: some compatible services take nothing else.
func chatContent(parts []part) any {
	if !hasMedia(parts) {
		return joined(parts)
	}
	out := make([]any, len(parts))
	for i, p := range parts {
		switch {
		case !p.show:
			out[i] = object{"type": "text", "text": p.Text}
		case p.Kind == content.Image:
			out[i] = object{"type": "image_url", "image_url": object{"url": dataURL(p.Part)}}
		case p.Kind == content.Document:
			out[i] = object{"type": "file", "file": object{"filename": filename(p.Part), "file_data": dataURL(p.Part)}}
		case p.Kind == content.Audio:
			out[i] = object{"type": "input_audio", "input_audio": object{"data": base64.StdEncoding.EncodeToString(p.Data), "format": sound(p.MIME)}}
		}
	}
	return out
}

func (w *writer) chatAssistant(t turn) {
	m := struct {
		Role             string          `json:"role"`
		Content          *string         `json:"content"`
		ReasoningContent string          `json:"reasoning_content,omitempty"`
		Reasoning        string          `json:"reasoning,omitempty"`
		Details          json.RawMessage `json:"reasoning_details,omitempty"`
		Calls            []chatCall      `json:"tool_calls,omitempty"`
	}{Role: "assistant"}
	for _, b := range t.blocks {
		switch {
		case b.Call != nil:
			c := chatCall{ID: w.ids.Call(b.Call.ID), Type: "function"}
			c.Function.Name, c.Function.Arguments = w.names.Wire(b.Call.Name), string(wire.Sent(b.Call))
			m.Calls = append(m.Calls, c)
		case b.Reasoning != nil:
			var f ReasoningField
			if raw := w.opaque(b.Reasoning.Provider, b.Reasoning.Opaque); raw == nil || json.Unmarshal(raw, &f) != nil {
				continue
			}
			switch f.Field {
			case "reasoning_content":
				m.ReasoningContent += b.Reasoning.Text
			case "reasoning":
				m.Reasoning += b.Reasoning.Text
			}
			if m.Details == nil {
				m.Details = f.Details
			}
		}
	}
	if parts := w.parts(t.parts); len(parts) > 0 {
		text, _ := split(parts) // an assistant shows no media
		m.Content = &text
	}
	if m.Content == nil && len(m.Calls) == 0 {
		return
	}
	w.add(m)
}

func (w *writer) responses(msgs []model.Message) {
	for _, t := range turns(msgs) {
		if t.assistant {
			w.responsesAssistant(t)
			continue
		}
		for _, r := range t.results {
			parts := w.parts(r.Parts)
			var output any = joined(parts)
			if hasMedia(parts) {
				output = inputs(parts)
			}
			w.add(struct {
				Type   string `json:"type"`
				CallID string `json:"call_id"`
				Output any    `json:"output"`
			}{"function_call_output", w.ids.Result(r.CallID), output})
		}
		if parts := w.parts(t.parts); len(parts) > 0 {
			w.add(struct {
				Type    string `json:"type"`
				Role    string `json:"role"`
				Content []any  `json:"content"`
			}{"message", "user", inputs(parts)})
		}
	}
}

func inputs(parts []part) []any {
	out := make([]any, len(parts))
	for i, p := range parts {
		switch {
		case !p.show:
			out[i] = object{"type": "input_text", "text": p.Text}
		case p.Kind == content.Image:
			out[i] = object{"type": "input_image", "image_url": dataURL(p.Part)}
		case p.Kind == content.Document:
			out[i] = object{"type": "input_file", "filename": filename(p.Part), "file_data": dataURL(p.Part)}
		}
	}
	return out
}

func (w *writer) responsesAssistant(t turn) {
	for _, b := range t.blocks {
		switch {
		case b.Reasoning != nil:
			if raw := w.opaque(b.Reasoning.Provider, b.Reasoning.Opaque); raw != nil {
				w.out = append(w.out, raw)
			}
		case b.Call != nil:
			w.add(struct {
				Type      string `json:"type"`
				CallID    string `json:"call_id"`
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			}{"function_call", w.ids.Call(b.Call.ID), w.names.Wire(b.Call.Name), string(wire.Sent(b.Call))})
		case b.Part != nil:
			if text := w.said(*b.Part); text != "" {
				w.add(struct {
					Type    string `json:"type"`
					Role    string `json:"role"`
					Content []any  `json:"content"`
				}{"message", "assistant", []any{object{"type": "output_text", "text": text}}})
			}
		}
	}
}
