package engine

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/dev"
)

func run(t testing.TB, e dev.Engine, c dev.Capability, file, content string) *dev.Report {
	t.Helper()
	if !e.Info().Serves(c, file) {
		t.Fatalf("%s does not serve %s for %s", e.Info().Name, c, file)
	}
	r, err := e.Run(context.Background(), &dev.Job{Capability: c, Files: []dev.File{{Path: file, Content: []byte(content)}}})
	if err != nil {
		t.Fatalf("%s: %v", e.Info().Name, err)
	}
	return r
}

// Every engine of the list keeps the contract: a name and a version, files for each capability, the content untouched,
// the same answer twice, and an end when its context has ended.
func TestD8_Contract(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, e := range All() {
		info := e.Info()
		if info.Name == "" || len(info.Can) == 0 {
			t.Errorf("%+v", info)
		}
		for c, a := range info.Can {
			if len(a.Files) == 0 || len(a.Commands) > 0 {
				t.Errorf("%s: %+v", info.Name, a)
			}
			name := strings.Replace(a.Files[0], "*", "f", 1)
			for _, content := range []string{"", "\x00\xff", "}{", strings.Repeat("(", 10000), "\ufeffx", "a: b\n", "package a\r\n\r\nvar  x = 1\r\n"} {
				src := []byte(content)
				job := &dev.Job{Capability: c, Files: []dev.File{{Path: name, Content: src}}}
				one, err1 := e.Run(t.Context(), job)
				two, err2 := e.Run(t.Context(), job)
				if err1 != nil || err2 != nil || string(src) != content {
					t.Fatalf("%s %s %.20q: %v %v", info.Name, c, content, err1, err2)
				}
				if !bytes.Equal(one.Contents[name], two.Contents[name]) || !slices.Equal(one.Diagnostics, two.Diagnostics) {
					t.Errorf("%s %s %.20q: two answers", info.Name, c, content)
				}
				for _, d := range one.Diagnostics {
					if d.File != name || d.Source != info.Name || d.Message == "" || d.Severity == "" {
						t.Errorf("%s: incomplete: %+v", info.Name, d)
					}
				}
				if out, ok := one.Contents[name]; ok && c == dev.CanFormat { // a formatter has nothing to do twice
					again := run(t, e, c, name, string(out))
					if more, changed := again.Contents[name]; changed {
						t.Errorf("%s %.20q: %q, then %q", info.Name, content, out, more)
					}
				}
			}
			if _, err := e.Run(ended, &dev.Job{Capability: c, Files: []dev.File{{Path: name, Content: []byte("x")}}}); err == nil {
				t.Errorf("%s goes on when its context has ended", info.Name)
			}
		}
	}
}

func TestD8_Diagnostics(t *testing.T) {
	for _, row := range []struct {
		engine     dev.Engine
		c          dev.Capability
		file, text string
		want       []string // String of each diagnostic, its beginning
	}{
		{Gofmt{}, dev.CanCheck, "a.go", "package a\n", nil},
		{Gofmt{}, dev.CanCheck, "a.go", "package a\n\nfunc f() {\n\tif x = {\n}\n", []string{"a.go:4:9: error: ", "a.go:5:3: error: "}},
		{Gofmt{}, dev.CanFormat, "a.go", "func", []string{"a.go:1:1: error: expected 'package'"}},
		{Goimports{}, dev.CanLint, "a.go", "package a\n\nimport (\n\t\"os\"\n\t\"fmt\"\n)\n\nvar _ = fmt.Sprint(os.Args)\n", []string{"a.go: warning: the file is not formatted, or its imports are not sorted"}},
		{Goimports{}, dev.CanLint, "a.go", "package a\n", nil},
		{Goimports{}, dev.CanFix, "a.go", "package {\n", []string{"a.go:1:9: error: expected 'IDENT'"}},
		{Shfmt{}, dev.CanCheck, "a.sh", "if true; then\n", []string{"a.sh:1:10: error: "}},
		{Shfmt{}, dev.CanCheck, "a.sh", "#!/bin/sh\na=(1 2)\n", []string{"a.sh:2:3: error: "}},
		{Shfmt{}, dev.CanCheck, "a.sh", "#!/bin/bash\na=(1 2)\n", nil},
		{Shfmt{}, dev.CanCheck, "a.bats", "@test \"x\" {\n  run true\n}\n", nil},
		{JSON{}, dev.CanCheck, "a.json", `{"a": 1}`, nil},
		{JSON{}, dev.CanCheck, "a.json", "{\n  \"a\": 1,\n}\n", []string{"a.json:3:1: error: invalid character '}'"}},
		{JSON{}, dev.CanCheck, "a.json", `{"a": [1, 2}`, []string{"a.json:1:12: error: "}},
		{JSON{}, dev.CanCheck, "a.json", "{\"a\":\n", []string{"a.json:2:1: error: the file ends inside of a value"}},
		{JSON{}, dev.CanCheck, "a.json", "{} {}", []string{"a.json:1:4: error: something follows the value"}},
		{JSON{}, dev.CanCheck, "a.json", " \n", []string{"a.json:1:1: error: the file is empty"}},
		{JSON{}, dev.CanCheck, "a.json", "{\n \"x\": {\"k\": 1, \"é\": 2},\n \"x\": 2, \"k\": [{\"y\": \"y\"}], \"k\": 1}", []string{`a.json:3:29: warning: the member "k" stands twice`, `a.json:3:2: warning: the member "x" stands twice`}},
		{JSON{}, dev.CanCheck, "a.json", "// no\n{}", []string{"a.json:1:1: error: "}},
		{JSON{}, dev.CanCheck, "tsconfig.json", "// yes\n{\"a\": \"//\", /* x */ \"b\": [1, /*,*/], }\n", nil},
		{JSON{}, dev.CanCheck, ".vscode/settings.json", "{\"a\": 1,}", nil},
		{JSON{}, dev.CanCheck, "a.jsonc", "{\"a\": 1,,}", []string{"a.jsonc:1:10: error: "}},
		{JSON{}, dev.CanCheck, "a.jsonc", "{ /* open", []string{"a.jsonc:1:10: error: the file ends inside of a value"}},
		{JSON{}, dev.CanCheck, "a.json", "\ufeff{}", nil},
		{YAML{}, dev.CanCheck, "a.yaml", "a: 1\n---\nb: [1, 2]\n", nil},
		{YAML{}, dev.CanCheck, "a.yml", "a: 1\n b: 2\n", []string{"a.yml:2: error: "}},
		{YAML{}, dev.CanCheck, "a.yml", "a: 1\nb: {c: 1, c: 2}\na: 3\n", []string{`a.yml:2:11: error: the key "c" stands twice`, `a.yml:3:1: error: the key "a" stands twice`}},
		{YAML{}, dev.CanCheck, "a.yml", "x: &a {k: 1}\ny:\n  <<: *a\n  <<: *a\n1: a\n\"1\": b\n", nil},
		{YAML{}, dev.CanCheck, "a.yml", "a: 1\n---\n- [\n", []string{"a.yml:3: error: "}},
		{TOML{}, dev.CanCheck, "a.toml", "a = 1\n[b]\nc = 2024-01-01\n", nil},
		{TOML{}, dev.CanCheck, "a.toml", "a = 1\na = 2\n", []string{"a.toml:2:7: error: Key 'a' has already been defined"}},
		{TOML{}, dev.CanCheck, "a.toml", "x = [1,\ny = 2\n", []string{"a.toml:2:"}},
	} {
		r := run(t, row.engine, row.c, row.file, row.text)
		var got []string
		for _, d := range r.Diagnostics {
			got = append(got, d.String())
		}
		slices.Sort(got)
		ok := len(got) == len(row.want)
		for i := range row.want {
			ok = ok && strings.HasPrefix(got[i], row.want[i])
		}
		if !ok {
			t.Errorf("%s %s %q:\n got %q\nwant %q", row.engine.Info().Name, row.c, row.text, got, row.want)
		}
	}
}

// realFiles lists files of a tree of real code.
func realFiles(t testing.TB, root, ext string, most int) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(p, ext) && len(out) < most {
			out = append(out, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// D8: on real code, deformed, gofmt here and the gofmt command give the same bytes and find the same broken files.
func TestD8_GofmtOracle(t *testing.T) {
	gofmt, err := exec.LookPath("gofmt")
	if err != nil {
		t.Skip("gofmt is not on the path")
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/tools").Output()
	if err != nil {
		t.Skipf("the module golang.org/x/tools is not in the cache: %v", err)
	}
	files := realFiles(t, strings.TrimSpace(string(root)), ".go", 150)
	if len(files) < 50 {
		t.Fatalf("only %d files", len(files))
	}
	dir := t.TempDir()
	for i, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(src), "\t", "    ")
		text = strings.ReplaceAll(text, " := ", ":=")
		if i%10 == 0 {
			text += "\nfunc {"
		}
		name := filepath.Join(dir, strings.ReplaceAll(strings.TrimPrefix(f, "/"), "/", "_"))
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before := map[string]string{}
	names := realFiles(t, dir, ".go", 1000)
	for _, f := range names {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		before[f] = string(b)
	}
	var stderr bytes.Buffer
	cmd := exec.Command(gofmt, append([]string{"-w"}, names...)...)
	cmd.Stderr = &stderr
	if err := cmd.Run(); err == nil {
		t.Fatal("the files with a mistake were formatted")
	}
	changed, bad := 0, 0
	for _, f := range names {
		r := run(t, Gofmt{}, dev.CanFormat, filepath.Base(f), before[f])
		want, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		got := before[f]
		if b, ok := r.Contents[filepath.Base(f)]; ok {
			got, changed = string(b), changed+1
		}
		if got != string(want) {
			t.Errorf("%s differs from gofmt", f)
		}
		if broken := strings.Contains(stderr.String(), f); broken != (len(r.Diagnostics) > 0) {
			t.Errorf("%s: gofmt says broken: %v, here %v", f, broken, r.Diagnostics)
		} else if broken {
			bad++
		}
	}
	if changed < 50 || bad < 5 {
		t.Errorf("%d files changed, %d broken", changed, bad)
	}
}

// plainJSON keeps every offset, and what is JSON already.
func FuzzPlainJSON(f *testing.F) {
	for _, s := range []string{`{"a": "//", /* x */ "b": [1, /*,*/], }`, `{"\"": "/*"}`, "// x\n[1,]", `{"a":1}`, "/*", "\"", "/"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		out := plainJSON(src)
		if len(out) != len(src) || bytes.Count(out, []byte("\n")) != bytes.Count(src, []byte("\n")) {
			t.Fatalf("%q became %q", src, out)
		}
		for i := range out {
			if out[i] != src[i] && out[i] != ' ' {
				t.Fatalf("%q became %q", src, out)
			}
		}
		if d := checkJSON("a", src); len(d) == 0 && !bytes.Equal(out, src) {
			t.Fatalf("%q is JSON and became %q", src, out)
		}
	})
}
