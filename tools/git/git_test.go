//go:build linux || darwin

package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/tool/tooltest"
)

func TestContract(t *testing.T) {
	w := newWorld(t, option{})
	w.repository()
	tooltest.Run(t, Git{Runner: w.runner}.Tool(), tooltest.World{Host: w.host, Dir: w.dir, Good: []string{`{"op":"status"}`, `{"op":"log","path":"gone"}`, `{"op":"blame","path":"a.txt"}`},
		Bad: map[string]tool.Code{`{"op":"blame"}`: tool.MissingParameter, `{"op":"status","rev":"HEAD"}`: tool.InvalidParameter, `{"op":"show","rev":"a..b"}`: tool.InvalidParameter,
			`{"op":"diff","path":"/"}`: tool.NotFound, `{"op":"log","path":".git/config"}`: tool.InvalidParameter, `{"op":"diff","rev":"a..b","staged":true}`: tool.InvalidParameter}})
}

// same compares what the tool says about a repository with what plain git says, by the means of each.
func (w *world) same(where string) {
	w.t.Helper()
	dir := filepath.Join(w.dir, where)
	in := func(a args) string {
		w.t.Helper()
		a["head_limit"] = 0
		if where != "" {
			a["path"] = where
		}
		return w.ok(a)
	}
	rel := func(text string) string { // paths of the tool are relative to the workspace
		if where == "" {
			return text
		}
		var b strings.Builder
		for l := range strings.Lines(text) {
			if len(l) > 3 {
				l = l[:3] + where + "/" + l[3:]
			}
			b.WriteString(l)
		}
		return b.String()
	}
	head, rows, _ := strings.Cut(in(args{"op": "status"}), "\n")
	want := strings.TrimSuffix(rel(w.in(dir, "-c", "core.quotepath=false", "status", "--short", "--ignore-submodules=dirty")), "\n")
	if got, _, _ := strings.Cut(rows, "\n["); got != want {
		w.t.Errorf("%s: status\n%s\n%s\nwant\n%s", where, head, got, want)
	}
	compare := func(a args, plain ...string) {
		w.t.Helper()
		plain = append([]string{"-c", "core.quotepath=false"}, plain...)
		got, want := in(a), strings.TrimSuffix(w.in(dir, append(plain, "--no-color", "-M", "--ignore-submodules=dirty")...), "\n")
		if want == "" {
			want = "Nothing differs."
		}
		if !strings.HasSuffix(got, want) {
			w.t.Errorf("%s: %v\n%s\nwant\n%s", where, a, got, want)
		}
	}
	compare(args{"op": "diff"}, "diff")
	compare(args{"op": "diff", "staged": true}, "diff", "--cached")
	compare(args{"op": "diff", "context": 0}, "diff", "-U0")
	if _, err := w.try(dir, "rev-parse", "-q", "--verify", "HEAD~1"); err == nil {
		compare(args{"op": "diff", "rev": "HEAD~1"}, "diff", "HEAD~1")
		compare(args{"op": "diff", "rev": "HEAD~1.."}, "diff", "HEAD~1", "HEAD")
		compare(args{"op": "show"}, "diff", "HEAD~1", "HEAD")
		compare(args{"op": "show", "rev": "HEAD~1"}, "show", "--format=", "-m", "--first-parent", "HEAD~1")
	}
	var subjects []string
	for l := range strings.Lines(in(args{"op": "log"})) {
		_, s, _ := strings.Cut(strings.TrimSuffix(l, "\n"), ": ")
		s, _, _ = strings.Cut(s, " (")
		subjects = append(subjects, s)
	}
	if got, want := strings.Join(subjects, "\n")+"\n", w.in(dir, "log", "--format=%s"); got != want {
		w.t.Errorf("%s: log\n%s\nwant\n%s", where, got, want)
	}
}

// What the tool says is what plain git says, in repositories of many kinds.
func TestSameAsGit(t *testing.T) {
	changes := func(w *world) {
		w.put("a.txt", "one\nTwo\nthree\nfour\n")
		w.plain("mv", "sub/b.txt", "sub/c.txt")
		w.put("newer", "new\n")
		w.put("sub/é\"ü", "x\n")
		w.put("dir/x", "x\n")
		w.put("bin", "\x00\x01")
		w.plain("add", "bin")
	}
	for _, tt := range []struct {
		name  string
		where string
		setup func(w *world)
	}{
		{"plain", "", func(w *world) { w.repository(); changes(w) }},
		{"clean", "", func(w *world) { w.repository() }},
		{"packed", "", func(w *world) {
			w.repository()
			w.plain("tag", "-a", "v1", "-m", "one")
			w.plain("pack-refs", "--all")
			w.plain("gc", "-q")
			changes(w)
		}},
		{"detached", "", func(w *world) { w.repository(); w.plain("checkout", "-q", "HEAD~1") }},
		{"sha256", "", func(w *world) {
			w.plain("init", "-q", "-b", "main", "--object-format=sha256", ".")
			w.put("a.txt", "one\n")
			w.put("sub/b.txt", "b\n")
			w.plain("add", ".")
			w.plain("commit", "-q", "-m", "first")
			w.plain("commit", "-q", "--allow-empty", "-m", "second")
			changes(w)
		}},
		{"line endings", "", func(w *world) {
			w.repository()
			w.plain("config", "core.autocrlf", "true")
			w.put("a.txt", "one\r\nTWO\r\nthree\r\n")
			w.put(".gitattributes", "*.crlf text eol=crlf\n")
			w.put("x.crlf", "a\r\n")
			w.plain("add", "x.crlf")
		}},
		{"modes and links", "", func(w *world) {
			w.repository()
			must(w.t, os.Chmod(filepath.Join(w.dir, "a.txt"), 0o755))
			must(w.t, os.Symlink("a.txt", filepath.Join(w.dir, "link")))
			w.plain("add", "link")
			w.plain("config", "core.filemode", "false")
		}},
		{"sparse", "", func(w *world) { w.repository(); w.plain("sparse-checkout", "set", "--cone", "other") }},
		{"split index", "", func(w *world) { w.repository(); w.plain("update-index", "--split-index"); changes(w) }},
		{"shallow", "", func(w *world) {
			src := w.mkdir("src")
			w.in(src, "init", "-q", "-b", "main", ".")
			for _, m := range []string{"1", "2", "3"} {
				must(w.t, os.WriteFile(filepath.Join(src, "f"), []byte(m+"\n"), 0o644))
				w.in(src, "add", ".")
				w.in(src, "commit", "-q", "-m", m)
			}
			w.plain("clone", "-q", "--depth", "2", "file://"+src, ".")
			w.put("f", "changed\n")
		}},
		{"alternates", "copy", func(w *world) {
			src := w.mkdir("ws/src")
			w.in(src, "init", "-q", "-b", "main", ".")
			must(w.t, os.WriteFile(filepath.Join(src, "f"), []byte("f\n"), 0o644))
			w.in(src, "add", ".")
			w.in(src, "commit", "-q", "-m", "f")
			w.plain("clone", "-q", "--shared", src, "copy")
		}},
		{"work tree", "linked", func(w *world) {
			w.repository()
			w.plain("worktree", "add", "-q", "-b", "other", "linked")
			w.put("linked/a.txt", "changed\n")
			w.put("linked/n", "n\n")
		}},
		{"submodule", "mod", func(w *world) { w.repository(); submodule("core.bare", "false")(w, "") }},
		{"with a submodule", "", func(w *world) { w.repository(); submodule("core.bare", "false")(w, "") }},
		{"merge under way", "", func(w *world) {
			w.repository()
			w.plain("checkout", "-q", "-b", "other", "HEAD~1")
			w.put("a.txt", "one\n2\nthree\n")
			w.plain("commit", "-q", "-a", "-m", "other")
			if _, err := w.try(w.dir, "merge", "main"); err == nil {
				w.t.Fatal("no conflict")
			}
		}},
		{"odd branch", "", func(w *world) {
			w.repository()
			w.plain("checkout", "-q", "-b", `feature/x.y"z`)
			w.plain("branch", "--set-upstream-to=main")
			w.plain("commit", "-q", "--allow-empty", "-m", "ahead")
		}},
		{"user's ignore file", "", func(w *world) {
			w.repository()
			must(w.t, os.WriteFile(filepath.Join(w.top, "home", ".gitconfig"), []byte("[core]\n\texcludesFile = ~/ignored\n"), 0o644))
			must(w.t, os.WriteFile(filepath.Join(w.top, "home", "ignored"), []byte("*.skip\n"), 0o644))
			w.put("x.skip", "")
			w.put("y", "")
		}},
		{"index of a newer kind", "", func(w *world) { w.repository(); w.plain("update-index", "--index-version=4"); changes(w) }},
		{"commit graph", "", func(w *world) { w.repository(); w.plain("commit-graph", "write", "--reachable"); changes(w) }},
		{"replaced", "", func(w *world) { w.repository(); w.plain("replace", "HEAD~1", "HEAD") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, option{})
			tt.setup(w)
			w.same(tt.where)
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What a model reads.
func TestTexts(t *testing.T) {
	w := newWorld(t, option{})
	w.fails(args{"op": "status"}, tool.NotFound)
	w.plain("init", "-q", "-b", "main", ".")
	w.holds(w.ok(args{"op": "status"}), "On main, before the first commit. Nothing differs.")
	w.holds(w.fails(args{"op": "log"}, tool.NotFound), "there is no commit yet")
	w.put("a.txt", "one\n")
	w.plain("add", ".")
	w.holds(w.ok(args{"op": "diff", "staged": true}), "1 file, +1 -0", "A a.txt +1 -0", "+one")
	w.plain("commit", "-q", "-m", "first\n\nbody of it")
	w.plain("tag", "v1")
	w.put("a.txt", "one\ntwo\n")
	w.plain("mv", "a.txt", "b.txt")
	id := strings.TrimSpace(w.plain("rev-parse", "HEAD"))
	w.holds(w.ok(args{"op": "status"}), "On main at "+id[:10]+".\n", "RM a.txt -> b.txt")
	w.holds(w.ok(args{"op": "log"}), id[:10]+" 2026-01-02 Ada: first (HEAD -> main, tag: v1)")
	w.holds(w.ok(args{"op": "show"}), "commit "+id, "Author: Ada <ada@example.org>, 2026-01-02T03:04:05+01:00", "    first\n\n    body of it", "A a.txt +1 -0", "+one", "!Committer")
	w.holds(w.ok(args{"op": "show", "rev": "v1:a.txt"}), "one")
	w.holds(w.ok(args{"op": "show", "rev": "HEAD:."}), "a.txt")
	w.holds(w.fails(args{"op": "show", "rev": "HEAD:gone"}, tool.NotFound), "has no \"gone\"", "rev=COMMIT:.")
	w.holds(w.fails(args{"op": "show", "rev": "gone"}, tool.NotFound), `"gone" names no commit`)
	w.plain("commit", "-q", "-a", "-m", "second")
	w.holds(w.ok(args{"op": "log", "path": "b.txt"}), "second", "first") // followed over the rename
	w.holds(w.ok(args{"op": "blame", "path": "b.txt"}), id[:8]+" 2026-01-02 Ada 1: one")
	w.put("b.txt", "one\ntwo\nmine\n")
	w.holds(w.ok(args{"op": "blame", "path": "b.txt"}), "not committed 3: mine")
	w.holds(w.ok(args{"op": "blame", "path": "b.txt", "rev": "HEAD"}), "!mine")
	w.holds(w.ok(args{"op": "blame", "path": "b.txt", "offset": 1, "head_limit": 1}), " 2: two", "!one", "[Lines 2–2; go on with offset=2.]")
	w.fails(args{"op": "blame", "path": "b.txt", "offset": 9}, tool.InvalidParameter)
	w.holds(w.fails(args{"op": "blame", "path": "none"}, tool.NotFound), `does not know a file "none"`)
	w.holds(w.ok(args{"op": "log", "path": "none"}), "No commit has changed none.")
	w.fails(args{"op": "log", "offset": 5}, tool.InvalidParameter)
	w.holds(w.ok(args{"op": "log", "head_limit": 1}), "second", "!first", "go on with offset=1")
	w.holds(w.ok(args{"op": "log", "head_limit": 1, "offset": 1}), "first", "!second", "!go on")
	w.holds(w.ok(args{"op": "log", "rev": "v1..HEAD"}), "second", "!first")
	w.holds(w.ok(args{"op": "diff", "stat": true}), "1 file, +1 -0\nM b.txt +1 -0", "!@@")
	w.plain("rm", "-q", "--cached", "b.txt")
	w.holds(w.ok(args{"op": "diff", "path": "b.txt"}), "Nothing differs.")
	w.put("bin", "\x00")
	w.plain("add", "bin")
	w.holds(w.ok(args{"op": "diff", "staged": true, "path": "bin"}), "A bin (binary)")
	w.plain("commit", "-q", "-m", "bin")
	w.holds(w.ok(args{"op": "show", "rev": "HEAD:bin"}), "bin is binary, 1 bytes.")
	w.holds(w.fails(args{"op": "commit"}, tool.InvalidParameter), "op")
}

// A long diff comes in pages that join to the whole.
func TestPages(t *testing.T) {
	w := newWorld(t, option{bounds: tool.Bounds{Bytes: 6000, Lines: -1}})
	w.repository()
	w.put("a.txt", strings.Repeat("a line of text\n", 1000))
	want := strings.TrimSuffix(w.plain("diff"), "\n")
	var got []string
	for offset, calls := 0, 0; ; calls++ {
		text := w.ok(args{"op": "diff", "offset": offset})
		if len(text) > 6000 {
			t.Fatalf("%d bytes", len(text))
		}
		body, note, more := strings.Cut(text, "\n[Lines ")
		if offset == 0 {
			_, body, _ = strings.Cut(body, "\n\n")
		}
		l := strings.Split(body, "\n")
		got = append(got, l...)
		if !more || calls > 20 {
			break
		}
		offset += len(l)
		w.holds(note, "of 1008")
	}
	if strings.Join(got, "\n") != want {
		t.Errorf("pages do not join to the diff: %d lines, want %d", len(got), strings.Count(want, "\n")+1)
	}
	w.fails(args{"op": "diff", "offset": 5000}, tool.InvalidParameter)
}

// P6: what policy keeps from the session is kept here as well, now and in the past, and its number is told.
func TestP6_HiddenByPolicy(t *testing.T) {
	w := newWorld(t, option{rules: []permission.Rule{{Permission: "*", Pattern: "private/**", Action: tool.Deny}}})
	w.repository()
	w.put("private/x", "hush\n")
	w.put(".env", "KEY=hush\n")
	w.put("open", "fine\n")
	w.plain("add", "-A")
	w.plain("commit", "-q", "-m", "third")
	w.put("private/x", "hush hush\n")
	w.put(".env", "KEY=hush2\n")
	w.put("open", "fine too\n")
	for _, a := range []args{{"op": "diff"}, {"op": "show"}, {"op": "diff", "rev": "HEAD~1"}, {"op": "diff", "rev": "HEAD~1..HEAD"}, {"op": "diff", "stat": true}} {
		w.holds(w.ok(a), "open", "!hush", "!private", "2 files that policy does not show here left out.")
	}
	w.holds(w.ok(args{"op": "status"}), "open", "!private")
	w.holds(w.ok(args{"op": "show", "rev": "HEAD:."}), "open", "!private/x")
	for _, a := range []args{{"op": "show", "rev": "HEAD:private/x"}, {"op": "blame", "path": "private/x"}, {"op": "diff", "path": "private"}, {"op": "show", "rev": "HEAD:./private/x"}, {"op": "show", "rev": "HEAD:sub/../private/x"}} {
		if res := w.call(a); res.OK() && strings.Contains(res.Text(), "hush") || res.OK() && a["op"] != "diff" {
			t.Errorf("git %v: %s", a, res.Text())
		}
	}
	for _, a := range []args{{"op": "show", "rev": "HEAD:.env"}, {"op": "blame", "path": ".env"}, {"op": "diff", "path": ".env"}, {"op": "show", "path": ".env"}} {
		if res := w.call(a); res.Denied == nil {
			t.Errorf("git %v: a secret is shown unasked: %s", a, res.Text())
		}
		w.asks = &approver{}
		w.holds(w.ok(a), "hush", "!left out")
		if w.asks.asked != 1 {
			t.Errorf("git %v: %d asks", a, w.asks.asked)
		}
		w.asks = nil
	}
}

// What of a repository lies outside of the workspace is a read of its own, which policy asks about.
func TestP6_OutsideParts(t *testing.T) {
	for name, setup := range map[string]func(w *world, other string){
		"gitdir":  func(w *world, other string) { w.put(".git", "gitdir: "+other+"/.git\n") },
		"link":    func(w *world, other string) { must(w.t, os.Symlink(other+"/.git", filepath.Join(w.dir, ".git"))) },
		"common":  func(w *world, other string) { w.plain("init", "-q", "."); w.put(".git/commondir", other+"/.git\n") },
		"objects": func(w *world, other string) { w.plain("init", "-q", "."); relink(w, "objects", other) },
		"refs":    func(w *world, other string) { w.plain("init", "-q", "."); relink(w, "refs", other) },
		"packed refs": func(w *world, other string) {
			w.plain("init", "-q", ".")
			must(w.t, os.Symlink(filepath.Join(other, "f"), filepath.Join(w.dir, ".git", "packed-refs")))
		},
		"a file of the workspace": func(w *world, _ string) {
			w.plain("init", "-q", ".")
			w.put(".env", "hush\n")
			must(w.t, os.Symlink("../.env", filepath.Join(w.dir, ".git", "shallow")))
		},
		"alternates": func(w *world, other string) {
			w.plain("init", "-q", ".")
			w.put(".git/objects/info/alternates", other+"/.git/objects\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, option{})
			other := w.mkdir("other")
			w.in(other, "init", "-q", "-b", "main", ".")
			must(t, os.WriteFile(filepath.Join(other, "f"), []byte("hush\n"), 0o644))
			w.in(other, "add", ".")
			w.in(other, "commit", "-q", "-m", "hush")
			setup(w, other)
			res := w.call(args{"op": "log"})
			if res.OK() || res.Denied == nil || strings.Contains(res.Text(), "hush") {
				t.Errorf("got %s", res.Text())
			}
		})
	}
}

func relink(w *world, name, other string) {
	w.t.Helper()
	must(w.t, os.RemoveAll(filepath.Join(w.dir, ".git", name)))
	must(w.t, os.Symlink(filepath.Join(other, ".git", name), filepath.Join(w.dir, ".git", name)))
}

// A file that is stored by a filter is said to be compared without it.
func TestFilterIsTold(t *testing.T) {
	w := newWorld(t, option{})
	w.repository()
	must(t, os.WriteFile(filepath.Join(w.top, "home", ".gitconfig"), []byte("[filter \"lfs\"]\n\tclean = sed s/.*/pointer/\n\trequired = true\n"), 0o644))
	w.put(".gitattributes", "*.big filter=lfs\n")
	w.put("x.big", "the content itself\n")
	w.plain("add", ".")
	w.plain("commit", "-q", "-m", "big")
	must(t, os.Chtimes(filepath.Join(w.dir, "x.big"), time.Time{}, time.Unix(1_700_000_000, 0)))
	if got := w.plain("status", "--short"); got != "" {
		t.Fatalf("plain git says %q", got)
	}
	must(t, os.Chtimes(filepath.Join(w.dir, "x.big"), time.Time{}, time.Unix(1_600_000_000, 0))) // plain git has noted that it is the same
	w.holds(w.ok(args{"op": "status"}), " M x.big", "1 file stored through a filter (lfs), which is not run here", "x.big.]")
	w.holds(w.ok(args{"op": "diff"}), "1 file stored through a filter")
	w.holds(w.ok(args{"op": "diff", "rev": "HEAD~1..HEAD"}), "!filter (lfs)")
}

// Settings are a list: everything else stays out, whatever it is called.
func TestSettings(t *testing.T) {
	for _, tt := range []struct {
		key, value string
		user, own  bool
	}{
		{"core.autocrlf", "input", true, true}, {"core.filemode", "true", true, true}, {"core.ignorecase", "", true, true},
		{"core.autocrlf", "!sh", false, false}, {"core.fsmonitor", "true", false, false}, {"core.fsmonitor", "x", false, false},
		{"extensions.objectformat", "sha256", false, true}, {"extensions.objectformat", "x", false, false}, {"extensions.partialclone", "o", false, false},
		{"extensions.worktreeconfig", "true", false, false}, {"core.hookspath", "x", false, false}, {"core.worktree", "/", false, false}, {"core.bare", "true", false, false},
		{"branch.main.merge", "refs/heads/main", false, true}, {"branch.a.b\"c.remote", "origin", false, true}, {"branch.main.remote", "-x", false, false}, {"branch.main.remote", "a\nb", false, false},
		{"remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*", false, true}, {"remote.origin.url", "ext::x", false, false}, {"remote.origin.promisor", "true", false, false},
		{"remote.origin.fetch", "x", false, false}, {"filter.x.clean", "y", false, false}, {"include.path", "x", false, false}, {"diff.external", "", false, false}, {"xcore.autocrlf", "true", false, false}, {"core.autocrlfx", "true", false, false},
	} {
		e := []entry{{tt.key, tt.value}}
		base := choose(nil, nil, "")
		if got := choose(e, nil, "") != base; got != tt.user {
			t.Errorf("%s=%q of a user: taken is %v", tt.key, tt.value, got)
		}
		if got := choose(nil, e, "") != base; got != tt.own {
			t.Errorf("%s=%q of a repository: taken is %v", tt.key, tt.value, got)
		}
	}
	for value, want := range map[string]string{"~/x": "/home/ada/x", "/etc/x": "/etc/x", "x": "", "": "", "/a\nb": ""} {
		got := choose([]entry{{"core.excludesfile", value}}, []entry{{"core.excludesfile", "/evil"}}, "/home/ada")
		if strings.Contains(got, "evil") || strings.Contains(got, "excludesfile") != (want != "") || want != "" && !strings.Contains(got, `"`+want+`"`) {
			t.Errorf("ignore file %q: %s", value, got)
		}
	}
}

// What is written as a configuration is read back by git as it was meant.
func TestSettingsAreWritten(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: what is written is not read back")
	}
	for _, e := range []entry{{"branch.a.merge", "refs/heads/a"}, {`branch.a"b\c.x y.merge`, `refs/heads/"q\ # ; z`}, {"remote.é.fetch", "+refs/heads/*:refs/remotes/é/*"}, {"core.eol", "lf"}} {
		file := filepath.Join(t.TempDir(), "config")
		must(t, os.WriteFile(file, []byte(line(e)), 0o600))
		out, err := exec.CommandContext(t.Context(), "git", "config", "-z", "--list", "--file", file).Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := entries(string(out)); !slices.Equal(got, []entry{e}) {
			t.Errorf("%q is read back as %q", e, got)
		}
	}
}

// FS-022, FS-023, FS-024: there is no op that makes a repository or stores files in one, and another repository than those of
// the workspace is looked at only when a person says so.
func TestFS024_OtherRepository(t *testing.T) {
	w := newWorld(t, option{})
	w.repository()
	other := w.mkdir("other")
	w.in(other, "init", "-q", "-b", "main", ".")
	must(t, os.WriteFile(filepath.Join(other, "f"), []byte("hush\n"), 0o644))
	w.in(other, "add", ".")
	w.in(other, "commit", "-q", "-m", "hush")
	for _, path := range []string{other, filepath.Join(other, "f"), "../other", "../other/gone"} {
		for _, a := range []args{{"op": "log"}, {"op": "status"}, {"op": "diff"}, {"op": "show"}, {"op": "blame"}} {
			a["path"] = path
			if res := w.call(a); res.Denied == nil || strings.Contains(res.Text(), "hush") {
				t.Errorf("git %v: %s", a, res.Text())
			}
		}
	}
	before := w.digest(w.top)
	for _, op := range []string{"init", "add", "commit", "checkout", "config", "clone", "fetch", "gc", "-c", "status;"} {
		w.fails(args{"op": op, "path": "../../secret"}, tool.InvalidParameter)
	}
	if after := w.digest(w.top); after != before {
		t.Error("something was changed")
	}
	w.asks = &approver{}
	w.holds(w.ok(args{"op": "log", "path": other}), "hush")
}

// The private directory is made once, also by calls that begin together, follows the repository's settings, and is made anew
// for each call where the state has no place for it.
func TestPrivateDirectory(t *testing.T) {
	w := newWorld(t, option{})
	w.repository()
	place := filepath.Join(w.host.Info().StateDir, "git")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { w.holds(w.ok(args{"op": "log"}), "second", "first") })
	}
	wg.Wait()
	look := func() string {
		t.Helper()
		list, err := os.ReadDir(place)
		if err != nil || len(list) != 1 {
			t.Fatalf("the state holds %v %v", list, err)
		}
		inner, err := os.ReadDir(filepath.Join(place, list[0].Name()))
		if err != nil || len(inner) != 9 {
			t.Errorf("the private directory holds %v %v", inner, err)
		}
		if info, err := list[0].Info(); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("its mode is %v %v", info.Mode(), err)
		}
		b, err := os.ReadFile(filepath.Join(place, list[0].Name(), "config"))
		must(t, err)
		return string(b)
	}
	w.holds(look(), "repositoryformatversion", "!autocrlf")
	w.plain("config", "core.autocrlf", "input")
	w.plain("config", "core.fsmonitor", "false")
	w.ok(args{"op": "status"})
	w.holds(look(), "autocrlf = \"input\"", "!fsmonitor")
	w.put(".git/config", "[core\n")
	w.holds(w.fails(args{"op": "status"}, tool.OperationFailed), ".git/config is no usable repository: line 2: not a section.")

	must(t, os.RemoveAll(place))
	must(t, os.WriteFile(place, nil, 0o600))
	w.put(".git/config", "[core]\n\trepositoryformatversion = 0\n")
	w.holds(w.ok(args{"op": "log"}), "second", "first")
}

// A file of which only the times differ is no change, and git, which would note that in the index, does not: looking writes
// nothing.
func TestTimesAlone(t *testing.T) {
	w := newWorld(t, option{})
	w.repository()
	must(t, os.Chtimes(filepath.Join(w.dir, "a.txt"), time.Time{}, time.Unix(1_500_000_000, 0)))
	must(t, os.Chmod(filepath.Join(w.dir, "sub", "b.txt"), 0o755))
	before := w.digest(w.dir)
	for _, a := range []args{{"op": "diff"}, {"op": "diff", "rev": "HEAD"}, {"op": "diff", "stat": true}, {"op": "status"}, {"op": "blame", "path": "a.txt"}} {
		text := w.ok(a)
		if a["op"] == "diff" {
			w.holds(text, "1 file, +0 -0\nM sub/b.txt +0 -0", "!a.txt")
		}
	}
	if after := w.digest(w.dir); after != before {
		t.Errorf("the repository has changed:\n%s\n%s", before, after)
	}
}
