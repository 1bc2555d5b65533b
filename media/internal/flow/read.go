package flow

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	gmhtml "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// ReadText makes a document of plain text: each line a paragraph.
func ReadText(src string) Doc {
	var d Doc
	for line := range strings.Lines(src) {
		d.Blocks = append(d.Blocks, P(strings.TrimRight(line, "\r\n")))
	}
	return d
}

// ReadMarkdown makes a document of GitHub's Markdown with footnotes.
func ReadMarkdown(src string) (Doc, error) {
	var b bytes.Buffer
	md := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote), goldmark.WithRendererOptions(gmhtml.WithUnsafe()))
	if err := md.Convert([]byte(src), &b); err != nil {
		return Doc{}, err
	}
	return ReadHTML(b.String())
}

// deepest bounds how far this package goes down. The parser refuses a page with more than 512 elements within each other
// before that, so nothing is left out.
const deepest = 4096

// ReadHTML makes a document of a page. Scripts, styles and forms are left out; a page nested without end is an error.
func ReadHTML(src string) (Doc, error) {
	root, err := html.Parse(strings.NewReader(src))
	if err != nil {
		return Doc{}, err
	}
	r := &htmlReader{notes: map[string]int{}}
	r.collect(root, 0)
	r.block(root, 0)
	r.flush()
	return r.doc, nil
}

type htmlReader struct {
	doc   Doc
	out   []Block
	para  []Run
	style Run
	lists []bool
	item  *Block // the open item, which takes the next words
	pre   bool
	notes map[string]int // id of a footnote → its number
	nodes []*html.Node
}

// collect finds footnotes, as Markdown writers make them.
func (r *htmlReader) collect(n *html.Node, depth int) {
	if depth > deepest {
		return
	}
	if n.Type == html.ElementNode && n.DataAtom == atom.Li && isFootnote(attr(n, "id")) {
		r.nodes = append(r.nodes, n)
		r.notes["#"+attr(n, "id")] = len(r.nodes)
		r.doc.Notes = append(r.doc.Notes, Note{})
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		r.collect(c, depth+1)
	}
}

// isFootnote knows the names that writers of Markdown give to footnotes.
func isFootnote(id string) bool {
	rest, ok := strings.CutPrefix(id, "fn")
	return ok && rest != "" && (rest[0] == ':' || rest[0] >= '0' && rest[0] <= '9')
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

// flush ends the open paragraph.
func (r *htmlReader) flush() {
	runs := trimRuns(r.para)
	r.para = nil
	item := r.item
	r.item = nil
	if item != nil {
		item.Runs = runs
		r.put(*item)
		return
	}
	if len(runs) > 0 {
		r.put(Block{Runs: runs})
	}
}

// put adds a block, to the open item where it stands in one.
func (r *htmlReader) put(b Block) {
	if n := len(r.out); len(r.lists) > 0 && b.Kind != Item && n > 0 && r.out[n-1].Kind == Item {
		r.out[n-1].Blocks = append(r.out[n-1].Blocks, b)
		return
	}
	r.out = append(r.out, b)
}

// within reads the children of an element into blocks of their own.
func (r *htmlReader) within(n *html.Node, depth int) []Block {
	r.flush()
	sub := &htmlReader{notes: r.notes, style: r.style}
	sub.style.Link = ""
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		sub.block(c, depth+1)
	}
	sub.flush()
	return sub.out
}

func (r *htmlReader) block(n *html.Node, depth int) {
	if depth > deepest {
		return
	}
	if n.Type == html.TextNode {
		r.text(n.Data)
		return
	}
	children := func() {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			r.block(c, depth+1)
		}
	}
	if n.Type != html.ElementNode {
		children()
		if n.Type == html.DocumentNode {
			r.finish(depth)
		}
		return
	}
	if r.inline(n, children) || r.apart(n) {
		return
	}
	switch n.DataAtom {
	case atom.Title:
		if r.doc.Title == "" && n.FirstChild != nil {
			r.doc.Title = strings.Join(strings.Fields(n.FirstChild.Data), " ")
		}
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.flush()
		children()
		runs := trimRuns(r.para)
		if r.para = nil; len(runs) > 0 {
			r.put(Block{Kind: Heading, Level: int(n.Data[1] - '0'), Runs: runs})
		}
	case atom.Ul, atom.Ol:
		r.flush()
		r.lists = append(r.lists, n.DataAtom == atom.Ol)
		first := len(r.out)
		children()
		r.flush()
		r.lists = r.lists[:len(r.lists)-1]
		if start, err := strconv.Atoi(attr(n, "start")); err == nil && start > 0 && first < len(r.out) && r.out[first].Kind == Item {
			r.out[first].Number = start
		}
	case atom.Li:
		r.flush()
		if len(r.lists) == 0 {
			r.lists = append(r.lists, false)
			defer func() { r.lists = r.lists[:0] }()
		}
		r.item = &Block{Kind: Item, Level: len(r.lists), Ordered: r.lists[len(r.lists)-1]}
		children()
		r.flush()
	case atom.Table:
		r.flush()
		if b := r.table(n, depth); len(b.Rows) > 0 {
			r.put(b)
		}
	case atom.Pre:
		r.flush()
		r.pre = true
		children()
		r.pre = false
		code := strings.Trim(Words(r.para), "\n")
		r.para = nil
		label := ""
		if c := n.FirstChild; c != nil && c.Type == html.ElementNode {
			_, label, _ = strings.Cut(attr(c, "class"), "language-")
		}
		r.put(Block{Kind: Code, Label: label, Runs: []Run{{Text: code}}})
	case atom.Blockquote:
		if bs := r.within(n, depth); len(bs) > 0 {
			r.put(Block{Kind: Quote, Blocks: bs})
		}
	case atom.Hr:
		r.flush()
		r.put(Block{Kind: Rule})
	case atom.Head:
		children()
		r.para = nil
	case atom.P, atom.Div, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Main, atom.Nav, atom.Aside, atom.Body, atom.Html, atom.Figure, atom.Figcaption, atom.Dl, atom.Dt, atom.Dd, atom.Address, atom.Form, atom.Fieldset, atom.Details, atom.Summary, atom.Caption:
		if strings.HasPrefix(attr(n, "class"), "footnotes") && len(r.notes) > 0 {
			return
		}
		if r.item == nil || len(trimRuns(r.para)) > 0 {
			r.flush()
		}
		children()
		if r.item == nil || len(trimRuns(r.para)) > 0 {
			r.flush()
		}
	default:
		children()
	}
}

// apart handles what is no text of the page: what is not shown, formulas and drawings.
func (r *htmlReader) apart(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Iframe, atom.Object, atom.Select, atom.Textarea:
	case atom.Math:
		r.text(mathML(n, 0))
	case atom.Svg:
		for _, s := range drawn(n, 0, nil) {
			r.flush()
			r.text(s)
		}
	default:
		return false
	}
	return true
}

// drawn returns the texts of a picture in SVG.
func drawn(n *html.Node, depth int, out []string) []string {
	if n.Type == html.ElementNode && n.Data == "text" {
		var b strings.Builder
		for c := range n.Descendants() {
			if c.Type == html.TextNode {
				b.WriteString(c.Data)
			}
		}
		return append(out, b.String())
	}
	for c := n.FirstChild; c != nil && depth < deepest; c = c.NextSibling {
		out = drawn(c, depth+1, out)
	}
	return out
}

// finish reads the footnotes and hands the blocks over.
func (r *htmlReader) finish(depth int) {
	r.flush()
	r.doc.Blocks = r.out
	for i, n := range r.nodes {
		sub := &htmlReader{notes: r.notes}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			sub.block(c, depth+1)
		}
		sub.flush()
		r.doc.Notes[i].Blocks = sub.out
	}
}

// inline handles what stands within a paragraph.
func (r *htmlReader) inline(n *html.Node, children func()) bool {
	was := r.style
	switch n.DataAtom {
	case atom.B, atom.Strong:
		r.style.Bold = true
	case atom.I, atom.Em, atom.Cite, atom.Dfn, atom.Var:
		r.style.Italic = true
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
		r.style.Code = !r.pre
	case atom.S, atom.Del, atom.Strike:
		r.style.Strike = true
	case atom.Sup:
		r.style.Super = true
	case atom.Sub:
		r.style.Sub = true
	case atom.A:
		href := attr(n, "href")
		if k := r.notes[href]; k > 0 {
			r.para = append(r.para, Run{Note: k})
			return true
		}
		if strings.HasPrefix(attr(n, "class"), "footnote-back") {
			return true
		}
		if SafeLink(href) != "" {
			r.style.Link = href
		}
	case atom.Br:
		r.para = append(r.para, Run{Text: "\n"})
		return true
	case atom.Input:
		if attr(n, "type") == "checkbox" {
			box := "☐ "
			for _, a := range n.Attr {
				if a.Key == "checked" {
					box = "☑ "
				}
			}
			r.para = append(r.para, Run{Text: box})
		}
		return true
	case atom.Img:
		im := &Image{Name: attr(n, "src"), Alt: attr(n, "alt")}
		if kind, rest, ok := strings.Cut(strings.TrimPrefix(im.Name, "data:"), ";base64,"); ok && strings.HasPrefix(im.Name, "data:image/") {
			if data, err := base64.StdEncoding.DecodeString(rest); err == nil {
				im.Data, im.MIME, im.Name = data, kind, "image"
			}
		}
		run := r.style
		run.Image = im
		r.para = append(r.para, run)
		return true
	default:
		return false
	}
	children()
	r.style = was
	return true
}

func (r *htmlReader) text(s string) {
	if !r.pre {
		lead, trail := s != "" && s[0] <= ' ', s != "" && s[len(s)-1] <= ' '
		s = strings.Join(strings.FieldsFunc(s, func(c rune) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }), " ")
		if s == "" && !lead {
			return
		}
		if lead && s != "" || lead && s == "" {
			s = " " + s
		}
		if trail && !strings.HasSuffix(s, " ") {
			s += " "
		}
		if n := len(r.para); strings.HasPrefix(s, " ") && (n == 0 || strings.HasSuffix(r.para[n-1].Text, " ") || strings.HasSuffix(r.para[n-1].Text, "\n")) {
			s = s[1:]
		}
		if s == "" {
			return
		}
	}
	run := r.style
	run.Text = s
	r.para = append(r.para, run)
}

// trimRuns takes the blanks at the ends away.
func trimRuns(runs []Run) []Run {
	for len(runs) > 0 && runs[0].Image == nil && runs[0].Note == 0 {
		if runs[0].Text = strings.TrimLeft(runs[0].Text, " \n\u00a0"); runs[0].Text != "" {
			break
		}
		runs = runs[1:]
	}
	for n := len(runs); n > 0 && runs[n-1].Image == nil && runs[n-1].Note == 0; n = len(runs) {
		if runs[n-1].Text = strings.TrimRight(runs[n-1].Text, " \n\u00a0"); runs[n-1].Text != "" {
			break
		}
		runs = runs[:n-1]
	}
	return runs
}

func (r *htmlReader) table(n *html.Node, depth int) Block {
	b := Block{Kind: Table}
	headed := true
	var rows func(n *html.Node, d int, head bool)
	rows = func(n *html.Node, d int, head bool) {
		for c := n.FirstChild; c != nil && d < deepest; c = c.NextSibling {
			switch c.DataAtom {
			case atom.Thead:
				rows(c, d+1, true)
			case atom.Tbody, atom.Tfoot:
				rows(c, d+1, false)
			case atom.Tr:
				var row []Cell
				all := true
				for k := c.FirstChild; k != nil; k = k.NextSibling {
					if k.DataAtom != atom.Td && k.DataAtom != atom.Th {
						continue
					}
					all = all && k.DataAtom == atom.Th
					cell := Cell{}
					cell.ColSpan, _ = strconv.Atoi(attr(k, "colspan"))
					cell.RowSpan, _ = strconv.Atoi(attr(k, "rowspan"))
					cell.ColSpan, cell.RowSpan = min(max(cell.ColSpan, 0), 1000), min(max(cell.RowSpan, 0), 65534)
					sub := &htmlReader{notes: r.notes}
					for x := k.FirstChild; x != nil; x = x.NextSibling {
						sub.block(x, d+2)
					}
					sub.flush()
					cell.Blocks = sub.out
					row = append(row, cell)
				}
				if row == nil {
					continue
				}
				if headed = headed && (head || all); headed {
					b.Heads++
				}
				b.Rows = append(b.Rows, row)
			}
		}
	}
	rows(n, depth, false)
	return b
}
