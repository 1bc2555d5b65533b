// Package tree knows which tests the tree holds, so that a table that maps requirements to tests can be checked: a test that
// was renamed or removed is missed.
package tree

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Root is the top of the tree, seen from a package two folders below it.
var Root = filepath.Join("..", "..")

// Shared returns the folder of material that is shared by several projects, "" where it is not here.
func Shared() string {
	if dir := os.Getenv("TACKLE_SHARED"); dir != "" {
		return dir
	}
	dir := filepath.Join(Root, "..", "shared")
	if _, err := os.Stat(dir); err != nil {
		return ""
	}
	return dir
}

// Tests are the tests of a tree.
type Tests struct {
	root  string
	found map[string]bool // "folder:TestName"
}

// Load reads the names of all tests below root.
func Load(root string) (*Tests, error) {
	t := &Tests{root: root, found: map[string]bool{}}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && p != root && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".")):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		return t.read(p)
	})
	if err == nil && len(t.found) < 100 {
		err = fmt.Errorf("only %d tests below %s", len(t.found), root)
	}
	return t, err
}

func (t *Tests) read(file string) error {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(t.root, filepath.Dir(file))
	if err != nil {
		return err
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && (strings.HasPrefix(fn.Name.Name, "Test") || strings.HasPrefix(fn.Name.Name, "Fuzz")) {
			t.found[filepath.ToSlash(rel)+":"+fn.Name.Name] = true
		}
	}
	return nil
}

// Check reports a test that is not there. A name is "folder:TestName"; the top folder is ".". "folder:TestScripts/name"
// is a script of the folder's testdata.
func (t *Tests) Check(name string) error {
	folder, test, ok := strings.Cut(name, ":")
	if !ok {
		return fmt.Errorf("test %q: want folder:TestName", name)
	}
	base, script, isScript := strings.Cut(test, "/")
	if !t.found[folder+":"+base] {
		return fmt.Errorf("test %q is not there", name)
	}
	if !isScript {
		return nil
	}
	if _, err := os.Stat(filepath.Join(t.root, filepath.FromSlash(path.Join(folder, "testdata", "script", script+".txtar")))); err != nil {
		return fmt.Errorf("test %q: its script is not there: %w", name, err)
	}
	return nil
}
