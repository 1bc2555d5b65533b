package ask

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/patch"
	"github.com/tackle-dev/tackle/tool"
)

// hunks returns the pieces of a call that can be allowed one by one, as the model wrote them: the elements of edits, or
// the hunks of patch. Where the arguments have neither, the pieces are only numbered.
func hunks(in *tool.Intent, n int) []Hunk {
	var args struct {
		Edits []json.RawMessage `json:"edits"`
		Patch string            `json:"patch"`
	}
	_ = json.Unmarshal(in.Args, &args) // arguments of another form are only numbered
	out := make([]Hunk, n)
	for i := range out {
		out[i].Number = i + 1
	}
	switch {
	case len(args.Edits) == n:
		for i, raw := range args.Edits {
			out[i].Title, out[i].Text = editText(raw)
		}
	case args.Patch != "":
		p, err := patch.Parse(args.Patch)
		if err != nil || p.Count() != n {
			break
		}
		for _, f := range p.Files {
			name := show.Line(f.Path)
			if f.To != "" {
				name += " → " + show.Line(f.To)
			}
			if f.Number > 0 {
				out[f.Number-1].Title = f.Op.String() + " " + name
			}
			for _, h := range f.Hunks {
				out[h.Number-1].Title, out[h.Number-1].Text = f.Op.String()+" "+name, patchText(&h)
			}
		}
	}
	return out
}

func editText(raw json.RawMessage) (title, text string) {
	var e struct {
		Old  *string `json:"old_string"`
		New  *string `json:"new_string"`
		All  bool    `json:"replace_all"`
		Line int     `json:"line"`
	}
	if json.Unmarshal(raw, &e) != nil || e.Old == nil || e.New == nil {
		return "cannot be read", show.Line(string(raw)) + "\n"
	}
	switch {
	case e.All:
		title = "every occurrence"
	case e.Line > 0:
		title = fmt.Sprintf("at line %d", e.Line)
	}
	return title, signed('-', *e.Old) + signed('+', *e.New)
}

func patchText(h *patch.Hunk) string {
	var b strings.Builder
	for _, a := range h.Anchors {
		b.WriteString("@@ " + show.Line(a) + "\n")
	}
	for _, l := range h.Lines {
		b.WriteByte(byte(l.Kind))
		b.WriteString(show.Line(l.Text) + "\n")
	}
	return b.String()
}

// signed puts a sign in front of every line.
func signed(sign byte, text string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSuffix(show.Text(text), "\n"), "\n") {
		b.WriteByte(sign)
		b.WriteString(line + "\n")
	}
	return b.String()
}
