// Package programs lets the engines of media that are programs run on the command half of a host, confined where the machine
// can do that.
package programs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local/confine"
	"github.com/tackle-dev/tackle/host/local/proc"
	"github.com/tackle-dev/tackle/media/engine/ext"
)

// OnHost runs programs on a host. Each has a process group of its own and ends with this process.
type OnHost struct {
	Runner host.Runner
	// Confine is what of the machine is held, as confine.Here says it; it is for a Runner of this machine. The zero value
	// confines nothing.
	Confine confine.Holds
}

// kept are the variables that a confined program gets, beside those that its engine sets.
var kept = []string{"PATH", "LANG", "TZ", proc.MarkVariable}

func (h OnHost) command(s ext.Start) (host.Command, error) {
	c := host.Command{Argv: s.Argv, Dir: s.Dir, Env: s.Env, Split: true, Trusted: true,
		Limits: host.Limits{Time: s.Limit, Spool: 2 * s.Output, Output: s.Output, FileSize: s.FileSize, Grace: -1}}
	if !h.Confine.Network && !h.Confine.Files {
		return c, nil
	}
	names := slices.AppendSeq(slices.Clone(kept), maps.Keys(s.Env))
	argv, env, err := confine.Command(confine.Rules{Read: s.Read, Write: []string{s.Dir}, Sockets: s.Sockets, FileSize: s.FileSize, Env: names}, s.Argv)
	if err != nil {
		return c, err
	}
	maps.Copy(env, s.Env)
	c.Argv, c.Env, c.Limits.FileSize = argv, env, 0
	return c, nil
}

// Run is described at ext.Runner.
func (h OnHost) Run(ctx context.Context, s ext.Start) (ext.End, error) {
	c, err := h.command(s)
	if err != nil {
		return ext.End{}, err
	}
	p, err := h.Runner.Start(ctx, c)
	if err != nil {
		return ext.End{}, err
	}
	defer p.Close()
	exit, err := p.Wait(ctx)
	if err != nil {
		_, stop := p.Stop(context.WithoutCancel(ctx), -1)
		return ext.End{}, errors.Join(err, stop)
	}
	end := ext.End{Code: exit.Code, Signal: exit.Signal, TimedOut: exit.End == host.EndTime}
	if end.Stdout, err = head(p.Output(), s.Output); err == nil {
		end.Stderr, err = head(p.Errors(), 1<<16)
	}
	return end, err
}

// head reads the first bytes of an output.
func head(o host.Output, most int64) ([]byte, error) {
	w := &bounded{most: int(most)}
	_, err := host.CopyOutput(w, o, 0)
	return w.b, err
}

type bounded struct {
	b    []byte
	most int
}

func (w *bounded) Write(p []byte) (int, error) {
	w.b = append(w.b, p[:max(0, min(len(p), w.most-len(w.b)))]...)
	return len(p), nil
}

// Keep is described at ext.Runner.
func (h OnHost) Keep(ctx context.Context, s ext.Start) (ext.Resident, error) {
	c, err := h.command(s)
	if err != nil {
		return nil, err
	}
	c.Input = true
	c.Limits.Time = -1
	p, err := h.Runner.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	return &resident{p: p}, nil
}

// resident is a program that answers lines with lines.
type resident struct {
	p    host.Process
	at   int64         // what was read of its output
	rest []byte        // of a line that has not ended
	idle time.Duration // how long the answer has been waited for
}

// Ask is described at ext.Resident.
func (r *resident) Ask(ctx context.Context, line string) (string, error) {
	if line != "" {
		if _, err := io.WriteString(r.p.Input(), line+"\n"); err != nil {
			return "", err
		}
	}
	buf := make([]byte, 4096)
	r.idle = 0
	for {
		if i := bytes.IndexByte(r.rest, '\n'); i >= 0 {
			out := string(r.rest[:i])
			r.rest = r.rest[i+1:]
			return out, nil
		}
		n, from, err := r.p.Output().Read(buf, r.at)
		r.rest, r.at = append(r.rest, buf[:n]...), from+int64(n)
		if n > 0 {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		if len(r.rest) > 1<<20 {
			return "", fmt.Errorf("it answers without end")
		}
		if err := r.wait(ctx); err != nil {
			return "", err
		}
	}
}

// wait returns when there may be more to read, or with io.EOF when there never will be. The host looks for output less and
// less often, so an answer that takes a tenth of a second is seen late; this looks often for a second.
func (r *resident) wait(ctx context.Context) error {
	const often, long = 2 * time.Millisecond, 50 * time.Millisecond
	pause := often
	if r.idle > time.Second {
		pause = long
	}
	r.idle += pause
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
	}
	if st, err := r.p.Output().Stat(); err != nil || st.Done && st.Total <= r.at {
		return cmp.Or(err, io.EOF)
	}
	return nil
}

// politely is how long a program may take to end when its input ends.
const politely = 3 * time.Second

// Close is described at ext.Resident.
func (r *resident) Close() error {
	_ = r.p.Input().Close() // a program that is gone has none
	t := time.NewTimer(politely)
	defer t.Stop()
	select {
	case <-r.p.Gone():
	case <-t.C:
	}
	return r.Kill()
}

// Kill is described at ext.Resident.
func (r *resident) Kill() error {
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	_, err := r.p.Stop(ctx, -1)
	return errors.Join(err, r.p.Close())
}
