package flow

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Markdown writes GitHub's Markdown. Notes are footnotes; comments too, with their authors.
func (d *Doc) Markdown(opt Options) string {
	w := &marker{opt: opt, labels: labelsOf(d.Notes)}
	w.blocks(d.Blocks)
	for i := range d.Notes {
		n := &d.Notes[i]
		sub := &marker{opt: opt, labels: w.labels}
		sub.blocks(n.Blocks)
		body := escapeMarkdown(noteHead(n)) + strings.TrimRight(sub.b.String(), "\n")
		w.gap(false)
		w.b.WriteString("[^" + noteID(w.labels[i]) + "]: " + strings.ReplaceAll(body, "\n", "\n    ") + "\n")
	}
	return strings.ReplaceAll(w.b.String(), "\n    \n", "\n\n")
}

// noteID makes a name of the label of a note: its number, or comment1.
func noteID(label string) string { return strings.ReplaceAll(strings.Trim(label, "[]"), " ", "") }

type marker struct {
	b      strings.Builder
	opt    Options
	labels []string // of the notes
	tight  bool
}

func (w *marker) gap(item bool) {
	if w.b.Len() > 0 && (!w.tight || !item) {
		w.b.WriteByte('\n')
	}
	w.tight = item
}

func (w *marker) blocks(blocks []Block) {
	var indents []string // of what is within an item of each level
	var counts []int
	var ordered []bool
	for i := range blocks {
		b := &blocks[i]
		if b.Kind != Item {
			if len(indents) > 0 {
				indents, counts, ordered = nil, nil, nil
				w.tight = false
			}
			w.block(b)
			continue
		}
		level := max(1, min(b.Level, 20))
		for len(indents) > level {
			indents, counts, ordered = indents[:len(indents)-1], counts[:len(counts)-1], ordered[:len(ordered)-1]
		}
		for len(indents) < level {
			indents, counts, ordered = append(indents, ""), append(counts, 0), append(ordered, b.Ordered)
		}
		k := level - 1
		if counts[k] > 0 && ordered[k] != b.Ordered {
			counts[k], ordered[k] = 0, b.Ordered
		}
		counts[k]++
		mark := "- "
		if b.Ordered {
			if b.Number > 0 {
				counts[k] = b.Number
			}
			mark = fmt.Sprintf("%d. ", counts[k])
		}
		in := ""
		if k > 0 {
			in = indents[k-1]
		}
		indents[k] = in + strings.Repeat(" ", len(mark))
		w.gap(true)
		w.b.WriteString(in + mark + strings.ReplaceAll(strings.TrimSpace(w.runs(b.Runs, lineStart)), "\n", "\n"+indents[k]) + "\n")
		if len(b.Blocks) > 0 {
			sub := &marker{opt: w.opt, labels: w.labels}
			sub.blocks(b.Blocks)
			w.b.WriteByte('\n')
			for line := range strings.Lines(sub.b.String()) {
				if line != "\n" {
					w.b.WriteString(indents[k])
				}
				w.b.WriteString(line)
			}
		}
	}
}

func (w *marker) block(b *Block) {
	switch b.Kind {
	case Heading:
		s := strings.TrimSpace(strings.ReplaceAll(w.runs(b.Runs, inHeading), "\n", " "))
		if s == "" {
			return
		}
		w.gap(false)
		w.b.WriteString(strings.Repeat("#", max(1, min(b.Level, 6))) + " " + s + "\n")
	case Table:
		w.table(b)
	case Code:
		s := Words(b.Runs)
		fence := "```"
		for strings.Contains(s, fence) {
			fence += "`"
		}
		w.gap(false)
		w.b.WriteString(fence + strings.Map(wordOnly, b.Label) + "\n" + s + "\n" + fence + "\n")
	case Quote, Aside:
		sub := &marker{opt: w.opt, labels: w.labels}
		if b.Kind == Aside && b.Label != "" {
			sub.b.WriteString("**" + escapeMarkdown(b.Label) + ":**\n")
		}
		sub.blocks(b.Blocks)
		if sub.b.Len() == 0 {
			return
		}
		w.gap(false)
		for line := range strings.Lines(sub.b.String()) {
			w.b.WriteString(strings.TrimRight("> "+line, " \n") + "\n")
		}
	case Rule:
		w.gap(false)
		w.b.WriteString("---\n")
	case Page:
	default:
		s := w.runs(b.Runs, lineStart)
		if strings.TrimSpace(s) == "" {
			return
		}
		w.gap(false)
		w.b.WriteString(strings.Trim(s, " \n") + "\n")
	}
}

func wordOnly(r rune) rune {
	if r == '-' || r == '+' || r == '#' || unicode.IsLetter(r) || unicode.IsDigit(r) {
		return r
	}
	return -1
}

// table writes cells on one line each; the first row serves as the header, which Markdown demands.
func (w *marker) table(b *Block) {
	rows := grid(b.Rows)
	if len(rows) == 0 || len(rows[0]) == 0 {
		return
	}
	w.gap(false)
	for i, row := range rows {
		for _, c := range row {
			s := ""
			if c != nil {
				s = w.cell(c.Blocks)
			}
			w.b.WriteString(strings.TrimRight("| "+s, " ") + " ")
		}
		w.b.WriteString("|\n")
		if i == 0 {
			w.b.WriteString(strings.Repeat("| --- ", len(row)) + "|\n")
		}
	}
}

func (w *marker) cell(blocks []Block) string {
	var parts []string
	for i := range blocks {
		b := &blocks[i]
		s := ""
		switch b.Kind {
		case Table:
			for _, row := range grid(b.Rows) {
				for _, c := range row {
					if c != nil {
						parts = append(parts, w.cell(c.Blocks))
					}
				}
			}
		case Quote, Aside:
			s = w.cell(b.Blocks)
		case Item:
			s = "• " + w.runs(b.Runs, inCell)
			if len(b.Blocks) > 0 {
				s += "<br>" + w.cell(b.Blocks)
			}
		default:
			s = w.runs(b.Runs, inCell)
		}
		if s = strings.TrimSpace(s); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "<br>")
}

// place is where runs go; some characters mean something only there.
type place uint8

const (
	lineStart place = iota
	inHeading
	inCell
)

// runs writes a paragraph. Emphasis that Markdown could not read back (a closing mark behind a hyphen and before a letter)
// is left out: the words come first.
func (w *marker) runs(runs []Run, at place) string {
	rs := visible(runs, w.opt)
	var b strings.Builder
	for i, r := range rs {
		switch {
		case r.Note > 0:
			if r.Note <= len(w.labels) {
				b.WriteString("[^" + noteID(w.labels[r.Note-1]) + "]")
			}
			continue
		case r.Image != nil:
			b.WriteString("![" + escapeMarkdown(oneLine(r.Image.Alt)) + "](" + address(r.Image.Name) + ")")
			continue
		}
		next := ""
		if i+1 < len(rs) {
			next = rs[i+1].Text
			if rs[i+1].Image != nil || rs[i+1].Note > 0 {
				next = "["
			}
		}
		b.WriteString(w.run(&r, b.String(), next))
	}
	s := b.String()
	switch at {
	case inCell:
		return strings.ReplaceAll(strings.ReplaceAll(s, "|", `\|`), "\n", "<br>")
	case inHeading:
		if strings.HasSuffix(s, "#") {
			s = s[:len(s)-1] + `\#`
		}
		return s
	}
	// Nothing that this writer makes begins with one of these, so the text does.
	s = lineMark().ReplaceAllString(strings.Trim(s, " \t\n"), `$1$2\$3$4`)
	// Two blanks would end a line too, but nobody sees them.
	return strings.ReplaceAll(s, "\n", "\\\n")
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// run writes one run behind what is there; next is the text that follows.
func (w *marker) run(r *Run, before, next string) string {
	body := strings.Trim(r.Text, " \t\n")
	if body == "" {
		return r.Text
	}
	from := strings.Index(r.Text, body)
	lead, trail := r.Text[:from], r.Text[from+len(body):]
	s := ""
	if r.Code {
		s = codeSpan(body)
	} else {
		s = escapeMarkdown(body)
	}
	prev, follow := ' ', ' ' // what stands before and behind
	if at := cmp.Or(lead, before); at != "" {
		prev, _ = utf8.DecodeLastRuneInString(at)
	}
	if at := cmp.Or(trail, next); at != "" {
		follow, _ = utf8.DecodeRuneInString(at)
	}
	wrap := func(mark string) {
		if mark[0] == '*' && prev == '*' && !wordy(follow) {
			mark = strings.ReplaceAll(mark, "*", "_")
		} else if prev == rune(mark[0]) {
			return
		}
		first, _ := utf8.DecodeRuneInString(s)
		last, _ := utf8.DecodeLastRuneInString(s)
		if (wordy(first) || !wordy(prev)) && (wordy(last) || !wordy(follow)) {
			s = mark + s + mark
		}
	}
	switch {
	case r.Bold && r.Italic:
		wrap("***")
	case r.Bold:
		wrap("**")
	case r.Italic:
		wrap("*")
	}
	if r.Strike || r.Deleted {
		wrap("~~")
	}
	if to := SafeLink(r.Link); to != "" {
		s = "[" + strings.ReplaceAll(s, "\n", " ") + "](" + address(to) + ")"
	}
	return lead + s + trail
}

func wordy(r rune) bool { return !unicode.IsPunct(r) && !unicode.IsSpace(r) && !unicode.IsSymbol(r) }

func codeSpan(s string) string {
	s = strings.ReplaceAll(s, "\n", " ")
	tick := "`"
	for strings.Contains(s, tick) {
		tick += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return tick + s + tick
}

// address makes a target that ends where it should.
func address(s string) string {
	if strings.ContainsAny(s, " ()<>\\\n\t\"") {
		s = strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", `\`, "%5C", "\n", "", "\t", "%09", `"`, "%22").Replace(s)
	}
	if _, err := url.Parse(s); err != nil {
		return url.PathEscape(s)
	}
	return s
}

var (
	markChars = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("[\\\\`*_\\[\\]<>~]|&(?:#|[A-Za-z])")
	})
	lineMark = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^([ \t]*)(\d{0,9})([.)#+=-])([#=-]*(?:[ \t]|$))`)
	})
)

// escapeMarkdown makes text that stands for itself. Underscores within words need nothing.
func escapeMarkdown(s string) string {
	at := 0
	var b strings.Builder
	for _, m := range markChars().FindAllStringIndex(s, -1) {
		if s[m[0]] == '_' && m[0] > 0 && m[1] < len(s) && alnum(s[m[0]-1]) && alnum(s[m[1]]) {
			continue
		}
		b.WriteString(s[at:m[0]] + `\`)
		at = m[0]
	}
	return b.String() + s[at:]
}

func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
