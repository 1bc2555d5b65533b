package command

import "strings"

// checkSed reads the scripts of sed.
func checkSed(args []string, d *decoding) string {
	found := false
	for _, o := range d.options {
		switch o.name {
		case "e", "expression":
			found = true
			if why := sedScript(o.value); why != "" {
				return why
			}
		case "l", "line-length":
			// BSD's -l has no value: the script must not hide there.
			if strings.Trim(o.value, "0123456789") != "" {
				return "a line length that is no number"
			}
		}
	}
	if found {
		return ""
	}
	if len(d.operands) == 0 {
		return "no script"
	}
	return sedScript(args[d.operands[0]])
}

// sedScript reads one script by a grammar in which no command can write a file or run a program. Everything else is
// refused: a, b, c, e, i, r, t, v, w, D, F, R, W, labels, comments, and an address with a delimiter of its own. b, t and D may
// go round for ever. A script must be whole in itself, because sed joins the scripts of several -e with newlines.
func sedScript(s string) string {
	p := &sedParser{s: s}
	for {
		p.skip(" \t\n;")
		if p.i >= len(p.s) {
			return ""
		}
		if why := p.command(); why != "" {
			return "script: " + why
		}
	}
}

type sedParser struct {
	s string
	i int
}

func (p *sedParser) skip(set string) {
	for p.i < len(p.s) && strings.IndexByte(set, p.s[p.i]) >= 0 {
		p.i++
	}
}

func (p *sedParser) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

// command reads addresses and one command.
func (p *sedParser) command() string {
	if !p.address() {
		return "an address that is not read here"
	}
	p.skip(" \t")
	if p.peek() == ',' {
		p.i++
		p.skip(" \t")
		if !p.address() {
			return "an address that is not read here"
		}
	}
	p.skip(" \t!")
	c := p.peek()
	p.i++
	switch c {
	case 0:
		return "no command"
	case '{', '}':
		return ""
	case 'p', 'P', '=', 'd', 'n', 'N', 'h', 'H', 'g', 'G', 'x', 'z':
	case 'q', 'Q', 'l':
		p.skip(" \t")
		p.skip("0123456789")
	case 's':
		if why := p.substitute(); why != "" {
			return why
		}
	case 'y':
		d, ok := p.delimiter()
		if !ok || !p.until(d, false) || !p.until(d, false) {
			return "y"
		}
	default:
		return "command " + string(rune(c))
	}
	p.skip(" \t")
	if end := p.peek(); end != 0 && strings.IndexByte("\n;}", end) < 0 {
		return "text behind the command " + string(rune(c))
	}
	return ""
}

// address reads a line number, "$", a step, an offset or a regular expression, or nothing.
func (p *sedParser) address() bool {
	const digits = "0123456789"
	switch c := p.peek(); {
	case c >= '0' && c <= '9':
		p.skip(digits + "~")
	case c == '$':
		p.i++
	case c == '+' || c == '~':
		p.i++
		p.skip(digits)
	case c == '/':
		p.i++
		if !p.until('/', true) {
			return false
		}
		p.skip("IM")
	}
	return true
}

// delimiter reads the character that separates the parts of s and y.
func (p *sedParser) delimiter() (byte, bool) {
	d := p.peek()
	p.i++
	return d, d != 0 && d != '\\' && d != '\n' && d < 0x80
}

func (p *sedParser) substitute() string {
	d, ok := p.delimiter()
	if !ok || !p.until(d, true) || !p.until(d, false) {
		return "s"
	}
	for strings.IndexByte("gpiImM0123456789", p.peek()) >= 0 && p.peek() != 0 {
		p.i++
	}
	if c := p.peek(); c != 0 && strings.IndexByte(" \t\n;}", c) < 0 {
		return "flag " + string(rune(c)) + " of s"
	}
	return ""
}

// until reads to behind the next delimiter. GNU's sed ends a regular expression at the first one that has no backslash,
// BSD's not within brackets; where the two differ, the script is refused.
func (p *sedParser) until(d byte, regex bool) bool {
	bracket := false
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == '\\':
			p.i++
			if p.i < len(p.s) && p.s[p.i] == '\n' && regex {
				return false
			}
		case c == d:
			p.i++
			return !bracket
		case c == '\n' && regex:
			return false
		case c == '[' && regex:
			bracket = true
		case c == ']' && regex:
			bracket = false
		}
		p.i++
	}
	return false
}
