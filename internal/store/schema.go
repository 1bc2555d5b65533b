package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"modernc.org/sqlite"
)

// appID marks the file as ours ("tack" in ASCII), beside SQLite's own magic.
const appID = 0x7461636b

// schema holds one step per version; the version of a file is its user_version. Steps are never edited, only added.
// The types are those that SQLite and PostgreSQL share: text for JSON, bigint for microseconds since 1970.
//
// Events stand in an ordinary table with an index, not in a clustered one: with bodies of a kilobyte the clustered
// form splits into a deep tree.
var schema = []string{
	`create table event (
	   session text   not null,
	   seq     bigint not null,
	   at      bigint not null,
	   kind    text   not null,
	   key     text   not null,
	   body    text   not null
	 );
	 create unique index event_seq on event (session, seq);
	 create unique index event_key on event (session, key) where key <> '';
	 create table record (
	   space text   not null,
	   key   text   not null,
	   owner text   not null,
	   at    bigint not null,
	   body  text   not null,
	   primary key (space, key)
	 );
	 create index record_owner on record (space, owner) where owner <> '';`,

	// The number in the feed is a column of its own: a row's own number may change when the file is compacted.
	`create table event_2 (
	   id      integer primary key,
	   session text   not null,
	   seq     bigint not null,
	   at      bigint not null,
	   kind    text   not null,
	   key     text   not null,
	   body    text   not null
	 );
	 insert into event_2 (id, session, seq, at, kind, key, body)
	   select rowid, session, seq, at, kind, key, body from event order by rowid;
	 drop table event;
	 alter table event_2 rename to event;
	 create unique index event_seq on event (session, seq);
	 create unique index event_key on event (session, key) where key <> '';`,
}

// migrate brings the file to the newest version. The usual case, nothing to do, is one read. A file of an older version is
// copied first, to a file beside it whose name says which version and when.
func (d *DB) migrate(ctx context.Context, db *sql.DB) error {
	version, app, err := versions(ctx, db)
	if err != nil {
		return err
	}
	if version == len(schema) && app == appID {
		return nil
	}
	if version == 0 && app == 0 {
		if err := startLog(ctx, db); err != nil {
			return err
		}
	}
	if app == appID && version < len(schema) {
		if err := copyInto(ctx, db, fmt.Sprintf("%s.v%d-%s.bak", d.path, version, d.opt.Now().UTC().Format("20060102T150405.000000"))); err != nil {
			return fmt.Errorf("the copy that is made before an upgrade: %w", err)
		}
	}
	tx, err := db.BeginTx(ctx, nil) // immediate: one process migrates, the others wait and find nothing to do
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if version, app, err = versions(ctx, tx); err != nil {
		return err
	}
	tables, err := countTables(ctx, tx)
	if err != nil {
		return err
	}
	switch {
	case tables > 0 && app != appID:
		return &Error{Op: "open", Kind: ErrForeign, Err: fmt.Errorf("it holds another program's data")}
	case version > len(schema):
		return &Error{Op: "open", Kind: ErrNewer, Err: fmt.Errorf("its version is %d, this program knows up to %d", version, len(schema))}
	}
	for _, step := range schema[version:] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(`pragma application_id = %d; pragma user_version = %d`, appID, len(schema))); err != nil {
		return err
	}
	return tx.Commit()
}

// startLog switches an empty file to write-ahead logging, which the file then remembers. A file with tables is left as
// it is: it may be somebody else's. SQLite does not wait for other processes that do the same at this moment, so we do.
func startLog(ctx context.Context, db *sql.DB) error {
	tables, err := countTables(ctx, db)
	if err != nil || tables > 0 {
		return err
	}
	for wait := time.Millisecond; ; wait *= 2 {
		_, err := db.ExecContext(ctx, `pragma journal_mode = wal`)
		var se *sqlite.Error
		if err == nil || wait > 4*time.Second || !errors.As(err, &se) || kindOf(se.Code()) != ErrLocked {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

type querier interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

func countTables(ctx context.Context, q querier) (n int, err error) {
	err = q.QueryRowContext(ctx, `select count(*) from sqlite_master`).Scan(&n)
	return n, err
}

func versions(ctx context.Context, q querier) (version, app int, err error) {
	err = q.QueryRowContext(ctx, `select user_version, application_id from pragma_user_version, pragma_application_id`).Scan(&version, &app)
	return version, app, err
}
