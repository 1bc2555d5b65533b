package core

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/server/internal/access"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
)

// Tool is a tool as people see it.
type Tool struct {
	Name        string             `json:"name"`
	Title       string             `json:"title"`
	Category    string             `json:"category"`
	Description string             `json:"description" jsonschema:"for models"`
	Permission  string             `json:"permission" jsonschema:"the name that rules use"`
	Schema      *jsonschema.Schema `json:"schema" jsonschema:"JSON Schema of the arguments"`
	Example     json.RawMessage    `json:"example,omitempty" jsonschema:"one valid argument object"`
	ReadOnly    bool               `json:"readOnly"`
	Destructive bool               `json:"destructive"`
	Idempotent  bool               `json:"idempotent"`
	OpenWorld   bool               `json:"openWorld"`
	Version     string             `json:"version"`
	Author      string             `json:"author"`
	Absence     string             `json:"absence,omitempty" jsonschema:"why models do not see it in this mode"`
}

// Tools is the catalogue of a mode.
type Tools struct {
	Mode  string   `json:"mode"`
	Modes []string `json:"modes"`
	Tools []Tool   `json:"tools"`
}

// Tools lists the tools that models see in a mode ("" is the box's), in their order.
func (c *Core) Tools(mode string) (Tools, error) {
	view := c.box.View()
	if mode != "" {
		view.Mode = mode
	}
	out := Tools{Mode: view.Mode, Modes: list(c.box.Modes()), Tools: []Tool{}}
	for _, d := range c.box.Tools(view) {
		out.Tools = append(out.Tools, toolOf(&d))
	}
	if len(out.Tools) == 0 {
		return out, errorf(NotFound, "no tool is registered for mode %q; modes are %s", mode, strings.Join(out.Modes, ", "))
	}
	return out, nil
}

// Tool describes one tool, also one that models do not see. Errors: NotFound.
func (c *Core) Tool(name, mode string) (Tool, error) {
	view := c.box.View()
	if mode != "" {
		view.Mode = mode
	}
	d, ok := c.box.Definition(name, view.Mode)
	if !ok {
		return Tool{}, errorf(NotFound, "no tool is named %q", name)
	}
	t := toolOf(&d)
	t.Absence = c.box.Absence(name, view)
	return t, nil
}

func toolOf(d *tool.Definition) Tool {
	t := Tool{Name: d.Name, Title: d.Title, Category: d.Category, Description: d.Description, Permission: d.Permission, Schema: d.Schema,
		ReadOnly: d.Annotations.ReadOnly, Destructive: d.Annotations.Destructive, Idempotent: d.Annotations.Idempotent, OpenWorld: d.Annotations.OpenWorld,
		Version: d.Version, Author: d.Author}
	if t.Permission == "" {
		t.Permission = d.Name
	}
	if json.Valid([]byte(d.Example)) {
		t.Example = json.RawMessage(d.Example)
	}
	return t
}

// CallInput is a call that somebody makes.
type CallInput struct {
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"args" jsonschema:"the arguments, an object"`
	Session string          `json:"session,omitempty" jsonschema:"default: one of the caller's own"`
	Mode    string          `json:"mode,omitempty" jsonschema:"default: the mode of the box"`
	Plan    bool            `json:"plan,omitempty" jsonschema:"only say what it would touch and what policy would say; nothing runs and nothing is recorded"`
	Detach  bool            `json:"detach,omitempty" jsonschema:"do not wait: the call goes on, and its end is an event"`
}

// Tried is what came of a call.
type Tried struct {
	Session string `json:"session"`
	Call    string `json:"call"`
	State   State  `json:"state" jsonschema:"running where nobody waits for it"`

	Intent   *Intent   `json:"intent,omitempty" jsonschema:"of a plan"`
	Decision *Decision `json:"decision,omitempty" jsonschema:"what let it run or refused it; of a plan, what policy would say"`
	Diff     string    `json:"diff,omitempty"`
	Summary  string    `json:"summary,omitempty" jsonschema:"of the changes of a plan"`
	Files    []File    `json:"files"`
	Result   *Result   `json:"result,omitempty"`
}

// SessionOf is the session of the calls of somebody who names none.
func SessionOf(who access.Identity) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, who.Name)
	return "by-" + clean
}

// Try makes a call. It takes the road like any other: policy decides, people are asked, it is recorded. Errors: Forbidden,
// Invalid, and faults of the host; a tool error or a denial is a result.
func (c *Core) Try(ctx context.Context, who access.Identity, in CallInput) (Tried, error) {
	if err := need(who, access.Agent, "make calls"); err != nil {
		return Tried{}, err
	}
	if own := SessionOf(who); who.Role == access.Agent && in.Session != "" && in.Session != own && !strings.HasPrefix(in.Session, own+"-") {
		return Tried{}, errorf(Forbidden, "session %q is not yours; yours are %s and those that begin with %s-", in.Session, own, own)
	}
	if in.Tool == "" {
		return Tried{}, errorf(Invalid, "name the tool; /api/tools lists them")
	}
	if strings.HasPrefix(in.Session, ".") {
		return Tried{}, errorf(Invalid, "session %q: names that begin with a dot are the program's own", in.Session)
	}
	req := tackle.NewRequest(in.Tool, in.Args)
	req.Mode, req.Session, req.ID = in.Mode, in.Session, "call_"+strings.ToLower(rand.Text()[:16])
	if req.Args == nil {
		req.Args = json.RawMessage("{}")
	}
	if req.Session == "" {
		req.Session = SessionOf(who)
	}
	if in.Plan {
		return c.plan(ctx, req)
	}
	if err := c.box.Note(ctx, who.String(), fmt.Sprintf("makes call %s of %s in session %s", req.ID, req.Tool, req.Session)); err != nil {
		return Tried{}, Mistake(err)
	}
	if in.Detach {
		return c.detach(req)
	}
	res, err := c.box.Call(ctx, req)
	if err != nil {
		return Tried{}, Mistake(err)
	}
	return tried(req, &res), nil
}

func tried(req tackle.Request, res *tool.Result) Tried {
	var call Call
	call.Files, call.State = []File{}, OK
	o := session.OutcomeOf(res)
	for _, ch := range o.Meta.Changes {
		call.Files = append(call.Files, fileOf(&ch))
	}
	switch {
	case o.Denied:
		call.State = Denied
	case o.Err != nil:
		call.State = Failed
	}
	out := Tried{Session: req.Session, Call: req.ID, State: call.State, Diff: o.Meta.Diff, Files: call.Files, Result: resultOf(o)}
	if d := res.Meta.Decision; d != nil {
		dec := decisionOf(d, 1, o.Meta.Started)
		out.Decision = &dec
	}
	return out
}

// plan says what a call would do.
func (c *Core) plan(ctx context.Context, req tackle.Request) (Tried, error) {
	p, err := c.box.Plan(ctx, req)
	if err != nil {
		return Tried{}, err
	}
	out := Tried{Session: req.Session, Call: req.ID, State: OK, Files: []File{}}
	if p.Err != nil {
		out.State = Failed
		out.Result = &Result{Parts: []tool.Part{}, Text: p.Err.Render(), Error: p.Err, Repairs: list(p.Repairs)}
		return out, nil
	}
	if p.Denied != nil {
		out.State = Denied
		out.Result = &Result{Parts: []tool.Part{}, Text: p.Denied.Message, Error: p.Denied.AsError(), Denied: true, Repairs: list(p.Repairs)}
		return out, nil
	}
	out.Intent = intentOf(&p.Action.Intent)
	preview := c.box.PreviewOf(&p.Action.Intent)
	out.Diff, out.Summary = preview.Diff, preview.Summary()
	for i := range preview.Files {
		out.Files = append(out.Files, fileOf(&preview.Files[i]))
	}
	why, err := c.box.Why(ctx, req)
	if err != nil {
		return out, Mistake(err)
	}
	if why.Decision != nil {
		dec := decisionOf(why.Decision, 1, c.opt.Now().UTC())
		out.Decision = &dec
	}
	return out, nil
}

// mostDetached is how many calls may run without somebody who waits.
const mostDetached = 32

// detach runs a call that nobody waits for. Close ends it.
func (c *Core) detach(req tackle.Request) (Tried, error) {
	c.detached.mu.Lock()
	defer c.detached.mu.Unlock()
	if c.detached.closed {
		return Tried{}, ErrClosed
	}
	if c.detached.n >= mostDetached {
		return Tried{}, errorf(Busy, "%d calls run already that nobody waits for; wait for one of them to end", mostDetached)
	}
	c.detached.n++
	c.detached.wg.Go(func() {
		_, err := c.box.Call(c.detached.ctx, req) // what came of it is recorded
		if err != nil && !errors.Is(err, context.Canceled) {
			c.opt.Log.Error("a call that nobody waits for", "call", req.ID, "tool", req.Tool, "err", err)
		}
		c.detached.mu.Lock()
		c.detached.n--
		c.detached.mu.Unlock()
	})
	return Tried{Session: req.Session, Call: req.ID, State: Running, Files: []File{}}, nil
}
