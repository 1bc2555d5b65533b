package host

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/internal/clip"
)

func TestExitString(t *testing.T) {
	sleep, cat := ProcessInfo{PID: 7, Name: "sleep"}, ProcessInfo{PID: 8, Name: "cat"}
	for _, c := range []struct {
		e    Exit
		want string
	}{
		{Exit{}, "not ended"},
		{Exit{End: EndExited}, "exit status 0"},
		{Exit{End: EndExited, Code: 3}, "exit status 3"},
		{Exit{End: EndExited, Code: -1, Signal: "SIGSEGV"}, "ended by SIGSEGV"},
		{Exit{End: EndTime, Limit: "30s"}, "ended after 30s (time limit)"},
		{Exit{End: EndOutput, Limit: "9 bytes"}, "ended after 9 bytes of output (limit)"},
		{Exit{End: EndTree, Limit: "9 processes at one time"}, "ended at more than 9 processes at one time (limit)"},
		{Exit{End: EndStopped, Code: 1}, "stopped"},
		{Exit{End: EndOwner}, "ended because the process that started it is gone"},
		{Exit{End: EndLost}, "gone; nobody saw how it ended"},
		{Exit{End: EndExited, Survivors: []ProcessInfo{sleep}}, "exit status 0; process 7 (sleep) lives on"},
		{Exit{End: EndExited, Survivors: []ProcessInfo{sleep, cat}, Open: true}, "exit status 0; processes 7 (sleep), 8 (cat) live on with the output open"},
		{Exit{End: EndTime, Limit: "1s", Waiting: &Waiting{ProcessInfo: cat, On: "terminal", Sure: true}}, "ended after 1s (time limit); it waited for input on its terminal (pid 8, cat)"},
		{Exit{End: EndTime, Limit: "1s", Waiting: &Waiting{ProcessInfo: cat, On: "pipe"}}, "ended after 1s (time limit); it seemed to wait for input on its pipe (pid 8, cat)"},
		{Exit{End: EndTime, Limit: "1s", Waiting: &Waiting{ProcessInfo: cat}}, "ended after 1s (time limit); it seemed to wait for input although it has none (pid 8, cat)"},
	} {
		if got := c.e.String(); got != c.want {
			t.Errorf("%+v is %q, want %q", c.e, got, c.want)
		}
	}
	many := make([]ProcessInfo, 20)
	for i := range many {
		many[i] = ProcessInfo{PID: i + 1, Name: "x"}
	}
	if got := ListProcesses(many); !strings.HasPrefix(got, "processes 1 (x), 2 (x), ") || !strings.HasSuffix(got, ", 8 (x), 12 more") {
		t.Errorf("twenty processes are %q", got)
	}
	if took := (Exit{Started: time.Unix(9, 0)}).Took(); took != 0 {
		t.Errorf("what has not ended took %s", took)
	}
	for c, want := range map[*Confinement]string{{Tree: "x"}: "unconfined; trees end by x", {Confined: true, Tree: "y"}: "confined; trees end by y"} {
		if got := c.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestHazardousVariable(t *testing.T) {
	for name, want := range map[string]bool{"LD_PRELOAD": true, "BASH_ENV": true, "BASH_FUNC_ls%%": true, "GIT_DIR": true, "PAGER": true, "HOME": false, "LANG": false, "GOFLAGS": false, "MY_LD_PRELOAD": false, "": false} {
		if HazardousVariable(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

// pieces is an output of which only some stretches are kept.
type pieces struct {
	total int64
	kept  map[int64]string
	fail  error
}

func (p pieces) Stat() (OutputStat, error) {
	st := OutputStat{Total: p.total, Done: true}
	for _, s := range p.kept {
		st.Kept += int64(len(s))
	}
	return st, nil
}

func (p pieces) Read(b []byte, at int64) (int, int64, error) {
	next, text := int64(-1), ""
	for start, s := range p.kept {
		if start+int64(len(s)) > at && (next < 0 || start < next) {
			next, text = start, s
		}
	}
	if next < 0 {
		if p.fail != nil {
			return 0, at, p.fail
		}
		return 0, at, io.EOF
	}
	at = max(at, next)
	return copy(b, text[at-next:]), at, nil
}

func (p pieces) More(context.Context, int64) error { return io.EOF }

// H1, O5: a stretch that is no longer kept is marked in its place and counts as cut.
func TestH1_LostStretches(t *testing.T) {
	o := pieces{total: 30, kept: map[int64]string{0: "start\n", 20: "the end\n"}}
	var b strings.Builder
	gone, err := CopyOutput(&b, o, 0)
	if want := "start\n\n…(14 bytes no longer kept)…\nthe end\n"; err != nil || gone != 14 || b.String() != want {
		t.Errorf("%d gone, %q, %v; want %q", gone, b.String(), err, want)
	}
	b.Reset()
	if gone, err := CopyOutput(&b, o, 3); err != nil || gone != 14 || !strings.HasPrefix(b.String(), "rt\n") {
		t.Errorf("from the middle: %d gone, %q, %v", gone, b.String(), err)
	}
	res, err := ClipOutput(o, clip.Limits{Lines: -1, Bytes: 4}, clip.Tail)
	if err != nil || !strings.HasSuffix(res.Text(), "end\n") || !res.Cut.Truncated() || res.Cut.Unit != clip.UnitBytes || res.Cut.Bytes.Total < o.total {
		t.Errorf("clipped %q, %+v, %v", res.Text(), res.Cut, err)
	}
	broken := errors.New("broken disk")
	o.fail, o.kept = broken, map[int64]string{0: "start\n"}
	b.Reset()
	if _, err := CopyOutput(&b, o, 0); !errors.Is(err, broken) || b.String() != "start\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
	full := errors.New("full")
	if _, err := CopyOutput(failing{full}, pieces{total: 9, kept: map[int64]string{0: "some text"}}, 0); !errors.Is(err, full) {
		t.Error(err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
