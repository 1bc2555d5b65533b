package sheet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/tackle-dev/tackle/media"
)

func view(t testing.TB, p media.Payload) *View {
	t.Helper()
	v, err := NewView(p, media.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// window prints a window: address, text and formula of each cell.
func window(t testing.TB, v *View, sheet, row, rows, column, columns int) string {
	t.Helper()
	got, err := v.Rows(t.Context(), sheet, row, rows, column, columns)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range got {
		for _, c := range r.Cells {
			s := fmt.Sprintf("%s%d %s", Letters(c.Column), r.Row, c.Text)
			if c.Formula != "" {
				s += " (" + c.Formula + ")"
			}
			out = append(out, s)
		}
	}
	return strings.Join(out, ", ")
}

// X5, M2: a window of a sheet is the same as the part of the whole, wherever it begins.
func TestX5_WindowsOfSheets(t *testing.T) {
	p := made(t, func(f *excelize.File) {
		for i := range 300 {
			setCells(f, "Sheet1", map[string]any{fmt.Sprintf("A%d", i+1): i + 1, fmt.Sprintf("B%d", i+1): fmt.Sprintf("row %d", i+1)})
		}
		ref, kind := "C1:C200", excelize.STCellFormulaTypeShared
		if err := f.SetCellFormula("Sheet1", "C1", "A1*2+$A$1", excelize.FormulaOpts{Ref: &ref, Type: &kind}); err != nil {
			t.Fatal(err)
		}
		setCells(f, "Sheet1", map[string]any{"E5000": true, "ZZ2": "far"})
		if _, err := f.NewSheet("Empty & more"); err != nil {
			t.Fatal(err)
		}
	})
	v := view(t, p)
	if got := strings.Join(v.Names(), "|"); got != "Sheet1|Empty & more" {
		t.Errorf("sheets %s", got)
	}
	info, err := v.Sheet(t.Context(), 0)
	if err != nil || info != (ViewSheet{Name: "Sheet1", Rows: 5000, Columns: 702}) {
		t.Errorf("%+v, %v", info, err)
	}
	tests := []struct {
		row, rows, column, columns int
		want                       string
	}{
		{1, 2, 1, 3, "A1 1, B1 row 1, C1 =A1*2+$A$1 (A1*2+$A$1), A2 2, B2 row 2, C2 =A2*2+$A$1 (A2*2+$A$1)"},
		{130, 1, 3, 1, "C130 =A130*2+$A$1 (A130*2+$A$1)"},
		{2, 1, 700, 10, "ZZ2 far"},
		{299, 100, 1, 2, "A299 299, B299 row 299, A300 300, B300 row 300"},
		{301, 4000, 1, 100, ""},
		{4990, 100, 1, 100, "E5000 true"},
		{6000, 10, 1, 10, ""},
	}
	for _, tt := range tests {
		if got := window(t, v, 0, tt.row, tt.rows, tt.column, tt.columns); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
	for row := 1; row <= 310; row++ {
		want := ""
		if row <= 300 {
			want = fmt.Sprintf("A%d %d", row, row)
		}
		if got := window(t, v, 0, row, 1, 1, 1); got != want {
			t.Fatalf("row %d: %q, not %q", row, got, want)
		}
	}
	if info, err := v.Sheet(t.Context(), 1); err != nil || info.Rows != 0 || window(t, v, 1, 1, 100, 1, 100) != "" {
		t.Errorf("the empty sheet: %+v, %v", info, err)
	}
	if _, err := v.Sheet(t.Context(), 2); err == nil {
		t.Error("there is a third sheet")
	}
	if v.Weight() < int64(len(p.Data)) {
		t.Errorf("weight %d", v.Weight())
	}
}

// X5: the rich sample and tables.
func TestX5_WindowsOfSamples(t *testing.T) {
	v := view(t, rich(t))
	for i, name := range v.Names() {
		info, err := v.Sheet(t.Context(), i)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := window(t, v, i, 1, info.Rows, 1, info.Columns); (got == "") != (info.Rows == 0) {
			t.Errorf("%s: %+v shows %q", name, info, got)
		}
	}
	c := view(t, media.Payload{Data: []byte("name;count\nä;12\n;\n\"a;b\";=1+1\n"), Name: "list.csv"})
	if info, _ := c.Sheet(t.Context(), 0); info != (ViewSheet{Name: "list", Rows: 4, Columns: 2}) {
		t.Errorf("%+v", info)
	}
	if got := window(t, c, 0, 2, 10, 1, 5); got != "A2 ä, B2 12, A4 a;b, B4 =1+1" {
		t.Errorf("table: %s", got)
	}
}

// MED: what is no workbook, or a damaged one, is refused; a look that nobody waits for ends.
func TestX5_BadViews(t *testing.T) {
	for _, p := range []media.Payload{{Data: []byte("PK\x03\x04 no zip"), Name: "a.xlsx"}, {Data: []byte("hello"), Name: "a.txt"}, {Data: nil, Name: "a.xlsx"},
		{Data: rich(t).Data[:2000], Name: "rich.xlsx"}} {
		var e *media.Error
		if _, err := NewView(p, media.Limits{}); !errors.As(err, &e) {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	if _, err := NewView(rich(t), media.Limits{Bytes: 100}); err == nil {
		t.Error("a file over the limit is opened")
	}
	v := view(t, media.Payload{Data: bytes.Repeat([]byte("a,b\n"), 10), Name: "a.csv"})
	if got, err := v.Rows(t.Context(), 0, 0, 10, 1, 1); err != nil || got != nil {
		t.Errorf("row 0: %v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	big := made(t, func(f *excelize.File) {
		for i := range 3000 {
			setCells(f, "Sheet1", map[string]any{fmt.Sprintf("A%d", i+1): i})
		}
	})
	if _, err := view(t, big).Sheet(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("a look that was cancelled: %v", err)
	}
	if _, _, err := Address("Q7"); err != nil {
		t.Error(err)
	}
	for _, s := range []string{"", "7", "Q", "Q0", "AAAA1", "A1:B2", "A+1"} {
		if _, _, err := Address(s); err == nil {
			t.Errorf("%q is an address", s)
		}
	}
}
