package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Prepared is what became of one argument text.
type Prepared struct {
	// Args is the argument object after repair; the very input where nothing was repaired. It is fit for use only where
	// Problems is empty.
	Args json.RawMessage
	// Repairs lists what was changed, in the order in which it was found.
	Repairs []Repair
	// Problems lists what stays wrong, in the order of the text; at most maxProblems and a last one that counts the rest.
	Problems []Problem
}

// Repair is one lossless change that was made to the arguments.
type Repair struct {
	Path string `json:"path"` // "edits[2].line"; "" is the whole argument object
	What string `json:"what"` // the rule, in words
	From string `json:"from"` // JSON text or name before, clipped
	To   string `json:"to"`   // and after; "" where it was dropped
}

// String says the repair in one line.
func (r Repair) String() string {
	s := at(r.Path) + ": " + r.What
	if r.Path == "" {
		s = "arguments: " + r.What
	}
	switch {
	case r.From == "":
		return s
	case r.To == "":
		return s + " (" + r.From + ")"
	}
	return s + " (" + r.From + " → " + r.To + ")"
}

// Kind tells problems apart: they carry different error codes.
type Kind string

// The kinds of problems.
const (
	Missing Kind = "missing" // a required property is absent or null
	Wrong   Kind = "wrong"   // a value that its schema refuses
	Unknown Kind = "unknown" // a name that the schema does not have
)

// Problem is one fault of the arguments, in words for the model that wrote them.
type Problem struct {
	Path       string `json:"path"` // "edits[2].line", indices from 0; "" is the whole argument object
	Kind       Kind   `json:"kind"`
	Message    string `json:"message"`              // a whole sentence: name, what was expected, the value found
	Expected   string `json:"expected,omitempty"`   // "an integer, 1–2000"
	Example    string `json:"example,omitempty"`    // a small valid value as JSON
	Suggestion string `json:"suggestion,omitempty"` // the name or value that was probably meant
}

// maxProblems bounds what one call reports; past it a model is not helped by more.
const maxProblems = 16

// clipRunes is how much of an offending value is quoted.
const clipRunes = 80

// quote shows a JSON text, clipped.
func quote(b []byte) string {
	if len(b) <= clipRunes {
		return string(b)
	}
	n := 0
	for i := range string(b[:min(len(b), 4*clipRunes+4)]) {
		if n == clipRunes {
			return string(b[:i]) + "…"
		}
		n++
	}
	return string(b)
}

// shown is quote for a string that is not JSON yet.
func shown(s string) string {
	if len(s) > 4*clipRunes {
		s = s[:4*clipRunes]
		for !utf8.ValidString(s) && len(s) > 0 {
			s = s[:len(s)-1]
		}
	}
	return quote(appendQuoted(nil, s))
}

// list joins names for a sentence and counts what does not fit.
func list(names []string, limit int) string {
	if len(names) <= limit {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:limit], ", ") + fmt.Sprintf(" and %d more", len(names)-limit)
}

// segment is one step of a path: a name, or an index where the name is empty.
type segment struct {
	name  string
	index int
}

func pathString(path []segment) string {
	var b strings.Builder
	for _, s := range path {
		switch {
		case s.name == "" && s.index >= 0:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case b.Len() > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	return b.String()
}

// kindPhrase names a value's kind for a sentence.
func kindPhrase(k kind) string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// appendQuoted writes s as a JSON string without escaping what HTML would want.
func appendQuoted(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\t':
			b = append(b, '\\', 't')
		case r == '\r':
			b = append(b, '\\', 'r')
		case r < 0x20 || r == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
