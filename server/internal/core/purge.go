package core

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/server/internal/access"
)

// PurgeInput selects sessions to remove: those that are named, and those that were not used for so long.
type PurgeInput struct {
	Sessions []string
	Unused   time.Duration // 0: only those that are named
	Plan     bool          // only say what would be removed
}

// Purged says what was removed.
type Purged struct {
	Sessions  []string `json:"sessions"`
	Artifacts int      `json:"artifacts" jsonschema:"that had expired, or that nothing refers to any more"`
	Bytes     int64    `json:"bytes" jsonschema:"of those"`
}

// purgeBatch is how many sessions are removed in one transaction.
const purgeBatch = 50

// Purge removes sessions for good, and artifacts that have expired. The session of this process and sessions with open asks
// stay. Errors: Forbidden, NotFound.
func (c *Core) Purge(ctx context.Context, who access.Identity, in PurgeInput) (Purged, error) {
	if err := need(who, access.Admin, "remove sessions"); err != nil {
		return Purged{}, err
	}
	out := Purged{Sessions: []string{}}
	seen := map[string]bool{}
	for _, r := range c.box.Asks().Open() {
		seen[r.Session] = true
	}
	for _, id := range in.Sessions {
		if _, err := c.Session(ctx, id); err != nil {
			return out, err
		}
		switch {
		case id == c.box.SessionID():
			return out, errorf(Conflict, "session %s is the one that this server works in; it cannot be removed", id)
		case seen[id]:
			return out, errorf(Conflict, "session %s waits for a person; answer its asks first", id)
		}
		seen[id] = true
		out.Sessions = append(out.Sessions, id)
	}
	if in.Unused > 0 {
		all, err := c.box.Store().Sessions(ctx, store.Filter{})
		if err != nil {
			return out, Mistake(err)
		}
		before := c.opt.Now().Add(-in.Unused)
		for _, s := range all {
			if s.Updated.Before(before) && !seen[s.ID] && s.ID != c.box.SessionID() {
				out.Sessions = append(out.Sessions, s.ID)
			}
		}
	}
	if in.Plan {
		return out, nil
	}
	for at := 0; at < len(out.Sessions); at += purgeBatch {
		batch := out.Sessions[at:min(at+purgeBatch, len(out.Sessions))]
		if err := c.box.RemoveSessions(ctx, who.String(), batch...); err != nil {
			out.Sessions = out.Sessions[:at]
			return out, Mistake(err)
		}
	}
	expired, err := c.box.ArtifactStore().Expire(ctx)
	out.Artifacts, out.Bytes = expired.Removed, expired.RemovedBytes
	return out, Mistake(err)
}

// Backup copies the database to a new file beside it, and returns its path.
func (c *Core) Backup(ctx context.Context) (string, error) {
	db, ok := c.box.Store().(interface {
		Path() string
		Backup(ctx context.Context, path string) error
	})
	if !ok {
		return "", errorf(Invalid, "the store of this box is no file that can be copied")
	}
	name := fmt.Sprintf("backup-%s.db", c.opt.Now().UTC().Format("20060102T150405.000000"))
	path := filepath.Join(filepath.Dir(db.Path()), name)
	if err := db.Backup(ctx, path); err != nil {
		return "", Mistake(err)
	}
	return path, nil
}
