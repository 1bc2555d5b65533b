package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/tackle-dev/tackle/"

// floors is the table of DESIGN: a package imports only lower floors, and a subpackage its parent.
// The longest prefix counts.
var floors = []struct {
	prefix string
	floor  int
	why    string // why it stands where it stands, where that is not plain
}{
	{"internal/text", 0, ""},
	{"internal/race", 0, "tells tests of every floor about the detector"},
	{"internal/words", 0, "texts for the tests of every floor"},
	{"internal/diff", 0, "compares bytes; change and patch show it"},
	{"internal/clip", 0, ""},
	{"internal/front", 0, "text in, text out"},
	{"internal/content", 0, ""},
	{"internal/picture", 0, "bytes in, bytes out"},
	{"internal/show", 0, "text in, text out"},
	{"internal/scan", 0, ""},
	{"internal/outline", 0, "bytes of a source file in, its definitions out"},
	{"change", 0, "a changeset is a value; host commits it, so it stands below host"},
	{"edit", 0, ""},
	{"patch", 0, ""},
	{"glob", 0, ""},
	{"schema", 0, ""},
	{"command", 0, ""},
	{"skill", 0, ""},
	{"internal/pipe", 0, "a language is text in, plans out"},
	{"host", 1, ""},
	{"internal/store", 1, ""},
	{"tool", 2, ""},
	{"artifact", 2, ""},
	{"internal/ledger", 2, ""},
	{"search", 2, ""},
	{"permission", 3, ""},
	{"session", 3, ""},
	{"task", 3, ""},
	{"model", 3, "a seam to services; its adapters speak their wires"},
	{"undo", 3, ""},
	{"media", 3, "bytes in, bytes out, over engines; its forge stands above the road"},
	{"media/forge", 5, "tools over a pipeline"},
	{"config", 3, "names postures, rules and bounds; the front door reads it"},
	{"dev", 3, "knows no agent: see TestDevKnowsNoAgent"},
	{"toolbox", 4, ""},
	{"dev/forge", 5, "the tools of the dev pipeline"},
	{"tools", 5, ""},
	{"agent", 6, "the loop over the road and the model seam"},
	{"mcp", 6, ""},
	{".", 7, "the front door"},
	{"server", 8, "a face over HTTP"},
	{"internal/telemetry", 8, "a face for collectors"},
	{"internal/terminal", 8, "a person's face, like cli"},
	{"internal/cli", 8, "what the command prints; cmd only wires"},
	{"cmd", 9, ""},
	{"examples", 10, "users of the whole"},
	{"bench", 10, "programs that measure the whole"},
	{"tests", 10, "programs that try the whole"},
	{"internal/house", 10, ""},
}

// within lists the imports on one floor that the table allows, each with its reason.
var within = map[[2]string]string{
	{"patch", "edit"}:                  "hunks are located by the one ladder",
	{"patch", "change"}:                "a patch plans operations",
	{"patch", "internal/diff"}:         "printing and nearest regions",
	{"patch", "internal/text"}:         "line endings and encodings",
	{"edit", "internal/text"}:          "lines and endings",
	{"schema", "internal/text"}:        "names that are almost right",
	{"internal/pipe", "internal/text"}: "verbs that are almost right",
	{"change", "internal/diff"}:        "previews are diffs",
	{"change", "internal/text"}:        "previews show encoded text decoded",
	{"search", "internal/scan"}:        "",
	{"skill", "internal/front"}:        "a skill has a head and a body",
	{"skill", "internal/text"}:         "encodings, and names that are almost right",
	{"session", "permission"}:          "grants live in the session",
	{"permission", "config"}:           "",
	{"config", "permission"}:           "rules and postures are named in one place",
	{"config", "model"}:                "modes name an effort of reasoning",
	{"internal/ledger", "tool"}:        "entries hold decisions",
	{"artifact", "internal/clip"}:      "",
}

// engines know no world: no files, no network, no clock.
const engineFloor = 0

var worldly = []string{"os", "os/exec", "net", "net/http", "syscall", "golang.org/x/sys/unix", "log", "log/slog"}

// worldlyAllowed lists the exceptions, each with its reason.
var worldlyAllowed = map[[2]string]string{
	{"internal/picture", "net/http"}: "http.DetectContentType looks at bytes",
}

type file struct {
	pkg, path string
	test      bool
	ast       *ast.File
	lines     int
}

func tree(t *testing.T) (files []file, fset *token.FileSet) {
	t.Helper()
	root := filepath.Join("..", "..")
	fset = token.NewFileSet()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") && p != root) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		src, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(fset, p, src, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		files = append(files, file{pkg: path.Dir(rel), path: rel, test: strings.HasSuffix(name, "_test.go"), ast: f, lines: strings.Count(string(src), "\n")})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("found only %d Go files", len(files))
	}
	return files, fset
}

// room returns the entry of the table for a package.
func room(pkg string) (prefix string, floor int, ok bool) {
	best := -1
	for i, f := range floors {
		if (pkg == f.prefix || f.prefix != "." && strings.HasPrefix(pkg, f.prefix+"/")) && (best < 0 || len(f.prefix) > len(floors[best].prefix)) {
			best = i
		}
	}
	if best < 0 {
		return "", 0, false
	}
	return floors[best].prefix, floors[best].floor, true
}

func imports(f *ast.File) []string {
	var out []string
	for _, im := range f.Imports {
		if p, err := strconv.Unquote(im.Path.Value); err == nil {
			out = append(out, p)
		}
	}
	return out
}

func TestImportTable(t *testing.T) {
	files, _ := tree(t)
	for _, f := range files {
		from, floor, ok := room(f.pkg)
		if !ok {
			t.Errorf("%s: package %s stands on no floor; add it to the table", f.path, f.pkg)
			continue
		}
		if f.test {
			continue
		}
		for _, imp := range imports(f.ast) {
			if imp == strings.TrimSuffix(module, "/") {
				imp = module + "."
			}
			own, inside := strings.CutPrefix(imp, module)
			if !inside {
				continue
			}
			if err := edge(f.pkg, from, floor, own); err != nil {
				t.Errorf("%s: %v", f.path, err)
			}
		}
	}
}

func edge(pkg, from string, floor int, imported string) error {
	to, target, ok := room(imported)
	switch {
	case !ok:
		return fmt.Errorf("imports %s, which stands on no floor", imported)
	case target < floor:
		return nil
	case strings.HasPrefix(pkg, imported+"/"):
		return nil // a subpackage its parent
	case from == to && from == "tools":
		return fmt.Errorf("tools/x never imports tools/y (%s)", imported)
	case from == to:
		return nil // rooms of one prefix arrange themselves; the compiler forbids cycles
	}
	if _, ok := within[[2]string{from, to}]; ok && target == floor {
		return nil
	}
	return fmt.Errorf("%s (floor %d) imports %s (floor %d): a package imports only lower floors", pkg, floor, imported, target)
}

func TestEnginesKnowNoWorld(t *testing.T) {
	files, fset := tree(t)
	seen := 0
	for _, f := range files {
		if _, floor, ok := room(f.pkg); !ok || floor != engineFloor || f.test {
			continue
		}
		seen++
		for _, imp := range imports(f.ast) {
			if _, ok := worldlyAllowed[[2]string{f.pkg, imp}]; slices.Contains(worldly, imp) && !ok {
				t.Errorf("%s imports %s: an engine takes bytes and returns values", f.path, imp)
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && isPkg(s.X, "time") && (s.Sel.Name == "Now" || s.Sel.Name == "Sleep" || s.Sel.Name == "After") {
				t.Errorf("%s: time.%s: an engine knows no clock", fset.Position(n.Pos()), s.Sel.Name)
			}
			return true
		})
	}
	if seen == 0 {
		t.Fatal("found no engine")
	}
}

// The dev pipeline is usable without any agent: it and its engines know neither tools nor sessions.
func TestDevKnowsNoAgent(t *testing.T) {
	files, _ := tree(t)
	seen := 0
	for _, f := range files {
		if f.test || f.pkg != "dev" && !strings.HasPrefix(f.pkg, "dev/engine") {
			continue
		}
		seen++
		for _, imp := range imports(f.ast) {
			for _, agent := range []string{"tool", "toolbox", "permission", "session", "tools", "mcp"} {
				if imp == module+agent || strings.HasPrefix(imp, module+agent+"/") {
					t.Errorf("%s imports %s: the pipeline asks its gate, and its forge makes tools of it", f.path, imp)
				}
			}
		}
	}
	if seen < 10 {
		t.Fatalf("found only %d files of the pipeline", seen)
	}
}

func isPkg(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// Only host implementations, the store, tasks (whose logs are files beside those of the host), the adapters of models (which speak HTTP) and programs touch the operating system's files; tools go through their Call.
func TestToolsTouchNoWorld(t *testing.T) {
	files, _ := tree(t)
	for _, f := range files {
		if _, floor, ok := room(f.pkg); !ok || f.test || floor < 2 || floor > 5 || f.pkg == "artifact" || strings.HasPrefix(f.pkg, "search") || f.pkg == "config" || f.pkg == "permission" || f.pkg == "task" || f.pkg == "tool/tooltest" || strings.HasPrefix(f.pkg, "model/") {
			continue
		}
		for _, imp := range imports(f.ast) {
			if slices.Contains([]string{"os", "os/exec", "net", "net/http", "syscall"}, imp) {
				t.Errorf("%s imports %s: tools and the road act through host and environment", f.path, imp)
			}
		}
	}
}

func TestNoSleepInTests(t *testing.T) {
	files, fset := tree(t)
	for _, f := range files {
		if !f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && isPkg(s.X, "time") && s.Sel.Name == "Sleep" && !inBubble(f) {
				t.Errorf("%s: a test that sleeps is slow and wrong at times; use synctest, a channel or an injected clock", fset.Position(n.Pos()))
			}
			return true
		})
	}
}

// inBubble reports whether the file runs its sleeps in synctest's fake time.
func inBubble(f file) bool { return slices.Contains(imports(f.ast), "testing/synctest") }

func TestEveryPackageSaysItsIdea(t *testing.T) {
	files, _ := tree(t)
	said := map[string]bool{}
	for _, f := range files {
		if f.test {
			continue
		}
		said[f.pkg] = said[f.pkg] || f.ast.Doc != nil && len(f.ast.Doc.Text()) > 40
	}
	for pkg, ok := range said {
		if !ok {
			t.Errorf("package %s has no package comment", pkg)
		}
	}
}

// longAllowed lists files and functions over the limits, each with its reason.
var longAllowed = map[string]string{}

func TestLength(t *testing.T) {
	files, fset := tree(t)
	for _, f := range files {
		if f.test || strings.HasPrefix(f.path, "internal/scan/") || strings.HasPrefix(f.path, "search/") {
			continue
		}
		if f.lines > 600 && longAllowed[f.path] == "" {
			t.Errorf("%s has %d lines; more than one idea in it?", f.path, f.lines)
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1
			if n > 100 && longAllowed[f.path+":"+fn.Name.Name] == "" {
				t.Errorf("%s: function %s has %d lines", fset.Position(fn.Pos()), fn.Name.Name, n)
			}
		}
	}
}

var unfinished = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|X` + `XX)\b`)

func TestNoUnfinishedMarks(t *testing.T) {
	files, fset := tree(t)
	for _, f := range files {
		for _, g := range f.ast.Comments {
			for _, c := range g.List {
				if m := unfinished.FindString(c.Text); m != "" {
					t.Errorf("%s: %s: finish it, or write it into docs/rough-edges.md", fset.Position(c.Pos()), m)
				}
			}
		}
	}
}
