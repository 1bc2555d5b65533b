package script

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
)

const fix = `
name: fixer
price: {input: 2, output: 10}
vars: {greeting: Hello}
turns:
  - expect: {user: 'fix (?P<what>\w+)'}
    think: Tests first.
    say: ${greeting}, I fix ${what}.
    calls:
      - {tool: shell, args: {command: 'go test ./... && echo $${HOME}', timeout: 60}}
      - {tool: grep, args: {pattern: 'func ${what}', output_mode: content}}
  - expect: {tool: shell, result: 'FAIL: (?P<test>\w+)', error: true}
    calls: [{tool: edit, args: {path: a.go, edits: [{old_string: '"${test}"', new_string: ''}]}}]
  - expect: {tool: edit, error: false}
    say: "Done with ${test} after ${last}."
`

func parse(t *testing.T, text string) *Model {
	t.Helper()
	m, err := Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func user(s string) model.Message {
	p := content.TextPart(s)
	return model.Message{Role: model.User, Blocks: []model.Block{{Part: &p}}}
}

func result(c model.Call, text string, failed bool) model.Message {
	return model.Message{Role: model.User, Blocks: []model.Block{{Result: &model.Result{CallID: c.ID, Name: c.Name, Parts: []content.Part{content.TextPart(text)}, Error: failed}}}}
}

func calls(a model.Answer) (out []model.Call) {
	for _, b := range a.Message.Blocks {
		if b.Call != nil {
			out = append(out, *b.Call)
		}
	}
	return out
}

func said(a model.Answer) (s string) {
	for _, b := range a.Message.Blocks {
		if b.Part != nil {
			s += b.Part.Text
		}
	}
	return s
}

// talk is a conversation with a model.
type talk struct {
	t   *testing.T
	m   *Model
	req model.Request
}

func (k *talk) ask(add ...model.Message) model.Answer {
	k.t.Helper()
	k.req.Messages = append(k.req.Messages, add...)
	a, err := k.m.Stream(k.t.Context(), k.req, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	if len(a.Message.Blocks) > 0 {
		k.req.Messages = append(k.req.Messages, a.Message)
	}
	return a
}

func (k *talk) fails(add ...model.Message) *model.Error {
	k.t.Helper()
	k.req.Messages = append(k.req.Messages, add...)
	_, err := k.m.Stream(k.t.Context(), k.req, nil)
	var e *model.Error
	if !errors.As(err, &e) {
		k.t.Fatalf("got %v, want a *model.Error", err)
	}
	return e
}

func TestA2_ScriptPlays(t *testing.T) {
	k := &talk{t: t, m: parse(t, fix)}
	a := k.ask(user("Please fix Sum."))
	if said(a) != "Hello, I fix Sum." || a.Message.Blocks[0].Reasoning.Text != "Tests first." || a.Stop != model.Calls {
		t.Errorf("got %+v", a)
	}
	c := calls(a)
	if len(c) != 2 || string(c[0].Arguments) != `{"command":"go test ./... && echo ${HOME}","timeout":60}` || string(c[1].Arguments) != `{"pattern":"func Sum","output_mode":"content"}` || c[0].ID == c[1].ID {
		t.Fatalf("calls %+v %s %s", c, c[0].Arguments, c[1].Arguments)
	}
	if a.Usage.Input == 0 || a.Usage.Output == 0 || k.m.Info().Price.Cost(a.Usage) == 0 {
		t.Errorf("usage %+v", a.Usage)
	}
	both := result(c[0], "--- FAIL: TestSum (0.00s)", true)
	both.Blocks = append(both.Blocks, result(c[1], "a.go:3", false).Blocks...)
	a = k.ask(both)
	if c = calls(a); len(c) != 1 || string(c[0].Arguments) != `{"path":"a.go","edits":[{"old_string":"\"TestSum\"","new_string":""}]}` {
		t.Fatalf("calls %+v", c)
	}
	if a = k.ask(result(c[0], "Edited a.go", false)); said(a) != "Done with TestSum after Edited a.go." || a.Stop != model.End {
		t.Errorf("got %q, stop %q", said(a), a.Stop)
	}
	if e := k.fails(user("And now?")); e.Class != model.Refused || !strings.Contains(e.Message, "3 turns") || !strings.Contains(e.Message, "And now?") {
		t.Errorf("got %v", e)
	}

	// Another process goes on where this one was: place and variables follow from the conversation.
	again := &talk{t: t, m: parse(t, fix), req: model.Request{Messages: k.req.Messages[:5]}}
	if a := again.ask(); said(a) != "Done with TestSum after Edited a.go." {
		t.Errorf("a resumed session says %q", said(a))
	}
	// One that is taken back goes on from there, in the same process.
	again.req.Messages = k.req.Messages[:1:1]
	if a := again.ask(); said(a) != "Hello, I fix Sum." {
		t.Errorf("a rewound session says %q", said(a))
	}
}

func TestA2_ScriptDiverges(t *testing.T) {
	for _, row := range []struct{ name, expect, want string }{
		{"tool", `{tool: edit}`, `turn 2 (line 4) expects a result of edit, and there is 1 result, the last of shell: "ok 1.2s"`},
		{"result", `{result: 'FAIL: \w+'}`, `turn 2 (line 4) expects the result to match FAIL: \w+, and it is "ok 1.2s"`},
		{"error", `{error: true}`, `turn 2 (line 4) expects an error of shell, and it says "ok 1.2s"`},
		{"user", `{user: stop}`, `turn 2 (line 4) expects the user's words to match stop, and it is ""`},
		{"system", `{system: careful}`, `turn 2 (line 4) expects the system text to match careful, and it is "You are fast."`},
		{"offers", `{offers: [grep]}`, `turn 2 (line 4) expects the tool grep to be offered, and there is shell`},
		{"lacks", `{lacks: [shell]}`, `turn 2 (line 4) expects the tool shell not to be offered, and it is`},
	} {
		t.Run(row.name, func(t *testing.T) {
			k := &talk{t: t, m: parse(t, "turns:\n  - calls: [{tool: shell}]\n\n  - expect: "+row.expect+"\n    say: Fine.\n")}
			k.req.System, k.req.Tools = "You are fast.", []model.Tool{{Name: "shell"}}
			c := calls(k.ask(user("Go.")))
			e := k.fails(result(c[0], "ok 1.2s", false))
			if again := k.fails(); again.Message != e.Message { // a second try meets the same turn
				t.Errorf("the second try says %s", again.Message)
			}
			if e.Class != model.Refused || !strings.Contains(e.Message, row.want) || !strings.HasPrefix(e.Message, "test.yaml: ") || !strings.HasSuffix(e.Message, "change the script, or what leads to it") {
				t.Errorf("got  %s\nwant %s", e.Message, row.want)
			}
		})
	}
}

func TestA2_ScriptFails(t *testing.T) {
	k := &talk{t: t, m: parse(t, `
turns:
  - fail:
      - {after: 3s, status: 429, message: too many}
      - {class: too long, say: Half of}
    say: Whole.
  - {say: "", stop: length}
  - say: After an empty one.
`)}
	if e := k.fails(user("Go.")); e.Class != model.Retry || e.After != 3*time.Second || e.Status != 429 || e.Message != "too many" {
		t.Errorf("got %+v", e)
	}
	a, err := k.m.Stream(t.Context(), k.req, nil)
	var e *model.Error
	if !errors.As(err, &e) || e.Class != model.TooLong || said(a) != "Half of" {
		t.Errorf("got %v with %q", err, said(a))
	}
	if got := said(k.ask()); got != "Whole." {
		t.Errorf("the third try says %q", got)
	}
	if a := k.ask(user("More.")); len(a.Message.Blocks) != 0 || a.Stop != model.Length {
		t.Errorf("got %+v", a)
	}
	if got := said(k.ask(user("Well?"))); got != "After an empty one." {
		t.Errorf("got %q", got)
	}
}

func TestA2_ScriptBreaksCalls(t *testing.T) {
	k := &talk{t: t, m: parse(t, `
turns:
  - calls:
      - {tool: read_file, id: same, raw: '{"path": "a'}
      - {tool: no_such_tool, id: same}
      - {tool: grep, raw: '{"b":1,"a":[2]}'}
`)}
	c := calls(k.ask(user("Go.")))
	if c[0].Malformed != `{"path": "a` || c[0].Arguments != nil || c[1].ID != c[0].ID || string(c[1].Arguments) != "{}" || string(c[2].Arguments) != `{"b":1,"a":[2]}` {
		t.Errorf("got %+v", c)
	}
}

func TestA2_ScriptRulesAndChildren(t *testing.T) {
	k := &talk{t: t, m: parse(t, `
rules:
  - expect: {user: '(?i)summari[sz]e'}
    say: It was about ${topic}.
vars: {topic: nothing}
turns:
  - expect: {user: 'about (?P<topic>\w+)'}
    say: one
  - say: two
  - say: three
conversations:
  - starts: ^You are a child
    turns:
      - say: I am small.
`)}
	k.req.Session = "s1"
	if got := said(k.ask(user("Talk about tests."))); got != "one" {
		t.Errorf("got %q", got)
	}
	if got := said(k.ask(user("Go on."))); got != "two" {
		t.Errorf("got %q", got)
	}
	if got := said(k.ask(user("Please summarise all of this."))); got != "It was about tests." {
		t.Errorf("got %q", got)
	}
	// The conversation is replaced by its summary, and the third turn follows.
	k.req.Messages = []model.Message{user("[summary] It was about tests.")}
	if got := said(k.ask()); got != "three" {
		t.Errorf("after a compaction: %q", got)
	}
	child := &talk{t: t, m: k.m, req: model.Request{Session: "s2"}}
	if got := said(child.ask(user("You are a child. Look."))); got != "I am small." {
		t.Errorf("the child says %q", got)
	}
}

func TestA2_ScriptTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := parse(t, "pace: 100ms\nturns:\n  - {delay: 2s, say: one two three}\n")
		start, first := time.Now(), time.Duration(0)
		var pieces []string
		_, err := m.Stream(t.Context(), model.Request{Messages: []model.Message{user("Go.")}}, func(p model.Piece) error {
			if len(pieces) == 0 {
				first = time.Since(start)
			}
			pieces = append(pieces, p.Text)
			return nil
		})
		if err != nil || fmt.Sprintf("%q", pieces) != `["one " "two " "three"]` || first != 2*time.Second || time.Since(start) != 2300*time.Millisecond {
			t.Errorf("%q, first after %v, all after %v, %v", pieces, first, time.Since(start), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var e *model.Error
		if _, err := m.Stream(ctx, model.Request{Messages: []model.Message{user("Go.")}}, nil); !errors.As(err, &e) || e.Class != model.Canceled || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestA2_ScriptMistakes(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"", "it is empty"},
		{"name: x", "it has no turns"},
		{"turns:\n  - sya: hello\n", `line 2: field "sya" not found in a turn`},
		{"trns: []\n", "line 1: field trns not found"},
		{"turns:\n  - say: ${who}\n", "turn 1 (line 2): ${who} is set by no expectation before it"},
		{"turns:\n  - calls: [{tool: x, args: {a: ['${who}']}}]\n", "${who} is set by no expectation"},
		{"turns:\n  - expect: {result: '('}\n", "turn 1 (line 2): result: error parsing regexp"},
		{"turns:\n  - calls: [{args: {a: 1}}]\n", "a call without tool"},
		{"turns:\n  - calls: [{tool: x, args: [1]}]\n", "the args of x (line 2) are no mapping"},
		{"turns:\n  - calls: [{tool: x, args: {a: 1}, raw: b}]\n", "args and raw"},
		{"turns:\n  - stop: tired\n", `turn 1 (line 2): stop "tired" is not one of`},
		{"turns:\n  - fail: [{class: bad}]\n", `turn 1 (line 2): class "bad" is not one of`},
		{"turns:\n  - delay: soon\n", `line 2: "soon" is no duration`},
		{"turns:\n  - calls: [{tool: x, args: {a: .nan}}]\n", "the args of x"},
		{"turns:\n  - calls: [{tool: x, args: &a {b: *a}}]\n", ""},
	} {
		_, err := Parse("test.yaml", []byte(row.text))
		if err == nil || !strings.Contains(err.Error(), row.want) || !strings.HasPrefix(err.Error(), "script test.yaml: ") {
			t.Errorf("%q: got %v, want %q", row.text, err, row.want)
		}
	}
}
