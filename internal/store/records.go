package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

const (
	sqlSet = `insert into record (space, key, owner, at, body) values ($1, $2, $3, $4, $5)
	  on conflict (space, key) do update set owner = excluded.owner, at = excluded.at, body = excluded.body`

	sqlUnset = `delete from record where space = $1 and key = $2`

	sqlGet = `select owner, at, body from record where space = $1 and key = $2`

	sqlList = `select key, owner, at, body from record
	  where space = $1 and key >= $2 and key < $3 order by key`

	sqlOwned = `select key, owner, at, body from record
	  where space = $1 and key >= $2 and key < $3 and owner = $4 and owner <> '' order by key`
)

// Set implements [Records].
func (d *DB) Set(ctx context.Context, recs ...Record) error {
	recs, err := normalRecords(recs, d.opt.Now)
	if err != nil || len(recs) == 0 {
		return err
	}
	return d.write(ctx, "set a record in", sqlSet, len(recs), func(i int) []any {
		r := recs[i]
		return []any{r.Space, r.Key, r.Owner, r.At.UnixMicro(), string(r.Body)}
	})
}

// Unset implements [Records].
func (d *DB) Unset(ctx context.Context, space string, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	return d.write(ctx, "remove a record from", sqlUnset, len(keys), func(i int) []any {
		return []any{space, keys[i]}
	})
}

// write runs one statement n times, all or none.
func (d *DB) write(ctx context.Context, op string, text string, n int, args func(i int) []any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := d.open(ctx)
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	stmt, err := c.w.stmt(ctx, text)
	if err != nil {
		return d.fail(op, err)
	}
	if n == 1 {
		_, err = stmt.ExecContext(ctx, args(0)...)
	} else {
		err = inTx(ctx, c.w.DB, func(tx *sql.Tx) error {
			stmt := tx.StmtContext(ctx, stmt)
			for i := range n {
				if _, err := stmt.ExecContext(ctx, args(i)...); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		return d.fail(op, err)
	}
	d.wrote(c)
	return nil
}

// Get implements [Records].
func (d *DB) Get(ctx context.Context, space, key string) (Record, error) {
	c, err := d.open(ctx)
	if err != nil {
		return Record{}, err
	}
	r := Record{Space: space, Key: key}
	var at int64
	err = c.r.row(ctx, sqlGet, []any{space, key}, &r.Owner, &at, (*[]byte)(&r.Body))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Record{}, noRecord(space, key)
	case err != nil:
		return Record{}, d.fail("read a record of", err)
	}
	r.At = time.UnixMicro(at).UTC()
	return r, nil
}

func noRecord(space, key string) error {
	return &Error{Op: "get record", Path: space + "/" + key, Kind: ErrNotFound}
}

// List implements [Records].
func (d *DB) List(ctx context.Context, space string, q RecordQuery) ([]Record, error) {
	c, err := d.open(ctx)
	if err != nil {
		return nil, err
	}
	text, args := sqlList, []any{space, q.Prefix, q.Prefix + "\U0010FFFF"}
	if q.Owner != "" {
		text, args = sqlOwned, append(args, q.Owner)
	}
	rows, err := c.r.query(ctx, text, args...)
	if err != nil {
		return nil, d.fail("list records of", err)
	}
	defer rows.Close()
	var out []Record
	for rows.Next() {
		r := Record{Space: space}
		var at int64
		if err := rows.Scan(&r.Key, &r.Owner, &at, (*[]byte)(&r.Body)); err != nil {
			return nil, d.fail("list records of", err)
		}
		r.At = time.UnixMicro(at).UTC()
		if q.matches(r) {
			out = append(out, r)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, d.fail("list records of", err)
	}
	return out, nil
}
