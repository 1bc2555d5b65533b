//go:build linux

package shell

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/tool"
)

// H1, O5: what a model reads of a command, word for word.
func TestH1_Results(t *testing.T) {
	w := newWorld(t, option{})
	w.put("dir/file", "one\n")
	for _, c := range []struct {
		name string
		args args
		want string
		code tool.Code
	}{
		{"output", args{"command": "echo one; echo two >&2; printf three"}, "one\ntwo\nthree", ""},
		{"nothing", args{"command": "true"}, "(no output)", ""},
		{"exit status", args{"command": "echo out; exit 3"}, "out\n[exit status 3]", ""},
		{"exit status alone", args{"command": "exit 1"}, "[exit status 1]", ""},
		{"signal", args{"command": "kill -SEGV $$"}, "[ended by SIGSEGV]", ""},
		{"syntax of bash", args{"command": "echo 'open"}, "/bin/bash: -c: line 1: unexpected EOF while looking for matching `''\n[exit status 2]", ""},
		{"workdir", args{"command": "pwd", "workdir": "dir"}, "DIR/dir", ""},
		{"input is closed", args{"command": "cat; echo done"}, "done", ""},
		{"no terminal", args{"command": "read x </dev/tty"}, "/bin/bash: line 1: /dev/tty: No such device or address\n[exit status 1]", ""},
		{"no pager, no prompt, no editor", args{"command": "echo $PAGER $GIT_TERMINAL_PROMPT; eval \"$GIT_EDITOR\""}, "cat 0\n" +
			"no editor here: give the text as an argument, such as git commit -m TEXT\n[exit status 1]", ""},
		{"state does not last", args{"command": "cd dir; X=1; echo $X"}, "1", ""},
		{"state has not lasted", args{"command": "pwd; echo $X."}, "DIR\n.", ""},
		{"unicode", args{"command": "echo 漢é😀"}, "漢é😀", ""},
		{"time limit", args{"command": hold + "echo begun; sleep 300 & sleep 300", "timeout": 1}, "TOOL ERROR: TIMEOUT\n" +
			"the command was ended after 1s (time limit), with everything that it had started.\nIts output until then:\nbegun\n" +
			"RECOVERY HINT: Give a longer timeout (seconds, at most 600), or run it with background=true.", tool.TimedOut},
		{"empty", args{"command": " \n"}, "TOOL ERROR: INVALID_PARAMETER\ncommand is empty.\nPARAMETER: command\nEXPECTED: a command line for bash", tool.InvalidParameter},
		{"NUL", args{"command": "echo \x00"}, "TOOL ERROR: INVALID_PARAMETER\ncommand holds a NUL byte, which no command line can.\nPARAMETER: command\n" +
			"EXPECTED: a command line without NUL bytes\nRECOVERY HINT: Write such data into a file with write_file, and name the file.", tool.InvalidParameter},
		{"no folder", args{"command": "pwd", "workdir": "none"}, "TOOL ERROR: NOT_FOUND\nthe folder \"none\" to run in does not exist.\nPARAMETER: workdir\n" +
			"RECOVERY HINT: Look for it with list_dir, or make it in the command: mkdir -p …", tool.NotFound},
		{"a file as folder", args{"command": "pwd", "workdir": "dir/file"}, "TOOL ERROR: INVALID_PARAMETER\n\"dir/file\", or a parent of it, is not a directory.\n" +
			"PARAMETER: workdir\nEXPECTED: the path of a directory", tool.InvalidParameter},
		{"milliseconds", args{"command": "true", "timeout": 120000}, "TOOL ERROR: INVALID_PARAMETER\ntimeout must be an integer, 1–600, but is 120000 (the unit is seconds); did you mean 120?\nPARAMETER: timeout\n" +
			"EXPECTED: an integer, 1–600\nEXAMPLE: shell {\"command\": \"go test ./...\", \"timeout\": 120}\nRECOVERY HINT: Did you mean \"120\"? Correct the arguments and call again. Nothing was done.", tool.InvalidParameter},
		{"detach alone", args{"command": "true", "detach": true}, "TOOL ERROR: INVALID_PARAMETER\ndetach is only for background commands.\nPARAMETER: detach\n" +
			"EXPECTED: detach together with background=true, or without detach", tool.InvalidParameter},
		{"both", args{"command": "true", "background": true, "adopt": true}, "TOOL ERROR: INVALID_PARAMETER\n" +
			"background and adopt exclude each other: a background command is a task from the start.\nPARAMETER: adopt\nEXPECTED: only one of the two", tool.InvalidParameter},
		{"too long for the system", args{"command": ": " + strings.Repeat("x", 200<<10)}, "TOOL ERROR: INVALID_PARAMETER\n" +
			"the command cannot be run: arguments and environment are too long for the system (N bytes): put the text into a file.\nPARAMETER: command\n" +
			"EXPECTED: a command line that the system takes\nRECOVERY HINT: Put long text into a file, and name the file.", tool.InvalidParameter},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.t = t
			res := w.call("shell", c.args)
			w.is(c.name, res.Text(), c.want)
			if (res.Err == nil) != (c.code == "") || res.Err != nil && res.Err.Code != c.code {
				t.Errorf("error is %v, want %q", res.Err, c.code)
			}
		})
	}
	w.t = t
	w.deserted()
}

// T16: the names that models learned elsewhere are repairs.
func TestT16_Names(t *testing.T) {
	w := newWorld(t, option{})
	w.put("dir/x", "")
	for _, a := range []args{
		{"cmd": "pwd", "cwd": "dir", "timeout_ms": 5000, "description": "where am I"},
		{"script": "pwd", "working_directory": "dir", "timeout_secs": "5"},
		{"command": "pwd", "workDir": "dir", "run_in_background": false},
	} {
		res := w.call("shell", a)
		w.is("result", res.Text(), "DIR/dir")
		if len(res.Meta.Repairs) == 0 {
			t.Errorf("%v: no repair is on record", a)
		}
	}
}

// H1: cancelling a call ends the whole tree, and says what had happened until then.
func TestH1_Cancel(t *testing.T) {
	w := newWorld(t, option{})
	cancelled, cancel := context.WithCancel(w.ctx)
	req := w.request("shell", args{"command": hold + "echo begun; trap '' TERM INT HUP; setsid sleep 300 & sleep 300", "timeout": 100})
	req.Partial = func(s string) {
		if strings.Contains(s, "begun") {
			cancel()
		}
	}
	res, err := w.box.Call(cancelled, req)
	if err != nil {
		t.Fatal(err)
	}
	w.is("result", res.Text(), "TOOL ERROR: CANCELLED\nthe call was cancelled; the command was ended, with everything that it had started.\nIts output until then:\nbegun\n"+
		"RECOVERY HINT: Whoever made the call ended it; do not repeat it unless you are asked to.")
	w.deserted()
}

// T12: partial output reaches the face while the command runs, whole lines at a time.
func TestT12_Partial(t *testing.T) {
	w := newWorld(t, option{})
	w.put("go", "")
	w.ok(mkfifo(w.dir + "/go.fifo"))
	req := w.request("shell", args{"command": "printf 'one\\ntw'; read x <go.fifo; echo o; read x <go.fifo; seq 1 100000; sleep 1; echo end", "timeout": 100})
	var got strings.Builder
	seen := 0
	req.Partial = func(s string) {
		if !strings.HasSuffix(s, "\n") {
			t.Errorf("a line is torn: %q", s)
		}
		got.WriteString(s)
		if seen++; seen <= 2 {
			w.ok(writeFifo(w.dir+"/go.fifo", "\n"))
		}
	}
	start := time.Now()
	res := w.do(req)
	if !strings.Contains(res.Text(), "\n100000\nend\n[The whole output") {
		t.Errorf("result ends in %q", res.Text()[len(res.Text())-200:])
	}
	if !strings.HasPrefix(got.String(), "one\ntwo\n") || got.Len() > 64<<10 || !strings.Contains(got.String(), "\n100000\n") {
		t.Errorf("%d bytes were streamed in %v: %.60q", got.Len(), time.Since(start), got.String())
	}
}
