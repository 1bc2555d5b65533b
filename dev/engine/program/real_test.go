package program_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/dev"
	"github.com/tackle-dev/tackle/dev/engine"
	"github.com/tackle-dev/tackle/dev/engine/program"
	"github.com/tackle-dev/tackle/tests/npm"
)

// copyTree copies the regular files of a tree, as files that may be written.
func copyTree(t testing.TB, from, to string, skip ...string) {
	t.Helper()
	err := filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && slices.Contains(skip, d.Name()):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func find(list []dev.Diagnostic, file, part string) *dev.Diagnostic {
	for i := range list {
		if list[i].File == file && strings.Contains(list[i].String(), part) {
			return &list[i]
		}
	}
	return nil
}

// D8: go vet on a real module of the module cache: types, analyzers, an overlay of what is not written yet, the delta.
func TestD8_RealGo(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not on the path")
	}
	src, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/go-cmp").Output()
	if err != nil {
		t.Skipf("the module go-cmp is not in the cache: %v", err)
	}
	w := newWorld(t, nil)
	copyTree(t, strings.TrimSpace(string(src)), w.dir)
	w.put("loose/go.mod.txt", "")
	found, why := w.place().FindGo(t.Context())
	if why != "" || !strings.HasPrefix(found.Version, "go1.") {
		t.Fatalf("%+v %s", found, why)
	}
	p := w.pipeline(dev.Config{}, &program.GoVet{Found: found, Runner: w.runner, Workshop: w.workshop}, engine.Gofmt{})
	const file, folder = "cmp/internal/diff/diff.go", "cmp/internal/diff" // a package with tests and few imports
	before := w.get(file)
	for _, step := range []string{"check", "lint"} {
		res, err := p.Run(t.Context(), dev.Plan{Paths: []string{folder}, Ops: []dev.Op{{Step: step}}})
		if err != nil || res.Counts[dev.Err] != 0 {
			t.Fatalf("%s of clean code: %v %v", step, err, res.Diagnostics)
		}
	}
	res, err := p.Acquire(folder).Edit(file, dev.Block{Old: "type EditType uint8\n", New: "type EditType uint8\n\nvar oops int = \"text\"\n"}).Check(dev.Check{Delta: true}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := find(res.Diagnostics, file, "cannot use"); d == nil || d.Severity != dev.Err || d.Code != "compile" || d.Range.Start.Line == 0 || res.Compared.Introduced < 1 {
		t.Errorf("%v %+v", res.Diagnostics, res.Compared)
	}
	if w.get(file) != before {
		t.Error("the file was written")
	}
	w.put(folder+"/vet_me.go", "package diff\n\nimport \"fmt\"\n\nfunc vetMe() {\n\tfmt.Printf(\"%d\\n\", \"x\")\n}\n")
	if res, err = p.Acquire(folder).Lint(dev.Lint{}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := find(res.Diagnostics, folder+"/vet_me.go", "%d has arg"); d == nil || d.Severity != dev.Warn || d.Code != "printf" || d.Range.Start.Line != 6 {
		t.Errorf("%v", res.Diagnostics)
	}
	// The same content again costs no run of the go command.
	if res, err = p.Acquire(folder).Lint(dev.Lint{}).Run(t.Context()); err != nil || res.Engines[0].Known != res.Engines[0].Files {
		t.Errorf("%+v %v", res.Engines, err)
	}
	// Files that lie in no module are said, not failed.
	alone := newWorld(t, map[string]string{"a.go": "package a\n"})
	res, err = alone.pipeline(dev.Config{}, &program.GoVet{Found: found, Runner: alone.runner, Workshop: alone.workshop}).Acquire().Check().Run(t.Context())
	if err != nil || find(res.Diagnostics, "", "lie in no module") == nil {
		t.Errorf("%+v %v", res, err)
	}
}

// project makes a root with a real TypeScript package from npm and the programs that a project of it would have.
func project(t *testing.T) *world {
	modules := npm.Install(t, "dev-engines", "@biomejs/biome@2.6.8", "typescript@7.0.2", "zod@4.4.1")
	w := newWorld(t, nil)
	copyTree(t, filepath.Join(modules, "zod", "src", "v4", "core"), filepath.Join(w.dir, "src"), "tests")
	if err := os.Symlink(modules, filepath.Join(w.dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	w.put("tsconfig.json", `{
  // the package is checked as it is
  "compilerOptions": {"target": "es2022", "module": "nodenext", "strict": true, "skipLibCheck": true, "types": [], "lib": ["es2022", "dom"], "generateTrace": "trace"},
  "include": ["src"],
}
`)
	w.put("package.json", `{"name": "p", "type": "module"}`)
	w.put("biome.json", `{"vcs": {"enabled": true, "clientKind": "git", "useIgnoreFile": true}, "formatter": {"indentStyle": "space", "indentWidth": 3}}`)
	return w
}

// D8: Biome formats, lints and repairs a real package; TypeScript checks it, also what is not written yet.
func TestD8_RealBiomeAndTypeScript(t *testing.T) {
	w := project(t)
	engines, detected := w.place().Engines(t.Context(), w.runner, w.workshop)
	for _, d := range detected {
		if d.Reason != "" && d.Name != "govet" || d.Version == "" && d.Name != "govet" {
			t.Errorf("%+v", d)
		}
	}
	p := w.pipeline(dev.Config{}, engines...)
	files, err := os.ReadDir(filepath.Join(w.dir, "src"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files of the package: %v", len(files), err)
	}
	res, err := p.Acquire("src").Format().Write().Run(t.Context())
	if err != nil || res.Counts[dev.Err] != 0 {
		t.Fatalf("format: %v %+v", err, res)
	}
	if len(res.Changes.Files) == 0 || !strings.Contains(w.get("src/util.ts"), "\n   ") || strings.Contains(w.get("src/util.ts"), "\n\t") {
		t.Errorf("not formatted as biome.json says: %.300s", w.get("src/util.ts"))
	}
	if res, err = p.Acquire("src").Format().Run(t.Context()); err != nil || len(res.Unwritten) > 0 {
		t.Errorf("formatted twice: %v %v", res.Unwritten, err)
	}
	if res, err = p.Acquire("src").Check().Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	clean := res.Counts[dev.Err]
	if _, err := os.Stat(filepath.Join(w.dir, "trace")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a check wrote the trace that tsconfig.json wants: %v", err)
	}
	w.put("src/odd.ts", "import { x } from './gone.js'\nvar a = 1\nif (a == '1') { debugger }\nlet  b: string = 5;\nexport { a, b, x }\n")
	if res, err = p.Acquire("src/odd.ts").Lint(dev.Lint{}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := find(res.Diagnostics, "src/odd.ts", "noDoubleEquals"); d == nil || d.Severity != dev.Err || d.Range.Start != (dev.Position{Line: 3, Column: 7}) || d.Range.End.Line != 3 {
		t.Errorf("%v", res.Diagnostics)
	}
	if d := find(res.Diagnostics, "src/odd.ts", "useConst"); d == nil || !d.Fix {
		t.Errorf("%v", res.Diagnostics)
	}
	if _, err = p.Acquire("src/odd.ts").Lint(dev.Lint{Fix: true}).Format().Write().Run(t.Context()); err != nil || !strings.Contains(w.get("src/odd.ts"), "const b: string = 5;") {
		t.Errorf("%v %q", err, w.get("src/odd.ts"))
	}
	res, err = p.Acquire("src").Edit("src/odd.ts", dev.Block{Old: "string = 5", New: "string = true"}).Check().Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := find(res.Diagnostics, "src/odd.ts", "TS2322"); d == nil || !strings.Contains(d.Message, "boolean") || d.Severity != dev.Err {
		t.Errorf("%v", res.Diagnostics)
	}
	if find(res.Diagnostics, "src/odd.ts", "TS2307") == nil || res.Counts[dev.Err] <= clean {
		t.Errorf("%v", res.Diagnostics)
	}
	if strings.Contains(w.get("src/odd.ts"), "true") {
		t.Error("what was checked in memory is on the disk")
	}
	// A syntax error is a finding, a broken configuration a failure that names the engine and the file.
	w.put("src/broken.ts", "function ( {\n")
	if res, err = p.Acquire("src/broken.ts").Format().Run(t.Context()); err != nil || find(res.Diagnostics, "src/broken.ts", "syntax") == nil || len(res.Unwritten) > 0 {
		t.Errorf("%v %+v", err, res)
	}
	w.put("biome.json", "{ broken")
	var e *dev.Error
	if _, err = p.Acquire("src/odd.ts").Format().Run(t.Context()); !errors.As(err, &e) || e.Code != dev.EngineFailed || e.Engine != "biome" || !strings.Contains(err.Error(), "biome.json") {
		t.Errorf("a broken configuration: %v", err)
	}
}

// What is not there is said, with how to bring it.
func TestD8_NotFound(t *testing.T) {
	w := newWorld(t, map[string]string{"node_modules/@biomejs/biome/package.json": `{"version": "1.9.4"}`, "node_modules/typescript/package.json": `{"version": "5.9.0"}`, "node_modules/typescript/bin/tsc": ""})
	place := w.place()
	if f, why := place.FindBiome(t.Context()); !strings.Contains(why, "too old") || f.Version != "1.9.4" {
		t.Errorf("%+v %s", f, why)
	}
	if _, why := place.FindTypeScript(t.Context()); !strings.Contains(why, "tsconfig.json") {
		t.Errorf("%s", why)
	}
	place.Path = nil
	engines, detected := place.Engines(t.Context(), w.runner, w.workshop)
	if len(engines) > 0 || len(detected) != 3 {
		t.Errorf("%d engines, %+v", len(engines), detected)
	}
	for _, d := range detected {
		if d.Reason == "" {
			t.Errorf("%+v", d)
		}
	}
	w.put("tsconfig.json", "{}")
	if _, why := place.FindTypeScript(t.Context()); !strings.Contains(why, "node") {
		t.Errorf("%s", why)
	}
}
