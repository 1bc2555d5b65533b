package pdf

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// verify looks for what was to be removed: in the text of pages with and without annotations, and in every string and stream
// of the file. It returns the pages that still show some, and another place that does.
func (x *redaction) verify(ctx context.Context, data []byte) (pages []int, elsewhere string, err error) {
	f, err := object.Open(data, limits(x.r))
	if err != nil {
		return nil, "", fail(x.r.In.Name, err)
	}
	d := &document{File: f, name: x.r.In.Name, data: data}
	bad := map[int]bool{}
	var seenText strings.Builder
	box, noted := x.e.choose(d.tame(len(x.leaves)))
	err = box.run(ctx, func(w *worker) error {
		if err := w.open(data, ""); err != nil {
			return err
		}
		for i := range x.leaves {
			glyphs, count, err := x.search(w, i)
			if err != nil {
				return err
			}
			if count > 0 {
				bad[i] = true
				x.glyphs[i] = append(x.glyphs[i], glyphs...)
				if len(glyphs) == 0 {
					elsewhere = fmt.Sprintf("page %d, where they cannot be placed", i+1)
				}
			}
			read := w.pageText
			if noted == nil || noted[i] {
				read = w.flatText
			}
			t, err := read(i)
			if err != nil {
				return err
			}
			hit, err := x.text(t)
			if err != nil {
				return err
			}
			bad[i] = bad[i] || hit // of annotations, which a drawn page has not
			seenText.WriteString(squeeze(t))
		}
		return nil
	})
	if err != nil {
		return nil, "", fail(x.r.In.Name, err)
	}
	x.gone = nil
	for word := range x.found {
		if !strings.Contains(seenText.String(), word) {
			x.gone = append(x.gone, word)
		}
	}
	seen, where, err := x.contents(d, bad)
	if err != nil {
		return nil, "", err
	}
	if elsewhere == "" {
		elsewhere = where
	}
	for _, n := range f.All() {
		ref := object.Ref{Num: n}
		where, err := x.object(d, ref, seen[ref])
		if err != nil {
			return nil, "", err
		}
		if where != "" && elsewhere == "" {
			elsewhere = where
		}
	}
	for i, is := range bad {
		if is {
			pages = append(pages, i)
		}
	}
	slices.Sort(pages)
	return pages, elsewhere, nil
}

// contents looks into what pages show, as the walk over it reads it. It returns the streams that it has seen.
func (x *redaction) contents(d *document, bad map[int]bool) (seen map[object.Ref]bool, elsewhere string, err error) {
	seen = map[object.Ref]bool{}
	for i, p := range d.leaves() {
		src, err := d.contents(p.dict)
		if err != nil {
			if _, gone := x.drawn[i]; !gone && x.counts[i] > 0 {
				bad[i] = true
			}
			continue
		}
		for _, o := range append(d.Array(p.dict["Contents"]), p.dict["Contents"]) {
			if ref, ok := o.(object.Ref); ok {
				seen[ref] = true
			}
		}
		glyphs, count, err := x.traced(d, p.dict)
		if err != nil {
			return nil, "", err
		}
		if count > 0 {
			bad[i] = true
			x.glyphs[i] = append(x.glyphs[i], glyphs...)
			if len(glyphs) == 0 {
				elsewhere = fmt.Sprintf("page %d, where they cannot be placed", i+1)
			}
		}
		if lines, laid, err := x.laid(d, p.dict); err != nil {
			return nil, "", err
		} else if laid > 0 && count == 0 {
			bad[i] = true
			x.glyphs[i] = append(x.glyphs[i], lines...)
			if len(lines) == 0 {
				elsewhere = fmt.Sprintf("page %d, where they cannot be placed", i+1)
			}
		}
		w := &walker{d: d}
		w.walk(src, d.Dict(p.dict["Resources"]), unit)
		if hit, err := x.shown(w.text.String(), src); err != nil {
			return nil, "", err
		} else if hit && count == 0 {
			// Words that are known to have been there, and that no reading places: a picture could still show them.
			elsewhere = fmt.Sprintf("the content of page %d", i+1)
		}
	}
	return seen, elsewhere, nil
}

// shown looks into the text of a content stream, and its strings as they are.
func (x *redaction) shown(text string, src []byte) (bool, error) {
	if hit, err := x.text(text); hit || err != nil || x.known(text) {
		return true, err
	}
	hit := false
	var failed error
	l := object.NewLexer(src)
	for {
		o, ok := l.Next()
		if !ok {
			return hit, failed
		}
		(&document{}).within(o, func(o object.Object) {
			s, ok := o.(object.String)
			if !ok || hit || failed != nil {
				return
			}
			if hit = x.known(s.Text()) || x.known(string(s)); !hit && len(s) > 3 && printable([]byte(s)) {
				hit, failed = x.text(string(s))
			}
		}, 0)
	}
}

// object looks into one object of the result. Contents of pages have been looked at with their page.
func (x *redaction) object(d *document, ref object.Ref, content bool) (where string, err error) {
	o := d.Get(ref)
	d.within(o, func(o object.Object) {
		s, ok := o.(object.String)
		if !ok || where != "" || err != nil {
			return
		}
		var hit bool
		if hit, err = x.text(s.Text()); hit || x.known(s.Text()) || x.known(string(s)) {
			where = fmt.Sprintf("a string of object %d", ref.Num)
		}
	}, 0)
	s, ok := o.(*object.Stream)
	if !ok || content || where != "" || err != nil {
		return where, err
	}
	data, _, derr := d.Decode(s)
	if derr != nil {
		return fmt.Sprintf("stream %d, which cannot be decoded (%v)", ref.Num, derr), nil
	}
	if name := d.Name(s.Dict["Subtype"]); name == "Form" || s.Dict["PatternType"] != nil {
		w := &walker{d: d}
		w.walk(data, d.Dict(s.Dict["Resources"]), unit)
		hit, err := x.shown(w.text.String(), data)
		if hit {
			return fmt.Sprintf("form %d", ref.Num), err
		}
		return "", err
	}
	if x.bytes(data) || x.bytes(s.Raw) {
		return fmt.Sprintf("stream %d", ref.Num), nil
	}
	return "", nil
}

// bytes looks for the words as they may be coded: bytes, UTF-16 in either order.
func (x *redaction) bytes(data []byte) bool {
	for _, word := range x.gone {
		if len(word) < 5 {
			continue
		}
		var big, little []byte
		for _, u := range utf16.Encode([]rune(word)) {
			big, little = append(big, byte(u>>8), byte(u)), append(little, byte(u), byte(u>>8))
		}
		if bytes.Contains(data, []byte(word)) || bytes.Contains(data, big) || bytes.Contains(data, little) {
			return true
		}
	}
	return false
}
