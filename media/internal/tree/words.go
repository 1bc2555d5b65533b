package tree

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/media"
)

// Stream is running text as a reader sees it. Each byte of it knows which bytes of the source it comes from; what only
// separates (the end of a paragraph) comes from none.
type Stream struct {
	text     []byte
	from, to []int32
	owner    []*Node // an element that stands for characters (a tab), else nil
}

// String returns the text.
func (s *Stream) String() string { return string(s.text) }

func (s *Stream) add(text string, from, to int, owner *Node) {
	for i := range len(text) {
		s.text = append(s.text, text[i])
		s.from, s.to, s.owner = append(s.from, int32(from)), append(s.to, int32(to)), append(s.owner, owner)
	}
}

func (s *Stream) tail() byte {
	if len(s.text) == 0 {
		return '\n'
	}
	return s.text[len(s.text)-1]
}

// Kind says what an element is within running text.
type Kind uint8

// The kinds of elements.
const (
	Block  Kind = iota // it stands on lines of its own
	Inline             // its text goes on with the text around it
	Apart              // a text of its own, in the midst of another: a footnote
	Sign               // it stands for characters
	Silent             // it holds no words that are shown or kept
)

// Grammar says how the elements of a format read.
type Grammar struct {
	// Kind of an element; inPara reports whether it stands within a paragraph.
	Kind func(n *Node, inPara bool) Kind
	Para func(n *Node) bool   // whether an element is a paragraph
	Sign func(n *Node) string // what a sign stands for
	Keep bool                 // blanks count as they stand; else several read as one
	// Shorter writes the sign for what is left of it, where only a part was replaced. nil: nothing is left.
	Shorter func(n *Node, left string) string
	// Other returns how a part reads to those who decline its tracked changes, or nil where it has none.
	Other func(g *Grammar, root *Node) *Grammar
	// Instead returns the element that is read in the place of another, with its paragraphs as one text. nil: none.
	Instead func(n *Node) *Node
	// Leave says that what comes after an element is left out (1), or no longer (-1).
	Leave func(n *Node) int
}

// Streams returns the running text of a tree: the main one first.
func (g *Grammar) Streams(src []byte, root *Node) []*Stream {
	c := &gather{g: g, src: src}
	c.apart(root)
	return slices.DeleteFunc(c.out, func(s *Stream) bool { return len(s.text) == 0 })
}

// maxSigns bounds what signs may stand for in one part. After that each is one character: a file that says a hundred
// million blanks in a few tags says nothing with them.
const maxSigns = 16 << 20

type gather struct {
	g     *Grammar
	src   []byte
	out   []*Stream
	signs int
	left  int // how many times what comes is left out
}

func (c *gather) apart(n *Node) {
	s := &Stream{}
	c.out = append(c.out, s)
	c.walk(n, s, c.g.Para(n))
}

func (c *gather) walk(n *Node, s *Stream, para bool) {
	for _, k := range n.Kids {
		if k.Name == "" {
			if c.left <= 0 {
				c.chars(k, s)
			}
			continue
		}
		if c.g.Leave != nil {
			c.left += c.g.Leave(k)
		}
		if c.g.Instead != nil {
			if in := c.g.Instead(k); in != nil {
				c.instead(in, s)
				continue
			}
		}
		switch c.g.Kind(k, para) {
		case Inline:
			c.walk(k, s, para)
		case Sign:
			if c.left > 0 {
				continue
			}
			text := c.g.Sign(k)
			if c.signs += len(text); c.signs > maxSigns && text != "" {
				_, n := utf8.DecodeRuneInString(text)
				text = text[:n]
			}
			s.add(text, k.From, k.To, k)
		case Apart:
			c.apart(k)
		case Block:
			if s.tail() != '\n' {
				s.add("\n", -1, -1, nil)
			}
			c.walk(k, s, para || c.g.Para(k))
			if s.tail() != '\n' {
				s.add("\n", -1, -1, nil)
			}
		}
	}
}

// instead adds the paragraphs of an element, those after the first on lines of their own.
func (c *gather) instead(n *Node, s *Stream) {
	first := true
	for _, p := range n.Kids {
		if p.Name == "" || !c.g.Para(p) {
			continue
		}
		if !first && s.tail() != '\n' {
			s.add("\n", -1, -1, nil)
		}
		first = false
		c.walk(p, s, true)
	}
}

// chars adds the characters of a text node.
func (c *gather) chars(n *Node, s *Stream) {
	raw := string(c.src[n.In:n.Out])
	for i := 0; i < len(raw); {
		text, w := raw[i:i+1], 1
		if raw[i] == '&' && !n.literal {
			text, w = Reference(raw, i)
		}
		at := n.In + i
		i += w
		if strings.Contains(blank, text) && !c.g.Keep {
			for i < len(raw) && strings.IndexByte(blank, raw[i]) >= 0 {
				i++
			}
			w = n.In + i - at
			if t := s.tail(); t == ' ' || t == '\n' || t == '\t' {
				if k := len(s.to) - 1; k >= 0 && s.owner[k] == nil && s.to[k] == int32(at) {
					s.to[k] = int32(at + w)
				}
				continue
			}
			text = " "
		}
		s.add(text, at, at+w, nil)
	}
}

// Crosses reports whether a span goes over the end of a paragraph.
func (s *Stream) Crosses(sp media.Span) bool {
	return slices.ContainsFunc(s.from[sp.From:sp.To], func(at int32) bool { return at < 0 })
}

// Replace returns the splices that put with, which is markup, in the place of each span. It stands where the first
// character of a span stood, so it looks like that.
func (s *Stream) Replace(g *Grammar, spans []media.Span, with string) []Splice {
	var out []Splice
	for _, sp := range spans {
		fresh := with
		for i := sp.From; i < sp.To; i++ {
			if s.from[i] < 0 {
				continue
			}
			from, to := int(s.from[i]), int(s.to[i])
			if n := s.owner[i]; n != nil {
				left := s.rest(n, i, sp)
				if g.Shorter == nil || left == "" {
					out = append(out, Splice{from, to, fresh})
				} else {
					out = append(out, Splice{from, to, fresh + g.Shorter(n, left)})
				}
				fresh = ""
				for i+1 < sp.To && s.owner[i+1] == n {
					i++
				}
				continue
			}
			if k := len(out) - 1; k >= 0 && fresh == "" && out[k].To == from || k >= 0 && out[k].From <= from && out[k].To >= to {
				out[k].To = max(out[k].To, to)
			} else {
				out = append(out, Splice{from, to, fresh})
			}
			fresh = ""
		}
	}
	return out
}

// rest returns what a sign stands for outside of a span.
func (s *Stream) rest(n *Node, i int, sp media.Span) string {
	var left []byte
	for k := i; k >= 0 && s.owner[k] == n; k-- {
		if k < sp.From {
			left = append(left, s.text[k])
		}
	}
	for k := i; k < len(s.owner) && s.owner[k] == n; k++ {
		if k >= sp.To {
			left = append(left, s.text[k])
		}
	}
	return string(left)
}

// Redaction is the replacement of words in one part after the other.
type Redaction struct {
	Patterns    []*media.Pattern
	Matches     []media.Match
	Replacement string
	Found       []bool // per pattern
	Count       int
}

// NewRedaction reads the arguments of redact.
func NewRedaction(r *media.Request) (*Redaction, error) {
	matches, _ := r.Args["match"].([]media.Match)
	pats, err := media.Patterns(matches, r.Limits.WithDefaults().Match)
	if err != nil {
		return nil, err
	}
	d := &Redaction{Patterns: pats, Matches: matches, Replacement: "█", Found: make([]bool, len(pats))}
	if s, ok := r.Args["replace"].(string); ok {
		d.Replacement = s
	}
	return d, nil
}

// Text replaces in a text.
func (d *Redaction) Text(s string) (string, error) {
	for i, p := range d.Patterns {
		out, n, err := media.Replace(s, []*media.Pattern{p}, d.Replacement)
		if err != nil {
			return "", err
		}
		if n > 0 {
			d.Found[i], s = true, out
			d.Count += n
		}
	}
	return s, nil
}

// Part replaces in the running text and in those attributes of a part that hold words.
func (d *Redaction) Part(name string, src []byte, space map[string]string, g *Grammar, wordy func(n *Node, attr string) bool, lim media.Limits) ([]byte, error) {
	for i, p := range d.Patterns {
		root, err := Parse(name, src, space, lim)
		if err != nil {
			return nil, err
		}
		cuts, err := d.words(i, src, root, g)
		if err != nil {
			return nil, err
		}
		root.Walk(func(n *Node) bool {
			for k := range n.Attr {
				a := &n.Attr[k]
				if err != nil || strings.HasPrefix(a.Name, "xmlns") || !wordy(n, a.Name) {
					continue
				}
				var out string
				var hits int
				out, hits, err = media.Replace(a.Val, []*media.Pattern{p}, d.Replacement)
				if plain, ok := decoded(a); err == nil && hits == 0 && ok {
					out, hits, err = media.Replace(plain, []*media.Pattern{p}, d.Replacement)
					out = EscapeAddress(out)
				}
				if hits > 0 && err == nil {
					d.Found[i] = true
					d.Count += hits
					cuts = append(cuts, Splice{a.VFrom, a.VTo, Escape(out)})
				}
			}
			return err == nil
		})
		if err != nil {
			return nil, err
		}
		src = Apply(src, cuts)
		if g.Other == nil || g.Other(g, root) == nil {
			continue
		}
		if root, err = Parse(name, src, space, lim); err != nil {
			return nil, err
		}
		if cuts, err = d.words(i, src, root, g.Other(g, root)); err != nil {
			return nil, err
		}
		src = Apply(src, cuts)
	}
	return comments(src, d)
}

// words returns the splices that replace what one pattern finds in the running text of a part.
func (d *Redaction) words(pattern int, src []byte, root *Node, g *Grammar) ([]Splice, error) {
	var cuts []Splice
	for _, s := range g.Streams(src, root) {
		spans, err := d.Patterns[pattern].Find(s.String())
		if err != nil {
			return nil, err
		}
		if len(spans) > 0 {
			d.Found[pattern] = true
			d.Count += len(spans)
			cuts = append(cuts, s.Replace(g, spans, Escape(d.Replacement))...)
		}
	}
	return cuts, nil
}

// decoded returns an address as people read it, with what %41 stands for; ok is false where that is no other text.
func decoded(a *Attr) (plain string, ok bool) {
	if !strings.HasSuffix(a.Name, "href") || strings.IndexByte(a.Val, '%') < 0 {
		return "", false
	}
	plain, err := url.PathUnescape(a.Val)
	return plain, err == nil && plain != a.Val
}

// EscapeAddress makes an address of a text in which nothing is escaped.
func EscapeAddress(s string) string {
	return strings.NewReplacer("%", "%25", " ", "%20", "<", "%3C", ">", "%3E", `"`, "%22").Replace(s)
}

// comments takes away comments and instructions that hold a match: nobody reads them, and everybody can.
func comments(src []byte, d *Redaction) ([]byte, error) {
	var cuts []Splice
	for i := 0; i < len(src); {
		n := bytes.IndexByte(src[i:], '<')
		if n < 0 {
			break
		}
		i += n
		open, end := "", ""
		for _, k := range [][2]string{{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}} {
			if bytes.HasPrefix(src[i:], []byte(k[0])) {
				open, end = k[0], k[1]
			}
		}
		if open == "" {
			i++
			continue
		}
		k := bytes.Index(src[i:], []byte(end))
		if k < len(open) {
			break
		}
		to := i + k + len(end)
		if open != "<![CDATA[" {
			hit, err := d.Hit(string(src[i+len(open) : i+k]))
			if err != nil {
				return nil, err
			}
			if hit != "" {
				d.Count++
				cuts = append(cuts, Splice{i, to, ""})
			}
		}
		i = to
	}
	return Apply(src, cuts), nil
}

// Bare returns the characters of markup without its tags, as one text: what stands in pieces within it stands together.
func Bare(src []byte) string {
	var b strings.Builder
	b.Grow(len(src) / 2)
	for len(src) > 0 {
		n := bytes.IndexByte(src, '<')
		if n < 0 {
			n = len(src)
		}
		b.WriteString(unescape(string(src[:n])))
		src = src[n:]
		if n = bytes.IndexByte(src, '>'); n < 0 {
			break
		}
		src = src[n+1:]
	}
	return b.String()
}

// Hit returns the first match in a text, or "".
func (d *Redaction) Hit(s string) (string, error) {
	for i, p := range d.Patterns {
		spans, err := p.Find(s)
		if err != nil {
			return "", err
		}
		if len(spans) > 0 {
			d.Found[i] = true
			return s[spans[0].From:spans[0].To], nil
		}
	}
	return "", nil
}

// Check returns the first match that is left in a part, or "".
func (d *Redaction) Check(name string, src []byte, space map[string]string, g *Grammar, wordy func(n *Node, attr string) bool, lim media.Limits) (string, error) {
	root, err := Parse(name, src, space, lim)
	if err != nil {
		return "", err
	}
	hit := ""
	texts := g.Streams(src, root)
	if g.Other != nil {
		if other := g.Other(g, root); other != nil {
			texts = append(texts, other.Streams(src, root)...)
		}
	}
	for _, s := range texts {
		if hit, err = d.Hit(s.String()); hit != "" || err != nil {
			return hit, err
		}
	}
	root.Walk(func(n *Node) bool {
		for k := range n.Attr {
			if a := &n.Attr[k]; hit == "" && err == nil && !strings.HasPrefix(a.Name, "xmlns") && wordy(n, a.Name) {
				hit, err = d.Hit(a.Val)
				if plain, ok := decoded(a); ok && hit == "" && err == nil {
					hit, err = d.Hit(plain)
				}
			}
		}
		return hit == "" && err == nil
	})
	return hit, err
}

// Plain returns the matches that are plain words of some length. They have no business anywhere in a result, not even
// where no program would show them.
func (d *Redaction) Plain() []string {
	var out []string
	for _, m := range d.Matches {
		if m.Source == "" && len(m.Text) >= 4 && strings.Trim(m.Text, "0123456789.-") != "" {
			out = append(out, m.Text)
		}
	}
	return out
}

// Scan looks through bytes that are no XML: for the words as UTF-8 and UTF-16, and for matches in every run of
// characters. It returns the first match, or "".
func (d *Redaction) Scan(data []byte) (string, error) {
	for _, wide := range []int{0, 1, 2} { // one byte a character; two; two from an odd offset
		for _, run := range runs(data, wide) {
			hit, err := d.Hit(run)
			if hit != "" || err != nil {
				return hit, err
			}
		}
	}
	return "", nil
}

// runs returns the texts of four characters and more that stand in binary data, joined by line feeds.
func runs(data []byte, wide int) []string {
	var out []string
	var b, run strings.Builder
	flush := func() {
		if run.Len() >= 4 {
			b.WriteString(run.String())
			b.WriteByte('\n')
		}
		run.Reset()
		if b.Len() > 1<<20 {
			out = append(out, b.String())
			b.Reset()
		}
	}
	if wide == 0 {
		for i := 0; i < len(data); {
			r, n := utf8.DecodeRune(data[i:])
			if r == utf8.RuneError && n <= 1 || r < 0x20 && r != '\t' && r != '\n' && r != '\r' {
				flush()
				i++
				continue
			}
			run.WriteRune(r)
			i += n
		}
	} else {
		for i := wide - 1; i+1 < len(data); i += 2 {
			r := rune(data[i]) | rune(data[i+1])<<8
			if r < 0x20 && r != '\t' || r >= 0xd800 && r < 0xe000 || r > 0x2fff {
				flush()
				continue
			}
			run.WriteRune(r)
		}
	}
	flush()
	return append(out, b.String())
}

// Unfound says which matches were nowhere.
func (d *Redaction) Unfound() []string {
	var out []string
	for i, hit := range d.Found {
		if !hit {
			out = append(out, fmt.Sprintf("Nothing matches %s.", said(d.Matches[i])))
		}
	}
	return out
}

func said(m media.Match) string {
	if m.Source != "" {
		return "/" + m.Source + "/" + m.Flags
	}
	return fmt.Sprintf("%q", m.Text)
}

// Left is the refusal of a result in which words are left.
func Left(where, what string) error {
	if r := []rune(what); len(r) > 80 {
		what = string(r[:79]) + "…"
	}
	return media.Failf("%q still stands in %s of the result: either the replacement matches itself, or the place cannot be changed. Choose another replacement. Nothing was changed.", what, where)
}
