package legacy

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/text/encoding"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/flow"
)

// rtfReader makes a neutral document of a file.
type rtfReader struct {
	f      *rtfFile
	out    *flow.Doc
	levels map[int]int     // paragraph style → level of a heading
	seen   map[string]bool // headers and footers, by label and words
	steps  int
	err    error
}

// rtfLook is what characters and paragraphs look like; groups inherit it.
type rtfLook struct {
	run     flow.Run
	uc      int
	decoder int // font, for its code page; -1 the file's own
	hidden  bool
}

// rtfFlow collects blocks of the body, a note or a header.
type rtfFlow struct {
	blocks  []flow.Block
	runs    []flow.Run
	cells   []flow.Cell
	cell    []flow.Block
	table   *flow.Block
	style   int
	outline int
	inTable bool
	bullet  string // what \listtext says
	level   int
}

func readRTF(r *media.Request) (*flow.Doc, []string, error) {
	f, err := openRTF(r)
	if err != nil {
		return nil, nil, err
	}
	rd := &rtfReader{f: f, out: &flow.Doc{}, levels: map[int]int{}, seen: map[string]bool{}}
	rd.styles()
	body := &rtfFlow{outline: -1}
	rd.group(0, len(f.tokens), rtfLook{uc: 1, decoder: -1}, body)
	body.end()
	rd.out.Blocks = append(rd.out.Blocks, body.blocks...)
	return rd.out, nil, rd.err
}

// styles finds the styles named heading N.
func (rd *rtfReader) styles() {
	f := rd.f
	for i, t := range f.tokens {
		if t.kind != rtfOpen || f.destination(i) != "stylesheet" {
			continue
		}
		depth := 0
		style, name := 0, ""
		for _, t := range f.tokens[i:] {
			switch {
			case t.kind == rtfOpen:
				if depth++; depth == 2 {
					style, name = 0, ""
				}
			case t.kind == rtfClose:
				name = strings.ToLower(strings.TrimSuffix(strings.TrimSpace(name), ";"))
				if n := strings.TrimPrefix(name, "heading "); depth == 2 && n != name && len(n) == 1 && n[0] >= '1' && n[0] <= '9' {
					rd.levels[style] = min(6, int(n[0]-'0'))
				} else if depth == 2 && name == "title" {
					rd.levels[style] = 1
				}
				depth--
			case depth == 2 && t.kind == rtfWord && t.word == "s":
				style = t.param
			case depth == 2 && t.kind == rtfChar:
				name += string(f.src[t.from:t.to])
			}
			if depth == 0 {
				return
			}
		}
		return // it does not end
	}
}

// end closes the paragraph, the row and the table that are open.
func (o *rtfFlow) end() {
	if !flow.Blank(o.runs) {
		o.blocks = append(o.blocks, flow.Block{Runs: o.runs})
	}
	o.runs = nil
	if len(o.cells) > 0 {
		o.row()
	}
	o.closeTable()
}

func (o *rtfFlow) endCell() {
	o.cells = append(o.cells, flow.Cell{Blocks: append(o.cell, flow.Block{Runs: o.runs})})
	o.runs, o.cell = nil, nil
}

func (o *rtfFlow) row() {
	if o.table == nil {
		o.table = &flow.Block{Kind: flow.Table}
	}
	o.table.Rows = append(o.table.Rows, o.cells)
	o.cells = nil
}

func (o *rtfFlow) closeTable() {
	if o.table != nil {
		o.blocks = append(o.blocks, *o.table)
		o.table = nil
	}
}

// para ends a paragraph.
func (o *rtfFlow) para(levels map[int]int) {
	b := flow.Block{Runs: o.runs}
	o.runs = nil
	switch lv := levels[o.style]; {
	case o.outline >= 0 && o.outline < 6:
		b.Kind, b.Level = flow.Heading, o.outline+1
	case lv > 0:
		b.Kind, b.Level = flow.Heading, lv
	case o.bullet != "":
		b.Kind, b.Level, b.Ordered = flow.Item, o.level+1, strings.ContainsAny(o.bullet, "0123456789.)")
	}
	if b.Kind == flow.Heading && !slices.ContainsFunc(b.Runs, func(r flow.Run) bool { return !r.Bold && strings.TrimSpace(r.Text) != "" }) {
		for i := range b.Runs {
			b.Runs[i].Bold = false // it is how the heading looks
		}
	}
	o.bullet = ""
	if o.inTable {
		o.cell = append(o.cell, b)
		return
	}
	o.closeTable()
	if !flow.Blank(b.Runs) {
		o.blocks = append(o.blocks, b)
	}
}

// group reads tokens [from, to) and returns the look at their end.
func (rd *rtfReader) group(from, to int, look rtfLook, o *rtfFlow) {
	f := rd.f
	for i := from; i < to && rd.err == nil; i++ {
		if rd.steps++; rd.steps%4096 == 0 {
			rd.err = f.lim.Err()
		}
		t := f.tokens[i]
		switch t.kind {
		case rtfOpen:
			end := f.close(i, to)
			rd.inner(i, end, look, o)
			i = end
		case rtfChar, rtfHex:
			s := &rtfText{}
			st := rtfState{text: s, uc: look.uc, decoder: rd.decoder(look)}
			i = f.bytes(i, &st)
			o.add(string(s.text), look)
		case rtfWord:
			if t.word == "u" && t.has {
				s := &rtfText{}
				st := rtfState{text: s, uc: look.uc, decoder: rd.decoder(look)}
				i = f.char(i, &st)
				o.add(string(s.text), look)
				continue
			}
			rd.word(t, &look, o)
		}
	}
}

func (rd *rtfReader) decoder(l rtfLook) encoding.Encoding {
	if d := rd.f.fonts[l.decoder]; d != nil {
		return d
	}
	return rd.f.page
}

func (o *rtfFlow) add(text string, look rtfLook) {
	if text != "" && !look.hidden {
		run := look.run
		run.Text = text
		o.runs = append(o.runs, run)
	}
}

// close returns the token that ends the group that opens at a token.
func (f *rtfFile) close(i, to int) int {
	if f.ends == nil {
		f.ends = make([]int32, len(f.tokens))
		var open []int
		for k, t := range f.tokens {
			switch n := len(open); {
			case t.kind == rtfOpen:
				f.ends[k], open = int32(len(f.tokens)), append(open, k)
			case t.kind == rtfClose && n > 0:
				f.ends[open[n-1]], open = int32(k), open[:n-1]
			}
		}
	}
	return min(to, int(f.ends[i]))
}

// inner reads a group.
func (rd *rtfReader) inner(i, end int, look rtfLook, o *rtfFlow) {
	f := rd.f
	name := f.destination(i)
	note := func(n flow.Note) {
		sub := &rtfFlow{outline: -1}
		rd.group(i+1, end, rtfLook{uc: look.uc, decoder: look.decoder}, sub)
		sub.end()
		n.Blocks = append(n.Blocks, sub.blocks...)
		if len(n.Blocks) > 0 {
			rd.out.Notes = append(rd.out.Notes, n)
			o.runs = append(o.runs, flow.Run{Note: len(rd.out.Notes)})
		}
	}
	switch name {
	case "":
		if t := f.tokens[min(i+1, len(f.tokens)-1)]; t.kind == rtfWord && t.word == "field" {
			look.run.Link = cmp.Or(rd.link(i, end), look.run.Link)
		}
		rd.group(i+1, end, look, o)
	case "shppict", "shpinst", "shptxt", "upr", "ud", "do":
		rd.group(i+1, end, look, o)
	case "footnote":
		kind := flow.Footnote
		for _, t := range f.tokens[i:min(end, i+6)] {
			if t.word == "ftnalt" {
				kind = flow.Endnote
			}
		}
		note(flow.Note{Kind: kind})
	case "annotation":
		note(flow.Note{Kind: flow.Comment})
	case "header", "headerf", "headerl", "headerr", "footer", "footerf", "footerl", "footerr":
		sub := &rtfFlow{outline: -1}
		rd.group(i+1, end, rtfLook{uc: look.uc, decoder: look.decoder}, sub)
		sub.end()
		label := "Header"
		if strings.HasPrefix(name, "footer") {
			label = "Footer"
		}
		b := flow.Block{Kind: flow.Aside, Label: label, Blocks: sub.blocks}
		said := label
		for _, k := range sub.blocks {
			said += "\n" + flow.Words(k.Runs)
		}
		if len(sub.blocks) > 0 && !rd.seen[said] {
			rd.seen[said] = true
			rd.out.Blocks = append(rd.out.Blocks, b)
		}
	case "listtext", "pntext":
		sub := &rtfFlow{outline: -1}
		rd.group(i+1, end, look, sub)
		o.bullet = cmp.Or(strings.TrimSpace(flow.Words(sub.runs)), "-")
	case "info":
		rd.info(i, end)
	}
}

// link returns the address of a field that is a link.
func (rd *rtfReader) link(i, end int) string {
	for k := i + 1; k < end; k++ {
		if rd.f.tokens[k].kind == rtfOpen && rd.f.destination(k) == "fldinst" {
			code := rd.f.words(k, rd.f.close(k, end))
			if _, rest, ok := strings.Cut(code, "HYPERLINK"); ok {
				parts := strings.SplitN(rest, `"`, 3)
				if len(parts) == 3 {
					return parts[1]
				}
				return strings.TrimSpace(rest)
			}
		}
	}
	return ""
}

// info reads the title.
func (rd *rtfReader) info(i, end int) {
	for k := i + 1; k < end; k++ {
		if rd.f.tokens[k].kind == rtfOpen && rd.f.destination(k) == "title" {
			sub := &rtfFlow{}
			rd.group(k+1, rd.f.close(k, end), rtfLook{uc: 1, decoder: -1}, sub)
			rd.out.Title = strings.TrimSpace(flow.Words(sub.runs))
		}
	}
}

// word does what a control word says.
func (rd *rtfReader) word(t rtfToken, look *rtfLook, o *rtfFlow) {
	on := !t.has || t.param != 0
	switch t.word {
	case "b":
		look.run.Bold = on
	case "i":
		look.run.Italic = on
	case "strike", "striked":
		look.run.Strike = on
	case "super":
		look.run.Super = on
	case "sub":
		look.run.Sub = on
	case "nosupersub":
		look.run.Super, look.run.Sub = false, false
	case "deleted":
		look.run.Deleted = on
	case "revised":
		look.run.Inserted = on
	case "v":
		look.hidden = on
	case "plain":
		link := look.run.Link
		look.run, look.hidden, look.decoder = flow.Run{Link: link}, false, -1
	case "f":
		look.decoder = t.param
	case "uc":
		look.uc = max(0, min(t.param, 100))
	case "pard":
		o.style, o.outline, o.inTable, o.level = 0, -1, false, 0
	case "s":
		o.style = t.param
	case "outlinelevel":
		o.outline = t.param
	case "intbl":
		o.inTable = true
	case "ilvl":
		o.level = max(0, min(t.param, 15))
	case "par", "sect":
		o.para(rd.levels)
	case "page":
		o.para(rd.levels)
		o.blocks = append(o.blocks, flow.Block{Kind: flow.Page})
	case "cell", "nestcell":
		o.endCell()
	case "row", "nestrow":
		if !flow.Blank(o.runs) || len(o.cell) > 0 { // a cell that does not end
			o.endCell()
		}
		o.row()
	case "\\", "{", "}":
		o.add(t.word, *look)
	case "\n", "\r":
		o.para(rd.levels)
	case "line":
		o.add("\n", *look)
	default:
		o.add(rtfSigns[t.word], *look)
	}
}
