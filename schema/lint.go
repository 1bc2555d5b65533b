package schema

import (
	"fmt"
	"slices"
	"strings"
)

// Severity says what a finding costs.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // some client or provider loses the tool, or the whole list
	Warning Severity = "warning" // a constraint or some text is lost on the way
)

// Finding is one fault of a definition.
type Finding struct {
	Rule     string // "E1" … "E10", "W1" … "W11", as listed by Rules
	Severity Severity
	Profiles []Profile // whom it concerns, of those that were asked for
	Tool     string
	Path     string // in the schema; "" for the definition as a whole
	Message  string
}

// String says the finding in one line.
func (f Finding) String() string {
	place := cmpOr(f.Tool, "list")
	if f.Path != "" {
		place += " " + f.Path
	}
	names := make([]string, len(f.Profiles))
	for i, p := range f.Profiles {
		names[i] = string(p)
	}
	return fmt.Sprintf("%s %s: %s (%s)", f.Rule, place, f.Message, strings.Join(names, ", "))
}

// Rule describes one lint rule.
type Rule struct {
	Name     string
	Severity Severity
	Profiles []Profile
	About    string
}

var (
	everyone = []Profile{MCP, OpenAI, OpenAIStrict, Anthropic, AnthropicStrict, Gemini, GeminiJSONSchema, Ollama}
	lossy    = []Profile{MCP, OpenAIStrict, AnthropicStrict, Gemini, GeminiJSONSchema, Ollama}
)

// rules is never written to. Behind MCP stand clients that strip, cut or drop as their model's provider demands, so MCP
// is concerned wherever one of them was seen to lose something.
var rules = [...]Rule{
	{"E1", Error, []Profile{MCP, Gemini, OpenAIStrict, AnthropicStrict}, "a boolean where a schema object belongs: some MCP clients drop the whole server"},
	{"E2", Error, everyone, "the root is not an object with properties"},
	{"E3", Error, everyone, "a combinator at the root"},
	{"E4", Error, []Profile{MCP, OpenAI, OpenAIStrict, Gemini, GeminiJSONSchema}, "an array without one object schema for its items"},
	{"E5", Error, []Profile{MCP, Anthropic, AnthropicStrict, Gemini, GeminiJSONSchema}, "a property name that providers refuse"},
	{"E6", Error, []Profile{MCP, OpenAI, OpenAIStrict, Anthropic, AnthropicStrict, Gemini, GeminiJSONSchema}, "a tool name that providers refuse or that collides"},
	{"E7", Error, everyone, "a reference that leaves the schema"},
	{"E8", Error, []Profile{AnthropicStrict, Gemini, GeminiJSONSchema, Ollama}, "a recursive reference"},
	{"E9", Error, []Profile{MCP, Gemini}, "an enum of other values than strings"},
	{"E10", Error, []Profile{OpenAI, OpenAIStrict}, "more than 128 tools"},
	{"W1", Warning, []Profile{MCP, Gemini}, "a type array"},
	{"W2", Warning, []Profile{MCP, Gemini, GeminiJSONSchema, Ollama}, "a reference; inline it"},
	{"W3", Warning, lossy, "a keyword that several readers strip or refuse"},
	{"W4", Warning, lossy, "a constraint that the description does not repeat"},
	{"W5", Warning, []Profile{MCP, OpenAIStrict, AnthropicStrict, Gemini}, "a schema without a type"},
	{"W6", Warning, []Profile{OpenAI, OpenAIStrict}, "a description of more than 1024 characters, which older OpenAI deployments refuse"},
	{"W7", Warning, []Profile{OpenAIStrict, AnthropicStrict, Gemini, GeminiJSONSchema}, "too deep or too large"},
	{"W8", Warning, []Profile{OpenAIStrict, AnthropicStrict, Gemini, Ollama}, "a map (a schema for further properties)"},
	{"W9", Warning, everyone, "a tool list of more than 40 tools or about 4000 tokens"},
	{"W10", Warning, []Profile{MCP}, "no annotations: Codex then refuses to run the tool unasked"},
	{"W11", Warning, []Profile{MCP}, "an output schema: two clients show the model only the structured result, so the text must say the same"},
}

// Rules returns the lint rules.
func Rules() []Rule {
	out := slices.Clone(rules[:])
	for i := range out {
		out[i].Profiles = slices.Clone(out[i].Profiles)
	}
	return out
}

// Lint finds what the profiles would refuse or lose in a definition as it stands, before any Convert. No profiles means
// all of them. Findings come in the order of the schema, a
// parent's before its children's.
func Lint(def Def, profiles ...Profile) []Finding {
	l := linter{def: def, profiles: profiles}
	l.definition()
	return l.out
}

// maxTools and maxListBytes are where tool lists begin to hurt; the second is about 4000 tokens.
const (
	maxTools     = 40
	maxListBytes = 16_000
	openAITools  = 128
	geminiTools  = 512
)

// LintList is Lint for the whole list of tools that one model sees, with the rules about their number, their size and
// names that become equal on the way.
func LintList(defs []Def, profiles ...Profile) []Finding {
	l := linter{profiles: profiles}
	seen := map[string]string{}
	size := 0
	for _, def := range defs {
		l.def = def
		l.definition()
		plain := strings.Map(func(r rune) rune {
			if r == '-' || r == '.' || r >= 0x80 || !wordByte(byte(r)) {
				return '_'
			}
			return r
		}, def.Name)
		if first, ok := seen[plain]; ok {
			l.add("E6", "", "its name becomes the same as that of %q where only letters, digits and _ are kept", first)
		} else {
			seen[plain] = def.Name
		}
		if b, err := Render(FormatMCP, def); err == nil {
			size += len(b)
		}
	}
	l.def = Def{}
	switch n := len(defs); {
	case n > geminiTools:
		l.addFor([]Profile{OpenAI, OpenAIStrict, Gemini, GeminiJSONSchema}, "E10", "", "%d tools; OpenAI takes %d, Gemini %d", n, openAITools, geminiTools)
	case n > openAITools:
		l.add("E10", "", "%d tools; OpenAI takes %d", n, openAITools)
	}
	if len(defs) > maxTools || size > maxListBytes {
		l.add("W9", "", "%d tools in %d bytes, about %d tokens; models choose worse beyond %d tools or %d tokens", len(defs), size, size/4, maxTools, maxListBytes/4)
	}
	return l.out
}

type linter struct {
	def      Def
	profiles []Profile
	out      []Finding
}

func (l *linter) add(rule, path, format string, args ...any) {
	l.addFor(nil, rule, path, format, args...)
}

// addFor records a finding for the profiles that were asked for; among nil means all that the rule concerns.
func (l *linter) addFor(among []Profile, rule, path, format string, args ...any) {
	i := slices.IndexFunc(rules[:], func(r Rule) bool { return r.Name == rule })
	r := rules[i]
	if among == nil {
		among = r.Profiles
	}
	hit := among
	if len(l.profiles) > 0 {
		hit = nil
		for _, p := range among {
			if slices.Contains(l.profiles, p) {
				hit = append(hit, p)
			}
		}
	}
	if len(hit) == 0 {
		return
	}
	l.out = append(l.out, Finding{Rule: rule, Severity: r.Severity, Profiles: slices.Clone(hit), Tool: l.def.Name, Path: path, Message: fmt.Sprintf(format, args...)})
}
