package ooxml

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/sheet"
	"github.com/tackle-dev/tackle/media/engine/text"
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
	return sanitizeAt(ctx, r, 0)
}

func sanitizeAt(ctx context.Context, r *media.Request, depth int) (media.Result, error) {
	f, err := change(r)
	if err != nil {
		return media.Result{}, err
	}
	f.depth = depth
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
		case "svg":
			err = c.drawing(ctx, name)
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
	if len(words) == 0 {
		return false
	}
	kind := strings.ToUpper(strings.Trim(words[0], `"{}`))
	return slices.Contains(fieldsThatAct, kind) || kind == "HYPERLINK" && unsafeLink(fieldLink(instr))
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
	fields := fieldCleaner{}
	root.Walk(func(n *tree.Node) bool {
		for _, part := range fields.see(n) {
			cuts = append(cuts, tree.Splice{From: part.From, To: part.To})
		}
		switch n.Name {
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
	if fields.acted > 0 {
		c.removed["field that acts"] += fields.acted
	}
	return f.splice(name, cuts)
}

// fieldCleaner follows the fields of a part: begin, instruction, separate, result, end. Fields stand within the instruction
// of others, whose words they then make up.
type fieldCleaner struct {
	open  []*openField
	acted int
}

type openField struct {
	nodes []*tree.Node // what goes with the field if it acts: its marks and its instruction
	instr strings.Builder
	made  bool // another field makes up the first word of the instruction
	shown bool // the result has begun
}

// see follows an element, and returns what is to go with the field that ends there, if that acts. A field whose kind another
// field makes up can be of any kind.
func (c *fieldCleaner) see(n *tree.Node) []*tree.Node {
	kind := ""
	switch n.Name {
	case "w:fldChar":
		if kind = n.Get("w:fldCharType"); kind == "begin" {
			if k := len(c.open) - 1; k >= 0 && !c.open[k].shown && strings.Trim(c.open[k].instr.String(), " \t\n\"{") == "" {
				c.open[k].made = true
			}
			c.open = append(c.open, &openField{})
		}
	case "w:instrText", "w:delInstrText", "w:t", "w:delText":
	default:
		return nil
	}
	k := len(c.open) - 1
	if k < 0 {
		return nil
	}
	for i, x := range c.open { // all whose instruction it stands in
		if !x.shown || i == k && kind != "" {
			x.nodes = append(x.nodes, n)
		}
	}
	x := c.open[k]
	switch {
	case kind == "separate":
		x.shown = true
	case kind == "end":
		nodes, acting := x.nodes, x.made || acts(x.instr.String())
		if c.open = c.open[:k]; acting {
			c.acted++
			return nodes
		}
	case !x.shown && (n.Name == "w:instrText" || n.Name == "w:delInstrText"):
		x.instr.WriteString(n.Words())
	}
	return nil
}

// drawing cleans a picture in SVG.
func (c *cleaner) drawing(ctx context.Context, name string) error {
	data, err := c.f.part(name)
	if err != nil {
		return err
	}
	if data, err = unzipped(name, data); err != nil {
		return err
	}
	for _, e := range text.Engine().Edit {
		if !slices.Contains(e.Ops, "sanitize") {
			continue
		}
		res, err := e.Do(ctx, &media.Request{In: media.Payload{Data: data, MIME: "image/svg+xml", Name: path.Base(name)}, Op: "sanitize", Args: map[string]any{}, Limits: c.f.r.Limits})
		if err != nil {
			return err
		}
		if n := res.Counts.Removed; n > 0 {
			c.removed["active or remote part of an SVG picture"] += n
			c.f.set(name, res.Media.Data)
		}
	}
	return nil
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
		if c.f.depth >= deepestEmbedding {
			return c.f.tooDeep()
		}
		do = func(ctx context.Context, r *media.Request) (media.Result, error) {
			return sanitizeAt(ctx, r, c.f.depth+1)
		}
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
