package pdf_test

import (
	"fmt"
	"strings"
	"testing"
)

// long is a file of many pages of text.
func long(n int) []byte {
	s := newSheet()
	for p := range n {
		var b strings.Builder
		for l := range 30 {
			b.WriteString(line(380-12*l, fmt.Sprintf("Page %d, line %d: words as reports have them, %d of all.", p, l, p*l)))
		}
		s.page(b.String(), nil)
	}
	return s.bytes()
}

func BenchmarkSelect(b *testing.B) {
	data := long(200)
	for b.Loop() {
		query(b, data, "select pages=101-150")
	}
}

func BenchmarkText(b *testing.B) {
	data := long(200)
	for b.Loop() {
		query(b, data, "extract text")
	}
}
