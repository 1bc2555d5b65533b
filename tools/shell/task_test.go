//go:build linux

package shell

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/task"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// H2: the life of a background task, in the words that a model reads.
func TestH2_Background(t *testing.T) {
	w := newWorld(t, option{})
	w.is("no tasks", w.text("task_list", args{}), "No tasks. shell with background=true starts one.")
	w.is("no task", w.text("task_output", args{"id": "abcdef"}), "TOOL ERROR: NOT_FOUND\nthis session has no task \"abcdef\".\nPARAMETER: id\n"+
		"EXPECTED: the id of a task of this session\nRECOVERY HINT: It has none at all; shell with background=true starts one.")
	res := w.call("shell", args{"command": hold + "echo up; while read x; do echo got $x; done; echo over", "background": true, "description": "a server"})
	w.is("start", res.Text(), "up\n[Task TASK runs in the background. It ends with this session. task_output shows what it writes, task_input sends it input, task_stop ends it]")
	id := w.task(res.Text())
	w.until("it waits for input", func() bool {
		i, err := w.tasks.Look(w.ctx, id)
		return err == nil && i.Waiting != nil
	})
	w.is("nothing new", w.text("task_output", args{"id": id}), "(no new output)\n[Task TASK: running for TIME; it waits for input on its pipe (pid N, bash)]")
	w.is("a wait ends when it asks", w.text("task_output", args{"id": id, "timeout": 600}), "(no new output)\n[Task TASK: running for TIME; it waits for input on its pipe (pid N, bash)]")
	w.is("list", w.text("task_list", args{}), id+"\trunning for TIME; it waits for input on its pipe (pid N, bash)\ta server: "+hold+"echo up; while read x; do echo got $x; done; echo over")
	answer := w.text("task_input", args{"id": id, "content": "one"})
	if answer = w.mask(answer, false); !strings.HasPrefix(answer, "got one\n[Task TASK: running for TIME") {
		t.Errorf("answer:\n%s", answer)
	}
	w.text("task_input", args{"id": id, "content": "two\nthree", "close": true}) // its answer comes in as many pieces as it likes
	w.text("task_output", args{"id": id, "timeout": 60})
	w.is("ended", w.text("task_output", args{"id": id, "timeout": 60}), "(no new output)\n[Task TASK: exit status 0 after TIME]")
	w.is("again", w.text("task_output", args{"id": id, "offset": 3}), "got one\ngot two\ngot three\nover\n[Bytes 3–34 of 34]")
	w.is("input after the end", w.text("task_input", args{"id": id, "content": "x"}), "TOOL ERROR: OPERATION_NOT_ALLOWED\ntask TASK has ended (exit status 0 after TIME).\n"+
		"RECOVERY HINT: Read what it wrote with task_output; start it again where that helps.")
	w.is("stop after the end", w.text("task_stop", args{"id": id}), "[Task TASK had ended already: exit status 0 after TIME]")
	w.deserted()
}

// H2: what fails at once is told at once; a limit holds for tasks too.
func TestH2_BackgroundThatEnds(t *testing.T) {
	w := newWorld(t, option{})
	w.is("failed", w.text("shell", args{"command": "echo port in use >&2; exit 1", "background": true}), "port in use\n[Task TASK has ended already: exit status 1 after TIME]")
	res := w.call("shell", args{"command": hold + "sleep 300", "background": true, "timeout": 1})
	w.is("limit", res.Text(), "[Task TASK runs in the background. It ends with this session, and after TIME at the latest. task_output shows what it writes, task_input sends it input, task_stop ends it]")
	if got := w.text("task_output", args{"id": w.task(res.Text()), "timeout": 60}); !strings.Contains(got, "ended after 1s (time limit)]") {
		t.Errorf("at the limit: %s", got)
	}
	res = w.call("shell", args{"command": hold + "trap '' TERM; setsid sleep 300 & echo up; sleep 300", "background": true})
	w.is("stop", w.text("task_stop", args{"id": w.task(res.Text())}), "[Task TASK: stopped after TIME]")
	w.deserted()
}

// H2: a command that takes longer than it was given goes on as a task when the caller asked so, and its output goes on
// where the result ended.
func TestH2_Adopt(t *testing.T) {
	w := newWorld(t, option{})
	res := w.call("shell", args{"command": hold + "echo early; until test -e go; do sleep 0.05; done; echo late; exit 3", "timeout": 1, "adopt": true})
	w.is("adopted", res.Text(), "early\n[Still running after TIME; it goes on as task TASK: task_output waits for it and shows what it writes, task_stop ends it. Do not start it again]")
	if !res.OK() {
		t.Errorf("an adopted command is an error: %v", res.Err)
	}
	id := w.task(res.Text())
	w.is("input", w.text("task_input", args{"id": id, "content": "x"}), "TOOL ERROR: OPERATION_NOT_ALLOWED\n"+
		"task TASK takes no input: it was not started with background=true, or by a server that is gone.\n"+
		"RECOVERY HINT: Stop it and start it again with background=true, or give the input in the command.")
	w.put("go", "")
	w.is("the rest", w.text("task_output", args{"id": id, "timeout": 60}), "late\n[Task TASK: exit status 3 after TIME]")
	w.is("one that ends in time", w.text("shell", args{"command": "echo x", "timeout": 60, "adopt": true}), "x")
	if list, err := w.tasks.List(w.ctx, ""); err != nil || len(list) != 1 {
		t.Errorf("tasks: %v, %v", list, err)
	}
}

// H6: a face that holds a call no longer than so gets a task in time, and waits for a task are as long.
func TestH6_Hold(t *testing.T) {
	w := newWorld(t, option{})
	req := w.request("shell", args{"command": hold + "echo early; sleep 300", "timeout": 200})
	req.Hold = time.Second
	res := w.do(req)
	w.is("held", res.Text(), "early\n[Still running after TIME; it goes on as task TASK until its time limit of 3m20s: task_output waits for it and shows what it writes, task_stop ends it. Do not start it again]")
	wait := w.request("task_output", args{"id": w.task(res.Text()), "timeout": 600})
	wait.Hold = time.Second
	waited := w.do(wait)
	w.is("wait", waited.Text(), "(no new output)\n[Task TASK: running for TIME]")
	// A time limit that comes before the face loses its patience stays one.
	req = w.request("shell", args{"command": "sleep 300", "timeout": 1})
	req.Hold = 2 * time.Minute
	if res := w.do(req); res.Err == nil || res.Err.Code != tool.TimedOut {
		t.Errorf("within the budget: %s", res.Text())
	}
	w = newWorld(t, option{plain: true}) // without tasks the face gives a handle itself
	req = w.request("shell", args{"command": "sleep 1.5; echo done", "timeout": 200})
	req.Hold = time.Second
	plain := w.do(req)
	w.is("without tasks", plain.Text(), "done")
}

// H2: a filter shows the lines that match, and with a timeout waits for one.
func TestH2_Filter(t *testing.T) {
	w := newWorld(t, option{})
	w.ok(mkfifo(w.dir + "/go"))
	res := w.call("shell", args{"command": "exec 8<>go; seq 1 1000; read x <&8; printf 'error: o'; read x <&8; echo ne; read x <&8", "background": true})
	id := w.task(res.Text())
	w.until("it is written", func() bool { i, err := w.tasks.Get(id); return err == nil && i.Output >= 3893 })
	w.text("task_output", args{"id": id}) // what the start did not show
	w.is("nothing new", w.text("task_output", args{"id": id, "pattern": "^99.$"}), "[Task TASK: running for TIME; 0 of 0 new lines match]")
	w.ok(writeFifo(w.dir+"/go", "\n"))
	got := make(chan string, 1)
	go func() { got <- w.text("task_output", args{"id": id, "pattern": "error", "timeout": 60}) }()
	w.until("it began a line", func() bool { i, err := w.tasks.Get(id); return err == nil && i.Output >= 3901 })
	w.ok(writeFifo(w.dir+"/go", "\n"))
	w.is("a line", <-got, "error: one\n[Task TASK: running for TIME; 1 of 1 new lines match]")
	w.is("a bad pattern", w.text("task_output", args{"id": id, "pattern": "("}), "TOOL ERROR: INVALID_PARAMETER\npattern cannot be read: error parsing regexp: missing closing ): `(`.\n"+
		"PARAMETER: pattern\nEXPECTED: a regular expression (RE2)")
	w.ok(writeFifo(w.dir+"/go", "\n"))
	w.is("the end", w.text("task_output", args{"id": id, "pattern": "x", "timeout": 60}), "[Task TASK: exit status 0 after TIME; 0 of 0 new lines match]")
	id = w.task(w.text("shell", args{"command": "exec 8<>go; read x <&8; seq 1 100000", "background": true}))
	w.ok(writeFifo(w.dir+"/go", "\n"))
	if _, err := w.tasks.Wait(w.ctx, id); err != nil {
		t.Fatal(err)
	}
	w.is("much", w.text("task_output", args{"id": id, "pattern": "^[0-9]0000$"}), "10000\n20000\n30000\n40000\n50000\n60000\n70000\n80000\n90000\n"+
		"[Task TASK: exit status 0 after TIME; 9 of 100000 new lines match]")
}

// O5: of much new output the end is shown; the rest can be had by its offset.
func TestO5_TaskOutput(t *testing.T) {
	w := newWorld(t, option{cfg: Config{MaxBytes: 12}})
	res := w.call("shell", args{"command": "seq 1 2000", "background": true})
	id := w.task(res.Text())
	if !strings.Contains(w.mask(res.Text(), false), "…(8881 bytes truncated from head)…\n8\n1999\n2000\n[Task TASK has ended already: exit status 0 after TIME]\n"+
		"[task_output id=TASK offset=0 reads what was left out, as far as it is kept.]") {
		t.Errorf("start: %s", res.Text())
	}
	w.is("from the start", w.text("task_output", args{"id": id, "offset": 0}), "1\n2\n3\n4\n5\n6\n[Bytes 0–12 of 8893; go on with offset=12]")
}

// H2: a terminal, for programs that need one.
func TestH2_Terminal(t *testing.T) {
	w := newWorld(t, option{})
	if !w.runner.Confinement().Terminal {
		t.Skip("this runner has no terminals")
	}
	for in, want := range map[string]string{
		"a\x1b[1;31mb\x1b[0mc\r\n": "abc\n", "\x1b]0;title\x07x\x1b[2J\x1b[H": "x", "\x1b(By\x1b=": "y", "50%\r100%\r\n": "50%\r100%\n", "漢\x1b[K": "漢",
	} {
		if got := string(plain([]byte(in))); got != want {
			t.Errorf("%q is plain %q, want %q", in, got, want)
		}
	}
	res := w.call("shell", args{"command": hold + "test -t 0 && test -t 1 && echo yes; read x </dev/tty; echo \"<$x>\"; exec sleep 300", "background": true, "terminal": true})
	id := w.task(res.Text())
	if got := w.text("task_input", args{"id": id, "content": "hi"}); !strings.Contains(got, "<hi>") && !strings.Contains(w.text("task_output", args{"id": id, "pattern": "<hi>", "timeout": 30}), "<hi>") {
		t.Errorf("answer: %s", got)
	}
	// One reply holds what comes in pieces: on a machine that is so busy that a piece comes late, one of some.
	res = w.call("shell", args{"command": hold + "mkfifo never; exec 8<>never; while read x; do echo \"one $x\"; read -t 0.05 y <&8; echo \"two $x\"; done", "background": true, "terminal": true})
	pieces, whole := w.task(res.Text()), false
	for n := 0; n < 20 && !whole; n++ {
		got := w.text("task_input", args{"id": pieces, "content": fmt.Sprint("try", n)})
		whole = strings.Contains(got, fmt.Sprint("one try", n)) && strings.Contains(got, fmt.Sprint("two try", n))
	}
	if !whole {
		t.Error("no reply held all that was answered")
	}
	w.text("task_stop", args{"id": pieces})
	w.text("task_input", args{"id": id, "content": "\x03", "raw": true})
	if got := w.text("task_output", args{"id": id, "timeout": 30}); !strings.Contains(got, "ended by SIGINT") {
		t.Errorf("after Ctrl-C: %s", got)
	}
	w.deserted()
}

// H2: sessions see their own tasks, and those that outlive theirs; tasks end with their session unless told otherwise.
func TestH2_Sessions(t *testing.T) {
	w := newWorld(t, option{})
	own := w.task(w.text("shell", args{"command": hold + "sleep 300", "background": true}))
	detached := w.task(w.text("shell", args{"command": "sleep 300", "background": true, "detach": true}))
	as := func(session, name string, a args) string {
		req := w.request(name, a)
		req.Session = session
		res := w.do(req)
		return w.mask(res.Text(), false)
	}
	if got, want := as("other", "task_stop", args{"id": own}), "TOOL ERROR: NOT_FOUND\nthis session has no task \""+own+"\".\nPARAMETER: id\nEXPECTED: the id of a task of this session\n"+
		"RECOVERY HINT: There are: "+detached+"."; got != want {
		t.Errorf("another session: %s", got)
	}
	w.ok(w.tasks.EndSession(w.ctx, "s"))
	w.deserted()
	if got := as("other", "task_output", args{"id": detached}); got != "(no new output)\n[Task TASK: running for TIME]" {
		t.Errorf("detached: %s", got)
	}
	if got := as("other", "task_stop", args{"id": detached}); got != "[Task TASK: stopped after TIME]" {
		t.Errorf("stopped: %s", got)
	}
}

// H2: too many tasks are refused, and commands in the foreground still run.
func TestH2_TooMany(t *testing.T) {
	w := newWorld(t, option{manager: task.Config{MaxRunning: 1}})
	id := w.task(w.text("shell", args{"command": "sleep 300", "background": true}))
	w.is("too many", w.text("shell", args{"command": "sleep 300", "background": true}), "TOOL ERROR: LIMIT_EXCEEDED\nthe limit of 1 running tasks is reached: stop one first ("+id+").\n"+
		"RECOVERY HINT: End one with task_stop, or wait for one with task_output.")
	w.is("foreground", w.shell("bash -c 'echo x'"), "x")
	w.is("with adopt", w.text("shell", args{"command": "true", "adopt": true}), "TOOL ERROR: LIMIT_EXCEEDED\nthe limit of 1 running tasks is reached: stop one first ("+id+").\n"+
		"RECOVERY HINT: End one with task_stop, or wait for one with task_output.")
}

// H2: without a place for tasks there is no word of them.
func TestH2_WithoutTasks(t *testing.T) {
	w := newWorld(t, option{plain: true})
	if got := strings.Join(w.box.Names(toolbox.View{Mode: "code"}), " "); got != "shell" {
		t.Errorf("tools: %s", got)
	}
	def := w.box.Tools(toolbox.View{Mode: "code"})[0]
	raw, err := json.Marshal(def.Schema)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"background", "adopt", "detach", "task_"} {
		if strings.Contains(string(raw)+def.Description, word) {
			t.Errorf("it speaks of %s", word)
		}
	}
	if res := w.call("shell", args{"command": "true", "background": true}); res.Err == nil || res.Err.Code != tool.InvalidParameter {
		t.Errorf("background is taken: %s", res.Text())
	}
}

// H2: after kill -9 of the server its tasks have ended, the detached one goes on, and a new server says so.
func TestH2_KilledServer(t *testing.T) {
	w := newWorld(t, option{})
	begin := hold + "trap '' HUP; setsid sleep 300 & echo up; sleep 300"
	cmd := exec.Command(os.Args[0], w.dir, w.state, fmt.Sprintf(`{"command": %q, "background": true}`, begin), fmt.Sprintf(`{"command": %q, "background": true, "detach": true}`, "echo detached; sleep 300"))
	cmd.Env = append(os.Environ(), serverVariable+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	lines := bufio.NewScanner(out)
	var ids []string
	for range 2 {
		if !lines.Scan() {
			t.Fatalf("the server ended: %v", lines.Err())
		}
		var text string
		w.ok(json.Unmarshal(lines.Bytes(), &text))
		ids = append(ids, w.task(text))
	}
	w.is("while it lives", w.text("task_list", args{}), ids[0]+"\trunning for TIME\t"+begin+"\n"+ids[1]+"\trunning for TIME\techo detached; sleep 300")
	w.ok(cmd.Process.Kill())
	cmd.Wait()
	r, err := w.tasks.Recover(w.ctx)
	if err != nil || len(r.Running) != 1 {
		t.Errorf("recovered %+v, %v", r, err)
	}
	if w.runner.Confinement().OwnerDeath {
		w.deserted()
	}
	w.is("afterwards", w.text("task_list", args{}), ids[0]+"\tended after TIME because the process that started it is gone\t"+begin+"\n"+ids[1]+"\trunning for TIME\techo detached; sleep 300")
	w.is("output", w.text("task_output", args{"id": ids[0]}), "up\n[Task TASK: ended after TIME because the process that started it is gone]")
	w.is("detached", w.text("task_output", args{"id": ids[1]}), "detached\n[Task TASK: running for TIME]")
	w.is("stopped", w.text("task_stop", args{"id": ids[1]}), "[Task TASK: stopped after TIME]")
	w.deserted()
}
