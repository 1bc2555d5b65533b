//go:build linux || darwin

package runnertest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/host"
)

var outputs = []scenario{
	{name: "ten megabytes on one line", proves: "H1 O5", run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: `head -c 10000000 /dev/zero | tr '\0' x; printf end`})
		b.ends(b.wait(p), "exit status 0")
		b.is("clipped", b.clipped(p), "…(9967235 bytes truncated from head)…\n"+strings.Repeat("x", 32768-3)+"end")
	}},
	{name: "invalid UTF-8", proves: "H1", run: func(t *testing.T, b *bed) {
		out, e := b.run(host.Command{Script: "printf 'a\\377\\376b\\n'; echo '\xff\xc3'"})
		b.is("output", out, "a\xff\xfeb\n\xff\xc3\n")
		b.ends(e, "exit status 0")
	}},
	{name: "NUL bytes and no newline", proves: "H1", run: func(t *testing.T, b *bed) {
		out, _ := b.run(host.Command{Script: `printf 'a\0b'`})
		b.is("output", out, "a\x00b")
	}},
	{name: "yes under a limit of output", proves: "H1 RES-004", run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "yes", Limits: host.Limits{Output: 1 << 20, Spool: 64 << 10}})
		b.ends(b.wait(p), "ended after 1048576 bytes of output (limit)")
		b.kept(p.Output(), 64<<10)
	}},
	{name: "yes under a limit of time", proves: "H1 RES-004", run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "exec nice -n 19 yes", Limits: host.Limits{Time: long, Spool: 64 << 10}})
		b.ends(b.wait(p), "ended after 3s (time limit)")
		b.kept(p.Output(), 64<<10)
	}},
	{name: "start and end are kept", proves: "H1 O5", run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "seq 1 200000", Limits: host.Limits{Spool: 40 << 10}})
		e := b.wait(p)
		b.ends(e, "exit status 0")
		if e.Output != 1288895 {
			t.Errorf("%d bytes written", e.Output)
		}
		b.gone(p)
		b.kept(p.Output(), 40<<10)
		var s strings.Builder
		gone, err := host.CopyOutput(&s, p.Output(), 0)
		if err != nil {
			t.Fatal(err)
		}
		st := b.stat(p.Output())
		head, tail, ok := strings.Cut(s.String(), fmt.Sprintf("\n…(%d bytes no longer kept)…\n", gone))
		if !ok || gone != st.Total-st.Kept || len(head) != 20<<10 || !strings.HasPrefix(head, "1\n2\n3\n") || len(tail) < 10<<10 || !strings.HasSuffix(tail, "\n199999\n200000\n") {
			t.Errorf("%d bytes gone of %+v; head of %d, tail of %d bytes", gone, st, len(head), len(tail))
		}
		if !strings.HasPrefix(b.clipped(p), "…(") {
			t.Errorf("clipped is %.50q", b.clipped(p))
		}
	}},
	{name: "standard error apart", proves: "H1", run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "echo out; echo err >&2; echo out", Split: true})
		e := b.wait(p)
		b.is("output", b.text(p.Output()), "out\nout\n")
		b.is("errors", b.text(p.Errors()), "err\n")
		if e.Output != 8 || e.Errors != 4 {
			t.Errorf("exit is %+v", e)
		}
		if q := b.start(host.Command{Script: "true"}); q.Errors() != nil {
			t.Error("errors without Split")
		}
	}},
	{name: "spool", proves: "H2", run: func(t *testing.T, b *bed) {
		prefix := filepath.Join(b.dir, "spool")
		p := b.start(host.Command{Script: "echo kept", Spool: prefix})
		b.gone(p)
		st := b.stat(p.Output())
		if len(st.Files) != 1 || st.Files[0] != prefix+".log" || !st.Done || st.Kept != 5 {
			t.Errorf("stat is %+v", st)
		}
		b.close(p)
		if text, err := os.ReadFile(prefix + ".log"); err != nil || string(text) != "kept\n" {
			t.Errorf("spool is %q, %v", text, err)
		}
		if _, err := b.Start(b.ctx, host.Command{Script: "echo again", Spool: prefix, Dir: b.dir}); !errors.Is(err, os.ErrExist) {
			t.Errorf("a second command with the same spool: %v", err)
		}
		q := b.start(host.Command{Script: "echo kept"})
		b.gone(q)
		files := b.stat(q.Output()).Files
		b.close(q)
		if _, err := os.Stat(files[0]); len(files) != 1 || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("files of the runner: %q, %v", files, err)
		}
	}},
	{name: "more", proves: "H2", run: func(t *testing.T, b *bed) {
		p := b.start(host.Command{Script: "read x; printf $x; read x", Input: true})
		o := p.Output()
		if n, from, err := o.Read(make([]byte, 9), 0); n != 0 || from != 0 || err != io.EOF {
			t.Errorf("nothing is read as %d, %d, %v", n, from, err)
		}
		b.write(p, "abc\n")
		if err := o.More(b.ctx, 0); err != nil {
			t.Fatal(err)
		}
		b.until("all of it", func() bool { return b.stat(o).Total == 3 })
		buf := make([]byte, 9)
		if n, from, err := o.Read(buf, 1); string(buf[:n]) != "bc" || from != 1 || err != nil {
			t.Errorf("read %q at %d, %v", buf[:n], from, err)
		}
		if err := p.Input().Close(); err != nil {
			t.Fatal(err)
		}
		if err := o.More(b.ctx, 3); err != io.EOF {
			t.Errorf("more after the end: %v", err)
		}
		if st := b.stat(o); !st.Done || st.Total != 3 {
			t.Errorf("stat is %+v", st)
		}
	}},
	{name: "record", proves: "H2", run: func(t *testing.T, b *bed) {
		record := filepath.Join(b.dir, "record")
		p := b.start(host.Command{Script: "echo x; exit 2", Record: record})
		b.gone(p)
		text, err := os.ReadFile(record)
		if err != nil || !strings.Contains(string(text), `"end":"exited","code":2,`) || !strings.Contains(string(text), `"output":2,"gone":true}`) {
			t.Errorf("record is %q, %v", text, err)
		}
	}},
	{name: "environment", proves: "H1", run: func(t *testing.T, b *bed) {
		out, _ := b.run(host.Command{Script: `echo "$A $PAGER $GIT_PAGER $TERM $GIT_TERMINAL_PROMPT $DEBIAN_FRONTEND"; echo ${TACKLE_RUN:+marked} $LD_PRELOAD`,
			Env: map[string]string{"A": "two words", "TERM": "vt100"}, Run: "some-run"})
		b.is("output", out, "two words cat cat vt100 0 noninteractive\nmarked\n")
	}},
	{name: "no start-up files", proves: "H1", run: func(t *testing.T, b *bed) {
		trap := filepath.Join(b.dir, "trap")
		for _, name := range []string{"trap", ".bashrc", ".bash_profile", ".profile"} {
			if err := os.WriteFile(filepath.Join(b.dir, name), []byte("echo trapped\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		t0 := time.Now()
		out, _ := b.run(host.Command{Script: "echo $-", Env: map[string]string{"HOME": b.dir, "ENV": trap}})
		b.is("flags of the shell", strings.TrimSpace(out), "hBc")
		t.Logf("%s", time.Since(t0))
	}},
}

func (b *bed) stat(o host.Output) host.OutputStat {
	b.t.Helper()
	st, err := o.Stat()
	if err != nil {
		b.t.Fatal(err)
	}
	return st
}

// kept checks that an output costs no more disk than it may.
func (b *bed) kept(o host.Output, quota int64) {
	b.t.Helper()
	st := b.stat(o)
	var disk int64
	for _, f := range st.Files {
		fi, err := os.Stat(f)
		if err != nil {
			b.t.Fatal(err)
		}
		disk += fi.Size()
	}
	if disk > quota || disk != st.Kept || st.Total <= quota {
		b.t.Errorf("%d bytes on disk for a quota of %d: %+v", disk, quota, st)
	}
}
