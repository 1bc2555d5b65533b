package core

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/artifact"
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/sheet"
)

// ViewKind says with what viewer something is looked at.
type ViewKind string

// The viewers. A family that needs another one adds its kind here, what it needs to MediaView, and an operation that gives
// one of them.
const (
	SheetView    ViewKind = "sheet"
	PictureView  ViewKind = "picture"
	TextView     ViewKind = "text"
	DocumentView ViewKind = "document" // its words, by lines; of a PDF its pages as pictures too
	NoView       ViewKind = "none"     // it is for download only
)

// Media is a file that a session works with: an attachment, or what a tool made.
type Media struct {
	Session  string    `json:"session"`
	ID       string    `json:"id" jsonschema:"the id of the artifact with its bytes as well"`
	Name     string    `json:"name"`
	MIME     string    `json:"mime"`
	Size     int64     `json:"size" jsonschema:"bytes"`
	Source   string    `json:"source" jsonschema:"user, or tool: and the name of the tool that made it"`
	Origin   string    `json:"origin" jsonschema:"attachment or tool-result"`
	Trust    string    `json:"trust" jsonschema:"of the bytes: first-party, third-party-private or third-party-public"`
	Inherits string    `json:"inheritsTrust" jsonschema:"the lowest trust of what it was made from"`
	Derived  []string  `json:"derivedFrom" jsonschema:"ids of media, file: and a path, or empty: and a format"`
	At       time.Time `json:"at"`
	View     ViewKind  `json:"view" jsonschema:"sheet, picture, text, document (its words, and the pages of a PDF), or none: download only"`
	Before   string    `json:"before,omitempty" jsonschema:"id of the media that it was made from, where the two can be compared"`
}

// MediaQuery selects the media of a session.
type MediaQuery struct {
	Session string `json:"session" jsonschema:"id of the session"`
}

// MediaList is the media of a session: attachments, then results, each in the order in which they came.
type MediaList struct {
	Media []Media `json:"media"`
}

// MediaID names media of a session.
type MediaID struct {
	Session string `json:"session" jsonschema:"id of the session"`
	Media   string `json:"media" jsonschema:"id of the media"`
}

// MediaView is media with what its viewer needs. Which of the fields are there, Media.View says.
type MediaView struct {
	Media   Media        `json:"media"`
	Sheets  []string     `json:"sheets" jsonschema:"names of the sheets of a workbook, in order; a table has one"`
	Picture *PictureInfo `json:"picture,omitempty"`
	Pages   int          `json:"pages,omitempty" jsonschema:"pages of a PDF, each of which can be drawn"`
	Text    bool         `json:"text" jsonschema:"it can be read by lines, also where another viewer is better"`
	Problem string       `json:"problem,omitempty" jsonschema:"why it cannot be shown"`
}

// PictureInfo says what picture there is. Its size is that in the file, before a turn that a camera noted.
type PictureInfo struct {
	Width  int    `json:"width" jsonschema:"pixels"`
	Height int    `json:"height" jsonschema:"pixels"`
	Shown  string `json:"shown" jsonschema:"media type in which it is sent; another one than its own where browsers do not draw that"`
}

// Media lists the media of a session. Errors: NotFound where there is no such session.
func (c *Core) Media(ctx context.Context, q MediaQuery) (MediaList, error) {
	out := MediaList{Media: []Media{}}
	items, err := c.items(ctx, q.Session)
	if err != nil {
		return out, err
	}
	if len(items) == 0 {
		_, err := c.Session(ctx, q.Session)
		return out, err
	}
	for i := range items {
		out.Media = append(out.Media, mediaOf(q.Session, &items[i]))
	}
	for i := range out.Media {
		m := &out.Media[i]
		for _, id := range m.Derived {
			if k := slices.IndexFunc(out.Media, func(o Media) bool { return o.ID == id }); k >= 0 && k != i && canCompare(out.Media[k].MIME, m.MIME) {
				m.Before = id
				break
			}
		}
	}
	return out, nil
}

// items lists what a session can see. No session has the name "", which would mean all of them.
func (c *Core) items(ctx context.Context, session string) ([]tackle.MediaItem, error) {
	if session == "" || session[0] == '.' {
		return nil, noSession(session)
	}
	items, err := c.box.Media(ctx, session)
	return items, Mistake(err)
}

func mediaOf(session string, it *tackle.MediaItem) Media {
	return Media{Session: session, ID: it.ID, Name: it.Filename, MIME: it.MIMEType, Size: it.Size, Source: it.Source, Origin: string(it.Origin),
		Trust: string(it.Trust), Inherits: string(it.Inherits), Derived: list(it.Derived), At: it.At.UTC(), View: viewOf(it.MIMEType)}
}

// viewOf says how a type is looked at.
func viewOf(mime string) ViewKind {
	switch {
	case sheet.Viewable(mime):
		return SheetView
	case media.FamilyOf(mime) == media.Image:
		return PictureView
	case media.Textual(mime):
		return TextView
	}
	if f, ok := media.FormatOf(mime); ok && f.Family != media.Audio {
		return DocumentView
	}
	return NoView
}

// wordy reports whether a type is looked at by its words.
func wordy(mime string) bool { return media.Textual(mime) || viewOf(mime) == DocumentView }

// canCompare reports whether compare has an answer for two types.
func canCompare(before, after string) bool {
	a, b := viewOf(before), viewOf(after)
	return a == PictureView && b == PictureView || a == SheetView && b == SheetView && !media.Textual(before) || wordy(before) && wordy(after)
}

// find returns media of a session. Its bytes are read where they are asked for. Errors: NotFound, also for media of other
// sessions.
func (c *Core) find(ctx context.Context, id MediaID) (Media, *subject, error) {
	list, err := c.Media(ctx, MediaQuery{id.Session})
	if err != nil {
		return Media{}, nil, err
	}
	i := slices.IndexFunc(list.Media, func(m Media) bool { return m.ID == id.Media })
	if i < 0 {
		return Media{}, nil, errorf(NotFound, "session %q has no media %q", id.Session, id.Media)
	}
	m := list.Media[i]
	a, err := c.box.ArtifactStore().Get(ctx, m.ID)
	if errors.Is(err, fs.ErrNotExist) {
		return Media{}, nil, errorf(NotFound, "the bytes of media %q (%s) are not kept any more", m.ID, m.Name)
	}
	if err != nil {
		return Media{}, nil, Mistake(err)
	}
	return m, &subject{name: m.Name, mime: m.MIME, size: m.Size, digest: a.Digest, load: func(ctx context.Context) ([]byte, error) {
		_, data, err := c.box.OpenMedia(ctx, m.Session, m.ID)
		return data, Mistake(err)
	}}, nil
}

// MediaByID returns media with what its viewer needs. Errors: NotFound.
func (c *Core) MediaByID(ctx context.Context, id MediaID) (MediaView, error) {
	m, s, err := c.find(ctx, id)
	if err != nil {
		return MediaView{}, err
	}
	out := MediaView{Media: m, Sheets: []string{}, Text: wordy(m.MIME)}
	switch m.View {
	case SheetView:
		v, err := c.looks.sheet(ctx, s)
		if out.Problem, err = problem(err); err != nil {
			return out, err
		}
		if v != nil {
			out.Sheets = v.Names()
		}
	case PictureView:
		p, err := c.looks.picture(ctx, s, 0)
		if out.Problem, err = problem(err); err != nil {
			return out, err
		}
		if p != nil {
			out.Picture = &PictureInfo{Width: p.wide, Height: p.high, Shown: p.mime}
		}
	case DocumentView:
		if out.Pages, err = c.looks.pages(ctx, s); err != nil {
			return out, err
		}
		if out.Pages == 0 { // it is shown by its words, so they are read now
			_, err := c.looks.lines(ctx, s)
			if out.Problem, err = problem(err); err != nil {
				return out, err
			}
			out.Text = out.Problem == ""
		}
	}
	return out, nil
}

// OpenMedia returns media with its bytes, for a download. Close the reader when done. Errors: NotFound.
func (c *Core) OpenMedia(ctx context.Context, id MediaID) (Media, *artifact.Reader, error) {
	m, _, err := c.find(ctx, id)
	if err != nil {
		return m, nil, err
	}
	r, err := c.OpenArtifact(ctx, m.ID)
	return m, r, err
}

// problem returns what a person is told about a file that cannot be shown; a fault stays an error.
func problem(err error) (string, error) {
	var bad *media.Error
	var refused *Error
	switch {
	case err == nil:
		return "", nil
	case errors.As(err, &bad):
		return bad.Fact(), nil
	case errors.As(err, &refused) && refused.Kind == Invalid:
		return refused.Message, nil
	}
	return "", err
}

// MadeBy returns the media that a call made and that its session still has.
func (c *Core) MadeBy(ctx context.Context, call *CallDetail) ([]Media, error) {
	type named struct {
		ID string `json:"id"`
	}
	var answer struct {
		Media []named `json:"media"`
	}
	if call.Result == nil || json.Unmarshal(call.Result.Data, &answer) != nil || len(answer.Media) == 0 { // of another tool
		return nil, nil
	}
	all, err := c.Media(ctx, MediaQuery{call.Session})
	if err != nil {
		return nil, err
	}
	var out []Media
	for _, m := range all.Media {
		if m.Source == "tool:"+call.Tool && slices.Contains(answer.Media, named{m.ID}) {
			out = append(out, m)
		}
	}
	return out, nil
}
