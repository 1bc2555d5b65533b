package text_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/internal/text"
)

func TestLines(t *testing.T) {
	tests := []struct{ content, want string }{
		{"", ""},
		{"a", "a|none"},
		{"a\n", "a|LF"},
		{"\n\n", "|LF |LF"},
		{"a\r\nb\nc", "a|CRLF b|LF c|none"},
		{"a\rb\r", "a|CR b|CR"},
		{"a\rb\nc\rd", "a\rb|LF c\rd|none"},
		{"a\n\r", "a|LF \r|none"},
		{"\r\n", "|CRLF"},
	}
	for _, tt := range tests {
		l := text.Index([]byte(tt.content))
		var got []string
		for i := range l.Len() {
			got = append(got, fmt.Sprintf("%s|%v", l.Body(i), l.Ending(i)))
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%q: %q, want %q", tt.content, s, tt.want)
		}
		if n := text.Count([]byte(tt.content)); n != l.Len() {
			t.Errorf("%q: Count %d, Index %d", tt.content, n, l.Len())
		}
	}
}

// The index agrees with cutting line by line, and At is the inverse of Start.
func TestLinesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.SampledFrom([]rune("ab\n\r")), 0, 30, -1).Draw(t, "text")
		l, cr, i := text.Index([]byte(s)), text.UsesCR([]byte(s)), 0
		for rest := s; rest != ""; i++ {
			body, ending, next := text.Next(rest, cr)
			if got := string(l.Body(i)); got != body {
				t.Fatalf("line %d of %q: %q, want %q", i, s, got, body)
			}
			if ending != "" && l.Ending(i).Chars() != ending {
				t.Fatalf("ending %d of %q: %v, want %q", i, s, l.Ending(i), ending)
			}
			for off := l.Start(i); off < l.End(i); off++ {
				if l.At(off) != i || text.Number([]byte(s), off) != i+1 {
					t.Fatalf("offset %d of %q: At %d, Number %d, want line %d", off, s, l.At(off), text.Number([]byte(s), off), i)
				}
			}
			rest = next
		}
		if i != l.Len() || string(l.Content()) != s {
			t.Fatalf("%q: %d lines, want %d", s, l.Len(), i)
		}
	})
}

func TestDetectEnding(t *testing.T) {
	for content, want := range map[string]text.Ending{
		"": text.NoEnding, "a": text.NoEnding, "a\n": text.LF, "a\r\nb\r\n": text.CRLF, "a\r\nb\n": text.Mixed,
		"a\rb": text.CR, "progress\rdone\n": text.LF, "a\r\r\nb\r\n": text.CRLF,
	} {
		if got := text.DetectEnding([]byte(content)); got != want {
			t.Errorf("%q: %v, want %v", content, got, want)
		}
	}
}

func TestEndingNear(t *testing.T) {
	tests := []struct {
		content, at string
		want        text.Ending
	}{
		{"one line", "line", text.NoEnding},
		{"a\r\nb\nc\n", "a\r\nb", text.CRLF}, // the first break inside
		{"a\r\nb\nc\n", "b", text.LF},        // else the next
		{"a\r\nb", "b", text.CRLF},           // else the last before
		{"a\rb\rc", "b", text.CR},
		{"\nb", "b", text.LF},
	}
	for _, tt := range tests {
		i := strings.Index(tt.content, tt.at)
		if got := text.EndingNear([]byte(tt.content), i, i+len(tt.at)); got != tt.want {
			t.Errorf("%q in %q: %v, want %v", tt.at, tt.content, got, tt.want)
		}
	}
}

func TestWithEnding(t *testing.T) {
	tests := []struct {
		in   string
		e    text.Ending
		want string
	}{
		{"a\nb\r\n", text.CRLF, "a\r\nb\r\n"},
		{"a\nb\r\n", text.LF, "a\nb\n"},
		{"a\nb\r\n", text.CR, "a\rb\r"},
		{"a\nb\r\n", text.Mixed, "a\nb\r\n"},
		{"a\nb\r\n", text.NoEnding, "a\nb\r\n"},
		{"a\rb", text.LF, "a\rb"},
	}
	for _, tt := range tests {
		if got := text.WithEnding(tt.in, tt.e); got != tt.want {
			t.Errorf("%q with %v: %q, want %q", tt.in, tt.e, got, tt.want)
		}
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain text, as is": "plain text, as is",
		"\tx  y ":           "→x··y·",
		"    four":          "····four",
		"a\u00a0b\u200b":    "a[U+00A0]b[U+200B]",
		"line\r":            `line\r`,
		"a\x07b\xe9c":       `a\x07b\xE9c`,
		"größer “so”":       "größer “so”",
		"":                  "",
		"   ":               "···",
	} {
		if got := text.Visible(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
