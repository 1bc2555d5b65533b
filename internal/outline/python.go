package outline

import (
	"bytes"
	"strings"
)

// readPython reads definitions by indentation. Strings and brackets are followed, since lines inside them count for
// nothing.
func readPython(src []byte) []Symbol {
	p := &python{lexer: lexer{src: src, lex: &lexis{hash: true, single: true, triple: true, tripleOne: true}}, lines: lineIndex{src: src}}
	for p.pos < len(src) {
		p.logical()
	}
	p.closeTo(-1)
	return p.out
}

type python struct {
	lexer
	lines lineIndex
	out   []Symbol
	open  []pyBlock
	last  int // end of the last line that was not blank
}

type pyBlock struct {
	indent, symbol int
	class          bool
}

// logical reads one logical line.
func (p *python) logical() {
	line := p.line(p.pos)
	trimmed := bytes.TrimLeft(line, " \t\f\r")
	if len(trimmed) == 0 || trimmed[0] == '#' {
		p.pos = min(p.pos+len(line)+1, len(p.src))
		return
	}
	indent := 0
	for _, c := range line[:len(line)-len(trimmed)] {
		indent += 1 + 7*btoi(c == '\t')
	}
	from := p.pos + len(line) - len(trimmed)
	p.closeTo(indent)
	p.pos = from
	colon := p.finish()
	p.last = p.pos
	p.define(from, colon, indent)
	p.pos = min(p.pos+1, len(p.src))
}

// finish goes to the end of the logical line and returns the position of the colon that ends its header, or of the "="
// of an assignment.
func (p *python) finish() (mark int) {
	mark = -1
	for depth := 0; p.pos < len(p.src); {
		switch c := p.src[p.pos]; c {
		case '\n':
			if depth == 0 {
				return mark
			}
		case '\\':
			p.pos++
		case '#':
			p.pos += len(p.line(p.pos))
			continue
		case '"', '\'':
			p.str(c)
			continue
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth = max(depth-1, 0)
		case ':':
			if depth == 0 && mark < 0 {
				mark = p.pos
			}
		case '=':
			if depth == 0 && mark < 0 {
				mark = p.pos
			}
		}
		p.pos++
	}
	p.pos = min(p.pos, len(p.src))
	return mark
}

// closeTo ends the blocks that a line with the given indentation is not in.
func (p *python) closeTo(indent int) {
	for len(p.open) > 0 && p.open[len(p.open)-1].indent >= indent {
		p.out[p.open[len(p.open)-1].symbol].End = p.lines.of(p.last)
		p.open = p.open[:len(p.open)-1]
	}
}

func (p *python) define(from, mark, indent int) {
	head := p.src[from:p.pos]
	if mark >= 0 {
		head = p.src[from:mark]
	}
	word, rest := splitWord(head)
	if word == "async" {
		word, rest = splitWord(rest)
	}
	s := Symbol{Line: p.lines.of(from), Text: oneLine(head)}
	if n := len(p.open); n > 0 {
		up := p.out[p.open[n-1].symbol]
		s.Container, s.Depth = join(up.Container, up.Name), up.Depth+1
	}
	switch word {
	case "def", "class":
		if mark >= 0 { // the colon may stand behind a "->" or a default
			s.Text = oneLine(p.src[from:p.header(from)])
		}
		s.Name, _ = splitWord(rest)
		s.Kind = Class
		if word == "def" {
			s.Kind = Function
			if n := len(p.open); n > 0 && p.open[n-1].class {
				s.Kind = Method
			}
		}
		if s.Name != "" {
			p.out = append(p.out, s)
			p.open = append(p.open, pyBlock{indent, len(p.out) - 1, word == "class"})
		}
	default:
		if indent > 0 || mark < 0 || word == "" || strings.TrimSpace(string(rest)) != "" || has(" if else try with for while lambda return match case except finally ", word) {
			return
		}
		s.Name, s.Kind, s.End = word, Variable, p.lines.of(p.pos)
		if word == strings.ToUpper(word) && strings.ToLower(word) != word {
			s.Kind = Constant
		}
		s.Text = oneLine(bytes.SplitN(p.src[from:p.pos], []byte("\n"), 2)[0])
		p.out = append(p.out, s)
	}
}

// header returns where the header of a definition ends: before the colon that is outside of brackets and strings.
func (p *python) header(from int) int {
	l := lexer{src: p.src[:p.pos], pos: from, lex: p.lex}
	for {
		switch t := l.next(); {
		case t.kind == eof:
			return p.pos
		case l.is(t, "("), l.is(t, "["), l.is(t, "{"):
			l.skip()
		case l.is(t, ":"):
			return t.start
		}
	}
}

func splitWord(b []byte) (string, []byte) {
	b = bytes.TrimLeft(b, " \t")
	n := 0
	for n < len(b) && isWord(b[n]) {
		n++
	}
	return string(b[:n]), b[n:]
}
