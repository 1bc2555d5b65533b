package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/internal/fit"
	"github.com/tackle-dev/tackle/model/internal/form"
	"github.com/tackle-dev/tackle/model/internal/wire"
)

// chatRequest is a request without its lists of tools and messages.
type chatRequest struct {
	Model       string   `json:"model"`
	Choice      string   `json:"tool_choice,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty"`
	MaxComplete int      `json:"max_completion_tokens,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	Effort      string   `json:"reasoning_effort,omitempty"`
	CacheKey    string   `json:"prompt_cache_key,omitempty"`
	Stream      bool     `json:"stream"`
	Options     *options `json:"stream_options,omitempty"`
}

type options struct {
	Usage bool `json:"include_usage"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

func (m *Model) chatBody(req model.Request, names *fit.Names) json.RawMessage {
	r := chatRequest{Model: m.info.Name, Stream: true, Effort: m.effort(req.Effort)}
	if m.takes(usageField) {
		r.Options = &options{true}
	}
	r.Temperature = m.warm(req.Temperature, r.Effort)
	var tools, messages []json.RawMessage
	for _, t := range req.Tools {
		t = m.schemas.Fit(t)
		tools = append(tools, form.Encode(struct {
			Type     string   `json:"type"`
			Function function `json:"function"`
		}{"function", function{names.Wire(t.Name), t.Description, t.Schema}}))
	}
	if req.System != "" {
		messages = append(messages, form.Encode(struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		}{"system", strings.ToValidUTF8(req.System, "\uFFFD")}))
	}
	messages = append(messages, form.Chat(m.info, req.Messages)...)
	if len(req.Tools) > 0 {
		r.Choice = string(req.Choose)
	}
	if m.official == m.takes(maxField) {
		r.MaxComplete = req.MaxTokens
	} else {
		r.MaxTokens = req.MaxTokens
	}
	if m.official && m.takes(cacheField) {
		r.CacheKey = req.Session
	}
	return form.Body(r, form.List{Field: "tools", Items: tools}, form.List{Field: "messages", Items: messages})
}

func (m *Model) askChat(ctx context.Context, req model.Request, b *builder) error {
	names := form.OpenAINames(req.Tools)
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, m.base+"/chat/completions", bytes.NewReader(m.chatBody(req, names)))
	if err != nil {
		return err
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "text/event-stream")
	if m.key != "" {
		q.Header.Set("Authorization", "Bearer "+m.key)
	}
	res, err := m.http.Do(q)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return m.readChat(res, &chatReader{builder: b, names: names, provider: m.info.Provider})
}

// readChat reads a stream, or a whole answer where an endpoint does not stream.
func (m *Model) readChat(res *http.Response, r *chatReader) error {
	if kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type")); err == nil && kind == "application/json" {
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return err
		}
		if err := m.chunk(body, r); err != nil {
			return err
		}
		return m.endChat(r, nil)
	}
	d := ssestream.NewDecoder(res)
	for d.Next() {
		data := bytes.TrimSpace(d.Event().Data)
		if len(data) == 0 {
			continue
		}
		if bytes.Equal(data, []byte("[DONE]")) {
			r.done = true
			break
		}
		if err := m.chunk(data, r); err != nil {
			return err
		}
	}
	return m.endChat(r, d.Err())
}

// endChat ends an answer. Some endpoints send no [DONE], others no reason to stop: one of both is enough.
func (m *Model) endChat(r *chatReader, err error) error {
	if !r.done && r.reason == "" {
		if err != nil {
			return err
		}
		return m.transport.Cut()
	}
	return r.end()
}

func (m *Model) chunk(data []byte, r *chatReader) error {
	var c chatChunk
	if err := json.Unmarshal(data, &c); err != nil {
		return m.transport.Strange(err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return m.transport.Refusal(0, data)
	}
	return r.add(c)
}

// chatChunk is a part of an answer, or all of it.
type chatChunk struct {
	ID      string `json:"id"`
	Model   string `json:"model"`
	Choices []struct {
		Delta   *delta `json:"delta"`
		Message *delta `json:"message"`
		Reason  string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		CacheHit   int `json:"prompt_cache_hit_tokens"` // DeepSeek
		Details    struct {
			Cached int `json:"cached_tokens"`
			Write  int `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
		Out struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// delta is what an answer grows by. Beside what OpenAI sends there is: reasoning, under two names and sometimes with details that
// must go back; contents that are lists of parts; calls without an index, without an id, all with the index 0, or with their name in every
// fragment; arguments that are objects.
type delta struct {
	Content          json.RawMessage   `json:"content"`
	Refusal          string            `json:"refusal"`
	ReasoningContent string            `json:"reasoning_content"`
	Reasoning        json.RawMessage   `json:"reasoning"`
	Details          []json.RawMessage `json:"reasoning_details"`
	Calls            []struct {
		Index    *int   `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// openCall is a call that is still arriving.
type openCall struct {
	index    *int
	id, name string
	args     strings.Builder
}

type chatReader struct {
	*builder
	names    *fit.Names
	provider string

	calls   []*openCall
	details []json.RawMessage
	field   string // where the reasoning came from
	refused bool
	reason  string
	done    bool
}

func (r *chatReader) add(c chatChunk) error {
	if c.ID != "" {
		r.Answer.ID = c.ID
	}
	if c.Model != "" {
		r.Answer.Model = c.Model
	}
	if u := c.Usage; u != nil {
		cached := max(u.Details.Cached, u.CacheHit)
		r.Answer.Usage = model.Usage{Input: max(0, u.Prompt-cached-u.Details.Write), CacheRead: cached, CacheWrite: u.Details.Write,
			Output: u.Completion, Reasoning: u.Out.Reasoning}
	}
	if len(c.Choices) == 0 {
		return nil
	}
	choice := c.Choices[0]
	if choice.Reason != "" {
		r.reason = choice.Reason
	}
	d := choice.Delta
	if d == nil {
		d = choice.Message
	}
	if d == nil {
		return nil
	}
	return r.delta(d)
}

func (r *chatReader) delta(d *delta) error {
	thought, field := d.ReasoningContent, "reasoning_content"
	if thought == "" {
		thought, field = plain(d.Reasoning), "reasoning"
	}
	if thought != "" && r.field == "" {
		r.field = field
	}
	r.details = append(r.details, d.Details...)
	if err := r.pass(r.Reasoning(thought)); err != nil {
		return err
	}
	if d.Refusal != "" {
		r.refused = true
	}
	if text := plain(d.Content) + d.Refusal; text != "" {
		r.sign()
		if err := r.pass(r.Text(text)); err != nil {
			return err
		}
	}
	for _, c := range d.Calls {
		call := r.find(c.Index, c.ID, c.Function.Name)
		if call.id == "" {
			call.id = c.ID
		}
		if call.name == "" {
			call.name = c.Function.Name
		}
		call.args.WriteString(wire.ArgumentText(c.Function.Arguments))
	}
	return nil
}

// find returns the call that a fragment belongs to.
func (r *chatReader) find(index *int, id, name string) *openCall {
	if len(r.calls) > 0 {
		last := r.calls[len(r.calls)-1]
		if index != nil {
			at := slices.IndexFunc(r.calls, func(c *openCall) bool { return c.index != nil && *c.index == *index })
			// An endpoint that gives every call the index 0 tells them apart by their ids.
			if at >= 0 && (id == "" || r.calls[at].id == "" || r.calls[at].id == id) {
				return r.calls[at]
			}
			if at >= 0 {
				if by := slices.IndexFunc(r.calls, func(c *openCall) bool { return c.id == id }); by >= 0 {
					return r.calls[by]
				}
			}
		} else {
			switch by := slices.IndexFunc(r.calls, func(c *openCall) bool { return c.id == id }); {
			case id != "" && by >= 0:
				return r.calls[by]
			case id == "" && (name == "" || name == last.name && !json.Valid([]byte(last.args.String()))):
				return last
			}
		}
	}
	c := &openCall{index: index}
	r.calls = append(r.calls, c)
	return c
}

// sign ends the reasoning that is open with what its provider wants back.
func (r *chatReader) sign() {
	if r.field == "" && len(r.details) == 0 {
		return
	}
	f := form.ReasoningField{Field: r.field}
	if len(r.details) > 0 {
		f.Details = form.Encode(r.details)
	}
	r.Sign(r.provider, form.Encode(f))
	r.field, r.details = "", nil
}

func (r *chatReader) end() error {
	r.sign()
	for _, c := range r.calls {
		if c.name == "" && c.args.Len() == 0 {
			continue // the empty call that some endpoints end with
		}
		call := model.Call{ID: c.id, Name: r.names.Own(c.name)}
		if call.ID == "" {
			call.ID = wire.ID()
		}
		wire.Arguments(&call, c.args.String())
		if err := r.pass(r.Call(call)); err != nil {
			return err
		}
	}
	switch {
	case r.refused, r.reason == "content_filter", r.reason == "refusal":
		r.stop(model.Refusal)
	case r.reason == "length", r.reason == "max_tokens", r.reason == "model_length":
		r.stop(model.Length)
	case r.reason == "error":
		return errors.New("the endpoint ended the answer with an error that it did not tell")
	default:
		r.stop(model.End)
	}
	return nil
}

// plain is the text of a value that is a string, or a list of parts with texts.
func plain(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] == 'n' {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	for _, p := range parts {
		s += p.Text
	}
	return s
}
