package patch

import (
	"fmt"
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Print writes the patch in a language. Parse reads the result back as the same patch, positions, notes and other readings
// of names aside. A patch in the other language than its own loses what is only a hint there (line numbers) and what
// is only a check (the content of a deleted file).
//
// Errors: a *PrintError for what the language cannot say.
func (p *Patch) Print(f Format) (string, error) {
	w := printer{format: f, same: f == p.Format}
	if f == Envelope {
		w.envelope(p)
	} else {
		for i := range p.Files {
			w.section(&p.Files[i])
		}
	}
	if w.err != nil {
		return "", w.err
	}
	return w.String(), nil
}

// PrintError says what a language has no words for.
type PrintError struct {
	Format Format
	Path   string
	Hunk   int // number, or 0
	Msg    string
}

func (e *PrintError) Error() string {
	return fmt.Sprintf("print %s of %s, hunk #%d: %s", e.Format, e.Path, e.Hunk, e.Msg)
}

type printer struct {
	strings.Builder
	format Format
	same   bool // the patch was in this language before
	short  bool // the last section had no --- and +++, so the next ones must not look like its
	path   string
	hunk   int
	err    error
}

func (w *printer) line(parts ...string) {
	for _, s := range parts {
		w.WriteString(s)
	}
	w.WriteByte('\n')
}

func (w *printer) fail(msg string) {
	if w.err == nil {
		w.err = &PrintError{Format: w.format, Path: w.path, Hunk: w.hunk, Msg: msg}
	}
}

func (w *printer) envelope(p *Patch) {
	w.line(beginMark)
	if p.Environment != "" {
		w.line(envMark, " ", p.Environment)
	}
	for i := range p.Files {
		f := &p.Files[i]
		w.path, w.hunk = f.Path, f.Number
		if f.OldMode != 0 || f.NewMode != 0 {
			w.fail("it cannot set modes")
		}
		switch f.Op {
		case Add:
			w.line(addMark, " ", w.plain(f.Path))
			for _, h := range f.Hunks {
				w.lines(&h)
			}
		case Delete:
			w.line(deleteMark, " ", w.plain(f.Path))
		case Update:
			w.line(updateMark, " ", w.plain(f.Path))
			if f.To != "" {
				w.line(moveMark, " ", w.plain(f.To))
			}
			for j := range f.Hunks {
				w.chunk(&f.Hunks[j])
			}
		default:
			w.fail("it cannot copy")
		}
	}
	w.line(endMark)
}

// plain returns a path as the envelope writes it, which has no quotes.
func (w *printer) plain(path string) string {
	if path == "" || strings.ContainsAny(path, "\n\x00") || strings.TrimRightFunc(path, unicode.IsSpace) != path {
		w.fail(fmt.Sprintf("it cannot name %q", path))
	}
	return path
}

func (w *printer) chunk(h *Hunk) {
	w.hunk = h.Number
	switch {
	case h.Numbered && w.same:
		w.line(h.header())
	case len(h.Anchors) == 0:
		w.line("@@")
	}
	for _, a := range h.Anchors {
		w.line("@@ ", a)
	}
	w.lines(h)
	if h.EOF {
		w.line(eofMark)
	}
}

// header returns the header of a unified hunk with the counts of its lines.
func (h *Hunk) header() string {
	old, new := h.counts()
	s := fmt.Sprintf("@@ -%s +%s @@", span(h.OldStart, old), span(h.NewStart, new))
	if h.Section != "" {
		s += " " + h.Section
	}
	return s
}

func span(start, count int) string {
	if count == 1 {
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, count)
}

func (w *printer) lines(h *Hunk) {
	for _, l := range h.Lines {
		switch {
		case strings.Contains(l.Text, "\n"):
			w.fail("a line contains a line feed")
		case w.format == Envelope && strings.HasSuffix(l.Text, "\r"):
			w.fail("it cannot write a carriage return at the end of a line")
		case w.format == Envelope && l.NoEOL:
			w.fail("it cannot say that a last line has no line feed")
		}
		if l.Bare {
			w.line(l.Text)
			continue
		}
		w.line(string(rune(l.Kind)), l.Text)
		if l.NoEOL {
			w.line(`\ No newline at end of file`)
		}
	}
}

func (w *printer) section(f *FilePatch) {
	w.path, w.hunk = f.Path, f.Number
	old, new := quote("a/"+f.Path), quote("b/"+first(f.To, f.Path))
	short := len(f.Hunks) == 0 || len(f.Hunks[0].Lines) == 0
	if f.To != "" || f.OldMode != 0 || f.NewMode != 0 || short {
		w.line("diff --git ", old, " ", new)
		w.gitHeaders(f)
	} else if w.short {
		w.line("diff --git ", old, " ", new)
	}
	if w.short = short; short {
		return
	}
	switch f.Op {
	case Add:
		old = devNull
	case Delete:
		new = devNull
	}
	w.line("--- ", timeless(old))
	w.line("+++ ", timeless(new))
	for i := range f.Hunks {
		w.unifiedHunk(f, &f.Hunks[i])
	}
}

// gitHeaders writes the extended headers.
func (w *printer) gitHeaders(f *FilePatch) {
	switch {
	case f.Op == Add:
		w.line("new file mode ", gitMode(f.NewMode))
	case f.Op == Delete:
		w.line("deleted file mode ", gitMode(f.OldMode))
	case f.OldMode != f.NewMode:
		if f.OldMode != 0 {
			w.line("old mode ", gitMode(f.OldMode))
		}
		w.line("new mode ", gitMode(f.NewMode))
	}
	if f.To != "" {
		verb := "rename"
		if f.Op == Copy {
			verb = "copy"
		}
		w.line(verb, " from ", quote(f.Path))
		w.line(verb, " to ", quote(f.To))
	}
}

func (w *printer) unifiedHunk(f *FilePatch, h *Hunk) {
	w.hunk = h.Number
	if h.EOF {
		w.fail("it cannot say that lines are the last ones")
	}
	switch {
	case h.Numbered:
		w.line(h.header())
	case f.Op == Add: // an added file says how long it is
		made := Hunk{NewStart: min(1, len(h.Lines)), Lines: h.Lines}
		w.line(made.header())
	case len(h.Anchors) > 1:
		w.fail("it has one @@ line for a hunk")
	case len(h.Anchors) == 1:
		w.line("@@ ", h.Anchors[0])
	default:
		w.line("@@ ... @@")
	}
	for i, l := range h.Lines {
		if !h.Numbered && l.Kind == Removed && strings.HasPrefix(l.Text, "-- ") && i+1 < len(h.Lines) &&
			h.Lines[i+1].Kind == Added && strings.HasPrefix(h.Lines[i+1].Text, "++ ") {
			w.fail("without line numbers its lines look like file headers")
		}
	}
	w.lines(h)
}

// timeless ends a name with a blank in it with a tab, as git does, since what follows a blank may be taken for a time.
func timeless(name string) string {
	if strings.Contains(name, " ") && !strings.HasPrefix(name, `"`) {
		return name + "\t"
	}
	return name
}

// gitMode prints a mode as git does; a mode that is not stated is that of an ordinary file.
func gitMode(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return fmt.Sprintf("120%03o", m.Perm())
	case m == 0:
		return "100644"
	}
	return fmt.Sprintf("100%03o", m.Perm())
}

// quote writes a name as git does: between quotes with C escapes where it needs them. A blank at the end is a need here: who
// reads the line would take it for none of the name.
func quote(name string) string {
	odd := func(r rune) bool { return r == '"' || r == '\\' || r == utf8.RuneError || unicode.IsControl(r) }
	if strings.IndexFunc(name, odd) < 0 && !strings.HasSuffix(name, " ") {
		return name
	}
	out := []byte{'"'}
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c < ' ' || c >= 0x7f:
			out = fmt.Appendf(out, `\%03o`, c)
		default:
			out = append(out, c)
		}
	}
	return string(append(out, '"'))
}
