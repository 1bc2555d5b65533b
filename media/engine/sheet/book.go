package sheet

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/pack"
)

// sheetInfo is a sheet as the workbook lists it.
type sheetInfo struct {
	name, part string
	rid        string
	chart      bool // a chart sheet has no cells
}

// book is an open workbook. Parts are read when they are needed and written back only when they changed.
type book struct {
	r        *media.Request
	zip      *pack.File
	sheets   []sheetInfo
	main     string // the workbook's part
	parts    map[string][]byte
	changed  map[string][]byte // nil value: removed
	warnings []string
	counts   media.Counts
	date1904 bool
	strings  []string // shared; nil until read
	styles   *styles
	calc     Calculator
}

func (b *book) warn(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if !slices.Contains(b.warnings, s) {
		b.warnings = append(b.warnings, s)
	}
}

// openBook reads the list of sheets.
func openBook(r *media.Request) (*book, error) {
	z, err := pack.Open(&r.In, r.Limits)
	if err != nil {
		return nil, err
	}
	b := &book{r: r, zip: z, parts: map[string][]byte{}, changed: map[string][]byte{}}
	b.main = "xl/workbook.xml"
	for _, rel := range b.rels("") {
		if strings.HasSuffix(rel.kind, "/officeDocument") {
			b.main = rel.target
		}
	}
	src, err := b.part(b.main)
	if err != nil {
		return nil, err
	}
	rels := map[string]relation{}
	for _, rel := range b.rels(b.main) {
		rels[rel.id] = rel
	}
	s := scanner{b: src}
	for {
		t, ok := s.next()
		if !ok {
			break
		}
		switch string(t.name) {
		case "workbookPr":
			v := t.get("date1904")
			b.date1904 = v == "1" || v == "true"
		case "sheet":
			if t.end {
				continue
			}
			rid := idOf(&t)
			rel := rels[rid]
			b.sheets = append(b.sheets, sheetInfo{name: t.get("name"), part: rel.target, rid: rid, chart: !strings.HasSuffix(rel.kind, "/worksheet")})
		}
	}
	if len(b.sheets) == 0 {
		return nil, media.Failf("%s is a workbook without sheets; it is damaged.", r.In.Name)
	}
	return b, nil
}

// idOf returns the r:id of a tag, whatever the prefix.
func idOf(t *tag) string {
	for _, name := range []string{"r:id", "ns:id", "id", "d:id", "rel:id"} {
		if v := t.get(name); v != "" && (name != "id" || bytes.Contains(t.attrs, []byte(" id="))) {
			return v
		}
	}
	if i := bytes.Index(t.attrs, []byte(":id=")); i > 0 {
		j := bytes.LastIndexAny(t.attrs[:i], " \t\r\n")
		return t.get(string(t.attrs[j+1 : i+3]))
	}
	return ""
}

// part returns the current bytes of a part, checked once to be XML without a document type.
func (b *book) part(name string) ([]byte, error) {
	if p, ok := b.changed[name]; ok && p != nil {
		return p, nil
	}
	if p, ok := b.parts[name]; ok {
		return p, nil
	}
	data, err := b.zip.Read(name)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		return nil, media.Failf("the part %q is not UTF-8; save the workbook again with another program.", name)
	}
	if len(data) < 1<<20 || !whole(data) {
		if err := pack.CheckXML(name, data, b.r.Limits); err != nil {
			return nil, err
		}
	} else if i := bytes.Index(data[:4096], []byte("<!DOCTYPE")); i >= 0 || bytes.Contains(data, []byte("<!ENTITY")) {
		return nil, media.Failf("%q has a document type, which can define entities without end; it is refused.", name)
	}
	b.parts[name] = data
	return data, nil
}

// whole reports whether a large part looks whole enough to be scanned without the slow check: its first element is also
// what ends last. A checksum has said before that the bytes are those that were written.
func whole(data []byte) bool {
	s := scanner{b: data}
	root, ok := s.next()
	at := bytes.LastIndexByte(data, '<')
	if !ok || root.closed || at <= root.from {
		return false
	}
	last := scanner{b: data, i: at}
	end, ok := last.next()
	return ok && end.end && bytes.Equal(end.name, root.name) && len(bytes.TrimRight(data[end.to:], " \t\r\n")) == 0
}

func (b *book) set(name string, data []byte) {
	if old, ok := b.parts[name]; ok && bytes.Equal(old, data) {
		delete(b.changed, name)
		return
	}
	b.changed[name] = data
}

// has reports whether a part is there now.
func (b *book) has(name string) bool {
	if p, ok := b.changed[name]; ok {
		return p != nil
	}
	return b.zip.Has(name)
}

// relation is one relationship of a part.
type relation struct {
	id, kind, target string // target: the part's name, or an address outside
	external         bool
	t                tag
}

// relsOf returns the name of the part that holds another's relationships; "" is the package.
func relsOf(part string) string {
	dir, base := path.Split(part)
	return dir + "_rels/" + base + ".rels"
}

func (b *book) rels(part string) []relation {
	name := relsOf(part)
	if !b.has(name) {
		return nil
	}
	src, err := b.part(name)
	if err != nil {
		return nil
	}
	var out []relation
	s := scanner{b: src}
	for {
		t, ok := s.next()
		if !ok {
			return out
		}
		if string(t.name) != "Relationship" || t.end {
			continue
		}
		rel := relation{id: t.get("Id"), kind: t.get("Type"), target: t.get("Target"), external: t.get("TargetMode") == "External", t: t}
		if !rel.external {
			if strings.HasPrefix(rel.target, "/") {
				rel.target = strings.TrimPrefix(path.Clean(rel.target), "/")
			} else {
				rel.target = path.Join(path.Dir(part), rel.target)
			}
		}
		out = append(out, rel)
	}
}

// names lists the sheets for errors.
func (b *book) names() string {
	var out []string
	for _, s := range b.sheets {
		out = append(out, strconv.Quote(s.name))
	}
	return strings.Join(out, ", ")
}

// find returns the index of the sheet that an argument names; none means the first with cells.
func (b *book) find(arg any) (int, error) {
	switch v := arg.(type) {
	case nil:
		for i := range b.sheets {
			if !b.sheets[i].chart {
				return i, nil
			}
		}
	case string:
		return b.byName(v)
	case media.NameOrIndex:
		if v.Index == 0 {
			return b.byName(v.Name)
		}
		if v.Index <= len(b.sheets) {
			return v.Index - 1, b.cells(v.Index - 1)
		}
		if i := b.index(strconv.Itoa(v.Index)); i >= 0 {
			e := media.Failf("there is no sheet number %d; the workbook has %d sheets. A sheet is named %q: quote the name.", v.Index, len(b.sheets), b.sheets[i].name)
			e.Use = fmt.Sprintf("%s sheet=%q", words(b.r.Op), b.sheets[i].name)
			return 0, e
		}
		return 0, media.Failf("there is no sheet number %d; the workbook has %d: %s.", v.Index, len(b.sheets), b.names())
	}
	return 0, media.Failf("the workbook has no sheet with cells.")
}

func words(op string) string { return strings.ReplaceAll(op, ".", " ") }

func (b *book) index(name string) int {
	if i := slices.IndexFunc(b.sheets, func(s sheetInfo) bool { return s.name == name }); i >= 0 {
		return i
	}
	return slices.IndexFunc(b.sheets, func(s sheetInfo) bool { return same(s.name, name) })
}

func (b *book) byName(name string) (int, error) {
	i := b.index(name)
	if i < 0 {
		return 0, media.Failf("there is no sheet %q; the workbook has %s.", name, b.names())
	}
	return i, b.cells(i)
}

func (b *book) cells(i int) error {
	if b.sheets[i].chart && strings.HasPrefix(b.r.Op, "sheet.") && b.r.Op != "sheet.rename_sheet" && b.r.Op != "sheet.remove_sheet" && b.r.Op != "sheet.reorder_sheets" {
		return media.Failf("the sheet %q holds a chart and no cells.", b.sheets[i].name)
	}
	return nil
}

// done writes the workbook.
func (b *book) done() (media.Result, error) {
	for _, rel := range b.rels("") {
		if strings.Contains(rel.kind, "digital-signature") {
			b.warn("The workbook is signed; the change makes its signature invalid.")
		}
	}
	data, err := b.zip.Rewrite(b.changed)
	if err != nil {
		return media.Result{}, media.Failf("the workbook cannot be written: %v.", err)
	}
	return media.Result{Media: &media.Payload{Data: data}, Warnings: b.warnings, Counts: b.counts}, nil
}

// sharedStrings returns the texts that cells refer to.
func (b *book) sharedStrings() ([]string, error) {
	if b.strings != nil {
		return b.strings, nil
	}
	b.strings = []string{}
	name := ""
	for _, rel := range b.rels(b.main) {
		if strings.HasSuffix(rel.kind, "/sharedStrings") {
			name = rel.target
		}
	}
	if name == "" || !b.has(name) {
		return b.strings, nil
	}
	src, err := b.part(name)
	if err != nil {
		return nil, err
	}
	s := scanner{b: src}
	for {
		t, ok := s.next()
		if !ok {
			return b.strings, nil
		}
		if string(t.name) == "si" && !t.end {
			text := ""
			if !t.closed {
				text, _ = richText(&s, "si")
			}
			b.strings = append(b.strings, text)
		}
	}
}

// richText reads the text of an element up to its end: all its runs, without phonetic hints.
func richText(s *scanner, until string) (string, int) {
	first, n := "", 0
	var more strings.Builder
	skip := false
	for {
		t, ok := s.next()
		if !ok {
			break
		}
		switch string(t.name) {
		case until:
			if t.end {
				if more.Len() > 0 {
					return first + more.String(), t.to
				}
				return first, t.to
			}
		case "rPh":
			skip = !t.end && !t.closed
		case "t":
			if t.end || t.closed || skip {
				continue
			}
			end := bytes.IndexByte(s.b[t.to:], '<')
			if end < 0 {
				continue
			}
			text := escapedX(unescape(s.b[t.to : t.to+end]))
			if n++; n == 1 {
				first = text
			} else {
				more.WriteString(text)
			}
		}
	}
	return first + more.String(), len(s.b)
}

// escapedX decodes _x000D_, the way in which workbooks write what XML cannot.
func escapedX(s string) string {
	i := strings.Index(s, "_x")
	if i < 0 {
		return s
	}
	var b strings.Builder
	for i >= 0 {
		if len(s) >= i+7 && s[i+6] == '_' {
			if n, err := strconv.ParseUint(s[i+2:i+6], 16, 16); err == nil {
				b.WriteString(s[:i])
				b.WriteRune(rune(n))
				s = s[i+7:]
				i = strings.Index(s, "_x")
				continue
			}
		}
		b.WriteString(s[:i+2])
		s = s[i+2:]
		i = strings.Index(s, "_x")
	}
	return b.String() + s
}
