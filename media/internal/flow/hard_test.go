package flow

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/internal/race"
)

// allocated returns how many bytes a function asks for in all: what is copied again and again shows there, however fast
// the machine is.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Documents that are large, or made to be dear, cost what their size costs.
func TestDearDocuments(t *testing.T) {
	words := func(n int, text string, look func(i int, r *Run)) []Block {
		b := Block{}
		for i := range n {
			r := Run{Text: text}
			look(i, &r)
			b.Runs = append(b.Runs, r)
		}
		return []Block{b}
	}
	notes := &Doc{Blocks: []Block{{}}}
	for i := range 30_000 {
		notes.Notes = append(notes.Notes, Note{Kind: NoteKind(i % 3), Author: "A", Blocks: []Block{P("x")}})
		notes.Blocks[0].Runs = append(notes.Blocks[0].Runs, Run{Note: i + 1})
	}
	rows := make([][]Cell, 20_000)
	for i := range rows {
		rows[i] = []Cell{{Blocks: []Block{P("x")}}}
	}
	rows[0][0].ColSpan, rows[0][0].RowSpan = 1000, 65_534
	wide := [][]Cell{make([]Cell, 3000), {{Blocks: []Block{P("last")}}}}
	for i := range wide[0] {
		wide[0][i].ColSpan = 1000
	}
	most := uint64(400 << 20)
	if race.Enabled {
		most *= 5
	}
	for name, d := range map[string]*Doc{
		"runs in one style":            {Blocks: words(100_000, "word ", func(int, *Run) {})},
		"runs in turn with blanks":     {Blocks: words(100_000, " word ", func(i int, r *Run) { r.Bold = i%2 == 0 })},
		"notes":                        notes,
		"a cell that covers the table": {Blocks: []Block{{Kind: Table, Rows: rows}}},
		"cells that are wide":          {Blocks: []Block{{Kind: Table, Rows: wide}}},
	} {
		for form, write := range map[string]func() string{"txt": func() string { return d.Text(Options{}) }, "md": func() string { return d.Markdown(Options{}) }, "html": func() string { return d.HTML(Options{}) }} {
			if n := allocated(func() { write() }); n > most {
				t.Errorf("%s as %s takes %d MB", name, form, n>>20)
			}
		}
	}
}

// No cell is lost, however wide or high cells say they are.
func TestSpansThatCannotBe(t *testing.T) {
	var rows [][]Cell
	for i := range 300 {
		row := []Cell{}
		for k := range 5 {
			row = append(row, Cell{Blocks: []Block{P(fmt.Sprintf("c%d.%d", i, k))}, ColSpan: 900, RowSpan: 65_000})
		}
		rows = append(rows, row)
	}
	d := &Doc{Blocks: []Block{{Kind: Table, Rows: rows}}}
	for form, s := range map[string]string{"txt": d.Text(Options{}), "md": d.Markdown(Options{}), "html": d.HTML(Options{})} {
		for i := range 300 {
			for k := range 5 {
				if !strings.Contains(s, fmt.Sprintf("c%d.%d", i, k)) {
					t.Fatalf("%s lost c%d.%d", form, i, k)
				}
			}
		}
	}
}

// A page is read to its deepest element, or refused; nothing is left out in silence.
func TestNestedPages(t *testing.T) {
	for _, n := range []int{100, 399, 450, 505, 600, 50_000} {
		for _, el := range []string{"div", "b", "blockquote", "font", "table><tr><td", "ul><li"} {
			d, err := ReadHTML(strings.Repeat("<"+el+">", n) + "deepest")
			if err != nil {
				if n < 100 {
					t.Error(n, el, err)
				}
				continue
			}
			for form, s := range map[string]string{"txt": d.Text(Options{}), "md": d.Markdown(Options{}), "html": d.HTML(Options{})} {
				if !strings.Contains(s, "deepest") {
					t.Errorf("%d × %s as %s lost its word", n, el, form)
				}
			}
		}
	}
}

func TestFormulas(t *testing.T) {
	for page, want := range map[string]string{
		`<p>a <math><mfrac><mn>1</mn><mn>2</mn></mfrac></math> b`:                                                                                  "a 1/2 b\n",
		`<math><mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><mi>b</mi></mfrac></math>`:                                                        "(a+1)/b\n",
		`<math><msup><mi>x</mi><mn>10</mn></msup><msubsup><mi>y</mi><mi>i</mi><mrow><mi>n</mi><mi>k</mi></mrow></msubsup>`:                         "x^10y_i^(nk)\n",
		`<math><semantics><mroot><mi>x</mi><mn>3</mn></mroot><annotation>no</annotation></semantics><msqrt><mn>2</mn></msqrt>`:                     "3√x√2\n",
		`<math><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr><mtr><mtd><mn>0</mn></mtd><mtd><mn>1</mn></mtd></mtr></mtable></math>`: "[1, 0; 0, 1]\n",
		`<p>x<svg><title>t</title><text>one <tspan>two</tspan></text><style>no</style></svg>`:                                                      "x\n\none two\n",
	} {
		d, err := ReadHTML(page)
		if got := d.Text(Options{}); err != nil || got != want {
			t.Errorf("%s: got %q, want %q, %v", page, got, want, err)
		}
	}
}
