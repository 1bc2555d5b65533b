//go:build linux

package proc

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/host"
)

// open files of a process, as links.
func descriptors(t *testing.T, pid int) map[string]string {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	list := make(map[string]string)
	for _, e := range entries {
		if link, err := os.Readlink(dir + "/" + e.Name()); err == nil {
			list[e.Name()] = link
		}
	}
	return list
}

// A command that was closed leaves nothing open: no descriptor here or in its keeper, no goroutine.
func TestNothingStaysOpen(t *testing.T) {
	for _, tree := range []Tree{TreeDefault, TreeNamespace, TreeSubreaper, TreeSession, "group"} {
		t.Run("tree="+string(tree), func(t *testing.T) {
			r := open(t, tree)
			ctx := deadline(t)
			keeper := 0
			round := func() {
				t.Helper()
				for _, c := range []host.Command{
					{Script: "echo x"},
					{Script: "sleep 300"},
					{Script: "read x", Input: true},
					{Script: "read x", Terminal: &host.Size{}},
					{Script: "echo x; echo y >&2", Split: true},
					{Script: "sleep 300 & exit 3"},
					{Argv: []string{"/no/such/program"}},
					{Script: "true", Limits: host.Limits{Memory: 1 << 30}},
				} {
					p, err := r.Start(ctx, c)
					if err != nil {
						continue // the program that is not there
					}
					if in := p.Input(); in != nil {
						in.Write([]byte("x\n"))
					}
					p.Output().Read(make([]byte, 9), 0)
					if k := p.Handle().Keeper; k != nil {
						if keeper != 0 && keeper != k.PID {
							t.Fatalf("another keeper: %d after %d", k.PID, keeper)
						}
						keeper = k.PID
					}
					if err := p.Close(); err != nil {
						t.Fatal(err)
					}
				}
			}
			round() // opens what stays open: the poller, the groups
			count := func() (int, int) {
				if keeper == 0 {
					return len(descriptors(t, os.Getpid())), 0
				}
				return len(descriptors(t, os.Getpid())), len(descriptors(t, keeper))
			}
			settled := func(what string, done func() bool) {
				t.Helper()
				tick := time.NewTicker(10 * time.Millisecond)
				defer tick.Stop()
				for !done() {
					select {
					case <-tick.C:
					case <-ctx.Done():
						t.Fatalf("%s: %v; keeper %v", what, descriptors(t, os.Getpid()), descriptors(t, max(keeper, os.Getpid())))
					}
				}
			}
			ours, theirs := count()
			goroutines := runtime.NumGoroutine()
			for range 5 {
				round()
			}
			settled("descriptors stay open", func() bool { o, k := count(); return o <= ours && k <= theirs })
			settled("goroutines stay", func() bool { return runtime.NumGoroutine() <= goroutines })
		})
	}
}

// What this process inherited is open neither in a keeper, which may outlive it, nor in a command.
func TestInheritedDescriptorsStopHere(t *testing.T) {
	var fds [2]int
	if err := unix.Pipe(fds[:]); err != nil { // inherited by whatever is started, as a pipe of this process's parent would be
		t.Fatal(err)
	}
	defer unix.Close(fds[0])
	defer unix.Close(fds[1])
	name := pipeName(fds[1])
	for _, tree := range []Tree{TreeDefault, TreeNamespace} {
		r := open(t, tree)
		if !r.Confinement().OwnerDeath {
			t.Skip("no keepers here: " + r.Confinement().String())
		}
		p, err := r.Start(t.Context(), host.Command{Script: "ls -l /proc/$$/fd; read x", Input: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range descriptors(t, p.Handle().Keeper.PID) {
			if link == name {
				t.Errorf("tree %q: the keeper has it", tree)
			}
		}
		if err := p.Input().Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if _, err := host.CopyOutput(&out, p.Output(), 0); err != nil || !strings.Contains(out.String(), "pipe:[") || strings.Contains(out.String(), name) {
			t.Errorf("tree %q: %v, descriptors of the command are\n%s", tree, err, out.String())
		}
		p.Close()
	}
}
