package odf

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/text"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// updateText replaces the first place where an anchor stands: in the body, then in notes and boxes, then in headers.
func updateText(_ context.Context, r *media.Request) (media.Result, error) {
	d, err := change(r)
	if err != nil {
		return media.Result{}, err
	}
	anchor, with := r.Args["anchor"].(string), r.Args["replace"].(string)
	if anchor == "" {
		return media.Result{}, media.Failf("the anchor is empty.")
	}
	pat, err := media.NewPattern(media.Match{Text: anchor}, r.Limits.WithDefaults().Match)
	if err != nil {
		return media.Result{}, err
	}
	found, crossing := 0, false
	for _, name := range []string{"content.xml", "styles.xml"} {
		if !d.has(name) {
			continue
		}
		src, root, err := d.tree(name)
		if err != nil {
			return media.Result{}, err
		}
		for _, s := range grammar.Streams(src, visible(root)) {
			spans, err := pat.Find(s.String())
			if err != nil {
				return media.Result{}, err
			}
			for _, sp := range spans {
				if s.Crosses(sp) {
					crossing = true
					continue
				}
				if found++; found == 1 {
					d.set(name, tree.Apply(src, s.Replace(grammar, []media.Span{sp}, paragraph(with, textPrefix(root)))))
				}
			}
		}
	}
	switch {
	case found == 0 && crossing:
		return media.Result{}, media.Failf("the text %q goes over the end of a paragraph. Change one paragraph at a time.", clip(anchor))
	case found == 0:
		return media.Result{}, media.Failf("the text %q does not stand in %s. Read it with extract text and copy the words exactly.", clip(anchor), r.In.Name)
	case found > 1:
		d.warn("The text stands there %d times; only the first was replaced.", found)
	}
	d.counts.Modified = 1
	return d.done()
}

// visible returns what of a part is text for readers: the body, or headers and footers.
func visible(root *tree.Node) *tree.Node {
	if b := first(root, "office:body"); b != nil {
		return b
	}
	if b := first(root, "office:master-styles"); b != nil {
		return b
	}
	return root
}

func clip(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return s
}

// normalize brings text to the composed form of Unicode and takes blanks at the ends of paragraphs away.
func normalize(_ context.Context, r *media.Request) (media.Result, error) {
	d, err := change(r)
	if err != nil {
		return media.Result{}, err
	}
	for _, name := range d.names() {
		if path.Base(name) != "content.xml" && path.Base(name) != "styles.xml" && name != "meta.xml" {
			continue
		}
		src, root, err := d.tree(name)
		if err != nil {
			return media.Result{}, err
		}
		var cuts []tree.Splice
		root.Walk(func(n *tree.Node) bool {
			switch {
			case n.Name == "office:binary-data":
				return false
			case n.Name == "" && !norm.NFC.IsNormalString(n.Text):
				cuts = append(cuts, tree.Splice{From: n.From, To: n.To, With: tree.Escape(norm.NFC.String(n.Text))})
			case grammar.Para(n):
				cuts = append(cuts, trailing(n)...)
			}
			return true
		})
		d.counts.Modified += len(cuts)
		d.set(name, tree.Apply(src, cuts))
	}
	if d.counts.Modified == 0 {
		d.warn("It was in order already.")
	}
	return d.done()
}

// trailing takes away what is blank at the end of a paragraph.
func trailing(n *tree.Node) []tree.Splice {
	var cuts []tree.Splice
	for len(n.Kids) > 0 {
		k := n.Kids[len(n.Kids)-1]
		switch {
		case k.Name == "text:span":
			n = k
			continue
		case k.Name == "text:s" || k.Name == "text:tab":
			return append(cuts, tree.Splice{From: k.From, To: k.To})
		case k.Name == "":
			if t := strings.TrimRight(k.Text, " \t\r\n"); t != k.Text {
				cuts = append(cuts, tree.Splice{From: k.From, To: k.To, With: tree.Escape(norm.NFC.String(t))})
			}
		}
		return cuts
	}
	return cuts
}

// splitText gives every chapter as a file: from one heading of the first level to the next.
func splitText(_ context.Context, r *media.Request) (media.Result, error) {
	if by, _ := r.Args["by"].(string); by != "section" {
		return media.Result{}, &media.Error{Code: media.UnsupportedOp, Verb: "split", Message: fmt.Sprintf("%s has no pages until a program lays it out.", r.In.Name), Use: "split by=section"}
	}
	d, err := open(r)
	if err != nil {
		return media.Result{}, err
	}
	src, root, err := d.tree("content.xml")
	if err != nil {
		return media.Result{}, err
	}
	body := first(root, "office:text")
	if body == nil {
		return media.Result{}, media.Failf("%s is damaged: it has no text.", r.In.Name)
	}
	type part struct{ from, to int }
	var parts []part
	at := -1 // where the text begins, after what is declared for all of it
	for _, k := range body.Kids {
		if k.Name == "" || slices.Contains(declared, k.Name) {
			continue
		}
		if at < 0 {
			at = k.From
			parts = append(parts, part{at, body.Out})
		}
		if k.Name == "text:h" && (k.Get("text:outline-level") == "1" || k.Get("text:outline-level") == "") && k.From > at {
			parts[len(parts)-1].to = k.From
			parts = append(parts, part{k.From, body.Out})
		}
	}
	if len(parts) < 2 {
		return media.Result{}, media.Failf("%s has not two headings of the first level to split at.", r.In.Name)
	}
	if raw, ok := r.Args["ranges"].(json.RawMessage); ok {
		if parts, err = text.Ranges(raw, parts, func(p []part) part { return part{p[0].from, p[len(p)-1].to} }); err != nil {
			return media.Result{}, err
		}
	}
	var bodies [][]byte
	for _, p := range parts {
		bodies = append(bodies, tree.Apply(src, []tree.Splice{{From: at, To: p.from}, {From: p.to, To: body.Out}}))
	}
	return d.parts(bodies)
}

// declared are the elements before the text that say something for all of it.
var declared = []string{"office:forms", "text:tracked-changes", "text:variable-decls", "text:sequence-decls", "text:user-field-decls", "text:dde-connection-decls", "text:alphabetical-index-auto-mark-file"}

// parts makes a file of each content. Pictures that a part does not show are not in it.
func (d *doc) parts(bodies [][]byte) (media.Result, error) {
	own, _ := media.FormatOf(d.r.In.MIME)
	var res media.Result
	for i, b := range bodies {
		sub := &doc{r: d.r, zip: d.zip, changed: map[string][]byte{flatPart: b}, parsed: map[string]*tree.Node{}, sources: d.sources}
		if err := d.r.Limits.Err(); err != nil {
			return media.Result{}, err
		}
		if err := sub.prune(); err != nil {
			return media.Result{}, err
		}
		one, err := sub.done()
		if err != nil {
			return media.Result{}, err
		}
		one.Media.MIME, one.Media.Name = d.r.In.MIME, fmt.Sprintf("%s.part%d.%s", media.Base(d.r.In.Name), i+1, own.Token)
		res.List = append(res.List, *one.Media)
	}
	if len(d.signatures()) > 0 {
		d.warn("The file is signed; its parts are not.")
	}
	res.Warnings = d.warnings
	return res, nil
}

// prune takes away signatures, the thumbnail, and pictures and objects that nothing names.
func (d *doc) prune() error {
	if d.zip == nil {
		return nil
	}
	gone := d.signatures()
	used := map[string]bool{}
	for _, name := range []string{"content.xml", "styles.xml"} {
		if !d.has(name) {
			continue
		}
		_, root, err := d.tree(name)
		if err != nil {
			return err
		}
		root.Walk(func(n *tree.Node) bool {
			if h := strings.TrimPrefix(n.Get("xlink:href"), "./"); h != "" {
				used[h] = true
			}
			return true
		})
	}
	for _, n := range d.names() {
		top, _, _ := strings.Cut(n, "/")
		switch {
		case strings.HasPrefix(n, "Thumbnails/"),
			strings.HasPrefix(n, "Pictures/") && !used[n] && n != "Pictures/",
			strings.HasPrefix(n, "ObjectReplacements/") && !used[n] && !strings.HasSuffix(n, "/"),
			(strings.HasPrefix(n, "Object ") || strings.HasPrefix(n, "Chart")) && !used[n] && !used[top]:
			gone = append(gone, n)
		}
	}
	return d.drop(gone...)
}

// pages selects, reorders and splits the slides of a presentation.
func pages(_ context.Context, r *media.Request) (media.Result, error) {
	open := change
	if r.Op == "split" {
		open = openAny
	}
	d, err := open(r)
	if err != nil {
		return media.Result{}, err
	}
	src, root, err := d.tree("content.xml")
	if err != nil {
		return media.Result{}, err
	}
	var slides []*tree.Node
	if body := first(root, "office:presentation"); body != nil {
		for _, k := range body.Kids {
			if k.Name == "draw:page" {
				slides = append(slides, k)
			}
		}
	}
	if len(slides) == 0 {
		return media.Result{}, media.Failf("%s has no slides.", r.In.Name)
	}
	var want [][]int
	switch r.Op {
	case "split":
		for i := range slides {
			want = append(want, []int{i + 1})
		}
		if raw, ok := r.Args["ranges"].(json.RawMessage); ok {
			if want, err = text.Ranges(raw, want, func(p [][]int) []int { return slices.Concat(p...) }); err != nil {
				return media.Result{}, err
			}
		}
	default:
		list, err := numbers(r, len(slides))
		if err != nil {
			return media.Result{}, err
		}
		want = [][]int{list}
	}
	var bodies [][]byte
	for _, list := range want {
		var b bytes.Buffer
		seen := map[int]int{}
		for _, n := range list {
			p := slides[n-1]
			if seen[n]++; seen[n] == 1 {
				b.Write(src[p.From:p.To])
			} else {
				b.Write(again(src, p, seen[n]))
			}
		}
		last := slides[len(slides)-1]
		cuts := []tree.Splice{{From: slides[0].From, To: last.To, With: b.String()}}
		bodies = append(bodies, tree.Apply(src, cuts))
	}
	if r.Op == "split" {
		return d.parts(bodies)
	}
	d.set("content.xml", bodies[0])
	if err := d.prune(); err != nil {
		return media.Result{}, err
	}
	return d.done()
}

func openAny(r *media.Request) (*doc, error) { return open(r) }

// numbers returns the slides that a step names.
func numbers(r *media.Request, have int) ([]int, error) {
	arg := "pages"
	if r.Op == "reorder" {
		arg = "order"
	}
	ints, _ := r.Args[arg].(media.Ints)
	if ints.Len() > 100_000 {
		return nil, media.Failf("%s names more than 100000 slides.", arg)
	}
	list := ints.Slice()
	seen := map[int]bool{}
	for _, n := range list {
		if n < 1 || n > have {
			return nil, media.Failf("slide %d does not exist; %s has slides 1 to %d.", n, r.In.Name, have)
		}
		if seen[n] && r.Op == "reorder" {
			return nil, media.Failf("slide %d is there twice; order names every slide once, 1 to %d.", n, have)
		}
		seen[n] = true
	}
	if r.Op == "reorder" && len(list) != have {
		return nil, media.Failf("order names %d slides, and %s has %d; name every slide once.", len(list), r.In.Name, have)
	}
	return list, nil
}

// again returns a slide that stands in the file already: with another name, and without the ids and animations that name
// its shapes.
func again(src []byte, p *tree.Node, n int) []byte {
	var cuts []tree.Splice
	p.Walk(func(k *tree.Node) bool {
		if strings.HasPrefix(k.Name, "anim:") {
			cuts = append(cuts, tree.Splice{From: k.From, To: k.To})
			return false
		}
		for i := range k.Attr {
			a := &k.Attr[i]
			switch {
			case a.Name == "xml:id" || a.Name == "draw:id":
				cuts = append(cuts, tree.Splice{From: a.From, To: a.To})
			case k == p && a.Name == "draw:name":
				cuts = append(cuts, tree.Splice{From: a.VTo, To: a.VTo, With: fmt.Sprintf(" (%d)", n)})
			}
		}
		return true
	})
	for i := range cuts {
		cuts[i].From, cuts[i].To = cuts[i].From-p.From, cuts[i].To-p.From
	}
	return tree.Apply(src[p.From:p.To], cuts)
}

// describe is extract.metadata.
func describe(_ context.Context, r *media.Request) (media.Result, error) {
	d, err := open(r)
	if err != nil {
		return media.Result{}, err
	}
	m := map[string]any{}
	if meta := d.meta(); meta != nil {
		for _, k := range meta.Kids {
			_, local, _ := strings.Cut(k.Name, ":")
			switch {
			case k.Name == "meta:document-statistic":
				for _, a := range k.Attr {
					if _, n, ok := strings.Cut(a.Name, ":"); ok {
						m[strings.ReplaceAll(n, "-", "_")] = a.Val
					}
				}
			case k.Name == "meta:user-defined":
				m["custom_"+k.Get("meta:name")] = k.Words()
			case k.Name != "" && k.Words() != "":
				m[strings.ReplaceAll(local, "-", "_")] = k.Words()
			}
		}
	}
	if s := d.signatures(); len(s) > 0 {
		m["signed"] = true
	}
	for _, n := range d.names() {
		if strings.HasPrefix(n, "Basic/") || strings.HasPrefix(n, "Scripts/") {
			m["macros"] = true
		}
	}
	_, root, err := d.tree("content.xml")
	if err != nil {
		return media.Result{}, err
	}
	if b := first(root, "office:presentation"); b != nil {
		m["slide_count"] = len(b.All("draw:page"))
	}
	if b := first(root, "office:spreadsheet"); b != nil {
		book, err := d.book()
		if err != nil {
			return media.Result{}, err
		}
		var sheets []map[string]any
		for _, s := range book.Sheets {
			rows, cols := 0, 0
			for _, row := range s.Rows {
				rows = max(rows, row.N)
				for _, c := range row.Cells {
					cols = max(cols, c.Col)
				}
			}
			sheets = append(sheets, map[string]any{"name": s.Name, "rows": rows, "columns": cols})
		}
		m["sheets"] = sheets
	}
	if b := first(root, "office:text"); b != nil {
		var heads []string
		for _, h := range b.All("text:h") {
			heads = append(heads, strings.Join(strings.Fields(h.Words()), " "))
		}
		m["headings"] = heads[:min(len(heads), 100)]
		m["tracked_changes"] = len(b.All("text:changed-region"))
		m["comments"] = len(b.All("office:annotation"))
	}
	return media.Result{Read: &media.Reading{Data: m}}, nil
}

// assets gives the pictures, fonts and embedded files.
func assets(_ context.Context, r *media.Request) (media.Result, error) {
	d, err := open(r)
	if err != nil {
		return media.Result{}, err
	}
	want, _ := r.Args["types"].([]string)
	var res media.Result
	add := func(name, kind string, raw []byte) {
		if len(raw) > 0 && (len(want) == 0 || slices.Contains(want, "all") || slices.Contains(want, kind)) {
			res.List = append(res.List, media.Identify(media.Payload{Data: raw, Name: media.CleanName(name)}))
		}
	}
	for _, name := range d.names() {
		kind := ""
		switch {
		case strings.HasSuffix(name, "/"), strings.HasPrefix(name, "Pictures/TablePreview"):
		case strings.HasPrefix(name, "Pictures/"):
			kind = "image"
		case strings.HasPrefix(name, "Fonts/"):
			kind = "font"
		case strings.HasPrefix(name, "Object ") && !strings.Contains(name, "/"), strings.HasPrefix(name, "media/"), strings.HasPrefix(name, "EmbeddedDatabase/"):
			kind = "attachment"
		}
		if kind == "" {
			continue
		}
		raw, err := d.part(name)
		if err != nil {
			return media.Result{}, err
		}
		add(name, kind, raw)
	}
	if d.zip == nil {
		_, root, err := d.tree(flatPart)
		if err != nil {
			return media.Result{}, err
		}
		for i, n := range root.All("office:binary-data") {
			if raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(n.Words()), "")); err == nil {
				p := media.Identify(media.Payload{Data: raw})
				name, kind := fmt.Sprintf("embedded%d", i+1), "attachment"
				if f, ok := media.FormatOf(p.MIME); ok {
					name += "." + f.Token
				}
				if media.FamilyOf(p.MIME) == media.Image {
					kind = "image"
				}
				add(name, kind, raw)
			}
		}
	}
	if len(res.List) == 0 {
		return media.Result{}, media.Failf("%s holds no embedded files of the kind asked for.", r.In.Name)
	}
	return res, nil
}
