package ooxml

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/flow"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// slide is a slide as the deck lists it.
type slide struct {
	id, rid, part string
}

// slides returns the slides in the order of the deck.
func (f *file) slides() ([]slide, error) {
	root, err := f.tree(f.main)
	if err != nil {
		return nil, err
	}
	var out []slide
	if l := root.Child("p:sldIdLst"); l != nil {
		for _, k := range l.Kids {
			if k.Name != "p:sldId" {
				continue
			}
			rel, ok := f.rel(f.main, k.Get("r:id"))
			if !ok || rel.external || !f.has(rel.target) {
				return nil, media.Failf("%s is damaged: slide %d is not in it.", f.r.In.Name, len(out)+1)
			}
			out = append(out, slide{k.Get("id"), k.Get("r:id"), rel.target})
		}
	}
	if len(out) > f.r.Limits.WithDefaults().Pages {
		return nil, media.Failf("%s has %d slides, more than the %d that are allowed.", f.r.In.Name, len(out), f.r.Limits.WithDefaults().Pages)
	}
	return out, nil
}

// shape is a shape of a slide that can be named.
type shape struct {
	node        *tree.Node
	name        string
	place, ph   string // kind of placeholder; "" is none. ph is its idx
	placeholder bool
}

// shapes returns the shapes of a slide in order, those in groups too.
func shapes(root *tree.Node) []shape {
	var out []shape
	var walk func(n *tree.Node)
	walk = func(n *tree.Node) {
		for _, k := range n.Kids {
			switch k.Name {
			case "p:cSld", "p:spTree":
				walk(k)
			case "p:grpSp":
				walk(k)
			case "mc:AlternateContent":
				if c := choice(k); c != nil {
					walk(c)
				}
			case "p:sp", "p:pic", "p:graphicFrame", "p:cxnSp", "p:contentPart":
				s := shape{node: k}
				for _, nv := range k.Kids {
					if !strings.HasPrefix(nv.Name, "p:nv") {
						continue
					}
					if c := nv.Child("p:cNvPr"); c != nil {
						s.name = c.Get("name")
					}
					if pr := nv.Child("p:nvPr"); pr != nil {
						if ph := pr.Child("p:ph"); ph != nil {
							s.placeholder = true
							if s.place = ph.Get("type"); s.place == "" {
								s.place = "obj"
							}
							s.ph = ph.Get("idx")
						}
					}
				}
				out = append(out, s)
			}
		}
	}
	walk(root)
	return out
}

func (s *shape) title() bool { return s.place == "title" || s.place == "ctrTitle" }

// title returns the text of the title placeholder of a slide.
func (f *file) title(part string) string {
	root, err := f.tree(part)
	if err != nil {
		return ""
	}
	for _, s := range shapes(root) {
		if body := s.node.Child("p:txBody"); s.title() && body != nil {
			return strings.Join(strings.Fields(textOf(body)), " ")
		}
	}
	return ""
}

// textOf returns the text of a text body, a line for each paragraph.
func textOf(body *tree.Node) string {
	var lines []string
	for _, p := range body.All("a:p") {
		var b strings.Builder
		p.Walk(func(k *tree.Node) bool {
			switch k.Name {
			case "a:t":
				b.WriteString(k.Words())
			case "a:br":
				b.WriteString("\n")
			}
			return true
		})
		lines = append(lines, b.String())
	}
	return strings.Join(lines, "\n")
}

// deckReader reads slides into a neutral document.
type deckReader struct {
	f        *file
	part     string
	doc      *flow.Doc
	pictures bool
	authors  map[string]string
}

// readDeck reads the slides in the order of the deck, each under its title, with notes and comments.
func (f *file) readDeck(pictures bool) (*flow.Doc, error) {
	list, err := f.slides()
	if err != nil {
		return nil, err
	}
	d := &deckReader{f: f, doc: &flow.Doc{Title: f.property("dc:title")}, pictures: pictures, authors: map[string]string{}}
	d.readAuthors()
	for i, s := range list {
		if i > 0 {
			d.doc.Blocks = append(d.doc.Blocks, flow.Block{Kind: flow.Rule})
		}
		if err := d.slide(i, s); err != nil {
			return nil, err
		}
	}
	return d.doc, nil
}

func (d *deckReader) readAuthors() {
	for _, kind := range []string{"commentAuthors", "authors"} {
		for _, part := range d.f.to(d.f.main, kind) {
			if root, err := d.f.tree(part); err == nil {
				root.Walk(func(k *tree.Node) bool {
					if k.Name == "p:cmAuthor" || k.Name == "p188:author" {
						d.authors[k.Get("id")] = k.Get("name")
					}
					return true
				})
			}
		}
	}
}

func (d *deckReader) slide(i int, s slide) error {
	root, err := d.f.tree(s.part)
	if err != nil {
		return err
	}
	if v := root.Get("show"); v == "0" || v == "false" {
		d.f.warn("Slide %d is hidden.", i+1)
	}
	d.part = s.part
	head := flow.Block{Kind: flow.Heading, Level: 1}
	var body []flow.Block
	for _, sh := range shapes(root) {
		if sh.title() && head.Runs == nil {
			if b := sh.node.Child("p:txBody"); b != nil {
				for k, p := range b.All("a:p") {
					if k > 0 {
						head.Runs = append(head.Runs, flow.Run{Text: " "})
					}
					head.Runs = append(head.Runs, d.runs(p)...)
				}
				continue
			}
		}
		body = append(body, d.shape(&sh)...)
	}
	if flow.Blank(head.Runs) {
		head.Runs = []flow.Run{{Text: fmt.Sprintf("Slide %d", i+1)}}
	}
	if err := d.comments(&head); err != nil {
		return err
	}
	d.doc.Blocks = append(append(d.doc.Blocks, head), body...)
	for _, part := range d.f.to(s.part, "notesSlide") {
		notes, err := d.f.tree(part)
		if err != nil {
			return err
		}
		d.part = part
		var said []flow.Block
		for _, sh := range shapes(notes) {
			if sh.place == "body" {
				if b := sh.node.Child("p:txBody"); b != nil {
					said = append(said, d.paragraphs(b, false)...)
				}
			}
		}
		if strings.TrimSpace((&flow.Doc{Blocks: said}).Text(flow.Options{})) != "" {
			d.doc.Blocks = append(d.doc.Blocks, flow.Block{Kind: flow.Aside, Label: "Notes", Blocks: said})
		}
	}
	return nil
}

// comments puts references to the comments of a slide behind its title.
func (d *deckReader) comments(head *flow.Block) error {
	for _, part := range d.f.to(d.part, "comments") {
		root, err := d.f.tree(part)
		if err != nil {
			return err
		}
		root.Walk(func(k *tree.Node) bool {
			if k.Name != "p:cm" && k.Name != "p188:cm" && k.Name != "p188:reply" {
				return true
			}
			n := flow.Note{Kind: flow.Comment, Author: d.authors[k.Get("authorId")], Date: day(k.Get("dt") + k.Get("created"))}
			text := ""
			if t := k.Child("p:text"); t != nil {
				text = t.Words()
			} else if b := k.Child("p188:txBody"); b != nil {
				text = textOf(b)
			}
			n.Blocks = []flow.Block{flow.P(text)}
			d.doc.Notes = append(d.doc.Notes, n)
			head.Runs = append(head.Runs, flow.Run{Note: len(d.doc.Notes)})
			return true
		})
	}
	return nil
}

func (d *deckReader) shape(s *shape) []flow.Block {
	if s.place == "dt" || s.place == "sldNum" {
		return nil
	}
	var out []flow.Block
	if s.node.Name == "p:pic" {
		alt := s.name
		if nv := s.node.Child("p:nvPicPr"); nv != nil {
			if c := nv.Child("p:cNvPr"); c != nil && c.Get("descr") != "" {
				alt = c.Get("descr")
			}
		}
		for _, blip := range s.node.All("a:blip") {
			if rel, ok := d.f.rel(d.part, blip.Get("r:embed")+blip.Get("r:link")); ok {
				out = append(out, flow.Block{Runs: []flow.Run{{Image: d.f.image(rel, alt, d.pictures)}}})
			}
		}
		return out
	}
	if b := s.node.Child("p:txBody"); b != nil {
		return d.paragraphs(b, s.place == "body" || s.place == "obj")
	}
	s.node.Walk(func(k *tree.Node) bool {
		switch k.Name {
		case "a:tbl":
			out = append(out, d.table(k))
			return false
		case "c:chart":
			if rel, ok := d.f.rel(d.part, k.Get("r:id")); ok && d.f.has(rel.target) {
				out = append(out, d.f.chartTable(rel.target)...)
			}
		case "dgm:relIds":
			if rel, ok := d.f.rel(d.part, k.Get("r:dm")); ok && d.f.has(rel.target) {
				out = append(out, d.f.diagram(rel.target)...)
			}
		case "mc:AlternateContent":
			if c := choice(k); c != nil {
				sub := *s
				sub.node = c
				out = append(out, d.shape(&sub)...)
			}
			return false
		}
		return true
	})
	return out
}

// paragraphs reads a text body; bulleted says that paragraphs are items unless they say otherwise.
func (d *deckReader) paragraphs(body *tree.Node, bulleted bool) []flow.Block {
	var out []flow.Block
	for _, p := range body.Kids {
		if p.Name != "a:p" {
			continue
		}
		b := flow.Block{Runs: d.runs(p)}
		item, ordered, level := bulleted, false, 0
		if pr := p.Child("a:pPr"); pr != nil {
			level, _ = strconv.Atoi(pr.Get("lvl"))
			switch {
			case pr.Child("a:buNone") != nil:
				item = false
			case pr.Child("a:buAutoNum") != nil:
				item, ordered = true, true
			case pr.Child("a:buChar", "a:buBlip") != nil:
				item = true
			}
		}
		if item && !flow.Blank(b.Runs) {
			b.Kind, b.Level, b.Ordered = flow.Item, max(0, min(level, 8))+1, ordered
		}
		out = append(out, b)
	}
	return out
}

func (d *deckReader) runs(p *tree.Node) []flow.Run {
	var out []flow.Run
	for _, k := range p.Kids {
		switch k.Name {
		case "a:br":
			out = append(out, flow.Run{Text: "\n"})
		case "a:r", "a:fld":
			r := flow.Run{}
			if t := k.Child("a:t"); t != nil {
				r.Text = t.Words()
			}
			if pr := k.Child("a:rPr"); pr != nil {
				r.Bold, r.Italic = truth(pr.Get("b")), truth(pr.Get("i"))
				r.Strike = pr.Get("strike") != "" && pr.Get("strike") != "noStrike"
				if base, err := strconv.Atoi(pr.Get("baseline")); err == nil {
					r.Super, r.Sub = base > 0, base < 0
				}
				if h := pr.Child("a:hlinkClick"); h != nil {
					if rel, ok := d.f.rel(d.part, h.Get("r:id")); ok && rel.external {
						r.Link = rel.target
					}
				}
			}
			out = append(out, r)
		case "m:oMath", "m:oMathPara", "mc:AlternateContent":
			if s := mathWords(k); s != "" {
				out = append(out, flow.Run{Text: s})
			}
		}
	}
	return out
}

func truth(s string) bool { return s == "1" || s == "true" }

func (d *deckReader) table(n *tree.Node) flow.Block {
	b := flow.Block{Kind: flow.Table}
	if pr := n.Child("a:tblPr"); pr != nil && truth(pr.Get("firstRow")) {
		b.Heads = 1
	}
	for _, tr := range n.Kids {
		if tr.Name != "a:tr" {
			continue
		}
		var row []flow.Cell
		for _, tc := range tr.Kids {
			if tc.Name != "a:tc" || truth(tc.Get("hMerge")) || truth(tc.Get("vMerge")) {
				continue
			}
			c := flow.Cell{}
			c.ColSpan, _ = strconv.Atoi(tc.Get("gridSpan"))
			c.RowSpan, _ = strconv.Atoi(tc.Get("rowSpan"))
			c.ColSpan, c.RowSpan = max(0, c.ColSpan), max(0, c.RowSpan)
			if body := tc.Child("a:txBody"); body != nil {
				c.Blocks = d.paragraphs(body, false)
			}
			row = append(row, c)
		}
		b.Rows = append(b.Rows, row)
	}
	return b
}

// chartTable reads the values that a chart shows: a row for each category, a column for each series.
func (f *file) chartTable(part string) []flow.Block {
	root, err := f.tree(part)
	if err != nil {
		f.warn("A chart cannot be read.")
		return nil
	}
	var out []flow.Block
	if c := root.Child("c:chart"); c != nil {
		if t := c.Child("c:title"); t != nil {
			if s := strings.TrimSpace(textOf(t)); s != "" {
				out = append(out, flow.P(s))
			}
		}
	}
	head := []flow.Cell{cellOf("")}
	var cats []string
	var cols [][]string
	for _, ser := range root.All("c:ser") {
		name := ""
		if tx := ser.Child("c:tx"); tx != nil {
			name = strings.Join(points(tx), " ")
		}
		head = append(head, cellOf(name))
		if c := ser.Child("c:cat", "c:xVal"); c != nil && cats == nil {
			cats = points(c)
		}
		var vals []string
		if v := ser.Child("c:val", "c:yVal"); v != nil {
			vals = points(v)
		}
		cols = append(cols, vals)
	}
	if len(cols) == 0 {
		return out
	}
	rows := len(cats)
	for _, c := range cols {
		rows = max(rows, len(c))
	}
	b := flow.Block{Kind: flow.Table, Heads: 1, Rows: [][]flow.Cell{head}}
	at := func(s []string, i int) flow.Cell {
		if i < len(s) {
			return cellOf(s[i])
		}
		return cellOf("")
	}
	for i := range rows {
		row := []flow.Cell{at(cats, i)}
		for _, c := range cols {
			row = append(row, at(c, i))
		}
		b.Rows = append(b.Rows, row)
	}
	return append(out, b)
}

func cellOf(s string) flow.Cell { return flow.Cell{Blocks: []flow.Block{flow.P(s)}} }

// maxPoints bounds the index that a point of a chart may claim.
const maxPoints = 100_000

// points returns the cached values below an element, by their index.
func points(n *tree.Node) []string {
	var out []string
	for _, pt := range n.All("c:pt") {
		i, err := strconv.Atoi(pt.Get("idx"))
		if err != nil || i < 0 || i > maxPoints {
			continue
		}
		for len(out) <= i {
			out = append(out, "")
		}
		if v := pt.Child("c:v"); v != nil {
			out[i] = strings.TrimSpace(out[i] + " " + v.Words())
		}
	}
	if v := n.Child("c:v"); v != nil && out == nil {
		out = []string{v.Words()}
	}
	return out
}

// diagram reads the words of a diagram (SmartArt).
func (f *file) diagram(part string) []flow.Block {
	root, err := f.tree(part)
	if err != nil {
		f.warn("A diagram cannot be read.")
		return nil
	}
	var out []flow.Block
	for _, pt := range root.All("dgm:pt") {
		if t := pt.Child("dgm:t"); t != nil {
			if s := strings.TrimSpace(textOf(t)); s != "" {
				out = append(out, flow.Block{Kind: flow.Item, Level: 1, Runs: []flow.Run{{Text: s}}})
			}
		}
	}
	return out
}
