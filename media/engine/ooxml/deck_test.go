package ooxml

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/media"
)

// titles lists the slides of a deck by the number in their titles.
func titles(t testing.TB, p media.Payload) string {
	t.Helper()
	var out []string
	for _, m := range regexp.MustCompile(`(?m)^# (?:Title of slide )?(.*)$`).FindAllStringSubmatch(string(must(t, p, "convert to=md").Media.Data), -1) {
		out = append(out, m[1])
	}
	return strings.Join(out, ",")
}

func TestM2_SlidesAsAWhole(t *testing.T) {
	for _, tt := range []struct {
		do, want string
		counts   media.Counts
	}{
		{"select pages=3,1,3", "3,1,3", media.Counts{Added: 1, Removed: 3}},
		{"select pages=1-5", "1,2,3,4,5", media.Counts{}},
		{"reorder order=5,4,3,2,1", "5,4,3,2,1", media.Counts{Modified: 5}},
		{"slides reorder order=2,1,3,4,5", "2,1,3,4,5", media.Counts{Modified: 5}},
		{"slides delete slides=2-4", "1,5", media.Counts{Removed: 3}},
		{"slides duplicate slide=2", "1,2,2,3,4,5", media.Counts{Added: 1}},
		{`slides duplicate slide="Title of slide 4" at=1`, "4,1,2,3,4,5", media.Counts{Added: 1}},
		{`slides add title="New & <fine>" at=2`, `1,New & \<fine\>,2,3,4,5`, media.Counts{Added: 1}},
		{`slides add layout="title only" title=X`, "1,2,3,4,5,X", media.Counts{Added: 1}},
		{`slides add`, "1,2,3,4,5,Slide 6", media.Counts{Added: 1}},
	} {
		in := sample(t, "deck.pptx")
		res := must(t, in, tt.do)
		if got := titles(t, *res.Media); got != tt.want || res.Counts != tt.counts {
			t.Errorf("%s: %s %+v", tt.do, got, res.Counts)
		}
		// What stays is the same bytes.
		a, b := members(t, in.Data), members(t, res.Media.Data)
		for name, was := range a {
			if now, ok := b[name]; ok && string(was) != string(now) && name != typesPart && !strings.HasPrefix(name, "ppt/presentation.xml") && name != "ppt/_rels/presentation.xml.rels" && name != "docProps/app.xml" {
				t.Errorf("%s changed %s", tt.do, name)
			}
		}
	}
}

func TestM6_SlideRefusals(t *testing.T) {
	pic := media.Payload{Data: []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"), Name: "a.svg"}
	for do, want := range map[string]string{
		"select pages=9":                                            "slide 9 does not exist; the deck has slides 1 to 5.",
		"reorder order=1,1,2,3,4":                                   "slide 1 stands in the order twice.",
		"slides reorder order=1,2":                                  "the order names 2 slides and the deck has 5.",
		"slides delete slides=1-5":                                  "that would delete all 5 slides",
		"slides delete slides=6":                                    "slide 6 does not exist",
		`slides duplicate slide="Nope"`:                             `no slide is called "Nope". The slides: 1 "Title of slide 1"`,
		"slides add at=9":                                           "a slide can stand at 1 to 6, not at 9.",
		`slides add layout="Nope"`:                                  `there is no layout "Nope". The deck has "Blank Slide", "Title Slide"`,
		`slides update_text slide=2 placeholder="Nope" text=x`:      `the slide has no shape with text called "Nope". It has "PlaceHolder 1", "PlaceHolder 2".`,
		`slides update_table slide=1 updates='[{"row":1,"col":1}]'`: "the slide has no table.",
		`slides update_table slide=2 updates='[{"row":9,"col":1}]'`: "the table has rows 1 to 3, and no row 9.",
		`slides update_table slide=2 updates='[{"row":1,"col":9}]'`: "row 1 of the table has columns 1 to 3, and no column 9.",
		`slides update_table slide=2 updates='[{"line":1}]'`:        "updates is no list such as",
		`slides update_image slide=1 with=@"a.svg"`:                 "a.svg is image/svg+xml, which presentations do not show.",
		`slides update_chart slide=1 data='[["","a"],["x",1]]'`:     "the slide has no chart.",
		`slides update_chart slide=4 data='[["","a"]]'`:             "data is no table",
		`slides update_chart slide=4 data='[["","a"],["x","y"]]'`:   `row 2 of data: "y" is no number.`,
		`slides update_chart slide=4 data='[["","a"],["x",1,2]]'`:   "row 2 of data has 3 cells, and the first row 2.",
		`merge with=@"a.svg"`:                                       "a.svg is image/svg+xml and not pptx",
		"split by=section":                                          "deck.pptx has no sections. Use: split by=page",
		"split ranges='[[2,1]]'":                                    "does not lie within 1 to 5, or runs backwards",
	} {
		_, err := run(t, sample(t, "deck.pptx"), do, pic)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", do, err, want)
		}
	}
}

// A copy of a slide has notes, a chart and a workbook of its own: what changes one does not change the other.
func TestDuplicateIsDeep(t *testing.T) {
	res := must(t, sample(t, "gen.pptx"), "slides duplicate slide=2")
	for _, want := range []string{"ppt/charts/chart2.xml", "ppt/embeddings/Microsoft_Excel_Worksheet2.xlsx", "ppt/notesSlides/notesSlide4.xml"} {
		if members(t, res.Media.Data)[want] == nil {
			t.Errorf("no %s", want)
		}
	}
	two := must(t, *res.Media, `slides update_chart slide=3 data='[["","Only"],["x",7]]'`)
	md := string(must(t, *two.Media, "convert to=md").Media.Data)
	if !strings.Contains(md, "| Q1 | 10 | 5 |") || !strings.Contains(md, "| | Only |\n| --- | --- |\n| x | 7 |") {
		t.Error(md)
	}
	gone := members(t, must(t, sample(t, "gen.pptx"), "slides delete slides=2").Media.Data)
	for name := range gone {
		if strings.HasSuffix(name, "/") {
			continue
		}
		if strings.Contains(name, "chart") || strings.Contains(name, "embeddings/") || strings.Contains(name, "notesSlide2") {
			t.Errorf("%s was left behind", name)
		}
	}
}

func TestSplitDeck(t *testing.T) {
	res := must(t, sample(t, "deck.pptx"), "split")
	var got []string
	for _, p := range res.List {
		got = append(got, p.Name+" "+titles(t, p))
	}
	want := []string{"deck.part1.pptx 1", "deck.part2.pptx 2", "deck.part3.pptx 3", "deck.part4.pptx 4", "deck.part5.pptx 5"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if res = must(t, sample(t, "deck.pptx"), "split ranges='[[1,2],[2,5]]'"); len(res.List) != 2 || titles(t, res.List[1]) != "2,3,4,5" {
		t.Error(len(res.List))
	}
}

// Sections follow: what is selected stays in its section, and a deck splits by them.
func TestSections(t *testing.T) {
	in := sample(t, "deck.pptx")
	f, err := open(&media.Request{In: in})
	if err != nil {
		t.Fatal(err)
	}
	list, err := f.slides()
	if err != nil {
		t.Fatal(err)
	}
	root, err := f.tree(f.main)
	if err != nil {
		t.Fatal(err)
	}
	sec := func(name string, s ...slide) string {
		out := `<p14:section name="` + name + `" id="{0}"><p14:sldIdLst>`
		for _, x := range s {
			out += `<p14:sldId id="` + x.id + `"/>`
		}
		return out + `</p14:sldIdLst></p14:section>`
	}
	if err := f.insertLast(f.main, root, `<p:extLst><p:ext uri="{521415D9-36F7-43E2-AB2F-B90AF26B5E84}"><p14:sectionLst xmlns:p14="http://schemas.microsoft.com/office/powerpoint/2010/main">`+sec("A", list[:2]...)+sec("B", list[2:]...)+`</p14:sectionLst></p:ext></p:extLst>`); err != nil {
		t.Fatal(err)
	}
	if in.Data, err = f.bytes(); err != nil {
		t.Fatal(err)
	}
	res := must(t, in, "split by=section")
	if len(res.List) != 2 || titles(t, res.List[0]) != "1,2" || titles(t, res.List[1]) != "3,4,5" {
		t.Errorf("%v", res.List)
	}
	dup := must(t, in, "slides duplicate slide=2")
	if again := must(t, *dup.Media, "split by=section"); len(again.List) != 2 || titles(t, again.List[0]) != "1,2,2" {
		t.Error(titles(t, again.List[0]))
	}
}

func TestMerge(t *testing.T) {
	res := must(t, sample(t, "deck.pptx"), `merge with=@"gen.pptx",@"deck.pptx"`, sample(t, "gen.pptx"), sample(t, "deck.pptx"))
	if got := titles(t, *res.Media); got != "1,2,3,4,5,Slide 6,Slide 7,Slide 8,1,2,3,4,5" {
		t.Error(got)
	}
	var masters []string
	for name := range members(t, res.Media.Data) {
		if strings.HasPrefix(name, "ppt/slideMasters/slideMaster") {
			masters = append(masters, name)
		}
	}
	slices.Sort(masters)
	if len(masters) != 2 { // its own, which the second deck shares, and that of the first
		t.Error(masters)
	}
	pres := string(members(t, res.Media.Data)["ppt/presentation.xml"])
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(`<p:sldMasterId id="(\d+)"|<p:sldId id="(\d+)"`).FindAllStringSubmatch(pres, -1) {
		if ids[m[0]] {
			t.Errorf("%s stands twice", m[0])
		}
		ids[m[0]] = true
	}
	if !strings.Contains(pres, "notesMasterId ") {
		t.Error("the notes have no master")
	}
}

func TestUpdateShapes(t *testing.T) {
	in := sample(t, "deck.pptx")
	res := must(t, in, `slides update_text slide=2 placeholder="placeholder 2" text="One & two\nThree"`)
	if d := cmp.Diff([]string{"ppt/slides/slide2.xml"}, changedParts(t, in.Data, res.Media.Data)); d != "" {
		t.Error(d)
	}
	now := string(members(t, res.Media.Data)["ppt/slides/slide2.xml"])
	for _, line := range []string{"One &amp; two", "Three"} {
		if !strings.Contains(now, `sz="3200" spc="-1" strike="noStrike"><a:solidFill><a:srgbClr val="000000"/></a:solidFill><a:latin typeface="Arial"/></a:rPr><a:t>`+line+`</a:t>`) {
			t.Errorf("%q has lost its format", line)
		}
	}
	table := must(t, in, `slides update_table slide=2 updates='[{"row":2,"col":3,"value":42},{"row":1,"col":1,"value":null}]'`)
	if md := string(must(t, *table.Media, "convert to=md").Media.Data); !strings.Contains(md, "| | r1c2 | r1c3 |\n| --- | --- | --- |\n| r2c1 | r2c2 | 42 |") {
		t.Error(md)
	}
}

// A new picture is a part of its own: a slide that shows the old one keeps it.
func TestUpdateImage(t *testing.T) {
	two := must(t, sample(t, "deck.pptx"), "slides duplicate slide=3")
	pic := must(t, sample(t, "gen.pptx"), "extract assets types=image format=jpeg").List[0]
	pic.Name = "new.jpg"
	res := must(t, *two.Media, `slides update_image slide=3 placeholder=Logo with=@"new.jpg"`, pic)
	all := members(t, res.Media.Data)
	if all["ppt/media/image1.png"] == nil || string(all["ppt/media/image1.jpeg"]) != string(pic.Data) {
		t.Error("one of the pictures is not there")
	}
	if !strings.Contains(string(all[typesPart]), `Extension="jpeg"`) {
		t.Error(string(all[typesPart]))
	}
	one := must(t, sample(t, "deck.pptx"), `slides update_image slide=3 with=@"new.jpg"`, pic)
	if members(t, one.Media.Data)["ppt/media/image1.png"] != nil {
		t.Error("the old picture was left behind")
	}
}

func TestUpdateChart(t *testing.T) {
	res := must(t, sample(t, "gen.pptx"), `slides update_chart slide=2 data='[["","A","B","C"],["x",1,2.5,null],["y",4,5,6]]'`)
	if len(res.Warnings) > 0 {
		t.Error(res.Warnings)
	}
	md := string(must(t, *res.Media, "convert to=md").Media.Data)
	if !strings.Contains(md, "| | A | B | C |\n| --- | --- | --- | --- |\n| x | 1 | 2.5 | |\n| y | 4 | 5 | 6 |\n") {
		t.Error(md)
	}
	chart := string(members(t, res.Media.Data)["ppt/charts/chart1.xml"])
	for _, want := range []string{"<c:f>Sheet1!$A$2:$A$3</c:f>", "<c:f>Sheet1!$D$1</c:f>", "<c:f>Sheet1!$D$2:$D$3</c:f>", `<c:idx val="2"/>`, `<c:order val="2"/>`} {
		if !strings.Contains(chart, want) {
			t.Errorf("no %s in the chart", want)
		}
	}
	book := must(t, *res.Media, "extract assets types=attachment").List[0]
	if got := string(must(t, book, "convert to=csv").Media.Data); got != ",A,B,C\nx,1,2.5\ny,4,5,6\n" {
		t.Errorf("%q", got)
	}
	less := must(t, sample(t, "gen.pptx"), `slides update_chart slide=2 data='[["","A"],["x",1]]'`)
	if n := strings.Count(string(members(t, less.Media.Data)["ppt/charts/chart1.xml"]), "<c:ser>"); n != 1 {
		t.Error(n)
	}
	if got := string(must(t, must(t, *less.Media, "extract assets types=attachment").List[0], "convert to=csv").Media.Data); got != ",A\nx,1\n" {
		t.Errorf("%q", got)
	}
}

func TestFirstCell(t *testing.T) {
	for in, want := range map[string]string{"Sheet1!$B$2:$B$4": "{Sheet1 2 2}", "'It''s 1'!$AA$10": "{It's 1 27 10}", "Sheet1!B": "", "x": ""} {
		c, ok := firstCell(in)
		if got := fmt.Sprint(c); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %s %v", in, got, ok)
		}
	}
	if got := (cellRef{"It's 1", 28, 3}).column(2); got != "'It''s 1'!$AB$3:$AB$4" {
		t.Error(got)
	}
}
