package forge

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/tackle-dev/tackle/dev"
	"github.com/tackle-dev/tackle/internal/clip"
	"github.com/tackle-dev/tackle/tool"
)

// Limits of what a result shows inline. The artifact holds everything.
const (
	InlineBytes = 2000 // of everything but the lines that were asked for
	dataFound   = 100  // diagnostics that the data of a result keeps
)

// render turns a result into what the model reads, and puts all of it into an artifact.
func render(ctx context.Context, call *tool.Call, def *tool.Definition, res *dev.Result) (tool.Result, error) {
	id, err := spool(ctx, call, def, res)
	if err != nil {
		return tool.Result{}, tool.Fault(fmt.Errorf("keep the result: %w", err))
	}
	out := tool.Result{Data: dataOf(res), Meta: tool.Meta{Artifact: id}}
	out.Meta.Truncated = len(res.Diagnostics) > dataFound
	text := inline(res, id)
	for _, x := range res.Excerpts {
		text = numbered(&x) + "\n" + text
	}
	out.Parts = []tool.Part{tool.Text(text)}
	return out, nil
}

// spool writes the result as JSON while it is stored, so that it is never held twice.
func spool(ctx context.Context, call *tool.Call, def *tool.Definition, res *dev.Result) (string, error) {
	if call.Artifacts == nil {
		return "", nil
	}
	r, w := io.Pipe()
	go func() {
		b := bufio.NewWriterSize(w, 32<<10)
		err := writeJSON(b, res)
		if err == nil {
			err = b.Flush()
		}
		w.CloseWithError(err)
	}()
	id, err := call.Artifacts.Put(ctx, call.Session, def.Name+".json", "application/json", r)
	r.CloseWithError(err) // the writer ends too where Put did not read to the end
	return id, err
}

// writeJSON writes the result as json.Marshal would, one diagnostic at a time.
func writeJSON(w io.Writer, res *dev.Result) error {
	head := *res
	head.Diagnostics = []dev.Diagnostic{}
	b, err := json.Marshal(&head)
	if err != nil {
		return err
	}
	const mark = `"diagnostics":[]`
	before, after, ok := strings.Cut(string(b), mark)
	if !ok {
		return fmt.Errorf("no place for the diagnostics in %.80s", b)
	}
	if _, err := io.WriteString(w, before+`"diagnostics":[`); err != nil {
		return err
	}
	for i := range res.Diagnostics {
		b, err := json.Marshal(&res.Diagnostics[i])
		if err != nil {
			return err
		}
		if i > 0 {
			b = append([]byte{','}, b...)
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, "]"+after)
	return err
}

// dataOf is what programs and records get: the result with the worst of its diagnostics.
func dataOf(res *dev.Result) any {
	if res == nil {
		return nil
	}
	out := *res
	out.Diagnostics = worst(res.Diagnostics, dataFound)
	out.Excerpts = nil // they are the text
	return &out
}

// worst returns n diagnostics, the worst first.
func worst(list []dev.Diagnostic, n int) []dev.Diagnostic {
	out := make([]dev.Diagnostic, 0, min(n, len(list)))
	for _, s := range dev.Severities() {
		for i := range list {
			if list[i].Severity == s && len(out) < n {
				out = append(out, list[i])
			}
		}
	}
	return out
}

// inline is the summary: status, counts, changes as git shows them, and the first diagnostics that fit.
func inline(res *dev.Result, id string) string {
	var b strings.Builder
	b.WriteString(res.Headline())
	if c := res.Compared; c != nil {
		fmt.Fprintf(&b, "\nCompared with %s: %d introduced, %d resolved, %d unchanged.", c.Baseline, c.Introduced, len(c.Resolved), c.Unchanged)
	}
	if len(res.Changes.Files) > 0 {
		b.WriteString("\n" + clip.Middle(res.Changes.Summary, 700))
		if !res.Changes.LineCountsAvailable {
			b.WriteString("\n(lines could not be counted in every file)")
		}
	}
	for _, n := range res.Notes {
		b.WriteString("\nNote: " + clip.Middle(n, 200))
	}
	tail := ""
	if id != "" {
		tail = fmt.Sprintf("\nWhole result: artifact:%s (JSON; query it with the artifact tool)", id)
	}
	list(&b, "", res.Diagnostics, InlineBytes-len(tail))
	if c := res.Compared; c != nil {
		list(&b, "resolved: ", c.Resolved, InlineBytes-len(tail))
	}
	return b.String() + tail
}

// list adds the worst of some diagnostics, as long as the text stays within a number of bytes, and says how many it left
// out.
func list(b *strings.Builder, label string, all []dev.Diagnostic, limit int) {
	const more = 40
	shown := 0
	for _, d := range worst(all, 50) {
		line := "\n" + label + clip.Middle(d.String(), 240)
		if b.Len()+len(line)+more > limit {
			break
		}
		b.WriteString(line)
		shown++
	}
	if rest := len(all) - shown; rest > 0 {
		fmt.Fprintf(b, "\n%s… %d more", label, rest)
	}
}

// numbered shows lines with their numbers.
func numbered(x *dev.Excerpt) string {
	var b strings.Builder
	n := x.First
	for line := range strings.Lines(x.Text) {
		fmt.Fprintf(&b, "%6d\t%s\n", n, clip.Middle(strings.TrimRight(line, "\r\n"), 2000))
		n++
	}
	if last := x.First + x.Lines - 1; last < x.Total {
		fmt.Fprintf(&b, "Lines %d–%d of %d in %s; go on with offset=%d.", x.First, last, x.Total, x.File, last+1)
	} else if x.Total == 0 {
		fmt.Fprintf(&b, "%s is empty.", x.File)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
