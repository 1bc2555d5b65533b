package change

import (
	"slices"
	"strings"
	"testing"
)

func TestPaths(t *testing.T) {
	s := &Set{Ops: []Op{{Kind: Move, Path: "/a", To: "/b"}, {Kind: Delete, Path: "/c"}}}
	if got, want := s.Paths(), []string{"/a", "/b", "/c"}; !slices.Equal(got, want) {
		t.Errorf("Paths() = %v, want %v", got, want)
	}
	if got := (*Set)(nil).Paths(); got != nil {
		t.Errorf("of nil: %v", got)
	}
}

func TestBetween(t *testing.T) {
	one, two := FileState([]byte("a\nb\n"), 0o644), FileState([]byte("a\nc\n"), 0o644)
	for _, tt := range []struct {
		name     string
		from, to State
		holds    []string
	}{
		{"equal", one, one, nil},
		{"changed", one, two, []string{"-b\n", "+c\n", " a\n"}},
		{"created", State{}, one, []string{"new file", "+a\n", "+b\n"}},
		{"deleted", one, State{}, []string{"deleted file", "-a\n", "-b\n"}},
	} {
		got := Between("/w/f", tt.from, tt.to)
		if (got == "") != (tt.holds == nil) {
			t.Errorf("%s: %q", tt.name, got)
		}
		for _, h := range tt.holds {
			if !strings.Contains(got, h) {
				t.Errorf("%s: %q lacks %q", tt.name, got, h)
			}
		}
	}
}
