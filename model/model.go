// Package model is the seam between the turn loop and the services that run language models.
//
// A Model streams one answer to one request. It keeps no conversation, runs no tool and tries nothing twice: the loop owns the
// transcript, the road runs the calls, and an error says by its class whether the same request may be sent again. The adapters
// stand in the packages below, one for each wire format; package script plays answers from a file; package modeltest is the
// suite that all of them join.
package model

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/tackle-dev/tackle/internal/content"
)

// A Model answers requests. It is safe for concurrent use.
type Model interface {
	// Info says which model answers and what it can take. It makes no request.
	Info() Info

	// Stream sends req and returns the whole answer once the stream has ended. Pieces are handed to on in the order in which they
	// arrive, from the goroutine that called Stream; on may be nil. An error of on ends the stream and is returned as it is.
	// Other errors are of type *Error. With an error, the answer holds what had arrived, which must not be taken for an answer.
	Stream(ctx context.Context, req Request, on func(Piece) error) (Answer, error)
}

// Info describes a model.
type Info struct {
	Provider string `json:"provider"` // "openai", "anthropic", "gemini", "ollama", "script" or the name of a compatible endpoint
	Name     string `json:"name"`     // as the provider spells it
	Window   int    `json:"window"`   // tokens of request and answer together; 0: not known
	Output   int    `json:"output"`   // tokens of an answer at most; 0: not known
	Images   bool   `json:"images"`   // takes pictures
	Files    bool   `json:"files"`    // takes documents
	Audio    bool   `json:"audio"`    // takes sound
	Price    Price  `json:"price"`
}

// Price is in US dollars for a million tokens; all zero where it is not known.
type Price struct {
	Input, Output, CacheRead, CacheWrite float64
}

// Request is one request. The order of its fields is the order in which providers see them, from what changes least to what
// changes most, so that their prompt caches hold.
type Request struct {
	Tools    []Tool    `json:"tools,omitempty"`
	System   string    `json:"system,omitempty"`
	Messages []Message `json:"messages"`

	Choose      Choice   `json:"choose,omitempty"`      // "": the model chooses
	MaxTokens   int      `json:"maxTokens,omitempty"`   // of the answer; 0: the adapter's default for this model
	Temperature *float64 `json:"temperature,omitempty"` // nil: the provider's default
	Effort      Effort   `json:"effort,omitempty"`      // of reasoning; "": the provider's default
	Session     string   `json:"session,omitempty"`     // routes requests of one conversation to one cache, where a provider can
}

// Choice says whether the model may, must or must not call tools.
type Choice string

// The choices.
const (
	Auto     Choice = ""
	Required Choice = "required"
	None     Choice = "none"
)

// Effort says how much a model should reason before it answers.
type Effort string

// The efforts. An adapter maps them to what its provider knows.
const (
	Off    Effort = "off"
	Low    Effort = "low"
	Medium Effort = "medium"
	High   Effort = "high"
)

// Tool is the definition of a tool as a model sees it.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // JSON Schema of an object
}

// Role says who speaks.
type Role string

// The roles. Results of calls are spoken by the user's side, as most providers want it.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one turn of one side.
type Message struct {
	Role   Role    `json:"role"`
	Blocks []Block `json:"blocks"`
}

// Text returns the text of a message, its parts joined as they stand, without reasoning and results.
func (m Message) Text() string {
	var b strings.Builder
	for _, x := range m.Blocks {
		if x.Part != nil && x.Part.Kind == content.Text {
			b.WriteString(x.Part.Text)
		}
	}
	return b.String()
}

// Calls returns the calls of a message, in order.
func (m Message) Calls() []Call {
	var out []Call
	for _, x := range m.Blocks {
		if x.Call != nil {
			out = append(out, *x.Call)
		}
	}
	return out
}

// Block is one piece of a message. Exactly one field is set.
type Block struct {
	Part      *content.Part `json:"part,omitempty"`      // text, picture, document or sound
	Reasoning *Reasoning    `json:"reasoning,omitempty"` // assistant only
	Call      *Call         `json:"call,omitempty"`      // assistant only
	Result    *Result       `json:"result,omitempty"`    // user only
}

// Text returns a block of text.
func Text(s string) Block {
	p := content.TextPart(s)
	return Block{Part: &p}
}

// Reasoning is what a model thought. A provider that signs or hides its reasoning wants it back unchanged: Opaque holds it in the
// provider's own form, and an adapter sends it only to the provider that it came from.
type Reasoning struct {
	Text     string          `json:"text,omitempty"`
	Provider string          `json:"provider,omitempty"`
	Opaque   json.RawMessage `json:"opaque,omitempty"`
}

// Call is a model's wish to call a tool.
type Call struct {
	ID        string          `json:"id"`   // the provider's, or made by the adapter where it gives none; unique within an answer unless the model erred
	Name      string          `json:"name"` // as the model wrote it
	Arguments json.RawMessage `json:"arguments"`
	Malformed string          `json:"malformed,omitempty"` // the arguments as they came, where they were not JSON; Arguments is then null
	Opaque    json.RawMessage `json:"opaque,omitempty"`    // what the provider wants back with the call, such as a signature of its reasoning
	Provider  string          `json:"provider,omitempty"`  // whose Opaque that is
}

// Result answers a call.
type Result struct {
	CallID string         `json:"callId"`
	Name   string         `json:"name"` // of the tool; some providers match by it
	Parts  []content.Part `json:"parts"`
	Error  bool           `json:"error,omitempty"` // the call failed or was denied
}

// Piece is part of an answer that is still arriving. Exactly one field is set. Arguments of calls are not streamed: a call is
// whole or it is not a call.
type Piece struct {
	Text      string `json:"text,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
	Call      *Call  `json:"call,omitempty"`
}

// Answer is a whole answer.
type Answer struct {
	Message Message `json:"message"` // of the assistant; it may have no block at all
	Stop    Stop    `json:"stop"`
	Usage   Usage   `json:"usage"`
	Model   string  `json:"model,omitempty"` // which model answered, where the provider says so
	ID      string  `json:"id,omitempty"`    // the provider's name for the answer
}

// Stop says why an answer ended.
type Stop string

// The reasons.
const (
	End     Stop = "end"     // the model had no more to say
	Calls   Stop = "calls"   // it waits for results
	Length  Stop = "length"  // the answer was cut at its limit
	Refusal Stop = "refusal" // the model or its provider declined
)

// Usage counts tokens. Input does not hold what was read from or written to a cache.
type Usage struct {
	Input      int `json:"input"`
	CacheRead  int `json:"cacheRead,omitempty"`
	CacheWrite int `json:"cacheWrite,omitempty"`
	Output     int `json:"output"` // with reasoning
	Reasoning  int `json:"reasoning,omitempty"`
}

// Add returns the sum.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Output + v.Output, u.Reasoning + v.Reasoning}
}

// Cost returns what u costs at p, in US dollars.
func (p Price) Cost(u Usage) float64 {
	return (p.Input*float64(u.Input) + p.Output*float64(u.Output) + p.CacheRead*float64(u.CacheRead) + p.CacheWrite*float64(u.CacheWrite)) / 1e6
}
