package hosttest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// racing are the scenarios of several calls at once.
var racing = []scenario{
	{"race/commits of different files", "T11", func(t *testing.T, b *bed) {
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				p := b.path(fmt.Sprintf("d%d", i%4), fmt.Sprintf("f%d", i))
				for j := range 5 {
					op := change.Create(p, []byte("0"), 0o644)
					if j > 0 {
						op = change.Replace(p, change.FileState([]byte(strconv.Itoa(j-1)), 0), []byte(strconv.Itoa(j)))
					}
					if _, err := b.Commit(b.ctx(), &change.Set{Ops: []change.Op{op}}, host.CommitOptions{}); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		for i := range 40 {
			b.want(b.path(fmt.Sprintf("d%d", i%4), fmt.Sprintf("f%d", i)), "4", 0o644)
		}
	}},
	{"race/lock, read, commit loses no update", "RACE-005, issue 2 Done when", func(t *testing.T, b *bed) {
		p := b.write("n", "0", 0o644)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 10 {
					if err := Increment(b.ctx(), b.Host, p); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		b.want(p, "80", 0o644)
	}},
	{"race/compare and swap loses no update", "RACE-005", func(t *testing.T, b *bed) {
		p := b.write("n", "0", 0o644)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for done := 0; done < 10; {
					data := b.read(p)
					n, _ := strconv.Atoi(data)
					op := change.Replace(p, change.FileState([]byte(data), 0), []byte(strconv.Itoa(n+1)))
					_, err := b.Commit(b.ctx(), &change.Set{Ops: []change.Op{op}}, host.CommitOptions{})
					var se *host.StaleError
					switch {
					case err == nil:
						done++
					case !errors.As(err, &se):
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		b.want(p, "40", 0o644)
	}},
	{"race/sets that overlap do not deadlock", "", func(t *testing.T, b *bed) {
		names := strings.Split("abcdefgh", "")
		for _, n := range names {
			b.write(n, "0", 0o644)
		}
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				for range 5 {
					paths := make([]string, len(names))
					for i := range names { // every worker in an order of its own
						paths[i] = b.path(names[(i*3+w*5)%len(names)])
					}
					ctx, unlock, err := b.Lock(b.ctx(), paths...)
					if err != nil {
						t.Error(err)
						return
					}
					set := &change.Set{}
					for _, p := range paths {
						set.Ops = append(set.Ops, increment(ctx, t, b.Host, p))
					}
					if _, err := b.Commit(ctx, set, host.CommitOptions{}); err != nil {
						t.Error(err)
					}
					unlock()
				}
			})
		}
		wg.Wait()
		for _, n := range names {
			b.want(b.path(n), "20", 0o644)
		}
	}},
	{"lock/waiting ends with the context", "T17", func(t *testing.T, b *bed) {
		p := b.write("f", "x", 0o644)
		_, unlock, err := b.Lock(b.ctx(), p, b.path("g"))
		b.must(err)
		ctx, cancel := context.WithTimeout(b.ctx(), 30*time.Millisecond)
		defer cancel()
		if _, _, err := b.Lock(ctx, p); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("lock: %v", err)
		}
		if _, err := b.Commit(ctx, &change.Set{Ops: []change.Op{b.replace(p, "y")}}, host.CommitOptions{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("commit: %v", err)
		}
		b.want(p, "x", 0)
		unlock()
		unlock() // a second time does nothing
		b.commit(b.replace(p, "y"))
	}},
	{"lock/held locks bind the commit", "T5", func(t *testing.T, b *bed) {
		p, q := b.write("f", "x", 0o644), b.write("g", "x", 0o644)
		ctx, unlock, err := b.Lock(b.ctx(), p)
		b.must(err)
		if _, err := b.Commit(ctx, &change.Set{Ops: []change.Op{b.replace(p, "y"), b.replace(q, "y")}}, host.CommitOptions{}); !errors.Is(err, host.ErrUnsupported) {
			t.Errorf("a path that is not locked: %v", err)
		}
		if _, _, err := b.Lock(ctx, q); !errors.Is(err, host.ErrUnsupported) {
			t.Errorf("a second lock: %v", err)
		}
		if _, err := b.Commit(ctx, &change.Set{Ops: []change.Op{b.replace(p, "y")}}, host.CommitOptions{}); err != nil {
			t.Error(err)
		}
		unlock()
		if _, err := b.Commit(ctx, &change.Set{Ops: []change.Op{b.replace(q, "y")}}, host.CommitOptions{}); err != nil {
			t.Errorf("after unlock the context is an ordinary one: %v", err)
		}
		b.want(p, "y", 0)
		b.want(q, "y", 0)
	}},
	{"race/readers see whole files", "RACE-006", func(t *testing.T, b *bed) {
		content := func(i int) string { return strings.Repeat(string(rune('a'+i%26)), 100_000) }
		p := b.write("f", content(0), 0o644)
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if s := b.read(p); len(s) != 100_000 || strings.Count(s, s[:1]) != len(s) {
					t.Errorf("a torn read: %d bytes", len(s))
					return
				}
			}
		})
		for i := range 50 {
			b.commit(change.Replace(p, change.FileState([]byte(content(i)), 0), []byte(content(i+1))))
		}
		close(stop)
		wg.Wait()
	}},
}

// Increment adds one to the number in a file: lock, read, commit. It is what a planner does that plans under the lock.
func Increment(ctx context.Context, h host.Host, path string) error {
	ctx, unlock, err := h.Lock(ctx, path)
	if err != nil {
		return err
	}
	defer unlock()
	op, err := incremented(ctx, h, path)
	if err != nil {
		return err
	}
	_, err = h.Commit(ctx, &change.Set{Ops: []change.Op{op}}, host.CommitOptions{})
	return err
}

func increment(ctx context.Context, t *testing.T, h host.Host, path string) change.Op {
	op, err := incremented(ctx, h, path)
	if err != nil {
		t.Error(err)
	}
	return op
}

func incremented(ctx context.Context, h host.Host, path string) (change.Op, error) {
	f, err := h.Open(ctx, path)
	if err != nil {
		return change.Op{}, err
	}
	defer f.Close()
	data := make([]byte, f.Info().Size)
	if _, err := f.ReadAt(data, 0); err != nil {
		return change.Op{}, err
	}
	n, err := strconv.Atoi(string(data))
	if err != nil {
		return change.Op{}, err
	}
	return change.Replace(path, change.FileState(data, f.Info().Mode), []byte(strconv.Itoa(n+1))), nil
}
