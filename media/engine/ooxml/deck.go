package ooxml

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/text"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// deckOps are the verbs over the slides of a deck as a whole.
var deckOps = []string{"select", "reorder", "merge", "slides.add", "slides.delete", "slides.reorder", "slides.duplicate"}

// arrange does one of the deckOps.
func arrange(_ context.Context, r *media.Request) (media.Result, error) {
	f, err := change(r)
	if err != nil {
		return media.Result{}, err
	}
	list, err := f.slides()
	if err != nil {
		return media.Result{}, err
	}
	switch r.Op {
	case "select":
		err = f.pick(list, r.Args["pages"].(media.Ints).Slice())
	case "reorder", "slides.reorder":
		err = f.reorder(list, r.Args["order"].(media.Ints).Slice())
	case "slides.delete":
		err = f.deleteSlides(list, r.Args["slides"].(media.Ints).Slice())
	case "slides.duplicate":
		err = f.duplicate(list)
	case "slides.add":
		err = f.addSlide(list)
	case "merge":
		err = f.merge(list)
	}
	if err != nil {
		return media.Result{}, err
	}
	return f.done()
}

func inRange(n, count int) error {
	if n < 1 || n > count {
		return media.Failf("slide %d does not exist; the deck has slides 1 to %d.", n, count)
	}
	return nil
}

// pick keeps slides in the order given; one that stands in it twice is copied.
func (f *file) pick(list []slide, pages []int) error {
	if len(pages) > f.r.Limits.WithDefaults().Pages {
		return media.Failf("%d slides are more than the %d that are allowed.", len(pages), f.r.Limits.WithDefaults().Pages)
	}
	var order []slide
	used := map[int]bool{}
	for _, n := range pages {
		if err := inRange(n, len(list)); err != nil {
			return err
		}
		s := list[n-1]
		if used[n] {
			var err error
			if s, err = f.copySlide(s); err != nil {
				return err
			}
			f.counts.Added++
		}
		used[n] = true
		order = append(order, s)
	}
	f.counts.Removed = len(list) - len(used)
	return f.arrange(order)
}

func (f *file) reorder(list []slide, order []int) error {
	out := make([]slide, 0, len(list))
	seen := map[int]bool{}
	for _, n := range order {
		if err := inRange(n, len(list)); err != nil {
			return err
		}
		if seen[n] {
			return media.Failf("slide %d stands in the order twice. Name each of the %d slides once.", n, len(list))
		}
		seen[n] = true
		out = append(out, list[n-1])
	}
	if len(out) != len(list) {
		return media.Failf("the order names %d slides and the deck has %d. Name every one once.", len(out), len(list))
	}
	f.counts.Modified = len(out)
	return f.arrange(out)
}

func (f *file) deleteSlides(list []slide, gone []int) error {
	var keep []slide
	for _, n := range gone {
		if err := inRange(n, len(list)); err != nil {
			return err
		}
	}
	for i, s := range list {
		if !slices.Contains(gone, i+1) {
			keep = append(keep, s)
		}
	}
	if len(keep) == 0 {
		return media.Failf("that would delete all %d slides; a deck keeps at least one.", len(list))
	}
	f.counts.Removed = len(list) - len(keep)
	return f.arrange(keep)
}

// find returns the index of the slide that an argument names.
func (f *file) find(list []slide, arg any) (int, error) {
	name := ""
	switch v := arg.(type) {
	case nil:
		if len(list) == 0 {
			return 0, media.Failf("the deck has no slides. Add one: slides add.")
		}
		return 0, nil
	case media.NameOrIndex:
		if v.Index > 0 {
			return v.Index - 1, inRange(v.Index, len(list))
		}
		name = v.Name
	case string:
		name = v
	}
	var titles []string
	at := -1
	for i, s := range list {
		t := f.title(s.part)
		if strings.EqualFold(t, strings.Join(strings.Fields(name), " ")) {
			if at >= 0 {
				return 0, media.Failf("slides %d and %d are both called %q. Name the slide by its number.", at+1, i+1, name)
			}
			at = i
		}
		if t == "" {
			t = "without a title"
		} else {
			t = strconv.Quote(t)
		}
		titles = append(titles, fmt.Sprintf("%d %s", i+1, t))
	}
	if at < 0 {
		return 0, media.Failf("no slide is called %q. The slides: %s.", name, strings.Join(titles[:min(len(titles), 30)], ", "))
	}
	return at, nil
}

func (f *file) place(count, otherwise int) (int, error) {
	at := otherwise
	if n, ok := f.r.Args["at"].(float64); ok {
		at = int(n)
	}
	if at < 1 || at > count+1 {
		return 0, media.Failf("a slide can stand at 1 to %d, not at %d.", count+1, at)
	}
	return at, nil
}

func (f *file) duplicate(list []slide) error {
	i, err := f.find(list, f.r.Args["slide"])
	if err != nil {
		return err
	}
	at, err := f.place(len(list), i+2)
	if err != nil {
		return err
	}
	s, err := f.copySlide(list[i])
	if err != nil {
		return err
	}
	f.counts.Added = 1
	return f.arrange(slices.Insert(list, at-1, s))
}

// arrange makes these the slides of the deck, in this order, and removes what belongs to no slide any longer. A slide
// without an id gets one.
func (f *file) arrange(order []slide) error {
	before, err := f.reachable()
	if err != nil {
		return err
	}
	root, err := f.tree(f.main)
	if err != nil {
		return err
	}
	src, err := f.part(f.main)
	if err != nil {
		return err
	}
	next := 256
	stands := map[string]*tree.Node{} // now: the part may have changed since it was listed
	for _, k := range root.All("p:sldId") {
		stands[k.Get("id")] = k
		if n, err := strconv.Atoi(k.Get("id")); err == nil {
			next = max(next, n+1)
		}
	}
	for i := range order { // relationships first: they change other parts
		if order[i].rid == "" {
			if order[i].rid, err = f.addRel(f.main, "slide", order[i].part); err != nil {
				return err
			}
			order[i].id = strconv.Itoa(next)
			next++
		}
	}
	list := root.Child("p:sldIdLst")
	pre, rid := prefixOf(root), f.prefix(root, "r")
	var b strings.Builder
	keep := map[string]bool{}
	for _, s := range order {
		keep[s.id] = true
		if n := stands[s.id]; n != nil {
			b.Write(src[n.From:n.To])
		} else {
			fmt.Fprintf(&b, `<%ssldId id="%s" %sid="%s"/>`, pre, s.id, rid, s.rid)
		}
	}
	inner := b.String()
	var cuts []tree.Splice
	switch {
	case list == nil:
		after := root.Child("p:handoutMasterIdLst", "p:notesMasterIdLst")
		if after == nil {
			after = root.Child("p:sldMasterIdLst")
		}
		at := root.In
		if after != nil {
			at = after.To
		}
		cuts = append(cuts, tree.Splice{From: at, To: at, With: "<" + pre + "sldIdLst>" + inner + "</" + pre + "sldIdLst>"})
	case list.Closed():
		cuts = append(cuts, tree.Splice{From: list.From, To: list.To, With: "<" + list.Raw + ">" + inner + "</" + list.Raw + ">"})
	default:
		cuts = append(cuts, tree.Splice{From: list.In, To: list.Out, With: inner})
	}
	gone := map[string]bool{}
	if list != nil {
		for _, k := range list.Kids {
			if k.Name == "p:sldId" && !keep[k.Get("id")] {
				gone[k.Get("r:id")] = true
			}
		}
	}
	cuts = append(cuts, sections(root, order, src)...)
	for _, k := range root.All("p:sld") { // of a custom show
		if gone[k.Get("r:id")] {
			cuts = append(cuts, tree.Splice{From: k.From, To: k.To})
			f.warn("A slide that is gone was part of a custom show, and is no longer.")
		}
	}
	if err := f.splice(f.main, cuts); err != nil {
		return err
	}
	for id := range gone {
		if err := f.cutRel(f.main, id); err != nil {
			return err
		}
	}
	if err := f.sweep(before); err != nil {
		return err
	}
	return f.countSlides(len(order))
}

// sections keeps the lists of slides in sections: what is gone leaves, what is new joins the section of the slide before it.
func sections(root *tree.Node, order []slide, src []byte) []tree.Splice {
	lists := root.All("p14:sldIdLst")
	if len(lists) == 0 {
		return nil
	}
	home := map[string]int{}
	pre := ""
	for i, l := range lists {
		for _, k := range l.Kids {
			if k.Name == "p14:sldId" {
				home[k.Get("id")] = i
			}
		}
		pre = prefixOf(l)
	}
	inner := make([]string, len(lists))
	at := 0
	for _, s := range order {
		if i, ok := home[s.id]; ok {
			at = i
		}
		inner[at] += `<` + pre + `sldId id="` + s.id + `"/>`
	}
	var cuts []tree.Splice
	for i, l := range lists {
		open := strings.TrimRight(strings.TrimSuffix(string(src[l.From:l.In]), "/>"), ">")
		cuts = append(cuts, tree.Splice{From: l.From, To: l.To, With: open + ">" + inner[i] + "</" + l.Raw + ">"})
	}
	return cuts
}

// prefix returns the prefix, with its colon, that a file has for one of the known namespaces at its root.
func (f *file) prefix(root *tree.Node, want string) string {
	for _, a := range root.Attr {
		if p, ok := strings.CutPrefix(a.Name, "xmlns:"); ok && f.space[a.Val] == want {
			return p + ":"
		}
	}
	return want + ":"
}

// countSlides keeps the number of slides in the properties.
func (f *file) countSlides(n int) error {
	for _, part := range f.to("", "extended-properties") {
		root, err := f.tree(part)
		if err != nil {
			return err
		}
		if k := root.Child("ep:Slides"); k != nil && !k.Closed() {
			if err := f.splice(part, []tree.Splice{{From: k.In, To: k.Out, With: strconv.Itoa(n)}}); err != nil {
				return err
			}
		}
	}
	return nil
}

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
		pre := prefixOf(root)
		if err := f.splice(f.main, []tree.Splice{{From: list.To, To: list.To, With: fmt.Sprintf(`<%snotesMasterIdLst><%snotesMasterId %sid="%s"/></%snotesMasterIdLst>`, pre, pre, f.prefix(root, "r"), id, pre)}}); err != nil {
			return err
		}
	}
	return nil
}

// splitDeck gives a file for each slide, each section, or each range of slides.
func splitDeck(ctx context.Context, r *media.Request) (media.Result, error) {
	f, err := open(r)
	if err != nil {
		return media.Result{}, err
	}
	list, err := f.slides()
	if err != nil {
		return media.Result{}, err
	}
	groups := make([][]int, len(list))
	for i := range list {
		groups[i] = []int{i + 1}
	}
	if by, _ := r.Args["by"].(string); by == "section" {
		if groups, err = f.sectionGroups(list); err != nil {
			return media.Result{}, err
		}
	}
	if raw, ok := r.Args["ranges"].(json.RawMessage); ok {
		if groups, err = text.Ranges(raw, groups, func(g [][]int) []int { return slices.Concat(g...) }); err != nil {
			return media.Result{}, err
		}
	}
	var res media.Result
	for i, g := range groups {
		if err := ctx.Err(); err != nil {
			return res, err
		}
		req := *r
		part, err := change(&req)
		if err != nil {
			return res, err
		}
		if err := part.pick(list, g); err != nil {
			return res, err
		}
		data, err := part.bytes()
		if err != nil {
			return res, err
		}
		for _, w := range part.warnings {
			f.warn("%s", w)
		}
		res.List = append(res.List, media.Payload{Data: data, MIME: r.In.MIME, Name: fmt.Sprintf("%s.part%d.pptx", media.Base(r.In.Name), i+1)})
	}
	res.Warnings = f.warnings
	return res, nil
}

func (f *file) sectionGroups(list []slide) ([][]int, error) {
	root, err := f.tree(f.main)
	if err != nil {
		return nil, err
	}
	var out [][]int
	for _, l := range root.All("p14:sldIdLst") {
		var g []int
		for _, k := range l.Kids {
			for i, s := range list {
				if k.Name == "p14:sldId" && s.id == k.Get("id") {
					g = append(g, i+1)
				}
			}
		}
		if len(g) > 0 {
			out = append(out, g)
		}
	}
	if len(out) == 0 {
		e := media.Failf("%s has no sections.", f.r.In.Name)
		e.Use = "split by=page"
		return nil, e
	}
	return out, nil
}

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
