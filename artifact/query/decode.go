package query

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/itchyny/gojq"
)

// decode returns the whole of a JSON or JSON5 document. A document that calls itself JSON may hold comments and the
// like, as configuration files do.
func (d *document) decode(q Query) (v any, err error) {
	if !d.known {
		if d.decoded, err = d.decodeOnce(q); err != nil {
			return nil, err
		}
		d.known = true
	}
	return d.decoded, nil
}

func (d *document) decodeOnce(q Query) (any, error) {
	if d.Size > q.MaxJSON {
		return nil, &Error{
			Code: CodeTooLarge, Message: fmt.Sprintf("%s has %d bytes; JSON documents are decoded up to %d", d.name(), d.Size, q.MaxJSON),
			Hint: "use grep, head or cat, or split it into JSON lines, which have no limit",
		}
	}
	data, err := d.read(0, d.Size)
	if err != nil {
		return nil, err
	}
	if d.format == JSON5 {
		v, err := parseJSON5(string(data))
		return v, d.malformed(err)
	}
	v, strict := parseJSON(data)
	if strict == nil {
		return v, nil
	}
	if v, err := parseJSON5(string(data)); err == nil {
		return v, nil
	}
	return nil, d.malformed(strict)
}

func (d *document) read(off, n int64) ([]byte, error) {
	data := make([]byte, n)
	if got, err := d.ReadAt(data, off); err != nil && !(errors.Is(err, io.EOF) && int64(got) == n) {
		return nil, unlessEOF(err)
	}
	return data, nil
}

func (d *document) malformed(err error) error {
	if err == nil {
		return nil
	}
	return &Error{
		Code: CodeMalformed, Message: fmt.Sprintf("%s is not %s: %v", d.name(), d.format, err),
		Hint: "look at the place with op=cat, or search with op=grep",
	}
}

// parseJSON decodes one JSON document with its numbers as they are written. An error is a *syntaxError. What
// encoding/json finds valid is decoded by our own parser of JSON5: both give the same, and ours, which shares strings
// with the text, takes a third of the time.
func parseJSON(data []byte) (any, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if json.Valid(data) {
		return parseJSON5(string(data))
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	if err == nil {
		if end := int(dec.InputOffset()); len(bytes.TrimSpace(data[end:])) > 0 {
			return nil, errorAt(string(data), end, "more text stands behind the value")
		}
		return v, nil
	}
	var se *json.SyntaxError
	switch {
	case errors.As(err, &se):
		return nil, errorAt(string(data), int(se.Offset)-1, "%s", se)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errorAt(string(data), len(data), "the document ends too early")
	}
	return nil, errorAt(string(data), int(dec.InputOffset()), "%v", err)
}

// records visits the values of a document: one for JSON and JSON5, with line 0, one for each line of JSON lines. It
// stops when fn says so.
func (d *document) records(ctx context.Context, q Query, fn func(line int64, v any) (stop bool, err error)) (lineStats, error) {
	if d.format != JSONLines {
		v, err := d.decode(q)
		if err != nil {
			return lineStats{}, err
		}
		_, err = fn(0, v)
		return lineStats{records: 1}, err
	}
	var st lineStats
	r := d.linesFrom(ctx, 0, 1)
	for {
		ln, err := r.next()
		if errors.Is(err, io.EOF) {
			if st.records == 0 && st.bad > 0 {
				return st, d.malformed(fmt.Errorf("no line is a JSON value; line %d: %s", st.firstBad, st.reason))
			}
			return st, nil
		}
		if err != nil {
			return st, err
		}
		v, blank, err := d.record(ln, q)
		switch {
		case blank:
			continue
		case err != nil:
			if st.bad++; st.bad == 1 {
				st.firstBad, st.reason = ln.n, err.Error()
			}
			continue
		}
		st.records++
		if stop, err := fn(ln.n, v); stop || err != nil {
			return st, err
		}
	}
}

func (d *document) record(ln line, q Query) (v any, blank bool, err error) {
	text := ln.text
	if int64(len(text)) < ln.size {
		if ln.size > q.MaxJSON {
			return nil, false, fmt.Errorf("the line has %d bytes, more than %d", ln.size, q.MaxJSON)
		}
		if text, err = d.read(ln.off, ln.size); err != nil {
			return nil, false, err
		}
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, true, nil
	}
	v, err = parseJSON(text)
	var se *syntaxError
	if errors.As(err, &se) {
		err = fmt.Errorf("column %d: %s", se.Column, se.Reason)
	}
	return v, false, err
}

// lineStats counts what JSON lines were made of.
type lineStats struct {
	records, bad, firstBad int64
	reason                 string
}

// note says which lines were no JSON, or "".
func (st lineStats) note() string {
	if st.bad == 0 {
		return ""
	}
	if st.bad == 1 {
		return fmt.Sprintf("\n[Line %d is not JSON and was passed over: %s.]", st.firstBad, st.reason)
	}
	return fmt.Sprintf("\n[%d lines are not JSON and were passed over; the first is line %d, %s.]", st.bad, st.firstBad, st.reason)
}

// typeName names the type of a decoded value as JSON does.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "number"
}

// lengthOf returns how many elements, members or characters a value has, with the word for them; -1 for others.
func lengthOf(v any) (int, string) {
	switch v := v.(type) {
	case []any:
		return len(v), "element"
	case map[string]any:
		return len(v), "member"
	case string:
		return utf8.RuneCountInString(v), "character"
	}
	return -1, ""
}

// encode returns compact JSON with sorted keys; NaN is null and infinities are the largest numbers, as in jq.
func encode(v any) json.RawMessage {
	if f, ok := v.(float64); ok && math.IsNaN(f) {
		v = nil
	}
	b, err := gojq.Marshal(v)
	if err != nil { // only for types that no decoder makes
		return json.RawMessage("null")
	}
	return b
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
