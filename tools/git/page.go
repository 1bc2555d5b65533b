package git

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/tool"
)

// noteBytes is what a page leaves for the notes behind it.
const noteBytes = 1000

// page is the text of a page that bounds itself.
type page struct {
	b    strings.Builder
	left int // bytes
	rows int // that were counted
}

func (r *repo) page() *page {
	n := r.call.Bounds.Resolve().Bytes
	if n < 0 {
		return &page{left: math.MaxInt}
	}
	return &page{left: max(n-noteBytes, n/2, 1)}
}

// head writes a line that is not counted.
func (p *page) head(line string) {
	if p.b.Len() > 0 {
		p.b.WriteByte('\n')
	}
	p.b.WriteString(line)
	p.left -= len(line) + 1
}

// row writes a line and reports whether there was room.
func (p *page) row(line string) bool {
	if p.rows > 0 && len(line)+1 > p.left {
		return false
	}
	p.head(line)
	p.rows++
	return true
}

// notes writes remarks in brackets, each on its own line.
func (p *page) notes(lines []string) {
	for _, l := range lines {
		p.head("[" + l + "]")
	}
}

// clean makes text of what git printed: valid UTF-8, lines of bounded width.
func clean(line string) string {
	if len(line) > lineWidth {
		n := lineWidth
		for n > 0 && !utf8.RuneStart(line[n]) {
			n--
		}
		line = fmt.Sprintf("%s …(%d bytes more)…", line[:n], len(line)-n)
	}
	return strings.ToValidUTF8(line, "�")
}

// lines splits text into lines.
func lines(text string) []string {
	if text = strings.TrimSuffix(text, "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// body writes the lines of a page and says how to go on. what names them; cut says that git itself was stopped.
func (p *page) body(in *input, list []string, def int, what string, cut bool) (notes []string, next int, err error) {
	if in.Offset > 0 && in.Offset >= len(list) {
		return nil, 0, tool.Errorf(tool.InvalidParameter, "offset %d is past the end: there are %d %s.", in.Offset, len(list), what).
			For("offset", fmt.Sprintf("a number below %d", len(list)))
	}
	from := in.Offset
	to := from + min(in.limit(def), len(list)-from)
	n := from
	for p.rows = 0; n < to && p.row(clean(list[n])); n++ {
	}
	more := ""
	if cut {
		more = "more than "
	}
	switch {
	case n < len(list):
		next = n
		notes = append(notes, fmt.Sprintf("%s %d–%d of %s%d; go on with offset=%d, or name a path.", strings.ToUpper(what[:1])+what[1:], from+1, n, more, len(list), n))
	case cut:
		notes = append(notes, fmt.Sprintf("The output was stopped at %d MiB; name a path.", maxOutput>>20))
	}
	return notes, next, nil
}

// left says which files policy keeps out of the result: how many, not which.
func (r *repo) left(notes []string) []string {
	if n := len(r.hidden); n > 0 {
		notes = append(notes, plural(n, "file")+" that policy does not show here left out.")
	}
	return notes
}

// filtered says which of the files are stored through a filter that is not run here.
func (r *repo) filtered(notes, files []string) []string {
	if len(files) == 0 {
		return notes
	}
	shown := make([]string, 0, 3)
	for _, f := range files[:min(3, len(files))] {
		shown = append(shown, r.show(f))
	}
	return append(notes, fmt.Sprintf("%s stored through a filter (%s), which is not run here, so what is compared may differ from what git stores: %s.",
		plural(len(files), "file"), strings.Join(slices.Sorted(slices.Values(r.filters)), ", "), strings.Join(shown, ", ")))
}

func (p *page) result(data any, notes []string, next int) tool.Result {
	p.notes(notes)
	return tool.Result{Parts: []tool.Part{tool.Text(p.b.String())}, Data: data, Bounded: true, Meta: tool.Meta{Truncated: next > 0}}
}
