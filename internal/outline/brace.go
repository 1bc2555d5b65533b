package outline

import (
	"bytes"
	"strings"
)

// A file of a brace language is a sequence of headers, each ended by a body in braces, by ";" or, where the language
// has no semicolons, by its line. What a header declares is decided from its words alone: the word that introduces a
// type (class, struct, …) or a function (fn, function, …), or, in languages of C's family, a name before a parenthesis
// with a type before it. Bodies of types are read in the same way, bodies of functions are skipped.

// grammar is what the reader of headers has to know of a language.
type grammar struct {
	lexis
	kinds     map[string]Kind // words that introduce a type
	funcs     string          // words that introduce a function, between blanks
	modifiers string          // words that say nothing about what is declared
	values    map[string]Kind // words that introduce a constant or variable
	control   string          // words that look like functions and are none
	attrs     string          // names that take parentheses before the parameters
	opaque    string          // types whose bodies hold no functions
	cLike     bool            // functions are a name before a parenthesis, behind a type
	bare      bool            // methods need no type before their name
	lineEnds  bool            // a line may end a header
	generics  bool            // <…> are parameters
	cTypes    bool            // "struct x f(…) {" is a function
	preproc   bool            // #define
	arrows    bool            // const f = (…) => …
	props     bool            // T Name { get; }
	aliases   string          // words that introduce another name of a type
	outer     bool            // C's variables with a value are of interest at file level
}

func has(list, w string) bool { return w != "" && strings.Contains(list, " "+w+" ") }

// reader reads one file.
type reader struct {
	lexer
	g     *grammar
	lines lineIndex
	out   []Symbol
	h     []tok
	depth int // of scopes
}

// Bounds of what is read: how deep scopes are entered, and of how many tokens a header is made.
const (
	maxDepth  = 64
	maxHeader = 1024
)

func readBraces(g *grammar) func([]byte) []Symbol {
	return func(src []byte) []Symbol {
		r := &reader{lexer: lexer{src: src, lex: &g.lexis}, g: g, lines: lineIndex{src: src}}
		if g.tags {
			r.html()
		}
		for r.pos < len(src) || r.back != nil {
			r.scope(scope{}) // again after a brace too many
		}
		if g.preproc {
			r.out = append(r.out, readMacros(src)...)
		}
		return r.out
	}
}

// scope is where headers are read.
type scope struct {
	in    string // container of what is declared
	name  string // of the type
	kind  Kind   // of the type; "" at file level and in namespaces
	depth int
}

// ending is what ended a header.
type ending uint8

const (
	endFile ending = iota
	endSemi
	endLine
	endBody  // "{"
	endScope // "}"
)

func (r *reader) scope(s scope) (end int) {
	r.depth++
	defer func() { r.depth-- }()
	for {
		e, at := r.header(s)
		switch {
		case e == endBody && r.depth < maxDepth:
			r.body(s)
		case e == endBody:
			r.skip()
		default:
			if len(r.h) > 0 {
				r.declare(s, at)
			}
		}
		if e == endFile || e == endScope {
			return at
		}
	}
}

// header collects the tokens of a header in r.h; at is where its last token ends, or the "}" of a scope.
func (r *reader) header(s scope) (e ending, at int) {
	r.h = r.h[:0]
	angle, value, operator := 0, false, false
	for {
		if len(r.h) == maxHeader { // data, not a declaration
			r.h = append(r.h[:maxHeader/2], r.h[maxHeader-1])
		}
		t := r.next()
		switch {
		case t.kind == eof:
			return endFile, t.end
		case t.nl && len(r.h) > 0 && r.g.lineEnds && angle == 0 && r.lineEnds(t):
			r.unread(t)
			return endLine, r.h[len(r.h)-1].end
		case t.kind != punct:
			if t.nl && t.kind == word && r.g.preproc && r.onlyMacros() {
				r.h = r.h[:0]
			}
			r.h = append(r.h, t)
			operator = operator || r.is(t, "operator")
			if r.g.generics && r.is(t, "template") {
				r.angles()
			}
			continue
		}
		switch c := r.src[t.start]; {
		case c == ';':
			return endSemi, t.end
		case c == '}':
			return endScope, t.end
		case c == '{' && (value || angle > 0 || r.initialises()):
			r.group(t)
		case c == '{':
			return endBody, t.end
		case c == '(' && len(r.h) == 0 && r.g.arrows && s.kind == "":
			// a function that is called at once: what it holds belongs to the file
		case c == '(' || c == '[':
			if c == '[' && len(r.h) == 0 && r.g.props { // an attribute
				r.skip()
				continue
			}
			r.group(t)
		case c == '@' && !r.g.verbatim:
			r.annotation()
		case c == '#' && r.g.hashAttr:
			r.attribute()
		case c == ')' || c == ']' || c == ',' && len(r.h) == 0:
		case c == ':' && r.g.cTypes && r.g.generics && len(r.h) == 1 && t.end-t.start == 1: // public:
			r.h = r.h[:0]
		default:
			if r.is(t, "=") && angle == 0 && !operator || r.is(t, "=>") && angle == 0 && !r.g.arrows {
				value = true
			}
			if r.g.generics && !value && !operator {
				angle = max(angle+btoi(c == '<' && t.end-t.start == 1)-btoi(c == '>' && t.end-t.start == 1), 0)
			}
			r.h = append(r.h, t)
		}
	}
}

// onlyMacros reports whether all of the header are macros that stand alone on their lines: NAME or NAME(…).
func (r *reader) onlyMacros() bool {
	for i, t := range r.h {
		w := r.text(t)
		if !(t.kind == word && w == strings.ToUpper(w)) && !(t.kind == group && t.open == '(' && i > 0 && r.h[i-1].kind == word) {
			return false
		}
	}
	return len(r.h) > 0
}

// group makes one token of what is in brackets.
func (r *reader) group(t tok) {
	open := r.src[t.start]
	t.kind, t.open, t.end = group, open, r.skip()
	r.prev = t
	r.h = append(r.h, t)
}

// angles skips the parameters of a template.
func (r *reader) angles() {
	t := r.next()
	if !r.is(t, "<") {
		r.unread(t)
		return
	}
	for depth := 1; depth > 0; {
		switch t := r.next(); {
		case t.kind == eof, r.is(t, ";"), r.is(t, "{"):
			r.unread(t)
			return
		case r.is(t, "<"):
			depth++
		case r.is(t, ">"):
			depth--
		case r.is(t, "("):
			r.skip()
		}
	}
}

// annotation skips @name and @name(…). @interface declares one.
func (r *reader) annotation() {
	t := r.next()
	if t.kind != word {
		r.unread(t)
		return
	}
	if r.is(t, "interface") {
		r.h = append(r.h, t)
		return
	}
	for {
		t = r.next()
		switch {
		case r.is(t, ".") || r.is(t, ":"):
			r.next()
		case r.is(t, "(") && !t.nl:
			r.skip()
			return
		default:
			r.unread(t)
			return
		}
	}
}

// attribute skips #[…] and #![…].
func (r *reader) attribute() {
	t := r.next()
	if r.is(t, "!") {
		t = r.next()
	}
	if r.is(t, "[") {
		r.skip()
		return
	}
	r.unread(t)
}

// lineEnds reports whether a header ends before t, which begins a line.
func (r *reader) lineEnds(t tok) bool {
	last := r.h[len(r.h)-1]
	if last.kind == punct {
		return r.is(last, "!") || r.is(last, ">")
	}
	if last.kind == word && has(" extends implements return const let var export default async static new of in typeof function class interface enum type declare abstract import from where ", r.text(last)) {
		return false
	}
	switch t.kind {
	case punct:
		switch r.src[t.start] {
		case '@', '#', '}', '(', '[', '*':
			return !(r.src[t.start] == '(' && last.kind == word && len(r.h) == 1)
		}
		return false
	case word:
		if r.hasWord("class") && bytes.Contains(r.line(t.start), []byte("constructor")) { // of Kotlin, on a line of its own
			return false
		}
		return !has(" extends implements where with throws else catch finally instanceof in of as is ", r.text(t))
	}
	return true
}

// initialises reports whether a "{" behind the header begins a value and no body.
func (r *reader) initialises() bool {
	if len(r.h) == 0 {
		return false
	}
	last, first := r.h[len(r.h)-1], r.text(r.h[0])
	switch {
	case first == "use" || first == "import" || first == "using" || r.is(last, "return"):
		return true
	case first == "export" && len(r.h) == 1, first == "export" && r.is(last, "default") || r.is(last, "=>") && r.g.arrows:
		return true
	case r.is(last, "operator"):
		return false
	case r.g.cTypes && r.g.generics && last.kind == word: // a member in braces of a constructor's list
		for i := len(r.h) - 2; i > 0; i-- {
			if r.h[i].kind == group && r.h[i].open == '(' && r.is(r.h[min(i+1, len(r.h)-1)], ":") {
				return true
			}
		}
	case r.g.arrows && r.is(last, ":"): // a type of an object
		return true
	}
	return false
}

func (r *reader) hasWord(w string) bool {
	for _, t := range r.h {
		if r.is(t, w) {
			return true
		}
	}
	return false
}

// add adds a symbol that spans from the header's first token to end.
func (r *reader) add(s scope, name string, kind Kind, textEnd, end int) *Symbol {
	from := r.h[0].start
	line := r.lines.of(from)
	sym := Symbol{Name: name, Kind: kind, Container: s.in, Depth: s.depth, Line: line, End: line, Text: r.headText(textEnd)}
	if end > from {
		sym.End = r.lines.of(end - 1)
	}
	r.out = append(r.out, sym)
	return &r.out[len(r.out)-1]
}

// headText returns the text of the header up to an offset, without the comments and directives in it.
func (r *reader) headText(end int) string {
	var b []byte
	at := r.h[0].start
	for _, t := range r.h {
		if t.start >= end {
			break
		}
		gap := r.src[at:t.start]
		if bytes.Contains(gap, []byte("//")) || bytes.Contains(gap, []byte("/*")) || bytes.IndexByte(gap, '#') >= 0 {
			gap = []byte{' '}
		}
		b = append(append(b, gap...), r.src[t.start:t.end]...)
		at = t.end
	}
	return oneLine(b)
}

// below returns the scope inside a symbol.
func (s scope) below(name string, kind Kind) scope {
	return scope{in: join(s.in, name), name: name, kind: kind, depth: s.depth + 1}
}

// body takes a header that a "{" follows, and what is in the braces.
func (r *reader) body(s scope) {
	if len(r.h) == 0 {
		r.skip()
		return
	}
	textEnd := r.h[len(r.h)-1].end
	if name, kind, ok := r.typeOf(s); ok {
		i := len(r.out)
		if name == "" && (kind == Namespace || kind == Object) {
			r.scope(s)
			return
		}
		if name == "" {
			r.anonymous(s)
			return
		}
		r.add(s, name, kind, textEnd, 0)
		end := 0
		if has(r.g.opaque, string(kind)) {
			end = r.skip()
		} else {
			inner := s.below(name, kind)
			if kind == Namespace || kind == Module {
				inner.kind = ""
			}
			end = r.scope(inner)
		}
		r.out[i].End = r.lines.of(max(end-1, 0))
		return
	}
	name, kind, in, ok := r.funcOf(s, true)
	if !ok {
		r.other(s)
		return
	}
	i := len(r.out)
	s.in = join(s.in, in)
	r.add(s, name, kind, textEnd, 0)
	end := r.skip()
	if r.g.arrows { // the first braces were the type of the result
		if t := r.next(); r.is(t, "{") && !t.nl {
			end = r.skip()
		} else {
			r.unread(t)
		}
	}
	r.out[i].End = r.lines.of(max(end-1, 0))
}

// other enters or skips a body that belongs to no symbol.
func (r *reader) other(s scope) {
	first, last := r.h[0], r.h[len(r.h)-1]
	switch {
	case r.is(first, "extern") && last.kind == quoted, r.is(first, "unsafe") && r.hasWord("extern"),
		r.g.arrows && s.kind == "" && (has(r.g.funcs, r.text(first)) || r.is(first, "async")):
		r.scope(s)
	case r.g.props && s.kind != "" && s.kind != Enum && last.kind == word && len(r.h) >= 2 && r.h[len(r.h)-2].kind != punct:
		i, textEnd := len(r.out), last.end
		r.add(s, r.text(last), Property, textEnd, 0)
		r.out[i].End = r.lines.of(max(r.skip()-1, 0))
	default:
		r.skip()
	}
}

// anonymous takes the body of a type without a name: that of a typedef stands behind it.
func (r *reader) anonymous(s scope) {
	h := append([]tok(nil), r.h...)
	end := r.skip()
	var name tok
	for {
		t := r.next()
		if t.kind == word {
			name = t
		}
		if t.kind == eof || r.is(t, ";") || r.is(t, ",") || r.is(t, "=") || r.is(t, "{") || r.is(t, "}") {
			if !r.is(t, ";") {
				r.unread(t)
			}
			end = max(end, t.start)
			break
		}
	}
	r.h = append(r.h[:0], h...)
	if r.is(h[0], "typedef") && name.kind == word {
		r.add(s, r.text(name), r.g.kinds[r.text(h[min(1, len(h)-1)])], h[len(h)-1].end, end)
	}
}
