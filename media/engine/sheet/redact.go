package sheet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/text"
)

var (
	runTags   = []string{"r", "t", "rpr", "b", "i", "u", "strike", "sz", "color", "rfont", "family", "scheme", "charset", "vertalign", "a:r", "a:t", "a:rpr", "x:r", "x:t", "a:latin", "a:solidfill", "a:srgbclr", "font", "span"}
	notWords  = []string{"v", "f", "x:v", "x:f", "sqref", "xm:sqref", "xm:f", "c:f", "xdr:row", "xdr:col", "xdr:rowoff", "xdr:coloff", "x:row", "x:column", "x:anchor"}
	wordAttrs = []string{"descr", "title", "alt", "o:title", "tooltip", "display", "prompt", "prompttitle", "error", "errortitle", "author", "displayname", "userid", "username", "caption", "comment", "description", "v"}
)

// redact removes words from everything in a workbook that can hold them, and looks again before it gives the result out.
func redact(ctx context.Context, r *media.Request) (media.Result, error) {
	matches := r.Args["match"].([]media.Match)
	pats, err := media.Patterns(matches, r.Limits.Match)
	if err != nil {
		return media.Result{}, err
	}
	replacement, given := r.Args["replace"].(string)
	if !given {
		replacement = "█"
	}
	b, err := openBook(r)
	if err != nil {
		return media.Result{}, err
	}
	w := &text.Words{Patterns: pats, Replacement: replacement, Inline: runTags, Skip: notWords, Attrs: wordAttrs}
	found := make([]bool, len(pats))
	note := func(s string) {
		for i, p := range pats {
			if spans, err := p.Find(s); err == nil && len(spans) > 0 {
				found[i] = true
			}
		}
	}
	for i := range b.sheets {
		if err := b.redactCells(ctx, i, w, note); err != nil {
			return media.Result{}, err
		}
	}
	for i := range b.sheets {
		if fresh, n, err := media.Replace(b.sheets[i].name, pats, replacement); err != nil {
			return media.Result{}, err
		} else if n > 0 {
			note(b.sheets[i].name)
			b.counts.Modified += n
			b.r = &media.Request{In: r.In, Op: "sheet.rename_sheet", Args: map[string]any{"sheet": b.sheets[i].name, "to": strings.Trim(fresh, "'")}, Limits: r.Limits}
			was := b.counts
			if err := renameSheet(b); err != nil {
				return media.Result{}, err
			}
			b.counts, b.sheets[i].name, b.r = was, strings.Trim(fresh, "'"), r
		}
	}
	for _, name := range b.zip.Names() {
		if !b.wordy(name) {
			continue
		}
		src, err := b.part(name)
		if err != nil {
			return media.Result{}, err
		}
		out, n, which, err := w.Replace(string(src))
		if err != nil {
			return media.Result{}, err
		}
		for i, hit := range which {
			found[i] = found[i] || hit
		}
		if strings.HasSuffix(path.Dir(name), "/charts") {
			if out, n, err = redactChart(out, n, w, note); err != nil {
				return media.Result{}, err
			}
		}
		if strings.HasSuffix(name, ".rels") {
			if out, n, err = redactLinks(out, n, w, note); err != nil {
				return media.Result{}, err
			}
		}
		b.counts.Modified += n
		b.set(name, []byte(out))
	}
	if b.counts.Modified == 0 {
		return media.Result{}, media.Failf("nothing in %s matches. Nothing was changed.", r.In.Name)
	}
	for i, hit := range found {
		if !hit {
			b.warn("Nothing matches %s.", patternName(matches[i]))
		}
	}
	res, err := b.done()
	if err != nil {
		return res, err
	}
	return res, b.verify(ctx, res.Media.Data, w, matches)
}

func patternName(m media.Match) string {
	if m.Source != "" {
		return "/" + m.Source + "/" + m.Flags
	}
	return strconv.Quote(m.Text)
}

// wordy reports whether a part holds words outside of cells.
func (b *book) wordy(name string) bool {
	if !b.has(name) {
		return false
	}
	ext := path.Ext(name)
	return (ext == ".xml" || ext == ".vml" || ext == ".rels") && name != "[Content_Types].xml" && !strings.HasSuffix(name, "/styles.xml") && !strings.Contains(name, "/theme/")
}

// redactCells makes a text of every number, formula and result in which there is a match.
func (b *book) redactCells(ctx context.Context, i int, w *text.Words, note func(string)) error {
	sh := b.sheets[i]
	if sh.chart || !b.has(sh.part) {
		return nil
	}
	src, err := b.part(sh.part)
	if err != nil {
		return err
	}
	if src, err = unshare(src); err != nil {
		return err
	}
	st, err := b.loadStyles()
	if err != nil {
		return err
	}
	g, err := findGrid(src)
	if err != nil {
		return err
	}
	set := map[pos]val{}
	g.walk(nil, func(_ *row, c *cell) bool {
		if ctx.Err() != nil {
			err = ctx.Err()
			return false
		}
		if k := string(c.kind); k == "s" || k == "inlineStr" || c.v == nil && !c.hasF {
			return true
		}
		s := unescape(c.v)
		if c.kind == nil || string(c.kind) == "n" {
			s = b.show(&cell{v: c.v, style: c.style}, nil, st, nil).text
		}
		all := s
		if c.hasF {
			all += "\n=" + unescape(c.f)
		}
		var n, m int
		var out string
		if _, n, err = media.Replace(all+"\n"+unescape(c.v), w.Patterns, w.Replacement); err != nil {
			return false
		}
		if n == 0 {
			return true
		}
		note(all + "\n" + unescape(c.v))
		if out, m, err = media.Replace(s, w.Patterns, w.Replacement); err != nil {
			return false
		}
		if m == 0 && s == unescape(c.v) {
			out = w.Replacement // the formula alone holds it
		} else if m == 0 {
			out = w.Replacement
		}
		if c.hasF {
			b.warn("%s!%v held a formula and is a text now.", sh.name, c.pos)
		}
		q, _ := json.Marshal(out) // a string always encodes
		set[c.pos] = val{raw: q, text: true}
		b.counts.Modified++
		return true
	}, nil)
	if err != nil || len(set) == 0 {
		return err
	}
	was := b.counts
	err = b.write(i, set)
	b.counts = was
	return err
}

// redactChart takes the copies of values out of a chart that holds a match; programs read them from the cells again.
func redactChart(src string, n int, w *text.Words, note func(string)) (string, int, error) {
	all := *w
	all.Skip = nil
	hit, err := all.Find(src)
	if err != nil || hit == "" && n == 0 {
		return src, n, err
	}
	note(hit)
	out := []byte(src)
	for _, name := range []string{"numCache", "strCache", "multiLvlStrCache"} {
		out = removeWhere(out, name, func(*tag) bool { return true })
	}
	return string(out), max(n, 1), nil
}

// redactLinks changes addresses outside of the workbook.
func redactLinks(src string, n int, w *text.Words, note func(string)) (string, int, error) {
	var failed error
	e := &edits{src: []byte(src)}
	s := scanner{b: e.src}
	for {
		t, ok := s.next()
		if !ok {
			return string(e.done()), n, failed
		}
		if string(t.name) != "Relationship" || t.get("TargetMode") != "External" {
			continue
		}
		was := t.get("Target")
		now, k, err := media.Replace(was, w.Patterns, w.Replacement)
		if err != nil {
			return src, n, err
		}
		if k > 0 {
			note(was)
			now = strings.ReplaceAll(now, " ", "%20")
			e.replace(t.from, t.to, with(e.src, &t, "Target", &now))
			n += k
		}
	}
}

// verify opens the result and looks for what should be gone.
func (b *book) verify(ctx context.Context, out []byte, w *text.Words, matches []media.Match) error {
	v, err := openBook(&media.Request{In: media.Payload{Data: out, Name: b.r.In.Name, MIME: b.r.In.MIME}, Limits: b.r.Limits})
	if err != nil {
		return err
	}
	left := func(where, what string) error {
		return media.Failf("%q still stands in %s of the result: either the replacement matches itself, or the place cannot be changed. Choose another replacement. Nothing was changed.", what, where)
	}
	for i := range v.sheets {
		err := v.eachRow(ctx, i, func(n int, cells []shown) error {
			for k, c := range cells {
				for _, p := range w.Patterns {
					spans, err := p.Find(c.text)
					if err != nil {
						return err
					}
					if len(spans) > 0 {
						return left(fmt.Sprintf("%s!%v", v.sheets[i].name, pos{n, k + 1}), c.text[spans[0].From:spans[0].To])
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	all := *w
	all.Skip = []string{}
	for _, name := range v.zip.Names() {
		if !v.wordy(name) {
			continue
		}
		src, err := v.part(name)
		if err != nil {
			return err
		}
		hit, err := w.Find(string(src))
		if err == nil && hit == "" && (strings.HasSuffix(path.Dir(name), "/charts") || name == v.main || strings.Contains(name, "externalLinks")) {
			hit, err = all.Find(string(src))
		}
		if err != nil {
			return err
		}
		if hit != "" {
			return left("the part "+name, hit)
		}
	}
	// A plain word of some length has no business anywhere, not even where no program would show it.
	for _, m := range matches {
		if m.Source != "" || len(m.Text) < 4 || strings.Trim(m.Text, "0123456789.-") == "" {
			continue
		}
		for _, name := range v.zip.Names() {
			raw, err := v.zip.Read(name)
			if err != nil {
				return err
			}
			if bytes.Contains(raw, []byte(m.Text)) {
				return left("the part "+name, m.Text)
			}
		}
	}
	for _, name := range v.zip.Names() {
		switch {
		case strings.Contains(name, "/media/"):
			b.warn("The workbook holds pictures, which were not read.")
		case strings.Contains(name, "/embeddings/"):
			b.warn("The workbook holds embedded files, which were not looked into: %s.", path.Base(name))
		}
	}
	return nil
}

// unsafeKinds are the ends of relationship types whose parts act or reach out.
var unsafeKinds = map[string]string{
	"vbaProject": "macros", "wordVbaData": "macros", "vbaProjectSignature": "macros", "xlMacrosheet": "macro sheet", "xlIntlMacrosheet": "macro sheet",
	"oleObject": "embedded object", "package": "embedded object", "control": "control", "ctrlProp": "control", "activeXControlBinary": "control",
	"connections": "data connection", "queryTable": "data connection", "customXml": "custom XML", "attachedToolbars": "toolbar",
	"printerSettings": "printer settings", "attachedTemplate": "remote template", "externalLinkPath": "link to another workbook",
}

// sanitize removes what acts or reaches out of a workbook.
func sanitize(_ context.Context, r *media.Request) (media.Result, error) {
	b, err := openBook(r)
	if err != nil {
		return media.Result{}, err
	}
	removed := map[string]int{}
	owners := []string{""}
	for _, name := range b.zip.Names() {
		if !strings.HasSuffix(name, ".rels") && b.zip.Has(relsOf(name)) {
			owners = append(owners, name)
		}
	}
	for _, owner := range owners {
		for _, rel := range b.rels(owner) {
			kind := rel.kind[strings.LastIndexByte(rel.kind, '/')+1:]
			what := unsafeKinds[kind]
			if rel.external && kind != "hyperlink" && what == "" {
				what = "remote reference"
			}
			if rel.external && kind == "hyperlink" && unsafeLink(rel.target) {
				what = "link that starts a program"
			}
			if what == "" || owner != "" && !b.has(owner) {
				continue
			}
			removed[what]++
			if err := b.cut(owner, rel); err != nil {
				return media.Result{}, err
			}
		}
	}
	total := 0
	for _, what := range slices.Sorted(mapKeys(removed)) {
		b.warn("Removed %d × %s.", removed[what], what)
		total += removed[what]
	}
	if len(removed) == 0 {
		b.warn("There was nothing to remove.")
	}
	b.counts.Removed = total
	const types = "[Content_Types].xml"
	src, err := b.part(types)
	if err != nil {
		return media.Result{}, err
	}
	plain := attribute(src, []string{"Override", "Default"}, "ContentType", func(was string) (string, bool) {
		return strings.Replace(was, "application/vnd.ms-excel.sheet.macroEnabled.main+xml", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml", 1), true
	})
	macros := !bytes.Equal(plain, src)
	b.set(types, plain)
	for i, s := range b.sheets {
		if err := b.dde(i, s); err != nil {
			return media.Result{}, err
		}
	}
	res, err := b.done()
	if err == nil && macros {
		res.Media.MIME, res.Media.Name = xlsxMIME, media.Renamed(r.In.Name, "xlsx")
	}
	return res, err
}

func mapKeys(m map[string]int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func unsafeLink(target string) bool {
	l := strings.ToLower(strings.TrimSpace(target))
	for _, ok := range []string{"http://", "https://", "mailto:", "#"} {
		if strings.HasPrefix(l, ok) {
			return false
		}
	}
	return strings.Contains(l, ":") || strings.HasPrefix(l, `\\`) || strings.HasPrefix(l, "//")
}

// cut removes a relationship, its part, and the elements that name it.
func (b *book) cut(owner string, rel relation) error {
	if rel.external {
		name := relsOf(owner)
		src, err := b.part(name)
		if err != nil {
			return err
		}
		b.set(name, removeWhere(src, "Relationship", func(t *tag) bool { return t.get("Id") == rel.id }))
	} else if err := b.dropPart(owner, rel); err != nil {
		return err
	}
	if owner == "" || !strings.HasSuffix(owner, ".xml") {
		return nil
	}
	src, err := b.part(owner)
	if err != nil {
		return err
	}
	for _, name := range []string{"oleObject", "control", "hyperlink", "pageSetup", "externalReference", "customPr"} {
		src = removeWhere(src, name, func(t *tag) bool { return idOf(t) == rel.id })
	}
	for _, name := range []string{"oleObjects", "controls", "hyperlinks", "externalReferences"} {
		src = removeWhere(src, name, func(t *tag) bool {
			if t.closed {
				return true
			}
			in := scanner{b: src, i: t.to}
			x, ok := in.next()
			return ok && x.end
		})
	}
	b.set(owner, src)
	return nil
}

// dde makes texts of formulas that would start a program.
func (b *book) dde(i int, s sheetInfo) error {
	if s.chart || !b.has(s.part) {
		return nil
	}
	src, err := b.part(s.part)
	if err != nil || !bytes.Contains(src, []byte("|")) {
		return err
	}
	g, err := findGrid(src)
	if err != nil {
		return err
	}
	set := map[pos]val{}
	g.walk(nil, func(_ *row, c *cell) bool {
		if f := unescape(c.f); strings.Contains(f, "|") && strings.Contains(f, "!") {
			q, _ := json.Marshal("=" + f) // a string always encodes
			set[c.pos] = val{raw: q, text: true}
		}
		return true
	}, nil)
	if len(set) == 0 {
		return nil
	}
	b.warn("%d formulas that start a program (DDE) are texts now.", len(set))
	n := b.counts
	err = b.write(i, set)
	n.Removed += len(set)
	b.counts = n
	return err
}
