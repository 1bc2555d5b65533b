package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine"
)

// columns are the formats of the table of field notes 2.6, each with a file and a word in it. What the table has in one
// column (odt, ods, odp) stands apart here, and the formats that it names elsewhere come last.
var columns = []struct{ format, file, word string }{
	{"pdf", "../../tests/media/testdata/contract.pdf", "quick brown"},
	{"docx", "ooxml/testdata/contract.docx", "quick brown"},
	{"xlsx", "sheet/testdata/rich.xlsx", "Apple"},
	{"pptx", "ooxml/testdata/deck.pptx", "Title of"},
	{"odt", "odf/testdata/contract.odt", "quick brown"},
	{"ods", "odf/testdata/rich.ods", "Apple"},
	{"odp", "odf/testdata/deck.odp", "Title of"},
	{"doc", "legacy/testdata/contract.doc", "quick brown"},
	{"xls", "legacy/testdata/rich.xls", "Apple"},
	{"ppt", "test.ppt", "Lorem ipsum"},
	{"csv", "", "Apple"}, {"txt", "", "Apple"}, {"md", "", "Apple"}, {"html", "", "Apple"}, {"json", "", "Apple"}, {"yaml", "", "Apple"},
	{"png", "", ""},
	{"mp3", "audio/testdata/two.mp3", ""},
	{"rtf", "legacy/testdata/contract.rtf", "quick brown"},
	{"epub", "legacy/testdata/contract.epub", "quick brown"},
	{"fodt", "odf/testdata/contract.fodt", "quick brown"},
	{"eml", "", "Apple"},
	{"svg", "", "Apple"},
}

var texts = map[string]string{
	"csv":  "name,qty\nApple,3\nPear,4\n",
	"txt":  "One Apple.  \r\nTwo lines.\r\n",
	"md":   "# First\n\nSome Apple. \n\n# Second\n\n![dot](data:image/png;base64,iVBORw0KGgo=)\n",
	"html": "<html><body><h1>First</h1><p onclick=\"x()\">An Apple. </p><h1>Second</h1><img src=\"data:image/png;base64,iVBORw0KGgo=\"></body></html>",
	"json": "[[\"Apple\", 1] ,\r\n [\"Pear\", 2]]\n",
	"yaml": "a: [Apple, 1] \n",
	"eml":  "From: a@example.org\r\nTo: b@example.org\r\nSubject: Fruit\r\n\r\nAn Apple.\r\n",
	"svg":  "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>x()</script><text>Apple </text></svg>",
}

// cells reads what is expected of a row: lines of + for formats with which it works, and what is in the result then, and of -
// for those with which it is refused, and what the refusal says.
func cells(t *testing.T, s string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		formats, want, _ := strings.Cut(line[1:], ":")
		for _, f := range strings.Fields(formats) {
			if _, twice := out[f]; twice {
				t.Fatalf("%s stands twice in %s", f, s)
			}
			out[f] = line[:1] + strings.TrimSpace(want)
		}
	}
	return out
}

const (
	sheetless = "- pdf docx pptx odt odp doc ppt txt md html json yaml png mp3 rtf epub fodt eml svg: works on xlsx\n"
	slideless = "- pdf docx xlsx odt ods odp doc xls ppt csv txt md html json yaml png mp3 rtf epub fodt eml svg: works on pptx"
	pixelless = "- pdf docx xlsx pptx odt ods odp doc xls ppt csv txt md html json yaml mp3 rtf epub fodt eml svg: works on images\n"
	paperless = "- docx xlsx odt ods doc xls ppt csv txt md html json yaml png mp3 rtf epub fodt eml svg: works on pptx"
	oneSheet  = sheetless + "- csv: there is no sheet\n"
	treeless  = "- pdf docx xlsx pptx odt ods odp doc xls ppt csv txt md html png mp3 rtf epub fodt eml svg: works on json, yaml"
)

// M2: every cell of the table of verbs and formats: it works, or the refusal says what does. A cell that nobody wrote fails.
func TestM2_CellsOfTheVerbTable(t *testing.T) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	p, err := media.New(media.Config{Engines: engine.With(engine.Config{Cache: filepath.Join(cache, "tackle", "pdfium")})})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]media.Payload{}
	for _, c := range columns {
		data := []byte(texts[c.format])
		switch {
		case c.format == "png":
			data = sample()
		case c.format == "ppt":
			dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/richardlehane/mscfb").Output()
			if err != nil {
				t.Fatal(err)
			}
			if data, err = os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "test", c.file)); err != nil {
				t.Fatal(err)
			}
		case c.file != "":
			if data, err = os.ReadFile(c.file); err != nil {
				t.Fatal(err)
			}
		}
		files["a."+c.format] = media.Payload{Data: data, Name: "a." + c.format}
	}
	resolve := func(_ context.Context, id string) (media.Payload, error) {
		if f, ok := files[id]; ok {
			return f, nil
		}
		return media.Payload{}, fmt.Errorf("no media %s", id)
	}
	done := map[string]bool{}
	for _, row := range rows {
		want := cells(t, row.want)
		for _, c := range columns {
			expected, ok := want[c.format]
			do := strings.NewReplacer("$W", c.word, "$SELF", `"a.`+c.format+`"`).Replace(row.do)
			if !ok {
				t.Errorf("%s: nothing is said of %s", row.do, c.format)
				continue
			}
			t.Run(c.format+" "+row.do, func(t *testing.T) {
				in := files["a."+c.format]
				in.Data = bytes.Clone(in.Data)
				plan, err := p.Compile(do)
				var res media.Result
				if err == nil {
					res, err = p.Run(t.Context(), in, plan, media.RunOptions{Resolve: resolve})
				}
				if words, refused := strings.CutPrefix(expected, "-"); refused {
					if err == nil || !strings.Contains(err.Error(), words) {
						t.Errorf("%v %.100q, want a refusal with %q", err, shown(res), words)
					}
					return
				}
				if err != nil || !strings.Contains(shown(res), expected[1:]) {
					t.Errorf("%v %.300q, want %q", err, shown(res), expected[1:])
				}
				if res.Media != nil && len(res.Media.Data) == 0 || res.Media == nil && res.List == nil && res.Read == nil {
					t.Error("it gave nothing")
				}
			})
		}
		for _, step := range strings.Split(row.do, " | ") {
			for _, v := range p.Verbs() {
				if words := strings.ReplaceAll(v.ID, ".", " "); step == words || strings.HasPrefix(step, words+" ") {
					done[v.ID] = true
				}
			}
		}
	}
	for _, v := range p.Verbs() {
		if !done[v.ID] {
			t.Errorf("no row for %s", v.ID)
		}
	}
	if n := len(columns); slices.ContainsFunc(rows, func(r tableRow) bool { return len(cells(t, r.want)) != n }) {
		t.Errorf("a row speaks of formats that are no column")
	}
}

type tableRow struct{ do, want string }

var rows = []tableRow{
	{`convert to=txt`, `+ pdf docx odt doc rtf epub fodt: quick brown
		+ xlsx ods xls csv txt md html json yaml eml svg: Apple
		+ pptx odp: Title of
		+ ppt: Lorem ipsum
		- png mp3: Do not retry convert to=txt`},
	{`convert to=md`, `+ pdf docx odt doc rtf fodt: # Employment contract
		+ epub: Employment contract
		+ xlsx ods xls csv html json txt md eml: Apple
		+ pptx odp ppt: # 
		- yaml png mp3 svg: Do not retry convert to=md`},
	{`convert to=html`, `+ pdf docx odt doc rtf fodt: Employment contract</h1>
		+ epub: Employment contract</p>
		+ xlsx ods xls csv: <td>Apple</td>
		+ pptx: <h1>
		+ odp ppt: <h2>
		+ json txt md html eml: Apple
		- yaml png mp3 svg: Do not retry convert to=html`},
	{`convert to=csv`, `+ xlsx ods xls csv json: Apple,
		- yaml: an object at its root
		- pdf docx pptx odt odp doc ppt txt md html png mp3 rtf epub fodt eml svg: Do not retry convert to=csv`},
	{`convert to=json`, `+ xlsx ods xls: "Apple"
		+ csv json yaml: "Apple"
		- pdf docx pptx odt odp doc ppt txt md html png mp3 rtf epub fodt eml svg: Do not retry convert to=json`},
	{`convert to=xlsx`, `+ xlsx ods xls csv json: PK
		- pdf docx pptx odt odp doc ppt txt md html yaml png mp3 rtf epub fodt eml svg: Do not retry convert to=xlsx`},
	{`convert to=ods`, `+ xlsx ods xls csv json: PK
		- pdf docx pptx odt odp doc ppt txt md html yaml png mp3 rtf epub fodt eml svg: Do not retry convert to=ods`},
	{`convert to=docx`, `+ docx xlsx pptx odt ods odp doc xls ppt csv txt md html json rtf epub fodt eml: PK
		- pdf yaml png mp3 svg: Do not retry convert to=docx`},
	{`convert to=pdf`, `+ pdf png: %PDF-
		- docx xlsx pptx odt ods odp doc xls ppt csv txt md html json yaml mp3 rtf epub fodt eml svg: Do not retry convert to=pdf`},
	{`convert to=wav`, `+ mp3: WAVE
		- pdf docx xlsx pptx odt ods odp doc xls ppt csv txt md html json yaml png rtf epub fodt eml svg: Do not retry convert to=wav`},
	{`select pages=1 | extract text`, `+ pdf: Employment contract
		+ pptx odp: Title of slide 1
		` + paperless},
	{`split`, `+ pdf: %PDF-
		+ pptx odp: PK
		+ xlsx ods xls: Apple
		- docx odt fodt md html: split by=section
		- csv txt json yaml png mp3 svg: works on xlsx
		- doc ppt rtf epub eml: Convert it first: convert to=md`},
	{`split by=section`, `+ pdf: %PDF-
		+ docx odt odp: PK
		+ fodt: Salary
		+ xlsx ods xls: Apple
		+ md html: Second
		- pptx: has no sections. Use: split by=page
		- csv txt json yaml png mp3 svg: works on xlsx
		- doc ppt rtf epub eml: Convert it first: convert to=md`},
	{`merge with=@$SELF | extract metadata`, `+ pdf: "page_count":8
		+ pptx: "slide_count":10
		- odp: works on pptx
		` + paperless},
	{`reorder order=1`, `- pdf: leaves out 2-4
		- pptx odp: 5
		` + paperless},
	{`redact match="$W" replace="gone" | extract text`, `+ docx xlsx pptx odt ods odp csv txt md html json yaml rtf epub fodt svg pdf: gone
		- doc ppt eml: Convert it first: convert to=md
		- xls: Convert it first: convert to=xlsx
		- png mp3: match`},
	{`sanitize`, `+ pdf: %PDF-
		+ docx xlsx pptx odt ods odp epub: PK
		+ csv txt md html json yaml svg: Apple
		+ fodt: quick brown
		+ rtf: {\rtf1
		+ mp3: 
		- doc ppt eml: Convert it first: convert to=md
		- xls: Convert it first: convert to=xlsx
		- png: works on`},
	{`normalize`, `+ docx xlsx pptx odt ods odp epub: PK
		+ csv txt md html json yaml svg: Apple
		+ fodt: quick brown
		+ rtf: {\rtf1
		- pdf: no line endings
		- doc ppt eml: Convert it first: convert to=md
		- xls: Convert it first: convert to=xlsx
		- png mp3: works on`},
	{`update_text anchor="$W" replace="[new]" | extract text`, `+ docx pptx odt odp csv txt md html json yaml rtf epub fodt svg: [new]
		- pdf: lines do not flow
		- doc ppt eml: Convert it first: convert to=md
		- xlsx xls ods: Convert it first: convert to=json
		- png mp3: works on`},
	{`diff with=@$SELF`, `+ pdf docx pptx odt odp doc ppt csv txt md html json yaml rtf epub fodt eml svg: No differences.
		+ xlsx ods xls: No differences in the values of cells.
		- png mp3: works on`},
	{`append text="more"`, `+ csv txt md html json yaml svg: more
		- pdf png mp3: works on text files
		- docx odt doc ppt pptx odp rtf epub fodt eml: Convert it first: convert to=md
		- xlsx ods xls: Convert it first: convert to=csv`},
	{`apply_patch patch="--- a\n+++ a\n@@ -1 +1 @@\n-no such line\n+x\n"`, `- csv txt md html json yaml svg: hunk #1
		- pdf png mp3: works on text files
		- docx odt doc ppt pptx odp rtf epub fodt eml: Convert it first: convert to=md
		- xlsx ods xls: Convert it first: convert to=json`},
	{`data set path="[0]" value=7`, `+ json: 7
		- yaml: the root is an object
		` + treeless},
	{`data merge fragment='{"b":1}'`, `+ yaml: b: 1
		- json: object
		` + treeless},
	{`data delete path="[0]"`, `+ json: Pear
		- yaml: [0]
		` + treeless},
	{`extract text`, `+ pdf docx odt doc rtf epub fodt: quick brown
		+ xlsx ods xls csv txt md html json yaml eml svg: Apple
		+ pptx odp: Title of
		+ ppt: Lorem ipsum
		- png: needs an OCR engine
		- mp3: works on`},
	{`extract metadata`, `+ pdf: "page_count":4
		+ docx odt doc rtf fodt epub: Ada Lovelace
		+ xlsx ods: "sheets"
		+ xls: Quarterly data
		+ pptx odp: "slide_count":5
		+ ppt: "family":"presentation"
		+ csv txt html json yaml svg: "encoding"
		+ md: # First
		+ png: "width":40
		+ mp3: "sample_rate"
		+ eml: Fruit`},
	{`extract assets types=image`, `+ xlsx pptx ods odp md html: PNG
		- pdf: holds no pictures
		- docx odt doc xls ppt rtf epub fodt eml svg: holds no embedded files of the kind
		- csv txt json yaml png: works on
		- mp3: carries no picture`},
	{`chunk`, `+ pdf docx xlsx pptx odt ods odp doc xls ppt csv txt md html json yaml rtf epub fodt eml svg: "char_start":0
		- png mp3: works on`},
	{`sheet update_cells updates='[{"address":"B2","value":77}]' | convert to=csv`, `+ xlsx ods xls csv: 77
		` + sheetless},
	{`sheet add_rows rows='[["Plum",5]]' | convert to=csv`, `+ xlsx ods xls csv: Plum,5
		` + sheetless},
	{`sheet add_columns headers=Extra | convert to=csv`, `+ xlsx ods xls csv: Extra
		` + sheetless},
	{`sheet delete_rows rows=1 | convert to=csv`, `+ xlsx ods xls csv: 3
		` + sheetless},
	{`sheet delete_columns columns=1 | convert to=csv`, `+ xlsx ods xls: Product
		+ csv: qty
		` + sheetless},
	{`sheet transform_table select=qty | convert to=csv`, `+ csv: qty
		+ xlsx ods xls: Qty
		` + sheetless},
	{`sheet rename_sheet sheet=Data to=Facts | extract text`, `+ xlsx ods xls: # Facts
		` + oneSheet},
	{`sheet add_sheet name=New | extract text`, `+ xlsx ods xls csv: # New
		` + sheetless},
	{`sheet remove_sheet sheet=Pivot | extract text`, `+ xlsx ods xls: # Data
		` + oneSheet},
	{`sheet reorder_sheets order='["2025","Pivot","Data"]' | extract text`, `+ xlsx ods xls: # 2025
		` + oneSheet},
	{`slides add title="New" | extract text`, `+ pptx: New
		` + slideless},
	{`slides update_text slide=1 text="Changed" | extract text`, `+ pptx: Changed
		` + slideless},
	{`slides update_table slide=2 updates='[{"row":1,"col":1,"value":"first"}]' | extract text`, `+ pptx: first
		` + slideless},
	{`slides update_image slide=3 with=@"a.png"`, `+ pptx: PK
		` + slideless},
	{`slides update_chart slide=1 data='[["","2025"],["North",12]]'`, `- pptx: chart
		` + slideless},
	{`slides delete slides=1 | extract text`, `+ pptx: Title of slide 2
		` + slideless},
	{`slides reorder order=5,4,3,2,1 | extract text`, `+ pptx: Title of slide 5
		` + slideless},
	{`slides duplicate slide=1 | extract metadata`, `+ pptx: "slide_count":6
		` + slideless},
	{`image resize width=10`, `+ png: PNG
		` + pixelless},
	{`image format to=jpg | extract metadata`, `+ png: image/jpeg
		` + pixelless},
	{`image rotate deg=90`, `+ png: PNG
		` + pixelless},
	{`image flip axis=horizontal`, `+ png: PNG
		` + pixelless},
	{`image strip_metadata`, `+ png: PNG
		` + pixelless},
	{`audio transcribe`, `- pdf docx xlsx pptx odt ods odp doc xls ppt csv txt md html json yaml png mp3 rtf epub fodt eml svg: needs a speech engine and this deployment has none. Do not retry`},
}
