package edit

import (
	"bytes"
	"strings"
)

// block is a run of whole lines to look for without regard to how they are indented.
type block struct {
	keys    []string // the lines without white space around them, folded on byFold
	indents []string // the white space before them; "" for blank lines
	extra   []string // indentation of the lines that will replace them, to tell how wide a step is
	endsNL  bool
	anchor  int // the longest key
}

func newBlock(s string, n normal) *block {
	lines := string(normalise([]byte(s), n).text)
	b := &block{endsNL: strings.HasSuffix(lines, "\n")}
	for _, line := range strings.Split(strings.TrimSuffix(lines, "\n"), "\n") {
		b.add(line)
	}
	return b
}

func (b *block) add(line string) {
	key := strings.TrimLeft(line, " \t")
	indent := line[:len(line)-len(key)]
	if key == "" {
		indent = ""
	}
	b.keys, b.indents = append(b.keys, key), append(b.indents, indent)
	if len(key) > len(b.keys[b.anchor]) {
		b.anchor = len(b.keys) - 1
	}
}

// indentsOf returns the white space before the lines of s that are not blank.
func indentsOf(s string) []string {
	var all []string
	for _, line := range strings.Split(s, "\n") {
		if key := strings.TrimLeft(line, " \t"); strings.TrimSpace(key) != "" {
			all = append(all, line[:len(line)-len(key)])
		}
	}
	return all
}

// blockPlace is where a block stands.
type blockPlace struct {
	start, end int      // in Finder.content
	indents    []string // of its lines there; "" for blank lines
	eof        bool     // the block ends with a line break that the file lacks
}

// maxCompared is how many lines are compared with those of a block. It takes a file of equal lines to get there.
const maxCompared = 1 << 21

// pairs returns the indentation of the lines from the given one that are not blank: here, and where p is.
func (b *block) pairs(p blockPlace, from int) (text, file, extra []string) {
	for i := from; i < len(b.keys); i++ {
		if b.keys[i] != "" {
			text, file = append(text, b.indents[i]), append(file, p.indents[i])
		}
	}
	return text, file, b.extra
}

// beginsInside reports whether the first line of the block lacks the white space that it has at p, as that of a text does
// which was copied from where the line begins to be read. The lines below must tell something then.
func (b *block) beginsInside(p blockPlace) bool {
	return b.indents[0] == "" && b.keys[0] != "" && p.indents[0] != "" && informative(strings.Join(b.keys[1:], ""))
}

// eachBlock calls yield for every place where the keys of the block stand, in order, or with overlap false for those
// that do not overlap one that yield accepted. It reports whether it gave up before the end of the file.
// It searches for the longest line and looks around each hit, so the file is not cut into lines.
func (f *Finder) eachBlock(b *block, l level, overlap bool, yield func(blockPlace) bool) (more bool) {
	v := f.view(l)
	needle := []byte(b.keys[b.anchor] + "\n")
	compared, free := 0, 0
	visit := func(at int) {
		if p, ok := f.blockAt(b, v, at, &compared); ok && (overlap || p.start >= free) && yield(p) {
			free = p.end
		}
	}
	lit := newLiteral(v.text, needle)
	for at := 0; at < len(v.text); at++ {
		i := lit.next(v.text[at:])
		if i < 0 {
			break
		}
		if compared > maxCompared {
			return true
		}
		at += i
		visit(at)
	}
	if last := needle[:len(needle)-1]; bytes.HasSuffix(v.text, last) {
		visit(len(v.text) - len(last))
	}
	return false
}

// blockAt compares the block with the lines around a hit of its anchor at v.text[at:].
func (f *Finder) blockAt(b *block, v *view, at int, compared *int) (blockPlace, bool) {
	start := bytes.LastIndexByte(v.text[:at], '\n') + 1
	if len(bytes.TrimLeft(v.text[start:at], " \t")) > 0 {
		return blockPlace{}, false
	}
	for range b.anchor {
		if start == 0 {
			return blockPlace{}, false
		}
		start = bytes.LastIndexByte(v.text[:start-1], '\n') + 1
	}
	var p blockPlace
	pos, end := start, start
	for i, key := range b.keys {
		*compared++
		if i > 0 && pos >= len(v.text) {
			return blockPlace{}, false
		}
		line := v.text[pos:]
		if n := bytes.IndexByte(line, '\n'); n >= 0 {
			line = line[:n]
		}
		body := bytes.TrimLeft(line, " \t")
		if string(body) != key {
			return blockPlace{}, false
		}
		end = pos + len(line)
		pos = end + 1
	}
	p.indents = b.indentsAt(v, start)
	if b.endsNL {
		if p.eof = end == len(v.text); !p.eof {
			end++
		}
	}
	p.start, p.end = v.start(start), v.start(end)
	return p, true
}

// indentsAt returns the indentation of the lines of a view from start, where the block is known to stand.
func (b *block) indentsAt(v *view, start int) []string {
	indents := make([]string, len(b.keys))
	for i, key := range b.keys {
		end := start
		for end < len(v.text) && (v.text[end] == ' ' || v.text[end] == '\t') {
			end++
		}
		if key != "" {
			indents[i] = string(v.text[start:end])
		}
		start = end + len(key) + 1
	}
	return indents
}
