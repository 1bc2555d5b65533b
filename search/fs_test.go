package search

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local"
)

// opener gives a host the raw-directory capability.
type opener struct{ host.Host }

func (opener) OpenDir(_ context.Context, real string) (*os.File, error) { return os.Open(real) }

// All file systems give the same results.
func TestFileSystems(t *testing.T) {
	root := plant(t, map[string]string{
		".gitignore": "no\n", ".git/": "", "no": "hit", "a": "hit\n", "b/c": "x\nhit", "b/d/e": strings.Repeat("filler\n", 80<<10) + "hit\n", "b/d/none": "", "é/ü": "hit",
	})
	if err := os.Symlink("../..", filepath.Join(root, "b/d/up")); err != nil {
		t.Fatal(err)
	}
	fifo(t, filepath.Join(root, "pipe"))
	for i := range 200 {
		if err := os.WriteFile(filepath.Join(root, "b", fmt.Sprintf("n%03d", i)), []byte("hit\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	h, err := local.Open(local.Config{Roots: []host.Root{{Path: root}}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	want := ""
	for i, f := range []FS{Local(), portable{}, HostFS(h), HostFS(opener{h})} {
		e := New(f, Config{})
		r, err := e.Grep(context.Background(), GrepQuery{Filter: Filter{Root: root, OneFS: true}, Pattern: "hit", Mode: Content})
		if err != nil {
			t.Fatal(err)
		}
		got := show(r, Content) + r.Receipt.String()
		files, err := e.Files(context.Background(), FilesQuery{Filter: Filter{Root: root}, Pattern: "b/**", Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		tree, err := e.Tree(context.Background(), TreeQuery{Filter: Filter{Root: root}, Limit: 8})
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files.Files {
			got += fmt.Sprint("\n", file.Path, file.Size, file.ModTime.IsZero())
		}
		for _, n := range tree.Entries {
			got += fmt.Sprint("\n", n.Path, n.Kind, n.More)
		}
		one, err := e.Grep(context.Background(), GrepQuery{Filter: Filter{Root: root + "/b/c"}, Pattern: "hit", Mode: Content})
		if err != nil {
			t.Fatal(err)
		}
		got += "\n" + show(one, Content)
		if i == 0 {
			want = got
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("file system %d (%T)\n%s", i, f, d)
		}
	}
}

// trouble is a file system where things happen while it is searched, by name.
type trouble struct {
	FS
	ctx context.Context
}

func (f *trouble) Root(ctx context.Context, path string) (Dir, error) {
	d, err := f.FS.Root(ctx, path)
	f.ctx = ctx
	return &troubleDir{d, f}, err
}

type troubleDir struct {
	Dir
	f *trouble
}

func (d *troubleDir) Sub(path string) (Dir, error) {
	switch filepath.Base(path) {
	case "locked":
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
	case "gone-dir":
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	sub, err := d.Dir.Sub(path)
	return &troubleDir{sub, d.f}, err
}

func (d *troubleDir) Read(name string, buf []byte) (int, OpenFile, error) {
	switch name {
	case "secret":
		return 0, nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	case "gone":
		return 0, nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case "became-link":
		return 0, nil, &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	case "breaks":
		return copy(buf, strings.Repeat("hit\n", len(buf))), &growing{left: 3, end: errors.New("input/output error")}, nil
	case "grows":
		return copy(buf, strings.Repeat("hit\n", len(buf))), &growing{left: 1000, end: io.EOF}, nil
	case "slow": // only in a synctest bubble: the walk has taken notice before the read goes on
		<-d.f.ctx.Done()
		synctest.Wait()
	}
	return d.Dir.Read(name, buf)
}

// growing is a file that has more each time it is read, up to a point.
type growing struct {
	left int
	end  error
}

func (g *growing) Read(b []byte) (int, error) {
	if g.left--; g.left < 0 {
		return 0, g.end
	}
	return copy(b, "hit\n"), nil
}

func (g *growing) Size() (int64, error) { return 0, nil }
func (g *growing) Close() error         { return nil }

// Bad input: what vanishes was never there, what cannot be read is named, what grows is searched as far as it was read.
func TestF13_Trouble(t *testing.T) {
	root := plant(t, map[string]string{
		"ok": "hit\n", "secret": "", "gone": "", "became-link": "", "breaks": "", "grows": "", "locked/x": "", "gone-dir/x": "",
	})
	e := New(&trouble{FS: Local()}, Config{})
	r, err := e.Grep(context.Background(), GrepQuery{Filter: Filter{Root: root}, Pattern: "hit", Mode: Count})
	if err != nil {
		t.Fatal(err)
	}
	wantShow(t, r, Count, fmt.Sprintf("grows:%d\nok:1\n", firstRead/4+1000))
	want := "3 unreadable (breaks (input/output error), locked/ (permission denied), secret (permission denied)); 1 special file (became-link)"
	if got := r.Receipt.String(); got != want {
		t.Errorf("receipt\n%s\nwant\n%s", got, want)
	}
}

// A search that runs out of time returns what it found, marked.
func TestF13_TimeLimit(t *testing.T) {
	root := plant(t, map[string]string{"a": "hit\n", "slow": "hit\n"})
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		r, err := New(&trouble{FS: Local()}, Config{Workers: 1}).Grep(context.Background(), GrepQuery{Filter: Filter{Root: root, TimeLimit: 3 * time.Second}, Pattern: "hit", Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		if r.Receipt.Partial != TimeLimit || !r.AtLeast || r.Receipt.Elapsed != time.Since(begin) || r.Receipt.Elapsed < 3*time.Second {
			t.Errorf("%+v", r)
		}
		if len(r.Files) == 0 || r.Files[0].Path != "a" {
			t.Errorf("files %+v", r.Files)
		}
	})
}

// When a page is complete, the search goes on counting for as long as the query says.
func TestF7_PageFilled(t *testing.T) {
	root := plant(t, map[string]string{"a/1": "hit\n", "b/2": "hit\n", "c/slow": "hit\n", "d/3": "hit\n"})
	synctest.Test(t, func(t *testing.T) {
		q := GrepQuery{Filter: Filter{Root: root, TimeLimit: time.Hour}, Pattern: "hit", Limit: 1, CountFor: time.Minute}
		r, err := New(&trouble{FS: Local()}, Config{Workers: 1}).Grep(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		if r.Receipt.Partial != TimeLimit && r.Receipt.Partial != PageFilled || !r.AtLeast || len(r.Files) != 1 || r.Files[0].Path != "a/1" || r.NextOffset != 1 {
			t.Errorf("%+v", r)
		}
	})
}
