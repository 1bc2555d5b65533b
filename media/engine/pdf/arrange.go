package pdf

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/media"
)

// take is pages of one of the documents of a step, from 0.
type take struct {
	of    int
	pages []int
}

// arrange does select, reorder and split, which pick pages of one document, and merge, which joins documents.
func (e *engine) arrange(ctx context.Context, r *media.Request) (media.Result, error) {
	inputs := append([]media.Payload{r.In}, r.With...)
	var docs []*document
	var counts []int
	for i := range inputs {
		if inputs[i].MIME != mime {
			return media.Result{}, media.Failf("%s is %s; only PDF files can be appended to a PDF. Convert it to pdf first.", inputs[i].Name, inputs[i].MIME)
		}
		open := e.change
		if r.Op == "split" {
			open = e.load // the parts are new files beside the signed one
		}
		d, err := open(ctx, r, &inputs[i])
		if err != nil {
			return media.Result{}, err
		}
		docs, counts = append(docs, d), append(counts, len(d.leaves()))
	}
	parts, names, err := plan(r, docs[0], counts)
	if err != nil {
		return media.Result{}, err
	}
	total := 0
	for _, p := range parts {
		for _, t := range p {
			total += len(t.pages)
		}
	}
	if limit := r.Limits.WithDefaults().Pages; total > limit {
		return media.Result{}, media.Failf("the result would have %d pages, more than the %d that are allowed.", total, limit)
	}
	var out [][]byte
	if r.Op == "merge" {
		data, err := joined(docs)
		if err != nil {
			return media.Result{}, err
		}
		return media.Result{Media: &media.Payload{Data: data}, Warnings: docs[0].warnings}, nil
	}
	out, err = docs[0].picked(parts, r.Limits.WithDefaults())
	if err != nil {
		return media.Result{}, err
	}
	warnings := docs[0].warnings
	if r.Op != "split" {
		return media.Result{Media: &media.Payload{Data: out[0]}, Warnings: warnings}, nil
	}
	res := media.Result{Warnings: warnings}
	for i := range out {
		name := fmt.Sprintf("%s.part%d.pdf", media.Base(r.In.Name), i+1)
		if names != nil {
			name = fmt.Sprintf("%s.part%d %s.pdf", media.Base(r.In.Name), i+1, names[i])
		}
		res.List = append(res.List, media.Payload{Data: out[i], MIME: mime, Name: media.CleanName(name)})
	}
	return res, nil
}

// plan says which pages each result has.
func plan(r *media.Request, d *document, counts []int) (parts [][]take, names []string, err error) {
	n := counts[0]
	switch r.Op {
	case "select", "reorder":
		arg := map[string]string{"select": "pages", "reorder": "order"}[r.Op]
		list, limit := r.Args[arg].(media.Ints), r.Limits.WithDefaults().Pages
		if list.Len() > limit {
			return nil, nil, media.Failf("%d pages are more than the %d that are allowed.", list.Len(), limit)
		}
		nums := list.Slice()
		seen := map[int]bool{}
		for i, p := range nums {
			if p < 1 || p > n {
				return nil, nil, media.Failf("page %d does not exist; %s has %s.", p, r.In.Name, pagesOf(n))
			}
			if r.Op == "reorder" && seen[p] {
				return nil, nil, media.Failf("page %d stands twice in the order; every page must stand there once. select may repeat pages.", p)
			}
			seen[p] = true
			nums[i] = p - 1
		}
		if r.Op == "reorder" && len(nums) != n {
			var missing []int
			for p := 1; p <= n; p++ {
				if !seen[p] {
					missing = append(missing, p)
				}
			}
			return nil, nil, media.Failf("the order leaves out %s of %s; every page must stand there once. select may leave pages out.", ranges(missing), r.In.Name)
		}
		return [][]take{{{0, nums}}}, nil, nil
	case "merge":
		var all []take
		for i, c := range counts {
			all = append(all, take{i, span(0, c)})
		}
		return [][]take{all}, nil, nil
	}
	return cuts(r, d, n)
}

func pagesOf(n int) string {
	if n == 1 {
		return "one page"
	}
	return fmt.Sprintf("pages 1 to %d", n)
}

func span(from, to int) []int {
	var out []int
	for ; from < to; from++ {
		out = append(out, from)
	}
	return out
}

// cuts says where to split.
func cuts(r *media.Request, d *document, n int) (parts [][]take, names []string, err error) {
	if raw, ok := r.Args["ranges"].(json.RawMessage); ok {
		var list [][]int
		if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
			return nil, nil, media.Failf("ranges is a list of pairs of page numbers, first and last: '[[1,3],[4,6]]'.")
		}
		for _, p := range list {
			switch {
			case len(p) != 2:
				return nil, nil, media.Failf("a range is two page numbers, first and last; %v is none.", p)
			case p[0] > p[1]:
				return nil, nil, media.Failf("the range [%d,%d] runs backwards. Use [%d,%d].", p[0], p[1], p[1], p[0])
			case p[0] < 1 || p[1] > n:
				return nil, nil, media.Failf("the range [%d,%d] is outside of %s, which has %s.", p[0], p[1], r.In.Name, pagesOf(n))
			}
			parts = append(parts, []take{{0, span(p[0]-1, p[1])}})
		}
		return parts, nil, nil
	}
	if by, _ := r.Args["by"].(string); by != "section" {
		for i := range n {
			parts = append(parts, []take{{0, []int{i}}})
		}
		return parts, nil, nil
	}
	var heads []heading
	for _, h := range d.outline() {
		if h.level == 1 && h.page >= 0 {
			heads = append(heads, h)
		}
	}
	slices.SortStableFunc(heads, func(a, b heading) int { return a.page - b.page })
	if len(heads) == 0 {
		return nil, nil, media.Failf("%s has no outline whose entries lead to pages, so its sections are not known. Use split by=page, or ranges.", r.In.Name)
	}
	if heads[0].page > 0 {
		heads = append([]heading{{title: "front"}}, heads...)
	}
	for i, h := range heads {
		to := n
		if i+1 < len(heads) {
			to = max(heads[i+1].page, h.page+1) // two sections may share a page
		}
		parts = append(parts, []take{{0, span(h.page, to)}})
		name := []rune(strings.Map(func(c rune) rune {
			if strings.ContainsRune(`/\:*?"<>|`, c) {
				return '-'
			}
			return c
		}, h.title))
		names = append(names, strings.TrimSpace(string(name[:min(len(name), 60)])))
	}
	return parts, names, nil
}
