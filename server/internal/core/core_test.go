package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/server/internal/access"
	"github.com/tackle-dev/tackle/server/internal/core"
	"github.com/tackle-dev/tackle/tool"
)

var (
	approver = access.Identity{Name: "approver", Role: access.Approver, Via: "api"}
	admin    = access.Identity{Name: "admin", Role: access.Admin, Via: "api"}
	viewer   = access.Identity{Name: "viewer", Role: access.Viewer, Via: "api"}
	bot      = access.Identity{Name: "bot", Role: access.Approver, Program: true, Via: "api"}
)

// place is a box over a scratch project, which asks for every edit below "ask/".
type place struct {
	*core.Core
	box        *tackle.Box
	dir, state string
}

func open(t *testing.T, opt core.Options) *place {
	t.Helper()
	p := &place{dir: t.TempDir(), state: t.TempDir()}
	p.reopen(t, opt)
	return p
}

func (p *place) reopen(t *testing.T, opt core.Options) {
	t.Helper()
	box, err := tackle.Open(t.Context(), tackle.Config{Dir: p.dir, StateDir: p.state, NoFiles: true, Session: "main",
		Rules: []permission.Rule{{Permission: "edit", Pattern: "ask/**", Action: tool.Ask, Reason: "look first"}, {Permission: "edit", Pattern: "no/**", Action: tool.Deny}}})
	if err != nil {
		t.Fatal(err)
	}
	p.box, p.Core = box, core.New(box, opt)
	c := p.Core
	t.Cleanup(func() {
		c.Close()
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
}

func (p *place) call(t *testing.T, name string, args map[string]any) tool.Result {
	t.Helper()
	res, err := p.box.Call(t.Context(), tackle.NewRequest(name, args))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return res
}

func (p *place) write(t *testing.T, path, content string) string {
	t.Helper()
	res := p.call(t, "write_file", map[string]any{"path": path, "content": content})
	return res.Meta.Call
}

func kindOf(err error) core.Kind {
	var e *core.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

func TestX4_CallsAreSeenWhole(t *testing.T) {
	p := open(t, core.Options{Version: "test"})
	ok := p.write(t, "a.txt", "one\n")
	bad := p.call(t, "read_file", map[string]any{"path": "missing.txt"}).Meta.Call
	no := p.write(t, "no/x.txt", "x")

	calls, err := p.Calls(t.Context(), core.CallQuery{Session: "main"})
	if err != nil || len(calls.Calls) != 3 {
		t.Fatalf("%d calls, %v", len(calls.Calls), err)
	}
	want := map[string]core.State{ok: core.OK, bad: core.Failed, no: core.Denied}
	for _, c := range calls.Calls {
		if c.State != want[c.ID] {
			t.Errorf("call of %s is %s, want %s", c.Tool, c.State, want[c.ID])
		}
	}
	one, err := p.CallByID(t.Context(), "main", ok)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(one.Diff, "+one") || len(one.Files) != 1 || one.Files[0].Status != "A" || !one.Undoable || one.Intent == nil ||
		one.Intent.Targets[0].Value != filepath.Join(p.dir, "a.txt") || len(one.Decisions) != 1 || one.Decisions[0].Verdict != "allow" || one.Result == nil || !strings.Contains(one.Result.Text, "a.txt") {
		t.Errorf("the call is not whole: %+v", one)
	}
	sessions, err := p.Sessions(t.Context(), core.SessionQuery{})
	if err != nil || len(sessions.Sessions) != 1 {
		t.Fatalf("sessions: %+v, %v", sessions, err)
	}
	s := sessions.Sessions[0]
	if s.ID != "main" || s.Calls != 3 || s.Failed != 1 || s.Denied != 1 || s.Changed != 1 || !s.Current || s.Tools["write_file"] != 2 || s.Dir != p.dir {
		t.Errorf("session: %+v", s)
	}
	usage, err := p.Usage(t.Context(), core.UsageQuery{})
	if err != nil || usage.Total.Calls != 3 || usage.Total.Failures != 1 || usage.Total.Denied != 1 || len(usage.Buckets) != 24 || usage.Total.P99MS <= 0 {
		t.Errorf("usage: %+v, %v", usage.Total, err)
	}
	if _, err := p.CallByID(t.Context(), "main", "none"); kindOf(err) != core.NotFound {
		t.Errorf("an unknown call: %v", err)
	}
	if _, err := p.Calls(t.Context(), core.CallQuery{Session: "none"}); kindOf(err) != core.NotFound {
		t.Errorf("an unknown session: %v", err)
	}
}

func TestX4_CallPages(t *testing.T) {
	p := open(t, core.Options{})
	for range 7 {
		p.call(t, "list_dir", map[string]any{"path": "."})
	}
	p.write(t, "x.txt", "x")
	all, err := p.Calls(t.Context(), core.CallQuery{Session: "main"})
	if err != nil || len(all.Calls) != 8 || all.More {
		t.Fatalf("%d calls, more %v, %v", len(all.Calls), all.More, err)
	}
	newest, _ := p.Calls(t.Context(), core.CallQuery{Session: "main", Limit: 3})
	if len(newest.Calls) != 3 || !newest.More || newest.Calls[2].Tool != "write_file" {
		t.Errorf("the newest: %+v", newest)
	}
	older, _ := p.Calls(t.Context(), core.CallQuery{Session: "main", Limit: 3, Before: newest.Calls[0].Seq})
	if len(older.Calls) != 3 || older.Calls[2].Seq >= newest.Calls[0].Seq {
		t.Errorf("older: %+v", older)
	}
	next, _ := p.Calls(t.Context(), core.CallQuery{Session: "main", After: all.Calls[4].Seq})
	if len(next.Calls) != 3 || next.Calls[0].ID != all.Calls[5].ID {
		t.Errorf("after: %+v", next)
	}
	only, _ := p.Calls(t.Context(), core.CallQuery{Session: "main", Tool: "write_file", State: core.OK})
	if len(only.Calls) != 1 {
		t.Errorf("filtered: %+v", only)
	}
}

// asked starts an edit that waits for a person, and returns its ask and where its result will come.
func (p *place) asked(t *testing.T, name string, args map[string]any) (core.Ask, <-chan tool.Result) {
	t.Helper()
	watch := p.box.Asks().Subscribe(ask.Audience{})
	t.Cleanup(watch.Close)
	done := make(chan tool.Result, 1)
	go func() {
		res, err := p.box.Call(context.WithoutCancel(t.Context()), tackle.NewRequest(name, args))
		if err != nil {
			t.Error(err)
		}
		done <- res
	}()
	for {
		e, err := watch.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == ask.Opened {
			a, err := p.Ask(t.Context(), e.Request.ID)
			if err != nil {
				t.Fatal(err)
			}
			return a, done
		}
	}
}

func TestP8_AnswersOfIdentities(t *testing.T) {
	p := open(t, core.Options{})
	a, done := p.asked(t, "write_file", map[string]any{"path": "ask/a.txt", "content": "x\n"})
	if _, err := p.Answer(t.Context(), viewer, a.ID, core.Answer{Allow: true, Fingerprint: a.Fingerprint}); kindOf(err) != core.Forbidden || !strings.Contains(err.Error(), "approver") {
		t.Errorf("a viewer: %v", err)
	}
	if _, err := p.Answer(t.Context(), approver, a.ID, core.Answer{Allow: true, Fingerprint: strings.Repeat("0", 64)}); kindOf(err) != core.Conflict {
		t.Errorf("another version: %v", err)
	}
	if _, err := p.Answer(t.Context(), approver, a.ID, core.Answer{Allow: true, Fingerprint: a.Fingerprint, Scope: "century"}); kindOf(err) != core.Invalid {
		t.Errorf("a scope that is not offered: %v", err)
	}
	calls, _ := p.Calls(t.Context(), core.CallQuery{Session: "main"})
	if len(calls.Calls) != 1 || calls.Calls[0].State != core.Asking || calls.Calls[0].Ask != a.ID {
		t.Errorf("the waiting call: %+v", calls.Calls)
	}
	got, err := p.Answer(t.Context(), approver, a.ID, core.Answer{Allow: true, Fingerprint: a.Fingerprint})
	if err != nil || got.Decision.Verdict != "allow" || got.Decision.By != "person approver (api)" {
		t.Fatalf("answered: %+v, %v", got, err)
	}
	if res := <-done; !res.OK() {
		t.Fatalf("the call: %s", res.Text())
	}
	_, err = p.Answer(t.Context(), admin, a.ID, core.Answer{Allow: false, Fingerprint: a.Fingerprint})
	if kindOf(err) != core.Conflict || !strings.Contains(err.Error(), "person approver") {
		t.Errorf("the second answer: %v", err)
	}
	whole, err := p.CallByID(t.Context(), "main", a.Call)
	if err != nil || len(whole.Asks) != 1 || whole.Asks[0].Decision == nil || whole.Asks[0].Decision.By != "person approver (api)" || whole.Asks[0].View.Title == "" {
		t.Errorf("the ask in its call: %+v, %v", whole.Asks, err)
	}
	led, err := p.Ledger(t.Context(), core.LedgerQuery{})
	if err != nil {
		t.Fatal(err)
	}
	said := false
	for _, e := range led.Entries {
		said = said || e.By == "person approver (api)" && e.Call == a.Call
	}
	if !said {
		t.Errorf("the ledger does not name who answered: %+v", led.Entries)
	}
	if v, err := p.VerifyLedger(t.Context()); err != nil || !v.Whole {
		t.Errorf("the ledger: %+v, %v", v, err)
	}
}

func TestP8_NoWithWordsAndPrograms(t *testing.T) {
	p := open(t, core.Options{})
	a, done := p.asked(t, "write_file", map[string]any{"path": ".git/hooks/pre-commit", "content": "x"})
	if !a.PersonOnly {
		t.Fatalf("a guard asks: %+v", a)
	}
	if _, err := p.Answer(t.Context(), bot, a.ID, core.Answer{Allow: true, Fingerprint: a.Fingerprint}); kindOf(err) != core.Invalid || !strings.Contains(err.Error(), "person") {
		t.Errorf("a program says yes to a guard: %v", err)
	}
	got, err := p.Answer(t.Context(), bot, a.ID, core.Answer{Words: "use a config file", Fingerprint: a.Fingerprint})
	if err != nil || got.Decision.By != "program (api token bot)" {
		t.Fatalf("%+v, %v", got, err)
	}
	if res := <-done; res.Denied == nil || !strings.Contains(res.Text(), "use a config file") {
		t.Errorf("the words do not reach the model: %s", res.Text())
	}
}

func TestP9_HunksByAPerson(t *testing.T) {
	p := open(t, core.Options{})
	if err := os.MkdirAll(filepath.Join(p.dir, "ask"), 0o700); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(filepath.Join(p.dir, "ask/f.txt"), []byte("one\ntwo\nthree\n"), 0o600)
	a, done := p.asked(t, "multi_edit", map[string]any{"path": "ask/f.txt", "edits": []map[string]any{
		{"old_string": "one", "new_string": "1"}, {"old_string": "two", "new_string": "2"}, {"old_string": "three", "new_string": "3"}}})
	if a.Hunks != 3 {
		t.Fatalf("%d hunks", a.Hunks)
	}
	got, err := p.Answer(t.Context(), approver, a.ID, core.Answer{Allow: true, Hunks: []int{1, 3}, Denied: map[int]string{2: "two stays"}, Fingerprint: a.Fingerprint})
	if err != nil || len(got.Decision.Hunks) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	res := <-done
	data, _ := os.ReadFile(filepath.Join(p.dir, "ask/f.txt"))
	if string(data) != "1\ntwo\n3\n" || !strings.Contains(res.Text(), "two stays") {
		t.Errorf("file %q, result %s", data, res.Text())
	}
}

func TestP8_TicketsAreAnsweredLater(t *testing.T) {
	p := open(t, core.Options{})
	if res := p.call(t, "write_file", map[string]any{"path": "ask/t.txt", "content": "x"}); res.Denied == nil {
		t.Fatal("nobody is here, and it ran")
	}
	asks, err := p.Asks(t.Context())
	if err != nil || len(asks.Open) != 0 || len(asks.Tickets) != 1 {
		t.Fatalf("%+v, %v", asks, err)
	}
	a := asks.Tickets[0]
	if _, err := p.Answer(t.Context(), approver, a.ID, core.Answer{Allow: true, Fingerprint: a.Fingerprint}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Answer(t.Context(), admin, a.ID, core.Answer{Allow: true, Fingerprint: a.Fingerprint}); kindOf(err) != core.Conflict {
		t.Errorf("answered twice: %v", err)
	}
	if res := p.call(t, "write_file", map[string]any{"path": "ask/t.txt", "content": "x"}); !res.OK() {
		t.Errorf("after the yes: %s", res.Text())
	}
}

func TestF10_UndoByAPerson(t *testing.T) {
	p := open(t, core.Options{})
	id := p.write(t, "u.txt", "x\n")
	if _, err := p.Undo(t.Context(), viewer, core.UndoInput{Call: id, Session: "main"}); kindOf(err) != core.Forbidden {
		t.Errorf("a viewer: %v", err)
	}
	if _, err := p.Undo(t.Context(), approver, core.UndoInput{}); kindOf(err) != core.Invalid {
		t.Errorf("everything by a slip: %v", err)
	}
	plan, err := p.Undo(t.Context(), approver, core.UndoInput{Call: id, Session: "main", Plan: true})
	if err != nil || !strings.Contains(plan.Diff, "-x") {
		t.Fatalf("plan: %+v, %v", plan, err)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "u.txt")); err != nil {
		t.Fatal("a plan undid")
	}
	got, err := p.Undo(t.Context(), approver, core.UndoInput{Call: id, Session: "main"})
	if err != nil || got.State != core.OK {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "u.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
	ch, err := p.Changes(t.Context(), core.ChangeQuery{})
	if err != nil || len(ch.Changes) != 2 || len(ch.Changes[0].Undoes) != 1 || ch.Changes[1].UndoneBy != ch.Changes[0].ID || ch.Changes[1].Undoable {
		t.Errorf("changes: %+v, %v", ch, err)
	}
}

func TestX5_TryTakesTheRoad(t *testing.T) {
	p := open(t, core.Options{})
	if _, err := p.Try(t.Context(), approver, core.CallInput{Tool: "list_dir", Args: json.RawMessage(`{"path":"."}`)}); kindOf(err) != core.Forbidden {
		t.Errorf("an approver: %v", err)
	}
	plan, err := p.Try(t.Context(), admin, core.CallInput{Tool: "write_file", Args: json.RawMessage(`{"path":"t.txt","content":"hi\n"}`), Plan: true})
	if err != nil || plan.Decision == nil || plan.Decision.Verdict != "allow" || !strings.Contains(plan.Diff, "+hi") {
		t.Fatalf("plan: %+v, %v", plan, err)
	}
	got, err := p.Try(t.Context(), admin, core.CallInput{Tool: "write_file", Args: json.RawMessage(`{"path":"t.txt","content":"hi\n"}`)})
	if err != nil || got.State != core.OK || got.Session != "by-admin" || len(got.Files) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if one, err := p.CallByID(t.Context(), got.Session, got.Call); err != nil || one.State != core.OK {
		t.Errorf("its record: %+v, %v", one, err)
	}
	bad, err := p.Try(t.Context(), admin, core.CallInput{Tool: "no_such_tool", Args: json.RawMessage(`{}`)})
	if err != nil || bad.State != core.Failed {
		t.Errorf("an unknown tool: %+v, %v", bad, err)
	}
}

func next(t *testing.T, s *core.Stream) []*core.Event {
	t.Helper()
	evs, err := s.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return evs
}

func TestX4_StreamsResumeOverARestart(t *testing.T) {
	p := open(t, core.Options{Gather: time.Millisecond})
	s, err := p.Subscribe(t.Context(), core.Subscription{After: core.FromNow})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p.write(t, "1.txt", "1")
	var seen []*core.Event
	for len(seen) < 2 {
		seen = append(seen, next(t, s)...)
	}
	if seen[0].Type != core.CallStarted || seen[1].Type != core.CallEnded || seen[1].State != core.OK || seen[1].Files != 1 {
		t.Fatalf("events: %+v %+v", seen[0], seen[1])
	}
	last := seen[len(seen)-1].ID
	p.Close()
	if _, err := s.Next(t.Context()); !errors.Is(err, core.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
	p.write(t, "2.txt", "2") // nobody listens
	p.reopen(t, core.Options{Gather: time.Millisecond})
	s, err = p.Subscribe(t.Context(), core.Subscription{After: last})
	if err != nil || s.Reset() {
		t.Fatal(err, s.Reset())
	}
	defer s.Close()
	missed := next(t, s)
	p.write(t, "3.txt", "3")
	for len(missed) < 4 {
		missed = append(missed, next(t, s)...)
	}
	for i, e := range missed {
		if e.ID <= last || e.Type != [...]string{core.CallStarted, core.CallEnded}[i%2] {
			t.Errorf("event %d: %+v", i, e)
		}
		last = e.ID
	}
	far, err := p.Subscribe(t.Context(), core.Subscription{After: last + 1000})
	if err != nil || !far.Reset() {
		t.Errorf("a position of another store: %v", err)
	}
	far.Close()
}

func TestX4_SlowReadersAreDroppedAndLoseNothing(t *testing.T) {
	p := open(t, core.Options{Gather: time.Millisecond, Buffer: 4})
	slow, err := p.Subscribe(t.Context(), core.Subscription{After: core.FromNow, Types: []string{core.CallEnded}})
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	fast, err := p.Subscribe(t.Context(), core.Subscription{After: core.FromNow, Types: []string{core.CallEnded}})
	if err != nil {
		t.Fatal(err)
	}
	defer fast.Close()
	p.write(t, "0.txt", "0")
	got := next(t, slow)
	for !slow.Live() { // then it reads no more
		soon, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		evs, err := slow.Next(soon)
		cancel()
		if err != nil && soon.Err() == nil {
			t.Fatal(err)
		}
		got = append(got, evs...)
	}
	const n = 12
	var all []*core.Event
	all = append(all, next(t, fast)...)
	for i := range n {
		p.write(t, "f.txt", strings.Repeat("x", i+1))
		all = append(all, next(t, fast)...)
	}
	if len(all) != n+1 {
		t.Fatalf("the fast one got %d of %d", len(all), n+1)
	}
	var dropped *core.SlowError
	for {
		evs, err := slow.Next(t.Context())
		if errors.As(err, &dropped) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, evs...)
	}
	if dropped.Last != got[len(got)-1].ID || len(got) > 6 {
		t.Errorf("dropped at %d after %d events", dropped.Last, len(got))
	}
	again, err := p.Subscribe(t.Context(), core.Subscription{After: dropped.Last, Types: []string{core.CallEnded}})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for len(got) < n+1 {
		got = append(got, next(t, again)...)
	}
	for i := range all {
		if got[i].ID != all[i].ID {
			t.Errorf("event %d is %d, want %d", i, got[i].ID, all[i].ID)
		}
	}
}

func TestX4_RemovedSessions(t *testing.T) {
	p := open(t, core.Options{Gather: time.Millisecond})
	if _, err := p.Try(t.Context(), admin, core.CallInput{Tool: "list_dir", Session: "old", Args: json.RawMessage(`{"path":"."}`)}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Session(t.Context(), "old"); err != nil {
		t.Fatal(err)
	}
	if err := p.box.RemoveSessions(t.Context(), "person admin (api)", "old"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Session(t.Context(), "old"); kindOf(err) != core.NotFound {
		t.Errorf("a removed session: %v", err)
	}
	if err := p.box.RemoveSessions(t.Context(), "person admin (api)", "main"); err == nil {
		t.Error("removed the session of the process")
	}
	if v, err := p.VerifyLedger(t.Context()); err != nil || !v.Whole {
		t.Errorf("the ledger: %+v, %v", v, err)
	}
}

func TestP4_WhyRulesAndDryRun(t *testing.T) {
	p := open(t, core.Options{})
	p.write(t, "a.txt", "x")
	rules, err := p.Rules(t.Context())
	if err != nil || rules.Posture != "guarded" || len(rules.Layers) != 1 || len(rules.Layers[0].Rules) != 2 {
		t.Errorf("rules: %+v, %v", rules, err)
	}
	why, err := p.Why(t.Context(), core.WhyInput{Tool: "write_file", Args: json.RawMessage(`{"path":"no/a","content":""}`)})
	if err != nil || why.Decision == nil || why.Decision.Verdict != "deny" || !strings.Contains(why.Text, "no/**") {
		t.Errorf("why: %+v, %v", why, err)
	}
	if _, err := p.Why(t.Context(), core.WhyInput{Tool: "nothing"}); kindOf(err) != core.NotFound {
		t.Errorf("why of nothing: %v", err)
	}
	run, err := p.DryRun(t.Context(), "main")
	if err != nil || len(run.Calls) != 1 || run.Differ != 0 {
		t.Errorf("dry run: %+v, %v", run, err)
	}
	if err := p.Revoke(t.Context(), approver, "g_x"); kindOf(err) != core.Forbidden {
		t.Errorf("revoke: %v", err)
	}
	if err := p.Revoke(t.Context(), admin, "g_x"); kindOf(err) != core.NotFound {
		t.Errorf("revoke: %v", err)
	}
}

func TestX4_KindsOfFaults(t *testing.T) {
	for err, want := range map[error]core.Kind{store.ErrFull: core.Busy, store.ErrLocked: core.Busy, store.ErrNotFound: core.NotFound, store.ErrInvalid: core.Invalid,
		ask.ErrAnswered: core.Conflict, ask.ErrUnknown: core.NotFound, ask.ErrNotOffered: core.Invalid, ask.ErrOther: core.Conflict, store.ErrCorrupt: ""} {
		got := core.Mistake(tool.Fault(&store.Error{Op: "append", Kind: err}))
		if kindOf(got) != want {
			t.Errorf("%v is of kind %q, want %q", err, kindOf(got), want)
		}
	}
}
