package artifact

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/tackle-dev/tackle/internal/store"
)

// Hold renews the lease of a session: none of its artifacts expires before the lease ends. A session that stays open
// without using tools should hold now and then. It writes nothing while more than half of the lease is left.
func (s *Store) Hold(ctx context.Context, session string) error {
	return s.records.Set(ctx, s.renewal(session, s.opt.Now())...)
}

// renewal returns the record that renews a lease, or nothing where that is not needed yet.
func (s *Store) renewal(session string, now time.Time) []store.Record {
	if session == "" {
		return nil // belongs to nobody who could be live
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leases[session].Sub(now) > s.opt.Lease/2 {
		return nil
	}
	until := now.Add(s.opt.Lease)
	s.leases[session] = until
	return []store.Record{{Space: leaseSpace, Key: session, At: until}}
}

// Release ends the lease of a session: its artifacts expire like those of any other that is not live.
func (s *Store) Release(ctx context.Context, session string) error {
	s.mu.Lock()
	delete(s.leases, session)
	s.mu.Unlock()
	return s.records.Unset(ctx, leaseSpace, session)
}

// Forget removes what a session refers to. Bytes that no other session refers to go at the next Expire.
func (s *Store) Forget(ctx context.Context, session string) error {
	if session == "" {
		return errors.New("forget artifacts: no session is named")
	}
	refs, err := s.list(ctx, store.RecordQuery{Owner: session})
	if err != nil {
		return err
	}
	if err := s.remove(ctx, &held{refs: refs}); err != nil {
		return err
	}
	return s.Release(ctx, session)
}

// Expired says what an Expire removed and left.
type Expired struct {
	Removed      int   `json:"removed"`       // artifacts
	RemovedBytes int64 `json:"removed_bytes"` // of blobs, also of such that nothing referred to
	Kept         int   `json:"kept"`
	KeptBytes    int64 `json:"kept_bytes"`
}

// held is all that refers to one artifact.
type held struct {
	digest string
	size   int64
	used   time.Time // when it was last put or shared
	live   bool      // a session that refers to it is live
	refs   []ref
}

// Expire removes artifacts that are too old, then the oldest until the rest fits, but none of a live session and none
// younger than the grace. It also removes what killed processes left behind. Several processes may run it at once.
func (s *Store) Expire(ctx context.Context) (Expired, error) {
	var out Expired
	now := s.opt.Now()
	live, err := s.live(ctx, now)
	if err != nil {
		return out, err
	}
	all, err := s.held(ctx, live)
	if err != nil {
		return out, err
	}
	slices.SortFunc(all, func(a, b *held) int { return a.used.Compare(b.used) })
	for _, h := range all {
		out.KeptBytes += h.size
	}
	keep := map[string]bool{}
	var errs []error
	for _, h := range all {
		age := now.Sub(h.used)
		if (age <= s.opt.MaxAge && out.KeptBytes <= s.opt.MaxBytes) || h.live || age < s.opt.Grace {
			keep[h.digest] = true
			out.Kept++
			continue
		}
		if err := s.remove(ctx, h); err != nil {
			errs = append(errs, err)
			keep[h.digest] = true
			out.Kept++
			continue
		}
		out.KeptBytes -= h.size
		out.Removed++
	}
	out.RemovedBytes, err = s.sweep(ctx, keep, now)
	return out, errors.Join(append(errs, err)...)
}

// live returns the sessions whose lease runs, and forgets leases that ended long ago.
func (s *Store) live(ctx context.Context, now time.Time) (map[string]bool, error) {
	leases, err := s.records.List(ctx, leaseSpace, store.RecordQuery{})
	if err != nil {
		return nil, err
	}
	live := map[string]bool{}
	var over []string
	for _, l := range leases {
		if l.At.After(now) {
			live[l.Key] = true
		} else if now.Sub(l.At) > s.opt.MaxAge {
			over = append(over, l.Key)
		}
	}
	return live, s.records.Unset(ctx, leaseSpace, over...)
}

func (s *Store) held(ctx context.Context, live map[string]bool) ([]*held, error) {
	refs, err := s.list(ctx, store.RecordQuery{})
	if err != nil {
		return nil, err
	}
	byID := map[string]*held{}
	var all []*held
	for _, r := range refs { // the newest first
		h := byID[r.ID]
		if h == nil {
			h = &held{digest: r.Digest, size: r.Size, used: r.Created}
			byID[r.ID], all = h, append(all, h)
		}
		h.refs = append(h.refs, r)
		h.live = h.live || live[r.Session]
	}
	return all, nil
}

func (s *Store) remove(ctx context.Context, h *held) error {
	keys := make([]string, len(h.refs))
	for i, r := range h.refs {
		keys[i] = r.key
	}
	if err := s.records.Unset(ctx, space, keys...); err != nil {
		return err
	}
	if s.opt.Dir == "" {
		return nil
	}
	for _, r := range h.refs {
		if err := os.Remove(s.file(r.Artifact)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		os.Remove(s.SessionDir(r.Session)) // where it was the last one
	}
	return nil
}

// sweep deletes blobs that nothing refers to. A blob that is being put at this moment is young.
func (s *Store) sweep(ctx context.Context, keep map[string]bool, now time.Time) (removed int64, err error) {
	for b, err := range s.blobs.Walk(ctx) {
		if err != nil {
			return removed, err
		}
		if keep[b.Digest] {
			continue
		}
		gone, err := s.blobs.Delete(ctx, b.Digest, now.Add(-s.opt.Grace))
		if err != nil {
			return removed, err
		}
		if gone {
			removed += b.Size
		}
	}
	if d, ok := s.blobs.(interface {
		Sweep(context.Context, time.Time) (int, error)
	}); ok {
		_, err = d.Sweep(ctx, now.Add(-24*time.Hour))
	}
	return removed, err
}

// Tidy runs Expire unless some process did within the last hour. It is cheap enough for every start of a program.
func (s *Store) Tidy(ctx context.Context) (Expired, error) {
	now := s.opt.Now()
	last, err := s.records.Get(ctx, tidySpace, "last")
	if err == nil && now.Sub(last.At) < time.Hour {
		return Expired{}, nil
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return Expired{}, err
	}
	if err := s.records.Set(ctx, store.Record{Space: tidySpace, Key: "last", At: now}); err != nil {
		return Expired{}, err
	}
	return s.Expire(ctx)
}

// Usage returns how many artifacts there are and their bytes together.
func (s *Store) Usage(ctx context.Context) (n int, size int64, err error) {
	all, err := s.held(ctx, nil)
	for _, h := range all {
		n++
		size += h.size
	}
	return n, size, err
}
