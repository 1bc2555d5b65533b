package data

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/tackle-dev/tackle/media"
)

// Table is rows of texts.
type Table [][]string

// ReadCSV reads a table with whatever separator its first line has most of: comma, semicolon or tab.
func ReadCSV(p *media.Payload, lim media.Limits) (Table, rune, error) {
	src, _, err := decode(p)
	if err != nil {
		return nil, 0, err
	}
	sep := separator(src, p.MIME == tsvMIME)
	r := csv.NewReader(strings.NewReader(src))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = sep, -1, true
	var t Table
	cells, most := 0, lim.WithDefaults().Cells
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return t, sep, nil
		}
		if err != nil {
			return nil, 0, media.Failf("%s is no table that can be read: %v.", p.Name, err)
		}
		if cells += len(row); cells > most {
			return nil, 0, media.Failf("%s has more than the %d cells that are allowed.", p.Name, most)
		}
		t = append(t, row)
	}
}

func separator(src string, tab bool) rune {
	if tab {
		return '\t'
	}
	line, _, _ := strings.Cut(src, "\n")
	best, most := ',', strings.Count(line, ",")
	for _, c := range ";\t" {
		if n := strings.Count(line, string(c)); n > most {
			best, most = c, n
		}
	}
	return best
}

// WriteCSV writes a table.
func WriteCSV(t Table, sep rune) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Comma = sep
	_ = w.WriteAll(t) // a buffer takes everything
	return b.Bytes()
}

// convert converts between JSON, YAML and CSV.
func convert(_ context.Context, r *media.Request) (media.Result, error) {
	var doc string // as JSON
	switch r.In.MIME {
	case csvMIME, tsvMIME:
		t, _, err := ReadCSV(&r.In, r.Limits)
		if err != nil {
			return media.Result{}, err
		}
		if r.To == "csv" {
			return media.Result{Media: &media.Payload{Data: WriteCSV(t, ',')}}, nil
		}
		if t == nil {
			t = Table{}
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(t) // texts always encode
		doc = b.String()
	case yamlMIME:
		src, _, err := decode(&r.In)
		if err != nil {
			return media.Result{}, err
		}
		n, err := parseYAML(src, r.Limits)
		if err != nil {
			return media.Result{}, err
		}
		var b bytes.Buffer
		budget := 10*strings.Count(src, "\n") + 10*len(n.Content) + 1_000_000
		if err := jsonOf(&b, n, &budget, 0); err != nil {
			return media.Result{}, err
		}
		doc = b.String()
	default:
		src, _, err := decode(&r.In)
		if err != nil {
			return media.Result{}, err
		}
		doc = src
	}
	root, err := parseJSON(doc, r.Limits)
	if err != nil {
		return media.Result{}, err
	}
	var out string
	var warnings []string
	switch r.To {
	case "json":
		out = tableLayout(root, doc)
	case "yaml":
		if out, err = printYAML(&yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{yamlValue(root, doc)}}); err != nil {
			return media.Result{}, err
		}
	default:
		t, err := tableOf(root, doc)
		if err != nil {
			return media.Result{}, err
		}
		out = string(WriteCSV(t, ','))
	}
	return media.Result{Media: &media.Payload{Data: []byte(out)}, Warnings: warnings}, nil
}

// tableLayout writes JSON with two blanks of indentation, but a table with one row in a line.
func tableLayout(root *node, doc string) string {
	flat := root.kind == '[' && len(root.items) > 0 && !slices.ContainsFunc(root.items, func(row *node) bool {
		return row.kind != '[' || slices.ContainsFunc(row.items, func(c *node) bool { return c.kind == '[' || c.kind == '{' })
	})
	var b bytes.Buffer
	if !flat {
		if err := json.Indent(&b, []byte(doc), "", "  "); err != nil {
			return doc
		}
		return strings.TrimSpace(b.String()) + "\n"
	}
	b.WriteString("[\n")
	for i, row := range root.items {
		if i > 0 {
			b.WriteString(",\n")
		}
		var line bytes.Buffer
		if err := json.Compact(&line, []byte(doc[row.from:row.to])); err != nil {
			return doc
		}
		b.WriteString("  " + line.String())
	}
	b.WriteString("\n]\n")
	return b.String()
}

// tableOf makes a table of an array of arrays, or of objects, whose keys become the first row.
func tableOf(root *node, doc string) (Table, error) {
	if root.kind != '[' {
		return nil, media.Failf("it is %s at its root; a table is made of an array of arrays or of objects.", root.what())
	}
	var head []string
	for _, row := range root.items {
		for _, m := range row.members {
			if !slices.Contains(head, m.key) {
				head = append(head, m.key)
			}
		}
	}
	var t Table
	if head != nil {
		t = append(t, head)
	}
	for i, row := range root.items {
		var cells []string
		switch {
		case row.kind == '[' && head == nil:
			for _, c := range row.items {
				cells = append(cells, cell(c, doc))
			}
		case row.kind == '{':
			cells = make([]string, len(head))
			for _, m := range row.members {
				cells[slices.Index(head, m.key)] = cell(m.val, doc)
			}
		default:
			return nil, media.Failf("item [%d] is %s; a table is made of an array of arrays or of objects.", i, row.what())
		}
		t = append(t, cells)
	}
	return t, nil
}

// ReadJSON reads a table from an array of arrays, or of objects, whose keys become the first row.
func ReadJSON(p *media.Payload, lim media.Limits) (Table, error) {
	src, _, err := decode(p)
	if err != nil {
		return nil, err
	}
	root, err := parseJSON(src, lim)
	if err != nil {
		return nil, err
	}
	return tableOf(root, src)
}

func cell(n *node, doc string) string {
	text := doc[n.from:n.to]
	switch n.kind {
	case '"':
		var s string
		_ = json.Unmarshal([]byte(text), &s) // it is valid
		return s
	case 'n':
		return ""
	case '{', '[':
		var b bytes.Buffer
		_ = json.Compact(&b, []byte(text))
		return b.String()
	}
	return text
}

func describe(_ context.Context, r *media.Request) (media.Result, error) {
	m := map[string]any{}
	switch r.In.MIME {
	case csvMIME, tsvMIME:
		t, sep, err := ReadCSV(&r.In, r.Limits)
		if err != nil {
			return media.Result{}, err
		}
		cols := 0
		for _, row := range t {
			cols = max(cols, len(row))
		}
		m["rows"], m["columns"], m["separator"] = len(t), cols, string(sep)
		if len(t) > 0 {
			m["first_row"] = t[0][:min(50, len(t[0]))]
		}
	case jsonMIME:
		src, _, err := decode(&r.In)
		if err != nil {
			return media.Result{}, err
		}
		root, err := parseJSON(src, r.Limits)
		if err != nil {
			return media.Result{}, err
		}
		m["root"] = root.what()
		m["shape"] = holds(root, "the root")
	default:
		src, _, err := decode(&r.In)
		if err != nil {
			return media.Result{}, err
		}
		doc, err := parseYAML(src, r.Limits)
		if err != nil {
			return media.Result{}, err
		}
		m["root"], m["shape"] = yamlWhat(doc.Content[0]), yamlHolds(doc.Content[0], "the root")
	}
	return media.Result{Read: &media.Reading{Data: m, Text: fmt.Sprint(m)}}, nil
}
