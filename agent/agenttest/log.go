package agenttest

import (
	"slices"

	"github.com/tackle-dev/tackle/agent"
)

// TB is the part of testing.TB that checks need.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
}

// Check holds the log of a session against what a driver must keep: each event answers a step that the machine asked for, every
// call has exactly one result before the model is asked again, nothing that may have run is run again, and nothing is done after
// the end of a turn. It returns the state that the log leads to.
func Check(t TB, evs []agent.Event) agent.State {
	t.Helper()
	c := checker{TB: t, results: map[string]int{}, began: map[string]agent.Class{}}
	var s agent.State
	for i := range evs {
		ev := &evs[i]
		if i > 0 && ev.Seq <= evs[i-1].Seq {
			t.Errorf("event %d (%s) stands behind %d", ev.Seq, ev.Kind, evs[i-1].Seq)
		}
		c.before(&s, ev)
		var steps []agent.Step
		s, steps = agent.Next(s, *ev)
		for _, st := range steps {
			if st.Kind == agent.FindOut {
				for _, call := range st.Calls {
					c.doubted = append(c.doubted, call.ID)
				}
			}
		}
	}
	for id, n := range c.results {
		if n != 1 {
			t.Errorf("call %s has %d results", id, n)
		}
	}
	if s.Phase == agent.Resting {
		for _, id := range c.asked {
			if c.results[id] == 0 {
				t.Errorf("call %s has no result", id)
			}
		}
	}
	return s
}

type checker struct {
	TB
	asked   []string // calls of all answers
	results map[string]int
	began   map[string]agent.Class // calls that may have run
	doubted []string               // of which it was to be found out whether they ran
}

// before looks at an event before the machine takes it.
func (c *checker) before(s *agent.State, ev *agent.Event) {
	wrong := func(want ...agent.Phase) {
		if !slices.Contains(want, s.Phase) {
			c.Errorf("event %d: %s while the session is %s", ev.Seq, ev.Kind, s.Phase)
		}
	}
	open := func(id string) bool {
		return slices.ContainsFunc(s.Calls, func(cs agent.CallState) bool { return cs.ID == id && cs.Status != agent.Settled })
	}
	switch ev.Kind {
	case agent.Started:
		wrong(agent.Fresh)
	case agent.Configured:
		wrong(agent.Resting)
	case agent.Answered:
		wrong(agent.Thinking)
		for _, call := range ev.Answer.Calls {
			if slices.Contains(c.asked, call.ID) {
				c.Errorf("event %d: two calls have the id %s", ev.Seq, call.ID)
			}
			c.asked = append(c.asked, call.ID)
		}
	case agent.Failed:
		wrong(agent.Thinking)
	case agent.Planned, agent.Asked, agent.Decided, agent.Running:
		wrong(agent.Working)
		if !open(ev.Call.ID) {
			c.Errorf("event %d: %s of call %s, which is not open", ev.Seq, ev.Kind, ev.Call.ID)
		}
		c.begins(ev)
	case agent.Ran, agent.Unknown:
		wrong(agent.Working)
		if !open(ev.Result.ID) {
			c.Errorf("event %d: %s of call %s, which is not open", ev.Seq, ev.Kind, ev.Result.ID)
		}
		c.results[ev.Result.ID]++
	case agent.Compacted:
		wrong(agent.Compacting, agent.Resting)
	case agent.Finished:
		wrong(agent.Ends)
	}
}

// begins notes that a call began, and finds one that began twice.
func (c *checker) begins(ev *agent.Event) {
	id := ev.Call.ID
	switch ev.Kind {
	case agent.Planned:
		if slices.Contains(c.doubted, id) { // it is sure that it did not run
			delete(c.began, id)
		}
	case agent.Running:
		if class, before := c.began[id]; before && ev.Call.Point <= 1 && !class.Again() {
			c.Errorf("event %d: call %s is run again, although it may have run (%s)", ev.Seq, id, class)
		}
		c.began[id] = ev.Call.Class
	}
}
