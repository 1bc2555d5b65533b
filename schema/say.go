package schema

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// fact is one constraint in words. It counts as said where a description holds all its marks.
type fact struct {
	keyword string
	phrase  string
	marks   []string
}

func (f fact) said(desc string) bool {
	desc = strings.ToLower(desc)
	for _, m := range f.marks {
		if !hasWord(desc, strings.ToLower(m)) {
			return false
		}
	}
	return true
}

// hasWord reports whether word stands in text and not inside a longer word or number.
func hasWord(text, word string) bool {
	for from := 0; from <= len(text); {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		if !(start > 0 && wordByte(text[start-1]) && word != "" && wordByte(word[0])) &&
			!(end < len(text) && wordByte(text[end]) && word != "" && wordByte(word[len(word)-1])) {
			return true
		}
		from = start + 1
	}
	return false
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// facts lists the constraints of one schema, without its children, in the order in which they are said.
func facts(s *jsonschema.Schema) []fact {
	var out []fact
	add := func(keyword, phrase string, marks ...string) {
		out = append(out, fact{keyword, phrase, marks})
	}
	if len(s.Enum) > 0 {
		values := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			values[i] = plainText(v)
		}
		add("enum", "one of "+strings.Join(values, ", "), values...)
	}
	if s.Const != nil {
		add("const", "always "+plainText(*s.Const), plainText(*s.Const))
	}
	if p, marks := rangeOf(floatBounds(s)); p != "" {
		add("minimum/maximum", p, marks...)
	}
	if p, marks := rangeOf(intBounds(s.MinLength, s.MaxLength)); p != "" {
		add("minLength/maxLength", unit(p, "character", s.MinLength, s.MaxLength), marks...)
	}
	if p, marks := rangeOf(intBounds(s.MinItems, s.MaxItems)); p != "" {
		add("minItems/maxItems", unit(p, "item", s.MinItems, s.MaxItems), marks...)
	}
	if p, marks := rangeOf(intBounds(s.MinProperties, s.MaxProperties)); p != "" {
		add("minProperties/maxProperties", unit(p, "key", s.MinProperties, s.MaxProperties), marks...)
	}
	if s.MultipleOf != nil {
		add("multipleOf", "a multiple of "+formatFloat(*s.MultipleOf), formatFloat(*s.MultipleOf))
	}
	if s.UniqueItems {
		add("uniqueItems", "no item twice", "twice")
	}
	if s.Pattern != "" {
		add("pattern", "matches "+s.Pattern, s.Pattern)
	}
	if s.Format != "" {
		add("format", formatPhrase(s.Format), formatPhrase(s.Format))
	}
	if s.Default != nil && string(s.Default) != "null" { // a default of null says that the value is optional
		add("default", "default "+plainJSON(s.Default), "default")
	}
	if len(s.Examples) > 0 {
		add("examples", "e.g. "+plainText(s.Examples[0]), plainText(s.Examples[0]))
	}
	return out
}

func formatPhrase(format string) string {
	switch format {
	case "date-time":
		return "RFC 3339 time"
	case "date":
		return "YYYY-MM-DD"
	}
	return "format " + format
}

// phrases returns what desc does not yet say about s.
func phrases(s *jsonschema.Schema, desc string) []string {
	var out []string
	for _, f := range facts(s) {
		if desc == "" || !f.said(desc) {
			out = append(out, f.phrase)
		}
	}
	return out
}

// describe appends phrases to a description, in parentheses before its last full stop.
func describe(desc string, phrases []string) string {
	if len(phrases) == 0 {
		return desc
	}
	text := strings.Join(phrases, ", ")
	if desc == "" {
		return text
	}
	if d, ok := strings.CutSuffix(desc, "."); ok && !strings.HasSuffix(d, ".") {
		return d + " (" + text + ")."
	}
	return desc + " (" + text + ")"
}

// bounds is a range in texts; an empty text is an open end.
type bounds struct {
	low, high         string
	lowOpen, highOpen bool // the bound itself is outside
}

func floatBounds(s *jsonschema.Schema) (b bounds) {
	if s.Minimum != nil {
		b.low = formatFloat(*s.Minimum)
	}
	if s.Maximum != nil {
		b.high = formatFloat(*s.Maximum)
	}
	if e := s.ExclusiveMinimum; e != nil && (s.Minimum == nil || *e >= *s.Minimum) {
		b.low, b.lowOpen = formatFloat(*e), true
	}
	if e := s.ExclusiveMaximum; e != nil && (s.Maximum == nil || *e <= *s.Maximum) {
		b.high, b.highOpen = formatFloat(*e), true
	}
	return b
}

func intBounds(low, high *int) (b bounds) {
	if low != nil && *low > 0 {
		b.low = fmt.Sprint(*low)
	}
	if high != nil {
		b.high = fmt.Sprint(*high)
	}
	return b
}

// rangeOf says a range ("1–10", "at least 1", "above 0"); the marks are the numbers in it.
func rangeOf(b bounds) (phrase string, marks []string) {
	low, high := "at least ", "at most "
	if b.lowOpen {
		low = "above "
	}
	if b.highOpen {
		high = "below "
	}
	switch {
	case b.low == "" && b.high == "":
		return "", nil
	case b.high == "":
		return low + b.low, []string{b.low}
	case b.low == "":
		return high + b.high, []string{b.high}
	case b.lowOpen || b.highOpen:
		return low + b.low + " and " + high + b.high, []string{b.low, b.high}
	case b.low == b.high:
		return "exactly " + b.low, []string{b.low}
	}
	return b.low + "–" + b.high, []string{b.low, b.high}
}

// unit appends what is counted.
func unit(phrase, noun string, low, high *int) string {
	last := low
	if high != nil {
		last = high
	}
	if *last != 1 {
		noun += "s"
	}
	return phrase + " " + noun
}

// plainText writes a value of an enum, a default or an example: strings without quotes, the rest as JSON.
func plainText(v any) string {
	if s, ok := v.(string); ok && s != "" {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

func plainJSON(b json.RawMessage) string {
	var s string
	if json.Unmarshal(b, &s) == nil && s != "" {
		return s
	}
	return string(b)
}
