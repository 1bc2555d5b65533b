package show

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Arg returns one argument as a word of a shell command line, escaped like [Line]: bare where nothing in it means
// anything to a shell, in single quotes otherwise. It is for reading, not for running: an escape in it means nothing to a
// shell.
func Arg(s string) string {
	line := Line(s)
	if line == s && s != "" && strings.IndexFunc(s, special) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(line, "'", `'\''`) + "'"
}

func special(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("-_./,:+@%", r)
}

// Args returns an argument vector as a command line; see [Arg].
func Args(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = Arg(a)
	}
	return strings.Join(words, " ")
}

// Cut shortens escaped text to about width characters (at least 40) by leaving out the middle, and reports whether it did.
// A third of what stays is the end. The place says how much is missing, and no escape is cut in two.
func Cut(escaped string, width int) (string, bool) {
	width = max(width, 40)
	total := utf8.RuneCountInString(escaped)
	if total <= width {
		return escaped, false
	}
	head, tail := splitAt(escaped, width-width/3), splitAt(escaped, total-width/3)
	missing := utf8.RuneCountInString(escaped[head:tail])
	if missing == 0 {
		return escaped, false
	}
	return fmt.Sprintf("%s…(not shown: %d characters)…%s", escaped[:head], missing, escaped[tail:]), true
}

// splitAt returns the byte offset in front of character n, moved behind marks that belong to the character before, and
// back in front of an escape that it would cut.
func splitAt(s string, n int) int {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	for at < len(s) {
		r, size := utf8.DecodeRuneInString(s[at:])
		if !unicode.Is(unicode.M, r) {
			break
		}
		at += size
	}
	if open := strings.LastIndexByte(s[:at], '\\'); open >= 0 && isEscape(s[open:]) && strings.IndexByte(s[open:at], '}') < 0 {
		return open
	}
	return at
}

func isEscape(s string) bool {
	return len(s) > 2 && s[0] == '\\' && (s[1] == 'u' || s[1] == 'x') && s[2] == '{'
}

// Lines shortens text to at most limit lines (at least 4) by leaving out the middle, and reports how many are missing. A
// third of what stays is the end. Where lines are missing, one line says so; it counts as one of limit.
func Lines(text string, limit int) (cut string, missing int) {
	limit = max(limit, 4)
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) <= limit {
		return text, 0
	}
	tail := limit / 3
	head := limit - 1 - tail
	missing = len(lines) - head - tail
	return strings.Join(lines[:head], "") + fmt.Sprintf("…(not shown: %d lines)…\n", missing) + strings.Join(lines[len(lines)-tail:], ""), missing
}

// Odd counts what is unusual in a text, so that a prompt can say so in words.
type Odd struct {
	Control   int // control characters but newline and tab, and bytes that are not UTF-8
	Invisible int // characters without a picture, unusual blanks
	Direction int // characters that change the direction of text
	Padding   int // long runs of blanks
}

// Inspect counts what is unusual in a text.
func Inspect(s string) Odd {
	var o Odd
	if harmless(s, true) {
		return o
	}
	run := 0
	for i, n := 0, 0; i < len(s); i += n {
		var r rune
		r, n = utf8.DecodeRuneInString(s[i:])
		switch {
		case r == ' ' || r == '\t' || r == '\n':
			if run++; run == MaxPadding+1 {
				o.Padding++
			}
			continue
		case r == utf8.RuneError && n == 1, r < ' ', r >= 0x7f && r < 0xa0:
			o.Control++
		case r == '\u200e', r == '\u200f', r == '\u061c', r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
			o.Direction++
		case hidden(r):
			o.Invisible++
		}
		run = 0
	}
	return o
}

// IsZero reports whether nothing is unusual.
func (o Odd) IsZero() bool { return o == Odd{} }

// String says what is unusual, "" where nothing is: "2 invisible characters, 1 control character".
func (o Odd) String() string {
	var parts []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	add(o.Control, "control character", "control characters")
	add(o.Invisible, "invisible character", "invisible characters")
	add(o.Direction, "character that changes the direction of text", "characters that change the direction of text")
	add(o.Padding, "long run of blanks", "long runs of blanks")
	return strings.Join(parts, ", ")
}
