package sheet

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/workbook"
)

// Do carries out a request of this engine on a workbook that another engine made, for formats that are read as workbooks.
func Do(ctx context.Context, r *media.Request) (media.Result, error) {
	e := Engine()
	for _, c := range e.Convert {
		if r.Op == "" && slices.Contains(c.To, r.To) && media.Matches(c.From, r.In.MIME) {
			return c.Do(ctx, r)
		}
	}
	for _, d := range e.Edit {
		if r.Op != "" && slices.Contains(d.Ops, r.Op) && media.Matches(d.Over, r.In.MIME) {
			return d.Do(ctx, r)
		}
	}
	return media.Result{}, media.Failf("%s cannot be done with %s.", r.Op+r.To, r.In.MIME)
}

// Read returns the cells of a workbook with their kinds and formulas, and what it left out.
func Read(ctx context.Context, r *media.Request) (*workbook.Book, []string, error) {
	b, err := openBook(r)
	if err != nil {
		return nil, nil, err
	}
	strs, err := b.sharedStrings()
	if err != nil {
		return nil, nil, err
	}
	st, err := b.loadStyles()
	if err != nil {
		return nil, nil, err
	}
	out := &workbook.Book{}
	total, most := 0, r.Limits.WithDefaults().Cells
	for _, sh := range b.sheets {
		s := workbook.Sheet{Name: sh.name}
		if sh.chart || !b.has(sh.part) {
			b.warn("The sheet %q holds a chart and no cells; it was left out.", sh.name)
			continue
		}
		src, err := b.part(sh.part)
		if err != nil {
			return nil, nil, err
		}
		if src, err = unshare(src); err != nil {
			return nil, nil, err
		}
		g, err := findGrid(src)
		if err != nil {
			return nil, nil, err
		}
		var line workbook.Row
		g.walk(func(*row) bool { line = workbook.Row{}; return true }, func(_ *row, c *cell) bool {
			v := b.value(c, strs, st)
			if v.Value == "" && v.Formula == "" {
				return true
			}
			line.Cells = append(line.Cells, v)
			total++
			return total <= most
		}, func(r *row) bool {
			if line.N = r.n; len(line.Cells) > 0 {
				s.Rows = append(s.Rows, line)
			}
			return ctx.Err() == nil
		})
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if total > most {
			return nil, nil, media.Failf("%s has more than the %d cells that can be read at once.", r.In.Name, most)
		}
		attribute(src, []string{"mergeCell"}, "ref", func(was string) (string, bool) {
			s.Merged = append(s.Merged, was)
			return was, true
		})
		out.Sheets = append(out.Sheets, s)
	}
	return out, b.warnings, nil
}

// value returns a cell with its kind.
func (b *book) value(c *cell, strs []string, st *styles) workbook.Cell {
	v := workbook.Cell{Col: c.col, Value: unescape(c.v)}
	if c.hasF {
		v.Formula = unescape(c.f)
	}
	switch string(c.kind) {
	case "s":
		i, err := strconv.Atoi(v.Value)
		v.Value = ""
		if err == nil && i >= 0 && i < len(strs) {
			v.Value = strs[i]
		}
	case "inlineStr":
		v.Value = c.text
	case "str":
		v.Value = escapedX(v.Value)
	case "b":
		v.Kind = workbook.Bool
		if v.Value == "true" {
			v.Value = "1"
		}
	case "e":
		v.Kind = workbook.Fault
	case "d":
		if t, clock, ok := parseISO(v.Value); ok {
			v.Kind, v.Value = workbook.Date, workbook.Serial(t)
			if clock {
				v.Kind = workbook.DateTime
			}
		}
	default:
		v.Kind = workbook.Number
		if v.Value == "" {
			return v
		}
		switch kind := st.kindOf(c.style); kind {
		case "":
		case "percent":
			v.Kind = workbook.Percent
		default:
			if f, err := strconv.ParseFloat(v.Value, 64); err == nil {
				if b.date1904 {
					v.Value = strconv.FormatFloat(f+1462, 'f', -1, 64)
				}
				v.Kind = workbook.Date
				if kind == "time" {
					v.Kind = workbook.Clock
				} else if strings.Contains(kind, "time") {
					v.Kind = workbook.DateTime
				}
			}
		}
	}
	return v
}
