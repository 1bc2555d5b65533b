package legacy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/image"
	"github.com/tackle-dev/tackle/media/internal/flow"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// redactRTF removes words from every text of a file, and looks again before it gives the result out.
func redactRTF(ctx context.Context, r *media.Request) (media.Result, error) {
	red, err := tree.NewRedaction(r)
	if err != nil {
		return media.Result{}, err
	}
	src, warnings, err := forgetRTF(r, red)
	if err != nil {
		return media.Result{}, err
	}
	f, err := openRTF(r)
	if err != nil {
		return media.Result{}, err
	}
	views := f.views()
	for i := range red.Patterns {
		for _, view := range views {
			if err := ctx.Err(); err != nil {
				return media.Result{}, err
			}
			if src, err = redactView(src, red, i, view, r); err != nil {
				return media.Result{}, err
			}
		}
	}
	if red.Count == 0 {
		return media.Result{}, media.Failf("nothing in %s matches. Nothing was changed.", r.In.Name)
	}
	warnings = append(red.Unfound(), warnings...)
	more, err := verifyRTF(src, red, r)
	if err != nil {
		return media.Result{}, err
	}
	return media.Result{Media: &media.Payload{Data: src}, Warnings: append(warnings, more...), Counts: media.Counts{Modified: red.Count}}, nil
}

// redactView removes what one pattern finds in what one kind of reader sees.
func redactView(src []byte, red *tree.Redaction, pattern int, view uint8, r *media.Request) ([]byte, error) {
	f, err := openRTF(&media.Request{In: media.Payload{Data: src, Name: r.In.Name}, Limits: r.Limits})
	if err != nil {
		return nil, err
	}
	var cuts []tree.Splice
	for _, s := range f.texts(view) {
		spans, err := red.Patterns[pattern].Find(string(s.text))
		if err != nil {
			return nil, err
		}
		if len(spans) == 0 {
			continue
		}
		red.Found[pattern], red.Count = true, red.Count+len(spans)
		for _, sp := range spans {
			cuts = append(cuts, f.replace(s, sp, red.Replacement)...)
		}
	}
	return tree.Apply(src, cuts), nil
}

// forgetRTF takes from pictures the metadata in which something matches.
func forgetRTF(r *media.Request, red *tree.Redaction) (src []byte, warnings []string, err error) {
	f, err := openRTF(r)
	if err != nil {
		return nil, nil, err
	}
	var cuts []tree.Splice
	for _, b := range f.blobs() {
		if b.dest != "pict" {
			continue
		}
		fresh, left, err := image.Forget(b.data, red.Scan)
		switch {
		case err != nil:
			return nil, nil, err
		case left != "":
			return nil, nil, media.Failf("%q stands in the metadata of a picture, which cannot be changed without drawing it anew. Take the picture out first. Nothing was changed.", left)
		case fresh != nil:
			red.Count++
			warnings = append(warnings, "The metadata of a picture was taken away, because something in it matches.")
			cuts = append(cuts, tree.Splice{From: b.in, To: b.out, With: "\n" + hex.EncodeToString(fresh)})
		}
	}
	return tree.Apply(r.In.Data, cuts), warnings, nil
}

// replace returns the splices that put a text in the place of a span. What stands in its place needs a blank where a control
// word before it would run on into it.
func (f *rtfFile) replace(s *rtfText, sp media.Span, with string) []tree.Splice {
	var out []tree.Splice
	fresh := true
	for i := sp.From; i < sp.To; i++ {
		if s.from[i] < 0 {
			continue
		}
		from, to := int(s.from[i]), int(s.to[i])
		if k := len(out) - 1; k >= 0 && out[k].From <= from && out[k].To >= from {
			out[k].To = max(out[k].To, to)
			continue
		}
		now := ""
		if fresh {
			now, fresh = rtfEscape(with, int(s.back[i])), false
		}
		if s.back[i] > 0 && f.hungry(from) {
			now = "{}" + now
		} else if f.open(from) {
			now = " " + now
		}
		out = append(out, tree.Splice{From: from, To: to, With: now})
	}
	return out
}

func verifyRTF(src []byte, red *tree.Redaction, r *media.Request) (warnings []string, err error) {
	sub := &media.Request{In: media.Payload{Data: src, Name: r.In.Name, MIME: rtfMIME}, Limits: r.Limits}
	f, err := openRTF(sub)
	if err != nil {
		return nil, err
	}
	for _, view := range f.views() {
		for _, s := range f.texts(view) {
			hit, err := red.Hit(string(s.text))
			if err != nil {
				return nil, err
			}
			if hit != "" {
				return nil, tree.Left("the group "+s.dest, hit)
			}
		}
	}
	for _, w := range red.Plain() {
		if bytes.Contains(src, []byte(w)) {
			return nil, tree.Left("the source", w)
		}
	}
	for _, b := range f.blobs() {
		if kind := media.Identify(media.Payload{Data: b.data}).MIME; slices.Contains([]string{"image/png", "image/jpeg", "image/bmp", "image/gif"}, kind) {
			warnings = append(warnings, "The file holds pictures, which were not read.")
			if hit, err := red.Scan(b.data); err != nil || len(hit) >= 8 { // shorter ones mean nothing in what is all but random
				return nil, cmp.Or(err, tree.Left("a picture", hit))
			}
			continue
		}
		hit, err := red.Scan(b.data)
		if err != nil {
			return nil, err
		}
		if hit != "" {
			return nil, media.Failf("%q stands in an embedded object or picture (%s), which cannot be changed here. Take it out with sanitize first. Nothing was changed.", hit, b.dest)
		}
	}
	d, _, err := readRTF(sub)
	if err != nil {
		return nil, err
	}
	hit, err := red.Hit(d.Text(flow.Options{Changes: true}))
	if err == nil && hit != "" {
		err = tree.Left("the text", hit)
	}
	slices.Sort(warnings)
	return slices.Compact(warnings), err
}

// rtfActing are the groups that hold programs, links to files, or files of other programs.
var rtfActing = map[string]string{"object": "embedded object", "objdata": "embedded object", "template": "remote template", "ffentrymcr": "macro", "ffexitmcr": "macro", "mailmerge": "data connection",
	"datastore": "custom XML", "filetbl": "link to another file"}

// rtfFields are the fields that start programs or fetch.
var rtfFields = []string{"DDE", "DDEAUTO", "INCLUDETEXT", "INCLUDEPICTURE", "INCLUDE", "IMPORT", "MACROBUTTON", "LINK", "DATABASE", "EMBED", "PRINT", "GOTOBUTTON", "AUTOTEXT"}

// sanitizeRTF takes away what acts or reaches out.
func sanitizeRTF(_ context.Context, r *media.Request) (media.Result, error) {
	f, err := openRTF(r)
	if err != nil {
		return media.Result{}, err
	}
	removed := map[string]int{}
	var cuts []tree.Splice
	var whys []string
	var starts []int // of open groups
	for i, t := range f.tokens {
		switch t.kind {
		case rtfOpen:
			starts = append(starts, i)
		case rtfClose:
			n := len(starts)
			if n == 0 {
				continue
			}
			open := starts[n-1]
			starts = starts[:n-1]
			name := f.destination(open)
			why := rtfActing[name]
			if name == "fldinst" {
				words := strings.Fields(strings.ToUpper(f.words(open, i)))
				switch {
				case len(words) > 0 && slices.Contains(rtfFields, words[0]):
					why = "field that starts or fetches something"
				case len(words) > 1 && words[0] == "HYPERLINK" && flow.SafeLink(strings.Trim(words[1], `"`)) == "":
					why = "link that starts something"
				}
			}
			if why != "" {
				from := f.tokens[open].from
				for len(cuts) > 0 && cuts[len(cuts)-1].From >= from { // it is within this one
					cuts, whys = cuts[:len(cuts)-1], whys[:len(whys)-1]
				}
				cuts, whys = append(cuts, tree.Splice{From: from, To: t.to, With: "{}"}), append(whys, why)
			}
		}
	}
	for _, why := range whys {
		removed[why]++
	}
	res := media.Result{Media: &media.Payload{Data: tree.Apply(f.src, cuts)}}
	res.Warnings, res.Counts.Removed = report(removed)
	return res, nil
}

// words returns the characters between two tokens.
func (f *rtfFile) words(from, to int) string {
	var b strings.Builder
	for _, t := range f.tokens[from:to] {
		if t.kind == rtfChar {
			b.Write(f.src[t.from:t.to])
		}
	}
	return b.String()
}
