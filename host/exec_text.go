package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/internal/clip"
)

// Run starts a command, waits for its end, and ends its whole tree when ctx ends first; then the error is that of ctx
// and the Exit says what was known. The output is cut to the limits. A command that fails is no error.
func Run(ctx context.Context, r Runner, c Command, lim clip.Limits, keep clip.Keep) (clip.Result, Exit, error) {
	p, err := r.Start(ctx, c)
	if err != nil {
		return clip.Result{}, Exit{}, err
	}
	defer p.Close()
	exit, err := p.Wait(ctx)
	if err != nil {
		if _, stop := p.Stop(context.WithoutCancel(ctx), c.Limits.Grace); stop == nil {
			exit, _ = p.Wait(context.WithoutCancel(ctx)) // it has ended: this returns what is on record
		}
	}
	out, rerr := ClipOutput(p.Output(), lim, keep)
	return out, exit, errors.Join(err, rerr)
}

// ClipOutput reads what is kept of an output and cuts it to the limits. A stretch that the spool no longer holds is
// marked in its place, and counts as cut.
func ClipOutput(o Output, lim clip.Limits, keep clip.Keep) (clip.Result, error) {
	c := clip.Cutter{Limits: lim, Keep: keep}
	gone, err := CopyOutput(&c, o, 0)
	res := c.Result()
	if gone > 0 && res.Cut.Truncated() {
		res.Cut.Bytes.Total += gone
		if res.Cut.Unit != clip.UnitBytes { // lines of the lost stretch are unknown
			res.Cut.Unit = clip.UnitBytes
		}
	}
	return res, err
}

// CopyOutput writes what is kept of an output from an offset on, as far as it was written when the copying began, and
// returns how many bytes on the way were no longer kept. Such a stretch becomes a line that says so.
func CopyOutput(w io.Writer, o Output, at int64) (gone int64, err error) {
	st, err := o.Stat()
	if err != nil {
		return 0, err
	}
	buf := make([]byte, min(64<<10, max(st.Total-at, 512)))
	for at < st.Total {
		n, from, err := o.Read(buf[:min(int64(len(buf)), st.Total-at)], at)
		if from > at {
			gone += from - at
			if _, err := fmt.Fprintf(w, "\n…(%d bytes no longer kept)…\n", from-at); err != nil {
				return gone, err
			}
		}
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return gone, err
			}
		}
		at = from + int64(n)
		if errors.Is(err, io.EOF) {
			return gone, nil
		}
		if err != nil {
			return gone, err
		}
	}
	return gone, nil
}

// String says in one line how a command ended, what lives on and what it waited for, such as
// "ended after 30s (time limit); it waited for input on its terminal (pid 7, cat)".
func (e Exit) String() string {
	var b strings.Builder
	switch e.End {
	case EndTime:
		fmt.Fprintf(&b, "ended after %s (time limit)", e.Limit)
	case EndOutput:
		fmt.Fprintf(&b, "ended after %s of output (limit)", e.Limit)
	case EndTree:
		fmt.Fprintf(&b, "ended at more than %s (limit)", e.Limit)
	case EndStopped:
		b.WriteString("stopped")
	case EndOwner:
		b.WriteString("ended because the process that started it is gone")
	case "":
		b.WriteString("not ended")
	case EndLost:
		b.WriteString("gone; nobody saw how it ended")
	default:
		if e.Signal != "" {
			fmt.Fprintf(&b, "ended by %s", e.Signal)
		} else {
			fmt.Fprintf(&b, "exit status %d", e.Code)
		}
	}
	if n := len(e.Survivors); n > 0 {
		verb := "lives"
		if n > 1 {
			verb = "live"
		}
		fmt.Fprintf(&b, "; %s %s on", ListProcesses(e.Survivors), verb)
		if e.Open {
			b.WriteString(" with the output open")
		}
	}
	if e.Waiting != nil {
		fmt.Fprintf(&b, "; it %s", e.Waiting)
	}
	return b.String()
}

// Success reports whether the command ended by itself with status 0.
func (e Exit) Success() bool { return e.End == EndExited && e.Code == 0 && e.Signal == "" }

// Took returns how long the leader lived.
func (e Exit) Took() time.Duration { return max(e.Ended.Sub(e.Started), 0) }

// String says it in words: "waited for input on its terminal (pid 7, cat)".
func (w *Waiting) String() string {
	verb, on := "seemed to wait for", "on its "+w.On
	if w.Sure {
		verb = "waited for"
	}
	if w.On == "" {
		on = "although it has none"
	}
	return fmt.Sprintf("%s input %s (%s)", verb, on, w.ProcessInfo)
}

func (p ProcessInfo) String() string { return fmt.Sprintf("pid %d, %s", p.PID, p.Name) }

// ListProcesses names processes in one line, the first eight of them.
func ListProcesses(ps []ProcessInfo) string {
	const most = 8
	shown, cut := clip.Entries(ps, most)
	words := make([]string, len(shown), most+1)
	for i, p := range shown {
		words[i] = fmt.Sprintf("%d (%s)", p.PID, p.Name)
	}
	if cut.Truncated() {
		words = append(words, fmt.Sprintf("%d more", cut.Dropped()))
	}
	noun := "process "
	if len(ps) > 1 {
		noun = "processes "
	}
	return noun + strings.Join(words, ", ")
}
