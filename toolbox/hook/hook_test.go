package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// programs is a Runner whose programs are functions, by name.
type programs struct {
	run  map[string]func(ctx context.Context, in input) (Output, error)
	seen []input
	envs []string
}

func (p *programs) Run(ctx context.Context, pr Process) (Output, error) {
	var in input
	if err := json.Unmarshal(pr.Stdin, &in); err != nil {
		return Output{}, err
	}
	p.seen, p.envs = append(p.seen, in), pr.Env
	name := pr.Script
	if pr.Argv != nil {
		name = strings.Join(pr.Argv, " ")
	}
	f := p.run[name]
	if f == nil {
		return Output{}, errors.New("no such program")
	}
	return f(ctx, in)
}

func prints(stdout string) func(context.Context, input) (Output, error) {
	return func(context.Context, input) (Output, error) { return Output{Stdout: []byte(stdout)}, nil }
}

func exits(code int, stderr string) func(context.Context, input) (Output, error) {
	return func(context.Context, input) (Output, error) { return Output{Code: code, Stderr: []byte(stderr)}, nil }
}

type sayInput struct {
	Text string `json:"text"`
	N    int    `json:"n,omitempty"`
}

// say is a tool that writes, so that a gate has something to decide.
func say() tool.Tool {
	return tool.Define(tool.Spec{Name: "say", Category: "test", Description: "Say something.", Example: `{"text": "a"}`},
		func(_ context.Context, _ *tool.Call, in sayInput) (tool.Action, error) {
			return tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Write}}, Run: func(context.Context, tool.Runner) (tool.Result, error) {
				return tool.TextResult("said "+in.Text, nil), nil
			}}, nil
		})
}

// policy is a gate with one verdict.
type policy struct {
	verdict tool.Verdict
	by      string
	asking  []string
}

func (p policy) Decide(context.Context, permission.Request) (tool.Decision, error) {
	return tool.Decision{Verdict: p.verdict, By: p.by, Reason: "because"}, nil
}
func (p policy) Hidden(string, string) (bool, string)                     { return false, "" }
func (p policy) Screen(permission.Request) func(tool.Target) tool.Verdict { return nil }
func (p policy) Asking(permission.Request) []string                       { return p.asking }

// world is a box with hooks.
func world(t *testing.T, settings string, p *programs, gate policy) (*toolbox.Box, *Hooks) {
	t.Helper()
	set, _, err := Parse([]byte(settings), "settings.json")
	if err != nil {
		t.Fatal(err)
	}
	var box *toolbox.Box
	h := New(Options{Set: set, Runner: p, Dir: "/w", Canonical: func(r toolbox.Request) (toolbox.Meaning, bool) { return box.Canonical(r) }})
	box, err = toolbox.New(toolbox.Config{Gate: h.Gate(gate), Hooks: []toolbox.Hook{h}, Env: tool.Environment{Mode: "code"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := box.Register(say(), "code"); err != nil {
		t.Fatal(err)
	}
	return box, h
}

func pre(entry string) string {
	return `{"hooks": {"PreToolUse": [{"matcher": "say", "hooks": [` + entry + `]}]}}`
}

func call(t *testing.T, box *toolbox.Box, args string) tool.Result {
	t.Helper()
	res, err := box.Call(t.Context(), toolbox.Request{Tool: "say", Args: json.RawMessage(args), Session: "s", ID: "c"})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

var allowing = policy{tool.Allow, "posture guarded", nil}

// P10: what a hook before a call may say, in every form of the convention, and what comes of it.
func TestP10_PreToolUse(t *testing.T) {
	specific := func(s string) string { return `{"hookSpecificOutput": {"hookEventName": "PreToolUse", ` + s + `}}` }
	postureAsks := policy{tool.Ask, "posture guarded", []string{"posture guarded"}}
	ruleAsks := policy{tool.Ask, "posture guarded", []string{"posture guarded", "rule user:1"}}
	guardAsks := policy{tool.Ask, "guard state", []string{"guard state"}}
	denying := policy{tool.Deny, "rule user:1", nil}
	tests := []struct {
		name string
		run  func(context.Context, input) (Output, error)
		gate policy
		by   string // what refused; "" where the call ran
		says string
	}{
		{"silence", prints(""), allowing, "", "said a"},
		{"an empty object", prints("{}"), allowing, "", "said a"},
		{"deny", prints(specific(`"permissionDecision": "deny", "permissionDecisionReason": "not here"`)), allowing, "hook guard", "not here"},
		{"exit 2", exits(2, "blocked: use make\n"), allowing, "hook guard", "blocked: use make"},
		{"older block", prints(`{"decision": "block", "reason": "old style"}`), allowing, "hook guard", "old style"},
		{"older approve", prints(`{"decision": "approve"}`), postureAsks, "", "said a"},
		{"continue false", prints(`{"continue": false, "stopReason": "enough"}`), allowing, "hook guard", "enough"},
		{"ask", prints(specific(`"permissionDecision": "ask", "permissionDecisionReason": "look at it"`)), allowing, "hook guard", "look at it"},
		{"defer", prints(specific(`"permissionDecision": "defer"`)), allowing, "hook guard", "person's approval"},
		{"allow answers the posture", prints(specific(`"permissionDecision": "allow"`)), postureAsks, "", "said a"},
		{"POL-001 allow does not lift a deny", prints(specific(`"permissionDecision": "allow"`)), denying, "rule user:1", "because"},
		{"POL-001 allow does not answer a rule", prints(specific(`"permissionDecision": "allow"`)), ruleAsks, "posture guarded", ""},
		{"POL-001 allow does not answer a guard", prints(specific(`"permissionDecision": "allow"`)), guardAsks, "guard state", ""},
		{"context", prints(specific(`"additionalContext": "remember the tests"`)), allowing, "", "remember the tests"},
		{"rewrite", prints(specific(`"updatedInput": {"text": "b"}`)), allowing, "", "said b"},
		{"POL-003 a rewrite is validated", prints(specific(`"updatedInput": {"text": "b", "evil": 1}`)), allowing, "INVALID_PARAMETER", "evil"},
		{"HOOK-001 exit 1", exits(1, "oops"), allowing, "hook guard", "exit status 1: oops"},
		{"HOOK-001 exit 127", exits(127, "guard: not found"), allowing, "hook guard", "exit status 127"},
		{"HOOK-001 cannot be started", nil, allowing, "hook guard", "no such program"},
		{"HOOK-005 no JSON", prints("all good!"), allowing, "hook guard", `"all good!", which is no answer`},
		{"HOOK-005 broken JSON", prints(`{"decision": "appr`), allowing, "hook guard", "which is no answer"},
		{"HOOK-005 a list", prints(`["allow"]`), allowing, "hook guard", "which is no answer"},
		{"HOOK-005 megabytes", func(context.Context, input) (Output, error) { return Output{Cut: true}, nil }, allowing, "hook guard", "more than 1048576 bytes"},
		{"an unknown decision", prints(specific(`"permissionDecision": "maybe"`)), allowing, "hook guard", `"maybe"`},
		{"a rewrite that is no object", prints(specific(`"updatedInput": "b"`)), allowing, "hook guard", "no object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &programs{run: map[string]func(context.Context, input) (Output, error){"guard": tt.run}}
			if tt.run == nil {
				p.run = nil
			}
			box, h := world(t, pre(`{"type": "command", "command": "guard"}`), p, tt.gate)
			res := call(t, box, `{"text": "a"}`)
			got := ""
			switch {
			case res.Denied != nil:
				got = res.Denied.Decision.By
			case res.Err != nil:
				got = string(res.Err.Code)
			}
			if got != tt.by || !strings.Contains(res.Text(), tt.says) {
				t.Errorf("by %q: %s", got, res.Text())
			}
			if len(h.said) != 0 || len(h.order) != 0 {
				t.Errorf("something is left of the call: %v", h.said)
			}
		})
	}
}

// HOOK-001: a hook that hangs is ended, and the call does not pass; "failOpen" has it the other way.
func TestHOOK001_Hang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := func(ctx context.Context, _ input) (Output, error) { <-ctx.Done(); return Output{}, ctx.Err() }
		p := &programs{run: map[string]func(context.Context, input) (Output, error){"guard": hang}}
		box, _ := world(t, pre(`{"type": "command", "command": "guard", "timeout": 5}`), p, allowing)
		start := time.Now()
		res := call(t, box, `{"text": "a"}`)
		if res.Denied == nil || !strings.Contains(res.Text(), "did not end within 5s") || time.Since(start) != 5*time.Second {
			t.Errorf("after %v: %s", time.Since(start), res.Text())
		}
		box, _ = world(t, pre(`{"type": "command", "command": "guard", "timeout": 0.5, "failOpen": true}`), p, allowing)
		if res := call(t, box, `{"text": "a"}`); !res.OK() {
			t.Errorf("failOpen: %s", res.Text())
		}
		box, _ = world(t, pre(`{"type": "command", "command": "guard"}`), p, allowing)
		start = time.Now()
		if res := call(t, box, `{"text": "a"}`); res.Denied == nil || time.Since(start) != DefaultTimeout {
			t.Errorf("after %v: %s", time.Since(start), res.Text())
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		res, err := box.Call(ctx, toolbox.Request{Tool: "say", Args: json.RawMessage(`{"text": "a"}`)})
		if err != nil || res.Err == nil || res.Denied != nil {
			t.Errorf("a call that ended: %v %s", err, res.Text())
		}
	})
}

// What a hook reads has the names of the convention, and the arguments as the tool would get them.
func TestP10_Input(t *testing.T) {
	p := &programs{run: map[string]func(context.Context, input) (Output, error){"guard": prints(""), "after x": prints("")}}
	box, _ := world(t, `{"hooks": {"PreToolUse": [{"matcher": "", "hooks": [{"type": "command", "command": "guard"}]}],
		"PostToolUse": [{"hooks": [{"type": "command", "command": "after", "args": ["x"]}]}]}}`, p, allowing)
	if res := call(t, box, `"{\"text\": \"a\", \"n\": \"2\"}"`); !res.OK() { // doubly encoded, a number as text
		t.Fatal(res.Text())
	}
	if len(p.seen) != 2 {
		t.Fatalf("%d hooks ran", len(p.seen))
	}
	want := input{SessionID: "s", Cwd: "/w", Mode: "default", Event: PreToolUse, Tool: "say", Input: p.seen[0].Input, Use: "c"}
	if diff := cmp.Diff(want, p.seen[0]); diff != "" {
		t.Error(diff)
	}
	var args sayInput
	if err := json.Unmarshal(p.seen[0].Input, &args); err != nil || args != (sayInput{"a", 2}) {
		t.Errorf("a guard sees %s", p.seen[0].Input)
	}
	after := p.seen[1]
	var response map[string]any
	if err := json.Unmarshal(after.Response, &response); err != nil || after.Event != PostToolUse || response["success"] != true || response["content"] != "said a" {
		t.Errorf("%+v %v", after, response)
	}
	if len(p.envs) != 1 || p.envs[0] != "CLAUDE_PROJECT_DIR=/w" {
		t.Errorf("environment %q", p.envs)
	}
	// A call that goes no further than validation reaches no hook.
	call(t, box, `{"txt": 1}`)
	if len(p.seen) != 2 {
		t.Errorf("hooks ran for a call that cannot be made")
	}
}

// Several hooks: the strictest word counts, rewrites are seen by those behind, and the first deny is the last word.
func TestP10_Several(t *testing.T) {
	p := &programs{run: map[string]func(context.Context, input) (Output, error){
		"rewrite": prints(`{"hookSpecificOutput": {"updatedInput": {"text": "b"}, "permissionDecision": "allow"}}`),
		"ask":     prints(`{"hookSpecificOutput": {"permissionDecision": "ask"}}`),
		"guard": func(_ context.Context, in input) (Output, error) {
			if strings.Contains(string(in.Input), `"b"`) {
				return Output{Code: 2, Stderr: []byte("b is not allowed")}, nil
			}
			return Output{}, nil
		},
	}}
	entry := func(names ...string) string {
		var list []string
		for _, n := range names {
			list = append(list, fmt.Sprintf(`{"type": "command", "command": %q}`, n))
		}
		return pre(strings.Join(list, ", "))
	}
	box, _ := world(t, entry("rewrite", "guard"), p, allowing)
	if res := call(t, box, `{"text": "a"}`); res.Denied == nil || !strings.Contains(res.Text(), "b is not allowed") {
		t.Errorf("the guard does not see the rewritten call: %s", res.Text())
	}
	box, _ = world(t, entry("rewrite", "ask"), p, allowing)
	if res := call(t, box, `{"text": "a"}`); res.Denied == nil || res.Denied.Decision.By != "hook ask" {
		t.Errorf("allow outweighs ask: %s", res.Text())
	}
	// Where policy asks, too, the allow of one hook does not answer what another one asks.
	p.run["allow"] = prints(`{"hookSpecificOutput": {"permissionDecision": "allow"}}`)
	asks := policy{tool.Ask, "posture guarded", []string{"posture guarded"}}
	for _, order := range [][]string{{"allow", "ask"}, {"ask", "allow"}} {
		box, _ = world(t, entry(order...), p, asks)
		if res := call(t, box, `{"text": "a"}`); res.Denied == nil {
			t.Errorf("%v: allow answers what a hook asks: %s", order, res.Text())
		}
	}
	box, _ = world(t, entry("allow"), p, asks)
	if res := call(t, box, `{"text": "a"}`); !res.OK() {
		t.Errorf("allow alone: %s", res.Text())
	}
}

// A hook of a type that cannot be run here asks a person, for the calls that it is meant for.
func TestP10_Unsupported(t *testing.T) {
	settings := pre(`{"type": "prompt", "prompt": "Is it safe?"}`)
	_, notes, err := Parse([]byte(settings), "settings.json")
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], `"prompt"`) {
		t.Errorf("%q %v", notes, err)
	}
	box, _ := world(t, settings, &programs{}, allowing)
	if res := call(t, box, `{"text": "a"}`); res.Denied == nil || !strings.Contains(res.Text(), `type "prompt"`) {
		t.Errorf("got %s", res.Text())
	}
}

// P10: what a hook says after a call reaches the model, and a hook that fails is seen.
func TestP10_PostToolUse(t *testing.T) {
	settings := `{"hooks": {"PostToolUse": [{"matcher": "say", "hooks": [{"type": "command", "command": "after"}]}]}}`
	for _, tt := range []struct {
		name string
		run  func(context.Context, input) (Output, error)
		want string
	}{
		{"silence", prints("formatted 1 file"), "said a"},
		{"block", prints(`{"decision": "block", "reason": "the linter fails"}`), "said a[hook after] the linter fails"},
		{"exit 2", exits(2, "the linter fails"), "said a[hook after] the linter fails"},
		{"context", prints(`{"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "run make"}}`), "said arun make"},
		{"another output", prints(`{"hookSpecificOutput": {"updatedToolOutput": "[masked]"}}`), "[masked]"},
		{"another output as object", prints(`{"hookSpecificOutput": {"updatedMCPToolOutput": {"x": 1}}}`), `{"x": 1}`},
		{"failure", exits(1, "broken"), "said a[hook after] the hook failed (exit status 1: broken), and a hook that fails stops the call"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			box, _ := world(t, settings, &programs{run: map[string]func(context.Context, input) (Output, error){"after": tt.run}}, allowing)
			res := call(t, box, `{"text": "a"}`)
			if got := strings.ReplaceAll(res.Text(), "\n", ""); !res.OK() || got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	box, _ := world(t, settings, &programs{run: map[string]func(context.Context, input) (Output, error){"after": prints(`{"continue": false, "stopReason": "budget"}`)}}, allowing)
	if res := call(t, box, `{"text": "a"}`); res.Meta.Values[StopValue] != "budget" {
		t.Errorf("got %v", res.Meta.Values)
	}
}

// P10, POL-003: PermissionRequest hooks answer asks like a program: never a guard's, never with another call.
func TestP10_PermissionRequest(t *testing.T) {
	decision := func(s string) func(context.Context, input) (Output, error) {
		return prints(`{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {` + s + `}}}`)
	}
	in := &tool.Intent{Tool: "say", Permission: "say", Effects: []tool.Effect{tool.Write}, Args: json.RawMessage(`{"text": "a"}`)}
	in.Seal()
	for _, tt := range []struct {
		name string
		run  func(context.Context, input) (Output, error)
		want tool.Verdict
		by   string
		says string
	}{
		{"allow", decision(`"behavior": "allow"`), tool.Allow, "program (hook answer)", ""},
		{"allow as it is", decision(`"behavior": "allow", "updatedInput": {"text":"a"}`), tool.Allow, "program (hook answer)", ""},
		{"deny", decision(`"behavior": "deny", "message": "no", "interrupt": true`), tool.Deny, "program (hook answer)", "no"},
		{"exit 2", exits(2, "no"), tool.Deny, "program (hook answer)", "no"},
		{"POL-003 another call", decision(`"behavior": "allow", "updatedInput": {"text": "b"}`), tool.Deny, "program (hook answer)", `make the call again with these arguments: {"text": "b"}`},
		{"silence", prints(""), tool.Deny, "rule x", "nobody is here"},
		{"garbage", prints("yes"), tool.Deny, "rule x", "nobody is here"},
		{"failure", exits(1, ""), tool.Deny, "rule x", "nobody is here"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, h := world(t, `{"hooks": {"PermissionRequest": [{"matcher": "*", "hooks": [{"type": "command", "command": "answer"}]}]}}`,
				&programs{run: map[string]func(context.Context, input) (Output, error){"answer": tt.run}}, allowing)
			qu := ask.Question{Request: permission.Request{Intent: in}, Policy: tool.Decision{Verdict: tool.Ask, By: "rule x"}, Faces: []ask.Face{h.Face()}}
			d, err := ask.New(ask.Options{}).Ask(t.Context(), qu)
			if err != nil || d.Verdict != tt.want || d.By != tt.by || d.Person || !strings.Contains(d.Reason, tt.says) {
				t.Errorf("%+v %v", d, err)
			}
			qu.Policy.By = "guard state"
			if d, err := ask.New(ask.Options{}).Ask(t.Context(), qu); err != nil || d.Verdict == tool.Allow {
				t.Errorf("a hook answers a guard: %+v %v", d, err)
			}
		})
	}
}

// P10: a call that touches several files is allowed by a hook only where it allows each of them; a hook that is meant for some
// of them answers nothing.
func TestP10_PermissionRequestOfSeveral(t *testing.T) {
	const allow = `{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}`
	args, _ := json.Marshal(map[string]string{"patch": "*** Begin Patch\n*** Add File: safe.txt\n+x\n*** Update File: other.txt\n@@\n-a\n+b\n*** End Patch\n"})
	in := &tool.Intent{Tool: "apply_patch", Permission: "edit", Effects: []tool.Effect{tool.Write}, Args: args}
	in.Seal()
	for _, tt := range []struct {
		name, matcher string
		run           func(context.Context, input) (Output, error)
		want          tool.Verdict
	}{
		{"each", "*", prints(allow), tool.Allow},
		{"one of them", "*", func(_ context.Context, in input) (Output, error) {
			if strings.Contains(string(in.Input), "safe.txt") {
				return Output{Stdout: []byte(allow)}, nil
			}
			return Output{}, nil
		}, tool.Deny},
		{"one denied", "*", func(_ context.Context, in input) (Output, error) {
			if strings.Contains(string(in.Input), "other.txt") {
				return Output{Code: 2}, nil
			}
			return Output{Stdout: []byte(allow)}, nil
		}, tool.Deny},
		{"meant for one", "MultiEdit", prints(allow), tool.Deny},
	} {
		_, h := world(t, `{"hooks": {"PermissionRequest": [{"matcher": "`+tt.matcher+`", "hooks": [{"type": "command", "command": "answer"}]}]}}`,
			&programs{run: map[string]func(context.Context, input) (Output, error){"answer": tt.run}}, allowing)
		qu := ask.Question{Request: permission.Request{Intent: in}, Policy: tool.Decision{Verdict: tool.Ask, By: "rule x"}, Faces: []ask.Face{h.Face()}}
		if d, err := ask.New(ask.Options{}).Ask(t.Context(), qu); err != nil || d.Verdict != tt.want {
			t.Errorf("%s: %+v %v", tt.name, d, err)
		}
	}
}

// P10: before a stop, and at the start of a session.
func TestP10_StopAndStart(t *testing.T) {
	p := &programs{run: map[string]func(context.Context, input) (Output, error){}}
	_, h := world(t, `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "stop"}]}], "SessionStart": [{"matcher": "startup", "hooks": [{"type": "command", "command": "start"}]}]}}`, p, allowing)
	for _, tt := range []struct {
		run  func(context.Context, input) (Output, error)
		want string
	}{
		{prints(""), ""}, {prints(`{"decision": "block", "reason": "run the tests"}`), "run the tests"}, {exits(2, "run the tests"), "run the tests"},
		{exits(1, "broken"), ""}, {prints("garbage"), ""}, {prints(`{"continue": false}`), ""},
	} {
		p.run["stop"] = tt.run
		if got, err := h.Stop(t.Context(), "s", false); err != nil || got != tt.want {
			t.Errorf("stop: %q %v, want %q", got, err, tt.want)
		}
	}
	for _, tt := range []struct {
		run  func(context.Context, input) (Output, error)
		from Start
		want string
	}{
		{prints("branch main"), Startup, "branch main"}, {prints(`{"hookSpecificOutput": {"additionalContext": "branch main"}}`), Startup, "branch main"},
		{prints("branch main"), Resume, ""}, {exits(1, ""), Startup, ""},
	} {
		p.run["start"] = tt.run
		if got, err := h.SessionStart(t.Context(), "s", tt.from); err != nil || got != tt.want {
			t.Errorf("start: %q %v, want %q", got, err, tt.want)
		}
	}
}

// A call that is planned and never run does not leave its verdict for ever.
func TestPendingIsBounded(t *testing.T) {
	h := New(Options{})
	for i := range 2 * pendingCalls {
		h.keep(&toolbox.Request{Session: "s", ID: fmt.Sprint(i)}, verdict{ask: "x"})
	}
	if len(h.said) != pendingCalls || len(h.order) != pendingCalls {
		t.Errorf("%d %d", len(h.said), len(h.order))
	}
}
