package pipe

import (
	"strings"
	"sync"
)

var (
	docs     = []Family{Document}
	pages    = []Family{Document, Presentation}
	office   = []Family{Document, Spreadsheet, Presentation}
	sheets   = []Family{Spreadsheet}
	slides   = []Family{Presentation}
	images   = []Family{Image}
	anything = []Family{Document, Spreadsheet, Presentation, Image, Audio}
	files    = []Family{Document, Spreadsheet, Presentation, Audio}
)

const (
	rowsSample  = `'[["North",12],["South",7]]'`
	cellsSample = `'[{"address":"B2","value":3},{"address":"C2","value":"=B2*2"}]'`
)

var sheetParam = Param{Name: "sheet", Type: Name, Sample: `"Data"`, Default: "the first", Doc: "sheet name in quotes, or number from 1"}

// Table returns the verbs of the media pipeline. What a deployment offers of them follows its engines.
func Table() []Verb {
	var out []Verb
	for _, part := range [][]Verb{documentVerbs(), textVerbs(), sheetVerbs(), slideVerbs(), imageVerbs(), audioVerbs()} {
		out = append(out, part...)
	}
	return protected(out)
}

// protected are the arguments of verbs over documents that may be locked or signed.
func protected(verbs []Verb) []Verb {
	password := Param{Name: "password", Type: Text, Sample: `"secret"`, Common: true, Doc: "opens an encrypted file"}
	unsign := Param{Name: "unsign", Type: Bool, Default: "false", Common: true, Doc: "change a signed file although that ends its signature"}
	for i := range verbs {
		switch v := &verbs[i]; v.ID {
		case "convert", "diff", "chunk", "extract.text", "extract.metadata", "extract.assets", "split":
			v.Params = append(v.Params, password)
		case "select", "merge", "reorder", "redact", "sanitize", "normalize", "update_text":
			v.Params = append(v.Params, password, unsign)
		}
		if strings.HasPrefix(verbs[i].ID, "slides.") {
			verbs[i].Params = append(verbs[i].Params, unsign)
		}
	}
	return verbs
}

// Standard returns the language of the media pipeline.
var Standard = sync.OnceValue(func() *Language {
	l, err := New(Table())
	if err != nil {
		panic(err) // a mistake in the table, which a test finds
	}
	return l
})

// Targets are the formats that convert knows by name.
var Targets = []string{"pdf", "html", "txt", "md", "csv", "json", "yaml", "docx", "doc", "rtf", "odt", "xlsx", "xls", "ods", "xlsm", "xlsb", "fods", "sylk", "dif", "dbf", "numbers", "pptx", "ppt", "odp", "wav", "images"}

func documentVerbs() []Verb {
	return []Verb{
		{ID: "convert", Families: anything, Needs: "a conversion engine", Doc: "change the format",
			Params: []Param{{Name: "to", Type: Enum, Required: true, Enum: Targets, Sample: "md"}}},
		{ID: "select", Families: pages, Needs: "an engine for pages", Doc: "keep these pages, in this order",
			Params: []Param{{Name: "pages", Type: Numbers, Required: true, Min: 1, Sample: "1-3,5"}}},
		{ID: "split", Families: office, Out: Many, Needs: "an engine for parts", Doc: "several files: one a page, section or sheet, or by ranges",
			Params: []Param{{Name: "by", Type: Enum, Enum: []string{"page", "section"}, Default: "page"}, {Name: "ranges", Type: JSON, Sample: `'[[1,3],[4,6]]'`}}},
		{ID: "merge", Families: pages, Needs: "an engine for pages", Doc: "append other media of the same format",
			Params: []Param{{Name: "with", Type: MediaList, Required: true, Sample: "@id"}}},
		{ID: "reorder", Families: pages, Needs: "an engine for pages", Doc: "all pages in a new order",
			Params: []Param{{Name: "order", Type: Numbers, Required: true, Min: 1, Sample: "2,1,3"}}},
		{ID: "redact", Families: office, Needs: "an engine for this format", Doc: "remove every match from the content, checked afterwards",
			Params: []Param{{Name: "match", Type: Matches, Required: true, Sample: `/\d{3}-\d{2}-\d{4}/`}, {Name: "replace", Type: Text, Sample: `"[SSN]"`, Default: "█"}}},
		{ID: "sanitize", Families: files, Needs: "an engine for this format", Doc: "remove scripts, macros, remote references and control characters; of sound its tags"},
		{ID: "normalize", Families: office, Needs: "an engine for this format", Doc: "one line ending, no trailing blanks, composed characters, UTF-8"},
		{ID: "update_text", Families: pages, Needs: "an engine for this format", Doc: "replace the first place where the text stands; an empty replacement deletes it",
			Params: []Param{{Name: "anchor", Type: Text, Required: true, Sample: `"old words"`}, {Name: "replace", Type: Text, Required: true, Sample: `"new words"`}}},
	}
}

func textVerbs() []Verb {
	return []Verb{
		{ID: "diff", Families: office, Out: Data, Needs: "an engine for this format", Doc: "unified diff to another media",
			Params: []Param{{Name: "with", Type: Media, Required: true, Sample: "@id"}}},
		{ID: "apply_patch", Families: docs, Out: Maybe, Needs: "a text engine", Doc: `apply a unified diff or a *** Begin Patch envelope; every line of an added file begins with "+"`,
			Params: []Param{{Name: "patch", Type: Text, Required: true, Sample: `"--- a\n+++ a\n@@ -1 +1 @@\n-old\n+new\n"`}, {Name: "with", Type: MediaList, Sample: "@id", Doc: "further files of the patch"}}},
		{ID: "append", Families: []Family{Document, Spreadsheet}, Needs: "a text engine", Doc: "add text at the end",
			Params: []Param{{Name: "text", Type: Text, Required: true, Sample: `"one more line"`}, {Name: "newline", Type: Bool, Default: "true", Doc: "on a line of its own"}}},
		{ID: "data.set", Families: docs, Needs: "a data engine", Doc: "set a value in JSON or YAML",
			Params: []Param{{Name: "path", Type: Text, Required: true, Sample: `"server.ports[0]"`, Doc: `names and [n]; ["a.b"] for a name with dots`}, {Name: "value", Type: Any, Required: true, Sample: "8080"}}},
		{ID: "data.merge", Families: docs, Needs: "a data engine", Doc: "merge an object into JSON or YAML",
			Params: []Param{{Name: "fragment", Type: JSON, Required: true, Sample: `'{"debug":true}'`}, {Name: "strategy", Type: Enum, Enum: []string{"deep", "shallow"}, Default: "deep"}}},
		{ID: "data.delete", Families: docs, Needs: "a data engine", Doc: "delete a value from JSON or YAML",
			Params: []Param{{Name: "path", Type: Text, Required: true, Sample: `"server.debug"`}}},
		{ID: "extract.text", Families: []Family{Document, Spreadsheet, Presentation, Image}, Out: Read, Needs: "a conversion engine to txt", Doc: "the text",
			Params: []Param{{Name: "ocr", Type: Enum, Enum: []string{"off", "auto", "force"}, Default: "auto"}, {Name: "ocr_out", Type: Enum, Enum: []string{"txt", "hocr", "json"}, Default: "txt"}, {Name: "lang", Type: Texts, Sample: "eng"}}},
		{ID: "extract.metadata", Families: anything, Out: Data, Needs: "the core", Doc: "name, type, size, and what the format tells"},
		{ID: "extract.assets", Families: files, Out: Many, Needs: "an engine for embedded files", Doc: "embedded pictures, fonts and attachments",
			Params: []Param{{Name: "types", Type: Texts, Enum: []string{"image", "font", "attachment", "all"}, Default: "all"}, {Name: "format", Type: Enum, Enum: []string{"png", "jpg", "jpeg", "webp", "tiff", "avif"}, Doc: "for pictures; default as they are"}}},
		{ID: "chunk", Families: office, Out: Data, Needs: "a text engine", Doc: "pieces of the text with their offsets in characters",
			Params: []Param{{Name: "by", Type: Enum, Enum: []string{"sentence", "paragraph", "fixed"}, Default: "paragraph"}, {Name: "size", Type: Number, Min: 1, Max: 1e9, Whole: true, Default: "1000", Doc: "most characters of a piece"}, {Name: "overlap", Type: Number, Max: 1e9, Whole: true, Default: "0"}}},
	}
}

func sheetVerbs() []Verb {
	before := Param{Name: "before", Type: Number, Min: 1, Max: 1 << 20, Whole: true}
	after := Param{Name: "after", Type: Number, Min: 1, Max: 1 << 20, Whole: true}
	const needs = "a spreadsheet engine"
	return []Verb{
		{ID: "sheet.add_rows", Families: sheets, Needs: needs, Doc: "add rows at the end, or before or after a row",
			Params: []Param{sheetParam, {Name: "rows", Type: JSON, Required: true, Sample: rowsSample}, before, after}},
		{ID: "sheet.add_columns", Families: sheets, Needs: needs, Doc: "add columns; headers go to row 1", OneOf: []string{"headers", "columns"},
			Params: []Param{sheetParam, {Name: "headers", Type: Texts, Sample: `"Total","Note"`}, {Name: "columns", Type: JSON, Sample: `'[{"header":"Total","values":[1,2]}]'`}, before, after}},
		{ID: "sheet.update_cells", Families: sheets, Needs: needs, Doc: `set cells by address, or row and col; a text that begins with "=" is a formula`,
			Params: []Param{sheetParam, {Name: "updates", Type: JSON, Required: true, Sample: cellsSample}}},
		{ID: "sheet.delete_rows", Families: sheets, Needs: needs, Doc: "delete rows",
			Params: []Param{sheetParam, {Name: "rows", Type: Numbers, Required: true, Min: 1, Sample: "2,5-7"}}},
		{ID: "sheet.delete_columns", Families: sheets, Needs: needs, Doc: "delete columns",
			Params: []Param{sheetParam, {Name: "columns", Type: Numbers, Required: true, Min: 1, Sample: "3"}}},
		{ID: "sheet.rename_sheet", Families: sheets, Needs: needs, Doc: "rename a sheet; formulas, charts and names follow",
			Params: []Param{{Name: "sheet", Type: Text, Required: true, Sample: `"Sheet1"`}, {Name: "to", Type: Text, Required: true, Sample: `"Data"`}}},
		{ID: "sheet.add_sheet", Families: sheets, Needs: needs, Doc: "add an empty sheet",
			Params: []Param{{Name: "name", Type: Text, Required: true, Sample: `"Notes"`}, {Name: "at", Type: Number, Min: 1, Max: 10000, Whole: true, Default: "last"}}},
		{ID: "sheet.remove_sheet", Families: sheets, Needs: needs, Doc: "remove a sheet",
			Params: []Param{{Name: "sheet", Type: Text, Required: true, Sample: `"Notes"`}}},
		{ID: "sheet.reorder_sheets", Families: sheets, Needs: needs, Doc: "all sheets in a new order",
			Params: []Param{{Name: "order", Type: JSON, Required: true, Sample: `'["Data",1]'`, Doc: "names and numbers"}}},
		{ID: "sheet.transform_table", Families: sheets, Needs: needs, Doc: "rename, then drop, then choose columns of a table by header", OneOf: []string{"select", "drop", "rename"},
			Params: []Param{sheetParam, {Name: "header_row", Type: Number, Min: 1, Max: 1 << 20, Whole: true, Default: "1"}, {Name: "select", Type: Texts, Sample: `"Region","Total"`}, {Name: "drop", Type: Texts, Sample: `"Note"`}, {Name: "rename", Type: JSON, Sample: `'[{"from":"Total","to":"Sum"}]'`}}},
	}
}

func slideVerbs() []Verb {
	slide := Param{Name: "slide", Type: Name, Sample: "2", Default: "the first", Doc: "number from 1, or title in quotes"}
	placeholder := Param{Name: "placeholder", Type: Text, Sample: `"Title 1"`}
	const needs = "a presentation engine"
	return []Verb{
		{ID: "slides.add", Families: slides, Needs: needs, Doc: "add a slide",
			Params: []Param{{Name: "at", Type: Number, Min: 1, Max: 10000, Whole: true, Default: "last"}, {Name: "title", Type: Text, Sample: `"Results"`}, {Name: "layout", Type: Text, Sample: `"Title Slide"`}}},
		{ID: "slides.update_text", Families: slides, Needs: needs, Doc: "set the text of a shape",
			Params: []Param{slide, placeholder, {Name: "text", Type: Text, Required: true, Sample: `"New title"`}}},
		{ID: "slides.update_table", Families: slides, Needs: needs, Doc: "set cells of the first table",
			Params: []Param{slide, {Name: "updates", Type: JSON, Required: true, Sample: `'[{"row":1,"col":2,"value":"x"}]'`}}},
		{ID: "slides.update_image", Families: slides, Needs: needs, Doc: "replace a picture",
			Params: []Param{slide, placeholder, {Name: "with", Type: Media, Required: true, Sample: "@id"}}},
		{ID: "slides.update_chart", Families: slides, Needs: needs, Doc: "set the data of a chart",
			Params: []Param{slide, {Name: "data", Type: JSON, Required: true, Sample: `'[["","2025"],["North",12]]'`}}},
		{ID: "slides.delete", Families: slides, Needs: needs, Doc: "delete slides",
			Params: []Param{{Name: "slides", Type: Numbers, Required: true, Min: 1, Sample: "2"}}},
		{ID: "slides.reorder", Families: slides, Needs: needs, Doc: "all slides in a new order",
			Params: []Param{{Name: "order", Type: Numbers, Required: true, Min: 1, Sample: "2,1"}}},
		{ID: "slides.duplicate", Families: slides, Needs: needs, Doc: "copy a slide",
			Params: []Param{{Name: "slide", Type: Name, Required: true, Sample: "2"}, {Name: "at", Type: Number, Min: 1, Max: 10000, Whole: true, Default: "behind it"}}},
	}
}

func imageVerbs() []Verb {
	edge := func(name string) Param {
		return Param{Name: name, Type: Number, Min: 1, Max: 16384, Whole: true, Sample: "800"}
	}
	const needs = "an image engine"
	return []Verb{
		{ID: "image.resize", Families: images, Needs: needs, Doc: "scale; one side alone keeps the proportions", OneOf: []string{"width", "height"},
			Params: []Param{edge("width"), edge("height"), {Name: "fit", Type: Enum, Enum: []string{"cover", "contain", "fill", "inside", "outside"}, Default: "cover"}}},
		{ID: "image.format", Families: images, Needs: needs, Doc: "encode in another format",
			Params: []Param{{Name: "to", Type: Enum, Required: true, Enum: []string{"png", "jpg", "jpeg", "webp", "tiff", "avif"}}, {Name: "quality", Type: Number, Min: 1, Max: 100, Whole: true}, {Name: "strip_metadata", Type: Bool, Default: "false"}}},
		{ID: "image.rotate", Families: images, Needs: needs, Doc: "turn clockwise",
			Params: []Param{{Name: "deg", Type: Enum, Required: true, Enum: []string{"90", "180", "270"}}}},
		{ID: "image.flip", Families: images, Needs: needs, Doc: "mirror",
			Params: []Param{{Name: "axis", Type: Enum, Required: true, Enum: []string{"horizontal", "vertical", "both"}}}},
		{ID: "image.strip_metadata", Families: images, Needs: needs, Doc: "remove metadata such as the place where a photo was taken"},
	}
}

func audioVerbs() []Verb {
	return []Verb{
		{ID: "audio.transcribe", Families: []Family{Audio}, Out: Read, Needs: "a speech engine", Doc: "speech to text",
			Params: []Param{{Name: "lang", Type: Text, Sample: `"en-US"`}, {Name: "out", Type: Enum, Enum: []string{"txt", "srt", "vtt", "json"}, Default: "txt"}, {Name: "translate", Type: Bool, Default: "false"}}},
	}
}
