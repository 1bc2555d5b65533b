package artifact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/internal/store"
)

// world is a store of artifacts on disk with a clock that only the test moves.
type world struct {
	*Store
	dir  string
	disk *store.Local
	at   time.Time
}

func newWorld(t testing.TB, opt Options) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), at: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}
	now := func() time.Time { return w.at }
	w.disk = store.Open(filepath.Join(w.dir, "store"), store.Options{Now: now})
	t.Cleanup(func() { w.disk.Close() })
	opt.Now = now
	opt.Dir = filepath.Join(w.dir, "artifacts")
	w.Store = New(w.disk, w.disk, opt)
	return w
}

func (w *world) put(t testing.TB, session, name, text string) Artifact {
	t.Helper()
	a, err := w.Put(context.Background(), session, name, "", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (w *world) expire(t testing.TB) Expired {
	t.Helper()
	e, err := w.Expire(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (w *world) exists(t testing.TB, a Artifact) bool {
	t.Helper()
	r, err := w.Open(context.Background(), a.ID)
	if err == nil {
		r.Close()
		return true
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if _, err := w.disk.Stat(context.Background(), a.Digest); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the record of %s is gone but its bytes are not: %v", a.ID, err)
	}
	return false
}

func TestO1_PutOpenPath(t *testing.T) {
	w := newWorld(t, Options{})
	text := strings.Repeat("one line of a log\n", 5000) + "end"
	a := w.put(t, "s1", "make test\n output", text)
	want := Artifact{ID: a.ID, Session: "s1", Name: "make test output", MIME: "text/plain", Size: int64(len(text)), Lines: 5001, Digest: a.Digest, Created: w.at}
	if d := cmp.Diff(want, a); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if len(a.ID) != 7 || a.ID[0] != 'a' {
		t.Errorf("id %q", a.ID)
	}
	r, err := w.Open(t.Context(), "@artifact:"+strings.ToUpper(a.ID))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, _ := io.ReadAll(r); string(got) != text || r.Name() != want.Name || r.MIME() != "text/plain" || r.Size() != a.Size {
		t.Errorf("%d bytes came back as %d of %s %s", len(text), len(got), r.Name(), r.MIME())
	}
	file, err := w.Path(t.Context(), a.ID)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(w.dir, "artifacts", "s1", a.ID+".txt"); file != want {
		t.Errorf("path %s, want %s", file, want)
	}
	if got, _ := os.ReadFile(file); string(got) != text {
		t.Error("the file has other bytes")
	}
	if fi, _ := os.Stat(file); fi.Mode().Perm()&0o222 != 0 {
		t.Errorf("the file can be written: %v", fi.Mode())
	}
	if again, err := w.Path(t.Context(), a.ID); again != file || err != nil {
		t.Errorf("asked again: %s, %v", again, err)
	}
}

func TestPathWithoutBlobFiles(t *testing.T) {
	mem := &store.Memory{}
	s := New(mem, mem, Options{})
	a, err := s.Put(t.Context(), "../x", "r.json", "", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Path(t.Context(), a.ID); !errors.Is(err, ErrNoPath) {
		t.Errorf("error %v, want ErrNoPath", err)
	}
	s.opt.Dir = t.TempDir()
	file, err := s.Path(t.Context(), a.ID)
	if err != nil || filepath.Dir(filepath.Dir(file)) != s.opt.Dir || filepath.Ext(file) != ".json" {
		t.Fatalf("%s, %v", file, err)
	}
	if got, _ := os.ReadFile(file); string(got) != "{}" {
		t.Errorf("the file holds %q", got)
	}
}

func TestSameBytesHaveTheSameID(t *testing.T) {
	w := newWorld(t, Options{})
	a := w.put(t, "s1", "first", "same")
	b := w.put(t, "s1", "first", "same")
	c := w.put(t, "s2", "second.md", "same")
	if a != b || a.ID != c.ID || c.Session != "s2" || c.MIME != "text/markdown" {
		t.Errorf("%+v\n%+v\n%+v", a, b, c)
	}
	if d := w.put(t, "s1", "first", "other"); d.ID == a.ID {
		t.Error("other bytes have the same id")
	}
	n, size, err := w.Usage(t.Context())
	if n != 2 || size != 9 || err != nil {
		t.Errorf("usage %d %d %v", n, size, err)
	}
}

// Two digests that begin alike get ids of different lengths.
func TestIDsAreUnique(t *testing.T) {
	w := newWorld(t, Options{})
	a := w.put(t, "s", "n", "bytes")
	end := map[bool]string{true: "0", false: "1"}[a.Digest[63] != '0']
	other, err := w.idFor(t.Context(), a.Digest[:63]+end) // a digest that differs in the last place only
	if err != nil || len(other) != len(a.ID)+1 || !strings.HasPrefix(other, a.ID) {
		t.Errorf("id %q beside %q, %v", other, a.ID, err)
	}
	if same, err := w.idFor(t.Context(), a.Digest); same != a.ID || err != nil {
		t.Errorf("id %q, %v, want %q", same, err, a.ID)
	}
}

func TestParseID(t *testing.T) {
	for in, want := range map[string]string{
		"a7k2m9x": "a7k2m9x", "artifact:a7k2m9x": "a7k2m9x", "@artifact:a7k2m9x": "a7k2m9x", " A7K2M9X ": "a7k2m9x",
		"aOILb2c": "a011b2c", "": "", "a": "", "a7k2": "", "b7k2m9x": "", "a7k2m9u": "", "../etc/passwd": "", "a7k2m9x/..": "",
	} {
		if got, ok := ParseID(in); got != want || ok != (want != "") {
			t.Errorf("ParseID(%q) = %q, %v, want %q", in, got, ok, want)
		}
	}
}

func TestNotFound(t *testing.T) {
	w := newWorld(t, Options{})
	a := w.put(t, "s", "n", "bytes of some length")
	for id, says := range map[string]string{"a000000": "may have expired", "nonsense": "an id looks like"} {
		_, err := w.Open(t.Context(), id)
		var nf *NotFoundError
		if !errors.As(err, &nf) || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), id) {
			t.Errorf("%s: error %v, want one that says %q", id, err, says)
		}
	}
	os.Chmod(w.disk.File(a.Digest), 0o600)
	os.Truncate(w.disk.File(a.Digest), 4)
	if _, err := w.Open(t.Context(), a.ID); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "4 of its 20 bytes") {
		t.Errorf("torn: %v", err)
	}
	os.Remove(w.disk.File(a.Digest))
	if _, err := w.Open(t.Context(), a.ID); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "gone") {
		t.Errorf("lost: %v", err)
	}
	boom := errors.New("boom")
	if _, err := w.Put(t.Context(), "s", "n", "", iotest.ErrReader(boom)); !errors.Is(err, boom) {
		t.Errorf("error %v, want that of the reader", err)
	}
}

func TestList(t *testing.T) {
	w := newWorld(t, Options{})
	var want []string
	for i := range 3 {
		a := w.put(t, "s1", "n", fmt.Sprint("text ", i))
		want = append([]string{a.ID}, want...)
		w.put(t, "s2", "n", fmt.Sprint("other ", i))
		w.at = w.at.Add(time.Hour)
	}
	again := w.put(t, "s1", "n", "text 0") // is the newest now, and stands there once
	want = append([]string{again.ID}, want[:2]...)
	list, err := w.List(t.Context(), "s1")
	var got []string
	for _, a := range list {
		got = append(got, a.ID)
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	if all, err := w.List(t.Context(), ""); len(all) != 6 || err != nil {
		t.Errorf("%d artifacts of all sessions, %v, want 6", len(all), err)
	}
	if none, err := w.List(t.Context(), "s3"); len(none) != 0 || err != nil {
		t.Errorf("%v, %v", none, err)
	}
}

func TestSniff(t *testing.T) {
	for _, c := range []struct{ name, data, mime string }{
		{"x.json", "{}", "application/json"}, {"X.JSONL", "{}\n", "application/jsonl"}, {"a.jsonc", "//", "application/json5"},
		{"README.md", "# x", "text/markdown"}, {"x", "plain", "text/plain"}, {"x.json", "\x00\x01", "application/octet-stream"},
		{"x.txt", "\x89PNG\r\n\x1a\n", "image/png"}, {"x", "%PDF-1.7", "application/pdf"}, {"x", "", "text/plain"},
		{"x", strings.Repeat("a", 511) + "é", "text/plain"}, {"x", "caf\xe9 au lait", "application/octet-stream"},
	} {
		w := newWorld(t, Options{})
		if a := w.put(t, "s", c.name, c.data); a.MIME != c.mime {
			t.Errorf("%s %.10q: %s, want %s", c.name, c.data, a.MIME, c.mime)
		}
	}
}

func TestO7_ExpiryByAge(t *testing.T) {
	w := newWorld(t, Options{MaxAge: 48 * time.Hour})
	old := w.put(t, "s1", "n", "old")
	file, _ := w.Path(t.Context(), old.ID)
	w.at = w.at.Add(36 * time.Hour)
	young := w.put(t, "s2", "n", "young")
	w.at = w.at.Add(24 * time.Hour)
	e := w.expire(t)
	if w.exists(t, old) || !w.exists(t, young) {
		t.Error("the wrong one expired")
	}
	if d := cmp.Diff(Expired{Removed: 1, RemovedBytes: 3, Kept: 1, KeptBytes: 5}, e); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if _, err := os.Stat(filepath.Dir(file)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its file or folder is still there: %v", err)
	}
}

func TestO7_ExpiryBySizeTakesTheOldest(t *testing.T) {
	w := newWorld(t, Options{MaxBytes: 2500, Lease: time.Minute})
	var all []Artifact
	for i := range 5 {
		all = append(all, w.put(t, fmt.Sprint("s", i), "n", strings.Repeat(fmt.Sprint(i), 1000)))
		w.at = w.at.Add(time.Hour)
	}
	w.put(t, "s0", "n", strings.Repeat("0", 1000)) // the first is used again
	w.at = w.at.Add(time.Hour)
	w.expire(t)
	for i, want := range []bool{true, false, false, false, true} {
		if got := w.exists(t, all[i]); got != want {
			t.Errorf("artifact %d: exists=%v, want %v", i, got, want)
		}
	}
}

func TestO7_LiveSessionsKeepTheirs(t *testing.T) {
	w := newWorld(t, Options{MaxAge: 30 * time.Hour, MaxBytes: 1})
	mine, shared, lost := w.put(t, "live", "n", "mine"), w.put(t, "dead", "n", "shared"), w.put(t, "dead", "n", "lost")
	for range 10 {
		w.at = w.at.Add(20 * time.Hour)
		if err := w.Hold(t.Context(), "live"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Share(t.Context(), shared.ID, "live"); err != nil {
		t.Fatal(err)
	}
	w.at = w.at.Add(time.Hour)
	w.expire(t)
	if !w.exists(t, mine) || !w.exists(t, shared) || w.exists(t, lost) {
		t.Errorf("exists: mine %v, shared %v, lost %v", w.exists(t, mine), w.exists(t, shared), w.exists(t, lost))
	}
	if err := w.Release(t.Context(), "live"); err != nil {
		t.Fatal(err)
	}
	w.expire(t)
	if w.exists(t, mine) || w.exists(t, shared) {
		t.Error("a released session keeps its artifacts")
	}
}

func TestExpireSparesTheYoungAndSweepsOrphans(t *testing.T) {
	w := newWorld(t, Options{MaxBytes: 1, Lease: time.Second})
	a := w.put(t, "s", "n", "young")
	orphan, err := w.disk.Put(t.Context(), strings.NewReader("of a process that was killed"))
	if err != nil {
		t.Fatal(err)
	}
	w.at = w.at.Add(time.Minute)
	w.expire(t)
	if _, err := w.disk.Stat(t.Context(), orphan.Digest); err != nil || !w.exists(t, a) {
		t.Errorf("removed within the grace: %v", err)
	}
	w.at = w.at.Add(time.Hour)
	if e := w.expire(t); e.RemovedBytes != 5+28 || w.exists(t, a) {
		t.Errorf("%+v", e)
	}
}

func TestTidyRunsOncePerHour(t *testing.T) {
	w := newWorld(t, Options{Lease: time.Second})
	a := w.put(t, "s", "n", "text")
	w.at = w.at.Add(8 * 24 * time.Hour)
	b := w.put(t, "s", "n", "other")
	w.at = w.at.Add(time.Minute)
	if e, err := w.Tidy(t.Context()); e.Removed != 1 || err != nil || w.exists(t, a) {
		t.Errorf("%+v, %v", e, err)
	}
	w.at = w.at.Add(30 * time.Minute)
	if e, err := w.Tidy(t.Context()); e != (Expired{}) || err != nil {
		t.Errorf("again: %+v, %v", e, err)
	}
	w.at = w.at.Add(8 * 24 * time.Hour)
	if e, err := w.Tidy(t.Context()); e.Removed != 1 || err != nil || w.exists(t, b) {
		t.Errorf("later: %+v, %v", e, err)
	}
}

// Whatever is put while Expire runs can be opened afterwards.
func TestO7_ExpireDoesNotRaceWithPut(t *testing.T) {
	w := newWorld(t, Options{MaxBytes: 1, Lease: time.Nanosecond})
	for i := range 20 {
		w.put(t, "old", "n", fmt.Sprint("text ", i))
	}
	w.at = w.at.Add(time.Hour)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var put []Artifact
	for range 2 {
		wg.Go(func() {
			for range 5 {
				if _, err := w.Expire(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for i := range 20 {
				a, err := w.Put(t.Context(), "new", "n", "", strings.NewReader(fmt.Sprint("text ", i)))
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				put = append(put, a)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for _, a := range put {
		if !w.exists(t, a) {
			t.Errorf("%s was put and is gone", a.ID)
		}
	}
}

// Expiry never takes from live sessions or the young, never leaves more than the limits allow beside those, and takes
// nothing without need.
func TestO7_ExpiryProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		now := func() time.Time { return at }
		mem := &store.Memory{Now: now}
		opt := Options{MaxAge: 10 * time.Hour, MaxBytes: 60, Lease: 2 * time.Hour, Grace: time.Hour, Now: now}
		s := New(mem, mem, opt)
		for i := range rapid.IntRange(0, 15).Draw(t, "puts") {
			session := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "session")
			size := rapid.IntRange(1, 30).Draw(t, "size")
			if _, err := s.Put(t.Context(), session, "n", "", strings.NewReader(strings.Repeat(string(rune('a'+i)), size))); err != nil {
				t.Fatal(err)
			}
			at = at.Add(time.Duration(rapid.IntRange(0, 150).Draw(t, "minutes")) * time.Minute)
		}
		live, err := s.live(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		before, _ := s.List(t.Context(), "")
		if _, err := s.Expire(t.Context()); err != nil {
			t.Fatal(err)
		}
		after, _ := s.List(t.Context(), "")
		left := map[string]bool{}
		var total, free int64
		oldestFree := at.Add(time.Hour)
		for _, a := range after {
			left[a.ID] = true
			total += a.Size
			if !live[a.Session] && at.Sub(a.Created) >= opt.Grace {
				free += a.Size
				if a.Created.Before(oldestFree) {
					oldestFree = a.Created
				}
				if at.Sub(a.Created) > opt.MaxAge {
					t.Fatalf("%+v is too old", a)
				}
			}
			if _, err := mem.Stat(t.Context(), a.Digest); err != nil {
				t.Fatalf("bytes of %s: %v", a.ID, err)
			}
		}
		if total > opt.MaxBytes && free > 0 {
			t.Fatalf("%d bytes left although %d could go", total, free)
		}
		for _, a := range before {
			if left[a.ID] {
				continue
			}
			if live[a.Session] || at.Sub(a.Created) < opt.Grace {
				t.Fatalf("%+v was taken from a live session or is young", a)
			}
			if at.Sub(a.Created) <= opt.MaxAge && a.Created.After(oldestFree) {
				t.Fatalf("%+v was taken although an older one was left", a)
			}
		}
	})
}

func BenchmarkPut(b *testing.B) {
	w := newWorld(b, Options{})
	text := strings.Repeat("a line of output that somebody wanted\n", 2000)
	b.SetBytes(int64(len(text)))
	for i := 0; b.Loop(); i++ {
		w.put(b, "s", "n", fmt.Sprint(i, text))
	}
}
