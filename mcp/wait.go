package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tackle-dev/tackle/schema"
	"github.com/tackle-dev/tackle/tool"
)

// waitName is the tool that waits for a call that outlived its request.
const waitName = "call_wait"

// waitTool is served by the server itself: it is about requests, which the toolbox does not know.
type waitTool struct {
	def     tool.Definition
	checker *schema.Checker
}

type waitArgs struct {
	ID      string `json:"id" jsonschema:"Id of the call, as the earlier answer gave it, such as c-ABCD2345EFGH"`
	Timeout int    `json:"timeout,omitempty" jsonschema:"Seconds to wait; the default and the most is what one call is held"`
	Stop    bool   `json:"stop,omitempty" jsonschema:"End the call instead of waiting for it"`
}

func newWaitTool(budget time.Duration) (*waitTool, error) {
	def := tool.Define(tool.Spec{
		Name: waitName, Category: "task", Title: "Wait for a call",
		Description: fmt.Sprintf("Wait for a call that is still running and return its result. A call that runs longer than %v answers with an id; pass that id here, again and again until the result comes, or with stop to end the call.", budget),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Example:     `{"id":"c-ABCD2345EFGH"}`,
	}, func(context.Context, *tool.Call, waitArgs) (tool.Action, error) {
		return tool.Action{}, tool.Errorf(tool.OperationNotAllowed, "%s is served by the MCP server.", waitName)
	}).Definition()
	if err := def.Err(); err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	checker, err := schema.Compile(def.Schema)
	if err != nil {
		return nil, fmt.Errorf("mcp: %s: %w", waitName, err)
	}
	return &waitTool{def, checker}, nil
}

// parse repairs and validates the arguments as the road does.
func (w *waitTool) parse(raw json.RawMessage) (waitArgs, *tool.Error) {
	var args waitArgs
	bad := func(what string) *tool.Error {
		return &tool.Error{Code: tool.InvalidParameter, Message: what, Expected: "the id that the earlier answer gave", Example: w.def.Name + " " + w.def.Example}
	}
	prepared, err := w.checker.Prepare(raw)
	switch {
	case err != nil:
		return args, bad(err.Error() + ".")
	case len(prepared.Problems) > 0:
		return args, bad(prepared.Problems[0].Message)
	}
	if err := json.Unmarshal(prepared.Args, &args); err != nil {
		return args, bad(err.Error() + ".")
	}
	return args, nil
}

func (s *Server) serveWait(ctx context.Context, p peer, owner string, req *request, answer func([]byte)) {
	fail := func(e *tool.Error) {
		answer(s.encode(p, req, nil, outcome{res: &tool.Result{Err: e, Parts: []tool.Part{tool.Text(e.Render())}}}))
	}
	args, bad := s.wait.parse(req.args)
	if bad != nil {
		fail(bad)
		return
	}
	r := s.calls.find(args.ID, owner)
	if r == nil {
		fail(s.unknownCall(args.ID, owner))
		return
	}
	budget := s.cfg.Budget
	if d := time.Duration(args.Timeout) * time.Second; d > 0 && d < budget {
		budget = d
	}
	if args.Stop {
		r.end(errStopped)
	}
	s.waitFor(ctx, r, budget, func(o outcome) { answer(s.encode(p, req, r, o)) })
}

func (s *Server) unknownCall(id, owner string) *tool.Error {
	e := tool.Errorf(tool.NotFound, "no call %q is running or has ended in the last %v.", id, s.cfg.Retention).For("id", "the id that an earlier answer gave")
	e.Hint = "Nothing runs in the background; make the call again if its result is needed."
	if open := s.calls.of(owner); len(open) > 0 {
		e.Hint = "Calls that can be waited for:"
		for _, r := range open {
			e.Hint += fmt.Sprintf(" %s (%s)", r.handle(), r.name)
		}
	}
	return e
}

// goesOn is the answer of a request whose call takes longer than its budget.
func goesOn(r *running) tool.Result {
	return tool.TextResult(fmt.Sprintf("%s is still running after %v. Its id is %s: call %s with {\"id\":%q} to wait for the result, or with \"stop\":true to end it. It goes on meanwhile; do not start it again.",
		r.name, time.Since(r.began).Round(time.Second), r.handle(), waitName, r.handle()), nil)
}
