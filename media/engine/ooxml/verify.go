package ooxml

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/flow"
	"github.com/tackle-dev/tackle/media/internal/pack"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// structural are attributes whose values programs look things up by; words in them would be an accident.
var structural = []string{
	"uri", "Requires", "path", "style", "ContentType", "PartName", "Type", "Extension", "formatCode", "typeface",
	"panose", "script", "w:ascii", "w:hAnsi", "w:cs", "w:eastAsia", "w14:paraId", "w14:textId", "w:rsidR",
	"w:rsidRDefault", "w:rsidP", "w:rsidRPr", "w:rsidTr", "w:rsidSect", "guid", "dt", "date", "w:date", "adj",
	"coordsize", "points",
}

// suspect reports whether an attribute that is left alone holds a match that should not be left: one with digits, or a word
// in an element that no table here knows. Words such as Title are in names of styles and kinds all over a file.
func (f *file) suspect(n *tree.Node, a *tree.Attr, red *tree.Redaction) (string, error) {
	if strings.HasPrefix(a.Name, "xmlns") || strings.HasPrefix(a.Name, "r:") || slices.Contains(structural, a.Name) || strings.Trim(a.Val, "0123456789ABCDEFabcdef.+-%{}") == "" && !strings.Contains(strings.Trim(a.Val, "{}"), "-") {
		return "", nil
	}
	for i, p := range red.Patterns {
		spans, err := p.Find(a.Val)
		if err != nil {
			return "", err
		}
		for _, sp := range spans {
			hit := a.Val[sp.From:sp.To]
			digits := strings.ContainsAny(hit, "0123456789") && len(hit) >= 6
			word := red.Matches[i].Source == "" && len(hit) >= 4 && !f.known(n)
			if digits || word {
				return hit, nil
			}
		}
	}
	return "", nil
}

// known reports whether an element is of one of the namespaces that are known here.
func (f *file) known(n *tree.Node) bool {
	pre, _, ok := strings.Cut(n.Name, ":")
	for _, own := range f.space {
		if ok && own == pre {
			return true
		}
	}
	return !ok
}

// customary are the words of which programs make the names of parts.
var customary = []string{
	"rels", "word", "ppt", "xl", "docprops", "customxml", "content_types", "document", "presentation", "styles", "style", "settings", "websettings",
	"fonttable", "numbering", "footnotes", "endnotes", "comments", "commentsextended", "commentsids", "commentsextensible", "commentauthors", "authors",
	"people", "header", "footer", "theme", "themes", "themeoverride", "image", "media", "slide", "slides", "slidelayout", "slidelayouts", "slidemaster",
	"slidemasters", "notesslide", "notesslides", "notesmaster", "notesmasters", "handoutmaster", "handoutmasters", "presprops", "viewprops",
	"tablestyles", "chart", "charts", "chartex", "colors", "drawing", "drawings", "vmldrawing", "diagrams", "data", "layout", "quickstyle", "item",
	"itemprops", "core", "app", "custom", "thumbnail", "vbaproject", "vbadata", "microsoft_excel_worksheet", "microsoft_excel_sheet",
	"microsoft_word_document", "embeddings", "oleobject", "activex", "tag", "tags", "glossary", "fonts", "font", "video", "audio", "ink", "printersettings",
	"changesinfos", "changesinfo", "revisioninfo", "afchunk", "intelligence", "documenttasks", "stylesWithEffects",
}

// nameHit looks through what of the name of a part no program would have given it.
func nameHit(name string, red *tree.Redaction) (string, error) {
	for piece := range strings.SplitSeq(name, "/") {
		stem := strings.Trim(strings.TrimSuffix(strings.TrimSuffix(piece, ".rels"), path.Ext(strings.TrimSuffix(piece, ".rels"))), "[]_")
		plain := strings.ToLower(strings.TrimRight(stem, "0123456789"))
		if len(stem)-len(plain) < 4 && slices.ContainsFunc(customary, func(c string) bool { return strings.EqualFold(c, plain) }) {
			continue
		}
		if hit, err := red.Hit(stem); len(hit) >= 4 || err != nil {
			return hit, err
		}
	}
	return "", nil
}

// verify opens the result and looks for what should be gone: in the words as they are extracted, in every part as every
// reader could see it, and in the bytes of whatever is no XML.
func (f *file) verify(ctx context.Context, data []byte, red *tree.Redaction) error {
	req := *f.r
	req.In.Data = data
	v, err := open(&req)
	if err != nil {
		return media.Failf("the result cannot be read again: %v Nothing was changed.", err)
	}
	doc, err := v.read(false)
	if err != nil {
		return media.Failf("the result cannot be read again: %v Nothing was changed.", err)
	}
	if hit, err := wordsHit(doc, red); hit != "" || err != nil {
		return left("the text", hit, err)
	}
	pictures := 0
	for _, name := range v.names() {
		if err := ctx.Err(); err != nil {
			return err
		}
		hit, err := nameHit(name, red)
		if hit != "" || err != nil {
			return left("the name of the part "+name, hit, err)
		}
		kind := v.kindOf(name)
		if hit, err = v.look(ctx, name, kind, red); hit != "" || err != nil {
			return left("the part "+name, hit, err)
		}
		switch kind {
		case "media":
			pictures++
		case "binary":
			f.warn("%s is no document; its bytes and the texts in it were searched, and what it draws was not seen. sanitize removes such objects and macros.", name)
		}
	}
	switch {
	case pictures > 0 && f.r.ReadPicture == nil:
		f.warn("The file holds %s; what words are in pictures and recordings was not read.", counted(pictures, "media file"))
	case pictures > 0:
		f.warn("The file holds %s; words in pictures were read by OCR, which misses some.", counted(pictures, "media file"))
	}
	return directoryHit(data, red)
}

func left(where, hit string, err error) error {
	if err != nil {
		return err
	}
	return tree.Left(where, hit)
}

// wordsHit looks through the words of a document as a reader sees them.
func wordsHit(d *flow.Doc, red *tree.Redaction) (string, error) {
	var b strings.Builder
	var add func(blocks []flow.Block)
	add = func(blocks []flow.Block) {
		for i := range blocks {
			k := &blocks[i]
			for j := range k.Runs {
				if im := k.Runs[j].Image; im != nil {
					b.WriteString("\n" + im.Alt + "\n")
				}
			}
			b.WriteString(flow.Words(k.Runs) + "\n")
			add(k.Blocks)
			for _, row := range k.Rows {
				for c := range row {
					add(row[c].Blocks)
				}
			}
		}
	}
	add(d.Blocks)
	for i := range d.Notes {
		b.WriteString(d.Notes[i].Author + "\n")
		add(d.Notes[i].Blocks)
	}
	b.WriteString(d.Title)
	return red.Hit(b.String())
}

// look searches one part of a result.
func (f *file) look(ctx context.Context, name, kind string, red *tree.Redaction) (string, error) {
	data, err := f.part(name)
	if err != nil {
		return "", err
	}
	switch kind {
	case "types":
		return "", nil
	case "rels":
		root, err := f.tree(name)
		if err != nil {
			return "", err
		}
		for _, k := range root.Kids {
			t := k.Get("Target")
			if plain, err := url.PathUnescape(t); err == nil {
				t += "\n" + plain
			}
			if k.Get("TargetMode") == "External" {
				if hit, err := red.Hit(t); hit != "" || err != nil {
					return hit, err
				}
			}
		}
		return "", nil
	case "xml":
		return f.lookXML(name, data, red)
	case "svg":
		if data, err = unzipped(name, data); err != nil {
			return "", err
		}
		return svgWords(red).Find(string(data))
	case "office":
		return f.lookOffice(ctx, media.Identify(media.Payload{Data: data, Name: path.Base(name)}), red)
	case "binary":
		hit, known, err := f.lookObject(ctx, name, data, red)
		if hit == "" && err == nil {
			hit, err = f.lookForeign(ctx, name, data, red)
		}
		if known || hit != "" || err != nil {
			return hit, err
		}
	}
	if kind == "media" {
		if data, err = unzipped(name, data); err != nil {
			return "", err
		}
	}
	return scan(data, red, kind == "media" || kind == "font")
}

// lookOffice searches a file within the file.
func (f *file) lookOffice(ctx context.Context, in media.Payload, red *tree.Redaction) (string, error) {
	req := *f.r
	req.In = in
	switch in.MIME {
	case docxMIME, pptxMIME:
		if f.depth >= deepestEmbedding {
			return "", f.tooDeep()
		}
		inner, err := open(&req)
		if err != nil {
			return "", err
		}
		inner.depth = f.depth + 1
		for _, n := range inner.names() {
			if hit, err := inner.look(ctx, n, inner.kindOf(n), red); hit != "" || err != nil {
				return hit, err
			}
		}
		return "", nil
	case xlsxMIME, xlsmMIME:
		if _, err := sheetRedact(ctx, &req); errors.Is(err, errNothing) {
			return "", nil
		} else if err != nil {
			return "", err
		}
		return in.Name, nil
	}
	z, err := pack.Open(&in, f.r.Limits)
	if err != nil {
		return scan(in.Data, red, true)
	}
	for _, name := range z.Names() {
		data, err := z.Read(name)
		if err != nil {
			return "", err
		}
		if hit, err := scan(data, red, false); hit != "" || err != nil {
			return hit, err
		}
	}
	return "", nil
}

// lookXML searches a part for words in every view of its text and in its attributes, and for plain words in its source.
func (f *file) lookXML(name string, src []byte, red *tree.Redaction) (string, error) {
	root, err := f.tree(name)
	if err != nil {
		return "", err
	}
	for _, s := range streams(src, root) {
		if hit, err := s.hit(red); hit != "" || err != nil {
			return hit, err
		}
	}
	hit := ""
	root.Walk(func(n *tree.Node) bool {
		for k := range n.Attr {
			if hit != "" || err != nil {
				return false
			}
			if a := &n.Attr[k]; wordyAttr(name, n, a) {
				hit, err = red.Hit(a.Val)
				if plain, e := url.PathUnescape(a.Val); hit == "" && err == nil && e == nil && slices.Contains(addresses, a.Name) {
					hit, err = red.Hit(plain)
				}
			} else {
				hit, err = f.suspect(n, a, red)
			}
		}
		if _, what := packed(n); what != nil && hit == "" && err == nil {
			hit, err = within(what, red, f.r.Limits)
		}
		return hit == "" && err == nil
	})
	if hit != "" || err != nil {
		return hit, err
	}
	var cuts []tree.Splice
	was := red.Count
	if err := remarks(src, red, &cuts); err != nil {
		return "", err
	}
	red.Count = was
	if len(cuts) > 0 {
		return string(src[cuts[0].From:cuts[0].To]), nil
	}
	return "", nil
}

// scan searches bytes that are no XML. In those of pictures and fonts, which are all but random, short matches mean nothing.
func scan(data []byte, red *tree.Redaction, random bool) (string, error) {
	if !random {
		return red.Scan(data)
	}
	for _, m := range red.Matches {
		if m.Source == "" && len(m.Text) >= 6 {
			wide := make([]byte, 0, 2*len(m.Text))
			for _, c := range []byte(m.Text) {
				wide = append(wide, c, 0)
			}
			if bytes.Contains(data, []byte(m.Text)) || bytes.Contains(data, wide) {
				return m.Text, nil
			}
		}
	}
	hit, err := red.Scan(data)
	if len(hit) < 8 {
		hit = ""
	}
	return hit, err
}

// directoryHit looks through what the directory of the container holds beside its members.
func directoryHit(data []byte, red *tree.Redaction) error {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return media.Failf("the result is no container: %v.", err)
	}
	all := z.Comment
	for _, m := range z.File {
		all += "\n" + m.Comment
	}
	hit, err := red.Hit(all)
	if hit != "" || err != nil {
		return left("a comment of the container", hit, err)
	}
	return nil
}
