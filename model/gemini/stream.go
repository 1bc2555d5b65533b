package gemini

import (
	"encoding/json"
	"fmt"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/internal/fit"
	"github.com/tackle-dev/tackle/model/internal/wire"
)

// collector makes an answer of the events of a stream.
type collector struct {
	wire.Builder
	model  *Model
	names  *fit.Names
	heard  error  // of the listener
	reason string // why the provider says that the answer ended; "": it has not ended
	said   string // its words for it
}

func (c *collector) chunk(data []byte) error {
	var x chunk
	if err := json.Unmarshal(data, &x); err != nil {
		return c.model.transport.Strange(fmt.Errorf("an event is no JSON: %w", err))
	}
	if len(x.Error) > 0 && string(x.Error) != "null" {
		return c.model.transport.Refusal(0, data)
	}
	if x.Feedback.Block != "" {
		return c.model.transport.Refused("the prompt was blocked (" + x.Feedback.Block + ") " + x.Feedback.Said)
	}
	if x.ID != "" {
		c.Answer.ID = x.ID
	}
	if x.Model != "" {
		c.Answer.Model = x.Model
	}
	if u := x.Usage; u != nil { // cumulative, with each event
		c.Answer.Usage = model.Usage{Input: max(0, u.Prompt-u.Cached) + u.Tools, CacheRead: u.Cached, Output: u.Candidates + u.Thoughts, Reasoning: u.Thoughts}
	}
	if len(x.Candidates) == 0 {
		return nil
	}
	a := x.Candidates[0] // only one was asked for
	for _, p := range a.Content.Parts {
		if c.heard = c.part(p); c.heard != nil {
			return c.heard
		}
	}
	if a.Finish != "" {
		c.reason, c.said = a.Finish, a.Said
	}
	return nil
}

func (c *collector) part(p part) error {
	var err error
	switch {
	case p.Call != nil:
		call := model.Call{ID: p.Call.ID, Name: c.names.Own(p.Call.Name)}
		if call.ID == "" {
			call.ID = wire.ID()
		}
		args := string(p.Call.Args)
		if args == "null" {
			args = ""
		}
		wire.Arguments(&call, args)
		if p.Signature != "" {
			call.Provider, call.Opaque = c.model.info.Provider, c.seal(p.Signature, "")
		}
		return c.Call(call)
	case p.Text == nil:
		if p.Signature != "" {
			c.Sign(c.model.info.Provider, c.seal(p.Signature, ""))
		}
		return nil
	case p.Thought:
		if err = c.Reasoning(*p.Text); p.Signature != "" {
			c.Sign(c.model.info.Provider, c.seal(p.Signature, "thought"))
		}
	case p.Signature == "":
		return c.Text(*p.Text)
	case *p.Text == "":
		c.Close() // what is signed is not joined with what is not
		c.Sign(c.model.info.Provider, c.seal(p.Signature, ""))
	default:
		c.Close()
		err = c.Text(*p.Text)
		c.Close()
		c.Sign(c.model.info.Provider, c.seal(p.Signature, "text"))
	}
	return err
}

func (c *collector) seal(signature, on string) json.RawMessage {
	raw, err := json.Marshal(opaque{signature, on, c.model.info.Name})
	if err != nil {
		return nil // strings are always JSON
	}
	return raw
}

// finish sets why the answer ended, or returns why it is none.
func (c *collector) finish() error {
	t := c.model.transport
	switch c.reason {
	case "":
		return t.Cut()
	case "STOP", "FINISH_REASON_UNSPECIFIED", "CONTINUATION":
		c.Answer.Stop = model.End
		if c.Calls() > 0 {
			c.Answer.Stop = model.Calls
		}
	case "MAX_TOKENS":
		c.Answer.Stop = model.Length
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "OTHER":
		return t.Failed(fmt.Sprintf("the answer broke off (%s) %s", c.reason, c.said))
	default: // SAFETY, RECITATION, BLOCKLIST, PROHIBITED_CONTENT, SPII, LANGUAGE and what is added to them
		c.Answer.Stop = model.Refusal
	}
	return nil
}
