package pdf_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

func in(data []byte) media.Payload { return media.Payload{Data: data, Name: "a.pdf"} }

var shown = regexp.MustCompile(`Page (\w)`)

func order(t *testing.T, data []byte) string {
	t.Helper()
	out := ""
	for _, m := range shown.FindAllStringSubmatch(textOf(t, data), -1) {
		out += m[1]
	}
	return out
}

func TestPages(t *testing.T) {
	src := pages("abcde")
	for statement, want := range map[string]string{
		"select pages=2-4":             "bcd",
		"select pages=5,1,1":           "eaa",
		"reorder order=5,4,3,2,1":      "edcba",
		"merge with=@xy":               "abcdexy",
		"merge with=@xy,@z":            "abcdexyz",
		"select pages=2|merge with=@x": "bx",
	} {
		if got := order(t, query(t, src, statement).Media.Data); got != want {
			t.Errorf("%s: %s, want %s", statement, got, want)
		}
	}
	for statement, want := range map[string]string{
		"split":                              "a b c d e",
		`split ranges='[[1,2],[4,5],[2,2]]'`: "ab de b",
	} {
		var got []string
		for i, p := range query(t, src, statement).List {
			if p.Name != fmt.Sprintf("a.part%d.pdf", i+1) {
				t.Error(p.Name)
			}
			got = append(got, order(t, p.Data))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q", statement, got)
		}
	}
}

func TestPageErrors(t *testing.T) {
	for statement, want := range map[string]string{
		"select pages=6":                     "page 6 does not exist; a.pdf has pages 1 to 5",
		"reorder order=1,1,3,4,5":            "page 1 stands twice",
		"reorder order=1,2,3":                "leaves out 4-5",
		`split ranges='[[3,1]]'`:             "runs backwards. Use [1,3]",
		`split ranges='[[1,9]]'`:             "outside of a.pdf, which has pages 1 to 5",
		`split ranges='[[1,2,3]]'`:           "a range is two page numbers",
		"split by=section":                   "has no outline",
		`update_text anchor="a" replace="b"`: "cannot be changed reliably",
		"normalize":                          "no line endings",
		"extract assets types=image":         "holds no pictures",
	} {
		_, err := pipeline(t).Query(t.Context(), in(pages("abcde")), statement)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

func TestSplitBySection(t *testing.T) {
	s := newSheet()
	for _, c := range "abcd" {
		s.page(line(300, "Page "+string(c)), nil)
	}
	o := s.Add(nil)
	two := s.Add(object.Dict{"Title": object.String("Two/2"), "Parent": o, "Dest": object.Array{s.kids[3], object.Name("Fit")}})
	one := s.Add(object.Dict{"Title": object.String("One"), "Parent": o, "Next": two, "A": object.Dict{"S": object.Name("GoTo"), "D": object.String("dest")}})
	s.Set(o, object.Dict{"First": one, "Last": two, "Count": int64(2)})
	s.catalog["Outlines"] = o
	s.catalog["Names"] = object.Dict{"Dests": object.Dict{"Names": object.Array{object.String("dest"), object.Array{s.kids[1], object.Name("Fit")}}}}
	var got []string
	for _, p := range query(t, s.bytes(), "split by=section").List {
		got = append(got, p.Name+":"+order(t, p.Data))
	}
	if strings.Join(got, " ") != "a.part1 front.pdf:a a.part2 One.pdf:bc a.part3 Two-2.pdf:d" {
		t.Errorf("%q", got)
	}
}

// Links lead where they led, or are gone with their pages; fields stay fields; nothing of the other pages is left.
func TestSelectLeavesNothingBehind(t *testing.T) {
	s := newSheet()
	rect := object.Array{int64(0), int64(0), int64(9), int64(9)}
	link := func(to object.Object) object.Object {
		return s.Add(object.Dict{"Type": object.Name("Annot"), "Subtype": object.Name("Link"), "Rect": rect, "A": object.Dict{"S": object.Name("GoTo"), "D": to}})
	}
	field := func(name string) object.Ref {
		return s.Add(object.Dict{"Type": object.Name("Annot"), "Subtype": object.Name("Widget"), "FT": object.Name("Tx"), "T": object.String(name), "V": object.String("value of " + name), "Rect": rect})
	}
	one, two := field("one"), field("two")
	s.page(line(300, "Page a"), object.Dict{"Annots": object.Array{link(object.String("b")), link(object.String("c")), one}})
	s.page(line(300, "Page b"), object.Dict{"Annots": object.Array{two}})
	s.page(line(300, "Page c secret"), nil)
	s.catalog["AcroForm"] = object.Dict{"Fields": object.Array{one, two}}
	dest := func(i int) object.Object { return object.Array{s.kids[i], object.Name("Fit")} }
	s.catalog["Names"] = object.Dict{"Dests": object.Dict{"Names": object.Array{object.String("b"), dest(1), object.String("c"), dest(2)}}}
	res := query(t, s.bytes(), "select pages=1,2,1")
	all := string(scan(t, res.Media.Data))
	if strings.Count(all, "<</Dest [null") != 2 || !strings.Contains(all, "value of one") || strings.Contains(all, "secret") || order(t, res.Media.Data) != "aba" {
		t.Error(all)
	}
	if all := string(scan(t, query(t, s.bytes(), "select pages=1").Media.Data)); strings.Contains(all, "value of two") || strings.Contains(all, "/Link") || !strings.Contains(all, "value of one") {
		t.Error(all)
	}
}

func TestTextOfPages(t *testing.T) {
	s := newSheet()
	s.page("BT /F 24 Tf 20 350 Td (A Title) Tj ET\n"+line(300, "One line of a para-")+line(286, "graph that goes on.")+line(240, "Another one.")+line(226, "\\225 an item")+line(212, "\\225 a second"), nil)
	md := string(query(t, s.bytes(), "convert to=md").Media.Data)
	for _, want := range []string{"# A Title", "- an item", "Another one."} {
		if !strings.Contains(md, want) {
			t.Errorf("no %q in %q", want, md)
		}
	}
	if html := string(query(t, s.bytes(), "convert to=html").Media.Data); !strings.Contains(html, "<h1") {
		t.Error(html)
	}
	if got := textOf(t, s.bytes()); !strings.Contains(got, "paragraph that") {
		t.Errorf("%q", got)
	}
	chunks := query(t, s.bytes(), "extract text | chunk by=fixed size=20")
	if chunks.Read == nil {
		t.Error("no chunks")
	}
}

func TestMetadata(t *testing.T) {
	s := newSheet()
	s.page(line(300, "x"), nil)
	s.Trailer["Info"] = s.Add(object.Dict{"Title": object.TextString("Übersicht"), "CreationDate": object.String("D:20260102030405Z")})
	s.catalog["OpenAction"] = object.Dict{"S": object.Name("JavaScript"), "JS": object.String("1")}
	m := query(t, s.bytes(), "extract metadata").Read.Data.(map[string]any)
	for k, want := range map[string]any{"page_count": 1, "title": "Übersicht", "created": "2026-01-02T03:04:05", "encrypted": false, "signed": false, "pdf_version": "1.7"} {
		if m[k] != want {
			t.Errorf("%s: %v, want %v", k, m[k], want)
		}
	}
	if a := fmt.Sprint(m["active_content"]); !strings.Contains(a, "scripts") {
		t.Error(a)
	}
}

// A signed file is changed only where it is said.
func TestSigned(t *testing.T) {
	s := newSheet()
	s.page(line(300, "Page a "+ssn), nil)
	s.catalog["AcroForm"] = object.Dict{"SigFlags": int64(3), "Fields": object.Array{object.Dict{"FT": object.Name("Sig"), "T": object.String("s"),
		"V": s.Add(object.Dict{"Type": object.Name("Sig"), "ByteRange": object.Array{int64(0), int64(1), int64(2), int64(3)}, "Contents": object.String("\x30\x00")})}}}
	src := s.bytes()
	for _, statement := range []string{"select pages=1", "sanitize", redactSSN} {
		_, err := pipeline(t).Query(t.Context(), in(src), statement)
		if err == nil || !strings.Contains(err.Error(), "unsign=true") {
			t.Errorf("%s: %v", statement, err)
		}
		res := query(t, src, statement+" unsign=true")
		if !strings.Contains(strings.Join(res.Warnings, " "), "was signed; the result is not") {
			t.Errorf("%s: %q", statement, res.Warnings)
		}
	}
	if got := order(t, src); got != "a" {
		t.Errorf("reading it: %s", got)
	}
}

func TestXFAIsRefused(t *testing.T) {
	s := newSheet()
	s.page(line(300, "Page a "+ssn), nil)
	s.catalog["AcroForm"] = object.Dict{"XFA": s.Add(object.Deflate([]byte("<xdp/>"), nil))}
	_, err := pipeline(t).Query(t.Context(), in(s.bytes()), redactSSN)
	if err == nil || !strings.Contains(err.Error(), "XFA") {
		t.Error(err)
	}
	res := query(t, s.bytes(), "sanitize | "+redactSSN)
	holds(t, res.Media.Data, ssn, "xdp")
}

func TestSanitize(t *testing.T) {
	s := newSheet()
	js := object.Dict{"S": object.Name("JavaScript"), "JS": object.String("evil()")}
	link := s.Add(object.Dict{"Type": object.Name("Annot"), "Subtype": object.Name("Link"), "Rect": object.Array{int64(0), int64(0), int64(9), int64(9)}, "A": object.Dict{"S": object.Name("Launch"), "F": object.String("evil.exe")}})
	web := s.Add(object.Dict{"Type": object.Name("Annot"), "Subtype": object.Name("Link"), "Rect": object.Array{int64(0), int64(0), int64(9), int64(9)}, "A": object.Dict{"S": object.Name("URI"), "URI": object.String("https://example.com"), "Next": js}})
	file := s.Add(object.Dict{"Type": object.Name("Annot"), "Subtype": object.Name("FileAttachment"), "Rect": object.Array{int64(0), int64(0), int64(9), int64(9)}, "FS": object.Dict{"F": object.String("a"), "EF": object.Dict{"F": s.Add(object.Deflate([]byte("evil"), nil))}}})
	s.page(line(300, "Page a"), object.Dict{"AA": object.Dict{"O": js}, "Annots": object.Array{link, web, file}})
	s.catalog["OpenAction"] = js
	s.catalog["AA"] = object.Dict{"WC": js}
	s.catalog["Names"] = object.Dict{"JavaScript": object.Dict{"Names": object.Array{object.String("n"), js}}}
	s.catalog["AcroForm"] = object.Dict{"Fields": object.Array{}, "XFA": s.Add(object.Deflate([]byte("evil xfa"), nil))}
	s.catalog["Metadata"] = s.Add(object.Deflate([]byte("evil author"), nil))
	s.Trailer["Info"] = s.Add(object.Dict{"Author": object.String("evil author")})
	res := query(t, s.bytes(), "sanitize")
	holds(t, res.Media.Data, "evil", "Launch", "JavaScript", "OpenAction", "FileAttachment")
	if all := string(scan(t, res.Media.Data)); !strings.Contains(all, "https://example.com") {
		t.Error("a harmless link is gone")
	}
	if order(t, res.Media.Data) != "a" || res.Counts.Removed == 0 {
		t.Error(res.Counts, res.Warnings)
	}
}
