package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// Runner starts programs.
type Runner interface {
	// Run runs a program until it ends or ctx does, and then nothing of it is left. The error says that it could not be
	// started or waited for, or is that of ctx; an exit code is none.
	Run(ctx context.Context, p Process) (Output, error)
}

// Process is a program to run.
type Process struct {
	Script string   // a line for the system's shell, or
	Argv   []string // a program with its arguments
	Dir    string
	Env    []string // NAME=value, added to the environment of this process
	Stdin  []byte
	Limit  int // bytes of each output that are kept; what is beyond is read and dropped
}

// Output is what a program printed.
type Output struct {
	Stdout, Stderr []byte
	Code           int
	Cut            bool // more than Process.Limit was printed
}

// MaxOutput is how many bytes of a hook's output are read; more is a failure of the hook.
const MaxOutput = 1 << 20

// Options configure Hooks.
type Options struct {
	Set    *Set
	Runner Runner
	// Canonical returns what a request means; it is [toolbox.Box.Canonical] of the box that the hooks are for.
	Canonical func(toolbox.Request) (toolbox.Meaning, bool)
	Dir       string // working folder of hooks and of calls that name none
	Project   string // CLAUDE_PROJECT_DIR; default Dir
	Posture   string // of the session, shown as permission_mode
	Log       *slog.Logger
}

// Hooks runs the hooks of a set. It is safe for concurrent use.
type Hooks struct {
	opt Options

	mu    sync.Mutex
	said  map[string]verdict // by call: what hooks said about calls that are not decided yet
	order []string
}

// verdict is what hooks said about a call and that has to wait for later points of the road.
type verdict struct {
	ask, allow string // names of the hooks
	reason     string
	notes      []string // additionalContext, for the result
}

// pendingCalls bounds said: a call that is planned and never run leaves its entry.
const pendingCalls = 4096

// New returns hooks. opt is copied.
func New(opt Options) *Hooks {
	if opt.Set == nil {
		opt.Set = &Set{}
	}
	if opt.Project == "" {
		opt.Project = opt.Dir
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	return &Hooks{opt: opt, said: map[string]verdict{}}
}

var _ toolbox.Hook = (*Hooks)(nil)

// Before is described at toolbox.Hook: it runs the PreToolUse hooks.
func (h *Hooks) Before(ctx context.Context, req *toolbox.Request) error {
	hooks := h.opt.Set.of(PreToolUse)
	if len(hooks) == 0 {
		return nil
	}
	m, ok := h.opt.Canonical(*req)
	if !ok {
		return nil // the road refuses the call
	}
	dir := h.dir(req)
	var v verdict
	for _, c := range hooks {
		for _, shown := range Foreign(m, dir) {
			a, ran, err := h.ask(ctx, c, shown, event{Session: req.Session, Event: PreToolUse, Call: req.ID, Dir: dir})
			switch {
			case err != nil:
				return err
			case !ran:
				continue
			}
			if denial := h.take(c, a, &v, req.Tool); denial != nil {
				return denial
			}
			if a.input == nil {
				continue
			}
			if req.Args, ok = rewritten(m.Tool, shown, a.input); !ok {
				return deny(c, req.Tool, "it rewrites the call in a form that cannot be given back to "+m.Tool)
			}
			if m, ok = h.opt.Canonical(*req); !ok {
				return nil
			}
			break // what is shown is not what is called any more; the hooks behind it see the new call
		}
	}
	h.keep(req, v)
	return nil
}

// rewritten turns what a hook wants the call to be into our arguments.
func rewritten(name string, shown Shown, input json.RawMessage) (json.RawMessage, bool) {
	if shown.Part {
		return nil, false
	}
	if shown.Name == name {
		return input, true
	}
	return Ours(shown.Name, input)
}

// take notes an answer; the result is the denial, if it is one.
func (h *Hooks) take(c *Command, a answer, v *verdict, name string) error {
	if a.message != "" {
		h.opt.Log.Info("hook says", "hook", c.Name(), "message", a.message)
	}
	if a.context != "" {
		v.notes = append(v.notes, a.context)
	}
	switch a.decision {
	case denies:
		return deny(c, name, a.reason)
	case asks:
		if v.ask == "" {
			v.ask, v.reason = c.Name(), a.reason
		}
	case allows:
		if v.allow == "" {
			v.allow = c.Name()
		}
	}
	return nil
}

func deny(c *Command, name, reason string) *tool.Denial {
	if reason == "" {
		reason = "it gives no reason"
	}
	return &tool.Denial{Decision: tool.Decision{Verdict: tool.Deny, By: by(c.Name()), Reason: reason}, Tool: name,
		Message: fmt.Sprintf("%s was not allowed by %s: %s.", name, by(c.Name()), strings.TrimSuffix(reason, "."))}
}

func by(name string) string { return "hook " + name }

// After is described at toolbox.Hook: it runs the PostToolUse hooks of calls that succeeded, and adds what hooks had to say
// before the call.
func (h *Hooks) After(ctx context.Context, req *toolbox.Request, res *tool.Result) error {
	for _, note := range h.forget(req).notes {
		res.Parts = append(res.Parts, tool.Text(note))
	}
	hooks := h.opt.Set.of(PostToolUse)
	if len(hooks) == 0 || !res.OK() {
		return nil
	}
	m, ok := h.opt.Canonical(*req)
	if !ok {
		return nil
	}
	dir := h.dir(req)
	for _, c := range hooks {
		for _, shown := range Foreign(m, dir) {
			a, ran, err := h.ask(ctx, c, shown, event{Session: req.Session, Event: PostToolUse, Call: req.ID, Dir: dir, Response: response(res)})
			switch {
			case err != nil:
				return err
			case ran:
				h.feedback(c, a, res)
			}
		}
	}
	return nil
}

// feedback adds what a hook says about a call that was made.
func (h *Hooks) feedback(c *Command, a answer, res *tool.Result) {
	if a.message != "" {
		h.opt.Log.Info("hook says", "hook", c.Name(), "message", a.message)
	}
	if a.output != nil {
		kept := res.Parts[:0:0]
		for _, p := range res.Parts {
			if p.Kind != tool.TextKind {
				kept = append(kept, p)
			}
		}
		res.Parts = append([]tool.Part{tool.Text(*a.output)}, kept...)
	}
	if a.context != "" {
		res.Parts = append(res.Parts, tool.Text(a.context))
	}
	if a.decision == denies {
		res.Parts = append(res.Parts, tool.Text(fmt.Sprintf("[%s] %s", by(c.Name()), a.reason)))
	}
	if a.stop != "" {
		if res.Meta.Values == nil {
			res.Meta.Values = map[string]any{}
		}
		res.Meta.Values[StopValue] = a.stop
	}
}

// StopValue is the key of a result's Meta.Values under which a hook's wish to end the turn stands, with its reason.
const StopValue = "hook.stop"

// response is a result as hooks see it.
func response(res *tool.Result) json.RawMessage {
	out := map[string]any{"success": res.OK(), "content": res.Text()}
	if len(res.Meta.Changes) > 0 {
		out["filePath"] = res.Meta.Changes[0].Path
	}
	return marshal(out)
}

func (h *Hooks) dir(req *toolbox.Request) string {
	if req.Dir != "" {
		return req.Dir
	}
	return h.opt.Dir
}

// keep remembers what hooks said until the call is over.
func (h *Hooks) keep(req *toolbox.Request, v verdict) {
	if v.ask == "" && v.allow == "" && v.notes == nil {
		return
	}
	key := req.Session + "\x00" + req.ID
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := h.said[key]; !known {
		if len(h.order) == pendingCalls {
			delete(h.said, h.order[0])
			h.order = append(h.order[:0:0], h.order[1:]...)
		}
		h.order = append(h.order, key)
	}
	h.said[key] = v
}

func (h *Hooks) forget(req *toolbox.Request) verdict {
	key := req.Session + "\x00" + req.ID
	h.mu.Lock()
	defer h.mu.Unlock()
	v, ok := h.said[key]
	if !ok {
		return v
	}
	delete(h.said, key)
	for i, k := range h.order {
		if k == key {
			h.order = append(h.order[:i:i], h.order[i+1:]...)
			break
		}
	}
	return v
}

func (h *Hooks) heard(session, call string) verdict {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.said[session+"\x00"+call]
}
