package agenttest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// Run runs the suite.
func Run(t *testing.T, newDriver New) {
	for name, test := range map[string]func(*testing.T, New){
		"Turn": testTurn, "Parallel": testParallel, "Denied": testDenied, "Steering": testSteering, "Cancel": testCancel, "Errors": testErrors,
		"Limits": testLimits, "Long": testLong, "Crash": testCrash, "TwoSessions": testTwoSessions,
	} {
		t.Run(name, func(t *testing.T) { test(t, newDriver) })
	}
}

func story(_ context.Context, n int, _ model.Request) (model.Answer, error) {
	switch n {
	case 0:
		return Calls("look 1", "act a", "look 2")
	case 1:
		return Calls("act b", "act c", "none d")
	}
	return Says("done")
}

func testTurn(t *testing.T, newDriver New) {
	p := newPlace()
	d := newDriver(t, p.process(t, Model(story), nil, -1))
	turn, err := d.Run(t.Context(), "s", "go")
	if err != nil || turn.End.Why != agent.Done || turn.Text != "done" || turn.Tally.Calls != 6 {
		t.Fatalf("%+v %v", turn, err)
	}
	evs, s := p.log(t, "s")
	if s.Phase != agent.Resting || s.Turns != 1 || p.done("a") != 1 || p.done("b") != 1 || p.done("c") != 1 {
		t.Errorf("%+v, %v", s, p.did)
	}
	msgs := agent.Messages(evs)
	if len(msgs) != 6 || !strings.Contains(content.JoinText(msgs[4].Blocks[2].Result.Parts), "UNKNOWN_TOOL") {
		t.Errorf("%d messages", len(msgs))
	}
}

// Calls that allow it run at the same time, and their results stand in the order of the calls.
func testParallel(t *testing.T, newDriver New) {
	p := newPlace()
	d := newDriver(t, p.process(t, Model(func(_ context.Context, n int, _ model.Request) (model.Answer, error) {
		if n == 0 {
			return Calls("wait 1", "wait 2")
		}
		return Says("done")
	}), nil, -1))
	go func() {
		<-p.began
		<-p.began // both are under way: only now they may end
		close(p.hold)
	}()
	if turn, err := d.Run(t.Context(), "s", "go"); err != nil || turn.Text != "done" {
		t.Fatalf("%+v %v", turn, err)
	}
	evs, _ := p.log(t, "s")
	blocks := agent.Messages(evs)[2].Blocks
	if a, b := content.JoinText(blocks[0].Result.Parts), content.JoinText(blocks[1].Result.Parts); a != "waited 1" || b != "waited 2" {
		t.Errorf("%q, %q", a, b)
	}
}

// The third identical refusal ends the turn (P13).
func testDenied(t *testing.T, newDriver New) {
	p := newPlace()
	d := newDriver(t, p.process(t, Model(func(context.Context, int, model.Request) (model.Answer, error) { return Calls("act a") }), func(r toolbox.GateRequest) tool.Decision {
		return tool.Decision{Verdict: tool.Deny, By: "test"}
	}, -1))
	turn, err := d.Run(t.Context(), "s", "go")
	if err != nil || turn.End.Why != agent.RefusedOver || turn.Tally.Rounds != 3 || p.done("a") != 0 {
		t.Fatalf("%+v %v", turn, err)
	}
	p.log(t, "s")
}

func testSteering(t *testing.T, newDriver New) {
	p := newPlace()
	d := newDriver(t, p.process(t, Model(func(_ context.Context, n int, req model.Request) (model.Answer, error) {
		if n == 0 {
			return Calls("wait 1")
		}
		last := req.Messages[len(req.Messages)-1].Blocks
		return Says(last[len(last)-1].Part.Text)
	}), nil, -1))
	said := make(chan error, 1)
	go func() {
		<-p.began
		m := agent.Message{ID: "m1", Parts: []content.Part{content.TextPart("the other way")}}
		said <- errors.Join(d.Say(t.Context(), "s", m), d.Say(t.Context(), "s", m)) // delivered twice
		close(p.hold)
	}()
	turn, err := d.Run(t.Context(), "s", "go")
	if err := errors.Join(err, <-said); err != nil || turn.Text != "the other way" || turn.Tally.Rounds != 2 {
		t.Fatalf("%+v %v", turn, err)
	}
	if _, s := p.log(t, "s"); s.Messages != 2 {
		t.Errorf("%d messages", s.Messages)
	}
}

// A cancelled turn leaves a session that can go on.
func testCancel(t *testing.T, newDriver New) {
	p := newPlace()
	d := newDriver(t, p.process(t, Model(func(_ context.Context, n int, _ model.Request) (model.Answer, error) {
		if n == 0 {
			return Calls("wait 1", "wait 2", "act a")
		}
		return Says("done")
	}), nil, -1))
	cancelled := make(chan error, 1)
	go func() {
		<-p.began
		cancelled <- d.Cancel(t.Context(), "s", "enough")
	}()
	turn, err := d.Run(t.Context(), "s", "go")
	if err := errors.Join(err, <-cancelled); err != nil || turn.End.Why != agent.WasCanceled || turn.End.Detail != "enough" {
		t.Fatalf("%+v %v", turn, err)
	}
	p.log(t, "s")
	if turn, err := d.Run(t.Context(), "s", "go on"); err != nil || turn.Text != "done" {
		t.Fatalf("%+v %v", turn, err)
	}
	if p.log(t, "s"); p.done("a") != 0 {
		t.Error("a call of the cancelled turn was run")
	}
}

func testErrors(t *testing.T, newDriver New) {
	for class, why := range map[model.Class]agent.Ending{model.Unauthorized: agent.ModelFailed, model.Refused: agent.Declined, model.Retry: agent.ModelFailed, model.TooLong: agent.DoesNotFit} {
		p := newPlace()
		d := newDriver(t, p.process(t, Model(func(context.Context, int, model.Request) (model.Answer, error) {
			return model.Answer{}, &model.Error{Class: class, Provider: "test", Message: "it failed"}
		}), nil, -1))
		if turn, err := d.Run(t.Context(), "s", "go"); err != nil || turn.End.Why != why {
			t.Errorf("%s: %+v %v", class, turn, err)
		}
		p.log(t, "s")
	}
	p, tries := newPlace(), 0
	d := newDriver(t, p.process(t, Model(func(context.Context, int, model.Request) (model.Answer, error) {
		if tries++; tries < 4 {
			return model.Answer{}, &model.Error{Class: model.Retry, Provider: "test", Message: "overloaded"}
		}
		return Says("done")
	}), nil, -1))
	if turn, err := d.Run(t.Context(), "s", "go"); err != nil || turn.Text != "done" {
		t.Errorf("%+v %v", turn, err)
	}
	p.log(t, "s")
}

func testLimits(t *testing.T, newDriver New) {
	p := newPlace()
	cfg := p.process(t, Model(func(_ context.Context, n int, _ model.Request) (model.Answer, error) {
		return Calls("look " + strings.Repeat("x", n))
	}), nil, -1)
	cfg.Limits.Rounds = 5
	d := newDriver(t, cfg)
	if turn, err := d.Run(t.Context(), "s", "go"); err != nil || turn.End.Why != agent.AtLimit || turn.Tally.Rounds != 5 {
		t.Errorf("%+v %v", turn, err)
	}
	p.log(t, "s")
}

// A long session is told in short, several times, and goes on.
func testLong(t *testing.T, newDriver New) {
	p := newPlace()
	total := 0
	cfg := p.process(t, Model(func(_ context.Context, _ int, req model.Request) (model.Answer, error) {
		if req.Choose == model.None {
			return Says("in short")
		}
		if total++; total > 60 {
			return Says("done")
		}
		return Calls("look " + strings.Repeat("word ", 3000+total))
	}), nil, -1)
	d := newDriver(t, cfg)
	if turn, err := d.Run(t.Context(), "s", "go"); err != nil || turn.Text != "done" {
		t.Fatalf("%+v %v", turn, err)
	}
	evs, _ := p.log(t, "s")
	n := 0
	for _, ev := range evs {
		if ev.Kind == agent.Compacted {
			n++
		}
	}
	if n < 2 {
		t.Errorf("%d compactions", n)
	}
}

// The process ends at every moment between two appends, and another one goes on.
func testCrash(t *testing.T, newDriver New) {
	for n := 1; ; n++ {
		if n > 1000 {
			t.Fatal("the driver never comes to an end")
		}
		p := newPlace()
		first := p.process(t, Model(story), nil, n)
		turn, err := newDriver(t, first).Run(t.Context(), "s", "go")
		_ = first.Records.Close() // what it could not store is lost with it
		if err == nil {
			if turn.Text != "done" || n < 8 {
				t.Fatalf("after %d appends: %+v", n, turn)
			}
			return
		}
		stored, err := p.events.Read(t.Context(), "s", 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if evs, err := agent.Read(stored); err != nil || len(evs) < 2 {
			continue // it died before anything was said
		}
		second := p.process(t, Model(story), nil, -1)
		if turn, err = newDriver(t, second).Resume(t.Context(), "s"); err != nil || turn.Text != "done" {
			t.Fatalf("after %d appends: %+v %v", n, turn, err)
		}
		evs, s := p.log(t, "s")
		unknown := 0
		for _, ev := range evs {
			if ev.Kind == agent.Unknown {
				unknown++
			}
		}
		if s.Phase != agent.Resting || unknown != s.Unsure {
			t.Errorf("after %d appends: %+v", n, s)
		}
		ran := 0
		for _, text := range []string{"a", "b", "c"} {
			if ran += p.done(text); p.done(text) > 1 {
				t.Errorf("after %d appends: act %s ran %d times", n, text, p.done(text))
			}
		}
		if ran+unknown < 3 {
			t.Errorf("after %d appends: %d calls ran, of %d nobody knows", n, ran, unknown)
		}
		if err := second.Records.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Sessions of one driver do not wait for each other.
func testTwoSessions(t *testing.T, newDriver New) {
	p := newPlace()
	d := newDriver(t, p.process(t, Model(func(_ context.Context, n int, _ model.Request) (model.Answer, error) {
		if n == 0 {
			return Calls("wait 1")
		}
		return Says("done")
	}), nil, -1))
	ends := make(chan error, 2)
	for _, s := range []string{"s1", "s2"} {
		go func() {
			_, err := d.Run(t.Context(), s, "go")
			ends <- err
		}()
	}
	<-p.began
	<-p.began
	close(p.hold)
	if err := errors.Join(<-ends, <-ends); err != nil {
		t.Fatal(err)
	}
	p.log(t, "s1")
	p.log(t, "s2")
}
