package toolbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tackle-dev/tackle/tool"
)

var errTimeout = errors.New("the call ran out of time")

// allowance is the time that a run has. It stands still between stop and start.
type allowance struct {
	timer *time.Timer
	left  time.Duration
	since time.Time
}

// allow returns a context that ends after d, with errTimeout as its cause.
func allow(ctx context.Context, d time.Duration) (context.Context, *allowance, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	a := &allowance{left: d, since: time.Now()}
	a.timer = time.AfterFunc(d, func() { end(errTimeout) })
	return ctx, a, func() {
		a.timer.Stop()
		end(nil)
	}
}

func (a *allowance) stop() {
	if a.timer.Stop() {
		a.left = max(a.left-time.Since(a.since), 0)
	}
}

func (a *allowance) start() {
	a.since = time.Now()
	a.timer.Reset(a.left)
}

// invoke runs the action in a goroutine of its own, so that neither a panic nor a tool that ignores its context takes
// the caller with it. The goroutine is waited for unless it outlives the context by the grace period; then the runner is
// closed, so that nothing is committed behind the caller's back.
func (b *Box) invoke(ctx context.Context, p *Planned, r *runner) (tool.Result, error) {
	type outcome struct {
		res tool.Result
		err error
	}
	done := make(chan outcome, 1)
	run := p.Action.Run
	go func() {
		var o outcome
		defer func() {
			if v := recover(); v != nil {
				o = outcome{res: tool.Result{Err: b.panicked(p, v)}}
			}
			done <- o
		}()
		o.res, o.err = run(ctx, r)
	}()
	var o outcome
	select {
	case o = <-done:
	case <-ctx.Done():
		t := time.NewTimer(grace)
		defer t.Stop()
		select {
		case o = <-done:
		case <-t.C:
			r.over.Store(true)
			return tool.Result{Err: &tool.Error{Code: tool.TimedOut, Err: context.Cause(ctx),
				Message: fmt.Sprintf("%s did not stop when its time was over; whether it did its work is unknown.", p.entry.def.Name),
				Hint:    "Look at the state of the files before you repeat the call."}}, nil
		}
	}
	if o.err == nil {
		return o.res, nil
	}
	if ctx.Err() != nil && errors.Is(o.err, ctx.Err()) && !tool.IsFault(o.err) {
		e := &tool.Error{Code: tool.Cancelled, Message: "the call was cancelled.", Err: o.err, Hint: cancelledHint}
		if errors.Is(context.Cause(ctx), errTimeout) {
			e = &tool.Error{Code: tool.TimedOut, Retry: true, Err: o.err,
				Message: fmt.Sprintf("%s did not finish within %v.", p.entry.def.Name, b.timeout(p.entry)),
				Hint:    "Ask for less at once, or have the time limit raised."}
		}
		o.res.Err = e
		return o.res, nil
	}
	e, d, fault := sortError(o.err)
	o.res.Err, o.res.Denied = e, d
	return o.res, fault
}
