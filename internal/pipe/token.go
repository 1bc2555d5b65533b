package pipe

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind says what a token is.
type Kind uint8

// The kinds of tokens.
const (
	EOF Kind = iota
	Bar
	Equals
	Comma
	Ident  // Text is the name
	Int    // Text is the digits
	Float  // Text is the number
	Range  // Text is both numbers with the - between them
	String // Text is decoded
	Regex  // Text is the source, Flags its flags, sorted
	Ref    // Text is the id without @
)

// Token is a word of a statement.
type Token struct {
	Kind  Kind
	Text  string
	Flags string // of a Regex
	Raw   string // of a String: what stands between the quotes, where no escape but that of the quote counts
	Pos   Pos
	End   int // offset behind it
}

// Flags are the flags that a regular expression may have, as in JavaScript.
const Flags = "dgimsuvy"

var (
	identRule = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)
	intRule   = regexp.MustCompile(`^[0-9]+$`)
	floatRule = regexp.MustCompile(`^[0-9]+\.[0-9]+$`)
	rangeRule = regexp.MustCompile(`^[0-9]+-[0-9]+$`)
	refRule   = regexp.MustCompile(`^@[A-Za-z0-9:_-]+$`)
)

type lexer struct {
	src       string
	at        int
	line      int
	lineStart int
}

// Tokens cuts a statement into its tokens, the last of which is EOF.
// Errors: *Error with code Syntax.
func Tokens(src string) ([]Token, error) {
	l := &lexer{src: src, line: 1}
	var out []Token
	for {
		t, err := l.next()
		if err != nil {
			return nil, err
		}
		out = append(out, t)
		if t.Kind == EOF {
			return out, nil
		}
	}
}

func (l *lexer) pos() Pos {
	return Pos{Offset: l.at, Line: l.line, Col: utf8.RuneCountInString(l.src[l.lineStart:l.at]) + 1}
}

func (l *lexer) fail(p Pos, format string, args ...any) *Error {
	return &Error{Code: Syntax, Pos: p, Oneline: !strings.Contains(strings.TrimSpace(l.src), "\n"), Message: fmt.Sprintf(format, args...)}
}

func (l *lexer) blanks() {
	for l.at < len(l.src) {
		switch l.src[l.at] {
		case '\n':
			l.at++
			l.line++
			l.lineStart = l.at
		case ' ', '\t', '\r':
			l.at++
		case '#':
			if n := strings.IndexByte(l.src[l.at:], '\n'); n >= 0 {
				l.at += n
			} else {
				l.at = len(l.src)
			}
		default:
			return
		}
	}
}

func (l *lexer) next() (Token, error) {
	l.blanks()
	p := l.pos()
	if l.at == len(l.src) {
		return Token{Kind: EOF, Pos: p, End: l.at}, nil
	}
	switch c := l.src[l.at]; {
	case c == '|', c == '=', c == ',':
		l.at++
		return Token{Kind: map[byte]Kind{'|': Bar, '=': Equals, ',': Comma}[c], Text: string(c), Pos: p, End: l.at}, nil
	case c == '"' || c == '\'':
		text, err := l.str()
		t := Token{Kind: String, Text: text, Pos: p, End: l.at}
		if err == nil {
			t.Raw = strings.ReplaceAll(l.src[p.Offset+1:l.at-1], `\`+string(c), string(c))
		}
		return t, err
	case c == '/':
		return l.regex()
	case c == '@' && l.at+1 < len(l.src) && (l.src[l.at+1] == '"' || l.src[l.at+1] == '\''):
		l.at++
		text, err := l.str()
		if err == nil && text == "" {
			err = l.fail(p, `@"" names no media.`)
		}
		return Token{Kind: Ref, Text: text, Pos: p, End: l.at}, err
	}
	return l.word()
}

// word reads a run of characters that none of the separators ends.
func (l *lexer) word() (Token, error) {
	p := l.pos()
	w := l.src[l.at:]
	if n := strings.IndexAny(w, " \t\r\n|=,\"'#"); n >= 0 {
		w = w[:n]
	}
	l.at += len(w)
	t := Token{Text: w, Pos: p, End: l.at}
	switch {
	case identRule.MatchString(w):
		t.Kind = Ident
	case intRule.MatchString(w):
		t.Kind = Int
	case floatRule.MatchString(w):
		t.Kind = Float
	case rangeRule.MatchString(w):
		t.Kind = Range
		return t, l.checkRange(&t)
	case refRule.MatchString(w):
		t.Kind, t.Text = Ref, w[1:]
	default:
		return t, l.badWord(w, p)
	}
	if t.Kind == Int && len(w) > 15 {
		return t, l.fail(p, "the number %s is too large.", quoted(w))
	}
	return t, nil
}

func (l *lexer) checkRange(t *Token) error {
	lo, hi := bounds(t.Text)
	switch {
	case hi < 0 || lo < 0:
		return l.fail(t.Pos, "the range %s is too large.", quoted(t.Text))
	case lo > hi:
		e := l.fail(t.Pos, "the range %s runs backwards.", t.Text)
		e.Use = l.mended(t.Pos.Offset, t.End, fmt.Sprintf("%d-%d", hi, lo))
		return e
	case hi-lo >= MaxItems:
		return l.fail(t.Pos, "the range %s has more than %d numbers.", t.Text, MaxItems)
	}
	return nil
}

// bounds returns the ends of a range token, -1 for one that is out of all bounds.
func bounds(text string) (lo, hi int) {
	a, b, _ := strings.Cut(text, "-")
	num := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil || len(s) > 15 {
			return -1
		}
		return n
	}
	return num(a), num(b)
}

func (l *lexer) badWord(w string, p Pos) *Error {
	var e *Error
	fix := quote(w)
	switch {
	case w == "@":
		return l.fail(p, `"@" must be followed by the id of a media, as in @a1b2.`)
	case w[0] == '@':
		fix = "@" + quote(w[1:])
		e = l.fail(p, "%s is not a plain media id. Quote it.", quoted(w))
	case w == "-":
		e = l.fail(p, `"-" stands alone. A range has no blanks (2-5); any other text with "-" is quoted.`)
		return e
	case w[0] == '-' && len(w) > 1 && w[1] >= '0' && w[1] <= '9':
		e = l.fail(p, "%s: negative numbers cannot be written bare. Quote the value.", quoted(w))
	case strings.Contains(w, "-"):
		e = l.fail(p, `"-" is not allowed in an unquoted value. Quote it.`)
		e.Pos.Col += utf8.RuneCountInString(w[:strings.Index(w, "-")])
		e.Pos.Offset += strings.Index(w, "-")
	default:
		e = l.fail(p, "%s cannot be written bare. Quote it.", quoted(w))
	}
	e.Use = l.mended(p.Offset, p.Offset+len(w), fix)
	return e
}

// mended returns the segment around src[from:to] with that part replaced, if the segment then is one; other bare words
// in it that need quotes get them too.
func (l *lexer) mended(from, to int, fix string) string {
	src := l.src[:from] + fix + l.src[to:]
	toks, err := Tokens(src)
	if err == nil {
		return segmentAround(src, toks, from)
	}
	if e, ok := err.(*Error); ok {
		return e.Use // it mended the next one, and that the one after it
	}
	return ""
}

// segmentAround returns the text of the segment that holds the offset, on one line.
func segmentAround(src string, toks []Token, at int) string {
	from, to := 0, len(src)
	for _, t := range toks {
		if t.Kind != Bar {
			continue
		}
		if t.End <= at {
			from = t.End
		} else {
			to = t.Pos.Offset
			break
		}
	}
	var parts []string
	for _, t := range toks {
		if t.Kind != EOF && t.Pos.Offset >= from && t.End <= to {
			parts = append(parts, src[t.Pos.Offset:t.End])
		}
	}
	s := strings.Join(parts, " ")
	return strings.NewReplacer(" = ", "=", " , ", ",").Replace(s)
}

var escapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', '"': '"', '\'': '\'', '\\': '\\', '/': '/'}

// str reads a string; l.at is on its quote.
func (l *lexer) str() (string, error) {
	p := l.pos()
	q := l.src[l.at]
	var b strings.Builder
	for i := l.at + 1; i < len(l.src); i++ {
		switch c := l.src[i]; {
		case c == q:
			l.at = i + 1
			return b.String(), nil
		case c == '\n':
			return "", l.fail(p, `the string that begins here has no closing %c before the end of the line. Write a line break in a string as \n.`, q)
		case c == '\\' && i+1 < len(l.src):
			if d, ok := escapes[l.src[i+1]]; ok {
				b.WriteByte(d)
				i++
			} else {
				b.WriteByte(c)
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", l.fail(p, "the string that begins here has no closing %c.", q)
}

// regex reads /…/flags; a slash in a class needs no backslash.
func (l *lexer) regex() (Token, error) {
	p := l.pos()
	class := false
	for i := l.at + 1; i < len(l.src); i++ {
		switch c := l.src[i]; {
		case c == '\n':
			return Token{}, l.fail(p, `the regular expression that begins here has no closing / before the end of the line. Write a line break in it as \n; quote a value that begins with /.`)
		case c == '\\' && i+1 < len(l.src) && l.src[i+1] != '\n':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			return l.endRegex(p, i)
		}
	}
	return Token{}, l.fail(p, "the regular expression that begins here has no closing /. Quote a value that begins with /.")
}

func (l *lexer) endRegex(p Pos, end int) (Token, error) {
	source := l.src[l.at+1 : end]
	n := end + 1
	for n < len(l.src) && !strings.ContainsRune(" \t\r\n|=,\"'#", rune(l.src[n])) {
		n++
	}
	flags := l.src[end+1 : n]
	if source == "" {
		return Token{}, l.fail(p, "a regular expression is not empty.")
	}
	sorted, err := sortFlags(flags)
	if err != "" {
		e := l.fail(p, "%s", err)
		if strings.ContainsAny(flags, "/.") {
			e.Message = fmt.Sprintf("%s begins like a regular expression and does not end like one. Quote it, or write \\/ for a slash in an expression.", quoted(l.src[l.at:n]))
			e.Use = l.mended(l.at, n, quote(l.src[l.at:n]))
		}
		return Token{}, e
	}
	l.at = n
	return Token{Kind: Regex, Text: plainSlashes(source), Flags: sorted, Pos: p, End: n}, nil
}

// sortFlags sorts flags of a regular expression, or says what is wrong with them.
func sortFlags(flags string) (sorted, problem string) {
	var b strings.Builder
	for _, f := range Flags {
		switch strings.Count(flags, string(f)) {
		case 0:
		case 1:
			b.WriteRune(f)
		default:
			return "", fmt.Sprintf("the flag %s stands twice in /%s.", quoted(string(f)), flags)
		}
	}
	if b.Len() != len(flags) {
		for _, f := range flags {
			if !strings.ContainsRune(Flags, f) {
				return "", fmt.Sprintf("%s is no flag of a regular expression; there are %s.", quoted(string(f)), strings.Join(strings.Split(Flags, ""), " "))
			}
		}
	}
	return b.String(), ""
}

// plainSlashes takes the backslash from \/, which a statement needs and an expression does not.
func plainSlashes(source string) string {
	var b strings.Builder
	for i := 0; i < len(source); i++ {
		if source[i] == '\\' && i+1 < len(source) {
			i++
			if source[i] != '/' {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(source[i])
	}
	return b.String()
}
