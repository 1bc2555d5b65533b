package scan

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Options say how a pattern is meant.
type Options struct {
	Literal   bool // the pattern is text, not an expression
	Fold      bool // ignore case
	Smart     bool // ignore case unless the pattern has an upper-case letter
	Word      bool // the match must not continue a word on either side
	Line      bool // the match must be a whole line
	Multiline bool // a match may span lines; without it "\n" in a pattern switches this on by itself
	DotAll    bool // "." also matches a line end; only with Multiline
}

// Error is a pattern that cannot be searched for.
type Error struct {
	Pattern string
	Offset  int    // byte offset of the problem
	Reason  string // "\"(\" is not closed", …
	// PCRE says that the pattern uses a feature that only backtracking engines have (look-around, back-references).
	PCRE bool
	// Text is the pattern read as text, which is what was probably meant: search for it with Options.Literal.
	Text string
}

func (e *Error) Error() string {
	return fmt.Sprintf("pattern %q: %s at byte %d", e.Pattern, e.Reason, e.Offset)
}

// maxPattern bounds the length of patterns, so that compiling stays within milliseconds.
const maxPattern = 64 << 10

// The shorthand classes are Unicode, as in ripgrep: bodies of a bracket expression.
const (
	wordBody  = `\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189}\x{200C}\x{200D}`
	digitBody = `\p{Nd}`
	spaceBody = `\t\n\v\f\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}`
)

// translator rewrites a pattern for regexp/syntax and finds the mistakes that it would report without a position.
type translator struct {
	in    string
	out   strings.Builder
	notes []string
	pos   int
	open  []int // offsets of "(" that are not closed yet
	empty bool  // nothing stands before pos that a repetition could apply to
	upper bool  // an upper-case letter was read (escapes and group names do not count)
}

func (t *translator) fail(at int, reason string) *Error {
	return &Error{Pattern: t.in, Offset: at, Reason: reason, Text: plainText(t.in)}
}

func (t *translator) pcre(at int, what string) *Error {
	e := t.fail(at, what+" is not supported by this engine")
	e.PCRE = true
	return e
}

// translate reads the whole pattern and leaves it in out, in the syntax of Go.
func (t *translator) translate(literal bool) error {
	if len(t.in) > maxPattern {
		return t.fail(maxPattern, "pattern is longer than 64 KiB")
	}
	if !utf8.ValidString(t.in) {
		return t.fail(invalidAt(t.in), "pattern is not valid UTF-8")
	}
	if literal {
		t.upper = strings.ContainsFunc(t.in, unicode.IsUpper)
		t.out.WriteString(quote(t.in))
		return nil
	}
	for t.pos < len(t.in) {
		if err := t.item(); err != nil {
			return err
		}
	}
	if n := len(t.open); n > 0 {
		return t.fail(t.open[n-1], `"(" is not closed (write "\(" for the character)`)
	}
	return nil
}

func invalidAt(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return i
			}
		}
	}
	return len(s)
}

func (t *translator) item() error {
	c := t.in[t.pos]
	at := t.pos
	switch c {
	case '\\':
		t.empty = false
		return t.escape(false)
	case '[':
		t.empty = false
		return t.class()
	case '(':
		if err := t.group(); err != nil {
			return err
		}
		t.empty = true
		return nil
	case ')':
		if len(t.open) == 0 {
			return t.fail(at, `")" without "(" (write "\)" for the character)`)
		}
		t.open = t.open[:len(t.open)-1]
		t.empty = false
	case '|':
		t.empty = true
	case '*', '+', '?':
		if t.empty {
			return t.fail(at, fmt.Sprintf("nothing stands before %q that could be repeated (write %q for the character)", string(c), `\`+string(c)))
		}
	case '{':
		if !isRepeat(t.in[at:]) {
			t.out.WriteString(`\{`)
			t.pos++
			t.empty = false
			t.notes = append(t.notes, fmt.Sprintf("\"{\" at byte %d is no repetition and was read as text", at))
			return nil
		}
		if t.empty {
			return t.fail(at, `nothing stands before "{" that could be repeated (write "\{" for the character)`)
		}
	default:
		t.empty = false
		t.char()
		return nil
	}
	t.out.WriteByte(c)
	t.pos++
	return nil
}

// char copies one character.
func (t *translator) char() {
	r, n := utf8.DecodeRuneInString(t.in[t.pos:])
	t.upper = t.upper || unicode.IsUpper(r)
	t.out.WriteRune(r)
	t.pos += n
}

// isRepeat reports whether s begins with {n}, {n,} or {n,m}.
func isRepeat(s string) bool {
	end := strings.IndexByte(s, '}')
	if end < 0 {
		return false
	}
	lo, hi, _ := strings.Cut(s[1:end], ",")
	digits := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	return lo != "" && digits(lo) && digits(hi)
}

func (t *translator) group() error {
	at := t.pos
	rest := t.in[at:]
	for _, p := range []struct{ prefix, what string }{
		{"(?=", "look-ahead"}, {"(?!", "look-ahead"}, {"(?<=", "look-behind"}, {"(?<!", "look-behind"},
		{"(?>", "an atomic group"}, {"(?|", "a branch reset"}, {"(?R", "recursion"}, {"(?(", "a conditional group"},
	} {
		if strings.HasPrefix(rest, p.prefix) {
			return t.pcre(at, p.what)
		}
	}
	if strings.HasPrefix(rest, "(?") {
		// Flags and names end at the first ":", ">" or ")"; Go's parser checks them.
		if end := strings.IndexAny(rest, ":>)"); end > 0 {
			t.out.WriteString(rest[:end+1])
			t.pos += end + 1
			if rest[end] != ')' {
				t.open = append(t.open, at)
			}
			return nil
		}
	}
	t.open = append(t.open, at)
	t.out.WriteByte('(')
	t.pos++
	return nil
}

// escape translates the escape at pos, outside or inside of a class.
func (t *translator) escape(inClass bool) error {
	at := t.pos
	if at+1 == len(t.in) {
		return t.fail(at, `nothing follows "\" (write "\\" for the character)`)
	}
	c := t.in[at+1]
	t.pos += 2
	put := func(open, body, close string) {
		if !inClass {
			body = open + body + close
		}
		t.out.WriteString(body)
	}
	switch {
	case c == 'w':
		put("[", wordBody, "]")
	case c == 'd':
		put("[", digitBody, "]")
	case c == 's':
		put("[", spaceBody, "]")
	case c == 'W' && inClass:
		t.out.WriteString(complement(wordBody))
	case c == 'S' && inClass:
		t.out.WriteString(complement(spaceBody))
	case c == 'W':
		put("[^", wordBody, "]")
	case c == 'S':
		put("[^", spaceBody, "]")
	case c == 'D':
		put("[", `\P{Nd}`, "]")
	case c == '<' || c == '>':
		if inClass {
			t.out.WriteByte(c)
		} else {
			t.out.WriteString(`\b`)
		}
	case c == 'u' || c == 'U':
		return t.codePoint(at, c)
	case c == 'Q':
		text, _, _ := strings.Cut(t.in[t.pos:], `\E`)
		t.pos = min(t.pos+len(text)+2, len(t.in))
		t.out.WriteString(quote(text))
	case c >= '1' && c <= '9' && !inClass:
		return t.pcre(at, "a back-reference")
	case strings.IndexByte("KRXhHG", c) >= 0:
		return t.pcre(at, fmt.Sprintf("the escape %q", `\`+string(c)))
	case c >= utf8.RuneSelf: // "\é" is "é"
		t.pos--
	case c == 'x' || c == 'p' || c == 'P':
		// The operand is copied as ordinary characters; only its braces must not be taken for a repetition.
		t.out.WriteString(t.in[at:t.pos])
		if end := strings.IndexByte(t.in[t.pos:], '}'); strings.HasPrefix(t.in[t.pos:], "{") && end > 0 {
			t.out.WriteString(t.in[t.pos : t.pos+end+1])
			t.pos += end + 1
		}
	default:
		t.out.WriteString(t.in[at:t.pos])
	}
	return nil
}

// codePoint translates \uXXXX, \UXXXXXXXX and \u{X…}, which Go's parser does not know.
func (t *translator) codePoint(at int, c byte) error {
	rest := t.in[t.pos:]
	n := 4
	if c == 'U' {
		n = 8
	}
	hex := rest[:min(n, len(rest))]
	if strings.HasPrefix(rest, "{") {
		hex, _, _ = strings.Cut(rest[1:], "}")
		n = len(hex) + 2
	}
	if hex == "" || len(rest) < n || strings.Trim(hex, "0123456789abcdefABCDEF") != "" {
		return t.fail(at, fmt.Sprintf("%q needs hexadecimal digits", `\`+string(c)))
	}
	t.pos += n
	t.out.WriteString(`\x{` + hex + `}`)
	return nil
}

func (t *translator) class() error {
	open := t.pos
	t.out.WriteByte('[')
	t.pos++
	if strings.HasPrefix(t.in[t.pos:], "^") {
		t.out.WriteByte('^')
		t.pos++
	}
	for first := true; ; first = false {
		if t.pos >= len(t.in) {
			return t.fail(open, `"[" is not closed (write "\[" for the character)`)
		}
		rest := t.in[t.pos:]
		switch c := rest[0]; {
		case c == ']' && first:
			t.out.WriteString(`\]`)
			t.pos++
		case c == ']':
			t.out.WriteByte(c)
			t.pos++
			return nil
		case c == '\\':
			if err := t.escape(true); err != nil {
				return err
			}
		case strings.HasPrefix(rest, "[:"):
			end := strings.Index(rest, ":]")
			if end < 0 {
				return t.fail(t.pos, `"[:" is not closed with ":]"`)
			}
			t.out.WriteString(rest[:end+2])
			t.pos += end + 2
		default:
			t.char()
		}
	}
}

// complement returns the body of the bracket expression for everything that body does not hold.
func complement(body string) string {
	re, err := syntax.Parse("[^"+body+"]", syntax.Perl)
	if err != nil {
		panic("scan: constant class: " + err.Error())
	}
	var b strings.Builder
	for i := 0; i < len(re.Rune); i += 2 {
		fmt.Fprintf(&b, `\x{%X}-\x{%X}`, re.Rune[i], re.Rune[i+1])
	}
	return b.String()
}

// quote writes text as an expression that matches it.
func quote(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if strings.IndexByte(`\.+*?()|[]{}^$`, text[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// plainText returns the pattern as the text that was probably meant: without the "\" in front of punctuation.
func plainText(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '\\' && i+1 < len(pattern) && strings.IndexByte(`\.+*?()|[]{}^$/"'-#`, pattern[i+1]) >= 0 {
			i++
		}
		b.WriteByte(pattern[i])
	}
	return b.String()
}

// parseError places an error of Go's parser, which only quotes the part it dislikes.
func (t *translator) parseError(err error) error {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return t.fail(0, err.Error())
	}
	at := max(strings.Index(t.in, e.Expr), 0)
	reason := e.Code.String()
	if e.Expr != "" && e.Expr != t.in && len(e.Expr) < 40 {
		reason += fmt.Sprintf(" %q", e.Expr)
	}
	switch {
	case e.Code == syntax.ErrInvalidRepeatOp:
		reason = fmt.Sprintf("%q repeats a repetition", e.Expr)
	case strings.HasPrefix(e.Expr, `\p`) || strings.HasPrefix(e.Expr, `\P`):
		reason = fmt.Sprintf("Unicode has no class %q", e.Expr)
	}
	return t.fail(at, reason)
}
