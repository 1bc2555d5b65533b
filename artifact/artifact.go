// Package artifact keeps output that is too large for a conversation and hands it out again by a short id.
//
// [Store.Put] spools any reader in constant memory; the id is made of the digest, so the same bytes have the same id.
// [Store.Open] gives random access, [Store.Path] a file that file tools can read. Questions about the content (lines,
// grep, JSON, sections) are answered by package artifact/query without loading it.
//
// Artifacts belong to sessions. They expire by age and by total size ([Store.Expire]), never while a session that refers
// to them is live, which is: while its lease runs. Put, Share and Hold renew the lease.
package artifact

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tackle-dev/tackle/internal/store"
)

// The defaults of Options.
const (
	DefaultMaxAge   = 7 * 24 * time.Hour
	DefaultMaxBytes = 2 << 30
	DefaultLease    = 24 * time.Hour
	DefaultGrace    = 10 * time.Minute
)

// Options tune a Store. In each field 0 means the default.
type Options struct {
	// Dir is where Path makes files: DIR/SESSION/ID.ext. Without it there are no paths.
	Dir string
	// MaxAge is how long an artifact is kept after it was last put or shared. Default 7 days.
	MaxAge time.Duration
	// MaxBytes bounds the bytes of all artifacts together; beyond it the oldest go first. Default 2 GiB.
	MaxBytes int64
	// Lease is how long a session counts as live after it last put, shared or held. Default 24 hours.
	Lease time.Duration
	// Grace protects what is younger, whatever the limits: somebody may be storing it at this moment. Default 10 minutes.
	Grace time.Duration
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	o.MaxAge = cmp.Or(o.MaxAge, DefaultMaxAge)
	o.MaxBytes = cmp.Or(o.MaxBytes, DefaultMaxBytes)
	o.Lease = cmp.Or(o.Lease, DefaultLease)
	o.Grace = cmp.Or(o.Grace, DefaultGrace)
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Artifact describes spooled output.
type Artifact struct {
	ID      string    `json:"id"`      // short and typable, see [ParseID]
	Session string    `json:"session"` // that refers to it
	Name    string    `json:"name"`    // what it is, such as "shell output" or a file name
	MIME    string    `json:"mime"`
	Size    int64     `json:"size"`  // bytes
	Lines   int64     `json:"lines"` // a last line without newline counts; 0 for binary content
	Digest  string    `json:"digest"`
	Created time.Time `json:"created"`
}

// NotFoundError says that there is no such artifact, or not any more. It wraps fs.ErrNotExist.
type NotFoundError struct {
	ID     string // as it was asked for
	Reason string // "" where it is simply unknown
}

func (e *NotFoundError) Error() string {
	s := fmt.Sprintf("there is no artifact %q", e.ID)
	if e.Reason != "" {
		return s + ": " + e.Reason
	}
	return s + "; it may have expired: list those that exist"
}

// Unwrap makes errors.Is(err, fs.ErrNotExist) true.
func (e *NotFoundError) Unwrap() error { return fs.ErrNotExist }

// Store keeps artifacts: their bytes as blobs, what refers to them as records. The blobs must hold nothing else,
// because Expire deletes those that no record names. A Store is safe for concurrent use, also by several processes.
type Store struct {
	records store.Records
	blobs   store.Blobs
	opt     Options

	mu     sync.Mutex
	leases map[string]time.Time // leases that this process wrote
}

// New returns a store of artifacts. It touches nothing.
func New(records store.Records, blobs store.Blobs, opt Options) *Store {
	return &Store{records: records, blobs: blobs, opt: opt.withDefaults(), leases: map[string]time.Time{}}
}

// The spaces of records.
const (
	space      = "artifact"       // key ID/SESSION/TIME, owner SESSION, body Artifact: one for each time it was put
	leaseSpace = "artifact.lease" // key SESSION, At is when the lease ends
	tidySpace  = "artifact.tidy"  // key "last", At is when Tidy last ran
)

// Put stores all that r gives for a session. An empty mime is found out from the name and the first bytes. Errors: those
// of r, or of the store.
func (s *Store) Put(ctx context.Context, session, name, mime string, r io.Reader) (Artifact, error) {
	m := &meter{r: r}
	blob, err := s.blobs.Put(ctx, m)
	if err != nil {
		return Artifact{}, fmt.Errorf("keep %s as an artifact: %w", name, err)
	}
	a := Artifact{Session: session, Name: clean(name), MIME: mime, Size: blob.Size, Lines: m.total(), Digest: blob.Digest}
	if a.MIME == "" {
		a.MIME = sniff(a.Name, m.head)
	}
	if m.binary {
		a.Lines = 0
	}
	if a.ID, err = s.idFor(ctx, blob.Digest); err != nil {
		return Artifact{}, err
	}
	return s.refer(ctx, a)
}

// Share makes a session refer to an artifact of another one, so that it lives as long as either.
func (s *Store) Share(ctx context.Context, id, session string) (Artifact, error) {
	a, err := s.Get(ctx, id)
	if err != nil {
		return Artifact{}, err
	}
	a.Session = session
	return s.refer(ctx, a)
}

// refer records that a session refers to an artifact now, and renews its lease. Each time makes a record of its own, so
// that an Expire that runs at this moment can only remove older ones; a very young one is used again.
func (s *Store) refer(ctx context.Context, a Artifact) (Artifact, error) {
	now := s.opt.Now().UTC().Truncate(time.Microsecond)
	refs, err := s.refs(ctx, a.ID)
	if err != nil {
		return Artifact{}, err
	}
	for _, old := range refs {
		if old.Session == a.Session && old.Name == a.Name && now.Sub(old.Created) < s.opt.Grace/2 {
			return old.Artifact, s.Hold(ctx, a.Session)
		}
	}
	a.Created = now
	body, err := json.Marshal(a)
	if err != nil {
		return Artifact{}, err
	}
	rec := store.Record{Space: space, Key: fmt.Sprintf("%s/%s/%d", a.ID, a.Session, now.UnixMicro()), Owner: a.Session, At: now, Body: body}
	if err := s.records.Set(ctx, append(s.renewal(a.Session, now), rec)...); err != nil {
		return Artifact{}, err
	}
	return a, nil
}

// ref is an artifact with the key of the record that refers to it.
type ref struct {
	Artifact
	key string
}

// refs returns all references to an artifact, the newest first.
func (s *Store) refs(ctx context.Context, id string) ([]ref, error) {
	return s.list(ctx, store.RecordQuery{Prefix: id + "/"})
}

func (s *Store) list(ctx context.Context, q store.RecordQuery) ([]ref, error) {
	recs, err := s.records.List(ctx, space, q)
	if err != nil {
		return nil, err
	}
	out := make([]ref, len(recs))
	for i, r := range recs {
		if err := json.Unmarshal(r.Body, &out[i].Artifact); err != nil {
			return nil, fmt.Errorf("record of artifact %s: %w", r.Key, err)
		}
		out[i].key = r.Key
	}
	slices.SortStableFunc(out, func(a, b ref) int { return b.Created.Compare(a.Created) })
	return out, nil
}

// Get describes an artifact. It takes every form of an id that [ParseID] takes. Errors: *NotFoundError.
func (s *Store) Get(ctx context.Context, id string) (Artifact, error) {
	parsed, ok := ParseID(id)
	if !ok {
		return Artifact{}, &NotFoundError{ID: id, Reason: "an id looks like a7k2m9x"}
	}
	refs, err := s.refs(ctx, parsed)
	if err != nil {
		return Artifact{}, err
	}
	if len(refs) == 0 {
		return Artifact{}, &NotFoundError{ID: id}
	}
	return refs[0].Artifact, nil
}

// List returns the artifacts that a session refers to, those of all sessions where it is "", the newest first.
func (s *Store) List(ctx context.Context, session string) ([]Artifact, error) {
	all, err := s.list(ctx, store.RecordQuery{Owner: session})
	if err != nil {
		return nil, err
	}
	var out []Artifact
	seen := map[[2]string]bool{}
	for _, r := range all {
		if key := [2]string{r.ID, r.Session}; !seen[key] {
			seen[key] = true
			out = append(out, r.Artifact)
		}
	}
	return out, nil
}

// Reader is an open artifact.
type Reader struct {
	store.Content
	Artifact Artifact
}

// Name returns what the artifact is.
func (r *Reader) Name() string { return r.Artifact.Name }

// MIME returns the media type.
func (r *Reader) MIME() string { return r.Artifact.MIME }

// Open opens an artifact for reading from any place. Errors: *NotFoundError.
func (s *Store) Open(ctx context.Context, id string) (*Reader, error) {
	a, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	c, err := s.blobs.Open(ctx, a.Digest)
	if errors.Is(err, store.ErrNotFound) {
		return nil, &NotFoundError{ID: id, Reason: "its bytes are gone from the store"}
	}
	if err != nil {
		return nil, err
	}
	if c.Size() != a.Size {
		c.Close()
		return nil, &NotFoundError{ID: id, Reason: fmt.Sprintf("%d of its %d bytes are left, the machine went down while it was written", c.Size(), a.Size)}
	}
	return &Reader{Content: c, Artifact: a}, nil
}

// meter counts the lines of what passes and keeps its start.
type meter struct {
	r      io.Reader
	lines  int64
	head   []byte
	last   byte
	any    bool
	binary bool // a NUL passed
}

const headSize = 512

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if n > 0 {
		got := p[:n]
		m.lines += int64(bytes.Count(got, []byte{'\n'}))
		m.last, m.any = got[n-1], true
		m.binary = m.binary || bytes.IndexByte(got, 0) >= 0
		if room := headSize - len(m.head); room > 0 {
			m.head = append(m.head, got[:min(room, n)]...)
		}
	}
	return n, err
}

func (m *meter) total() int64 {
	if m.any && m.last != '\n' {
		return m.lines + 1
	}
	return m.lines
}

// clean makes a name one line of at most 200 characters.
func clean(name string) string {
	name = strings.Join(strings.Fields(strings.ToValidUTF8(name, "\uFFFD")), " ")
	if r := []rune(name); len(r) > 200 {
		name = string(r[:200])
	}
	return cmp.Or(name, "output")
}
