package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tackle-dev/tackle/host"
)

// startTime is how long a task may be without a process while its server starts it. After that the server is dead.
const startTime = time.Minute

// slotAge is how old the folder of a slot must be before it counts as left by a dead server.
const slotAge = 24 * time.Hour

// Recovery says what [Manager.Recover] found of servers that are dead.
type Recovery struct {
	Running []Info // detached tasks that run on
	Ended   []Info // tasks that were running when their server died: they are ended now, by it, by themselves, or just now
}

// keeperTime is how long the keeper of a task, which sees the death of its server when we do, has to end it by itself.
const keeperTime = 5 * time.Second

// Recover finds the tasks of servers that are dead. What is detached goes on; what is not, and lives, is ended; what
// nobody saw the end of is written down as such. Tasks of servers that live are left alone. Call it once at the start;
// calling it again, or in two servers at a time, does no harm.
func (m *Manager) Recover(ctx context.Context) (Recovery, error) {
	var r Recovery
	var mu sync.Mutex
	var errs []error
	var wg sync.WaitGroup
	for _, rec := range m.records() {
		if e := m.ended(rec.ID); e != nil && e.Gone {
			continue
		}
		wg.Go(func() {
			i, err := m.recover(ctx, rec)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil && !errors.Is(err, ErrNotFound):
				errs = append(errs, fmt.Errorf("task %s: %w", rec.ID, err))
			case err == nil && i != nil && i.Running:
				r.Running = append(r.Running, *i)
			case err == nil && i != nil:
				r.Ended = append(r.Ended, *i)
			}
		})
	}
	wg.Wait()
	for _, list := range [][]Info{r.Running, r.Ended} {
		slices.SortStableFunc(list, func(a, b Info) int { return a.Started.Compare(b.Started) })
	}
	m.tidy()
	return r, errors.Join(errs...)
}

// recover looks after one task. It returns nil for one whose server lives.
func (m *Manager) recover(ctx context.Context, rec *record) (*Info, error) {
	rec, p, err := m.find(ctx, rec.ID)
	if err != nil {
		return nil, err
	}
	st, err := p.State(ctx)
	if err != nil {
		return nil, err
	}
	if st.Owned || rec.Handle.PID == 0 && m.cfg.Now().Sub(rec.Started) < startTime {
		return nil, nil
	}
	if rec.Detached && !gone(p) {
		i := m.info(rec, p)
		return &i, nil
	}
	exit, err := m.endOrphan(ctx, rec, p)
	if err != nil {
		return nil, err
	}
	if e := m.ended(rec.ID); e == nil || !e.Gone || e.End != exit.End {
		if err := write(filepath.Join(m.folder(rec.ID), exitFile), exit); err != nil {
			return nil, err
		}
	}
	m.letGo(rec.ID) // what was seen of it is not the last word: the record is
	i, err := m.Get(rec.ID)
	return &i, err
}

// endOrphan ends what is left of a task whose server is dead, and says how it ended.
func (m *Manager) endOrphan(ctx context.Context, rec *record, p host.Process) (host.Exit, error) {
	if k := rec.Handle.Keeper; k != nil && !gone(p) {
		soon, cancel := context.WithTimeout(ctx, keeperTime)
		select {
		case <-p.Gone():
		case <-soon.Done():
		}
		cancel()
	}
	lived := !gone(p)
	left, err := p.Stop(ctx, host.DefaultGrace)
	if err != nil {
		return host.Exit{}, err
	}
	if len(left) > 0 {
		return host.Exit{}, fmt.Errorf("%s could not be ended", host.ListProcesses(left))
	}
	exit, err := p.Wait(ctx)
	if err != nil {
		return host.Exit{}, err
	}
	if lived && exit.End == host.EndStopped {
		exit.End = host.EndOwner // nobody asked for its end: it had no owner any more
	}
	exit.Gone, exit.Survivors = true, nil
	return exit, nil
}

// EndSession ends all tasks of a session that are not detached, all at the same time, and returns when they are gone.
func (m *Manager) EndSession(ctx context.Context, session string) error {
	if session == "" {
		return errors.New("no session is named: tasks without one end with the manager")
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	for _, rec := range m.records() {
		if rec.Session != session || rec.Detached {
			continue
		}
		wg.Go(func() {
			if _, err := m.Stop(ctx, rec.ID, 0); err != nil && !errors.Is(err, ErrNotFound) {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Remove removes an ended task with its output.
func (m *Manager) Remove(ctx context.Context, id string) error {
	_, p, err := m.find(ctx, id)
	if err != nil {
		return err
	}
	if !gone(p) {
		return &Error{ID: id, Err: ErrRunning, Say: fmt.Sprintf("task %s is running; stop it before it is removed", id)}
	}
	return m.remove(id)
}

// letGo forgets the process of a task.
func (m *Manager) letGo(id string) {
	m.mu.Lock()
	h := m.live[id]
	delete(m.live, id)
	m.mu.Unlock()
	if h != nil {
		h.proc.Close()
	}
}

func (m *Manager) remove(id string) error {
	m.letGo(id)
	m.mu.Lock()
	delete(m.cursors, id)
	m.mu.Unlock()
	// The record goes first: a folder without one is no task, whenever this is interrupted.
	err := os.Remove(filepath.Join(m.folder(id), recordFile))
	return errors.Join(err, os.RemoveAll(m.folder(id)))
}

// tidy removes ended tasks that are too old or too many, the oldest first, and folders that never became a task.
func (m *Manager) tidy() {
	now := m.cfg.Now()
	type old struct {
		id   string
		size int64
	}
	var list []old
	var total int64
	for _, rec := range m.records() {
		e := m.ended(rec.ID)
		if e == nil || !e.Gone {
			continue
		}
		if at := e.Ended; now.Sub(at) > m.cfg.MaxAge && now.Sub(rec.Started) > m.cfg.MaxAge {
			m.remove(rec.ID)
			continue
		}
		o := old{rec.ID, m.size(rec.ID)}
		list, total = append(list, o), total+o.size
	}
	for _, o := range list {
		if total <= m.cfg.MaxBytes {
			break
		}
		m.remove(o.id)
		total -= o.size
	}
	entries, _ := os.ReadDir(m.cfg.Dir)
	for _, e := range entries {
		if !validID(e.Name()) {
			continue
		}
		_, err := os.Stat(filepath.Join(m.folder(e.Name()), recordFile))
		fi, ferr := e.Info()
		if errors.Is(err, os.ErrNotExist) && ferr == nil && now.Sub(fi.ModTime()) > slotAge {
			os.RemoveAll(m.folder(e.Name()))
		}
	}
}

// Close ends all tasks of this manager that are not detached and lets go of the others. It returns when they are gone.
func (m *Manager) Close() error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil
	}
	m.closed = true
	live, spare := m.live, m.spare
	m.live, m.spare = make(map[string]*held), ""
	m.mu.Unlock()
	m.stop()
	var wg sync.WaitGroup
	errs := make(chan error, len(live))
	for _, h := range live {
		wg.Go(func() {
			err := h.proc.Close()
			h.door.shut()
			errs <- errors.Join(err, m.note(h))
		})
	}
	wg.Wait()
	m.wait.Wait()
	close(errs)
	var err error
	if spare != "" {
		err = os.RemoveAll(m.folder(spare))
	}
	for e := range errs {
		err = errors.Join(err, e)
	}
	return err
}
