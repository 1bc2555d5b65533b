//go:build linux || darwin

package runnertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/internal/clip"
)

// New makes a runner that the test closes.
type New func(t *testing.T) host.Runner

// patience bounds every wait of the suite, so that a hang is a failure with a name.
const patience = 2 * time.Minute

// scenario is one promise of the suite.
type scenario struct {
	name   string
	proves string // rules of SPEC.md and entries of the attack list
	needs  func(c host.Confinement) bool
	run    func(t *testing.T, b *bed)
}

// Run runs the suite against one runner, as it is used in life: all commands at the same time.
func Run(t *testing.T, open New) {
	all := slices.Concat(endings, outputs, inputs, refusals, trees)
	if len(all) < 40 {
		t.Fatalf("only %d scenarios: the suite is not whole", len(all))
	}
	r := open(t)
	c := r.Confinement()
	t.Log(c)
	for _, note := range c.Notes {
		t.Log(note)
	}
	// Scenarios mostly wait, so more of them run at a time than the machine has processors, which t.Parallel would not do.
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for _, s := range all {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			t.Run(s.name, func(t *testing.T) { s.play(t, r, c) })
		})
	}
	wg.Wait()
}

// atOnce is how many scenarios run at the same time.
const atOnce = 12

func (s *scenario) play(t *testing.T, r host.Runner, c host.Confinement) {
	if s.needs != nil && !s.needs(c) {
		t.Skipf("this runner does not offer it (%s)", c)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	b := &bed{Runner: r, t: t, ctx: ctx, dir: t.TempDir()}
	b.watch()
	s.run(t, b)
	b.deserted()
}

// bed is what a scenario stands on.
type bed struct {
	host.Runner
	t    *testing.T
	ctx  context.Context
	dir  string // commands run here
	fifo *os.File
}

// watch makes the FIFO that tells whether any process of the scenario lives.
func (b *bed) watch() {
	b.t.Helper()
	path := filepath.Join(b.dir, ".alive")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		b.t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	b.fifo = f
	b.t.Cleanup(func() { f.Close() })
}

// hold begins a script: from here on the shell and all its children keep the FIFO open.
const hold = "exec 9>.alive\n"

// alive reports whether a process that ran hold, or a child of one, lives.
func (b *bed) alive() bool {
	b.t.Helper()
	var p [1]byte
	n, err := syscall.Read(int(b.fifo.Fd()), p[:])
	switch {
	case n == 0 && err == nil:
		return false
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EINTR):
		return true
	}
	b.t.Fatalf("FIFO: %d, %v", n, err)
	return false
}

// deserted waits until nothing of the scenario lives.
func (b *bed) deserted() {
	b.t.Helper()
	b.until("no process lives", func() bool { return !b.alive() })
}

// until waits for something of which nobody tells.
func (b *bed) until(what string, done func() bool) {
	b.t.Helper()
	b.every(5*time.Millisecond, what, done)
}

func (b *bed) every(pause time.Duration, what string, done func() bool) {
	b.t.Helper()
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-b.ctx.Done():
			b.t.Fatalf("waited in vain: %s", what)
		}
	}
}

// start starts a script with the FIFO held, and closes it at the end of the scenario.
func (b *bed) start(c host.Command) host.Process {
	b.t.Helper()
	if c.Script != "" {
		c.Script = hold + c.Script
	}
	if c.Dir == "" {
		c.Dir = b.dir
	}
	p, err := b.Start(b.ctx, c)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { b.close(p) })
	return p
}

func (b *bed) close(p host.Process) {
	b.t.Helper()
	if err := p.Close(); err != nil {
		b.t.Errorf("close: %v", err)
	}
}

func (b *bed) wait(p host.Process) host.Exit {
	b.t.Helper()
	e, err := p.Wait(b.ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	return e
}

// run starts a command, waits for it, and closes it.
func (b *bed) run(c host.Command) (string, host.Exit) {
	b.t.Helper()
	p := b.start(c)
	e := b.wait(p)
	out := b.text(p.Output())
	b.close(p)
	return out, e
}

// text returns all of an output.
func (b *bed) text(o host.Output) string {
	b.t.Helper()
	var s strings.Builder
	if _, err := host.CopyOutput(&s, o, 0); err != nil {
		b.t.Fatal(err)
	}
	return s.String()
}

// says waits until a command has written a line, which it says when it has come as far as the scenario needs.
func (b *bed) says(p host.Process, line string) {
	b.t.Helper()
	var at int64
	for {
		text := b.text(p.Output())
		if strings.HasPrefix(text, line+"\n") || strings.HasPrefix(text, line+"\r\n") || strings.Contains(text, "\n"+line+"\n") || strings.Contains(text, "\n"+line+"\r\n") {
			return
		}
		at = int64(len(text))
		if err := p.Output().More(b.ctx, at); err != nil {
			b.t.Fatalf("waited for %q: %v after %q", line, err, text)
		}
	}
}

// ends checks how a command ended, in words.
func (b *bed) ends(e host.Exit, want string) {
	b.t.Helper()
	if got := e.String(); got != want {
		b.t.Errorf("it ended with %q, want %q", got, want)
	}
}

func (b *bed) is(what, got, want string) {
	b.t.Helper()
	if got != want {
		b.t.Errorf("%s is %.300q, want %.300q", what, got, want)
	}
}

// clipped returns an output as a model would see it.
func (b *bed) clipped(p host.Process) string {
	b.t.Helper()
	res, err := host.ClipOutput(p.Output(), clip.Limits{Lines: -1, Bytes: clip.DefaultTailBytes}, clip.Tail)
	if err != nil {
		b.t.Fatal(err)
	}
	return res.Text()
}

// survivor returns the words for one process that lives on.
func survivor(e host.Exit, tail string) string {
	if len(e.Survivors) != 1 {
		return fmt.Sprintf("one survivor, not %v", e.Survivors)
	}
	return fmt.Sprintf("process %d (%s) lives on%s", e.Survivors[0].PID, e.Survivors[0].Name, tail)
}
