package odf

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"unicode"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/flow"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// convertText writes a text or a presentation as text, Markdown or HTML.
func convertText(_ context.Context, r *media.Request) (media.Result, error) {
	d, err := open(r)
	if err != nil {
		return media.Result{}, err
	}
	out, err := d.read(r.To == "html")
	if err != nil {
		return media.Result{}, err
	}
	var s string
	switch r.To {
	case "md":
		s = out.Markdown(flow.Options{})
	case "html":
		s = out.HTML(flow.Options{})
	default:
		s = out.Text(flow.Options{})
	}
	if n := out.Deletions(); n > 0 {
		d.warn("%d tracked deletions are left out; in the file they are still there.", n)
	}
	return media.Result{Media: &media.Payload{Data: []byte(s)}, Warnings: d.warnings}, nil
}

// reader makes a flow of a tree.
type reader struct {
	d        *doc
	out      *flow.Doc
	styles   map[string]*style
	lists    map[string]map[int]bool // list style → level → numbered
	deleted  map[string]*tree.Node   // change id → deletion
	inserted map[string]bool         // change id → it is an insertion
	inserts  int                     // insertions that are open
	pictures bool                    // take their bytes along
	left     *int                    // bytes that may still be said; less than 0: it is too much
	within   []string                // the embedded objects that are being read
}

// spend counts what is said, by whatever repeats and embeds, and reports whether that may go on.
func (rd *reader) spend(n int) bool {
	if *rd.left >= 0 {
		*rd.left -= n
	}
	return *rd.left >= 0
}

type style struct {
	parent                     string
	bold, italic, strike, code *bool
	super, sub                 bool
	name                       string // shown
}

func (d *doc) read(pictures bool) (*flow.Doc, error) {
	_, root, err := d.tree("content.xml")
	if err != nil {
		return nil, err
	}
	rd := &reader{d: d, out: &flow.Doc{}, styles: map[string]*style{}, lists: map[string]map[int]bool{}, deleted: map[string]*tree.Node{}, inserted: map[string]bool{}, pictures: pictures}
	most := int(d.r.Limits.WithDefaults().Bytes)
	rd.left = &most
	roots := []*tree.Node{root}
	if d.zip != nil && d.has("styles.xml") {
		if _, s, err := d.tree("styles.xml"); err == nil {
			roots = append(roots, s)
		} else {
			d.warn("The styles of %s cannot be read, so headings and lists may be missing: %v", d.r.In.Name, err)
		}
	}
	if m := d.meta(); m != nil {
		if t := first(m, "dc:title"); t != nil {
			rd.out.Title = t.Words()
		}
	}
	rd.out.Title = cmp.Or(rd.out.Title, media.Base(d.r.In.Name))
	for _, r := range roots {
		rd.learn(r)
	}
	body := first(root, "office:body")
	if body == nil {
		return nil, media.Failf("%s is damaged: it has no body.", d.r.In.Name)
	}
	for _, n := range body.Kids {
		switch n.Name {
		case "office:presentation":
			rd.slides(n)
		case "office:text", "office:drawing", "office:spreadsheet", "office:chart":
			rd.changes(n)
			rd.margins(roots, "style:header", "style:header-left", "style:header-first")
			rd.out.Blocks = append(rd.out.Blocks, rd.blocks(n, 0)...)
			rd.margins(roots, "style:footer", "style:footer-left", "style:footer-first")
		}
	}
	if most < 0 {
		return nil, media.Failf("%s says more than %d MB of text by repeating and embedding parts of itself, as files do that are made to explode; it is refused.", d.r.In.Name, d.r.Limits.WithDefaults().Bytes>>20)
	}
	return rd.out, d.r.Limits.Err()
}

func first(n *tree.Node, name string) *tree.Node {
	if all := n.All(name); len(all) > 0 {
		return all[0]
	}
	return nil
}

// meta returns the element that holds the properties of a file, or nil.
func (d *doc) meta() *tree.Node {
	name := "meta.xml"
	if d.zip == nil {
		name = flatPart
	} else if !d.has(name) {
		return nil
	}
	_, root, err := d.tree(name)
	if err != nil {
		return nil
	}
	return first(root, "office:meta")
}

// learn collects the styles that matter for structure.
func (rd *reader) learn(root *tree.Node) {
	root.Walk(func(n *tree.Node) bool {
		switch n.Name {
		case "office:body":
			return false
		case "style:style":
			s := &style{parent: n.Get("style:parent-style-name"), name: cmp.Or(n.Get("style:display-name"), n.Get("style:name"))}
			if p := n.Child("style:text-properties"); p != nil {
				s.bold = is(p, "fo:font-weight", func(v string) bool { w, err := strconv.Atoi(v); return v == "bold" || err == nil && w >= 600 })
				s.italic = is(p, "fo:font-style", func(v string) bool { return v == "italic" || v == "oblique" })
				s.strike = is(p, "style:text-line-through-style", func(v string) bool { return v != "none" })
				s.code = is(p, "style:font-name", mono)
				if pos := p.Get("style:text-position"); strings.HasPrefix(pos, "super") {
					s.super = true
				} else if strings.HasPrefix(pos, "sub") {
					s.sub = true
				}
			}
			rd.styles[n.Get("style:family")+"/"+n.Get("style:name")] = s
		case "text:list-style":
			levels := map[int]bool{}
			for _, l := range n.Kids {
				if k, err := strconv.Atoi(l.Get("text:level")); err == nil && l.Name == "text:list-level-style-number" {
					levels[k] = l.Get("style:num-format") != ""
				}
			}
			rd.lists[n.Get("style:name")] = levels
		}
		return true
	})
}

func is(n *tree.Node, attr string, f func(string) bool) *bool {
	if n.Find(attr) == nil {
		return nil
	}
	v := f(n.Get(attr))
	return &v
}

func mono(font string) bool {
	font = strings.ToLower(font)
	return strings.Contains(font, "mono") || strings.Contains(font, "courier") || strings.Contains(font, "consolas")
}

// looks puts a style over a run; what the style does not say stays.
func (rd *reader) looks(run *flow.Run, name string) {
	var chain []*style
	for depth := 0; name != "" && depth < 20; depth++ {
		s := rd.styles["text/"+name]
		if s == nil {
			break
		}
		chain = append(chain, s)
		name = s.parent
	}
	for i := len(chain) - 1; i >= 0; i-- {
		s := chain[i]
		set := func(to *bool, v *bool) {
			if v != nil {
				*to = *v
			}
		}
		set(&run.Bold, s.bold)
		set(&run.Italic, s.italic)
		set(&run.Strike, s.strike)
		set(&run.Code, s.code)
		run.Super, run.Sub = run.Super || s.super, run.Sub || s.sub
		switch {
		case s.name == "Strong Emphasis":
			run.Bold = true
		case s.name == "Emphasis":
			run.Italic = true
		case s.name == "Source Text", s.name == "Source_Text":
			run.Code = true
		}
	}
}

// named returns the shown name of a paragraph style or of the nearest one that it is made from and that has a name for people.
func (rd *reader) named(name string) string {
	for range 20 {
		s := rd.styles["paragraph/"+name]
		if s == nil {
			return name
		}
		if s.parent == "" || !automatic(name) {
			return s.name
		}
		name = s.parent
	}
	return name
}

// automatic reports whether a style has a name that programs give: P12.
func automatic(name string) bool {
	return len(name) > 1 && name[0] == 'P' && strings.Trim(name[1:], "0123456789") == ""
}

// changes reads the list of tracked changes.
func (rd *reader) changes(n *tree.Node) {
	for _, list := range n.All("text:tracked-changes") {
		for _, c := range list.All("text:changed-region") {
			id := cmp.Or(c.Get("text:id"), c.Get("xml:id"))
			if del := c.Child("text:deletion"); del != nil {
				rd.deleted[id] = del
			}
			rd.inserted[id] = c.Child("text:insertion") != nil
		}
	}
}

// margins adds headers or footers, those that say the same once.
func (rd *reader) margins(roots []*tree.Node, kinds ...string) {
	seen := map[string]bool{}
	for _, r := range roots {
		for _, kind := range kinds {
			for _, n := range r.All(kind) {
				blocks := rd.blocks(n, 0)
				words := n.Words()
				if len(blocks) == 0 || strings.TrimSpace(words) == "" || seen[words] {
					continue
				}
				seen[words] = true
				label := "Header"
				if strings.Contains(kind, "footer") {
					label = "Footer"
				}
				rd.out.Blocks = append(rd.out.Blocks, flow.Block{Kind: flow.Aside, Label: label, Blocks: blocks})
			}
		}
	}
}

// blocks reads the children of an element that holds paragraphs.
func (rd *reader) blocks(n *tree.Node, depth int) []flow.Block {
	var out []flow.Block
	for _, k := range n.Kids {
		if !rd.spend(16) {
			return out
		}
		switch k.Name {
		case "text:p", "text:h":
			out = append(out, rd.para(k)...)
		case "text:list":
			out = append(out, rd.list(k, depth+1, "")...)
		case "table:table":
			out = append(out, rd.table(k))
		case "text:tracked-changes", "office:forms", "text:sequence-decls", "text:variable-decls", "text:user-field-decls", "office:annotation", "office:event-listeners", "text:table-of-content-source", "text:alphabetical-index-source":
		case "text:change-start", "text:change-end", "text:change":
			rd.mark(k)
		default:
			if k.Name != "" {
				if strings.HasPrefix(k.Name, "draw:") {
					if runs, asides := rd.drawing(k); len(runs)+len(asides) > 0 {
						if len(runs) > 0 {
							out = append(out, flow.Block{Runs: runs})
						}
						out = append(out, asides...)
					}
					continue
				}
				out = append(out, rd.blocks(k, depth)...)
			}
		}
	}
	return out
}

// mark follows the beginning and the end of an insertion.
func (rd *reader) mark(k *tree.Node) {
	if !rd.inserted[k.Get("text:change-id")] {
		return
	}
	if k.Name == "text:change-start" {
		rd.inserts++
	} else if k.Name == "text:change-end" && rd.inserts > 0 {
		rd.inserts--
	}
}

// para reads a paragraph, and after it what stands in it in boxes.
func (rd *reader) para(n *tree.Node) []flow.Block {
	b := flow.Block{}
	label := rd.named(n.Get("text:style-name"))
	if n.Name == "text:h" {
		b.Kind, b.Level = flow.Heading, 1
		if l, err := strconv.Atoi(n.Get("text:outline-level")); err == nil {
			b.Level = max(1, min(6, l))
		}
	} else if label == "Title" {
		b.Kind, b.Level = flow.Heading, 1
	}
	base := flow.Run{}
	c := &runs{rd: rd}
	c.read(n, base)
	b.Runs = c.out
	if label == "Preformatted Text" || label == "Preformatted_20_Text" {
		b.Kind = flow.Code
	}
	out := append([]flow.Block{b}, c.asides...)
	if strings.Contains(label, "Quot") && b.Kind == flow.Para {
		return append([]flow.Block{{Kind: flow.Quote, Blocks: []flow.Block{b}}}, c.asides...)
	}
	return out
}

// runs collects the runs of one paragraph.
type runs struct {
	rd     *reader
	out    []flow.Run
	asides []flow.Block
	tail   byte
}

func (c *runs) add(text string, run flow.Run) {
	if text == "" || !c.rd.spend(len(text)) {
		return
	}
	run.Text = text
	run.Inserted = c.rd.inserts > 0
	c.out = append(c.out, run)
	c.tail = text[len(text)-1]
}

func (c *runs) read(n *tree.Node, run flow.Run) {
	for _, k := range n.Kids {
		switch k.Name {
		case "":
			s := k.Text
			text := strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r != 0xa0 && unicode.IsSpace(r) }), " ")
			if s != "" && strings.IndexByte(" \t\r\n", s[0]) >= 0 && c.tail != 0 && c.tail != ' ' && c.tail != '\n' && c.tail != '\t' {
				text = " " + text
			}
			if strings.TrimSpace(s) != "" && strings.IndexByte(" \t\r\n", s[len(s)-1]) >= 0 {
				text += " "
			}
			c.add(text, run)
		case "text:s", "text:tab", "text:line-break":
			c.add(grammar.Sign(k), run)
		case "text:a", "draw:a":
			in := run
			in.Link = k.Get("xlink:href")
			c.read(k, in)
		case "text:span":
			in := run
			c.rd.looks(&in, k.Get("text:style-name"))
			c.read(k, in)
		case "text:note":
			kind := flow.Footnote
			if k.Get("text:note-class") == "endnote" {
				kind = flow.Endnote
			}
			if body := k.Child("text:note-body"); body != nil {
				c.note(flow.Note{Kind: kind, Blocks: c.rd.blocks(body, 0)})
			}
		case "office:annotation":
			note := flow.Note{Kind: flow.Comment, Blocks: c.rd.blocks(k, 0)}
			if a := k.Child("dc:creator"); a != nil {
				note.Author = a.Words()
			}
			if a := k.Child("dc:date"); a != nil {
				note.Date, _, _ = strings.Cut(a.Words(), "T")
			}
			c.note(note)
		case "text:p", "text:h": // no program writes one within another
			c.asides = append(c.asides, c.rd.para(k)...)
		case "text:list":
			c.asides = append(c.asides, c.rd.list(k, 1, "")...)
		case "table:table":
			c.asides = append(c.asides, c.rd.table(k))
		case "text:change-start", "text:change-end":
			c.rd.mark(k)
		case "text:change":
			if del := c.rd.deleted[k.Get("text:change-id")]; del != nil {
				c.deletion(del, run)
			}
		case "text:ruby-text", "office:annotation-end", "text:soft-page-break", "office:event-listeners", "text:script", "svg:title", "svg:desc":
		default:
			if strings.HasPrefix(k.Name, "draw:") {
				pics, asides := c.rd.drawing(k)
				for _, p := range pics {
					p.Link = run.Link
					c.out = append(c.out, p)
				}
				c.asides = append(c.asides, asides...)
				continue
			}
			c.read(k, run)
		}
	}
}

func (c *runs) note(n flow.Note) {
	c.rd.out.Notes = append(c.rd.out.Notes, n)
	c.out = append(c.out, flow.Run{Note: len(c.rd.out.Notes)})
}

func (c *runs) deletion(del *tree.Node, run flow.Run) {
	var words []string
	for _, k := range del.Kids {
		if k.Name == "text:p" || k.Name == "text:h" {
			words = append(words, k.Words())
		}
	}
	run.Text, run.Deleted = strings.Join(words, "\n"), true
	c.out = append(c.out, run)
}
