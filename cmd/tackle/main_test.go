package main

import (
	"os"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tackle-dev/tackle/host/local/confine"
	"github.com/tackle-dev/tackle/host/local/proc"
)

func TestMain(m *testing.M) {
	proc.KeeperMain()
	confine.Main()
	testscript.Main(m, map[string]func(){"tackle": main})
}

// Each script runs the real command in a folder of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", ContinueOnError: true, Setup: func(e *testscript.Env) error {
		e.Setenv("HOME", e.WorkDir+"/.home")
		e.Setenv("XDG_STATE_HOME", e.WorkDir+"/.home/state")
		e.Setenv("XDG_CONFIG_HOME", e.WorkDir+"/.home/config")
		e.Setenv("GORACE", "atexit_sleep_ms=50") // under the race detector each command would stay for a second
		return nil
	}, Cmds: map[string]func(*testscript.TestScript, bool, []string){"bytes": writeBytes}})
}

// writeBytes is the script command "bytes FILE QUOTED": what a text archive cannot hold.
func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: bytes FILE QUOTED")
	}
	text, err := strconv.Unquote(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}
