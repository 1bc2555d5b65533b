package hosttest

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// journal are the scenarios of what the host remembers.
var journal = []scenario{
	{"journal/transactions", "F10", func(t *testing.T, b *bed) {
		p := b.path("f")
		note := map[string]string{"tool": "write_file", "call": "c1"}
		_, err := b.Commit(b.ctx(), &change.Set{Ops: []change.Op{change.Create(p, []byte("one"), 0o644)}}, host.CommitOptions{ID: "first", Note: note})
		b.must(err)
		second := b.commit(b.replace(p, "two!"))
		third := b.commit(b.move(p, b.path("g")), change.Create(b.path("d", "h"), nil, 0o600))
		all, err := b.Transactions(b.ctx(), "")
		b.must(err)
		if len(all) != 3 || all[0].ID != "first" || all[1].ID != second.ID || all[2].ID != third.ID {
			t.Fatalf("transactions %+v", all)
		}
		if all[0].Note["tool"] != "write_file" || all[0].At.IsZero() || all[1].At.Before(all[0].At) {
			t.Errorf("first %+v", all[0])
		}
		want := host.TxPath{
			Kind: change.Write, Path: p, BeforeType: change.File, AfterType: change.File, BeforeMode: 0o644, AfterMode: 0o644,
			BeforeDigest: change.Sum([]byte("one")), AfterDigest: change.Sum([]byte("two!")), BeforeSize: 3, AfterSize: 4, HasImage: true,
		}
		if len(all[1].Paths) != 1 || all[1].Paths[0] != want {
			t.Errorf("second %+v, want %+v", all[1].Paths, want)
		}
		if paths := all[2].Paths; len(paths) != 3 || paths[0].To != b.path("g") || paths[0].AfterDigest != want.AfterDigest ||
			paths[1].Kind != change.Mkdir || paths[1].BeforeType != change.Absent || paths[1].AfterType != change.Dir || paths[2].AfterMode != 0o600 {
			t.Errorf("third %+v", paths)
		}
		rest, err := b.Transactions(b.ctx(), "first")
		b.must(err)
		if len(rest) != 2 || rest[0].ID != second.ID {
			t.Errorf("after the first: %+v", rest)
		}
		if _, err := b.Transactions(b.ctx(), "never"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after an unknown one: %v", err)
		}
	}},
	{"journal/nothing of failed commits", "T5", func(t *testing.T, b *bed) {
		p := b.write("f", "x", 0o644)
		op := b.replace(p, "y")
		b.write("f", "z", 0o644)
		b.stale(op, change.Create(b.path("g"), nil, 0o644))
		all, err := b.Transactions(b.ctx(), "")
		b.must(err)
		if len(all) != 0 {
			t.Errorf("%+v", all)
		}
	}},
	{"journal/images", "F10", func(t *testing.T, b *bed) {
		p := b.write("f", "one", 0o640)
		b.must(os.Symlink("to", b.path("l")))
		b.write("m", "m", 0o644)
		r := b.commit(b.replace(p, "two"), b.remove(b.path("l")), change.Create(b.path("n"), nil, 0o644), b.move(b.path("m"), b.path("o")))
		for path, want := range map[string]change.State{
			p: change.FileState([]byte("one"), 0o640), b.path("l"): {Type: change.Symlink, Target: "to"}, b.path("n"): {},
			b.path("m"): {Type: change.File, Mode: 0o644},
		} {
			got, err := b.Image(b.ctx(), r.ID, path)
			b.must(err)
			if !got.Equal(want) {
				t.Errorf("%s: %+v, want %+v", path, got, want)
			}
		}
		for _, c := range [][2]string{{r.ID, b.path("other")}, {"never", p}, {r.ID, "../x"}} {
			if _, err := b.Image(b.ctx(), c[0], c[1]); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("image %q: %v", c, err)
			}
		}
	}},
	{"journal/undo", "F10", func(t *testing.T, b *bed) {
		b.write("edit", "1", 0o755)
		b.write("gone", "2", 0o444)
		b.write("from", "3", 0o600)
		b.write("mode", "4", 0o644)
		b.write("tree/a/b", "5", 0o644)
		b.must(os.Symlink("edit", b.path("link")))
		before := snapshot(t, b.dir)
		r := b.commit(
			b.replace(b.path("edit"), "one"), b.remove(b.path("gone")), b.move(b.path("from"), b.path("new", "to")),
			b.chmod(b.path("mode"), 0o755), change.Create(b.path("new", "made"), []byte("5"), 0o644), link(b.path("new", "l"), "made"),
			b.remove(b.path("link")), b.remove(b.path("tree", "a", "b")), b.remove(b.path("tree", "a")), mkdir(b.path("e", "f"), 0),
		)
		b.must(b.undo(r.ID))
		same(t, before, snapshot(t, b.dir))
	}},
	{"journal/undo of an undo", "F10", func(t *testing.T, b *bed) {
		p := b.write("f", "one", 0o644)
		b.commit(b.replace(p, "two"))
		all, err := b.Transactions(b.ctx(), "")
		b.must(err)
		b.must(b.undo(all[0].ID))
		b.want(p, "one", 0o644)
		if all, err = b.Transactions(b.ctx(), all[0].ID); err != nil || len(all) != 1 {
			t.Fatalf("%+v, %v", all, err)
		}
		b.must(b.undo(all[0].ID))
		b.want(p, "two", 0o644)
	}},
	{"journal/undo after a foreign edit", "F10, RACE-009", func(t *testing.T, b *bed) {
		p := b.write("f", "one", 0o644)
		r := b.commit(b.replace(p, "two"), change.Create(b.path("g"), []byte("g"), 0o644))
		b.write("f", "theirs", 0o644)
		var se *host.StaleError
		if err := b.undo(r.ID); !errors.As(err, &se) {
			t.Fatalf("undo: %v", err)
		}
		b.want(p, "theirs", 0o644)
		b.want(b.path("g"), "g", 0o644)
	}},
	{"journal/before-image of a large file", "F10", func(t *testing.T, b *bed) {
		big := make([]byte, 3<<20)
		for i := range big {
			big[i] = byte(i * 7 >> 3)
		}
		p := b.write("f", string(big), 0o644)
		r := b.commit(b.replace(p, "small"))
		got, err := b.Image(b.ctx(), r.ID, p)
		b.must(err)
		if got.Blob.Digest() != change.Sum(big) {
			t.Error("the image is another content")
		}
		b.must(b.undo(r.ID))
		b.want(p, string(big), 0o644)
	}},
	{"journal/nothing to recover", "issue 2 Done when", func(t *testing.T, b *bed) {
		for range 2 {
			r, err := b.Recover(b.ctx())
			b.must(err)
			if len(r.Finished)+len(r.Dropped)+len(r.Conflicts)+r.Swept != 0 {
				t.Errorf("%+v", r)
			}
			b.commit(change.Create(b.path("d", "f"), nil, 0o644))
			b.commit(b.remove(b.path("d", "f")))
		}
	}},
}
