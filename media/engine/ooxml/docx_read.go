package ooxml

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/flow"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// docReader reads the parts of a document into a neutral one.
type docReader struct {
	f        *file
	part     string // that is being read
	styles   map[string]*style
	nums     map[string]string // numId to abstract id
	levels   map[string]map[int]list
	override map[string]map[int]int // numId: level: start
	counts   map[string][]int       // by abstract id
	notes    map[string]int         // "footnote 2" to its number
	doc      *flow.Doc
	pictures bool // read the bytes of pictures
	hidden   int
	fields   []field
	pending  []flow.Block // text boxes and page breaks met within a paragraph
}

type field struct {
	instr  strings.Builder
	result bool
	link   string
}

// readDoc reads a document: body, headers and footers, notes and comments.
func (f *file) readDoc(pictures bool) (*flow.Doc, error) {
	d := &docReader{f: f, part: f.main, pictures: pictures, doc: &flow.Doc{Title: f.property("dc:title")}, notes: map[string]int{}, counts: map[string][]int{}}
	if err := d.readStyles(); err != nil {
		return nil, err
	}
	if err := d.readNumbering(); err != nil {
		return nil, err
	}
	root, err := f.tree(f.main)
	if err != nil {
		return nil, err
	}
	if err := d.readNotes(); err != nil {
		return nil, err
	}
	body := root.Child("w:body")
	if body == nil {
		return nil, media.Failf("%s is damaged: the document has no body.", f.r.In.Name)
	}
	head, err := d.margins("header", "Header")
	if err != nil {
		return nil, err
	}
	d.part = f.main
	blocks := d.blocks(body)
	foot, err := d.margins("footer", "Footer")
	if err != nil {
		return nil, err
	}
	d.doc.Blocks = slices.Concat(head, blocks, foot)
	if d.hidden > 0 {
		f.warn("Hidden text was left out: %s.", counted(d.hidden, "piece"))
	}
	return d.doc, nil
}

// property reads one of the core properties.
func (f *file) property(name string) string {
	for _, part := range f.to("", "core-properties") {
		if root, err := f.tree(part); err == nil {
			if k := root.Child(name); k != nil {
				return strings.TrimSpace(k.Words())
			}
		}
	}
	return ""
}

// readNotes numbers the notes in the order of their parts and reads them.
func (d *docReader) readNotes() error {
	type open struct {
		part string
		node *tree.Node
		at   int
	}
	var all []open
	for _, kind := range []struct {
		rel, el string
		kind    flow.NoteKind
	}{{"footnotes", "footnote", flow.Footnote}, {"endnotes", "endnote", flow.Endnote}, {"comments", "comment", flow.Comment}} {
		for _, part := range d.f.to(d.f.main, kind.rel) {
			root, err := d.f.tree(part)
			if err != nil {
				return err
			}
			for _, k := range root.Kids {
				if t := k.Get("w:type"); k.Name != "w:"+kind.el || t != "" && t != "normal" {
					continue
				}
				n := flow.Note{Kind: kind.kind}
				if kind.kind == flow.Comment {
					n.Author, n.Date = k.Get("w:author"), day(k.Get("w:date"))
				}
				d.doc.Notes = append(d.doc.Notes, n)
				d.notes[kind.el+" "+k.Get("w:id")] = len(d.doc.Notes)
				all = append(all, open{part, k, len(d.doc.Notes) - 1})
			}
		}
	}
	for _, o := range all {
		d.part = o.part
		blocks := d.blocks(o.node)
		if len(blocks) > 0 && len(blocks[0].Runs) > 0 { // the blank behind the number of a footnote
			blocks[0].Runs[0].Text = strings.TrimLeft(blocks[0].Runs[0].Text, " \t")
		}
		d.doc.Notes[o.at].Blocks = blocks
	}
	return nil
}

func day(date string) string {
	at, _, _ := strings.Cut(date, "T")
	return at
}

// margins reads the distinct headers or footers.
func (d *docReader) margins(rel, label string) ([]flow.Block, error) {
	var out []flow.Block
	var seen []string
	for _, part := range d.f.to(d.f.main, rel) {
		root, err := d.f.tree(part)
		if err != nil {
			return nil, err
		}
		d.part = part
		blocks := d.blocks(root)
		words := (&flow.Doc{Blocks: blocks}).Text(flow.Options{})
		if strings.TrimSpace(words) == "" || slices.Contains(seen, words) {
			continue
		}
		seen = append(seen, words)
		out = append(out, flow.Block{Kind: flow.Aside, Label: label, Blocks: blocks})
	}
	return out, nil
}

// blocks reads what stands in a body, a cell or a note.
func (d *docReader) blocks(n *tree.Node) []flow.Block {
	var out []flow.Block
	for _, k := range n.Kids {
		switch k.Name {
		case "w:p":
			out = d.paragraph(out, k)
		case "w:tbl":
			out = append(out, d.table(k))
		case "w:sdt":
			if c := k.Child("w:sdtContent"); c != nil {
				out = append(out, d.blocks(c)...)
			}
		case "w:customXml", "w:ins", "w:del", "w:moveFrom", "w:moveTo", "w:smartTag":
			out = append(out, d.blocks(k)...)
		case "mc:AlternateContent":
			if c := choice(k); c != nil {
				out = append(out, d.blocks(c)...)
			}
		case "m:oMathPara", "m:oMath":
			out = append(out, flow.P(mathWords(k)))
		case "w:altChunk":
			d.f.warn("A part of the document is a file of another format within it and was not read.")
		}
	}
	return out
}

// choice returns the branch that a reader takes.
func choice(n *tree.Node) *tree.Node {
	if c := n.Child("mc:Choice"); c != nil {
		return c
	}
	return n.Child("mc:Fallback")
}

func (d *docReader) paragraph(out []flow.Block, n *tree.Node) []flow.Block {
	b := flow.Block{}
	s, heading, num, level := d.shape(n)
	if heading > 0 {
		b.Kind, b.Level = flow.Heading, min(heading, 6)
	}
	b.Runs = d.runs(n, flow.Run{}, nil)
	pending := d.pending
	d.pending = nil
	switch {
	case b.Kind == flow.Heading && flow.Blank(b.Runs):
		b.Kind = flow.Para
	case b.Kind == flow.Heading:
	case s.coded:
		if k := len(out) - 1; k >= 0 && out[k].Kind == flow.Code {
			out[k].Runs = append(append(out[k].Runs, flow.Run{Text: "\n"}), b.Runs...)
			return append(out, pending...)
		}
		b.Kind = flow.Code
	default:
		d.listed(&b, num, level)
	}
	if s.quote && b.Kind == flow.Para {
		if k := len(out) - 1; k >= 0 && out[k].Kind == flow.Quote {
			out[k].Blocks = append(out[k].Blocks, b)
			return append(out, pending...)
		}
		b = flow.Block{Kind: flow.Quote, Blocks: []flow.Block{b}}
	}
	return append(append(out, b), pending...)
}

// runs reads what stands within a paragraph.
func (d *docReader) runs(n *tree.Node, base flow.Run, out []flow.Run) []flow.Run {
	for _, k := range n.Kids {
		sub := base
		switch k.Name {
		case "w:r", "m:r":
			out = d.run(k, base, out)
		case "w:hyperlink":
			if rel, ok := d.f.rel(d.part, k.Get("r:id")); ok && rel.external {
				sub.Link = rel.target
				if a := k.Get("w:anchor"); a != "" {
					sub.Link += "#" + a
				}
			} else if a := k.Get("w:anchor"); a != "" {
				sub.Link = "#" + a
			}
			out = d.runs(k, sub, out)
		case "w:ins", "w:moveTo":
			sub.Inserted = true
			out = d.runs(k, sub, out)
		case "w:del", "w:moveFrom":
			sub.Deleted = true
			out = d.runs(k, sub, out)
		case "w:fldSimple":
			sub.Link = fieldLink(k.Get("w:instr"))
			out = d.runs(k, sub, out)
		case "w:sdt":
			if c := k.Child("w:sdtContent"); c != nil {
				out = d.runs(c, base, out)
			}
		case "w:smartTag", "w:customXml", "w:dir", "w:bdo":
			out = d.runs(k, base, out)
		case "mc:AlternateContent":
			if c := choice(k); c != nil {
				out = d.runs(c, base, out)
			}
		case "m:oMath", "m:oMathPara":
			sub.Text = mathWords(k)
			out = append(out, sub)
		}
	}
	return out
}

// fieldLink returns the address of a field that is a link.
func fieldLink(instr string) string {
	words := strings.Fields(instr)
	if len(words) < 2 || !strings.EqualFold(words[0], "HYPERLINK") {
		return ""
	}
	prefix := ""
	for _, w := range words[1:] {
		switch {
		case w == `\l`:
			prefix = "#"
		case !strings.HasPrefix(w, `\`):
			return prefix + strings.Trim(w, `"`)
		}
	}
	return ""
}

func (d *docReader) run(n *tree.Node, r flow.Run, out []flow.Run) []flow.Run {
	if pr := n.Child("w:rPr"); pr != nil {
		if on(pr, "w:vanish") || on(pr, "w:webHidden") {
			if strings.TrimSpace(n.Words()) != "" && on(pr, "w:vanish") {
				d.hidden++
			}
			return out
		}
		r.Bold, r.Italic = on(pr, "w:b"), on(pr, "w:i")
		r.Strike = on(pr, "w:strike") || on(pr, "w:dstrike")
		r.Super, r.Sub = val(pr, "w:vertAlign") == "superscript", val(pr, "w:vertAlign") == "subscript"
		if s := d.styles[val(pr, "w:rStyle")]; s != nil {
			r.Code = s.coded
			switch s.name {
			case "strong":
				r.Bold = true
			case "emphasis":
				r.Italic = true
			}
		}
	}
	if k := len(d.fields) - 1; k >= 0 && d.fields[k].link != "" {
		r.Link = d.fields[k].link
	}
	put := func(s string) {
		if s != "" {
			x := r
			x.Text = s
			out = append(out, x)
		}
	}
	for _, k := range n.Kids {
		switch k.Name {
		case "w:t", "w:delText", "m:t":
			put(k.Words())
		case "w:instrText", "w:delInstrText":
			if i := len(d.fields) - 1; i >= 0 && !d.fields[i].result {
				d.fields[i].instr.WriteString(k.Words())
			}
		case "w:fldChar":
			d.fieldChar(k.Get("w:fldCharType"))
		case "w:tab", "w:ptab":
			put("\t")
		case "w:br", "w:cr":
			if k.Get("w:type") == "page" {
				d.pending = append(d.pending, flow.Block{Kind: flow.Page})
			} else {
				put("\n")
			}
		case "w:noBreakHyphen", "w:sym":
			put(sign(k))
		case "w:ruby":
			out = d.ruby(k, r, out)
		case "w:footnoteReference", "w:endnoteReference", "w:commentReference":
			kind := strings.TrimSuffix(strings.TrimPrefix(k.Name, "w:"), "Reference")
			if at := d.notes[kind+" "+k.Get("w:id")]; at > 0 {
				out = append(out, flow.Run{Note: at, Deleted: r.Deleted})
			}
		case "w:drawing", "w:pict", "w:object":
			out = d.drawing(k, r, out)
		case "mc:AlternateContent":
			if c := choice(k); c != nil {
				for _, x := range c.Kids {
					if x.Name == "w:drawing" || x.Name == "w:pict" || x.Name == "w:object" {
						out = d.drawing(x, r, out)
					}
				}
			}
		}
	}
	return out
}

// ruby reads words with their reading, which stands in brackets behind them.
func (d *docReader) ruby(n *tree.Node, base flow.Run, out []flow.Run) []flow.Run {
	if w := n.Child("w:rubyBase"); w != nil {
		out = d.runs(w, base, out)
	}
	if rt := n.Child("w:rt"); rt != nil {
		if said := flow.Words(d.runs(rt, flow.Run{}, nil)); strings.TrimSpace(said) != "" {
			base.Text = "(" + said + ")"
			out = append(out, base)
		}
	}
	return out
}

// sign returns the character that an element stands for.
func sign(n *tree.Node) string {
	switch n.Name {
	case "w:tab", "w:ptab":
		return "\t"
	case "w:br", "w:cr", "a:br":
		return "\n"
	case "w:noBreakHyphen":
		return "-"
	case "w:sym":
		c, err := strconv.ParseUint(n.Get("w:char"), 16, 16)
		if err != nil {
			return ""
		}
		if c >= 0xf000 && c < 0xf100 {
			c -= 0xf000
		}
		return string(rune(c))
	}
	return ""
}

func (d *docReader) fieldChar(kind string) {
	k := len(d.fields) - 1
	switch kind {
	case "begin":
		d.fields = append(d.fields, field{})
	case "separate":
		if k >= 0 {
			d.fields[k].result = true
			d.fields[k].link = fieldLink(d.fields[k].instr.String())
		}
	case "end":
		if k >= 0 {
			d.fields = d.fields[:k]
		}
	}
}
