//go:build linux || darwin

package proc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/host"
)

// H1: nothing of this process's own environment that could change what a command does, or that is a secret, reaches it, with
// and without a keeper, also in a script of the user's.
func TestH1_HostileEnvironment(t *testing.T) {
	trap := filepath.Join(t.TempDir(), "trap")
	if err := os.WriteFile(trap, []byte("echo trapped\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, kv := range [][2]string{{"BASH_ENV", trap}, {"ENV", trap}, {"SHELLOPTS", "xtrace"}, {"BASHOPTS", "extdebug"}, {"PS4", "$(echo trapped)"}, {"PROMPT_COMMAND", "echo trapped"},
		{"BASH_FUNC_true%%", "() { echo trapped; }"}, {"CDPATH", "/"}, {"GIT_DIR", "/nowhere"}, {"GIT_EXTERNAL_DIFF", "trapped"}, {"PAGER", "less"}, {"PYTHONSTARTUP", trap},
		{"A_SECRET_TOKEN", "secret"}, {"ANTHROPIC_API_KEY", "secret"}, {"AWS_SECRET_ACCESS_KEY", "secret"}, {MarkVariable, "another-run"}} {
		t.Setenv(kv[0], kv[1])
	}
	for _, tree := range []Tree{TreeDefault, TreeSession} {
		r := open(t, tree)
		p, err := r.Start(t.Context(), host.Command{Script: "true; env | sort"})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if e, err := p.Wait(t.Context()); err != nil || !e.Success() {
			t.Fatal(e, err)
		}
		var out strings.Builder
		if _, err := host.CopyOutput(&out, p.Output(), 0); err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"trap", "secret", "nowhere", "another-run", "SHELLOPTS", "CDPATH", "TACKLE_KEEPER="} {
			if strings.Contains(out.String(), bad) {
				t.Errorf("tree %q: %q in\n%s", tree, bad, out.String())
			}
		}
		for _, want := range []string{"\nPAGER=cat\n", "\nGIT_TERMINAL_PROMPT=0\n", "\nSHELL=" + findShell() + "\n", "\n" + MarkVariable + "=" + p.Handle().Run + "\n"} {
			if !strings.Contains("\n"+out.String(), want) {
				t.Errorf("tree %q: no %q in\n%s", tree, want, out.String())
			}
		}
	}
}

// A machine without bash says what to do.
func TestMissingShell(t *testing.T) {
	r := open(t, TreeSession)
	r.shell = "/no/such/bash"
	_, err := r.Start(t.Context(), host.Command{Script: "true"})
	if want := "exec /no/such/bash: file does not exist: scripts are run by bash; install it, or give a program and its arguments instead of a script"; err == nil || err.Error() != want || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v, want %s", err, want)
	}
	p, err := r.Start(t.Context(), host.Command{Argv: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if e, err := p.Wait(t.Context()); err != nil || !e.Success() {
		t.Error(e, err)
	}
}
