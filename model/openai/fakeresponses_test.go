package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/modeltest"
)

type responsesFake struct{}

func (responsesFake) Error(kind modeltest.Fault) (int, string, string) { return refusal(kind) }

func (responsesFake) Stream(r modeltest.Reply) modeltest.Stream {
	n := 0
	event := func(kind string, more object) string {
		more["type"], more["sequence_number"] = kind, n
		n++
		return "event: " + kind + "\n" + data(more)
	}
	begun := object{"id": "resp_1", "object": "response", "created_at": 1, "status": "in_progress", "model": r.Model, "output": []any{}, "usage": nil, "error": nil}
	s := modeltest.Stream{ContentType: "text/event-stream; charset=utf-8",
		Head: event("response.created", object{"response": begun}) + event("response.in_progress", object{"response": begun})}
	var output []any
	var said *strings.Builder // of the message that is open
	done := func() string {
		if said == nil {
			return ""
		}
		at := len(output)
		part := object{"type": "output_text", "text": said.String(), "annotations": []any{}}
		item := object{"type": "message", "id": fmt.Sprintf("msg_%d", at), "role": "assistant", "status": "completed", "content": []any{part}}
		output, said = append(output, item), nil
		return event("response.output_text.done", object{"item_id": item["id"], "output_index": at, "content_index": 0, "text": part["text"]}) +
			event("response.content_part.done", object{"item_id": item["id"], "output_index": at, "content_index": 0, "part": part}) +
			event("response.output_item.done", object{"output_index": at, "item": item})
	}
	for _, x := range r.Steps {
		step := ""
		switch {
		case x.Text != "":
			id := fmt.Sprintf("msg_%d", len(output))
			if said == nil {
				said = &strings.Builder{}
				step = event("response.output_item.added", object{"output_index": len(output), "item": object{"type": "message", "id": id, "role": "assistant", "status": "in_progress", "content": []any{}}}) +
					event("response.content_part.added", object{"item_id": id, "output_index": len(output), "content_index": 0, "part": object{"type": "output_text", "text": "", "annotations": []any{}}})
			}
			said.WriteString(x.Text)
			step += event("response.output_text.delta", object{"item_id": id, "output_index": len(output), "content_index": 0, "delta": x.Text, "logprobs": []any{}})
		case x.Reasoning != "":
			step = done()
			at, id := len(output), fmt.Sprintf("rs_%d", len(output))
			item := object{"type": "reasoning", "id": id, "summary": []any{object{"type": "summary_text", "text": x.Reasoning}}, "encrypted_content": x.Signature, "status": nil}
			step += event("response.output_item.added", object{"output_index": at, "item": object{"type": "reasoning", "id": id, "summary": []any{}}}) +
				event("response.reasoning_summary_part.added", object{"item_id": id, "output_index": at, "summary_index": 0, "part": object{"type": "summary_text", "text": ""}}) +
				event("response.reasoning_summary_text.delta", object{"item_id": id, "output_index": at, "summary_index": 0, "delta": x.Reasoning}) +
				event("response.output_item.done", object{"output_index": at, "item": item})
			output = append(output, item)
		case x.Call != nil:
			step = done()
			at := len(output)
			item := object{"type": "function_call", "id": fmt.Sprintf("fc_%d", at), "call_id": x.Call.ID, "name": x.Call.Name, "arguments": strings.Join(x.Call.Args, ""), "status": "completed"}
			step += event("response.output_item.added", object{"output_index": at, "item": object{"type": "function_call", "id": item["id"], "call_id": x.Call.ID, "name": x.Call.Name, "arguments": "", "status": "in_progress"}})
			for _, a := range x.Call.Args {
				step += event("response.function_call_arguments.delta", object{"item_id": item["id"], "output_index": at, "delta": a})
			}
			step += event("response.function_call_arguments.done", object{"item_id": item["id"], "output_index": at, "arguments": item["arguments"]}) +
				event("response.output_item.done", object{"output_index": at, "item": item})
			output = append(output, item)
		}
		s.Steps = append(s.Steps, step)
	}
	tail := done()
	if r.Fail != "" {
		s.Tail = event("response.failed", object{"response": object{"id": "resp_1", "object": "response", "created_at": 1, "status": "failed", "model": r.Model, "output": output,
			"error": object{"code": "server_error", "message": "Our servers are currently overloaded. Please try again later."}}})
		return s
	}
	u, kind, status, details := r.Usage, "response.completed", "completed", any(nil)
	switch r.Stop {
	case model.Length:
		kind, status, details = "response.incomplete", "incomplete", object{"reason": "max_output_tokens"}
	case model.Refusal:
		kind, status, details = "response.incomplete", "incomplete", object{"reason": "content_filter"}
	}
	in := u.Input + u.CacheRead + u.CacheWrite
	s.Tail = tail + event(kind, object{"response": object{"id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": r.Model, "output": output, "error": nil, "incomplete_details": details,
		"usage": object{"input_tokens": in, "input_tokens_details": object{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite}, "output_tokens": u.Output,
			"output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": in + u.Output}}})
	return s
}

type inputPart struct {
	Type, Text, Filename string
	ImageURL             string `json:"image_url"`
	FileData             string `json:"file_data"`
}

func (p inputPart) part() (*content.Part, error) {
	switch p.Type {
	case "input_text", "output_text":
		return &content.Part{Kind: content.Text, Text: p.Text}, nil
	case "input_image":
		return unpack(content.Image, p.ImageURL, "")
	case "input_file":
		return unpack(content.Document, p.FileData, p.Filename)
	}
	return nil, fmt.Errorf("part of type %q", p.Type)
}

func (f responsesFake) Request(r *http.Request, body []byte) (modeltest.Seen, error) {
	var s modeltest.Seen
	if r.Method != http.MethodPost || r.URL.Path != "/v1/responses" {
		return s, fmt.Errorf("%s %s", r.Method, r.URL.Path)
	}
	var q struct {
		Model, Instructions string
		Input               []json.RawMessage
		Tools               []struct {
			Type, Name, Description string
			Parameters              json.RawMessage
			Strict                  *bool
		}
		Choice      string   `json:"tool_choice"`
		MaxTokens   int      `json:"max_output_tokens"`
		Temperature *float64 `json:"temperature"`
		Reasoning   *struct{ Effort, Summary string }
		Include     []string
		CacheKey    string `json:"prompt_cache_key"`
		Store       *bool
		Stream      bool
	}
	if err := strict(body, &q); err != nil {
		return s, err
	}
	if !q.Stream || q.Store == nil || *q.Store {
		return s, errors.New("want a stream, and nothing stored")
	}
	s.Model, s.Key, s.System = q.Model, bearer(r), q.Instructions
	s.MaxTokens, s.Temperature, s.Choose, s.Session = q.MaxTokens, q.Temperature, model.Choice(q.Choice), q.CacheKey
	for _, t := range q.Tools {
		if t.Type != "function" || t.Strict == nil || *t.Strict {
			return s, fmt.Errorf("tool %+v", t)
		}
		s.Tools = append(s.Tools, model.Tool{Name: t.Name, Description: t.Description, Schema: t.Parameters})
	}
	s.Prefix = []string{js(q.Tools), q.Instructions}
	open := map[string]bool{}
	for i, raw := range q.Input {
		s.Prefix = append(s.Prefix, string(raw))
		m, err := f.item(raw, open)
		if err != nil {
			return s, fmt.Errorf("item %d: %w", i, err)
		}
		s.Messages = append(s.Messages, m)
	}
	if len(open) > 0 {
		return s, fmt.Errorf("calls without a result: %v", open)
	}
	return s, nil
}

func (responsesFake) item(raw json.RawMessage, open map[string]bool) (model.Message, error) {
	var x struct {
		Type, Role, Name, Arguments string
		CallID                      string `json:"call_id"`
		Content                     []inputPart
		Output                      json.RawMessage
		Summary                     []object
		Encrypted                   string `json:"encrypted_content"`
	}
	m := model.Message{Role: model.User}
	if err := strict(raw, &x); err != nil {
		return m, err
	}
	switch x.Type {
	case "message":
		if len(open) > 0 {
			return m, fmt.Errorf("calls without a result: %v", open)
		}
		m.Role = model.Role(x.Role)
		for _, p := range x.Content {
			if (p.Type == "output_text") != (x.Role == "assistant") {
				return m, fmt.Errorf("%s in a message of the %s", p.Type, x.Role)
			}
			part, err := p.part()
			if err != nil {
				return m, err
			}
			m.Blocks = append(m.Blocks, model.Block{Part: part})
		}
	case "reasoning":
		if x.Encrypted == "" {
			return m, errors.New("reasoning that is not encrypted")
		}
		m.Role = model.Assistant
		m.Blocks = []model.Block{{Reasoning: &model.Reasoning{Provider: "openai"}}}
	case "function_call":
		if open[x.CallID] || x.CallID == "" || !json.Valid([]byte(x.Arguments)) {
			return m, fmt.Errorf("call %s", raw)
		}
		open[x.CallID] = true
		m.Role = model.Assistant
		m.Blocks = []model.Block{{Call: &model.Call{ID: x.CallID, Name: x.Name, Arguments: json.RawMessage(x.Arguments)}}}
	case "function_call_output":
		if !open[x.CallID] {
			return m, fmt.Errorf("a result of no call: %q", x.CallID)
		}
		delete(open, x.CallID)
		r := &model.Result{CallID: x.CallID}
		var text string
		var parts []inputPart
		if json.Unmarshal(x.Output, &text) == nil {
			r.Parts = []content.Part{content.TextPart(text)}
		} else if err := json.Unmarshal(x.Output, &parts); err != nil {
			return m, err
		}
		for _, p := range parts {
			part, err := p.part()
			if err != nil {
				return m, err
			}
			r.Parts = append(r.Parts, *part)
		}
		m.Blocks = []model.Block{{Result: r}}
	default:
		return m, fmt.Errorf("item of type %q", x.Type)
	}
	return m, nil
}
