package undo

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/patch"
)

// conflict describes a path that others changed since, and tries the merge: base is what we left, ours what was there
// before us, theirs what is there now.
func (p *planner) conflict(s *step, now change.State) (*Conflict, error) {
	c := &Conflict{Path: s.path, Tx: s.newest}
	switch {
	case now.Type == change.Absent:
		c.Reason = "it was deleted since"
		return c, nil
	case s.after.AfterType == change.Absent:
		c.Reason = fmt.Sprintf("we deleted it, and somebody made a new %s there since", now.Type)
		return c, nil
	case now.Type != change.File || s.after.AfterType != change.File:
		c.Reason = fmt.Sprintf("it is a %s now", now.Type)
		return c, nil
	}
	c.Reason = "somebody changed it since"
	left, ok := p.left(s)
	if !ok {
		return c, nil
	}
	c.Foreign = change.Between(s.path, change.State{Type: change.File, Mode: now.Mode, Blob: left}, now)
	if s.before.Type != change.File {
		c.Reason = "we made it, and somebody changed it since"
		return c, nil
	}
	before, err := p.content(s)
	if err != nil {
		c.Reason += "; " + err.Error()
		return c, nil
	}
	base, _ := left.Bytes()
	ours, _ := before.Blob.Bytes()
	theirs, _ := now.Blob.Bytes()
	if bytes.IndexByte(base, 0) >= 0 || bytes.IndexByte(theirs, 0) >= 0 {
		return c, nil
	}
	merged, regions := change.Merge(base, theirs, ours)
	if len(regions) > 0 {
		c.Reason += fmt.Sprintf(", at %d of the places that we changed", len(regions))
		return c, nil
	}
	op := change.Replace(s.path, now, merged)
	c.Merge = &op
	return c, nil
}

// left returns the content that our newest change left at a path: the before-image with its diff applied, proven by the
// digest.
func (p *planner) left(s *step) (*change.Blob, bool) {
	if p.diffs == nil {
		return nil, false
	}
	tx := s.newest
	diff, dir, ok := p.diffs(tx)
	if !ok {
		return nil, false
	}
	parsed, err := patch.Parse(diff)
	if err != nil {
		return nil, false
	}
	res, err := patch.Plan(parsed, images{p, tx, dir}, patch.Options{})
	if err != nil {
		return nil, false
	}
	for _, op := range res.Set.Ops {
		if op.Path == s.path && op.Kind == change.Write && op.After.Blob.Digest() == s.after.AfterDigest {
			return op.After.Blob, true
		}
	}
	return nil, false
}

// images is the world before a transaction, as far as its diff speaks of it.
type images struct {
	p   *planner
	tx  string
	dir string
}

var errNoContent = errors.New("the transaction did not change its content")

// Read is described at patch.Source.
func (w images) Read(path string, _ bool) (string, change.State, error) {
	abs := path
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(w.dir, abs)
	}
	st, err := w.p.src.Image(w.p.ctx, w.tx, abs)
	if err != nil {
		return abs, change.State{}, nil // made by the transaction, or not kept: the digest will tell
	}
	if st.Type == change.File && st.Blob == nil {
		return abs, st, errNoContent
	}
	return abs, st, nil
}
