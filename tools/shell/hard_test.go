//go:build linux

package shell

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

// These are the inputs on which shells of agents hang, flood and leave things behind, each with the exact text that a
// model reads.

// A child that keeps the output open does not keep the call: it becomes a task, and can be ended.
func TestH1_PipeHoldingChild(t *testing.T) {
	w := newWorld(t, option{})
	res := w.call("shell", args{"command": hold + "sleep 300 & echo started"})
	w.is("result", res.Text(), "started\n[exit status 0; process N (sleep) lives on with the output open, as task TASK: task_output shows what it writes, task_stop ends it]")
	id := w.task(res.Text())
	w.is("list", w.text("task_list", args{}), id+"\texit status 0 after TIME; process N (sleep) lives on with the output open\t"+hold+"sleep 300 & echo started")
	w.is("stop", w.text("task_stop", args{"id": id}), "[Task TASK: exit status 0 after TIME]")
	w.deserted()
	res = w.call("shell", args{"command": hold + "for i in 1 2; do sleep 300 >/dev/null 2>&1 & done; exit 4"})
	w.is("two", res.Text(), "[exit status 4; processes N (sleep), N (sleep) live on, as task TASK: task_output shows what they write, task_stop ends them]")
}

// Without tasks nobody could end what a command leaves behind: it is ended, and that is said.
func TestH1_PipeHoldingChildWithoutTasks(t *testing.T) {
	w := newWorld(t, option{plain: true})
	w.is("result", w.shell(hold+"sleep 300 & echo started"),
		"started\n[exit status 0; process N (sleep) lived on and was ended, since nothing can look after them here; run the command in the foreground]")
	w.deserted()
}

// RES-003: daemons that leave session and group are found and ended by a timeout, and by the end of the session.
func TestRES003_Daemons(t *testing.T) {
	w := newWorld(t, option{})
	w.is("timeout", w.text("shell", args{"command": hold + "setsid sleep 300 & (setsid sh -c 'sleep 300 & exec sleep 300' &); trap '' TERM; sleep 300", "timeout": 1}),
		"TOOL ERROR: TIMEOUT\nthe command was ended after 1s (time limit), with everything that it had started.\n"+
			"RECOVERY HINT: Give a longer timeout (seconds, at most 600), or run it with background=true.")
	w.deserted()
	res := w.shell(hold + "(setsid sleep 300 </dev/null >/dev/null 2>&1 &); sleep 0.1")
	w.is("left behind", res, "[exit status 0; process N (sleep) lives on, as task TASK: task_output shows what it writes, task_stop ends it]")
	w.ok(w.tasks.EndSession(w.ctx, "s"))
	w.deserted()
}

// RES-004: endless output costs neither memory nor disk beyond the quota, and ends with the time limit.
func TestRES004_Yes(t *testing.T) {
	w := newWorld(t, option{cfg: Config{MaxBytes: 64}})
	res := w.call("shell", args{"command": hold + "yes", "timeout": 1})
	text := w.mask(res.Text(), true)
	head, rest, _ := strings.Cut(text, "…(")
	_, tail, _ := strings.Cut(rest, " bytes truncated from head)…\n")
	ys, end, _ := strings.Cut(tail, "[Start")
	if head != "TOOL ERROR: TIMEOUT\nthe command was ended after 1s (time limit), with everything that it had started.\nIts output until then:\n" ||
		strings.Trim(ys, "y\n") != "" || len(ys) != 64 || !strings.HasPrefix(end, " and end of the output (") ||
		!strings.HasSuffix(end, " bytes) are artifact:ID; search it with the artifact tool, or read it with read_file path=artifact:ID.]\n"+
			"RECOVERY HINT: Give a longer timeout (seconds, at most 600), or run it with background=true.") {
		t.Errorf("result:\n%s", text)
	}
	if n := w.size(res.Meta.Artifact); n > host.DefaultSpool+100 {
		t.Errorf("artifact of %d bytes", n)
	}
	var disk int64
	w.ok(filepath.WalkDir(filepath.Join(w.state, "host"), func(_ string, d os.DirEntry, err error) error {
		if err != nil { // it went meanwhile
			return nil
		}
		if info, err := d.Info(); err == nil && !d.IsDir() {
			disk += info.Size()
		}
		return nil
	}))
	if disk > 1<<20 {
		t.Errorf("%d bytes are left on disk beside the artifact", disk)
	}
	w.deserted()
}

// RES-001: a fork bomb that is bounded by its own depth ends with its call.
func TestRES001_ForkBomb(t *testing.T) {
	w := newWorld(t, option{})
	w.is("result", w.text("shell", args{"command": hold + "f() { if [ $1 -gt 0 ]; then f $(($1-1)) & f $(($1-1)) & fi; trap '' TERM; sleep 300; }; f 6; wait", "timeout": 2}),
		"TOOL ERROR: TIMEOUT\nthe command was ended after 2s (time limit), with everything that it had started.\n"+
			"RECOVERY HINT: Give a longer timeout (seconds, at most 600), or run it with background=true.")
	w.deserted()
}

// An editor finds no terminal. One that then waits for keys on its error output is found out, and the result says so.
func TestH1_Editor(t *testing.T) {
	w := newWorld(t, option{})
	w.is("opens the terminal", w.shell("exec 3</dev/tty && read x <&3"), "/bin/bash: line 1: /dev/tty: No such device or address\n[exit status 1]")
	w.is("waits for keys", w.text("shell", args{"command": hold + "sh -c 'read x </proc/self/fd/2'; true", "timeout": 1}),
		"TOOL ERROR: TIMEOUT\nthe command was ended after 1s (time limit), with everything that it had started; it waited for input although it has none (pid N, sh).\n"+
			"RECOVERY HINT: It gets no input here: give the answer in the command (an argument, a flag such as --yes, a file), or run it with background=true and answer with task_input.")
	w.deserted()
}

// O5: ten megabytes on one line are cut at a character, and kept whole.
func TestO5_LongLine(t *testing.T) {
	w := newWorld(t, option{cfg: Config{MaxBytes: 10}})
	res := w.call("shell", args{"command": "head -c 5000000 /dev/zero | sed 's/\\x00/é/g'; echo; exit 2"})
	w.is("result", res.Text(), "…(9999992 bytes truncated from head)…\néééé\n[exit status 2]\n"+
		"[The whole output (10000001 bytes) is artifact:ID; search it with the artifact tool, or read it with read_file path=artifact:ID.]")
	if n := w.size(res.Meta.Artifact); n != 10000001 {
		t.Errorf("artifact of %d bytes", n)
	}
	if !res.Meta.Truncated {
		t.Error("the result does not say that it was cut")
	}
}

// O5: what explores keeps its start and its end; a limit of the face counts, and the tool's own can be switched off.
func TestO5_WhatIsKept(t *testing.T) {
	w := newWorld(t, option{cfg: Config{MaxBytes: 20}})
	w.put("numbers", "1111\n2222\n3333\n4444\n5555\n6666\n")
	whole := "\n[The whole output (30 bytes) is artifact:ID; search it with the artifact tool, or read it with read_file path=artifact:ID.]"
	w.is("cat", w.shell("cat numbers"), "1111\n2222\n…(10 bytes truncated from middle)…\n5555\n6666"+whole)
	w.is("sed and head", w.shell("sed -n 1,99p numbers | head -99"), "1111\n2222\n…(10 bytes truncated from middle)…\n5555\n6666"+whole)
	w.is("not only", w.shell("cat numbers; true $$"), "…(10 bytes truncated from head)…\n3333\n4444\n5555\n6666"+whole)
	w.is("a script", w.shell("bash -c 'cat numbers'"), "…(10 bytes truncated from head)…\n3333\n4444\n5555\n6666"+whole)
	req := w.request("shell", args{"command": "bash -c 'cat numbers'"})
	req.Bounds, req.Options = tool.Bounds{Bytes: 20}, tool.Options{Spawns: true}
	cut := w.do(req)
	w.is("face", cut.Text(), "…(20 bytes truncated from head)…\n5555\n6666\n"+
		"[The whole output (30 bytes) is artifact:ID; let a subagent search it, so that it does not fill this conversation.]")
	w = newWorld(t, option{cfg: Config{MaxBytes: -1}})
	w.is("no limit of its own", w.shell("head -c 40000 /dev/zero | tr '\\0' x"), strings.Repeat("x", 40000))
}

// Bytes that are no text are shown as such, and kept as they are.
func TestH1_InvalidUTF8(t *testing.T) {
	w := newWorld(t, option{})
	res := w.call("shell", args{"command": `printf 'a\xff\xfe\xe6\xbcb\n'`})
	w.is("invalid", res.Text(), "a����b\n[4 bytes of the output are no UTF-8 text and shown as �.]\n[The whole output (7 bytes) is artifact:ID; copy_file makes a file of it with the bytes as they are.]")
	r, err := w.artifacts().Open(w.ctx, res.Meta.Artifact)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	raw := make([]byte, r.Size())
	if _, err := r.ReadAt(raw, 0); string(raw) != "a\xff\xfe\xe6\xbcb\n" {
		t.Errorf("kept as %q, %v", raw, err)
	}
	w.is("binary", w.shell(`head -c 100 /dev/zero`), "(binary output, 100 bytes)\n[The whole output (100 bytes) is artifact:ID; copy_file makes a file of it with the bytes as they are.]")
}

// A folder that vanishes between plan and run, and one that the toolbox itself works in.
func TestH1_VanishedFolder(t *testing.T) {
	w := newWorld(t, option{})
	w.put("sub/x", "")
	p, err := w.box.Plan(w.ctx, w.request("shell", args{"command": "pwd", "workdir": "sub"}))
	if err != nil || p.Err != nil {
		t.Fatal(err, p.Err)
	}
	d, err := w.box.Decide(w.ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	w.ok(os.RemoveAll(filepath.Join(w.dir, "sub")))
	res, err := w.box.Run(w.ctx, p, d)
	if err != nil {
		t.Fatal(err)
	}
	w.is("result", res.Text(), "TOOL ERROR: NOT_FOUND\nthe folder \"DIR/sub\" to run in is gone, or is no folder any more.\nPARAMETER: workdir\nRECOVERY HINT: Give the workdir of a folder that is there.")
	w.ok(os.RemoveAll(w.dir))
	w.is("the workspace", w.shell("pwd"), "TOOL ERROR: NOT_FOUND\nthe folder \"DIR\" to run in is gone, or is no folder any more.\nRECOVERY HINT: Give the workdir of a folder that is there.")
}

// shellless is a runner on a machine without a shell: scripts are run by a program that is not there.
type shellless struct{ host.Runner }

func (r shellless) Start(ctx context.Context, c host.Command) (host.Process, error) {
	c.Argv, c.Script = []string{"/no/such/bash", "-c", c.Script}, ""
	return r.Runner.Start(ctx, c)
}

func TestH1_MissingShell(t *testing.T) {
	w := newWorld(t, option{wrap: func(r host.Runner) host.Runner { return shellless{r} }})
	const want = "TOOL ERROR: OPERATION_NOT_ALLOWED\nthere is no shell here that could run commands: \"/no/such/bash\": no such file or directory.\n" +
		"RECOVERY HINT: No command will run until that is mended; retrying will not help. The file and search tools work without it."
	w.is("foreground", strings.Replace(w.shell("pwd"), "file does not exist", "no such file or directory", 1), want)
	w.is("background", strings.Replace(w.text("shell", args{"command": "pwd", "background": true}), "file does not exist", "no such file or directory", 1), want)
	if list, err := w.tasks.List(w.ctx, ""); err != nil || len(list) > 0 {
		t.Errorf("tasks of what did not start: %v, %v", list, err)
	}
}

// blind starts commands whose output cannot be read.
type blind struct{ host.Runner }

func (b blind) Start(ctx context.Context, c host.Command) (host.Process, error) {
	p, err := b.Runner.Start(ctx, c)
	return blindProcess{p}, err
}

type blindProcess struct{ host.Process }

func (p blindProcess) Output() host.Output { return blindOutput{p.Process.Output()} }

type blindOutput struct{ host.Output }

func (blindOutput) Stat() (host.OutputStat, error) {
	return host.OutputStat{}, errors.New("input/output error")
}

// H2: a command that goes on as a task is never lost: its id is told even where its output cannot be.
func TestH2_UnreadableOutput(t *testing.T) {
	w := newWorld(t, option{wrap: func(r host.Runner) host.Runner { return blind{r} }})
	for _, a := range []args{{"command": "sleep 300", "background": true}, {"command": "sleep 300", "adopt": true, "timeout": 1}, {"command": "sleep 300 & true"}} {
		res := w.call("shell", a)
		list, err := w.tasks.List(w.ctx, "")
		if err != nil || len(list) == 0 {
			t.Fatalf("%v: tasks %v (%v) after %s", a, list, err, res.Text())
		}
		id := list[len(list)-1].ID
		if want := "the command became task " + id + ", but its output could not be read: "; res.Err == nil || !strings.Contains(res.Text(), want) || !strings.Contains(res.Text(), "Do not start it again") {
			t.Errorf("%v: %s", a, res.Text())
		}
		if _, err := w.tasks.Stop(w.ctx, id, 0); err != nil {
			t.Error(err)
		}
	}
}
