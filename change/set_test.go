package change

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func file(s string) State        { return FileState([]byte(s), 0o644) }
func link(target string) State   { return State{Type: Symlink, Target: target} }
func dir(mode fs.FileMode) State { return State{Type: Dir, Mode: mode} }
func set(ops ...Op) *Set         { return &Set{Ops: ops} }

func TestValidate(t *testing.T) {
	del := func(p string, s State) Op { return Op{Kind: Delete, Path: p, Before: s} }
	mv := func(from, to string) Op { return Op{Kind: Move, Path: from, To: to, Before: file("x")} }
	mk := func(p string) Op { return Op{Kind: Mkdir, Path: p, After: dir(0o755)} }
	for _, c := range []struct {
		name string
		set  *Set
		err  string // "" = valid
	}{
		{"nil", nil, ""},
		{"empty", set(), ""},
		{"all kinds", set(Create("/w/a", []byte("x"), 0o644), del("/w/b", file("b")), mv("/w/c", "/w/d"), mk("/w/e"),
			Op{Kind: Chmod, Path: "/w/f", Before: file("f"), After: FileState([]byte("f"), 0o755)}), ""},
		{"windows paths", set(Create(`C:\w\a`, nil, 0o644), Create(`\\srv\share\a`, nil, 0o644)), ""},
		{"relative", set(Create("a", nil, 0o644)), "not absolute"},
		{"not clean", set(Create("/w/../a", nil, 0o644)), "not absolute and clean"},
		{"trailing slash", set(Create("/w/", nil, 0o644)), "not absolute and clean"},
		{"not clean on windows", set(Create(`C:\w\..\a`, nil, 0o644)), "not absolute and clean"},
		{"NUL", set(Create("/w/\x00", nil, 0o644)), "not absolute and clean"},
		{"twice", set(Create("/w/a", nil, 0o644), del("/w/a", file("x"))), "operation 0 names \"/w/a\" too"},
		{"move target twice", set(Create("/w/b", nil, 0o644), mv("/w/a", "/w/b")), "names \"/w/b\" too"},
		{"self move", set(mv("/w/a", "/w/a")), "moved onto itself"},
		{"delete what is absent", set(del("/w/a", State{})), "absent"},
		{"write without content", set(Op{Kind: Write, Path: "/w/a", After: State{Type: File, Blob: KnownBlob(Sum(nil), 0)}}), "not held"},
		{"write a directory", set(Op{Kind: Write, Path: "/w/a", After: dir(0o755)}), "not a dir"},
		{"replace a directory", set(Op{Kind: Write, Path: "/w/a", Before: dir(0o755), After: file("")}), "cannot be replaced"},
		{"link without target", set(Op{Kind: Write, Path: "/w/a", After: link("")}), "bad link target"},
		{"chmod with content", set(Op{Kind: Chmod, Path: "/w/a", Before: file("a"), After: file("b")}), "content too"},
		{"stray target", set(Op{Kind: Delete, Path: "/w/a", To: "/w/b", Before: file("")}), "second path"},
		{"below a file", set(Create("/w/a", nil, 0o644), Create("/w/a/b", nil, 0o644)), "makes a file"},
		{"below a moved directory", set(mv("/w/a", "/w/b"), Create("/w/a/x", nil, 0o644)), "moves"},
		{"file becomes a directory", set(del("/w/a", file("x")), Create("/w/a/b", nil, 0o644)), ""},
		{"too early", set(Create("/w/a/b", nil, 0o644), del("/w/a", file("x"))), "order is wrong"},
		{"tree deleted from below", set(del("/w/a/b", file("x")), del("/w/a", dir(0o755))), ""},
		{"tree deleted from above", set(del("/w/a", dir(0o755)), del("/w/a/b", file("x"))), "order is wrong"},
		{"made in a deleted directory", set(Create("/w/a/b", nil, 0o644), del("/w/a", dir(0o755))), "would stand below"},
		{"mkdir first", set(mk("/w/a"), Create("/w/a/b", nil, 0o644)), ""},
		{"mkdir late", set(Create("/w/a/b", nil, 0o644), mk("/w/a")), "only afterwards"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.set.Validate()
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("got %v, want %q", err, c.err)
			}
		})
	}
}

// P8, T5: whatever a host would do differently has another fingerprint, and nothing else has.
func TestFingerprint(t *testing.T) {
	base := func() *Set { return set(Replace("/w/a", file("old"), []byte("new"))) }
	want := base().Fingerprint()
	if got := base().Fingerprint(); got != want {
		t.Errorf("not stable: %s, %s", got, want)
	}
	known := base()
	known.Ops[0].After.Blob = KnownBlob(Sum([]byte("new")), 3)
	if got := known.Fingerprint(); got != want {
		t.Error("depends on whether content is held")
	}
	if set().Fingerprint() != (*Set)(nil).Fingerprint() {
		t.Error("nil and empty sets differ")
	}
	seen := map[string]string{want: "base"}
	for name, edit := range map[string]func(o *Op){
		"path":        func(o *Op) { o.Path = "/w/b" },
		"to":          func(o *Op) { o.To = "/w/b" },
		"kind":        func(o *Op) { o.Kind = Chmod },
		"content":     func(o *Op) { o.After = file("New") },
		"before":      func(o *Op) { o.Before = file("Old") },
		"mode":        func(o *Op) { o.After.Mode = 0o755 },
		"before mode": func(o *Op) { o.Before.Mode = 0o755 },
		"type":        func(o *Op) { o.After = link("new") },
		"target":      func(o *Op) { o.After = link("other") },
	} {
		s := base()
		edit(&s.Ops[0])
		f := s.Fingerprint()
		if other, ok := seen[f]; ok {
			t.Errorf("%s: same fingerprint as %s", name, other)
		}
		seen[f] = name
	}
}

// tree is a file system for tests. It carries out a set as a host must.
type tree map[string]State

func (w tree) commit(t interface{ Fatalf(string, ...any) }, s *Set) tree {
	out := tree{}
	for p, st := range w {
		out[p] = st
	}
	for i, op := range s.Ops {
		if !out[op.Path].Equal(op.Before) {
			t.Fatalf("operation %d: %s is %+v, not %+v", i, op.Path, out[op.Path], op.Before)
		}
		switch op.Kind {
		case Write, Mkdir, Chmod:
			out[op.Path] = op.After
		case Delete:
			delete(out, op.Path)
		case Move:
			if out[op.To].Type != Absent {
				t.Fatalf("operation %d: %s exists", i, op.To)
			}
			out[op.To] = out[op.Path]
			delete(out, op.Path)
		}
	}
	return out
}

var paths = []string{"/w/a", "/w/b", "/w/c", "/w/d", "/w/e"}

func genState(t *rapid.T) State {
	switch rapid.IntRange(0, 3).Draw(t, "type") {
	case 0:
		return link(rapid.SampledFrom([]string{"a", "../b"}).Draw(t, "target"))
	case 1:
		return dir(0o755)
	default:
		mode := rapid.SampledFrom([]fs.FileMode{0o644, 0o755, 0o600}).Draw(t, "mode")
		return FileState([]byte(rapid.SampledFrom([]string{"", "x\n", "x\ny\n", "\x00\x01"}).Draw(t, "data")), mode)
	}
}

func genWorld(t *rapid.T) tree {
	w := tree{}
	for _, p := range paths {
		if rapid.Bool().Draw(t, "there") {
			w[p] = genState(t)
		}
	}
	return w
}

// genSet draws a valid set for w in which every path appears at most once.
func genSet(t *rapid.T, w tree, state func(*rapid.T) State) *Set {
	s := &Set{}
	used := map[string]bool{}
	for _, p := range rapid.Permutation(paths).Draw(t, "order") {
		before, there := w[p]
		kind := Kind(rapid.IntRange(0, 4).Draw(t, "kind"))
		op := Op{Kind: kind, Path: p, Before: before}
		switch {
		case used[p]:
			continue
		case kind == Write && before.Type != Dir:
			op.After = rapid.Custom(state).Filter(func(s State) bool { return s.Type != Dir }).Draw(t, "after")
		case kind == Delete && there:
		case kind == Move && there:
			for _, to := range paths {
				if _, taken := w[to]; !taken && !used[to] && to != p {
					op.To = to
				}
			}
			if op.To == "" {
				continue
			}
			used[op.To] = true
		case kind == Mkdir && (!there || before.Type == Dir):
			op.After = dir(0o755)
		case kind == Chmod && there && before.Type != Symlink:
			op.After = before
			op.After.Mode = 0o700
		default:
			continue
		}
		used[p] = true
		s.Ops = append(s.Ops, op)
	}
	return s
}

// F10: the inverse brings back bytes, modes and links, and the inverse of the inverse is the set again.
func TestInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := genWorld(t)
		s := genSet(t, w, genState)
		if err := s.Validate(); err != nil {
			t.Fatalf("drew an invalid set: %v", err)
		}
		after := w.commit(t, s)
		inv, err := s.Inverse()
		if err != nil {
			t.Fatal(err)
		}
		if err := inv.Validate(); err != nil {
			t.Fatalf("inverse: %v", err)
		}
		if d := cmp.Diff(w, after.commit(t, inv)); d != "" {
			t.Fatalf("undone (-want +got)\n%s", d)
		}
		again, err := inv.Inverse()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(after, w.commit(t, again)); d != "" {
			t.Fatalf("done again (-want +got)\n%s", d)
		}
	})
}

func TestInverseNeedsContent(t *testing.T) {
	gone := State{Type: File, Blob: KnownBlob(Sum([]byte("x")), 1)}
	for _, c := range []struct {
		op  Op
		err string
	}{
		{Op{Kind: Delete, Path: "/w/a", Before: gone}, `operation 0, delete "/w/a": cannot be undone: the content to write is not held`},
		{Replace("/w/a", gone, []byte("y")), `operation 0, write "/w/a": cannot be undone: the content to write is not held`},
		{Op{Kind: Move, Path: "/w/a", To: "/w/b", Before: gone}, ""},
	} {
		_, err := set(c.op).Inverse()
		if got := errString(err); got != c.err {
			t.Errorf("%s: got %q, want %q", c.op.Kind, got, c.err)
		}
	}
}

func errString(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
