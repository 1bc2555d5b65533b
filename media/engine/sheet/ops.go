package sheet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/media"
)

func addColumns(b *book) error {
	i, err := b.find(b.r.Args["sheet"])
	if err != nil {
		return err
	}
	type col struct {
		Header json.RawMessage   `json:"header"`
		Values []json.RawMessage `json:"values"`
	}
	var cols []col
	if raw, ok := b.r.Args["columns"].(json.RawMessage); ok {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&cols); err != nil {
			return media.Failf(`columns is no list such as [{"header":"Total","values":[1,2]}]: %v.`, err)
		}
	}
	if heads, ok := b.r.Args["headers"].([]string); ok {
		for _, h := range heads {
			raw, _ := json.Marshal(h) // a string always encodes
			cols = append(cols, col{Header: raw})
		}
	}
	if len(cols) == 0 {
		return media.Failf("there are no columns to add.")
	}
	at, err := placeArg(b)
	if err != nil {
		return err
	}
	src, err := b.part(b.sheets[i].part)
	if err != nil {
		return err
	}
	last, _, err := used(src)
	if err != nil {
		return err
	}
	if at == 0 {
		at = last.col + 1
	} else if at <= last.col {
		if err := b.move(i, inserting(true, at, len(cols))); err != nil {
			return err
		}
	}
	if at+len(cols)-1 > maxCol {
		return media.Failf("a sheet has at most %d columns.", maxCol)
	}
	cells := map[pos]val{}
	for k, c := range cols {
		if c.Header != nil {
			cells[pos{1, at + k}] = val{raw: c.Header}
		}
		for r, v := range c.Values {
			cells[pos{r + 2, at + k}] = val{raw: v}
		}
	}
	if err := b.write(i, cells); err != nil {
		return err
	}
	b.counts = media.Counts{Added: len(cols)}
	return nil
}

func deleteLines(cols bool) func(*book) error {
	return func(b *book) error {
		i, err := b.find(b.r.Args["sheet"])
		if err != nil {
			return err
		}
		what, limit := "rows", maxRow
		if cols {
			what, limit = "columns", maxCol
		}
		gone := b.r.Args[what].(media.Ints).Slice()
		slices.Sort(gone)
		if n := len(slices.Compact(slices.Clone(gone))); n < len(gone) {
			b.warn("%d of the numbers stood in the list twice; each was deleted once.", len(gone)-n)
			gone = slices.Compact(gone)
		}
		if gone[len(gone)-1] > limit {
			return media.Failf("a sheet has no more than %d %s.", limit, what)
		}
		src, err := b.part(b.sheets[i].part)
		if err != nil {
			return err
		}
		last, _, err := used(src)
		if err != nil {
			return err
		}
		end := last.row
		if cols {
			end = last.col
		}
		if k := gone[len(gone)-1]; k > end {
			return media.Failf("the sheet %q has %d %s with content, so there is no %d to delete.", b.sheets[i].name, end, what, k)
		}
		if err := b.move(i, deletingFast(cols, gone)); err != nil {
			return err
		}
		b.counts = media.Counts{Removed: len(gone)}
		return nil
	}
}

// deletingFast is deleting for long lists.
func deletingFast(cols bool, gone []int) *remap {
	return &remap{cols: cols, to: func(i int) int {
		k, found := slices.BinarySearch(gone, i)
		if found {
			return 0
		}
		return i - k
	}}
}

// checkName says whether a sheet can have a name.
func (b *book) checkName(name string, but int) error {
	switch {
	case name == "" || utf8.RuneCountInString(name) > 31:
		return media.Failf("the name %q has %d characters; a sheet's name has 1 to 31.", name, utf8.RuneCountInString(name))
	case strings.ContainsAny(name, `:\/?*[]`) || strings.HasPrefix(name, "'") || strings.HasSuffix(name, "'") || same(name, "History"):
		return media.Failf(`the name %q cannot be used: a sheet's name holds none of : \ / ? * [ ], no ' at its ends, and is not History.`, name)
	}
	for i, s := range b.sheets {
		if i != but && same(s.name, name) {
			return media.Failf("there is a sheet %q already; the workbook has %s.", s.name, b.names())
		}
	}
	return nil
}

func renameSheet(b *book) error {
	i, err := b.byName(b.r.Args["sheet"].(string))
	if err != nil {
		return err
	}
	to := b.r.Args["to"].(string)
	if err := b.checkName(to, i); err != nil {
		return err
	}
	old := b.sheets[i].name
	if err := b.everywhere(&rewrite{sheet: old, rename: to}, -1); err != nil {
		return err
	}
	src, err := b.part(b.main)
	if err != nil {
		return err
	}
	b.set(b.main, attribute(src, []string{"sheet"}, "name", func(was string) (string, bool) {
		if was == old {
			return to, true
		}
		return was, true
	}))
	if err := b.titles(old, to); err != nil {
		return err
	}
	b.counts.Modified = 1
	return nil
}

// titles keeps the list of sheets in the document properties.
func (b *book) titles(old, now string) error {
	const app = "docProps/app.xml"
	if !b.has(app) {
		return nil
	}
	src, err := b.part(app)
	if err != nil {
		return err
	}
	b.set(app, content(src, []string{"lpstr"}, func(_ *tag, s string) string {
		if s == old {
			return now
		}
		return s
	}))
	return nil
}

const worksheetType = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"

func addSheet(b *book) error {
	name := b.r.Args["name"].(string)
	if err := b.checkName(name, -1); err != nil {
		return err
	}
	at := len(b.sheets) + 1
	if n, ok := b.r.Args["at"].(float64); ok {
		at = int(n)
	}
	if at > len(b.sheets)+1 {
		return media.Failf("the workbook has %d sheets, so a new one can stand at 1 to %d, not at %d.", len(b.sheets), len(b.sheets)+1, at)
	}
	part := ""
	for n := 1; part == "" || b.zip.Has(part); n++ {
		part = fmt.Sprintf("xl/worksheets/sheet%d.xml", n)
	}
	rid, sid := "", 0
	rels := b.rels(b.main)
	for n := 1; rid == ""; n++ {
		id := "rId" + itoa(n)
		if !slices.ContainsFunc(rels, func(r relation) bool { return r.id == id }) {
			rid = id
		}
	}
	src, err := b.part(b.main)
	if err != nil {
		return err
	}
	s := scanner{b: src}
	var tags []tag
	for {
		t, ok := s.next()
		if !ok {
			break
		}
		if string(t.name) == "sheet" && !t.end {
			if n, err := strconv.Atoi(t.get("sheetId")); err == nil {
				sid = max(sid, n)
			}
			tags = append(tags, t)
		}
	}
	pre := prefix(src[tags[0].from:])
	el := fmt.Sprintf(`<%ssheet name="%s" sheetId="%d" %s="%s"/>`, pre, escape(name), sid+1, ridName(&tags[0]), rid)
	off := 0
	if at <= len(tags) {
		off = tags[at-1].from
	} else {
		off = elementEnd(src, &tags[len(tags)-1])
	}
	src = bytes.Join([][]byte{src[:off], []byte(el), src[off:]}, nil)
	b.set(b.main, renumber(src, func(i int) int {
		if i >= at-1 {
			return i + 1
		}
		return i
	}))
	b.changed[part] = []byte(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n" + `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData/></worksheet>`)
	if err := b.addRel(b.main, rid, "http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet", part); err != nil {
		return err
	}
	if err := b.addType(part, worksheetType); err != nil {
		return err
	}
	b.counts.Added = 1
	return nil
}

// ridName returns the name of the attribute r:id as this workbook has it.
func ridName(t *tag) string {
	if i := bytes.Index(t.attrs, []byte(":id=")); i > 0 {
		return string(t.attrs[bytes.LastIndexAny(t.attrs[:i], " \t\r\n")+1 : i+3])
	}
	return "r:id"
}

func (b *book) addRel(from, id, kind, target string) error {
	name := relsOf(from)
	src, err := b.part(name)
	if err != nil {
		return err
	}
	at := bytes.LastIndex(src, []byte("</"))
	if at < 0 {
		return media.Failf("the part %q is damaged.", name)
	}
	pre := prefix(bytes.Replace(src[at:], []byte("/"), nil, 1))
	el := fmt.Sprintf(`<%sRelationship Id="%s" Type="%s" Target="/%s"/>`, pre, id, kind, escape(target))
	b.set(name, bytes.Join([][]byte{src[:at], []byte(el), src[at:]}, nil))
	return nil
}

func (b *book) addType(part, kind string) error {
	const types = "[Content_Types].xml"
	src, err := b.part(types)
	if err != nil {
		return err
	}
	at := bytes.LastIndex(src, []byte("</"))
	if at < 0 {
		return media.Failf("the list of content types is damaged.")
	}
	pre := prefix(bytes.Replace(src[at:], []byte("/"), nil, 1))
	b.set(types, bytes.Join([][]byte{src[:at], fmt.Appendf(nil, `<%sOverride PartName="/%s" ContentType="%s"/>`, pre, escape(part), kind), src[at:]}, nil))
	return nil
}

// renumber moves what the workbook says of sheets by number: names that belong to one, and which is shown. to returns -1
// for a sheet that is gone.
func renumber(src []byte, to func(i int) int) []byte {
	src = attribute(src, []string{"definedName"}, "localSheetId", func(was string) (string, bool) {
		n, err := strconv.Atoi(was)
		if err != nil {
			return was, true
		}
		n = to(n)
		return itoa(n), n >= 0
	})
	src = attribute(src, []string{"workbookView"}, "activeTab", func(was string) (string, bool) {
		n, err := strconv.Atoi(was)
		if err != nil {
			return was, true
		}
		return itoa(max(0, to(n))), true
	})
	src = attribute(src, []string{"workbookView"}, "firstSheet", func(string) (string, bool) { return "0", true })
	if i := bytes.Index(src, []byte("definedNames")); i >= 0 && !bytes.Contains(src, []byte("definedName ")) {
		return removeWhere(src, "definedNames", func(*tag) bool { return true })
	}
	return src
}

func removeSheet(b *book) error {
	i, err := b.byName(b.r.Args["sheet"].(string))
	if err != nil {
		return err
	}
	if len(b.sheets) == 1 {
		return errNoSheets
	}
	visible := 0
	src, err := b.part(b.main)
	if err != nil {
		return err
	}
	s := scanner{b: src}
	for k := 0; ; {
		t, ok := s.next()
		if !ok {
			break
		}
		if string(t.name) == "sheet" && !t.end {
			if st := t.get("state"); k != i && (st == "" || st == "visible") {
				visible++
			}
			k++
		}
	}
	if visible == 0 {
		return media.Failf("%q is the only sheet that is not hidden, and a workbook keeps one.", b.sheets[i].name)
	}
	gone := b.sheets[i]
	if err := b.everywhere(&rewrite{sheet: gone.name, remove: true}, i); err != nil {
		return err
	}
	if src, err = b.part(b.main); err != nil {
		return err
	}
	src = removeWhere(src, "sheet", func(t *tag) bool { return idOf(t) == gone.rid })
	b.set(b.main, renumber(src, func(k int) int {
		switch {
		case k == i:
			return -1
		case k > i:
			return k - 1
		}
		return k
	}))
	if err := b.dropTree(b.main, gone); err != nil {
		return err
	}
	if err := b.dropCalcChain(); err != nil {
		return err
	}
	b.counts.Removed = 1
	return nil
}

// dropTree removes a sheet's part and the parts that only it leads to.
func (b *book) dropTree(from string, sh sheetInfo) error {
	for _, rel := range b.rels(from) {
		if rel.id == sh.rid {
			leads := b.leads(rel.target)
			if err := b.dropPart(from, rel); err != nil {
				return err
			}
			for _, part := range leads {
				if b.has(part) && !b.linked(part) {
					if err := b.forget(part); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// leads returns the parts that one leads to, nearest first.
func (b *book) leads(part string) []string {
	var out []string
	todo := []string{part}
	for len(todo) > 0 {
		p := todo[0]
		todo = todo[1:]
		for _, rel := range b.rels(p) {
			if !rel.external && rel.target != part && !slices.Contains(out, rel.target) {
				out, todo = append(out, rel.target), append(todo, rel.target)
			}
		}
	}
	return out
}

// linked reports whether any part that is left leads to one.
func (b *book) linked(part string) bool {
	for _, name := range b.zip.Names() {
		if !strings.HasSuffix(name, ".rels") || !b.has(name) {
			continue
		}
		owner := strings.TrimSuffix(strings.Replace(name, "_rels/", "", 1), ".rels")
		if slices.ContainsFunc(b.rels(owner), func(r relation) bool { return !r.external && r.target == part }) {
			return true
		}
	}
	return false
}

func reorderSheets(b *book) error {
	var list []json.RawMessage
	if err := json.Unmarshal(b.r.Args["order"].(json.RawMessage), &list); err != nil {
		return media.Failf(`order is no list such as ["Data",1]: %v.`, err)
	}
	var order []int
	for _, raw := range list {
		var n int
		var name string
		k := -1
		switch {
		case json.Unmarshal(raw, &n) == nil && n >= 1 && n <= len(b.sheets):
			k = n - 1
		case json.Unmarshal(raw, &name) == nil:
			k = b.index(name)
		}
		if k < 0 {
			return media.Failf("there is no sheet %s; the workbook has %s.", raw, b.names())
		}
		if slices.Contains(order, k) {
			return media.Failf("the sheet %q stands in the order twice.", b.sheets[k].name)
		}
		order = append(order, k)
	}
	if len(order) != len(b.sheets) {
		return media.Failf("the order names %d sheets and the workbook has %d: %s. Name every one once.", len(order), len(b.sheets), b.names())
	}
	src, err := b.part(b.main)
	if err != nil {
		return err
	}
	s := scanner{b: src}
	var els [][]byte
	var list2 tag
	for {
		t, ok := s.next()
		if !ok {
			break
		}
		switch {
		case string(t.name) == "sheets" && !t.end:
			list2 = t
		case string(t.name) == "sheet" && !t.end:
			end := elementEnd(src, &t)
			els = append(els, src[t.from:end])
			s.i = end
		}
	}
	var out []byte
	for _, k := range order {
		out = append(out, els[k]...)
	}
	end := elementEnd(src, &list2)
	closing := bytes.LastIndexByte(src[:end], '<')
	src = bytes.Join([][]byte{src[:list2.to], out, src[closing:]}, nil)
	b.set(b.main, renumber(src, func(k int) int { return slices.Index(order, k) }))
	b.counts.Modified = len(order)
	return nil
}
