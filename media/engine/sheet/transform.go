package sheet

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/media"
)

// header is the header row of a table.
type header struct {
	row   int
	names []string
}

// column returns the index of a column from 0 by its header.
func (h *header) column(name string) (int, error) {
	if k := slices.Index(h.names, name); k >= 0 {
		return k, nil
	}
	if k := slices.IndexFunc(h.names, func(n string) bool { return same(strings.TrimSpace(n), strings.TrimSpace(name)) }); k >= 0 {
		return k, nil
	}
	var have []string
	for _, n := range h.names {
		if n != "" {
			have = append(have, strconv.Quote(n))
		}
	}
	return 0, media.Failf("there is no column %q in row %d; there are %s.", name, h.row, strings.Join(have, ", "))
}

// transform renames, drops and chooses columns of a table by header.
func transform(b *book) error {
	i, err := b.find(b.r.Args["sheet"])
	if err != nil {
		return err
	}
	h := header{row: 1}
	if n, ok := b.r.Args["header_row"].(float64); ok {
		h.row = int(n)
	}
	rows, err := b.read(i)
	if err != nil {
		return err
	}
	if h.row > len(rows) {
		return media.Failf("the sheet %q has %d rows, so row %d is no header.", b.sheets[i].name, len(rows), h.row)
	}
	h.names = slices.Clone(rows[h.row-1])
	cells, err := b.renamed(&h)
	if err != nil {
		return err
	}
	width := 0
	for _, r := range rows {
		width = max(width, len(r))
	}
	order, err := b.chosen(&h, width)
	if err != nil {
		return err
	}
	if len(cells) > 0 {
		if err := b.write(i, cells); err != nil {
			return err
		}
	}
	counts := media.Counts{Modified: len(cells), Removed: width - len(order)}
	if len(order) < width || !slices.IsSorted(order) {
		to := make([]int, width+1)
		for n, c := range order {
			to[c] = n + 1
		}
		shift := len(order) - width
		if err := b.move(i, &remap{cols: true, moved: true, to: func(c int) int {
			if c <= width {
				return to[c]
			}
			return c + shift
		}}); err != nil {
			return err
		}
	}
	b.counts = counts
	return nil
}

// renamed returns the header cells that rename= changes, and changes the names.
func (b *book) renamed(h *header) (map[pos]val, error) {
	cells := map[pos]val{}
	raw, ok := b.r.Args["rename"].(json.RawMessage)
	if !ok {
		return cells, nil
	}
	var list []struct{ From, To string }
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, media.Failf(`rename is no list such as [{"from":"Total","to":"Sum"}]: %v.`, err)
	}
	for _, r := range list {
		k, err := h.column(r.From)
		if err != nil {
			return nil, err
		}
		h.names[k] = r.To
		q, _ := json.Marshal(r.To) // a string always encodes
		cells[pos{h.row, k + 1}] = val{raw: q, text: true}
	}
	return cells, nil
}

// chosen returns the columns that drop= and select= leave, from 1, in their new order.
func (b *book) chosen(h *header, width int) ([]int, error) {
	drop, _ := b.r.Args["drop"].([]string)
	var gone, order []int
	for _, name := range drop {
		k, err := h.column(name)
		if err != nil {
			return nil, err
		}
		gone = append(gone, k+1)
	}
	names, choosing := b.r.Args["select"].([]string)
	for _, name := range names {
		k, err := h.column(name)
		switch {
		case err != nil:
			return nil, err
		case slices.Contains(gone, k+1):
			return nil, media.Failf("the column %q is both dropped and selected.", name)
		case slices.Contains(order, k+1):
			return nil, media.Failf("the column %q is selected twice.", name)
		}
		order = append(order, k+1)
	}
	for c := 1; c <= width && !choosing; c++ {
		if !slices.Contains(gone, c) {
			order = append(order, c)
		}
	}
	if len(order) == 0 {
		return nil, media.Failf("no column would be left.")
	}
	return order, nil
}
