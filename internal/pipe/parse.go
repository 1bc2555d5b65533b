package pipe

import (
	"fmt"
	"strings"
)

// Segment is one step of a statement as it is written.
type Segment struct {
	Verb     string // the words as written, joined by one blank
	Pos, End Pos
	Args     []Arg
	folds    bool // Verb is one of the language
}

// Arg is one argument as it is written.
type Arg struct {
	Name  string
	Pos   Pos
	Items []Token // at least one
	given []item
	list  bool // of structured operations: it was an array
}

type parser struct {
	lang *Language
	src  string
	toks []Token
	at   int
}

// Syntax reads a statement into its segments. Whether verbs and arguments exist is not asked, except that the words of a
// verb are as many as make one.
// Errors: *Error with code Syntax.
func (l *Language) Syntax(src string) ([]Segment, error) {
	toks, err := Tokens(src)
	if err != nil {
		return nil, err
	}
	p := &parser{lang: l, src: src, toks: toks}
	if p.tok().Kind == EOF {
		e := p.fail(p.tok().Pos, "the statement is empty.")
		e.Use = "extract text"
		return nil, e
	}
	var out []Segment
	for {
		s, err := p.segment()
		if err != nil {
			return nil, err
		}
		out = append(out, s)
		if len(out) > MaxSteps {
			return nil, p.fail(s.Pos, "the statement has more than %d steps.", MaxSteps)
		}
		switch t := p.tok(); t.Kind {
		case EOF:
			return out, nil
		case Bar:
			p.at++
			if n := p.tok(); n.Kind == EOF {
				return nil, p.fail(t.Pos, `nothing follows the last "|".`)
			}
		}
	}
}

func (p *parser) tok() Token { return p.toks[p.at] }

func (p *parser) peek() Kind {
	if p.at+1 < len(p.toks) {
		return p.toks[p.at+1].Kind
	}
	return EOF
}

func (p *parser) fail(at Pos, format string, args ...any) *Error {
	return (&lexer{src: p.src}).fail(at, format, args...)
}

func (p *parser) written(t Token) string {
	if t.Kind == EOF {
		return "the end"
	}
	return quoted(p.src[t.Pos.Offset:t.End])
}

func (p *parser) segment() (Segment, error) {
	t := p.tok()
	if t.Kind != Ident {
		return Segment{}, p.fail(t.Pos, "a step begins with a verb, not with %s.", p.written(t))
	}
	if p.peek() == Equals {
		return Segment{}, p.fail(t.Pos, "%s is an argument; a step begins with its verb.", p.written(t))
	}
	s := Segment{Pos: t.Pos}
	p.verb(&s)
	for {
		t := p.tok()
		s.End = t.Pos
		switch {
		case t.Kind == EOF || t.Kind == Bar:
			return s, nil
		case t.Kind == Ident && p.peek() == Equals:
			a, err := p.arg()
			if err != nil {
				return s, err
			}
			for i := range s.Args {
				if s.Args[i].Name == a.Name {
					return s, p.fail(a.Pos, "%s stands twice in this step. Write a list as one value: %s=one,two.", a.Name, a.Name)
				}
			}
			s.Args = append(s.Args, a)
		default:
			return s, p.nameless(&s, t)
		}
	}
}

// verb takes up to three words, as many as make a verb; all of them, if none do.
func (p *parser) verb(s *Segment) {
	var words []string
	for n := 0; n < 3; n++ {
		i := p.at + n
		if p.toks[i].Kind != Ident || p.toks[i+1].Kind == Equals {
			break
		}
		words = append(words, p.toks[i].Text)
	}
	take := len(words)
	for n := len(words); n > 0; n-- {
		if _, ok := p.lang.Verb(strings.Join(words[:n], " ")); ok {
			take, s.folds = n, true
			break
		}
	}
	p.at += take
	s.Verb = strings.Join(words[:take], " ")
}

// nameless refuses a value without a name, and shows where it may belong.
func (p *parser) nameless(s *Segment, t Token) error {
	e := p.fail(t.Pos, "%s has no name. Every argument is name=value.", p.written(t))
	v, ok := p.lang.Verb(s.Verb)
	if !ok || t.Kind == Equals || t.Kind == Comma {
		e.Message = fmt.Sprintf("%s is out of place. Every argument is name=value.", p.written(t))
		if ok {
			e.Use = p.lang.Example(v)
		}
		return e
	}
	have := map[string]bool{}
	for i := range s.Args {
		have[s.Args[i].Name] = true
	}
	from := p.src[s.Pos.Offset:t.Pos.Offset]
	for i := range v.Params {
		a := &v.Params[i]
		if have[a.Name] || a.Common {
			continue
		}
		if _, err := p.lang.Parse(from+a.Name+"="+p.src[t.Pos.Offset:t.End], nil); err == nil {
			e.Use = strings.Join(strings.Fields(from), " ") + " " + a.Name + "=" + p.src[t.Pos.Offset:t.End]
			return e
		}
	}
	if len(v.own()) == 0 {
		e.Message = fmt.Sprintf("%s takes no arguments, so %s is out of place.", spoken(v.ID), p.written(t))
	}
	e.Use = p.lang.Example(v)
	return e
}

func (p *parser) arg() (Arg, error) {
	a := Arg{Name: p.tok().Text, Pos: p.tok().Pos}
	p.at += 2
	for {
		t := p.tok()
		switch t.Kind {
		case EOF, Bar, Equals, Comma:
			e := p.fail(t.Pos, "%s has no value before %s.", a.Name, p.written(t))
			if n := p.hash(t.Pos.Offset); t.Kind == EOF && n >= 0 {
				e.Message = fmt.Sprintf(`%s has no value, because "#" begins a comment. Quote a value that holds it: %s="#…".`, a.Name, a.Name)
			}
			return a, e
		case Ident:
			if p.peek() == Equals {
				return a, p.fail(t.Pos, "%s has no value before %s.", a.Name, p.written(t))
			}
		}
		a.Items = append(a.Items, t)
		if len(a.Items) > MaxItems {
			return a, p.fail(t.Pos, "%s has more than %d values.", a.Name, MaxItems)
		}
		p.at++
		if p.tok().Kind != Comma {
			return a, nil
		}
		p.at++
	}
}

// hash returns where a comment begins before the offset on the last line, or -1.
func (p *parser) hash(end int) int {
	return strings.IndexByte(p.src[p.toks[max(0, p.at-1)].End:end], '#')
}
