package search

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/internal/words"
)

// plainContext is the definition of context, gaps and limits: lines that match, their neighbours, in rows as show has.
func plainContext(lines []string, q GrepQuery) string {
	role := make([]byte, len(lines)) // ':' match, '-' context
	found, limit := 0, len(lines)
	for i, l := range lines {
		if strings.Contains(l, "m") == q.Invert || q.MaxPerFile > 0 && found == q.MaxPerFile {
			continue
		}
		found++
		if found == q.MaxPerFile {
			limit = i
		}
		for k := max(0, i-q.Before); k <= min(len(lines)-1, i+q.After); k++ {
			role[k] = max(role[k], '-')
		}
		role[i] = ':'
	}
	var b strings.Builder
	last := 0
	for i, l := range lines {
		if role[i] == 0 || i > limit && role[i] == ':' {
			continue
		}
		if last > 0 && i+1 != last+1 {
			b.WriteString("--\n")
		}
		last = i + 1
		fmt.Fprintf(&b, "f%c%d%c%s\n", role[i], i+1, role[i], l)
	}
	return b.String()
}

// F7: output lines equal the definition, in memory and through the window.
func TestPropertyContext(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	e := New(Local(), Config{Workers: 1})
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[ma]?b{0,2}`), 1, 20).Draw(t, "lines")
		if pad := rapid.IntRange(0, 2).Draw(t, "pad"); pad > 0 { // move the lines to the border of the first window
			filler := strings.Split(strings.Repeat("filler\n", firstRead/7-pad*rapid.IntRange(0, 10).Draw(t, "less")), "\n")
			lines = append(filler[:len(filler)-1], append(lines, filler[:50]...)...)
		}
		q := GrepQuery{Filter: Filter{Root: dir}, Pattern: "m", Mode: Content,
			Before: rapid.IntRange(0, 3).Draw(t, "before"), After: rapid.IntRange(0, 3).Draw(t, "after"),
			MaxPerFile: rapid.IntRange(0, 3).Draw(t, "max")}
		text := strings.Join(lines, "\n")
		if lines[len(lines)-1] != "" && rapid.Bool().Draw(t, "eol") || lines[len(lines)-1] == "" {
			text += "\n"
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := e.Grep(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(plainContext(lines, q), show(r, Content)); d != "" {
			t.Fatalf("%+v\n%s", q, d)
		}
		if len(lines) < 100 {
			q.Invert = true
			if r, err = e.Grep(context.Background(), q); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(plainContext(lines, q), show(r, Content)); d != "" {
				t.Fatalf("%+v\n%s", q, d)
			}
		}
	})
}

// UTF-16 is decoded as the standard library decodes it, an odd byte at the end aside.
func FuzzUTF16(f *testing.F) {
	f.Add([]byte("\xff\xfea\x00\x3d\xd8\x42\xde"), false)
	f.Add([]byte("\xfe\xff\xd8\x3d\x00a"), true)
	f.Fuzz(func(t *testing.T, b []byte, big bool) { checkUTF16(t, b, big) })
}

// Halves of pairs in every order.
func TestUTF16OfWords(t *testing.T) {
	parts := []string{"\x3d\xd8", "\x42\xde", "\xd8\x3d", "\xde\x42", "a\x00", "\x00a", "\xff\xfe", "\xfe\xff", "\x00", "\xdb", "\xff\xff", "\xfd\xff", "\x00\x00", "\x0a\x00"}
	rapid.Check(t, func(t *rapid.T) { checkUTF16(t, []byte(words.Draw(t, parts)), rapid.Bool().Draw(t, "big")) })
}

func checkUTF16(t rapid.TB, b []byte, big bool) {
	var order binary.ByteOrder = binary.LittleEndian
	mark := []byte{0xFF, 0xFE}
	if big {
		order, mark = binary.BigEndian, []byte{0xFE, 0xFF}
	}
	var units []uint16
	for i := 0; i+1 < len(b); i += 2 {
		units = append(units, order.Uint16(b[i:]))
	}
	want := string(utf16.Decode(units))
	if len(b)%2 == 1 {
		want += "\uFFFD"
	}
	data := append(mark, b...)
	if utf16Order(data) != order {
		t.Fatal("the byte order mark was not seen")
	}
	if got := decodeUTF16(nil, data, order); string(got) != want || !utf8.Valid(got) {
		t.Fatalf("%q, want %q", got, want)
	}
}
