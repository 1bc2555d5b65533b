//go:build linux

package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/host"
)

// H2: start, list, read what is new for each reader, wait, and be told of the end.
func TestH2_LifeOfATask(t *testing.T) {
	told := make(chan Info, 1)
	b := newBed(t, Config{Ended: func(i Info) { told <- i }})
	i := b.begin(Spec{Session: "s", Title: "a build", Interactive: true}, host.Command{Script: "echo one; read x; echo two $x; read x; exit 3", Dir: b.dir})
	if !i.Running || i.Exit != nil || i.Session != "s" || i.Title != "a build" || i.Command != hold+"echo one; read x; echo two $x; read x; exit 3" || i.Dir != b.dir {
		t.Errorf("started as %+v", i)
	}
	b.says(i.ID, "first", "one\n")
	c, err := b.Read(b.ctx, i.ID, Reading{Reader: "first", Wait: 20 * time.Millisecond})
	if err != nil || len(c.Data) > 0 || c.From != 4 || c.Next != 4 || c.Done || c.More {
		t.Errorf("nothing new is %+v, %v", c, err)
	}
	b.ok(b.Input(b.ctx, i.ID, []byte("x\n"), false))
	b.says(i.ID, "first", "two x\n")
	b.says(i.ID, "second", "one\ntwo x\n")
	soon, cancel := context.WithTimeout(b.ctx, 20*time.Millisecond)
	defer cancel()
	if j, err := b.Wait(soon, i.ID); !errors.Is(err, context.DeadlineExceeded) || !j.Running {
		t.Errorf("wait with a deadline: %+v, %v", j, err)
	}
	b.ok(b.Input(b.ctx, i.ID, nil, true))
	j := b.waitFor(i.ID)
	if j.Running || j.Exit == nil || j.Output != 10 || len(j.Log) != 1 || j.Log[0] != filepath.Join(b.tasks, i.ID, "output.log") {
		t.Errorf("ended as %+v", j)
	}
	b.is("exit", j.Exit.String(), "exit status 3")
	if got := <-told; got.ID != i.ID || got.Running {
		t.Errorf("told of %+v", got)
	}
	if text, err := os.ReadFile(j.Log[0]); string(text) != "one\ntwo x\n" {
		t.Errorf("log is %q, %v", text, err)
	}
	other := b.begin(Spec{Session: "other"}, host.Command{Argv: []string{"true"}, Dir: b.dir})
	b.waitFor(other.ID)
	for _, c := range []struct {
		session string
		want    []string
	}{{"s", []string{i.ID}}, {"other", []string{other.ID}}, {"", []string{i.ID, other.ID}}, {"none", nil}} {
		list, err := b.List(b.ctx, c.session)
		var got []string
		for _, i := range list {
			got = append(got, i.ID)
		}
		if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("list of %q is %v, %v", c.session, got, err)
		}
	}
	b.ok(b.Remove(b.ctx, i.ID))
	_, err = b.Get(i.ID)
	b.fails(err, i.ID, fmt.Sprintf(`there is no task "ID"; there are: %s`, other.ID), ErrNotFound)
}

func TestH2_Words(t *testing.T) {
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	exit := func(e host.Exit) *host.Exit {
		e.Started, e.Ended = at, at.Add(3400*time.Millisecond)
		return &e
	}
	for _, c := range []struct {
		in   Info
		want string
	}{
		{Info{Running: true}, "running for 1m5s"},
		{Info{Running: true, Waiting: &host.Waiting{ProcessInfo: host.ProcessInfo{PID: 7, Name: "cat"}, On: "terminal", Sure: true}}, "running for 1m5s; it waited for input on its terminal (pid 7, cat)"},
		{Info{Exit: exit(host.Exit{End: host.EndExited})}, "exit status 0 after 3.4s"},
		{Info{Exit: exit(host.Exit{End: host.EndExited, Signal: "SIGSEGV"})}, "ended by SIGSEGV after 3.4s"},
		{Info{Exit: exit(host.Exit{End: host.EndTime, Limit: "3s"})}, "ended after 3s (time limit)"},
		{Info{Running: true, Exit: exit(host.Exit{End: host.EndExited, Survivors: []host.ProcessInfo{{PID: 12, Name: "sleep"}}, Open: true})}, "exit status 0 after 3.4s; process 12 (sleep) lives on with the output open"},
		{Info{Exit: &host.Exit{End: host.EndLost, Code: -1}}, "gone; nobody saw how it ended"},
	} {
		c.in.Started = at
		if got := c.in.At(at.Add(65 * time.Second)); got != c.want {
			t.Errorf("%+v is %q, want %q", c.in, got, c.want)
		}
	}
}

// H2: a foreground command that runs past its budget becomes a task, with what it wrote before; one that ends in time
// leaves nothing.
func TestH2_Adopt(t *testing.T) {
	b := newBed(t, Config{})
	slot, c, err := b.Reserve(Spec{Session: "s"}, host.Command{Script: hold + "echo early; read x; echo late", Dir: b.dir, Input: true})
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.runner.Start(b.ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	budget, cancel := context.WithTimeout(b.ctx, 50*time.Millisecond)
	defer cancel()
	if _, err := p.Wait(budget); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	i, err := slot.Adopt(b.ctx, p)
	if err != nil || !i.Running || i.ID != slot.ID() {
		t.Fatalf("adopted as %+v, %v", i, err)
	}
	b.ok(b.Input(b.ctx, i.ID, []byte("\n"), true))
	b.waitFor(i.ID)
	b.says(i.ID, "r", "early\nlate\n")

	slot, c, err = b.Reserve(Spec{}, host.Command{Script: "true", Dir: b.dir})
	if err != nil {
		t.Fatal(err)
	}
	if p, err = b.runner.Start(b.ctx, c); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(b.ctx); err != nil {
		t.Fatal(err)
	}
	b.ok(p.Close())
	b.ok(slot.Discard())
	if list, err := b.List(b.ctx, ""); err != nil || len(list) != 1 {
		t.Errorf("list is %v, %v", list, err)
	}
	b.until("only the folder of the task holds anything", func() bool { return b.used() == 1 })
}

// H2: a leader that left children is a running task until they are gone.
func TestH2_Survivors(t *testing.T) {
	b := newBed(t, Config{})
	i := b.begin(Spec{}, host.Command{Script: "sleep 300 & echo started", Dir: b.dir})
	b.until("the leader has ended", func() bool {
		var err error
		i, err = b.Look(b.ctx, i.ID)
		return err == nil && i.Exit != nil
	})
	if !i.Running || len(i.Lives) != 1 || len(i.Exit.Survivors) != 1 {
		t.Errorf("looks like %+v", i)
	}
	b.is("exit", i.Exit.String(), fmt.Sprintf("exit status 0; process %d (sleep) lives on with the output open", i.Lives[0].PID))
	b.fails(b.Remove(b.ctx, i.ID), i.ID, "task ID is running; stop it before it is removed", ErrRunning)
	i, err := b.Stop(b.ctx, i.ID, 0)
	if err != nil || i.Running {
		t.Errorf("stopped as %+v, %v", i, err)
	}
	b.deserted()
}

// H1, H2: a task that waits for input says so; a terminal takes keys and a size.
func TestH2_Input(t *testing.T) {
	b := newBed(t, Config{})
	i := b.begin(Spec{Interactive: true}, host.Command{Script: `read -p "sure? " x; echo "<$x>"; stty size; echo ready; exec sleep 300`, Terminal: &host.Size{}, Dir: b.dir})
	b.until("it waits", func() bool {
		var err error
		i, err = b.Look(b.ctx, i.ID)
		return err == nil && i.Waiting != nil
	})
	b.is("waiting", i.Waiting.String(), fmt.Sprintf("waited for input on its terminal (pid %d, bash)", i.Waiting.PID))
	b.ok(b.Resize(b.ctx, i.ID, host.Size{Rows: 10, Cols: 20}))
	b.ok(b.Input(b.ctx, i.ID, []byte("yes\n"), false))
	b.says(i.ID, "r", "sure? yes\r\n<yes>\r\n10 20\r\nready\r\n")
	b.ok(b.Input(b.ctx, i.ID, []byte{3}, false))
	b.is("exit", b.waitFor(i.ID).Exit.String(), "ended by SIGINT")
	b.fails(b.Input(b.ctx, i.ID, []byte("x"), false), i.ID, "task ID has ended (ended by SIGINT); its output can still be read", ErrEnded)
	b.fails(b.Signal(b.ctx, i.ID, "SIGINT"), i.ID, "task ID has ended (ended by SIGINT); its output can still be read", ErrEnded)

	deaf := b.begin(Spec{Interactive: true}, host.Command{Script: "sleep 300", Dir: b.dir})
	soon, cancel := context.WithTimeout(b.ctx, 50*time.Millisecond)
	defer cancel()
	b.fails(b.Input(soon, deaf.ID, make([]byte, 1<<20), false), deaf.ID, "task ID does not read its input: context deadline exceeded", context.DeadlineExceeded)
	b.ok(b.Signal(b.ctx, deaf.ID, "SIGKILL"))
	b.is("exit", b.waitFor(deaf.ID).Exit.String(), "ended by SIGKILL")

	none := b.begin(Spec{}, host.Command{Script: "sleep 300", Dir: b.dir})
	b.fails(b.Input(b.ctx, none.ID, []byte("x"), false), none.ID, "task ID takes no input: it was started without it, or by a server that is gone; start it again with input", ErrNoInput)
	b.fails(b.Resize(b.ctx, none.ID, host.Size{}), none.ID, "task ID has no terminal", ErrNoInput)
}

// H2: tasks end with their session, whatever their children did; detached ones do not.
func TestH2_EndOfSession(t *testing.T) {
	b := newBed(t, Config{})
	var ids []string
	for range 3 {
		i := b.begin(Spec{Session: "s"}, host.Command{Script: "setsid sleep 300 >/dev/null 2>&1 & trap '' HUP; echo ready; sleep 300", Dir: b.dir})
		b.says(i.ID, "r", "ready\n")
		ids = append(ids, i.ID)
	}
	other := b.begin(Spec{Session: "other"}, host.Command{Argv: []string{"sleep", "300"}, Dir: b.dir})
	detached := b.begin(Spec{Session: "s", Detach: true}, host.Command{Argv: []string{"sleep", "300"}, Dir: b.dir})
	b.ok(b.EndSession(b.ctx, "s"))
	b.deserted()
	for _, id := range ids {
		if i, err := b.Get(id); err != nil || i.Running || i.Exit.String() != "stopped" {
			t.Errorf("%+v, %v", i, err)
		}
	}
	for _, id := range []string{other.ID, detached.ID} {
		if i, err := b.Get(id); err != nil || !i.Running {
			t.Errorf("%+v, %v", i, err)
		}
	}
	if err := b.EndSession(b.ctx, ""); err == nil {
		t.Error("a session without a name has ended")
	}
	b.ok(b.Manager.Close())
	m := b.manager(Config{Runner: b.runner})
	if i, err := m.Get(other.ID); err != nil || i.Running {
		t.Errorf("after close: %+v, %v", i, err)
	}
	if i, err := m.Stop(b.ctx, detached.ID, 0); err != nil || i.Running || i.Exit.String() != "stopped" {
		t.Errorf("detached: %+v, %v", i, err)
	}
	_, err := b.Manager.Start(b.ctx, Spec{}, host.Command{Script: "true"})
	b.fails(err, "", "the task manager is closed", ErrClosed)
}

// H2: the log has a quota; a reader is told what it missed.
func TestH2_Quota(t *testing.T) {
	b := newBed(t, Config{})
	i := b.begin(Spec{}, host.Command{Script: "seq 1 20000", Dir: b.dir, Limits: host.Limits{Spool: 16 << 10}})
	i = b.waitFor(i.ID)
	var disk int64
	for _, f := range i.Log {
		fi, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		disk += fi.Size()
	}
	if disk > 16<<10 || i.Output != 108894 {
		t.Errorf("%d bytes on disk, %d written", disk, i.Output)
	}
	first, err := b.Read(b.ctx, i.ID, Reading{Reader: "r", Max: 100 << 10})
	if err != nil || len(first.Data) != 8<<10 || first.Skipped != 0 || !first.More || first.Done != true {
		t.Errorf("first: %d bytes, %+v, %v", len(first.Data), first.Skipped, err)
	}
	rest, err := b.Read(b.ctx, i.ID, Reading{Reader: "r", Max: 100 << 10})
	if err != nil || rest.Skipped != i.Output-disk || !strings.HasSuffix(string(rest.Data), "\n20000\n") || rest.More || rest.Next != i.Output {
		t.Errorf("rest: %d bytes, skipped %d, %v", len(rest.Data), rest.Skipped, err)
	}
	last, err := b.Read(b.ctx, i.ID, Reading{Reader: "other", Last: true, Max: 12})
	if err != nil || string(last.Data) != "19999\n20000\n" || last.Skipped != i.Output-12 {
		t.Errorf("last: %q, %+v, %v", last.Data, last.Skipped, err)
	}
	again, err := b.Read(b.ctx, i.ID, Reading{Reader: "other", Seek: true, At: 2, Max: 4})
	if err != nil || string(again.Data) != "2\n3\n" {
		t.Errorf("from an offset: %q, %v", again.Data, err)
	}
	if at, err := b.Read(b.ctx, i.ID, Reading{At: 1 << 40}); err != nil || len(at.Data) != 0 || at.More || !at.Done {
		t.Errorf("behind the end: %+v, %v", at, err)
	}
}

// H2: however a reader reads, it gets all bytes once, and whole characters where there are any.
func TestH2_ReadWholeCharacters(t *testing.T) {
	b := newBed(t, Config{})
	text := strings.Repeat("aé漢😀\xff\xe6\xbc\n", 40)
	if err := os.WriteFile(filepath.Join(b.dir, "text"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	i := b.begin(Spec{}, host.Command{Script: "cat text", Dir: b.dir})
	b.waitFor(i.ID)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		var got strings.Builder
		for {
			c, err := b.Read(b.ctx, i.ID, Reading{Reader: fmt.Sprint(n), Max: rapid.IntRange(1, 60).Draw(t, "max")})
			if err != nil || c.Skipped != 0 || c.From != int64(got.Len()) || c.Next != c.From+int64(len(c.Data)) {
				t.Fatalf("%+v, %v", c, err)
			}
			got.Write(c.Data)
			if !c.More {
				break
			}
			if len(c.Data) == 0 {
				t.Fatal("no progress")
			}
		}
		if got.String() != text {
			t.Fatalf("read %q", got.String())
		}
	})
	for size := 9; size < 30; size++ {
		c, err := b.Read(b.ctx, i.ID, Reading{Max: size})
		if err != nil || strings.HasPrefix(text[c.Next:], "\xa9") || strings.HasPrefix(text[c.Next:], "\xbc\xa2") || strings.HasPrefix(text[c.Next:], "\x9f") {
			t.Errorf("%d bytes end in a character: %q, %v", size, c.Data, err)
		}
	}
}

func TestH2_Refusals(t *testing.T) {
	b := newBed(t, Config{MaxRunning: 1})
	_, err := b.Get("none")
	b.fails(err, "", `there is no task "none"; no task has been started`, ErrNotFound)
	_, err = b.Get("../../etc")
	b.fails(err, "", `there is no task "../../etc"; no task has been started`, ErrNotFound)
	_, err = b.Start(b.ctx, Spec{}, host.Command{Script: "true", Dir: b.dir + "/none"})
	b.fails(err, "", "chdir DIR/none: no such file or directory", os.ErrNotExist)
	_, err = b.Start(b.ctx, Spec{}, host.Command{})
	b.fails(err, "", "a command has either a script or an argument vector", nil)
	b.until("nothing is left of what did not start", func() bool { return b.used() == 0 })
	i := b.begin(Spec{}, host.Command{Script: "sleep 300", Dir: b.dir})
	_, err = b.Start(b.ctx, Spec{}, host.Command{Script: "true", Dir: b.dir})
	b.fails(err, i.ID, "the limit of 1 running tasks is reached: stop one first (ID)", ErrTooMany)
	for _, c := range []struct {
		cfg  Config
		want string
	}{{Config{}, "a task manager needs a runner"}, {Config{Runner: b.runner, Dir: "tasks"}, `tasks directory "tasks" is not absolute`}} {
		_, err := Open(c.cfg)
		b.fails(err, "", c.want, nil)
	}
}

// What somebody put into the tasks directory is no task, or one whose files are in its own folder: nothing else is read,
// waited for or removed.
func TestH2_Planted(t *testing.T) {
	b := newBed(t, Config{})
	i := b.begin(Spec{}, host.Command{Script: "echo mine", Dir: b.dir})
	b.waitFor(i.ID)
	rec, err := b.read(i.ID)
	b.ok(err)
	plant := func(id string, change func(*record)) {
		r := *rec
		r.ID, r.Started = id, rec.Started.Add(-time.Hour)
		change(&r)
		b.ok(os.MkdirAll(b.folder(id), 0o700))
		b.ok(write(filepath.Join(b.folder(id), recordFile), r))
	}
	other := filepath.Join(b.dir, "other")
	b.ok(os.WriteFile(other+".log", []byte("secret"), 0o600))
	plant("aaaaaa", func(r *record) { r.Handle.Spool = other })
	plant("bbbbbb", func(r *record) {})
	b.ok(syscall.Mkfifo(filepath.Join(b.folder("bbbbbb"), exitFile), 0o600))
	b.ok(os.Mkdir(b.folder("cccccc"), 0o700))
	b.ok(syscall.Mkfifo(filepath.Join(b.folder("cccccc"), recordFile), 0o600))
	plant("dddddd", func(r *record) {})
	b.ok(os.Rename(b.folder("dddddd"), other))
	b.ok(os.Symlink(other, b.folder("dddddd")))

	c, err := b.Read(b.ctx, "aaaaaa", Reading{})
	if len(c.Data) > 0 || err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a record that names other files: read %q (%v)", c.Data, err)
	}
	for _, id := range []string{"bbbbbb", "cccccc"} {
		if _, err := b.Get(id); err == nil || !strings.Contains(err.Error(), "is no file that was written here") {
			t.Errorf("%s: %v", id, err)
		}
	}
	b.fails(b.Remove(b.ctx, "dddddd"), i.ID, `there is no task "dddddd"; there are: aaaaaa, ID`, ErrNotFound)
	if _, err := os.Stat(filepath.Join(other, recordFile)); err != nil {
		t.Errorf("what a link leads to: %v", err)
	}
	if _, err := b.Recover(b.ctx); err != nil {
		t.Error(err)
	}
	list, err := b.List(b.ctx, "")
	if err != nil || len(list) != 2 {
		t.Errorf("%v (%v)", list, err)
	}
}

// Tasks that have ended hold no file open, however often they are read, here and in another server.
func TestH2_EndedHoldNothing(t *testing.T) {
	b := newBed(t, Config{})
	other := b.manager(Config{Runner: b.runner})
	var ids []string
	for range 8 {
		i := b.begin(Spec{}, host.Command{Script: "echo x", Dir: b.dir})
		b.waitFor(i.ID)
		ids = append(ids, i.ID)
	}
	held := func() (n int) {
		entries, err := os.ReadDir("/proc/self/fd")
		b.ok(err)
		for _, e := range entries {
			if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(to, b.tasks) {
				n++
			}
		}
		return n
	}
	for range 2 {
		for _, id := range ids {
			for _, m := range []*Manager{b.Manager, other} {
				if c, err := m.Read(b.ctx, id, Reading{}); err != nil || string(c.Data) != "x\n" {
					t.Fatalf("read %q (%v)", c.Data, err)
				}
			}
		}
	}
	b.until("no file of an ended task is open", func() bool { return held() == 0 })
}

// An error about a task that is not there names the latest ones, however many there are.
func TestH2_ManyTasks(t *testing.T) {
	b := newBed(t, Config{})
	began := time.Now()
	for n := range 30 {
		id := fmt.Sprintf("zzzz%c%c", idLetters[n/10], idLetters[n%10])
		b.ok(os.MkdirAll(b.folder(id), 0o700))
		b.ok(b.save(&record{Version: recordVersion, ID: id, Started: began.Add(time.Duration(n) * time.Second), Handle: host.Handle{Run: "x"}}))
		b.ok(write(filepath.Join(b.folder(id), exitFile), host.Exit{End: host.EndExited, Gone: true, Ended: began}))
	}
	_, err := b.Get("none")
	if err == nil || !strings.HasSuffix(err.Error(), "zzzzcj, zzzzck and 10 older ones") || strings.Count(err.Error(), "zzzz") != 20 {
		t.Error(err)
	}
}

// RES-005: ended tasks go when they are too old or too many, running ones never.
func TestRES005_Tidy(t *testing.T) {
	now := time.Now()
	b := newBed(t, Config{Now: func() time.Time { return now }, MaxBytes: 50 << 10, MaxAge: time.Hour})
	running := b.begin(Spec{}, host.Command{Script: "sleep 300", Dir: b.dir})
	old := b.begin(Spec{}, host.Command{Script: "true", Dir: b.dir})
	b.waitFor(old.ID)
	now = now.Add(2 * time.Hour)
	var big []string
	for range 4 {
		now = now.Add(time.Second)
		i := b.begin(Spec{}, host.Command{Script: "head -c 20000 /dev/zero", Dir: b.dir})
		b.waitFor(i.ID)
		big = append(big, i.ID)
	}
	stray := filepath.Join(b.tasks, "strayz")
	b.ok(os.Mkdir(stray, 0o700))
	b.ok(os.Chtimes(stray, now.Add(-25*time.Hour), now.Add(-25*time.Hour)))
	if _, err := b.Recover(b.ctx); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(b.ids()), fmt.Sprint([]string{running.ID, big[2], big[3]}); got != want {
		t.Errorf("left are %s, want %s", got, want)
	}
	if _, err := os.Stat(stray); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that never became a task: %v", err)
	}
}

// H2: two servers share a tasks directory.
func TestH2_TwoServers(t *testing.T) {
	b := newBed(t, Config{})
	other := b.manager(Config{Runner: b.runner})
	i := b.begin(Spec{Session: "s", Interactive: true}, host.Command{Script: "echo hello; while read x; do echo got $x; done; echo over; sleep 300", Dir: b.dir})
	none := b.begin(Spec{Session: "s"}, host.Command{Script: "sleep 300", Dir: b.dir})
	b.says(i.ID, "r", "hello\n")
	r, err := other.Recover(b.ctx)
	if err != nil || len(r.Ended)+len(r.Running) != 0 {
		t.Errorf("recovered %+v, %v", r, err)
	}
	c, err := other.Read(b.ctx, i.ID, Reading{Reader: "r"})
	if err != nil || string(c.Data) != "hello\n" || !c.Running {
		t.Errorf("read %+v, %v", c, err)
	}
	b.fails(other.Input(b.ctx, none.ID, nil, true), none.ID, "task ID takes no input: it was started without it, or by a server that is gone; start it again with input", ErrNoInput)
	b.ok(other.Input(b.ctx, i.ID, []byte("from afar\n"), false))
	b.says(i.ID, "r", "got from afar\n")
	b.fails(other.Resize(b.ctx, i.ID, host.Size{}), i.ID, "there is no terminal: not supported on this platform", nil)
	b.ok(other.Input(b.ctx, i.ID, nil, true))
	b.says(i.ID, "r", "over\n")
	if _, err := other.Stop(b.ctx, none.ID, 0); err != nil {
		t.Error(err)
	}
	b.waitFor(none.ID)
	if j, err := other.Stop(b.ctx, i.ID, 0); err != nil || j.Running {
		t.Errorf("stopped %+v, %v", j, err)
	}
	if j := b.waitFor(i.ID); j.Running {
		t.Errorf("%+v", j)
	}
}

// H2: a reader of lines gets whole lines, and what has no end when it is the last, or too long to wait for.
func TestH2_ReadLines(t *testing.T) {
	b := newBed(t, Config{})
	i := b.begin(Spec{Interactive: true}, host.Command{Script: "printf 'one\\ntw'; read x; printf 'o\\n0123456789abcdef'; read x; printf end", Dir: b.dir})
	read := func(size int, want string) {
		t.Helper()
		c, err := b.Read(b.ctx, i.ID, Reading{Reader: "r", Lines: true, Max: size})
		if err != nil || string(c.Data) != want {
			t.Errorf("read %q, %v; want %q", c.Data, err, want)
		}
	}
	written := func(n int64) {
		t.Helper()
		b.until("it is written", func() bool { i, err := b.Get(i.ID); return err == nil && i.Output >= n })
	}
	written(6)
	read(100, "one\n")
	read(100, "")
	b.ok(b.Input(b.ctx, i.ID, []byte("\n"), false))
	written(24)
	read(100, "two\n")
	read(100, "")
	read(10, "0123456789")
	b.ok(b.Input(b.ctx, i.ID, []byte("\n"), true))
	b.waitFor(i.ID)
	read(100, "abcdefend")
}

// H2: the end of an adopted command is on record, however it comes: by itself, with the manager, or before it was adopted.
func TestH2_AdoptedEnds(t *testing.T) {
	b := newBed(t, Config{})
	adopt := func(script string) Info {
		t.Helper()
		slot, c, err := b.Reserve(Spec{Session: "s"}, host.Command{Script: hold + script, Dir: b.dir})
		if err != nil {
			t.Fatal(err)
		}
		p, err := b.runner.Start(b.ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		b.ok(p.Output().More(b.ctx, 0))
		i, err := slot.Adopt(b.ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	itself := adopt("echo; exit 3")
	b.waitFor(itself.ID)
	lasting := adopt("echo; sleep 300")
	left := adopt("sleep 300 & echo; exit 4")
	b.until("the leader has ended", func() bool { i, err := b.Get(left.ID); return err == nil && i.Exit != nil })
	b.ok(b.Manager.Close())
	m := b.manager(Config{Runner: b.runner})
	for id, want := range map[string]string{itself.ID: "exit status 3", lasting.ID: "stopped", left.ID: "exit status 4"} {
		i, err := m.Get(id)
		if err != nil || i.Running || i.Exit == nil || i.Exit.String() != want || !i.Exit.Gone {
			t.Errorf("%s: %+v, %v, want %s", id, i.Exit, err, want)
		}
	}
	if r, err := m.Recover(b.ctx); err != nil || len(r.Ended)+len(r.Running) > 0 {
		t.Errorf("recovered %+v, %v", r, err)
	}
}

// A door however deep the folder lies; a task that does not read holds nobody up; what is no frame is refused.
func TestDoor(t *testing.T) {
	b := newBed(t, Config{})
	deep := &bed{t: t, ctx: b.ctx, dir: b.dir, tasks: filepath.Join(b.tasks, strings.Repeat("deep/", 30)), fifo: b.fifo, runner: b.runner}
	deep.Manager = deep.manager(Config{Runner: b.runner})
	other := deep.manager(Config{Runner: b.runner})
	i := deep.begin(Spec{Interactive: true}, host.Command{Script: "read x; echo got $x; exec sleep 300", Dir: b.dir})
	deep.ok(other.Input(b.ctx, i.ID, []byte("it\n"), false))
	deep.says(i.ID, "r", "got it\n")
	soon, cancel := context.WithTimeout(b.ctx, 50*time.Millisecond)
	defer cancel()
	deep.fails(other.Input(soon, i.ID, make([]byte, 3<<20), false), i.ID, "task ID does not read its input: context deadline exceeded", context.DeadlineExceeded)
	v := other.visit(b.ctx, i.ID)
	if v == nil {
		t.Fatal("no door")
	}
	defer v.leave()
	if err := v.ask('x', nil); err == nil || err.Error() != "unknown frame" {
		t.Errorf("an unknown frame: %v", err)
	}
	if err := v.ask(frameInput, make([]byte, maxFrame+1)); err == nil {
		t.Error("a frame that is too long was taken")
	}
	if _, err := other.Stop(b.ctx, i.ID, 0); err != nil {
		t.Error(err)
	}
	deep.until("the door is shut", func() bool {
		_, err := os.Lstat(filepath.Join(deep.folder(i.ID), doorFile))
		return errors.Is(err, os.ErrNotExist)
	})
}
