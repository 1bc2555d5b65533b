package pdf

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// joiner puts the pages of documents behind those of a first one, and what belongs to pages with them: fields of forms,
// outlines, named destinations, numbers of pages, attachments, scripts of fields, layers.
type joiner struct {
	d     *document
	root  object.Ref
	kids  object.Array
	fresh []object.Ref // the pages of the document that is being added
	label []label
	named bool // some document says how its pages are numbered
	dests []entry
	trees map[object.Name][]entry // the other trees of names
	used  map[string]bool         // names of fields
}

// joinedTrees are the trees of names that are put together besides destinations.
var joinedTrees = []object.Name{"EmbeddedFiles", "JavaScript", "AP"}

// joined makes one file of documents, in order. The first stays as it is but for its pages.
func joined(docs []*document) ([]byte, error) {
	d := docs[0]
	j := &joiner{d: d, root: d.Add(nil), trees: map[object.Name][]entry{}, used: map[string]bool{}, dests: d.entries(d.Dict(d.Catalog()["Names"])["Dests"])}
	for _, k := range joinedTrees {
		j.trees[k] = d.entries(d.Dict(d.Catalog()["Names"])[k])
	}
	for _, l := range d.leaves() {
		l.dict["Parent"] = j.root
		if l.ref.Num == 0 {
			l.ref = d.Add(l.dict)
		}
		j.kids = append(j.kids, l.ref)
	}
	j.number(d, 0)
	for _, f := range d.Array(d.form()["Fields"]) {
		if name, ok := d.Resolve(d.Dict(f)["T"]).(object.String); ok {
			j.used[name.Text()] = true
		}
	}
	for _, more := range docs[1:] {
		if err := j.add(more); err != nil {
			return nil, fail(more.name, err)
		}
		d.warnings = append(d.warnings, more.warnings...)
		more.warnings = nil
	}
	c := d.Catalog()
	d.Set(j.root, object.Dict{"Type": object.Name("Pages"), "Kids": j.kids, "Count": int64(len(j.kids))})
	c["Pages"] = j.root
	if j.named {
		c["PageLabels"] = numbered(j.label)
	}
	names := cloned(d.Dict(c["Names"]))
	for k, list := range j.trees {
		if list != nil {
			names[k] = treeOf(list)
		}
	}
	if j.dests != nil {
		names["Dests"] = treeOf(j.dests)
	}
	if len(names) > 0 {
		c["Names"] = names
	}
	data, err := d.Write()
	if err != nil {
		return nil, fail(d.name, err)
	}
	return data, nil
}

// number says how the pages of a document are numbered that begin at a place: as they were.
func (j *joiner) number(d *document, at int) {
	list := d.labels()
	if len(list) == 0 || list[0].page > 0 {
		j.label = append(j.label, label{at, object.Dict{"S": object.Name("D"), "St": int64(at + 1)}})
	}
	for _, l := range list {
		j.named = true
		how := cloned(l.how)
		for k, v := range how {
			how[k] = d.Resolve(v) // of a name, a text or a number
		}
		j.label = append(j.label, label{at + l.page, how})
	}
}

// add puts a document behind what is there.
func (j *joiner) add(from *document) error {
	d := j.d
	g := d.Graft(from.File)
	leaves := from.leaves()
	refs := make([]object.Ref, len(leaves))
	for i, l := range leaves {
		refs[i] = d.Add(nil)
		if l.ref.Num != 0 {
			g.Put(l.ref.Num, refs[i])
		}
	}
	j.fresh = refs
	j.number(from, len(j.kids))
	for i, l := range leaves {
		page := maps.Clone(l.dict)
		for _, k := range []object.Name{"Parent", "B", "StructParents"} {
			delete(page, k)
		}
		o, err := g.Copy(page)
		if err != nil {
			return err
		}
		made, _ := o.(object.Dict)
		made["Parent"] = j.root
		d.Set(refs[i], made)
		j.kids = append(j.kids, refs[i])
	}
	if from.Catalog()["StructTreeRoot"] != nil {
		d.warn("The tags of %s, which say what is a heading or a table, are not kept.", from.name)
	}
	for _, step := range []func(*document, *object.Graft) error{j.outline, j.form, j.names, j.layers} {
		if err := step(from, g); err != nil {
			return err
		}
	}
	return nil
}

// outline puts the outline of a document behind what is there.
func (j *joiner) outline(from *document, g *object.Graft) error {
	d := j.d
	theirs := from.Dict(from.Catalog()["Outlines"])
	first, _ := theirs["First"].(object.Ref)
	if last, _ := from.lastOf(first); last.Num == 0 {
		return nil
	}
	ours := d.Dict(d.Catalog()["Outlines"])
	root, isRef := d.Catalog()["Outlines"].(object.Ref)
	if ours == nil || !isRef {
		if ours == nil {
			ours = object.Dict{"Type": object.Name("Outlines")}
		}
		root = d.Add(ours)
		d.Catalog()["Outlines"] = root
	}
	if r, ok := from.Catalog()["Outlines"].(object.Ref); ok {
		g.Put(r.Num, root)
	}
	o, err := g.Copy(first)
	if err != nil {
		return err
	}
	made, _ := o.(object.Ref)
	end, n := d.lastOf(made)
	for o, k := object.Object(made), 0; k < n; k++ {
		item := d.Dict(o)
		item["Parent"] = root
		o = item["Next"]
	}
	before, had := d.lastOf(ours["First"])
	if had == 0 {
		ours["First"] = made
	} else {
		d.Dict(before)["Next"] = made
		d.Dict(made)["Prev"] = before
	}
	delete(d.Dict(end), "Next")
	ours["Last"] = end
	ours["Count"] = int64(max(had, d.Int(ours["Count"], 0)) + max(n, from.Int(theirs["Count"], 0)))
	return nil
}

// names takes over named destinations, attachments and scripts; names that are in use already are given another way.
func (j *joiner) names(from *document, g *object.Graft) error {
	d := j.d
	used := map[string]bool{}
	for _, e := range j.dests {
		used[string(e.key)] = true
	}
	old := d.Dict(d.Catalog()["Dests"])
	for k := range old {
		used[string(k)] = true
	}
	to := map[object.String]object.String{}
	for _, e := range from.destinations() {
		if _, twice := to[e.key]; twice {
			continue
		}
		v, err := g.Copy(from.Resolve(e.value))
		if err != nil {
			return err
		}
		name := free(string(e.key), used)
		used[name] = true
		to[e.key] = object.String(name)
		j.dests = append(j.dests, entry{object.String(name), v})
	}
	for _, k := range joinedTrees {
		used := map[string]bool{}
		for _, e := range j.trees[k] {
			used[string(e.key)] = true
		}
		for _, e := range from.entries(from.Dict(from.Catalog()["Names"])[k]) {
			v, err := g.Copy(e.value)
			if err != nil {
				return err
			}
			name := free(string(e.key), used)
			used[name] = true
			j.trees[k] = append(j.trees[k], entry{object.String(name), v})
		}
	}
	renamed := func(o object.Object) object.Object {
		var key object.String
		switch v := d.Resolve(o).(type) {
		case object.String:
			key = v
		case object.Name:
			key = object.String(v)
		default:
			return o
		}
		if name, ok := to[key]; ok {
			return name
		}
		return o
	}
	for _, r := range append(slices.Clone(g.Made), j.fresh...) { // what leads to a name leads to its new one
		d.within(d.Get(r), func(o object.Object) {
			v, ok := o.(object.Dict)
			if !ok {
				return
			}
			if v["Dest"] != nil {
				v["Dest"] = renamed(v["Dest"])
			}
			if d.Name(v["S"]) == "GoTo" {
				v["D"] = renamed(v["D"])
			}
		}, 0)
	}
	return nil
}

// form takes over the fields of a form. Fields whose names are in use get another one, since fields of one name are one.
func (j *joiner) form(from *document, g *object.Graft) error {
	d := j.d
	theirs := from.form()
	if theirs == nil {
		return nil
	}
	if from.xfa() {
		d.warn("The XFA form of %s is not kept; its pages and plain fields are.", from.name)
	}
	ours := d.form()
	if ours == nil {
		ours = object.Dict{}
		d.Catalog()["AcroForm"] = ours
	}
	if d.xfa() {
		delete(ours, "XFA")
		d.warn("The XFA form of %s is not kept; its pages and plain fields are.", d.name)
	}
	fonts, err := j.resources(from, ours, theirs, g)
	if err != nil {
		return err
	}
	fields := slices.Clone(d.Array(ours["Fields"]))
	var changed []string
	for _, o := range from.Array(theirs["Fields"]) {
		if _, isRef := o.(object.Ref); !isRef {
			if from.Dict(o) == nil {
				continue
			}
			o = from.Add(from.Dict(o))
		}
		made, err := g.Copy(o)
		if err != nil {
			return err
		}
		field := d.Dict(made)
		if field == nil {
			continue
		}
		for _, k := range []object.Name{"DA", "Q"} { // what they have from their form
			if v := from.Resolve(theirs[k]); field[k] == nil && v != nil {
				field[k] = v
			}
		}
		j.redress(made, fonts)
		if name, ok := d.Resolve(field["T"]).(object.String); ok {
			if other := free(name.Text(), j.used); other != name.Text() {
				changed = append(changed, fmt.Sprintf("%q to %q", name.Text(), other))
				field["T"] = object.TextString(other)
				j.used[other] = true
			} else {
				j.used[other] = true
			}
		}
		fields = append(fields, made)
	}
	ours["Fields"] = fields
	if from.Resolve(theirs["NeedAppearances"]) == true {
		ours["NeedAppearances"] = true
	}
	if order := from.Array(theirs["CO"]); order != nil {
		o, err := g.Copy(order)
		if err != nil {
			return err
		}
		more, _ := o.(object.Array)
		ours["CO"] = append(slices.Clone(d.Array(ours["CO"])), more...)
	}
	if n := len(changed); n > 0 {
		said := strings.Join(changed[:min(n, 10)], ", ")
		if n > 10 {
			said += fmt.Sprintf(" and %d more", n-10)
		}
		d.warn("Fields of %s were renamed, because others have their names: %s. Scripts that name them were not changed.", from.name, said)
	}
	return nil
}

// resources takes over the fonts that fields are written in. It returns the names that are in use for others, with their
// new ones.
func (j *joiner) resources(from *document, ours, theirs object.Dict, g *object.Graft) (map[string]string, error) {
	d := j.d
	have := cloned(d.Dict(ours["DR"]))
	fonts := cloned(d.Dict(have["Font"]))
	used := map[string]bool{}
	for k := range fonts {
		used[string(k)] = true
	}
	to := map[string]string{}
	more := from.Dict(from.Dict(theirs["DR"])["Font"])
	for _, k := range slices.Sorted(maps.Keys(more)) {
		font := from.Dict(more[k])
		if same := d.Dict(fonts[k]); same != nil && d.Name(same["BaseFont"]) == from.Name(font["BaseFont"]) && same["FontDescriptor"] == nil && font["FontDescriptor"] == nil {
			continue // one that every viewer has
		}
		o, err := g.Copy(more[k])
		if err != nil {
			return nil, err
		}
		name := free(string(k), used)
		used[name] = true
		if name != string(k) {
			to[string(k)] = name
		}
		fonts[object.Name(name)] = o
	}
	if len(fonts) > 0 {
		have["Font"] = fonts
		ours["DR"] = have
	}
	return to, nil
}

// redress gives a field and those below it the new names of fonts.
func (j *joiner) redress(field object.Object, fonts map[string]string) {
	if len(fonts) > 0 {
		j.d.tree(field, func(node object.Dict) { j.rename(node, fonts) })
	}
}

func (j *joiner) rename(field object.Dict, fonts map[string]string) {
	if s, ok := j.d.Resolve(field["DA"]).(object.String); ok {
		l := object.NewLexer([]byte(s))
		var b bytes.Buffer
		for {
			o, ok := l.Next()
			if !ok {
				break
			}
			if n, isName := o.(object.Name); isName {
				if name := fonts[string(n)]; name != "" {
					o = object.Name(name)
				}
			}
			object.Print(&b, o)
			b.WriteByte(' ')
		}
		field["DA"] = object.String(strings.TrimSpace(b.String()))
	}
}

// layers takes over which layers there are and which are off.
func (j *joiner) layers(from *document, g *object.Graft) error {
	d := j.d
	o, err := g.Copy(from.Resolve(from.Catalog()["OCProperties"]))
	theirs, ok := o.(object.Dict)
	if err != nil || !ok {
		return err
	}
	ours := d.Dict(d.Catalog()["OCProperties"])
	if ours == nil {
		d.Catalog()["OCProperties"] = theirs
		return nil
	}
	add := func(a, b object.Dict, keys ...object.Name) {
		for _, k := range keys {
			if more := d.Array(b[k]); more != nil {
				a[k] = append(slices.Clone(d.Array(a[k])), more...)
			}
		}
	}
	add(ours, theirs, "OCGs")
	a, b := d.Dict(ours["D"]), d.Dict(theirs["D"])
	if a == nil {
		ours["D"] = b
	} else {
		add(a, b, "ON", "OFF", "Order", "Locked", "RBGroups", "AS")
	}
	return nil
}
