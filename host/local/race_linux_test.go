package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// RACE-001, RACE-002, RACE-003: somebody swaps a directory, or the file itself, for a link that leaves the workspace while
// commits run. Nothing outside may change, on any road.
func TestSwapRace(t *testing.T) {
	budget := 2 * time.Second
	if testing.Short() {
		budget = 500 * time.Millisecond
	}
	for _, road := range roads[:3] { // the roads without exchange promise less, and say so
		t.Run(road.name, func(t *testing.T) {
			t.Parallel()
			l := newLocal(t, nil)
			road.take(l)
			ws := l.info.Roots[0].Path
			out := filepath.Join(ws, "..", "out")
			content := map[string]string{"f": "-rw-r--r-- same"}
			build(t, out, content)
			build(t, filepath.Join(ws, "d"), content)
			build(t, ws, map[string]string{"x": "Lrwxrwxrwx ../out", "leaf": "-rw-r--r-- same", "y": "Lrwxrwxrwx ../out/f"})
			ctx, cancel := context.WithTimeout(t.Context(), raceTime)
			defer cancel()
			var wg sync.WaitGroup
			for _, pair := range [][2]string{{"d", "x"}, {"leaf", "y"}} {
				wg.Go(func() {
					for ctx.Err() == nil {
						a, b := filepath.Join(ws, pair[0]), filepath.Join(ws, pair[1])
						if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			tried, done := attack(ctx, t, l, ws, budget)
			cancel()
			wg.Wait()
			if got := tree(t, out); !cmp.Equal(got, content) {
				t.Errorf("outside of the workspace: %s", cmp.Diff(content, got))
			}
			t.Logf("%d commits tried, %d done, 0 escapes", tried, done)
			if done == 0 || done == tried {
				t.Error("the race did not take place")
			}
		})
	}
}

// raceTime bounds how long a race is waited for that does not take place.
const raceTime = time.Minute

// attack commits for at least a time, and until some commits were done and some were not.
func attack(ctx context.Context, t *testing.T, l *Local, ws string, least time.Duration) (tried, done int) {
	began := time.Now()
	same := change.FileState([]byte("same"), 0)
	dir := change.State{Type: change.Dir}
	for i := 0; ctx.Err() == nil && (time.Since(began) < least || done == 0 || done == tried); i++ {
		in := func(name string) string { return filepath.Join(ws, "d", name) }
		n := fmt.Sprint(i)
		for _, op := range []change.Op{
			change.Replace(in("f"), same, []byte("same")),
			change.Replace(filepath.Join(ws, "leaf"), same, []byte("same")),
			change.Create(in("new"+n), []byte("x"), 0o644),
			{Kind: change.Mkdir, Path: in("m" + n), After: dir},
			{Kind: change.Move, Path: in("new" + n), To: in("to" + n), Before: change.FileState([]byte("x"), 0)},
			{Kind: change.Delete, Path: in("to" + n), Before: change.FileState([]byte("x"), 0)},
			{Kind: change.Delete, Path: in("m" + n), Before: dir},
			{Kind: change.Chmod, Path: in("f"), Before: change.State{Type: change.File, Mode: 0o644}, After: change.State{Type: change.File, Mode: 0o644}},
		} {
			tried++
			_, err := l.Commit(ctx, &change.Set{Ops: []change.Op{op}}, host.CommitOptions{})
			var se *host.StaleError
			switch {
			case err == nil:
				done++
			case errors.As(err, &se), errors.Is(err, host.ErrChanged), errors.Is(err, host.ErrNotDir), errors.Is(err, os.ErrNotExist), ctx.Err() != nil:
			default:
				t.Errorf("%v %s: %v", op.Kind, op.Path, err)
			}
		}
		if f, err := l.Open(ctx, in("f")); err == nil {
			f.Close()
		}
	}
	return tried, done
}

// A writer that takes no locks loses nothing either: its file is found and put back. RACE-004.
func TestForeignRenames(t *testing.T) {
	l := newLocal(t, nil)
	p := filepath.Join(l.info.Roots[0].Path, "f")
	build(t, filepath.Dir(p), map[string]string{"f": "-rw-r--r-- 0"})
	ctx, cancel := context.WithTimeout(t.Context(), raceTime)
	defer cancel()
	var foreign atomic.Int32
	var ours, clashes int
	var wg sync.WaitGroup
	wg.Go(func() { // adds a line by reading and renaming, the way editors save; it may lose lines of ours, not of itself
		for ctx.Err() == nil {
			if err := os.WriteFile(p+".theirs", fmt.Appendf(nil, "theirs %d", foreign.Load()), 0o644); err != nil {
				t.Error(err)
			}
			if err := os.Rename(p+".theirs", p); err != nil {
				t.Error(err)
			}
			foreign.Add(1)
			for { // until somebody has replaced it knowingly
				data, err := os.ReadFile(p)
				if err != nil {
					t.Error(err)
				}
				if string(data) == fmt.Sprintf("theirs %d, seen", foreign.Load()-1) || ctx.Err() != nil {
					break
				}
			}
		}
	})
	for began := time.Now(); ctx.Err() == nil && (time.Since(began) < time.Second || foreign.Load() < 2 || ours == 0); {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		next := []byte("ours")
		if len(data) > 6 && string(data[:6]) == "theirs" {
			next = append(append([]byte(nil), data...), ", seen"...)
		}
		if len(data) > 12 && string(data[len(data)-4:]) == "seen" {
			next = data
		}
		_, err = l.Commit(ctx, &change.Set{Ops: []change.Op{change.Replace(p, change.FileState(data, 0), next)}}, host.CommitOptions{})
		var se *host.StaleError
		switch {
		case err == nil:
			ours++
		case errors.As(err, &se):
			clashes++
		case ctx.Err() == nil:
			t.Fatal(err)
		}
	}
	cancel()
	wg.Wait()
	t.Logf("%d foreign saves, %d commits, %d clashes; no save was replaced unseen", foreign.Load(), ours, clashes)
	if foreign.Load() < 2 || ours == 0 {
		t.Error("the race did not take place")
	}
}
