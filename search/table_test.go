package search

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// readTable reads a table of the shared suites. They are not part of this tree: TACKLE_SHARED names the folder.
func readTable(t *testing.T, name string, v any) {
	t.Helper()
	shared := os.Getenv("TACKLE_SHARED")
	if shared == "" {
		t.Skip("TACKLE_SHARED is not set: the shared tables are not there; search_test.go tests the same decisions")
	}
	data, err := os.ReadFile(filepath.Join(shared, "suites", "tables", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

// fileText is the content of a file in a table.
type fileText string

func (f *fileText) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*f = fileText(s)
		return nil
	}
	var v struct {
		Base64 string
		Repeat string
		Times  int
		Concat []fileText
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	data, err := base64.StdEncoding.DecodeString(v.Base64)
	*f = fileText(string(data) + strings.Repeat(v.Repeat, v.Times))
	for _, c := range v.Concat {
		*f += c
	}
	return err
}

type callArgs struct {
	Pattern, Path, Type, OutputMode        string
	Glob                                   stringOrList
	Invert, IgnoreCase, WholeWord, Literal bool
	Hidden, NoIgnore, Multiline, Dotall    bool
	Before, After, Context, MaxResults     int
}

type stringOrList []string

func (s *stringOrList) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*s = stringOrList{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(s))
}

func (a *callArgs) UnmarshalJSON(b []byte) error {
	type plain callArgs
	var names map[string]json.RawMessage
	if err := json.Unmarshal(b, &names); err != nil {
		return err
	}
	for k, v := range names { // ignore_case -> ignorecase, which the decoder takes for IgnoreCase
		delete(names, k)
		names[strings.ReplaceAll(k, "_", "")] = v
	}
	b, err := json.Marshal(names)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, (*plain)(a))
}

func (a *callArgs) query(root string) GrepQuery {
	q := GrepQuery{Filter: Filter{Root: filepath.Join(root, a.Path), Globs: a.Glob, Hidden: a.Hidden, NoIgnore: a.NoIgnore},
		Pattern: a.Pattern, Literal: a.Literal, CaseInsensitive: a.IgnoreCase, Word: a.WholeWord, Invert: a.Invert,
		Multiline: a.Multiline, DotAll: a.Dotall, Mode: Content, Before: max(a.Before, a.Context), After: max(a.After, a.Context)}
	if a.Type != "" {
		q.Types = []string{a.Type}
	}
	return q
}

// F7: the neutral rows of ripgrep's own end-to-end tests.
func TestF7_RipgrepTable(t *testing.T) {
	var table struct {
		Rows []struct {
			ID       string
			Files    map[string]fileText
			Encoded  map[string][]byte `json:"files_base64"`
			Dirs     []string
			Cwd      string
			ToolCall *struct{ Args callArgs } `json:"tool_call"`
			Named    []string                 `json:"expected_files"`
			Matches  [][2]any                 `json:"expected_matches"`
		}
	}
	readTable(t, "ripgrep_cli.json", &table)
	rows := 0
	for _, r := range table.Rows {
		if r.ToolCall == nil {
			continue
		}
		rows++
		files := map[string]string{}
		for name, text := range r.Files {
			files[name] = string(text)
		}
		for name, text := range r.Encoded {
			files[name] = string(text)
		}
		for _, d := range r.Dirs {
			files[strings.TrimSuffix(d, "/")+"/"] = ""
		}
		root := filepath.Join(plant(t, files), r.Cwd)
		q := r.ToolCall.Args.query(root)
		q.CountFor = -1
		res := grep(t, q)
		var got, names []string
		for _, f := range res.Files {
			name := f.Path
			if p := r.ToolCall.Args.Path; p != "" && filepath.Base(p) != f.Path {
				name = filepath.Join(p, f.Path)
			}
			names = append(names, name)
			for _, l := range f.Lines {
				if !l.Context {
					got = append(got, fmt.Sprint(name, ":", l.Number))
				}
			}
		}
		slices.Sort(r.Named)
		slices.Sort(names)
		if !slices.Equal(names, r.Named) {
			t.Errorf("%s: files %q, want %q", r.ID, names, r.Named)
		}
		var want []string
		for _, m := range r.Matches {
			want = append(want, fmt.Sprint(strings.TrimPrefix(m[0].(string), "./"), ":", m[1]))
		}
		for _, m := range want { // with Multiline the table has the first line of a match only
			if !slices.Contains(got, m) {
				t.Errorf("%s: no match at %s, only at %q", r.ID, m, got)
			}
		}
		if len(got) > len(want) && !q.Multiline {
			t.Errorf("%s: matches %q, want %q", r.ID, got, want)
		}
	}
	if rows < 90 {
		t.Fatalf("only %d rows", rows)
	}
}

// peerRow is a row of other agents' tests.
type peerRow struct {
	ID     string
	Files  map[string]fileText
	Expect string
	Call   struct {
		Tool string
		Args callArgs
	}
	Setup []struct {
		Path       string
		SecondsAgo int `json:"seconds_ago"`
	}
	Facts struct {
		Matches    [][2]any
		Files      []string
		Paths      []string
		ErrorClass string `json:"error_class"`
		MatchCount int    `json:"match_count"`
		Truncated  bool
		Ordered    string
	}
}

// F6, F7: the neutral rows of other agents' tests of grep and glob. What is an error of arguments is for the tools.
func TestF7_PeersTable(t *testing.T) {
	var table struct{ Rows []peerRow }
	readTable(t, "read_grep_glob.json", &table)
	rows := 0
	for _, r := range table.Rows {
		if r.Call.Tool != "grep" && r.Call.Tool != "glob" {
			continue
		}
		if class := r.Facts.ErrorClass; class == "outside_workspace" || class == "invalid_arguments" || class == "not_a_directory" {
			continue
		}
		rows++
		root := r.plant(t)
		run := r.grep
		if r.Call.Tool == "glob" {
			run = r.glob
		}
		got, want, err := run(t, root)
		if (err != nil) != (r.Expect == "error") {
			t.Errorf("%s: error %v, want %s", r.ID, err, r.Expect)
		}
		if r.Facts.Ordered == "" {
			slices.Sort(got)
			slices.Sort(want)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", r.ID, got, want)
		}
	}
	if rows < 25 {
		t.Fatalf("only %d rows", rows)
	}
}

func (r *peerRow) plant(t *testing.T) string {
	files := map[string]string{}
	for name, text := range r.Files {
		files[name] = string(text)
	}
	root := plant(t, files)
	for _, s := range r.Setup {
		at := time.Now().Add(-time.Duration(s.SecondsAgo) * time.Second)
		if err := os.Chtimes(filepath.Join(root, s.Path), at, at); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func (r *peerRow) grep(t *testing.T, root string) (got, want []string, err error) {
	q := r.Call.Args.query(root)
	q.Hidden, q.AnyTree, q.Limit = true, true, r.Call.Args.MaxResults
	if q.Limit > 0 && q.Before > 0 {
		q.Limit = 3 // the row counts matches, this engine output lines
	}
	res, err := New(Local(), Config{}).Grep(t.Context(), q)
	if r.Facts.Truncated != (res.NextOffset > 0) {
		t.Errorf("%s: next offset %d", r.ID, res.NextOffset)
	}
	for _, f := range res.Files {
		if r.Facts.Files != nil {
			got = append(got, f.Path)
			continue
		}
		for _, l := range f.Lines {
			if !l.Context {
				got = append(got, fmt.Sprint(filepath.Base(f.Path), ":", l.Number))
			}
		}
	}
	switch {
	case r.Facts.Files != nil:
		return got, r.Facts.Files, err
	case r.Facts.MatchCount > 0: // how many, not which
		return got, got[:min(len(got), r.Facts.MatchCount)], err
	}
	for _, m := range r.Facts.Matches {
		want = append(want, fmt.Sprint(filepath.Base(m[0].(string)), ":", m[1]))
	}
	return got, want, err
}

func (r *peerRow) glob(t *testing.T, root string) (got, want []string, err error) {
	a := r.Call.Args
	q := FilesQuery{Filter: Filter{Root: filepath.Join(root, a.Path), Hidden: true, AnyTree: true, NoIgnore: a.NoIgnore}, Pattern: a.Pattern, Order: Newest}
	res, err := New(Local(), Config{}).Files(t.Context(), q)
	for _, f := range res.Files {
		got = append(got, filepath.Join(a.Path, f.Path))
	}
	return got, r.Facts.Paths, err
}
