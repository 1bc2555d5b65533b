package repository

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/agent/history"
	"github.com/tackle-dev/tackle/host/local/proc"
)

func TestMain(m *testing.M) {
	proc.KeeperMain()
	os.Exit(m.Run())
}

// broken is what the test makes of a line of the module, and the file that it is in.
const (
	module = "github.com/dustin/go-humanize"
	file   = "ordinals.go"
	right  = "if x%100 != 11 {"
	broken = "if x%100 == 11 {"
)

// repository copies the module out of the module cache, breaks it and makes a repository of it.
func repository(t *testing.T) (dir string, original []byte) {
	t.Helper()
	for _, program := range []string{"go", "git"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("the test works on a Go repository: %v", err)
		}
	}
	from := strings.TrimSpace(output(t, ".", "go", "list", "-m", "-f", "{{.Dir}}", module))
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(base, "humanize")
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	original, err = os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Count(original, []byte(right)) != 1 {
		t.Fatalf("%s of %s is not what it was: the line %q stands there %d times", file, module, right, bytes.Count(original, []byte(right)))
	}
	path := filepath.Join(dir, file)
	if err := os.Chmod(path, 0o644); err != nil { // the module cache is read-only
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(original, []byte(right), []byte(broken), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(p, 0o755)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	output(t, dir, "git", "init", "-q")
	output(t, dir, "git", "add", ".")
	output(t, dir, "git", "-c", "user.name=tackle", "-c", "user.email=tackle@example.com", "commit", "-q", "-m", "as it is")
	return dir, original
}

func output(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// A1, A2, A3: the agent finds the failing test, mends what it finds, formats, checks, and sees the tests pass; what it did can be read
// again and be taken back.
func TestA1_MakesTheTestsPass(t *testing.T) {
	dir, original := repository(t)
	path := filepath.Join(dir, file)
	box, err := tackle.Open(t.Context(), tackle.Config{Dir: dir, StateDir: filepath.Join(filepath.Dir(dir), "state"), NoFiles: true, Session: "fix",
		Keeper: proc.Self(), Approve: tackle.ApproveAlways})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	script, err := filepath.Abs(filepath.Join("testdata", "fix.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := box.Model("script/" + script)
	if err != nil {
		t.Fatal(err)
	}
	a, err := box.Agent(tackle.AgentConfig{Model: m})
	if err != nil {
		t.Fatal(err)
	}
	turn, err := a.Run(t.Context(), "fix", "Make the tests pass.")
	if err != nil {
		t.Fatal(err)
	}
	s, err := box.History(t.Context(), "fix")
	if err != nil {
		t.Fatal(err)
	}
	if turn.End.Why != agent.Done || !strings.Contains(turn.Text, "`Ordinal` said 1th for 1st") {
		for _, c := range s.Since(0) {
			t.Logf("%s %s\n%s", c.Tool, c.Outcome, c.Text())
		}
		t.Fatalf("the turn ended %+v: %q", turn.End, turn.Text)
	}

	// Judged from outside.
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, original) {
		t.Errorf("%v; %s is\n%s", err, file, got)
	}
	output(t, dir, "go", "test", "./...")
	if status := output(t, dir, "git", "status", "--porcelain"); status != " M "+file+"\n" {
		t.Errorf("git status: %q", status)
	}

	// As it is told.
	var tools []string
	for _, c := range s.Since(0) {
		tools = append(tools, c.Tool)
		if c.Outcome != agent.OK {
			t.Errorf("%s: %s\n%s", c.Tool, c.Outcome, c.Text())
		}
	}
	if want := []string{"shell", "grep", "find_symbol", "read_file", "edit", "format", "check", "git", "shell"}; !slices.Equal(tools, want) {
		t.Errorf("it called %q", tools)
	}
	if tx := history.Transactions(s.Since(0)); len(tx) != 2 { // the edit, and its format
		t.Errorf("transactions %q", tx)
	}

	// And back.
	back, err := box.Rewind(t.Context(), tackle.RewindRequest{Session: "fix"})
	if err != nil || back.Files == nil || !back.Files.OK() {
		t.Fatalf("%+v %v", back, err)
	}
	if status := output(t, dir, "git", "status", "--porcelain"); status != "" {
		t.Errorf("git status after the rewind: %q", status)
	}
}
