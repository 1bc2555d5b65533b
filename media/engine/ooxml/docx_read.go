package ooxml

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/flow"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// style is what a style of a document says about the shape of text.
type style struct {
	name, based string
	heading     int // 1 to 9
	num         string
	level       int
	coded       bool
	quote       bool
}

// list is a level of a numbering.
type list struct {
	format string
	start  int
}

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
		f.warn("%d pieces of hidden text were left out.", d.hidden)
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

func val(n *tree.Node, child string) string {
	if k := n.Child(child); k != nil {
		return k.Get("w:val")
	}
	return ""
}

// on reports whether a switch such as w:b is on.
func on(n *tree.Node, child string) bool {
	k := n.Child(child)
	if k == nil {
		return false
	}
	switch k.Get("w:val") {
	case "0", "false", "off", "none":
		return false
	}
	return true
}

func (d *docReader) readStyles() error {
	d.styles = map[string]*style{}
	for _, part := range d.f.to(d.f.main, "styles") {
		root, err := d.f.tree(part)
		if err != nil {
			return err
		}
		for _, k := range root.Kids {
			if k.Name != "w:style" {
				continue
			}
			s := &style{name: strings.ToLower(val(k, "w:name")), based: val(k, "w:basedOn")}
			if pr := k.Child("w:pPr"); pr != nil {
				if o := pr.Child("w:outlineLvl"); o != nil {
					if n, err := strconv.Atoi(o.Get("w:val")); err == nil && n >= 0 && n < 9 {
						s.heading = n + 1
					}
				}
				if num := pr.Child("w:numPr"); num != nil {
					s.num = val(num, "w:numId")
					s.level, _ = strconv.Atoi(val(num, "w:ilvl"))
				}
			}
			if rest, ok := strings.CutPrefix(s.name, "heading "); ok {
				if n, err := strconv.Atoi(strings.TrimSpace(rest)); err == nil && n > 0 && n < 10 {
					s.heading = n
				}
			}
			switch s.name {
			case "title":
				s.heading = 1
			case "source code", "html preformatted", "preformatted text", "code", "plain text", "verbatim char", "html code", "source text", "html typewriter":
				s.coded = true
			case "quote", "intense quote", "block text", "quotations":
				s.quote = true
			}
			d.styles[k.Get("w:styleId")] = s
		}
	}
	for _, s := range d.styles { // what a style is based on, a few steps up
		for b, n := d.styles[s.based], 0; b != nil && n < 10; b, n = d.styles[b.based], n+1 {
			if s.heading == 0 {
				s.heading = b.heading
			}
			if s.num == "" {
				s.num, s.level = b.num, b.level
			}
			s.coded, s.quote = s.coded || b.coded, s.quote || b.quote
		}
	}
	return nil
}

func (d *docReader) readNumbering() error {
	d.nums, d.levels, d.override = map[string]string{}, map[string]map[int]list{}, map[string]map[int]int{}
	for _, part := range d.f.to(d.f.main, "numbering") {
		root, err := d.f.tree(part)
		if err != nil {
			return err
		}
		for _, k := range root.Kids {
			switch k.Name {
			case "w:abstractNum":
				m := map[int]list{}
				for _, l := range k.Kids {
					if l.Name == "w:lvl" {
						n, _ := strconv.Atoi(l.Get("w:ilvl"))
						start, err := strconv.Atoi(val(l, "w:start"))
						if err != nil {
							start = 1
						}
						m[n] = list{val(l, "w:numFmt"), start}
					}
				}
				d.levels[k.Get("w:abstractNumId")] = m
			case "w:num":
				id := k.Get("w:numId")
				d.nums[id] = val(k, "w:abstractNumId")
				for _, o := range k.Kids {
					if o.Name == "w:lvlOverride" {
						n, _ := strconv.Atoi(o.Get("w:ilvl"))
						if start, err := strconv.Atoi(val(o, "w:startOverride")); err == nil {
							if d.override[id] == nil {
								d.override[id] = map[int]int{}
							}
							d.override[id][n] = start
						}
					}
				}
			}
		}
	}
	return nil
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

func mathWords(n *tree.Node) string {
	var b strings.Builder
	n.Walk(func(k *tree.Node) bool {
		if k.Name == "m:t" {
			b.WriteString(k.Words())
		}
		return k.Name != "m:t"
	})
	return b.String()
}

// shape returns the style of a paragraph, its level as a heading (0 is none), and its list with the level there.
func (d *docReader) shape(n *tree.Node) (s *style, heading int, num string, level int) {
	s = &style{}
	pr := n.Child("w:pPr")
	if pr == nil {
		return s, 0, "", 0
	}
	if st := d.styles[val(pr, "w:pStyle")]; st != nil {
		s = st
	}
	heading, num, level = s.heading, s.num, s.level
	if np := pr.Child("w:numPr"); np != nil {
		if id := val(np, "w:numId"); id != "" {
			num = id
		}
		if l := val(np, "w:ilvl"); l != "" {
			level, _ = strconv.Atoi(l)
		}
	}
	if o := pr.Child("w:outlineLvl"); o != nil {
		if k, err := strconv.Atoi(o.Get("w:val")); err == nil && k >= 0 {
			heading = (k + 1) % 10
		}
	}
	return s, heading, num, level
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

// listed makes an item of a paragraph that is numbered.
func (d *docReader) listed(b *flow.Block, num string, level int) {
	abstract, ok := d.nums[num]
	if !ok || level < 0 || level > 8 || flow.Blank(b.Runs) {
		return
	}
	l, ok := d.levels[abstract][level]
	if !ok || l.format == "none" {
		return
	}
	b.Kind, b.Level = flow.Item, level+1
	b.Ordered = l.format != "bullet"
	key := abstract
	if d.override[num] != nil {
		key = num + "/" + abstract
	}
	c := d.counts[key]
	if c == nil {
		c = make([]int, 9)
		for i := range c {
			c[i] = -1 << 30
		}
		d.counts[key] = c
	}
	start := l.start
	if o, ok := d.override[num][level]; ok {
		start = o
	}
	if c[level] < -1<<29 {
		c[level] = start - 1
	}
	c[level]++
	for i := level + 1; i < len(c); i++ {
		c[i] = -1 << 30
	}
	if b.Ordered {
		b.Number = max(1, c[level])
	}
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

// drawing reads the pictures and the text boxes of a drawing.
func (d *docReader) drawing(n *tree.Node, r flow.Run, out []flow.Run) []flow.Run {
	alt := ""
	n.Walk(func(k *tree.Node) bool {
		switch k.Name {
		case "wp:docPr", "pic:cNvPr", "wps:cNvPr", "v:shape":
			for _, a := range []string{"descr", "alt", "title"} {
				if alt == "" {
					alt = k.Get(a)
				}
			}
		case "a:blip", "v:imagedata":
			id := k.Get("r:embed")
			if k.Name == "v:imagedata" {
				id = k.Get("r:id")
			}
			if rel, ok := d.f.rel(d.part, id); ok {
				x := r
				x.Text, x.Image = "", d.f.image(rel, alt, d.pictures)
				out = append(out, x)
			}
			alt = ""
		case "w:txbxContent":
			fields := d.fields
			d.fields = nil
			pending := d.pending
			d.pending = nil
			blocks := d.blocks(k)
			d.fields, d.pending = fields, pending
			d.pending = append(d.pending, flow.Block{Kind: flow.Aside, Label: "Text box", Blocks: blocks})
			return false
		case "mc:AlternateContent":
			if c := choice(k); c != nil {
				out = d.drawing(c, r, out)
			}
			return false
		case "c:chart":
			if rel, ok := d.f.rel(d.part, k.Get("r:id")); ok && d.f.has(rel.target) {
				d.pending = append(d.pending, d.f.chartTable(rel.target)...)
			}
		case "dgm:relIds":
			if rel, ok := d.f.rel(d.part, k.Get("r:dm")); ok && d.f.has(rel.target) {
				d.pending = append(d.pending, d.f.diagram(rel.target)...)
			}
		}
		return true
	})
	return out
}

// image names a picture as extracting the assets does.
func (f *file) image(rel relation, alt string, bytes bool) *flow.Image {
	im := &flow.Image{Name: path.Base(rel.target), Alt: alt}
	if rel.external {
		im.Name = rel.target
		return im
	}
	if bytes && f.has(rel.target) {
		if data, err := f.part(rel.target); err == nil {
			p := media.Identify(media.Payload{Data: data, Name: im.Name})
			im.Data, im.MIME = data, p.MIME
		}
	}
	return im
}

func (d *docReader) table(n *tree.Node) flow.Block {
	b := flow.Block{Kind: flow.Table}
	firstRow := false
	if pr := n.Child("w:tblPr"); pr != nil {
		if look := pr.Child("w:tblLook"); look != nil {
			bits, _ := strconv.ParseUint(look.Get("w:val"), 16, 32)
			firstRow = look.Get("w:firstRow") == "1" || look.Get("w:firstRow") == "true" || bits&0x20 != 0
		}
	}
	type origin struct{ row, cell int }
	above := map[int]origin{} // column to the cell that a vertical span would go on from
	headed := true
	var rows func(n *tree.Node)
	rows = func(n *tree.Node) {
		for _, k := range n.Kids {
			switch k.Name {
			case "w:sdt":
				if c := k.Child("w:sdtContent"); c != nil {
					rows(c)
				}
			case "w:customXml", "w:ins", "w:del":
				rows(k)
			case "w:tr":
				pr := k.Child("w:trPr")
				if headed = headed && pr != nil && on(pr, "w:tblHeader"); headed {
					b.Heads++
				}
				var row []flow.Cell
				col := 0
				if pr != nil {
					col, _ = strconv.Atoi(val(pr, "w:gridBefore"))
					for range min(col, 100) {
						row = append(row, flow.Cell{})
					}
				}
				for _, c := range cells(k) {
					span, merge := 1, ""
					if pr := c.Child("w:tcPr"); pr != nil {
						if s, err := strconv.Atoi(val(pr, "w:gridSpan")); err == nil && s > 1 {
							span = min(s, 1000)
						}
						if m := pr.Child("w:vMerge"); m != nil {
							if merge = m.Get("w:val"); merge == "" {
								merge = "continue"
							}
						}
					}
					if o, ok := above[col]; ok && merge == "continue" {
						cell := &b.Rows[o.row][o.cell]
						cell.RowSpan = len(b.Rows) - o.row + 1
						col += span
						continue
					}
					delete(above, col)
					cell := flow.Cell{Blocks: d.blocks(c)}
					if span > 1 {
						cell.ColSpan = span
					}
					if merge == "restart" {
						above[col] = origin{len(b.Rows), len(row)}
					}
					row = append(row, cell)
					col += span
				}
				b.Rows = append(b.Rows, row)
			}
		}
	}
	rows(n)
	if b.Heads == 0 && firstRow && len(b.Rows) > 1 {
		b.Heads = 1
	}
	return b
}

// cells returns the cells of a row, those in content controls too.
func cells(row *tree.Node) []*tree.Node {
	var out []*tree.Node
	for _, k := range row.Kids {
		switch k.Name {
		case "w:tc":
			out = append(out, k)
		case "w:sdt":
			if c := k.Child("w:sdtContent"); c != nil {
				out = append(out, cells(c)...)
			}
		case "w:customXml", "w:ins", "w:del":
			out = append(out, cells(k)...)
		}
	}
	return out
}
