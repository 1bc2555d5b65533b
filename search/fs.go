package search

import (
	"context"
	"errors"
	"io"
	"time"
)

// FS is what the engine needs of a file system. [Local] is this machine, [HostFS] adapts a host.
type FS interface {
	// Root opens a directory by its absolute, resolved path. Errors wrap those of io/fs; ErrNotDir for anything else.
	Root(ctx context.Context, path string) (Dir, error)
}

// Dir is an open directory. Its methods may be called by several goroutines at once. Names are single components.
type Dir interface {
	// Sub opens a directory below by a relative path of one or more components. No component may be a link.
	Sub(path string) (Dir, error)

	// Entries adds everything in the directory but "." and "..", in any order.
	Entries(e *Entries) error

	// Read opens a regular file and reads until buf is full or the file ends. When it ended, rest is nil; otherwise rest
	// reads on. Links are never followed, and what is no regular file is never waited for: ErrNotRegular.
	Read(name string, buf []byte) (n int, rest OpenFile, err error)

	// Stat describes an entry without following a link, or with "." the directory itself.
	Stat(name string) (Info, error)

	Close() error
}

// OpenFile is the unread rest of an open file.
type OpenFile interface {
	io.ReadCloser
	Size() (int64, error) // of the whole file, now
}

// Info describes an entry.
type Info struct {
	Kind    Kind
	Size    int64
	ModTime time.Time
	Dev     uint64 // identity of the file system, 0 where unknown
}

// Kind is the type of a directory entry.
type Kind uint8

// The kinds. Unknown means that the file system does not say without Stat.
const (
	Unknown Kind = iota
	RegularFile
	Directory
	SymbolicLink
	SpecialFile
)

var kindNames = [...]string{"unknown", "file", "directory", "link", "special"}

func (k Kind) String() string { return kindNames[k] }

// Errors of file systems, besides those of io/fs.
var (
	ErrNotDir     = errors.New("is not a directory")
	ErrNotRegular = errors.New("is not a regular file")
	ErrLink       = errors.New("a symbolic link stands in a path that was resolved")
)

// Entries is a reusable listing.
type Entries struct {
	text []byte
	list []dirent
}

type dirent struct {
	off  uint32
	n    uint16
	kind Kind
}

// Add adds an entry.
func (e *Entries) Add(name string, kind Kind) {
	e.list = append(e.list, dirent{uint32(len(e.text)), uint16(len(name)), kind})
	e.text = append(e.text, name...)
}

func (e *Entries) reset() { e.text, e.list = e.text[:0], e.list[:0] }

func (e *Entries) name(d dirent) []byte { return e.text[d.off : d.off+uint32(d.n)] }
