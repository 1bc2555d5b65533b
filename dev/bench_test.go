package dev_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/dev"
	"github.com/tackle-dev/tackle/dev/engine"
)

// thousand makes a tree of 1,000 Go files of real code; every tenth is not formatted.
func thousand(b *testing.B) map[string]string {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/tools").Output()
	if err != nil {
		b.Skipf("the module golang.org/x/tools is not in the cache: %v", err)
	}
	var sources []string
	err = filepath.WalkDir(strings.TrimSpace(string(root)), func(p string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(p, ".go") && !strings.Contains(p, "testdata") && len(sources) < 1000 {
			src, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			sources = append(sources, string(src))
		}
		return err
	})
	if err != nil || len(sources) < 200 {
		b.Fatalf("%d files: %v", len(sources), err)
	}
	files := map[string]string{}
	for i := range 1000 {
		src := sources[i%len(sources)]
		if i%10 == 0 {
			src = strings.ReplaceAll(src, " := ", ":=")
		}
		files[fmt.Sprintf("p%02d/f%03d.go", i%20, i)] = src
	}
	return files
}

// BenchmarkFormat1000 formats a tree of 1,000 files of which 100 change: through the pipeline with gate, changeset and
// journal; the same again, when nothing changed; and by the command gofmt -l -w.
func BenchmarkFormat1000(b *testing.B) {
	files := thousand(b)
	w := newWorld(b, files)
	restore := func(b *testing.B) {
		b.StopTimer()
		for name, content := range files {
			if w.get(name) != content {
				w.put(name, content)
			}
		}
		b.StartTimer()
	}
	fresh := func(b *testing.B) *dev.Pipeline {
		b.StopTimer()
		p, err := dev.New(dev.Config{Host: w.host, Gate: w, Engines: engine.All()})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		return p
	}
	plan := dev.Plan{Ops: []dev.Op{{Step: "format"}}}
	b.Run("pipeline", func(b *testing.B) {
		for b.Loop() {
			restore(b)
			p := fresh(b)
			res, err := p.RunCall(b.Context(), plan, dev.Call{Persist: true})
			if err != nil || len(res.Changes.Files) == 0 {
				b.Fatal(err, len(res.Changes.Files))
			}
		}
	})
	b.Run("pipeline/again", func(b *testing.B) {
		p := fresh(b)
		for range 2 {
			if _, err := p.RunCall(b.Context(), plan, dev.Call{Persist: true}); err != nil {
				b.Fatal(err)
			}
		}
		for b.Loop() {
			if _, err := p.RunCall(b.Context(), plan, dev.Call{Persist: true}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("gofmt", func(b *testing.B) {
		for b.Loop() {
			restore(b)
			if out, err := exec.Command("gofmt", "-l", "-w", w.dir).CombinedOutput(); err != nil || len(out) == 0 {
				b.Fatalf("%v %s", err, out)
			}
		}
	})
}
