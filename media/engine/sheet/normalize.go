package sheet

import (
	"bytes"
	"context"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/tackle-dev/tackle/media"
)

// normalize brings the texts of cells and notes to one form: line feeds, no blanks at the ends of lines, composed characters.
// Numbers and formulas have none to lose.
func normalize(ctx context.Context, r *media.Request) (media.Result, error) {
	b, err := openBook(r)
	if err != nil {
		return media.Result{}, err
	}
	for _, name := range b.zip.Names() {
		if err := ctx.Err(); err != nil {
			return media.Result{}, err
		}
		if !strings.HasPrefix(name, "xl/") || !strings.HasSuffix(name, ".xml") || !strings.Contains(name, "sharedStrings") && !strings.HasPrefix(name, "xl/worksheets/") && !strings.Contains(name, "comments") {
			continue
		}
		src, err := b.part(name)
		if err != nil {
			return media.Result{}, err
		}
		if out, n := normalTexts(src); n > 0 {
			b.counts.Modified += n
			b.set(name, out)
		}
	}
	if b.counts.Modified == 0 {
		b.warn("It was in order already.")
	}
	return b.done()
}

// normalTexts does it for one part, and counts the texts that changed.
func normalTexts(src []byte) ([]byte, int) {
	s := scanner{b: src}
	e := edits{src: src}
	n := 0
	var runs [][2]int // of the text that is open
	open, reading := false, false
	for t, ok := s.next(); ok; t, ok = s.next() {
		switch name := string(t.name); {
		case name == "si" || name == "is" || name == "text":
			if open = !t.end && !t.closed; open {
				runs = runs[:0]
				continue
			}
			changed := false
			for i, run := range runs {
				was := unescape(src[run[0]:run[1]])
				if now := normalText(was, i == len(runs)-1); now != was {
					e.replace(run[0], run[1], []byte(escapeText(now)))
					changed = true
				}
			}
			if runs = runs[:0]; changed {
				n++
			}
		case name == "rPh": // how a word is read, not the word
			reading = !t.end && !t.closed
		case name == "t" && open && !reading && !t.end && !t.closed:
			if k := bytes.IndexByte(src[t.to:], '<'); k >= 0 {
				runs = append(runs, [2]int{t.to, t.to + k})
			}
		}
	}
	return e.done(), n
}

// normalText is the form of a run of text; the last one of a text ends it.
func normalText(s string, last bool) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "_x000D_\n", "\n"), "_x000D_", "\n")
	lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n"), "\n")
	for i, l := range lines {
		if i < len(lines)-1 || last {
			lines[i] = strings.TrimRight(l, " \t\u00a0\u3000")
		}
	}
	return norm.NFC.String(strings.Join(lines, "\n"))
}
