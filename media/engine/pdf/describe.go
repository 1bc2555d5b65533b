package pdf

import (
	"context"
	"maps"
	"regexp"
	"slices"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

// heading is an entry of the outline. Level counts from 1, page from 0; -1 where it leads to none.
type heading struct {
	title string
	level int
	page  int
}

// outline returns the entries of the outline in order.
func (d *document) outline() []heading {
	pages := map[int]int{}
	for i, l := range d.leaves() {
		pages[l.ref.Num] = i
	}
	var out []heading
	seen := map[int]bool{}
	var walk func(o object.Object, level int)
	walk = func(o object.Object, level int) {
		for level < 50 && len(out) < 100_000 {
			ref, _ := o.(object.Ref)
			item, ok := d.Resolve(o).(object.Dict)
			if !ok || seen[ref.Num] {
				return
			}
			seen[ref.Num] = true
			title, _ := d.Resolve(item["Title"]).(object.String)
			out = append(out, heading{title.Text(), level, d.target(item, pages)})
			walk(item["First"], level+1)
			o = item["Next"]
		}
	}
	walk(d.Dict(d.Catalog()["Outlines"])["First"], 1)
	return out
}

// destination returns what an entry leads to, with names looked up: a page, and how it is shown.
func (d *document) destination(item object.Dict) object.Array {
	dest := d.Resolve(item["Dest"])
	if dest == nil {
		if a := d.Dict(item["A"]); d.Name(a["S"]) == "GoTo" {
			dest = d.Resolve(a["D"])
		}
	}
	switch v := dest.(type) {
	case object.Name:
		dest = d.Resolve(d.Dict(d.Catalog()["Dests"])[v])
	case object.String:
		dest = d.named(d.Dict(d.Catalog()["Names"])["Dests"], v)
	}
	if v, ok := dest.(object.Dict); ok {
		dest = d.Resolve(v["D"])
	}
	a, _ := dest.(object.Array)
	return a
}

// target returns the page that an entry leads to.
func (d *document) target(item object.Dict, pages map[int]int) int {
	if a := d.destination(item); len(a) > 0 {
		if r, ok := a[0].(object.Ref); ok {
			if i, ok := pages[r.Num]; ok {
				return i
			}
		}
	}
	return -1
}

// named looks a name up in a tree of names.
func (d *document) named(tree object.Object, key object.String) (found object.Object) {
	d.names(tree, func(k object.String, v object.Object) {
		if k == key && found == nil {
			found = d.Resolve(v)
		}
	})
	return found
}

// names visits the entries of a tree of names.
func (d *document) names(tree object.Object, visit func(k object.String, v object.Object)) {
	d.tree(tree, func(node object.Dict) {
		list := d.Array(node["Names"])
		for i := 0; i+1 < len(list); i += 2 {
			if k, ok := d.Resolve(list[i]).(object.String); ok {
				visit(k, list[i+1])
			}
		}
	})
}

// tree visits the nodes of a tree that has its nodes in Kids, each once, in order.
func (d *document) tree(root object.Object, visit func(node object.Dict)) {
	seen := map[object.Ref]bool{}
	met := 0
	var walk func(o object.Object, depth int)
	walk = func(o object.Object, depth int) {
		ref, _ := o.(object.Ref)
		node := d.Dict(o)
		if met++; node == nil || depth > 50 || ref.Num != 0 && seen[ref] || met > mostNodes {
			return
		}
		seen[ref] = true
		visit(node)
		for _, k := range d.Array(node["Kids"]) {
			walk(k, depth+1)
		}
	}
	walk(root, 0)
}

var infoKeys = map[object.Name]string{"Title": "title", "Author": "author", "Subject": "subject", "Keywords": "keywords", "Creator": "creator", "Producer": "producer"}

var dateForm = regexp.MustCompile(`^D:(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?`)

func date(s string) string {
	m := dateForm.FindStringSubmatch(s)
	if m == nil {
		return s
	}
	out := m[1] + "-" + m[2] + "-" + m[3]
	if m[4] != "" {
		out += "T" + m[4] + ":" + m[5]
		if m[6] != "" {
			out += ":" + m[6]
		}
	}
	return out
}

// describe tells what is known of a file.
func (e *engine) describe(ctx context.Context, r *media.Request) (media.Result, error) {
	m := map[string]any{}
	d, err := e.load(ctx, r, &r.In)
	if err != nil {
		if f, raw := object.Open(r.In.Data, limits(r)); raw == nil && f.Encrypted {
			m["encrypted"], m["pdf_version"] = true, f.Version
			m["note"] = "it does not open without its password; give password=\"…\""
			return media.Result{Read: &media.Reading{Data: m}}, nil
		}
		return media.Result{}, err
	}
	leaves := d.leaves()
	m["page_count"], m["pdf_version"], m["encrypted"], m["signed"] = len(leaves), d.Version, d.encrypted, d.signed()
	info := d.Dict(d.Trailer["Info"])
	for k, name := range infoKeys {
		if s, ok := d.Resolve(info[k]).(object.String); ok && s != "" {
			m[name] = s.Text()
		}
	}
	for k, name := range map[object.Name]string{"CreationDate": "created", "ModDate": "modified"} {
		if s, ok := d.Resolve(info[k]).(object.String); ok {
			m[name] = date(s.Text())
		}
	}
	if len(leaves) > 0 {
		if b := d.Numbers(leaves[0].dict["MediaBox"]); len(b) == 4 {
			m["page_size_points"] = []float64{b[2] - b[0], b[3] - b[1]}
		}
	}
	if s, ok := d.Resolve(d.Catalog()["Lang"]).(object.String); ok {
		m["language"] = s.Text()
	}
	m["tagged"] = d.Dict(d.Catalog()["MarkInfo"])["Marked"] == true
	if d.Revisions > 1 {
		m["revisions"] = d.Revisions
	}
	if d.mended || d.Repaired {
		m["damaged"] = "its cross references are broken; they were mended for reading"
	}
	var heads []string
	for _, h := range d.outline() {
		if h.level == 1 && len(heads) < 100 {
			heads = append(heads, h.title)
		}
	}
	if heads != nil {
		m["outline"] = heads
	}
	if form := d.form(); form != nil {
		m["form_fields"] = d.fields()
		if d.xfa() {
			m["xfa"] = true
		}
	}
	if found := d.hazards(); len(found) > 0 {
		m["active_content"] = slices.Sorted(maps.Keys(found))
	}
	if files := d.attachments(); len(files) > 0 {
		var names []string
		for _, f := range files {
			names = append(names, f.name)
		}
		m["attachments"] = names
	}
	return media.Result{Read: &media.Reading{Data: m}}, nil
}

// fields counts the fields of the form.
func (d *document) fields() int {
	n := 0
	d.each(func(o object.Object) {
		if v, ok := o.(object.Dict); ok && v["FT"] != nil && v["T"] != nil {
			n++
		}
	})
	return n
}
