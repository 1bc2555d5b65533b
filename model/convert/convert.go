// Package convert writes what package model says in the words of each provider, and reads it back: definitions of tools out, calls in,
// results out. It is for those who keep their own loop and their own client, and needs neither; the adapters stand on it too.
//
//	body["tools"], err = convert.Tools(convert.OpenAI, tools)
//	calls, err := convert.Calls(convert.OpenAI, response)
//	messages = append(messages, convert.Results(convert.OpenAI, results)...)
//
// Equal values give equal bytes, so that the caches of providers hold. Pictures and documents in results go where the format lets a
// model see them: into the result, or into a message of the user that follows it.
package convert

import (
	"encoding/json"
	"fmt"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/internal/form"
	"github.com/tackle-dev/tackle/schema"
)

// Format is the wire format of a provider.
type Format string

// The formats.
const (
	OpenAI    Format = "openai"    // chat completions, which many others speak too
	Responses Format = "responses" // of OpenAI
	Anthropic Format = "anthropic" // messages
	Gemini    Format = "gemini"    // generateContent
	Ollama    Format = "ollama"    // /api/chat
)

// Formats returns all formats.
func Formats() []Format { return []Format{OpenAI, Responses, Anthropic, Gemini, Ollama} }

// format is what the formats differ in.
type format struct {
	render  schema.Format
	calls   func(body []byte) ([]model.Call, error)
	results func(results []model.Result) []json.RawMessage
}

func (f Format) of() (format, error) {
	switch f {
	case OpenAI:
		return format{schema.FormatOpenAIChat, chatCalls, form.ChatResults}, nil
	case Responses:
		return format{schema.FormatOpenAIResponses, responsesCalls, form.ResponsesResults}, nil
	case Anthropic:
		return format{schema.FormatAnthropic, anthropicCalls, form.AnthropicResults}, nil
	case Gemini:
		return format{schema.FormatGeminiJSONSchema, geminiCalls, form.GeminiResults}, nil
	case Ollama:
		return format{schema.FormatOllama, ollamaCalls, form.OllamaResults}, nil
	}
	return format{}, fmt.Errorf("unknown format %q: want one of %q", f, Formats())
}

// Tools returns the definitions as the list that the format's field "tools" holds; for Gemini that is one tool with all functions.
// The error names a tool whose name or schema the provider would refuse.
func Tools(f Format, tools []model.Tool) (json.RawMessage, error) {
	x, err := f.of()
	if err != nil {
		return nil, err
	}
	list := make([]json.RawMessage, len(tools))
	for i, t := range tools {
		if list[i], err = render(x.render, t); err != nil {
			return nil, err
		}
	}
	if f == Gemini {
		return form.Encode([]any{struct {
			Functions []json.RawMessage `json:"functionDeclarations"`
		}{list}}), nil
	}
	return form.Encode(list), nil
}

func render(f schema.Format, t model.Tool) (json.RawMessage, error) {
	raw := t.Schema
	if len(raw) == 0 {
		raw = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	s, err := schema.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", t.Name, err)
	}
	return schema.Render(f, schema.Def{Name: t.Name, Description: t.Description, Schema: s})
}

// Calls reads the calls out of a whole response, in the order of the model. A call without an id gets one. Arguments that are not
// JSON are kept in Malformed; they are no error here, because the model can be told.
func Calls(f Format, response []byte) ([]model.Call, error) {
	x, err := f.of()
	if err != nil {
		return nil, err
	}
	calls, err := x.calls(response)
	if err != nil {
		return nil, fmt.Errorf("read the calls of a response (%s): %w", f, err)
	}
	return calls, nil
}

// Results returns the messages that answer the calls of one turn, to be appended to the conversation after the message with the calls.
// An unknown format gives none.
func Results(f Format, results []model.Result) []json.RawMessage {
	x, err := f.of()
	if err != nil {
		return nil
	}
	return x.results(results)
}
