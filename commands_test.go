//go:build linux || darwin

package tackle_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/tool"
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
