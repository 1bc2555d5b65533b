package glob

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// readTable reads a table of the shared suites into v. They are not part of this tree: TACKLE_SHARED names the folder.
func readTable(t *testing.T, name string, v any) {
	t.Helper()
	shared := os.Getenv("TACKLE_SHARED")
	if shared == "" {
		t.Skip("TACKLE_SHARED is not set: the shared tables are not there; the rows in testdata are tested instead")
	}
	data, err := os.ReadFile(filepath.Join(shared, "suites", "tables", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

type ignoreRow struct {
	ID                string            `json:"id"`
	IgnoreFiles       map[string]string `json:"ignore_files"`
	Path              string            `json:"path"`
	IsDir             bool              `json:"is_dir"`
	Ignored           bool              `json:"ignored"`
	ParentsConsidered bool              `json:"parents_considered"`
}

func (r *ignoreRow) run(t *testing.T) {
	var tree Tree
	if len(r.IgnoreFiles) == 0 {
		t.Fatalf("%s has no ignore file", r.ID)
	}
	for file, text := range r.IgnoreFiles {
		if strings.Contains(r.ID, "skip_bom") {
			text = "\ufeff" + text
		}
		if !tree.Add(file, []byte(text)) {
			t.Fatalf("%s: %s is not an ignore file", r.ID, file)
		}
	}
	if got := tree.Ignored(r.Path, r.IsDir); got != r.Ignored {
		t.Errorf("%s: %q (dir %v) ignored = %v, want %v; rules %q", r.ID, r.Path, r.IsDir, got, r.Ignored, r.IgnoreFiles)
	}
}

// F6, F7: ignore rules as git and ripgrep have them.
func TestF6_GitignoreTable(t *testing.T) {
	var table struct{ Rows []ignoreRow }
	readTable(t, "gitignore.json", &table)
	if len(table.Rows) < 300 {
		t.Fatalf("only %d rows", len(table.Rows))
	}
	for i := range table.Rows {
		table.Rows[i].run(t)
	}
}

type globRow struct {
	Suite       string
	ID          string
	Pattern     string
	Path        *string
	Match       bool
	BadPattern  bool   `json:"bad_pattern"`
	SyntaxError string `json:"syntax_error"`
	Options     struct {
		LiteralSeparator bool  `json:"literal_separator"`
		CaseInsensitive  bool  `json:"case_insensitive"`
		BackslashEscape  *bool `json:"backslash_escape"`
	}
	Globs           []string
	CaseInsensitive bool `json:"case_insensitive"`
	IsDir           bool `json:"is_dir"`
	Verdict         string
}

// globExceptions are the rows where this package decides otherwise, with the reason.
var globExceptions = map[string]string{
	"doublestar []a] ]":                 `"]" directly after "[" is a member, as in POSIX, git and ripgrep`,
	"ripgrep-globset foo{,.txt} foo":    "an empty alternative means what it says; the row is the default of a library that drops it",
	"ripgrep-globset abc[/]def abc/def": `a class matches no "/", as in git and POSIX`,
}

func TestF6_GlobTable(t *testing.T) {
	var table struct{ Rows []globRow }
	readTable(t, "glob.json", &table)
	seen := map[string]int{}
	used := map[string]bool{}
	for _, r := range table.Rows {
		path := ""
		if r.Path != nil {
			path = *r.Path
		}
		key := r.Suite + " " + r.Pattern + " " + path
		if globExceptions[key] != "" && !used[key] {
			used[key] = true
			continue
		}
		seen[r.Suite]++
		switch r.Suite {
		case "doublestar":
			checkPattern(t, r, path, Options{}, r.BadPattern)
		case "ripgrep-globset":
			checkPattern(t, r, path, Options{
				CrossSlash: !r.Options.LiteralSeparator,
				Fold:       r.Options.CaseInsensitive,
				NoEscape:   r.Options.BackslashEscape != nil && !*r.Options.BackslashEscape,
			}, r.SyntaxError != "")
		case "ripgrep-overrides":
			o, err := NewOverrides(r.Globs, r.CaseInsensitive)
			if err != nil {
				t.Errorf("%q: %v", r.Globs, err)
				continue
			}
			want := map[string]Verdict{"include": Included, "exclude": Excluded, "undecided": Undecided}[r.Verdict]
			if got := o.Match(strings.TrimPrefix(path, "./"), r.IsDir); got != want {
				t.Errorf("%q %q dir %v: got %v, want %v", r.Globs, path, r.IsDir, got, want)
			}
		default:
			t.Errorf("unknown suite %q", r.Suite)
		}
	}
	if seen["doublestar"] < 160 || seen["ripgrep-globset"] < 130 || seen["ripgrep-overrides"] < 40 {
		t.Errorf("rows are missing: %v", seen)
	}
	for key := range globExceptions {
		if !used[key] {
			t.Errorf("exception %q fits no row", key)
		}
	}
}

func checkPattern(t *testing.T, r globRow, path string, opt Options, bad bool) {
	t.Helper()
	p, err := Compile(r.Pattern, opt)
	if bad {
		if err == nil {
			t.Errorf("%s: %q compiled, want an error", r.Suite, r.Pattern)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", r.Suite, err)
		return
	}
	if got := p.Match(path); got != r.Match {
		t.Errorf("%s: %q on %q = %v, want %v (%+v)", r.Suite, r.Pattern, path, got, r.Match, opt)
	}
}
