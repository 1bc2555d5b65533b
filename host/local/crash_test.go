//go:build linux || darwin

package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// crashed is what the hook panics with to end a commit as a crash would.
type crashed struct{}

// crashAt carries a set out until a point has been passed n times, and then lets the process "die": its slot becomes free,
// and nothing else is cleaned up.
func crashAt(t *testing.T, l *Local, point string, n int, set *change.Set) {
	t.Helper()
	l.hook = func(p, _ string) {
		if p == point {
			if n--; n == 0 {
				panic(crashed{})
			}
		}
	}
	func() {
		defer func() {
			if r := recover(); r != nil && r != (crashed{}) {
				panic(r)
			}
		}()
		_, err := l.Commit(t.Context(), set, host.CommitOptions{})
		t.Fatalf("the commit ended before %s came often enough: %v", point, err)
	}()
	l.slot.close()
	l.slot = nil
}

// reopen starts the next process on the same directories.
func reopen(t *testing.T, l *Local, road func(*Local)) (*Local, host.Recovery) {
	t.Helper()
	next, err := Open(Config{Roots: l.info.Roots, StateDir: l.info.StateDir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { next.Close() })
	road(next)
	r, err := next.Recover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return next, r
}

// Every point of a commit, on every road: after recovery the tree is wholly before or wholly after. RACE-007.
func TestCrashAtEveryPoint(t *testing.T) {
	for _, road := range roads {
		t.Run(road.name, func(t *testing.T) {
			for _, c := range []struct {
				point string
				times int
				after bool
			}{
				{"begun", 1, false}, {"staging", 1, false}, {"staging", 12, false}, {"staged", 1, false},
				{"committed", 1, true}, {"applied", 1, true}, {"applied", 5, true}, {"applied", 15, true}, {"applied", 17, true},
				{"in-place", 1, true}, {"applied", 18, true}, {"done", 1, true},
			} {
				for version := range 2 {
					t.Run(fmt.Sprintf("%s %d/%d", c.point, c.times, version), func(t *testing.T) {
						t.Parallel()
						l := newLocal(t, nil)
						road.take(l)
						ws := l.info.Roots[0].Path
						build(t, ws, manyTree(version))
						if err := os.Link(filepath.Join(ws, "hard"), filepath.Join(ws, "..", "other")); err != nil {
							t.Fatal(err)
						}
						if road.name != "usual" { // the first commit finds out which way serves
							warm := change.Replace(filepath.Join(ws, "keep"), change.FileState([]byte("unchanged"), 0o644), []byte("unchanged"))
							if _, err := l.Commit(t.Context(), &change.Set{Ops: []change.Op{warm}}, host.CommitOptions{}); err != nil {
								t.Fatal(err)
							}
						}
						crashAt(t, l, c.point, c.times, manySteps(ws, version))
						_, r := reopen(t, l, road.take)
						want := manyTree(version)
						if c.after {
							want = manyTree(version + 1)
						}
						if len(r.Conflicts) > 0 || c.point != "done" && len(r.Finished)+len(r.Dropped) != 1 {
							t.Errorf("recovery %+v", r)
						}
						if got := tree(t, ws); !cmp.Equal(got, want) {
							t.Error(cmp.Diff(brief(want), brief(got)))
						}
					})
				}
			}
		})
	}
}

// A set without a journal: one file, at the points where it can die.
func TestCrashOfOneFile(t *testing.T) {
	for _, road := range roads {
		for _, point := range []string{"begun", "staged", "committed", "applied", "done"} {
			for n := range 6 {
				t.Run(fmt.Sprintf("%s/%s/%d", road.name, point, n), func(t *testing.T) {
					t.Parallel()
					l := newLocal(t, nil)
					road.take(l)
					ws := l.info.Roots[0].Path
					build(t, ws, singleTree(n))
					if err := os.Link(filepath.Join(ws, "hard"), filepath.Join(ws, "..", "other")); err != nil {
						t.Fatal(err)
					}
					crashAt(t, l, point, 1, singleSteps(ws, n))
					next, r := reopen(t, l, road.take)
					now, then := tree(t, ws), singleTree(n)
					if point == "applied" || point == "done" || point == "committed" && n == 5 {
						then = singleTree(n + 1)
						txs, err := next.Transactions(t.Context(), "")
						if err != nil || len(txs) != 1 {
							t.Errorf("transactions %+v, %v", txs, err)
						}
					}
					if len(r.Conflicts) > 0 || !cmp.Equal(now, then) {
						t.Errorf("recovery %+v: %s", r, cmp.Diff(brief(then), brief(now)))
					}
				})
			}
		}
	}
}

// torn in-place write: the process dies between two blocks.
func TestCrashInsideAnInPlaceWrite(t *testing.T) {
	old, new := padded(1, 20_000), padded(2, 15_000)
	for name, torn := range map[string][]byte{
		"nothing written": old, "a part": append(append([]byte(nil), new[:8192]...), old[8192:]...),
		"not yet cut": append(append([]byte(nil), new...), old[len(new):]...), "all": new,
	} {
		t.Run(name, func(t *testing.T) {
			l := newLocal(t, nil)
			p := filepath.Join(l.info.Roots[0].Path, "f")
			build(t, filepath.Dir(p), map[string]string{"f": "-rw-r--r-- " + string(old)})
			if err := os.Link(p, filepath.Join(l.info.Roots[0].Path, "g")); err != nil {
				t.Fatal(err)
			}
			crashAt(t, l, "in-place", 1, &change.Set{Ops: []change.Op{change.Replace(p, change.FileState(old, 0o644), new)}})
			if err := os.WriteFile(p, torn, 0o644); err != nil {
				t.Fatal(err)
			}
			_, r := reopen(t, l, func(*Local) {})
			if got, _ := os.ReadFile(p); string(got) != string(new) || len(r.Finished) != 1 {
				t.Errorf("%d bytes %.10q, recovery %+v", len(got), got, r)
			}
		})
	}
}

// A third content that appears between crash and recovery stays; the transaction is taken back wholly and reported.
func TestRecoveryConflict(t *testing.T) {
	for _, road := range roads {
		for i, foreign := range []string{"f00", "f13", "hard", "mode", "from", "even/deep/x", "to", "from"} {
			for _, times := range []int{0, 3, 16, 18} { // 0: at the commit point
				version := i / 6 // the second world creates where the first one deletes
				t.Run(fmt.Sprintf("%s/%d/%s/%d", road.name, version, foreign, times), func(t *testing.T) {
					t.Parallel()
					conflictAt(t, road.take, version, foreign, times)
				})
			}
		}
	}
}

func conflictAt(t *testing.T, road func(*Local), version int, foreign string, times int) {
	l := newLocal(t, nil)
	road(l)
	ws := l.info.Roots[0].Path
	build(t, ws, manyTree(version))
	if err := os.Link(filepath.Join(ws, "hard"), filepath.Join(ws, "..", "other")); err != nil {
		t.Fatal(err)
	}
	warm := change.Replace(filepath.Join(ws, "keep"), change.FileState([]byte("unchanged"), 0o644), []byte("unchanged"))
	if _, err := l.Commit(t.Context(), &change.Set{Ops: []change.Op{warm}}, host.CommitOptions{}); err != nil {
		t.Fatal(err)
	}
	point, n := "applied", times
	if times == 0 {
		point, n = "committed", 1
	}
	crashAt(t, l, point, n, manySteps(ws, version))
	want := manyTree(version)
	p := filepath.Join(ws, foreign)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(p, 0o600); err != nil {
		t.Fatal(err)
	}
	before := tree(t, ws) // with what the crash left
	want[foreign] = before[foreign]
	_, r := reopen(t, l, road)
	got := tree(t, ws)
	for _, c := range r.Conflicts {
		t.Log(c)
	}
	switch {
	case got[foreign] != before[foreign]:
		t.Errorf("what stood at %s, %.30q, became %.30q", foreign, before[foreign], got[foreign])
	case len(r.Conflicts) == 1 && cmp.Equal(got, want):
	case len(r.Conflicts) == 0: // the step had been done, and somebody changed its result: the others are finished
		want = manyTree(version + 1)
		want[foreign] = before[foreign]
		if foreign == "even/deep/x" {
			want["even"], want["even/deep"] = got["even"], got["even/deep"]
		}
		if !cmp.Equal(got, want) {
			t.Error(cmp.Diff(brief(want), brief(got)))
		}
	default:
		t.Errorf("recovery %+v: %s", r, cmp.Diff(brief(want), brief(got)))
	}
}

// A foreign change that is noticed only while the set is carried out takes all of it back. T5, F5.
func TestRollback(t *testing.T) {
	foreign := map[string]func(p string) error{
		"edit":   func(p string) error { return os.WriteFile(p, []byte("theirs"), 0o600) },
		"remove": os.Remove,
		"replace": func(p string) error {
			return errors.Join(os.WriteFile(p+"~", []byte("theirs"), 0o644), os.Rename(p+"~", p))
		},
		"link": func(p string) error { return errors.Join(os.Remove(p), os.Symlink("/etc/hostname", p)) },
	}
	for _, road := range roads {
		for what, act := range foreign {
			for i, name := range []string{"f00", "f13", "hard", "from", "even/deep/x", "to"} {
				version := i / 5 // the second world creates where the first one deletes
				t.Run(road.name+"/"+what+"/"+name, func(t *testing.T) {
					t.Parallel()
					l := newLocal(t, nil)
					road.take(l)
					ws := l.info.Roots[0].Path
					build(t, ws, manyTree(version))
					os.Link(filepath.Join(ws, "hard"), filepath.Join(ws, "..", "other"))
					var want map[string]string
					l.hook = func(point, _ string) {
						if point == "committed" && want == nil {
							if err := act(filepath.Join(ws, name)); err != nil {
								t.Fatal(err)
							}
							want = tree(t, ws)
							maps.DeleteFunc(want, func(p, what string) bool { // what was staged, and directories that were made
								_, before := manyTree(version)[p]
								return strings.HasPrefix(filepath.Base(p), sidePrefix) || what[0] == 'd' && !before
							})
						}
					}
					_, err := l.Commit(t.Context(), manySteps(ws, version), host.CommitOptions{})
					var se *host.StaleError
					if !errors.As(err, &se) && !errors.Is(err, host.ErrChanged) {
						t.Errorf("error %v", err)
					}
					if got := tree(t, ws); !cmp.Equal(got, want) {
						t.Error(cmp.Diff(brief(want), brief(got)))
					}
					if txs, _ := l.Transactions(t.Context(), ""); len(txs) > 0 {
						t.Errorf("listed: %+v", txs)
					}
					if left, _ := filepath.Glob(filepath.Join(l.info.StateDir, "slots", "0", "[it]*", "*")); len(left) > 0 {
						t.Errorf("left in the state directory: %v", left)
					}
				})
			}
		}
	}
}

// What cannot be taken back, since somebody changed it at once, stays listed with its image.
func TestRollbackThatCannotBeWhole(t *testing.T) {
	l := newLocal(t, nil)
	ws := l.info.Roots[0].Path
	build(t, ws, map[string]string{"a": "-rw-r--r-- a", "b": "-rw-r--r-- b", "c": "-rw-r--r-- c"})
	seen := 0
	l.hook = func(point, _ string) {
		if point != "applied" {
			return
		}
		if seen++; seen == 2 {
			os.WriteFile(filepath.Join(ws, "b"), []byte("on top"), 0o644)
			os.WriteFile(filepath.Join(ws, "c"), []byte("theirs"), 0o644)
		}
	}
	set := &change.Set{}
	for _, n := range []string{"a", "b", "c"} {
		set.Ops = append(set.Ops, change.Replace(filepath.Join(ws, n), change.FileState([]byte(n), 0o644), []byte("new")))
	}
	_, err := l.Commit(t.Context(), set, host.CommitOptions{ID: "x"})
	var se *host.StaleError
	if !errors.As(err, &se) || !errors.Is(err, host.ErrChanged) {
		t.Errorf("error %v", err)
	}
	want := map[string]string{"a": "-rw-r--r-- a", "b": "-rw-r--r-- on top", "c": "-rw-r--r-- theirs"}
	if got := tree(t, ws); !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	txs, err := l.Transactions(context.Background(), "")
	if err != nil || len(txs) != 1 || len(txs[0].Paths) != 1 || txs[0].Paths[0].Path != filepath.Join(ws, "b") {
		t.Fatalf("transactions %+v, %v", txs, err)
	}
	img, err := l.Image(t.Context(), "x", filepath.Join(ws, "b"))
	if data, _ := img.Blob.Bytes(); err != nil || string(data) != "b" {
		t.Errorf("image %q, %v", data, err)
	}
}

// A create by link and unlink, where the file system cannot rename without replacing, that died between the two.
func TestCrashBetweenLinkAndUnlink(t *testing.T) {
	l := newLocal(t, nil)
	ws := l.info.Roots[0].Path
	crashAt(t, l, "committed", 1, &change.Set{Ops: []change.Op{change.Create(filepath.Join(ws, "f"), []byte("new"), 0o644)}})
	side, err := filepath.Glob(filepath.Join(ws, sidePrefix+"*"))
	if err != nil || len(side) != 1 {
		t.Fatal(side, err)
	}
	if err := os.Link(side[0], filepath.Join(ws, "f")); err != nil {
		t.Skip("no hard links: ", err)
	}
	_, r := reopen(t, l, func(*Local) {})
	if got := tree(t, ws); !cmp.Equal(got, map[string]string{"f": "-rw-r--r-- new"}) || len(r.Finished) != 1 {
		t.Errorf("%v, recovery %+v", got, r)
	}
}

// A process that dies while it takes a failed set back: recovery still finds all or nothing, whatever came first.
func TestCrashInsideARollback(t *testing.T) {
	for _, road := range roads {
		for n := 0; n < 24; n += 3 {
			t.Run(fmt.Sprintf("%s/%d", road.name, n), func(t *testing.T) {
				t.Parallel()
				l := newLocal(t, nil)
				road.take(l)
				ws := l.info.Roots[0].Path
				build(t, ws, manyTree(1))
				if err := os.Link(filepath.Join(ws, "hard"), filepath.Join(ws, "..", "other")); err != nil {
					t.Fatal(err)
				}
				foreign := filepath.Join(ws, "to") // the last step
				passed := 0
				l.hook = func(point, _ string) {
					switch point {
					case "committed":
						if err := os.WriteFile(foreign, []byte("theirs"), 0o600); err != nil {
							t.Fatal(err)
						}
					case "reverted":
						if passed++; passed > n {
							panic(crashed{})
						}
					}
				}
				func() {
					defer func() {
						if r := recover(); r != nil && r != (crashed{}) {
							panic(r)
						}
					}()
					l.Commit(t.Context(), manySteps(ws, 1), host.CommitOptions{})
				}()
				l.slot.close()
				l.slot = nil
				_, r := reopen(t, l, road.take)
				want := manyTree(1)
				want["to"] = "-rw------- theirs"
				if got := tree(t, ws); !cmp.Equal(got, want) {
					t.Errorf("recovery %+v: %s", r, cmp.Diff(brief(want), brief(got)))
				}
			})
		}
	}
}

// An exchange whose process died before it looked at what it displaced: the foreign inode goes back.
func TestCrashAfterDisplacingAForeignFile(t *testing.T) {
	l := newLocal(t, nil)
	p := filepath.Join(l.info.Roots[0].Path, "f")
	build(t, filepath.Dir(p), map[string]string{"f": "-rw-r--r-- mine"})
	crashAt(t, l, "committed", 1, &change.Set{Ops: []change.Op{change.Replace(p, change.FileState([]byte("mine"), 0o644), []byte("new"))}})
	if err := errors.Join(os.WriteFile(p+"~", []byte("theirs"), 0o644), os.Rename(p+"~", p)); err != nil {
		t.Fatal(err)
	}
	staged, err := filepath.Glob(filepath.Join(l.info.StateDir, "slots", "0", "img", "*"))
	if err != nil || len(staged) != 1 {
		t.Fatal(staged, err)
	}
	if err := l.exchange(unix.AT_FDCWD, staged[0], unix.AT_FDCWD, p); err != nil {
		t.Skip("no exchange on this file system: ", err)
	}
	_, r := reopen(t, l, func(*Local) {})
	if got := tree(t, filepath.Dir(p)); !cmp.Equal(got, map[string]string{"f": "-rw-r--r-- theirs"}) || len(r.Dropped) != 1 {
		t.Errorf("%v, recovery %+v", got, r)
	}
}
