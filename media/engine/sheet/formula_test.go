package sheet

import "testing"

func TestFormulas(t *testing.T) {
	ins := func() *rewrite { return &rewrite{sheet: "Data", remap: inserting(false, 3, 2)} }
	del := func() *rewrite { return &rewrite{sheet: "Data", remap: deleting(false, []int{3, 5})} }
	delCol := func() *rewrite { return &rewrite{sheet: "Data", remap: deleting(true, []int{2})} }
	ren := func() *rewrite { return &rewrite{sheet: "Data", rename: "My Data"} }
	rem := func() *rewrite { return &rewrite{sheet: "Data", remove: true} }
	for _, tt := range []struct {
		w             *rewrite
		home, f, want string
	}{
		{ins(), "Data", "A1+A3", "A1+A5"},
		{ins(), "Data", "SUM($A$2:A9)", "SUM($A$2:A11)"},
		{ins(), "Data", "SUM(A:A)+SUM(2:4)+LOG10(3)", "SUM(A:A)+SUM(2:6)+LOG10(3)"},
		{ins(), "Other", "A3+Data!A3+'Data'!$B3+Other!A3", "A3+Data!A5+'Data'!$B5+Other!A3"},
		{ins(), "Data", `"A3"&A3&'It''s A3'!A3&[1]Data!A3&Table[A3]&Name3X&TRUE`, `"A3"&A5&'It''s A3'!A3&[1]Data!A3&Table[A3]&Name3X&TRUE`},
		{ins(), "Data", "OFFSET(B3,1,1):C9", "OFFSET(B5,1,1):C11"},
		{ins(), "Data", "1E5+A1048576", "1E5+#REF!"},
		{del(), "Data", "A3+A4", "#REF!+A3"},
		{del(), "Data", "SUM(A3:A5)+SUM(A3:A3)+SUM(A2:A6)", "SUM(A3:A3)+SUM(#REF!)+SUM(A2:A4)"},
		{del(), "Data", "SUM(3:3)+SUM(3:4)", "SUM(#REF!)+SUM(3:3)"},
		{delCol(), "Data", "B1+C$1+SUM(A1:C1)+SUM(B:B)+SUM(A:D)", "#REF!+B$1+SUM(A1:B1)+SUM(#REF!)+SUM(A:C)"},
		{ren(), "X", "Data!A1+'data'!A1+XData!A1&\"Data!A1\"+Data:Z!A1", "'My Data'!A1+'My Data'!A1+XData!A1&\"Data!A1\"+'My Data':Z!A1"},
		{rem(), "X", "Data!A1:B2+Data!Name+X!A1", "#REF!+#REF!+X!A1"},
	} {
		if got := tt.w.formula(tt.f, tt.home); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.f, got, tt.want)
		}
	}
	for _, tt := range []struct{ f, want string }{
		{"A1+$A1+A$1+$A$1", "B3+$A3+B$1+$A$1"}, {"SUM(A:A,1:1)&Sheet1!A1&\"A1\"&LOG10(A1)", "SUM(B:B,3:3)&Sheet1!B3&\"A1\"&LOG10(B3)"},
	} {
		if got := offset(tt.f, 2, 1); got != tt.want {
			t.Errorf("%s moved: got %s, want %s", tt.f, got, tt.want)
		}
	}
	for in, want := range map[string]string{"Data": "Data", "My Data": "'My Data'", "2025": "'2025'", "A1": "'A1'", "It's": "'It''s'", "ABC": "'ABC'", "Übersicht": "Übersicht"} {
		if got := quoteSheet(in); got != want {
			t.Errorf("%s is quoted as %s", in, got)
		}
	}
}

func FuzzFormula(f *testing.F) {
	f.Add("SUM(A1:B2)+'x y'!$C$3&\"q\"&[1]S!A1&T[[#All],[c]]")
	f.Fuzz(func(t *testing.T, s string) {
		w := &rewrite{sheet: "Data", remap: &remap{to: func(i int) int { return i }}}
		if got := w.formula(s, "Data"); got != s && w.lost == 0 && !hasOdd(s) {
			t.Fatalf("nothing moved, and %q became %q", s, got)
		}
		_ = offset(s, 1, 1)
	})
}

// hasOdd reports references that are written another way than they are printed: lower case, or ends in reverse.
func hasOdd(s string) bool {
	for i := range len(s) {
		if s[i] >= 'a' && s[i] <= 'z' || s[i] == ':' || s[i] == '$' {
			return true
		}
	}
	return false
}
