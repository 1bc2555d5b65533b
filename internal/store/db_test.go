package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func note(session string) Event {
	return Event{Session: session, Kind: "note", Body: []byte(`{"text":"hello"}`)}
}

func mustAppend(t testing.TB, d Events, evs ...Event) {
	t.Helper()
	if _, err := d.Append(context.Background(), evs...); err != nil {
		t.Fatal(err)
	}
}

func TestOpenTouchesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "deep")
	st := Open(dir, Options{})
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
}

func TestFilesAreForTheUserAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no permission bits")
	}
	dir := filepath.Join(t.TempDir(), "state")
	st := Open(dir, Options{})
	defer st.Close()
	mustAppend(t, st, note("s"))
	b, err := st.Put(t.Context(), strings.NewReader("secret"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{
		dir: 0o700, st.Path(): 0o600, st.Path() + "-wal": 0o600, st.Path() + "-shm": 0o600,
		filepath.Join(dir, "blobs"): 0o700, st.File(b.Digest): 0o400,
	} {
		fi, err := os.Stat(name)
		if err != nil || fi.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v, want %v", name, fi.Mode().Perm(), err, want)
		}
	}
}

// Each failure names the file, the fact and the next step.
func TestFailures(t *testing.T) {
	raw := func(t *testing.T, path string, stmts ...string) {
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, s := range stmts {
			if _, err := db.Exec(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name  string
		setup func(t *testing.T, path string)
		kind  error
		says  string
	}{
		{"not a database", func(t *testing.T, path string) {
			os.WriteFile(path, []byte(strings.Repeat("this is a text file\n", 1000)), 0o600)
		}, ErrForeign, "choose another path"},
		{"another program's database", func(t *testing.T, path string) {
			raw(t, path, `create table theirs (x)`)
		}, ErrForeign, "holds another program's data"},
		{"a newer schema", func(t *testing.T, path string) {
			d := NewDB(path, Options{})
			mustAppend(t, d, note("s"))
			d.Close()
			raw(t, path, `pragma user_version = 99`)
		}, ErrNewer, "its version is 99, this program knows up to 2"},
		{"a folder in its place", func(t *testing.T, path string) {
			os.Mkdir(path, 0o700)
		}, ErrReadOnly, "make the folder and its files writable"},
		{"a file where the folder should be", func(t *testing.T, path string) {
			os.RemoveAll(filepath.Dir(path))
			os.WriteFile(filepath.Dir(path), nil, 0o600)
		}, nil, "not a directory"},
		{"a damaged page", func(t *testing.T, path string) {
			d := NewDB(path, Options{})
			for range 200 {
				mustAppend(t, d, note("s"))
			}
			d.Close()
			data, _ := os.ReadFile(path)
			for i := 4096; i < len(data); i++ {
				data[i] = 0xa5
			}
			os.WriteFile(path, data, 0o600)
		}, ErrCorrupt, "move the file aside"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "d", "tackle.db")
			os.Mkdir(filepath.Dir(path), 0o700)
			c.setup(t, path)
			d := NewDB(path, Options{})
			defer d.Close()
			_, err := d.Append(t.Context(), note("s"))
			var e *Error
			if !errors.As(err, &e) || (c.kind != nil && !errors.Is(err, c.kind)) {
				t.Fatalf("error %v, want kind %v", err, c.kind)
			}
			if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), path) {
				t.Errorf("%q does not say %q and the path", err, c.says)
			}
		})
	}
}

func TestForeignFileStaysAsItWas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`create table theirs (x)`); err != nil {
		t.Fatal(err)
	}
	db.Close()
	before, _ := os.ReadFile(path)
	if err := NewDB(path, Options{}).Ping(t.Context()); !errors.Is(err, ErrForeign) {
		t.Fatal(err)
	}
	if after, _ := os.ReadFile(path); string(before) != string(after) {
		t.Error("the file was changed")
	}
}

func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tackle.db")
	d := NewDB(path, Options{Busy: 20 * time.Millisecond})
	defer d.Close()
	mustAppend(t, d, note("s"))
	other, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tx, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Append(t.Context(), note("s"))
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "try again") {
		t.Errorf("error %v, want ErrLocked", err)
	}
	if evs, err := d.Read(t.Context(), "s", 0, 0); len(evs) != 1 || err != nil {
		t.Errorf("a reader must not wait for a writer: %v, %v", evs, err)
	}
	tx.Rollback()
	mustAppend(t, d, note("s"))
}

func TestFull(t *testing.T) {
	d := NewDB(filepath.Join(t.TempDir(), "tackle.db"), Options{})
	defer d.Close()
	mustAppend(t, d, note("s"))
	if _, err := d.conn.w.Exec(`pragma max_page_count = 20`); err != nil {
		t.Fatal(err)
	}
	big := Event{Session: "s", Kind: "k", Body: []byte(`"` + strings.Repeat("x", 200000) + `"`)}
	_, err := d.Append(t.Context(), note("s"), big)
	if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "free some space") {
		t.Errorf("error %v, want ErrFull", err)
	}
	if n, err := d.Last(t.Context(), "s"); n != 1 || err != nil {
		t.Errorf("half of the batch is there: %d, %v", n, err)
	}
	mustAppend(t, d, note("s"))
}

func TestFailedOpenIsTriedAgain(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sub", "tackle.db")
	os.WriteFile(filepath.Join(dir, "sub"), nil, 0o600)
	d := NewDB(path, Options{})
	defer d.Close()
	if err := d.Ping(t.Context()); err == nil {
		t.Fatal("opened below a file")
	}
	os.Remove(filepath.Join(dir, "sub"))
	mustAppend(t, d, note("s"))
}

func TestOddPaths(t *testing.T) {
	for _, name := range []string{"with space", "per%41cent", "quest?ion", "ha#sh", "ünïcode", "a&b=c"} {
		path := filepath.Join(t.TempDir(), name, "tackle.db")
		d := NewDB(path, Options{})
		mustAppend(t, d, note("s"))
		d.Close()
		if fi, err := os.Stat(path); err != nil || fi.Size() == 0 {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestSync(t *testing.T) {
	d := NewDB(filepath.Join(t.TempDir(), "tackle.db"), Options{})
	defer d.Close()
	if err := d.Sync(t.Context()); err != nil {
		t.Errorf("before the first use: %v", err)
	}
	mustAppend(t, d, note("s"))
	if err := d.Sync(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestDurable(t *testing.T) {
	st := Open(t.TempDir(), Options{Durable: true})
	defer st.Close()
	mustAppend(t, st, note("s"))
	var mode int
	if err := st.conn.w.QueryRow(`pragma synchronous`).Scan(&mode); err != nil || mode != 2 {
		t.Errorf("synchronous = %d, %v, want 2 (FULL)", mode, err)
	}
	if _, err := st.Put(t.Context(), strings.NewReader("x")); err != nil {
		t.Error(err)
	}
}

// A blob whose bytes were lost in a crash of the machine is stored anew.
func TestTornBlobIsReplaced(t *testing.T) {
	d := NewDisk(t.TempDir(), Options{})
	for _, data := range []string{"small", strings.Repeat("large", 100000)} {
		b, err := d.Put(t.Context(), strings.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		os.Chmod(d.File(b.Digest), 0o600)
		if err := os.Truncate(d.File(b.Digest), 0); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Put(t.Context(), strings.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(d.File(b.Digest)); string(got) != data {
			t.Errorf("%d bytes, want %d", len(got), len(data))
		}
	}
}

func TestSweepRemovesOldTemporaryFiles(t *testing.T) {
	d := NewDisk(t.TempDir(), Options{})
	if n, err := d.Sweep(t.Context(), time.Now()); n != 0 || err != nil {
		t.Fatalf("nothing there: %d, %v", n, err)
	}
	d.Put(t.Context(), strings.NewReader("x"))
	old, young := filepath.Join(d.tmp(), "put-1"), filepath.Join(d.tmp(), "put-2")
	os.WriteFile(old, nil, 0o600)
	os.WriteFile(young, nil, 0o600)
	day := time.Now().Add(-24 * time.Hour)
	os.Chtimes(old, day, day)
	n, err := d.Sweep(t.Context(), time.Now().Add(-time.Hour))
	if n != 1 || err != nil {
		t.Errorf("swept %d, %v, want 1", n, err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Error("a young file was removed")
	}
}

// The log is folded beside the appends, also where one process writes too little to do it alone.
func TestLogStaysBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tackle.db")
	idle := NewDB(path, Options{}) // keeps the log alive, as a server does
	defer idle.Close()
	mustAppend(t, idle, note("s"))
	body := []byte(`"` + strings.Repeat("x", 50000) + `"`)
	var largest int64
	written := 0
	for range 40 {
		d := NewDB(path, Options{})
		for range 25 {
			mustAppend(t, d, Event{Session: "s", Kind: "k", Body: body})
			written += len(body)
		}
		if err := d.Close(); err != nil { // waits for its fold
			t.Fatal(err)
		}
		if fi, err := os.Stat(path + "-wal"); err == nil {
			largest = max(largest, fi.Size())
		}
	}
	if largest < foldAt || largest > foldAt+4<<20 {
		t.Errorf("%d bytes written, the log grew to %d, want about %d", written, largest, foldAt)
	}
	if n, err := idle.Last(t.Context(), "s"); n != 1001 || err != nil {
		t.Errorf("%d events, %v", n, err)
	}
}
