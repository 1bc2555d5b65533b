package pdf

import (
	"maps"

	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// keptOutline makes an outline of the entries that lead to pages that stay, and of those that such entries stand under; nil
// where none does.
func (d *document) keptOutline(at map[int]int, kept map[int]bool) object.Object {
	seen := map[int]bool{}
	total := 0
	var build func(first object.Object, parent object.Ref, depth int) (refs []object.Ref, shown int)
	build = func(first object.Object, parent object.Ref, depth int) (refs []object.Ref, shown int) {
		for o := first; depth < 50; {
			ref, _ := o.(object.Ref)
			old, ok := d.Resolve(o).(object.Dict)
			if !ok || ref.Num != 0 && seen[ref.Num] || total > 100_000 {
				break
			}
			seen[ref.Num] = true
			total++
			item := maps.Clone(old)
			for _, k := range []object.Name{"Prev", "Next", "First", "Last", "Count", "SE", "Dest", "A"} {
				delete(item, k)
			}
			made := d.Add(item)
			page := d.target(old, at)
			stays := page >= 0 && kept[page]
			if stays {
				item["Dest"] = d.destination(old)
			}
			kids, below := build(old["First"], made, depth+1)
			if len(kids) > 0 {
				item["First"], item["Last"] = kids[0], kids[len(kids)-1]
				item["Count"] = int64(below)
				if d.Int(old["Count"], 0) < 0 {
					item["Count"], below = int64(-below), 0
				}
			}
			if stays || len(kids) > 0 {
				item["Parent"] = parent
				if n := len(refs); n > 0 {
					item["Prev"] = refs[n-1]
					d.Dict(refs[n-1])["Next"] = made
				}
				refs = append(refs, made)
				shown += 1 + below
			}
			o = old["Next"]
		}
		return refs, shown
	}
	root := d.Add(nil)
	refs, shown := build(d.Dict(d.Catalog()["Outlines"])["First"], root, 0)
	if len(refs) == 0 {
		return nil
	}
	d.Set(root, object.Dict{"Type": object.Name("Outlines"), "First": refs[0], "Last": refs[len(refs)-1], "Count": int64(shown)})
	return root
}

// lastOf returns the last entry of a level of an outline, and how many there are.
func (d *document) lastOf(first object.Object) (last object.Ref, n int) {
	seen := map[int]bool{}
	for o := first; ; {
		ref, _ := o.(object.Ref)
		item := d.Dict(o)
		if item == nil || ref.Num == 0 || seen[ref.Num] {
			return last, n
		}
		seen[ref.Num] = true
		last, n = ref, n+1
		o = item["Next"]
	}
}
