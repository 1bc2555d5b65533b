package task

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/host"
)

// record is task.json.
type record struct {
	Version  int         `json:"version"`
	ID       string      `json:"id"`
	Session  string      `json:"session,omitempty"`
	Title    string      `json:"title,omitempty"`
	Command  string      `json:"command"`
	Dir      string      `json:"dir,omitempty"`
	Detached bool        `json:"detached,omitempty"`
	Terminal bool        `json:"terminal,omitempty"`
	Started  time.Time   `json:"started"`
	Handle   host.Handle `json:"handle"` // until the command has started: run, spool and record only
}

const recordVersion = 1

// Files of a task's folder.
const (
	recordFile = "task.json"
	exitFile   = "exit.json"
	spoolName  = "output"
)

// idLetters are the letters of ids: no two look alike.
const (
	idLetters = "abcdefghjkmnpqrstuvwxyz23456789"
	idLength  = 6
)

// newID returns a random id. Numbers would be given again when a task is removed, and an earlier mention of a task would
// silently mean another.
func newID() string {
	var b [idLength]byte
	rand.Read(b[:])
	for i := range b {
		b[i] = idLetters[int(b[i])%len(idLetters)]
	}
	return string(b[:])
}

func validID(id string) bool {
	return len(id) == idLength && strings.Trim(id, idLetters) == ""
}

func (m *Manager) folder(id string) string { return filepath.Join(m.cfg.Dir, id) }

// makeFolder makes the folder of a new task.
func (m *Manager) makeFolder() (id string, err error) {
	for range 8 {
		id = newID()
		if err = os.Mkdir(m.folder(id), 0o700); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("folder of a task: %w", err)
	}
	return id, nil
}

// write writes a file so that a reader sees the old content or the new.
func write(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	tmp := path + "." + newID() // another server may write the same file
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

func (m *Manager) save(r *record) error {
	if err := write(filepath.Join(m.folder(r.ID), recordFile), r); err != nil {
		return fmt.Errorf("record of task %s: %w", r.ID, err)
	}
	return nil
}

// load reads the record of a task. Errors: *[Error] with ErrNotFound.
func (m *Manager) load(id string) (*record, error) {
	r, err := m.read(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, m.notFound(id)
	}
	return r, err
}

// read is load with a bare error. A folder without a record is no task.
func (m *Manager) read(id string) (*record, error) {
	if !validID(id) {
		return nil, fs.ErrNotExist
	}
	if fi, err := os.Lstat(m.folder(id)); err != nil || !fi.IsDir() {
		return nil, fs.ErrNotExist
	}
	data, err := small(filepath.Join(m.folder(id), recordFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	r := new(record)
	if err == nil {
		err = json.Unmarshal(data, r)
	}
	if fi, lerr := os.Lstat(filepath.Join(m.folder(id), exitFile)); err == nil && lerr == nil && !fi.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file that was written here", exitFile) // the runner reads it too
	}
	if err == nil && (r.Version != recordVersion || r.ID != id) {
		err = fmt.Errorf("version %d of task %q", r.Version, r.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("record of task %s: %w", id, err)
	}
	// Wherever the record says they are, they are here.
	r.Handle.Spool, r.Handle.Record = filepath.Join(m.folder(id), spoolName), filepath.Join(m.folder(id), exitFile)
	return r, nil
}

// maxRecord bounds the files about a task, in bytes. A command line takes most of it.
const maxRecord = 16 << 20

// small reads such a file. Anything but a file, which might never end, is an error.
func small(path string) ([]byte, error) {
	fi, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() || fi.Size() > maxRecord {
		return nil, fmt.Errorf("%s is no file that was written here", filepath.Base(path))
	}
	return os.ReadFile(path)
}

// ended reads how a task ended, or nil.
func (m *Manager) ended(id string) *host.Exit {
	data, err := small(filepath.Join(m.folder(id), exitFile))
	if err != nil {
		return nil
	}
	e := new(host.Exit)
	if json.Unmarshal(data, e) != nil {
		return nil
	}
	return e
}

// ids lists the ids of all tasks, the oldest first.
func (m *Manager) ids() []string {
	records := m.records()
	ids := make([]string, len(records))
	for i, r := range records {
		ids[i] = r.ID
	}
	return ids
}

// records reads the records of all tasks, the oldest first. What cannot be read is left out: the folder of a task that is
// just being made, or removed.
func (m *Manager) records() []*record {
	entries, err := os.ReadDir(m.cfg.Dir)
	if err != nil {
		return nil
	}
	var list []*record
	for _, e := range entries {
		if !e.IsDir() || !validID(e.Name()) {
			continue
		}
		if r, err := m.read(e.Name()); err == nil {
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(a, b *record) int { return a.Started.Compare(b.Started) })
	return list
}

// size returns the bytes in the folder of a task.
func (m *Manager) size(id string) (n int64) {
	entries, _ := os.ReadDir(m.folder(id))
	for _, e := range entries {
		if fi, err := e.Info(); err == nil {
			n += fi.Size()
		}
	}
	return n
}
