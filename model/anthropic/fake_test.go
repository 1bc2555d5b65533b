package anthropic

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/modeltest"
)

// fake is the Messages format as its public reference describes it.
type fake struct{}

func event(name string, v map[string]any) string {
	v["type"] = name
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("event: %s\ndata: %s\n\n", name, b)
}

func block(i int, start map[string]any, deltas ...map[string]any) string {
	var b strings.Builder
	b.WriteString(event("content_block_start", map[string]any{"index": i, "content_block": start}))
	for _, d := range deltas {
		b.WriteString(event("content_block_delta", map[string]any{"index": i, "delta": d}))
	}
	b.WriteString(event("content_block_stop", map[string]any{"index": i}))
	return b.String()
}

func (fake) Stream(r modeltest.Reply) modeltest.Stream {
	s := modeltest.Stream{ContentType: "text/event-stream; charset=utf-8"}
	s.Head = event("message_start", map[string]any{"message": map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": r.Model, "content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": r.Usage.Input, "cache_read_input_tokens": r.Usage.CacheRead, "cache_creation_input_tokens": r.Usage.CacheWrite, "output_tokens": 1},
	}}) + event("ping", map[string]any{})
	index := 0
	texts := 0 // the service puts texts that follow each other in one block
	for i, x := range r.Steps {
		next := i+1 < len(r.Steps) && r.Steps[i+1].Text != ""
		switch {
		case x.Call != nil:
			var deltas []map[string]any
			deltas = append(deltas, map[string]any{"type": "input_json_delta", "partial_json": ""})
			for _, a := range x.Call.Args {
				deltas = append(deltas, map[string]any{"type": "input_json_delta", "partial_json": a})
			}
			s.Steps = append(s.Steps, block(index, map[string]any{"type": "tool_use", "id": x.Call.ID, "name": x.Call.Name, "input": map[string]any{}}, deltas...))
			index++
		case x.Reasoning != "":
			s.Steps = append(s.Steps, block(index, map[string]any{"type": "thinking", "thinking": "", "signature": ""},
				map[string]any{"type": "thinking_delta", "thinking": x.Reasoning}, map[string]any{"type": "signature_delta", "signature": x.Signature}))
			index++
		default:
			var b strings.Builder
			if texts == 0 {
				b.WriteString(event("content_block_start", map[string]any{"index": index, "content_block": map[string]any{"type": "text", "text": ""}}))
			}
			b.WriteString(event("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": "text_delta", "text": x.Text}}))
			texts++
			if !next {
				b.WriteString(event("content_block_stop", map[string]any{"index": index}))
				texts = 0
				index++
			}
			s.Steps = append(s.Steps, b.String())
		}
	}
	if r.Fail != "" {
		_, _, body := fake{}.Error(r.Fail)
		s.Tail = "event: error\ndata: " + body + "\n\n"
		return s
	}
	stop := map[model.Stop]string{model.End: "end_turn", model.Calls: "tool_use", model.Length: "max_tokens", model.Refusal: "refusal"}[r.Stop]
	s.Tail = event("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": r.Usage.Output}}) +
		event("message_stop", map[string]any{})
	return s
}

func (fake) Error(f modeltest.Fault) (status int, contentType, body string) {
	type row struct {
		status     int
		kind, said string
	}
	r := map[modeltest.Fault]row{
		modeltest.Unauthorized: {401, "authentication_error", "invalid x-api-key " + modeltest.Key},
		modeltest.Forbidden:    {403, "permission_error", "Your API key does not have permission to use the specified resource."},
		modeltest.TooLong:      {400, "invalid_request_error", "prompt is too long: 212000 tokens > 200000 maximum"},
		modeltest.Invalid:      {400, "invalid_request_error", "messages.0.content: Field required"},
		modeltest.RateLimited:  {429, "rate_limit_error", "This request would exceed your organization's rate limit of 50,000 input tokens per minute."},
		modeltest.Broken:       {500, "api_error", "Internal server error"},
		modeltest.Overloaded:   {529, "overloaded_error", "Overloaded"},
		modeltest.NoModel:      {404, "not_found_error", "model: claude-none"},
	}[f]
	b, err := json.Marshal(map[string]any{"type": "error", "error": map[string]any{"type": r.kind, "message": r.said}, "request_id": "req_1"})
	if err != nil {
		panic(err)
	}
	return r.status, "application/json", string(b)
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

type piece struct {
	Type         string          `json:"type"`
	Text         string          `json:"text"`
	Title        string          `json:"title"`
	Source       *source         `json:"source"`
	Thinking     string          `json:"thinking"`
	Signature    string          `json:"signature"`
	Data         string          `json:"data"`
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	Input        json.RawMessage `json:"input"`
	ToolUseID    string          `json:"tool_use_id"`
	Content      []piece         `json:"content"`
	IsError      bool            `json:"is_error"`
	CacheControl *struct {
		Type string `json:"type"`
	} `json:"cache_control"`
}

type message struct {
	Role    string  `json:"role"`
	Content []piece `json:"content"`
}

type request struct {
	Model     string `json:"model"`
	MaxTokens int    `json:"max_tokens"`
	Stream    bool   `json:"stream"`
	System    []piece
	Tools     []struct {
		Name         string          `json:"name"`
		Description  string          `json:"description"`
		InputSchema  json.RawMessage `json:"input_schema"`
		CacheControl *struct {
			Type string `json:"type"`
		} `json:"cache_control"`
	} `json:"tools"`
	Messages    []message `json:"messages"`
	Temperature *float64  `json:"temperature"`
	ToolChoice  *struct {
		Type string `json:"type"`
	} `json:"tool_choice"`
	Thinking *struct {
		Type    string `json:"type"`
		Budget  int    `json:"budget_tokens"`
		Display string `json:"display"`
	} `json:"thinking"`
	OutputConfig *struct {
		Effort string `json:"effort"`
	} `json:"output_config"`
}

var (
	marks  = regexp.MustCompile(`,?"cache_control":\{"type":"ephemeral"\}`)
	idRule = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
)

// Request reads a request with the strictness of the service.
func (fake) Request(r *http.Request, body []byte) (seen modeltest.Seen, err error) {
	seen.Key = r.Header.Get("X-Api-Key")
	if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" || r.Header.Get("Anthropic-Version") == "" || r.Header.Get("Authorization") != "" {
		return seen, fmt.Errorf("asked %s %s with %v", r.Method, r.URL, r.Header)
	}
	var q request
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return seen, err
	}
	if !q.Stream || q.MaxTokens < 1 || len(q.Messages) == 0 || q.Messages[0].Role != "user" {
		return seen, errors.New("stream, max_tokens, and messages that begin with the user are needed")
	}
	seen.Model, seen.MaxTokens, seen.Temperature, seen.Marks = q.Model, q.MaxTokens, q.Temperature, len(marks.FindAll(body, -1))
	if q.ToolChoice != nil {
		seen.Choose = map[string]model.Choice{"auto": model.Auto, "any": model.Required, "none": model.None}[q.ToolChoice.Type]
		if len(q.Tools) == 0 {
			return seen, errors.New("tool_choice without tools")
		}
	}
	if t := q.Thinking; t != nil && t.Type == "enabled" && (t.Budget < 1024 || t.Budget >= q.MaxTokens || q.Temperature != nil || seen.Choose == model.Required) {
		return seen, fmt.Errorf("thinking %+v does not go with the rest", *t)
	}
	for _, t := range q.Tools {
		seen.Tools = append(seen.Tools, model.Tool{Name: t.Name, Description: t.Description, Schema: t.InputSchema})
	}
	for _, s := range q.System {
		seen.System += s.Text
	}
	if err := readMessages(q.Messages, &seen); err != nil {
		return seen, err
	}
	seen.Prefix, err = prefix(body)
	return seen, err
}

func readMessages(messages []message, seen *modeltest.Seen) error {
	open, used := map[string]bool{}, map[string]bool{}
	for i, m := range messages {
		out := model.Message{Role: model.Role(m.Role)}
		if len(m.Content) == 0 {
			return fmt.Errorf("message %d is empty", i)
		}
		if m.Role == "user" && len(open) > 0 && m.Content[0].Type != "tool_result" {
			return fmt.Errorf("message %d: tool_use blocks without tool_result blocks immediately after", i)
		}
		for j, p := range m.Content {
			b, err := readBlock(p)
			if err != nil {
				return fmt.Errorf("messages.%d.content.%d: %w", i, j, err)
			}
			switch {
			case b.Call != nil:
				if used[p.ID] || !idRule.MatchString(p.ID) {
					return fmt.Errorf("messages.%d.content.%d: tool_use ids must be unique and match %v: %q", i, j, idRule, p.ID)
				}
				open[p.ID], used[p.ID] = true, true
			case b.Result != nil:
				if !open[p.ToolUseID] {
					return fmt.Errorf("messages.%d.content.%d: unexpected tool_use_id %q", i, j, p.ToolUseID)
				}
				if j > 0 && m.Content[j-1].Type != "tool_result" {
					return fmt.Errorf("messages.%d: results must come first", i)
				}
				delete(open, p.ToolUseID)
			}
			out.Blocks = append(out.Blocks, b)
		}
		seen.Messages = append(seen.Messages, out)
	}
	return nil
}

func readBlock(p piece) (model.Block, error) {
	switch p.Type {
	case "thinking":
		if p.Signature == "" {
			return model.Block{}, errors.New("each thinking block must contain a signature")
		}
		return model.Block{Reasoning: &model.Reasoning{Text: p.Thinking}}, nil
	case "redacted_thinking":
		return model.Block{Reasoning: &model.Reasoning{}}, nil
	case "tool_use":
		if !bytes.HasPrefix(p.Input, []byte("{")) {
			return model.Block{}, errors.New("input should be an object")
		}
		return model.Block{Call: &model.Call{ID: p.ID, Name: p.Name, Arguments: p.Input}}, nil
	case "tool_result":
		r := &model.Result{CallID: p.ToolUseID, Error: p.IsError}
		for _, c := range p.Content {
			x, err := readPart(c)
			if err != nil {
				return model.Block{}, err
			}
			r.Parts = append(r.Parts, x)
		}
		return model.Block{Result: r}, nil
	}
	x, err := readPart(p)
	return model.Block{Part: &x}, err
}

func readPart(p piece) (content.Part, error) {
	var data []byte
	if p.Source != nil {
		var err error
		if data, err = base64.StdEncoding.DecodeString(p.Source.Data); err != nil || p.Source.Type != "base64" {
			return content.Part{}, fmt.Errorf("source %q: %w", p.Source.Type, err)
		}
	}
	switch p.Type {
	case "text":
		if strings.TrimSpace(p.Text) == "" {
			return content.Part{}, errors.New("text content blocks must contain non-whitespace text")
		}
		return content.TextPart(p.Text), nil
	case "image":
		if !strings.Contains("image/jpeg image/png image/gif image/webp", p.Source.MediaType) {
			return content.Part{}, fmt.Errorf("media type %q", p.Source.MediaType)
		}
		return content.Part{Kind: content.Image, MIME: p.Source.MediaType, Data: data}, nil
	case "document":
		return content.Part{Kind: content.Document, MIME: p.Source.MediaType, Data: data, Name: p.Title}, nil
	}
	return content.Part{}, fmt.Errorf("unknown type %q", p.Type)
}

// prefix is what the service's cache compares: bytes, without the marks.
func prefix(body []byte) ([]string, error) {
	var q struct {
		Tools, System json.RawMessage
		Messages      []json.RawMessage
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	out := []string{string(q.Tools), string(q.System)}
	for _, m := range q.Messages {
		out = append(out, string(m))
	}
	for i := range out {
		out[i] = marks.ReplaceAllString(out[i], "")
	}
	return out, nil
}
