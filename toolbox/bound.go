package toolbox

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/internal/clip"
	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/tool"
)

// bounds returns the limit for one call: the tool's own or else the shared one, and where the face can show less, the
// face's (O2).
func (b *Box) bounds(p *Planned) tool.Bounds {
	limits := b.cfg.Bounds
	if p.entry != nil && p.entry.def.Bounds != (tool.Bounds{}) {
		limits = p.entry.def.Bounds
	}
	if p.Request.Bounds != (tool.Bounds{}) {
		limits = limits.Min(p.Request.Bounds)
	}
	return limits
}

// noticeBytes is about what the notice behind a cut takes. A face that cuts by itself must not cut the notice off.
const noticeBytes = 400

// bound cuts the text of a result to the limit, once (O1). The whole text becomes an artifact, and the notice behind
// the preview says what was cut and which call shows the rest.
func (b *Box) bound(ctx context.Context, p *Planned, res *tool.Result) {
	b.boundMedia(ctx, p, res)
	if res.Bounded {
		return
	}
	limits := b.bounds(p).Resolve()
	text := content.JoinText(res.Parts)
	if limits.Fits(text) {
		return
	}
	if face := p.Request.Bounds.Resolve().Bytes; p.Request.Bounds != (tool.Bounds{}) && limits.Bytes == face && face > 0 {
		limits.Bytes -= min(noticeBytes, face/2)
	}
	cut := clip.Text(text, limits, clip.Head)
	if res.Err != nil { // programs read it from there
		e := *res.Err
		e.Message = clip.Text(e.Message, limits, clip.Head).Text()
		res.Err = &e
	}
	res.Meta.Truncated = true
	notice := fmt.Sprintf("[Output cut: the first %d of %d lines (%d of %d bytes) are shown.", cut.Cut.Lines.Kept, cut.Cut.Lines.Total, cut.Cut.Bytes.Kept, cut.Cut.Bytes.Total)
	notice += b.spool(ctx, p, res, text, cut.Cut.Lines.Kept) + "]"
	first := tool.Text(strings.TrimSuffix(cut.Head, "\n") + "\n" + notice)
	rest := slices.DeleteFunc(slices.Clone(res.Parts), func(c tool.Part) bool { return c.Kind == tool.TextKind })
	res.Parts = append([]tool.Part{first}, rest...)
}

// mediaBytes is how many bytes of media one result may hold: what a request of the strictest provider holds beside other
// content, in base64. A result can never make the next request fail (O9).
const mediaBytes = 20 << 20

// boundMedia keeps media beyond the limit as artifacts and says so in their place.
func (b *Box) boundMedia(ctx context.Context, p *Planned, res *tool.Result) {
	left := mediaBytes
	for i, part := range res.Parts {
		if left -= len(part.Data); left >= 0 || len(part.Data) == 0 {
			continue
		}
		left += len(part.Data)
		where := "this toolbox keeps no artifacts, so it is gone"
		if b.cfg.Artifacts != nil {
			id, err := b.masked(b.cfg.Artifacts).Put(context.WithoutCancel(ctx), p.Request.Session, cmp.Or(part.Name, "media"), part.MIME, bytes.NewReader(part.Data))
			where = "copy it into a file with copy_file path=artifact:" + id
			if err != nil {
				where = fmt.Sprintf("it could not be kept (%v)", err)
			}
		}
		res.Meta.Truncated = true
		res.Parts[i] = tool.Text(fmt.Sprintf("[Here was a part of type %s with %d bytes, more than one result can hold; %s.]", part.MIME, len(part.Data), where))
	}
}

// spool stores the whole text and returns the sentence that says how to get at it (O3).
func (b *Box) spool(ctx context.Context, p *Planned, res *tool.Result, text string, shown int64) string {
	if b.cfg.Artifacts == nil {
		return " This toolbox keeps no artifacts, so the rest is gone; narrow the call."
	}
	whole := b.redact.Load().text(text)
	name := "call"
	if p.entry != nil {
		name = p.entry.def.Name
	}
	id, err := b.cfg.Artifacts.Put(context.WithoutCancel(ctx), p.Request.Session, name+" output", "text/plain", strings.NewReader(whole))
	if err != nil {
		b.cfg.Log.ErrorContext(ctx, "artifact not stored", "call", p.Request.ID, "err", err)
		return fmt.Sprintf(" The rest could not be kept (%v); narrow the call.", err)
	}
	res.Meta.Artifact = id
	if b.cfg.Options.Spawns || p.Request.Options.Spawns {
		return fmt.Sprintf(" The whole output is artifact:%s; let a subagent search it, so that it does not fill this conversation.", id)
	}
	return fmt.Sprintf(" The whole output is artifact:%s; search it with the artifact tool, or read on with read_file path=artifact:%s offset=%d.", id, id, shown+1)
}
