package pdf

import (
	"maps"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// pick writes a file of some pages of a document, in the order given. A page that is named again is copied. What belongs to
// pages that are left out is left out too: links to them, fields of the form, entries of the outline, names; and what belongs to
// the whole document, unless every page stays. The document stays fit to pick from again.
func (d *document) pick(leaves []leaf, pages []int) ([]byte, error) {
	at := map[int]int{} // object numbers of pages to their place
	for i, l := range leaves {
		at[l.ref.Num] = i
		d.Set(l.ref, nil)
	}
	kept := map[int]bool{}
	for _, p := range pages {
		kept[p] = true
	}
	whole := len(kept) == len(leaves) && len(pages) == len(leaves)
	root := d.Add(nil)
	kids := object.Array{}
	used := map[int]bool{}
	widgets := map[int]bool{}
	for _, p := range pages {
		page := maps.Clone(leaves[p].dict)
		page["Parent"] = root
		if !whole {
			for _, k := range []object.Name{"B", "StructParents", "Thumb", "PieceInfo", "Metadata"} {
				delete(page, k)
			}
		}
		if list := d.Array(page["Annots"]); list != nil && !whole {
			annots := object.Array{}
			for _, a := range list {
				if a = d.relinked(a, at, kept); a != nil {
					annots = append(annots, a)
					if r, ok := a.(object.Ref); ok {
						widgets[r.Num] = true
					}
				}
			}
			page["Annots"] = annots
		}
		ref := leaves[p].ref
		if used[p] || ref.Num == 0 {
			ref = d.Add(page)
		} else {
			d.Set(ref, page)
		}
		used[p] = true
		kids = append(kids, ref)
	}
	d.Set(root, object.Dict{"Type": object.Name("Pages"), "Kids": kids, "Count": int64(len(kids))})
	catalog := object.Dict{"Type": object.Name("Catalog")}
	for _, k := range []object.Name{"Lang", "OCProperties", "ViewerPreferences", "OutputIntents", "PageMode"} {
		if v, ok := d.Catalog()[k]; ok {
			catalog[k] = v
		}
	}
	if whole {
		catalog = maps.Clone(d.Catalog())
	} else {
		d.keepNames(catalog, at, kept)
	}
	catalog["Pages"] = root
	delete(catalog, "PageLabels")
	if list := d.relabelled(pages); list != nil {
		catalog["PageLabels"] = numbered(list)
	}
	if form := d.form(); form != nil && !whole {
		form = maps.Clone(form)
		delete(form, "XFA")
		delete(form, "CO")
		met := 0
		form["Fields"] = d.fieldsOf(d.Array(form["Fields"]), widgets, 0, &met)
		catalog["AcroForm"] = form
	}
	trailer := d.Trailer
	defer func() {
		d.Trailer = trailer
		for _, l := range leaves {
			if l.ref.Num != 0 {
				d.Set(l.ref, l.dict)
			}
		}
	}()
	d.Trailer = object.Dict{"Root": d.Add(catalog)}
	if whole {
		d.Trailer["Info"] = trailer["Info"]
	}
	data, err := d.Write()
	if err != nil {
		return nil, fail(d.name, err)
	}
	return data, nil
}

// keepNames takes over the outline and the named destinations, as far as they lead to pages that stay.
func (d *document) keepNames(catalog object.Dict, at map[int]int, kept map[int]bool) {
	if o := d.keptOutline(at, kept); o != nil {
		catalog["Outlines"] = o
	}
	var list []entry
	for _, e := range d.destinations() {
		if p := d.leadsTo(e.value, at); p >= 0 && kept[p] {
			list = append(list, e)
		}
	}
	if list != nil {
		catalog["Names"] = object.Dict{"Dests": treeOf(list)}
	}
}

// relinked returns an annotation whose links lead to pages that are there; nil where nothing is left of it.
func (d *document) relinked(a object.Object, at map[int]int, kept map[int]bool) object.Object {
	v := d.Dict(a)
	if v == nil {
		return nil
	}
	action := d.Dict(v["A"])
	if v["Dest"] == nil && d.Name(action["S"]) != "GoTo" {
		if v["StructParent"] == nil && v["Popup"] == nil {
			return a
		}
		if d.Name(v["Subtype"]) == "Widget" {
			return a // others refer to it
		}
		v = maps.Clone(v)
		delete(v, "StructParent")
		return d.Add(v)
	}
	page := d.target(v, at)
	if page < 0 || !kept[page] {
		return nil
	}
	dest := d.destination(v)
	v = maps.Clone(v)
	delete(v, "A")
	delete(v, "StructParent")
	v["Dest"] = dest
	return d.Add(v)
}

// fieldsOf returns the fields that have a widget on a page that is kept, without their other widgets.
func (d *document) fieldsOf(list object.Array, widgets map[int]bool, depth int, met *int) object.Array {
	out := object.Array{}
	for _, o := range list {
		r, _ := o.(object.Ref)
		v := d.Dict(o)
		kids := d.Array(v["Kids"])
		*met++
		switch {
		case v == nil || depth > 50 || *met > mostNodes:
		case kids == nil:
			if widgets[r.Num] {
				out = append(out, o)
			}
		default:
			left := d.fieldsOf(kids, widgets, depth+1, met)
			if len(left) == 0 {
				continue
			}
			if len(left) < len(kids) {
				v = maps.Clone(v)
				v["Kids"] = left
				o = d.Add(v)
			}
			out = append(out, o)
		}
	}
	return out
}

// picked makes a file of each part, all parts of one document.
func (d *document) picked(parts [][]take, lim media.Limits) (out [][]byte, err error) {
	leaves := d.leaves()
	total := int64(0)
	for _, p := range parts {
		data, err := d.pick(leaves, p[0].pages)
		if err != nil {
			return nil, err
		}
		if total += int64(len(data)); total > lim.Unpacked {
			return nil, media.Failf("the parts together take more than the %d bytes that are allowed.", lim.Unpacked)
		}
		out = append(out, data)
	}
	return out, nil
}
