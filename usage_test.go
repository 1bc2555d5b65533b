package tackle_test

import (
	"strings"
	"testing"

	"github.com/tackle-dev/tackle"
)

// T13: the figures of a session outlive its process, and are those that the process had.
func TestT13_UsageOfRecords(t *testing.T) {
	p := newPlace(t, map[string]string{"a.txt": strings.Repeat("one\n", 2000)})
	box := p.open(tackle.Config{Session: "s1", Rules: askEdits}, false)
	call(t, box, "read_file", map[string]any{"path": "a.txt"})
	call(t, box, "read_file", map[string]any{"path": "gone.txt"})
	call(t, box, "edit", map[string]any{"path": "a.txt", "old_string": "one", "new_string": "two"})
	call(t, box, "write_file", map[string]any{"path": "b.txt", "content": "x"})
	live := map[string]int64{}
	for _, f := range box.Figures() { // one name may stand for tools of several modes
		for what, n := range map[string]int64{"calls": f.Calls, "failures": f.Failures, "denied": f.Denied, "in": f.BytesIn, "out": f.BytesOut} {
			live[f.Tool+" "+what] += n
		}
	}
	later := p.open(tackle.Config{Session: "s2"}, false)
	call(t, later, "read_file", map[string]any{"path": "a.txt"})
	list, err := later.Usage(t.Context(), "s1")
	if err != nil || len(list) != 3 || list[0].Tool != "read_file" {
		t.Fatalf("%+v %v", list, err)
	}
	for _, f := range list {
		if f.Calls != live[f.Tool+" calls"] || f.Failures != live[f.Tool+" failures"] || f.Denied != live[f.Tool+" denied"] || f.BytesIn != live[f.Tool+" in"] || f.BytesOut != live[f.Tool+" out"] || f.P50 <= 0 || f.P50 > f.P99 {
			t.Errorf("recorded %+v, live %v", f, live)
		}
	}
	all, err := later.Usage(t.Context(), "")
	if err != nil || all[0].Tool != "read_file" || all[0].Calls != 3 {
		t.Errorf("%+v %v", all, err)
	}
}
