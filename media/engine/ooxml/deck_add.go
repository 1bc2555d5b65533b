package ooxml

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// addSlide makes a slide from a layout.
func (f *file) addSlide(list []slide) error {
	at, err := f.place(len(list), len(list)+1)
	if err != nil {
		return err
	}
	title, titled := f.r.Args["title"].(string)
	l, err := f.chooseLayout(list)
	if err != nil {
		return err
	}
	root, err := f.tree(l.part)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString(treeHead)
	id, done := 2, false
	for _, s := range shapes(root) {
		if !s.placeholder || s.node.Name != "p:sp" || s.place == "dt" || s.place == "ftr" || s.place == "sldNum" {
			continue
		}
		bx := box{kind: s.place, idx: s.ph, name: tree.Escape(s.name)}
		if bx.kind == "obj" && find(s.node, "p:ph").Get("type") == "" {
			bx.kind = ""
		}
		x := bx.xml(id, false)
		if s.title() && titled && !done {
			x = strings.Replace(x, `<a:p><a:endParaRPr lang="en-US"/></a:p>`, paragraphsOf(title, "", `<a:rPr lang="en-US"/>`, "a:"), 1)
			done = true
		}
		b.WriteString(x)
		id++
	}
	if titled && !done {
		bx := box{kind: "title", name: fmt.Sprintf("Title %d", id-1)}
		x := strings.Replace(bx.xml(id, false), `<a:p><a:endParaRPr lang="en-US"/></a:p>`, paragraphsOf(title, "", `<a:rPr lang="en-US" sz="3200"/>`, "a:"), 1)
		b.WriteString(strings.Replace(x, "<p:spPr></p:spPr>", `<p:spPr><a:xfrm><a:off x="457200" y="274638"/><a:ext cx="8229600" cy="914400"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr>`, 1))
		f.warn("The layout %q has no title; the title got a place at the top of the slide.", l.name)
	}
	part := f.fresh(path.Dir(f.main) + "/slides/slide1.xml")
	if err := f.addPart(part, []byte(relHead+`<p:sld `+pNS+`><p:cSld><p:spTree>`+b.String()+`</p:spTree></p:cSld><p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sld>`), pType+"slide+xml"); err != nil {
		return err
	}
	if _, err := f.addRel(part, "slideLayout", l.part); err != nil {
		return err
	}
	f.counts.Added = 1
	return f.arrange(slices.Insert(list, at-1, slide{part: part}))
}

// chooseLayout finds the layout that is asked for; otherwise one for a title with content, that of the last slide, or the
// first.
func (f *file) chooseLayout(list []slide) (layout, error) {
	all := f.layouts()
	if len(all) == 0 {
		return layout{}, media.Failf("%s has no layouts to make a slide from.", f.r.In.Name)
	}
	if name, ok := f.r.Args["layout"].(string); ok {
		var names []string
		for _, l := range all {
			if strings.EqualFold(l.name, name) {
				return l, nil
			}
			names = append(names, strconv.Quote(l.name))
		}
		return layout{}, media.Failf("there is no layout %q. The deck has %s.", name, strings.Join(names, ", "))
	}
	for _, kind := range []string{"obj", "titleOnly"} {
		for _, l := range all {
			if l.kind == kind {
				return l, nil
			}
		}
	}
	if n := len(list); n > 0 {
		for _, part := range f.to(list[n-1].part, "slideLayout") {
			for _, l := range all {
				if l.part == part {
					return l, nil
				}
			}
		}
	}
	return all[0], nil
}

// paragraphsOf writes text as paragraphs of a text body, one a line.
func paragraphsOf(text, props, run, prefix string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		b.WriteString("<" + prefix + "p>" + props)
		if line != "" {
			b.WriteString("<" + prefix + "r>" + run + "<" + prefix + "t>" + tree.Escape(line) + "</" + prefix + "t></" + prefix + "r>")
		}
		b.WriteString("</" + prefix + "p>")
	}
	return b.String()
}
