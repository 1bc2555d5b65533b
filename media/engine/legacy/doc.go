package legacy

import (
	"bytes"
	"encoding/binary"
	"sort"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/flow"
)

// The layout of the old Word format is published as [MS-DOC]. A file holds its text in pieces, which the piece table in the
// table stream puts in order; properties of paragraphs stand by file offset in pages of 512 bytes.

func u16(b []byte, at int) int {
	if at < 0 || at+2 > len(b) {
		return 0
	}
	return int(binary.LittleEndian.Uint16(b[at:]))
}

func u32(b []byte, at int) int {
	if at < 0 || at+4 > len(b) {
		return 0
	}
	return int(binary.LittleEndian.Uint32(b[at:]))
}

func cut(b []byte, at, n int) []byte {
	if at < 0 || n < 0 || at > len(b) {
		return nil
	}
	return b[at:min(len(b), at+n)]
}

func wide(b []byte) string {
	u := make([]uint16, len(b)/2)
	for i := range u {
		u[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(u))
}

func narrow(b []byte) string {
	s, err := charmap.Windows1252.NewDecoder().Bytes(b)
	if err != nil {
		return string(b)
	}
	return string(s)
}

// letter is a character of the text with its place in the file.
type letter struct{ r, fc int32 }

type word struct {
	*cfb
	main, table []byte
	text        []letter
	levels      map[int]int // style → level of a heading
	pages       []int       // of paragraph properties: file offsets at which each begins
	numbers     []int       // their numbers
	out         *flow.Doc
}

// doc reads a text of Word 97 and later.
func (c *cfb) doc() (*flow.Doc, []string, error) {
	w := &word{cfb: c, main: c.get("WordDocument"), levels: map[int]int{}, out: &flow.Doc{}}
	if len(w.main) < 0x200 {
		return nil, nil, c.bad("it has no text")
	}
	flags := u16(w.main, 0x0a)
	if flags&0x100 != 0 {
		return nil, nil, media.Refusef("%s is encrypted. Save it without a password first.", c.name)
	}
	if v := u16(w.main, 2); v < 0x00c1 {
		return nil, nil, media.Refusef("%s is of Word 95 or older, which is not read here. Save it anew with a newer program.", c.name)
	}
	w.table = c.get("0Table")
	if flags&0x200 != 0 {
		w.table = c.get("1Table")
	}
	if err := w.pieces(); err != nil {
		return nil, nil, err
	}
	w.styles()
	w.bins()
	title, _ := c.properties()["title"].(string)
	w.out.Title = title
	at := 0
	for i, part := range []string{"", "Footnotes", "Headers and footers", "", "Comments", "Endnotes", "Text boxes", "Text boxes in headers"} {
		n := u32(w.main, 0x4c+4*i)
		if n <= 0 || at >= len(w.text) {
			continue
		}
		if err := w.lim.Err(); err != nil {
			return nil, nil, err
		}
		blocks := w.paragraphs(w.text[at:min(len(w.text), at+n)])
		at += n
		switch {
		case len(blocks) == 0:
		case part == "":
			if i == 0 {
				w.out.Blocks = blocks
			}
		default:
			w.out.Blocks = append(w.out.Blocks, flow.Block{Kind: flow.Aside, Label: part, Blocks: blocks})
		}
	}
	return w.out, nil, nil
}

func (w *word) pieces() error {
	clx := cut(w.table, u32(w.main, 0x1a2), u32(w.main, 0x1a6))
	i := 0
	for i+3 <= len(clx) && clx[i] == 1 {
		i += 3 + u16(clx, i+1)
	}
	if i >= len(clx) || clx[i] != 2 {
		return w.bad("it has no piece table")
	}
	t := cut(clx, i+5, u32(clx, i+1))
	n := (len(t) - 4) / 12
	for k := range max(0, n) {
		from, to := u32(t, 4*k), u32(t, 4*k+4)
		if to < from || len(w.text)+to-from > len(w.main) { // pieces do not share bytes
			return w.bad("its pieces are out of order")
		}
		if err := w.lim.Err(); err != nil {
			return err
		}
		f := u32(t, 4*(n+1)+8*k+2)
		if f&0x40000000 != 0 {
			at := (f &^ 0x40000000) / 2
			raw := cut(w.main, at, to-from)
			for j, b := range raw {
				w.text = append(w.text, letter{charmap.Windows1252.DecodeByte(b), int32(at + j)})
			}
			continue
		}
		raw := cut(w.main, f, 2*(to-from))
		for j := 0; j+2 <= len(raw); j += 2 {
			r := rune(binary.LittleEndian.Uint16(raw[j:]))
			if utf16.IsSurrogate(r) && j+4 <= len(raw) {
				if full := utf16.DecodeRune(r, rune(binary.LittleEndian.Uint16(raw[j+2:]))); full != 0xfffd {
					w.text = append(w.text, letter{full, int32(f + j)}, letter{-1, int32(f + j + 2)}) // positions count halves
					j += 2
					continue
				}
			}
			w.text = append(w.text, letter{r, int32(f + j)})
		}
	}
	return nil
}

// styles finds which styles are headings.
func (w *word) styles() {
	s := cut(w.table, u32(w.main, 0xa2), u32(w.main, 0xa6))
	at := 2 + u16(s, 0)
	for i := range min(u16(s, 2), 4096) {
		n := u16(s, at)
		if std := cut(s, at+2, n); len(std) >= 2 {
			if sti := u16(std, 0) & 0xfff; sti >= 1 && sti <= 9 {
				w.levels[i] = min(6, sti)
			} else if sti == 62 { // title
				w.levels[i] = 1
			}
		}
		at += 2 + n
	}
}

// bins reads which page of paragraph properties is for which part of the file.
func (w *word) bins() {
	t := cut(w.table, u32(w.main, 0x102), u32(w.main, 0x106))
	n := (len(t) - 4) / 8
	for k := range max(0, n) {
		w.pages = append(w.pages, u32(t, 4*k))
		w.numbers = append(w.numbers, u32(t, 4*(n+1)+4*k)&0x3fffff)
	}
}

// props returns the style of the paragraph that ends at a file offset, and whether it lies in a table or ends a row.
func (w *word) props(fc int) (style int, cell, row bool) {
	if len(w.pages) == 0 {
		return 0, false, false
	}
	k := max(0, sort.Search(len(w.pages), func(k int) bool { return w.pages[k] > fc })-1)
	page := cut(w.main, w.numbers[k]*512, 512)
	if len(page) < 512 {
		return 0, false, false
	}
	n := int(page[511])
	for i := range n {
		if fc < u32(page, 4*i) || fc >= u32(page, 4*i+4) {
			continue
		}
		off := 4*(n+1) + 13*i
		if off >= 511 || page[off] == 0 {
			return 0, false, false
		}
		at := int(page[off]) * 2
		size := 2*int(page[at]) - 1
		at++
		if size < 0 && at < 511 {
			size = 2 * int(page[at])
			at++
		}
		papx := cut(page, at, size)
		if len(papx) < 2 {
			return 0, false, false
		}
		style = u16(papx, 0)
		for g := papx[2:]; len(g) >= 3; {
			op := u16(g, 0)
			w := 0
			switch op >> 13 {
			case 0, 1:
				w = 1
			case 2, 4, 5:
				w = 2
			case 3:
				w = 4
			case 7:
				w = 3
			case 6:
				w = 1 + int(g[2])
				if op == 0xd608 {
					w = 1 + u16(g, 2)
				}
			}
			switch op {
			case 0x2416:
				cell = g[2] != 0
			case 0x2417:
				row = g[2] != 0
			}
			if 2+w > len(g) {
				break
			}
			g = g[2+w:]
		}
		return style, cell, row
	}
	return 0, false, false
}

// paragraphs makes blocks of a text. Cells end with a bell, and so do rows.
func (w *word) paragraphs(text []letter) []flow.Block {
	var out, cell []flow.Block
	var row []flow.Cell
	var table *flow.Block
	var line []letter
	flush := func() {
		if table != nil {
			out, table = append(out, *table), nil
		}
	}
	for _, l := range text {
		if l.r != '\r' && l.r != 7 && l.r != '\f' {
			line = append(line, l)
			continue
		}
		style, in, ttp := w.props(int(l.fc))
		b := flow.Block{Runs: w.runs(line)}
		line = nil
		if lv := w.levels[style]; lv > 0 {
			b.Kind, b.Level = flow.Heading, lv
		}
		switch {
		case ttp:
			if table == nil {
				table = &flow.Block{Kind: flow.Table}
			}
			table.Rows = append(table.Rows, row)
			row, cell = nil, nil
		case l.r == 7:
			row = append(row, flow.Cell{Blocks: append(cell, b)})
			cell = nil
		case in:
			cell = append(cell, b)
		default:
			flush()
			if !flow.Blank(b.Runs) {
				out = append(out, b)
			}
			if l.r == '\f' {
				out = append(out, flow.Block{Kind: flow.Page})
			}
		}
	}
	if len(row) > 0 {
		out = append(out, flow.Block{Kind: flow.Table, Rows: [][]flow.Cell{row}})
	}
	flush()
	if b := w.runs(line); !flow.Blank(b) {
		out = append(out, flow.Block{Runs: b})
	}
	return out
}

// runs turns special characters into what they stand for. Of a field only its result is kept, and of a link its address.
func (w *word) runs(line []letter) []flow.Run {
	var out []flow.Run
	var b, code strings.Builder
	var link []string // of the open fields
	depth := 0        // of fields whose code is being read
	put := func() {
		if b.Len() > 0 {
			run := flow.Run{Text: b.String()}
			if len(link) > 0 {
				run.Link = link[len(link)-1]
			}
			out = append(out, run)
			b.Reset()
		}
	}
	for _, l := range line {
		switch l.r {
		case -1, 1, 2, 5, 8, 0x1f:
		case 0x13:
			put()
			depth++
			code.Reset()
			link = append(link, "")
		case 0x14:
			if depth > 0 {
				depth--
			}
			if f := strings.Fields(code.String()); len(f) > 1 && f[0] == "HYPERLINK" && len(link) > 0 {
				link[len(link)-1] = strings.Trim(f[1], `"`)
			}
		case 0x15:
			put()
			if len(link) > 0 {
				link = link[:len(link)-1]
			}
			if depth > len(link) {
				depth = len(link)
			}
		case 0x0b:
			b.WriteByte('\n')
		case 0x1e:
			b.WriteByte('-')
		default:
			switch {
			case depth > 0:
				code.WriteRune(l.r)
			case l.r >= ' ' || l.r == '\t':
				b.WriteRune(l.r)
			}
		}
	}
	put()
	return out
}

// pictures finds pictures that stand as they are within a stream.
func pictures(stream []byte, most int) [][]byte {
	var out [][]byte
	for i := 0; i+16 < len(stream) && len(out) < most; {
		rest := stream[i:]
		switch {
		case bytes.HasPrefix(rest, []byte("\x89PNG\r\n\x1a\n")):
			if n := pngEnd(rest); n > 0 {
				out = append(out, rest[:n])
				i += n
				continue
			}
		case bytes.HasPrefix(rest, []byte("\xff\xd8\xff")):
			if n := jpegEnd(rest); n > 0 {
				out = append(out, rest[:n])
				i += n
				continue
			}
		}
		k, j := bytes.IndexByte(rest[1:], 0x89), bytes.IndexByte(rest[1:], 0xff)
		n := min(k, j)
		if n < 0 {
			n = max(k, j)
		}
		if n < 0 {
			return out
		}
		i += 1 + n
	}
	return out
}

func pngEnd(b []byte) int {
	for i := 8; i+12 <= len(b); {
		n := int(binary.BigEndian.Uint32(b[i:]))
		kind := string(b[i+4 : i+8])
		if n < 0 || i+12+n > len(b) {
			return 0
		}
		i += 12 + n
		if kind == "IEND" {
			return i
		}
	}
	return 0
}

func jpegEnd(b []byte) int {
	for i := 2; i+4 <= len(b); {
		if b[i] != 0xff {
			return 0
		}
		kind := b[i+1]
		n := int(binary.BigEndian.Uint16(b[i+2:]))
		if kind < 0xc0 || n < 2 {
			return 0
		}
		i += 2 + n
		if kind != 0xda {
			continue
		}
		for ; i+2 <= len(b); i++ { // the data of the scan
			if b[i] == 0xff && b[i+1] == 0xd9 {
				return i + 2
			}
			if b[i] == 0xff && b[i+1] != 0 && (b[i+1] < 0xd0 || b[i+1] > 0xd7) {
				break
			}
		}
	}
	return 0
}
