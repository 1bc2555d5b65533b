//go:build linux || darwin

package local

import (
	"context"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// Issue 2, "Done when"; RACE-006 and RACE-007: kill -9 at random moments of a loop of commits. After the next start the
// tree is wholly one version, no earlier than the last that was acknowledged, and nothing else is left in it.
func TestKillManyFiles(t *testing.T) {
	kills, want := 200, 30
	if testing.Short() {
		kills, want = 40, 10
	}
	if n := lanes(t, "many", manyTree, kills); n < want {
		t.Errorf("only %d kills fell between commit point and done, want %d", n, want)
	}
}

func TestKillSingleFiles(t *testing.T) {
	kills := 80
	if testing.Short() {
		kills = 20
	}
	lanes(t, "single", singleTree, kills)
}

// lanes runs the kills in four worlds side by side, since most of the time goes into waiting. It returns how many fell
// between commit point and done.
func lanes(t *testing.T, child string, world func(int) map[string]string, kills int) int {
	const n = 4
	all := make([]killer, n)
	t.Run("lanes", func(t *testing.T) {
		for i := range all {
			k := &all[i]
			k.child, k.tree, k.rounds = child, world, kills/n
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				k.run(t)
			})
		}
	})
	between := 0
	for i := range all {
		between += all[i].between
	}
	return between
}

type killer struct {
	child   string
	tree    func(n int) map[string]string
	rounds  int
	between int // kills that fell between commit point and done

	ws, state, other string
}

func (k *killer) world(t *testing.T) {
	dir := t.TempDir()
	k.ws, k.state, k.other = filepath.Join(dir, "ws"), filepath.Join(dir, "state"), filepath.Join(dir, "other-name")
	build(t, k.ws, k.tree(0))
	if err := os.Link(filepath.Join(k.ws, "hard"), k.other); err != nil {
		t.Fatal(err)
	}
}

func (k *killer) run(t *testing.T) {
	k.world(t)
	rng := rand.New(rand.NewPCG(rand.Uint64(), 2))
	version, held, finished, dropped := 0, 0, 0, 0
	for round := range k.rounds {
		road := round % len(roads)
		hold := 0
		if round%2 == 1 { // every other child stands still at a random point after a commit point
			hold = 1 + rng.IntN(40)
		}
		acked := k.once(t, road, version, hold, rng.IntN(120))
		if n := k.committed(t); n > 0 {
			k.between++
			if hold > 0 {
				held++
			}
		}
		r := k.recover(t, road)
		finished, dropped = finished+len(r.Finished), dropped+len(r.Dropped)
		if len(r.Conflicts) > 0 {
			t.Fatalf("round %d: conflicts %+v", round, r.Conflicts)
		}
		version = k.check(t, acked)
		if round%20 == 0 || round == k.rounds-1 {
			k.checkState(t)
		}
	}
	t.Logf("%d kills, %d between commit point and done (%d of them held there), %d finished, %d dropped, version %d", k.rounds, k.between, held, finished, dropped, version)
}

// once starts a child at a version, kills it after some lines or when it holds still, and returns the last version that
// it had finished.
func (k *killer) once(t *testing.T, road, version, hold, lines int) int {
	cmd, out := child(t, k.child, k.ws, k.state, strconv.Itoa(road), strconv.Itoa(version), strconv.Itoa(hold))
	done := version
	for hold > 0 || lines > 0 {
		line, err := out.ReadString('\n')
		if err != nil {
			break
		}
		lines--
		switch strings.TrimSpace(line) {
		case "done":
			done++
		case "held":
			hold, lines = 0, 0
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(out) // what it said before the signal arrived
	done += strings.Count(string(rest), "done\n")
	err := cmd.Wait()
	if exit, ok := err.(*exec.ExitError); !ok || exit.Exited() {
		t.Fatalf("the child ended by itself: %v", err)
	}
	return done
}

// committed counts the transactions that passed their commit point and did not end.
func (k *killer) committed(t *testing.T) (n int) {
	files, err := filepath.Glob(filepath.Join(k.state, "slots", "*", "tx", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		log, err := os.ReadFile(filepath.Join(filepath.Dir(f), "..", "log"))
		if err != nil {
			t.Fatal(err)
		}
		_, _, whole := readJournal(data)
		if whole && !strings.Contains(string(log), lineEnd+" "+filepath.Base(f)+" ") {
			n++
		}
	}
	return n
}

func (k *killer) recover(t *testing.T, road int) host.Recovery {
	l, err := Open(Config{Roots: []host.Root{{Path: k.ws}}, StateDir: k.state})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	roads[road].take(l)
	r, err := l.Recover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	again, err := l.Recover(context.Background())
	if err != nil || len(again.Finished)+len(again.Dropped)+again.Swept > 0 {
		t.Fatalf("a second recovery found %+v, %v", again, err)
	}
	return r
}

// check finds the version of the tree; it is the acknowledged one or the next.
func (k *killer) check(t *testing.T, acked int) int {
	got := tree(t, k.ws)
	for _, n := range []int{acked, acked + 1} {
		if want := k.tree(n); cmp.Equal(got, want) {
			other, err := os.ReadFile(k.other)
			if err != nil || !strings.HasSuffix(want["hard"], string(other)) {
				t.Fatalf("version %d, but the second name of the hard link holds %.20q, %v", n, other, err)
			}
			return n
		}
	}
	t.Fatalf("the tree is neither version %d nor %d:\n%s", acked, acked+1, cmp.Diff(brief(k.tree(acked)), brief(got)))
	return 0
}

func brief(t map[string]string) map[string]string {
	out := map[string]string{}
	for p, s := range t {
		out[p] = s[:min(len(s), 24)]
	}
	return out
}

// checkState makes sure that the state directory holds nothing that belongs to no transaction.
func (k *killer) checkState(t *testing.T) {
	left, err := filepath.Glob(filepath.Join(k.state, "slots", "*", "tx", "*"))
	if err != nil || len(left) > 0 {
		t.Fatalf("journals left: %v, %v", left, err)
	}
	images, err := filepath.Glob(filepath.Join(k.state, "slots", "*", "img", "*"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := Open(Config{Roots: []host.Root{{Path: k.ws}}, StateDir: k.state})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	txs, err := l.Transactions(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, tx := range txs {
		known[tx.ID] = true
		for _, p := range tx.Paths {
			if !p.HasImage {
				t.Fatalf("transaction %s has lost the image of %s", tx.ID, p.Path)
			}
			if p.Kind == change.Write && p.AfterType == change.File && p.AfterDigest.IsZero() {
				t.Fatalf("transaction %s does not know what it made of %s", tx.ID, p.Path)
			}
		}
	}
	for _, img := range images {
		if key, _, _ := strings.Cut(filepath.Base(img), "."); !known[key] {
			t.Fatalf("image %s belongs to no transaction", img)
		}
	}
}

// A process that lives keeps its transaction: another one that starts neither finishes nor drops it.
func TestRecoveryLeavesLivingProcessesAlone(t *testing.T) {
	k := killer{child: "hold", tree: manyTree}
	k.world(t)
	cmd, out := child(t, "hold", k.ws, k.state, "0")
	defer cmd.Wait()
	defer cmd.Process.Kill()
	if line, err := out.ReadString('\n'); line != "held\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if r := k.recover(t, 0); len(r.Finished)+len(r.Dropped)+len(r.Conflicts) > 0 {
		t.Fatalf("a living transaction was treated: %+v", r)
	}
	if got := tree(t, k.ws); !cmp.Equal(got, k.tree(0)) {
		t.Fatal(cmp.Diff(brief(k.tree(0)), brief(got)))
	}
	cmd.Process.Kill()
	cmd.Wait()
	if r := k.recover(t, 0); len(r.Finished) != 1 {
		t.Fatalf("after its death: %+v", r)
	}
	k.check(t, 1)
}

// Issue 2, "Done when"; RACE-005: 100 parallel edits of one file by 4 processes lose none.
func TestParallelProcesses(t *testing.T) {
	dir := t.TempDir()
	ws, state := filepath.Join(dir, "ws"), filepath.Join(dir, "state")
	build(t, ws, map[string]string{"n": "-rw-r--r-- 0"})
	var all []*exec.Cmd
	for i := range 4 {
		cmd, _ := child(t, "increment", ws, state, strconv.Itoa(i%2), "25")
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if got := tree(t, ws); !cmp.Equal(got, map[string]string{"n": "-rw-r--r-- 100"}) {
		t.Errorf("%v", got)
	}
	l, err := Open(Config{StateDir: state})
	if err != nil {
		t.Fatal(err)
	}
	if txs, err := l.Transactions(t.Context(), ""); err != nil || len(txs) != 100 {
		t.Errorf("%d transactions, %v", len(txs), err)
	}
}
