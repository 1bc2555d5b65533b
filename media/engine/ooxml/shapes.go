package ooxml

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// shapeOps are the verbs over what stands on a slide.
var shapeOps = []string{"slides.update_text", "slides.update_table", "slides.update_image", "slides.update_chart"}

func reshape(ctx context.Context, r *media.Request) (media.Result, error) {
	f, err := change(r)
	if err != nil {
		return media.Result{}, err
	}
	list, err := f.slides()
	if err != nil {
		return media.Result{}, err
	}
	i, err := f.find(list, r.Args["slide"])
	if err != nil {
		return media.Result{}, err
	}
	switch r.Op {
	case "slides.update_text":
		err = f.updateShape(list[i].part)
	case "slides.update_table":
		err = f.updateTable(list[i].part)
	case "slides.update_image":
		err = f.updateImage(list[i].part)
	case "slides.update_chart":
		err = f.updateChart(ctx, list[i].part)
	}
	if err != nil {
		return media.Result{}, err
	}
	return f.done()
}

// shape finds the shape that the argument placeholder names, among those that are able; none means the first of them.
func (f *file) shape(part, what string, able func(*shape) bool) (*shape, error) {
	root, err := f.tree(part)
	if err != nil {
		return nil, err
	}
	name, named := f.r.Args["placeholder"].(string)
	var names []string
	all := shapes(root)
	for i := range all {
		s := &all[i]
		if !able(s) {
			continue
		}
		names = append(names, strconv.Quote(s.name))
		if !named || strings.EqualFold(s.name, name) {
			return s, nil
		}
	}
	if named { // the kind of a placeholder will do too
		for i := range all {
			if s := &all[i]; able(s) && (strings.EqualFold(s.place, name) || s.title() && strings.EqualFold(name, "title")) {
				return s, nil
			}
		}
	}
	switch {
	case len(names) == 0:
		return nil, media.Failf("the slide has no %s.", what)
	case named:
		return nil, media.Failf("the slide has no %s called %q. It has %s.", what, name, strings.Join(names, ", "))
	}
	return nil, media.Failf("the slide has no %s.", what)
}

func (f *file) updateShape(part string) error {
	s, err := f.shape(part, "shape with text", func(s *shape) bool { return s.node.Name == "p:sp" })
	if err != nil {
		return err
	}
	f.counts.Modified = 1
	text := f.r.Args["text"].(string)
	if body := s.node.Child("p:txBody"); body != nil {
		return f.setBody(part, body, text)
	}
	at := s.node.Child("p:style", "p:spPr")
	if at == nil {
		return media.Failf("the shape %q cannot hold text.", s.name)
	}
	pre := prefixOf(s.node)
	return f.splice(part, []tree.Splice{{From: at.To, To: at.To, With: "<" + pre + "txBody><a:bodyPr xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\"/>" +
		strings.ReplaceAll(paragraphsOf(text, "", "", "a:"), "<a:p>", "<a:p xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\">") + "</" + pre + "txBody>"}})
}

// setBody replaces the text of a body, a paragraph for each line, in the format that its first text had.
func (f *file) setBody(part string, body *tree.Node, text string) error {
	src, err := f.part(part)
	if err != nil {
		return err
	}
	if body.Closed() {
		return media.Failf("a text body on the slide is empty and damaged.")
	}
	raw := func(n *tree.Node) string {
		if n == nil {
			return ""
		}
		return string(src[n.From:n.To])
	}
	pre := prefixOf(body)
	props, run := "", ""
	from, to := body.Out, body.Out
	first := true
	for _, k := range body.Kids {
		if k.Name != "a:p" {
			continue
		}
		if first {
			first = false
			from, pre = k.From, prefixOf(k)
			props = raw(k.Child("a:pPr"))
			if r := find(k, "a:rPr"); r != nil {
				run = raw(r)
			} else if e := k.Child("a:endParaRPr"); e != nil {
				run = strings.ReplaceAll(raw(e), "endParaRPr", "rPr")
			}
		}
		if r := find(k, "a:rPr"); r != nil && run == "" {
			run = raw(r)
		}
		to = k.To
	}
	if first {
		pre = "a:"
		if b := body.Child("a:bodyPr"); b != nil {
			pre = prefixOf(b)
		}
	}
	return f.splice(part, []tree.Splice{{From: from, To: to, With: paragraphsOf(text, props, run, pre)}})
}

func (f *file) updateTable(part string) error {
	var updates []struct {
		Row   int             `json:"row"`
		Col   int             `json:"col"`
		Value json.RawMessage `json:"value"`
	}
	dec := json.NewDecoder(bytes.NewReader(f.r.Args["updates"].(json.RawMessage)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&updates); err != nil {
		return media.Failf(`updates is no list such as [{"row":1,"col":2,"value":"x"}]: %v.`, err)
	}
	if len(updates) == 0 {
		return media.Failf("there are no cells to set.")
	}
	for _, u := range updates {
		root, err := f.tree(part)
		if err != nil {
			return err
		}
		tbl := find(root, "a:tbl")
		if tbl == nil {
			return media.Failf("the slide has no table.")
		}
		rows := named(tbl, "a:tr")
		if u.Row < 1 || u.Row > len(rows) {
			return media.Failf("the table has rows 1 to %d, and no row %d.", len(rows), u.Row)
		}
		cells := named(rows[u.Row-1], "a:tc")
		if u.Col < 1 || u.Col > len(cells) {
			return media.Failf("row %d of the table has columns 1 to %d, and no column %d.", u.Row, len(cells), u.Col)
		}
		c := cells[u.Col-1]
		if truth(c.Get("hMerge")) || truth(c.Get("vMerge")) {
			return media.Failf("the cell in row %d, column %d is covered by one that spans it. Set that one.", u.Row, u.Col)
		}
		text := plainValue(u.Value)
		if body := c.Child("a:txBody"); body != nil && !body.Closed() {
			if err := f.setBody(part, body, text); err != nil {
				return err
			}
		} else {
			pre := prefixOf(c)
			markup := "<" + pre + "txBody><" + pre + "bodyPr/><" + pre + "lstStyle/>" + paragraphsOf(text, "", "", pre) + "</" + pre + "txBody>"
			cut := tree.Splice{From: c.In, To: c.In, With: markup}
			switch {
			case body != nil:
				cut.From, cut.To = body.From, body.To
			case c.Closed():
				cut = tree.Splice{From: c.From, To: c.To, With: "<" + c.Raw + ">" + markup + "</" + c.Raw + ">"}
			}
			if err := f.splice(part, []tree.Splice{cut}); err != nil {
				return err
			}
		}
		f.counts.Modified++
	}
	return nil
}

// plainValue writes a value of JSON as a person would.
func plainValue(raw json.RawMessage) string {
	var s string
	switch {
	case json.Unmarshal(raw, &s) == nil:
		return s
	case string(raw) == "null":
		return ""
	}
	return string(raw)
}

var pictureTypes = map[string]string{"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/bmp": "bmp", "image/tiff": "tiff"}

// updateImage gives a picture of one slide new bytes in a part of its own; other slides that show the old ones keep them.
func (f *file) updateImage(part string) error {
	with := f.r.With[0]
	ext := pictureTypes[with.MIME]
	if ext == "" {
		e := media.Failf("%s is %s, which presentations do not show. Make a png of it first.", with.Name, with.MIME)
		e.Use = "image format to=png"
		return e
	}
	s, err := f.shape(part, "picture", func(s *shape) bool { return s.node.Name == "p:pic" })
	if err != nil {
		return err
	}
	fill := s.node.Child("p:blipFill")
	var blip *tree.Node
	if fill != nil {
		blip = fill.Child("a:blip")
	}
	if blip == nil {
		return media.Failf("the picture %q has no image.", s.name)
	}
	before, err := f.reachable()
	if err != nil {
		return err
	}
	name := f.fresh(path.Dir(f.main) + "/media/image1." + ext)
	if err := f.addMedia(name, with.Data, with.MIME); err != nil {
		return err
	}
	old := blip.Get("r:embed") + blip.Get("r:link")
	id, err := f.addRel(part, "image", name)
	if err != nil {
		return err
	}
	root, err := f.tree(part)
	if err != nil {
		return err
	}
	var cuts []tree.Splice
	set := false
	for i := range blip.Attr {
		switch a := &blip.Attr[i]; a.Name {
		case "r:embed":
			cuts = append(cuts, tree.Splice{From: a.VFrom, To: a.VTo, With: id})
			set = true
		case "r:link":
			cuts = append(cuts, tree.Splice{From: a.From, To: a.To})
		}
	}
	if !set {
		at := blip.From + 1 + len(blip.Raw)
		cuts = append(cuts, tree.Splice{From: at, To: at, With: " " + f.prefix(root, "r") + `embed="` + id + `"`})
	}
	if crop := fill.Child("a:srcRect"); crop != nil {
		cuts = append(cuts, tree.Splice{From: crop.From, To: crop.To})
	}
	for _, svg := range blip.All("asvg:svgBlip") { // the same picture as a drawing
		cuts = append(cuts, tree.Splice{From: svg.Parent.From, To: svg.Parent.To})
	}
	f.checkShape(s.node, with.Data)
	if err := f.splice(part, cuts); err != nil {
		return err
	}
	src, err := f.part(part)
	if err != nil {
		return err
	}
	if !bytes.Contains(src, []byte(`"`+old+`"`)) && old != "" {
		if err := f.cutRel(part, old); err != nil {
			return err
		}
	}
	f.counts.Modified = 1
	return f.sweep(before)
}

// addMedia adds a part whose type goes by its extension.
func (f *file) addMedia(name string, data []byte, kind string) error {
	f.changed[name] = data
	if f.typeOf(name) == kind {
		return nil
	}
	root, err := f.tree(typesPart)
	if err != nil {
		return err
	}
	if f.typeOf(name) != "" {
		return f.addPart(name, data, kind)
	}
	el := fmt.Sprintf(`<%sDefault Extension="%s" ContentType="%s"/>`, prefixOf(root), strings.TrimPrefix(path.Ext(name), "."), kind)
	if root.Closed() {
		return f.insertLast(typesPart, root, el)
	}
	return f.splice(typesPart, []tree.Splice{{From: root.In, To: root.In, With: el}})
}

// checkShape says when a picture will be shown out of proportion.
func (f *file) checkShape(pic *tree.Node, data []byte) {
	cfg, _, err := image.DecodeConfig(bytes.NewReader(data))
	ext := find(pic, "a:ext")
	if x := find(pic, "a:xfrm"); x != nil {
		ext = x.Child("a:ext")
	}
	if err != nil || ext == nil {
		return
	}
	w, _ := strconv.ParseFloat(ext.Get("cx"), 64)
	h, _ := strconv.ParseFloat(ext.Get("cy"), 64)
	if w <= 0 || h <= 0 {
		return
	}
	if q := (w / h) / (float64(cfg.Width) / float64(cfg.Height)); q > 1.02 || q < 0.98 {
		f.warn("The picture has %d×%d pixels and its place on the slide other proportions; it is shown stretched.", cfg.Width, cfg.Height)
	}
}

// named returns the children with a name, in order.
func named(n *tree.Node, name string) []*tree.Node {
	return slices.DeleteFunc(slices.Clone(n.Kids), func(k *tree.Node) bool { return k.Name != name })
}
