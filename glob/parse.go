package glob

import (
	"strings"
	"unicode/utf8"
)

// dialect says how a pattern is read.
type dialect struct {
	fold      bool
	cross     bool // wildcards match "/"
	noEscape  bool
	noBraces  bool
	git       bool // bytes instead of runes, empty ranges allowed
	ignore    bool // rules of ignore files: "/" anchors, no "/" means any depth, trailing "/" means directory
	topOfTree bool // a trailing "/**" matches the directory itself
}

const (
	maxPattern = 64 << 10 // bytes; longer patterns are mistakes, and offsets stay small
	maxDepth   = 32       // nested braces
	maxAlts    = 1024     // alternatives after braces are multiplied out
	maxTokens  = 1 << 17  // tokens of all of them together
)

type tokKind uint8

const (
	tLit   tokKind = iota // text
	tAny                  // "?"
	tStar                 // run of n stars
	tSlash                // "/"
	tClass                // "[…]"
	tAlt                  // "{…}", removed by expand
)

type tok struct {
	kind  tokKind
	n     int
	text  string
	class *class
	alts  [][]tok
}

type parser struct {
	dialect
	s   string
	pos int
}

func (p *parser) fail(at int, reason string) error { return &Error{p.s, at, reason} }

// parse reads a pattern into tokens.
func (d dialect) parse(s string) ([]tok, error) {
	p := &parser{dialect: d, s: s}
	if len(s) > maxPattern {
		return nil, p.fail(maxPattern, "pattern is longer than 64 KiB")
	}
	return p.seq(0, -1)
}

// seq reads to the end, or inside braces (opened at open) to the "," or "}" that ends the alternative, which it leaves.
func (p *parser) seq(depth, open int) ([]tok, error) {
	var out []tok
	var lit []byte
	flush := func() {
		if len(lit) > 0 {
			out = append(out, tok{kind: tLit, text: string(lit)})
			lit = lit[:0]
		}
	}
	for p.pos < len(p.s) {
		c := p.s[p.pos]
		switch {
		case c == '/':
			flush()
			out = append(out, tok{kind: tSlash})
			p.pos++
		case c == '*':
			flush()
			n := len(p.s[p.pos:]) - len(strings.TrimLeft(p.s[p.pos:], "*"))
			out = append(out, tok{kind: tStar, n: n})
			p.pos += n
		case c == '?':
			flush()
			out = append(out, tok{kind: tAny})
			p.pos++
		case c == '[':
			flush()
			cl, err := p.class()
			if err != nil {
				return nil, err
			}
			out = append(out, tok{kind: tClass, class: cl})
		case c == '\\' && !p.noEscape:
			if p.pos+1 == len(p.s) {
				return nil, p.fail(p.pos, `nothing follows "\"`)
			}
			if p.s[p.pos+1] == '/' {
				p.pos++
				continue
			}
			lit = append(lit, p.s[p.pos+1])
			p.pos += 2
		case c == '{' && !p.noBraces:
			flush()
			t, err := p.braces(depth)
			if err != nil {
				return nil, err
			}
			out = append(out, t)
		case c == '}' && !p.noBraces:
			if open < 0 {
				return nil, p.fail(p.pos, `"}" without "{" (write "\}" for the character)`)
			}
			flush()
			return out, nil
		case c == ',' && open >= 0:
			flush()
			return out, nil
		default:
			lit = append(lit, c)
			p.pos++
		}
	}
	if open >= 0 {
		return nil, p.fail(open, `"{" is not closed`)
	}
	flush()
	return out, nil
}

func (p *parser) braces(depth int) (tok, error) {
	open := p.pos
	if depth == maxDepth {
		return tok{}, p.fail(open, "braces are nested too deeply")
	}
	t := tok{kind: tAlt}
	for {
		p.pos++ // "{" or ","
		alt, err := p.seq(depth+1, open)
		if err != nil {
			return tok{}, err
		}
		t.alts = append(t.alts, alt)
		if p.s[p.pos] == '}' {
			p.pos++
			return t, nil
		}
	}
}

// class reads "[…]". A "]" directly after the opening (or its negation) is a member, as in POSIX and git.
func (p *parser) class() (*class, error) {
	open := p.pos
	c := &class{}
	p.pos++
	if p.pos < len(p.s) && (p.s[p.pos] == '!' || p.s[p.pos] == '^') {
		c.negate = true
		p.pos++
	}
	for first := true; ; first = false {
		if p.pos >= len(p.s) {
			return nil, p.fail(open, `class is not closed with "]"`)
		}
		if p.s[p.pos] == ']' && !first {
			p.pos++
			return c, nil
		}
		if name, ok := p.posix(); ok {
			if !c.addPosix(name) {
				return nil, p.fail(p.pos, "no class has the name \""+name+"\"")
			}
			p.pos += len(name) + 4
			continue
		}
		at := p.pos
		lo, err := p.member(open)
		if err != nil {
			return nil, err
		}
		hi := lo
		if p.pos+1 < len(p.s) && p.s[p.pos] == '-' && p.s[p.pos+1] != ']' {
			p.pos++
			if hi, err = p.member(open); err != nil {
				return nil, err
			}
		}
		if hi < lo && !p.git {
			return nil, p.fail(at, "range is upside down")
		}
		c.add(lo, hi)
	}
}

// posix recognises "[:name:]" inside a class.
func (p *parser) posix() (string, bool) {
	rest, ok := strings.CutPrefix(p.s[p.pos:], "[:")
	if !ok {
		return "", false
	}
	end := strings.IndexByte(rest, ']')
	if end < 1 || rest[end-1] != ':' {
		return "", false
	}
	return rest[:end-1], true
}

// member reads one member of a class: a byte for git, a character otherwise.
func (p *parser) member(open int) (rune, error) {
	if p.s[p.pos] == '\\' && !p.noEscape {
		p.pos++
		if p.pos == len(p.s) {
			return 0, p.fail(open, `class is not closed with "]"`)
		}
	}
	if p.git {
		p.pos++
		return rune(p.s[p.pos-1]), nil
	}
	r, n := utf8.DecodeRuneInString(p.s[p.pos:])
	p.pos += n
	return r, nil
}

// expand multiplies braces out. It gives up above maxAlts or maxTokens.
func expand(toks []tok) ([][]tok, bool) {
	budget := maxTokens
	return expandWithin(toks, &budget)
}

func expandWithin(toks []tok, budget *int) ([][]tok, bool) {
	out := [][]tok{nil}
	for _, t := range toks {
		if t.kind != tAlt {
			for i := range out {
				out[i] = append(out[i], t)
			}
			if *budget -= len(out); *budget < 0 {
				return nil, false
			}
			continue
		}
		var choices [][]tok
		for _, a := range t.alts {
			sub, ok := expandWithin(a, budget)
			if !ok || len(choices)+len(sub) > maxAlts {
				return nil, false
			}
			choices = append(choices, sub...)
		}
		if len(out)*len(choices) > maxAlts {
			return nil, false
		}
		next := make([][]tok, 0, len(out)*len(choices))
		for _, o := range out {
			for _, c := range choices {
				next = append(next, append(o[:len(o):len(o)], c...))
				if *budget -= len(o) + len(c); *budget < 0 {
					return nil, false
				}
			}
		}
		out = next
	}
	return out, true
}
