package text

import (
	"bytes"
	"sort"
	"strings"
)

// Lines knows where the lines of a text begin. Lines are counted from 0 here; what people and models see is one more.
// A final line ending ends the last line and begins no other: "a\n" is one line, "a\nb" are two, "" is none.
type Lines struct {
	content []byte
	starts  []int
	cr      bool
}

// Index finds the lines of content, which must not change while the index is in use. It costs one allocation.
func Index(content []byte) *Lines {
	l := &Lines{content: content, cr: UsesCR(content)}
	sep := byte('\n')
	if l.cr {
		sep = '\r'
	}
	l.starts = make([]int, 0, bytes.Count(content, []byte{sep})+1)
	for at := 0; at < len(content); {
		l.starts = append(l.starts, at)
		i := bytes.IndexByte(content[at:], sep)
		if i < 0 {
			break
		}
		at += i + 1
	}
	return l
}

// Len returns the number of lines.
func (l *Lines) Len() int { return len(l.starts) }

// Content returns the indexed text.
func (l *Lines) Content() []byte { return l.content }

// Start returns the offset at which line i begins; for i == Len(), the length of the text.
func (l *Lines) Start(i int) int {
	if i == len(l.starts) {
		return len(l.content)
	}
	return l.starts[i]
}

// End returns the offset behind line i and its ending.
func (l *Lines) End(i int) int { return l.Start(i + 1) }

// Body returns line i without its ending.
func (l *Lines) Body(i int) []byte {
	body, _ := cutEnding(l.content[l.Start(i):l.End(i)], l.cr)
	return body
}

// Ending returns the ending of line i: LF, CRLF, CR, or NoEnding for a last line without one.
func (l *Lines) Ending(i int) Ending {
	_, e := cutEnding(l.content[l.Start(i):l.End(i)], l.cr)
	return e
}

// At returns the line that the byte at offset belongs to. Offsets at or behind the end belong to the last line.
// An empty text answers 0.
func (l *Lines) At(offset int) int {
	return max(0, sort.SearchInts(l.starts, offset+1)-1)
}

func cutEnding(line []byte, cr bool) ([]byte, Ending) {
	n := len(line)
	switch {
	case n >= 2 && line[n-1] == '\n' && line[n-2] == '\r':
		return line[:n-2], CRLF
	case n >= 1 && line[n-1] == '\n':
		return line[:n-1], LF
	case cr && n >= 1 && line[n-1] == '\r':
		return line[:n-1], CR
	}
	return line, NoEnding
}

// Next cuts the first line from s: its body, its ending as it stands there ("" for a last line without one), and what
// follows. A lone CR ends a line if cr is true.
func Next(s string, cr bool) (body, ending, rest string) {
	n := strings.IndexByte(s, '\n')
	if cr {
		if r := strings.IndexByte(s, '\r'); r >= 0 && (n < 0 || r < n) {
			end := r + 1
			if end == n {
				end++
			}
			return s[:r], s[r:end], s[end:]
		}
	}
	switch {
	case n < 0:
		return s, "", ""
	case n > 0 && s[n-1] == '\r':
		return s[:n-1], s[n-1 : n+1], s[n+1:]
	}
	return s[:n], s[n : n+1], s[n+1:]
}

// Count returns the number of lines of content without building an index.
func Count(content []byte) int {
	if len(content) == 0 {
		return 0
	}
	sep := lf
	if UsesCR(content) {
		sep = []byte("\r")
	}
	n := bytes.Count(content, sep)
	if content[len(content)-1] != sep[0] {
		n++
	}
	return n
}

// Number returns the number, from 1, of the line that the byte at offset belongs to. The offset len(content) belongs to
// the line that would be continued there.
func Number(content []byte, offset int) int {
	n := bytes.Count(content[:offset], lf)
	if n == 0 && UsesCR(content) {
		n = bytes.Count(content[:offset], []byte("\r"))
	}
	return n + 1
}
