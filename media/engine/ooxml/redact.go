package ooxml

import (
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
		case "media":
			err = f.redactPicture(ctx, name, red)
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
		if n := s.segs[0].node; s.loose && (numericPoint(n) || numericProperty(n)) {
			pt := n.Parent
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
			if now, err = red.Text(a.Val); err == nil && red.Count == was && slices.Contains(addresses, a.Name) {
				now, err = redactAddress(a.Val, red)
			}
			if err == nil && red.Count > was {
				cuts = append(cuts, tree.Splice{From: a.VFrom, To: a.VTo, With: tree.Escape(now)})
			}
		}
		if cut, what := packed(n); err == nil && what != nil {
			var hit string
			if hit, err = within(what, red, f.r.Limits); hit != "" && err == nil {
				red.Count++
				cuts = append(cuts, cut)
				f.warn("Data that a program packed into %s was taken away, because something in it matches.", name)
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
	"w15:userId", "displayName", "caption", "comment", "w:fullDate", "w:docLocation", "w:tgtFrame", "tgtFrame", "target",
	"href", "o:href", "o:althref", "src", "invalidUrl",
}

// addresses are those of them in which %41 may stand for a letter.
var addresses = []string{"href", "o:href", "o:althref", "src", "invalidUrl"}

// wordVals are elements whose w:val holds words.
var wordVals = []string{
	"w:alias", "w:tag", "w:docVar", "w:statusText", "w:helpText", "w:default", "w:name", "w:description", "w:comment",
	"w:caption", "w:query", "w:connectString", "w:mailSubject", "w:addressFieldName", "w:udl", "w:table", "w:src",
	"w:dataSource", "w:category", "w:lvlText", "w:listEntry", "w:mappedName", "w:column",
}

// notNames are elements whose name is no word of the document: fonts, functions, themes.
var notNames = []string{
	"w:font", "w:lsdException", "a:theme", "a:clrScheme", "a:fontScheme", "a:fmtScheme", "a:gd", "w:latentStyles",
	"w:style", "w:compatSetting",
}

// builtIns begin the names of styles that programs know and act on.
var builtIns = []string{
	"normal", "heading", "title", "subtitle", "list", "toc", "table", "body text", "caption", "header", "footer", "footnote", "endnote", "quote",
	"intense", "subtle", "hyperlink", "followedhyperlink", "strong", "emphasis", "index", "default", "comment", "annotation", "page number",
	"plain", "html", "balloon", "block text", "book title", "closing", "date", "document map", "e-mail", "envelope", "line number", "macro", "message",
	"no spacing", "no list", "note heading", "placeholder", "revision", "salutation", "signature", "light", "medium", "dark", "colorful", "grid",
	"unresolved", "mention", "smart", "source code", "verbatim",
}

// builtIn reports whether a style has a name that is not its author's.
func builtIn(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(builtIns, func(b string) bool {
		rest, ok := strings.CutPrefix(name, b)
		return ok && (rest == "" || strings.IndexByte(" 0123456789-", rest[0]) >= 0)
	})
}

// wordyAttr reports whether an attribute holds words that may be changed.
func wordyAttr(part string, n *tree.Node, a *tree.Attr) bool {
	switch {
	case strings.HasPrefix(a.Name, "xmlns"):
		return false
	case strings.HasPrefix(part, "customXml/") && !strings.Contains(part, "itemProps"):
		return true
	case a.Name == "w:val" && n.Name == "w:name" && n.Parent != nil && n.Parent.Name == "w:style":
		return !builtIn(a.Val)
	case a.Name == "w:val":
		return slices.Contains(wordVals, n.Name)
	case a.Name == "val" && n.Name == "p:tag":
		return true
	case a.Name == "name" || a.Name == "w:name":
		return !slices.Contains(notNames, n.Name)
	}
	return slices.Contains(wordAttrs, a.Name)
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
		red.Replacement = with
		if err == nil && red.Count == was {
			now, err = redactAddress(a.Val, red)
		}
		if err != nil {
			return err
		}
		if red.Count > was {
			cuts = append(cuts, tree.Splice{From: a.VFrom, To: a.VTo, With: tree.Escape(now)})
		}
	}
	return f.splice(name, cuts)
}

// redactAddress redacts an address as people read it, with what is escaped in it.
func redactAddress(s string, red *tree.Redaction) (string, error) {
	plain, err := url.PathUnescape(s)
	if err != nil || plain == s {
		return s, nil // no address
	}
	was := red.Count
	now, err := red.Text(plain)
	if err != nil || red.Count == was {
		return s, err
	}
	return tree.EscapeAddress(now), nil
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

func (f *file) tooDeep() error {
	return media.Failf("%s holds files within files more than %d deep, which are not looked into. Take them out first.", f.r.In.Name, deepestEmbedding)
}

// redactInner changes a file within the file by the engine that knows it.
func (f *file) redactInner(ctx context.Context, name string, red *tree.Redaction, depth int) error {
	if depth >= deepestEmbedding {
		return f.tooDeep()
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
