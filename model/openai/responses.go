package openai

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/internal/fit"
	"github.com/tackle-dev/tackle/model/internal/form"
	"github.com/tackle-dev/tackle/model/internal/wire"
)

// responsesRequest is a request without its lists of tools and input.
type responsesRequest struct {
	Model        string     `json:"model"`
	Instructions string     `json:"instructions,omitempty"`
	Choice       string     `json:"tool_choice,omitempty"`
	MaxTokens    int        `json:"max_output_tokens,omitempty"`
	Temperature  *float64   `json:"temperature,omitempty"`
	Reasoning    *reasoning `json:"reasoning,omitempty"`
	Include      []string   `json:"include,omitempty"`
	CacheKey     string     `json:"prompt_cache_key,omitempty"`
	Store        bool       `json:"store"`
	Stream       bool       `json:"stream"`
}

type reasoning struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

func (m *Model) responsesBody(req model.Request, names *fit.Names) json.RawMessage {
	r := responsesRequest{Model: m.info.Name, Instructions: strings.ToValidUTF8(req.System, "\uFFFD"), MaxTokens: req.MaxTokens, Stream: true}
	var tools []json.RawMessage
	for _, t := range req.Tools {
		t = m.schemas.Fit(t)
		tools = append(tools, form.Encode(struct {
			Type string `json:"type"`
			function
			Strict bool `json:"strict"` // the API's own default is true
		}{"function", function{names.Wire(t.Name), t.Description, t.Schema}, false}))
	}
	if len(req.Tools) > 0 {
		r.Choice = string(req.Choose)
	}
	effort := m.effort(req.Effort)
	r.Temperature = m.warm(req.Temperature, effort)
	if m.traits.reasons || effort != "" {
		r.Reasoning = &reasoning{Effort: effort}
		if effort != "none" && m.takes(summaryField) {
			r.Reasoning.Summary = "auto"
		}
		if m.takes(includeField) {
			r.Include = []string{"reasoning.encrypted_content"}
		}
	}
	if m.official && m.takes(cacheField) {
		r.CacheKey = req.Session
	}
	return form.Body(r, form.List{Field: "tools", Items: tools}, form.List{Field: "input", Items: form.Responses(m.info, req.Messages)})
}

func (m *Model) askResponses(ctx context.Context, req model.Request, b *builder) error {
	names := form.OpenAINames(req.Tools)
	s := m.responses.NewStreaming(ctx, responses.ResponseNewParams{}, option.WithRequestBody("application/json", []byte(m.responsesBody(req, names))))
	defer s.Close()
	r := &responsesReader{builder: b, names: names, provider: m.info.Provider, transport: m.transport}
	for !r.over && s.Next() {
		if err := r.event(s.Current()); err != nil {
			return err
		}
	}
	if r.over {
		return nil
	}
	var told *ssestream.StreamError
	switch err := s.Err(); {
	case errors.As(err, &told):
		return m.transport.Refusal(0, told.Event.Data)
	case err != nil:
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return m.transport.Strange(err)
		}
		return err
	}
	return m.transport.Cut()
}

type responsesReader struct {
	*builder
	names     *fit.Names
	provider  string
	transport *wire.Transport

	refused bool
	over    bool
	spoke   map[int64]bool // items whose text came in pieces
	thought int64          // the part of the summary that is open, from 1
}

func (r *responsesReader) event(e responses.ResponseStreamEventUnion) error {
	switch e.Type {
	case "response.created", "response.in_progress", "response.queued":
		r.note(e.Response)
	case "response.output_text.delta", "response.refusal.delta":
		r.refused = r.refused || e.Type == "response.refusal.delta"
		r.hear(e.OutputIndex)
		return r.pass(r.Text(e.Delta))
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		r.hear(e.OutputIndex)
		text := e.Delta
		if part := e.SummaryIndex + 1; part != r.thought {
			if r.thought != 0 {
				text = "\n\n" + text
			}
			r.thought = part
		}
		return r.pass(r.Reasoning(text))
	case "response.output_item.done":
		return r.item(e.OutputIndex, e.Item)
	case "response.completed", "response.incomplete":
		return r.end(e.Response)
	case "response.failed":
		r.note(e.Response)
		return r.failed(string(e.Response.Error.Code), e.Response.Error.Message)
	case "error":
		return r.failed(e.Code, e.Message)
	}
	return nil
}

func (r *responsesReader) hear(item int64) {
	if r.spoke == nil {
		r.spoke = map[int64]bool{}
	}
	r.spoke[item] = true
}

func (r *responsesReader) failed(code, message string) error {
	return r.transport.Refusal(0, form.Encode(map[string]any{"error": map[string]string{"code": code, "message": message}}))
}

// item takes an item that is whole. Text is taken from it only where none came in pieces.
func (r *responsesReader) item(index int64, item responses.ResponseOutputItemUnion) error {
	switch item.Type {
	case "function_call":
		c := model.Call{ID: item.CallID, Name: r.names.Own(item.Name)}
		if c.ID == "" {
			c.ID = wire.ID()
		}
		var raw struct {
			Arguments json.RawMessage `json:"arguments"`
		}
		if err := json.Unmarshal([]byte(item.RawJSON()), &raw); err != nil {
			return r.transport.Strange(err)
		}
		wire.Arguments(&c, wire.ArgumentText(raw.Arguments))
		return r.pass(r.Call(c))
	case "reasoning":
		if !r.spoke[index] {
			for i, s := range item.Summary {
				text := s.Text
				if i > 0 {
					text = "\n\n" + text
				}
				if err := r.pass(r.Reasoning(text)); err != nil {
					return err
				}
			}
		}
		r.thought = 0
		if item.EncryptedContent != "" {
			r.Sign(r.provider, reasoningItem(item.RawJSON()))
		}
		r.Close()
	case "message":
		for _, c := range item.Content {
			r.refused = r.refused || c.Type == "refusal"
			if !r.spoke[index] {
				if err := r.pass(r.Text(c.Text + c.Refusal)); err != nil {
					return err
				}
			}
		}
		r.Close()
	}
	return nil
}

// reasoningItem is an item as it goes back: without its id and state, which mean nothing where nothing is stored.
func reasoningItem(raw string) json.RawMessage {
	var item map[string]json.RawMessage
	if json.Unmarshal([]byte(raw), &item) != nil {
		return nil
	}
	delete(item, "id")
	delete(item, "status")
	return form.Encode(item)
}

func (r *responsesReader) note(p responses.Response) {
	if p.ID != "" {
		r.Answer.ID = p.ID
	}
	if p.Model != "" {
		r.Answer.Model = string(p.Model)
	}
}

func (r *responsesReader) end(p responses.Response) error {
	r.note(p)
	u := p.Usage
	cached, write := u.InputTokensDetails.CachedTokens, u.InputTokensDetails.CacheWriteTokens
	r.Answer.Usage = model.Usage{Input: int(max(0, u.InputTokens-cached-write)), CacheRead: int(cached), CacheWrite: int(write),
		Output: int(u.OutputTokens), Reasoning: int(u.OutputTokensDetails.ReasoningTokens)}
	r.over = true
	switch {
	case r.refused, p.IncompleteDetails.Reason == "content_filter":
		r.stop(model.Refusal)
	case p.Status == "incomplete" || p.IncompleteDetails.Reason != "":
		r.stop(model.Length)
	default:
		r.stop(model.End)
	}
	return nil
}
