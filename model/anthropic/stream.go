package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/internal/fit"
	"github.com/tackle-dev/tackle/model/internal/wire"
)

// collector makes an answer of the events of a stream.
type collector struct {
	wire.Builder
	transport *wire.Transport
	names     *fit.Names
	heard     error // of the listener

	kind     string // of the block that is open
	id, name string
	thought  strings.Builder
	signed   strings.Builder
	partial  strings.Builder
}

func (c *collector) collect(stream *ssestream.Stream[sdk.MessageStreamEventUnion]) error {
	ended := false
	for !ended && stream.Next() {
		e := stream.Current()
		switch e.Type {
		case "message_start":
			c.start(e.Message)
		case "content_block_start":
			c.heard = c.open(e.ContentBlock)
		case "content_block_delta":
			c.heard = c.delta(e.Delta)
		case "content_block_stop":
			c.heard = c.stop()
		case "message_delta":
			c.end(e)
		case "message_stop":
			ended = true
		}
		if c.heard != nil {
			return c.heard
		}
	}
	switch err := stream.Err(); {
	case ended:
		return nil
	case err != nil:
		return c.failure(err)
	}
	return c.transport.Cut()
}

// failure reads the errors that only this client makes.
func (c *collector) failure(err error) error {
	var told *sdk.Error // an event of the stream; refusals before it are the transport's
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &told):
		return c.transport.Refusal(0, []byte(told.RawJSON()))
	case errors.As(err, &syntax), errors.As(err, &kind):
		return c.transport.Strange(fmt.Errorf("an event is no JSON: %w", err))
	}
	return err
}

func (c *collector) start(msg sdk.Message) {
	c.Answer.ID, c.Answer.Model = msg.ID, msg.Model
	c.Answer.Usage = model.Usage{
		Input: int(msg.Usage.InputTokens), Output: int(msg.Usage.OutputTokens),
		CacheRead: int(msg.Usage.CacheReadInputTokens), CacheWrite: int(msg.Usage.CacheCreationInputTokens),
	}
}

func (c *collector) open(b sdk.ContentBlockStartEventContentBlockUnion) error {
	c.Close()
	c.kind = b.Type
	c.thought.Reset()
	c.signed.Reset()
	c.partial.Reset()
	switch b.Type {
	case "text":
		return c.Text(b.Text)
	case "thinking":
		c.thought.WriteString(b.Thinking)
		c.signed.WriteString(b.Signature)
		return c.Reasoning(b.Thinking)
	case "redacted_thinking":
		c.signed.WriteString(b.Data)
	case "tool_use":
		c.id, c.name = b.ID, c.names.Own(b.Name)
		if in, err := json.Marshal(b.Input); err == nil && string(in) != "{}" && string(in) != "null" {
			c.partial.Write(in) // endpoints that do not stream arguments
		}
	}
	return nil
}

func (c *collector) delta(d sdk.MessageStreamEventUnionDelta) error {
	switch d.Type {
	case "text_delta":
		return c.Text(d.Text)
	case "thinking_delta":
		c.thought.WriteString(d.Thinking)
		return c.Reasoning(d.Thinking)
	case "signature_delta":
		c.signed.WriteString(d.Signature)
	case "input_json_delta":
		c.partial.WriteString(d.PartialJSON)
	}
	return nil
}

// thinkingBlock and redactedBlock are the provider's own forms, which go back as they came.
type thinkingBlock struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

type redactedBlock struct {
	Type string `json:"type"`
	Data string `json:"data"`
}

func (c *collector) stop() error {
	kind := c.kind
	c.kind = ""
	switch kind {
	case "thinking":
		if c.signed.Len() == 0 { // not signed: it cannot go back
			c.Close()
			return nil
		}
		return c.sign(thinkingBlock{kind, c.thought.String(), c.signed.String()})
	case "redacted_thinking":
		return c.sign(redactedBlock{kind, c.signed.String()})
	case "tool_use":
		call := model.Call{ID: c.id, Name: c.name}
		wire.Arguments(&call, c.partial.String())
		return c.Call(call)
	}
	c.Close()
	return nil
}

func (c *collector) sign(block any) error {
	raw, err := json.Marshal(block)
	if err != nil {
		return err
	}
	c.Sign("", raw)
	return nil
}

func (c *collector) end(e sdk.MessageStreamEventUnion) {
	switch sdk.StopReason(e.Delta.StopReason) {
	case sdk.StopReasonToolUse:
		c.Answer.Stop = model.Calls
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded:
		c.Answer.Stop = model.Length
	case sdk.StopReasonRefusal:
		c.Answer.Stop = model.Refusal
	default:
		c.Answer.Stop = model.End
	}
	// The counts are cumulative; endpoints differ in which of them they repeat here.
	u := &c.Answer.Usage
	u.Output = max(u.Output, int(e.Usage.OutputTokens))
	u.Input = max(u.Input, int(e.Usage.InputTokens))
	u.CacheRead = max(u.CacheRead, int(e.Usage.CacheReadInputTokens))
	u.CacheWrite = max(u.CacheWrite, int(e.Usage.CacheCreationInputTokens))
	u.Reasoning = int(e.Usage.OutputTokensDetails.ThinkingTokens)
}
