//go:build linux || darwin

package runnertest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/host"
)

func terminal(c host.Confinement) bool { return c.Terminal }

// waits waits until the runner says that a command waits for input.
func (b *bed) waits(p host.Process) *host.Waiting {
	b.t.Helper()
	var w *host.Waiting
	b.every(50*time.Millisecond, "it waits for input", func() bool { // each look reads the table of processes
		st, err := p.State(b.ctx)
		if err != nil || !st.Running {
			b.t.Fatalf("state is %+v, %v", st, err)
		}
		w = st.Waiting
		return w != nil
	})
	return w
}

func (b *bed) write(p host.Process, s string) {
	b.t.Helper()
	if _, err := p.Input().Write([]byte(s)); err != nil {
		b.t.Fatal(err)
	}
}

var inputs = []scenario{
	{name: "input is at its end", proves: "H1 RES-007", run: func(t *testing.T, b *bed) {
		out, e := b.run(host.Command{Script: `read x; echo "$? <$x>"; cat; readlink /proc/self/fd/0 || echo /dev/null`})
		b.is("output", out, "1 <>\n/dev/null\n")
		b.ends(e, "exit status 0")
	}},
	{name: "no terminal to read from", proves: "H1", run: func(t *testing.T, b *bed) {
		out, e := b.run(host.Command{Script: `exec 2>&1; LC_ALL=C; read x </dev/tty; echo $?; tty; ps -o tty= -p $$`})
		if !strings.Contains(out, "/dev/tty: ") || !strings.HasSuffix(out, "\n1\nnot a tty\n?\n") && !strings.HasSuffix(out, "\n1\nnot a tty\n??\n") {
			t.Errorf("output is %q", out)
		}
		b.ends(e, "exit status 0")
	}},
	{name: "an editor", proves: "H1", run: func(t *testing.T, b *bed) {
		if err := os.WriteFile(b.dir+"/text", []byte("text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		out, e := b.run(host.Command{Script: `git init -q . && git -c user.name=n -c user.email=e@example.com commit --allow-empty; echo $?; "$EDITOR" text`})
		if !strings.HasPrefix(out, "no editor here: give the text as an argument, such as git commit -m TEXT\n") || !strings.HasSuffix(out, "\n1\n") {
			t.Errorf("output is %q", out)
		}
		b.ends(e, "exit status 1")
	}},
	{name: "vi without a terminal", proves: "H1", needs: terminal, run: func(t *testing.T, b *bed) {
		if _, err := exec.LookPath("vi"); err != nil {
			t.Skip("there is no vi here")
		}
		var e host.Exit
		most := long
		for ; most < patience && e.Waiting == nil; most *= 2 { // it takes its time to begin, more on a machine with much to do
			e = b.wait(b.start(host.Command{Script: "vi text", Limits: limit(most)}))
		}
		if e.Waiting == nil {
			t.Fatalf("exit is %s", e)
		}
		b.ends(e, fmt.Sprintf("ended after %s (time limit); it seemed to wait for input although it has none (pid %d, vi)", most/2, e.Waiting.PID))
	}},
	{name: "pipe", proves: "H2", run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "read x; echo got $x; cat", Input: true})
		b.write(p, "one\n")
		b.says(p, "got one")
		b.write(p, "two\nthree")
		if err := p.Input().Resize(host.Size{}); err == nil {
			t.Error("a pipe has a size")
		}
		if err := p.Input().Close(); err != nil {
			t.Fatal(err)
		}
		b.ends(b.wait(p), "exit status 0")
		b.is("output", b.text(p.Output()), "got one\ntwo\nthree")
	}},
	{name: "more input than a pipe holds", proves: "H2", run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "wc -c", Input: true})
		b.write(p, strings.Repeat("x", 1<<20))
		if err := p.Input().Close(); err != nil {
			t.Fatal(err)
		}
		b.wait(p)
		b.is("output", strings.TrimSpace(b.text(p.Output())), "1048576")
	}},
	{name: "input of a command that is gone", proves: "H2", run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "true", Input: true})
		b.gone(p)
		if _, err := p.Input().Write([]byte("x")); err == nil {
			t.Error("somebody read it")
		}
	}},
	{name: "waits on its pipe", proves: "H1", needs: terminal, run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "true; read x", Input: true, Limits: limit(long)})
		w := b.waits(p)
		b.is("waiting", w.String(), fmt.Sprintf("waited for input on its pipe (pid %d, bash)", w.PID))
		e := b.wait(p)
		b.ends(e, fmt.Sprintf("ended after 3s (time limit); it waited for input on its pipe (pid %d, bash)", w.PID))
	}},
	{name: "does not wait", proves: "H1", needs: terminal, run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "echo ready; sleep 300", Input: true, Limits: limit(1500 * time.Millisecond)})
		b.ends(b.wait(p), "ended after 1.5s (time limit)")
	}},
	{name: "terminal", proves: "H1", needs: terminal, run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: `stty size; read -p 'name? ' x; echo "hello $x"; stty size; cat; echo end`, Terminal: &host.Size{Rows: 33, Cols: 99}})
		w := b.waits(p)
		b.is("waiting", w.String(), fmt.Sprintf("waited for input on its terminal (pid %d, bash)", w.PID))
		if err := p.Input().Resize(host.Size{Rows: 11, Cols: 44}); err != nil {
			t.Fatal(err)
		}
		b.write(p, "world\n")
		b.says(p, "11 44")
		if err := p.Input().Close(); err != nil {
			t.Fatal(err)
		}
		b.ends(b.wait(p), "exit status 0")
		out := b.text(p.Output())
		if !strings.HasPrefix(out, "33 99\r\nname? world\r\nhello world\r\n11 44\r\n") || !strings.HasSuffix(out, "end\r\n") {
			t.Errorf("output is %q", out)
		}
	}},
	{name: "waits on its terminal", proves: "H1", needs: terminal, run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "read x", Terminal: &host.Size{}, Limits: limit(long)})
		w := b.waits(p)
		b.ends(b.wait(p), fmt.Sprintf("ended after 3s (time limit); it waited for input on its terminal (pid %d, bash)", w.PID))
	}},
	{name: "keys on the terminal", proves: "H1", needs: terminal, run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "echo ready; sleep 300", Terminal: &host.Size{}})
		b.says(p, "ready")
		b.write(p, "\x03")
		b.ends(b.wait(p), "ended by SIGINT")
	}},
	{name: "an editor on the terminal", proves: "H1", needs: terminal, run: func(t *testing.T, b *bed) {
		if _, err := exec.LookPath("vi"); err != nil {
			t.Skip("there is no vi here")
		}
		p := b.start(host.Command{Script: "vi text", Terminal: &host.Size{}, Limits: limit(patience)})
		w := b.waits(p)
		w.Sure = false // editors differ in how they listen
		b.is("waiting", w.String(), fmt.Sprintf("seemed to wait for input on its terminal (pid %d, vi)", w.PID))
		b.write(p, "ihello\x1b:wq\r")
		b.ends(b.wait(p), "exit status 0")
		got, err := os.ReadFile(b.dir + "/text")
		if err != nil || string(got) != "hello\n" {
			t.Errorf("text is %q, %v", got, err)
		}
	}},
}
