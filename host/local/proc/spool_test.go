package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/host"
)

// never is a stream that goes on; over is one that has ended.
func over() chan struct{} { ch := make(chan struct{}); close(ch); return ch }

// H1, O5: whatever is written in whatever pieces, the files keep the quota, the first half of it holds the start, at least
// a quarter holds the end, and every byte is where its offset says.
func TestH1_SpoolKeepsStartAndEnd(t *testing.T) {
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		prefix := filepath.Join(dir, fmt.Sprint(n))
		quota := int64(rapid.IntRange(minQuota, 3*minQuota).Draw(t, "quota"))
		s, err := newSpool(prefix, quota)
		if err != nil {
			t.Fatal(err)
		}
		o := &output{prefix: prefix, quota: quota, done: make(chan struct{})}
		defer o.close()
		var all []byte
		for range rapid.IntRange(0, 12).Draw(t, "writes") {
			piece := make([]byte, rapid.IntRange(1, int(quota)).Draw(t, "piece"))
			for i := range piece {
				piece[i] = byte((len(all) + i) * 7 / 3)
			}
			all = append(all, piece...)
			s.Write(piece)
			checkSpool(t, o, all)
		}
		s.close()
		s.Write([]byte("after the end"))
		checkSpool(t, o, all)
		if err := removeSpool(prefix, quota); err != nil {
			t.Fatal(err)
		}
		if left, _ := filepath.Glob(prefix + "*"); len(left) > 0 {
			t.Fatalf("left: %q", left)
		}
	})
}

func checkSpool(t *rapid.T, o *output, all []byte) {
	st, err := o.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if st.Total != int64(len(all)) || st.Kept > o.quota || st.Kept < min(st.Total, o.quota*3/4-4) {
		t.Fatalf("stat is %+v for %d bytes and a quota of %d", st, len(all), o.quota)
	}
	kept := int64(0)
	buf := make([]byte, rapid.IntRange(1, 5000).Draw(t, "buffer"))
	for at := int64(0); ; {
		n, from, err := o.Read(buf, at)
		if err == io.EOF {
			if at != st.Total {
				t.Fatalf("the end is at %d of %d", at, st.Total)
			}
			break
		}
		if err != nil || n == 0 || from < at || !bytes.Equal(buf[:n], all[from:from+int64(n)]) {
			t.Fatalf("read %d bytes at %d for %d: %v", n, from, at, err)
		}
		if from > at && at != layoutOf(o.quota).head {
			t.Fatalf("a gap at %d", at)
		}
		kept += int64(n)
		at = from + int64(n)
	}
	if kept != st.Kept {
		t.Fatalf("%d bytes read of %d", kept, st.Kept)
	}
}

// A disk that refuses loses output and nothing else.
func TestSpoolOnADiskThatRefuses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := newSpool(filepath.Join(dir, "x"), minQuota)
	if err != nil {
		t.Fatal(err)
	}
	s.Write(bytes.Repeat([]byte("a"), minQuota/2))
	if err := os.Rename(dir, dir+" is gone"); err != nil {
		t.Fatal(err)
	}
	s.Write(bytes.Repeat([]byte("b"), 5*minQuota))
	s.close()
	if total, err := s.written(); total != minQuota/2+5*minQuota || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%d bytes, %v", total, err)
	}
	o := &output{prefix: filepath.Join(dir+" is gone", "x"), quota: minQuota, done: over(), final: func() int64 { return 11 * minQuota / 2 }}
	defer o.close()
	var text strings.Builder
	if _, err := host.CopyOutput(&text, o, 0); err != nil || text.String() != strings.Repeat("a", minQuota/2) {
		t.Errorf("%d bytes, %v", text.Len(), err)
	}
	if st, err := o.Stat(); err != nil || st.Total != 11*minQuota/2 || st.Kept != minQuota/2 {
		t.Errorf("stat is %+v, %v", st, err)
	}
}

// A file that takes no more is left where it is, and the next one is used: what stands in a file stands at its offset.
func TestSpoolAfterAShortWrite(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "x")
	s, err := newSpool(prefix, minQuota)
	if err != nil {
		t.Fatal(err)
	}
	s.Write([]byte("kept"))
	s.file.Close() // as a full disk: writing fails from here on
	s.Write([]byte(" lost"))
	s.Write([]byte(" lost too"))
	total, werr := s.written()
	if total != 18 || !errors.Is(werr, os.ErrClosed) {
		t.Errorf("%d bytes, %v", total, werr)
	}
	s.Write(bytes.Repeat([]byte("x"), int(s.head-total)+3))
	s.close()
	o := &output{prefix: prefix, quota: minQuota, done: over(), final: func() int64 { return s.total }}
	defer o.close()
	var text strings.Builder
	gone, err := host.CopyOutput(&text, o, 0)
	if want := fmt.Sprintf("kept\n…(%d bytes no longer kept)…\nxxx", s.head-4); err != nil || gone != s.head-4 || text.String() != want {
		t.Errorf("%d bytes gone, %q, %v; want %q", gone, text.String(), err, want)
	}
}

// A segment whose turn is over while it is read is read to its end; then the reader goes on behind the gap.
func TestSpoolTurnsUnderItsReader(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "x")
	s, err := newSpool(prefix, minQuota)
	if err != nil {
		t.Fatal(err)
	}
	l := layoutOf(minQuota)
	s.Write(bytes.Repeat([]byte("h"), int(l.head)))
	s.Write(bytes.Repeat([]byte("1"), int(l.seg)))
	o := &output{prefix: prefix, quota: minQuota, done: make(chan struct{})}
	defer o.close()
	buf := make([]byte, 100)
	if n, from, err := o.Read(buf, l.head); n != 100 || from != l.head || err != nil {
		t.Fatal(n, from, err)
	}
	for _, c := range []string{"2", "3", "4"} {
		s.Write(bytes.Repeat([]byte(c), int(l.seg)))
	}
	if n, from, err := o.Read(buf, l.head+100); n != 100 || from != l.head+100 || err != nil || buf[0] != '1' {
		t.Error(n, from, err)
	}
	if n, from, err := o.Read(buf, l.head+l.seg); n != 100 || from != l.head+2*l.seg || err != nil || buf[0] != '3' {
		t.Error(n, from, err)
	}
	s.close()
}

func TestEnvironment(t *testing.T) {
	own := []string{"HOME=/h", "PATH=/bin:.::rel:/usr/bin:/bin", "LD_PRELOAD=x", "BASH_ENV=x", "GIT_DIR=x", "GIT_SSH_COMMAND=x", "SECRET_TOKEN=x", "LC_TIME=de_DE", "LC_ALL=C", "OPENAI_API_KEY=x",
		"BASH_FUNC_ls%%=() { :; }", "PAGER=less", "LESSOPEN=|x", "TERM=xterm", "GOFLAGS=-mod=mod", "MY_ONE=1", "MY_TWO=2", "NODE_OPTIONS=--inspect", "=bad", "bad"}
	for _, c := range []struct {
		name     string
		pass     []string
		terminal bool
		want     map[string]string // "-" for absent
	}{
		{"default", nil, false, map[string]string{"HOME": "/h", "PATH": "/bin:/usr/bin", "LD_PRELOAD": "-", "BASH_ENV": "-", "GIT_DIR": "-", "GIT_SSH_COMMAND": "-", "SECRET_TOKEN": "-", "OPENAI_API_KEY": "-",
			"LC_TIME": "de_DE", "LC_CTYPE": "-", "BASH_FUNC_ls%%": "-", "PAGER": "cat", "GIT_PAGER": "cat", "LESSOPEN": "-", "TERM": "dumb", "NO_COLOR": "1", "GOFLAGS": "-mod=mod", "MY_ONE": "-",
			"GIT_TERMINAL_PROMPT": "0", "DEBIAN_FRONTEND": "noninteractive", "SHELL": "/bin/bash", "AWS_PAGER": ""}},
		{"terminal", nil, true, map[string]string{"TERM": "xterm-256color", "NO_COLOR": "-", "PAGER": "cat"}},
		{"passed", []string{"MY_*", "LD_*", "NODE_OPTIONS"}, false, map[string]string{"MY_ONE": "1", "MY_TWO": "2", "LD_PRELOAD": "-", "NODE_OPTIONS": "--inspect"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Environment(own, c.pass, c.terminal)
			if !slices.IsSorted(got) {
				t.Error("not sorted")
			}
			for name, want := range c.want {
				has := slices.ContainsFunc(got, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
				if want == "-" {
					if has {
						t.Errorf("%s passed", name)
					}
				} else if !has || lookEnv(got, name) != want {
					t.Errorf("%s is %q, want %q", name, lookEnv(got, name), want)
				}
			}
		})
	}
	if got := Environment(nil, nil, false); lookEnv(got, "PATH") != defaultPath || lookEnv(got, "LC_CTYPE") != "C.UTF-8" {
		t.Errorf("an empty environment becomes %q", got)
	}
}

// No name that is passed on is hazardous: the lists cannot contradict each other.
func TestPassedNamesAreHarmless(t *testing.T) {
	for _, name := range passed {
		if host.HazardousVariable(strings.TrimSuffix(name, "*")) {
			t.Errorf("%s is on both lists", name)
		}
	}
}

func TestConfigContradictions(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Tree: TreeNamespace}, `tree "namespace" needs keepers`},
		{Config{Tree: "forest"}, `unknown tree "forest"`},
		{Config{Dir: "here"}, `directory "here" is not absolute`},
		{Config{StateDir: "here"}, `directory "here" is not absolute`},
		{Config{Env: map[string]string{"": "x"}}, `environment: "" is not a name of a variable`},
	} {
		if _, err := Open(c.cfg); err == nil || err.Error() != c.want {
			t.Errorf("%+v: %v, want %s", c.cfg, err, c.want)
		}
	}
}
