package ooxml

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/sheet"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// unsafeKinds are the ends of relationship types whose parts act or reach out, or tell of the machine they were made on.
var unsafeKinds = map[string]string{
	"vbaProject": "macros", "wordVbaData": "macros", "vbaProjectSignature": "macros", "vbaProjectSignatureAgile": "macros", "vbaProjectSignatureV3": "macros", "keyMapCustomizations": "key bindings",
	"oleObject": "embedded object", "control": "control", "activeXControlBinary": "control", "ctrlProp": "control",
	"attachedTemplate": "remote template", "attachedToolbars": "toolbar", "mailMergeSource": "data source", "mailMergeHeaderSource": "data source", "recipientData": "data source",
	"customXml": "custom XML", "customXmlProps": "custom XML", "printerSettings": "printer settings", "subDocument": "sub-document", "frame": "frame", "aFChunk": "embedded file of another format",
	"transform": "remote transformation", "userXmlData": "custom XML", "webExtension": "web extension", "webextensiontaskpanes": "web extension", "taskpanes": "web extension", "externalLinkPath": "link to another file",
}

// acting are elements that go when the relationship that they name goes.
var acting = []string{"o:OLEObject", "w:control", "w:attachedTemplate", "w:subDoc", "w:altChunk", "w:printerSettings", "w:saveThroughXslt", "w:mailMerge", "w:frame", "a:hlinkClick", "a:hlinkHover", "a:hlinkMouseOver",
	"a:videoFile", "a:audioFile", "a:quickTimeFile", "a:wavAudioFile", "p14:media", "c:externalData", "p:control", "p:oleObj", "w:movie", "w:background"}

// cleaner removes and counts.
type cleaner struct {
	f       *file
	removed map[string]int
}

// sanitize removes what acts, reaches out or hides.
func sanitize(ctx context.Context, r *media.Request) (media.Result, error) {
	f, err := change(r)
	if err != nil {
		return media.Result{}, err
	}
	c := &cleaner{f, map[string]int{}}
	before, err := f.reachable()
	if err != nil {
		return media.Result{}, err
	}
	for _, name := range append([]string{""}, f.names()...) {
		if err := ctx.Err(); err != nil {
			return media.Result{}, err
		}
		if path.Ext(name) == ".rels" || name != "" && !f.has(name) {
			continue
		}
		if err := c.relations(name); err != nil {
			return media.Result{}, err
		}
	}
	for _, name := range f.names() {
		switch f.kindOf(name) {
		case "xml":
			err = c.content(name)
		case "office":
			err = c.inner(ctx, name)
		}
		if err != nil {
			return media.Result{}, err
		}
	}
	if err := f.sweep(before); err != nil {
		return media.Result{}, err
	}
	plain, err := c.plainTypes()
	if err != nil {
		return media.Result{}, err
	}
	var kinds []string
	for what := range c.removed {
		kinds = append(kinds, what)
	}
	slices.Sort(kinds)
	for _, what := range kinds {
		f.warn("Removed %d × %s.", c.removed[what], what)
		f.counts.Removed += c.removed[what]
	}
	if len(kinds) == 0 {
		f.warn("There was nothing to remove.")
	}
	res, err := f.done()
	if err == nil && plain {
		own, _ := media.FormatOf(r.In.MIME)
		res.Media.Name = media.Renamed(r.In.Name, own.Token)
	}
	return res, err
}

// relations removes the relationships of a part that are not to be, with what names them.
func (c *cleaner) relations(owner string) error {
	f := c.f
	rels, err := f.rels(owner)
	if err != nil {
		return err
	}
	for _, rel := range rels {
		kind := rel.kind[strings.LastIndexByte(rel.kind, '/')+1:]
		what := unsafeKinds[kind]
		switch {
		case kind == "hyperlink" && rel.external && unsafeLink(rel.target):
			what = "link that starts a program"
		case kind == "package" && !rel.external && f.kindOf(rel.target) != "office":
			what = "embedded object"
		case rel.external && kind != "hyperlink" && what == "":
			what = "remote reference"
		}
		if what == "" {
			continue
		}
		c.removed[what]++
		if err := c.unname(owner, rel.id); err != nil {
			return err
		}
		if err := f.cutRel(owner, rel.id); err != nil {
			return err
		}
	}
	return nil
}

func unsafeLink(target string) bool {
	l := strings.ToLower(strings.TrimSpace(target))
	for _, ok := range []string{"http://", "https://", "mailto:", "tel:", "ftp://", "#"} {
		if strings.HasPrefix(l, ok) {
			return false
		}
	}
	return strings.Contains(l, ":") || strings.HasPrefix(l, `\\`) || strings.HasPrefix(l, "//")
}

// unname removes the elements that name a relationship, or where an element is more than that, the name.
func (c *cleaner) unname(owner, id string) error {
	f := c.f
	if owner == "" || f.kindOf(owner) != "xml" {
		return nil
	}
	root, err := f.tree(owner)
	if err != nil {
		return err
	}
	src, err := f.part(owner)
	if err != nil {
		return err
	}
	var cuts []tree.Splice
	root.Walk(func(n *tree.Node) bool {
		for i := range n.Attr {
			a := &n.Attr[i]
			if a.Val != id || !strings.HasPrefix(a.Name, "r:") && a.Name != "o:relid" {
				continue
			}
			switch {
			case n.Name == "p:oleObj":
				cuts = append(cuts, stillPicture(n, src))
			case n.Name == "a:hlinkClick" || slices.Contains(acting, n.Name):
				cuts = append(cuts, tree.Splice{From: n.From, To: n.To})
			default:
				cuts = append(cuts, tree.Splice{From: a.From, To: a.To})
			}
		}
		return true
	})
	return f.splice(owner, cuts)
}

// stillPicture puts the picture of an embedded object of a slide in the place of the object.
func stillPicture(n *tree.Node, src []byte) tree.Splice {
	frame := n
	for frame.Parent != nil && frame.Name != "p:graphicFrame" {
		frame = frame.Parent
	}
	if frame.Name != "p:graphicFrame" {
		return tree.Splice{From: n.From, To: n.To}
	}
	with := ""
	if pic := find(frame, "p:pic"); pic != nil {
		with = string(src[pic.From:pic.To])
	}
	return tree.Splice{From: frame.From, To: frame.To, With: with}
}

// fieldsThatAct start programs or read other files when they are updated.
var fieldsThatAct = []string{"DDE", "DDEAUTO", "INCLUDETEXT", "INCLUDEPICTURE", "INCLUDE", "IMPORT", "LINK", "RD", "DATABASE", "MACROBUTTON", "AUTOTEXT", "AUTOTEXTLIST"}

func acts(instr string) bool {
	words := strings.Fields(strings.TrimLeft(instr, " \t\n\"{"))
	return len(words) > 0 && slices.Contains(fieldsThatAct, strings.ToUpper(strings.Trim(words[0], `"{}`)))
}

// content removes fields that act, actions of slides, controls, bindings to custom XML and characters that hide.
func (c *cleaner) content(name string) error {
	f := c.f
	root, err := f.tree(name)
	if err != nil {
		return err
	}
	var cuts []tree.Splice
	cut := func(n *tree.Node, what string) {
		cuts = append(cuts, tree.Splice{From: n.From, To: n.To})
		c.removed[what]++
	}
	type open struct {
		nodes []*tree.Node
		instr strings.Builder
		shown bool
	}
	var fields []*open
	root.Walk(func(n *tree.Node) bool {
		switch n.Name {
		case "w:fldChar":
			switch n.Get("w:fldCharType") {
			case "begin":
				fields = append(fields, &open{nodes: []*tree.Node{n}})
			case "separate":
				if k := len(fields) - 1; k >= 0 {
					fields[k].nodes, fields[k].shown = append(fields[k].nodes, n), true
				}
			case "end":
				k := len(fields) - 1
				if k < 0 {
					break
				}
				if x := fields[k]; acts(x.instr.String()) {
					for _, part := range append(x.nodes, n) {
						cuts = append(cuts, tree.Splice{From: part.From, To: part.To})
					}
					c.removed["field that acts"]++
				}
				fields = fields[:k]
			}
		case "w:instrText", "w:delInstrText":
			if k := len(fields) - 1; k >= 0 && !fields[k].shown {
				fields[k].nodes = append(fields[k].nodes, n)
				fields[k].instr.WriteString(n.Words())
			}
		case "w:fldSimple":
			if acts(n.Get("w:instr")) {
				c.removed["field that acts"]++
				cuts = append(cuts, tree.Splice{From: n.From, To: n.In}, tree.Splice{From: n.Out, To: n.To})
			}
		case "w:dataBinding", "w15:dataBinding":
			cut(n, "binding to custom XML")
		case "a:hlinkClick", "a:hlinkHover", "a:hlinkMouseOver":
			if action := strings.ToLower(n.Get("action")); strings.HasPrefix(action, "ppaction://program") || strings.HasPrefix(action, "ppaction://macro") || strings.HasPrefix(action, "ppaction://ole") {
				cut(n, "action that starts a program")
			}
		case "w:docVars", "p:custDataLst":
			cut(n, "hidden data")
		case "w:t", "a:t":
			was := n.Words()
			if now := strings.Map(unhidden, was); now != was {
				cuts = append(cuts, tree.Splice{From: n.In, To: n.Out, With: tree.Escape(now)})
				c.removed["character that hides or reorders text"] += len([]rune(was)) - len([]rune(now))
			}
		}
		return true
	})
	return f.splice(name, cuts)
}

// unhidden drops characters that a reader does not see and that change what is seen: overrides of direction, and tags,
// which can carry instructions.
func unhidden(r rune) rune {
	if r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r >= 0xe0000 && r <= 0xe007f {
		return -1
	}
	return r
}

// inner cleans a file within the file.
func (c *cleaner) inner(ctx context.Context, name string) error {
	data, err := c.f.part(name)
	if err != nil {
		return err
	}
	req := *c.f.r
	req.In = media.Identify(media.Payload{Data: data, Name: path.Base(name)})
	req.Op = "sanitize"
	do := sheet.Do
	if req.In.MIME == docxMIME || req.In.MIME == pptxMIME {
		do = sanitize
	}
	res, err := do(ctx, &req)
	if err != nil {
		return fmt.Errorf("clean the embedded file %s: %w", path.Base(name), err)
	}
	if res.Counts.Removed > 0 {
		c.removed["part of an embedded file"] += res.Counts.Removed
		c.f.set(name, res.Media.Data)
	}
	return nil
}

// plainTypes makes a file that had macros one that has none.
func (c *cleaner) plainTypes() (bool, error) {
	root, err := c.f.tree(typesPart)
	if err != nil {
		return false, err
	}
	var cuts []tree.Splice
	for _, k := range root.Kids {
		a := k.Find("ContentType")
		if a == nil || !strings.Contains(a.Val, "macroEnabled") {
			continue
		}
		kind := wType + "document.main+xml"
		switch {
		case strings.Contains(a.Val, "ms-word.template"):
			kind = wType + "template.main+xml"
		case strings.Contains(a.Val, "powerpoint.slideshow"):
			kind = pType + "slideshow.main+xml"
		case strings.Contains(a.Val, "powerpoint"):
			kind = pType + "presentation.main+xml"
		}
		cuts = append(cuts, tree.Splice{From: a.VFrom, To: a.VTo, With: kind})
	}
	return len(cuts) > 0, c.f.splice(typesPart, cuts)
}
