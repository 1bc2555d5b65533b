// Package tree reads XML into a tree whose nodes know where they stand in the source, so that a change is a splice of the
// source and everything else stays byte for byte.
//
// Names are given with the prefixes of the caller's table, whatever prefixes the file uses. Documents with entities of
// their own are refused, as is what is nested too deep, has too many nodes, or is not well formed.
package tree

import (
	"bytes"
	"html"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/media"
)

// Node is an element, or a text (Name is ""). Positions are byte offsets in the source.
type Node struct {
	Name     string // with the prefix of the caller's table, or as it stands
	Raw      string // as it stands
	Attr     []Attr
	Kids     []*Node
	Parent   *Node
	From, To int // the whole of it
	In, Out  int // what is between its tags; both To where it is <closed/>
	Text     string
	literal  bool // CDATA
}

// Attr is an attribute. Val is decoded; From and To are the whole attribute, VFrom and VTo its value as it stands.
type Attr struct {
	Name, Val            string
	From, To, VFrom, VTo int
}

// Get returns the value of an attribute, or "".
func (n *Node) Get(name string) string {
	for i := range n.Attr {
		if n.Attr[i].Name == name {
			return n.Attr[i].Val
		}
	}
	return ""
}

// Find returns the attribute, or nil.
func (n *Node) Find(name string) *Attr {
	for i := range n.Attr {
		if n.Attr[i].Name == name {
			return &n.Attr[i]
		}
	}
	return nil
}

// Child returns the first element among the children with one of the names, or nil.
func (n *Node) Child(names ...string) *Node {
	for _, k := range n.Kids {
		if slices.Contains(names, k.Name) && k.Name != "" {
			return k
		}
	}
	return nil
}

// Walk visits a node and all below it in order; going below a node stops where visit returns false.
func (n *Node) Walk(visit func(*Node) bool) {
	if !visit(n) {
		return
	}
	for _, k := range n.Kids {
		k.Walk(visit)
	}
}

// All returns the elements with a name, in order, those within each other too.
func (n *Node) All(name string) []*Node {
	var out []*Node
	n.Walk(func(k *Node) bool {
		if k.Name == name {
			out = append(out, k)
		}
		return true
	})
	return out
}

// Words returns all text below a node.
func (n *Node) Words() string {
	var b strings.Builder
	n.Walk(func(k *Node) bool {
		if k.Name == "" {
			b.WriteString(k.Text)
		}
		return true
	})
	return b.String()
}

// Closed reports whether an element is written as one tag.
func (n *Node) Closed() bool { return n.In == n.To }

// maxNodes bounds a tree. A node takes about 200 bytes.
const maxNodes = 4_000_000

// maxScopes bounds the namespaces that are declared at one place of a document, those of all elements around it together.
const maxScopes = 20_000

type parser struct {
	src    []byte
	name   string
	space  map[string]string // URI to prefix of the caller
	depth  int
	lim    media.Limits
	nodes  int
	uris   map[string][]string // what each prefix stands for, the nearest last
	scopes []scope
}

// Parse reads a document. space maps namespaces to the prefixes that names get. Errors: *media.Error, and that of the limits.
func Parse(name string, src []byte, space map[string]string, lim media.Limits) (*Node, error) {
	p := &parser{src: src, name: name, space: space, lim: lim.WithDefaults(), uris: map[string][]string{}}
	if !utf8.Valid(src) {
		return nil, p.bad(0, "is not UTF-8")
	}
	if len(src) > 1<<31-1 {
		return nil, p.bad(0, "is larger than 2 GB")
	}
	return p.parse()
}

func (p *parser) bad(at int, what string) error {
	return media.Failf("the part %q %s (byte %d); the file is damaged or was made to do harm.", p.name, what, at)
}

type scope struct {
	prefix string
	depth  int
}

// declare keeps the namespaces that an element declares.
func (p *parser) declare(n *Node) error {
	for _, a := range n.Attr {
		prefix, ok := strings.CutPrefix(a.Name, "xmlns:")
		if !ok && a.Name != "xmlns" {
			continue
		}
		if !ok {
			prefix = ""
		}
		if len(p.scopes) >= maxScopes {
			return p.bad(n.From, "declares more namespaces than any program does")
		}
		p.scopes = append(p.scopes, scope{prefix, p.depth})
		p.uris[prefix] = append(p.uris[prefix], a.Val)
	}
	return nil
}

// leave forgets what the element declared that ends.
func (p *parser) leave() {
	for n := len(p.scopes); n > 0 && p.scopes[n-1].depth == p.depth; n = len(p.scopes) {
		prefix := p.scopes[n-1].prefix
		p.uris[prefix] = p.uris[prefix][:len(p.uris[prefix])-1]
		p.scopes = p.scopes[:n-1]
	}
	p.depth--
}

func (p *parser) parse() (*Node, error) {
	root := &Node{To: len(p.src), Out: len(p.src)}
	at, i := root, 0
	for i < len(p.src) {
		if p.nodes++; p.nodes > maxNodes {
			return nil, p.bad(i, "has more elements than can be read at once")
		}
		if p.nodes%4096 == 0 && p.lim.Err() != nil {
			return nil, p.lim.Err()
		}
		if p.src[i] != '<' {
			n := bytes.IndexByte(p.src[i:], '<')
			if n < 0 {
				n = len(p.src) - i
			}
			raw := string(p.src[i : i+n])
			if at == root && strings.TrimSpace(strings.TrimPrefix(raw, "\ufeff")) != "" {
				return nil, p.bad(i, "has text outside of its root")
			}
			at.Kids = append(at.Kids, &Node{Parent: at, From: i, To: i + n, In: i, Out: i + n, Text: unescape(raw)})
			i += n
			continue
		}
		end, text, err := p.other(i)
		if err != nil {
			return nil, err
		}
		if end > 0 {
			if text != nil {
				text.Parent = at
				at.Kids = append(at.Kids, text)
			}
			i = end
			continue
		}
		to := p.tagEnd(i)
		if to < 0 {
			return nil, p.bad(i, "has a tag that does not end")
		}
		if p.src[i+1] == '/' {
			raw := strings.TrimRight(string(p.src[i+2:to-1]), " \t\r\n")
			if at == root || raw != at.Raw {
				return nil, p.bad(i, "closes an element that is not open")
			}
			at.Out, at.To = i, to
			p.leave()
			at = at.Parent
			i = to
			continue
		}
		n, err := p.open(i, to)
		if err != nil {
			return nil, err
		}
		if at == root && slices.ContainsFunc(root.Kids, func(k *Node) bool { return k.Raw != "" }) {
			return nil, p.bad(i, "has two roots")
		}
		n.Parent = at
		at.Kids = append(at.Kids, n)
		if p.depth++; p.depth > p.lim.Depth {
			return nil, p.bad(i, "is nested too deep")
		}
		if err := p.declare(n); err != nil {
			return nil, err
		}
		n.Name = p.known(n.Raw, true)
		for k := range n.Attr {
			n.Attr[k].Name = p.known(n.Attr[k].Name, false)
		}
		i = to
		if n.Closed() {
			p.leave()
			continue
		}
		at = n
	}
	if at != root {
		return nil, p.bad(len(p.src), "ends within an element")
	}
	for _, k := range root.Kids {
		if k.Name != "" {
			return k, nil
		}
	}
	return nil, p.bad(0, "holds no XML")
}

// known gives a name the prefix of the caller's table.
func (p *parser) known(raw string, element bool) string {
	prefix, local, ok := strings.Cut(raw, ":")
	if !ok {
		if !element {
			return raw
		}
		prefix, local = "", raw
	}
	if prefix == "xml" || prefix == "xmlns" {
		return raw
	}
	uris := p.uris[prefix]
	if len(uris) == 0 {
		return raw
	}
	own, ok := p.space[uris[len(uris)-1]]
	switch {
	case !ok:
		return raw
	case own == "":
		return local
	}
	return own + ":" + local
}

// other passes over comments, declarations and CDATA; end is 0 where a tag stands.
func (p *parser) other(i int) (end int, text *Node, err error) {
	rest := p.src[i:]
	until := func(open, end string) (int, error) {
		n := bytes.Index(rest[len(open):], []byte(end))
		if n < 0 {
			return 0, p.bad(i, "has a "+open+" that does not end")
		}
		return i + len(open) + n + len(end), nil
	}
	switch {
	case bytes.HasPrefix(rest, []byte("<!--")):
		end, err = until("<!--", "-->")
	case bytes.HasPrefix(rest, []byte("<![CDATA[")):
		if end, err = until("<![CDATA[", "]]>"); err == nil {
			text = &Node{From: i, To: end, In: i + 9, Out: end - 3, Text: string(p.src[i+9 : end-3]), literal: true}
		}
	case bytes.HasPrefix(rest, []byte("<?")):
		if end, err = until("<?", "?>"); err == nil && bytes.HasPrefix(rest, []byte("<?xml ")) && !readable(rest[:end-i], p.src) {
			err = p.bad(i, "says that it is in another encoding than UTF-8, in which its words would be others")
		}
	case bytes.HasPrefix(rest, []byte("<!")):
		if end, err = until("<!", ">"); err == nil && bytes.ContainsAny(p.src[i:end], "[") {
			err = p.bad(i, "defines entities of its own")
		}
	}
	return end, text, err
}

// tagEnd returns the offset after the > of a tag.
func (p *parser) tagEnd(i int) int {
	var quote byte
	for k := i + 1; k < len(p.src); k++ {
		switch c := p.src[k]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return k + 1
		case c == '<':
			return -1
		}
	}
	return -1
}

const blank = " \t\r\n"

func (p *parser) open(i, to int) (*Node, error) {
	n := &Node{From: i, To: to, In: to, Out: to}
	end := to - 1
	if p.src[end-1] == '/' {
		end--
	} else {
		n.To = -1 // known when it closes
	}
	k := i + 1
	for k < end && strings.IndexByte(blank, p.src[k]) < 0 {
		k++
	}
	n.Raw = string(p.src[i+1 : k])
	if n.Raw == "" || strings.ContainsAny(n.Raw, "<\"'=") {
		return nil, p.bad(i, "has a tag without a name")
	}
	for {
		for k < end && strings.IndexByte(blank, p.src[k]) >= 0 {
			k++
		}
		if k >= end {
			return n, nil
		}
		a := Attr{From: k}
		for k < end && p.src[k] != '=' && strings.IndexByte(blank, p.src[k]) < 0 {
			k++
		}
		a.Name = string(p.src[a.From:k])
		for k < end && strings.IndexByte(blank, p.src[k]) >= 0 {
			k++
		}
		if k >= end || p.src[k] != '=' {
			return nil, p.bad(a.From, "has an attribute without a value")
		}
		for k++; k < end && strings.IndexByte(blank, p.src[k]) >= 0; k++ {
		}
		if k >= end || p.src[k] != '"' && p.src[k] != '\'' {
			return nil, p.bad(a.From, "has an attribute without quotes")
		}
		m := bytes.IndexByte(p.src[k+1:end], p.src[k])
		if m < 0 {
			return nil, p.bad(a.From, "has an attribute that does not end")
		}
		a.VFrom, a.VTo = k+1, k+1+m
		k += m + 2
		a.To, a.Val = k, unescape(string(p.src[a.VFrom:a.VTo]))
		n.Attr = append(n.Attr, a)
		if len(n.Attr) > 1000 {
			return nil, p.bad(i, "has a tag with more attributes than any program writes")
		}
	}
}

// readable reports whether a document that says <?xml … encoding="…"?> reads the same as UTF-8.
func readable(decl, src []byte) bool {
	_, rest, ok := bytes.Cut(decl, []byte("encoding"))
	rest = bytes.TrimLeft(rest, "= \t\r\n")
	if !ok || len(rest) < 2 {
		return true
	}
	name, _, _ := bytes.Cut(rest[1:], rest[:1])
	switch name := strings.ToLower(string(name)); {
	case name == "utf-7", strings.HasPrefix(name, "hz"), strings.HasPrefix(name, "iso-2022"), strings.HasPrefix(name, "ibm"), strings.HasPrefix(name, "cp"):
		return false
	case strings.HasPrefix(name, "utf-"), name == "utf8":
		return true // a program that wrote UTF-8 and says UTF-16 is mistaken, and known
	}
	return !bytes.ContainsFunc(src, func(r rune) bool { return r >= utf8.RuneSelf })
}

// Reference decodes the reference that begins with the & at s[i], and returns how long it is. What is none is the &.
func Reference(s string, i int) (string, int) {
	if i+1 < len(s) && s[i+1] == '#' {
		if text, n := number(s[i:]); n > 0 {
			return text, n
		}
		return "&", 1
	}
	if end := strings.IndexByte(s[i:min(len(s), i+40)], ';'); end > 1 {
		if text := html.UnescapeString(s[i : i+end+1]); text != s[i:i+end+1] && text[len(text)-1] != ';' {
			return text, end + 1
		}
	}
	return "&", 1
}

// number decodes &#65; and &#x41;, however many zeros there are. n is 0 where it is none.
func number(s string) (text string, n int) {
	k, base := 2, rune(10)
	if k < len(s) && s[k] == 'x' {
		k, base = 3, 16
	}
	r, digits := rune(0), 0
	for ; k < len(s); k++ {
		var v rune
		switch c := s[k]; {
		case c >= '0' && c <= '9':
			v = rune(c - '0')
		case base == 16 && c >= 'a' && c <= 'f':
			v = rune(c-'a') + 10
		case base == 16 && c >= 'A' && c <= 'F':
			v = rune(c-'A') + 10
		case c == ';' && digits > 0:
			if r == 0 || !utf8.ValidRune(r) {
				r = utf8.RuneError
			}
			return string(r), k + 1
		default:
			return "", 0
		}
		digits++
		r = min(r*base+v, utf8.MaxRune+1)
	}
	return "", 0
}

func unescape(s string) string {
	i := strings.IndexByte(s, '&')
	if i < 0 {
		return s
	}
	var b strings.Builder
	for i >= 0 {
		b.WriteString(s[:i])
		text, n := Reference(s, i)
		b.WriteString(text)
		s = s[i+n:]
		i = strings.IndexByte(s, '&')
	}
	b.WriteString(s)
	return b.String()
}

// Escape makes a text fit for running text and for attributes; characters that XML has no form for become U+FFFD.
func Escape(s string) string {
	return escaper.Replace(strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff {
			return utf8.RuneError
		}
		return r
	}, s))
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\r", "&#13;")

// Splice is a replacement of the bytes [From, To) of a source.
type Splice struct {
	From, To int
	With     string
}

// Apply carries out splices. Where two overlap, the one that begins first is done, and of two that begin together the
// longer one.
func Apply(src []byte, splices []Splice) []byte {
	if len(splices) == 0 {
		return src
	}
	slices.SortStableFunc(splices, func(a, b Splice) int {
		if a.From != b.From {
			return a.From - b.From
		}
		if (a.From == a.To) != (b.From == b.To) { // insertions come before what is replaced
			return a.To - b.To
		}
		return b.To - a.To
	})
	out := make([]byte, 0, len(src)+64*len(splices))
	at := 0
	for _, s := range splices {
		if s.From < at {
			continue
		}
		out = append(append(out, src[at:s.From]...), s.With...)
		at = s.To
	}
	return append(out, src[at:]...)
}
