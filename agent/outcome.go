package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/internal/picture"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// inlineMedia is how many bytes of media stand in an event itself where there is a shelf.
const inlineMedia = 8 << 10

// maxBare is how many bytes of media stand in an event where there is none.
const maxBare = 8 << 20

// keep takes parts into the form in which they are stored: pictures that every provider takes (O9), with their bytes on the shelf.
func (a *Agent) keep(ctx context.Context, sess string, parts []content.Part) ([]content.Part, error) {
	out := make([]content.Part, 0, len(parts))
	bare := 0 // bytes that stand in the event because there is no shelf
	for _, p := range parts {
		p.Text, p.Name = strings.ToValidUTF8(p.Text, "\uFFFD"), strings.ToValidUTF8(p.Name, "\uFFFD") // as it is read again
		if p.Kind == content.Image && len(p.Data) > 0 {
			pic, err := picture.Whole(p.Data, picture.Limits{})
			if err != nil {
				out = append(out, content.TextPart(fmt.Sprintf("[Here was a picture of type %s with %d bytes that cannot be shown: %v.]", oneLine(p.MIME), len(p.Data), err)))
				continue
			}
			p.Data, p.MIME, p.Width, p.Height = pic.Data, pic.MIME, pic.Width, pic.Height
			if pic.Note != "" {
				out = append(out, content.TextPart("[The next picture: "+pic.Note+".]"))
			}
		}
		if a.cfg.Shelf != nil && len(p.Data) > inlineMedia {
			id, err := a.cfg.Shelf.Keep(ctx, sess, p.Name, p.MIME, p.Data)
			if err != nil {
				return nil, fmt.Errorf("keep media %q: %w", p.Name, err)
			}
			p.Size, p.Data, p.URI = int64(len(p.Data)), nil, artifactURI+id
		}
		if bare += len(p.Data); bare > maxBare {
			bare -= len(p.Data)
			p = content.TextPart(fmt.Sprintf("[Here was %s of type %s with %d bytes, more than is kept where there is no shelf for media.]", p.Kind, oneLine(p.MIME), len(p.Data)))
		}
		out = append(out, p)
	}
	return out, nil
}

// resultOf returns what is stored of a result.
func (a *Agent) resultOf(ctx context.Context, sess, id string, def *tool.Definition, res *tool.Result, acted bool) (*Result, error) {
	parts, err := a.keep(ctx, sess, res.Parts)
	if err != nil {
		return nil, err
	}
	r := &Result{ID: id, Outcome: OK, Changed: acted || len(res.Meta.Transaction) > 0, Digest: digestOf(res.Parts), Tokens: estimate(parts),
		Tx: res.Meta.Transaction, Took: res.Meta.Duration, Parts: parts, Untrusted: a.cfg.Untrusted(def, res)}
	switch {
	case res.Denied != nil:
		r.Outcome, r.Changed = Denied, false
	case res.Err != nil:
		r.Outcome = Error
	}
	if res.Err != nil {
		r.Code = string(res.Err.Code)
	}
	if end, ok := res.Meta.Values[toolbox.EndTurnValue].(string); ok {
		r.End = end
	}
	return r, nil
}

// resultOfRecord returns what the road's record of a call tells: an earlier process ran it to its end.
func resultOfRecord(rec *session.Record) *Result {
	o := rec.Result
	r := &Result{ID: rec.Call, Outcome: OK, Changed: true, Digest: digestOf(o.Parts), Tokens: estimate(o.Parts), Tx: o.Meta.Transaction, Took: o.Meta.Duration}
	for _, p := range o.Parts {
		if p.Kind != content.Text && p.Kind != content.Link && len(p.Data) == 0 { // records hold no bytes of media
			p = content.TextPart(fmt.Sprintf("[Here was media of type %s with %d bytes; they were lost when the program ended. Call again if you need them.]", oneLine(p.MIME), p.Size))
		}
		r.Parts = append(r.Parts, p)
	}
	switch {
	case o.Denied:
		r.Outcome, r.Changed = Denied, false
	case o.Err != nil:
		r.Outcome = Error
	}
	if o.Err != nil {
		r.Code = string(o.Err.Code)
		if len(r.Parts) == 0 {
			r.Parts = []content.Part{content.TextPart(o.Err.Render())}
		}
	}
	return r
}

// textResult is a result that the program makes itself.
func textResult(id string, o Outcome, words string) *Result {
	parts := []content.Part{content.TextPart(words)}
	return &Result{ID: id, Outcome: o, Digest: digestOf(parts), Tokens: estimate(parts), Parts: parts}
}

// digestOf names what parts say; equal digests mean equal parts.
func digestOf(parts []content.Part) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%s %d %d %s;", p.Kind, len(p.Text), len(p.Data), p.URI)
		h.Write([]byte(p.Text))
		h.Write(p.Data)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// sameOf is equal for calls with the same name and the same arguments, however they are spelled.
func sameOf(c *model.Call) string {
	h := sha256.New()
	h.Write([]byte(c.Name))
	h.Write([]byte{0})
	var v any
	if err := json.Unmarshal(c.Arguments, &v); c.Malformed == "" && err == nil {
		b, err := json.Marshal(v) // keys in order
		if err == nil {
			h.Write(b)
		}
	} else {
		h.Write(c.Arguments)
		h.Write([]byte(c.Malformed))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// classOf says whether a call that does this can be run again. An imported tool's own word is not taken for it.
func classOf(def *tool.Definition, in *tool.Intent) Class {
	if def != nil && def.SelfGated { // what its steps do is told one by one
		if def.Annotations.ReadOnly {
			return Reads
		}
		return Once
	}
	reads, writes := true, len(in.Effects) > 0
	for _, e := range in.Effects {
		reads = reads && e == tool.Read
		writes = writes && (e == tool.Read || e == tool.Write)
	}
	switch {
	case reads && in.Changes.Empty() && len(in.MayCreate) == 0:
		return Reads
	case in.Looks: // a command that only looks
		return Reads
	case writes && !in.Changes.Empty():
		return Journalled
	case def != nil && def.Annotations.Idempotent && def.Category != "mcp" && !in.Has(tool.Execute) && !in.Has(tool.Network):
		return Idempotent
	}
	return Once
}

// stricter returns the class of a call that did both.
func stricter(a, b Class) Class {
	order := map[Class]int{"": 0, Reads: 1, Idempotent: 2, Journalled: 3, Once: 4}
	if a == Journalled && b == Journalled { // two changesets: that the first was made does not say that the second was
		return Once
	}
	if order[a] > order[b] {
		return a
	}
	return b
}
