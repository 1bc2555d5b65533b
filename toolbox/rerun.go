package toolbox

import (
	"context"
	"fmt"
	"slices"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

// again reports whether a run that met a foreign change may be planned and made once more: only if it was policy alone
// that let it through, and if nothing of it has happened. A command or a request to a server is never made twice.
func (r *runner) again(ctx context.Context, d tool.Decision) bool {
	if r.over.Load() || r.stale == nil || d.Person || r.second || len(r.transactions) > 0 || ctx.Err() != nil {
		return false
	}
	for _, e := range r.p.Action.Intent.Effects {
		if e != tool.Read && e != tool.Write {
			return false
		}
	}
	return true
}

// rerun holds the write locks of what the call would change, plans, decides and runs once more.
func (b *Box) rerun(ctx context.Context, p *Planned, r *runner) (res tool.Result, d tool.Decision, again bool, err error) {
	d = r.decision
	stale := r.stale
	held, unlock, err := b.replan(ctx, p, r.staleSet.Paths())
	if err != nil {
		e, denied, fault := sortError(tool.PathError("path", stale.Path, err))
		return tool.Result{Err: e, Denied: denied}, d, false, fault
	}
	defer func() {
		if r.over.Load() && r.end() { // a commit of a call that was given up still holds by these locks
			r.done()
		}
		unlock()
	}()
	r.stale, r.staleSet = nil, nil
	if p.stopped() {
		return tool.Result{Err: p.Err, Denied: p.Denied}, d, false, nil
	}
	if d, err = b.policy(held, p, &p.Action.Intent); err != nil {
		return res, d, false, err
	}
	switch d.Verdict {
	case tool.Ask: // nobody is asked while locks are held
		return tool.Result{Err: b.staleError(p, stale)}, d, false, nil
	case tool.Deny:
		denial := b.refusal(ctx, p, d)
		return tool.Result{Err: denial.AsError(), Denied: denial}, d, false, nil
	}
	r.decision = d
	res, err = b.invoke(held, p, r)
	return res, d, true, err
}

// replan plans while the write locks of everything that the plan changes are held. The new plan may need other paths than
// the one before, such as folders that are gone now.
func (b *Box) replan(ctx context.Context, p *Planned, paths []string) (held context.Context, unlock func(), err error) {
	for {
		if held, unlock, err = b.cfg.Host.Lock(ctx, paths...); err != nil {
			return nil, nil, err
		}
		if err := b.plan(held, p); err != nil {
			unlock()
			return nil, nil, err
		}
		more := slices.DeleteFunc(p.Action.Intent.Changes.Paths(), func(path string) bool { return slices.Contains(paths, path) })
		if p.stopped() || len(more) == 0 {
			return held, unlock, nil
		}
		unlock()
		paths = append(slices.Clone(paths), more...)
	}
}

// staleError tells the model what others changed; nothing was written. What it may not read it is not shown.
func (b *Box) staleError(p *Planned, s *host.StaleError) *tool.Error {
	e := &tool.Error{Code: tool.Stale, Err: s, Retry: true,
		Message: fmt.Sprintf("%s changed after this call was planned; nothing was written.", s.Path),
		Hint:    "Read the file again and make the change on top of what it holds now."}
	if path, err := p.Call.ResolveSelf(context.Background(), s.Path); err != nil || p.Call.Reading(path) != tool.Allow {
		return e
	}
	if diff := change.Between(s.Path, s.Want, s.Current); diff != "" {
		e.Message += "\nThe change that somebody else made:\n" + diff
	}
	return e
}

// notApproved is the error of a call that is not the one that was decided any more.
func notApproved() *tool.Error {
	return &tool.Error{Code: tool.Stale, Message: "the call is no longer what was approved: its files or targets changed since; nothing was done.",
		Hint: "Make the call again; it will be shown and decided anew."}
}
