// Package shelf keeps the media of sessions: attachments and what tools made, by id.
//
// The bytes are artifacts, so a media id is an artifact id: file tools read it as artifact:ID, copy_file makes a file of
// it, and MCP clients read it as a resource. What is known about media beside its bytes is a record that belongs to the
// session; another session does not see it.
package shelf

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
	"time"

	"github.com/tackle-dev/tackle/artifact"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/forge"
)

// space holds the records: key SESSION/ID, owner SESSION, body forge.Item.
const space = "media"

// Shelf is a library of media. It is safe for concurrent use, also by several processes over one store.
type Shelf struct {
	records   store.Records
	artifacts *artifact.Store
	now       func() time.Time
}

var _ forge.Library = (*Shelf)(nil)

// New returns a shelf. It touches nothing. now is the clock; nil means time.Now.
func New(records store.Records, artifacts *artifact.Store, now func() time.Time) *Shelf {
	if now == nil {
		now = time.Now
	}
	return &Shelf{records, artifacts, now}
}

// List is described at forge.Library.
func (s *Shelf) List(ctx context.Context, session string) ([]forge.Item, error) {
	recs, err := s.records.List(ctx, space, store.RecordQuery{Owner: session})
	if err != nil {
		return nil, fmt.Errorf("list media: %w", err)
	}
	items := make([]forge.Item, 0, len(recs))
	for _, r := range recs {
		var it forge.Item
		if err := json.Unmarshal(r.Body, &it); err != nil {
			return nil, fmt.Errorf("read the record of media %s: %w", r.Key, err)
		}
		items = append(items, it)
	}
	slices.SortStableFunc(items, func(a, b forge.Item) int {
		if a.Origin != b.Origin {
			if a.Origin == forge.Attachment {
				return -1
			}
			return 1
		}
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID))
	})
	return items, nil
}

// Open is described at forge.Library.
func (s *Shelf) Open(ctx context.Context, session, id string) (forge.Item, []byte, error) {
	var it forge.Item
	r, err := s.records.Get(ctx, space, session+"/"+id)
	if errors.Is(err, store.ErrNotFound) {
		return it, nil, fmt.Errorf("media %q: %w", id, fs.ErrNotExist)
	}
	if err != nil {
		return it, nil, err
	}
	if err := json.Unmarshal(r.Body, &it); err != nil {
		return it, nil, fmt.Errorf("read the record of media %s: %w", id, err)
	}
	if it.ID != id || r.Owner != session { // a slash in an id would reach into a session that is named like a folder below
		return forge.Item{}, nil, fmt.Errorf("media %q: %w", id, fs.ErrNotExist)
	}
	a, err := s.artifacts.Open(ctx, it.ID)
	if err != nil {
		return it, nil, err // it wraps fs.ErrNotExist where the bytes expired
	}
	defer a.Close()
	data, err := io.ReadAll(io.NewSectionReader(a, 0, a.Size()))
	return it, data, err
}

// Put is described at forge.Library. The same bytes get the same id; what was known about them first stays, except that
// an attachment stays one and trust only falls.
func (s *Shelf) Put(ctx context.Context, session string, it forge.Item, data []byte) (forge.Item, error) {
	a, err := s.artifacts.Put(ctx, session, it.Filename, it.MIMEType, bytes.NewReader(data))
	if err != nil {
		return it, err
	}
	it.ID, it.Size, it.At = a.ID, int64(len(data)), s.now().UTC()
	if r, err := s.records.Get(ctx, space, session+"/"+it.ID); err == nil {
		var old forge.Item
		if json.Unmarshal(r.Body, &old) == nil && old.Origin == forge.Attachment {
			return old, nil
		}
	}
	body, err := json.Marshal(it)
	if err != nil {
		return it, err
	}
	return it, s.records.Set(ctx, store.Record{Space: space, Key: session + "/" + it.ID, Owner: session, Body: body})
}

// Attach puts a user's file on the shelf.
func (s *Shelf) Attach(ctx context.Context, session, name, mime string, data []byte) (forge.Item, error) {
	p := media.Identify(media.Payload{Data: data, MIME: mime, Name: media.CleanName(name)})
	return s.Put(ctx, session, forge.Item{Filename: p.Name, Kind: forge.KindOf(p.MIME), MIMEType: p.MIME, Source: "user", Origin: forge.Attachment, Trust: forge.Private, Inherits: forge.Private}, data)
}
