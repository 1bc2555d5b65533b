package mcp

import (
	"fmt"
	"strings"
	"unicode"
)

// maxSpaces is the longest run of spaces that is shown as it is; longer ones can push text out of a window.
const maxSpaces = 40

// visible returns text in which nothing hides: control and format characters (bidirectional, zero-width, tags), unusual
// spaces and invalid bytes are written as their code points, and long runs of spaces are counted. Newlines and tabs stay.
func visible(s string) string {
	var b strings.Builder
	spaces := 0
	flush := func() {
		if spaces > maxSpaces {
			fmt.Fprintf(&b, "⟨%d spaces⟩", spaces)
		} else {
			b.WriteString(strings.Repeat(" ", spaces))
		}
		spaces = 0
	}
	for i, r := range s {
		if r == ' ' {
			spaces++
			continue
		}
		flush()
		switch {
		case r == unicode.ReplacementChar && s[i] != 0xef: // an invalid byte, not a U+FFFD that was there
			fmt.Fprintf(&b, "⟨%02X⟩", s[i])
		case r == '\n' || r == '\t' || unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		}
	}
	flush()
	return b.String()
}

// visibleLine is visible for a value that belongs on one line.
func visibleLine(s string) string {
	return strings.NewReplacer("\n", "⟨U+000A⟩", "\t", "⟨U+0009⟩").Replace(visible(s))
}
