//go:build unix

package attacks

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/command"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/imports"
	"github.com/tackle-dev/tackle/tests/internal/tree"
	"github.com/tackle-dev/tackle/tool"
)

// trick is one line of shell.json: a way of an attack to make a command line do more than it seems to.
type trick struct {
	Rule   string `json:"rule"`   // the rule of a user under which the line must not run, in the form of Claude Code
	Setup  string `json:"setup"`  // run in the folder first
	Line   string `json:"line"`   //
	Leaves string `json:"leaves"` // the file that bash leaves when it runs the line; "" where it cannot be tried here
}

var shellGroups = []string{"shell-parse", "shell-flags", "shell-git"}

func tricks(t testing.TB) map[string][]trick {
	t.Helper()
	b, err := os.ReadFile("shell.json")
	if err != nil {
		t.Fatal(err)
	}
	var table map[string][]trick
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&table); err != nil {
		t.Fatal(err)
	}
	return table
}

// Every attack of the groups about the shell has lines, and every line that the list of attacks gives is among them.
func TestShellAttacksAreAllThere(t *testing.T) {
	table := tricks(t)
	lines := 0
	for id, list := range table {
		if lines += len(list); len(list) == 0 {
			t.Errorf("%s has no line", id)
		}
	}
	if len(table) != 78 || lines < 800 {
		t.Errorf("%d attacks with %d lines, want 78 and at least 800", len(table), lines)
	}
	shared := tree.Shared()
	if shared == "" {
		t.Log("the list of attacks is not here (TACKLE_SHARED), so the table is not compared with it")
		return
	}
	b, err := os.ReadFile(filepath.Join(shared, "attacks", "attacks.json"))
	if err != nil {
		t.Fatal(err)
	}
	var attacks []struct{ ID, Group, Input string }
	if err := json.Unmarshal(b, &attacks); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, a := range attacks {
		if !slices.Contains(shellGroups, a.Group) {
			continue
		}
		seen[a.Group]++
		has := slices.ContainsFunc(table[a.ID], func(c trick) bool { return c.Line == a.Input })
		if table[a.ID] == nil || a.Input != "" && !has && a.ID != "GIT-014" { // GIT-014 is about arguments of tools
			t.Errorf("%s (%s) is not in the table", a.ID, a.Group)
		}
	}
	t.Logf("attacks in the list: %v; lines here: %d", seen, lines)
}

// shellGate decides about commands outside of confinement as a user's rules of Claude Code say, in a posture that asks about
// everything that no rule allows and that does more than look. No guard stands before the rules.
func shellGate(t testing.TB, rules string) *permission.Gate {
	t.Helper()
	var lists struct {
		Permissions struct {
			Allow []string `json:"allow,omitempty"`
			Deny  []string `json:"deny,omitempty"`
		} `json:"permissions"`
	}
	p := &lists.Permissions
	for rule := range strings.SplitSeq(rules, ", ") {
		switch text, deny := strings.CutPrefix(rule, "deny "); {
		case deny:
			p.Allow, p.Deny = []string{"Bash"}, append(p.Deny, text)
		case rule != "":
			p.Allow = append(p.Allow, rule)
		}
	}
	b, err := json.Marshal(lists)
	if err != nil {
		t.Fatal(err)
	}
	imported, _, err := imports.Claude(b)
	if err != nil {
		t.Fatal(err)
	}
	facts := permission.Facts{Roots: []string{"/w/ws"}, Home: "/home/ada", Command: func(tool.Target) permission.Class { return permission.External }}
	g, err := permission.New(permission.Options{Layers: []permission.Layer{{Name: permission.User, Rules: imported}}, Facts: facts})
	if err != nil {
		t.Fatal(rules, err)
	}
	return g
}

func shellVerdict(t testing.TB, g *permission.Gate, line string) tool.Decision {
	t.Helper()
	d, err := g.Decide(t.Context(), permission.Request{Intent: &tool.Intent{Tool: "shell", Permission: permission.Shell, Effects: []tool.Effect{tool.Execute},
		Targets: []tool.Target{{Kind: tool.CommandTarget, Effect: tool.Execute, Value: line}}}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// SHP, SHF, GIT: no line of an attack is called read-only, and none runs unasked: neither without a rule nor under the one
// that the attack abuses.
func TestShellAttacks(t *testing.T) {
	gates := map[string]*permission.Gate{}
	decided := map[tool.Verdict]int{}
	for id, list := range tricks(t) {
		for _, c := range list {
			if ok, _ := command.ReadOnly(c.Line); ok {
				t.Errorf("%s: %q is called read-only", id, c.Line)
			}
			for _, rule := range slices.Compact([]string{"", c.Rule}) {
				if gates[rule] == nil {
					gates[rule] = shellGate(t, rule)
				}
				d := shellVerdict(t, gates[rule], c.Line)
				if decided[d.Verdict]++; d.Verdict == tool.Allow {
					t.Errorf("%s: %q is allowed under %q by %s", id, c.Line, rule, d.By)
				}
			}
		}
	}
	t.Logf("decided under %d sets of rules: %v", len(gates), decided)
}

// evil is the program that attacks plant: it leaves a canary.
const evil = "#!/bin/sh\ntouch CANARY\ncat \"$1\"\n"

// repository makes a git repository with one commit and a file that was changed since, which nothing but its content tells.
const repository = `git init -q .; git add f; git -c user.email=a@b -c user.name=n commit -qm i; echo hellO > f; touch -d 2001-01-01 f; `

// The lines are attacks indeed: where they can be tried, bash runs them and they leave their trace. A case that has lost its
// sting proves nothing about those who refuse it.
func TestShellAttacksAreReal(t *testing.T) {
	if testing.Short() {
		t.Skip("short: hundreds of lines are run")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed, so the attacks are not run")
	}
	ran, missing, untried := 0, map[string]int{}, 0
	table := tricks(t)
	for _, id := range slices.Sorted(maps.Keys(table)) {
		for _, c := range table[id] {
			if c.Leaves == "" {
				untried++
				continue
			}
			if name := needs(c); name != "" {
				missing[name]++
				continue
			}
			ran++
			dir := t.TempDir()
			for name, text := range map[string]string{"f": "hello\n", "in": "data\n", "m": "0 string hello hi\n", "c": "--pre=./evil\n", "nums": "1\n2\n", "evil": evil, "p/ls": evil} {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if strings.HasPrefix(id, "GIT") {
				play(t, bash, dir, repository)
			}
			if play(t, bash, dir, c.Setup); c.Setup != "" {
				_ = os.Remove(filepath.Join(dir, "CANARY"))
			}
			errs := play(t, bash, dir, c.Line)
			if _, err := os.Lstat(filepath.Join(dir, c.Leaves)); err != nil {
				t.Errorf("%s: %q leaves no %s: %s", id, c.Line, c.Leaves, errs)
			}
		}
	}
	t.Logf("%d lines run, %d cannot be tried, not installed: %v", ran, untried, missing)
	if ran < 350 {
		t.Errorf("only %d lines were run", ran)
	}
}

// needs returns a program that a line needs and that is not installed.
func needs(c trick) string {
	for _, name := range []string{"git", "rg", "jq", "gawk", "man", "xxd", "file", "zip", "busybox", "strace", "script", "less", "sqlite3", "perl", "python3", "parallel", "zsh", "ed", "vim", "cpio", "ar", "openssl", "bzip2", "iconv", "unshare", "sudo"} {
		for _, w := range strings.FieldsFunc(c.Setup+" "+c.Line, func(r rune) bool { return strings.ContainsRune(" \t\n;|&(){}'\"`", r) }) {
			if w == name {
				if _, err := exec.LookPath(name); err != nil {
					return name
				}
			}
		}
	}
	return ""
}

// play runs a line in a folder and ends everything that it started.
func play(t *testing.T, bash, dir, line string) (stderr string) {
	t.Helper()
	if line == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, bash, "--norc", "--noprofile", "-c", line)
	c.Dir, c.Env = dir, []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "LC_ALL=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1"}
	var out bytes.Buffer
	c.Stderr = &out
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 100 * time.Millisecond
	if err := c.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) && !errors.Is(err, exec.ErrWaitDelay) {
		t.Fatalf("%q: %v", line, err)
	}
	if ctx.Err() != nil {
		t.Errorf("%q does not end", line)
	}
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	return strings.TrimSpace(out.String())
}

// H3, P7: the everyday commands pass without a prompt, outside of confinement and in every posture; what looks like a trap
// and only reads passes too, and no trap does.
func TestEverydayCommands(t *testing.T) {
	f, err := os.Open("lines.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	guarded := shellGate(t, "")
	seen := map[string]int{}
	s := bufio.NewScanner(f)
	for s.Scan() {
		kind, text, ok := strings.Cut(s.Text(), " ")
		if strings.HasPrefix(kind, "#") || !ok {
			continue
		}
		var line string
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			if kind == "everyday" || kind == "trap" || kind == "looks" {
				t.Fatal(text, err)
			}
			continue // a comment
		}
		seen[kind]++
		ok, why := command.ReadOnly(line)
		if want := kind != "trap"; ok != want {
			t.Errorf("%s %q: read-only is %v (%s)", kind, line, ok, why)
		}
		d := shellVerdict(t, guarded, line)
		if kind == "everyday" && d.Verdict != tool.Allow || kind == "trap" && d.Verdict == tool.Allow {
			t.Errorf("%s %q: %s by %s", kind, line, d.Verdict, d.By)
		}
	}
	if seen["everyday"] != 76 || seen["trap"] < 150 {
		t.Errorf("found %v", seen)
	}
	t.Logf("%v", seen)
}
