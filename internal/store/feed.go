package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// Removed is the stream that says which sessions were removed, each in an event of kind [KindRemoved] whose body is an
// object with the member "sessions". It is never removed itself, so that no number of the feed is used twice.
const Removed = ".removed"

// KindRemoved is the kind of the events of [Removed].
const KindRemoved = "removed"

// Feed is the log of all sessions as one, for those who follow what happens: the program's own streams are in it too.
// Implementations are safe for concurrent use.
type Feed interface {
	// Follow returns the events of all sessions behind number after of the feed, in the order in which they were stored,
	// at most limit of them (all when limit is not positive). Numbers grow, with gaps; an event that is stored later
	// never has a smaller one.
	Follow(ctx context.Context, after int64, limit int) ([]Fed, error)

	// Newest returns the number of the newest event of the feed, 0 where there is none.
	Newest(ctx context.Context) (int64, error)

	// Appended returns a channel that is closed when this process stores an event after the call. What other processes
	// store is seen by calling Follow again after a while.
	Appended() <-chan struct{}

	// Remove removes sessions with all their events for good, and says so in [Removed], all or none. An unknown session
	// is no error; a stream of the program itself is.
	Remove(ctx context.Context, sessions ...string) error
}

// Fed is an event of the feed.
type Fed struct {
	ID int64 `json:"id"` // its number in the feed
	Event
}

const (
	sqlFollow = `select id, session, seq, at, kind, key, body from event where id > $1 order by id limit $2`

	sqlNewest = `select coalesce(max(id), 0) from event`

	sqlRemove = `delete from event where session = $1`
)

// bell wakes those who wait for something to be stored. The zero bell is ready.
type bell struct {
	mu sync.Mutex
	ch chan struct{}
}

func (b *bell) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}

// Follow implements [Feed].
func (d *DB) Follow(ctx context.Context, after int64, limit int) ([]Fed, error) {
	c, err := d.open(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := c.r.query(ctx, sqlFollow, after, sqlLimit(limit))
	if err != nil {
		return nil, d.fail("read", err)
	}
	defer rows.Close()
	var out []Fed
	for rows.Next() {
		var f Fed
		var at int64
		if err := rows.Scan(&f.ID, &f.Session, &f.Seq, &at, &f.Kind, &f.Key, (*[]byte)(&f.Body)); err != nil {
			return nil, d.fail("read", err)
		}
		f.At = time.UnixMicro(at).UTC()
		out = append(out, f)
	}
	if err := rows.Err(); err != nil {
		return nil, d.fail("read", err)
	}
	return out, nil
}

// Newest implements [Feed].
func (d *DB) Newest(ctx context.Context) (id int64, err error) {
	c, err := d.open(ctx)
	if err != nil {
		return 0, err
	}
	if err := c.r.row(ctx, sqlNewest, nil, &id); err != nil {
		return 0, d.fail("read", err)
	}
	return id, nil
}

// Appended implements [Feed].
func (d *DB) Appended() <-chan struct{} { return d.bell.wait() }

// Remove implements [Feed]. The mark is stored before the events go, in one transaction: its number stays the largest that
// was ever used.
func (d *DB) Remove(ctx context.Context, sessions ...string) error {
	mark, err := removal(sessions)
	if err != nil || len(sessions) == 0 {
		return err
	}
	marks, err := normal([]Event{mark}, d.opt.Now)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := d.open(ctx)
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	insert, err := c.w.stmt(ctx, sqlInsert)
	if err != nil {
		return d.fail("remove from", err)
	}
	err = inTx(ctx, c.w.DB, func(tx *sql.Tx) error {
		if _, err := insertEvent(ctx, tx.StmtContext(ctx, insert), nil, marks[0]); err != nil {
			return err
		}
		for _, s := range sessions {
			if _, err := tx.ExecContext(ctx, sqlRemove, s); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return d.fail("remove from", err)
	}
	d.wrote(c)
	d.bell.ring()
	return nil
}

// removal is the event that says that sessions were removed.
func removal(sessions []string) (Event, error) {
	for _, s := range sessions {
		if err := checkName("remove", "session", s, false); err != nil {
			return Event{}, err
		}
		if own(s) {
			return Event{}, invalid("remove", "%s is a stream of the program itself", s)
		}
	}
	body, err := json.Marshal(map[string][]string{"sessions": sessions})
	if err != nil {
		return Event{}, fmt.Errorf("remove: %w", err)
	}
	return Event{Session: Removed, Kind: KindRemoved, Body: body}, nil
}

// Backup writes a copy of the database as it is now to a new file, beside writers and without their waiting for it. The
// file is for the user alone. Blobs are not in it.
func (d *DB) Backup(ctx context.Context, path string) error {
	if _, err := d.open(ctx); err != nil {
		return err
	}
	p, err := d.pool(1, "") // of its own: it must not hold up the writer, and the readers may not write
	if err != nil {
		return d.fail("back up", err)
	}
	defer p.Close()
	if err := copyInto(ctx, p.DB, path); err != nil {
		return d.fail("back up", err)
	}
	return nil
}

// Follow implements [Feed].
func (m *Memory) Follow(ctx context.Context, after int64, limit int) ([]Fed, error) {
	if err := m.lock(ctx, "read"); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	i, _ := slices.BinarySearchFunc(m.feed, after+1, func(f Fed, id int64) int { return int(f.ID - id) })
	rest := m.feed[i:]
	if limit > 0 && len(rest) > limit {
		rest = rest[:limit]
	}
	return slices.Clone(rest), nil
}

// Newest implements [Feed].
func (m *Memory) Newest(ctx context.Context) (int64, error) {
	if err := m.lock(ctx, "read"); err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	return m.fed, nil
}

// Appended implements [Feed].
func (m *Memory) Appended() <-chan struct{} { return m.bell.wait() }

// Remove implements [Feed].
func (m *Memory) Remove(ctx context.Context, sessions ...string) error {
	mark, err := removal(sessions)
	if err != nil || len(sessions) == 0 {
		return err
	}
	if err := m.lock(ctx, "remove"); err != nil {
		return err
	}
	gone := func(s string) bool { return slices.Contains(sessions, s) }
	for _, s := range sessions {
		delete(m.events, s)
	}
	for k := range m.keys {
		if gone(k[0]) {
			delete(m.keys, k)
		}
	}
	m.feed = slices.DeleteFunc(m.feed, func(f Fed) bool { return gone(f.Session) })
	m.mu.Unlock()
	_, err = m.Append(context.WithoutCancel(ctx), mark)
	return err
}

// copyInto copies a database into a new file.
func copyInto(ctx context.Context, db *sql.DB, path string) error {
	// SQLite takes an empty file for a new one; made by us, nobody else can ever read it.
	if err := makeFile(path); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, `vacuum into $1`, path); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
