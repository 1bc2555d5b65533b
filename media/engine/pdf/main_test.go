package pdf_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/pdf"
	"github.com/tackle-dev/tackle/media/engine/pdf/object"
	"github.com/tackle-dev/tackle/media/engine/text"
)

// The module compiles once for all runs of the tests on a machine.
func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "tackle", "pdfium")
}

var shared = pdf.Engine(pdf.Config{Cache: cacheDir()})

func pipeline(t testing.TB, more ...media.Engine) *media.Pipeline {
	t.Helper()
	p, err := media.New(media.Config{Engines: append([]media.Engine{shared, text.Engine()}, more...), Resolve: func(_ context.Context, id string) (media.Payload, error) {
		return media.Payload{Data: pages(id), Name: id + ".pdf"}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func query(t testing.TB, data []byte, statement string) media.Result {
	t.Helper()
	res, err := pipeline(t).Query(t.Context(), media.Payload{Data: data, Name: "a.pdf"}, statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return res
}

func textOf(t testing.TB, data []byte) string {
	t.Helper()
	return query(t, data, "extract text").Read.Text
}

// sheet is a file that is being made for a test.
type sheet struct {
	*object.File
	pages   object.Ref
	kids    object.Array
	catalog object.Dict
}

func newSheet() *sheet {
	s := &sheet{File: object.New(), catalog: object.Dict{"Type": object.Name("Catalog")}}
	s.pages = s.Add(nil)
	s.catalog["Pages"] = s.pages
	s.Trailer["Root"] = s.Add(s.catalog)
	return s
}

var helvetica = object.Dict{"Type": object.Name("Font"), "Subtype": object.Name("Type1"), "BaseFont": object.Name("Helvetica"), "Encoding": object.Name("WinAnsiEncoding")}

// page adds a page with a content stream; entries of more go into it.
func (s *sheet) page(content string, more object.Dict) object.Dict {
	d := object.Dict{"Type": object.Name("Page"), "Parent": s.pages, "MediaBox": object.Array{int64(0), int64(0), int64(400), int64(400)},
		"Resources": object.Dict{"Font": object.Dict{"F": helvetica}}, "Contents": s.Add(object.Deflate([]byte(content), nil))}
	for k, v := range more {
		if res, ok := v.(object.Dict); ok && k == "Resources" {
			for n, o := range res {
				d["Resources"].(object.Dict)[n] = o
			}
			continue
		}
		d[k] = v
	}
	s.kids = append(s.kids, s.Add(d))
	return d
}

func (s *sheet) bytes() []byte {
	s.Set(s.pages, object.Dict{"Type": object.Name("Pages"), "Kids": s.kids, "Count": int64(len(s.kids))})
	data, err := s.Write()
	if err != nil {
		panic(err)
	}
	return data
}

func line(y int, text string) string {
	return fmt.Sprintf("BT /F 12 Tf 20 %d Td (%s) Tj ET\n", y, text)
}

// pages makes a file with one page for each letter, which it shows.
func pages(letters string) []byte {
	s := newSheet()
	for _, c := range letters {
		s.page(line(300, "Page "+string(c)+string(c)+string(c)), nil)
	}
	return s.bytes()
}

// scan returns everything that a file holds, decoded.
func scan(t testing.TB, data []byte) []byte {
	t.Helper()
	f, err := object.Open(data, object.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, n := range f.All() {
		o := f.Get(object.Ref{Num: n})
		if s, ok := o.(*object.Stream); ok {
			d, _, err := f.Decode(s)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(d)
			o = s.Dict
		}
		object.Print(&b, o)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func holds(t testing.TB, data []byte, words ...string) {
	t.Helper()
	all := scan(t, data)
	for _, w := range words {
		if bytes.Contains(all, []byte(w)) || bytes.Contains(data, []byte(w)) || strings.Contains(textOf(t, data), w) {
			t.Errorf("the file still holds %q", w)
		}
	}
}
