package legacy

import (
	"context"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/text"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// rtfRunning are the groups of RTF in which running text stands: the body, then what belongs to it.
var rtfRunning = []string{"", "footnote", "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf", "annotation", "shptxt"}

// running returns the running texts of a file in that order, as a reader sees them who accepts all changes.
func (f *rtfFile) running() []*rtfText {
	out := slices.DeleteFunc(f.texts(rtfDeleted|rtfHidden), func(s *rtfText) bool { return !slices.Contains(rtfRunning, s.dest) })
	slices.SortStableFunc(out, func(a, b *rtfText) int {
		return slices.Index(rtfRunning, a.dest) - slices.Index(rtfRunning, b.dest)
	})
	return out
}

// place is what update_text found.
type place struct {
	found    int
	crossing bool // it stands over the end of a paragraph
}

// result says what was found, and refuses where nothing was.
func (p place) result(r *media.Request, data []byte) (media.Result, error) {
	anchor := r.Args["anchor"].(string)
	if c := []rune(anchor); len(c) > 80 {
		anchor = string(c[:79]) + "…"
	}
	res := media.Result{Media: &media.Payload{Data: data}, Counts: media.Counts{Modified: 1}}
	switch {
	case p.found == 0 && p.crossing:
		return media.Result{}, media.Failf("the text %q goes over the end of a paragraph. Change one paragraph at a time.", anchor)
	case p.found == 0:
		return media.Result{}, media.Failf("the text %q does not stand in %s. Read it with extract text and copy the words exactly.", anchor, r.In.Name)
	case p.found > 1:
		res.Warnings = append(res.Warnings, "The text stands there more than once; only the first place was replaced.")
	}
	return res, nil
}

// updateRTF replaces the first place where an anchor stands.
func updateRTF(_ context.Context, r *media.Request) (media.Result, error) {
	f, err := openRTF(r)
	if err != nil {
		return media.Result{}, err
	}
	anchor, with := r.Args["anchor"].(string), r.Args["replace"].(string)
	if anchor == "" {
		return media.Result{}, media.Failf("the anchor is empty.")
	}
	pat, err := media.NewPattern(media.Match{Text: anchor}, r.Limits.WithDefaults().Match)
	if err != nil {
		return media.Result{}, err
	}
	var p place
	var cuts []tree.Splice
	for _, s := range f.running() {
		spans, err := pat.Find(string(s.text))
		if err != nil {
			return media.Result{}, err
		}
		for _, sp := range spans {
			if slices.Contains(s.from[sp.From:sp.To], -1) {
				p.crossing = true
			} else if p.found++; p.found == 1 {
				cuts = f.replace(s, sp, with)
			}
		}
	}
	return p.result(r, tree.Apply(f.src, cuts))
}

// normalizeRTF brings characters to the composed form and takes blanks at the ends of paragraphs away.
func normalizeRTF(_ context.Context, r *media.Request) (media.Result, error) {
	f, err := openRTF(r)
	if err != nil {
		return media.Result{}, err
	}
	var cuts []tree.Splice
	n := 0
	for _, s := range f.running() {
		for at := 0; at < len(s.text); {
			k := norm.NFC.NextBoundary(s.text[at:], true)
			if piece := s.text[at : at+k]; !norm.NFC.IsNormal(piece) && !slices.Contains(s.from[at:at+k], -1) {
				cuts, n = append(cuts, f.replace(s, media.Span{From: at, To: at + k}, string(norm.NFC.Bytes(piece)))...), n+1
			}
			at += k
		}
		for at := 0; at <= len(s.text); at++ {
			if at < len(s.text) && (s.text[at] != '\n' || s.from[at] >= 0) {
				continue
			}
			from := at
			for from > 0 && s.text[from-1] == ' ' && s.from[from-1] >= 0 {
				from--
			}
			if from < at {
				cuts, n = append(cuts, f.replace(s, media.Span{From: from, To: at}, "")...), n+1
			}
		}
	}
	slices.SortStableFunc(cuts, func(a, b tree.Splice) int { return a.From - b.From })
	res := media.Result{Media: &media.Payload{Data: tree.Apply(f.src, cuts)}, Counts: media.Counts{Modified: n}}
	if n == 0 {
		res.Warnings = append(res.Warnings, "It was in order already.")
	}
	return res, nil
}

// updateEPUB replaces the first place where an anchor stands, in the order of reading.
func updateEPUB(_ context.Context, r *media.Request) (media.Result, error) {
	b, err := openEPUB(r)
	if err != nil {
		return media.Result{}, err
	}
	anchor, with := r.Args["anchor"].(string), r.Args["replace"].(string)
	if strings.TrimSpace(anchor) == "" {
		return media.Result{}, media.Failf("the anchor is empty.")
	}
	w := &text.Words{Replacement: with, Inline: epubInline, Skip: []string{"head", "script", "style"}}
	var p place
	changed := map[string][]byte{}
	for _, name := range b.spine {
		src, err := b.zip.Read(name)
		if err != nil {
			return media.Result{}, err
		}
		out, found, crossing, err := w.First(string(src), anchor, r.Limits)
		if err != nil {
			return media.Result{}, err
		}
		if found > 0 && p.found == 0 {
			changed[name] = []byte(out)
		}
		p.found, p.crossing = p.found+found, p.crossing || crossing
	}
	data, err := b.zip.Rewrite(changed)
	if err != nil {
		return media.Result{}, err
	}
	return p.result(r, data)
}

// normalizeEPUB normalises every page, as text is normalised.
func normalizeEPUB(ctx context.Context, r *media.Request) (media.Result, error) {
	b, err := openEPUB(r)
	if err != nil {
		return media.Result{}, err
	}
	changed := map[string][]byte{}
	n := 0
	for _, name := range b.zip.Names() {
		ext := path.Ext(strings.ToLower(name))
		if !slices.Contains([]string{".xhtml", ".html", ".htm", ".ncx", ".css"}, ext) {
			continue
		}
		src, err := b.zip.Read(name)
		if err != nil {
			return media.Result{}, err
		}
		if !utf8.Valid(src) {
			continue // its XML declaration names its encoding, and that stays true
		}
		res, err := text.Normalize(ctx, &media.Request{In: media.Payload{Data: src, MIME: "text/html", Name: path.Base(name)}, Limits: r.Limits})
		if err != nil {
			return media.Result{}, err
		}
		if k := res.Counts.Modified; k > 0 {
			changed[name], n = res.Media.Data, n+k
		}
	}
	data, err := b.zip.Rewrite(changed)
	if err != nil {
		return media.Result{}, err
	}
	res := media.Result{Media: &media.Payload{Data: data}, Counts: media.Counts{Modified: n}}
	if n == 0 {
		res.Media.Data = r.In.Data
		res.Warnings = append(res.Warnings, "It was in order already.")
	}
	return res, nil
}
