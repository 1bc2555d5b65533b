//go:build linux

package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/tool/tooltest"
	"github.com/tackle-dev/tackle/toolbox"
)

// The contract of every tool, tried on these.
func TestContract(t *testing.T) {
	w := newWorld(t, option{})
	cfg := Config{Runner: w.runner, Tasks: w.tasks}
	world := tooltest.World{Host: w.box.Host(), Dir: w.dir}
	for _, tl := range Tools(cfg) {
		t.Run(tl.Definition().Name, func(t *testing.T) {
			tw := world
			if tl.Definition().Name == "shell" {
				tw.Good = []string{`{"command": "ls -la | head"}`, `{"command": "make", "background": true, "detach": true}`, `{"command": "echo 'x"}`}
				tw.Bad = map[string]tool.Code{`{"command": ""}`: tool.InvalidParameter, `{"command": "ls", "workdir": "none"}`: tool.NotFound}
			}
			tooltest.Run(t, tl, tw)
		})
	}
	tooltest.Run(t, Shell{Config{Runner: w.runner}}.Tool(), world)
}

// P6, P7: what only looks runs without a question; what does more, and what reads or writes where file tools would ask,
// is asked for.
func TestP6_WhatIsAsked(t *testing.T) {
	w := newWorld(t, option{})
	w.put("a.txt", "x\n")
	w.put("sub/b.txt", "x\n")
	w.put(".env", "KEY=x\n")
	w.put("keys/id_rsa", "x\n")
	for _, c := range []struct{ line, why string }{
		{"ls -la", ""},
		{"cat a.txt | head -3 && wc -l sub/b.txt", ""},
		{"cat *.txt", ""},
		{"grep -rn x sub", ""},
		{"cat .env", "reading a file that usually holds credentials"},
		{"cat < .env", "reading a file that usually holds credentials"},
		{"cd sub && cat ../.env", "reading a file that usually holds credentials"},
		{"cat .e*", "reading a file that usually holds credentials"},
		{"head */id_rsa", "reading a file that usually holds credentials"},
		{"rg -n x sub", ""},
		{"rg -uu x", "reading a file that usually holds credentials"},
		{"rg --hidden -n x .", "reading a file that usually holds credentials"},
		{"rg x keys", "reading a file that usually holds credentials"},
		{"diff -r sub keys", "reading a file that usually holds credentials"},
		{"find . -name '*.txt'", ""},
		{"ls -laR", ""},
		{"grep -r x .", "reading a file that usually holds credentials"},
		{"find . ; grep -r x .", "reading a file that usually holds credentials"},
		{"grep -d recurse x .", "reading a file that usually holds credentials"},
		{"find . -name .env -exec cat {} +", "reading a file that usually holds credentials"},
		{"find . -exec timeout 5 head -1 {} ';'", "reading a file that usually holds credentials"},
		{"find sub -exec cat {} +", ""},
		{"find . -exec ls -l {} +", ""},
		{"cat /etc/hostname", "reading outside of the workspace"},
		{"ls ..", "reading outside of the workspace"},
		{"make", "the command would run outside of confinement"},
		{"echo x > sub/new", "the command would run outside of confinement"},
		{"ls; rm a.txt", "the command would run outside of confinement"},
		{"find . -delete", "the command would run outside of confinement"},
	} {
		w.mu.Lock()
		w.asked = nil
		w.mu.Unlock()
		p, err := w.box.Plan(w.ctx, w.request("shell", args{"command": c.line}))
		if err != nil || p.Err != nil {
			t.Fatal(c.line, err, p.Err)
		}
		if _, err := w.box.Decide(w.ctx, p); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(w.asked, "; "); (got == "") != (c.why == "") || !strings.Contains(got, c.why) {
			t.Errorf("%s: asked %q, want %q", c.line, got, c.why)
		}
		wrapped := strings.Contains(c.line, "-exec") // allowed part by part, and run alone
		if in := &p.Action.Intent; in.Looks != (!wrapped && (c.why == "" || strings.HasPrefix(c.why, "reading"))) {
			t.Errorf("%s: looks is %v", c.line, in.Looks)
		}
	}
	w.ok(os.Remove(w.dir + "/.env"))
}

// P6: links that a repository holds are followed before the command follows them: what they lead to is asked for, and only
// where the command would go there.
func TestP6_Links(t *testing.T) {
	w := newWorld(t, option{})
	out := t.TempDir()
	w.ok(os.WriteFile(out+"/o.txt", []byte("x\n"), 0o600))
	w.put("keys/id_rsa", "x\n")
	w.put("file/b.txt", "x\n")
	w.put("same/b.txt", "x\n")
	w.put("folder/b.txt", "x\n")
	w.put("fine/.deep/b.txt", "x\n")
	for name, to := range map[string]string{"file/a": out + "/o.txt", "folder/a": out, "same/a": "../keys/id_rsa", "fine/deep": ".deep", "fine/gone": "none"} {
		w.ok(os.Symlink(to, filepath.Join(w.dir, name)))
	}
	w.ok(os.Symlink(".", w.dir+"/fine/loop"))
	const outside, secret = "reading outside of the workspace", "reading a file that usually holds credentials"
	for _, c := range []struct{ line, why string }{
		{"grep -r x file", ""},
		{"grep -R x file", outside},
		{"grep -Rn x folder", outside},
		{"grep --dereference-recursive x same", secret},
		{"grep -R x fine", ""},
		{"diff -r file fine", outside},
		{"diff same fine", secret},
		{"diff --no-dereference -r file fine", ""},
		{"rg x file folder", ""},
		{"rg -nL x folder", outside},
		{"rg --follow x same", secret},
		{"find file -exec cat {} +", outside},
		{"find same -name a -exec head -1 {} ';'", secret},
		{"find file folder same -type f -exec cat {} +", ""},
		{"find file -type f -o -name a -exec cat {} +", outside},
		{"find -L same -type f -exec cat {} +", secret},
		{"find folder", ""},
		{"find -L folder", outside},
		{"find folder -follow -ls", outside},
		{"find -L file", ""},
		{"ls -R folder", ""},
		{"ls -LR folder", outside},
		{"du -L folder", outside},
		{"du folder", ""},
		{"find -L fine; ls -LR fine; du -L fine; rg -L x fine", ""},
	} {
		w.mu.Lock()
		w.asked = nil
		w.mu.Unlock()
		p, err := w.box.Plan(w.ctx, w.request("shell", args{"command": c.line}))
		if err != nil || p.Err != nil {
			t.Fatal(c.line, err, p.Err)
		}
		if _, err := w.box.Decide(w.ctx, p); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(w.asked, "; "); (got == "") != (c.why == "") || !strings.Contains(got, c.why) {
			t.Errorf("%s: asked %q, want %q", c.line, got, c.why)
		}
	}
}

// P5: rules for files hold for the files that command lines name, and rules for commands for the commands.
func TestP5_Rules(t *testing.T) {
	w := newWorld(t, option{posture: "ci", rules: []permission.Rule{
		{Permission: "read_file", Pattern: "private/**", Action: tool.Deny},
		{Permission: "edit", Pattern: "generated/**", Action: tool.Deny, Reason: "it is generated"},
		{Permission: "shell", Pattern: `["echo", "exactly"]`, Action: tool.Allow},
		{Permission: "shell", Pattern: `["git", "push", "..."]`, Action: tool.Deny},
	}})
	w.put("private/x", "x")
	for line, want := range map[string]string{
		"echo exactly":                            "exactly",
		"cat private/x":                           "denied",
		"cat priv*/x":                             "denied",
		"grep -r x .":                             "denied",
		"echo exactly > generated/x":              "denied",
		"ls && git push origin":                   "denied",
		"echo other | tee a":                      "denied",
		"ls private | wc -l":                      "denied",
		"find . -name x -not -path './alive'":     "./private/x",
		"test -f private/x && echo exactly":       "exactly",
		"timeout 5 bash -c 'git -C . push -f'":    "denied",
		"echo exactly; cat <private/x >/dev/null": "denied",
	} {
		res := w.call("shell", args{"command": line})
		got := res.Text()
		if res.Denied != nil {
			got = "denied"
		}
		if got != want {
			t.Errorf("%s: %s\nwant %s", line, got, want)
		}
	}
}

// Sending input to a task is judged like a command that says nothing about itself: it is asked for.
func TestP6_Input(t *testing.T) {
	w := newWorld(t, option{})
	id := w.task(w.text("shell", args{"command": "cat", "background": true}))
	w.asked = nil
	w.text("task_output", args{"id": id})
	w.text("task_list", args{})
	if len(w.asked) > 0 {
		t.Errorf("looking was asked for: %v", w.asked)
	}
	w.text("task_input", args{"id": id, "content": "rm -rf x"})
	if len(w.asked) != 1 || !strings.Contains(w.asked[0], "outside of confinement") {
		t.Errorf("input: asked %v", w.asked)
	}
	w.asked = nil
	w.text("task_stop", args{"id": id})
	if len(w.asked) > 0 {
		t.Errorf("stopping was asked for: %v", w.asked)
	}
}

// H3, T11: commands that only look run beside each other; any other runs alone, in its place.
func TestH3_Parallel(t *testing.T) {
	w := newWorld(t, option{box: toolbox.Config{Parallel: 8}})
	w.ok(mkfifo(w.dir + "/gate"))
	// Both wait for a line, which comes when both run. Run one after the other they would never end.
	meet := []toolbox.Request{w.request("shell", args{"command": "head -n 1 gate", "timeout": 60}), w.request("shell", args{"command": "head -n 1 gate", "timeout": 60})}
	over, written := make(chan struct{}), make(chan error, 1)
	go func() {
		f, err := os.OpenFile(w.dir+"/gate", os.O_RDWR, 0)
		if err != nil {
			written <- err
			return
		}
		defer f.Close()
		w.until("both run", func() bool { return w.running("head") == 2 })
		w.until("both have read", func() bool {
			if _, err := f.WriteString("x\n"); err != nil {
				t.Error(err)
			}
			select {
			case <-over:
				return true
			default:
				return false
			}
		})
		written <- nil
	}()
	results, err := w.box.CallAll(w.ctx, meet)
	close(over)
	if err != nil {
		t.Fatal(err)
	}
	w.ok(<-written)
	if got := results[0].Text() + results[1].Text(); got != "xx" {
		t.Errorf("they met as %q", got)
	}
	var reqs []toolbox.Request
	for _, line := range []string{"cat log", "bash -c 'echo 1 >>log'", "cat log", "cat log", "bash -c 'sleep 0.2; echo 2 >>log'", "cat log"} {
		reqs = append(reqs, w.request("shell", args{"command": line}))
	}
	w.put("log", "0\n")
	results, err = w.box.CallAll(w.ctx, reqs)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range results {
		got = append(got, strings.ReplaceAll(results[i].Text(), "\n", " "))
	}
	if want := []string{"0", "(no output)", "0 1", "0 1", "(no output)", "0 1 2"}; !slices.Equal(got, want) {
		t.Errorf("results %q, want %q", got, want)
	}
}

// RACE-012, P8: who approves a command that runs a script approves what the script holds: one that changes while the person
// thinks is not run, however it is named. The folder is part of what is approved.
func TestRACE012_Script(t *testing.T) {
	w := newWorld(t, option{})
	w.put("sub/x.sh", "echo good >> ran\n")
	w.ok(os.Chmod(w.dir+"/sub/x.sh", 0o755))
	for line, workdir := range map[string]string{"sub/x.sh a": "", "bash sub/x.sh": "", "sh -e ./x.sh": "sub", ". sub/x.sh": "", "timeout 9 sub/x.sh": "", "true && bash -c 'sub/x.sh'": ""} {
		w.put("sub/x.sh", "echo good >> ran\n")
		asked := 0
		w.meanwhile = func(a toolbox.Asked) {
			if asked++; len(a.Intent.Scripts) != 1 || a.Intent.Scripts[0].Path != w.dir+"/sub/x.sh" || a.Intent.Dir != filepath.Join(w.dir, workdir) {
				t.Errorf("%s: shown %+v in %s", line, a.Intent.Scripts, a.Intent.Dir)
			}
			w.put("sub/x.sh", "echo evil >> ran\n")
		}
		a := args{"command": line}
		if workdir != "" {
			a["workdir"] = workdir
		}
		if res := w.call("shell", a); asked != 1 || res.Err == nil || res.Err.Code != tool.Stale || !strings.Contains(res.Text(), "x.sh changed") {
			t.Errorf("%s: asked %d times: %s", line, asked, res.Text())
		}
		a["background"] = true
		w.put("sub/x.sh", "echo good >> ran\n")
		if res := w.call("shell", a); res.Err == nil || res.Err.Code != tool.Stale {
			t.Errorf("%s in the background: %s", line, res.Text())
		}
	}
	for _, name := range []string{"ran", "sub/ran"} {
		if _, err := os.Stat(filepath.Join(w.dir, name)); err == nil {
			t.Errorf("%s is there: a script ran", name)
		}
	}
	w.meanwhile = nil
	w.text("shell", args{"command": "sub/x.sh"})
	if b, err := os.ReadFile(w.dir + "/ran"); err != nil || string(b) != "evil\n" {
		t.Errorf("approved as it is: %q %v", b, err)
	}
}
