//go:build linux || darwin

package tackle_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/host/local/proc"
	"github.com/tackle-dev/tackle/mcp"
	"github.com/tackle-dev/tackle/task"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/tools/shell"
)

var shellTools = []string{"shell", "task_output", "task_input", "task_stop", "task_list"}

// H2, P3: where commands can run their tools are listed; tasks only where they are not switched off, and have a place.
func TestH2_ToolsOfCommands(t *testing.T) {
	p := newPlace(t, map[string]string{".tackle/config.yaml": "tasks: {enabled: false}\n"})
	for _, tt := range []struct {
		name  string
		cfg   tackle.Config
		files bool
		spoil bool
		want  []string
	}{
		{"all", tackle.Config{}, false, false, shellTools},
		{"a project that switches tasks off", tackle.Config{}, true, false, shellTools[:1]},
		{"no place for tasks", tackle.Config{}, false, true, shellTools[:1]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p.t = t
			if tt.spoil {
				if err := os.RemoveAll(filepath.Join(p.dir, "state/tasks")); err != nil {
					t.Fatal(err)
				}
				p.put("state/tasks", "a file")
			}
			box := p.open(tt.cfg, tt.files)
			var got []string
			for _, name := range box.Names(box.View()) {
				if slices.Contains(shellTools, name) {
					got = append(got, name)
				}
			}
			if !slices.Equal(got, tt.want) || (box.Tasks() != nil) != (len(tt.want) > 1) {
				t.Errorf("tools %v, tasks %v", got, box.Tasks() != nil)
			}
			if notes := strings.Join(box.Notes(), "\n"); strings.Contains(notes, "no background tasks: ") != tt.spoil {
				t.Errorf("notes: %s", notes)
			}
			if res := call(t, box, "shell", map[string]any{"command": "echo hi | head -1"}); res.Text() != "hi" {
				t.Errorf("shell says %s", res.Text())
			}
		})
	}
}

// H2: tasks end with their session and with the box, but for those that were told to outlive them; the next box knows how.
func TestH2_TasksEnd(t *testing.T) {
	p := newPlace(t, nil)
	box := p.open(tackle.Config{Approve: tackle.ApproveAlways, Session: "a"}, false)
	start := func(session string, more map[string]any) string {
		t.Helper()
		args := map[string]any{"command": "sleep 300", "background": true}
		for k, v := range more {
			args[k] = v
		}
		req := tackle.NewRequest("shell", args)
		req.Session = session
		res, err := box.Call(t.Context(), req)
		if err != nil || !res.OK() {
			t.Fatal(res.Text(), err)
		}
		return regexp.MustCompile(`Task ([a-z2-9]{6})`).FindStringSubmatch(res.Text())[1]
	}
	first, second := start("a", nil), start("b", nil)
	stands := func(id string) string {
		t.Helper()
		i, err := box.Tasks().Get(id)
		if err != nil {
			t.Fatal(err)
		}
		return regexp.MustCompile(`(after|for) .*`).ReplaceAllString(i.String(), "$1 …")
	}
	if err := box.EndSession(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if a, b := stands(first), stands(second); a != "stopped after …" || b != "running for …" {
		t.Errorf("after the session: %s, %s", a, b)
	}
	if err := box.EndSession(t.Context(), ""); err == nil {
		t.Error("a session without a name has ended")
	}
	began := time.Now()
	if err := box.Close(); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d > time.Minute {
		t.Errorf("closing took %v", d)
	}
	box = p.open(tackle.Config{Session: "c"}, false)
	if b := stands(second); b != "stopped after …" {
		t.Errorf("after the box: %s", b)
	}
}

// P6: the logs of tasks are tackle's own: a model reads them with task_output.
func TestP6_LogsOfTasks(t *testing.T) {
	p := newPlace(t, nil)
	p.put("state/tasks/x/output.log", "secret\n")
	box := p.open(tackle.Config{}, false)
	if res := call(t, box, "read_file", map[string]any{"path": filepath.Join(p.dir, "state/tasks/x/output.log")}); res.Err == nil || res.Err.Code != tool.PermissionDenied {
		t.Errorf("a log was read: %s", res.Text())
	}
	if res := call(t, box, "shell", map[string]any{"command": "cat " + filepath.Join(p.dir, "state/tasks/x/output.log")}); res.Err == nil || res.Err.Code != tool.PermissionDenied {
		t.Errorf("a log was read by a command: %s", res.Text())
	}
}

// H6: over MCP a command is held no longer than the budget. It goes on as a task, and waits for that are no longer either.
func TestH6_OverMCP(t *testing.T) {
	p := newPlace(t, nil)
	box := p.open(tackle.Config{Approve: tackle.ApproveAlways}, false)
	srv, err := mcp.NewServer(box, mcp.Config{View: box.View(), Dir: box.Dir(), Budget: 2 * time.Second, Session: func(mcp.Origin) string { return "m" }})
	if err != nil {
		t.Fatal(err)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- srv.ServeStdio(t.Context(), inR, outW)
		outW.Close()
	}()
	lines := bufio.NewScanner(outR)
	id := 0
	ask := func(method, params string) (text string, isErr bool) {
		t.Helper()
		id++
		fmt.Fprintf(inW, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
		for lines.Scan() {
			var m struct {
				ID     int
				Error  any
				Result struct {
					Content []struct{ Text string }
					IsError bool
				}
			}
			if err := json.Unmarshal(lines.Bytes(), &m); err != nil || m.Error != nil {
				t.Fatalf("%s: %s", method, lines.Text())
			}
			if m.ID != id {
				continue
			}
			for _, c := range m.Result.Content {
				text += c.Text
			}
			return text, m.Result.IsError
		}
		t.Fatal("the server is gone")
		return "", false
	}
	ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}`)
	fmt.Fprintln(inW, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	// A tool has a twentieth of the budget to answer. Where the machine is too busy for that, the server's handle leads to it.
	handle := regexp.MustCompile(`is still running after .* Its id is (c-[A-Z2-7]{12}): call call_wait`)
	use := func(name, args string) (text string, isErr bool) {
		t.Helper()
		text, isErr = ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args))
		for m := handle.FindStringSubmatch(text); m != nil; m = handle.FindStringSubmatch(text) {
			text, isErr = ask("tools/call", fmt.Sprintf(`{"name":"call_wait","arguments":{"id":%q}}`, m[1]))
		}
		return text, isErr
	}
	began := time.Now()
	text, failed := use("shell", `{"command":"echo up; sleep 300","timeout":200}`)
	m := regexp.MustCompile(`(?s)^(up|\(no output\))\n\[Still running after 2s; it goes on as task ([a-z2-9]{6}) until its time limit of 3m20s: task_output waits`).FindStringSubmatch(text)
	if took := time.Since(began); m == nil || failed || took > time.Minute {
		t.Fatalf("shell: %v after %v: %s", failed, took, text)
	}
	rest := map[string]string{"up": "(no new output)", "(no output)": "up"}[m[1]] // it may not have begun yet
	began = time.Now()
	text, failed = use("task_output", fmt.Sprintf(`{"id":%q,"timeout":600}`, m[2]))
	if took := time.Since(began); failed || took > time.Minute || !strings.Contains(text, rest+"\n[Task "+m[2]+": running for ") {
		t.Errorf("wait: %v after %v: %s", failed, took, text)
	}
	if text, failed = use("shell", `{"command":"sleep 300","timeout":1}`); !failed || !strings.Contains(text, "TIMEOUT") {
		t.Errorf("a limit within the budget: %v %s", failed, text)
	}
	text, failed = use("task_stop", fmt.Sprintf(`{"id":%q}`, m[2]))
	if failed || !strings.Contains(text, "stopped") {
		t.Errorf("stop: %s", text)
	}
	inW.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// H2: a shell that a program builds keeps its options, whatever the configuration says of tasks.
func TestH2_ExplicitShell(t *testing.T) {
	p := newPlace(t, map[string]string{".tackle/config.yaml": "tasks: {enabled: false}\n"})
	r, err := proc.Open(proc.Config{Dir: p.dir, StateDir: filepath.Join(p.dir, "mine")})
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := task.Open(task.Config{Runner: r, Dir: filepath.Join(p.dir, "mine/tasks")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(tasks.Close(), r.Close()); err != nil {
			t.Error(err)
		}
	}()
	for _, tt := range []struct {
		name  string
		shell shell.Shell
		files bool // the project's file switches tasks off
		want  bool // it has background
	}{
		{"with tasks, where they are off", shell.Shell{Config: shell.Config{Runner: r, Tasks: tasks}}, true, true},
		{"without, where they are on", shell.Shell{Config: shell.Config{Runner: r}}, false, false},
	} {
		box := p.open(tackle.Config{Tools: []tackle.Tool{{Tool: tt.shell.Tool(), Replace: true}}}, tt.files)
		i := slices.IndexFunc(box.Tools(box.View()), func(d tool.Definition) bool { return d.Name == "shell" })
		def := box.Tools(box.View())[i]
		if _, has := def.Schema.Properties["background"]; has != tt.want {
			t.Errorf("%s: background is %v", tt.name, has)
		}
		if res := call(t, box, "shell", map[string]any{"command": "pwd"}); res.Text() != box.Dir() {
			t.Errorf("%s: %s", tt.name, res.Text())
		}
	}
	if _, err := tackle.Open(t.Context(), tackle.Config{Dir: p.dir, StateDir: filepath.Join(p.dir, "state"), NoFiles: true, Tools: []tackle.Tool{{Tool: shell.Shell{Config: shell.Config{Runner: r}}.Tool()}}}); err == nil {
		t.Error("a name that is taken was taken again")
	}
}
