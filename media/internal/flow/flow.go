// Package flow is the neutral shape of a document: what readers of formats make and writers of formats take.
//
// A [Doc] is a list of blocks (headings, paragraphs, items of lists, tables, code, asides) with runs of text in them, and
// the notes that runs refer to. It holds what a reader sees and not how it looks. [Doc.Markdown], [Doc.HTML] and
// [Doc.Text] write it; [ReadHTML], [ReadMarkdown] and [ReadText] make one of a text. Everything that comes out of a
// document is escaped where it goes in.
//
// Lists are flat: an item says how deep it is. Text that is deleted but tracked stays in the runs, marked, and is written
// only when it is asked for.
package flow

import "strings"

// Kind is what a block is.
type Kind uint8

// The kinds of blocks.
const (
	Para    Kind = iota
	Heading      // Level 1 to 6
	Item         // of a list, Level from 1; Blocks are what follows its first paragraph
	Table        // Rows
	Code         // Runs hold the text with its line feeds; Label is the language
	Quote        // Blocks
	Aside        // Blocks beside the text: notes of a speaker, a header, a text box; Label says which
	Rule         // a line, or the border between two slides
	Page         // a new page begins
)

// Doc is a document.
type Doc struct {
	Title  string
	Blocks []Block
	Notes  []Note
}

// Block is a part of a document that stands on lines of its own. What is not said to be for its kind is ignored.
type Block struct {
	Kind    Kind
	Level   int
	Ordered bool // an item with a number
	Number  int  // of an ordered item; 0 is one more than the item before it
	Runs    []Run
	Rows    [][]Cell
	Heads   int // how many rows of a table are its header
	Blocks  []Block
	Label   string
}

// Run is a piece of a paragraph in one style. In Text a line feed is a line break and a tab a tab.
type Run struct {
	Text                       string
	Bold, Italic, Code, Strike bool
	Super, Sub                 bool
	Inserted, Deleted          bool   // tracked changes
	Link                       string // an address, or # and a name
	Note                       int    // from 1: this is the reference to Notes[Note-1]; there is no text
	Image                      *Image
}

// Image is a picture in a run.
type Image struct {
	Name string // file name, as extracting the assets gives it
	Alt  string
	MIME string
	Data []byte // nil if nobody asked for it; HTML takes it in
}

// Cell is a cell of a table. Cells that a span covers are left out.
type Cell struct {
	Blocks           []Block
	ColSpan, RowSpan int // 0 is 1
}

// NoteKind is what a note is.
type NoteKind uint8

// The kinds of notes.
const (
	Footnote NoteKind = iota
	Endnote
	Comment
)

// Note is what a reference refers to.
type Note struct {
	Kind   NoteKind
	Author string // of a comment
	Date   string
	Blocks []Block
}

// Options are for writing.
type Options struct {
	// Changes writes tracked deletions too, and marks both kinds of changes. Otherwise the text is as if all were accepted.
	Changes bool
	// Bare leaves out the frame of HTML (head and body).
	Bare bool
}

// P returns a paragraph of plain text.
func P(text string) Block { return Block{Runs: []Run{{Text: text}}} }

// Words returns the text of runs, without deletions.
func Words(runs []Run) string {
	var b strings.Builder
	for i := range runs {
		if !runs[i].Deleted {
			b.WriteString(runs[i].Text)
		}
	}
	return b.String()
}

// Blank reports whether runs show nothing.
func Blank(runs []Run) bool {
	for i := range runs {
		if r := &runs[i]; r.Image != nil || r.Note > 0 || !r.Deleted && strings.TrimSpace(r.Text) != "" {
			return false
		}
	}
	return true
}

// Deletions counts the runs of a document that are deleted and tracked.
func (d *Doc) Deletions() int {
	n := 0
	walk(d.Blocks, func(r *Run) {
		if r.Deleted && r.Text != "" {
			n++
		}
	})
	for i := range d.Notes {
		walk(d.Notes[i].Blocks, func(r *Run) {
			if r.Deleted && r.Text != "" {
				n++
			}
		})
	}
	return n
}

func walk(blocks []Block, f func(*Run)) {
	for i := range blocks {
		b := &blocks[i]
		for k := range b.Runs {
			f(&b.Runs[k])
		}
		walk(b.Blocks, f)
		for _, row := range b.Rows {
			for k := range row {
				walk(row[k].Blocks, f)
			}
		}
	}
}

// visible returns the runs that are to be written, with those of one style joined.
func visible(runs []Run, opt Options) []Run {
	var out []Run
	var text strings.Builder // of the last run, where others joined it
	end := func() {
		if text.Len() > 0 {
			out[len(out)-1].Text = text.String()
			text.Reset()
		}
	}
	for _, r := range runs {
		if r.Deleted && !opt.Changes {
			continue
		}
		if !opt.Changes {
			r.Inserted = false
		}
		if r.Text == "" && r.Image == nil && r.Note == 0 {
			continue
		}
		if n := len(out) - 1; n >= 0 && r.Image == nil && r.Note == 0 && out[n].Image == nil && out[n].Note == 0 {
			a, b := out[n], r
			a.Text, b.Text = "", ""
			if a == b {
				if text.Len() == 0 {
					text.WriteString(out[n].Text)
				}
				text.WriteString(r.Text)
				continue
			}
		}
		end()
		out = append(out, r)
	}
	end()
	return out
}

// maxSlots bounds what the spans of a table may cover, and what its rows are filled up to.
const maxSlots = 1 << 21

// grid lays the cells of a table out with nil where a span covers. All rows are as wide as the widest where that is in
// reason; the first always is.
func grid(rows [][]Cell) [][]*Cell {
	out := make([][]*Cell, len(rows))
	most := max(16, min(1000, maxSlots/max(1, len(rows)))) // columns that spans reach
	var until []int                                        // by column: the row up to which a cell covers it
	width := 0
	for i, row := range rows {
		col := 0
		skip := func() {
			for col < len(until) && until[col] > i {
				out[i] = append(out[i], nil)
				col++
			}
		}
		for k := range row {
			skip()
			c := &row[k]
			out[i] = append(out[i], c)
			wide, high := max(1, min(c.ColSpan, most-col)), min(max(1, c.RowSpan), len(rows)-i)
			for len(until) < col+wide {
				until = append(until, 0)
			}
			for x := range wide {
				until[col+x] = max(until[col+x], i+high)
			}
			col++
		}
		skip()
		width = max(width, len(out[i]))
	}
	for i := range out {
		for (i == 0 || width <= maxSlots/len(rows)) && len(out[i]) < width {
			out[i] = append(out[i], nil)
		}
	}
	return out
}

// SafeLink returns an address that may be put into a page, or "": only schemes that open and do not run.
func SafeLink(link string) string {
	link = strings.TrimSpace(link)
	low := strings.ToLower(strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f {
			return -1
		}
		return r
	}, link))
	scheme, _, ok := strings.Cut(low, ":")
	if !ok || strings.ContainsAny(scheme, "/?#") {
		return link
	}
	switch scheme {
	case "http", "https", "mailto", "tel", "ftp":
		return link
	}
	return ""
}
