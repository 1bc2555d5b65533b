package schema

import (
	"bytes"
	"fmt"
)

func (w *walker) absent(p property, what string) {
	if w.full() {
		return // texts are costly, and nobody will read this one
	}
	path := pathString(w.path)
	expected, example := p.node.expected(), p.node.example(p.name)
	about := clipText(p.node.src.Description, 2*clipRunes)
	message := fmt.Sprintf("%s %s: %s", path, what, expected)
	if about != "" {
		message += ", " + fmt.Sprintf("%q", about)
	}
	w.add(Problem{Path: path, Kind: Missing, Message: message + exampleTail(example) + ".", Expected: expected, Example: example})
}

func exampleTail(example string) string {
	if example == "" {
		return ""
	}
	return "; for example " + example
}

// wrong reports a value that its schema refuses and that no repair could save.
func (w *walker) wrong(n *node, t int32) {
	if w.full() {
		return // texts are costly, and nobody will read this one
	}
	path := pathString(w.path)
	p := Problem{Path: path, Kind: Wrong, Expected: n.expected()}
	if len(w.path) > 0 {
		p.Example = n.example(w.path[len(w.path)-1].name)
	}
	text := w.doc.text(t)
	p.Message = fmt.Sprintf("%s must be %s, but is %s", subject(path), p.Expected, quote(text))
	tok := &w.doc.tokens[t]
	if tok.kind == kindArray && n.accept&typeArray != 0 {
		p.Message = fmt.Sprintf("%s must be %s, but has %d", subject(path), p.Expected, tok.n)
	}
	if tok.kind == kindString {
		s := w.doc.decoded(t)
		if len(n.words) > 0 && len(s) <= 2*clipRunes {
			p.Suggestion = Nearest(string(s), n.words)
		}
		p.Message += w.brokenJSON(n, s)
	}
	if s := n.seconds(text); s != "" {
		p.Suggestion = s
		p.Message += " (the unit is seconds)"
	}
	if p.Suggestion != "" {
		p.Message += fmt.Sprintf("; did you mean %s?", p.Suggestion)
	} else {
		p.Message += exampleTail(p.Example) + "."
	}
	w.add(p)
}

func subject(path string) string {
	if path == "" {
		return "The argument object"
	}
	return path
}

// brokenJSON explains a string that was meant to be the array or object that the schema asks for.
func (w *walker) brokenJSON(n *node, s []byte) string {
	s = bytes.TrimSpace(s)
	if n.accept&(typeArray|typeObject) == 0 || len(s) == 0 || s[0] != '[' && s[0] != '{' {
		return ""
	}
	_, err := scan(s)
	if e, ok := err.(*SyntaxError); ok {
		return fmt.Sprintf(" (a string that would be JSON but for byte %d: %s)", e.Offset, e.Reason)
	}
	return ""
}

// unknown reports a name that a closed object does not have.
func (w *walker) unknown(n *node, c int32) {
	if w.full() {
		return // texts are costly, and nobody will read this one
	}
	name := w.doc.name(c)
	known := make([]string, len(n.props))
	for i, p := range n.props {
		known[i] = p.name
	}
	w.push(name, -1)
	p := Problem{Path: pathString(w.path), Kind: Unknown, Expected: "no other names than " + list(known, 20)}
	w.pop()
	if len(known) == 0 {
		p.Expected = "no properties"
	}
	if to, ok := n.alias(name); ok {
		p.Suggestion = n.props[to.prop].name
	} else {
		p.Suggestion = Nearest(name, known)
	}
	p.Message = fmt.Sprintf("Unknown property %s", shown(name))
	if len(w.path) > 0 {
		p.Message += " in " + pathString(w.path)
	}
	if p.Suggestion != "" {
		p.Message += fmt.Sprintf("; did you mean %s?", p.Suggestion)
	} else {
		p.Message += "."
	}
	if len(known) > 0 {
		p.Message += " Known: " + list(known, 20) + "."
	} else {
		p.Message += " There are no properties here."
	}
	w.add(p)
}
