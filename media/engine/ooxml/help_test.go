package ooxml

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/image"
	"github.com/tackle-dev/tackle/media/engine/sheet"
	"github.com/tackle-dev/tackle/media/engine/text"
	"github.com/tackle-dev/tackle/media/internal/pack"
)

func pipeline(t testing.TB) *media.Pipeline {
	t.Helper()
	p, err := media.New(media.Config{Engines: []media.Engine{sheet.Engine(), Engine(), text.Engine(), image.Engine()}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sample reads a file of testdata: contract.docx and deck.pptx are LibreOffice's, gen.docx and gen.pptx those of two
// libraries of JavaScript, rep.docx is pandoc's.
func sample(t testing.TB, name string) media.Payload {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return media.Payload{Data: b, Name: name}
}

func run(t testing.TB, in media.Payload, statement string, with ...media.Payload) (media.Result, error) {
	t.Helper()
	p := pipeline(t)
	plan, err := p.Compile(statement)
	if err != nil {
		return media.Result{}, err
	}
	return p.Run(t.Context(), in, plan, media.RunOptions{Resolve: func(_ context.Context, id string) (media.Payload, error) {
		for _, w := range with {
			if w.Name == id {
				return w, nil
			}
		}
		return media.Payload{}, fmt.Errorf("no %s", id)
	}})
}

func must(t testing.TB, in media.Payload, statement string, with ...media.Payload) media.Result {
	t.Helper()
	res, err := run(t, in, statement, with...)
	if err != nil {
		t.Fatalf("%s on %s: %v", statement, in.Name, err)
	}
	if res.Media != nil {
		valid(t, statement, res.Media.Data)
	}
	for _, m := range res.List {
		if strings.HasSuffix(m.Name, "x") {
			valid(t, statement, m.Data)
		}
	}
	return res
}

// members decodes a container, files within it too, with a reader that shares nothing with the engine.
func members(t testing.TB, data []byte) map[string][]byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, m := range z.File {
		r, err := m.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out[m.Name] = b
		if bytes.HasPrefix(b, []byte("PK\x03\x04")) {
			for name, inner := range members(t, b) {
				out[m.Name+"!"+name] = inner
			}
		}
	}
	return out
}

var relTarget = regexp.MustCompile(`<(?:\w+:)?Relationship\b[^>]*>`)

// valid holds a result to what every program expects of a container: relationships lead somewhere, ids are there, types are
// known, and the XML is well formed.
func valid(t testing.TB, what string, data []byte) {
	t.Helper()
	if !bytes.HasPrefix(data, []byte("PK")) {
		return
	}
	all := members(t, data)
	types := string(all[typesPart])
	attr := func(s, name string) string {
		m := regexp.MustCompile(`\b` + name + `="([^"]*)"`).FindStringSubmatch(s)
		if m == nil {
			return ""
		}
		return m[1]
	}
	for name, b := range all {
		if strings.Contains(name, "!") {
			continue
		}
		if ext := filepath.Ext(name); ext == ".xml" || ext == ".rels" {
			if err := pack.CheckXML(name, b, media.Limits{}); err != nil {
				t.Errorf("%s: %v\n%s", what, err, b)
			}
		}
		if name != typesPart && !strings.HasSuffix(name, "/") && !strings.Contains(types, `PartName="/`+name+`"`) && !strings.Contains(types, `Extension="`+strings.TrimPrefix(filepath.Ext(name), ".")+`"`) {
			t.Errorf("%s: %s has no type", what, name)
		}
		if !strings.HasSuffix(name, ".rels") {
			continue
		}
		owner := ownerOf(name)
		if owner != "" && all[owner] == nil {
			t.Errorf("%s: %s belongs to nothing", what, name)
		}
		seen := map[string]bool{}
		for _, rel := range relTarget.FindAllString(string(b), -1) {
			id := attr(rel, "Id")
			if seen[id] {
				t.Errorf("%s: %s has %s twice", what, name, id)
			}
			seen[id] = true
			if attr(rel, "TargetMode") == "External" {
				continue
			}
			target := attr(rel, "Target")
			if !strings.HasPrefix(target, "/") {
				target = filepath.Join("/", filepath.Dir(owner), target)
			}
			if all[strings.TrimPrefix(target, "/")] == nil {
				t.Errorf("%s: %s leads to %s, which is not there", what, name, target)
			}
		}
		for _, m := range regexp.MustCompile(`\br:(?:id|embed|link|pict|dm|lo|qs|cs)="([^"]*)"`).FindAllStringSubmatch(string(all[owner]), -1) {
			if m[1] != "" && !seen[m[1]] {
				t.Errorf("%s: %s names %s, which %s does not have", what, owner, m[1], name)
			}
		}
	}
}

// doc makes a document with a body and further parts: name, type of relationship, content.
func doc(t testing.TB, body string, parts ...[3]string) media.Payload {
	t.Helper()
	types := `<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Default Extension="bin" ContentType="application/vnd.ms-office.vbaProject"/><Default Extension="png" ContentType="image/png"/><Default Extension="svg" ContentType="image/svg+xml"/><Default Extension="xlsx" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"/><Default Extension="docx" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document"/><Default Extension="htm" ContentType="text/html"/><Override PartName="/word/document.xml" ContentType="` + wType + `document.main+xml"/>`
	var list []pack.Member
	rels, top := "", `<Relationship Id="rId1" Type="`+relBase+`officeDocument" Target="word/document.xml"/>`
	for i, p := range parts {
		id := fmt.Sprintf("rId%d", i+10)
		switch {
		case p[0] == "":
			rels += p[2]
			continue
		case p[1] == "":
		case strings.HasPrefix(p[0], "docProps/"):
			top += `<Relationship Id="` + id + `" Type="` + p[1] + `" Target="` + p[0] + `"/>`
		default:
			rels += `<Relationship Id="` + id + `" Type="` + relBase + p[1] + `" Target="/` + p[0] + `"/>`
		}
		list = append(list, pack.Member{Name: p[0], Data: []byte(p[2])})
	}
	list = append([]pack.Member{
		{Name: typesPart, Data: []byte(relHead + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` + types + `</Types>`)},
		{Name: "_rels/.rels", Data: []byte(relsXML(top))},
		{Name: "word/document.xml", Data: []byte(relHead + `<w:document ` + wNS + draws + ` xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><w:body>` + body + `</w:body></w:document>`)},
		{Name: "word/_rels/document.xml.rels", Data: []byte(relsXML(rels))},
	}, list...)
	data, err := pack.Create(list...)
	if err != nil {
		t.Fatal(err)
	}
	return media.Payload{Data: data, Name: "trap.docx"}
}

func wp(runs string) string { return "<w:p>" + runs + "</w:p>" }
func wr(text string) string { return `<w:r><w:t xml:space="preserve">` + text + `</w:t></w:r>` }
