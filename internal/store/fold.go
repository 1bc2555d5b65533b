package store

import (
	"context"
	"os"
)

const (
	foldAt    = 8 << 20 // bytes of the write-ahead log that start a fold
	lookEvery = 64      // writes between two looks at its size
)

// wrote is called after each write. SQLite would fold the log into the file inside an append, which then takes as long
// as the disk needs to flush (measured: up to 0.4 s); here a goroutine does it beside the appends. The size is that of
// the file, because other processes write to the same log, and short ones never write enough to fold it themselves.
func (d *DB) wrote(c *conn) {
	if c.writes.Add(1)%lookEvery != 1 {
		return
	}
	if fi, err := os.Stat(d.path + "-wal"); err != nil || fi.Size() < foldAt {
		return
	}
	if !c.folding.CompareAndSwap(false, true) {
		return
	}
	d.mu.Lock() // Close must not begin to wait between the check and the start
	defer d.mu.Unlock()
	if d.conn != c {
		return
	}
	c.folder.Go(func() {
		defer c.folding.Store(false)
		d.fold()
	})
}

// fold empties the log on a connection of its own: most of it beside the writers, and only the rest, which was written
// meanwhile, while they wait. A fold that others are in the way of is done at the next occasion.
func (d *DB) fold() {
	p, err := d.pool(1, "")
	if err != nil {
		return
	}
	defer p.Close()
	for _, mode := range []string{"passive", "truncate"} {
		if _, err := p.ExecContext(context.Background(), `pragma wal_checkpoint(`+mode+`)`); err != nil {
			return
		}
	}
}
