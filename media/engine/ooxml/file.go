package ooxml

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/pack"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// Types of relationships end in these words, in the transitional and in the strict namespace.
const (
	relBase = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
	relHead = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
)

const typesPart = "[Content_Types].xml"

// space gives the namespaces their usual prefixes, strict ones the same as transitional ones.
func space() map[string]string {
	m := map[string]string{
		"http://schemas.openxmlformats.org/package/2006/relationships":              "",
		"http://schemas.openxmlformats.org/package/2006/content-types":              "",
		"http://schemas.openxmlformats.org/package/2006/metadata/core-properties":   "cp",
		"http://purl.org/dc/elements/1.1/":                                          "dc",
		"http://purl.org/dc/terms/":                                                 "dcterms",
		"http://schemas.openxmlformats.org/markup-compatibility/2006":               "mc",
		"urn:schemas-microsoft-com:vml":                                             "v",
		"urn:schemas-microsoft-com:office:office":                                   "o",
		"http://schemas.microsoft.com/office/word/2010/wordprocessingShape":         "wps",
		"http://schemas.microsoft.com/office/word/2010/wordml":                      "w14",
		"http://schemas.microsoft.com/office/powerpoint/2010/main":                  "p14",
		"http://schemas.microsoft.com/office/powerpoint/2018/8/main":                "p188",
		"http://schemas.openxmlformats.org/officeDocument/2006/extended-properties": "ep",
		"http://schemas.openxmlformats.org/officeDocument/2006/custom-properties":   "cust",
		"http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes":      "vt",
		"http://purl.oclc.org/ooxml/officeDocument/extendedProperties":              "ep",
		"http://purl.oclc.org/ooxml/officeDocument/customProperties":                "cust",
		"http://purl.oclc.org/ooxml/officeDocument/docPropsVTypes":                  "vt",
		"http://schemas.openxmlformats.org/officeDocument/2006/relationships":       "r",
		"http://purl.oclc.org/ooxml/officeDocument/relationships":                   "r",
		"http://schemas.openxmlformats.org/officeDocument/2006/math":                "m",
		"http://purl.oclc.org/ooxml/officeDocument/math":                            "m",
		"http://schemas.openxmlformats.org/wordprocessingml/2006/main":              "w",
		"http://purl.oclc.org/ooxml/wordprocessingml/main":                          "w",
		"http://schemas.openxmlformats.org/presentationml/2006/main":                "p",
		"http://purl.oclc.org/ooxml/presentationml/main":                            "p",
		"http://schemas.openxmlformats.org/drawingml/2006/main":                     "a",
		"http://purl.oclc.org/ooxml/drawingml/main":                                 "a",
		"http://schemas.openxmlformats.org/drawingml/2006/chart":                    "c",
		"http://purl.oclc.org/ooxml/drawingml/chart":                                "c",
		"http://schemas.openxmlformats.org/drawingml/2006/diagram":                  "dgm",
		"http://purl.oclc.org/ooxml/drawingml/diagram":                              "dgm",
		"http://schemas.openxmlformats.org/drawingml/2006/picture":                  "pic",
		"http://purl.oclc.org/ooxml/drawingml/picture":                              "pic",
		"http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing":    "wp",
		"http://purl.oclc.org/ooxml/drawingml/wordprocessingDrawing":                "wp",
		"http://schemas.openxmlformats.org/officeDocument/2006/customXml":           "ds",
		"http://schemas.microsoft.com/office/drawing/2016/SVG/main":                 "asvg",
		"http://schemas.openxmlformats.org/package/2006/digital-signature":          "sig",
		"http://schemas.microsoft.com/office/drawing/2014/main":                     "a16",
		"http://schemas.microsoft.com/office/word/2010/wordprocessingDrawing":       "wp14",
		"http://schemas.microsoft.com/office/word/2010/wordprocessingGroup":         "wpg",
		"http://schemas.microsoft.com/office/word/2010/wordprocessingCanvas":        "wpc",
		"http://schemas.microsoft.com/office/word/2012/wordml":                      "w15",
	}
	return m
}

// file is an open document or deck. Parts are read when they are needed and written back only when they changed.
type file struct {
	r        *media.Request
	zip      *pack.File
	main     string // the part of the document or the presentation
	deck     bool   // a presentation
	depth    int    // how many files it stands within
	parts    map[string][]byte
	trees    map[string]*tree.Node
	changed  map[string][]byte // nil value: removed
	related  map[string]*relations
	types    *types         // nil: not read yet
	numbers  map[string]int // how far names with numbers are taken, by what is before the number
	space    map[string]string
	warnings []string
	counts   media.Counts
}

// open reads the skeleton of a file.
func open(r *media.Request) (*file, error) {
	z, err := pack.Open(&r.In, r.Limits)
	if err != nil {
		return nil, err
	}
	f := &file{r: r, zip: z, parts: map[string][]byte{}, trees: map[string]*tree.Node{}, changed: map[string][]byte{}, related: map[string]*relations{}, numbers: map[string]int{}, space: space()}
	rels, err := f.rels("")
	if err != nil {
		return nil, err
	}
	for _, rel := range rels {
		if rel.is("officeDocument") && !rel.external {
			f.main = rel.target
		}
	}
	if f.main == "" || !f.has(f.main) {
		return nil, media.Failf("%s is damaged: it does not say which of its parts is the document.", r.In.Name)
	}
	root, err := f.tree(f.main)
	if err != nil {
		return nil, err
	}
	switch root.Name {
	case "w:document":
	case "p:presentation":
		f.deck = true
	default:
		return nil, media.Failf("%s holds a %s, which is neither a document nor a presentation.", r.In.Name, root.Raw)
	}
	return f, nil
}

// change opens a file that will be changed. A signed one is refused, unless the step says that the signature may go.
func change(r *media.Request) (*file, error) {
	f, err := open(r)
	if err != nil {
		return nil, err
	}
	rels, err := f.rels("")
	if err != nil {
		return nil, err
	}
	for _, rel := range rels {
		if !strings.Contains(rel.kind, "digital-signature") {
			continue
		}
		if ok, _ := r.Args["unsign"].(bool); !ok {
			e := media.Failf("%s is signed, and any change ends its signature. If it may go, say so.", r.In.Name)
			e.Use = strings.ReplaceAll(r.Op, ".", " ") + " … unsign=true"
			return nil, e
		}
		if err := f.cutRel("", rel.id); err != nil {
			return nil, err
		}
		f.warn("The signature of the file was removed.")
	}
	for _, name := range f.names() {
		if strings.HasPrefix(name, "_xmlsignatures/") {
			if err := f.drop(name); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}

func (f *file) warn(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if !slices.Contains(f.warnings, s) {
		f.warnings = append(f.warnings, s)
	}
}

// counted writes a number with its unit.
func counted(n int, unit string) string {
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}

// names lists the parts that are left, in order.
func (f *file) names() []string {
	var out []string
	for _, n := range f.zip.Names() {
		if f.has(n) && !strings.HasSuffix(n, "/") {
			out = append(out, n)
		}
	}
	var fresh []string
	for n, data := range f.changed {
		if data != nil && !f.zip.Has(n) {
			fresh = append(fresh, n)
		}
	}
	slices.Sort(fresh)
	return append(out, fresh...)
}

func (f *file) has(name string) bool {
	if data, ok := f.changed[name]; ok {
		return data != nil
	}
	return f.zip.Has(name)
}

// clone returns a copy that can be changed on its own. Bytes and trees, which nobody changes, are the same.
func (f *file) clone() *file {
	c := *f
	c.parts, c.trees, c.changed, c.related, c.numbers = maps.Clone(f.parts), maps.Clone(f.trees), maps.Clone(f.changed), maps.Clone(f.related), maps.Clone(f.numbers)
	c.types, c.warnings = f.types.clone(), slices.Clone(f.warnings)
	return &c
}

// part returns the current bytes of a part.
func (f *file) part(name string) ([]byte, error) {
	if name == typesPart {
		if err := f.flushTypes(); err != nil {
			return nil, err
		}
	}
	if data, ok := f.changed[name]; ok && data != nil {
		return data, nil
	}
	if data, ok := f.parts[name]; ok {
		return data, nil
	}
	data, err := f.zip.Read(name)
	if err == nil {
		f.parts[name] = data
	}
	return data, err
}

// tree returns a part that is XML.
func (f *file) tree(name string) (*tree.Node, error) {
	if name == typesPart {
		if err := f.flushTypes(); err != nil {
			return nil, err
		}
	}
	if n := f.trees[name]; n != nil {
		return n, nil
	}
	src, err := f.part(name)
	if err != nil {
		return nil, err
	}
	n, err := tree.Parse(name, src, f.space, f.r.Limits)
	if err == nil {
		f.trees[name] = n
	}
	return n, err
}

func (f *file) set(name string, data []byte) {
	f.stale(name)
	if old, ok := f.parts[name]; ok && f.zip.Has(name) && bytes.Equal(old, data) {
		delete(f.changed, name)
		return
	}
	f.changed[name] = data
}

// stale forgets what was made of the bytes that a part had.
func (f *file) stale(name string) {
	delete(f.trees, name)
	delete(f.related, name)
	if name == typesPart {
		f.types = nil
	}
}

// splice changes a part.
func (f *file) splice(name string, cuts []tree.Splice) error {
	if len(cuts) == 0 {
		return nil
	}
	src, err := f.part(name)
	if err == nil {
		f.set(name, tree.Apply(src, cuts))
	}
	return err
}

// drop removes a part with its relationships and its content type.
func (f *file) drop(name string) error {
	if !f.has(name) {
		return nil
	}
	f.forget(name)
	if rels := relsOf(name); f.has(rels) {
		f.forget(rels)
	}
	return f.dropType(name)
}

func (f *file) forget(name string) {
	f.stale(name)
	delete(f.parts, name)
	if f.zip.Has(name) {
		f.changed[name] = nil
	} else {
		delete(f.changed, name)
	}
}

// relation is one relationship of a part.
type relation struct {
	id, kind, target string // target: the part's name, or an address outside
	external         bool
}

// is reports whether a relationship is of a kind, whatever the namespace.
func (r *relation) is(kind string) bool { return r.kind[strings.LastIndexByte(r.kind, '/')+1:] == kind }

// relsOf returns the name of the part that holds another's relationships; "" is the package.
func relsOf(part string) string {
	dir, base := path.Split(part)
	return dir + "_rels/" + base + ".rels"
}

// ownerOf is the inverse of relsOf.
func ownerOf(rels string) string {
	dir, base := path.Split(rels)
	return strings.TrimSuffix(dir, "_rels/") + strings.TrimSuffix(base, ".rels")
}

// relations are those of one part, in order and by id.
type relations struct {
	list []relation
	byID map[string]int
}

func (f *file) rels(part string) ([]relation, error) {
	r, err := f.relations(part)
	if err != nil {
		return nil, err
	}
	return r.list, nil
}

func (f *file) relations(part string) (*relations, error) {
	name := relsOf(part)
	if r := f.related[name]; r != nil {
		return r, nil
	}
	if !f.has(name) {
		return &relations{}, nil
	}
	root, err := f.tree(name)
	if err != nil {
		return nil, err
	}
	out := &relations{byID: map[string]int{}}
	for _, k := range root.Kids {
		if k.Name != "Relationship" {
			continue
		}
		rel := relation{id: k.Get("Id"), kind: k.Get("Type"), target: k.Get("Target"), external: k.Get("TargetMode") == "External"}
		if !rel.external {
			rel.target, _, _ = strings.Cut(rel.target, "#")
			if strings.HasPrefix(rel.target, "/") {
				rel.target = strings.TrimPrefix(path.Clean(rel.target), "/")
			} else {
				rel.target = path.Join(path.Dir(part), rel.target)
			}
		}
		if _, twice := out.byID[rel.id]; !twice {
			out.byID[rel.id] = len(out.list)
		}
		out.list = append(out.list, rel)
	}
	f.related[name] = out
	return out, nil
}

// rel finds a relationship of a part by id.
func (f *file) rel(part, id string) (relation, bool) {
	r, err := f.relations(part)
	if err != nil { // a part without readable relationships has none
		return relation{}, false
	}
	i, ok := r.byID[id]
	if !ok {
		return relation{}, false
	}
	return r.list[i], true
}

// to returns the parts that a part leads to by relationships of a kind.
func (f *file) to(part, kind string) []string {
	var out []string
	rels, _ := f.rels(part)
	for _, rel := range rels {
		if rel.is(kind) && !rel.external && f.has(rel.target) {
			out = append(out, rel.target)
		}
	}
	return out
}

// cutRel removes relationships by their ids, and not what they lead to.
func (f *file) cutRel(owner string, ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	root, err := f.tree(relsOf(owner))
	if err != nil {
		return err
	}
	gone := map[string]bool{}
	for _, id := range ids {
		gone[id] = true
	}
	var cuts []tree.Splice
	for _, k := range root.Kids {
		if k.Name == "Relationship" && gone[k.Get("Id")] {
			cuts = append(cuts, tree.Splice{From: k.From, To: k.To})
		}
	}
	return f.splice(relsOf(owner), cuts)
}

// addRel adds a relationship of a kind to a part and returns its id.
func (f *file) addRel(owner, kind, part string) (string, error) {
	ids, err := f.addRels(owner, kind, part)
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// addRels adds relationships of one kind and returns their ids.
func (f *file) addRels(owner, kind string, parts ...string) (ids []string, err error) {
	if len(parts) == 0 {
		return nil, nil
	}
	name := relsOf(owner)
	if !f.has(name) {
		f.set(name, []byte(relHead+`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"></Relationships>`))
	}
	root, err := f.tree(name)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	base := relBase
	for _, k := range root.Kids {
		used[k.Get("Id")] = true
		if strings.HasPrefix(k.Get("Type"), "http://purl.oclc.org/") {
			base = "http://purl.oclc.org/ooxml/officeDocument/relationships/"
		}
	}
	var markup strings.Builder
	n := 1
	for _, part := range parts {
		for used["rId"+strconv.Itoa(n)] {
			n++
		}
		id := "rId" + strconv.Itoa(n)
		n++
		ids = append(ids, id)
		fmt.Fprintf(&markup, `<%sRelationship Id="%s" Type="%s" Target="/%s"/>`, prefixOf(root), id, base+kind, tree.Escape(part))
	}
	return ids, f.insertLast(name, root, markup.String())
}

// prefixOf returns the prefix with its colon that an element stands with.
func prefixOf(n *tree.Node) string {
	if i := strings.IndexByte(n.Raw, ':'); i >= 0 {
		return n.Raw[:i+1]
	}
	return ""
}

// insertLast puts markup at the end of an element.
func (f *file) insertLast(part string, n *tree.Node, markup string) error {
	src, err := f.part(part)
	if err != nil {
		return err
	}
	if n.Closed() {
		tag := strings.TrimRight(strings.TrimSuffix(string(src[n.From:n.To]), "/>"), " \t\r\n")
		return f.splice(part, []tree.Splice{{From: n.From, To: n.To, With: tag + ">" + markup + "</" + n.Raw + ">"}})
	}
	return f.splice(part, []tree.Splice{{From: n.Out, To: n.Out, With: markup}})
}

// fresh returns a name that no part has: dir/stem1.ext, dir/stem2.ext, …
func (f *file) fresh(like string) string {
	dir, base := path.Split(like)
	ext := path.Ext(base)
	stem := strings.TrimRight(strings.TrimSuffix(base, ext), "0123456789")
	for {
		f.numbers[dir+stem+ext]++
		if name := fmt.Sprintf("%s%s%d%s", dir, stem, f.numbers[dir+stem+ext], ext); !f.has(name) && !f.zip.Has(name) {
			return name
		}
	}
}

// reachable returns the parts that relationships lead to from the package.
func (f *file) reachable() (map[string]bool, error) {
	seen := map[string]bool{"": true}
	todo := []string{""}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		rels, err := f.rels(at)
		if err != nil {
			return nil, err
		}
		for _, rel := range rels {
			if !rel.external && !seen[rel.target] && f.has(rel.target) {
				seen[rel.target] = true
				todo = append(todo, rel.target)
			}
		}
	}
	return seen, nil
}

// sweep removes the parts that were reachable before and are no longer.
func (f *file) sweep(before map[string]bool) error {
	now, err := f.reachable()
	if err != nil {
		return err
	}
	for _, name := range f.names() {
		if before[name] && !now[name] {
			if err := f.drop(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// bytes writes the file.
func (f *file) bytes() ([]byte, error) {
	if err := f.flushTypes(); err != nil {
		return nil, err
	}
	data, err := f.zip.Rewrite(f.changed)
	if stop := f.r.Limits.Err(); stop != nil {
		return nil, stop
	}
	if err != nil {
		return nil, media.Failf("%s cannot be written: %v.", f.r.In.Name, err)
	}
	return data, nil
}

func (f *file) done() (media.Result, error) {
	data, err := f.bytes()
	if err != nil {
		return media.Result{}, err
	}
	return media.Result{Media: &media.Payload{Data: data}, Warnings: f.warnings, Counts: f.counts}, nil
}
