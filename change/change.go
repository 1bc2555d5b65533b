// Package change holds changesets: what a call would do to files, as values.
//
// A [Set] is the only way in which tackle writes a file. Tools plan one, people see its [Preview], policy binds its
// [Set.Fingerprint], and a host commits it: all of its operations or none. The package computes and never touches a
// file system, so that a set can be planned in one process, shown in a second and compared in a third.
package change

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
)

// Digest is the SHA-256 of some bytes. The zero Digest means "unknown".
type Digest [sha256.Size]byte

// Sum returns the digest of data.
func Sum(data []byte) Digest { return sha256.Sum256(data) }

// String returns the digest in lower-case hex, the form that sha256sum prints.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// IsZero reports whether the digest is unknown.
func (d Digest) IsZero() bool { return d == Digest{} }

// MarshalText and UnmarshalText use the hex form.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText parses the hex form.
func (d *Digest) UnmarshalText(b []byte) error {
	if hex.DecodedLen(len(b)) != len(d) {
		return fmt.Errorf("digest %q: want %d hex digits", b, 2*len(d))
	}
	_, err := hex.Decode(d[:], b)
	return err
}

// ParseDigest parses the hex form.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	err := d.UnmarshalText([]byte(s))
	return d, err
}

// Blob is immutable content whose digest is computed once, when first asked for. A Blob is safe for concurrent use.
type Blob struct {
	data  []byte
	size  int64
	known bool // data is held
	once  sync.Once
	sum   Digest
	done  atomic.Bool // sum is set
}

// NewBlob wraps data, which must not change afterwards.
func NewBlob(data []byte) *Blob { return &Blob{data: data, size: int64(len(data)), known: true} }

// KnownBlob describes content that is not held in memory.
func KnownBlob(sum Digest, size int64) *Blob {
	b := &Blob{size: size}
	b.once.Do(func() { b.sum = sum })
	b.done.Store(true)
	return b
}

// Bytes returns the content, or nil and false where only the digest is known. The caller must not change it.
func (b *Blob) Bytes() ([]byte, bool) {
	if b == nil {
		return nil, false
	}
	return b.data, b.known
}

// Size returns the length in bytes.
func (b *Blob) Size() int64 {
	if b == nil {
		return 0
	}
	return b.size
}

// Digest returns the SHA-256 of the content; the first call computes it.
func (b *Blob) Digest() Digest {
	if b == nil {
		return Digest{}
	}
	b.once.Do(func() {
		b.sum = Sum(b.data)
		b.done.Store(true)
	})
	return b.sum
}

// Known returns the digest if it was computed already, and does not compute it.
func (b *Blob) Known() (Digest, bool) {
	if b == nil || !b.done.Load() {
		return Digest{}, b == nil
	}
	return b.sum, true
}

// Type is the type of a path.
type Type uint8

// The types of paths that a changeset can speak of. Anything else (device, socket, FIFO) is refused before planning.
const (
	Absent Type = iota
	File
	Dir
	Symlink
)

func (t Type) String() string {
	return [...]string{"absent", "file", "dir", "symlink"}[t]
}

// State is what a path is, or shall be. The zero State is an absent path.
type State struct {
	Type   Type
	Mode   fs.FileMode // permission bits; 0 in a State that is to be made means the host's default
	Blob   *Blob       // File only
	Target string      // Symlink only
}

// FileState returns the state of a regular file.
func FileState(data []byte, mode fs.FileMode) State {
	return State{Type: File, Mode: mode.Perm(), Blob: NewBlob(data)}
}

// Kind is the kind of an operation.
type Kind uint8

// The kinds of operations.
const (
	Write  Kind = iota // create or replace a file or link: Path, Before, After
	Delete             // remove a file, link or empty directory: Path, Before
	Move               // rename Path to To, never over something: Path, To, Before
	Mkdir              // make a directory: Path, After; it is no error where the directory exists
	Chmod              // change permission bits only: Path, Before, After
)

func (k Kind) String() string {
	return [...]string{"write", "delete", "move", "mkdir", "chmod"}[k]
}

// Op is one operation of a Set. Paths are absolute, clean and free of symbolic links (the host resolves them).
type Op struct {
	Kind   Kind
	Path   string
	To     string // Move only
	Before State  // what Path must be when the operation runs
	After  State  // what Path becomes (Write, Mkdir, Chmod)
}

// Create returns the operation that makes a new file; the path must be absent.
func Create(path string, data []byte, mode fs.FileMode) Op {
	return Op{Kind: Write, Path: path, After: FileState(data, mode)}
}

// Replace returns the operation that gives an existing file new content and keeps its mode.
func Replace(path string, before State, data []byte) Op {
	return Op{Kind: Write, Path: path, Before: before, After: State{Type: File, Mode: before.Mode, Blob: NewBlob(data)}}
}

// Set is an ordered list of operations that are committed together. A path appears in at most one operation
// (Move counts for both of its paths). The zero Set is empty and valid; committing it does nothing.
type Set struct {
	Ops []Op
}

// Empty reports whether the set does nothing.
func (s *Set) Empty() bool { return s == nil || len(s.Ops) == 0 }
