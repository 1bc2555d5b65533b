package program

import (
	"context"
	"errors"

	"github.com/tackle-dev/tackle/host"
)

// OnHost runs programs on the command half of a host. It owns each program until its tree has ended.
type OnHost struct {
	// Open returns the command half. It is called by the first run.
	Open func() (host.Runner, error)
}

// Run is described at Runner.
func (h OnHost) Run(ctx context.Context, s Start) (End, error) {
	r, err := h.Open()
	if err != nil {
		return End{}, err
	}
	p, err := r.Start(ctx, host.Command{Argv: s.Argv, Dir: s.Dir, Env: s.Env, Split: true, Limits: host.Limits{Time: s.Limit, Spool: 2 * MaxOutput}})
	if err != nil {
		return End{}, err
	}
	defer p.Close()
	exit, err := p.Wait(ctx)
	if err != nil {
		_, stop := p.Stop(context.WithoutCancel(ctx), -1)
		return End{}, errors.Join(err, stop)
	}
	end := End{Code: exit.Code, Signal: exit.Signal, TimedOut: exit.End == host.EndTime}
	if end.Stdout, end.Cut, err = kept(p.Output()); err != nil {
		return end, err
	}
	var cut bool
	end.Stderr, cut, err = kept(p.Errors())
	end.Cut = end.Cut || cut
	return end, err
}

// kept reads the first bytes of an output.
func kept(o host.Output) ([]byte, bool, error) {
	w := &bounded{}
	gone, err := host.CopyOutput(w, o, 0)
	return w.b, w.cut || gone > 0, err
}

// bounded keeps the first MaxOutput bytes.
type bounded struct {
	b   []byte
	cut bool
}

func (w *bounded) Write(p []byte) (int, error) {
	n := min(len(p), MaxOutput-len(w.b))
	w.b = append(w.b, p[:n]...)
	w.cut = w.cut || n < len(p)
	return len(p), nil
}
