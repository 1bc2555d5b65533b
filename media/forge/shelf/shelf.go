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
	"regexp"
	"slices"
	"strings"
	"sync"
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
	mu        sync.Mutex // between looking for an older record and writing the newer one
}

var _ forge.Library = (*Shelf)(nil)

// New returns a shelf. It touches nothing. now is the clock; nil means time.Now.
func New(records store.Records, artifacts *artifact.Store, now func() time.Time) *Shelf {
	if now == nil {
		now = time.Now
	}
	return &Shelf{records: records, artifacts: artifacts, now: now}
}

// List is described at forge.Library.
func (s *Shelf) List(ctx context.Context, session string) ([]forge.Item, error) {
	recs, err := s.records.List(ctx, space, store.RecordQuery{Owner: session})
	if err != nil {
		return nil, fmt.Errorf("list media: %w", err)
	}
	items := make([]forge.Item, 0, len(recs))
	for _, r := range recs {
		if r.Owner != session { // a query without an owner is one for all
			continue
		}
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

// Put is described at forge.Library. The same bytes get the same id: what they are called beside stands in AlsoNamed, an
// attachment stays one, and the trust that they inherit only falls.
func (s *Shelf) Put(ctx context.Context, session string, it forge.Item, data []byte) (forge.Item, error) {
	a, err := s.artifacts.Put(ctx, session, it.Filename, it.MIMEType, bytes.NewReader(data))
	if err != nil {
		return it, err
	}
	it.ID, it.Size, it.At = a.ID, int64(len(data)), s.now().UTC()
	it.Derived = slices.DeleteFunc(slices.Clone(it.Derived), func(id string) bool { return id == it.ID })
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r, err := s.records.Get(ctx, space, session+"/"+it.ID); {
	case err == nil:
		var old forge.Item
		if err := json.Unmarshal(r.Body, &old); err != nil {
			return it, fmt.Errorf("read the record of media %s: %w", it.ID, err)
		}
		it = joined(old, it)
	case !errors.Is(err, store.ErrNotFound):
		return it, err
	}
	body, err := json.Marshal(it)
	if err != nil {
		return it, err
	}
	return it, s.records.Set(ctx, store.Record{Space: space, Key: session + "/" + it.ID, Owner: session, Body: body})
}

// joined is what is known of bytes that came twice.
func joined(old, it forge.Item) forge.Item {
	out, other := it, old
	if old.Origin == forge.Attachment {
		out, other = old, it
	}
	out.At = old.At
	out.Inherits = forge.Lowest(old.Inherits, it.Inherits)
	for _, name := range append(slices.Clone(other.AlsoNamed), other.Filename) {
		if name != out.Filename && !slices.Contains(out.AlsoNamed, name) {
			out.AlsoNamed = append(out.AlsoNamed, name)
		}
	}
	for _, id := range other.Derived {
		if !slices.Contains(out.Derived, id) && old.Origin == it.Origin {
			out.Derived = append(out.Derived, id)
		}
	}
	return out
}

var plainType = regexp.MustCompile(`^[A-Za-z0-9!#$&^_.+-]{1,60}/[A-Za-z0-9!#$&^_.+-]{1,120}$`)

// Attach puts a user's file on the shelf. A mime that is no plain type counts as none: it would be shown to models.
func (s *Shelf) Attach(ctx context.Context, session, name, mime string, data []byte) (forge.Item, error) {
	mime, _, _ = strings.Cut(mime, ";")
	if mime = strings.TrimSpace(mime); !plainType.MatchString(mime) {
		mime = ""
	}
	p := media.Identify(media.Payload{Data: data, MIME: mime, Name: media.CleanName(name)})
	return s.Put(ctx, session, forge.Item{Filename: p.Name, Kind: forge.KindOf(p.MIME), MIMEType: p.MIME, Source: "user", Origin: forge.Attachment, Trust: forge.Private, Inherits: forge.Private}, data)
}

// Share lets a session see what another one sees: it was made from it.
func (s *Shelf) Share(ctx context.Context, from, to string) error {
	list, err := s.List(ctx, from)
	if err != nil {
		return err
	}
	for _, it := range list {
		if _, err := s.artifacts.Share(ctx, it.ID, to); errors.Is(err, fs.ErrNotExist) {
			continue // its bytes expired
		} else if err != nil {
			return err
		}
		body, err := json.Marshal(it)
		if err != nil {
			return err
		}
		if err := s.records.Set(ctx, store.Record{Space: space, Key: to + "/" + it.ID, Owner: to, Body: body}); err != nil {
			return err
		}
	}
	return nil
}
