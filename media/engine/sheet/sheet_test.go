package sheet

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/data"
	"github.com/tackle-dev/tackle/media/engine/sheet/calc"
	"github.com/tackle-dev/tackle/media/engine/text"
)

func pipeline(t testing.TB) *media.Pipeline {
	t.Helper()
	p, err := media.New(media.Config{Engines: []media.Engine{EngineWith(calc.Excelize), data.Engine(), text.Engine()}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func rich(t testing.TB) media.Payload {
	t.Helper()
	b, err := os.ReadFile("testdata/rich.xlsx")
	if err != nil {
		t.Fatal(err)
	}
	return media.Payload{Data: b, Name: "rich.xlsx"}
}

func query(t testing.TB, in media.Payload, statement string, with ...media.Payload) (media.Result, error) {
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
	res, err := query(t, in, statement, with...)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return res
}

// members returns the decoded members of a container.
func members(t testing.TB, data []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out[f.Name] = string(b)
	}
	return out
}

func changedParts(a, b map[string]string) []string {
	var out []string
	for name := range a {
		if b[name] != a[name] {
			out = append(out, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			out = append(out, name)
		}
	}
	return out
}

// opened opens a workbook with excelize, which is not used for writing here and so is a judge.
func opened(t testing.TB, p *media.Payload) *excelize.File {
	t.Helper()
	f, err := excelize.OpenReader(bytes.NewReader(p.Data))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// book makes a workbook with excelize.
func made(t testing.TB, fill func(f *excelize.File)) media.Payload {
	t.Helper()
	f := excelize.NewFile()
	fill(f)
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	f.Close()
	return media.Payload{Data: b.Bytes(), Name: "made.xlsx"}
}

func setCells(f *excelize.File, sheet string, cells map[string]any) {
	for at, v := range cells {
		if s, ok := v.(string); ok && strings.HasPrefix(s, "=") {
			_ = f.SetCellFormula(sheet, at, s[1:])
		} else {
			_ = f.SetCellValue(sheet, at, v)
		}
	}
}

func TestUpdateTouchesOnePart(t *testing.T) {
	in := rich(t)
	res := must(t, in, `sheet update_cells updates='[{"address":"A2","value":"a <b> & \"c\""},{"row":3,"col":"C","value":12.50},{"row":60,"col":12,"value":true},{"address":"B2","value":null}]'`)
	f := opened(t, res.Media)
	for at, want := range map[string]string{"A2": `a <b> & "c"`, "C3": "12.5", "L60": "TRUE", "B2": ""} {
		if got, err := f.GetCellValue("Data", at); err != nil || got != want {
			t.Errorf("%s is %q (%v), want %q", at, got, err, want)
		}
	}
	before, after := members(t, in.Data), members(t, res.Media.Data)
	for _, name := range changedParts(before, after) {
		switch name {
		case "xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/pivotCache/pivotCacheDefinition1.xml", "xl/worksheets/sheet3.xml":
		default:
			t.Errorf("%s changed", name)
		}
	}
	if !strings.Contains(after["xl/workbook.xml"], `fullCalcOnLoad="1"`) || !strings.Contains(after["xl/pivotCache/pivotCacheDefinition1.xml"], `refreshOnLoad="1"`) {
		t.Error("formulas and pivot tables are not computed again")
	}
	if len(res.Warnings) == 0 || !strings.Contains(res.Warnings[len(res.Warnings)-1], "pivot") {
		t.Errorf("warnings: %q", res.Warnings)
	}
	if res.Counts.Modified+res.Counts.Added != 4 {
		t.Errorf("%+v", res.Counts)
	}
	if !strings.Contains(after["xl/worksheets/sheet1.xml"], `<dimension ref="A1:L60"/>`) {
		t.Error("the dimension did not follow")
	}
}

// With no formula and no pivot table about, one part changes, and the others are the same compressed bytes.
func TestUntouchedMembersAreIdentical(t *testing.T) {
	in := made(t, func(f *excelize.File) {
		f.NewSheet("Two")
		setCells(f, "Sheet1", map[string]any{"A1": "x", "B1": 1})
	})
	res := must(t, in, `sheet update_cells updates='[{"address":"B1","value":2}]'`)
	if d := cmp.Diff([]string{"xl/worksheets/sheet1.xml"}, changedParts(members(t, in.Data), members(t, res.Media.Data))); d != "" {
		t.Error(d)
	}
}

func TestSheetVerbs(t *testing.T) {
	in := func() media.Payload {
		return made(t, func(f *excelize.File) {
			setCells(f, "Sheet1", map[string]any{"A1": "Region", "B1": "Qty", "C1": "Double", "A2": "North", "B2": 5, "C2": "=B2*2", "A3": "South", "B3": 7, "C3": "=B3*2", "B4": "=SUM(B2:B3)"})
			f.NewSheet("2025")
			setCells(f, "2025", map[string]any{"A1": "=Sheet1!B4+1", "A2": "=SUM(Sheet1!$B$2:$B$3)"})
			_ = f.SetDefinedName(&excelize.DefinedName{Name: "Qty", RefersTo: "Sheet1!$B$2:$B$3"})
			_ = f.MergeCell("Sheet1", "E3", "F4")
		})
	}
	for _, tt := range []struct {
		do   string
		want string // cells as sheet!cell=value or formula, comma separated
	}{
		{`sheet add_rows rows='[["West",9],["East",null,"=B6"]]'`, "Sheet1!A5=West Sheet1!B5=9 Sheet1!A6=East Sheet1!C6=B6"},
		{`sheet add_rows rows='[["West",9]]' before=3`, "Sheet1!A3=West Sheet1!A4=South Sheet1!C4=B4*2 Sheet1!B5=SUM(B2:B4) 2025!A1=Sheet1!B5+1 2025!A2=SUM(Sheet1!$B$2:$B$4)"},
		{`sheet add_rows rows='[["West"]]' after=1`, "Sheet1!A2=West Sheet1!C3=B3*2 Sheet1!B5=SUM(B3:B4)"},
		{`sheet add_columns headers=Note,More after=1`, "Sheet1!B1=Note Sheet1!C1=More Sheet1!D2=5 Sheet1!E2=D2*2 2025!A1=Sheet1!D4+1"},
		{`sheet add_columns columns='[{"header":"Note","values":["a","=A1"]}]'`, "Sheet1!D1=Note Sheet1!D2=a Sheet1!D3=A1"},
		{`sheet delete_rows rows=2`, "Sheet1!A2=South Sheet1!C2=B2*2 Sheet1!B3=SUM(B2:B2) 2025!A1=Sheet1!B3+1"},
		{`sheet delete_rows rows=2,3`, "Sheet1!B2=SUM(#REF!) 2025!A2=SUM(Sheet1!#REF!)"},
		{`sheet delete_columns columns=2`, "Sheet1!B2=#REF!*2 2025!A1=Sheet1!#REF!+1"},
		{`sheet rename_sheet sheet=Sheet1 to="My Data"`, "My Data!B2=5 2025!A1='My Data'!B4+1"},
		{`sheet add_sheet name=Notes at=1`, "Notes!A1="},
		{`sheet add_sheet name=Notes`, "Notes!A1= 2025!A1=Sheet1!B4+1"},
		{`sheet remove_sheet sheet=Sheet1`, "2025!A1=#REF!+1"},
		{`sheet reorder_sheets order='["2025",1]'`, "2025!A1=Sheet1!B4+1"},
		{`sheet transform_table rename='[{"from":"Qty","to":"Amount"}]' drop=Double`, "Sheet1!B1=Amount Sheet1!B2=5 Sheet1!C1= 2025!A1=Sheet1!B4+1"},
		{`sheet transform_table select=Double,Region`, "Sheet1!A1=Double Sheet1!B1=Region Sheet1!A2=#REF!*2 Sheet1!B2=North"},
		{`sheet transform_table select=Double,Qty`, "Sheet1!A1=Double Sheet1!B1=Qty Sheet1!A2=B2*2 Sheet1!B4=SUM(B2:B3)"},
		{`sheet update_cells sheet="2025" updates='[{"address":"A1","value":"=1+1"},{"address":"B1","value":"x"}]'`, "2025!A1=1+1 2025!B1=x"},
		{`sheet update_cells sheet=2 updates='[{"address":"A9","value":1}]'`, "2025!A9=1"},
	} {
		t.Run(tt.do, func(t *testing.T) {
			res := must(t, in(), tt.do)
			f := opened(t, res.Media)
			for _, w := range strings.Split(tt.want, " ") {
				if strings.HasPrefix(w, "Data!") { // "My Data" has a blank
					w = "My " + w
				}
				if w == "My" || strings.HasPrefix(w, "Data'") {
					continue
				}
				at, want, _ := strings.Cut(w, "=")
				sheet, cell, ok := strings.Cut(at, "!")
				if !ok {
					continue
				}
				got, err := f.GetCellFormula(sheet, cell)
				if got == "" && err == nil {
					got, err = f.GetCellValue(sheet, cell)
				}
				if want == "'My" {
					want = "'My Data'!B4+1"
				}
				if err != nil || got != want {
					t.Errorf("%s is %q (%v), want %q", at, got, err, want)
				}
			}
			wellFormed(t, res.Media)
		})
	}
	f := opened(t, must(t, in(), `sheet add_rows rows='[[1]]' before=3`).Media)
	if names := f.GetDefinedName(); names[0].RefersTo != "Sheet1!$B$2:$B$4" {
		t.Errorf("the name refers to %s", names[0].RefersTo)
	}
	if m, _ := f.GetMergeCells("Sheet1"); len(m) != 1 || m[0].GetStartAxis() != "E4" || m[0].GetEndAxis() != "F5" {
		t.Errorf("merged: %v", m)
	}
	f = opened(t, must(t, in(), `sheet reorder_sheets order='["2025",1]'`).Media)
	if d := cmp.Diff([]string{"2025", "Sheet1"}, f.GetSheetList()); d != "" {
		t.Error(d)
	}
	f = opened(t, must(t, in(), `sheet add_sheet name=Notes at=2`).Media)
	if d := cmp.Diff([]string{"Sheet1", "Notes", "2025"}, f.GetSheetList()); d != "" {
		t.Error(d)
	}
}

// wellFormed checks that every part is XML and every relationship leads somewhere.
func wellFormed(t testing.TB, p *media.Payload) {
	t.Helper()
	b, err := openBook(&media.Request{In: *p})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range b.zip.Names() {
		if strings.HasSuffix(name, ".xml") || strings.HasSuffix(name, ".rels") || strings.HasSuffix(name, ".vml") {
			if _, err := b.part(name); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, rel := range b.rels(name) {
			if !rel.external && !b.has(rel.target) {
				t.Errorf("%s leads to %s, which is not there", name, rel.target)
			}
		}
	}
}

func TestM6_SheetFailures(t *testing.T) {
	in := rich(t)
	for _, tt := range []struct{ do, want string }{
		{`sheet update_cells sheet=2025 updates='[{"address":"A1","value":1}]'`, `sheet update_cells: there is no sheet number 2025; the workbook has 3 sheets. A sheet is named "2025": quote the name. Use: sheet update_cells sheet="2025"`},
		{`sheet update_cells sheet=Nope updates='[{"address":"A1","value":1}]'`, `sheet update_cells: there is no sheet "Nope"; the workbook has "Data", "Pivot", "2025".`},
		{`sheet update_cells updates='[{"address":"1A","value":1}]'`, `sheet update_cells: element 1 of updates names no cell: give "address":"B2", or "row":2 and "col":"B".`},
		{`sheet update_cells updates='[{"address":"A1"}]'`, `sheet update_cells: element 1 of updates has no "value"; null empties a cell.`},
		{`sheet update_cells updates='[{"address":"A1","value":{}}]'`, `sheet update_cells: A1: a cell holds a text, a number, true, false or null, not {}.`},
		{`sheet update_cells updates='[{"address":"A1","value":"=SUM(A2"}]'`, `sheet update_cells: A1: the parentheses of the formula =SUM(A2 do not match.`},
		{`sheet update_cells updates='[{"address":"A1","value":"=cmd|x!A1"}]'`, `sheet update_cells: A1: the formula =cmd|x!A1 would start another program (DDE); it is refused.`},
		{`sheet update_cells updates='[{"address":"A1","value":1},{"row":1,"col":1,"value":2}]'`, `sheet update_cells: updates sets the cell A1 twice.`},
		{`sheet rename_sheet sheet=Data to=Pivot`, `sheet rename_sheet: there is a sheet "Pivot" already; the workbook has "Data", "Pivot", "2025".`},
		{`sheet rename_sheet sheet=Data to="a/b"`, `sheet rename_sheet: the name "a/b" cannot be used: a sheet's name holds none of : \ / ? * [ ], no ' at its ends, and is not History.`},
		{`sheet add_sheet name=data`, `sheet add_sheet: there is a sheet "Data" already; the workbook has "Data", "Pivot", "2025".`},
		{`sheet reorder_sheets order='["Data"]'`, `sheet reorder_sheets: the order names 1 sheets and the workbook has 3: "Data", "Pivot", "2025". Name every one once.`},
		{`sheet delete_rows rows=999`, `sheet delete_rows: the sheet "Data" has 43 rows with content, so there is no 999 to delete.`},
		{`sheet transform_table drop=Nope`, ``},
		{`sheet add_rows rows='[[1]]' before=1 after=2`, `sheet add_rows: give before or after, not both.`},
	} {
		_, err := query(t, in, tt.do)
		if err == nil || tt.want != "" && err.Error() != tt.want {
			t.Errorf("%s\n got %v\nwant %s", tt.do, err, tt.want)
		}
	}
	one := made(t, func(*excelize.File) {})
	if _, err := query(t, one, `sheet remove_sheet sheet=Sheet1`); err == nil || !strings.Contains(err.Error(), "keeps at least one sheet") {
		t.Error(err)
	}
}

// The table of field notes 2.3: what a change of the workbook from LibreOffice keeps, and what follows.
func TestFidelity(t *testing.T) {
	in := rich(t)
	old := members(t, in.Data)
	res := must(t, in, `sheet add_rows rows='[["new"]]' before=3`)
	now := members(t, res.Media.Data)
	has := func(part, what string) {
		t.Helper()
		if !strings.Contains(now[part], what) {
			t.Errorf("%s lacks %s\n%.1500s", part, what, now[part])
		}
	}
	for name := range old {
		if _, ok := now[name]; !ok {
			t.Errorf("%s is gone", name)
		}
	}
	has("xl/charts/chart1.xml", "Data!$C$2:$C$14")
	has("xl/workbook.xml", "Data!$C$2:$C$42")
	has("xl/pivotCache/pivotCacheDefinition1.xml", `refreshOnLoad="1"`)
	if old["xl/media/image1.png"] != now["xl/media/image1.png"] {
		t.Error("the picture changed")
	}
	wellFormed(t, res.Media)

	res = must(t, in, `sheet rename_sheet sheet=Data to="Raw Data"`)
	now = members(t, res.Media.Data)
	for name, part := range now {
		if strings.Contains(part, "Data!") && !strings.Contains(part, "'Raw Data'!") {
			t.Errorf("%s still refers to Data", name)
		}
	}
	has("xl/pivotCache/pivotCacheDefinition1.xml", `sheet="Raw Data"`)
	has("xl/workbook.xml", "'Raw Data'!$C$2")
	wellFormed(t, res.Media)
	wellFormed(t, must(t, in, `sheet remove_sheet sheet=Data`).Media)
	wellFormed(t, must(t, in, `sheet delete_columns columns=1,3`).Media)
}

func TestReading(t *testing.T) {
	in := made(t, func(f *excelize.File) {
		setCells(f, "Sheet1", map[string]any{"A1": "a,b", "B1": "x\ty", "D1": 0.1, "A3": true, "B3": "=1+D1", "C3": 20240105})
		st, _ := f.NewStyle(&excelize.Style{NumFmt: 14})
		_ = f.SetCellValue("Sheet1", "E1", 45296)
		_ = f.SetCellStyle("Sheet1", "E1", "E1", st)
		f.NewSheet("B|C")
		setCells(f, "B|C", map[string]any{"A1": "q|r"})
	})
	for _, tt := range []struct{ do, want string }{
		{"convert to=csv", "\"a,b\",x\ty,,0.1,2024-01-05\n\ntrue,1.1,20240105\n"},
		{"convert to=json", "[\n  [\"a,b\",\"x\\ty\",null,0.1,\"2024-01-05\"],\n  [],\n  [true,1.1,20240105]\n]\n"},
		{"extract text", "# Sheet1\na,b\tx y\t\t0.1\t2024-01-05\n\ntrue\t1.1\t20240105\n\n# B|C\nq|r\n"},
		{"convert to=md", "## Sheet1\n\n| a,b | x y |  | 0.1 | 2024-01-05 |\n| --- | --- | --- | --- | --- |\n|  |  |  |  |  |\n| true | 1.1 | 20240105 |  |  |\n\n## B|C\n\n| q\\|r |\n| --- |\n\n"},
	} {
		res := must(t, in, tt.do)
		got := ""
		if res.Read != nil {
			got = res.Read.Text
		} else {
			got = string(res.Media.Data)
		}
		if got != tt.want {
			t.Errorf("%s\n got %q\nwant %q", tt.do, got, tt.want)
		}
	}
	res := must(t, in, "convert to=csv")
	if len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], `left out: "B|C"`) {
		t.Errorf("%q", res.Warnings)
	}
	res = must(t, in, "split")
	if len(res.List) != 2 || res.List[1].Name != "made.B|C.csv" || string(res.List[1].Data) != "q|r\n" {
		t.Errorf("%+v", res.List)
	}
	b, _ := json.Marshal(must(t, in, "extract metadata").Read.Data)
	if !strings.Contains(string(b), `"columns":5`) || !strings.Contains(string(b), `"name":"B|C"`) {
		t.Errorf("%s", b)
	}
	b, _ = json.Marshal(must(t, rich(t), "extract metadata").Read.Data)
	if !strings.Contains(string(b), `"charts":1`) || !strings.Contains(string(b), `"pivot_tables":1`) {
		t.Errorf("%s", b)
	}
	assets := must(t, rich(t), "extract assets").List
	if len(assets) != 1 || assets[0].MIME != "image/png" || assets[0].Name != "image1.png" {
		t.Errorf("%+v", assets)
	}
}

func TestDates(t *testing.T) {
	blank := media.Payload{Data: must(t, media.Payload{Data: []byte("x\n"), Name: "x.csv"}, "convert to=xlsx").Media.Data, Name: "b.xlsx"}
	res := must(t, blank, `sheet update_cells updates='[{"address":"A1","value":"2024-01-05"},{"address":"A2","value":"1900-02-28"},{"address":"A3","value":"2024-01-05T06:00:00"},{"address":"A4","value":"2024-13-01"},{"address":"A5","value":"2024-02-01"}]'`)
	f := opened(t, res.Media)
	for at, want := range map[string]string{"A1": "01-05-24", "A3": "1/5/24 06:00", "A4": "2024-13-01"} {
		if got, _ := f.GetCellValue("Sheet1", at); got != want {
			t.Errorf("%s is %q, want %q", at, got, want)
		}
	}
	got := string(must(t, *res.Media, "convert to=csv").Media.Data)
	if got != "2024-01-05\n1900-02-28\n2024-01-05T06:00:00\n2024-13-01\n2024-02-01\n" {
		t.Errorf("%q", got)
	}
	if n := strings.Count(members(t, res.Media.Data)["xl/styles.xml"], "numFmtId=\"14\""); n != 1 {
		t.Errorf("%d styles for dates", n)
	}
}

func TestMED009_TextsBecomeNoFormulas(t *testing.T) {
	in := media.Payload{Data: []byte("name,code\n=HYPERLINK(\"http://x\"),007\n@cmd,1.50\n"), Name: "a.csv"}
	res := must(t, in, "convert to=xlsx")
	f := opened(t, res.Media)
	for at, want := range map[string]string{"A2": `=HYPERLINK("http://x")`, "A3": "@cmd", "B2": "007", "B3": "1.5"} {
		v, err := f.GetCellValue("Sheet1", at)
		formula, _ := f.GetCellFormula("Sheet1", at)
		if err != nil || v != want || formula != "" {
			t.Errorf("%s is %q with formula %q", at, v, formula)
		}
	}
	res = must(t, rich(t), `sheet update_cells updates='[{"address":"A1","value":"=HYPERLINK(\"http://x\")"}]'`)
	if !strings.Contains(strings.Join(res.Warnings, " "), "reaches out of the workbook") {
		t.Errorf("%q", res.Warnings)
	}
	if got := string(must(t, media.Payload{Data: []byte(`[{"a":"=1","b":2}]`), Name: "a.json"}, "convert to=xlsx | convert to=csv").Media.Data); got != "a,b\n=1,2\n" {
		t.Errorf("%q", got)
	}
}

// A text that looks like an escape of the format comes back as it is.
func TestTextsThatLookLikeEscapes(t *testing.T) {
	const s = "a _x0041_ _x000D_ x005F _xZZZZ_ _x0041"
	res := must(t, media.Payload{Data: []byte(s + "\n"), Name: "a.csv"}, `convert to=xlsx | sheet update_cells updates='[{"address":"A2","value":"`+s+`"}]' | convert to=csv`)
	if got := string(res.Media.Data); got != s+"\n"+s+"\n" {
		t.Errorf("%q", got)
	}
}

func TestCSVVerbs(t *testing.T) {
	const in = "a,b\n1,2\n3,4\n"
	for _, tt := range []struct{ do, want string }{
		{`sheet update_cells updates='[{"address":"B2","value":"x,y"},{"row":5,"col":3,"value":true}]'`, "a,b\n1,\"x,y\"\n3,4\n,\n,,true\n"},
		{`sheet add_rows rows='[[5,null]]'`, "a,b\n1,2\n3,4\n5,\n"},
		{`sheet add_rows rows='[[5,6]]' before=2`, "a,b\n5,6\n1,2\n3,4\n"},
		{`sheet add_columns headers=c columns='[{"header":"d","values":[7]}]' after=1`, "a,d,c,b\n1,7,,2\n3,,,4\n"},
		{`sheet delete_rows rows=1,2`, "3,4\n"},
		{`sheet delete_columns columns=1`, "b\n2\n4\n"},
		{`sheet transform_table rename='[{"from":"a","to":"z"}]' select=b,z`, "b,z\n2,1\n4,3\n"},
		{`sheet transform_table drop=a`, "b\n2\n4\n"},
	} {
		res, err := query(t, media.Payload{Data: []byte(in), Name: "t.csv"}, tt.do)
		if err != nil || string(res.Media.Data) != tt.want || res.Media.Name != "t.csv" {
			t.Errorf("%s\n got %q %v\nwant %q", tt.do, res.Media, err, tt.want)
		}
	}
	// What a table cannot be, a workbook can: it is converted, and that is said.
	res := must(t, media.Payload{Data: []byte(in), Name: "t.csv"}, `sheet add_sheet name=More`)
	if res.Media.Name != "t.xlsx" || len(res.Warnings) == 0 || !strings.Contains(res.Warnings[0], "converted to xlsx") {
		t.Errorf("%s %q", res.Media.Name, res.Warnings)
	}
	if got := string(must(t, media.Payload{Data: []byte("a;b\r\n1;2\r\n"), Name: "t.csv"}, `sheet add_rows rows='[[3,4]]'`).Media.Data); got != "a;b\r\n1;2\r\n3;4\r\n" {
		t.Errorf("%q", got)
	}
}

func TestRedactWorkbook(t *testing.T) {
	in := made(t, func(f *excelize.File) {
		setCells(f, "Sheet1", map[string]any{"A1": "Jane Roe", "A2": 123456789, "A3": `="Jane"&"!"`, "A4": "other", "B1": "x"})
		_ = f.SetCellRichText("Sheet1", "B2", []excelize.RichTextRun{{Text: "Ja"}, {Text: "ne", Font: &excelize.Font{Bold: true}}})
		_ = f.AddComment("Sheet1", excelize.Comment{Cell: "B1", Author: "Jane", Text: "ask Jane"})
		_ = f.SetHeaderFooter("Sheet1", &excelize.HeaderFooterOptions{OddHeader: "&CJane"})
		_ = f.SetCellHyperLink("Sheet1", "B1", "mailto:Jane@example.org", "External")
		f.NewSheet("About Jane")
		_ = f.SetDocProps(&excelize.DocProperties{Creator: "Jane", Title: "for Jane"})
		_ = f.AddChart("Sheet1", "D1", &excelize.Chart{Type: excelize.Col, Series: []excelize.ChartSeries{{Name: "Sheet1!$A$1", Values: "Sheet1!$A$2:$A$2"}}, Title: excelize.ChartTitle{Paragraph: []excelize.RichTextRun{{Text: "Jane's"}}}})
	})
	res := must(t, in, `redact match=Jane,/\d{9}/ replace=X`)
	for name, part := range members(t, res.Media.Data) {
		if strings.Contains(part, "Jane") || strings.Contains(part, "123456789") {
			t.Errorf("%s still holds it", name)
		}
	}
	f := opened(t, res.Media)
	for at, want := range map[string]string{"A1": "X Roe", "A2": "X", "A4": "other", "B2": "X"} {
		if got, _ := f.GetCellValue("Sheet1", at); got != want {
			t.Errorf("%s is %q, want %q", at, got, want)
		}
	}
	if d := cmp.Diff([]string{"Sheet1", "About X"}, f.GetSheetList()); d != "" {
		t.Error(d)
	}
	wellFormed(t, res.Media)
	for _, tt := range []struct{ do, want string }{
		{`redact match=Nobody`, "nothing in made.xlsx matches"},
		{`redact match=Jane replace=Janet`, "still stands"},
	} {
		if _, err := query(t, in, tt.do); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.do, err)
		}
	}
	res = must(t, rich(t), `redact match=North replace=N`)
	wellFormed(t, res.Media)
}

func TestSanitizeWorkbook(t *testing.T) {
	in := made(t, func(f *excelize.File) {
		setCells(f, "Sheet1", map[string]any{"A1": "x", "A2": "=cmd|'/c calc'!A0"})
		_ = f.SetCellHyperLink("Sheet1", "A1", "file:///c:/x.exe", "External")
		_ = f.AddVBAProject([]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 macros"))
	})
	res := must(t, in, `sanitize`)
	now := members(t, res.Media.Data)
	for name, part := range now {
		if strings.Contains(name, "vbaProject") || strings.Contains(part, "calc.exe") || strings.Contains(part, "file:///c:") {
			t.Errorf("%s: %.200s", name, part)
		}
	}
	if strings.Contains(now["xl/worksheets/sheet1.xml"], "<f>") || res.Media.MIME != xlsxMIME || res.Media.Name != "made.xlsx" {
		t.Errorf("%s %s %s", res.Media.Name, res.Media.MIME, now["xl/worksheets/sheet1.xml"])
	}
	wellFormed(t, res.Media)
	opened(t, res.Media)
}

func TestDiffOfWorkbooks(t *testing.T) {
	a := rich(t)
	b := *must(t, a, `sheet update_cells updates='[{"address":"B3","value":"other"}]' | sheet add_sheet name=More`).Media
	b.Name = "b"
	res := must(t, a, `diff with=@b`, b)
	if !strings.Contains(res.Read.Text, `Data!B3: `) || !strings.Contains(res.Read.Text, `-> "other"`) || !strings.Contains(res.Read.Text, `+ sheet "More"`) || strings.Count(res.Read.Text, "\n") != 4 {
		t.Errorf("%s", res.Read.Text)
	}
	a.Name = "b"
	if res = must(t, a, `diff with=@b`, a); !strings.HasPrefix(res.Read.Text, "No differences") {
		t.Errorf("%s", res.Read.Text)
	}
}

func TestTablesFollow(t *testing.T) {
	in := made(t, func(f *excelize.File) {
		setCells(f, "Sheet1", map[string]any{"A1": "Region", "B1": "Qty", "A2": "North", "B2": 1, "A3": "South", "B3": 2})
		if err := f.AddTable("Sheet1", &excelize.Table{Range: "A1:B3", Name: "T"}); err != nil {
			t.Fatal(err)
		}
	})
	table := func(res media.Result) string { return members(t, res.Media.Data)["xl/tables/table1.xml"] }
	for _, tt := range []struct{ do, want string }{
		{`sheet add_rows rows='[["x",1]]' before=3`, `ref="A1:B4"`},
		{`sheet update_cells updates='[{"address":"B1","value":"Amount"}]'`, `name="Amount"`},
		{`sheet delete_columns columns=2`, `<tableColumns count="1"><tableColumn id="1" name="Region"`},
		{`sheet add_columns headers=New before=2`, `name="New"`},
		{`sheet transform_table select=Qty,Region`, `name="Qty"`},
	} {
		if got := table(must(t, in, tt.do)); !strings.Contains(got, tt.want) {
			t.Errorf("%s: no %s in %s", tt.do, tt.want, got)
		}
	}
	for _, do := range []string{`sheet delete_rows rows=1`, `sheet delete_columns columns=1-2`, `sheet update_cells updates='[{"address":"B1","value":5}]'`} {
		if _, err := query(t, in, do); err == nil {
			t.Errorf("%s passed", do)
		}
	}
}

// Comments keep their cells.
func TestCommentsFollow(t *testing.T) {
	in := made(t, func(f *excelize.File) {
		setCells(f, "Sheet1", map[string]any{"A1": 1, "A2": 2, "A5": 5})
		_ = f.AddComment("Sheet1", excelize.Comment{Cell: "A2", Author: "a", Text: "two"})
		_ = f.AddComment("Sheet1", excelize.Comment{Cell: "A5", Author: "a", Text: "five"})
	})
	res := must(t, in, `sheet delete_rows rows=2`)
	c, err := opened(t, res.Media).GetComments("Sheet1")
	if err != nil || len(c) != 1 || c[0].Cell != "A4" {
		t.Errorf("%+v %v", c, err)
	}
	vml := members(t, res.Media.Data)["xl/drawings/vmlDrawing1.vml"]
	if !strings.Contains(vml, "Row>3<") || strings.Count(vml, "<v:shape ") != 1 {
		t.Errorf("%s", vml)
	}
	c, _ = opened(t, must(t, in, `sheet add_rows rows='[[0]]' before=1`).Media).GetComments("Sheet1")
	if len(c) != 2 || c[0].Cell != "A3" || c[1].Cell != "A6" {
		t.Errorf("%+v", c)
	}
}

// What is written is what is read, wherever it goes; what stood elsewhere stays.
func TestUpdateProperty(t *testing.T) {
	base := made(t, func(f *excelize.File) {
		setCells(f, "Sheet1", map[string]any{"B2": "keep", "D4": 4.5, "C3": true})
	})
	p := pipeline(t)
	rapid.Check(t, func(rt *rapid.T) {
		type up struct {
			Address string `json:"address"`
			Value   any    `json:"value"`
		}
		want := map[string]string{"B2": "keep", "D4": "4.5", "C3": "true"}
		var ups []up
		seen := map[string]bool{}
		for range rapid.IntRange(1, 8).Draw(rt, "n") {
			at := pos{rapid.IntRange(1, 6).Draw(rt, "row"), rapid.IntRange(1, 6).Draw(rt, "col")}.String()
			if seen[at] {
				continue
			}
			seen[at] = true
			switch rapid.IntRange(0, 2).Draw(rt, "kind") {
			case 0:
				s := rapid.StringMatching(`[a-z<&>" éŽ\n]{1,8}`).Draw(rt, "text")
				ups, want[at] = append(ups, up{at, s}), s
			case 1:
				n := rapid.IntRange(-1000, 100000).Draw(rt, "number")
				ups, want[at] = append(ups, up{at, n}), fmt.Sprint(n)
			default:
				ups = append(ups, up{at, nil})
				delete(want, at)
			}
		}
		if ups == nil {
			return
		}
		res, err := p.Build().Then("sheet.update_cells", media.Args{"updates": ups}).Run(t.Context(), base, media.RunOptions{})
		if err != nil {
			rt.Fatal(err)
		}
		b, err := openBook(&media.Request{In: *res.Media})
		if err != nil {
			rt.Fatal(err)
		}
		table, err := b.read(0)
		if err != nil {
			rt.Fatal(err)
		}
		got := map[string]string{}
		for r, row := range table {
			for c, s := range row {
				if s != "" {
					got[pos{r + 1, c + 1}.String()] = s
				}
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			rt.Fatal(d)
		}
	})
}

// Rows that are put in and taken out again leave what was there.
func TestInsertAndDelete(t *testing.T) {
	in := rich(t)
	p := pipeline(t)
	want := must(t, in, "extract text").Read.Text
	for _, at := range []int{1, 2, 20, 43} {
		for _, n := range []int{1, 3} {
			rows := make([][]any, n)
			var gone []int
			for i := range rows {
				rows[i] = []any{nil}
				gone = append(gone, at+i)
			}
			res, err := p.Build().Then("sheet.add_rows", media.Args{"rows": rows, "before": at}).Then("sheet.delete_rows", media.Args{"rows": gone}).Then("extract.text", nil).Run(t.Context(), in, media.RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, res.Read.Text); d != "" {
				t.Errorf("%d rows at %d: %s", n, at, d)
			}
		}
	}
}

func TestMED_BadWorkbooks(t *testing.T) {
	in := rich(t)
	for _, cut := range []int{5, 100, len(in.Data) / 2, len(in.Data) - 3} {
		if _, err := query(t, media.Payload{Data: in.Data[:cut], MIME: xlsxMIME, Name: "a.xlsx"}, `sheet delete_rows rows=1`); err == nil {
			t.Errorf("cut at %d passed", cut)
		}
	}
	bad := func(part, content string) media.Payload {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for name, s := range members(t, in.Data) {
			if name == part {
				s = content
			}
			m, err := w.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Write([]byte(s)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return media.Payload{Data: b.Bytes(), Name: "bad.xlsx"}
	}
	for _, tt := range []struct{ part, content, want string }{
		{"xl/worksheets/sheet1.xml", `<!DOCTYPE a [<!ENTITY b "c">]><worksheet><sheetData/></worksheet>`, "document type"},
		{"xl/worksheets/sheet1.xml", `<worksheet><sheetData><row>`, "no"},
		{"xl/worksheets/sheet1.xml", `<worksheet/>`, "sheetData"},
		{"xl/workbook.xml", `<workbook/>`, "without sheets"},
		{"xl/workbook.xml", ``, ""},
	} {
		_, err := query(t, bad(tt.part, tt.content), `sheet update_cells updates='[{"address":"A1","value":1}]'`)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %.40q: %v", tt.part, tt.content, err)
		}
	}
	far := bad("xl/worksheets/sheet1.xml", `<worksheet><sheetData><row r="1"><c r="A1"><v>1</v></c></row><row r="1000000"><c r="A1000000"><v>1</v></c></row></sheetData></worksheet>`)
	if _, err := query(t, far, `convert to=csv`); err == nil || !strings.Contains(err.Error(), "empty ones") {
		t.Error(err)
	}
}

func FuzzSheetXML(f *testing.F) {
	in := rich(f)
	f.Add(members(f, in.Data)["xl/worksheets/sheet3.xml"])
	f.Add(`<worksheet><sheetData><row r="2"><c r="B2" t="s"><v>0</v></c><c><f t="shared" si="0" ref="A1:A2">A1</f></c></row><row/></sheetData></worksheet>`)
	f.Fuzz(func(t *testing.T, src string) {
		b := &book{r: &media.Request{}, parts: map[string][]byte{}, changed: map[string][]byte{}}
		raw, err := unshare([]byte(src))
		if err != nil {
			return
		}
		_, _ = b.put(raw, map[pos]val{{2, 2}: {raw: json.RawMessage(`"x"`)}, {9, 1}: {raw: json.RawMessage(`1`)}})
		g, err := findGrid(raw)
		if err == nil {
			w := &rewrite{sheet: "S", remap: inserting(false, 2, 1)}
			b.gridMoved(g, w, "S")
			b.surroundings(raw, w, "S")
		}
	})
}

// Without a calculator a formula without a value is shown as it is, and that is said.
func TestFormulasWithoutValues(t *testing.T) {
	p, err := media.New(media.Config{Engines: []media.Engine{Engine()}})
	if err != nil {
		t.Fatal(err)
	}
	in := made(t, func(f *excelize.File) { setCells(f, "Sheet1", map[string]any{"A1": 2, "B1": "=A1*2"}) })
	res, err := p.Query(t.Context(), in, "convert to=csv")
	if err != nil || string(res.Media.Data) != "2,=A1*2\n" || len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "no stored value") {
		t.Errorf("%q %q %v", res.Media.Data, res.Warnings, err)
	}
}
