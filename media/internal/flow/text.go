package flow

import (
	"fmt"
	"strings"
)

// Text writes the words: blocks apart by a blank line, items on lines of their own, cells apart by tabs.
func (d *Doc) Text(opt Options) string {
	w := &plain{opt: opt, labels: labelsOf(d.Notes)}
	w.blocks(d.Blocks, "")
	for i := range d.Notes {
		n := &d.Notes[i]
		w.gap(false)
		w.lines(w.labels[i]+" "+noteHead(n), n.Blocks, "")
	}
	if w.b.Len() == 0 {
		return ""
	}
	return strings.TrimRight(w.b.String(), "\n") + "\n"
}

// labelsOf numbers notes: [1] for those under the text, [comment 1] for comments.
func labelsOf(notes []Note) []string {
	out := make([]string, len(notes))
	under, comments := 0, 0
	for i := range notes {
		if notes[i].Kind == Comment {
			comments++
			out[i] = fmt.Sprintf("[comment %d]", comments)
		} else {
			under++
			out[i] = fmt.Sprintf("[%d]", under)
		}
	}
	return out
}

// noteHead says whose comment it is.
func noteHead(n *Note) string {
	switch {
	case n.Kind != Comment || n.Author == "" && n.Date == "":
		return ""
	case n.Date == "":
		return n.Author + ": "
	case n.Author == "":
		return n.Date + ": "
	}
	return n.Author + ", " + n.Date + ": "
}

type plain struct {
	b      strings.Builder
	opt    Options
	labels []string // of the notes
	tight  bool     // the last thing was an item
}

func (w *plain) gap(item bool) {
	if w.b.Len() == 0 {
		w.tight = item
		return
	}
	if !strings.HasSuffix(w.b.String(), "\n") {
		w.b.WriteByte('\n')
	}
	if !w.tight || !item {
		w.b.WriteByte('\n')
	}
	w.tight = item
}

func (w *plain) blocks(blocks []Block, indent string) {
	count := map[int]int{}
	for i := range blocks {
		b := &blocks[i]
		if b.Kind != Item {
			clear(count)
		}
		switch b.Kind {
		case Item:
			w.item(b, count, indent)
		case Table:
			w.gap(false)
			for _, row := range grid(b.Rows) {
				var cells []string
				for _, c := range row {
					s := ""
					if c != nil {
						s = w.inline(c.Blocks)
					}
					cells = append(cells, s)
				}
				w.b.WriteString(indent + strings.TrimRight(strings.Join(cells, "\t"), "\t") + "\n")
			}
		case Quote:
			w.blocks(b.Blocks, indent)
		case Aside:
			w.gap(false)
			head := b.Label
			if head != "" {
				head += ": "
			}
			w.lines(head, b.Blocks, indent)
		case Rule, Page:
			w.tight = false
		default:
			if s := w.runs(b.Runs); strings.TrimSpace(s) != "" {
				w.gap(false)
				w.b.WriteString(indent + strings.ReplaceAll(strings.TrimRight(s, " \n"), "\n", "\n"+indent) + "\n")
			}
		}
	}
}

func (w *plain) item(b *Block, count map[int]int, indent string) {
	for l := range count {
		if l > b.Level {
			delete(count, l)
		}
	}
	count[b.Level]++
	mark := "- "
	if b.Ordered {
		if b.Number > 0 {
			count[b.Level] = b.Number
		}
		mark = fmt.Sprintf("%d. ", count[b.Level])
	}
	in := indent + strings.Repeat("  ", max(0, min(b.Level, 20)-1))
	w.gap(true)
	w.b.WriteString(in + mark + strings.ReplaceAll(strings.TrimRight(w.runs(b.Runs), " \n"), "\n", "\n"+in+"  ") + "\n")
	if len(b.Blocks) > 0 {
		w.blocks(b.Blocks, in+"  ")
		w.tight = true
	}
}

// lines writes blocks behind a label.
func (w *plain) lines(head string, blocks []Block, indent string) {
	sub := &plain{opt: w.opt, labels: w.labels}
	sub.blocks(blocks, "")
	s := strings.TrimRight(sub.b.String(), "\n")
	w.b.WriteString(indent + strings.TrimRight(strings.ReplaceAll(head+s, "\n", "\n"+indent), " ") + "\n")
}

// inline writes blocks on one line, for a cell.
func (w *plain) inline(blocks []Block) string {
	sub := &plain{opt: w.opt, labels: w.labels}
	sub.blocks(blocks, "")
	return strings.Join(strings.Fields(sub.b.String()), " ")
}

func (w *plain) runs(runs []Run) string {
	var b strings.Builder
	for _, r := range visible(runs, w.opt) {
		switch {
		case r.Note > 0 && r.Note <= len(w.labels):
			b.WriteString(w.labels[r.Note-1])
		case r.Image != nil:
			if r.Image.Alt != "" {
				b.WriteString("[" + r.Image.Alt + "]")
			}
		case r.Deleted:
			b.WriteString("[-" + r.Text + "-]")
		case r.Inserted:
			b.WriteString("{+" + r.Text + "+}")
		default:
			b.WriteString(r.Text)
		}
	}
	return b.String()
}
