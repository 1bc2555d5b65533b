package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
)

// What one request shows of media. The oldest make room in steps, so that what was sent before stays the same for several
// requests and caches hold.
const (
	maxShown   = 20 // pictures and documents; some providers refuse more
	shownStep  = 10
	maxLoaded  = 24 << 20 // bytes of them together, before base64
	loadedStep = 8 << 20
)

// load returns messages with the bytes of their media, as far as the model takes them and a request may hold.
func (a *Agent) load(ctx context.Context, session string, info *model.Info, msgs []model.Message) ([]model.Message, error) {
	var media []*content.Part
	out := make([]model.Message, len(msgs))
	for i, m := range msgs {
		out[i] = m
		cloned := false
		for j, b := range m.Blocks {
			if !holdsMedia(b) {
				continue
			}
			if !cloned {
				out[i].Blocks, cloned = append([]model.Block(nil), m.Blocks...), true
			}
			switch {
			case b.Part != nil:
				p := *b.Part
				out[i].Blocks[j].Part = &p
				media = append(media, &p)
			case b.Result != nil:
				r := *b.Result
				r.Parts = append([]content.Part(nil), r.Parts...)
				out[i].Blocks[j].Result = &r
				for k := range r.Parts {
					if isMedia(&r.Parts[k]) {
						media = append(media, &r.Parts[k])
					}
				}
			}
		}
	}
	for i, skip := 0, skipped(media, info); i < len(media); i++ {
		p := media[i]
		switch why := refused(p, info); {
		case why != "":
			*p = content.TextPart(fmt.Sprintf("[%s of type %s: %s.]", oneLine(string(p.Kind)), oneLine(p.MIME), why))
		case i < skip:
			*p = content.TextPart(fmt.Sprintf("[An earlier %s, not shown any more to make room; tools still know it by its id.]", p.Kind))
		default:
			if err := a.fetch(ctx, session, p); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func isMedia(p *content.Part) bool {
	return p.Kind == content.Image || p.Kind == content.Document || p.Kind == content.Audio
}

func holdsMedia(b model.Block) bool {
	if b.Part != nil {
		return isMedia(b.Part)
	}
	if b.Result != nil {
		for i := range b.Result.Parts {
			if isMedia(&b.Result.Parts[i]) {
				return true
			}
		}
	}
	return false
}

// refused says why a model does not take a part, "" where it does.
func refused(p *content.Part, info *model.Info) string {
	takes := map[content.Kind]bool{content.Image: info.Images, content.Document: info.Files, content.Audio: info.Audio}
	if takes[p.Kind] {
		return ""
	}
	return "this model does not take it; a tool may read it by its id"
}

// skipped returns how many of the media, from the oldest, are not shown.
func skipped(media []*content.Part, info *model.Info) int {
	var shown []int // places of those that count
	var sizes []int64
	var total int64
	for i, p := range media {
		if refused(p, info) == "" {
			shown, sizes = append(shown, i), append(sizes, max(p.Size, int64(len(p.Data))))
			total += sizes[len(sizes)-1]
		}
	}
	drop := 0
	if over := len(shown) - maxShown; over > 0 {
		drop = (over + shownStep - 1) / shownStep * shownStep
	}
	if over := total - maxLoaded; over > 0 {
		over = (over + loadedStep - 1) / loadedStep * loadedStep
		n := 0
		for n < len(shown)-1 && over > 0 {
			over -= sizes[n]
			n++
		}
		drop = max(drop, n)
	}
	switch {
	case drop == 0:
		return 0
	case drop >= len(shown):
		return shown[len(shown)-1] // the newest is shown
	}
	return shown[drop]
}

// fetch reads the bytes of media that are kept elsewhere.
func (a *Agent) fetch(ctx context.Context, session string, p *content.Part) error {
	id, kept := strings.CutPrefix(p.URI, artifactURI)
	if len(p.Data) > 0 || !kept {
		return nil
	}
	if a.cfg.Shelf == nil {
		*p = content.TextPart("[The bytes of this media are kept where this program cannot reach them.]")
		return nil
	}
	data, err := a.cfg.Shelf.Fetch(ctx, session, id)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		*p = content.TextPart("[The bytes of this media are no longer kept.]")
		return nil
	}
	p.Data = data
	return nil
}
