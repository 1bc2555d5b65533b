package task

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tackle-dev/tackle/host"
)

// Defaults of [Config].
const (
	DefaultMaxRunning       = 32
	DefaultMaxBytes   int64 = 1 << 30
	DefaultMaxAge           = 7 * 24 * time.Hour
)

// Config configures a manager. Runner and Dir are needed.
type Config struct {
	Runner host.Runner
	Dir    string // the tasks directory, absolute; made when it is missing
	// MaxRunning bounds the tasks of this manager that run at a time. Default 32.
	MaxRunning int
	// MaxBytes bounds the folders of ended tasks together; the oldest go first. Default 1 GiB.
	MaxBytes int64
	// MaxAge bounds the age of ended tasks. Default a week.
	MaxAge time.Duration
	// Ended is called, in a goroutine of the manager, when a task of it has ended. It may call the manager. Default: nobody
	// is told.
	Ended func(Info)
	// Now is the clock of records. Default time.Now.
	Now func() time.Time
}

// Manager keeps tasks. It is safe for concurrent use.
type Manager struct {
	cfg  Config
	stop context.CancelFunc // ends what tells of ends
	ctx  context.Context
	wait sync.WaitGroup // of goroutines that follow tasks

	mu      sync.Mutex
	closed  bool
	live    map[string]*held
	cursors map[string]map[string]int64 // task, reader → offset
	spare   string                      // id of a folder that was made and not used; "" is none
}

// held is a task that this manager started, or holds on to because it was asked about it.
type held struct {
	proc host.Process
	own  bool
	spec *record
	door *door // nil where the task has no input, or no door could be made
	note bool  // this manager writes the record of its end: it was adopted, and nobody else does

	noting sync.Mutex
	noted  bool // that nothing of it lives
}

// Open opens the tasks directory. It starts nothing; [Manager.Recover] tidies up after earlier servers.
func Open(cfg Config) (*Manager, error) {
	if cfg.Runner == nil {
		return nil, errors.New("a task manager needs a runner")
	}
	if !filepath.IsAbs(cfg.Dir) {
		return nil, fmt.Errorf("tasks directory %q is not absolute", cfg.Dir)
	}
	if cfg.MaxRunning == 0 {
		cfg.MaxRunning = DefaultMaxRunning
	}
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = DefaultMaxBytes
	}
	if cfg.MaxAge == 0 {
		cfg.MaxAge = DefaultMaxAge
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("tasks directory: %w", err)
	}
	m := &Manager{cfg: cfg, live: make(map[string]*held), cursors: make(map[string]map[string]int64)}
	m.ctx, m.stop = context.WithCancel(context.Background())
	return m, nil
}

// Slot is a folder for a task that may never be one: a foreground command writes into it, and is adopted when it runs
// past its budget.
type Slot struct {
	m     *Manager
	rec   record
	saved bool // the record is there: it is a task
}

// Reserve makes a slot. One of [Slot.Adopt] and [Slot.Discard] follows. It costs a command that never becomes a task next
// to nothing: the folder was made before, and nobody writes down how the command ended.
func (m *Manager) Reserve(s Spec, c host.Command) (*Slot, host.Command, error) {
	m.mu.Lock()
	running, closed, id := m.running(), m.closed, m.spare
	if closed || running >= m.cfg.MaxRunning {
		id = ""
	} else {
		m.spare = ""
	}
	m.mu.Unlock()
	if closed {
		return nil, c, ErrClosed
	}
	if running >= m.cfg.MaxRunning {
		return nil, c, &Error{Err: ErrTooMany, Say: fmt.Sprintf("the limit of %d running tasks is reached: stop one first (%s)", m.cfg.MaxRunning, strings.Join(m.runningIDs(), ", "))}
	}
	if _, err := os.Stat(m.folder(id)); id == "" || err != nil { // another server may have tidied it away
		if id, err = m.makeFolder(); err != nil {
			return nil, c, err
		}
	}
	if c.Run == "" {
		c.Run = "task-" + id + "-" + newID()
	}
	c.Spool = filepath.Join(m.folder(id), spoolName)
	if s.Command == "" {
		if s.Command = c.Script; c.Script == "" {
			s.Command = strings.Join(c.Argv, " ")
		}
	}
	slot := &Slot{m: m, rec: record{Version: recordVersion, ID: id, Session: s.Session, Title: s.Title, Command: s.Command, Dir: c.Dir, Detached: s.Detach, Terminal: c.Terminal != nil, Started: m.cfg.Now(),
		Handle: host.Handle{Run: c.Run, Spool: c.Spool, Record: filepath.Join(m.folder(id), exitFile)}}}
	return slot, c, nil
}

// ID is the id that the task will have.
func (s *Slot) ID() string { return s.rec.ID }

// Adopt makes the process a task. From here on the manager owns it.
func (s *Slot) Adopt(ctx context.Context, p host.Process) (Info, error) {
	m := s.m
	record := s.rec.Handle.Record
	s.rec.Handle = p.Handle()
	h := &held{proc: p, own: true, spec: &s.rec, note: s.rec.Handle.Record == ""}
	s.rec.Handle.Record = record
	if s.rec.Detached {
		if err := p.Detach(ctx); err != nil {
			return Info{}, err
		}
	}
	s.saved = true
	if err := m.save(&s.rec); err != nil {
		return Info{}, err
	}
	if err := m.note(h); err != nil {
		return Info{}, err
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return Info{}, ErrClosed
	}
	if in := p.Input(); in != nil {
		h.door, _ = openDoor(m.folder(s.rec.ID), in) // without one only this process can feed it
	}
	m.live[s.rec.ID] = h
	m.wait.Add(1)
	m.mu.Unlock()
	go m.follow(s.rec.ID, h)
	return m.info(&s.rec, p), nil
}

// note writes down how the first process of an adopted command ended, if it has ended.
func (m *Manager) note(h *held) error {
	if !h.note {
		return nil
	}
	h.noting.Lock()
	defer h.noting.Unlock()
	now, cancel := context.WithCancel(context.Background())
	cancel()
	e, err := h.proc.Wait(now)
	if err != nil || h.noted {
		return nil
	}
	if h.noted = gone(h.proc); h.noted {
		e.Gone, e.Survivors = true, nil
	}
	return write(h.spec.Handle.Record, e)
}

// Discard gives the slot back. The process has ended and is closed, or never began.
func (s *Slot) Discard() error {
	m := s.m
	if s.saved { // it must not be found any more
		if err := os.Remove(filepath.Join(m.folder(s.rec.ID), recordFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return os.RemoveAll(m.folder(s.rec.ID))
	}
	m.wait.Go(func() { m.empty(s.rec.ID) }) // nobody waits for it
	return nil
}

// empty removes what a command left in its folder, and keeps the folder for the next one.
func (m *Manager) empty(id string) {
	dir := m.folder(id)
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
	}
	m.mu.Lock()
	if err == nil && !m.closed && m.spare == "" {
		m.spare, dir = id, ""
	}
	m.mu.Unlock()
	if dir != "" {
		os.RemoveAll(dir) // what cannot be removed now is tidied up some time
	}
}

// Start starts a task. A time limit of 0 means none here: a task runs until it ends.
// Errors: those of host.Runner.Start, and *[Error] with ErrTooMany.
func (m *Manager) Start(ctx context.Context, s Spec, c host.Command) (Info, error) {
	if c.Limits.Time == 0 {
		c.Limits.Time = -1
	}
	if s.Interactive && c.Terminal == nil {
		c.Input = true
	}
	slot, c, err := m.Reserve(s, c)
	if err != nil {
		return Info{}, err
	}
	c.Detach, c.Record = s.Detach, slot.rec.Handle.Record
	slot.saved = true
	if err := m.save(&slot.rec); err != nil { // before the start, so that a crash in between leaves a trace
		return Info{}, errors.Join(err, slot.Discard())
	}
	p, err := m.cfg.Runner.Start(ctx, c)
	if err != nil {
		return Info{}, errors.Join(err, slot.Discard())
	}
	info, err := slot.Adopt(ctx, p)
	if err != nil {
		return Info{}, errors.Join(err, p.Close(), slot.Discard())
	}
	m.tidy()
	return info, nil
}

// follow waits for the end of a task and tells of it.
func (m *Manager) follow(id string, h *held) {
	defer m.wait.Done()
	select {
	case <-h.proc.Gone():
	case <-m.ctx.Done():
		return
	}
	m.note(h) // before its keeper may keep another; what is not on record then is found to be lost
	h.door.shut()
	h.proc.Close() // gives back what held it; its output stays readable
	if m.cfg.Ended != nil {
		if info, err := m.Get(id); err == nil {
			m.cfg.Ended(info)
		}
	}
}

// running counts the own tasks that run. The caller holds mu.
func (m *Manager) running() (n int) {
	for _, h := range m.live {
		if h.own && !gone(h.proc) {
			n++
		}
	}
	return n
}

func (m *Manager) runningIDs() (ids []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, h := range m.live {
		if h.own && !gone(h.proc) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func gone(p host.Process) bool {
	select {
	case <-p.Gone():
		return true
	default:
		return false
	}
}

// find returns the record of a task and its process.
func (m *Manager) find(ctx context.Context, id string) (*record, host.Process, error) {
	rec, err := m.load(id)
	if err != nil {
		return nil, nil, err
	}
	m.mu.Lock()
	h := m.live[id]
	m.mu.Unlock()
	if h != nil && !h.own && !gone(h.proc) { // of another server: its record is the first to know
		if e := m.ended(id); e != nil && e.Gone {
			m.mu.Lock()
			if m.live[id] == h { // it finds out soon, and others may wait for it meanwhile
				delete(m.live, id)
			}
			m.mu.Unlock()
			h = nil
		}
	}
	if h != nil {
		if !h.own && gone(h.proc) {
			h.proc.Close() // its output stays readable, and no file stays open
		}
		return rec, h.proc, nil
	}
	p, err := m.cfg.Runner.Attach(ctx, rec.Handle)
	if err != nil {
		return nil, nil, fmt.Errorf("task %s: %w", id, err)
	}
	if gone(p) {
		p.Close()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if h := m.live[id]; h != nil || m.closed { // another was faster, or it is too late to hold on to it
		defer p.Close()
		if h == nil {
			return nil, nil, ErrClosed
		}
		return rec, h.proc, nil
	}
	m.live[id] = &held{proc: p, spec: rec}
	return rec, p, nil
}

// info describes a task without looking at its processes.
func (m *Manager) info(rec *record, p host.Process) Info {
	i := Info{ID: rec.ID, Session: rec.Session, Title: rec.Title, Command: rec.Command, Dir: rec.Dir, Detached: rec.Detached, Terminal: rec.Terminal, Started: rec.Started, Running: !gone(p)}
	now, cancel := context.WithCancel(context.Background())
	cancel() // Wait then tells what is known, and waits for nothing
	if e, err := p.Wait(now); err == nil {
		i.Exit = &e
	}
	if st, err := p.Output().Stat(); err == nil {
		i.Output, i.Log = st.Total, st.Files
	}
	return i
}

// Get describes a task. Errors: *[Error] with ErrNotFound.
func (m *Manager) Get(id string) (Info, error) {
	rec, p, err := m.find(m.ctx, id)
	if err != nil {
		return Info{}, err
	}
	return m.info(rec, p), nil
}

// Look is Get with a look at what lives and whether it waits for input.
func (m *Manager) Look(ctx context.Context, id string) (Info, error) {
	rec, p, err := m.find(ctx, id)
	if err != nil {
		return Info{}, err
	}
	i := m.info(rec, p)
	if i.Running {
		st, err := p.State(ctx)
		if err != nil {
			return i, fmt.Errorf("task %s: %w", id, err)
		}
		i.Lives, i.Waiting = st.Processes, st.Waiting
	}
	return i, nil
}

// List describes the tasks of a session, or all of them for "", the oldest first.
func (m *Manager) List(ctx context.Context, session string) ([]Info, error) {
	var list []Info
	for _, rec := range m.records() {
		if session != "" && rec.Session != session {
			continue
		}
		rec, p, err := m.find(ctx, rec.ID)
		if errors.Is(err, ErrNotFound) {
			continue // removed meanwhile
		}
		if err != nil {
			return list, err
		}
		list = append(list, m.info(rec, p))
	}
	return list, nil
}

// Own describes the tasks that this manager started, or adopted, and holds, by id.
func (m *Manager) Own() []Info {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []Info
	for _, id := range slices.Sorted(maps.Keys(m.live)) {
		if h := m.live[id]; h.own {
			list = append(list, m.info(h.spec, h.proc))
		}
	}
	return list
}

// Wait waits until nothing of the task lives, or ctx ends: then the Info says that it runs, and the error is that of ctx.
func (m *Manager) Wait(ctx context.Context, id string) (Info, error) {
	rec, p, err := m.find(ctx, id)
	if err != nil {
		return Info{}, err
	}
	select {
	case <-p.Gone():
		return m.info(rec, p), nil
	case <-ctx.Done():
		return m.info(rec, p), ctx.Err()
	}
}

// Stop ends a task with all that it started; see host.Process.Stop. A task that has ended already is no error.
func (m *Manager) Stop(ctx context.Context, id string, grace time.Duration) (Info, error) {
	rec, p, err := m.find(ctx, id)
	if err != nil {
		return Info{}, err
	}
	left, err := p.Stop(ctx, grace)
	i := m.info(rec, p)
	i.Lives = left
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("task %s: %s could not be ended", id, host.ListProcesses(left))
	}
	return i, err
}

// Signal sends a signal by name to the process group of a task's first process.
func (m *Manager) Signal(ctx context.Context, id, name string) error {
	_, p, err := m.find(ctx, id)
	if err != nil {
		return err
	}
	if err := p.Signal(ctx, name); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return ended(id, m.how(p))
}

func (m *Manager) how(p host.Process) string {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	e, err := p.Wait(now)
	if err != nil {
		return "its first process lives"
	}
	return e.String()
}

// lastWord is how long sending may take to be found done when the task has ended.
const lastWord = time.Second

// Input sends bytes to a task, and closes its input when done says so.
// Errors: *[Error] with ErrNoInput for a task that was started without input, or by a server that is gone, and ErrEnded.
func (m *Manager) Input(ctx context.Context, id string, data []byte, done bool) error {
	_, p, err := m.find(ctx, id)
	if err != nil {
		return err
	}
	if gone(p) {
		return ended(id, m.how(p))
	}
	in, leave := m.inputOf(ctx, id, p)
	defer leave()
	if in == nil {
		return &Error{ID: id, Err: ErrNoInput, Say: fmt.Sprintf("task %s takes no input: it was started without it, or by a server that is gone; start it again with input", id)}
	}
	sent := make(chan error, 1)
	go func() { // a task that does not read holds it up; it ends with the task
		var err error
		if len(data) > 0 {
			_, err = in.Write(data)
		}
		if err == nil && done {
			if err = in.Close(); gone(p) {
				err = nil // it has what it was sent, and no input any more
			}
		}
		sent <- err
	}()
	select {
	case err = <-sent:
	case <-p.Gone():
		select { // the end may be the answer to what was sent
		case err = <-sent:
		case <-time.After(lastWord):
			err = os.ErrClosed
		}
	case <-ctx.Done():
		return fmt.Errorf("task %s does not read its input: %w", id, ctx.Err())
	}
	if err != nil && (gone(p) || errors.Is(err, os.ErrClosed)) {
		return ended(id, m.how(p))
	}
	return err
}

// inputOf returns what feeds a task, here or through its door, or nil.
func (m *Manager) inputOf(ctx context.Context, id string, p host.Process) (in host.Input, leave func()) {
	if in := p.Input(); in != nil {
		return in, func() {}
	}
	if v := m.visit(ctx, id); v != nil {
		return v, v.leave
	}
	return nil, func() {}
}

// Resize tells a task the size of its terminal.
func (m *Manager) Resize(ctx context.Context, id string, size host.Size) error {
	_, p, err := m.find(ctx, id)
	if err != nil {
		return err
	}
	in, leave := m.inputOf(ctx, id, p)
	defer leave()
	if in != nil {
		return in.Resize(size)
	}
	return &Error{ID: id, Err: ErrNoInput, Say: fmt.Sprintf("task %s has no terminal", id)}
}
