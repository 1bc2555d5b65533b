package pdf

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// entry is an entry of a tree of names.
type entry struct {
	key   object.String
	value object.Object
}

// entries returns the entries of a tree of names, the first of each name.
func (d *document) entries(tree object.Object) []entry {
	var out []entry
	seen := map[object.String]bool{}
	d.names(tree, func(k object.String, v object.Object) {
		if !seen[k] && len(out) < 1_000_000 {
			seen[k] = true
			out = append(out, entry{k, v})
		}
	})
	return out
}

// destinations returns the named destinations of a document, of both kinds.
func (d *document) destinations() []entry {
	out := d.entries(d.Dict(d.Catalog()["Names"])["Dests"])
	old := d.Dict(d.Catalog()["Dests"])
	for _, k := range slices.Sorted(maps.Keys(old)) {
		out = append(out, entry{object.String(k), old[k]})
	}
	return out
}

// treeOf makes a tree of names, of one node.
func treeOf(list []entry) object.Dict {
	slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	names := object.Array{}
	for _, e := range list {
		names = append(names, e.key, e.value)
	}
	return object.Dict{"Names": names}
}

// leadsTo returns the page that a destination shows; -1 where that is none of pages.
func (d *document) leadsTo(dest object.Object, pages map[int]int) int {
	return d.target(object.Dict{"Dest": dest}, pages)
}

// label says how a run of pages is numbered. Pages count from 0.
type label struct {
	page int
	how  object.Dict
}

// labels returns how the pages of a document are numbered, in order; nil where it does not say.
func (d *document) labels() []label {
	var out []label
	d.tree(d.Catalog()["PageLabels"], func(node object.Dict) {
		nums := d.Array(node["Nums"])
		for i := 0; i+1 < len(nums); i += 2 {
			if how := d.Dict(nums[i+1]); how != nil {
				out = append(out, label{d.Int(nums[i], 0), how})
			}
		}
	})
	slices.SortStableFunc(out, func(a, b label) int { return cmp.Compare(a.page, b.page) })
	return out
}

// numbered writes how pages are numbered.
func numbered(list []label) object.Dict {
	nums := object.Array{}
	for _, l := range list {
		nums = append(nums, int64(l.page), l.how)
	}
	return object.Dict{"Nums": nums}
}

// relabelled returns how pages that were picked are numbered: as they were.
func (d *document) relabelled(pages []int) []label {
	list := d.labels()
	if list == nil {
		return nil
	}
	var out []label
	for i, p := range pages {
		k, found := slices.BinarySearchFunc(list, p, func(l label, p int) int { return cmp.Compare(l.page, p) })
		if !found {
			k--
		}
		how := object.Dict{"S": object.Name("D"), "St": int64(p + 1)}
		from := 0
		if k >= 0 {
			how, from = cloned(list[k].how), list[k].page
			how["St"] = int64(d.Int(how["St"], 1) + p - from)
		}
		if i > 0 && pages[i-1] == p-1 && (k < 0 || from < p) {
			continue // it goes on
		}
		out = append(out, label{i, how})
	}
	return out
}

// free returns a name that is not in use yet.
func free(name string, used map[string]bool) string {
	if !used[name] {
		return name
	}
	for i := 2; ; i++ {
		if try := fmt.Sprintf("%s_%d", name, i); !used[try] {
			return try
		}
	}
}
