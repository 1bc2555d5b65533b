package flow

import (
	"encoding/base64"
	"fmt"
	"html"
	"strings"
)

const frame = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>%s</title>\n</head>\n<body>\n%s</body>\n</html>\n"

// HTML writes a page without scripts and styles. Pictures whose bytes are known are within it.
func (d *Doc) HTML(opt Options) string {
	w := &page{opt: opt, labels: labelsOf(d.Notes)}
	w.blocks(d.Blocks)
	if len(d.Notes) > 0 {
		w.b.WriteString("<section aria-label=\"Notes\">\n")
		for i := range d.Notes {
			n := &d.Notes[i]
			label := strings.Trim(w.labels[i], "[]")
			fmt.Fprintf(&w.b, "<aside id=\"note%d\"><sup>%s</sup> %s\n", i+1, html.EscapeString(label), html.EscapeString(noteHead(n)))
			w.blocks(n.Blocks)
			w.b.WriteString("</aside>\n")
		}
		w.b.WriteString("</section>\n")
	}
	if opt.Bare {
		return w.b.String()
	}
	title := d.Title
	if title == "" {
		title = "Untitled"
	}
	return fmt.Sprintf(frame, html.EscapeString(title), w.b.String())
}

type page struct {
	b      strings.Builder
	opt    Options
	labels []string // of the notes
}

func (w *page) blocks(blocks []Block) {
	var open []bool // lists, each ordered or not; the last item of each is open too
	closeTo := func(n int) {
		for len(open) > n {
			w.b.WriteString("</li>\n" + listTag("</", open[len(open)-1]) + ">\n")
			open = open[:len(open)-1]
		}
	}
	for i := range blocks {
		b := &blocks[i]
		if b.Kind != Item {
			closeTo(0)
			w.block(b)
			continue
		}
		level := max(1, min(b.Level, 20))
		closeTo(level)
		if len(open) == level && open[level-1] != b.Ordered {
			closeTo(level - 1)
		}
		if len(open) == level {
			w.b.WriteString("</li>\n")
		}
		for len(open) < level {
			if len(open) > 0 && strings.HasSuffix(w.b.String(), ">\n") && !strings.HasSuffix(w.b.String(), "</table>\n") && !strings.HasSuffix(w.b.String(), "</p>\n") {
				w.b.WriteString("<li>") // a level that no item opened
			}
			w.b.WriteString(listTag("<", b.Ordered))
			if b.Ordered && b.Number > 1 {
				fmt.Fprintf(&w.b, " start=\"%d\"", b.Number)
			}
			w.b.WriteString(">\n")
			open = append(open, b.Ordered)
		}
		w.b.WriteString("<li>" + w.runs(b.Runs))
		if len(b.Blocks) > 0 {
			w.b.WriteString("\n")
			w.blocks(b.Blocks)
		}
	}
	closeTo(0)
}

func listTag(open string, ordered bool) string {
	if ordered {
		return open + "ol"
	}
	return open + "ul"
}

func (w *page) block(b *Block) {
	switch b.Kind {
	case Heading:
		l := max(1, min(b.Level, 6))
		fmt.Fprintf(&w.b, "<h%d>%s</h%d>\n", l, w.runs(b.Runs), l)
	case Table:
		w.table(b)
	case Code:
		w.b.WriteString("<pre><code")
		if b.Label != "" {
			w.b.WriteString(" class=\"language-" + html.EscapeString(b.Label) + "\"")
		}
		w.b.WriteString(">" + html.EscapeString(Words(b.Runs)) + "\n</code></pre>\n")
	case Quote:
		w.b.WriteString("<blockquote>\n")
		w.blocks(b.Blocks)
		w.b.WriteString("</blockquote>\n")
	case Aside:
		fmt.Fprintf(&w.b, "<aside aria-label=\"%s\">\n", html.EscapeString(b.Label))
		if b.Label != "" {
			fmt.Fprintf(&w.b, "<p><b>%s</b></p>\n", html.EscapeString(b.Label))
		}
		w.blocks(b.Blocks)
		w.b.WriteString("</aside>\n")
	case Rule:
		w.b.WriteString("<hr>\n")
	case Page:
		w.b.WriteString("<div style=\"break-after:page\"></div>\n")
	default:
		if len(visible(b.Runs, w.opt)) > 0 {
			w.b.WriteString("<p>" + w.runs(b.Runs) + "</p>\n")
		}
	}
}

func (w *page) table(b *Block) {
	w.b.WriteString("<table>\n")
	for i, row := range b.Rows {
		cell := "td"
		if i < b.Heads {
			cell = "th"
		}
		w.b.WriteString("<tr>")
		for k := range row {
			c := &row[k]
			w.b.WriteString("<" + cell)
			if c.ColSpan > 1 {
				fmt.Fprintf(&w.b, " colspan=\"%d\"", c.ColSpan)
			}
			if c.RowSpan > 1 {
				fmt.Fprintf(&w.b, " rowspan=\"%d\"", c.RowSpan)
			}
			w.b.WriteString(">")
			if len(c.Blocks) == 1 && c.Blocks[0].Kind == Para {
				w.b.WriteString(w.runs(c.Blocks[0].Runs))
			} else {
				w.blocks(c.Blocks)
			}
			w.b.WriteString("</" + cell + ">")
		}
		w.b.WriteString("</tr>\n")
	}
	w.b.WriteString("</table>\n")
}

func (w *page) runs(runs []Run) string {
	var b strings.Builder
	for _, r := range visible(runs, w.opt) {
		if r.Note > 0 {
			if r.Note <= len(w.labels) {
				fmt.Fprintf(&b, "<sup><a href=\"#note%d\">%s</a></sup>", r.Note, html.EscapeString(strings.Trim(w.labels[r.Note-1], "[]")))
			}
			continue
		}
		s := strings.ReplaceAll(html.EscapeString(r.Text), "\n", "<br>\n")
		if im := r.Image; im != nil {
			src := im.Name
			if im.Data != nil && strings.HasPrefix(im.MIME, "image/") {
				src = "data:" + im.MIME + ";base64," + base64.StdEncoding.EncodeToString(im.Data)
			}
			s = fmt.Sprintf("<img src=\"%s\" alt=\"%s\">", html.EscapeString(src), html.EscapeString(im.Alt))
		}
		for _, t := range []struct {
			on  bool
			tag string
		}{{r.Code, "code"}, {r.Super, "sup"}, {r.Sub, "sub"}, {r.Strike, "s"}, {r.Italic, "em"}, {r.Bold, "strong"}, {r.Inserted, "ins"}, {r.Deleted, "del"}} {
			if t.on {
				s = "<" + t.tag + ">" + s + "</" + t.tag + ">"
			}
		}
		if to := SafeLink(r.Link); to != "" {
			s = "<a href=\"" + html.EscapeString(to) + "\">" + s + "</a>"
		}
		b.WriteString(s)
	}
	return b.String()
}
