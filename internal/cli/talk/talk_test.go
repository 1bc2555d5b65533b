package talk

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/agent/history"
	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
)

var update = flag.Bool("update", false, "write the golden files")

func record(o session.Outcome, d tool.Decision) *session.Record {
	return &session.Record{Phase: session.End, Decision: &d, Result: &o}
}

// shown has one of everything that is printed. The bell and the escape must not reach a terminal.
func shown(p Printer) {
	p.Begin(Begun{Session: "s_1", Mode: "code", Model: "test/m", Dir: "/ws"})
	p.Said(&agent.Message{Parts: []content.Part{content.TextPart("Make it so.\nNow."), {Kind: content.Image, Name: "a.png"}}})
	p.Said(&agent.Message{From: "task t1", Parts: []content.Part{content.TextPart("over")}})
	p.Words("\nI look ")
	p.Words("around\a\x1b[2J.")
	p.EndWords()
	call := func(name, args string, o agent.Outcome, text string, took time.Duration, r *session.Record) {
		c := &history.Call{ID: "c", Tool: name, Args: json.RawMessage(args), Outcome: o, Took: took, Record: r}
		if text != "" {
			c.Parts = []content.Part{content.TextPart(text)}
		}
		p.Doing(c)
		p.Call(c)
	}
	diff := "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n same\n-\told\x1b[31m\n+\tnew\n"
	long := "--- a/b\n+++ b/b\n@@ -0,0 +1,40 @@\n" + strings.Repeat("+line\n", 40)
	call("read_file", `{"path":"a"}`, agent.OK, "1\tx", 3*time.Millisecond, record(session.Outcome{}, tool.Decision{Verdict: tool.Allow, By: "posture guarded"}))
	call("edit", `{"path":"a"}`, agent.OK, "Edited", 0, record(session.Outcome{Meta: tool.Meta{Diff: diff, Changes: []change.FileChange{{Path: "a", Added: 1, Removed: 1}}}}, tool.Decision{}))
	call("write_file", `{"path":"b"}`, agent.OK, "Created", 0, record(session.Outcome{Meta: tool.Meta{Diff: long, Changes: []change.FileChange{{Path: "d/"}, {Path: "d/b", Added: 40}}}}, tool.Decision{}))
	call("shell", `{"command":"make `+strings.Repeat("very ", 30)+`long"}`, agent.OK, "ok", 83*time.Second, record(session.Outcome{Meta: tool.Meta{Truncated: true}}, tool.Decision{}))
	call("edit", `{"path":"x"}`, agent.Error, "TOOL ERROR: NOT_FOUND\nthere is no x.", 0, record(session.Outcome{Err: &tool.Error{Code: tool.NotFound, Message: "there is no x."}}, tool.Decision{}))
	call("shell", `{"command":"rm -rf /"}`, agent.Denied, "", 0, record(session.Outcome{Denied: true}, tool.Decision{Verdict: tool.Deny, By: "rule user:1", Reason: `shell of "rm" is denied: rule user:1 (config.yaml:3:5): never`}))
	call("shell", `{"command":"deploy"}`, agent.NotSure, "", 0, nil)
	call("no_such", `nonsense`, agent.Skipped, "This call was not run.", 0, nil)
	p.Note("the model did not answer: busy")
	p.Words("Done")
	p.End(Ended{Session: "s_1", End: agent.End{Why: agent.AtLimit, Detail: "The turn cost too much."}, Text: "Done", Changed: 2, Resume: "tackle run --resume s_1",
		Tally: agent.Tally{Rounds: 3, Calls: 8, Usage: model.Usage{Input: 1000, Output: 1}, Cost: 0.0123}})
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: -want +got\n%s", name, diff)
	}
}

func TestText(t *testing.T) {
	var both bytes.Buffer
	shown(&Text{Out: &both, Err: &both, Asked: true, Width: 80, OutTTY: true})
	golden(t, "plain.golden", both.String())
	if strings.ContainsAny(both.String(), "\x1b\a") {
		t.Error("what could act on a terminal is printed")
	}
	both.Reset()
	shown(&Text{Out: &both, Err: &both, Width: 80, OutTTY: true, ErrTTY: true, Color: true})
	golden(t, "terminal.golden", both.String())
	var out, errs bytes.Buffer
	shown(&Text{Out: &out, Err: &errs})
	if got := out.String(); got != "I look around\a\x1b[2J.\nDone\n" { // a pipe gets the words as they are
		t.Errorf("words %q", got)
	}
	if strings.Contains(errs.String(), "I look") || strings.Contains(errs.String(), "you>") {
		t.Errorf("%s", &errs)
	}
	out.Reset()
	errs.Reset()
	shown(&Text{Out: &out, Err: &errs, Quiet: true})
	if got := errs.String(); !strings.HasPrefix(got, "The turn cost too much.\n") {
		t.Errorf("quiet says %q", got)
	}
}

func TestJSON(t *testing.T) {
	var out bytes.Buffer
	shown(&JSON{Out: &out})
	golden(t, "lines.golden", out.String())
	for l := range strings.Lines(out.String()) {
		var line Line
		if err := json.Unmarshal([]byte(l), &line); err != nil || line.Type == "" {
			t.Errorf("%v: %s", err, l)
		}
	}
}

// Live prints pieces as they come, an answer without pieces when it is whole, and calls when their results are stored.
func TestLive(t *testing.T) {
	var both bytes.Buffer
	l := &Live{Printer: &Text{Out: &both, Err: &both}}
	words := content.TextPart("Whole.")
	event := func(e agent.Event) { l.Watch("s", agent.Update{Event: &e}) }
	l.Watch("s", agent.Update{Piece: &model.Piece{Text: "Half"}})
	event(agent.Event{Kind: agent.Failed, Failure: &agent.Failure{Class: model.Retry, Message: "test: cut off"}})
	l.Watch("s", agent.Update{Piece: &model.Piece{Text: "Piece by "}})
	l.Watch("s", agent.Update{Piece: &model.Piece{Text: "piece."}})
	call := &model.Call{ID: "x", Name: "grep", Arguments: json.RawMessage(`{"pattern":"p"}`)}
	event(agent.Event{Kind: agent.Answered, Answer: &agent.Answer{Calls: []agent.Call{{ID: "s-1-1", Name: "grep"}}, Message: &model.Message{Blocks: []model.Block{{Part: &words}, {Call: call}}}}})
	event(agent.Event{Kind: agent.Running, Call: &agent.CallEvent{ID: "s-1-1"}})
	event(agent.Event{Kind: agent.Ran, Result: &agent.Result{ID: "nobody", Outcome: agent.OK}})
	event(agent.Event{Kind: agent.Ran, Result: &agent.Result{ID: "s-1-1", Outcome: agent.OK}})
	event(agent.Event{Kind: agent.Answered, Answer: &agent.Answer{Message: &model.Message{Blocks: []model.Block{{Part: &words}}}}})
	want := "Half\n  · the model did not answer: test: cut off\nPiece by piece.\n  ✓ grep  p\nWhole.\n"
	if got := both.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Lines of JSON hold what is whole, as it is stored: not the beginning of an answer that broke off and came again, but what somebody
// interrupted, and no secret that only the pieces had.
func TestLiveWhole(t *testing.T) {
	var out bytes.Buffer
	l := &Live{Printer: &JSON{Out: &out}, Whole: true}
	piece := func(s string) { l.Watch("s", agent.Update{Piece: &model.Piece{Text: s}}) }
	event := func(e agent.Event) { l.Watch("s", agent.Update{Event: &e}) }
	piece("Half a ")
	event(agent.Event{Kind: agent.Failed, Failure: &agent.Failure{Class: model.Retry, Message: "test: cut off"}})
	piece("A whole one with a key-123.")
	words := content.TextPart("A whole one with a [secret].")
	event(agent.Event{Kind: agent.Answered, Answer: &agent.Answer{Message: &model.Message{Blocks: []model.Block{{Part: &words}}}}})
	piece("Interrupted")
	event(agent.Event{Kind: agent.Failed, Failure: &agent.Failure{Class: model.Canceled, Partial: "Interrupted"}})
	want := `{"type":"note","text":"the model did not answer: test: cut off"}
{"type":"answer","text":"A whole one with a [secret]."}
{"type":"answer","text":"Interrupted"}
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
