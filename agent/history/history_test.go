package history_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/agent/history"
	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
)

// book writes sessions by hand, as loop and road store them.
type book struct {
	t  testing.TB
	s  *store.Memory
	id string
	at time.Time
	n  int
}

func newBook(t testing.TB, id string) *book {
	return &book{t: t, s: &store.Memory{}, id: id, at: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}
}

func (b *book) loop(ev agent.Event) {
	b.t.Helper()
	b.at = b.at.Add(time.Second)
	ev.At = b.at
	stored, err := ev.Stored(b.id)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.s.Append(b.t.Context(), stored); err != nil {
		b.t.Fatal(err)
	}
}

func (b *book) start() {
	text, err := agent.PutText(b.t.Context(), b.s, "You are tested.")
	if err != nil {
		b.t.Fatal(err)
	}
	b.loop(agent.Event{Kind: agent.Started, Setup: &agent.Setup{Version: agent.Version, Session: b.id, Mode: "code", Dir: "/ws", Model: model.Info{Provider: "test", Name: "m"}, System: text}})
}

func (b *book) say(words string) {
	b.n++
	b.loop(agent.Event{Kind: agent.Said, Said: &agent.Message{ID: fmt.Sprintf("m%d", b.n), Parts: []content.Part{content.TextPart(words)}}})
}

// answer stores an answer with words and calls, each "tool args".
func (b *book) answer(words string, calls ...string) []string {
	m := &model.Message{Role: model.Assistant}
	if words != "" {
		p := content.TextPart(words)
		m.Blocks = append(m.Blocks, model.Block{Part: &p})
	}
	a := &agent.Answer{Stop: model.End, Usage: model.Usage{Input: 100, Output: 10}, Cost: 0.25, Message: m}
	var ids []string
	for _, c := range calls {
		name, args, _ := strings.Cut(c, " ")
		b.n++
		id := fmt.Sprintf("%s-c%d", b.id, b.n)
		ids = append(ids, id)
		call := &model.Call{ID: id, Name: name, Arguments: json.RawMessage(args)}
		if !json.Valid(call.Arguments) {
			call.Malformed, call.Arguments = args, nil
		}
		m.Blocks = append(m.Blocks, model.Block{Call: call})
		a.Calls, a.Stop = append(a.Calls, agent.Call{ID: id, Name: name, Same: c}), model.Calls
	}
	b.loop(agent.Event{Kind: agent.Answered, Answer: a})
	return ids
}

func (b *book) ran(id string, o agent.Outcome, text string) {
	kind := agent.Ran
	if o == agent.NotSure {
		kind = agent.Unknown
	}
	b.loop(agent.Event{Kind: kind, Result: &agent.Result{ID: id, Outcome: o, Parts: []content.Part{content.TextPart(text)}, Took: 2 * time.Second}})
}

func (b *book) end(why agent.Ending) {
	b.loop(agent.Event{Kind: agent.Finished, End: &agent.End{Why: why}})
}

func (b *book) record(rec session.Record) {
	b.t.Helper()
	l := session.NewLog(b.s)
	rec.At, rec.Session = b.at, b.id
	if err := l.Record(b.t.Context(), &rec); err != nil {
		b.t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		b.t.Fatal(err)
	}
}

func (b *book) open() *history.Session {
	b.t.Helper()
	s, err := history.Open(b.t.Context(), b.s, b.id)
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// hostile is what a tool or a model may say.
const hostile = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\u200b"

// written is a session with everything in it.
func written(t *testing.T) *book {
	b := newBook(t, "s1")
	b.start()
	b.say("Look around, please. And quickly.")
	ids := b.answer("I look.", `grep {"pattern": "x"}`, "shell {broken", `edit {"path": "a"}`)
	b.record(session.Record{Phase: session.End, Call: ids[0], Tool: "grep", Dir: "/ws", Result: &session.Outcome{}, Decision: &tool.Decision{Verdict: tool.Allow, By: "posture guarded"}})
	b.ran(ids[0], agent.OK, hostile)
	b.ran(ids[1], agent.Error, "TOOL ERROR: INVALID_TOOL_ARGUMENTS\nbroken.")
	b.record(session.Record{Phase: session.End, Call: ids[2], Tool: "edit", Intent: &tool.Intent{Effects: []tool.Effect{tool.Write}}, Result: &session.Outcome{Meta: tool.Meta{Transaction: []string{"tx1"}, Diff: "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-" + hostile + "\n+new\n"}}})
	b.ran(ids[2], agent.OK, "Edited.")
	b.answer("# Found\n\n<b>bold</b> [x](javascript:alert(3)) ![p](https://evil.example/p.png) `code` " + hostile)
	b.end(agent.Done)
	b.say("Go on")
	ids = b.answer("", `shell {"command": "make"}`)
	b.record(session.Record{Phase: session.Start, Call: ids[0], Tool: "shell", Intent: &tool.Intent{Effects: []tool.Effect{tool.Execute}}})
	b.loop(agent.Event{Kind: agent.Running, Call: &agent.CallEvent{ID: ids[0], Class: agent.Once}})
	b.loop(agent.Event{Kind: agent.Resumed})
	b.ran(ids[0], agent.NotSure, "Nobody knows.")
	b.answer("Well.")
	b.end(agent.Done)
	return b
}

// A3: a session is read as it went.
func TestA3_Open(t *testing.T) {
	s := written(t).open()
	if s.Title != "Look around, please" || s.Turns[0].Number != 1 || len(s.Turns) != 2 || s.Over() != 2 || s.Summary.Turns != 2 || s.Answers != 4 || s.Unsure != 1 || s.Cost != 1 || s.Tokens != 440 || s.Status() != "done" {
		t.Errorf("%+v", s.Summary)
	}
	calls := s.Since(0)
	var got []string
	for _, c := range calls {
		got = append(got, fmt.Sprintf("%s %s %v", c.Tool, c.Outcome, c.Took))
	}
	if want := []string{"grep ok 2s", "shell error 2s", "edit ok 2s", "shell unknown 2s"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if string(calls[1].Args) != `"{broken"` || calls[0].Decision().By != "posture guarded" || calls[1].Decision() != nil {
		t.Errorf("%s", calls[1].Args)
	}
	if tx := history.Transactions(calls); !slices.Equal(tx, []string{"tx1"}) {
		t.Errorf("%q", tx)
	}
	if l := history.Lasting(calls); len(l) != 1 || l[0].Tool != "shell" || history.Subject(l[0]) != "make" {
		t.Errorf("%+v", l)
	}
	notes := 0
	for _, it := range s.Turns[1].Items {
		if it.Note == "another process goes on" {
			notes++
		}
	}
	if notes != 1 {
		t.Errorf("%+v", s.Turns[1].Items)
	}
	for _, id := range []string{"", ".agent", "nobody"} {
		if _, err := history.Open(t.Context(), &store.Memory{}, id); !errors.Is(err, history.ErrUnknown) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// A session of a newer program is refused with what to do; one whose event is damaged names it. Lists go on without them.
func TestA3_OtherVersions(t *testing.T) {
	for want, body := range map[string]string{
		"written by a newer tackle (format 99, this one reads up to 1); update tackle": `{"setup": {"v": 99, "session": "s1"}}`,
		"session s1, event 1 (agent.started)":                                          `{"setup": 7}`,
	} {
		s := &store.Memory{}
		if _, err := s.Append(t.Context(), store.Event{Session: "s1", Kind: string(agent.Started), Body: json.RawMessage(body)}); err != nil {
			t.Fatal(err)
		}
		if _, err := history.Open(t.Context(), s, "s1"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		list, err := history.List(t.Context(), s, history.Query{})
		if err != nil || len(list) != 1 || !strings.HasPrefix(list[0].Title, "cannot be read: ") {
			t.Errorf("%+v %v", list, err)
		}
	}
	// What is not of the loop and not of the road, as later programs may add, is passed over.
	b := newBook(t, "s1")
	b.start()
	if _, err := b.s.Append(t.Context(), store.Event{Session: "s1", Kind: "mood", Body: json.RawMessage(`"fine"`)}); err != nil {
		t.Fatal(err)
	}
	b.say("hello")
	if s := b.open(); len(s.Turns) != 1 || s.Turns[0].Over() || s.Status() != "unfinished" {
		t.Errorf("%+v", s.Summary)
	}
}

// Where a session may be cut: between turns that are over.
func TestCut(t *testing.T) {
	b := written(t)
	b.loop(agent.Event{Kind: agent.Configured, Setup: &agent.Setup{Version: 1, Mode: "plan", Model: model.Info{Provider: "test", Name: "n"}}})
	b.say("More")
	s := b.open()
	for turns, want := range map[int]string{-1: "keep 0 to 2", 4: "has 3 turns", 3: "turn 3 of session s1 is not over"} {
		if _, err := s.Cut(turns); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v", turns, err)
		}
	}
	seq, err := s.Cut(2)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Fork(t.Context(), b.s, "s2", seq); err != nil {
		t.Fatal(err)
	}
	f, err := history.Open(t.Context(), b.s, "s2")
	if err != nil || f.Mode != "code" || len(f.Turns) != 2 || f.Open() || f.Origin.Session != "s1" || f.State.CallID(0) == s.State.CallID(0) {
		t.Errorf("%+v %v", f.Summary, err)
	}
	if err := s.Fork(t.Context(), b.s, "s2", seq); !errors.Is(err, history.ErrTaken) {
		t.Errorf("forked twice: %v", err)
	}
	if seq, err = s.Cut(0); err != nil || seq != 1 {
		t.Errorf("%d %v", seq, err)
	}
}

// A list of what was read before reads only what is new, and says the same.
func TestListIsFolded(t *testing.T) {
	b := newBook(t, "s1")
	b.start()
	for range 40 {
		b.say("Hello there")
		ids := b.answer("", `grep {"pattern": "x"}`)
		b.record(session.Record{Phase: session.End, Call: ids[0], Tool: "grep", Result: &session.Outcome{}})
		b.ran(ids[0], agent.OK, "x")
		b.answer("Yes.")
		b.end(agent.Done)
	}
	counting := &counting{Memory: b.s}
	first, err := history.List(t.Context(), counting, history.Query{})
	if err != nil {
		t.Fatal(err)
	}
	read := counting.events
	b.say("Once more")
	counting.events = 0
	second, err := history.List(t.Context(), counting, history.Query{})
	if err != nil || counting.events > 2 || read < 200 {
		t.Errorf("%d events were read at first, then %d: %v", read, counting.events, err)
	}
	if first[0].Turns != 40 || second[0].Turns != 41 || second[0].Calls != 40 || second[0].Title != "Hello there" || !second[0].Open() {
		t.Errorf("%+v\n%+v", first, second)
	}
	if diff := cmp.Diff(b.open().Summary, second[0]); diff != "" {
		t.Errorf("-session +list\n%s", diff)
	}
}

type counting struct {
	*store.Memory
	events int
}

func (c *counting) Read(ctx context.Context, session string, after int64, limit int) ([]store.Event, error) {
	evs, err := c.Memory.Read(ctx, session, after, limit)
	c.events += len(evs)
	return evs, err
}

// The page needs nothing and runs nothing, whatever stands in it.
func TestA3_Page(t *testing.T) {
	var b bytes.Buffer
	if err := written(t).open().WritePage(t.Context(), &b, history.PageOptions{Now: time.Unix(0, 0), Version: "1"}); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{"<title>Look around, please</title>", "<h1>Look around, please</h1>", `alert(1)`, "outcome unknown", `\u{202E}`, "<code>code</code>", "[picture: p at https://evil.example/p.png]"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	z := html.NewTokenizer(&b)
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			if z.Err() != io.EOF {
				t.Error(z.Err())
			}
			break
		}
		tok := z.Token()
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		if slices.Contains([]string{"script", "img", "iframe", "link", "object", "form"}, tok.Data) {
			t.Errorf("the page has %s", tok)
		}
		for _, a := range tok.Attr {
			if strings.HasPrefix(a.Key, "on") || strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:") || a.Key == "src" {
				t.Errorf("the page has %s", tok)
			}
		}
	}
}

// Pictures of events and of the store stand in the page; other media are named.
func TestPageMedia(t *testing.T) {
	b := newBook(t, "s1")
	b.start()
	b.loop(agent.Event{Kind: agent.Said, Said: &agent.Message{ID: "m1", Parts: []content.Part{
		{Kind: content.Image, MIME: "image/png", Data: []byte("PNG")}, {Kind: content.Image, MIME: "image/png", URI: "artifact:abc"},
		{Kind: content.Image, MIME: "image/svg+xml", Data: []byte("<svg onload=x>")}, {Kind: content.Document, MIME: "application/pdf", Name: "a.pdf"}, {Kind: content.Image, MIME: "image/png", URI: "artifact:gone"}}}})
	var out bytes.Buffer
	err := b.open().WritePage(t.Context(), &out, history.PageOptions{Media: func(_ context.Context, id string) (string, []byte, error) {
		if id == "gone" {
			return "", nil, errors.New("expired")
		}
		return "image/jpeg", []byte("JPEG"), nil
	}})
	page := out.String()
	if err != nil || strings.Count(page, `<img src="data:`) != 2 || !strings.Contains(page, "data:image/png;base64,UE5H") || !strings.Contains(page, "data:image/jpeg;base64,SlBFRw==") ||
		!strings.Contains(page, "a.pdf") || !strings.Contains(page, "artifact:gone") || strings.Contains(page, "<svg") {
		t.Errorf("%v\n%s", err, page[strings.Index(page, "<main>"):])
	}
}

// Lines of JSON hold every event as it is stored, and the texts that events refer to.
func TestA3_JSONL(t *testing.T) {
	b := written(t)
	s := b.open()
	var out, again bytes.Buffer
	if err := s.WriteJSONL(t.Context(), b.s, &out, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteJSONL(t.Context(), b.s, &again, time.Unix(1, 0)); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Errorf("two exports differ: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != len(s.Log)+2 || !strings.HasPrefix(lines[0], `{"format":"tackle session","version":1,`) || !strings.Contains(lines[1], `"body":"You are tested."`) {
		t.Fatalf("%d lines, %d events\n%s", len(lines), len(s.Log), lines[1])
	}
	for i, l := range lines[2:] {
		var ev store.Event
		if err := json.Unmarshal([]byte(l), &ev); err != nil || ev.Seq != s.Log[i].Seq || string(ev.Body) != string(s.Log[i].Body) {
			t.Errorf("line %d: %v\n%s\n%s", i, err, l, s.Log[i].Body)
		}
	}
}

func TestShort(t *testing.T) {
	for in, want := range map[string]string{
		"":                                  "",
		"  Make\nthe  tests pass. Thanks.":  "Make the tests pass",
		"Is it so? Yes.":                    "Is it so?",
		"v1.2 of a.go is wrong":             "v1.2 of a.go is wrong",
		strings.Repeat("word ", 40):         strings.TrimRight(strings.Repeat("word ", 15), " ") + "…",
		strings.Repeat("ü", 100):            strings.Repeat("ü", 38) + "…",
		"a\x00b\x1b[31mred":                 "a b [31mred",
		"Eh. This is the sentence. Really.": "Eh. This is the sentence",
	} {
		if got := history.Short(in); got != want || len(got) > history.MaxTitle {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestSubject(t *testing.T) {
	for args, want := range map[string]string{
		`{"path": "a.go", "pattern": "x"}`:                         "a.go  x",
		`{"command": "go test\n./...", "workdir": "b"}`:            "go test ./...",
		`{"paths": ["a", "b"]}`:                                    "a b",
		`{"patch": "*** Begin Patch\n*** Update File: a.go\n@@"}`:  "a.go",
		`{"patch": "--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-a\n+b"}`: "x.go",
		`not json`:     "",
		`{"other": 1}`: "",
	} {
		if got := history.SubjectOf(json.RawMessage(args)); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

// Whoever waits is told for how long.
func TestNoteSaysHowLongItWaits(t *testing.T) {
	f := agent.Failure{Class: model.Retry, Message: "test: too many requests", After: 100 * time.Second}
	if got := history.Note(agent.Event{Kind: agent.Failed, Failure: &f}); got != "the model did not answer: test: too many requests; it asks to wait 1m40s" {
		t.Errorf("it says %q", got)
	}
	f.After = 0
	if got := history.Note(agent.Event{Kind: agent.Failed, Failure: &f}); got != "the model did not answer: test: too many requests" {
		t.Errorf("it says %q", got)
	}
}
