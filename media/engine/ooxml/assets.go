package ooxml

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/flow"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// describe tells what a file says of itself.
func describe(_ context.Context, r *media.Request) (media.Result, error) {
	f, err := open(r)
	if err != nil {
		return media.Result{}, err
	}
	m := map[string]any{}
	for _, part := range f.to("", "core-properties") {
		root, err := f.tree(part)
		if err != nil {
			continue
		}
		for name, key := range map[string]string{"dc:title": "title", "dc:creator": "author", "dc:subject": "subject", "dc:description": "description", "cp:keywords": "keywords",
			"cp:lastModifiedBy": "last_modified_by", "dcterms:created": "created", "dcterms:modified": "modified", "cp:category": "category", "dc:language": "language", "cp:revision": "revision"} {
			if k := root.Child(name); k != nil && strings.TrimSpace(k.Words()) != "" {
				m[key] = strings.TrimSpace(k.Words())
			}
		}
	}
	for _, part := range f.to("", "extended-properties") {
		root, err := f.tree(part)
		if err != nil {
			continue
		}
		for name, key := range map[string]string{"ep:Application": "application", "ep:Company": "company", "ep:Manager": "manager", "ep:Template": "template"} {
			if k := root.Child(name); k != nil && strings.TrimSpace(k.Words()) != "" {
				m[key] = strings.TrimSpace(k.Words())
			}
		}
		if k := root.Child("ep:Pages"); k != nil && !f.deck {
			if n, err := strconv.Atoi(strings.TrimSpace(k.Words())); err == nil && n > 0 {
				m["page_count"] = n // as the program that saved it counted
			}
		}
	}
	rels, err := f.rels("")
	if err != nil {
		return media.Result{}, err
	}
	for _, rel := range rels {
		if strings.Contains(rel.kind, "digital-signature") {
			m["signed"] = true
		}
	}
	for _, name := range f.names() {
		if strings.HasSuffix(strings.ToLower(name), "vbaproject.bin") {
			m["macros"] = true
		}
	}
	if f.deck {
		err = f.describeDeck(m)
	} else {
		err = f.describeDoc(m)
	}
	if err != nil {
		return media.Result{}, err
	}
	return media.Result{Read: &media.Reading{Data: m}}, nil
}

func (f *file) describeDeck(m map[string]any) error {
	list, err := f.slides()
	if err != nil {
		return err
	}
	type shown struct {
		Title  string   `json:"title,omitempty"`
		Hidden bool     `json:"hidden,omitempty"`
		Shapes []string `json:"shapes,omitempty"`
	}
	var out []shown
	for _, s := range list {
		root, err := f.tree(s.part)
		if err != nil {
			return err
		}
		x := shown{Title: f.title(s.part), Hidden: root.Get("show") == "0" || root.Get("show") == "false"}
		for _, sh := range shapes(root) {
			if sh.name != "" && len(x.Shapes) < 50 {
				x.Shapes = append(x.Shapes, sh.name)
			}
		}
		out = append(out, x)
	}
	m["slide_count"], m["slides"] = len(out), out[:min(len(out), 300)]
	var layouts []string
	for _, l := range f.layouts() {
		layouts = append(layouts, l.name)
	}
	m["layouts"] = layouts
	return nil
}

func (f *file) describeDoc(m map[string]any) error {
	d, err := f.readDoc(false)
	if err != nil {
		return err
	}
	m["words"] = len(strings.Fields(d.Text(flow.Options{})))
	var heads []string
	tables := 0
	for i := range d.Blocks {
		switch b := &d.Blocks[i]; b.Kind {
		case flow.Heading:
			heads = append(heads, strings.Repeat("#", b.Level)+" "+strings.Join(strings.Fields(flow.Words(b.Runs)), " "))
		case flow.Table:
			tables++
		}
	}
	m["headings"], m["tables"] = heads[:min(len(heads), 100)], tables
	notes := map[flow.NoteKind]int{}
	for _, n := range d.Notes {
		notes[n.Kind]++
	}
	m["footnotes"], m["comments"] = notes[flow.Footnote]+notes[flow.Endnote], notes[flow.Comment]
	m["tracked_deletions"] = d.Deletions()
	return nil
}

// layout is a layout that slides can be made from.
type layout struct{ part, name, kind string }

// layouts lists the layouts in the order of the masters.
func (f *file) layouts() []layout {
	var out []layout
	for _, master := range f.to(f.main, "slideMaster") {
		for _, part := range f.to(master, "slideLayout") {
			root, err := f.tree(part)
			if err != nil {
				continue
			}
			l := layout{part: part, kind: root.Get("type")}
			if c := root.Child("p:cSld"); c != nil {
				l.name = c.Get("name")
			}
			out = append(out, l)
		}
	}
	return out
}

var assetKinds = map[string]string{
	".png": "image", ".jpg": "image", ".jpeg": "image", ".gif": "image", ".bmp": "image", ".tif": "image", ".tiff": "image", ".svg": "image", ".emf": "image", ".wmf": "image", ".webp": "image", ".ico": "image", ".wdp": "image",
	".odttf": "font", ".ttf": "font", ".otf": "font", ".fntdata": "font",
}

// assets gives the files within a file. Their names never become paths.
func assets(_ context.Context, r *media.Request) (media.Result, error) {
	f, err := open(r)
	if err != nil {
		return media.Result{}, err
	}
	want, _ := r.Args["types"].([]string)
	var res media.Result
	used := map[string]int{}
	for _, name := range f.names() {
		dir := "/" + path.Dir(name) + "/"
		kind := ""
		switch {
		case strings.Contains(dir, "/media/"):
			if kind = assetKinds[strings.ToLower(path.Ext(name))]; kind == "" {
				kind = "attachment"
			}
		case strings.Contains(dir, "/fonts/"):
			kind = "font"
		case strings.Contains(dir, "/embeddings/"):
			kind = "attachment"
		}
		if kind == "" || len(want) > 0 && !slices.Contains(want, "all") && !slices.Contains(want, kind) {
			continue
		}
		data, err := f.part(name)
		if err != nil {
			return res, err
		}
		base := media.CleanName(path.Base(name))
		if used[base]++; used[base] > 1 {
			base = strings.TrimSuffix(base, path.Ext(base)) + "-" + strconv.Itoa(used[base]) + path.Ext(base)
		}
		res.List = append(res.List, media.Identify(media.Payload{Data: data, Name: base}))
	}
	if len(res.List) == 0 {
		return res, media.Failf("%s holds no embedded files of the kind asked for.", r.In.Name)
	}
	return res, nil
}

// find returns the first element below a node with one of the names.
func find(n *tree.Node, names ...string) *tree.Node {
	var out *tree.Node
	n.Walk(func(k *tree.Node) bool {
		if out == nil && k.Name != "" && slices.Contains(names, k.Name) {
			out = k
		}
		return out == nil
	})
	return out
}
