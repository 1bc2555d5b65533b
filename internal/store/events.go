package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// The statements run unchanged on SQLite and PostgreSQL.
const (
	// One statement finds the next number, compares it with the expected one and inserts, so that a single event needs
	// no transaction of its own. No row means a conflict or a known key. Not max(seq): inside an expression SQLite then
	// reads the whole session (measured: 430 µs instead of 25 after 6,000 events).
	sqlInsert = `insert into event (session, seq, at, kind, key, body)
	  select $1, n, $3, $4, $5, $6
	  from (select coalesce((select seq from event where session = $1 order by seq desc limit 1), 0) + 1 as n) as next
	  where cast($2 as bigint) in (0, n)
	  on conflict do nothing returning seq`

	sqlByKey = `select seq from event where session = $1 and key = $2 and key <> ''`

	sqlRead = `select seq, at, kind, key, body from event where session = $1 and seq > $2 order by seq limit $3`

	sqlLast = `select seq from event where session = $1 order by seq desc limit 1`

	// The recursion jumps from name to name in the index instead of reading every event.
	sqlSessions = `with recursive name (id) as (
	    select min(session) from event where session >= $1 and session < $2
	    union all
	    select (select min(session) from event where session > name.id and session < $2) from name where name.id is not null
	  )
	  select name.id, newest.seq, newest.at, oldest.at, oldest.kind, oldest.key, oldest.body
	  from name
	  join event as oldest on oldest.session = name.id and oldest.seq = 1
	  join event as newest on newest.session = name.id
	   and newest.seq = (select max(seq) from event where session = name.id)
	  where newest.at >= $3
	  order by newest.at desc, name.id`
)

// Append implements [Events]. Once begun it is not interrupted by the end of ctx, so that its outcome is always known.
func (d *DB) Append(ctx context.Context, evs ...Event) ([]int64, error) {
	evs, err := normal(evs, d.opt.Now)
	if err != nil || len(evs) == 0 {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, err := d.open(ctx)
	if err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	seqs := make([]int64, len(evs))
	if len(evs) == 1 {
		seqs[0], err = insertEvent(ctx, c.insert, c.byKey, evs[0])
	} else {
		err = inTx(ctx, c.w, func(tx *sql.Tx) error {
			insert, byKey := tx.StmtContext(ctx, c.insert), tx.StmtContext(ctx, c.byKey)
			for i, e := range evs {
				if seqs[i], err = insertEvent(ctx, insert, byKey, e); err != nil {
					return err
				}
			}
			return nil
		})
	}
	var conflict *ConflictError
	if errors.As(err, &conflict) {
		conflict.Last, err = d.Last(ctx, conflict.Session)
		if err == nil {
			err = conflict
		}
		return nil, err
	}
	if err != nil {
		return nil, d.fail("append to", err)
	}
	return seqs, nil
}

func insertEvent(ctx context.Context, insert, byKey *sql.Stmt, e Event) (seq int64, err error) {
	err = insert.QueryRowContext(ctx, e.Session, e.Seq, e.At.UnixMicro(), e.Kind, e.Key, string(e.Body)).Scan(&seq)
	if !errors.Is(err, sql.ErrNoRows) {
		return seq, err
	}
	if e.Key != "" {
		err = byKey.QueryRowContext(ctx, e.Session, e.Key).Scan(&seq)
		if !errors.Is(err, sql.ErrNoRows) {
			return seq, err
		}
	}
	return 0, &ConflictError{Session: e.Session, Want: e.Seq}
}

func inTx(ctx context.Context, db *sql.DB, fn func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Read implements [Events].
func (d *DB) Read(ctx context.Context, session string, after int64, limit int) ([]Event, error) {
	r, err := d.reading(ctx, "read")
	if err != nil {
		return nil, err
	}
	rows, err := r.read.QueryContext(ctx, session, after, sqlLimit(limit))
	if err != nil {
		return nil, d.fail("read", err)
	}
	defer rows.Close()
	var out []Event
	for rows.Next() {
		e := Event{Session: session}
		var at int64
		if err := rows.Scan(&e.Seq, &at, &e.Kind, &e.Key, (*[]byte)(&e.Body)); err != nil {
			return nil, d.fail("read", err)
		}
		e.At = time.UnixMicro(at).UTC()
		out = append(out, e)
	}
	if err := rows.Err(); err != nil {
		return nil, d.fail("read", err)
	}
	return out, nil
}

func sqlLimit(n int) int64 {
	if n <= 0 {
		return 1<<63 - 1
	}
	return int64(n)
}

// Last implements [Events].
func (d *DB) Last(ctx context.Context, session string) (seq int64, err error) {
	r, err := d.reading(ctx, "read")
	if err != nil {
		return 0, err
	}
	if err := r.last.QueryRowContext(ctx, session).Scan(&seq); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, d.fail("read", err)
	}
	return seq, nil
}

// Sessions implements [Events].
func (d *DB) Sessions(ctx context.Context, f Filter) ([]Session, error) {
	r, err := d.reading(ctx, "list sessions of")
	if err != nil {
		return nil, err
	}
	since := int64(-1 << 62)
	if !f.Since.IsZero() {
		since = f.Since.UnixMicro()
	}
	rows, err := r.sessions.QueryContext(ctx, f.Prefix, f.Prefix+"\U0010FFFF", since)
	if err != nil {
		return nil, d.fail("list sessions of", err)
	}
	defer rows.Close()
	var out []Session
	for rows.Next() && (f.Limit <= 0 || len(out) < f.Limit) {
		var s Session
		var updated, at int64
		if err := rows.Scan(&s.ID, &s.Last, &updated, &at, &s.First.Kind, &s.First.Key, (*[]byte)(&s.First.Body)); err != nil {
			return nil, d.fail("list sessions of", err)
		}
		s.Updated, s.First.At = time.UnixMicro(updated).UTC(), time.UnixMicro(at).UTC()
		s.First.Session, s.First.Seq = s.ID, 1
		if f.matches(s) {
			out = append(out, s)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, d.fail("list sessions of", err)
	}
	return out, nil
}
