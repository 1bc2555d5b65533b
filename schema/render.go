package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Format is the shape of one tool definition in a provider's request.
type Format string

// The formats. A strict format asks the provider to constrain the model's output to the schema.
const (
	FormatMCP                   Format = "mcp"
	FormatOpenAIChat            Format = "openai-chat"
	FormatOpenAIChatStrict      Format = "openai-chat-strict"
	FormatOpenAIResponses       Format = "openai-responses"
	FormatOpenAIResponsesStrict Format = "openai-responses-strict"
	FormatAnthropic             Format = "anthropic"
	FormatAnthropicStrict       Format = "anthropic-strict"
	FormatGemini                Format = "gemini"
	FormatGeminiJSONSchema      Format = "gemini-json-schema"
	FormatOllama                Format = "ollama"
)

// shape says which schema a format carries and which names it allows.
type shape struct {
	format  Format
	profile Profile
	names   string
}

// shapes is never written to. The patterns of names are the providers' own (field notes of 2026).
var shapes = [...]shape{
	{FormatMCP, MCP, `^[A-Za-z0-9_.-]{1,128}$`},
	{FormatOpenAIChat, OpenAI, `^[a-zA-Z0-9_-]{1,64}$`},
	{FormatOpenAIChatStrict, OpenAIStrict, `^[a-zA-Z0-9_-]{1,64}$`},
	{FormatOpenAIResponses, OpenAI, `^[a-zA-Z0-9_-]{1,64}$`},
	{FormatOpenAIResponsesStrict, OpenAIStrict, `^[a-zA-Z0-9_-]{1,64}$`},
	{FormatAnthropic, Anthropic, `^[a-zA-Z0-9_-]{1,128}$`},
	{FormatAnthropicStrict, AnthropicStrict, `^[a-zA-Z0-9_-]{1,128}$`},
	{FormatGemini, Gemini, `^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`},
	{FormatGeminiJSONSchema, GeminiJSONSchema, `^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`},
	{FormatOllama, Ollama, `^.+$`},
}

// Formats returns all formats.
func Formats() []Format {
	out := make([]Format, len(shapes))
	for i, s := range shapes {
		out[i] = s.format
	}
	return out
}

// ParseFormat reads a format's name. "openai" stands for openai-chat.
func ParseFormat(s string) (Format, error) {
	if s == "openai" {
		return FormatOpenAIChat, nil
	}
	if slices.Contains(Formats(), Format(s)) {
		return Format(s), nil
	}
	names := make([]string, len(shapes))
	for i, s := range shapes {
		names[i] = string(s.format)
	}
	return "", fmt.Errorf("unknown format %q: want openai or one of %s", s, strings.Join(names, ", "))
}

// Render writes a whole tool definition in a provider's format, its schema converted. Equal definitions give equal
// bytes. Errors: a name that the provider refuses, and those of [Convert].
func Render(f Format, def Def) (json.RawMessage, error) {
	i := slices.IndexFunc(shapes[:], func(s shape) bool { return s.format == f })
	if i < 0 {
		return nil, fmt.Errorf("tool %s: unknown format %q", def.Name, f)
	}
	if ok, err := regexp.MatchString(shapes[i].names, def.Name); err != nil || !ok {
		return nil, fmt.Errorf("tool %q for %s: names match %s", def.Name, f, shapes[i].names)
	}
	schema, err := Convert(shapes[i].profile, def.Schema)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", def.Name, err)
	}
	w := &writer{}
	switch f {
	case FormatMCP:
		err = w.mcp(def, schema)
	case FormatOpenAIChat, FormatOpenAIChatStrict, FormatOllama:
		w.object(func(key func(string)) {
			key("type")
			w.text("function")
			key("function")
			w.object(func(key func(string)) {
				w.function(key, def, "parameters", schema)
				if f == FormatOpenAIChatStrict {
					key("strict")
					w.value(true)
				}
			})
		})
	case FormatOpenAIResponses, FormatOpenAIResponsesStrict:
		w.object(func(key func(string)) {
			key("type")
			w.text("function")
			w.function(key, def, "parameters", schema)
			key("strict") // the API's own default is true
			w.value(f == FormatOpenAIResponsesStrict)
		})
	case FormatAnthropic, FormatAnthropicStrict:
		w.object(func(key func(string)) {
			w.function(key, def, "input_schema", schema)
			if f == FormatAnthropicStrict {
				key("strict")
				w.value(true)
			}
		})
	case FormatGemini, FormatGeminiJSONSchema:
		w.object(func(key func(string)) { w.gemini(key, f, def, schema) })
	}
	if err == nil {
		err = w.err
	}
	return w.buf.Bytes(), err
}

// function writes what all function declarations share.
func (w *writer) function(key func(string), def Def, field string, schema json.RawMessage) {
	key("name")
	w.text(def.Name)
	key("description")
	w.text(def.Description)
	if field != "" {
		key(field)
		w.buf.Write(schema)
	}
}

// gemini leaves the parameters out where there are none: the field parameters refuses an object without properties.
func (w *writer) gemini(key func(string), f Format, def Def, schema json.RawMessage) {
	field := "parametersJsonSchema"
	if f == FormatGemini {
		field = "parameters"
		if bytes.Contains(schema, []byte(`"properties":{}`)) { // only the root can be empty, see rebuilder.object
			field = ""
		}
	}
	w.function(key, def, field, schema)
}

func (w *writer) mcp(def Def, schema json.RawMessage) error {
	var output json.RawMessage
	if def.Output != nil {
		var err error
		if output, err = emit(def.Output); err != nil {
			return err
		}
	}
	w.object(func(key func(string)) {
		key("name")
		w.text(def.Name)
		if def.Title != "" {
			key("title")
			w.text(def.Title)
		}
		key("description")
		w.text(def.Description)
		key("inputSchema")
		w.buf.Write(schema)
		if output != nil {
			key("outputSchema")
			w.buf.Write(output)
		}
		if a := def.Annotations; a != nil {
			key("annotations")
			w.object(func(key func(string)) {
				for _, h := range []struct {
					name string
					on   bool
				}{{"readOnlyHint", a.ReadOnly}, {"destructiveHint", a.Destructive}, {"idempotentHint", a.Idempotent}, {"openWorldHint", a.OpenWorld}} {
					key(h.name)
					w.value(h.on)
				}
			})
		}
	})
	return nil
}
