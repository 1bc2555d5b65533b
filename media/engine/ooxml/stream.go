package ooxml

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/media/internal/tree"
)

// Bytes of running text are not the same text to everyone: a reader who accepts all changes sees no deletions, one who
// declines them no insertions, few see hidden text, and programs see the instructions of fields.
const (
	isDeleted = 1 << iota
	isInserted
	isHidden
	isInstr
	isFormat  // takes no room: a soft hyphen, a joiner
	isBetween // separates instructions and is no text otherwise
)

// stream is running text that knows where each byte of it stands in the source.
type stream struct {
	text  []byte
	segs  []seg
	flags uint8 // of all segments
	loose bool  // not running text: the content of one element
}

// seg is a piece of a stream that stands in the source in one piece: byte for byte where both are of one length, else as
// a whole. What only separates stands nowhere, at -1.
type seg struct {
	at, n    int32 // in the text
	from, to int32 // in the source
	node     *tree.Node
	flag     uint8
}

func (s *stream) put(text string, from, to int, node *tree.Node, flag uint8) {
	s.segs = append(s.segs, seg{int32(len(s.text)), int32(len(text)), int32(from), int32(to), node, flag})
	s.text = append(s.text, text...)
	s.flags |= flag
}

func (s *stream) separate(flag uint8) {
	if n := len(s.segs); n > 0 && (s.segs[n-1].from >= 0 || (s.segs[n-1].flag^flag)&isInstr != 0) {
		s.put("\n", -1, -1, nil, flag)
	}
}

// seg returns the segment of a byte.
func (s *stream) seg(i int) *seg {
	k := sort.Search(len(s.segs), func(k int) bool { return int(s.segs[k].at) > i })
	return &s.segs[k-1]
}

// source returns where a byte of the segment stands.
func (g *seg) source(i int) (from, to int) {
	if g.to-g.from == g.n {
		at := int(g.from-g.at) + i
		return at, at + 1
	}
	return int(g.from), int(g.to)
}

// chars adds the characters of a text node.
func (s *stream) chars(src []byte, n, owner *tree.Node, flag uint8) {
	raw := string(src[n.In:n.Out])
	literal := n.In != n.From
	plain := 0 // where the plain text that is not added yet begins
	flush := func(to int) {
		if to > plain {
			s.put(raw[plain:to], n.In+plain, n.In+to, owner, flag)
		}
	}
	for i := 0; i < len(raw); {
		w, text, fl := 1, "", flag
		switch {
		case raw[i] >= utf8.RuneSelf:
			_, w = utf8.DecodeRuneInString(raw[i:])
			if formatting(raw[i : i+w]) {
				text, fl = raw[i:i+w], flag|isFormat
			}
		case raw[i] == '&' && !literal:
			if text, w = tree.Reference(raw, i); formatting(text) {
				fl |= isFormat
			}
		}
		if text != "" {
			flush(i)
			s.put(text, n.In+i, n.In+i+w, owner, fl)
			plain = i + w
		}
		i += w
	}
	flush(len(raw))
}

// formatting reports whether a character is there for the layout and is not seen.
func formatting(s string) bool {
	switch r, _ := utf8.DecodeRuneInString(s); r {
	case 0xad, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2060, 0xfeff:
		return true
	}
	return false
}

// streams takes the words of a part: the running text of it, that of each text box and alternative in it, and what stands
// in elements of any other kind.
func streams(src []byte, root *tree.Node) []*stream {
	g := &gatherer{src: src}
	main := &stream{}
	g.out = append(g.out, main)
	g.walk(root, main, 0, false)
	var out []*stream
	for _, s := range g.out {
		if len(s.text) > 0 {
			out = append(out, s)
		}
	}
	return out
}

type gatherer struct {
	src []byte
	out []*stream
}

func (g *gatherer) apart(n *tree.Node, flag uint8) {
	s := &stream{}
	g.out = append(g.out, s)
	g.walk(n, s, flag, false)
}

// numbers are elements whose text is measured or counted and never words.
var numbers = []string{
	"wp:posOffset", "wp14:pctPosHOffset", "wp14:pctPosVOffset", "wp14:pctWidth", "wp14:pctHeight", "ep:TotalTime",
	"ep:Pages", "ep:Words", "ep:Characters", "ep:Lines", "ep:Paragraphs", "ep:Slides", "ep:Notes", "ep:HiddenSlides",
	"ep:MMClips", "ep:CharactersWithSpaces", "ep:DocSecurity", "ep:ScaleCrop", "ep:LinksUpToDate", "ep:SharedDoc",
	"ep:HyperlinksChanged", "ep:AppVersion", "cp:revision", "cp:version", "dcterms:created", "dcterms:modified",
	"cp:lastPrinted", "vt:i4", "vt:i2", "vt:i8", "vt:r8", "vt:bool", "vt:filetime", "vt:clsid", "c:formatCode",
}

func isNumber(name string) bool {
	for _, n := range numbers {
		if n == name {
			return true
		}
	}
	return false
}

// numericProperty reports whether an element is the value of a property that an author gave a number.
func numericProperty(n *tree.Node) bool {
	return isNumber(n.Name) && n.Parent != nil && n.Parent.Name == "cust:property"
}

func (g *gatherer) walk(n *tree.Node, s *stream, flag uint8, para bool) {
	for _, k := range n.Kids {
		switch k.Name {
		case "":
			if strings.TrimSpace(k.Text) != "" && (!isNumber(n.Name) || numericProperty(n)) {
				one := &stream{loose: true}
				one.chars(g.src, k, n, 0)
				g.out = append(g.out, one)
			}
		case "w:t", "w:delText", "a:t", "m:t":
			g.text(k, s, flag)
		case "w:instrText", "w:delInstrText":
			g.text(k, s, flag|isInstr)
		case "w:fldChar":
			s.separate(isInstr | isBetween)
		case "w:tab", "w:ptab", "w:br", "w:cr", "a:br", "w:noBreakHyphen", "w:sym":
			if para {
				if t := sign(k); t != "" {
					s.put(t, k.From, k.To, k, flag)
				}
			}
			g.walk(k, s, flag, false)
		case "w:pPr", "w:rPr", "a:pPr", "a:rPr", "a:endParaRPr", "w:sectPr", "w:tblPr", "w:trPr", "w:tcPr", "w:sdtPr":
			g.walk(k, &stream{}, flag, false) // nothing in here is running text
		case "w:p", "a:p":
			if para {
				g.apart(k, flag)
				continue
			}
			s.separate(0)
			g.walk(k, s, flag, true)
			s.separate(endOf(k))
		case "w:txbxContent", "mc:Fallback", "w:rt":
			g.apart(k, flag)
		case "w:del", "w:moveFrom":
			g.walk(k, s, flag|isDeleted, para)
		case "w:ins", "w:moveTo":
			g.walk(k, s, flag|isInserted, para)
		case "w:r":
			fl := flag
			if pr := k.Child("w:rPr"); pr != nil && on(pr, "w:vanish") {
				fl |= isHidden
			}
			g.walk(k, s, fl, para)
		default:
			g.walk(k, s, flag, para)
		}
	}
}

// endOf says who sees the end of a paragraph: a deleted one joins it with the next.
func endOf(p *tree.Node) uint8 {
	pr := p.Child("w:pPr")
	if pr == nil {
		return 0
	}
	if pr = pr.Child("w:rPr"); pr == nil {
		return 0
	}
	switch {
	case pr.Child("w:del", "w:moveFrom") != nil:
		return isDeleted
	case pr.Child("w:ins", "w:moveTo") != nil:
		return isInserted
	}
	return 0
}

func (g *gatherer) text(n *tree.Node, s *stream, flag uint8) {
	for _, k := range n.Kids {
		if k.Name == "" {
			s.chars(g.src, k, n, flag)
		}
	}
}

// view is the text that one kind of reader sees.
type view struct {
	text  string
	index [][2]int32 // pieces: where they begin here and in the stream; nil: all is the same
}

// view returns the text of the segments that are kept.
func (s *stream) view(keep func(fl uint8) bool) view {
	v := view{}
	var b strings.Builder
	same, gap := true, true
	for i := range s.segs {
		g := &s.segs[i]
		if !keep(g.flag) {
			same, gap = false, true
			continue
		}
		if gap {
			v.index = append(v.index, [2]int32{int32(b.Len()), g.at})
			gap = false
		}
		b.Write(s.text[g.at : g.at+g.n])
	}
	if v.text = b.String(); same {
		v.index = nil
	}
	return v
}

// views returns the different texts that a stream is.
func (s *stream) views() []view {
	var out []view
	add := func(keep func(fl uint8) bool) {
		v := s.view(keep)
		for _, o := range out {
			if o.text == v.text {
				return
			}
		}
		if v.text != "" {
			out = append(out, v)
		}
	}
	add(func(fl uint8) bool { return fl&isInstr == 0 })
	if s.flags == 0 {
		return out
	}
	without := func(bits uint8) {
		if s.flags&bits != 0 {
			add(func(fl uint8) bool { return fl&(bits|isInstr) == 0 })
		}
	}
	for _, bits := range []uint8{isDeleted, isInserted, isHidden, isDeleted | isHidden, isInserted | isHidden} {
		without(bits)
		if s.flags&isFormat != 0 {
			without(bits | isFormat)
		}
	}
	without(isFormat)
	if s.flags&isInstr != 0 {
		add(func(fl uint8) bool { return fl&isInstr != 0 })
		if s.flags&isFormat != 0 {
			add(func(fl uint8) bool { return fl&isInstr != 0 && fl&isFormat == 0 })
		}
	}
	return out
}

// at returns the place in the stream of a byte of the view.
func (v *view) at(i int) int {
	if v.index == nil {
		return i
	}
	k := sort.Search(len(v.index), func(k int) bool { return int(v.index[k][0]) > i }) - 1
	return int(v.index[k][1]) + i - int(v.index[k][0])
}

// mark finds the matches of patterns in all views. Which match each byte belongs to is in the slice, from 1; matches that
// share a byte are one.
func (s *stream) mark(red *tree.Redaction) (marks []int32, n int, err error) {
	for _, v := range s.views() {
		for i, p := range red.Patterns {
			spans, err := p.Find(v.text)
			if err != nil {
				return nil, 0, err
			}
			for _, sp := range spans {
				red.Found[i] = true
				if marks == nil {
					marks = make([]int32, len(s.text))
				}
				id := int32(n + 1)
				for k := sp.From; k < sp.To; k++ {
					if have := marks[v.at(k)]; have != 0 && have != id {
						if id > int32(n) {
							id = have
							continue
						}
						for at, m := range marks { // it bridges two others
							if m == have {
								marks[at] = id
							}
						}
					}
				}
				n = max(n, int(id))
				for k := sp.From; k < sp.To; k++ {
					marks[v.at(k)] = id
				}
			}
		}
	}
	return marks, n, nil
}

// cut returns the splices that put a replacement, which is markup, in the place of each match. It stands where the first byte of a match
// stood, so it looks like that.
func (s *stream) cut(marks []int32, with func(*tree.Node) string) []tree.Splice {
	var out []tree.Splice
	done := map[int32]bool{}
	spaced := map[*tree.Node]bool{}
	for i, id := range marks {
		if id == 0 {
			continue
		}
		g := s.seg(i)
		if g.from < 0 {
			continue
		}
		node := g.node
		from, to := g.source(i)
		ins := ""
		if !done[id] {
			done[id] = true
			ins = with(node)
			if !textElement(node) && !s.loose {
				ins = signText(node, ins)
			}
		}
		if textElement(node) && !spaced[node] && strings.HasPrefix(node.Name, "w:") && node.Find("xml:space") == nil {
			spaced[node] = true
			out = append(out, tree.Splice{From: node.In - 1, To: node.In - 1, With: ` xml:space="preserve"`})
		}
		if k := len(out) - 1; ins == "" && k >= 0 && out[k].To == from && out[k].From != out[k].To {
			out[k].To = to
			continue
		}
		if k := len(out) - 1; k >= 0 && out[k].From == from && out[k].To == to {
			continue // a further byte of the same character
		}
		out = append(out, tree.Splice{From: from, To: to, With: ins})
	}
	return out
}

func textElement(n *tree.Node) bool {
	switch n.Name {
	case "w:t", "w:delText", "a:t", "m:t", "w:instrText", "w:delInstrText":
		return true
	}
	return false
}

// signText puts text in the place of an element that stood for a character.
func signText(n *tree.Node, text string) string {
	switch {
	case text == "":
		return ""
	case strings.HasPrefix(n.Name, "w:"):
		p := prefixOf(n)
		tag := p + "t"
		for up := n.Parent; up != nil; up = up.Parent {
			if up.Name == "w:del" || up.Name == "w:moveFrom" {
				tag = p + "delText"
			}
		}
		return "<" + tag + ` xml:space="preserve">` + text + "</" + tag + ">"
	}
	p := prefixOf(n)
	return "<" + p + "r><" + p + "t>" + text + "</" + p + "t></" + p + "r>"
}

// hit returns the first match of a stream, or "".
func (s *stream) hit(red *tree.Redaction) (string, error) {
	for _, v := range s.views() {
		if h, err := red.Hit(v.text); h != "" || err != nil {
			return h, err
		}
	}
	return "", nil
}
