package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// askBox answers every call by asking, and says what came of it.
func askBox(hunks int) *stubBox {
	box := echoBox()
	queue := ask.New(ask.Options{Tickets: &oneTicket{}})
	box.call = func(ctx context.Context, req toolbox.Request) (tool.Result, error) {
		in := &tool.Intent{Tool: req.Tool, Effects: []tool.Effect{tool.Write}, Args: req.Args,
			Targets: []tool.Target{{Kind: tool.PathTarget, Effect: tool.Write, Value: "/w/a\u202etxt"}},
			Changes: &change.Set{Ops: []change.Op{change.Create("/w/a.txt", []byte("new line\n"), 0o644)}}}
		in.Seal()
		d, err := queue.Ask(ctx, ask.Question{Request: permission.Request{Intent: in, Call: req.ID, Session: req.Session}, Hunks: hunks, Faces: []ask.Face{Face{}},
			Policy: tool.Decision{Verdict: tool.Ask, By: "rule user:1", Reason: "writes are asked", Fingerprint: in.Fingerprint}})
		if err != nil {
			return tool.TextResult("error: "+err.Error(), nil), nil
		}
		bound := "bound"
		if d.Fingerprint != in.Fingerprint {
			bound = "NOT BOUND"
		}
		res := tool.TextResult(fmt.Sprintf("%v by %s reason=%q hunks=%v denied=%v %s", d.Verdict, d.By, d.Reason, d.Hunks, d.Denied, bound), nil)
		res.Meta.Decision = &d
		return res, nil
	}
	return box
}

// oneTicket keeps tickets in memory.
type oneTicket struct {
	mu sync.Mutex
	m  map[string]ask.Ticket
}

func (o *oneTicket) Put(_ context.Context, t ask.Ticket) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.m == nil {
		o.m = map[string]ask.Ticket{}
	}
	o.m[t.Request.ID] = t
	return nil
}

func (o *oneTicket) Get(_ context.Context, id string) (ask.Ticket, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t, ok := o.m[id]
	if !ok {
		return t, ask.ErrUnknown
	}
	return t, nil
}

func (o *oneTicket) List(context.Context) (out []ask.Ticket, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, t := range o.m {
		out = append(out, t)
	}
	return out, nil
}

func (o *oneTicket) Close(context.Context, ask.Ticket) (bool, error) { return true, nil }

// allowOnce is the first choice of the form.
const allowOnce = "allow this call"

const elicitation = `{"elicitation":{}}`

// P8, older era: the question is an elicitation request; its answer decides.
func TestP8_ElicitLegacy(t *testing.T) {
	for _, tt := range []struct{ answer, want string }{
		{`{"action":"accept","content":{"answer":"ALLOW"}}`, `allow by person user of x (mcp) reason="" hunks=[] denied=map[] bound`},
		{`{"action":"accept","content":{"answer":"ALLOW","hunks":"#3, 1","words":"not two"}}`, `allow by person user of x (mcp) reason="not two" hunks=[1 3] denied=map[2:not two] bound`},
		{`{"action":"accept","content":{"answer":"ALLOW","hunks":"9"}}`, `deny by person user of x (mcp) reason="the answer named edits that cannot be read: \"9\" is not a number from 1 to 3" hunks=[] denied=map[] bound`},
		{`{"action":"accept","content":{"answer":"deny","words":"use b.txt"}}`, `deny by person user of x (mcp) reason="use b.txt" hunks=[] denied=map[] bound`},
		{`{"action":"decline"}`, `deny by person user of x (mcp) reason="" hunks=[] denied=map[] bound`},
		{`{"action":"cancel"}`, `deny by rule user:1`},
	} {
		c := startStdio(t, newTestServer(t, askBox(3), Config{}))
		c.initialize("x", elicitation)
		ask := c.request("tools/call", `{"name":"echo","arguments":{}}`)
		if ask.Method != "elicitation/create" {
			t.Fatalf("got %+v, want an elicitation", ask)
		}
		var params struct {
			Message         string
			RequestedSchema struct {
				Properties map[string]map[string]any
				Required   []string
			}
		}
		var choices struct {
			RequestedSchema struct {
				Properties struct{ Answer struct{ Enum []string } }
			}
		}
		if err := json.Unmarshal(ask.Params, &params); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(ask.Params, &choices); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"echo asks to", "Why: writes are asked", `write path: /w/a\u{202E}txt`, "+new line"} {
			if !strings.Contains(params.Message, want) {
				t.Errorf("the message lacks %q:\n%s", want, params.Message)
			}
		}
		if len(params.RequestedSchema.Properties) != 3 {
			t.Errorf("form: %+v", params.RequestedSchema)
		}
		enum := choices.RequestedSchema.Properties.Answer.Enum
		if len(enum) < 2 || enum[len(enum)-1] != deny {
			t.Fatalf("choices: %v", enum)
		}
		answer := strings.Replace(tt.answer, "ALLOW", enum[0], 1)
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, ask.ID, answer))
		if got := c.receive().call(t).text(); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.answer, got, tt.want)
		}
	}
}

// P8, newer era: the call answers with what it needs and goes on when the client comes back.
func TestP8_ElicitModern(t *testing.T) {
	c := startStdio(t, newTestServer(t, askBox(0), Config{}))
	meta := `"_meta":{` + modernMeta("claude-code", elicitation) + `}`
	first := c.request("tools/call", `{"name":"echo","arguments":{"path":"a"},`+meta+`}`).call(t)
	q, ok := first.InputRequests[askKey]
	if first.ResultType != "input_required" || !ok || q.Method != "elicitation/create" || first.RequestState == "" || !strings.Contains(q.Params.Message, "+new line") {
		t.Fatalf("first round: %+v", first)
	}
	retry := func(args, state, answer string) message {
		return c.request("tools/call", fmt.Sprintf(`{"name":"echo","arguments":%s,"requestState":%q,"inputResponses":{"approval":%s},%s}`, args, state, answer, meta))
	}
	yes := `{"action":"accept","content":{"answer":"` + allowOnce + `"}}`
	for _, tt := range []struct{ args, state, want string }{
		{`{"path":"a"}`, first.RequestState + "x", errState.Error()},
		{`{"path":"a"}`, "x" + first.RequestState, errState.Error()},
		{`{"path":"a"}`, "garbage", errState.Error()},
		{`{"path":"b"}`, first.RequestState, "requestState belongs to another call"},
	} {
		if m := retry(tt.args, tt.state, yes); m.Error == nil || m.Error.Code != -32602 || m.Error.Message != tt.want {
			t.Errorf("%s %.20s: %s %+v", tt.args, tt.state, m.Result, m.Error)
		}
	}
	m := retry(`{"path":"a"}`, first.RequestState, yes)
	if got := m.call(t); got.ResultType != "complete" || !strings.HasPrefix(got.text(), `allow by person user of claude-code`) {
		t.Errorf("second round: %+v", got)
	}
	// The call has ended, and its result can be had again with the same state; it does not run twice.
	again := retry(`{"path":"a"}`, first.RequestState, yes).call(t)
	if !strings.HasPrefix(again.text(), "allow by") {
		t.Errorf("the same state again: %+v", again)
	}
}

// A client that comes back without an answer is asked again.
func TestElicitModernWithoutAnswer(t *testing.T) {
	c := startStdio(t, newTestServer(t, askBox(0), Config{Budget: -1}))
	meta := `"_meta":{` + modernMeta("claude-code", elicitation) + `}`
	first := c.request("tools/call", `{"name":"echo","arguments":{},`+meta+`}`).call(t)
	second := c.request("tools/call", fmt.Sprintf(`{"name":"echo","arguments":{},"requestState":%q,%s}`, first.RequestState, meta)).call(t)
	if second.ResultType != "input_required" || second.RequestState != first.RequestState {
		t.Errorf("second round: %+v", second)
	}
}

// P8: with nobody to answer, the result is a denial that says so, with a ticket.
func TestP8_CannotAsk(t *testing.T) {
	c := startStdio(t, newTestServer(t, askBox(0), Config{}))
	c.initialize("gemini-cli-mcp-client", "{}")
	got := c.request("tools/call", `{"name":"echo","arguments":{}}`).call(t)
	if !strings.HasPrefix(got.text(), "deny by") || !strings.Contains(got.text(), "nobody is here to give it") {
		t.Errorf("%s", got.text())
	}
	if !strings.Contains(string(got.Meta[metaKey]), `"ticket":"ask_`) {
		t.Errorf("meta: %s", got.Meta[metaKey])
	}
	// A call that came through no server at all.
	if _, err := (Face{}).Ask(t.Context(), &ask.Request{}); !errors.Is(err, ErrCannotAsk) {
		t.Errorf("%v", err)
	}
	if _, err := Ask(t.Context(), "?", nil); !errors.Is(err, ErrCannotAsk) {
		t.Errorf("%v", err)
	}
}

// An ask times out and ends with its call.
func TestP8_AskTimesOut(t *testing.T) {
	for _, era := range []string{"older", "newer"} {
		synctest.Test(t, func(t *testing.T) {
			s := newTestServer(t, askBox(0), Config{AskTime: time.Minute, Budget: -1})
			c := startStdio(t, s)
			defer c.in.Close()
			if era == "older" {
				c.initialize("x", elicitation)
				if m := c.request("tools/call", `{"name":"echo","arguments":{}}`); m.Method != "elicitation/create" {
					t.Fatalf("%+v", m)
				}
				m := c.receive()
				for m.Method != "" { // the elicitation is withdrawn
					m = c.receive()
				}
				if got := m.call(t).text(); !strings.HasPrefix(got, "deny by") {
					t.Errorf("%s", got)
				}
				return
			}
			meta := `"_meta":{` + modernMeta("x", elicitation) + `}`
			first := c.request("tools/call", `{"name":"echo","arguments":{},`+meta+`}`).call(t)
			time.Sleep(2 * time.Minute) // of the bubble's clock
			late := c.request("tools/call", fmt.Sprintf(`{"name":"echo","arguments":{},"requestState":%q,"inputResponses":{"approval":{"action":"accept","content":{"answer":"allow this call"}}},%s}`, first.RequestState, meta)).call(t)
			if !strings.HasPrefix(late.text(), "deny by") {
				t.Errorf("a late answer: %+v", late)
			}
			time.Sleep(time.Hour)
			fresh := c.request("tools/call", fmt.Sprintf(`{"name":"echo","arguments":{},"requestState":%q,%s}`, first.RequestState, meta)).call(t)
			if fresh.ResultType != "input_required" || fresh.RequestState == first.RequestState {
				t.Errorf("a forgotten call begins anew: %+v", fresh)
			}
		})
	}
}

func TestCanElicit(t *testing.T) {
	for in, want := range map[string]bool{`{}`: false, `{"elicitation":{}}`: true, `{"elicitation":{"url":{}}}`: false, `{"elicitation":{"form":{},"url":{}}}`: true} {
		var c sdk.ClientCapabilities
		if err := json.Unmarshal([]byte(in), &c); err != nil {
			t.Fatal(err)
		}
		if got := canElicit(&c); got != want {
			t.Errorf("%s: %v", in, got)
		}
	}
}

// UI-005, P8: the question holds what runs: the folder, the arguments where no diff shows them, and the last of many targets.
func TestUI005_QuestionShowsWhatRuns(t *testing.T) {
	v := ask.View{Title: "github_delete asks to execute", Dir: "/w/sub", Args: []ask.Field{{Name: "repo", Value: `"ours"`}, {Name: "force", Value: "true"}}}
	for i := range 30 {
		v.Targets = append(v.Targets, ask.Target{Effect: "write", Kind: "path", Value: fmt.Sprintf("/w/%d", i)})
	}
	v.Scripts = []string{"touch CANARY\n"}
	text := question(&v)
	for _, part := range []string{"In: /w/sub", `repo: "ours"`, "force: true", "/w/18", "and 10 more", "/w/29", "touch CANARY"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
	if strings.Contains(text, "/w/19") || strings.Count(text, "\nwrite path: ") != 20 {
		t.Errorf("%s", text)
	}
	v.Args = nil
	for i := range 30 {
		v.Args = append(v.Args, ask.Field{Name: fmt.Sprint("a", i), Value: strings.Repeat("x", 1000) + "END"})
	}
	if text = question(&v); !strings.Contains(text, "and 10 more arguments") || !strings.Contains(text, "END") || len(text) > 20_000 {
		t.Errorf("%d bytes: %s", len(text), text)
	}
	v.Diff = "+x\n"
	if text = question(&v); strings.Contains(text, "a1: ") {
		t.Errorf("the arguments stand beside the diff: %s", text)
	}
	// Of two offers that read the same, the narrower is meant.
	r := &ask.Request{Fingerprint: "f", Offers: []ask.Offer{{Scope: ask.Session, Says: "x"}, {Scope: ask.Always, Says: "x"}}}
	if a := answerOf(r, Reply{Action: "accept", Content: map[string]any{answerField: "allow x"}}, "c"); !a.Allow || a.Scope != ask.Session {
		t.Errorf("%+v", a)
	}
}
