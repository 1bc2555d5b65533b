package form

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
)

// all is a model that takes pictures and documents.
var all = model.Info{Images: true, Files: true}

func resultsOf(results []model.Result) []model.Message {
	m := model.Message{Role: model.User}
	for i := range results {
		m.Blocks = append(m.Blocks, model.Block{Result: &results[i]})
	}
	return []model.Message{m}
}

// ChatResults returns one message for each result, and one of the user for what they show, since results of chat completions are text.
func ChatResults(results []model.Result) []json.RawMessage { return Chat(all, resultsOf(results)) }

// ResponsesResults returns one item of input for each result.
func ResponsesResults(results []model.Result) []json.RawMessage {
	return Responses(all, resultsOf(results))
}

// free takes any id, and does not tell calls apart: the calls themselves are not ours.
func free(info model.Info) *writer {
	return &writer{info: info, names: OpenAINames(nil)}
}

// AnthropicResults returns one message of the user with all results.
func AnthropicResults(results []model.Result) []json.RawMessage {
	w := free(all)
	blocks := make([]any, len(results))
	for i := range results {
		blocks[i] = w.anthropicResult(&results[i])
	}
	w.add(struct {
		Role    string `json:"role"`
		Content []any  `json:"content"`
	}{"user", blocks})
	return w.out
}

type geminiPart struct {
	Text     string          `json:"text,omitempty"`
	Data     *geminiData     `json:"inlineData,omitempty"`
	Response *geminiResponse `json:"functionResponse,omitempty"`
}

type geminiData struct {
	MIME string `json:"mimeType"`
	Data string `json:"data"`
}

type geminiResponse struct {
	Name     string `json:"name"`
	Response any    `json:"response"`
}

// GeminiResults returns one content of the user: the results, matched by name and order, and then what they show.
func GeminiResults(results []model.Result) []json.RawMessage {
	w := free(all)
	var parts []geminiPart
	var beside []part
	for _, r := range results {
		text, media := split(w.parts(r.Parts))
		if len(media) > 0 {
			beside = append(beside, words(fmt.Sprintf("From the result of %s:", r.Name)))
			beside = append(beside, media...)
		}
		field := "output"
		if r.Error {
			field = "error"
		}
		parts = append(parts, geminiPart{Response: &geminiResponse{r.Name, object{field: text}}})
	}
	for _, p := range beside {
		if !p.show {
			parts = append(parts, geminiPart{Text: p.Text})
		} else {
			parts = append(parts, geminiPart{Data: &geminiData{p.MIME, base64.StdEncoding.EncodeToString(p.Data)}})
		}
	}
	w.add(struct {
		Role  string       `json:"role"`
		Parts []geminiPart `json:"parts"`
	}{"user", parts})
	return w.out
}

// OllamaResults returns one message for each result, with its pictures. Documents are described: there is no field for them.
func OllamaResults(results []model.Result) []json.RawMessage {
	w := free(model.Info{Images: true})
	for _, r := range results {
		m := struct {
			Role    string   `json:"role"`
			Content string   `json:"content"`
			Images  []string `json:"images,omitempty"`
			Name    string   `json:"tool_name"`
			CallID  string   `json:"tool_call_id,omitempty"`
		}{Role: "tool", Name: r.Name, CallID: r.CallID}
		var text []part
		for _, p := range w.parts(r.Parts) {
			if p.show {
				m.Images = append(m.Images, base64.StdEncoding.EncodeToString(p.Data))
			} else {
				text = append(text, p)
			}
		}
		m.Content = joined(text)
		w.add(m)
	}
	return w.out
}

func (w *writer) anthropicResult(r *model.Result) any {
	parts := w.parts(r.Parts)
	out := struct {
		Type    string `json:"type"`
		ID      string `json:"tool_use_id"`
		Content []any  `json:"content,omitempty"`
		Error   bool   `json:"is_error,omitempty"`
	}{"tool_result", w.ids.Result(r.CallID), anthropicParts(parts), r.Error}
	return out
}

func anthropicParts(parts []part) (out []any) {
	for _, p := range parts {
		kind := "image"
		switch {
		case !p.show:
			out = append(out, textBlock(p.Text))
			continue
		case p.Kind == content.Document:
			kind = "document"
		}
		block := object{"type": kind, "source": object{"type": "base64", "media_type": p.MIME, "data": base64.StdEncoding.EncodeToString(p.Data)}}
		if kind == "document" && p.Name != "" {
			block["title"] = p.Name
		}
		out = append(out, block)
	}
	return out
}

func textBlock(s string) any {
	return struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{"text", s}
}
