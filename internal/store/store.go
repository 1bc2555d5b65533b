// Package store keeps what must outlive a process: events, records and blobs.
//
//   - [Events] are the truth: append-only, numbered without gaps in each session. What happened in a session is the
//     fold of its events. [Feed] is the same events in the order in which they were stored, over all sessions.
//   - [Records] are small mutable notes that can be rebuilt or lost without losing history: indexes, leases, grants.
//   - [Blobs] are content-addressed bytes of any size.
//
// [Open] gives all three on the local machine: one SQLite file and a folder of blobs. Opening touches nothing; the
// first use does, in well under a millisecond, so that a program that answers one question does not pay for a database.
// [Memory] is the same in memory, for tests and for embedding. Every implementation joins the suite in storetest.
//
// Several processes may share a store. A writer waits for another up to [Options.Busy]; readers never wait.
//
// # What a crash can cost
//
// Append returns when the event is in SQLite's write-ahead log, handed to the operating system: a process that is
// killed at any moment loses nothing that Append had returned. Only a power loss or a crash of the machine can lose
// the last events, those that the system had not written out yet; earlier ones stay whole and the file stays
// consistent. [DB.Sync] closes that gap for the moments that matter (a person's answer), [Options.Durable] for every
// append. Persist before publish: show an event to nobody before Append has returned it.
//
// Sessions whose name begins with "." are streams of the program itself (".ledger"); [Events.Sessions] lists them only
// when asked for by prefix.
package store

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"time"
)

// MaxBody is the largest body of an event or record in bytes; more belongs in a blob.
const MaxBody = 16 << 20

// Event is one thing that happened in a session.
type Event struct {
	Session string `json:"session"`
	// Seq numbers the events of a session from 1 without gaps. In an event to be appended 0 means "the next one";
	// any other number is what the caller expects to get, and a [ConflictError] says that somebody was faster.
	Seq int64 `json:"seq"`
	// At is when it happened, in UTC and whole microseconds. A zero At is set by Append.
	At   time.Time `json:"at"`
	Kind string    `json:"kind"`
	// Key, where not empty, is unique in the session: appending it again stores nothing and returns the first number.
	Key  string          `json:"key,omitempty"`
	Body json.RawMessage `json:"body,omitempty"` // valid JSON; nil is stored as null
}

// Events is an append-only log for each session. Implementations are safe for concurrent use.
type Events interface {
	// Append stores the events, all or none, possibly of several sessions, and returns the number of each. It has
	// happened when Append returns nil. Errors: *ConflictError, or an *Error.
	Append(ctx context.Context, evs ...Event) ([]int64, error)

	// Read returns the events of a session behind number after, in order, at most limit of them (all when limit is
	// not positive). An unknown session has no events.
	Read(ctx context.Context, session string, after int64, limit int) ([]Event, error)

	// Last returns the number of the newest event of a session, 0 where there is none.
	Last(ctx context.Context, session string) (int64, error)

	// Sessions lists sessions, the most recently used first.
	Sessions(ctx context.Context, f Filter) ([]Session, error)
}

// Filter selects sessions. The zero Filter selects all but the program's own streams.
type Filter struct {
	Prefix string    // of the name; a prefix that begins with "." selects the program's own streams
	Since  time.Time // with an event at or after this time
	Limit  int       // not positive: all
}

// Session describes a session by its ends.
type Session struct {
	ID      string    `json:"id"`
	Last    int64     `json:"last"`    // number of its newest event
	Updated time.Time `json:"updated"` // time of its newest event
	First   Event     `json:"first"`   // its first event, which by habit says what the session is
}

// Record is a small mutable note, addressed by space and key.
type Record struct {
	Space string          `json:"space"` // names the user of the record, such as "artifact"
	Key   string          `json:"key"`
	Owner string          `json:"owner,omitempty"` // what the record belongs to, such as a session; may be empty
	At    time.Time       `json:"at"`              // UTC, microseconds; a zero At is set by Set
	Body  json.RawMessage `json:"body"`
}

// Records is a table of records. Implementations are safe for concurrent use.
type Records interface {
	// Set stores records, all or none, each in place of one with the same space and key.
	Set(ctx context.Context, recs ...Record) error

	// Get returns a record, or an *Error of kind ErrNotFound.
	Get(ctx context.Context, space, key string) (Record, error)

	// Unset removes records; one that does not exist is no error.
	Unset(ctx context.Context, space string, keys ...string) error

	// List returns the records of a space in the order of their keys.
	List(ctx context.Context, space string, q RecordQuery) ([]Record, error)
}

// RecordQuery selects records of a space. The zero RecordQuery selects all; conditions are joined by "and".
type RecordQuery struct {
	Owner  string
	Prefix string // of the key
}

// Blob describes stored bytes.
type Blob struct {
	Digest string    `json:"digest"` // SHA-256 in lower-case hex
	Size   int64     `json:"size"`   // bytes
	At     time.Time `json:"at"`     // when it was last put
}

// Content is an open blob.
type Content interface {
	io.ReadSeekCloser
	io.ReaderAt
	Size() int64
}

// Blobs is a content-addressed store of bytes. Implementations are safe for concurrent use.
type Blobs interface {
	// Put stores all that r gives; a blob is there as a whole or not at all. Putting known bytes stores nothing and
	// renews the blob's At. Errors: those of r as they are, or an *Error.
	Put(ctx context.Context, r io.Reader) (Blob, error)

	// Open opens a blob, or returns an *Error of kind ErrNotFound.
	Open(ctx context.Context, digest string) (Content, error)

	// Stat describes a blob, or returns an *Error of kind ErrNotFound.
	Stat(ctx context.Context, digest string) (Blob, error)

	// Delete removes a blob that was last put before a time (any blob where that is zero), so that bytes that
	// somebody is putting again at this moment survive. It reports whether the blob is gone; one that never was is.
	Delete(ctx context.Context, digest string, before time.Time) (bool, error)

	// Walk visits every blob in no particular order.
	Walk(ctx context.Context) iter.Seq2[Blob, error]
}

// Store is all of it.
type Store interface {
	Events
	Feed
	Records
	Blobs
	io.Closer
}
