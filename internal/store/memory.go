package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"
)

// Memory is a Store in memory, for tests and for programs that keep nothing. The zero Memory is ready for use.
type Memory struct {
	Now func() time.Time // default time.Now

	mu      sync.Mutex
	events  map[string][]Event
	keys    map[[2]string]int64 // session and key → number
	records map[[2]string]Record
	blobs   map[string]memoryBlob
	feed    []Fed
	fed     int64 // number of the newest
	bell    bell
	closed  bool
}

type memoryBlob struct {
	data []byte
	at   time.Time
}

func (m *Memory) now() time.Time {
	if m.Now == nil {
		return time.Now()
	}
	return m.Now()
}

// lock takes the lock, unless the store is closed or the caller has gone.
func (m *Memory) lock(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return &Error{Op: op, Kind: ErrClosed}
	}
	return nil
}

// Append implements [Events].
func (m *Memory) Append(ctx context.Context, evs ...Event) ([]int64, error) {
	evs, err := normal(evs, m.now)
	if err != nil || len(evs) == 0 {
		return nil, err
	}
	if err := m.lock(ctx, "append"); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	seqs := make([]int64, len(evs))
	next := map[string]int64{}
	fresh := map[[2]string]int64{}
	for i, e := range evs {
		key := [2]string{e.Session, e.Key}
		if e.Key != "" {
			if seq := cmp.Or(m.keys[key], fresh[key]); seq != 0 {
				seqs[i] = seq
				continue
			}
		}
		n := cmp.Or(next[e.Session], int64(len(m.events[e.Session]))+1)
		if e.Seq != 0 && e.Seq != n {
			return nil, &ConflictError{Session: e.Session, Want: e.Seq, Last: int64(len(m.events[e.Session]))}
		}
		next[e.Session] = n + 1
		if e.Key != "" {
			fresh[key] = n
		}
		seqs[i], evs[i].Seq = n, -n // marked as new
	}
	if m.events == nil {
		m.events, m.keys = map[string][]Event{}, map[[2]string]int64{}
	}
	for _, e := range evs {
		if e.Seq < 0 {
			e.Seq, e.Body = -e.Seq, bytes.Clone(e.Body)
			m.events[e.Session] = append(m.events[e.Session], e)
			m.fed++
			m.feed = append(m.feed, Fed{ID: m.fed, Event: e})
		}
	}
	maps.Copy(m.keys, fresh)
	m.bell.ring()
	return seqs, nil
}

// Read implements [Events].
func (m *Memory) Read(ctx context.Context, session string, after int64, limit int) ([]Event, error) {
	if err := m.lock(ctx, "read"); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	evs := m.events[session]
	evs = evs[min(max(after, 0), int64(len(evs))):]
	if limit > 0 && len(evs) > limit {
		evs = evs[:limit]
	}
	return slices.Clone(evs), nil
}

// Last implements [Events].
func (m *Memory) Last(ctx context.Context, session string) (int64, error) {
	if err := m.lock(ctx, "read"); err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	return int64(len(m.events[session])), nil
}

// Sessions implements [Events].
func (m *Memory) Sessions(ctx context.Context, f Filter) ([]Session, error) {
	if err := m.lock(ctx, "list sessions"); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var out []Session
	for id, evs := range m.events {
		newest := evs[len(evs)-1]
		if s := (Session{ID: id, Last: newest.Seq, Updated: newest.At, First: evs[0]}); f.matches(s) {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b Session) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.ID, b.ID))
	})
	if f.Limit > 0 && len(out) > f.Limit {
		out = out[:f.Limit]
	}
	return out, nil
}

// Set implements [Records].
func (m *Memory) Set(ctx context.Context, recs ...Record) error {
	recs, err := normalRecords(recs, m.now)
	if err != nil {
		return err
	}
	if err := m.lock(ctx, "set"); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if m.records == nil {
		m.records = map[[2]string]Record{}
	}
	for _, r := range recs {
		r.Body = bytes.Clone(r.Body)
		m.records[[2]string{r.Space, r.Key}] = r
	}
	return nil
}

// Get implements [Records].
func (m *Memory) Get(ctx context.Context, space, key string) (Record, error) {
	if err := m.lock(ctx, "get record"); err != nil {
		return Record{}, err
	}
	defer m.mu.Unlock()
	r, ok := m.records[[2]string{space, key}]
	if !ok {
		return Record{}, noRecord(space, key)
	}
	return r, nil
}

// Unset implements [Records].
func (m *Memory) Unset(ctx context.Context, space string, keys ...string) error {
	if err := m.lock(ctx, "unset"); err != nil {
		return err
	}
	defer m.mu.Unlock()
	for _, k := range keys {
		delete(m.records, [2]string{space, k})
	}
	return nil
}

// List implements [Records].
func (m *Memory) List(ctx context.Context, space string, q RecordQuery) ([]Record, error) {
	if err := m.lock(ctx, "list records"); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var out []Record
	for _, r := range m.records {
		if r.Space == space && q.matches(r) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b Record) int { return cmp.Compare(a.Key, b.Key) })
	return out, nil
}

// Put implements [Blobs].
func (m *Memory) Put(ctx context.Context, r io.Reader) (Blob, error) {
	data, err := io.ReadAll(withContext(ctx, r))
	if err != nil {
		return Blob{}, err
	}
	if err := m.lock(ctx, "put blob"); err != nil {
		return Blob{}, err
	}
	defer m.mu.Unlock()
	if m.blobs == nil {
		m.blobs = map[string]memoryBlob{}
	}
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	m.blobs[digest] = memoryBlob{data, m.now()}
	return m.blobs[digest].describe(digest), nil
}

func (b memoryBlob) describe(digest string) Blob {
	return Blob{Digest: digest, Size: int64(len(b.data)), At: b.at}
}

type memoryContent struct{ *bytes.Reader }

func (memoryContent) Close() error { return nil }

// Open implements [Blobs].
func (m *Memory) Open(ctx context.Context, digest string) (Content, error) {
	if err := m.lock(ctx, "open blob"); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	b, ok := m.blobs[digest]
	if !ok {
		return nil, noBlob("open", digest)
	}
	return memoryContent{bytes.NewReader(b.data)}, nil
}

// Stat implements [Blobs].
func (m *Memory) Stat(ctx context.Context, digest string) (Blob, error) {
	if err := m.lock(ctx, "stat blob"); err != nil {
		return Blob{}, err
	}
	defer m.mu.Unlock()
	b, ok := m.blobs[digest]
	if !ok {
		return Blob{}, noBlob("stat", digest)
	}
	return b.describe(digest), nil
}

// Delete implements [Blobs].
func (m *Memory) Delete(ctx context.Context, digest string, before time.Time) (bool, error) {
	if err := m.lock(ctx, "delete blob"); err != nil {
		return false, err
	}
	defer m.mu.Unlock()
	if b, ok := m.blobs[digest]; ok && !before.IsZero() && !b.at.Before(before) {
		return false, nil
	}
	delete(m.blobs, digest)
	return true, nil
}

// Walk implements [Blobs].
func (m *Memory) Walk(ctx context.Context) iter.Seq2[Blob, error] {
	return func(yield func(Blob, error) bool) {
		if err := m.lock(ctx, "walk blobs"); err != nil {
			yield(Blob{}, err)
			return
		}
		all := maps.Clone(m.blobs)
		m.mu.Unlock()
		for digest, b := range all {
			if !yield(b.describe(digest), nil) {
				return
			}
		}
	}
}

// Close implements [Store]. Everything is gone afterwards.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed, m.events, m.keys, m.records, m.blobs, m.feed = true, nil, nil, nil, nil, nil
	return nil
}
