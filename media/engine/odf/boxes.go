package odf

import (
	"cmp"
	"encoding/base64"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/flow"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// drawing reads a frame: its picture as a run, its text as an aside.
func (rd *reader) drawing(n *tree.Node) (pics []flow.Run, asides []flow.Block) {
	alt := ""
	for _, k := range []string{"svg:desc", "svg:title"} {
		if t := n.Child(k); t != nil && t.Words() != "" {
			alt = t.Words()
		}
	}
	picture := false
	for _, k := range n.Kids {
		switch k.Name {
		case "draw:image":
			if !picture && n.Child("draw:object", "table:table") == nil {
				picture = true // others show the same in other formats
				pics = append(pics, flow.Run{Image: rd.image(k, alt)})
			}
		case "draw:object":
			asides = append(asides, rd.object(k)...)
		case "draw:text-box":
			blocks := rd.blocks(k, 0)
			if captioned := k.All("draw:image"); len(captioned) > 0 || len(blocks) > 0 {
				asides = append(asides, blocks...)
			}
		case "table:table":
			asides = append(asides, rd.table(k))
		case "text:p", "text:h":
			asides = append(asides, rd.para(k)...)
		case "text:list":
			asides = append(asides, rd.list(k, 1, "")...)
		default:
			if strings.HasPrefix(k.Name, "draw:") {
				p, a := rd.drawing(k)
				pics, asides = append(pics, p...), append(asides, a...)
			}
		}
	}
	return pics, keep(asides)
}

// keep leaves out paragraphs that show nothing.
func keep(blocks []flow.Block) []flow.Block {
	var out []flow.Block
	for _, b := range blocks {
		if b.Kind == flow.Para && flow.Blank(b.Runs) {
			continue
		}
		out = append(out, b)
	}
	return out
}

func (rd *reader) image(n *tree.Node, alt string) *flow.Image {
	href := n.Get("xlink:href")
	im := &flow.Image{Name: media.CleanName(path.Base(href)), Alt: alt}
	name := strings.TrimPrefix(href, "./")
	switch {
	case href == "":
		im.Name = "picture"
		if b := n.Child("office:binary-data"); b != nil && rd.pictures {
			im.Data, _ = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(b.Words()), ""))
		}
	case rd.pictures && rd.d.zip != nil && rd.d.has(name):
		im.Data, _ = rd.d.part(name) // a picture that cannot be read is shown by its name
	}
	if im.Data != nil {
		im.MIME = media.Identify(media.Payload{Data: im.Data, Name: im.Name}).MIME
	}
	return im
}

// deepestEmbedding bounds files within files.
const deepestEmbedding = 3

// object reads what is embedded as a file of this format: the words and the table of a chart.
func (rd *reader) object(n *tree.Node) []flow.Block {
	if inner := n.Child("office:document", "office:document-content"); inner != nil {
		return keep(rd.blocks(inner, 0))
	}
	part := path.Join(strings.TrimPrefix(n.Get("xlink:href"), "./"), "content.xml")
	if rd.d.zip == nil || part == "content.xml" || !rd.d.has(part) {
		return nil
	}
	if slices.Contains(rd.within, part) || len(rd.within) >= deepestEmbedding {
		rd.d.warn("An object that stands in itself, or more than %d deep in others, was left out.", deepestEmbedding)
		return nil
	}
	_, root, err := rd.d.tree(part)
	if err != nil {
		rd.d.warn("An embedded object cannot be read: %v", err)
		return nil
	}
	if body := first(root, "office:body"); body != nil {
		sub := &reader{d: rd.d, out: rd.out, styles: rd.styles, lists: rd.lists, deleted: map[string]*tree.Node{}, inserted: map[string]bool{}, left: rd.left, within: append(slices.Clone(rd.within), part)}
		return keep(sub.blocks(body, 0))
	}
	return nil
}

func (rd *reader) list(n *tree.Node, level int, styleName string) []flow.Block {
	styleName = cmp.Or(n.Get("text:style-name"), styleName)
	ordered := rd.lists[styleName][level]
	var out []flow.Block
	for _, item := range n.Kids {
		if item.Name != "text:list-item" && item.Name != "text:list-header" {
			continue
		}
		opened := false
		for _, k := range item.Kids {
			switch k.Name {
			case "text:list":
				out = append(out, rd.list(k, min(level+1, 20), styleName)...)
			case "text:p", "text:h":
				blocks := rd.para(k)
				if k.Name == "text:h" {
					out = append(out, blocks...)
					continue
				}
				if !opened && item.Name == "text:list-item" {
					b := flow.Block{Kind: flow.Item, Level: level, Ordered: ordered, Runs: blocks[0].Runs, Blocks: blocks[1:]}
					if v, err := strconv.Atoi(item.Get("text:start-value")); err == nil {
						b.Number = v
					}
					out, opened = append(out, b), true
				} else if opened && out[len(out)-1].Kind == flow.Item {
					last := &out[len(out)-1]
					last.Blocks = append(last.Blocks, blocks...)
				} else {
					out = append(out, blocks...)
				}
			}
		}
	}
	return out
}

// maxRepeat bounds how often a cell or row of a table in a text is repeated; in a spreadsheet it is the empty rest.
const maxRepeat = 200

func (rd *reader) table(n *tree.Node) flow.Block {
	b := flow.Block{Kind: flow.Table}
	var rows func(n *tree.Node, head bool)
	rows = func(n *tree.Node, head bool) {
		for _, k := range n.Kids {
			switch k.Name {
			case "table:table-header-rows":
				rows(k, true)
			case "table:table-rows", "table:table-row-group":
				rows(k, head)
			case "table:table-row":
				was := *rd.left
				row := rd.row(k)
				cost := was - *rd.left
				for i := range min(maxRepeat, times(k, "table:number-rows-repeated")) {
					if i > 0 && !rd.spend(cost) {
						return
					}
					b.Rows = append(b.Rows, row)
					if head {
						b.Heads = len(b.Rows)
					}
				}
			}
		}
	}
	rows(n, false)
	return b
}

func (rd *reader) row(n *tree.Node) []flow.Cell {
	var out []flow.Cell
	for _, k := range n.Kids {
		if k.Name != "table:table-cell" {
			continue
		}
		was := *rd.left
		c := flow.Cell{Blocks: rd.blocks(k, 0), ColSpan: times(k, "table:number-columns-spanned"), RowSpan: times(k, "table:number-rows-spanned")}
		if len(c.Blocks) == 0 && k.Find("office:value") != nil {
			c.Blocks = []flow.Block{flow.P(k.Get("office:value"))}
		}
		cost := was - *rd.left + 32
		for range min(maxRepeat, times(k, "table:number-columns-repeated")) {
			if !rd.spend(cost) {
				return out
			}
			out = append(out, c)
		}
	}
	return out
}

// times reads a count of at least 1.
func times(n *tree.Node, attr string) int {
	if v, err := strconv.Atoi(n.Get(attr)); err == nil && v > 1 {
		return v
	}
	return 1
}

// slides reads a presentation: each slide a heading and what is on it.
func (rd *reader) slides(n *tree.Node) {
	i := 0
	for _, p := range n.Kids {
		if p.Name != "draw:page" {
			continue
		}
		if i++; i > 1 {
			rd.out.Blocks = append(rd.out.Blocks, flow.Block{Kind: flow.Rule})
		}
		title, body, notes := "", []flow.Block(nil), []flow.Block(nil)
		for _, k := range p.Kids {
			switch {
			case k.Name == "presentation:notes":
				for _, f := range k.Kids {
					if f.Get("presentation:class") == "notes" {
						_, a := rd.drawing(f)
						notes = append(notes, a...)
					}
				}
			case k.Get("presentation:class") == "title" && title == "":
				title = strings.Join(strings.Fields(k.Words()), " ")
			case k.Name == "office:annotation":
				c := &runs{rd: rd}
				c.read(&tree.Node{Kids: []*tree.Node{k}}, flow.Run{})
				body = append(body, flow.Block{Runs: c.out})
			case strings.HasPrefix(k.Name, "draw:"):
				pics, a := rd.drawing(k)
				if len(pics) > 0 {
					body = append(body, flow.Block{Runs: pics})
				}
				body = append(body, a...)
			}
		}
		if title == "" {
			title = "Slide " + strconv.Itoa(i)
		}
		rd.out.Blocks = append(rd.out.Blocks, flow.Block{Kind: flow.Heading, Level: 2, Runs: []flow.Run{{Text: title}}})
		rd.out.Blocks = append(rd.out.Blocks, body...)
		if len(notes) > 0 {
			rd.out.Blocks = append(rd.out.Blocks, flow.Block{Kind: flow.Aside, Label: "Notes", Blocks: notes})
		}
	}
}
