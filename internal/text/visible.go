package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns one line with everything written out that the eye would miss: tabs as →, blanks at the start and the
// end and in runs as ·, other white space and invisible characters as [U+00A0], control characters as \r or \x07,
// invalid bytes as \xE9. Letters, single blanks inside and punctuation stay.
func Visible(line string) string {
	var b strings.Builder
	b.Grow(len(line) + 16)
	lead := len(line) - len(strings.TrimLeft(line, " \t"))
	tail := len(strings.TrimRight(line, " \t\r"))
	for i := 0; i < len(line); {
		r, n := utf8.DecodeRuneInString(line[i:])
		switch {
		case r == ' ' && (i < lead || i >= tail || line[i-1] == ' ' || line[i+1] == ' '):
			b.WriteString("·")
		case r == '\t':
			b.WriteString("→")
		case r == '\r':
			b.WriteString(`\r`)
		case r == utf8.RuneError && n == 1, r < ' ', r == 0x7F:
			fmt.Fprintf(&b, `\x%02X`, line[i])
		case r != ' ' && (unicode.IsSpace(r) || !unicode.IsPrint(r)):
			fmt.Fprintf(&b, "[%U]", r)
		default:
			b.WriteString(line[i : i+n])
		}
		i += n
	}
	return b.String()
}
