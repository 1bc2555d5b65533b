package openai

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/modeltest"
)

type object = map[string]any

func js(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func data(v any) string { return "data: " + js(v) + "\n\n" }

// refusals are the errors of OpenAI, in its words.
func refusal(kind modeltest.Fault) (int, string, string) {
	status, typ, code, message := 400, "invalid_request_error", any(nil), ""
	switch kind {
	case modeltest.Unauthorized:
		status, code, message = 401, "invalid_api_key", "Incorrect API key provided: "+modeltest.Key+". You can find your API key at https://platform.openai.com/account/api-keys."
	case modeltest.Forbidden:
		status, code, message = 403, "model_not_found", "Project `proj_1` does not have access to model `fake`"
	case modeltest.TooLong:
		code, message = "context_length_exceeded", "This model's maximum context length is 128000 tokens. However, your messages resulted in 190000 tokens. Please reduce the length of the messages."
	case modeltest.Invalid:
		code, message = "unknown_parameter", "Unknown parameter: 'frobnicate'."
	case modeltest.RateLimited:
		status, typ, code, message = 429, "tokens", "rate_limit_exceeded", "Rate limit reached for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s."
	case modeltest.Broken:
		status, typ, message = 500, "server_error", "The server had an error while processing your request. Sorry about that!"
	case modeltest.Overloaded:
		status, typ, code, message = 503, "server_error", "server_is_overloaded", "Our servers are currently overloaded. Please try again later."
	case modeltest.NoModel:
		status, code, message = 404, "model_not_found", "The model `fake` does not exist or you do not have access to it."
	}
	return status, "application/json", js(object{"error": object{"message": message, "type": typ, "param": nil, "code": code}})
}

func bearer(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// unpack reads a data URL.
func unpack(kind content.Kind, url, name string) (*content.Part, error) {
	head, data, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	if !ok {
		return nil, fmt.Errorf("no data URL: %.40q", url)
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	return &content.Part{Kind: kind, MIME: head, Data: raw, Name: name}, err
}

// strict decodes and refuses what the service does not know.
func strict(body []byte, v any) error {
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

type chatFake struct{ official bool }

func (chatFake) Error(kind modeltest.Fault) (int, string, string) { return refusal(kind) }

func (f chatFake) Stream(r modeltest.Reply) modeltest.Stream {
	chunk := func(delta object, reason any) object {
		return object{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": r.Model, "usage": nil,
			"choices": []any{object{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": reason}}}
	}
	s := modeltest.Stream{ContentType: "text/event-stream; charset=utf-8", Head: data(chunk(object{"role": "assistant", "content": ""}, nil))}
	calls := 0
	for _, x := range r.Steps {
		switch {
		case x.Text != "":
			s.Steps = append(s.Steps, data(chunk(object{"content": x.Text}, nil)))
		case x.Reasoning != "":
			s.Steps = append(s.Steps, ": a comment keeps the line open\n\n"+data(chunk(object{"reasoning_content": x.Reasoning, "content": nil}, nil)))
		case x.Call != nil:
			call := func(function object, more object) string {
				c := object{"index": calls, "function": function}
				for k, v := range more {
					c[k] = v
				}
				return data(chunk(object{"tool_calls": []any{c}}, nil))
			}
			step := call(object{"name": x.Call.Name, "arguments": ""}, object{"id": x.Call.ID, "type": "function"})
			for _, a := range x.Call.Args {
				step += call(object{"arguments": a}, nil)
			}
			s.Steps = append(s.Steps, step)
			calls++
		}
	}
	if r.Fail != "" {
		_, _, body := refusal(r.Fail)
		s.Tail = "data: " + body + "\n\n"
		return s
	}
	reason := map[model.Stop]string{model.End: "stop", model.Calls: "tool_calls", model.Length: "length", model.Refusal: "content_filter"}[r.Stop]
	u := r.Usage
	usage := object{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": r.Model, "choices": []any{}, "usage": object{
		"prompt_tokens": u.Input + u.CacheRead + u.CacheWrite, "completion_tokens": u.Output, "total_tokens": u.Input + u.CacheRead + u.CacheWrite + u.Output,
		"prompt_tokens_details":     object{"cached_tokens": u.CacheRead, "audio_tokens": 0, "cache_write_tokens": u.CacheWrite},
		"completion_tokens_details": object{"reasoning_tokens": 0}}}
	s.Tail = data(chunk(object{}, reason)) + data(usage) + "data: [DONE]\n\n"
	return s
}

type chatPart struct {
	Type  string               `json:"type"`
	Text  string               `json:"text"`
	Image struct{ URL string } `json:"image_url"`
	File  struct {
		Filename string
		FileData string `json:"file_data"`
	} `json:"file"`
}

func (f chatFake) Request(r *http.Request, body []byte) (modeltest.Seen, error) {
	var s modeltest.Seen
	if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" {
		return s, fmt.Errorf("%s %s", r.Method, r.URL.Path)
	}
	var q struct {
		Model    string `json:"model"`
		Messages []json.RawMessage
		Tools    []struct {
			Type     string
			Function struct {
				Name, Description string
				Parameters        json.RawMessage
			}
		}
		ToolChoice  string   `json:"tool_choice"`
		MaxTokens   int      `json:"max_tokens"`
		MaxComplete int      `json:"max_completion_tokens"`
		Temperature *float64 `json:"temperature"`
		Effort      string   `json:"reasoning_effort"`
		CacheKey    string   `json:"prompt_cache_key"`
		Stream      bool
		Options     struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	if err := strict(body, &q); err != nil {
		return s, err
	}
	if !q.Stream || !q.Options.IncludeUsage {
		return s, errors.New("no stream with usage was asked for")
	}
	if f.official && q.MaxTokens != 0 || !f.official && (q.MaxComplete != 0 || q.CacheKey != "") {
		return s, errors.New("a field of the other dialect")
	}
	s.Model, s.Key = q.Model, bearer(r)
	s.MaxTokens, s.Temperature, s.Choose, s.Session = q.MaxTokens+q.MaxComplete, q.Temperature, model.Choice(q.ToolChoice), q.CacheKey
	s.Effort = model.Effort(q.Effort)
	for _, t := range q.Tools {
		s.Tools = append(s.Tools, model.Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters})
	}
	s.Prefix = []string{js(q.Tools)}
	open := map[string]bool{}
	for i, raw := range q.Messages {
		s.Prefix = append(s.Prefix, string(raw))
		if err := f.message(&s, i, raw, open); err != nil {
			return s, fmt.Errorf("message %d: %w", i, err)
		}
	}
	if len(open) > 0 {
		return s, fmt.Errorf("calls without a result: %v", open)
	}
	return s, nil
}

func (f chatFake) message(s *modeltest.Seen, i int, raw json.RawMessage, open map[string]bool) error {
	var m struct {
		Role, Content any
		CallID        string `json:"tool_call_id"`
		Reasoning     string `json:"reasoning_content"`
		Calls         []struct {
			ID, Type string
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	if err := strict(raw, &m); err != nil {
		return err
	}
	if f.official && m.Reasoning != "" {
		return errors.New("unknown field reasoning_content")
	}
	var blocks []model.Block
	switch c := m.Content.(type) {
	case string:
		blocks = append(blocks, model.Block{Part: &content.Part{Kind: content.Text, Text: c}})
	case []any:
		var parts []chatPart
		if err := json.Unmarshal([]byte(js(c)), &parts); err != nil {
			return err
		}
		for _, p := range parts {
			var part *content.Part
			var err error
			switch p.Type {
			case "text":
				part = &content.Part{Kind: content.Text, Text: p.Text}
			case "image_url":
				part, err = unpack(content.Image, p.Image.URL, "")
			case "file":
				part, err = unpack(content.Document, p.File.FileData, p.File.Filename)
			default:
				err = fmt.Errorf("part of type %q", p.Type)
			}
			if err != nil {
				return err
			}
			blocks = append(blocks, model.Block{Part: part})
		}
	}
	out := model.Message{Role: model.User, Blocks: blocks}
	if m.Role != "tool" && len(open) > 0 {
		return fmt.Errorf("calls without a result: %v", open)
	}
	switch m.Role {
	case "system":
		if i != 0 {
			return errors.New("system text after the start")
		}
		s.System = m.Content.(string)
		return nil
	case "user":
	case "assistant":
		out.Role = model.Assistant
		for _, c := range m.Calls {
			if open[c.ID] || c.ID == "" || !json.Valid([]byte(c.Function.Arguments)) {
				return fmt.Errorf("call %+v", c)
			}
			open[c.ID] = true
			out.Blocks = append(out.Blocks, model.Block{Call: &model.Call{ID: c.ID, Name: c.Function.Name, Arguments: json.RawMessage(c.Function.Arguments)}})
		}
	case "tool":
		if !open[m.CallID] {
			return fmt.Errorf("a result of no call: %q", m.CallID)
		}
		delete(open, m.CallID)
		text, ok := m.Content.(string)
		if !ok {
			return errors.New("a result that is no text")
		}
		out.Blocks = []model.Block{{Result: &model.Result{CallID: m.CallID, Parts: []content.Part{content.TextPart(text)}}}}
	default:
		return fmt.Errorf("role %q", m.Role)
	}
	s.Messages = append(s.Messages, out)
	return nil
}
