// Package data is the engine for JSON, YAML and CSV as data: it sets, merges and deletes values without touching the rest
// of the file, and converts between the formats.
//
// Edits of JSON are splices of its text, so order, spelling of numbers and layout elsewhere stay. Edits of YAML go through
// its nodes, so order, comments and anchors stay. Numbers keep their digits in every conversion; a Go map or a float64
// never stands between.
package data

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/internal/text"
	"github.com/tackle-dev/tackle/media"
)

const (
	jsonMIME = "application/json"
	yamlMIME = "application/yaml"
	csvMIME  = "text/csv"
	tsvMIME  = "text/tab-separated-values"
)

// Engine returns the engine.
func Engine() media.Engine {
	verbs := []string{"data.set", "data.merge", "data.delete"}
	return media.Engine{
		ID: "data",
		Convert: []media.Convert{
			{From: []string{media.EmptyMIME}, To: []string{"json", "yaml", "csv"}, Keep: media.Exact, Do: blank},
			{From: []string{jsonMIME}, To: []string{"yaml", "csv"}, Keep: media.Structure, Do: convert},
			{From: []string{yamlMIME}, To: []string{"json", "csv"}, Keep: media.Structure, Do: convert},
			{From: []string{csvMIME, tsvMIME}, To: []string{"json", "yaml", "csv"}, Keep: media.Structure, Do: convert},
		},
		Edit: []media.Edit{
			{Over: []string{jsonMIME}, Ops: verbs, Do: editJSON},
			{Over: []string{yamlMIME}, Ops: verbs, Do: editYAML},
			{Over: []string{jsonMIME, yamlMIME, csvMIME, tsvMIME}, Ops: []string{"extract.metadata"}, Do: describe},
		},
	}
}

func blank(_ context.Context, r *media.Request) (media.Result, error) {
	return media.Result{Media: &media.Payload{Data: []byte(map[string]string{"json": "{}\n"}[r.To])}}, nil
}

// decode returns the text of a file without its byte order mark, and how to write it back.
func decode(p *media.Payload) (string, text.Encoding, error) {
	t, err := text.Decode(p.Data)
	if err != nil {
		return "", text.Encoding{}, media.Failf("%s is no text that can be read: %v.", p.Name, err)
	}
	return string(t.Content), t.Encoding, nil
}

// segment is one part of a path: a key, or an index where Key is "" and Is is set.
type segment struct {
	key   string
	index int
	is    bool // an index
}

func (s segment) String() string {
	if s.is {
		return fmt.Sprintf("[%d]", s.index)
	}
	return s.key
}

// parsePath reads a path such as a.b[2].c or servers["eu.west"].port.
func parsePath(path string) ([]segment, error) {
	bad := func(why string) error {
		return media.Failf("the path %q %s. Write it as in server.ports[0] or [\"a.b\"].c.", path, why)
	}
	var out []segment
	rest := strings.TrimSpace(path)
	if rest == "" {
		return nil, bad("is empty")
	}
	if !utf8.ValidString(path) {
		return nil, bad("is no UTF-8")
	}
	for first := true; rest != ""; first = false {
		switch {
		case rest[0] == '[':
			s, n, why := bracket(rest)
			if why != "" {
				return nil, bad(why)
			}
			out, rest = append(out, s), rest[n:]
			continue
		case rest[0] == '.':
			if first {
				return nil, bad("begins with a dot")
			}
			rest = rest[1:]
		case !first:
			return nil, bad("lacks a dot after ]")
		}
		n := strings.IndexAny(rest, ".[")
		if n < 0 {
			n = len(rest)
		}
		if n == 0 {
			return nil, bad("has an empty name")
		}
		out, rest = append(out, segment{key: rest[:n]}), rest[n:]
	}
	return out, nil
}

func bracket(s string) (seg segment, n int, why string) {
	if len(s) > 1 && (s[1] == '"' || s[1] == '\'') {
		end := 2
		for end < len(s) && s[end] != s[1] {
			if s[end] == '\\' && s[1] == '"' {
				end++
			}
			end++
		}
		if end+1 >= len(s) || s[end+1] != ']' {
			return seg, 0, "has a [ whose quote is not closed"
		}
		key := s[2:end]
		if s[1] == '"' && json.Unmarshal([]byte(s[1:end+1]), &key) != nil {
			key = s[2:end]
		}
		return segment{key: key}, end + 2, ""
	}
	end := strings.IndexByte(s, ']')
	if end < 0 {
		return seg, 0, "has a [ that is not closed"
	}
	i, err := strconv.Atoi(s[1:end])
	if err != nil || i < 0 || i > 1<<24 {
		return seg, 0, "has no index from 0 in its []"
	}
	return segment{index: i, is: true}, end + 1, ""
}

func printPath(segs []segment) string {
	var b strings.Builder
	for i, s := range segs {
		switch {
		case s.is:
			b.WriteString(s.String())
		case strings.ContainsAny(s.key, `.[]"`) || s.key == "":
			q, _ := json.Marshal(s.key) // a string always encodes
			b.WriteString("[" + string(q) + "]")
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.key)
		}
	}
	if b.Len() == 0 {
		return "the root"
	}
	return b.String()
}

// done returns an edited text in the encoding that it had.
func done(r *media.Request, out string, enc text.Encoding, warnings []string, n media.Counts) (media.Result, error) {
	data, err := enc.Encode([]byte(out))
	if err != nil {
		if data, err = (text.Encoding{}).Encode([]byte(out)); err != nil {
			return media.Result{}, media.Failf("the result cannot be written: %v.", err)
		}
		warnings = append(warnings, fmt.Sprintf("%s is UTF-8 now; %v could not hold the new text.", r.In.Name, enc))
	}
	return media.Result{Media: &media.Payload{Data: data}, Warnings: warnings, Counts: n}, nil
}
