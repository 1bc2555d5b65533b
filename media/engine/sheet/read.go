package sheet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/data"
)

// shown is a cell as it is read: its text, and whether JSON may have it as a number or truth value.
type shown struct {
	text string
	raw  bool // a number, true or false
}

// eachRow reads the rows of a sheet in order, those that are not there as nil. The slice is used again for the next row.
func (b *book) eachRow(ctx context.Context, i int, do func(n int, cells []shown) error) error {
	sh := b.sheets[i]
	if sh.chart || sh.part == "" || !b.has(sh.part) {
		return nil
	}
	src, err := b.part(sh.part)
	if err != nil {
		return err
	}
	strs, err := b.sharedStrings()
	if err != nil {
		return err
	}
	st, err := b.loadStyles()
	if err != nil {
		return err
	}
	g, err := findGrid(src)
	if err != nil {
		return err
	}
	var cells []shown
	next, total := 1, 0
	var failed error
	calc := b.calculator(sh.name)
	g.walk(func(r *row) bool { cells = cells[:0]; return true }, func(_ *row, c *cell) bool {
		s := b.show(c, strs, st, calc)
		if s.text == "" && len(cells) < c.col {
			return true
		}
		for len(cells) < c.col {
			cells = append(cells, shown{})
		}
		cells[c.col-1] = s
		return true
	}, func(r *row) bool {
		if total += len(cells); total > b.r.Limits.WithDefaults().Cells {
			failed = media.Failf("the sheet %q has more than the %d cells that can be read at once.", sh.name, b.r.Limits.WithDefaults().Cells)
			return false
		}
		if r.n&1023 == 0 && ctx.Err() != nil {
			failed = ctx.Err()
			return false
		}
		if len(cells) == 0 {
			return true
		}
		if r.n-next > 100_000 {
			failed = media.Failf("the sheet %q has a row %d behind %d empty ones; delete the stray row first.", sh.name, r.n, r.n-next)
			return false
		}
		for ; next < r.n; next++ {
			if failed = do(next, nil); failed != nil {
				return false
			}
		}
		next = r.n + 1
		failed = do(r.n, cells)
		return failed == nil
	})
	return failed
}

func (b *book) show(c *cell, strs []string, st *styles, calc func(pos) (string, bool)) shown {
	if c.hasF && c.v == nil && c.text == "" {
		if v, ok := calc(c.pos); ok {
			_, err := strconv.ParseFloat(v, 64)
			return shown{v, err == nil}
		}
		return shown{"=" + unescape(c.f), false}
	}
	switch string(c.kind) {
	case "s":
		if n, err := strconv.Atoi(string(c.v)); err == nil && n >= 0 && n < len(strs) {
			return shown{strs[n], false}
		}
		return shown{}
	case "inlineStr":
		return shown{c.text, false}
	case "str":
		return shown{escapedX(unescape(c.v)), false}
	case "b":
		if string(c.v) == "1" || string(c.v) == "true" {
			return shown{"true", true}
		}
		return shown{"false", true}
	case "e", "d":
		return shown{unescape(c.v), false}
	}
	if len(c.v) == 0 {
		return shown{}
	}
	if kind := st.kindOf(c.style); kind != "" && kind != "percent" {
		if f, err := strconv.ParseFloat(string(c.v), 64); err == nil {
			if s, ok := moment(f, kind, b.date1904); ok {
				return shown{s, false}
			}
		}
	}
	return shown{number(string(c.v)), true}
}

// number writes a number as people do: workbooks hold 0.1 as 0.10000000000000001.
func number(s string) string {
	if len(s) < 16 && !strings.ContainsAny(s, "eE") {
		return s
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) {
		return s
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// Calculator computes formulas of a workbook that has no stored values for them. It returns a function that gives the
// value of a cell, or that it has none.
type Calculator func(workbook []byte, lim media.Limits) (value func(sheet, cell string) (string, bool), err error)

// maxComputed bounds the cells that are computed for one reading.
const maxComputed = 20_000

// calculator computes formulas whose value the file does not hold, if there is a calculator, and counts those that have none.
func (b *book) calculator(sheet string) func(pos) (string, bool) {
	var value func(sheet, cell string) (string, bool)
	tried, n := false, 0
	return func(p pos) (string, bool) {
		if !tried && b.calc != nil {
			tried = true
			raw := b.r.In.Data
			if len(b.changed) > 0 {
				var err error
				if raw, err = b.zip.Rewrite(b.changed); err != nil {
					return "", false
				}
			}
			if v, err := b.calc(raw, b.r.Limits.WithDefaults()); err == nil {
				value = v
			}
		}
		if n++; value != nil && n <= maxComputed {
			if v, ok := value(sheet, p.String()); ok {
				return v, true
			}
		}
		b.warn("Some formulas have no stored value, because something that they depend on changed; they are shown as formulas. A spreadsheet program computes them when it opens the workbook.")
		return "", false
	}
}

// read returns a sheet as texts.
func (b *book) read(i int) (data.Table, error) {
	t := data.Table{}
	err := b.eachRow(context.Background(), i, func(_ int, cells []shown) error {
		row := make([]string, len(cells))
		for k, c := range cells {
			row[k] = c.text
		}
		t = append(t, row)
		return nil
	})
	return t, err
}

// write1 writes a sheet to w in a format that holds one sheet.
func (b *book) export(ctx context.Context, i int, to string, w *bytes.Buffer) error {
	first := true
	err := b.eachRow(ctx, i, func(_ int, cells []shown) error {
		switch to {
		case "csv":
			csvRow(w, cells)
		case "json":
			if first {
				w.WriteString("[\n  [")
			} else {
				w.WriteString(",\n  [")
			}
			first = false
			for k, c := range cells {
				if k > 0 {
					w.WriteByte(',')
				}
				jsonCell(w, c)
			}
			w.WriteByte(']')
		case "txt":
			for k, c := range cells {
				if k > 0 {
					w.WriteByte('\t')
				}
				w.WriteString(oneLine.Replace(c.text))
			}
			w.WriteByte('\n')
		}
		return nil
	})
	if to == "json" {
		if first {
			w.WriteString("[]\n")
		} else {
			w.WriteString("\n]\n")
		}
	}
	return err
}

var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ", "\r", " ")

func csvRow(w *bytes.Buffer, cells []shown) {
	if len(cells) == 1 && cells[0].text == "" || len(cells) == 0 {
		w.WriteString("\n")
		return
	}
	for k, c := range cells {
		if k > 0 {
			w.WriteByte(',')
		}
		if strings.ContainsAny(c.text, ",\"\n\r") || c.text != "" && (c.text[0] == ' ' || c.text[0] == '\t') {
			w.WriteByte('"')
			w.WriteString(strings.ReplaceAll(c.text, `"`, `""`))
			w.WriteByte('"')
		} else {
			w.WriteString(c.text)
		}
	}
	w.WriteByte('\n')
}

func jsonCell(w *bytes.Buffer, c shown) {
	switch {
	case c.raw && json.Valid([]byte(c.text)):
		w.WriteString(c.text)
	case c.text == "":
		w.WriteString("null")
	default:
		q, _ := json.Marshal(c.text) // a string always encodes
		w.Write(q)
	}
}

// convertBook writes a workbook in another format.
func (e *engine) convertBook(ctx context.Context, r *media.Request) (media.Result, error) {
	b, err := e.open(r)
	if err != nil {
		return media.Result{}, err
	}
	var w bytes.Buffer
	switch r.To {
	case "csv", "json":
		i, err := b.find(nil)
		if err != nil {
			return media.Result{}, err
		}
		if err := b.export(ctx, i, r.To, &w); err != nil {
			return media.Result{}, err
		}
		var others []string
		for k, s := range b.sheets {
			if k != i {
				others = append(others, strconv.Quote(s.name))
			}
		}
		if len(others) > 0 {
			b.warn("Only the sheet %q is in the result, because %s holds one; left out: %s. split gives every sheet as a file.", b.sheets[i].name, r.To, strings.Join(others, ", "))
		}
	case "txt":
		for i, s := range b.sheets {
			if i > 0 {
				w.WriteByte('\n')
			}
			fmt.Fprintf(&w, "# %s\n", s.name)
			if err := b.export(ctx, i, "txt", &w); err != nil {
				return media.Result{}, err
			}
		}
	default:
		if err := b.markup(ctx, r.To, &w); err != nil {
			return media.Result{}, err
		}
	}
	out := w.Bytes()
	if out == nil {
		out = []byte{}
	}
	return media.Result{Media: &media.Payload{Data: out}, Warnings: b.warnings}, nil
}

// markup writes all sheets as tables of Markdown or HTML.
func (b *book) markup(ctx context.Context, to string, w *bytes.Buffer) error {
	if to == "html" {
		fmt.Fprintf(w, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>%s</title>\n</head>\n<body>\n", html.EscapeString(media.Base(b.r.In.Name)))
	}
	for i, s := range b.sheets {
		width := 0
		if err := b.eachRow(ctx, i, func(_ int, cells []shown) error { width = max(width, len(cells)); return nil }); err != nil {
			return err
		}
		if to == "html" {
			fmt.Fprintf(w, "<h2>%s</h2>\n<table>\n", html.EscapeString(s.name))
		} else {
			fmt.Fprintf(w, "## %s\n\n", s.name)
		}
		first := true
		err := b.eachRow(ctx, i, func(_ int, cells []shown) error {
			tag := "td"
			if first {
				tag = "th"
			}
			if to == "html" {
				w.WriteString("<tr>")
			} else {
				w.WriteString("|")
			}
			for k := range width {
				text := ""
				if k < len(cells) {
					text = cells[k].text
				}
				if to == "html" {
					fmt.Fprintf(w, "<%s>%s</%s>", tag, html.EscapeString(text), tag)
				} else {
					w.WriteString(" " + strings.ReplaceAll(oneLine.Replace(text), "|", `\|`) + " |")
				}
			}
			if to == "html" {
				w.WriteString("</tr>")
			}
			w.WriteByte('\n')
			if first && to == "md" {
				w.WriteString("|" + strings.Repeat(" --- |", width) + "\n")
			}
			first = false
			return nil
		})
		if err != nil {
			return err
		}
		if to == "html" {
			w.WriteString("</table>\n")
		} else {
			w.WriteByte('\n')
		}
	}
	if to == "html" {
		w.WriteString("</body>\n</html>\n")
	}
	return nil
}

// split gives every sheet as a CSV file.
func (e *engine) splitBook(ctx context.Context, r *media.Request) (media.Result, error) {
	b, err := e.open(r)
	if err != nil {
		return media.Result{}, err
	}
	if _, ok := r.Args["ranges"]; ok {
		return media.Result{}, media.Failf("a workbook is split by sheets, without ranges.")
	}
	res := media.Result{}
	for i, s := range b.sheets {
		if s.chart {
			b.warn("The sheet %q holds a chart and no cells; it was left out.", s.name)
			continue
		}
		var w bytes.Buffer
		if err := b.export(ctx, i, "csv", &w); err != nil {
			return media.Result{}, err
		}
		data := w.Bytes()
		if data == nil {
			data = []byte{}
		}
		res.List = append(res.List, media.Payload{Data: data, MIME: "text/csv", Name: media.CleanName(media.Base(r.In.Name) + "." + s.name + ".csv")})
	}
	res.Warnings = append(b.warnings, "Every sheet is a CSV file: values, without formulas and formats.")
	return res, nil
}

// describeBook is extract.metadata.
func describeBook(ctx context.Context, r *media.Request) (media.Result, error) {
	b, err := openBook(r)
	if err != nil {
		return media.Result{}, err
	}
	var sheets []map[string]any
	for i, s := range b.sheets {
		m := map[string]any{"name": s.name}
		if s.chart {
			m["kind"] = "chart"
		} else if src, err := b.part(s.part); err == nil {
			last, formulas, err := used(src)
			if err == nil {
				m["rows"], m["columns"], m["formulas"] = last.row, last.col, formulas
			}
			_ = b.eachRow(ctx, i, func(_ int, cells []shown) error {
				var head []string
				for _, c := range cells {
					head = append(head, c.text)
				}
				m["first_row"] = head[:min(len(head), 50)]
				return io.EOF // one is enough
			})
		}
		sheets = append(sheets, m)
	}
	m := map[string]any{"sheets": sheets}
	count := func(key, dir, has string) {
		n := 0
		for _, name := range b.zip.Names() {
			if strings.Contains(name, dir) && strings.Contains(name, has) && !strings.HasSuffix(name, ".rels") {
				n++
			}
		}
		if n > 0 {
			m[key] = n
		}
	}
	count("charts", "xl/charts/", "chart")
	count("pivot_tables", "xl/pivotTables/", "/pivotTable")
	count("pictures", "xl/media/", "")
	count("external_links", "xl/externalLinks/", ".xml")
	count("macros", "", "vbaProject.bin")
	if b.has("docProps/core.xml") {
		if src, err := b.part("docProps/core.xml"); err == nil {
			content(src, []string{"title", "creator", "lastModifiedBy", "created", "modified", "subject", "keywords", "description"}, func(t *tag, s string) string {
				m[string(t.name)] = s
				return s
			})
		}
	}
	return media.Result{Read: &media.Reading{Data: m}}, nil
}

// assetsOf gives the files that a workbook holds.
func assetsOf(_ context.Context, r *media.Request) (media.Result, error) {
	b, err := openBook(r)
	if err != nil {
		return media.Result{}, err
	}
	want, _ := r.Args["types"].([]string)
	var res media.Result
	for _, name := range b.zip.Names() {
		kind := ""
		switch {
		case strings.Contains(name, "/media/"):
			kind = "image"
		case strings.Contains(name, "/fonts/"):
			kind = "font"
		case strings.Contains(name, "/embeddings/"):
			kind = "attachment"
		}
		if kind == "" || strings.HasSuffix(name, "/") || len(want) > 0 && !slices.Contains(want, "all") && !slices.Contains(want, kind) {
			continue
		}
		raw, err := b.zip.Read(name)
		if err != nil {
			return media.Result{}, err
		}
		p := media.Identify(media.Payload{Data: raw, Name: media.CleanName(name)})
		res.List = append(res.List, p)
	}
	if len(res.List) == 0 {
		return media.Result{}, media.Failf("%s holds no embedded files of the kind asked for.", r.In.Name)
	}
	return res, nil
}
