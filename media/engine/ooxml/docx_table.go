package ooxml

import (
	"path"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/flow"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

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
		case "v:textpath": // letters as a drawing: a watermark
			if s := k.Get("string"); strings.TrimSpace(s) != "" {
				d.pending = append(d.pending, flow.Block{Kind: flow.Aside, Label: "Text box", Blocks: []flow.Block{flow.P(s)}})
			}
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
