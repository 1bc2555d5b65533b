package ooxml

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// shared are the kinds of parts that the copy of a slide has in common with it.
var shared = []string{"slideLayout", "slideMaster", "theme", "image", "media", "video", "audio", "hyperlink", "notesMaster", "font", "tableStyles", "commentAuthors"}

// copySlide adds a copy of a slide with its notes, charts and other parts of its own.
func (f *file) copySlide(s slide) (slide, error) {
	part, err := f.graft(f, s.part, map[string]string{}, func(rel *relation) bool { return slices.ContainsFunc(shared, rel.is) })
	if err != nil {
		return slide{}, err
	}
	return slide{part: part}, f.freshIDs(part)
}

// freshIDs takes the marks away by which programs tell one slide from another.
func (f *file) freshIDs(part string) error {
	root, err := f.tree(part)
	if err != nil {
		return err
	}
	var cuts []tree.Splice
	for _, k := range root.All("p14:creationId") {
		if k.Parent.Name == "p:ext" {
			cuts = append(cuts, tree.Splice{From: k.Parent.From, To: k.Parent.To})
		}
	}
	return f.splice(part, cuts)
}

// graft copies a part of a file, and the parts that it leads to unless they are shared, and returns its new name. done
// holds the names of what was copied before.
func (f *file) graft(from *file, part string, done map[string]string, share func(*relation) bool) (string, error) {
	if name := done[part]; name != "" {
		return name, nil
	}
	data, err := from.part(part)
	if err != nil {
		return "", err
	}
	name := f.fresh(part)
	done[part] = name
	if err := f.addPart(name, data, from.typeOf(part)); err != nil {
		return "", err
	}
	if !from.has(relsOf(part)) {
		return name, nil
	}
	src, err := from.part(relsOf(part))
	if err != nil {
		return "", err
	}
	root, err := from.tree(relsOf(part))
	if err != nil {
		return "", err
	}
	rels, err := from.rels(part)
	if err != nil {
		return "", err
	}
	var cuts []tree.Splice
	i := 0
	for _, k := range root.Kids {
		if k.Name != "Relationship" {
			continue
		}
		rel := rels[i]
		i++
		if rel.external || !from.has(rel.target) {
			continue
		}
		target := rel.target
		if rel.is("slide") && done[target] == "" { // a link to another slide
			if f != from {
				cuts = append(cuts, tree.Splice{From: k.Find("Target").VFrom, To: k.Find("Target").VTo, With: "/" + name})
			}
			continue
		}
		if f != from || !share(&rel) {
			if target, err = f.graft(from, rel.target, done, share); err != nil {
				return "", err
			}
		}
		a := k.Find("Target")
		cuts = append(cuts, tree.Splice{From: a.VFrom, To: a.VTo, With: "/" + tree.Escape(target)})
	}
	f.set(relsOf(name), tree.Apply(src, cuts))
	return name, nil
}

// merge appends the slides of other decks, with their masters where the deck has none of that name and look.
func (f *file) merge(list []slide) error {
	for _, p := range f.r.With {
		if p.MIME != pptxMIME {
			return media.Failf("%s is %s and not pptx; a deck can only be merged with decks. Convert it first.", p.Name, p.MIME)
		}
		req := *f.r
		req.In = p
		other, err := open(&req)
		if err != nil {
			return err
		}
		slides, err := other.slides()
		if err != nil {
			return err
		}
		done := map[string]string{}
		if err := f.adopt(other, done); err != nil {
			return err
		}
		for _, s := range slides {
			part, err := f.graft(other, s.part, done, func(*relation) bool { return false })
			if err != nil {
				return err
			}
			if len(f.to(part, "comments")) > 0 {
				f.warn("Comments of %s came along; their authors are not listed in the deck.", p.Name)
			}
			list = append(list, slide{part: part})
			f.counts.Added++
		}
		if a, b := f.size(), other.size(); a != b {
			f.warn("The slides of %s are %s and the deck is %s; they keep their positions and may not fill the slide.", p.Name, b, a)
		}
	}
	if err := f.registerMasters(); err != nil {
		return err
	}
	return f.arrange(list)
}

// size tells the size of slides.
func (f *file) size() string {
	if root, err := f.tree(f.main); err == nil {
		if s := root.Child("p:sldSz"); s != nil {
			return s.Get("cx") + "×" + s.Get("cy")
		}
	}
	return ""
}

// adopt maps what both decks have: layouts that are the same bytes under the same name, and the master of notes.
func (f *file) adopt(other *file, done map[string]string) error {
	own := map[string]string{}
	for _, m := range f.to(f.main, "slideMaster") {
		data, err := f.part(m)
		if err != nil {
			return err
		}
		own[string(data)] = m
	}
	for _, m := range other.to(other.main, "slideMaster") {
		data, err := other.part(m)
		if err != nil {
			return err
		}
		mine := own[string(data)]
		a, b := f.to(mine, "slideLayout"), other.to(m, "slideLayout")
		if mine == "" || len(a) != len(b) {
			continue
		}
		done[m] = mine
		for i := range a {
			done[b[i]] = a[i]
		}
	}
	mine, theirs := f.to(f.main, "notesMaster"), other.to(other.main, "notesMaster")
	if len(mine) > 0 {
		for _, m := range theirs {
			done[m] = mine[0]
		}
	}
	return nil
}

// registerMasters lists masters that came with slides, and gives them and their layouts ids that nothing else has.
func (f *file) registerMasters() error {
	root, err := f.tree(f.main)
	if err != nil {
		return err
	}
	known := f.to(f.main, "slideMaster")
	next := int64(1) << 31
	used := func(n *tree.Node, names ...string) {
		for _, name := range names {
			for _, k := range n.All(name) {
				if id, err := strconv.ParseInt(k.Get("id"), 10, 64); err == nil {
					next = max(next, id+1)
				}
			}
		}
	}
	used(root, "p:sldMasterId")
	for _, m := range known {
		n, err := f.tree(m)
		if err != nil {
			return err
		}
		used(n, "p:sldLayoutId")
	}
	for _, m := range f.names() {
		if slices.Contains(known, m) || !strings.HasSuffix(f.typeOf(m), "slideMaster+xml") || f.zip.Has(m) {
			continue
		}
		id, err := f.addRel(f.main, "slideMaster", m)
		if err != nil {
			return err
		}
		root, err := f.tree(f.main)
		if err != nil {
			return err
		}
		list := root.Child("p:sldMasterIdLst")
		if list == nil {
			return media.Failf("%s is damaged: it lists no masters.", f.r.In.Name)
		}
		if err := f.insertLast(f.main, list, fmt.Sprintf(`<%ssldMasterId id="%d" %sid="%s"/>`, prefixOf(list), next, f.prefix(root, "r"), id)); err != nil {
			return err
		}
		next++
		n, err := f.tree(m)
		if err != nil {
			return err
		}
		var cuts []tree.Splice
		for _, k := range n.All("p:sldLayoutId") {
			if a := k.Find("id"); a != nil {
				cuts = append(cuts, tree.Splice{From: a.VFrom, To: a.VTo, With: strconv.FormatInt(next, 10)})
				next++
			}
		}
		if err := f.splice(m, cuts); err != nil {
			return err
		}
	}
	for _, m := range f.names() {
		if !strings.HasSuffix(f.typeOf(m), "notesMaster+xml") || len(f.to(f.main, "notesMaster")) > 0 {
			continue
		}
		id, err := f.addRel(f.main, "notesMaster", m)
		if err != nil {
			return err
		}
		root, err := f.tree(f.main)
		if err != nil {
			return err
		}
		list := root.Child("p:sldMasterIdLst")
		if list == nil {
			return media.Failf("%s is damaged: it lists no masters.", f.r.In.Name)
		}
		pre := prefixOf(root)
		if err := f.splice(f.main, []tree.Splice{{From: list.To, To: list.To, With: fmt.Sprintf(`<%snotesMasterIdLst><%snotesMasterId %sid="%s"/></%snotesMasterIdLst>`, pre, pre, f.prefix(root, "r"), id, pre)}}); err != nil {
			return err
		}
	}
	return nil
}
