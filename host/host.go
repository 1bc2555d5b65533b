// Package host is the seam between tools and the place where they act: a file system ([Host]), and where it has a command
// half ([Commander]) the processes beside it ([Runner]).
//
// A Host resolves paths, reads, and commits changesets. It judges nothing: whether a path may be read or written is
// decided by policy from the [Path] that Resolve returns. What it does promise is that the path that was judged is the
// path that is used: Open and Commit take resolved paths and refuse to follow a symbolic link that appeared since.
//
// A Runner starts commands and owns their process trees; what holds them it says itself ([Confinement]).
//
// host/local acts on this machine. Every implementation of Host joins the suite in host/hosttest, every Runner that in
// host/runnertest.
package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/tackle-dev/tackle/change"
)

// Host is a place where tools act. Implementations are safe for concurrent use.
type Host interface {
	// Info describes the host. It does not change while the host is open.
	Info() Info

	// Resolve turns a path as a model wrote it (absolute, or relative to cwd, which may be empty for the first root)
	// into a Path. It follows symbolic links, also dangling ones, and does not require the path to exist.
	// Errors: *PathError with ErrInvalidPath (NUL, too long, a link loop), or an access error.
	Resolve(ctx context.Context, cwd, path string) (Path, error)

	// Stat describes the file at a resolved path without opening it; a FIFO is described, never opened.
	// Errors: *PathError with fs.ErrNotExist or fs.ErrPermission.
	Stat(ctx context.Context, real string) (FileInfo, error)

	// Open opens a regular file at a resolved path for reading.
	// Errors: *PathError with fs.ErrNotExist, fs.ErrPermission, ErrIsDir, ErrSpecial or ErrChanged (a link appeared).
	Open(ctx context.Context, real string) (File, error)

	// ReadDir lists a directory at a resolved path, sorted by name.
	ReadDir(ctx context.Context, real string) ([]FileInfo, error)

	// Commit carries out a set, all of it or nothing, and keeps before-images. An empty set is a no-op.
	// Parent directories that are missing are made, and listed in the receipt and the transaction.
	// Errors: *StaleError when a path is not what the set expects (nothing is written then), or *PathError: with
	// fs.ErrExist when the ID is that of a finished transaction, fs.ErrPermission (also for a file without any write bit,
	// unless the set gives it one), ErrNoSpace, ErrSpecial, ErrChanged, ErrNotEmpty, ErrNotDir.
	Commit(ctx context.Context, set *change.Set, opt CommitOptions) (Receipt, error)

	// Lock takes the cross-process write locks of the given resolved paths, in an order that cannot deadlock, and
	// returns a context that Commit recognises as holding them. It waits until ctx ends. With that context, a Commit of
	// other paths and a second Lock are refused with ErrUnsupported.
	Lock(ctx context.Context, paths ...string) (held context.Context, unlock func(), err error)

	// Recover finishes or rolls back transactions that an earlier process left behind and sweeps its temporary files.
	Recover(ctx context.Context) (Recovery, error)

	// Transactions lists committed transactions, oldest first, beginning after the given id ("" for all that are kept).
	Transactions(ctx context.Context, after string) ([]Transaction, error)

	// Image returns the state that a path had before the given transaction. Where the transaction did not change the
	// content (a move, a mode), the state has none.
	// Errors: *PathError with fs.ErrNotExist when the image expired or the transaction does not name the path.
	Image(ctx context.Context, tx, path string) (change.State, error)
}

// Info describes a host.
type Info struct {
	Name     string   // "local", "sandbox", "ssh:box", …
	OS       string   // GOOS of the place
	Roots    []Root   // workspace roots; the first is the default working directory
	Home     string   // "" where there is none
	StateDir string   // journal, locks and before-images; never inside a root that tools list
	Notes    []string // what this host cannot do, each a sentence for doctor ("no openat2: …")
}

// Root is a workspace root.
type Root struct {
	Name string // short name, unique in the host
	Path string // absolute and resolved
}

// Path is a resolved path: what was asked for, and what it really is.
type Path struct {
	Given string // as the caller wrote it
	Abs   string // absolute and lexically clean, links not followed
	Real  string // absolute, links followed; parts that do not exist are kept as written
	Self  string // like Real, but a link as the last part is not followed: what delete and move act on
	Root  string // Path of the root that contains Real, or "" when it is outside of every root
	Rel   string // Real relative to Root with slashes ("." for the root itself), or Real when outside
	Link  bool   // Abs and Real differ because of a symbolic link below the root
}

// Inside reports whether the path lies in a workspace root.
func (p Path) Inside() bool { return p.Root != "" }

// FileInfo describes a path. Name is the base name.
type FileInfo struct {
	Name    string
	Type    change.Type // File, Dir, Symlink; Absent stands for a special file, with Special set
	Special string      // "fifo", "socket", "device", or ""
	Mode    fs.FileMode // permission bits
	Size    int64       // bytes
	ModTime time.Time
	Target  string // of a symbolic link
	Dev     uint64 // identity, 0 where unknown
	Ino     uint64
	Links   uint64 // hard links of a file, 0 where unknown; above 1 a write changes the file under its other names too
}

// File is an open regular file.
type File interface {
	io.Reader
	io.ReaderAt
	io.Closer
	Info() FileInfo
}

// CommitOptions tune one commit.
type CommitOptions struct {
	// ID names the transaction; "" makes one. A commit with the ID of a finished transaction is an error.
	ID string
	// Durable syncs files and directories before Commit returns. Default false: a crash of the machine may lose the
	// change, a crash of the process may not. The commit point of a set with several operations is always synced.
	Durable bool
	// PreserveInode writes in place and keeps inode and birth time. Default false: exchange by rename.
	PreserveInode bool
	// Note is kept with the transaction: tool name, session and call, for listings.
	Note map[string]string
}

// Receipt says what a commit did.
type Receipt struct {
	ID    string // transaction id; "" for an empty set
	At    time.Time
	Files []Committed
}

// Committed is one path of a receipt.
type Committed struct {
	Path     string
	Digest   change.Digest // after; zero for a deleted path
	Strategy string        // "create", "exchange", "in-place: hard link", "delete", "move", …
}

// Transaction is one committed set as the journal keeps it.
type Transaction struct {
	ID    string
	At    time.Time
	Note  map[string]string
	Paths []TxPath
}

// TxPath is one path of a transaction, with digests and types only; contents come from Image.
type TxPath struct {
	Kind         change.Kind
	Path, To     string
	BeforeType   change.Type
	AfterType    change.Type
	BeforeDigest change.Digest // zero where the host did not compute it: a large content that Image still has
	AfterDigest  change.Digest
	BeforeMode   fs.FileMode
	AfterMode    fs.FileMode // 0 where the host chose
	BeforeSize   int64       // bytes, of files
	AfterSize    int64
	BeforeTarget string // of symbolic links
	AfterTarget  string
	HasImage     bool // the before-image is still kept
}

// Recovery says what Recover found.
type Recovery struct {
	Finished  []string // transactions rolled forward
	Dropped   []string // transactions that had not reached their commit point
	Conflicts []Conflict
	Swept     int // temporary files removed
}

// Conflict is a transaction that recovery stopped at because a path has a third content. Nothing was overwritten.
type Conflict struct {
	ID, Path, Reason string
}

// Errors that host functions wrap in a *PathError.
var (
	ErrInvalidPath = errors.New("invalid path")
	ErrIsDir       = errors.New("is a directory")
	ErrNotDir      = errors.New("is not a directory")
	ErrSpecial     = errors.New("is not a regular file")
	ErrNotEmpty    = errors.New("directory is not empty")
	ErrChanged     = errors.New("changed while it was used")
	ErrNoSpace     = errors.New("no space left")
	ErrUnsupported = errors.New("not supported on this platform")
)

// PathError is a failure at one path. Err is one of the errors above or of io/fs, possibly wrapped with detail.
type PathError struct {
	Op, Path string
	Err      error
}

func (e *PathError) Error() string { return fmt.Sprintf("%s %s: %v", e.Op, e.Path, e.Err) }

func (e *PathError) Unwrap() error { return e.Err }

// StaleError says that a path is not what a set expects. Nothing was written.
type StaleError struct {
	Path    string
	Want    change.State // as planned
	Current change.State // as found, content included when it is a regular file of reasonable size
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("%s changed since the change was planned (expected %s, found %s)", e.Path, describe(e.Want), describe(e.Current))
}

func describe(s change.State) string {
	if s.Type == change.File {
		return fmt.Sprintf("%d bytes %.8s", s.Blob.Size(), s.Blob.Digest())
	}
	return s.Type.String()
}
