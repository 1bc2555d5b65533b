package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tackle-dev/tackle/host"
)

// Self starts this very program again, also when its file was replaced since.
func Self() []string { return []string{selfPath} }

const selfPath = "/proc/self/exe"

// keepers is the pool of keepers of one runner.
type keepers struct {
	argv []string
	kind string
	most int // idle ones

	mu     sync.Mutex
	idle   []*client
	closed bool
}

// take returns an idle keeper, or a new one.
func (k *keepers) take(ctx context.Context) (*client, error) {
	for {
		k.mu.Lock()
		n := len(k.idle)
		if n == 0 {
			k.mu.Unlock()
			return startKeeper(ctx, k.argv, k.kind)
		}
		c := k.idle[n-1]
		k.idle = k.idle[:n-1]
		k.mu.Unlock()
		if c.healthy() {
			return c, nil
		}
		c.close()
	}
}

// give returns a keeper that keeps nothing.
func (k *keepers) give(c *client) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed || len(k.idle) >= k.most || !c.healthy() {
		c.close()
		return
	}
	k.idle = append(k.idle, c)
}

// close lets the idle keepers go and waits until they have ended.
func (k *keepers) close() {
	k.mu.Lock()
	k.closed = true
	idle := k.idle
	k.idle = nil
	k.mu.Unlock()
	for _, c := range idle {
		c.close()
	}
	deadline := time.After(killFor)
	for _, c := range idle {
		select {
		case <-c.dead:
		case <-deadline:
			return
		}
	}
}

// release gives the keeper back when its tree is gone. Otherwise the socket closes: the keeper ends the tree, or goes on
// alone with one that is detached.
func (r *run) release() {
	r.unguard()
	r.client.mu.Lock()
	r.client.run = nil
	r.client.mu.Unlock()
	if closed(r.goneCh) {
		r.pool.give(r.client)
		return
	}
	r.client.close()
}

// prepareTrees tries the ways to hold trees together, the best first, and says which works.
func (r *Runner) prepareTrees() {
	c := &r.conf
	c.Terminal = true
	if kind := os.Getenv(keeperVariable); kind != "" && len(r.cfg.Keeper) > 0 {
		// It would start one more of itself, and that the next.
		c.Notes = append(c.Notes, "No keeper: this program was started as one and is none; call proc.KeeperMain first in its main.")
	} else if len(r.cfg.Keeper) > 0 && r.cfg.Tree != TreeSession {
		for _, kind := range r.kinds() {
			k := &keepers{argv: r.cfg.Keeper, kind: kind, most: r.cfg.Idle}
			first, err := k.take(context.Background())
			if err != nil {
				c.Notes = append(c.Notes, "No keeper ("+kind+"): "+err.Error()+".")
				continue
			}
			c.Complete, c.OwnerDeath, c.Detach = true, true, true
			c.Tree = describeTree(kind, first.group)
			k.give(first)
			r.keepers = k
			if first.group != "" {
				sweepBase()
			}
			return
		}
	}
	r.launcher = newLauncher()
	c.Tree = "process group, session and mark"
	c.Notes = append(c.Notes, "Without keepers a command ends with this process only if it leaves nothing behind, and none can be detached.")
	if r.cfg.Tree == TreeDefault {
		if err := r.prepareGroups(); err != nil {
			c.Notes = append(c.Notes, "No control groups: "+err.Error()+". A child that makes a session of its own and clears its environment is not found.")
		}
	}
}

func (r *Runner) kinds() []string {
	switch r.cfg.Tree {
	case TreeNamespace:
		return []string{kindNamespace, kindPlain}
	case TreeSubreaper:
		return []string{kindUngrouped}
	}
	return []string{kindPlain}
}

func describeTree(kind, group string) string {
	var words []string
	if group != "" {
		words = append(words, "cgroup.kill")
	}
	if kind == kindNamespace {
		words = append(words, "pid namespace")
	} else {
		words = append(words, "subreaper")
	}
	return strings.Join(append(words, "process group"), ", ")
}

// prepareGroups finds out whether commands of this process can have control groups.
func (r *Runner) prepareGroups() error {
	base, err := groupBase()
	if err != nil {
		return err
	}
	g, err := newGroup(base, groupName(r.self, "probe"))
	if err != nil {
		return err
	}
	defer g.remove()
	if err := tryGroup(r.launcher, g); err != nil {
		return err
	}
	sweepGroups(base)
	r.base = base
	r.conf.Tree, r.conf.Complete = "cgroup.kill, process group", true
	return nil
}

func sweepBase() {
	if base, err := groupBase(); err == nil {
		sweepGroups(base)
	}
}

func (r *Runner) newGroup(run string) (*group, error) {
	if r.base == "" {
		return nil, nil
	}
	return newGroup(r.base, groupName(r.self, run))
}

// begin starts a command under a keeper, or without one. A keeper that dies under the start, while it was idle, say, is
// replaced, unless the command may have begun.
func (r *Runner) begin(ctx context.Context, cmd *command, s *spec) error {
	if r.keepers == nil {
		return r.beginDirect(cmd, s)
	}
	const tries = 3
	var err error
	for range tries {
		var c *client
		if c, err = r.keepers.take(ctx); err != nil {
			return err
		}
		var begun bool
		if begun, err = r.beginUnder(ctx, c, cmd, s); begun || !errors.Is(err, errKeeper) {
			return err
		}
	}
	return err
}

// beginUnder starts a command under a keeper, and reports whether it has begun, or may have.
func (r *Runner) beginUnder(ctx context.Context, c *client, cmd *command, s *spec) (begun bool, err error) {
	started := time.Now()
	k, in, err := c.start(ctx, s)
	if err == nil {
		k.pool, k.started = r.keepers, started
		k.unguard = k.guard()
		h := r.handleOf(s, k.leader, started)
		h.Keeper, h.Group = &host.Identity{PID: c.id.PID, Start: c.id.Start}, k.group
		cmd.adopt(k, h, in, s.Terminal != nil)
		return true, nil
	}
	died := errors.Is(err, errKeeper)
	if _, refused := errors.AsType[syscall.Errno](err); refused && !died {
		r.keepers.give(c)
		return false, err
	}
	c.close()  // it may have started the command: without an owner it ends it
	if !died { // it does not answer: the command may have stopped it
		err = fmt.Errorf("%w: no answer from it: %w", errKeeper, err)
		c.kill()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killMost)
	defer cancel()
	select {
	case <-c.dead:
	case <-ctx.Done():
		return true, err
	}
	if _, serr := os.Lstat(headFile(string(s.Spool))); errors.Is(serr, os.ErrNotExist) { // what a keeper makes first
		return false, err
	}
	t := tree{run: s.Run, group: groupAt(c.group)}
	t.endRemains(ctx)
	t.group.remove()
	if cmd.mine {
		removeSpool(string(s.Spool), s.quota())
		removeSpool(errorsSpool(string(s.Spool)), s.quota())
	}
	return true, fmt.Errorf("%w; it may have begun, and was ended", err)
}
