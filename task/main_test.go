//go:build linux

package task

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local/proc"
)

// serverVariable makes this test binary a server that starts tasks and waits to be killed.
const serverVariable = "TACKLE_TASK_SERVER"

func TestMain(m *testing.M) {
	proc.KeeperMain()
	if tree := os.Getenv(serverVariable); tree != "" {
		if err := serve(tree, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "server:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serve is the server that tests kill: one attached and one detached task, each with the script that it is given.
func serve(tree string, args []string) error {
	r, err := proc.Open(config(tree, args[0]))
	if err != nil {
		return err
	}
	m, err := Open(Config{Runner: r, Dir: args[1]})
	if err != nil {
		return err
	}
	ctx := context.Background()
	for _, detach := range []bool{false, true} {
		if detach && !r.Confinement().Detach {
			fmt.Println("-")
			continue
		}
		info, err := m.Start(ctx, Spec{Session: "s", Detach: detach}, host.Command{Script: args[2]})
		if err != nil {
			return err
		}
		if _, err := m.Read(ctx, info.ID, Reading{Wait: time.Minute}); err != nil {
			return err
		}
		fmt.Println(info.ID)
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func config(tree, dir string) proc.Config {
	cfg := proc.Config{Keeper: proc.Self(), Dir: dir}
	if tree == "none" {
		cfg.Keeper, cfg.Tree = nil, proc.TreeSession
	}
	return cfg
}

// bed is what a test stands on: a runner, a manager, a working directory with a FIFO that every process of a script which
// begins with hold keeps open.
type bed struct {
	*Manager
	t      *testing.T
	ctx    context.Context
	runner *proc.Runner
	dir    string
	tasks  string
	fifo   *os.File
}

const hold = "exec 9>alive\n"

func newBed(t *testing.T, cfg Config) *bed {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	b := &bed{t: t, ctx: ctx, dir: t.TempDir(), tasks: filepath.Join(t.TempDir(), "tasks")}
	fifo := filepath.Join(b.dir, "alive")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if b.fifo, err = os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.fifo.Close() })
	if b.runner, err = proc.Open(config("", b.dir)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.ok(b.runner.Close()) })
	cfg.Runner, cfg.Dir = b.runner, b.tasks
	b.Manager = b.manager(cfg)
	return b
}

// manager opens a manager that is closed before the runner is, and checks then that nothing lives.
func (b *bed) manager(cfg Config) *Manager {
	b.t.Helper()
	cfg.Dir = b.tasks
	m, err := Open(cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { b.ok(m.Close()); b.deserted() })
	return m
}

func (b *bed) ok(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Error(err)
	}
}

func (b *bed) alive() bool {
	var p [1]byte
	n, err := syscall.Read(int(b.fifo.Fd()), p[:])
	return n != 0 || err != nil
}

func (b *bed) until(what string, done func() bool) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.ctx), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			b.t.Fatalf("waited in vain: %s", what)
		}
	}
}

func (b *bed) deserted() {
	b.t.Helper()
	b.until("no process lives", func() bool { return !b.alive() })
}

// used counts the folders of tasks that hold anything. One that does not waits for the next task.
func (b *bed) used() int {
	files, err := filepath.Glob(filepath.Join(b.tasks, "*", "*"))
	b.ok(err)
	seen := map[string]bool{}
	for _, f := range files {
		seen[filepath.Dir(f)] = true
	}
	return len(seen)
}

func (b *bed) begin(s Spec, c host.Command) Info {
	b.t.Helper()
	if c.Script != "" {
		c.Script = hold + c.Script
	}
	i, err := b.Start(b.ctx, s, c)
	if err != nil {
		b.t.Fatal(err)
	}
	return i
}

// says waits until a reader has got a text.
func (b *bed) says(id, reader, want string) {
	b.t.Helper()
	var got strings.Builder
	for !strings.HasSuffix(got.String(), want) {
		c, err := b.Read(b.ctx, id, Reading{Reader: reader, Wait: 30 * time.Second})
		if err != nil || c.Done && len(c.Data) == 0 {
			b.t.Fatalf("waited for %q after %q: %v", want, got.String(), err)
		}
		got.Write(c.Data)
	}
}

func (b *bed) waitFor(id string) Info {
	b.t.Helper()
	i, err := b.Wait(b.ctx, id)
	if err != nil {
		b.t.Fatal(err)
	}
	return i
}

func (b *bed) is(what, got, want string) {
	b.t.Helper()
	if got != want {
		b.t.Errorf("%s is %.300q, want %.300q", what, got, want)
	}
}

// fails checks the words of an error and what it is. DIR and ID stand for the directory and the id.
func (b *bed) fails(err error, id, want string, is error) {
	b.t.Helper()
	if err == nil {
		b.t.Errorf("no error, want %q", want)
		return
	}
	got := strings.NewReplacer(b.tasks, "TASKS", b.dir, "DIR").Replace(err.Error())
	if id != "" {
		got = strings.ReplaceAll(got, id, "ID")
	}
	if got != want || is != nil && !errors.Is(err, is) {
		b.t.Errorf("error is %q, want %q", got, want)
	}
}

// server starts a server of its own, and returns the ids of its two tasks.
func (b *bed) server(tree, script string) (cmd *exec.Cmd, attached, detached string) {
	b.t.Helper()
	if tree == "" {
		tree = "keeper"
	}
	cmd = exec.Command(os.Args[0], b.dir, b.tasks, hold+script)
	cmd.Env = append(os.Environ(), serverVariable+"="+tree)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil {
		b.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if _, err := fmt.Fscan(bufio.NewReader(out), &attached, &detached); err != nil {
		b.t.Fatal(err)
	}
	return cmd, attached, detached
}
