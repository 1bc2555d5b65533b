package legacy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/media"
)

// describe is extract.metadata.
func describe(_ context.Context, r *media.Request) (media.Result, error) {
	m := map[string]any{}
	letter := func(l *letterParts) {
		for _, h := range l.head {
			m[strings.ToLower(strings.ReplaceAll(h[0], "-", "_"))] = h[1]
		}
		var names []string
		for _, f := range l.files {
			names = append(names, f.Name)
		}
		if names != nil {
			m["attachments"] = names
		}
	}
	switch r.In.MIME {
	case emlMIME:
		l, err := openEML(r)
		if err != nil {
			return media.Result{}, err
		}
		letter(l)
	case epubMIME:
		b, err := openEPUB(r)
		if err != nil {
			return media.Result{}, err
		}
		m = b.metadata
		m["parts"] = len(b.spine)
	case rtfMIME:
		f, err := openRTF(r)
		if err != nil {
			return media.Result{}, err
		}
		for _, s := range f.texts(0) {
			if slices.Contains([]string{"title", "author", "subject", "keywords", "operator", "company", "doccomm", "generator"}, s.dest) && m[s.dest] == nil {
				m[s.dest] = strings.TrimSuffix(strings.TrimSpace(string(s.text)), ";")
			}
		}
	default:
		c, err := openCFB(r)
		if err != nil {
			return media.Result{}, err
		}
		m = c.properties()
		for _, p := range c.order {
			if strings.Contains(p, "VBA") {
				m["macros"] = true
			}
		}
		switch r.In.MIME {
		case msgMIME:
			letter(c.letter())
		case xlsMIME:
			if b, _, err := c.xls(); err == nil {
				var sheets []map[string]any
				for _, s := range b.Sheets {
					last := 0
					if n := len(s.Rows); n > 0 {
						last = s.Rows[n-1].N
					}
					sheets = append(sheets, map[string]any{"name": s.Name, "rows": last})
				}
				m["sheets"] = sheets
			}
		}
	}
	return media.Result{Read: &media.Reading{Data: m}}, nil
}

// assets gives the attachments of mails, the pictures of books and RTF, and the pictures that stand as they are within the
// old Office formats.
func assets(_ context.Context, r *media.Request) (media.Result, error) {
	want, _ := r.Args["types"].([]string)
	var res media.Result
	add := func(name string, raw []byte) {
		p := media.Identify(media.Payload{Data: raw, Name: name})
		kind := "attachment"
		switch {
		case media.FamilyOf(p.MIME) == media.Image || p.MIME == "image/svg+xml":
			kind = "image"
		case slices.Contains([]string{".ttf", ".otf", ".woff", ".woff2"}, strings.ToLower(name[max(0, strings.LastIndexByte(name, '.')):])):
			kind = "font"
		}
		if f, ok := media.FormatOf(p.MIME); ok && !strings.Contains(name, ".") {
			p.Name = media.Renamed(name, f.Token)
		}
		if len(raw) > 0 && (len(want) == 0 || slices.Contains(want, "all") || slices.Contains(want, kind)) {
			res.List = append(res.List, p)
		}
	}
	switch r.In.MIME {
	case emlMIME:
		l, err := openEML(r)
		if err != nil {
			return media.Result{}, err
		}
		for _, f := range l.files {
			add(f.Name, f.Data)
		}
	case epubMIME:
		b, err := openEPUB(r)
		if err != nil {
			return media.Result{}, err
		}
		for _, name := range b.zip.Names() {
			if markupPart(name) && !strings.HasSuffix(name, ".svg") || strings.HasSuffix(name, "/") || strings.HasSuffix(name, ".css") || name == "mimetype" || strings.HasPrefix(name, "META-INF/") {
				continue
			}
			raw, err := b.zip.Read(name)
			if err != nil {
				return media.Result{}, err
			}
			add(media.CleanName(name), raw)
		}
	case rtfMIME:
		f, err := openRTF(r)
		if err != nil {
			return media.Result{}, err
		}
		for i, b := range f.blobs() {
			if b.dest == "pict" || b.dest == "objdata" {
				add(fmt.Sprintf("%s%d", map[string]string{"pict": "picture", "objdata": "object"}[b.dest], i+1), b.data)
			}
		}
	default:
		c, err := openCFB(r)
		if err != nil {
			return media.Result{}, err
		}
		if r.In.MIME == msgMIME {
			for _, f := range c.letter().files {
				add(f.Name, f.Data)
			}
			break
		}
		for _, s := range c.order {
			for i, raw := range pictures(c.get(s), r.Limits.WithDefaults().Members-len(res.List)) {
				add(fmt.Sprintf("%s%d", strings.ToLower(media.CleanName(strings.ReplaceAll(s, " ", "_"))), i+1), raw)
			}
		}
	}
	if len(res.List) == 0 {
		return media.Result{}, media.Failf("%s holds no embedded files of the kind asked for.", r.In.Name)
	}
	return res, nil
}
