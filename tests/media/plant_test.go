package media

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// garden gives out numbers, each for one place, and remembers them.
type garden struct {
	t      testing.TB
	n      int
	places map[string]string // number: place
	order  []string
	veiled map[string]bool // only programs that know the format well see it
}

func newGarden(t testing.TB, from int) *garden {
	return &garden{t: t, n: from, places: map[string]string{}, veiled: map[string]bool{}}
}

// at returns a number that no other place of any file has.
func (g *garden) at(place string) string {
	g.n++
	s := fmt.Sprintf("%03d-%02d-%04d", 600+g.n%300, 10+g.n%89, 7000+g.n)
	g.places[s] = place
	g.order = append(g.order, s)
	return s
}

// own takes over a number that a sample holds.
func (g *garden) own(number, place string) {
	g.places[number] = place
	g.order = append(g.order, number)
}

// split cuts a number in three.
func split(n string) (a, b, c string) { return n[:4], n[4:7], n[7:] }

// picture is a PNG with a note in it.
func picture(note string) []byte {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))) // writing to memory
	body := append([]byte("tEXtComment\x00"), note...)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(body)-4))
	chunk = binary.BigEndian.AppendUint32(append(chunk, body...), crc32.ChecksumIEEE(body))
	end := b.Len() - 12
	return bytes.Join([][]byte{b.Bytes()[:end], chunk, b.Bytes()[end:]}, nil)
}

// box is a zip container that is being changed.
type box struct {
	t       testing.TB
	names   []string
	parts   map[string][]byte
	comment string
}

func openBox(t testing.TB, file string) *box {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "media", "engine", file))
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	b := &box{t: t, parts: map[string][]byte{}}
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		d, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		b.names, b.parts[f.Name] = append(b.names, f.Name), d
	}
	return b
}

func (b *box) add(name string, data string) {
	if _, ok := b.parts[name]; !ok {
		b.names = append(b.names, name)
	}
	b.parts[name] = []byte(data)
}

// edit replaces the first old of a part.
func (b *box) edit(name, old, with string) {
	b.t.Helper()
	s := string(b.parts[name])
	if !strings.Contains(s, old) {
		b.t.Fatalf("%s lacks %q", name, old)
	}
	b.parts[name] = []byte(strings.Replace(s, old, with, 1))
}

func (b *box) before(name, mark, with string) { b.t.Helper(); b.edit(name, mark, with+mark) }

func (b *box) bytes() []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, n := range b.names {
		h := &zip.FileHeader{Name: n, Method: zip.Deflate}
		if n == "mimetype" {
			h.Method = zip.Store
		}
		m, err := w.CreateHeader(h)
		if err != nil {
			b.t.Fatal(err)
		}
		if _, err := m.Write(b.parts[n]); err != nil {
			b.t.Fatal(err)
		}
	}
	if b.comment != "" {
		_ = w.SetComment(b.comment) // it is short
	}
	if err := w.Close(); err != nil {
		b.t.Fatal(err)
	}
	return out.Bytes()
}
