package store

import "path/filepath"

// Local is a store on this machine: DIR/tackle.db and DIR/blobs.
type Local struct {
	*DB
	*Disk
}

// Open returns the store in a folder. It touches nothing; the first use opens or makes what it needs, and its error is
// that of the use. [DB.Ping] opens the database at once.
func Open(dir string, opt Options) *Local {
	return &Local{DB: NewDB(filepath.Join(dir, "tackle.db"), opt), Disk: NewDisk(filepath.Join(dir, "blobs"), opt)}
}

var (
	_ Store = (*Local)(nil)
	_ Store = (*Memory)(nil)
)
