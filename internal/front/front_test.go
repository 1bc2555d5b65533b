package front

import (
	"errors"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		in, head, body string
		line           int
		open           bool
	}{
		{"", "", "", 1, false},
		{"text\n---\n", "", "text\n---\n", 1, false},
		{"---\na: 1\n---\nbody\nmore", "\na: 1\n", "body\nmore", 4, false},
		{"---\r\na: 1\r\n---\r\nbody", "\na: 1\r\n", "body", 4, false},
		{"\uFEFF---\n--- \nbody", "\n", "body", 3, false},
		{"---\na: 1\n----\n---", "\na: 1\n----\n", "", 5, false},
		{"---\na: 1\n", "", "", 0, true},
		{"---", "", "", 0, true},
		{"--- a\n---\n", "", "--- a\n---\n", 1, false},
	} {
		m, err := Split([]byte(c.in))
		if errors.Is(err, ErrOpen) != c.open || string(m.Head) != c.head || string(m.Body) != c.body || m.Line != c.line {
			t.Errorf("%q: head %q, body %q, line %d, %v", c.in, m.Head, m.Body, m.Line, err)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("---\na: 1\n---\nbody")
	f.Fuzz(func(t *testing.T, s string) {
		m, err := Split([]byte(s))
		if err == nil && len(m.Body) > len(s) {
			t.Errorf("%q has the body %q", s, m.Body)
		}
	})
}
