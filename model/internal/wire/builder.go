package wire

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"strings"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
)

// Builder makes an answer of what arrives, and hands each piece on. Its errors are those of the listener, to be returned as they are.
type Builder struct {
	On     func(model.Piece) error // may be nil
	Answer model.Answer

	text  strings.Builder // of the block that is open
	open  *model.Block
	calls int
}

func (b *Builder) emit(p model.Piece) error {
	if b.On == nil {
		return nil
	}
	return b.On(p)
}

// Text adds text that the model says.
func (b *Builder) Text(s string) error {
	if s == "" {
		return nil
	}
	if b.open == nil || b.open.Part == nil {
		b.Close()
		b.open = &model.Block{Part: &content.Part{Kind: content.Text}}
	}
	b.text.WriteString(s)
	return b.emit(model.Piece{Text: s})
}

// Reasoning adds what the model thinks.
func (b *Builder) Reasoning(s string) error {
	if s == "" {
		return nil
	}
	b.reason("")
	b.text.WriteString(s)
	return b.emit(model.Piece{Reasoning: s})
}

func (b *Builder) reason(provider string) {
	if b.open == nil || b.open.Reasoning == nil {
		b.Close()
		b.open = &model.Block{Reasoning: &model.Reasoning{}}
	}
	if provider != "" {
		b.open.Reasoning.Provider = provider
	}
}

// Sign closes the reasoning that is open, or adds one without words, with what its provider wants back.
func (b *Builder) Sign(provider string, opaque json.RawMessage) {
	b.reason(provider)
	b.open.Reasoning.Opaque = opaque
	b.Close()
}

// Close ends the text or reasoning that is open, so that the next begins a block of its own.
func (b *Builder) Close() {
	if b.open == nil {
		return
	}
	switch {
	case b.open.Part != nil:
		b.open.Part.Text = b.text.String()
	case b.open.Reasoning != nil:
		b.open.Reasoning.Text = b.text.String()
	}
	b.Answer.Message.Blocks = append(b.Answer.Message.Blocks, *b.open)
	b.open = nil
	b.text.Reset()
}

// Call adds a whole call.
func (b *Builder) Call(c model.Call) error {
	b.Close()
	b.calls++
	b.Answer.Message.Blocks = append(b.Answer.Message.Blocks, model.Block{Call: &c})
	return b.emit(model.Piece{Call: &c})
}

// Calls is how many calls the answer holds.
func (b *Builder) Calls() int { return b.calls }

// Done closes what is open and returns the answer.
func (b *Builder) Done() model.Answer {
	b.Close()
	b.Answer.Message.Role = model.Assistant
	return b.Answer
}

// Arguments sets the arguments of a call from text. No text at all means none.
func Arguments(c *model.Call, text string) {
	switch s := strings.TrimSpace(text); {
	case s == "":
		c.Arguments = json.RawMessage(`{}`)
	case json.Valid([]byte(s)):
		c.Arguments = json.RawMessage(s)
	default:
		c.Malformed = text
	}
}

// Sent returns the arguments of a call as they go back to a model: an object, also where the model wrote none. Some services
// refuse every later request when an earlier one holds broken arguments; the result of the call tells the model what was wrong.
func Sent(c *model.Call) json.RawMessage {
	if a := bytes.TrimSpace(c.Arguments); len(a) > 0 && a[0] == '{' && json.Valid(a) {
		return a
	}
	return json.RawMessage(`{}`)
}

// ID makes an id for a call of a provider that gives none.
func ID() string { return "call_" + rand.Text()[:20] }

// ArgumentText is the text of arguments that come as a JSON string, as OpenAI sends them, or as a value, as some others do.
func ArgumentText(raw json.RawMessage) string {
	var s string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return ""
	case json.Unmarshal(raw, &s) == nil:
		return s
	}
	return string(raw)
}
