package engine_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine"
)

func sample() []byte {
	m := image.NewRGBA(image.Rect(0, 0, 40, 20))
	for x := range 40 {
		m.Set(x, x%20, color.RGBA{uint8(x), 0, 0, 255})
	}
	var b bytes.Buffer
	_ = png.Encode(&b, m)
	// A chunk of text in front of the last one.
	note := append([]byte("tEXtComment\x00"), "taken at home"...)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(note)-4))
	chunk = binary.BigEndian.AppendUint32(append(chunk, note...), crc32.ChecksumIEEE(note))
	end := b.Len() - 12
	return slices.Concat(b.Bytes()[:end], chunk, b.Bytes()[end:])
}

// files are what the rows work on.
func files(t *testing.T) map[string][]byte {
	book, err := os.ReadFile("sheet/testdata/rich.xlsx")
	if err != nil {
		t.Fatal(err)
	}
	deck, err := os.ReadFile("ooxml/testdata/gen.pptx")
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"a.pptx": deck,
		"a.txt":  []byte("One 123-45-6789 line.  \r\nTwo lines.\r\n\r\nNext block.\r\n"),
		"b.txt":  []byte("One line.\nTwo lines.\n"),
		"a.md":   []byte("# First\n\nSome *text*.\n\n# Second\n\n- point\n"),
		"a.html": []byte("<html><body><h1 onclick=\"x()\">Head</h1><script>bad()</script><p>Text <img src=\"data:image/png;base64,iVBORw0KGgo=\"></p></body></html>"),
		"a.json": []byte("{\n  \"z\": 1.50,\n  \"a\": {\"b\": [1, 2]}\n}\n"),
		"a.yaml": []byte("# kept\nz: 1\na:\n  b: [1, 2] # too\n"),
		"a.csv":  []byte("name,qty\nApple,3\nPear,4\n"),
		"a.svg":  []byte("<svg xmlns=\"http://www.w3.org/2000/svg\"><script>bad()</script><text>words</text></svg>"),
		"a.xlsx": book,
		"a.png":  sample(),
	}
}

// M2: every row of the table of verbs (field notes 1.7) that the engines here serve works on what it is for and refuses
// what it cannot do in words that help. A verb that is offered and has no row here fails the test.
func TestM2_RowsOfTheVerbTable(t *testing.T) {
	p, err := media.New(media.Config{Engines: engine.All()})
	if err != nil {
		t.Fatal(err)
	}
	have := files(t)
	seen := map[string]map[bool]bool{}
	for _, tt := range []struct {
		file, do string
		want     string // a part of the result; "!" before it: of the refusal
		lacks    string // what the result no longer has
	}{
		{"a.json", `convert to=yaml`, "z: 1.50", ""},
		{"a.yaml", `convert to=json`, `"z": 1`, ""},
		{"a.csv", `convert to=json`, `"Apple"`, ""},
		{"a.csv", `convert to=xlsx | sheet delete_rows rows=3 | convert to=csv`, "Apple,3", "Pear"},
		{"a.md", `convert to=html`, "<h1", ""},
		{"a.html", `convert to=md`, "# Head", ""},
		{"a.xlsx", `convert to=csv`, "Apple", ""},
		{"a.xlsx", `convert to=md`, "|", ""},
		{"a.xlsx", `convert to=pdf`, "!pdf", ""},
		{"a.png", `convert to=csv`, "!convert", ""},
		{"a.md", `split by=section`, "First", ""},
		{"a.xlsx", `split`, "Region,Product", ""},
		{"a.xlsx", `split ranges='[[3,1]]'`, "!without ranges", ""},
		{"a.txt", `redact match=/\d{3}-\d{2}-\d{4}/ replace="[SSN]"`, "One [SSN] line.", "6789"},
		{"a.html", `redact match="Head"`, "<h1", "Head"},
		{"a.csv", `redact match="Apple"`, "█,3", "Apple"},
		{"a.json", `redact match="1.50" replace="0"`, `"z": "0"`, ""},
		{"a.svg", `redact match="words" replace="w"`, "<text>w</text>", ""},
		{"a.xlsx", `redact match="Apple" replace="Fruit" | extract text`, "Fruit", "Apple"},
		{"a.txt", `redact match="absent"`, "!absent", ""},
		{"a.html", `sanitize`, "<h1>Head</h1>", "bad()"},
		{"a.svg", `sanitize`, "words", "bad()"},
		{"a.xlsx", `sanitize`, "PK", ""},
		{"a.png", `sanitize`, "!sanitize", ""},
		{"a.txt", `normalize`, "One 123-45-6789 line.\nTwo lines.\n\nNext block.\n", ""},
		{"a.png", `normalize`, "!normalize", ""},
		{"a.txt", `update_text anchor="Two lines" replace="$& two"`, "$& two.", "Two lines"},
		{"a.txt", `update_text anchor="nowhere to be found" replace="x"`, "!nowhere to be found", ""},
		{"a.txt", `diff with=@"b.txt"`, "-One 123-45-6789 line.", ""},
		{"a.xlsx", `diff with=@"a.csv"`, "Apple", ""},
		{"a.txt", `diff with=@none`, "!none", ""},
		{"b.txt", `apply_patch patch="--- b.txt\n+++ b.txt\n@@ -1 +1 @@\n-One line.\n+1 line.\n"`, "1 line.\nTwo lines.\n", ""},
		{"b.txt", `apply_patch patch="--- b.txt\n+++ b.txt\n@@ -1 +1 @@\n-Three lines.\n+1 line.\n"`, "!hunk #1", ""},
		{"b.txt", `append text="Three."`, "Two lines.\nThree.\n", ""},
		{"a.csv", `append text="Plum,5"`, "Pear,4\nPlum,5\n", ""},
		{"a.xlsx", `append text="x"`, "!append", ""},
		{"a.json", `data set path="a.b[0]" value=7`, "{\n  \"z\": 1.50,", ""},
		{"a.yaml", `data set path="z" value=true`, "# kept\nz: true", ""},
		{"a.txt", `data set path="z" value=1`, "!data set", ""},
		{"a.json", `data merge fragment='{"a":{"c":1}}'`, `"c": 1`, ""},
		{"a.json", `data merge fragment='[1]'`, "!object", ""},
		{"a.yaml", `data delete path="a.b[0]"`, "# too", "[1,"},
		{"a.yaml", `data delete path="nope"`, "!nope", ""},
		{"a.txt", `extract text`, "One 123-45-6789 line.  \nTwo lines.", ""},
		{"a.xlsx", `extract text`, "# Data", ""},
		{"a.svg", `extract text`, "<text>", ""},
		{"a.png", `extract text`, "!text", ""},
		{"a.png", `extract metadata`, `"width":40`, ""},
		{"a.xlsx", `extract metadata`, `"sheets"`, ""},
		{"a.csv", `extract metadata where=1`, "!where", ""},
		{"a.xlsx", `extract assets`, "PNG", ""},
		{"a.xlsx", `extract assets types=image format=jpg`, "\xff\xd8", ""},
		{"a.txt", `extract assets`, "!extract assets", ""},
		{"a.txt", `chunk`, `"char_start":0`, ""},
		{"a.md", `extract text | chunk by=fixed size=5 overlap=2`, `"char_start":3`, ""},
		{"a.txt", `chunk size=0`, "!size", ""},
		{"a.csv", `sheet add_rows rows='[["Plum",5]]' after=2`, "Apple,3\nPlum,5\nPear,4", ""},
		{"a.txt", `sheet add_rows rows='[[1]]'`, "!works on xlsx", ""},
		{"a.csv", `sheet add_columns columns='[{"header":"ok","values":[true]}]'`, "name,qty,ok", ""},
		{"a.csv", `sheet add_columns`, "!headers", ""},
		{"a.csv", `sheet update_cells updates='[{"row":2,"col":"B","value":9}]'`, "Apple,9", ""},
		{"a.csv", `sheet update_cells updates='[{"value":9}]'`, "!address", ""},
		{"a.csv", `sheet delete_rows rows=2,2`, "name,qty\nPear,4", "Apple"},
		{"a.csv", `sheet delete_rows rows=0`, "!0", ""},
		{"a.csv", `sheet delete_columns columns=1`, "qty\n3\n4", "name"},
		{"a.csv", `sheet delete_columns columns=x`, "!columns", ""},
		{"a.xlsx", `sheet rename_sheet sheet=Data to=Facts | extract text`, "# Facts", ""},
		{"a.xlsx", `sheet rename_sheet sheet=Nope to=Facts`, "!Data", ""},
		{"a.xlsx", `sheet add_sheet name=New at=1 | extract text`, "# New", ""},
		{"a.xlsx", `sheet add_sheet name=Data`, "!Data", ""},
		{"a.xlsx", `sheet remove_sheet sheet=Pivot | extract text`, "# Data", "# Pivot"},
		{"a.xlsx", `sheet remove_sheet sheet=Nope`, "!Pivot", ""},
		{"a.xlsx", `sheet reorder_sheets order='["2025","Pivot","Data"]' | extract text`, "# 2025", ""},
		{"a.xlsx", `sheet reorder_sheets order='["Data"]'`, "!every", ""},
		{"a.xlsx", `sheet add_rows sheet=2025 rows='[[1]]'`, `!"2025"`, ""},
		{"a.csv", `sheet transform_table select="qty" rename='[{"from":"qty","to":"n"}]'`, "!qty", ""},
		{"a.csv", `sheet transform_table rename='[{"from":"qty","to":"n"}] ' select="n"`, "n\n3\n4", ""},
		{"a.png", `image resize width=20 | extract metadata`, `"height":10`, ""},
		{"a.png", `image resize width=20 | image rotate deg=90 | extract metadata`, `"height":20`, ""},
		{"a.png", `image rotate deg=90 | image resize width=20 | extract metadata`, `"height":40`, ""},
		{"a.txt", `image resize width=20`, "!image", ""},
		{"a.png", `image format to=jpg quality=80`, "\xff\xd8", ""},
		{"a.png", `image format to=heic`, "!heic", ""},
		{"a.png", `image rotate deg=45`, "!45", ""},
		{"a.png", `image flip axis=both`, "PNG", ""},
		{"a.png", `image flip axis=up`, "!horizontal", ""},
		{"a.png", `image strip_metadata`, "PNG", "taken at home"},
		{"a.md", `image strip_metadata`, "!image", ""},
		{"empty:xlsx", `sheet update_cells updates='[{"address":"A1","value":"x"}]' | extract text`, "x", ""},
		{"empty:json", `data set path="a" value=1`, `"a": 1`, ""},
		{"empty:html", `extract text`, "<html", ""},
		{"empty:png", `extract metadata`, `"width":1024`, ""},
		{"empty:wav", `extract metadata`, "44100", ""},
		{"empty:docx", `convert to=html`, "<body", ""},
		{"empty:numbers", `extract text`, "!numbers", ""},
		{"a.pptx", `select pages=2,1 | extract text`, "Slide 1\n\n\tSales", "a\tb"},
		{"a.pptx", `select pages=4`, "!slides 1 to 3", ""},
		{"a.pptx", `merge with=@"a.pptx" | extract text`, "Slide 6", ""},
		{"a.pptx", `merge with=@"a.txt"`, "!a.txt", ""},
		{"a.pptx", `reorder order=3,1,2 | extract text`, "Slide 1\n\na\tb", ""},
		{"a.pptx", `reorder order=3,1`, "!every one once", ""},
		{"a.pptx", `slides add at=1 title="New first" | extract text`, "New first\n\nSlide 2", ""},
		{"a.pptx", `slides add at=9`, "!1 to 4", ""},
		{"a.pptx", `slides update_text slide=1 text="Changed" | extract text`, "Changed", "Hello title"},
		{"a.pptx", `slides update_text slide=9 text="x"`, "!slides 1 to 3", ""},
		{"a.pptx", `slides update_table slide=3 updates='[{"row":1,"col":2,"value":"cell"}]' | extract text`, "a\tcell", ""},
		{"a.pptx", `slides update_table slide=1 updates='[{"row":1,"col":2,"value":"cell"}]'`, "!no table", ""},
		{"a.pptx", `slides update_image slide=3 with=@"a.png"`, "PK", ""},
		{"a.pptx", `slides update_image slide=3 with=@"a.txt"`, "!a.txt", ""},
		{"a.pptx", `slides update_chart slide=2 data='[["","2025"],["North",12]]' | extract text`, "North\t12", "Sales"},
		{"a.pptx", `slides update_chart slide=2 data='[[1]]'`, "!categories", ""},
		{"a.pptx", `slides delete slides=1 | extract text`, "Slide 2", "Hello title"},
		{"a.pptx", `slides delete slides=1,2,3`, "!slide", ""},
		{"a.pptx", `slides reorder order=2,1,3 | extract text`, "Slide 1\n\n\tSales", ""},
		{"a.pptx", `slides reorder order=2,1`, "!every one once", ""},
		{"a.pptx", `slides duplicate slide=1 | extract text`, "Slide 4", ""},
		{"a.pptx", `slides duplicate slide=9`, "!slides 1 to 3", ""},
	} {
		t.Run(tt.file+" "+tt.do, func(t *testing.T) {
			in := media.Payload{Data: bytes.Clone(have[tt.file]), Name: tt.file}
			var res media.Result
			var err error
			if format, ok := media.EmptyID(tt.file); ok {
				in, err = p.Create(t.Context(), format)
			}
			plan, cErr := p.Compile(tt.do)
			if cErr == nil && err == nil {
				res, err = p.Run(t.Context(), in, plan, media.RunOptions{Resolve: func(_ context.Context, id string) (media.Payload, error) {
					if b, ok := have[id]; ok {
						return media.Payload{Data: b, Name: id}, nil
					}
					return media.Payload{}, fmt.Errorf("no media %s", id)
				}})
			} else if err == nil {
				err = cErr
			}
			want, refused := strings.CutPrefix(tt.want, "!")
			for _, s := range strings.Split(tt.do, " | ") {
				for _, v := range p.Verbs() {
					if words := strings.ReplaceAll(v.ID, ".", " "); s == words || strings.HasPrefix(s, words+" ") {
						if seen[v.ID] == nil {
							seen[v.ID] = map[bool]bool{}
						}
						seen[v.ID][refused] = true
					}
				}
			}
			if refused {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Fatalf("got %v\n%.300s\nwant a refusal with %q", err, shown(res), want)
				}
				return
			}
			got := shown(res)
			if err != nil || !strings.Contains(got, want) || tt.lacks != "" && strings.Contains(got, tt.lacks) {
				t.Fatalf("%v\n%.600s\nwant %q and no %q", err, got, want, tt.lacks)
			}
			if res.Media != nil && bytes.Equal(res.Media.Data, in.Data) && tt.do != "sanitize" {
				t.Fatal("the result is what was there before")
			}
		})
	}
	for _, v := range p.Verbs() {
		if !seen[v.ID][true] || !seen[v.ID][false] {
			t.Errorf("%s: rows that work %v, rows that are refused %v; it needs both", v.ID, seen[v.ID][false], seen[v.ID][true])
		}
	}
}

// shown is a result as one text.
func shown(r media.Result) string {
	var b strings.Builder
	if r.Media != nil {
		b.Write(r.Media.Data)
	}
	for _, m := range r.List {
		b.Write(m.Data)
	}
	if r.Read != nil {
		b.WriteString(r.Read.Text)
		d, _ := json.Marshal(r.Read.Data)
		b.Write(d)
	}
	return b.String()
}
