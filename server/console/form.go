package console

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// A form for a JSON Schema: fields are named by the JSON pointer of the value that they hold ("/edits/0/old_string"). What
// has no field of its own is a field of JSON.

// field is one field of a form.
type field struct {
	ID, Name string
	Label    string
	Help     string
	Kind     string // text, area, number, choice, list, group, rows, json
	Required bool
	Value    string
	Hint     string // an example, shown where nothing stands
	Options  []option
	Step     string // of a number: "1" or "any"
	Min, Max string
	Fields   []field // of a group
	Rows     [][]field
	Problem  string
}

type option struct {
	Value, Text string
	Selected    bool
}

// mostRows bounds the rows of a list of objects in a form.
const mostRows = 50

// tall are the arguments that hold text of several lines (their names are fixed, see AGENTS.md).
var tall = []string{"content", "old_string", "new_string", "patch", "command", "text", "body", "prompt"}

// fieldsOf returns the fields of an object.
func fieldsOf(s *jsonschema.Schema, at string, value, example map[string]any, problems map[string]string) []field {
	var out []field
	for _, name := range ordered(s) {
		p := s.Properties[name]
		pointer := at + "/" + escapePointer(name)
		f := field{ID: "f" + strings.ReplaceAll(pointer, "/", "-"), Name: pointer, Label: name, Help: p.Description, Required: slices.Contains(s.Required, name), Problem: problems[pointer]}
		f.fill(p, value[name], example[name], problems)
		out = append(out, f)
	}
	return out
}

// ordered returns the names of the properties: as the schema orders them, what is required first.
func ordered(s *jsonschema.Schema) []string {
	names := slices.Clone(s.PropertyOrder)
	for _, n := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return s.Properties[n] == nil })
	slices.SortStableFunc(names, func(a, b string) int {
		ra, rb := slices.Contains(s.Required, a), slices.Contains(s.Required, b)
		switch {
		case ra == rb:
			return 0
		case ra:
			return -1
		}
		return 1
	})
	return names
}

// kindOf says which kind of field holds a value of a schema.
func kindOf(s *jsonschema.Schema, name string) string {
	kind := s.Type
	if kind == "" { // ["string", "null"] is a string that may be left out
		kinds := slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" })
		if len(kinds) != 1 {
			return "json"
		}
		kind = kinds[0]
	}
	switch {
	case len(s.Enum) > 0 && kind == "string", kind == "boolean":
		return "choice"
	case kind == "string" && slices.Contains(tall, name):
		return "area"
	case kind == "string":
		return "text"
	case kind == "integer", kind == "number":
		return "number"
	case kind == "object" && len(s.Properties) > 0:
		return "group"
	case kind == "array" && s.Items != nil && s.Items.Type == "string" && len(s.Items.Enum) == 0:
		return "list"
	case kind == "array" && s.Items != nil && s.Items.Type == "object" && len(s.Items.Properties) > 0:
		return "rows"
	}
	return "json"
}

func (f *field) fill(s *jsonschema.Schema, value, example any, problems map[string]string) {
	f.Kind = kindOf(s, f.Label)
	f.Value = written(value)
	if example != nil && f.Kind != "choice" {
		f.Hint = written(example)
	}
	switch f.Kind {
	case "choice":
		f.choices(s, value)
	case "number":
		f.Step = "any"
		if s.Type == "integer" || slices.Contains(s.Types, "integer") {
			f.Step = "1"
		}
		f.Min, f.Max = bound(s.Minimum), bound(s.Maximum)
	case "list":
		f.Value, f.Hint = lines(value), lines(example)
	case "group":
		v, _ := value.(map[string]any)
		e, _ := example.(map[string]any)
		f.Fields = fieldsOf(s, f.Name, v, e, problems)
	case "rows":
		rows, _ := value.([]any)
		if len(rows) == 0 && f.Required {
			rows = []any{nil}
		}
		var hint map[string]any
		if e, _ := example.([]any); len(e) > 0 {
			hint, _ = e[0].(map[string]any)
		}
		for i, row := range rows[:min(len(rows), mostRows)] {
			v, _ := row.(map[string]any)
			f.Rows = append(f.Rows, fieldsOf(s.Items, f.Name+"/"+strconv.Itoa(i), v, hint, problems))
		}
	}
}

func (f *field) choices(s *jsonschema.Schema, value any) {
	usual := ""
	if len(s.Default) > 0 {
		usual = " (" + strings.Trim(string(s.Default), `"`) + ")"
	}
	if !f.Required || len(s.Enum) == 0 && value == nil {
		f.Options = append(f.Options, option{Text: "as usual" + usual})
	}
	if len(s.Enum) == 0 {
		for _, v := range []string{"true", "false"} {
			f.Options = append(f.Options, option{Value: v, Text: map[string]string{"true": "yes", "false": "no"}[v], Selected: f.Value == v})
		}
		return
	}
	for _, e := range s.Enum {
		f.Options = append(f.Options, option{Value: written(e), Text: written(e), Selected: value != nil && f.Value == written(e)})
	}
}

func bound(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

// written writes a value as a field shows it: a text as it is, everything else as JSON.
func written(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	b, err := json.Marshal(v)
	if err != nil { // it was read from JSON
		return ""
	}
	return string(b)
}

func lines(v any) string {
	list, _ := v.([]any)
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = written(e)
	}
	return strings.Join(out, "\n")
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func escapePointer(s string) string { return pointerEscapes.Replace(s) }

// argsOf reads the arguments that a form holds. problems are by name of the field.
func argsOf(s *jsonschema.Schema, form url.Values) (args map[string]any, problems map[string]string) {
	r := &reader{form: form, problems: map[string]string{}}
	return r.object(s, ""), r.problems
}

type reader struct {
	form     url.Values
	problems map[string]string
}

func (r *reader) object(s *jsonschema.Schema, at string) map[string]any {
	out := map[string]any{}
	for name, p := range s.Properties {
		if v, ok := r.value(p, name, at+"/"+escapePointer(name), slices.Contains(s.Required, name)); ok {
			out[name] = v
		}
	}
	return out
}

// value reads one value. What is empty is left out, but for a text that is required: that is "".
func (r *reader) value(s *jsonschema.Schema, name, at string, required bool) (any, bool) {
	kind := kindOf(s, name)
	text := strings.ReplaceAll(r.form.Get(at), "\r\n", "\n") // forms are sent with the line ends of the web
	switch kind {
	case "group":
		o := r.object(s, at)
		return o, len(o) > 0 || required
	case "rows":
		rows := r.rows(s, at)
		return rows, len(rows) > 0 || required
	case "text", "area":
		return text, text != "" || required && r.form.Has(at)
	}
	if strings.TrimSpace(text) == "" {
		return nil, false
	}
	switch kind {
	case "choice":
		if len(s.Enum) == 0 {
			return text == "true", true
		}
		return text, true
	case "list":
		var out []any
		for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			out = append(out, l)
		}
		return out, true
	case "number":
		if _, ok := new(big.Float).SetString(strings.TrimSpace(text)); ok && json.Valid([]byte(strings.TrimSpace(text))) {
			return json.Number(strings.TrimSpace(text)), true
		}
		r.problems[at] = fmt.Sprintf("%q is no number", text)
		return nil, false
	}
	v, err := readJSON(text)
	if err != nil {
		r.problems[at] = err.Error()
		return nil, false
	}
	return v, true
}

func (r *reader) rows(s *jsonschema.Schema, at string) []any {
	var out []any
	for i := range mostRows {
		prefix := at + "/" + strconv.Itoa(i)
		found := false
		for name := range r.form {
			if found = strings.HasPrefix(name, prefix+"/"); found {
				break
			}
		}
		if !found {
			break
		}
		out = append(out, r.object(s.Items, prefix))
	}
	return out
}

// readJSON reads one JSON value with its numbers as they are written.
func readJSON(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("this is no JSON: %w", err)
	}
	if strings.TrimSpace(text[d.InputOffset():]) != "" {
		return nil, fmt.Errorf("something stands behind the JSON value: %q", strings.TrimSpace(text[d.InputOffset():]))
	}
	return v, nil
}

// addRow adds an empty row to a list of objects, removeRow takes one out. at is the pointer of the list, or of the row.
func addRow(args map[string]any, at string) {
	edit(args, at, func(list []any) []any { return append(list, map[string]any{}) })
}

func removeRow(args map[string]any, at string) {
	list, index, _ := cutLast(at)
	i, err := strconv.Atoi(index)
	if err != nil {
		return
	}
	edit(args, list, func(rows []any) []any {
		if i < 0 || i >= len(rows) {
			return rows
		}
		return slices.Delete(rows, i, i+1)
	})
}

func cutLast(pointer string) (before, last string, ok bool) {
	i := strings.LastIndexByte(pointer, '/')
	if i < 0 {
		return "", pointer, false
	}
	return pointer[:i], pointer[i+1:], true
}

// edit changes the list at a pointer. One that is not there is made; what is no list stays.
func edit(v any, pointer string, change func([]any) []any) {
	names := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for i, name := range names {
		switch at := v.(type) {
		case map[string]any:
			name = unescape.Replace(name)
			if i == len(names)-1 {
				list, ok := at[name].([]any)
				if ok || at[name] == nil {
					at[name] = change(list)
				}
				return
			}
			v = at[name]
		case []any:
			n, err := strconv.Atoi(name)
			if err != nil || n < 0 || n >= len(at) {
				return
			}
			v = at[n]
		default:
			return
		}
	}
}
