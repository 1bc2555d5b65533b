package media

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

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

// Find returns all matches that are not empty, in order, none overlapping. Characters that nobody sees, such as soft hyphens
// and joiners, do not hide a match that they stand in: it is found as if they were not there, and they are within its span.
// Errors: *Error when it took too long.
func (p *Pattern) Find(text string) ([]Span, error) {
	out, err := p.find(text)
	if err != nil || !strings.ContainsFunc(text, unseen) {
		return out, err
	}
	bare := make([]byte, 0, len(text))
	at := make([]int, 0, len(text)) // of each byte of bare in text
	for i, r := range text {
		if unseen(r) {
			continue
		}
		_, n := utf8.DecodeRuneInString(text[i:])
		for k := range n {
			bare, at = append(bare, text[i+k]), append(at, i+k)
		}
	}
	more, err := p.find(string(bare))
	if err != nil {
		return nil, err
	}
	for _, s := range more {
		out = append(out, Span{at[s.From], at[s.To-1] + 1})
	}
	slices.SortFunc(out, func(a, b Span) int { return cmp.Or(a.From-b.From, b.To-a.To) })
	n := 0
	for _, s := range out {
		if n > 0 && s.From < out[n-1].To {
			out[n-1].To = max(out[n-1].To, s.To)
			continue
		}
		out[n], n = s, n+1
	}
	return out[:n], nil
}

// unseen reports whether a character takes no room and has no shape: soft hyphen, joiners and marks of direction.
func unseen(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0xad, r == 0x034f, r == 0x061c, r == 0x180e, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x2064, r >= 0x2066 && r <= 0x2069, r == 0xfeff:
		return true
	}
	return false
}

// find matches a text as it stands.
func (p *Pattern) find(text string) ([]Span, error) {
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
