package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tackle-dev/tackle/internal/picture"
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/sheet"
)

// subject is something to look at. Its bytes are somebody else's: they are decoded within limits, and never shown as what
// they say they are.
type subject struct {
	name, mime string
	size       int64
	digest     string // of the bytes
	load       func(ctx context.Context) ([]byte, error)
}

func (s *subject) payload(ctx context.Context) (media.Payload, error) {
	if s.size > mostLooked {
		return media.Payload{}, errorf(Invalid, "%s has %d bytes; files of up to %d are shown. Download it instead", s.name, s.size, int64(mostLooked))
	}
	data, err := s.load(ctx)
	return media.Payload{Data: data, MIME: s.mime, Name: s.name}, err
}

// Bounds of what is opened for people: bytes of a file, of what it unpacks to, and of all that is kept open; pixels of a
// picture; time for one look.
const (
	mostLooked   = 128 << 20
	mostUnpacked = 512 << 20
	mostOpen     = 512 << 20
	mostPixels   = 60_000_000
	lookTime     = time.Minute // what reads PDF is compiled when it is first used, which takes some seconds, on a busy machine more
	looksAtOnce  = 2
)

// looks keeps what people look at open, so that the next window of a sheet costs no second reading. Few files are opened at
// the same time.
type looks struct {
	pipeline *media.Pipeline
	turns    chan struct{}
	mu       sync.Mutex
	tick     int64
	open     map[string]*look
}

// look is an open file: what its digest and the way to look at it gave.
type look struct {
	mu       sync.Mutex // held while it is made
	value    any
	weight   int64
	used     int64
	finished bool
}

func newLooks(p *media.Pipeline) *looks {
	return &looks{pipeline: p, turns: make(chan struct{}, looksAtOnce), open: map[string]*look{}}
}

// get returns the value of a key, made by make_ where there is none. Errors are not kept.
func (l *looks) get(ctx context.Context, key string, make_ func(ctx context.Context) (value any, weight int64, err error)) (any, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lookTime, errorf(Busy, "the file took longer than %v to open; download it instead", lookTime))
	defer cancel()
	l.mu.Lock()
	k := l.open[key]
	if k == nil {
		k = &look{}
		l.open[key] = k
	}
	l.tick++
	k.used = l.tick
	l.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.finished {
		return k.value, nil
	}
	select {
	case l.turns <- struct{}{}:
		defer func() { <-l.turns }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	value, weight, err := make_(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		if l.open[key] == k {
			delete(l.open, key)
		}
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, err
	}
	k.value, k.weight, k.finished = value, weight, true
	l.shed(key)
	return value, nil
}

// shed lets go of what was not used for longest, until the rest fits.
func (l *looks) shed(keep string) {
	for {
		total, oldest := int64(0), ""
		for key, k := range l.open {
			total += k.weight
			if key != keep && k.weight > 0 && (oldest == "" || k.used < l.open[oldest].used) {
				oldest = key
			}
		}
		if total <= mostOpen && len(l.open) <= 64 || oldest == "" {
			return
		}
		delete(l.open, oldest)
	}
}

// weigh notes that an open file keeps more by now.
func (l *looks) weigh(key string, weight int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.open[key]; k != nil && k.finished {
		k.weight = weight
		l.shed(key)
	}
}

func (l *looks) sheet(ctx context.Context, s *subject) (*sheet.View, error) {
	v, err := l.get(ctx, "sheet "+s.digest+" "+s.mime, func(ctx context.Context) (any, int64, error) {
		p, err := s.payload(ctx)
		if err != nil {
			return nil, 0, err
		}
		v, err := sheet.NewView(p, media.Limits{Unpacked: mostUnpacked})
		if err != nil {
			return nil, 0, err
		}
		return v, v.Weight(), nil
	})
	if err != nil {
		return nil, err
	}
	return v.(*sheet.View), nil
}

// shot is a picture as it is sent to a browser: of a format that it draws, whole as our decoder found.
type shot struct {
	data       []byte
	mime       string
	wide, high int // of the original
}

// picture returns a picture in full size, or scaled so that its longest edge has at most edge pixels.
func (l *looks) picture(ctx context.Context, s *subject, edge int) (*shot, error) {
	key := "picture " + s.digest
	if edge > 0 {
		key = "small " + s.digest
	}
	v, err := l.get(ctx, key, func(ctx context.Context) (any, int64, error) {
		p, err := s.payload(ctx)
		if err != nil {
			return nil, 0, err
		}
		shot, err := l.draw(ctx, p, edge)
		if err != nil {
			return nil, 0, err
		}
		return shot, int64(len(shot.data)) + 1, nil
	})
	if err != nil {
		return nil, err
	}
	return v.(*shot), nil
}

func (l *looks) draw(ctx context.Context, p media.Payload, edge int) (*shot, error) {
	lim := picture.Limits{Pixels: mostPixels}
	pic, err := picture.Verify(p.Data, lim)
	if errors.Is(err, picture.ErrTooLarge) {
		return nil, errorf(Invalid, "%s has more than %d million pixels and is not drawn here; download it instead", p.Name, mostPixels/1_000_000)
	}
	out := &shot{data: p.Data, mime: pic.MIME, wide: pic.Width, high: pic.Height}
	if err != nil {
		made, merr := l.convert(ctx, p)
		if merr != nil {
			return nil, errorf(Invalid, "%s cannot be drawn: it is damaged, or of a kind (%s) that is not decoded here", p.Name, p.MIME)
		}
		if pic, err = picture.Verify(made, lim); err != nil {
			return nil, errorf(Invalid, "%s cannot be drawn: %v", p.Name, err)
		}
		out = &shot{data: made, mime: pic.MIME, wide: pic.Width, high: pic.Height}
	}
	if edge > 0 && max(pic.Width, pic.Height) > edge {
		small, err := picture.Fit(out.data, picture.Limits{Edge: edge, Pixels: mostPixels})
		if err != nil {
			return nil, errorf(Invalid, "%s cannot be drawn: %v", p.Name, err)
		}
		out.data, out.mime = small.Data, small.MIME
	}
	return out, nil
}

// convert makes a PNG of a picture that browsers do not draw.
func (l *looks) convert(ctx context.Context, p media.Payload) ([]byte, error) {
	p.MIME = ""
	res, err := l.pipeline.Query(ctx, p, "convert to=png")
	if err != nil {
		return nil, err
	}
	if res.Media == nil {
		return nil, errors.New("it is several pictures")
	}
	return res.Media.Data, nil
}

// lines gives the words of a text or a document.
func (l *looks) lines(ctx context.Context, s *subject) ([]string, error) {
	v, err := l.get(ctx, "text "+s.digest+" "+s.mime, func(ctx context.Context) (any, int64, error) {
		p, err := s.payload(ctx)
		if err != nil {
			return nil, 0, err
		}
		words := ""
		if media.Textual(s.mime) {
			words = media.DecodeText(p.Data)
		} else if words, err = l.words(ctx, p); err != nil {
			return nil, 0, err
		}
		all := strings.Split(strings.TrimSuffix(words, "\n"), "\n")
		if words == "" {
			all = nil
		}
		return all, int64(len(words)) + 16*int64(len(all)) + 1, nil
	})
	if err != nil {
		return nil, err
	}
	return v.([]string), nil
}

// words reads a document.
func (l *looks) words(ctx context.Context, p media.Payload) (string, error) {
	if !slices.Contains(l.pipeline.Targets(p.MIME), "txt") {
		return "", errorf(Invalid, "%s is %s, whose words nothing here reads; download it instead", p.Name, p.MIME)
	}
	res, err := l.pipeline.Query(ctx, p, "convert to=txt")
	if err != nil {
		return "", err
	}
	return string(res.Media.Data), nil
}

// pages returns how many pages of a document can be drawn; 0 for a format without pages, and for a file that cannot be read.
func (l *looks) pages(ctx context.Context, s *subject) (int, error) {
	if s.mime != "application/pdf" || !slices.Contains(l.pipeline.Targets(s.mime), "images") {
		return 0, nil
	}
	v, err := l.get(ctx, "pages "+s.digest, func(ctx context.Context) (any, int64, error) {
		p, err := s.payload(ctx)
		if err != nil {
			return nil, 0, err
		}
		res, err := l.pipeline.Query(ctx, p, "extract metadata")
		if err != nil {
			return nil, 0, err
		}
		about, _ := res.Read.Data.(map[string]any)
		n, _ := about["page_count"].(int)
		return n, 1, nil
	})
	why, err := problem(err)
	if err != nil || why != "" {
		return 0, err
	}
	return v.(int), nil
}

// page draws a page of a document.
func (l *looks) page(ctx context.Context, s *subject, number, edge int) (*shot, error) {
	v, err := l.get(ctx, fmt.Sprintf("page %d %d %s", number, edge, s.digest), func(ctx context.Context) (any, int64, error) {
		p, err := s.payload(ctx)
		if err != nil {
			return nil, 0, err
		}
		res, err := l.pipeline.Query(ctx, p, fmt.Sprintf("select pages=%d | convert to=images", number))
		if err != nil {
			return nil, 0, err
		}
		if len(res.List) == 0 {
			return nil, 0, errorf(Invalid, "page %d of %s cannot be drawn", number, p.Name)
		}
		shot, err := l.draw(ctx, res.List[0], edge)
		if err != nil {
			return nil, 0, err
		}
		return shot, int64(len(shot.data)) + 1, nil
	})
	if err != nil {
		return nil, err
	}
	return v.(*shot), nil
}

// PictureQuery names a picture, or a page of a PDF.
type PictureQuery struct {
	Session string `json:"session" jsonschema:"id of the session"`
	Media   string `json:"media" jsonschema:"id of the media"`
	Page    int    `json:"page,omitempty" jsonschema:"of a PDF: which page, from 1"`
	Small   bool   `json:"small,omitempty" jsonschema:"as a thumbnail: the longest edge has at most 480 pixels"`
}

const smallEdge = 480

func edgeOf(small bool) int {
	if small {
		return smallEdge
	}
	return 0
}

// Drawn is a picture as a browser draws it.
type Drawn struct {
	Data   []byte
	MIME   string // image/png, image/jpeg, image/gif or image/webp
	Digest string // of the original
}

func (c *Core) drawn(ctx context.Context, s *subject, small bool) (Drawn, error) {
	if viewOf(s.mime) != PictureView {
		return Drawn{}, errorf(Invalid, "%s is %s, which is no picture", s.name, s.mime)
	}
	p, err := c.looks.picture(ctx, s, edgeOf(small))
	if err != nil {
		return Drawn{}, unfit(err)
	}
	return Drawn{Data: p.data, MIME: p.mime, Digest: s.digest}, nil
}

// unfit makes an error of the media pipeline one that a person is told.
func unfit(err error) error {
	if why, other := problem(err); other == nil && why != "" {
		return &Error{Kind: Invalid, Message: why, Err: err}
	}
	return err
}

// MediaPicture returns a picture, checked by our own decoder or made anew by it, or a page of a PDF. Errors: NotFound; Invalid
// for what cannot be drawn.
func (c *Core) MediaPicture(ctx context.Context, q PictureQuery) (Drawn, error) {
	_, s, err := c.find(ctx, MediaID{q.Session, q.Media})
	if err != nil {
		return Drawn{}, err
	}
	if viewOf(s.mime) == DocumentView {
		n, err := c.looks.pages(ctx, s)
		switch {
		case err != nil:
			return Drawn{}, err
		case n == 0:
			return Drawn{}, errorf(Invalid, "%s is %s, of which no pages are drawn here", s.name, s.mime)
		case q.Page < 1 || q.Page > n:
			return Drawn{}, errorf(Invalid, "page %d of %s does not exist; it has pages 1 to %d", q.Page, s.name, n)
		}
		p, err := c.looks.page(ctx, s, q.Page, edgeOf(q.Small))
		if err != nil {
			return Drawn{}, unfit(err)
		}
		return Drawn{Data: p.data, MIME: p.mime, Digest: fmt.Sprintf("%s-%d", s.digest, q.Page)}, nil
	}
	return c.drawn(ctx, s, q.Small)
}

// LinesQuery selects lines of a text, or of the words of a document.
type LinesQuery struct {
	Session string `json:"session" jsonschema:"id of the session"`
	Media   string `json:"media" jsonschema:"id of the media"`
	From    int    `json:"from,omitempty" jsonschema:"number of the first line, from 1"`
	Limit   int    `json:"limit,omitempty" jsonschema:"at most so many; default 1000, most 5000"`
}

// Lines is a piece of a text.
type Lines struct {
	From  int      `json:"from" jsonschema:"number of the first line, from 1"`
	Lines []string `json:"lines" jsonschema:"as they are in the file, in UTF-8: a program that shows them escapes them"`
	Total int      `json:"total" jsonschema:"lines of the whole text"`
	Cut   bool     `json:"cut" jsonschema:"lines of more than 2000 characters are cut"`
}

// mostLine bounds a line that is shown, in characters.
const mostLine = 2000

// MediaLines returns lines of a text, or of the words of a document. Errors: NotFound; Invalid for what is neither.
func (c *Core) MediaLines(ctx context.Context, q LinesQuery) (Lines, error) {
	_, s, err := c.find(ctx, MediaID{q.Session, q.Media})
	if err != nil {
		return Lines{}, err
	}
	if !wordy(s.mime) {
		return Lines{}, errorf(Invalid, "%s is %s, which is no text", s.name, s.mime)
	}
	all, err := c.looks.lines(ctx, s)
	if err != nil {
		return Lines{}, unfit(err)
	}
	out := Lines{From: max(q.From, 1), Lines: []string{}, Total: len(all)}
	for _, l := range all[min(out.From-1, len(all)):min(out.From-1+page(q.Limit, 1000, 5000), len(all))] {
		if len(l) > mostLine {
			if r := []rune(l[:min(len(l), 4*mostLine)]); len(r) > mostLine || len(l) > 4*mostLine {
				l, out.Cut = string(r[:min(len(r), mostLine)]), true
			}
		}
		out.Lines = append(out.Lines, l)
	}
	return out, nil
}
