package suites

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/internal/cli/grep"
	"github.com/tackle-dev/tackle/tool"
)

// minima of the tables.
const (
	minRipgrepCalls = 98
	minReadRows     = 21
	minGrepRows     = 15
	minGlobRows     = 17
)

// tableRow is one row of a table: files, a call, and facts about its result.
type tableRow struct {
	ID          string                     `json:"id"`
	Files       map[string]json.RawMessage `json:"files"`
	Base64      map[string]string          `json:"files_base64"`
	Dirs        []string                   `json:"dirs"`
	Cwd         string                     `json:"cwd"`
	ToolCall    *tableCall                 `json:"tool_call"` // ripgrep_cli
	Call        *tableCall                 `json:"call"`      // read_grep_glob
	WantFiles   []string                   `json:"expected_files"`
	WantMatches [][2]any                   `json:"expected_matches"`
	Argv        []string                   `json:"argv"`
	Stdout      *string                    `json:"stdout"`
	AnyOrder    *string                    `json:"stdout_any_line_order"`
	ExitCode    *int                       `json:"exit_code"`
	Fails       string                     `json:"fails"`
	Expect      string                     `json:"expect"`
	Exactly     *string                    `json:"content_exactly"`
	Contain     []json.RawMessage          `json:"must_contain"`
	NotContain  []json.RawMessage          `json:"must_not_contain"`
	Setup       []struct {
		Op, Path   string
		SecondsAgo int `json:"seconds_ago"`
	} `json:"setup"`
	Facts struct {
		ErrorClass string    `json:"error_class"`
		Paths      *[]string `json:"paths"`
		Ordered    string    `json:"ordered"`
		Matches    *[][2]any `json:"matches"`
		MatchCount int       `json:"match_count"`
		Files      []string  `json:"files"`
		Truncated  *bool     `json:"truncated"`
		ShownFrom  int       `json:"shown_from"`
		ShownTo    int       `json:"shown_to"`
		TotalLines int       `json:"total_lines"`
		NextOffset int       `json:"next_offset"`
		Kind       string    `json:"kind"`
		MIME       string    `json:"mime"`
	} `json:"facts"`
}

type tableCall struct {
	Tool string         `json:"tool"`
	Args map[string]any `json:"args"`
}

func loadTable(t *testing.T, name string) []tableRow {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(shared(t), "tables", name))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Rows []tableRow `json:"rows"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return doc.Rows
}

// prepare lays the row's files into a folder of their own and returns it.
func (r *tableRow) prepare(t *testing.T) string {
	t.Helper()
	ws := filepath.Join(t.TempDir(), "ws")
	for _, d := range append([]string{"."}, r.Dirs...) {
		if err := os.MkdirAll(filepath.Join(ws, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put := func(name string, content []byte) {
		if name == ".git" && len(content) == 0 { // stands for a repository
			if err := os.MkdirAll(filepath.Join(ws, name), 0o755); err != nil {
				t.Fatal(err)
			}
			return
		}
		p := filepath.Join(ws, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, raw := range r.Files {
		content, err := generate(raw)
		if err != nil {
			t.Fatalf("%s: %s: %v", r.ID, name, err)
		}
		put(name, content)
	}
	for name, b64 := range r.Base64 {
		content, err := base64.StdEncoding.DecodeString(b64)
		if err != nil {
			t.Fatalf("%s: %s: %v", r.ID, name, err)
		}
		put(name, content)
	}
	for _, s := range r.Setup {
		if s.Op != "mtime" {
			t.Fatalf("%s: unknown step %q", r.ID, s.Op)
		}
		at := time.Now().Add(-time.Duration(s.SecondsAgo) * time.Second)
		if err := os.Chtimes(filepath.Join(ws, s.Path), at, at); err != nil {
			t.Fatal(err)
		}
	}
	return ws
}

// generate makes the content that a table describes: text, {base64}, {generate} or {concat}.
func generate(raw json.RawMessage) ([]byte, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []byte(text), nil
	}
	var g struct {
		Base64   string            `json:"base64"`
		Repeat   string            `json:"repeat"`
		Times    int               `json:"times"`
		Concat   []json.RawMessage `json:"concat"`
		Generate *struct {
			Lines        int    `json:"lines"`
			Format       string `json:"format"`
			FinalNewline bool   `json:"final_newline"`
			Repeat       string `json:"repeat"`
			Times        int    `json:"times"`
		} `json:"generate"`
	}
	if err := json.Unmarshal(raw, &g); err != nil {
		return nil, err
	}
	switch {
	case g.Base64 != "":
		return base64.StdEncoding.DecodeString(g.Base64)
	case g.Repeat != "":
		return []byte(strings.Repeat(g.Repeat, g.Times)), nil
	case g.Generate != nil && g.Generate.Repeat != "":
		return []byte(strings.Repeat(g.Generate.Repeat, g.Generate.Times)), nil
	case g.Generate != nil:
		lines := make([]string, g.Generate.Lines)
		for i := range lines {
			lines[i] = strings.ReplaceAll(g.Generate.Format, "{i}", fmt.Sprint(i+1))
		}
		out := strings.Join(lines, "\n")
		if g.Generate.FinalNewline {
			out += "\n"
		}
		return []byte(out), nil
	}
	var out []byte
	for _, part := range g.Concat {
		b, err := generate(part)
		if err != nil {
			return nil, err
		}
		out = append(out, b...)
	}
	return out, nil
}

// neutral names of arguments, and what they are here.
var neutral = map[string]string{"ignore_case": "case_insensitive", "whole_word": "word", "max_results": "head_limit"}

// arguments maps a neutral call to ours. Hidden files are always searched, and "." matches line ends whenever matches may
// span lines, so those two say nothing.
func (c *tableCall) arguments() (args map[string]any, unknown string) {
	args = map[string]any{}
	for k, v := range c.Args {
		if list, ok := v.([]any); ok && (k == "glob" || k == "type" || k == "path") {
			if len(list) != 1 {
				return nil, fmt.Sprintf("%s with %d values", k, len(list))
			}
			v = list[0]
		}
		switch k {
		case "hidden", "dotall":
			continue
		case "invert":
			return nil, "invert"
		}
		if ours, ok := neutral[k]; ok {
			k = ours
		}
		args[k] = v
	}
	return args, ""
}

func callIn(t *testing.T, dir, name string, args map[string]any) tool.Result {
	t.Helper()
	box, err := tackle.Open(t.Context(), tackle.Config{Dir: dir, StateDir: t.TempDir(), NoFiles: true})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	res, err := box.Call(t.Context(), tackle.NewRequest(name, args))
	if err != nil {
		t.Fatalf("%s %v: fault: %v", name, args, err)
	}
	return res
}

// found reads the data of glob, grep and read_file as a program would.
type found struct {
	Files []struct {
		Path  string `json:"path"`
		Lines []struct {
			Line    int    `json:"line"`
			Context bool   `json:"context"`
			Text    string `json:"text"`
		} `json:"lines"`
		From  int    `json:"from"`
		To    int    `json:"to"`
		Total int    `json:"totalLines"`
		MIME  string `json:"mime"`

		Encoding string `json:"encoding"` // of text
		Bytes    int64  `json:"bytes"`
	} `json:"files"`
	Root string `json:"root"`
}

func dataOf(t *testing.T, res *tool.Result, ws string) found {
	t.Helper()
	var f found
	b, err := json.Marshal(res.Data)
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	if err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(ws)
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Files { // paths of search tools are relative to the place
		if rel, err := filepath.Rel(real, filepath.Join(f.Root, f.Files[i].Path)); f.Root != "" && err == nil {
			f.Files[i].Path = filepath.ToSlash(rel)
			if info, err := os.Stat(f.Root); err == nil && !info.IsDir() {
				f.Files[i].Path, _ = filepath.Rel(real, f.Root)
			}
		}
	}
	return f
}

func (f *found) paths() []string {
	var out []string
	for _, x := range f.Files {
		out = append(out, x.Path)
	}
	return out
}

func (f *found) matches() []string {
	var out []string
	for _, x := range f.Files {
		for _, l := range x.Lines {
			if !l.Context {
				out = append(out, fmt.Sprintf("%s:%d", x.Path, l.Line))
			}
		}
	}
	return out
}

func wanted(list [][2]any) []string {
	var out []string
	for _, m := range list {
		out = append(out, fmt.Sprintf("%v:%v", m[0], m[1]))
	}
	return out
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// settle compares a row's outcome with the list of deviations.
func settle(t *testing.T, listed map[string]string, n *count, id, bad string) {
	t.Helper()
	_, known := listed[id]
	switch {
	case bad == "" && known:
		n.fail++
		t.Errorf("%s passes and is listed in %s; take it off the list", id, deviationsFile)
	case bad == "":
		n.pass++
	case known:
		n.listed++
	default:
		n.fail++
		t.Errorf("%s: %s", id, bad)
	}
}

// F7, F13: the searches of ripgrep's own tests, as calls of the tool: every file and line, and no other.
func TestRipgrepTable(t *testing.T) {
	listed, n, seen := deviations(t), count{}, 0
	for _, r := range loadTable(t, "ripgrep_cli.json") {
		if r.ToolCall == nil {
			continue
		}
		seen++
		settle(t, listed, &n, r.ID, r.asRipgrep(t))
	}
	if seen < minRipgrepCalls {
		t.Fatalf("found %d rows with a call, want %d", seen, minRipgrepCalls)
	}
	t.Logf("%d rows: %s", seen, &n)
}

func (r *tableRow) asRipgrep(t *testing.T) string {
	ws := r.prepare(t)
	args, unknown := r.ToolCall.arguments()
	if unknown != "" {
		return "the tool has no argument for " + unknown
	}
	args["output_mode"], args["head_limit"] = "content", 0
	res := callIn(t, filepath.Join(ws, r.Cwd), "grep", args)
	if !res.OK() {
		return firstLine(res.Text()) + " " + res.Err.Message
	}
	f := dataOf(t, &res, ws)
	if !sameSet(f.paths(), r.WantFiles) {
		return fmt.Sprintf("files %q, want %q", f.paths(), r.WantFiles)
	}
	got := f.matches()
	if ml, _ := args["multiline"].(bool); ml { // the rows name the first line of a match, we show all of them
		got = slices.DeleteFunc(got, func(s string) bool { return !slices.Contains(wanted(r.WantMatches), s) })
	}
	if !sameSet(got, wanted(r.WantMatches)) {
		return fmt.Sprintf("matches %q, want %q", got, wanted(r.WantMatches))
	}
	return ""
}

// codes are the error codes that stand for an error class of the table.
var codes = map[string][]tool.Code{
	"not_found": {tool.NotFound}, "offset_beyond_end": {tool.InvalidParameter}, "is_directory": {tool.InvalidParameter}, "not_a_directory": {tool.InvalidParameter},
	"invalid_arguments": {tool.InvalidParameter}, "invalid_pattern": {tool.InvalidParameter}, "too_large": {tool.LimitExceeded}, "outside_workspace": {tool.PermissionDenied},
}

// F1, F6, F7: what the tests of two other agents say about reading, searching and listing.
func TestReadGrepGlobTable(t *testing.T) {
	listed, n, seen := deviations(t), map[string]*count{}, map[string]int{}
	for _, r := range loadTable(t, "read_grep_glob.json") {
		name := r.Call.Tool
		if n[name] == nil {
			n[name] = &count{}
		}
		seen[name]++
		settle(t, listed, n[name], r.ID, r.check(t))
	}
	for name, least := range map[string]int{"read_file": minReadRows, "grep": minGrepRows, "glob": minGlobRows} {
		if seen[name] < least {
			t.Errorf("found %d rows for %s, want %d", seen[name], name, least)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n)) {
		t.Logf("%-10s %s", name, n[name])
	}
}

func (r *tableRow) check(t *testing.T) string {
	ws := r.prepare(t)
	args, unknown := r.Call.arguments()
	if unknown != "" {
		return "no argument for " + unknown
	}
	if _, ok := args["output_mode"]; !ok && r.Call.Tool == "grep" {
		args["output_mode"] = "content"
	}
	res := callIn(t, ws, r.Call.Tool, args)
	if r.Expect == "error" {
		if res.OK() {
			return "succeeds; wanted " + r.Facts.ErrorClass
		}
		if want := codes[r.Facts.ErrorClass]; !slices.Contains(want, res.Err.Code) {
			return fmt.Sprintf("%s, wanted %v", res.Err.Code, want)
		}
		return ""
	}
	if !res.OK() {
		return res.Text()
	}
	f := dataOf(t, &res, ws)
	if bad := r.contents(t, &res); bad != "" {
		return bad
	}
	return r.facts(&res, &f)
}

// contents compares the text. Lines are compared whole where a row asks for a line, numbers of lines taken off.
func (r *tableRow) contents(t *testing.T, res *tool.Result) string {
	var lines []string
	for line := range strings.Lines(res.Text()) {
		line = strings.TrimSuffix(line, "\n")
		if _, rest, ok := strings.Cut(line, "\t"); ok && r.Call.Tool == "read_file" {
			line = rest
		}
		lines = append(lines, line)
	}
	has := func(raw json.RawMessage) bool {
		want, err := generate(raw)
		if err != nil {
			t.Fatalf("%s: %v", r.ID, err)
		}
		if strings.HasPrefix(string(want), "Line ") && !strings.HasSuffix(string(want), ":") {
			return slices.Contains(lines, string(want))
		}
		return strings.Contains(strings.Join(lines, "\n"), string(want))
	}
	for _, raw := range r.Contain {
		if !has(raw) {
			return fmt.Sprintf("lacks %.60s:\n%.300s", raw, res.Text())
		}
	}
	for _, raw := range r.NotContain {
		if has(raw) {
			return fmt.Sprintf("holds %.60s:\n%.300s", raw, res.Text())
		}
	}
	if r.Exactly != nil {
		content := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return strings.HasPrefix(l, "[") })
		if strings.Join(content, "\n") != *r.Exactly {
			return fmt.Sprintf("text %q, want %q", content, *r.Exactly)
		}
	}
	return ""
}

func (r *tableRow) facts(res *tool.Result, f *found) string {
	w := &r.Facts
	switch {
	case w.Paths != nil && w.Ordered != "" && !slices.Equal(f.paths(), *w.Paths),
		w.Paths != nil && !sameSet(f.paths(), *w.Paths):
		return fmt.Sprintf("paths %q, want %q", f.paths(), *w.Paths)
	case w.Files != nil && !sameSet(f.paths(), w.Files):
		return fmt.Sprintf("files %q, want %q", f.paths(), w.Files)
	case w.MatchCount > 0 && len(f.matches()) != w.MatchCount:
		return fmt.Sprintf("%d matches, want %d", len(f.matches()), w.MatchCount)
	case w.Truncated != nil && res.Meta.Truncated != *w.Truncated:
		return fmt.Sprintf("truncated %v, want %v", res.Meta.Truncated, *w.Truncated)
	}
	if w.Matches != nil && !sameSet(f.matches(), wanted(*w.Matches)) {
		return fmt.Sprintf("matches %q, want %q", f.matches(), wanted(*w.Matches))
	}
	if r.Call.Tool != "read_file" || len(f.Files) != 1 {
		return ""
	}
	x := f.Files[0]
	kind := "text"
	switch {
	case strings.HasPrefix(x.MIME, "image/"):
		kind = "image"
	case x.Encoding == "" && x.Bytes > 0:
		kind = "binary"
	}
	switch {
	case w.ShownFrom > 0 && x.From != w.ShownFrom, w.ShownTo > 0 && x.To != w.ShownTo, w.TotalLines > 0 && x.Total != w.TotalLines:
		return fmt.Sprintf("lines %d–%d of %d, want %d–%d of %d", x.From, x.To, x.Total, w.ShownFrom, w.ShownTo, w.TotalLines)
	case w.NextOffset > 0 && !strings.Contains(res.Text(), fmt.Sprintf("offset=%d", w.NextOffset)):
		return fmt.Sprintf("does not say offset=%d: %.200s", w.NextOffset, res.Text())
	case w.Kind != "" && kind != w.Kind, w.MIME != "" && x.MIME != w.MIME:
		return fmt.Sprintf("is %s (%s), want %s (%s)", kind, x.MIME, w.Kind, w.MIME)
	}
	return ""
}

// notFlags are flags of ripgrep that tackle grep does not have, so that their rows do not run: other output formats,
// statistics, sources of patterns, and what it does without being asked. See docs/deviations.md.
var notFlags = []string{"--column", "--vimgrep", "--replace", "-r", "--byte-offset", "-b", "--stats", "--passthru", "--count-matches", "--trim", "--crlf",
	"--null-data", "--json", "--sortr", "--ignore-file", "--no-ignore-vcs", "--no-ignore-parent", "--no-ignore-global", "--no-ignore-dot", "--no-ignore-exclude",
	"--type-add", "--type-clear", "--max-columns-preview", "--context-separator", "--no-context-separator", "--field-context-separator", "--field-match-separator",
	"--ignore-file-case-insensitive", "--glob-case-insensitive", "--encoding", "-E", "--colors", "--mmap", "--no-mmap", "--auto-hybrid-regex", "-P", "--pcre2", "--unicode", "--no-unicode",
	"--stop-on-nonmatch", "--binary", "--engine", "--include-zero", "--hyperlink-format", "--path-separator", "-z", "--pre", "--search-zip", "--line-buffered", "--no-require-git", "--no-pcre2-unicode", "-uuu", "--dfa-size-limit", "--regex-size-limit", "--no-fixed-strings", "--no-column"}

// minRipgrepLines is how many command lines of ripgrep's tests run.
const minRipgrepLines = 150

// X2: ripgrep's own tests as command lines of tackle grep: the same output and the same exit status.
func TestRipgrepCommandLines(t *testing.T) {
	listed, n, ran, left := deviations(t), count{}, 0, map[string]int{}
	for _, r := range loadTable(t, "ripgrep_cli.json") {
		if flag := r.unknownFlag(); flag != "" {
			left[flag]++
			continue
		}
		ran++
		settle(t, listed, &n, "argv:"+r.ID, r.asCommand(t))
	}
	if ran < minRipgrepLines {
		t.Errorf("%d command lines ran, want %d", ran, minRipgrepLines)
	}
	t.Logf("%d command lines: %s; left out for their flags: %v", ran, &n, left)
}

func (r *tableRow) unknownFlag() string {
	for _, a := range r.Argv {
		flag, _, _ := strings.Cut(a, "=")
		if len(a) > 2 && a[0] == '-' && a[1] != '-' { // a value may stand right behind the letter
			flag = a[:2]
		}
		if slices.Contains(notFlags, flag) {
			return flag
		}
	}
	return ""
}

func (r *tableRow) asCommand(t *testing.T) string {
	ws := r.prepare(t)
	var out, errOut bytes.Buffer
	code := grep.Run(t.Context(), r.Argv, grep.Streams{Out: &out, Err: &errOut, Dir: filepath.Join(ws, r.Cwd)})
	got := out.String()
	switch {
	case r.ExitCode != nil && code != *r.ExitCode:
		return fmt.Sprintf("exit status %d, want %d", code, *r.ExitCode)
	case r.Fails != "" && code == grep.ExitMatch:
		return fmt.Sprintf("succeeds: %q", got)
	case r.Stdout != nil && !sameLines(got, *r.Stdout), r.AnyOrder != nil && !sameLines(got, *r.AnyOrder):
		want := r.Stdout
		if want == nil {
			want = r.AnyOrder
		}
		return fmt.Sprintf("argv %q (exit %d, %s)\n got %q\nwant %q", r.Argv, code, firstLine(errOut.String()), got, *want)
	}
	return ""
}

// sameLines compares output without regard to the order of files, which several workers do not keep.
func sameLines(a, b string) bool {
	return sameSet(strings.Split(a, "\n"), strings.Split(b, "\n"))
}
