package outline

import (
	"bytes"
	"strings"
)

// readRuby reads class, module and def, which stand at the beginning of their lines, and finds their ends by
// indentation: the grammar of Ruby gives "end" too many meanings for anything but a whole parser, while its programmers
// agree on how to indent.
func readRuby(src []byte) []Symbol {
	r := &ruby{src: src}
	for number, at := 1, 0; at < len(src); number++ {
		line := src[at:]
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
		}
		at += len(line) + 1
		if bytes.HasPrefix(line, []byte("__END__")) {
			break
		}
		r.line(number, bytes.TrimRight(line, " \t\r"))
		r.last = number
	}
	for r.close(-1, false) {
	}
	return r.out
}

type ruby struct {
	src     []byte
	out     []Symbol
	open    []rubyBlock
	last    int
	comment bool
	here    []string // ends of here-documents that are open
}

type rubyBlock struct {
	indent, symbol int
}

func (r *ruby) line(number int, line []byte) {
	trimmed := bytes.TrimLeft(line, " \t")
	indent := len(line) - len(trimmed)
	switch {
	case r.comment:
		r.comment = !bytes.HasPrefix(line, []byte("=end"))
		return
	case bytes.HasPrefix(line, []byte("=begin")):
		r.comment = true
		return
	case len(r.here) > 0:
		if string(trimmed) == r.here[0] {
			r.here = r.here[1:]
		}
		return
	case len(trimmed) == 0 || trimmed[0] == '#':
		return
	}
	word, rest := splitWord(trimmed)
	if word == "end" {
		for len(r.open) > 0 && r.open[len(r.open)-1].indent > indent {
			r.close(number-1, true)
		}
		if len(r.open) > 0 && r.open[len(r.open)-1].indent == indent {
			r.close(number, true)
		}
		return
	}
	for has(" private public protected private_class_method module_function ", word) {
		w, more := splitWord(rest)
		if w != "def" {
			break
		}
		word, rest = w, more
	}
	r.heredocs(trimmed)
	if has(" class module def ", word) {
		r.define(number, indent, word, rest, trimmed)
		return
	}
	if name := word; len(r.inside()) == 0 && name != "" && name[0] >= 'A' && name[0] <= 'Z' && bytes.HasPrefix(bytes.TrimLeft(rest, " \t"), []byte("= ")) {
		r.add(Symbol{Name: name, Kind: Constant, Line: number, End: number, Text: oneLine(trimmed)})
	}
}

// inside returns the name of the method that is open, or "".
func (r *ruby) inside() string {
	if n := len(r.open); n > 0 && r.out[r.open[n-1].symbol].Kind == Method {
		return r.out[r.open[n-1].symbol].Name
	}
	return ""
}

func (r *ruby) add(s Symbol) {
	if n := len(r.open); n > 0 {
		up := r.out[r.open[n-1].symbol]
		s.Container, s.Depth = join(up.Container, up.Name), up.Depth+1
	}
	r.out = append(r.out, s)
}

func (r *ruby) define(number, indent int, word string, rest, line []byte) {
	for len(r.open) > 0 && r.open[len(r.open)-1].indent >= indent { // its end is missing
		r.close(number-1, true)
	}
	name := string(bytes.TrimLeft(rest, " \t"))
	if i := strings.IndexAny(name, " \t(;"); i >= 0 {
		name = name[:i]
	}
	s := Symbol{Line: number, End: number, Text: oneLine(line)}
	switch word {
	case "class":
		s.Kind = Class
		if name == "<<" { // class << self
			s.Kind, name = Extension, "self"
		}
	case "module":
		s.Kind = Module
	default:
		s.Kind = Function
		if len(r.open) > 0 {
			s.Kind = Method
		}
		if i := strings.LastIndexByte(name, '.'); i > 0 { // self.name, object.name
			name = name[i+1:]
		}
	}
	if s.Name = strings.ReplaceAll(name, "::", "."); s.Name == "" {
		return
	}
	r.add(s)
	text := string(rest)
	oneLiner := strings.HasSuffix(text, " end") || strings.HasSuffix(text, ";end") || word == "def" && strings.Contains(afterParams(text), " = ")
	if !oneLiner {
		r.open = append(r.open, rubyBlock{indent, len(r.out) - 1})
	}
}

// afterParams returns what follows the name and parameters of a method.
func afterParams(s string) string {
	depth := 0
	for i, c := range s {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return s[i+1:]
			}
		case ' ':
			if depth == 0 && i > 0 && strings.TrimSpace(s[:i]) != "" {
				return s[i:]
			}
		}
	}
	return ""
}

// close ends the innermost block at a line.
func (r *ruby) close(line int, known bool) bool {
	n := len(r.open)
	if n == 0 {
		return false
	}
	if !known {
		line = r.last
	}
	r.out[r.open[n-1].symbol].End = line
	r.open = r.open[:n-1]
	return true
}

// heredocs notes the here-documents that begin on a line.
func (r *ruby) heredocs(line []byte) {
	for rest := line; ; {
		i := bytes.Index(rest, []byte("<<"))
		if i < 0 {
			return
		}
		rest = rest[i+2:]
		if len(rest) == 0 || rest[0] != '~' && rest[0] != '-' {
			continue
		}
		if name, _ := splitWord(bytes.TrimLeft(rest[1:], "'\"`")); name != "" && name == strings.ToUpper(name) {
			r.here = append(r.here, name)
		}
	}
}
