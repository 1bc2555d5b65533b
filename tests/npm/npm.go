// Package npm gives tests programs from the npm registry, installed once into a folder outside of the tree.
//
// The folder is named by TACKLE_NPM. Where it is not set, the tests that need such programs say so and do not run.
package npm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// nodePackage is the version of node that is taken where the machine's own is too old for the clients.
const nodePackage = "node@22"

// Root returns the folder, or skips the test.
func Root(t testing.TB) string {
	t.Helper()
	root := os.Getenv("TACKLE_NPM")
	if root == "" {
		t.Skip("TACKLE_NPM does not name a folder for programs from npm, so this test with a real program does not run")
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// Install installs packages, with exact versions, into a folder of their own and returns its node_modules. It is done
// once, also where several tests and test processes ask for it together: a folder that is complete is taken as it is.
func Install(t testing.TB, folder string, packages ...string) string {
	t.Helper()
	dir := filepath.Join(Root(t), folder)
	modules, mark := filepath.Join(dir, "node_modules"), filepath.Join(dir, ".complete")
	want := strings.Join(packages, "\n")
	complete := func() bool {
		b, err := os.ReadFile(mark)
		return err == nil && string(b) == want
	}
	if complete() {
		return modules
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var path []string
	if folder != "node22" {
		path = []string{"PATH=" + filepath.Dir(Node(t)) + string(os.PathListSeparator) + os.Getenv("PATH")}
	}
	defer lock(t, filepath.Join(dir, ".lock"))()
	if complete() {
		return modules
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private":true}`), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("npm", append([]string{"install", "--no-audit", "--no-fund", "--loglevel=error", "--save-exact"}, packages...)...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "PUPPETEER_SKIP_DOWNLOAD=1"), path...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm install %s: %v\n%s", want, err, out)
	}
	if err := os.WriteFile(mark, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
	return modules
}

// Node returns a node that is new enough for every client: the machine's own from 22.19 on, else one from npm.
func Node(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("node"); err == nil {
		if out, err := exec.Command(path, "--version").Output(); err == nil && atLeast(strings.TrimSpace(string(out)), 22, 19) {
			return path
		}
	}
	return filepath.Join(Install(t, "node22", nodePackage), "node", "bin", "node")
}

// atLeast compares a version like v22.19.0.
func atLeast(version string, major, minor int) bool {
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	if len(parts) < 2 {
		return false
	}
	a, err1 := strconv.Atoi(parts[0])
	b, err2 := strconv.Atoi(parts[1])
	return err1 == nil && err2 == nil && (a > major || a == major && b >= minor)
}

// Bin returns the path of a program of an installed package.
func Bin(t testing.TB, modules, name string) string {
	t.Helper()
	p := filepath.Join(modules, ".bin", name)
	if _, err := os.Stat(p); err != nil {
		t.Fatal(fmt.Errorf("program of an npm package: %w", err))
	}
	return p
}
