package sheet

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/media"
)

// content replaces the text of elements of some names by what change makes of it.
func content(src []byte, names []string, change func(t *tag, text string) string) []byte {
	e := &edits{src: src}
	s := scanner{b: src}
	for {
		t, ok := s.next()
		if !ok {
			return e.done()
		}
		if t.end || t.closed || !slices.Contains(names, string(t.name)) {
			continue
		}
		n := bytes.IndexByte(src[t.to:], '<')
		if n <= 0 {
			continue
		}
		was := unescape(src[t.to : t.to+n])
		if now := change(&t, was); now != was {
			e.replace(t.to, t.to+n, []byte(escapeText(now)))
		}
	}
}

// attribute replaces an attribute of elements of some names; keep false removes the element.
func attribute(src []byte, names []string, attr string, change func(was string) (now string, keep bool)) []byte {
	e := &edits{src: src}
	s := scanner{b: src}
	for {
		t, ok := s.next()
		if !ok {
			return e.done()
		}
		if t.end || !slices.Contains(names, string(t.name)) {
			continue
		}
		was := t.get(attr)
		if was == "" {
			continue
		}
		now, keep := change(was)
		switch {
		case !keep:
			end := elementEnd(src, &t)
			e.replace(t.from, end, nil)
			s.i = end
		case now != was:
			e.replace(t.from, t.to, with(src, &t, attr, &now))
		}
	}
}

// elementEnd returns the offset behind an element.
func elementEnd(src []byte, t *tag) int {
	if t.closed {
		return t.to
	}
	s := scanner{b: src, i: t.to}
	depth := 1
	for {
		x, ok := s.next()
		if !ok {
			return len(src)
		}
		if !bytes.Equal(x.name, t.name) || x.closed {
			continue
		}
		if x.end {
			if depth--; depth == 0 {
				return x.to
			}
		} else {
			depth++
		}
	}
}

// containers must not be empty, and count what they hold.
var containers = []string{"mergeCells", "dataValidations", "hyperlinks", "protectedRanges", "ignoredErrors", "cols", "rowBreaks", "colBreaks", "tableParts"}

// tidy removes containers that became empty and corrects their counts.
func tidy(src []byte) []byte {
	e := &edits{src: src}
	s := scanner{b: src}
	for {
		t, ok := s.next()
		if !ok {
			return e.done()
		}
		if t.end || t.closed || !slices.Contains(containers, string(t.name)) {
			continue
		}
		end := elementEnd(src, &t)
		n := 0
		in := scanner{b: src[:end], i: t.to}
		for {
			x, ok := in.next()
			if !ok || bytes.Equal(x.name, t.name) {
				break
			}
			if x.end {
				continue
			}
			n++
			in.i = elementEnd(src, &x)
		}
		if n == 0 {
			e.replace(t.from, end, nil)
			s.i = end
			continue
		}
		for _, name := range []string{"count", "manualBreakCount"} {
			if old := t.get(name); old != "" && (name == "count") {
				now := itoa(n)
				if now != old {
					e.replace(t.from, t.to, with(src, &t, name, &now))
				}
			}
		}
	}
}

// formulaTags hold formulas in sheets, beside f.
var formulaTags = []string{"f", "formula", "formula1", "formula2"}

// everywhere rewrites the formulas of the whole workbook: cells, conditions, validations, names, charts, pivot sources,
// links. own is the sheet whose own parts are rewritten elsewhere, or -1.
func (b *book) everywhere(w *rewrite, own int) error {
	for i, s := range b.sheets {
		if s.part == "" || i == own || !b.has(s.part) {
			continue
		}
		src, err := b.part(s.part)
		if err != nil {
			return err
		}
		if mentions(src, w.sheet) {
			if src, err = unshare(src); err != nil {
				return err
			}
			src = content(src, formulaTags, func(_ *tag, f string) string { return w.formula(f, s.name) })
			src = attribute(src, []string{"hyperlink"}, "location", func(was string) (string, bool) { return w.formula(was, s.name), true })
			b.set(s.part, src)
		}
		for _, rel := range b.rels(s.part) {
			if strings.HasSuffix(rel.kind, "/table") && b.has(rel.target) {
				t, err := b.part(rel.target)
				if err != nil {
					return err
				}
				b.set(rel.target, content(t, []string{"calculatedColumnFormula", "totalsRowFormula"}, func(_ *tag, f string) string { return w.formula(f, s.name) }))
			}
		}
	}
	if own >= 0 {
		src, err := b.part(b.sheets[own].part)
		if err != nil {
			return err
		}
		b.set(b.sheets[own].part, attribute(src, []string{"hyperlink"}, "location", func(was string) (string, bool) { return w.formula(was, b.sheets[own].name), true }))
	}
	src, err := b.part(b.main)
	if err != nil {
		return err
	}
	b.set(b.main, content(src, []string{"definedName"}, func(_ *tag, f string) string { return w.formula(f, "") }))
	for _, name := range b.zip.Names() {
		if !b.has(name) || !strings.HasSuffix(name, ".xml") {
			continue
		}
		switch dir := path.Dir(name); {
		case strings.HasSuffix(dir, "/charts") || strings.HasSuffix(dir, "/chartEx"):
			src, err := b.part(name)
			if err != nil {
				return err
			}
			b.set(name, content(src, []string{"f"}, func(_ *tag, f string) string { return w.formula(f, "") }))
		case strings.HasSuffix(dir, "/pivotCache") && strings.Contains(name, "Definition"):
			if err := b.pivotSource(name, w); err != nil {
				return err
			}
		case strings.HasSuffix(dir, "/drawings"):
			src, err := b.part(name)
			if err != nil {
				return err
			}
			b.set(name, attribute(src, []string{"sp", "cxnSp", "pic"}, "textlink", func(was string) (string, bool) { return w.formula(was, ""), true }))
		}
	}
	if w.lost > 0 {
		b.warn("%d references pointed only at what is gone and read #REF! now.", w.lost)
	}
	for _, name := range b.zip.Names() {
		if strings.HasSuffix(name, "vbaProject.bin") {
			b.warn("The macros of the workbook are not rewritten; those that name cells or sheets may need a look.")
		}
	}
	return nil
}

// mentions reports quickly whether a part may hold a reference to a sheet.
func mentions(src []byte, sheet string) bool {
	low := bytes.ToLower([]byte(sheet))
	plain := []byte(strings.ToLower(escapeText(strings.ReplaceAll(sheet, "'", "''"))))
	if len(src) < 1<<20 {
		l := bytes.ToLower(src)
		return bytes.Contains(l, low) || bytes.Contains(l, plain) || bytes.Contains(l, []byte("&#"))
	}
	return bytes.Contains(src, []byte("!")) && bytes.Contains(src, []byte("<f")) || bytes.Contains(src, []byte(":f>"))
}

// pivotSource rewrites where a pivot table has its data from.
func (b *book) pivotSource(name string, w *rewrite) error {
	src, err := b.part(name)
	if err != nil {
		return err
	}
	s := scanner{b: src}
	for {
		t, ok := s.next()
		if !ok {
			return nil
		}
		if string(t.name) != "worksheetSource" || t.end || !same(t.get("sheet"), w.sheet) {
			continue
		}
		out := src
		put := func(attr, v string) {
			r := scanner{b: out, i: t.from}
			x, _ := r.next()
			out = bytes.Join([][]byte{out[:x.from], with(out, &x, attr, &v), out[x.to:]}, nil)
		}
		switch {
		case w.remove:
			b.warn("A pivot table has its data from the removed sheet and cannot be refreshed any more.")
		case w.rename != "":
			put("sheet", w.rename)
		case w.remap != nil && t.get("ref") != "":
			ref, ok := w.remap.plain(t.get("ref"))
			if !ok {
				b.warn("The source of a pivot table is gone; it cannot be refreshed any more.")
				return nil
			}
			put("ref", ref)
		}
		b.set(name, out)
		return nil
	}
}

// removeElement refuses nothing; it is attribute with a fixed answer.
func removeWhere(src []byte, name string, gone func(t *tag) bool) []byte {
	e := &edits{src: src}
	s := scanner{b: src}
	for {
		t, ok := s.next()
		if !ok {
			return e.done()
		}
		if t.end || string(t.name) != name || !gone(&t) {
			continue
		}
		end := elementEnd(src, &t)
		e.replace(t.from, end, nil)
		s.i = end
	}
}

// stale takes away computed values that may be out of date after a change of a sheet, and lets spreadsheet programs
// compute them when they open the workbook.
func (b *book) stale(i int) error {
	touched := []string{b.sheets[i].name}
	main, err := b.part(b.main)
	if err != nil {
		return err
	}
	names := map[string]string{} // defined name: its formula
	s := scanner{b: main}
	for {
		t, ok := s.next()
		if !ok {
			break
		}
		if string(t.name) == "definedName" && !t.end && !t.closed {
			if n := bytes.IndexByte(main[t.to:], '<'); n > 0 {
				names[t.get("name")] = unescape(main[t.to : t.to+n])
			}
		}
	}
	any := false
	done := map[int]bool{}
	for again := true; again; {
		again = false
		for k, sh := range b.sheets {
			if done[k] || sh.part == "" || sh.chart || !b.has(sh.part) {
				continue
			}
			src, err := b.part(sh.part)
			if err != nil {
				return err
			}
			if !bytes.Contains(src, []byte("<f")) && !bytes.Contains(src, []byte(":f>")) && !bytes.Contains(src, []byte(":f ")) {
				continue
			}
			g, err := findGrid(src)
			if err != nil {
				return err
			}
			uses := k == i
			formulas := false
			g.walk(nil, func(_ *row, c *cell) bool {
				if c.hasF {
					formulas = true
					uses = uses || refersTo(unescape(c.f), touched, names)
				}
				return !uses || !formulas
			}, nil)
			any = any || formulas
			if !uses || !formulas {
				continue
			}
			e := &edits{src: src}
			g.walk(nil, func(_ *row, c *cell) bool {
				if c.hasF && c.v != nil {
					e.replace(c.vFrom, c.vTo, nil)
				}
				return true
			}, nil)
			b.set(sh.part, e.done())
			done[k] = true
			touched = append(touched, sh.name)
			again = true
		}
	}
	if any {
		if err := b.calculateOnLoad(); err != nil {
			return err
		}
	}
	return b.stalePivots(touched)
}

func refersTo(f string, sheets []string, names map[string]string) bool {
	low := strings.ToLower(f)
	for _, s := range sheets {
		l := strings.ToLower(s)
		if strings.Contains(low, l+"!") || strings.Contains(low, strings.ReplaceAll(l, "'", "''")+"'!") {
			return true
		}
		for n, what := range names {
			w := strings.ToLower(what)
			if strings.Contains(low, strings.ToLower(n)) && (strings.Contains(w, l+"!") || strings.Contains(w, strings.ReplaceAll(l, "'", "''")+"'!")) {
				return true
			}
		}
	}
	return strings.Contains(low, "indirect(")
}

func (b *book) calculateOnLoad() error {
	src, err := b.part(b.main)
	if err != nil {
		return err
	}
	one := "1"
	s := scanner{b: src}
	found := false
	for {
		t, ok := s.next()
		if !ok {
			break
		}
		if string(t.name) == "calcPr" && !t.end {
			src = bytes.Join([][]byte{src[:t.from], with(src, &t, "fullCalcOnLoad", &one), src[t.to:]}, nil)
			found = true
			break
		}
	}
	if !found {
		src = b.insertInWorkbook(src, "calcPr", `calcPr fullCalcOnLoad="1"/`)
	}
	b.set(b.main, src)
	return b.dropCalcChain()
}

// workbookOrder is the order that the schema wants of the parts of a workbook.
var workbookOrder = []string{"fileVersion", "fileSharing", "workbookPr", "workbookProtection", "bookViews", "sheets", "functionGroups", "externalReferences", "definedNames", "calcPr"}

// insertInWorkbook puts an element where the schema wants it.
func (b *book) insertInWorkbook(src []byte, name, element string) []byte {
	at := -1
	pre := ""
	s := scanner{b: src}
	rank := slices.Index(workbookOrder, name)
	for {
		t, ok := s.next()
		if !ok {
			break
		}
		if k := slices.Index(workbookOrder, string(t.name)); k >= 0 && k < rank && !t.end {
			at = elementEnd(src, &t)
			pre = prefix(src[t.from:])
			s.i = at
		}
	}
	if at < 0 {
		return src
	}
	return bytes.Join([][]byte{src[:at], []byte("<" + pre + element + ">"), src[at:]}, nil)
}

// dropCalcChain removes the order of calculation, which every program makes again.
func (b *book) dropCalcChain() error {
	for _, rel := range b.rels(b.main) {
		if strings.HasSuffix(rel.kind, "/calcChain") {
			return b.dropPart(b.main, rel)
		}
	}
	return nil
}

// dropPart removes a part, the relationship to it, and its content type.
func (b *book) dropPart(from string, rel relation) error {
	name := relsOf(from)
	src, err := b.part(name)
	if err != nil {
		return err
	}
	b.set(name, removeWhere(src, "Relationship", func(t *tag) bool { return t.get("Id") == rel.id }))
	return b.forget(rel.target)
}

// forget removes a part and its content type.
func (b *book) forget(part string) error {
	b.changed[part] = nil
	if rels := relsOf(part); b.has(rels) {
		b.changed[rels] = nil
	}
	const types = "[Content_Types].xml"
	src, err := b.part(types)
	if err != nil {
		return err
	}
	b.set(types, removeWhere(src, "Override", func(t *tag) bool { return t.get("PartName") == "/"+part }))
	return nil
}

// stalePivots lets pivot tables over changed sheets be refreshed when the workbook is opened.
func (b *book) stalePivots(sheets []string) error {
	for _, name := range b.zip.Names() {
		if !strings.HasSuffix(path.Dir(name), "/pivotCache") || !strings.Contains(name, "Definition") || !strings.HasSuffix(name, ".xml") || !b.has(name) {
			continue
		}
		src, err := b.part(name)
		if err != nil {
			return err
		}
		s := scanner{b: src}
		var root tag
		for {
			t, ok := s.next()
			if !ok {
				break
			}
			if string(t.name) == "pivotCacheDefinition" && !t.end {
				root = t
			}
			if string(t.name) == "worksheetSource" && slices.ContainsFunc(sheets, func(n string) bool { return same(n, t.get("sheet")) }) {
				one := "1"
				b.set(name, bytes.Join([][]byte{src[:root.from], with(src, &root, "refreshOnLoad", &one), src[root.to:]}, nil))
				b.warn("A pivot table has its data from the sheet %q; it shows its old values until a spreadsheet program opens the workbook.", t.get("sheet"))
				break
			}
		}
	}
	return nil
}

var errNoSheets = media.Failf("a workbook keeps at least one sheet.")
