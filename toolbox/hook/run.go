package hook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// event is what a hook is told beside the call.
type event struct {
	Session  string
	Event    Event
	Call     string
	Dir      string
	Response json.RawMessage // PostToolUse
	Extra    map[string]any  // of the event
}

// answer is what a hook said.
type answer struct {
	decision decision
	reason   string
	input    json.RawMessage // the call as the hook wants it; nil: as it is
	context  string          // for the model
	message  string          // for the person
	output   *string         // PostToolUse: the text that the model reads instead
	stop     string          // why the turn should end; "" where it should not
}

type decision uint8

const (
	none decision = iota
	allows
	asks
	denies
)

// input is what hooks read. The names are those of the convention.
type input struct {
	SessionID  string          `json:"session_id"`
	Transcript string          `json:"transcript_path"`
	Cwd        string          `json:"cwd"`
	Mode       string          `json:"permission_mode"`
	Event      Event           `json:"hook_event_name"`
	Tool       string          `json:"tool_name,omitempty"`
	Input      json.RawMessage `json:"tool_input,omitempty"`
	Use        string          `json:"tool_use_id,omitempty"`
	Response   json.RawMessage `json:"tool_response,omitempty"`
}

// output is what hooks print. The names are those of the convention; Decision and Reason are its older form.
type output struct {
	Continue *bool  `json:"continue"`
	Stop     string `json:"stopReason"`
	Message  string `json:"systemMessage"`
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
	Specific struct {
		Event      string          `json:"hookEventName"`
		Permission string          `json:"permissionDecision"`
		Reason     string          `json:"permissionDecisionReason"`
		Input      json.RawMessage `json:"updatedInput"`
		Context    string          `json:"additionalContext"`
		Output     json.RawMessage `json:"updatedToolOutput"`
		MCPOutput  json.RawMessage `json:"updatedMCPToolOutput"`
		Decision   struct {
			Behavior string          `json:"behavior"`
			Input    json.RawMessage `json:"updatedInput"`
			Message  string          `json:"message"`
		} `json:"decision"`
	} `json:"hookSpecificOutput"`
}

// ask runs a hook for a call, where it is meant for it. ran is false where it is not, and where it failed open.
func (h *Hooks) ask(ctx context.Context, c *Command, shown Shown, e event) (a answer, ran bool, err error) {
	// A matcher for Write is meant for an edit too, where the call has no form of its own there; it gets it as Edit.
	names := append([]string{shown.Name}, shown.Also...)
	if _, meant := c.match.matches(names...); !meant {
		return a, false, nil
	}
	if !c.only.holds(names, shown.Input) {
		return a, false, nil
	}
	if c.Unsupported != "" {
		if e.Event != PreToolUse {
			return a, false, nil
		}
		return answer{decision: asks, reason: fmt.Sprintf("a hook of type %q guards it, which cannot be run here", c.Unsupported)}, true, nil
	}
	in := h.input(e)
	in.Tool, in.Input, in.Response = shown.Name, shown.Input, e.Response
	if e.Event != PermissionRequest {
		in.Use = e.Call
	}
	return h.run(ctx, c, e, in)
}

func (h *Hooks) input(e event) input {
	modes := map[string]string{"plan": "plan", "auto": "acceptEdits", "ci": "dontAsk"}
	return input{SessionID: e.Session, Cwd: e.Dir, Mode: cmp.Or(modes[h.opt.Posture], "default"), Event: e.Event}
}

// run runs one hook and reads its answer. A hook that fails is an answer that denies, where its event can deny.
func (h *Hooks) run(ctx context.Context, c *Command, e event, in input) (a answer, ran bool, err error) {
	body := marshal(in)
	if e.Extra != nil {
		all := object{}
		_ = json.Unmarshal(body, &all) // it was marshalled just now
		for key, value := range e.Extra {
			all[key] = marshal(value)
		}
		body = marshal(all)
	}
	p := Process{Script: c.Command, Dir: e.Dir, Env: []string{"CLAUDE_PROJECT_DIR=" + h.opt.Project}, Stdin: append(body, '\n'), Limit: MaxOutput}
	if c.Args != nil {
		p.Script, p.Argv = "", append([]string{c.Command}, c.Args...)
	}
	timed, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	out, err := h.opt.Runner.Run(timed, p)
	switch {
	case ctx.Err() != nil:
		return a, false, ctx.Err()
	case timed.Err() != nil:
		err = fmt.Errorf("it did not end within %v", c.Timeout)
	case err == nil:
		a, err = read(e.Event, &out)
	}
	if err == nil {
		return a, true, nil
	}
	h.opt.Log.ErrorContext(ctx, "hook failed", "hook", c.Name(), "file", c.Source, "event", c.Event, "err", err, "open", c.FailOpen)
	if c.FailOpen || e.Event == PermissionRequest { // there a person is asked all the same
		return answer{}, false, nil
	}
	return answer{decision: denies, reason: fmt.Sprintf("the hook failed (%v), and a hook that fails stops the call", err)}, true, nil
}

// read reads what a hook printed. The error says that it is no answer.
func read(e Event, out *Output) (a answer, err error) {
	stderr := text(out.Stderr)
	switch {
	case out.Cut:
		return a, fmt.Errorf("it printed more than %d bytes", MaxOutput)
	case out.Code == 2:
		if stderr == "" {
			stderr = "it exited with status 2"
		}
		return answer{decision: denies, reason: stderr}, nil
	case out.Code != 0:
		if stderr != "" {
			stderr = ": " + stderr
		}
		return a, fmt.Errorf("exit status %d%s", out.Code, stderr)
	}
	stdout := bytes.TrimSpace(out.Stdout)
	if len(stdout) == 0 {
		return a, nil
	}
	var o output
	if err := json.Unmarshal(stdout, &o); err != nil || stdout[0] != '{' {
		switch e {
		case SessionStart: // plain text is context there
			return answer{context: text(stdout)}, nil
		case PreToolUse, PermissionRequest:
			return a, fmt.Errorf("it printed %q, which is no answer", clip(text(stdout), 60))
		}
		return a, nil
	}
	return o.answer(e)
}

// answer reads both forms of the convention.
func (o *output) answer(e Event) (a answer, err error) {
	s := &o.Specific
	a = answer{message: o.Message, context: s.Context, input: present(s.Input)}
	word, reason := s.Permission, s.Reason
	switch {
	case e == PermissionRequest && s.Decision.Behavior != "":
		word, reason, a.input = s.Decision.Behavior, s.Decision.Message, present(s.Decision.Input)
	case word == "":
		word, reason = o.Decision, o.Reason
	}
	switch word {
	case "":
	case "allow", "approve":
		a.decision = allows
	case "ask", "defer":
		a.decision = asks
	case "deny", "block":
		a.decision = denies
	default:
		return a, fmt.Errorf("its decision %q is none of allow, ask and deny", clip(word, 40))
	}
	a.reason = cmp.Or(reason, o.Reason)
	if a.input != nil && a.input[0] != '{' {
		return a, errors.New("its updatedInput is no object")
	}
	if raw := cmp.Or(string(present(s.Output)), string(present(s.MCPOutput))); e == PostToolUse && raw != "" {
		out := raw
		_ = json.Unmarshal([]byte(raw), &out) // what is no string is shown as JSON
		a.output = &out
	}
	if o.Continue != nil && !*o.Continue {
		a.stop = cmp.Or(o.Stop, "a hook asks to stop")
		if e == PreToolUse || e == PermissionRequest {
			a.decision, a.reason = denies, a.stop
		}
	}
	return a, nil
}

// present returns a value that is there.
func present(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return raw
}

// text makes what a program printed fit for a message.
func text(b []byte) string { return strings.TrimSpace(strings.ToValidUTF8(string(b), "\uFFFD")) }

func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "…"
}

// Start is the source of a session start.
type Start string

// The sources.
const (
	Startup Start = "startup"
	Resume  Start = "resume"
)

// SessionStart runs the hooks of a session that begins and returns what they add to its context. A hook that fails adds
// nothing; the error is that of ctx.
func (h *Hooks) SessionStart(ctx context.Context, session string, source Start) (string, error) {
	var notes []string
	e := event{Session: session, Event: SessionStart, Dir: h.opt.Dir, Extra: map[string]any{"source": source}}
	for _, c := range h.opt.Set.of(SessionStart) {
		if _, meant := c.match.matches(string(source)); !meant || c.Unsupported != "" {
			continue
		}
		a, ran, err := h.run(ctx, c, e, h.input(e))
		if err != nil {
			return "", err
		}
		if ran && a.context != "" {
			notes = append(notes, a.context)
		}
	}
	return strings.Join(notes, "\n"), nil
}

// Stop runs the hooks before a turn ends. A reason that is not empty is for the model: the turn should go on. again says
// that the turn already goes on because of a hook. A hook that fails does not hold the turn; the error is that of ctx.
func (h *Hooks) Stop(ctx context.Context, session string, again bool) (reason string, err error) {
	e := event{Session: session, Event: Stop, Dir: h.opt.Dir, Extra: map[string]any{"stop_hook_active": again}}
	var reasons []string
	for _, c := range h.opt.Set.of(Stop) {
		if c.Unsupported != "" {
			continue
		}
		open := *c
		open.FailOpen = true
		a, ran, err := h.run(ctx, &open, e, h.input(e))
		switch {
		case err != nil:
			return "", err
		case ran && a.stop != "": // it wants the end, whatever others say
			return "", nil
		case ran && a.decision == denies:
			reasons = append(reasons, a.reason)
		}
	}
	return strings.Join(reasons, "\n"), nil
}
