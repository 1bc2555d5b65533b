package ooxml

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/media/internal/tree"
)

// types is the table of the content types of parts. Changes to it are written together: a deck may lose thousands of parts in
// one step.
type types struct {
	byName, byExt map[string]string // lower case
	added         []string          // parts whose type is not written yet
	dropped       map[string]bool   // parts whose type is still written
}

func (t *types) clone() *types {
	if t == nil {
		return nil
	}
	return &types{maps.Clone(t.byName), maps.Clone(t.byExt), slices.Clone(t.added), maps.Clone(t.dropped)}
}

func (f *file) typeTable() (*types, error) {
	if f.types != nil {
		return f.types, nil
	}
	root, err := f.tree(typesPart)
	if err != nil {
		return nil, err
	}
	t := &types{byName: map[string]string{}, byExt: map[string]string{}, dropped: map[string]bool{}}
	for _, k := range root.Kids {
		table, key := t.byName, strings.TrimPrefix(k.Get("PartName"), "/")
		switch k.Name {
		case "Override":
		case "Default":
			table, key = t.byExt, k.Get("Extension")
		default:
			continue
		}
		if key = strings.ToLower(key); table[key] == "" {
			table[key] = k.Get("ContentType")
		}
	}
	f.types = t
	return t, nil
}

// typeOf returns the content type of a part.
func (f *file) typeOf(part string) string {
	t, err := f.typeTable()
	if err != nil {
		return ""
	}
	if kind, ok := t.byName[strings.ToLower(part)]; ok {
		return kind
	}
	return t.byExt[strings.ToLower(strings.TrimPrefix(path.Ext(part), "."))]
}

// addPart adds a part with its type.
func (f *file) addPart(name string, data []byte, kind string) error {
	f.stale(name)
	f.changed[name] = data
	if f.typeOf(name) == kind {
		return nil
	}
	if err := f.dropType(name); err != nil {
		return err
	}
	t, err := f.typeTable()
	if err == nil {
		t.byName[strings.ToLower(name)] = kind
		t.added = append(t.added, name)
	}
	return err
}

// dropType forgets the type of a part.
func (f *file) dropType(name string) error {
	t, err := f.typeTable()
	if err != nil {
		return err
	}
	key := strings.ToLower(name)
	if _, ok := t.byName[key]; !ok {
		return nil
	}
	delete(t.byName, key)
	if i := slices.IndexFunc(t.added, func(n string) bool { return strings.EqualFold(n, name) }); i >= 0 {
		t.added = slices.Delete(t.added, i, i+1)
		return nil
	}
	t.dropped[key] = true
	return nil
}

// flushTypes writes the changes of the table.
func (f *file) flushTypes() error {
	t := f.types
	if t == nil || len(t.added)+len(t.dropped) == 0 {
		return nil
	}
	f.types = nil // the parts below are read as they stand
	root, err := f.tree(typesPart)
	if err != nil {
		return err
	}
	var cuts []tree.Splice
	for _, k := range root.Kids {
		if k.Name == "Override" && t.dropped[strings.ToLower(strings.TrimPrefix(k.Get("PartName"), "/"))] {
			cuts = append(cuts, tree.Splice{From: k.From, To: k.To})
		}
	}
	if err := f.splice(typesPart, cuts); err != nil || len(t.added) == 0 {
		return err
	}
	if root, err = f.tree(typesPart); err != nil {
		return err
	}
	var b strings.Builder
	for _, name := range t.added {
		fmt.Fprintf(&b, `<%sOverride PartName="/%s" ContentType="%s"/>`, prefixOf(root), tree.Escape(name), tree.Escape(t.byName[strings.ToLower(name)]))
	}
	return f.insertLast(typesPart, root, b.String())
}
