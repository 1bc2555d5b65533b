package ooxml

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/sheet"
	"github.com/tackle-dev/tackle/media/engine/text"
	"github.com/tackle-dev/tackle/media/internal/flow"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// errNothing says that nothing in an embedded file matches.
var errNothing = errors.New("nothing matches")

// redact removes words from every part that can hold them, and looks again before it gives the result out.
func redact(ctx context.Context, r *media.Request) (media.Result, error) {
	red, err := tree.NewRedaction(r)
	if err != nil {
		return media.Result{}, err
	}
	f, err := change(r)
	if err != nil {
		return media.Result{}, err
	}
	if err := f.redact(ctx, red, 0); err != nil {
		return media.Result{}, err
	}
	if red.Count == 0 {
		return media.Result{}, media.Failf("nothing in %s matches. Nothing was changed.", r.In.Name)
	}
	f.counts.Modified = red.Count
	data, err := f.bytes()
	if err != nil {
		return media.Result{}, err
	}
	found := slices.Clone(red.Found)
	if err := f.verify(ctx, data, red); err != nil {
		return media.Result{}, err
	}
	red.Found = found
	f.warnings = append(f.warnings, red.Unfound()...)
	return media.Result{Media: &media.Payload{Data: data}, Warnings: f.warnings, Counts: f.counts}, nil
}

// deepestEmbedding bounds files within files.
const deepestEmbedding = 3

// redact changes the parts. The report of where is a warning.
func (f *file) redact(ctx context.Context, red *tree.Redaction, depth int) error {
	if err := f.dropThumbnail(); err != nil {
		return err
	}
	var report []string
	for _, name := range f.names() {
		if err := ctx.Err(); err != nil {
			return err
		}
		was := red.Count
		var err error
		switch kind := f.kindOf(name); kind {
		case "xml":
			err = f.redactXML(name, red)
		case "rels":
			err = f.redactRels(name, red)
		case "svg":
			err = f.redactSVG(name, red)
		case "office":
			err = f.redactInner(ctx, name, red, depth)
		}
		if err != nil {
			return err
		}
		if n := red.Count - was; n > 0 {
			report = append(report, fmt.Sprintf("%s %d", name, n))
		}
	}
	if len(report) > 0 {
		f.warn("Redacted by part: %s.", strings.Join(report, ", "))
	}
	return nil
}

// kindOf says how a part is read.
func (f *file) kindOf(name string) string {
	ext := strings.ToLower(path.Ext(name))
	kind := strings.ToLower(f.typeOf(name))
	switch {
	case ext == ".rels":
		return "rels"
	case name == typesPart:
		return "types"
	case ext == ".svg" || kind == "image/svg+xml":
		return "svg"
	case ext == ".xml", ext == ".vml", strings.HasSuffix(kind, "+xml"), strings.HasSuffix(kind, "/xml"), strings.HasSuffix(kind, "vmldrawing"):
		return "xml"
	case ext == ".xlsx", ext == ".xlsm", ext == ".docx", ext == ".docm", ext == ".pptx", ext == ".pptm", ext == ".dotx", ext == ".potx":
		return "office"
	case strings.HasPrefix(kind, "image/"), strings.Contains("/"+name, "/media/"):
		return "media"
	case assetKinds[ext] == "font":
		return "font"
	}
	return "binary"
}

// dropThumbnail removes the picture of the first page as it was.
func (f *file) dropThumbnail() error {
	rels, err := f.rels("")
	if err != nil {
		return err
	}
	for _, rel := range rels {
		if rel.is("thumbnail") && !rel.external {
			if err := f.drop(rel.target); err != nil {
				return err
			}
			if err := f.cutRel("", rel.id); err != nil {
				return err
			}
			f.warn("The thumbnail was removed; it shows the first page as it was.")
		}
	}
	return nil
}

func (f *file) redactXML(name string, red *tree.Redaction) error {
	src, err := f.part(name)
	if err != nil {
		return err
	}
	root, err := f.tree(name)
	if err != nil {
		return err
	}
	var cuts []tree.Splice
	for _, s := range streams(src, root) {
		marks, n, err := s.mark(red)
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		red.Count += n
		if s.loose && numericPoint(s.segs[0].node) {
			pt := s.segs[0].node.Parent
			cuts = append(cuts, tree.Splice{From: pt.From, To: pt.To})
			continue
		}
		cuts = append(cuts, s.cut(marks, func(*tree.Node) string { return tree.Escape(red.Replacement) })...)
	}
	root.Walk(func(n *tree.Node) bool {
		for k := range n.Attr {
			a := &n.Attr[k]
			if err != nil || !wordyAttr(name, n, a) {
				continue
			}
			var now string
			was := red.Count
			if now, err = red.Text(a.Val); err == nil && red.Count > was {
				cuts = append(cuts, tree.Splice{From: a.VFrom, To: a.VTo, With: tree.Escape(now)})
			}
		}
		return err == nil
	})
	if err != nil {
		return err
	}
	if err := remarks(src, red, &cuts); err != nil {
		return err
	}
	return f.splice(name, cuts)
}

// numericPoint reports whether an element is the value of a number that a chart keeps.
func numericPoint(n *tree.Node) bool {
	return n.Name == "c:v" && n.Parent != nil && n.Parent.Name == "c:pt" && n.Parent.Parent != nil && n.Parent.Parent.Name == "c:numCache"
}

// remarks removes comments and instructions of the XML that hold a match: no program shows them, and everybody can read them.
func remarks(src []byte, red *tree.Redaction, cuts *[]tree.Splice) error {
	for i := 0; ; {
		n := bytes.IndexByte(src[i:], '<')
		if n < 0 || i+n+1 >= len(src) {
			return nil
		}
		i += n
		end := ""
		switch {
		case bytes.HasPrefix(src[i:], []byte("<!--")):
			end = "-->"
		case bytes.HasPrefix(src[i:], []byte("<![CDATA[")):
			end = "]]>"
		case src[i+1] == '?':
			end = "?>"
		default:
			i++
			continue
		}
		k := bytes.Index(src[i:], []byte(end))
		if k < 0 {
			return nil
		}
		to := i + k + len(end)
		if end != "]]>" && !bytes.HasPrefix(src[i:], []byte("<?xml ")) {
			hit, err := red.Hit(string(src[i:to]))
			if err != nil {
				return err
			}
			if hit != "" {
				red.Count++
				*cuts = append(*cuts, tree.Splice{From: i, To: to})
			}
		}
		i = to
	}
}

// wordAttrs are attributes that hold words wherever they stand.
var wordAttrs = []string{
	"descr", "title", "alt", "o:title", "tooltip", "w:tooltip", "string", "author", "w:author", "w15:author",
	"initials", "w:initials", "w:instr", "w:anchor", "name", "w:name", "w:displayText", "w:value", "w:xpath", "userId",
	"w15:userId", "displayName", "caption", "comment", "w:fullDate",
}

// wordVals are elements whose w:val holds words.
var wordVals = []string{
	"w:alias", "w:tag", "w:docVar", "w:statusText", "w:helpText", "w:default", "w:name", "w:description", "w:comment",
	"w:caption", "w:query", "w:connectString", "w:mailSubject", "w:addressFieldName", "w:udl", "w:table", "w:src",
	"w:dataSource", "w:category", "w:lid", "w:listEntry", "w:mappedName", "w:column",
}

// notNames are elements whose name is no word of the document: fonts, functions, themes.
var notNames = []string{
	"w:font", "w:lsdException", "a:theme", "a:clrScheme", "a:fontScheme", "a:fmtScheme", "a:gd", "w:latentStyles",
	"w:style", "w:compatSetting",
}

// wordyAttr reports whether an attribute holds words that may be changed.
func wordyAttr(part string, n *tree.Node, a *tree.Attr) bool {
	switch {
	case strings.HasPrefix(a.Name, "xmlns"):
		return false
	case strings.HasPrefix(part, "customXml/") && !strings.Contains(part, "itemProps"):
		return true
	case a.Name == "w:val":
		return slices.Contains(wordVals, n.Name)
	case a.Name == "val" && n.Name == "p:tag":
		return true
	case a.Name == "name" || a.Name == "w:name":
		return !slices.Contains(notNames, n.Name)
	}
	return slices.Contains(wordAttrs, a.Name)
}

// structural are attributes whose values programs look things up by; words in them would be an accident.
var structural = []string{
	"uri", "Requires", "path", "style", "ContentType", "PartName", "Type", "Extension", "formatCode", "typeface",
	"panose", "script", "w:ascii", "w:hAnsi", "w:cs", "w:eastAsia", "w14:paraId", "w14:textId", "w:rsidR",
	"w:rsidRDefault", "w:rsidP", "w:rsidRPr", "w:rsidTr", "w:rsidSect", "guid", "dt", "date", "w:date", "adj",
	"coordsize", "points",
}

// suspect reports whether an attribute that is left alone holds a match that should not be left.
func suspect(a *tree.Attr, red *tree.Redaction) (string, error) {
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
			literal := red.Matches[i].Source == ""
			if len(hit) >= 4 && (literal || len(hit) >= 6 && strings.ContainsAny(hit, "0123456789")) {
				return hit, nil
			}
		}
	}
	return "", nil
}

// redactRels changes addresses outside of the file.
func (f *file) redactRels(name string, red *tree.Redaction) error {
	root, err := f.tree(name)
	if err != nil {
		return err
	}
	var cuts []tree.Splice
	for _, k := range root.Kids {
		a := k.Find("Target")
		if k.Name != "Relationship" || a == nil || k.Get("TargetMode") != "External" {
			continue
		}
		was := red.Count
		with := red.Replacement
		red.Replacement = url.PathEscape(with)
		now, err := red.Text(a.Val)
		if plain, e := url.PathUnescape(a.Val); err == nil && e == nil && red.Count == was {
			var out string
			if out, err = red.Text(plain); red.Count > was {
				now = strings.NewReplacer(" ", "%20", "<", "%3C", ">", "%3E", `"`, "%22").Replace(out)
			}
		}
		red.Replacement = with
		if err != nil {
			return err
		}
		if red.Count > was {
			cuts = append(cuts, tree.Splice{From: a.VFrom, To: a.VTo, With: tree.Escape(now)})
		}
	}
	return f.splice(name, cuts)
}

func svgWords(red *tree.Redaction) *text.Words {
	return &text.Words{Patterns: red.Patterns, Replacement: red.Replacement, Inline: []string{"tspan", "a"}}
}

func (f *file) redactSVG(name string, red *tree.Redaction) error {
	src, err := f.part(name)
	if err != nil {
		return err
	}
	out, n, which, err := svgWords(red).Replace(string(src))
	if err != nil {
		return err
	}
	for i, hit := range which {
		red.Found[i] = red.Found[i] || hit
	}
	if red.Count += n; n > 0 {
		f.set(name, []byte(out))
	}
	return nil
}

// redactInner changes a file within the file by the engine that knows it.
func (f *file) redactInner(ctx context.Context, name string, red *tree.Redaction, depth int) error {
	if depth >= deepestEmbedding {
		return media.Failf("%s holds files within files more than %d deep, which are not looked into. Take them out first: sanitize removes them.", f.r.In.Name, deepestEmbedding)
	}
	data, err := f.part(name)
	if err != nil {
		return err
	}
	in := media.Identify(media.Payload{Data: data, Name: path.Base(name)})
	req := *f.r
	req.In = in
	switch in.MIME {
	case docxMIME, pptxMIME:
		inner, err := change(&req)
		if err != nil {
			return err
		}
		was := red.Count
		if err := inner.redact(ctx, red, depth+1); err != nil || red.Count == was {
			return err
		}
		out, err := inner.bytes()
		if err == nil {
			f.set(name, out)
		}
		return err
	}
	res, err := sheetRedact(ctx, &req)
	if errors.Is(err, errNothing) {
		return nil
	}
	if err != nil {
		return media.Failf("the embedded file %s cannot be redacted: %v", path.Base(name), err)
	}
	none := *red
	none.Found = make([]bool, len(red.Found))
	for i, what := range none.Unfound() {
		red.Found[i] = red.Found[i] || !slices.Contains(res.Warnings, what)
	}
	red.Count += max(1, res.Counts.Modified)
	f.set(name, res.Media.Data)
	return nil
}

// sheetRedact has the engine for workbooks redact one.
func sheetRedact(ctx context.Context, r *media.Request) (media.Result, error) {
	req := *r
	req.Op = "redact"
	res, err := sheet.Do(ctx, &req)
	var e *media.Error
	if errors.As(err, &e) && strings.HasPrefix(e.Message, "nothing in ") {
		return res, errNothing
	}
	return res, err
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
		hit, err := red.Hit(name)
		if hit != "" && len(hit) >= 4 || err != nil {
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
			f.warn("%s is not understood; its bytes were searched as they are.", name)
		}
	}
	if pictures > 0 {
		f.warn("The file holds %d pictures or recordings; words that they show were not read.", pictures)
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
		return svgWords(red).Find(string(data))
	case "office":
		in := media.Identify(media.Payload{Data: data, Name: path.Base(name)})
		req := *f.r
		req.In = in
		if in.MIME != docxMIME && in.MIME != pptxMIME {
			if _, err := sheetRedact(ctx, &req); errors.Is(err, errNothing) {
				return "", nil
			} else if err != nil {
				return "", err
			}
			return path.Base(name), nil
		}
		inner, err := open(&req)
		if err != nil {
			return "", err
		}
		for _, n := range inner.names() {
			if hit, err := inner.look(ctx, n, inner.kindOf(n), red); hit != "" || err != nil {
				return hit, err
			}
		}
		return "", nil
	}
	return scan(data, red, kind == "media" || kind == "font")
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
			} else {
				hit, err = suspect(a, red)
			}
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
