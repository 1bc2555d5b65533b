package program_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/dev"
	"github.com/tackle-dev/tackle/dev/engine/program"
)

// D8: any command becomes an engine by a few words of configuration.
func TestD8_Custom(t *testing.T) {
	w := newWorld(t, map[string]string{"a.x": "one\nbad\n"})
	at := filepath.Join(w.dir, "bin", "tool")
	script := `#!/bin/sh
case $1 in
format) shift; for f; do tr a-z A-Z <"$f" >"$f.new" && mv "$f.new" "$f"; done;;
lint) shift; grep -nHi '^bad' "$@" && exit 3; exit 0;;
esac
`
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	c := program.Custom{Files: []string{"*.x"}, Format: []string{"bin/tool", "format", "{files}"}, Lint: []string{"bin/tool", "lint"}, Find: `^(?P<file>[^:]+):(?P<line>\d+):(?P<message>.*)$`, Exits: []int{3}}
	eng, found, err := w.place().Custom(t.Context(), "tool", c, w.runner, w.workshop)
	if err != nil || eng == nil || found.Where != at || !strings.HasPrefix(found.Version, "file of 20") {
		t.Fatalf("%+v %v", found, err)
	}
	if got := eng.Info().Can[dev.CanFormat].Commands; !slices.Equal(got, []string{"bin/tool format"}) {
		t.Errorf("judged as %q", got)
	}
	res, err := w.pipeline(dev.Config{}, eng).Acquire().Lint(dev.Lint{}).Format().Write().Run(t.Context())
	if err != nil || w.get("a.x") != "ONE\nBAD\n" || res.Counts[dev.Warn] != 1 || res.Diagnostics[0].Range.Start.Line != 2 && res.Diagnostics[len(res.Diagnostics)-1].Range.Start.Line != 2 {
		t.Errorf("%q %+v %v", w.get("a.x"), res, err)
	}
	for want, bad := range map[string]program.Custom{
		"no command line":        {Files: []string{"*.x"}},
		"serves no files":        {Format: []string{"bin/tool"}},
		"how its output is read": {Files: []string{"*.x"}, Check: []string{"bin/tool"}},
		"regular expression":     {Files: []string{"*.x"}, Check: []string{"bin/tool"}, Find: "("},
		"group (?P<message>":     {Files: []string{"*.x"}, Check: []string{"bin/tool"}, Find: "x"},
	} {
		if _, _, err := w.place().Custom(t.Context(), "bad", bad, w.runner, w.workshop); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for want, gone := range map[string][]string{"is not there": {"bin/none"}, "is not on the path": {"no-such-program-here"}} {
		eng, found, err := w.place().Custom(t.Context(), "gone", program.Custom{Files: []string{"*.x"}, Format: gone}, w.runner, w.workshop)
		if eng != nil || err != nil || !strings.Contains(found.Reason, want) {
			t.Errorf("%v: %+v %v", gone, found, err)
		}
	}
}
