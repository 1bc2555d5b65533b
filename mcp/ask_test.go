package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// askBox answers every call by asking, and says what came of it.
func askBox(a *Answerer, hunks int) *stubBox {
	box := echoBox()
	box.call = func(ctx context.Context, req toolbox.Request) (tool.Result, error) {
		in := &tool.Intent{Tool: req.Tool, Effects: []tool.Effect{tool.Write}, Args: req.Args,
			Targets: []tool.Target{{Kind: tool.PathTarget, Effect: tool.Write, Value: "/w/a\u202etxt"}},
			Changes: &change.Set{Ops: []change.Op{change.Create("/w/a.txt", []byte("new line\n"), 0o644)}}}
		in.Seal()
		ask := toolbox.Asked{GateRequest: toolbox.GateRequest{Intent: in}, Hunks: hunks,
			Policy: tool.Decision{Verdict: tool.Ask, By: "rule user:1", Reason: "writes are asked", Fingerprint: in.Fingerprint}}
		d, err := a.Answer(ctx, ask)
		if err != nil {
			return tool.TextResult("error: "+err.Error(), nil), nil
		}
		ok := "bound"
		if d.Fingerprint != in.Fingerprint {
			ok = "NOT BOUND"
		}
		res := tool.TextResult(fmt.Sprintf("%v by %s person=%v reason=%q hunks=%v denied=%v %s", d.Verdict, d.By, d.Person, d.Reason, d.Hunks, d.Denied, ok), nil)
		res.Meta.Decision = &d
		return res, nil
	}
	return box
}

const elicitation = `{"elicitation":{}}`

// P8, older era: the question is an elicitation request; its answer decides.
func TestP8_ElicitLegacy(t *testing.T) {
	for _, tt := range []struct{ answer, want string }{
		{`{"action":"accept","content":{"answer":"allow once"}}`, `allow by the person at "x" person=true reason="" hunks=[] denied=map[] bound`},
		{`{"action":"accept","content":{"answer":"allow once","hunks":"#3, 1","words":"not two"}}`, `allow by the person at "x" person=true reason="not two" hunks=[1 3] denied=map[2:not two] bound`},
		{`{"action":"accept","content":{"answer":"allow once","hunks":"9"}}`, `deny by the person at "x" person=true reason="the answer named edits that cannot be read: \"9\" is not a number from 1 to 3" hunks=[] denied=map[] bound`},
		{`{"action":"accept","content":{"answer":"deny","words":"use b.txt"}}`, `deny by the person at "x" person=true reason="use b.txt" hunks=[] denied=map[] bound`},
		{`{"action":"decline"}`, `deny by the person at "x" person=true reason="" hunks=[] denied=map[] bound`},
		{`{"action":"cancel"}`, `deny by rule user:1 person=false reason="writes are asked. It needs a person's approval and the client \"x\" dismissed the question." hunks=[] denied=map[] bound`},
	} {
		c := startStdio(t, newTestServer(t, askBox(&Answerer{}, 3), Config{}))
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
		if err := json.Unmarshal(ask.Params, &params); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"echo asks to write. writes are asked", "write path: /w/a⟨U+202E⟩txt", "+new line"} {
			if !strings.Contains(params.Message, want) {
				t.Errorf("the message lacks %q:\n%s", want, params.Message)
			}
		}
		if len(params.RequestedSchema.Properties) != 3 {
			t.Errorf("form: %+v", params.RequestedSchema)
		}
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, ask.ID, tt.answer))
		if got := c.receive().call(t).text(); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.answer, got, tt.want)
		}
	}
}

// P8, newer era: the call answers with what it needs and goes on when the client comes back.
func TestP8_ElicitModern(t *testing.T) {
	c := startStdio(t, newTestServer(t, askBox(&Answerer{}, 0), Config{}))
	meta := `"_meta":{` + modernMeta("claude-code", elicitation) + `}`
	first := c.request("tools/call", `{"name":"echo","arguments":{"path":"a"},`+meta+`}`).call(t)
	q, ok := first.InputRequests[askKey]
	if first.ResultType != "input_required" || !ok || q.Method != "elicitation/create" || first.RequestState == "" || !strings.Contains(q.Params.Message, "+new line") {
		t.Fatalf("first round: %+v", first)
	}
	retry := func(args, state, answer string) message {
		return c.request("tools/call", fmt.Sprintf(`{"name":"echo","arguments":%s,"requestState":%q,"inputResponses":{"approval":%s},%s}`, args, state, answer, meta))
	}
	const yes = `{"action":"accept","content":{"answer":"allow once"}}`
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
	if got := m.call(t); got.ResultType != "complete" || !strings.HasPrefix(got.text(), `allow by the person at "claude-code"`) {
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
	c := startStdio(t, newTestServer(t, askBox(&Answerer{}, 0), Config{Budget: -1}))
	meta := `"_meta":{` + modernMeta("claude-code", elicitation) + `}`
	first := c.request("tools/call", `{"name":"echo","arguments":{},`+meta+`}`).call(t)
	second := c.request("tools/call", fmt.Sprintf(`{"name":"echo","arguments":{},"requestState":%q,%s}`, first.RequestState, meta)).call(t)
	if second.ResultType != "input_required" || second.RequestState != first.RequestState {
		t.Errorf("second round: %+v", second)
	}
}

// P8: with nobody to answer, the result is a denial that says so, with a ticket where there are tickets.
func TestP8_CannotAsk(t *testing.T) {
	a := &Answerer{Ticket: func(_ context.Context, ask toolbox.Asked) (string, error) { return "t-1", nil }}
	c := startStdio(t, newTestServer(t, askBox(a, 0), Config{}))
	c.initialize("gemini-cli-mcp-client", "{}")
	got := c.request("tools/call", `{"name":"echo","arguments":{}}`).call(t)
	want := `deny by rule user:1 person=false reason="writes are asked. It needs a person's approval and the client \"gemini-cli-mcp-client\" cannot ask for it. Ticket t-1: a person can allow it with ` + "`tackle approve t-1`" + `; then repeat the call unchanged"`
	if !strings.HasPrefix(got.text(), want) {
		t.Errorf("got  %s\nwant %s", got.text(), want)
	}
	if string(got.Meta[metaKey]) != `{"ticket":"t-1"}` {
		t.Errorf("meta: %s", got.Meta[metaKey])
	}
	// A call that came through no server at all.
	d, err := a.Answer(t.Context(), toolbox.Asked{GateRequest: toolbox.GateRequest{Intent: &tool.Intent{}}})
	if err != nil || d.Verdict != tool.Deny || !strings.Contains(d.Reason, "nobody is here") {
		t.Errorf("%+v %v", d, err)
	}
}

// An ask times out and ends with its call.
func TestP8_AskTimesOut(t *testing.T) {
	for _, era := range []string{"older", "newer"} {
		synctest.Test(t, func(t *testing.T) {
			s := newTestServer(t, askBox(&Answerer{}, 0), Config{AskTime: time.Minute, Budget: -1})
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
				if got := m.call(t).text(); !strings.Contains(got, "no answer came within 1m0s") {
					t.Errorf("%s", got)
				}
				return
			}
			meta := `"_meta":{` + modernMeta("x", elicitation) + `}`
			first := c.request("tools/call", `{"name":"echo","arguments":{},`+meta+`}`).call(t)
			time.Sleep(2 * time.Minute) // of the bubble's clock
			late := c.request("tools/call", fmt.Sprintf(`{"name":"echo","arguments":{},"requestState":%q,"inputResponses":{"approval":{"action":"accept","content":{"answer":"allow once"}}},%s}`, first.RequestState, meta)).call(t)
			if !strings.Contains(late.text(), "no answer came within 1m0s") {
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

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 漢 👍":                          "plain é 漢 👍",
		"a\u202eb\u200bc\x1b[31m":              "a⟨U+202E⟩b⟨U+200B⟩c⟨U+001B⟩[31m",
		"x\u00a0y\xffz\ufffd\r\n\t":            "x⟨U+00A0⟩y⟨FF⟩z\ufffd⟨U+000D⟩\n\t",
		"rm" + strings.Repeat(" ", 41) + "-rf": "rm⟨41 spaces⟩-rf",
		"\U000e0041":                           "⟨U+E0041⟩",
	} {
		if got := visible(in); got != want {
			t.Errorf("visible(%q) = %q, want %q", in, got, want)
		}
	}
	if got := visibleLine("a\nb"); got != "a⟨U+000A⟩b" {
		t.Errorf("visibleLine: %q", got)
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
