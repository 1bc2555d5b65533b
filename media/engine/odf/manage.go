package odf

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// sheets is a spreadsheet that is being changed in place.
type sheets struct {
	*doc
	src    []byte
	root   *tree.Node
	tables []*tree.Node
}

// editSheets carries out the verbs that change a spreadsheet in place. The others are done by way of xlsx.
func editSheets(_ context.Context, r *media.Request) (media.Result, error) {
	d, err := change(r)
	if err != nil {
		return media.Result{}, err
	}
	s := &sheets{doc: d}
	if s.src, s.root, err = d.tree("content.xml"); err != nil {
		return media.Result{}, err
	}
	body := first(s.root, "office:spreadsheet")
	if body == nil {
		return media.Result{}, media.Failf("%s is damaged: it has no cells.", r.In.Name)
	}
	for _, k := range body.Kids {
		if k.Name == "table:table" {
			s.tables = append(s.tables, k)
		}
	}
	do := map[string]func() error{"sheet.update_cells": s.update, "sheet.rename_sheet": s.rename, "sheet.add_sheet": s.add, "sheet.remove_sheet": s.remove, "sheet.reorder_sheets": s.reorder}[r.Op]
	if err := do(); err != nil {
		return media.Result{}, err
	}
	return d.done()
}

func (s *sheets) names() string {
	var out []string
	for _, t := range s.tables {
		out = append(out, strconv.Quote(t.Get("table:name")))
	}
	return strings.Join(out, ", ")
}

func (s *sheets) index(name string) int {
	return slices.IndexFunc(s.tables, func(t *tree.Node) bool { return strings.EqualFold(t.Get("table:name"), name) })
}

// find returns the sheet that an argument names; none means the first.
func (s *sheets) find(arg any) (int, error) {
	name := ""
	switch v := arg.(type) {
	case nil:
		if len(s.tables) > 0 {
			return 0, nil
		}
	case string:
		name = v
	case media.NameOrIndex:
		if name = v.Name; v.Index > 0 {
			if v.Index <= len(s.tables) {
				return v.Index - 1, nil
			}
			e := media.Failf("there is no sheet number %d; the file has %d: %s.", v.Index, len(s.tables), s.names())
			if i := s.index(strconv.Itoa(v.Index)); i >= 0 {
				e.Message += " One is named so: quote the name."
				e.Use = fmt.Sprintf("%s sheet=\"%d\"", strings.ReplaceAll(s.r.Op, ".", " "), v.Index)
			}
			return 0, e
		}
	}
	if i := s.index(name); i >= 0 {
		return i, nil
	}
	return 0, media.Failf("there is no sheet %q; the file has %s.", name, s.names())
}

func (s *sheets) free(name string, but int) error {
	if name == "" || len([]rune(name)) > 31 || strings.ContainsAny(name, `:\/?*[]`) || strings.HasPrefix(name, "'") || strings.HasSuffix(name, "'") {
		return media.Failf(`the name %q cannot be used: a sheet's name has 1 to 31 characters, none of : \ / ? * [ ], and no ' at its ends.`, name)
	}
	if i := s.index(name); i >= 0 && i != but {
		return media.Failf("there is a sheet %q already; the file has %s.", name, s.names())
	}
	return nil
}

func (s *sheets) add() error {
	name := s.r.Args["name"].(string)
	if err := s.free(name, -1); err != nil {
		return err
	}
	at := len(s.tables) + 1
	if n, ok := s.r.Args["at"].(float64); ok {
		at = int(n)
	}
	if at < 1 || at > len(s.tables)+1 {
		return media.Failf("the file has %d sheets, so a new one can stand at 1 to %d, not at %d.", len(s.tables), len(s.tables)+1, at)
	}
	p := prefixOf(s.root, "table")
	fresh := fmt.Sprintf(`<%[1]stable %[1]sname="%[2]s"><%[1]stable-column/><%[1]stable-row><%[1]stable-cell/></%[1]stable-row></%[1]stable>`, p, tree.Escape(name))
	to := s.tables[len(s.tables)-1].To
	if at <= len(s.tables) {
		to = s.tables[at-1].From
	}
	s.set("content.xml", tree.Apply(s.src, []tree.Splice{{From: to, To: to, With: fresh}}))
	s.counts.Added = 1
	return nil
}

func (s *sheets) remove() error {
	i, err := s.find(s.r.Args["sheet"])
	if err != nil {
		return err
	}
	if len(s.tables) == 1 {
		return media.Failf("%q is the only sheet and cannot be removed.", s.tables[0].Get("table:name"))
	}
	name := s.tables[i].Get("table:name")
	cuts := []tree.Splice{{From: s.tables[i].From, To: s.tables[i].To}}
	lost := 0
	s.root.Walk(func(n *tree.Node) bool {
		if n == s.tables[i] {
			return false
		}
		for k := range n.Attr {
			a := &n.Attr[k]
			if out, hits := renamed(a.Val, name, ""); hits > 0 && addresses(a.Name) {
				lost += hits
				if a.Name == "table:formula" {
					cuts = append(cuts, tree.Splice{From: a.VFrom, To: a.VTo, With: tree.Escape(out)})
				}
			}
		}
		return true
	})
	if lost > 0 {
		s.warn("%d references to the sheet %q lead nowhere now; formulas with them show #REF!.", lost, name)
	}
	s.set("content.xml", s.stale(tree.Apply(s.src, cuts)))
	s.counts.Removed = 1
	return nil
}

func (s *sheets) reorder() error {
	var list []json.RawMessage
	if err := json.Unmarshal(s.r.Args["order"].(json.RawMessage), &list); err != nil {
		return media.Failf(`order is no list such as ["Data",1]: %v.`, err)
	}
	var order []int
	for _, raw := range list {
		var n int
		var name string
		k := -1
		if json.Unmarshal(raw, &n) == nil && n >= 1 && n <= len(s.tables) {
			k = n - 1
		} else if json.Unmarshal(raw, &name) == nil {
			k = s.index(name)
		}
		if k < 0 || slices.Contains(order, k) {
			return media.Failf("%s names no sheet, or one that is there twice; the file has %s.", raw, s.names())
		}
		order = append(order, k)
	}
	if len(order) != len(s.tables) {
		return media.Failf("the order names %d sheets and the file has %d: %s. Name every one once.", len(order), len(s.tables), s.names())
	}
	var cuts []tree.Splice
	for i, k := range order {
		cuts = append(cuts, tree.Splice{From: s.tables[i].From, To: s.tables[i].To, With: string(s.src[s.tables[k].From:s.tables[k].To])})
	}
	s.set("content.xml", tree.Apply(s.src, cuts))
	s.counts.Modified = len(order)
	return nil
}

// addresses reports whether an attribute holds references to cells.
func addresses(attr string) bool {
	_, local, _ := strings.Cut(attr, ":")
	return strings.HasSuffix(local, "address") || strings.HasSuffix(local, "range") || slices.Contains([]string{"formula", "condition", "expression", "notify-on-update-of-ranges", "print-ranges", "apply-style-name", "buttons", "linked-cell", "source-cell-range"}, local)
}

// renamed puts another name of a sheet into references; an empty one makes #REF! of them.
func renamed(v, old, now string) (string, int) {
	var b strings.Builder
	n := 0
	for i := 0; i < len(v); {
		c := v[i]
		switch {
		case c == '"':
			k := quoted(v[i:], '"')
			b.WriteString(v[i : i+k])
			i += k
			continue
		case c == '\'':
			k := quoted(v[i:], '\'')
			if i+k < len(v) && v[i+k] == '.' && strings.ReplaceAll(strings.Trim(v[i:i+k], "'"), "''", "'") == old {
				n++
				b.WriteString(openSheet(now))
			} else {
				b.WriteString(v[i : i+k])
			}
			i += k
			continue
		case strings.HasPrefix(v[i:], old+".") && (i == 0 || strings.IndexByte("[$ (;:=~", v[i-1]) >= 0):
			n++
			b.WriteString(openSheet(now))
			i += len(old)
			continue
		}
		b.WriteByte(c)
		i++
	}
	return b.String(), n
}

func openSheet(s string) string {
	if s == "" {
		return "#REF!"
	}
	return quoteSheet(s)
}

func (s *sheets) rename() error {
	i, err := s.find(s.r.Args["sheet"])
	if err != nil {
		return err
	}
	to := s.r.Args["to"].(string)
	if err := s.free(to, i); err != nil {
		return err
	}
	old := s.tables[i].Get("table:name")
	for _, name := range s.doc.names() {
		if path.Base(name) != "content.xml" && name != "styles.xml" && name != "settings.xml" {
			continue
		}
		src, root, err := s.tree(name)
		if err != nil {
			return err
		}
		var cuts []tree.Splice
		root.Walk(func(n *tree.Node) bool {
			for k := range n.Attr {
				a := &n.Attr[k]
				switch {
				case addresses(a.Name):
					if out, hits := renamed(a.Val, old, to); hits > 0 {
						cuts = append(cuts, tree.Splice{From: a.VFrom, To: a.VTo, With: tree.Escape(out)})
					}
				case a.Val == old && (n.Name == "table:table" && a.Name == "table:name" && name == "content.xml" && n.Parent.Name == "office:spreadsheet" || n.Name == "config:config-item-map-entry" && a.Name == "config:name"):
					cuts = append(cuts, tree.Splice{From: a.VFrom, To: a.VTo, With: tree.Escape(to)})
				}
			}
			if n.Name == "svg:desc" && n.Parent.Name == "draw:g" { // where charts keep the source of a series
				if out, hits := renamed(n.Words(), old, to); hits > 0 {
					cuts = append(cuts, tree.Splice{From: n.In, To: n.Out, With: tree.Escape(out)})
				}
			}
			if n.Name == "config:config-item" && n.Get("config:name") == "ActiveTable" && n.Words() == old {
				cuts = append(cuts, tree.Splice{From: n.In, To: n.Out, With: tree.Escape(to)})
			}
			return true
		})
		s.set(name, tree.Apply(src, cuts))
	}
	s.counts.Modified = 1
	return nil
}

// stale takes the stored values of formulas away, which may be out of date; programs compute them on opening.
func (s *sheets) stale(src []byte) []byte {
	root, err := tree.Parse("content.xml", src, space, s.r.Limits)
	if err != nil {
		return src
	}
	var cuts []tree.Splice
	root.Walk(func(n *tree.Node) bool {
		if n.Name != "table:table-cell" || n.Find("table:formula") == nil || n.Find("office:value-type") == nil {
			return true
		}
		for i := range n.Attr {
			a := &n.Attr[i]
			if strings.HasPrefix(a.Name, "office:") || a.Name == "calcext:value-type" {
				cuts = append(cuts, tree.Splice{From: a.From, To: a.To})
			}
		}
		for _, k := range n.Kids {
			if k.Name == "text:p" {
				cuts = append(cuts, tree.Splice{From: k.From, To: k.To})
			}
		}
		return false
	})
	if len(cuts) > 0 {
		s.warn("Stored results of formulas were taken away, because they may be out of date; programs compute them on opening.")
	}
	return tree.Apply(src, cuts)
}
