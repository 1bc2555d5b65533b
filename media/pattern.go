package media

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"
)

// Pattern finds a match in text. Expressions are those of JavaScript, as models write them, and are stopped when one text
// takes too long: a backtracking expression can take forever on a text that somebody else wrote.
type Pattern struct {
	literal string
	re      *regexp2.Regexp
	source  string
	limit   time.Duration
}

// NewPattern compiles a match. An expression may take the limit for one text.
func NewPattern(m Match, limit time.Duration) (*Pattern, error) {
	if m.Source == "" {
		return &Pattern{literal: m.Text}, nil
	}
	opt := regexp2.ECMAScript
	for _, f := range m.Flags {
		switch f {
		case 'i':
			opt |= regexp2.IgnoreCase
		case 'm':
			opt |= regexp2.Multiline
		case 's':
			opt |= regexp2.Singleline
		case 'u', 'v':
			opt |= regexp2.Unicode
		}
	}
	re, err := regexp2.Compile(m.Source, opt)
	if err != nil {
		return nil, fmt.Errorf("/%s/ is no regular expression: %s", m.Source, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	re.MatchTimeout = limit
	return &Pattern{re: re, source: "/" + m.Source + "/" + m.Flags, limit: limit}, nil
}

// Span is a run of bytes [From, To).
type Span struct{ From, To int }

// Find returns all matches that are not empty, in order, none overlapping. Errors: *Error when it took too long.
func (p *Pattern) Find(text string) ([]Span, error) {
	var out []Span
	if p.re == nil {
		for at := 0; ; {
			i := strings.Index(text[at:], p.literal)
			if i < 0 || p.literal == "" {
				return out, nil
			}
			out = append(out, Span{at + i, at + i + len(p.literal)})
			at += i + len(p.literal)
		}
	}
	began := time.Now()
	m, err := p.re.FindStringMatch(text)
	for ; m != nil && err == nil; m, err = p.re.FindNextMatch(m) {
		if from, n := m.ByteRange(); n > 0 {
			out = append(out, Span{from, from + n})
		}
		if time.Since(began) > p.limit {
			err = errTooLong
			break
		}
	}
	if err != nil {
		return nil, Failf("the expression %s took longer than %v on this text. Write a simpler one, without nested repetitions such as (a+)+.", p.source, p.limit)
	}
	return out, nil
}

var errTooLong = errors.New("too long")

// Patterns compiles the matches of an argument.
func Patterns(ms []Match, limit time.Duration) ([]*Pattern, error) {
	out := make([]*Pattern, len(ms))
	for i, m := range ms {
		p, err := NewPattern(m, limit)
		if err != nil {
			return nil, Failf("%v.", err)
		}
		out[i] = p
	}
	return out, nil
}

// Replace replaces all matches of all patterns, one pattern after the other, and counts them.
func Replace(text string, ps []*Pattern, replacement string) (string, int, error) {
	n := 0
	for _, p := range ps {
		spans, err := p.Find(text)
		if err != nil {
			return "", 0, err
		}
		if len(spans) == 0 {
			continue
		}
		n += len(spans)
		var b strings.Builder
		at := 0
		for _, s := range spans {
			b.WriteString(text[at:s.From])
			b.WriteString(replacement)
			at = s.To
		}
		b.WriteString(text[at:])
		text = b.String()
	}
	return text, n, nil
}

var bracketed = regexp.MustCompile(`[\[\]\x00-\x1f\x7f]+`)

// CleanName makes a file name safe to show: no folders, brackets, control characters or great length.
func CleanName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.TrimSpace(bracketed.ReplaceAllString(strings.ToValidUTF8(name, "�"), "_"))
	if r := []rune(name); len(r) > 100 {
		name = string(r[:60]) + "…" + string(r[len(r)-30:])
	}
	return name
}
