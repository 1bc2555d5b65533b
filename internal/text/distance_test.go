package text

import "testing"

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b        string
		limit, want int
	}{
		{"", "", 9, 0}, {"a", "", 9, 1}, {"same", "same", 9, 0}, {"redackt", "redact", 9, 1}, {"slect", "select", 9, 1},
		{"pagse", "pages", 9, 1}, {"größe", "grosse", 9, 3}, {"kitten", "sitting", 9, 3}, {"short", "a long one", 3, 10}, {"ab", "cd", 1, 2},
	} {
		if got := Distance(tt.a, tt.b, tt.limit); got != tt.want {
			t.Errorf("%q to %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := Distance(tt.b, tt.a, tt.limit); got != tt.want {
			t.Errorf("%q to %q: %d, want %d", tt.b, tt.a, got, tt.want)
		}
	}
}
