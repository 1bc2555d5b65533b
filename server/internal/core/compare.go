package core

import (
	"context"
	"encoding/json"
	"path"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/permission/ask"
)

func itoa(n int) string { return strconv.Itoa(n) }

// CompareQuery names media and what it is compared with.
type CompareQuery struct {
	Session string `json:"session" jsonschema:"id of the session"`
	Media   string `json:"media" jsonschema:"id of the media, as it is after"`
	With    string `json:"with,omitempty" jsonschema:"id of the media as it was before; default what it was made from"`
}

// Comparison is what differs between two files.
type Comparison struct {
	Before  Side       `json:"before"`
	After   Side       `json:"after"`
	Kind    ViewKind   `json:"kind" jsonschema:"sheet: cells; picture: both are pictures; text: diff; none: they cannot be compared"`
	Same    bool       `json:"same" jsonschema:"the bytes are the same"`
	Cells   []CellDiff `json:"cells" jsonschema:"of workbooks; at most 2000"`
	More    int        `json:"moreCells,omitempty" jsonschema:"how many more there are"`
	Diff    string     `json:"diff,omitempty" jsonschema:"unified, of texts"`
	Added   int        `json:"added,omitempty" jsonschema:"lines"`
	Removed int        `json:"removed,omitempty" jsonschema:"lines"`
	Problem string     `json:"problem,omitempty" jsonschema:"why they cannot be compared"`
}

// Side is one of the two files.
type Side struct {
	Media   string       `json:"media,omitempty" jsonschema:"id of the media; absent for a file of the workspace"`
	Name    string       `json:"name"`
	MIME    string       `json:"mime"`
	Size    int64        `json:"size"`
	Picture *PictureInfo `json:"picture,omitempty"`
}

// CellDiff is one difference of two workbooks.
type CellDiff struct {
	Sheet  string   `json:"sheet"`
	Kind   string   `json:"kind" jsonschema:"cell, row_added, row_removed, sheet_added or sheet_removed"`
	Cell   string   `json:"cell,omitempty" jsonschema:"address, in what is after"`
	Row    int      `json:"row,omitempty"`
	Before string   `json:"before,omitempty"`
	After  string   `json:"after,omitempty"`
	Values []string `json:"values,omitempty" jsonschema:"of a row"`
}

// mostCells bounds the differences that are given.
const mostCells = 2000

// MediaChanges compares media with what it was made from, or with other media of its session. Errors: NotFound; Invalid
// where nothing says with what.
func (c *Core) MediaChanges(ctx context.Context, q CompareQuery) (Comparison, error) {
	m, after, err := c.find(ctx, MediaID{q.Session, q.Media})
	if err != nil {
		return Comparison{}, err
	}
	if q.With == "" {
		q.With = m.Before
	}
	if q.With == "" {
		return Comparison{}, errorf(Invalid, "nothing is known that %s was made from and could be compared with; name other media of the session", m.Name)
	}
	_, before, err := c.find(ctx, MediaID{q.Session, q.With})
	if err != nil {
		return Comparison{}, err
	}
	out, err := c.compare(ctx, before, after)
	out.Before.Media, out.After.Media = q.With, q.Media
	return out, err
}

func (s *subject) side() Side { return Side{Name: s.name, MIME: s.mime, Size: s.size} }

func (c *Core) compare(ctx context.Context, before, after *subject) (Comparison, error) {
	out := Comparison{Before: before.side(), After: after.side(), Same: before.digest == after.digest, Cells: []CellDiff{}, Kind: NoView}
	a, b := viewOf(before.mime), viewOf(after.mime)
	switch {
	case a == PictureView && b == PictureView:
		out.Kind = PictureView
		for _, one := range []struct {
			s    *subject
			side *Side
		}{{before, &out.Before}, {after, &out.After}} {
			p, err := c.looks.picture(ctx, one.s, 0)
			why, err := problem(err)
			if err != nil {
				return out, err
			}
			if p == nil {
				out.Kind, out.Problem = NoView, why
				return out, nil
			}
			one.side.Picture = &PictureInfo{Width: p.wide, Height: p.high, Shown: p.mime}
		}
		return out, nil
	case a == SheetView && b == SheetView && !media.Textual(before.mime):
		out.Kind = SheetView
	case wordy(before.mime) && wordy(after.mime):
		out.Kind = TextView
	default:
		out.Problem = "a file of type " + before.mime + " and one of type " + after.mime + " are not compared here"
		return out, nil
	}
	if out.Same {
		return out, nil
	}
	v, err := c.looks.get(ctx, "diff "+before.digest+" "+after.digest+" "+before.mime+" "+after.mime, func(ctx context.Context) (any, int64, error) {
		d, err := c.differences(ctx, before, after)
		if err != nil {
			return nil, 0, err
		}
		return d, d.weight(), nil
	})
	why, err := problem(err)
	if err != nil {
		return out, err
	}
	if v == nil {
		out.Kind, out.Problem = NoView, why
		return out, nil
	}
	d := v.(*differences)
	out.Cells, out.More, out.Diff, out.Added, out.Removed = d.cells, d.more, d.diff, d.added, d.removed
	return out, nil
}

// differences is what the pipeline's diff gave.
type differences struct {
	cells          []CellDiff
	more           int
	diff           string
	added, removed int
}

func (d *differences) weight() int64 {
	n := int64(len(d.diff)) + 1
	for i := range d.cells {
		n += int64(len(d.cells[i].Before)+len(d.cells[i].After)) + 100
	}
	return n
}

func (c *Core) differences(ctx context.Context, before, after *subject) (*differences, error) {
	in, err := before.payload(ctx)
	if err != nil {
		return nil, err
	}
	other, err := after.payload(ctx)
	if err != nil {
		return nil, err
	}
	plan, err := c.looks.pipeline.Compile("diff with=@after")
	if err != nil {
		return nil, err
	}
	res, err := c.looks.pipeline.Run(ctx, in, plan, media.RunOptions{Resolve: func(context.Context, string) (media.Payload, error) { return other, nil }})
	if err != nil {
		return nil, err
	}
	out := &differences{cells: []CellDiff{}, added: res.Counts.Added, removed: res.Counts.Removed}
	if viewOf(in.MIME) != SheetView || media.Textual(in.MIME) {
		if out.added+out.removed > 0 || strings.HasPrefix(res.Read.Text, "---") {
			out.diff = res.Read.Text
		}
		return out, nil
	}
	data, err := json.Marshal(res.Read.Data)
	if err != nil {
		return nil, err
	}
	var read struct {
		Changes []CellDiff `json:"changes"`
	}
	if err := json.Unmarshal(data, &read); err != nil {
		return nil, err
	}
	out.cells = list(read.Changes)
	if n := len(out.cells); n > mostCells {
		out.cells, out.more = out.cells[:mostCells:mostCells], n-mostCells
	}
	return out, nil
}

// AskMedia are the files of an ask whose change is better looked at than read: pictures and workbooks.
type AskMedia struct {
	Files []AskFile `json:"files"`
}

// AskFile is a file as it is and as it would be.
type AskFile struct {
	Number int      `json:"number" jsonschema:"of the file among the changes of the call, from 1"`
	Path   string   `json:"path"`
	View   ViewKind `json:"view" jsonschema:"sheet or picture"`
	Before *Side    `json:"before,omitempty" jsonschema:"absent for a new file; of one that is media of the session, what that was made from"`
	After  *Side    `json:"after,omitempty" jsonschema:"absent for one that would be gone"`
}

// AskFileID names a file of an ask.
type AskFileID struct {
	Ask  string `json:"ask" jsonschema:"id of the ask"`
	File int    `json:"file" jsonschema:"number of the file"`
}

// AskPictureQuery names one of the two pictures of an ask.
type AskPictureQuery struct {
	Ask   string `json:"ask" jsonschema:"id of the ask"`
	File  int    `json:"file" jsonschema:"number of the file"`
	Side  string `json:"side" jsonschema:"before or after"`
	Small bool   `json:"small,omitempty" jsonschema:"as a thumbnail"`
}

// AskMedia lists the pictures and workbooks that an open ask would change. The bytes are those that are approved, also where
// the file in the workspace is another one by now. A new file that is media of the session stands beside what that was made
// from. Errors: NotFound.
func (c *Core) AskMedia(ctx context.Context, id string) (AskMedia, error) {
	out := AskMedia{Files: []AskFile{}}
	r, err := c.openAsk(id)
	if err != nil {
		return out, err
	}
	sides, err := c.askSides(ctx, r)
	for i := range sides {
		out.Files = append(out.Files, sides[i].AskFile)
	}
	return out, err
}

// askSide is a file of an ask with its bytes.
type askSide struct {
	AskFile
	before, after *subject
}

func (c *Core) askSides(ctx context.Context, r *ask.Request) ([]askSide, error) {
	if r.Intent == nil || r.Intent.Changes == nil {
		return nil, nil
	}
	var out []askSide
	for i := range r.Intent.Changes.Ops {
		op := &r.Intent.Changes.Ops[i]
		one := askSide{AskFile: AskFile{Number: i + 1, Path: op.Path, View: NoView}}
		one.before, one.after = subjects(op)
		for _, s := range []*subject{one.after, one.before} {
			if s != nil && !media.Textual(s.mime) {
				one.View = viewOf(s.mime)
			}
		}
		if one.View == NoView {
			continue
		}
		from := ""
		if one.before == nil {
			var err error
			if one.before, from, err = c.origin(ctx, r.Session, one.after); err != nil {
				return out, err
			}
		}
		if one.before != nil {
			side := one.before.side()
			side.Media = from
			one.Before = &side
		}
		if one.after != nil {
			side := one.after.side()
			one.After = &side
		}
		out = append(out, one)
	}
	return out, nil
}

// origin returns what media of a session was made from, found by its bytes; nil where that is not known.
func (c *Core) origin(ctx context.Context, session string, s *subject) (*subject, string, error) {
	if session == "" {
		return nil, "", nil
	}
	all, err := c.Media(ctx, MediaQuery{session})
	if err != nil {
		if why, other := problem(err); other == nil && why != "" || isUnknown(err) {
			return nil, "", nil
		}
		return nil, "", err
	}
	for _, m := range all.Media {
		if m.Before == "" || m.Size != s.size {
			continue
		}
		_, own, err := c.find(ctx, MediaID{session, m.ID})
		if err != nil || own.digest != s.digest {
			continue // its bytes may have expired
		}
		if _, before, err := c.find(ctx, MediaID{session, m.Before}); err == nil {
			return before, m.Before, nil
		}
	}
	return nil, "", nil
}

// subjects returns the two sides of a change whose bytes are at hand.
func subjects(op *change.Op) (before, after *subject) {
	if op.Kind != change.Write && op.Kind != change.Delete {
		return nil, nil
	}
	of := func(s *change.State) *subject {
		if s.Type != change.File || s.Blob == nil {
			return nil
		}
		data, held := s.Blob.Bytes()
		if !held {
			return nil
		}
		p := media.Identify(media.Payload{Data: data, Name: media.CleanName(path.Base(op.Path))})
		return &subject{name: p.Name, mime: p.MIME, size: int64(len(data)), digest: s.Blob.Digest().String(), load: func(context.Context) ([]byte, error) { return data, nil }}
	}
	return of(&op.Before), of(&op.After)
}

func (c *Core) openAsk(id string) (*ask.Request, error) {
	for _, r := range c.box.Asks().Open() {
		if r.ID == id {
			return r, nil
		}
	}
	return nil, errorf(NotFound, "no ask %q is open: it was answered, has ended, or never was", id)
}

// askFile returns a file of an open ask with its bytes.
func (c *Core) askFile(ctx context.Context, id string, number int) (askSide, error) {
	r, err := c.openAsk(id)
	if err != nil {
		return askSide{}, err
	}
	sides, err := c.askSides(ctx, r)
	if err != nil {
		return askSide{}, err
	}
	for _, s := range sides {
		if s.Number == number {
			return s, nil
		}
	}
	return askSide{}, errorf(NotFound, "the ask %q has no file number %d that can be looked at", id, number)
}

// AskChanges compares a file of an open ask with what it would become. Errors: NotFound; Invalid where one side is not there.
func (c *Core) AskChanges(ctx context.Context, id AskFileID) (Comparison, error) {
	f, err := c.askFile(ctx, id.Ask, id.File)
	if err != nil {
		return Comparison{}, err
	}
	if f.before == nil || f.after == nil {
		return Comparison{}, errorf(Invalid, "the file is new, or would be gone: there is nothing to compare it with")
	}
	out, err := c.compare(ctx, f.before, f.after)
	out.Before.Media = f.Before.Media
	return out, err
}

// AskPicture returns a picture of an open ask. Errors: NotFound; Invalid for what cannot be drawn.
func (c *Core) AskPicture(ctx context.Context, q AskPictureQuery) (Drawn, error) {
	f, err := c.askFile(ctx, q.Ask, q.File)
	if err != nil {
		return Drawn{}, err
	}
	s := map[string]*subject{"before": f.before, "after": f.after}[q.Side]
	if s == nil {
		return Drawn{}, errorf(NotFound, "the file has no side %q: before is absent for a new one, after for one that would be gone", q.Side)
	}
	return c.drawn(ctx, s, q.Small)
}
