package store

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// oldFile makes a database of an earlier version with the given number of events.
func oldFile(t *testing.T, path string, version, events int) {
	t.Helper()
	whole := schema
	schema = schema[:version]
	defer func() { schema = whole }()
	d := NewDB(path, Options{})
	defer d.Close()
	for range events {
		mustAppend(t, d, note("s"))
	}
}

// X: a database of an earlier version is copied before it is upgraded, the copy opens as it was, and nothing is lost.
func TestUpgradeKeepsACopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "tackle.db")
	oldFile(t, path, 1, 12)
	d := NewDB(path, Options{})
	defer d.Close()
	mustAppend(t, d, note("s"))
	fed, err := d.Follow(t.Context(), 0, 0)
	if err != nil || len(fed) != 13 || fed[12].Seq != 13 {
		t.Fatalf("after the upgrade: %d events, %v", len(fed), err)
	}
	copies, err := filepath.Glob(path + ".v1-*.bak")
	if err != nil || len(copies) != 1 {
		t.Fatalf("copies: %v, %v", copies, err)
	}
	info, err := os.Stat(copies[0])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy has mode %v, %v", info.Mode(), err)
	}
	again := NewDB(copies[0], Options{})
	defer again.Close()
	evs, err := again.Read(t.Context(), "s", 0, 0)
	if err != nil || len(evs) != 12 {
		t.Errorf("the copy has %d events, %v", len(evs), err)
	}
}

func TestNewFileHasNoCopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tackle.db")
	d := NewDB(path, Options{})
	mustAppend(t, d, note("s"))
	d.Close()
	if copies, _ := filepath.Glob(path + "*.bak"); len(copies) > 0 {
		t.Errorf("copies of a new file: %v", copies)
	}
}

// A copy that cannot be made stops the upgrade, and the file stays as it was.
func TestNoUpgradeWithoutACopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tackle.db")
	oldFile(t, path, 1, 3)
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	if err := os.WriteFile(path+".v1-20261129T120000.000000.bak", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := NewDB(path, Options{Now: func() time.Time { return now }})
	defer d.Close()
	if _, err := d.Newest(t.Context()); err == nil {
		t.Fatal("upgraded without a copy")
	}
	now = now.Add(time.Second)
	if n, err := d.Newest(t.Context()); err != nil || n != 3 {
		t.Errorf("the next try: %d, %v", n, err)
	}
}

func TestBackup(t *testing.T) {
	dir := t.TempDir()
	d := NewDB(filepath.Join(dir, "tackle.db"), Options{})
	defer d.Close()
	mustAppend(t, d, note("s"))
	to := filepath.Join(dir, "copy.db")
	if err := d.Backup(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, d, note("s"))
	c := NewDB(to, Options{})
	defer c.Close()
	if n, err := c.Last(context.Background(), "s"); n != 1 || err != nil {
		t.Errorf("the copy has %d events, %v", n, err)
	}
	if err := d.Backup(t.Context(), to); err == nil {
		t.Error("a copy was written over another file")
	}
}
