package ooxml

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
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
	var fresh []string
	for i := range order {
		if order[i].rid == "" {
			fresh = append(fresh, order[i].part)
		}
	}
	ids, err := f.addRels(f.main, "slide", fresh...) // relationships first: they change other parts
	if err != nil {
		return err
	}
	for i := range order {
		if order[i].rid == "" {
			order[i].rid, ids = ids[0], ids[1:]
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
	if err := f.cutRel(f.main, slices.Collect(maps.Keys(gone))...); err != nil {
		return err
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

// splitDeck gives a file for each slide, each section, or each range of slides.
func splitDeck(ctx context.Context, r *media.Request) (media.Result, error) {
	f, err := change(r)
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
		part := f.clone()
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
