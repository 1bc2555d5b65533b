package git

import (
	"fmt"
	"strings"
)

// parseConfig reads a configuration file of git, as git does but for what it includes. Sections and names are in lower
// case, subsections as they are written. It stops at the first line that git would not take.
func parseConfig(text string) ([]entry, error) {
	p := &configReader{s: strings.TrimPrefix(text, "\xef\xbb\xbf"), line: 1}
	var out []entry
	section := ""
	for {
		p.blank("\n")
		switch c := p.peek(); {
		case c == 0 && p.i >= len(p.s):
			return out, nil
		case c == '#' || c == ';':
			p.comment()
		case c == '[':
			var ok bool
			if section, ok = p.section(); !ok {
				return out, fmt.Errorf("line %d: not a section", p.line)
			}
		case letter(c):
			name := p.name()
			value, ok := p.value()
			if !ok {
				return out, fmt.Errorf("line %d: not a value", p.line)
			}
			if section != "" {
				name = section + "." + name
			}
			out = append(out, entry{name, value})
		default:
			return out, fmt.Errorf("line %d: neither a section nor a setting", p.line)
		}
	}
}

type configReader struct {
	s    string
	i    int
	line int
}

func (p *configReader) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

// next returns the next character; git reads "\r\n" as "\n", and the end of the file as one more line end.
func (p *configReader) next() byte {
	if p.i >= len(p.s) {
		p.i++
		return '\n'
	}
	if strings.HasPrefix(p.s[p.i:], "\r\n") {
		p.i++
	}
	c := p.s[p.i]
	if p.i++; c == '\n' {
		p.line++
	}
	return c
}

// blank passes over white space, line ends as well where they are among more.
func (p *configReader) blank(more string) {
	for p.i < len(p.s) && (strings.IndexByte(" \t\r", p.s[p.i]) >= 0 || strings.IndexByte(more, p.s[p.i]) >= 0) {
		p.next()
	}
}

func (p *configReader) comment() {
	for p.i < len(p.s) && p.next() != '\n' {
	}
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

func (p *configReader) name() string {
	var b strings.Builder
	for c := p.peek(); letter(c) || c >= '0' && c <= '9' || c == '-'; c = p.peek() {
		b.WriteByte(lower(p.next()))
	}
	return b.String()
}

// section reads [section], [section.sub] or [section "sub"].
func (p *configReader) section() (string, bool) {
	var b strings.Builder
	for p.next(); p.i < len(p.s); {
		switch c := p.next(); {
		case c == ']':
			return b.String(), b.Len() > 0
		case c == ' ' || c == '\t':
			p.blank("")
			if p.next() != '"' {
				return "", false
			}
			b.WriteByte('.')
			return p.quoted(&b)
		case letter(c) || c >= '0' && c <= '9' || c == '-' || c == '.':
			b.WriteByte(lower(c))
		default:
			return "", false
		}
	}
	return "", false
}

// quoted reads the rest of a subsection and the bracket behind it.
func (p *configReader) quoted(b *strings.Builder) (string, bool) {
	for p.i < len(p.s) {
		switch c := p.next(); c {
		case '\n':
			return "", false
		case '"':
			return b.String(), p.next() == ']'
		case '\\':
			if c = p.next(); c == '\n' {
				return "", false
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// value reads what stands behind a name up to the end of the line. A name alone is true.
func (p *configReader) value() (string, bool) {
	for p.peek() == ' ' || p.peek() == '\t' {
		p.next()
	}
	if p.i >= len(p.s) || p.peek() == '\n' || strings.HasPrefix(p.s[p.i:], "\r\n") {
		p.next()
		return "true", true
	}
	if p.next() != '=' {
		return "", false
	}
	var b strings.Builder
	quote, end := false, 0 // end: without white space behind it
	for {
		c := p.next()
		switch {
		case c == '\n':
			return b.String()[:end], !quote
		case quote:
		case c == '#' || c == ';':
			p.comment()
			return b.String()[:end], true
		case strings.IndexByte(" \t\r", c) >= 0:
			if b.Len() > 0 {
				b.WriteByte(c)
			}
			continue
		}
		switch c {
		case '"':
			quote = !quote
			end = b.Len()
			continue
		case '\\':
			switch c = p.next(); c {
			case '\n':
				continue // the value goes on
			case 't':
				c = '\t'
			case 'b':
				c = '\b'
			case 'n':
				c = '\n'
			case '\\', '"':
			default:
				return "", false
			}
		}
		b.WriteByte(c)
		end = b.Len()
	}
}
