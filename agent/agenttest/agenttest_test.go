package agenttest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/model"
)

func TestEmbedded(t *testing.T) { Run(t, Embedded) }

type failures []string

func (*failures) Helper() {}

func (f *failures) Errorf(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

// Check finds what a driver does wrong.
func TestCheck(t *testing.T) {
	started := agent.Event{Kind: agent.Started, Setup: &agent.Setup{Version: 1, Session: "s", Model: model.Info{}}}
	said := agent.Event{Kind: agent.Said, Said: &agent.Message{ID: "m"}}
	answer := agent.Event{Kind: agent.Answered, Answer: &agent.Answer{Calls: []agent.Call{{ID: "c", Name: "act"}}}}
	running := agent.Event{Kind: agent.Running, Call: &agent.CallEvent{ID: "c", Class: agent.Once}}
	ran := agent.Event{Kind: agent.Ran, Result: &agent.Result{ID: "c", Outcome: agent.OK}}
	resumed := agent.Event{Kind: agent.Resumed}
	finished := agent.Event{Kind: agent.Finished, End: &agent.End{Why: agent.Done}}
	final := agent.Event{Kind: agent.Answered, Answer: &agent.Answer{}}
	for _, c := range []struct {
		name string
		evs  []agent.Event
		want string
	}{
		{"right", []agent.Event{started, said, answer, running, ran, final, finished}, ""},
		{"an answer that nobody asked for", []agent.Event{started, said, answer, answer}, "agent.answered while"},
		{"two results", []agent.Event{started, said, answer, ran, ran}, "not open"},
		{"run twice", []agent.Event{started, said, answer, running, resumed, running}, "may have run"},
		{"the end before the results", []agent.Event{started, said, answer, finished}, "agent.finished while"},
		{"a second beginning", []agent.Event{started, started}, "agent.started while"},
	} {
		var f failures
		for i := range c.evs {
			c.evs[i].Seq = int64(i + 1)
		}
		Check(&f, c.evs)
		if got := strings.Join(f, "; "); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
