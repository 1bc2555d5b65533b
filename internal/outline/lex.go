package outline

import "bytes"

// tokKind is what the lexer tells apart.
type tokKind uint8

const (
	eof tokKind = iota
	word
	number
	quoted // a string or character
	group  // brackets with all between them, as one token
	punct  // an operator or a bracket
)

// tok is a token of a brace language.
type tok struct {
	kind       tokKind
	open       byte // of a group
	nl         bool // it is the first of its line
	start, end int
}

// syntax says how a language writes what the lexer has to skip.
type lexis struct {
	hash       bool // # begins a comment
	hashAttr   bool // #[…] is an attribute, not a comment
	directives bool // # at the beginning of a line is the preprocessor's
	nested     bool // block comments nest
	char       bool // '…' is a character, which may also be a lifetime or a digit separator
	single     bool // '…' is a string
	backtick   bool // `…` is a template with ${…}
	triple     bool // """…""" is a string
	tripleOne  bool // '''…''' too
	dollar     bool // "…${…}…" holds code
	slashParen bool // "…\(…)…" holds code
	verbatim   bool // @"…" ends at the first lone quote
	rawHash    bool // r#"…"#
	rawParen   bool // R"x(…)x"
	quotedName bool // `…` is a name
	heredoc    bool // <<<NAME
	regex      bool // /…/ where a value may stand
	dollarName bool // $ belongs to names
	tags       bool // code stands between <?php and ?>
}

// lexer reads tokens. Unterminated strings end with their line, unterminated comments with the file: what is broken in
// one place does not spoil the rest more than it must.
type lexer struct {
	src  []byte
	pos  int
	lex  *lexis
	deep int // of code inside strings
	prev tok // the last token, to tell division from a regular expression
	back *tok
}

func (l *lexer) text(t tok) string {
	if l.lex.quotedName && t.start < len(l.src) && l.src[t.start] == '`' {
		return string(bytes.Trim(l.src[t.start:t.end], "`"))
	}
	return string(l.src[t.start:t.end])
}

func (l *lexer) is(t tok, s string) bool {
	return t.end-t.start == len(s) && t.kind != quoted && t.kind != group && string(l.src[t.start:t.end]) == s
}

// unread gives a token back.
func (l *lexer) unread(t tok) { l.back = &t }

func (l *lexer) next() tok {
	if l.back != nil {
		t := *l.back
		l.back = nil
		return t
	}
	nl := l.space()
	t := tok{nl: nl, start: l.pos}
	if l.pos >= len(l.src) {
		t.end = len(l.src)
		return t
	}
	t.kind = l.one()
	t.end = l.pos
	l.prev = t
	return t
}

func (l *lexer) at(i int) byte {
	if i < len(l.src) {
		return l.src[i]
	}
	return 0
}

// space skips blanks, comments and directives, and reports whether a line began.
func (l *lexer) space() (nl bool) {
	nl = l.pos == 0
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case c == '\n':
			nl = true
			l.pos++
		case c <= ' ' || c == '\\' && l.at(l.pos+1) == '\n':
			l.pos++
		case c == '/' && l.at(l.pos+1) == '/', c == '#' && l.lex.hash && !(l.lex.hashAttr && l.at(l.pos+1) == '['):
			l.comment()
		case c == '/' && l.at(l.pos+1) == '*':
			from := l.pos
			l.block()
			nl = nl || bytes.IndexByte(l.src[from:l.pos], '\n') >= 0
		case c == '#' && l.lex.directives && nl:
			l.directive()
		case c == '?' && l.lex.tags && l.at(l.pos+1) == '>':
			l.html()
		default:
			return nl
		}
	}
	return nl
}

// comment skips to the end of the line, or of the code.
func (l *lexer) comment() {
	line := l.line(l.pos)
	if i := bytes.Index(line, []byte("?>")); l.lex.tags && i >= 0 {
		line = line[:i]
	}
	l.pos += len(line)
}

// line returns what follows up to the end of the line.
func (l *lexer) line(from int) []byte {
	if i := bytes.IndexByte(l.src[from:], '\n'); i >= 0 {
		return l.src[from : from+i]
	}
	return l.src[from:]
}

func (l *lexer) block() {
	depth := 0
	for i := l.pos; i < len(l.src); i++ {
		switch {
		case l.src[i] == '/' && l.at(i+1) == '*' && (depth == 0 || l.lex.nested):
			depth++
			i++
		case l.src[i] == '*' && l.at(i+1) == '/':
			depth--
			i++
			if depth == 0 {
				l.pos = i + 1
				return
			}
		}
	}
	l.pos = len(l.src)
}

// html skips what is no code.
func (l *lexer) html() {
	i := bytes.Index(l.src[l.pos:], []byte("<?"))
	if i < 0 {
		l.pos = len(l.src)
		return
	}
	l.pos += i + 2
	l.pos += len("php") * btoi(bytes.HasPrefix(l.src[l.pos:], []byte("php")))
	l.pos += btoi(l.at(l.pos) == '=')
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// directive skips a line of the preprocessor. Of several branches only the first is read, so that brackets that stand in
// each of them count once; what "#if 0" hides is skipped.
func (l *lexer) directive() {
	name, rest := l.command()
	switch name {
	case "else", "elif", "elifdef", "elifndef":
		l.skipBranch(true)
	case "if":
		if bytes.Equal(bytes.TrimSpace(rest), []byte("0")) {
			l.skipBranch(false)
		}
	}
}

// command reads a directive with its continued lines and goes behind it.
func (l *lexer) command() (name string, rest []byte) {
	from := l.pos + 1
	for l.pos < len(l.src) {
		line := l.line(l.pos)
		l.pos += len(line)
		if len(bytes.TrimRight(line, "\r")) == 0 || bytes.TrimRight(line, "\r")[len(bytes.TrimRight(line, "\r"))-1] != '\\' {
			break
		}
		l.pos += btoi(l.pos < len(l.src))
	}
	text := bytes.TrimLeft(l.src[from:l.pos], " \t")
	n := 0
	for n < len(text) && isWord(text[n]) {
		n++
	}
	return string(text[:n]), text[n:]
}

// skipBranch goes to the end of a conditional, or to its next branch.
func (l *lexer) skipBranch(toEnd bool) {
	for depth := 0; l.pos < len(l.src); {
		l.pos += btoi(l.at(l.pos) == '\n')
		line := l.line(l.pos)
		trimmed := bytes.TrimLeft(line, " \t")
		if len(trimmed) == 0 || trimmed[0] != '#' {
			l.pos += len(line)
			continue
		}
		l.pos += len(line) - len(trimmed)
		switch name, _ := l.command(); name {
		case "if", "ifdef", "ifndef":
			depth++
		case "endif":
			if depth == 0 {
				return
			}
			depth--
		case "else", "elif":
			if depth == 0 && !toEnd {
				return
			}
		}
	}
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

// one reads one token that begins at pos.
func (l *lexer) one() tokKind {
	c := l.src[l.pos]
	switch {
	case c == 'R' && l.lex.rawParen && l.at(l.pos+1) == '"', c == 'r' && l.lex.rawHash && (l.at(l.pos+1) == '"' || l.at(l.pos+1) == '#' && (l.at(l.pos+2) == '"' || l.at(l.pos+2) == '#')):
		if l.raw() {
			return quoted
		}
	case c >= '0' && c <= '9':
		l.number()
		return number
	case c == '@' && l.lex.verbatim && l.at(l.pos+1) == '"', c == '$' && l.lex.verbatim && (l.at(l.pos+1) == '"' || l.at(l.pos+1) == '@'):
		l.verbatim()
		return quoted
	case c == '"', c == '\'' && l.lex.single:
		l.str(c)
		return quoted
	case c == '\'' && l.lex.char:
		return l.char()
	case c == '`' && l.lex.backtick:
		l.template()
		return quoted
	case c == '`' && l.lex.quotedName:
		if i := bytes.IndexAny(l.src[l.pos+1:], "`\n"); i >= 0 && l.src[l.pos+1+i] == '`' {
			l.pos += i + 2
			return word
		}
	case c == '/' && l.lex.regex && l.valueMayStand():
		if l.regex() {
			return quoted
		}
	case c == '<' && l.lex.heredoc && bytes.HasPrefix(l.src[l.pos:], []byte("<<<")):
		if l.here() {
			return quoted
		}
	}
	if isWord(c) || c == '$' && l.lex.dollarName {
		for l.pos++; l.pos < len(l.src) && (isWord(l.src[l.pos]) || l.src[l.pos] == '$' && l.lex.dollarName); l.pos++ {
		}
		return word
	}
	l.operator(c)
	return punct
}

// operator reads one character, or two that mean something together.
func (l *lexer) operator(c byte) {
	d := l.at(l.pos + 1)
	l.pos++
	switch {
	case c == '=' && (d == '=' || d == '>' || d == '~'), c == '-' && d == '>', c == ':' && d == ':',
		d == '=' && bytes.IndexByte([]byte("!<>+-*/%&|^?"), c) >= 0 && (c != '>' && c != '<' || l.prev.kind != word):
		l.pos++
	}
}

func (l *lexer) number() {
	for l.pos++; l.pos < len(l.src); l.pos++ {
		c := l.src[l.pos]
		if !isWord(c) && !(c == '.' && l.at(l.pos+1) != '.') && !(c == '\'' && l.lex.char && isWord(l.at(l.pos+1))) {
			return
		}
	}
}

// str reads a string with escapes.
func (l *lexer) str(q byte) {
	if (l.lex.triple && q == '"' || l.lex.tripleOne) && l.at(l.pos+1) == q && l.at(l.pos+2) == q {
		l.long(q)
		return
	}
	from := l.pos
	for l.pos++; l.pos < len(l.src); l.pos++ {
		switch c := l.src[l.pos]; {
		case c == '\\' && l.lex.slashParen && l.at(l.pos+1) == '(':
			l.pos++
			l.code(')')
			l.pos--
		case c == '\\':
			l.pos++
		case c == '$' && l.lex.dollar && l.at(l.pos+1) == '{':
			l.pos++
			l.code('}')
			l.pos--
		case c == q:
			l.pos++
			return
		case c == '\n' && !l.lex.tags: // strings of PHP may span lines
			l.pos = from + 1
			return // an apostrophe, or a string that is being written
		}
	}
	l.pos = min(l.pos, len(l.src))
}

// long reads """…""".
func (l *lexer) long(q byte) {
	fence := []byte{q, q, q}
	for l.pos += 3; l.pos < len(l.src); l.pos++ {
		switch {
		case l.src[l.pos] == '\\':
			l.pos++
		case bytes.HasPrefix(l.src[l.pos:], fence):
			l.pos += 3
			return
		}
	}
	l.pos = len(l.src)
}

// code skips code inside a string, from its opening bracket to behind the closing one.
func (l *lexer) code(closing byte) {
	if l.deep == maxDepth {
		l.pos++
		return
	}
	l.deep++
	defer func() { l.deep-- }()
	for depth := 0; l.pos < len(l.src); {
		switch c := l.src[l.pos]; c {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth--
			if depth == 0 {
				l.pos++
				return
			}
		case '"', '`', '\'':
			switch {
			case c == '`' && l.lex.backtick:
				l.template()
			case c == '"' || c == '\'' && l.lex.single:
				l.str(c)
			default:
				l.pos++
			}
			continue
		case '\n':
			if closing == ')' || l.lex.dollar {
				return
			}
		}
		l.pos++
	}
}

// char reads 'x', or only the quote where it begins a lifetime or label.
func (l *lexer) char() tokKind {
	i := l.pos + 1
	if l.at(i) == '\\' {
		for i++; i < len(l.src) && i < l.pos+16 && l.src[i] != '\n'; i++ {
			if l.src[i] == '\'' && i > l.pos+2 {
				l.pos = i + 1
				return quoted
			}
		}
		l.pos++
		return punct
	}
	for ; i < len(l.src) && i <= l.pos+5 && l.src[i] != '\n'; i++ {
		if l.src[i] == '\'' {
			if i == l.pos+1 {
				break
			}
			l.pos = i + 1
			return quoted
		}
		if i > l.pos+1 && l.src[l.pos+1] < 0x80 { // one character, or the bytes of one
			break
		}
	}
	l.pos++
	return punct
}

func (l *lexer) template() {
	for l.pos++; l.pos < len(l.src); l.pos++ {
		switch {
		case l.src[l.pos] == '\\':
			l.pos++
		case l.src[l.pos] == '`':
			l.pos++
			return
		case l.src[l.pos] == '$' && l.at(l.pos+1) == '{':
			l.pos++
			l.code('}')
			l.pos--
		}
	}
	l.pos = min(l.pos, len(l.src))
}

// verbatim reads @"…" and $"…" of C#.
func (l *lexer) verbatim() {
	at := false
	for ; l.at(l.pos) == '@' || l.at(l.pos) == '$'; l.pos++ {
		at = at || l.src[l.pos] == '@'
	}
	if l.at(l.pos) != '"' {
		return
	}
	if !at {
		l.str('"')
		return
	}
	for l.pos++; l.pos < len(l.src); l.pos++ {
		if l.src[l.pos] == '"' {
			if l.at(l.pos+1) != '"' {
				l.pos++
				return
			}
			l.pos++
		}
	}
}

// raw reads r#"…"# and R"x(…)x", and reports whether there was one.
func (l *lexer) raw() bool {
	i := l.pos + 1
	for l.at(i) == '#' {
		i++
	}
	if l.at(i) != '"' {
		return false // r#name
	}
	closing := append([]byte{'"'}, bytes.Repeat([]byte{'#'}, i-l.pos-1)...)
	if l.src[l.pos] == 'R' {
		n := bytes.IndexByte(l.src[i:min(i+18, len(l.src))], '(')
		if n < 0 {
			return false
		}
		closing = append(append([]byte{')'}, l.src[i+1:i+n]...), '"')
	}
	if n := bytes.Index(l.src[i+1:], closing); n >= 0 {
		l.pos = i + 1 + n + len(closing)
	} else {
		l.pos = len(l.src)
	}
	return true
}

// valueMayStand reports whether a slash begins a regular expression here.
func (l *lexer) valueMayStand() bool {
	switch p := l.prev; p.kind {
	case number, quoted, group:
		return false
	case word:
		switch l.text(p) {
		case "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "instanceof", "await", "yield", "else":
			return true
		}
		return false
	case punct:
		c := l.src[p.end-1]
		return c != ')' && c != ']' && c != '}'
	}
	return true
}

func (l *lexer) regex() bool {
	class := false
	for i := l.pos + 1; i < len(l.src) && l.src[i] != '\n'; i++ {
		switch c := l.src[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			for i++; i < len(l.src) && isWord(l.src[i]); i++ {
			}
			l.pos = i
			return true
		}
	}
	return false
}

// here reads <<<NAME … NAME of PHP.
func (l *lexer) here() bool {
	line := l.line(l.pos)
	name := bytes.Trim(bytes.TrimSpace(line[3:]), `'"`)
	if len(name) == 0 || bytes.IndexFunc(name, func(r rune) bool { return r < 0x80 && !isWord(byte(r)) }) >= 0 {
		return false
	}
	l.pos += len(line)
	for l.pos < len(l.src) {
		l.pos++
		line := l.line(min(l.pos, len(l.src)))
		if trimmed := bytes.TrimLeft(line, " \t"); bytes.HasPrefix(trimmed, name) && (len(trimmed) == len(name) || !isWord(trimmed[len(name)])) {
			l.pos += len(line) - len(trimmed) + len(name)
			return true
		}
		l.pos += len(line)
	}
	l.pos = min(l.pos, len(l.src))
	return true
}

// skip reads up to the bracket that closes the one that was just read, whatever its kind, and returns where it ends.
func (l *lexer) skip() int {
	for depth := 1; ; {
		t := l.next()
		switch {
		case t.kind == eof:
			return t.end
		case t.kind != punct:
			continue
		}
		switch l.src[t.start] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return t.end
			}
		}
	}
}
