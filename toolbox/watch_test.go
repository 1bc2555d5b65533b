package toolbox

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/tackle-dev/tackle/tool"
)

// A watcher hears of every stage in order, and its error keeps a call from running.
func TestWatch(t *testing.T) {
	ran := 0
	write := tool.Define(tool.Spec{Name: "act", Category: "test", Description: "Act."}, func(context.Context, *tool.Call, struct{}) (tool.Action, error) {
		return tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Execute}}, Run: func(context.Context, tool.Runner) (tool.Result, error) {
			ran++
			return tool.TextResult("done", nil), nil
		}}, nil
	})
	b := newBox(t, Config{Gate: askAll, Answerer: answererFunc(yes)}, write)
	for _, c := range []struct {
		tool  string
		fail  Stage
		want  []string
		ran   int
		fault bool
	}{
		{"act", "", []string{"planned", "asked", "decided allow", "running allow", "ended ok"}, 1, false},
		{"act", StageRunning, []string{"planned", "asked", "decided allow", "running allow"}, 0, true},
		{"act", StageAsked, []string{"planned", "asked"}, 0, true},
		{"act", StagePlanned, []string{"planned"}, 0, true},
		{"none", "", []string{"ended failed"}, 0, false},
	} {
		var got []string
		ran = 0
		res, err := b.Call(t.Context(), Request{Tool: c.tool, Args: []byte(`{}`), Watch: func(_ context.Context, m Moment) error {
			s := string(m.Stage)
			switch {
			case m.Stage == StageDecided || m.Stage == StageRunning:
				s += " " + m.Decision.Verdict.String()
			case m.Stage == StageEnded && m.Result.OK():
				s += " ok"
			case m.Stage == StageEnded:
				s += " failed"
			}
			if m.Stage != StageEnded && (m.Intent == nil || m.Tool.Name != "act" || m.Point != 1) {
				t.Errorf("%+v", m)
			}
			got = append(got, s)
			if m.Stage == c.fail {
				return errors.New("not stored")
			}
			return nil
		}})
		if !slices.Equal(got, c.want) || ran != c.ran || tool.IsFault(err) != c.fault {
			t.Errorf("%s fails at %q: %q, ran %d, %v %v", c.tool, c.fail, got, ran, res.Err, err)
		}
	}
	if _, err := b.Call(t.Context(), Request{Tool: "act", Args: []byte(`{}`), Watch: func(context.Context, Moment) error { panic("watcher") }}); !tool.IsFault(err) {
		t.Errorf("a panic of the watcher: %v", err)
	}
}
