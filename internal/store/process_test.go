package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestMain lets the test binary act as another process that uses the same store.
func TestMain(m *testing.M) {
	if job := os.Getenv("STORE_TEST_JOB"); job != "" {
		if err := helper(job, os.Getenv("STORE_TEST_DIR")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func helper(job, dir string) error {
	st := Open(dir, Options{})
	ctx := context.Background()
	switch job {
	case "append": // 200 events, then a clean end
		for i := range 200 {
			if _, err := st.Append(ctx, Event{Session: "shared", Kind: "k", Key: fmt.Sprint(os.Getpid(), "-", i)}); err != nil {
				return err
			}
		}
		return st.Close()
	case "optimist": // counts with expected numbers and retries
		for done := 0; done < 50; {
			last, err := st.Last(ctx, "chain")
			if err != nil {
				return err
			}
			_, err = st.Append(ctx, Event{Session: "chain", Kind: "k", Seq: last + 1})
			switch {
			case err == nil:
				done++
			case !errors.Is(err, ErrConflict):
				return err
			}
		}
		return st.Close()
	case "forever": // says each number once it is stored, until it is killed
		for i := 1; ; i++ {
			b, err := st.Put(ctx, strings.NewReader(fmt.Sprintf("blob %d %s", i, strings.Repeat("x", i%5000))))
			if err != nil {
				return err
			}
			seqs, err := st.Append(ctx, Event{Session: "killed", Kind: "k", Body: fmt.Appendf(nil, "%q", b.Digest)})
			if err != nil {
				return err
			}
			fmt.Println(seqs[0])
		}
	}
	return fmt.Errorf("unknown job %q", job)
}

func start(t *testing.T, job, dir string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), "STORE_TEST_JOB="+job, "STORE_TEST_DIR="+dir)
	cmd.Stderr = os.Stderr
	return cmd
}

// Four processes start on a store that does not exist yet and leave no gap and no duplicate.
func TestProcessesShareAStore(t *testing.T) {
	for job, want := range map[string]struct {
		session string
		n       int
	}{"append": {"shared", 800}, "optimist": {"chain", 200}} {
		t.Run(job, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "new")
			var cmds []*exec.Cmd
			for range 4 {
				cmd := start(t, job, dir)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				cmds = append(cmds, cmd)
			}
			for _, cmd := range cmds {
				if err := cmd.Wait(); err != nil {
					t.Error(err)
				}
			}
			st := Open(dir, Options{})
			defer st.Close()
			evs, err := st.Read(t.Context(), want.session, 0, 0)
			if err != nil || len(evs) != want.n {
				t.Fatalf("%d events, %v, want %d", len(evs), err, want.n)
			}
			for i, e := range evs {
				if e.Seq != int64(i+1) {
					t.Fatalf("event %d has number %d", i+1, e.Seq)
				}
			}
		})
	}
}

// A3: a process that is killed at any moment loses nothing that it had acknowledged.
func TestA3_KilledProcessLosesNothingAcknowledged(t *testing.T) {
	dir := t.TempDir()
	total := int64(0)
	for _, stopAfter := range []int64{1, 7, 40, 150} {
		cmd := start(t, "forever", dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		acked := total
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if acked, err = strconv.ParseInt(lines.Text(), 10, 64); err != nil {
				t.Fatal(err)
			}
			if acked >= total+stopAfter {
				cmd.Process.Kill() // and read what it still said
			}
		}
		cmd.Wait()
		st := Open(dir, Options{})
		evs, err := st.Read(t.Context(), "killed", 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(evs)) < acked {
			t.Fatalf("%d events are there, %d were acknowledged", len(evs), acked)
		}
		for _, e := range evs {
			if _, err := st.Stat(t.Context(), string(e.Body[1:len(e.Body)-1])); err != nil {
				t.Fatalf("event %d names a blob that is gone: %v", e.Seq, err)
			}
		}
		total = int64(len(evs))
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
