package sheet

import (
	"context"
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/internal/diff"
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/data"
)

// difference is one difference of two workbooks.
type difference struct {
	Sheet  string   `json:"sheet"`
	Kind   string   `json:"kind"` // cell, row_added, row_removed, sheet_added, sheet_removed
	Cell   string   `json:"cell,omitempty"`
	Row    int      `json:"row,omitempty"`
	Before string   `json:"before,omitempty"`
	After  string   `json:"after,omitempty"`
	Values []string `json:"values,omitempty"`
}

// diffBooks compares two workbooks cell by cell, rows lined up where they are alike.
func (e *engine) diffBooks(ctx context.Context, r *media.Request) (media.Result, error) {
	other := r.With[0]
	var then map[string]data.Table
	var names []string
	b, err := e.open(r)
	if err != nil {
		return media.Result{}, err
	}
	now, order, err := b.tables()
	if err != nil {
		return media.Result{}, err
	}
	switch other.MIME {
	case xlsxMIME, xlsmMIME:
		o, err := e.open(&media.Request{In: other, Limits: r.Limits})
		if err != nil {
			return media.Result{}, err
		}
		if then, names, err = o.tables(); err != nil {
			return media.Result{}, err
		}
	case csvMIME, tsvMIME:
		t, _, err := data.ReadCSV(&other, r.Limits)
		if err != nil {
			return media.Result{}, err
		}
		names = order[:1]
		then = map[string]data.Table{order[0]: t}
		order = order[:1]
	default:
		return media.Result{}, media.Failf("%s is %s; a workbook is compared with a workbook or a table.", other.Name, other.MIME)
	}
	out := []difference{}
	for _, name := range order {
		if _, ok := then[name]; !ok {
			out = append(out, difference{Sheet: name, Kind: "sheet_removed"})
			continue
		}
		if err := ctx.Err(); err != nil {
			return media.Result{}, err
		}
		out = append(out, tableDiff(name, now[name], then[name])...)
	}
	for _, name := range names {
		if _, ok := now[name]; !ok {
			out = append(out, difference{Sheet: name, Kind: "sheet_added"})
		}
	}
	var w strings.Builder
	fmt.Fprintf(&w, "--- %s\n+++ %s\n", r.In.Name, other.Name)
	for _, d := range out {
		switch d.Kind {
		case "cell":
			fmt.Fprintf(&w, "%s!%s: %q -> %q\n", quoteSheet(d.Sheet), d.Cell, d.Before, d.After)
		case "row_added":
			fmt.Fprintf(&w, "+ %s row %d: %s\n", quoteSheet(d.Sheet), d.Row, strings.Join(d.Values, " | "))
		case "row_removed":
			fmt.Fprintf(&w, "- %s row %d: %s\n", quoteSheet(d.Sheet), d.Row, strings.Join(d.Values, " | "))
		case "sheet_added":
			fmt.Fprintf(&w, "+ sheet %q\n", d.Sheet)
		case "sheet_removed":
			fmt.Fprintf(&w, "- sheet %q\n", d.Sheet)
		}
	}
	s := w.String()
	if len(out) == 0 {
		s = "No differences in the values of cells.\n"
	}
	return media.Result{Read: &media.Reading{Data: map[string]any{"changes": out}, Text: s}}, nil
}

func (b *book) tables() (map[string]data.Table, []string, error) {
	out := map[string]data.Table{}
	var names []string
	for i, s := range b.sheets {
		t, err := b.read(i)
		if err != nil {
			return nil, nil, err
		}
		out[s.name] = t
		names = append(names, s.name)
	}
	return out, names, nil
}

func tableDiff(name string, a, b data.Table) []difference {
	lines := func(t data.Table) []byte {
		var w strings.Builder
		for _, r := range t {
			for i, c := range r {
				if i > 0 {
					w.WriteByte(0)
				}
				w.WriteString(strings.ReplaceAll(c, "\n", "\x01"))
			}
			w.WriteByte('\n')
		}
		return []byte(w.String())
	}
	var out []difference
	for _, ch := range diff.Compare(lines(a), lines(b)) {
		n := min(ch.A.Len(), ch.B.Len())
		for k := range n {
			x, y := a[ch.A.Line+k], b[ch.B.Line+k]
			for c := range max(len(x), len(y)) {
				var before, after string
				if c < len(x) {
					before = x[c]
				}
				if c < len(y) {
					after = y[c]
				}
				if before != after {
					out = append(out, difference{Sheet: name, Kind: "cell", Cell: pos{ch.B.Line + k + 1, c + 1}.String(), Before: before, After: after})
				}
			}
		}
		for k := n; k < ch.A.Len(); k++ {
			out = append(out, difference{Sheet: name, Kind: "row_removed", Row: ch.A.Line + k + 1, Values: a[ch.A.Line+k]})
		}
		for k := n; k < ch.B.Len(); k++ {
			out = append(out, difference{Sheet: name, Kind: "row_added", Row: ch.B.Line + k + 1, Values: b[ch.B.Line+k]})
		}
	}
	return out
}
