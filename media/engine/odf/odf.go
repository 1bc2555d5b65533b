// Package odf is the engine for OpenDocument files: text (odt, fodt), spreadsheets (ods, fods) and presentations (odp).
//
// A file is changed as a surgeon would: a change is a splice of one XML part, and every member of the container that the
// change does not concern is the same bytes as before, with the type of the file first and not compressed. Redaction looks
// at every part that can hold words, removes pictures of the content, looks again at the result, and gives out nothing that
// still holds a match.
//
// Encrypted files are refused. Signed ones are read; a change ends the signature and is made only where the step says
// unsign.
package odf

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/pack"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

const base = "application/vnd.oasis.opendocument."

const (
	odtMIME  = base + "text"
	fodtMIME = base + "text-flat-xml"
	odsMIME  = base + "spreadsheet"
	fodsMIME = base + "spreadsheet-flat-xml"
	odpMIME  = base + "presentation"
)

// Engine returns the engine.
func Engine() media.Engine {
	texts, sheets := []string{odtMIME, fodtMIME, odpMIME}, []string{odsMIME, fodsMIME}
	all := append(slices.Clone(texts), sheets...)
	return media.Engine{
		ID:    "odf",
		Locks: true,
		Convert: []media.Convert{
			{From: []string{media.EmptyMIME}, To: []string{"odt", "ods", "odp"}, Keep: media.Exact, Do: blank},
			{From: texts, To: []string{"txt", "md", "html"}, Keep: media.Structure, Do: convertText},
			{From: sheets, To: []string{"xlsx", "csv", "json", "md", "html", "txt"}, Keep: media.Structure, Do: convertSheets},
			{From: []string{"text/csv", "text/tab-separated-values", "application/json", xlsxMIME, xlsmMIME}, To: []string{"ods"}, Keep: media.Structure, Do: toSheets},
		},
		Edit: []media.Edit{
			{Over: all, Ops: []string{"redact"}, Do: redact},
			{Over: all, Ops: []string{"sanitize"}, Do: sanitize},
			{Over: all, Ops: []string{"normalize"}, Do: normalize},
			{Over: texts, Ops: []string{"update_text"}, Do: updateText},
			{Over: []string{odtMIME, fodtMIME}, Ops: []string{"split"}, Do: splitText},
			{Over: []string{odpMIME}, Ops: []string{"select", "reorder", "split"}, Do: pages},
			{Over: sheets, Ops: []string{"split", "diff"}, Do: viaBook},
			{Over: []string{odsMIME}, Ops: []string{"sheet.update_cells", "sheet.rename_sheet", "sheet.add_sheet", "sheet.remove_sheet", "sheet.reorder_sheets"}, Do: editSheets},
			{Over: all, Ops: []string{"extract.metadata"}, Do: describe},
			{Over: all, Ops: []string{"extract.assets"}, Do: assets},
		},
	}
}

// space gives the namespaces their usual prefixes.
var space = func() map[string]string {
	m := map[string]string{
		"http://www.w3.org/1999/xlink": "xlink", "http://purl.org/dc/elements/1.1/": "dc", "http://www.w3.org/1998/Math/MathML": "math",
		"http://www.w3.org/2002/xforms": "xforms", "http://www.w3.org/2001/xml-events": "dom",
		"urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0": "loext",
		"urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0": "calcext",
		"http://openoffice.org/2004/office":                                    "ooo",
		"urn:oasis:names:tc:opendocument:xmlns:drawing:1.0":                    "draw",
		"urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0":                  "number",
		"urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0":             "svg",
		"urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0":          "fo",
		"urn:oasis:names:tc:opendocument:xmlns:smil-compatible:1.0":            "smil",
		"urn:oasis:names:tc:opendocument:xmlns:animation:1.0":                  "anim",
		"urn:oasis:names:tc:opendocument:xmlns:database:1.0":                   "db",
	}
	for _, p := range []string{"office", "style", "text", "table", "presentation", "meta", "chart", "dr3d", "form", "script", "config", "manifest", "of"} {
		m["urn:oasis:names:tc:opendocument:xmlns:"+p+":1.0"] = p
	}
	return m
}()

// flatPart is the name under which the one part of a flat file goes.
const flatPart = "content.xml"

const manifest = "META-INF/manifest.xml"

// doc is an open file.
type doc struct {
	r        *media.Request
	zip      *pack.File // nil: flat
	parsed   map[string]*tree.Node
	sources  map[string][]byte // XML parts as they are now
	changed  map[string][]byte
	warnings []string
	counts   media.Counts
}

func open(r *media.Request) (*doc, error) {
	d := &doc{r: r, changed: map[string][]byte{}, parsed: map[string]*tree.Node{}, sources: map[string][]byte{}}
	if r.In.MIME == fodtMIME || r.In.MIME == fodsMIME {
		return d, nil
	}
	var err error
	if d.zip, err = pack.Open(&r.In, r.Limits); err != nil {
		return nil, err
	}
	if !d.zip.Has("content.xml") {
		return nil, media.Failf("%s is damaged: it has no content.xml.", r.In.Name)
	}
	if d.zip.Has(manifest) {
		src, err := d.part(manifest)
		if err != nil {
			return nil, err
		}
		if bytes.Contains(src, []byte("encryption-data")) {
			return nil, media.Refusef("%s is encrypted. Save it without a password first.", r.In.Name)
		}
	}
	return d, nil
}

// change opens a file that will be changed. The signature of a signed one goes only where the step says so.
func change(r *media.Request) (*doc, error) {
	d, err := open(r)
	if err != nil {
		return nil, err
	}
	signed := d.signatures()
	if len(signed) == 0 {
		return d, nil
	}
	if on, _ := r.Args["unsign"].(bool); !on {
		e := media.Failf("%s is signed, and any change ends the signature.", r.In.Name)
		e.Use = strings.ReplaceAll(r.Op, ".", " ") + " … unsign=true"
		return nil, e
	}
	d.warn("The signature was taken away, because it does not hold for a changed file.")
	return d, d.drop(signed...)
}

func (d *doc) signatures() []string {
	var out []string
	for _, n := range d.names() {
		if strings.HasPrefix(n, "META-INF/") && strings.Contains(n, "signatures") {
			out = append(out, n)
		}
	}
	return out
}

func (d *doc) warn(format string, args ...any) {
	w := fmt.Sprintf(format, args...)
	if !slices.Contains(d.warnings, w) {
		d.warnings = append(d.warnings, w)
	}
}

// names lists the members that are left.
func (d *doc) names() []string {
	if d.zip == nil {
		return []string{flatPart}
	}
	return slices.DeleteFunc(d.zip.Names(), func(n string) bool {
		b, ok := d.changed[n]
		return ok && b == nil
	})
}

func (d *doc) has(name string) bool {
	if d.zip == nil {
		return name == flatPart
	}
	b, changed := d.changed[name]
	return d.zip.Has(name) && (!changed || b != nil)
}

func (d *doc) part(name string) ([]byte, error) {
	if b, ok := d.changed[name]; ok && b != nil {
		return b, nil
	}
	if d.zip == nil {
		return d.r.In.Data, nil
	}
	if b, ok := d.sources[name]; ok {
		return b, nil
	}
	b, err := d.zip.Read(name)
	if err == nil && xmlPart(name) {
		d.sources[name] = b
	}
	return b, err
}

func (d *doc) tree(name string) (src []byte, root *tree.Node, err error) {
	if src, err = d.part(name); err != nil {
		return nil, nil, err
	}
	if root = d.parsed[name]; root != nil {
		return src, root, nil
	}
	if root, err = tree.Parse(name, src, space, d.r.Limits); err == nil {
		d.parsed[name] = root
	}
	return src, root, err
}

func (d *doc) set(name string, data []byte) {
	if was, err := d.part(name); err == nil && bytes.Equal(was, data) {
		return
	}
	d.changed[name] = data
	delete(d.parsed, name)
	delete(d.sources, name)
}

// drop removes a member and its line in the manifest.
func (d *doc) drop(names ...string) error {
	if d.zip == nil || len(names) == 0 {
		return nil
	}
	for _, n := range names {
		d.changed[n] = nil
	}
	if !d.has(manifest) {
		return nil
	}
	src, root, err := d.tree(manifest)
	if err != nil {
		return err
	}
	var cuts []tree.Splice
	for _, e := range root.All("manifest:file-entry") {
		if slices.Contains(names, e.Get("manifest:full-path")) {
			cuts = append(cuts, tree.Splice{From: e.From, To: e.To})
		}
	}
	d.set(manifest, tree.Apply(src, cuts))
	return nil
}

// xmlPart reports whether a member is XML that this package reads.
func xmlPart(name string) bool {
	ext := path.Ext(name)
	return ext == ".xml" || ext == ".rdf" || ext == ".xlb" || ext == ".xba" || ext == ".xdl"
}

// done returns the changed file.
func (d *doc) done() (media.Result, error) {
	out := d.changed[flatPart]
	switch {
	case d.zip == nil && out == nil:
		out = d.r.In.Data
	case d.zip != nil:
		var err error
		if out, err = d.zip.Rewrite(d.changed); err != nil {
			return media.Result{}, err
		}
	}
	return media.Result{Media: &media.Payload{Data: out}, Warnings: d.warnings, Counts: d.counts}, nil
}

// grammar says how the elements of OpenDocument read.
var grammar = &tree.Grammar{
	Para: func(n *tree.Node) bool { return n.Name == "text:p" || n.Name == "text:h" },
	Kind: func(n *tree.Node, para bool) tree.Kind {
		switch n.Name {
		case "text:s", "text:tab", "text:line-break":
			return tree.Sign
		case "office:binary-data":
			return tree.Silent
		case "text:note", "office:annotation", "text:tracked-changes", "table:tracked-changes", "text:ruby-text", "presentation:notes", "svg:title", "svg:desc", "office:event-listeners":
			return tree.Apart
		case "text:p", "text:h":
			return tree.Block
		}
		switch {
		case !para:
			return tree.Block
		case strings.HasPrefix(n.Name, "draw:") && n.Name != "draw:a", n.Name == "text:list", n.Name == "table:table":
			return tree.Apart
		}
		return tree.Inline
	},
	Sign: func(n *tree.Node) string {
		switch n.Name {
		case "text:s":
			k := 1
			if _, err := fmt.Sscan(n.Get("text:c"), &k); err != nil || k < 1 || k > 10_000 {
				k = 1
			}
			return strings.Repeat(" ", k)
		case "text:tab":
			return "\t"
		}
		return "\n"
	},
	Shorter: func(n *tree.Node, left string) string { return fmt.Sprintf(`<%s text:c="%d"/>`, n.Raw, len(left)) },
	Other:   declined,
}

// declined reads a text as those do who decline its tracked changes: with what was deleted in its place, and without what
// was inserted.
func declined(usual *tree.Grammar, root *tree.Node) *tree.Grammar {
	deleted, inserted := map[string]*tree.Node{}, map[string]bool{}
	for _, list := range root.All("text:tracked-changes") {
		for _, c := range list.All("text:changed-region") {
			id := cmp.Or(c.Get("text:id"), c.Get("xml:id"))
			if del := c.Child("text:deletion"); del != nil {
				deleted[id] = del
			}
			inserted[id] = c.Child("text:insertion") != nil
		}
	}
	if len(inserted) == 0 {
		return nil
	}
	g := *usual
	g.Other = nil
	g.Instead = func(n *tree.Node) *tree.Node {
		if n.Name == "text:change" {
			return deleted[n.Get("text:change-id")]
		}
		return nil
	}
	g.Leave = func(n *tree.Node) int {
		switch {
		case n.Name == "text:change-start" && inserted[n.Get("text:change-id")]:
			return 1
		case n.Name == "text:change-end" && inserted[n.Get("text:change-id")]:
			return -1
		}
		return 0
	}
	return &g
}

// wordNames are the local names of attributes that hold words.
var wordNames = strings.Fields(`name title display-name description href string-value current-value default-value string-value-if-true
	string-value-if-false formula condition expression label text content author creator initials command macro-name table-name
	cell-range-address base-cell-address target-range-address notify-on-update-of-ranges values-cell-range-address label-cell-address
	ref-name key1 key2 key help-text-url message source-field-name target-frame-name filter-name filter-options connection-name
	database-name column-name value date-value full-path about resource alt desc user-name caption hint helptext password-hash
	main-entry alphabetical-index-mark identifier address annote booktitle chapter edition editor howpublished institution journal
	month note organizations publisher school series report-type isbn url custom1 custom2 custom3 custom4 custom5`)

func wordy(n *tree.Node, attr string) bool {
	prefix, local, ok := strings.Cut(attr, ":")
	if !ok {
		local, prefix = prefix, ""
	}
	if attr == "manifest:full-path" {
		return !customary.MatchString(n.Get(attr)) // the parts that the format names keep their names
	}
	if slices.Contains([]string{"style:display-name", "chart:values-cell-range-address", "chart:label-cell-address"}, attr) ||
		attr == "config:name" && n.Name == "config:config-item-map-entry" { // the view of a sheet, by its name
		return true
	}
	if slices.Contains([]string{"style", "fo", "svg", "number", "smil", "dr3d", "xml", "chart", "manifest", "config", "anim"}, prefix) {
		return false
	}
	if local == "value" && (n.Name == "table:table-cell" || n.Name == "table:covered-table-cell") {
		return false // a number: see redactCells
	}
	return slices.Contains(wordNames, local)
}

func blank(_ context.Context, r *media.Request) (media.Result, error) {
	f, _ := media.FormatOf(r.To)
	body := map[string]string{
		"odt": "<office:text><text:p/></office:text>",
		"ods": `<office:spreadsheet><table:table table:name="Sheet1"><table:table-column/><table:table-row><table:table-cell/></table:table-row></table:table></office:spreadsheet>`,
		"odp": `<office:presentation><draw:page draw:name="page1" draw:master-page-name="Default"/></office:presentation>`,
	}[r.To]
	data, err := create(f.MIME, "", body)
	return media.Result{Media: &media.Payload{Data: data}}, err
}

const xmlHead = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

const names = ` xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"` +
	` xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"` +
	` xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0"` +
	` xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"` +
	` xmlns:number="urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0" xmlns:of="urn:oasis:names:tc:opendocument:xmlns:of:1.2" office:version="1.3"`

// create makes a new file of automatic styles and a body.
func create(mime, styles, body string) ([]byte, error) {
	page, master := `<style:page-layout-properties fo:page-width="21cm" fo:page-height="29.7cm" fo:margin="2cm"/>`, `style:name="Standard"`
	if mime == odpMIME {
		page, master = `<style:page-layout-properties fo:page-width="28cm" fo:page-height="15.75cm" fo:margin="0cm"/>`, `style:name="Default"`
	}
	return pack.Create(
		pack.Member{Name: "mimetype", Data: []byte(mime), Plain: true},
		pack.Member{Name: "content.xml", Data: []byte(xmlHead + "<office:document-content" + names + "><office:automatic-styles>" + styles + "</office:automatic-styles><office:body>" + body + "</office:body></office:document-content>")},
		pack.Member{Name: "styles.xml", Data: []byte(xmlHead + "<office:document-styles" + names + `><office:styles/><office:automatic-styles><style:page-layout style:name="pm1">` + page + `</style:page-layout></office:automatic-styles><office:master-styles><style:master-page ` + master + ` style:page-layout-name="pm1"/></office:master-styles></office:document-styles>`)},
		pack.Member{Name: manifest, Data: []byte(xmlHead + `<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.3"><manifest:file-entry manifest:full-path="/" manifest:version="1.3" manifest:media-type="` + mime + `"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/><manifest:file-entry manifest:full-path="styles.xml" manifest:media-type="text/xml"/></manifest:manifest>`)},
	)
}
