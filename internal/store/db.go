package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Options tune a local store. The zero Options are right for one machine.
type Options struct {
	// Busy is how long a writer waits for another process before it gives up with ErrLocked. Default 5 s.
	Busy time.Duration
	// Durable makes every append and put survive a power loss. Default false: see the package comment.
	Durable bool
	// Now is the clock for events and records without a time. Default time.Now.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	if o.Busy <= 0 {
		o.Busy = 5 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// DB keeps events and records in one SQLite file. It opens the file when it is first used, and after a failed attempt
// tries again at the next use.
type DB struct {
	path string
	opt  Options
	bell bell

	mu     sync.Mutex // guards the opening and closing of conn
	conn   *conn
	closed bool
}

// NewDB returns the database at path without touching it. The file and its folder are made for the user alone.
func NewDB(path string, opt Options) *DB { return &DB{path: path, opt: opt.withDefaults()} }

// Path returns where the database lies.
func (d *DB) Path() string { return d.path }

// conn is an open database: one connection that writes and a few that read, each made when it is first used.
type conn struct {
	w, r   *pool
	writes atomic.Int64

	folding atomic.Bool
	folder  sync.WaitGroup // the goroutine that folds the log
}

// Ping opens the database if it is not open yet and says what is wrong with it.
func (d *DB) Ping(ctx context.Context) error {
	_, err := d.open(ctx)
	return err
}

func (d *DB) open(ctx context.Context) (*conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return nil, &Error{Op: "open", Path: d.path, Kind: ErrClosed}
	case d.conn != nil:
		return d.conn, nil
	}
	c, err := d.connect(ctx)
	if err != nil {
		return nil, d.fail("open", err)
	}
	d.conn = c
	return c, nil
}

func (d *DB) connect(ctx context.Context) (_ *conn, err error) {
	if err := d.prepareFile(); err != nil {
		return nil, err
	}
	c := &conn{}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	if c.w, err = d.pool(1, ""); err != nil {
		return nil, err
	}
	if c.r, err = d.pool(4, "&_query_only=1"); err != nil {
		return nil, err
	}
	return c, d.migrate(ctx, c.w.DB)
}

// prepareFile makes the file before SQLite does, so that nobody else can ever read it; SQLite gives its log and shared
// memory the mode of the file. An existing file is never opened here: closing it would drop the locks that SQLite holds
// on it elsewhere in this process.
func (d *DB) prepareFile() error {
	if _, err := os.Stat(d.path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
		return err
	}
	if err := makeFile(d.path); !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}

// makeFile makes an empty file that the user alone can read. One that is there already is an error.
func makeFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func (d *DB) pool(size int, more string) (*pool, error) {
	abs, err := filepath.Abs(d.path)
	if err != nil {
		return nil, err
	}
	p := filepath.ToSlash(abs)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // a drive letter
	}
	sync := "NORMAL"
	if d.opt.Durable {
		sync = "FULL"
	}
	dsn := fmt.Sprintf("%s?_busy_timeout=%d&_synchronous=%s&_txlock=immediate&_error_rc=1&_pragma=wal_autocheckpoint(0)%s",
		(&url.URL{Scheme: "file", Path: p}).String(), d.opt.Busy.Milliseconds(), sync, more)
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return &pool{DB: db}, nil
}

// pool is a set of connections and the statements that were prepared on it.
type pool struct {
	*sql.DB
	mu    sync.Mutex
	stmts map[any]*sql.Stmt
}

// stmt returns a prepared statement, given by its text or, as a number of events, by [sqlBatch] or [rows].
func (p *pool) stmt(ctx context.Context, key any) (*sql.Stmt, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if st := p.stmts[key]; st != nil {
		return st, nil
	}
	var text string
	switch key := key.(type) {
	case string:
		text = key
	case int:
		text = sqlBatch(key)
	case rows:
		text = key.sql()
	}
	st, err := p.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	if p.stmts == nil {
		p.stmts = map[any]*sql.Stmt{}
	}
	p.stmts[key] = st
	return st, nil
}

func (p *pool) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	st, err := p.stmt(ctx, text)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(ctx, args...)
}

// row runs a query for at most one row; sql.ErrNoRows says that there is none.
func (p *pool) row(ctx context.Context, text string, args []any, dest ...any) error {
	st, err := p.stmt(ctx, text)
	if err != nil {
		return err
	}
	return st.QueryRowContext(ctx, args...).Scan(dest...)
}

func (c *conn) close() error {
	c.folder.Wait()
	var errs []error
	for _, p := range []*pool{c.r, c.w} { // the writer last: it folds the log into the file
		if p != nil {
			errs = append(errs, p.Close())
		}
	}
	return errors.Join(errs...)
}

// Close ends the use of the database. Closing twice is no error.
func (d *DB) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.conn
	d.conn, d.closed = nil, true
	if c == nil {
		return nil
	}
	if err := c.close(); err != nil {
		return d.fail("close", err)
	}
	return nil
}

// Sync makes everything that was appended before the call survive a power loss. It costs one flush of the disk.
func (d *DB) Sync(context.Context) error {
	// The log is a file on which SQLite holds no locks, so that opening and closing it is safe.
	f, err := os.OpenFile(d.path+"-wal", os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil // folded into the file, which SQLite synced then
	}
	if err != nil {
		return d.fail("sync", err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return d.fail("sync", err)
	}
	return nil
}

// fail gives an error its kind and the path of the database.
func (d *DB) fail(op string, err error) error {
	var own *Error
	if errors.As(err, &own) {
		own.Path = d.path
		return own
	}
	var se *sqlite.Error
	if !errors.As(err, &se) {
		if errors.Is(err, sql.ErrConnDone) || (err != nil && err.Error() == "sql: database is closed") {
			return &Error{Op: op, Path: d.path, Kind: ErrClosed}
		}
		return fileError(op, d.path, err)
	}
	return &Error{Op: op, Path: d.path, Kind: kindOf(se.Code()), Err: err}
}

func kindOf(code int) error {
	switch code & 0xff {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return ErrLocked
	case lib.SQLITE_FULL:
		return ErrFull
	case lib.SQLITE_CORRUPT:
		return ErrCorrupt
	case lib.SQLITE_NOTADB:
		return ErrForeign
	case lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN, lib.SQLITE_PERM:
		return ErrReadOnly
	case lib.SQLITE_IOERR:
		if code == lib.SQLITE_IOERR_SHORT_READ {
			return ErrCorrupt
		}
	}
	return nil
}
