package ooxml

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/text"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// reading returns the parts that hold running text, in the order in which they are read.
func (f *file) reading() ([]string, error) {
	if !f.deck {
		out := []string{f.main}
		for _, kind := range []string{"header", "footer", "footnotes", "endnotes", "comments"} {
			for _, part := range f.to(f.main, kind) {
				if !slices.Contains(out, part) {
					out = append(out, part)
				}
			}
		}
		return out, nil
	}
	list, err := f.slides()
	if err != nil {
		return nil, err
	}
	var out, notes []string
	for _, s := range list {
		out = append(out, s.part)
		notes = append(notes, f.to(s.part, "notesSlide")...)
	}
	return append(out, notes...), nil
}

// accepted is the text that a reader sees who accepts all changes.
func (s *stream) accepted() view {
	return s.view(func(fl uint8) bool { return fl&(isDeleted|isInstr) == 0 })
}

// updateText replaces the first place where a text stands, across runs; the new words look like the first of the old ones.
func updateText(_ context.Context, r *media.Request) (media.Result, error) {
	anchor, with := r.Args["anchor"].(string), strings.ReplaceAll(r.Args["replace"].(string), "\r\n", "\n")
	if anchor == "" {
		return media.Result{}, media.Failf("the anchor is empty.")
	}
	f, err := change(r)
	if err != nil {
		return media.Result{}, err
	}
	parts, err := f.reading()
	if err != nil {
		return media.Result{}, err
	}
	count, crossing := 0, 0
	where := ""
	var cuts []tree.Splice
	for _, part := range parts {
		src, err := f.part(part)
		if err != nil {
			return media.Result{}, err
		}
		root, err := f.tree(part)
		if err != nil {
			return media.Result{}, err
		}
		for _, s := range streams(src, root) {
			if s.loose {
				continue
			}
			v := s.accepted()
			for at := 0; ; {
				k := strings.Index(v.text[at:], anchor)
				if k < 0 {
					break
				}
				k += at
				at = k + len(anchor)
				marks := make([]int32, len(s.text))
				crosses := false
				for i := k; i < at; i++ {
					marks[v.at(i)] = 1
					crosses = crosses || s.seg(v.at(i)).from < 0
				}
				if crosses {
					crossing++
					continue
				}
				if count++; count == 1 {
					where = part
					cuts = s.cut(marks, func(n *tree.Node) string { return inline(n, with, src) })
				}
			}
		}
	}
	switch {
	case count == 0 && crossing > 0:
		return media.Result{}, media.Failf("the text %q goes over the end of a paragraph. Change one paragraph at a time.", clip(anchor))
	case count == 0:
		return media.Result{}, media.Failf("the text %q does not stand in %s. Read it with extract text and copy the words exactly.", clip(anchor), r.In.Name)
	case count > 1:
		f.warn("The text stands there %d times; only the first, in %s, was replaced.", count, where)
	}
	f.counts.Modified = 1
	if err := f.splice(where, cuts); err != nil {
		return media.Result{}, err
	}
	return f.done()
}

// clip shortens quoted text to 80 characters.
func clip(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return s
}

// inline writes text as it has to stand within a text element, with line breaks as elements between two of them.
func inline(n *tree.Node, text string, src []byte) string {
	if !textElement(n) {
		return tree.Escape(strings.ReplaceAll(text, "\n", " "))
	}
	pre := prefixOf(n)
	var br string
	switch n.Name {
	case "w:t":
		br = "</" + n.Raw + "><" + pre + `br/><` + n.Raw + ` xml:space="preserve">`
	case "a:t":
		if n.Parent.Name != "a:r" {
			br = " "
			break
		}
		run := ""
		if pr := n.Parent.Child("a:rPr"); pr != nil {
			run = string(src[pr.From:pr.To])
		}
		br = "</" + n.Raw + "></" + n.Parent.Raw + "><" + pre + "br>" + run + "</" + pre + "br><" + n.Parent.Raw + ">" + run + "<" + n.Raw + ">"
	default:
		br = " "
	}
	return strings.ReplaceAll(tree.Escape(text), "\n", br)
}

// normalize composes characters and takes blanks away at the ends of paragraphs.
func normalize(_ context.Context, r *media.Request) (media.Result, error) {
	f, err := change(r)
	if err != nil {
		return media.Result{}, err
	}
	parts, err := f.reading()
	if err != nil {
		return media.Result{}, err
	}
	for _, part := range parts {
		root, err := f.tree(part)
		if err != nil {
			return media.Result{}, err
		}
		last := map[*tree.Node]bool{}
		root.Walk(func(n *tree.Node) bool {
			if n.Name == "w:p" || n.Name == "a:p" {
				if t := lastText(n); t != nil {
					last[t] = true
				}
			}
			return true
		})
		var cuts []tree.Splice
		root.Walk(func(n *tree.Node) bool {
			if n.Name != "w:t" && n.Name != "a:t" {
				return true
			}
			was := n.Words()
			now := norm.NFC.String(was)
			if last[n] {
				now = strings.TrimRight(now, " \t\n\u00a0\u3000")
			}
			if now != was {
				cuts = append(cuts, tree.Splice{From: n.In, To: n.Out, With: tree.Escape(now)})
				f.counts.Modified++
			}
			return false
		})
		if err := f.splice(part, cuts); err != nil {
			return media.Result{}, err
		}
	}
	if f.counts.Modified == 0 {
		f.warn("It was normal already.")
	}
	return f.done()
}

// lastText returns the text with which a paragraph ends, or nil if it ends with something else.
func lastText(p *tree.Node) *tree.Node {
	var last *tree.Node
	p.Walk(func(n *tree.Node) bool {
		switch n.Name {
		case "w:p", "a:p":
			return n == p
		case "w:pPr", "w:rPr", "a:pPr", "a:rPr", "a:endParaRPr":
			return false
		case "w:t", "a:t":
			if n.Words() != "" {
				last = n
			}
			return false
		case "w:tab", "w:br", "a:br", "w:drawing", "w:pict", "w:object", "w:sym", "w:footnoteReference", "w:endnoteReference", "w:noBreakHyphen", "w:delText", "w:fldChar", "m:oMath", "w:instrText":
			last = nil
		}
		return true
	})
	return last
}

// splitDoc cuts a document before each heading of the first level. A part has the notes, comments and pictures that its own
// text refers to, and no others.
func splitDoc(ctx context.Context, r *media.Request) (media.Result, error) {
	if by, _ := r.Args["by"].(string); by != "section" {
		return media.Result{}, &media.Error{Code: media.UnsupportedOp, Verb: "split", Message: fmt.Sprintf("%s has no pages until a program lays it out.", r.In.Name), Use: "split by=section"}
	}
	f, err := change(r)
	if err != nil {
		return media.Result{}, err
	}
	d := &docReader{f: f, part: f.main}
	if err := d.readStyles(); err != nil {
		return media.Result{}, err
	}
	root, err := f.tree(f.main)
	if err != nil {
		return media.Result{}, err
	}
	body := root.Child("w:body")
	if body == nil {
		return media.Result{}, media.Failf("%s is damaged: the document has no body.", r.In.Name)
	}
	var parts [][]int // children of the body by part
	blank := true
	found := false
	for i, k := range body.Kids {
		if k.Name == "" || k.Name == "w:sectPr" {
			continue
		}
		first := false
		if k.Name == "w:p" {
			_, heading, _, _ := d.shape(k)
			first = heading == 1 && strings.TrimSpace(k.Words()) != ""
			found = found || first
		}
		if first && (!blank || len(parts) > 1) || len(parts) == 0 {
			parts = append(parts, nil)
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], i)
		blank = blank && k.Name == "w:p" && strings.TrimSpace(k.Words()) == "" && find(k, "w:drawing", "w:pict") == nil
	}
	if !found {
		return media.Result{}, media.Failf("%s has no heading of the first level to split at.", r.In.Name)
	}
	if raw, ok := r.Args["ranges"].(json.RawMessage); ok {
		if parts, err = text.Ranges(raw, parts, func(p [][]int) []int { return slices.Concat(p...) }); err != nil {
			return media.Result{}, err
		}
	}
	var res media.Result
	for i, keep := range parts {
		if err := ctx.Err(); err != nil {
			return res, err
		}
		part := f.clone()
		if err := part.keepBody(keep); err != nil {
			return res, err
		}
		data, err := part.bytes()
		if err != nil {
			return res, err
		}
		res.Warnings = part.warnings
		res.List = append(res.List, media.Payload{Data: data, MIME: r.In.MIME, Name: fmt.Sprintf("%s.part%d.docx", media.Base(r.In.Name), i+1)})
	}
	return res, nil
}

// keepBody removes the other children of the body, and what only they refer to.
func (f *file) keepBody(keep []int) error {
	before, err := f.reachable()
	if err != nil {
		return err
	}
	root, err := f.tree(f.main)
	if err != nil {
		return err
	}
	body := root.Child("w:body")
	kept := map[int]bool{}
	for _, i := range keep {
		kept[i] = true
	}
	var cuts []tree.Splice
	for i, k := range body.Kids {
		if k.Name != "" && k.Name != "w:sectPr" && !kept[i] {
			cuts = append(cuts, tree.Splice{From: k.From, To: k.To})
		}
	}
	if err := f.splice(f.main, cuts); err != nil {
		return err
	}
	if root, err = f.tree(f.main); err != nil {
		return err
	}
	used := map[string]bool{} // references to notes, and ids of relationships
	root.Walk(func(n *tree.Node) bool {
		switch n.Name {
		case "w:footnoteReference", "w:endnoteReference", "w:commentReference", "w:commentRangeStart":
			used[strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(n.Name, "w:"), "Reference"), "RangeStart")+n.Get("w:id")] = true
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Name, "r:") || strings.HasPrefix(a.Name, "o:rel") {
				used["rel"+a.Val] = true
			}
		}
		return true
	})
	for _, kind := range []string{"footnote", "endnote", "comment"} {
		for _, part := range f.to(f.main, kind+"s") {
			notes, err := f.tree(part)
			if err != nil {
				return err
			}
			var cuts []tree.Splice
			for _, k := range notes.Kids {
				if t := k.Get("w:type"); k.Name == "w:"+kind && (t == "" || t == "normal") && !used[kind+k.Get("w:id")] {
					cuts = append(cuts, tree.Splice{From: k.From, To: k.To})
				}
			}
			if err := f.splice(part, cuts); err != nil {
				return err
			}
		}
	}
	rels, err := f.rels(f.main)
	if err != nil {
		return err
	}
	var gone []string
	for _, rel := range rels {
		own := slices.ContainsFunc([]string{"image", "hyperlink", "chart", "oleObject", "package", "diagramData", "diagramLayout", "diagramQuickStyle", "diagramColors", "diagramDrawing", "aFChunk", "control", "header", "footer"}, rel.is)
		if own && !used["rel"+rel.id] {
			gone = append(gone, rel.id)
		}
	}
	if err := f.cutRel(f.main, gone...); err != nil {
		return err
	}
	return f.sweep(before)
}
