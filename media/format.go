package media

import (
	"mime"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/internal/pipe"
)

// Family is a kind of media.
type Family = pipe.Family

// The families.
const (
	Document     = pipe.Document
	Spreadsheet  = pipe.Spreadsheet
	Presentation = pipe.Presentation
	Image        = pipe.Image
	Audio        = pipe.Audio
)

// The types of what has no bytes of its own: nothing, from which blank files are made, and decoded sound
// (little-endian float32, mono), which names its rate: see [PCM].
const (
	EmptyMIME = "application/x-empty"
	PCMMIME   = "audio/x-pcm"
)

// Format is a format that has a name in statements.
type Format struct {
	Token  string // as in convert to=
	MIME   string
	Family Family
	Names  []string // further tokens and extensions
}

const (
	ooxml = "application/vnd.openxmlformats-officedocument."
	odf   = "application/vnd.oasis.opendocument."
)

var formats = []Format{
	{"txt", "text/plain", Document, []string{"text", "log"}},
	{"md", "text/markdown", Document, []string{"markdown"}},
	{"html", "text/html", Document, []string{"htm"}},
	{"json", "application/json", Document, nil},
	{"yaml", "application/yaml", Document, []string{"yml"}},
	{"xml", "application/xml", Document, nil},
	{"csv", "text/csv", Spreadsheet, nil},
	{"tsv", "text/tab-separated-values", Spreadsheet, nil},
	{"xlsx", ooxml + "spreadsheetml.sheet", Spreadsheet, nil},
	{"xlsm", "application/vnd.ms-excel.sheet.macroenabled.12", Spreadsheet, nil},
	{"xlsb", "application/vnd.ms-excel.sheet.binary.macroenabled.12", Spreadsheet, nil},
	{"xls", "application/vnd.ms-excel", Spreadsheet, nil},
	{"ods", odf + "spreadsheet", Spreadsheet, nil},
	{"fods", odf + "spreadsheet-flat-xml", Spreadsheet, nil},
	{"sylk", "application/x-sylk", Spreadsheet, []string{"slk"}},
	{"dif", "application/x-dif", Spreadsheet, nil},
	{"dbf", "application/x-dbf", Spreadsheet, nil},
	{"numbers", "application/vnd.apple.numbers", Spreadsheet, nil},
	{"pdf", "application/pdf", Document, nil},
	{"docx", ooxml + "wordprocessingml.document", Document, nil},
	{"doc", "application/msword", Document, nil},
	{"odt", odf + "text", Document, nil},
	{"fodt", odf + "text-flat-xml", Document, nil},
	{"rtf", "application/rtf", Document, nil},
	{"epub", "application/epub+zip", Document, nil},
	{"eml", "message/rfc822", Document, nil},
	{"msg", "application/vnd.ms-outlook", Document, nil},
	{"pptx", ooxml + "presentationml.presentation", Presentation, nil},
	{"ppt", "application/vnd.ms-powerpoint", Presentation, nil},
	{"odp", odf + "presentation", Presentation, nil},
	{"png", "image/png", Image, nil},
	{"jpeg", "image/jpeg", Image, []string{"jpg"}},
	{"gif", "image/gif", Image, nil},
	{"webp", "image/webp", Image, nil},
	{"tiff", "image/tiff", Image, []string{"tif"}},
	{"bmp", "image/bmp", Image, nil},
	{"avif", "image/avif", Image, nil},
	{"heic", "image/heic", Image, []string{"heif"}},
	{"svg", "image/svg+xml", Document, nil}, // its markup; drawing it is another matter
	{"wav", "audio/wav", Audio, nil},
	{"mp3", "audio/mpeg", Audio, nil},
	{"flac", "audio/flac", Audio, nil},
	{"ogg", "audio/ogg", Audio, []string{"opus", "oga"}},
	{"pcm", PCMMIME, Audio, nil},
}

// FormatOf finds a format by token, extension or MIME type; parameters of the type and case do not count.
func FormatOf(name string) (Format, bool) {
	name = bare(name)
	for i := range formats {
		f := &formats[i]
		if f.Token == name || f.MIME == name || slices.Contains(f.Names, name) {
			return *f, true
		}
	}
	switch name {
	case "text/x-markdown":
		return FormatOf("md")
	case "application/x-yaml", "text/yaml", "text/x-yaml":
		return FormatOf("yaml")
	case "text/xml":
		return FormatOf("xml")
	case "audio/x-wav", "audio/wave", "audio/vnd.wave":
		return FormatOf("wav")
	case "text/json":
		return FormatOf("json")
	case "text/rtf":
		return FormatOf("rtf")
	case "application/csv":
		return FormatOf("csv")
	}
	return Format{}, false
}

// PCM is the type of decoded sound with so many samples a second. An engine that decodes sound must give it.
func PCM(rate int) string { return PCMMIME + ";rate=" + strconv.Itoa(rate) }

// PCMRate returns the samples a second that a type of decoded sound names; false without.
func PCMRate(mimeType string) (int, bool) {
	kind, params, err := mime.ParseMediaType(mimeType)
	if err != nil || kind != PCMMIME {
		return 0, false
	}
	rate, err := strconv.Atoi(params["rate"])
	return rate, err == nil && rate > 0
}

// bare returns a type in lower case without its parameters.
func bare(mime string) string {
	mime, _, _ = strings.Cut(mime, ";")
	return strings.ToLower(strings.TrimSpace(mime))
}

// FamilyOf returns the family of a type. What no family claims is a document.
func FamilyOf(mime string) Family {
	mime = bare(mime)
	if f, ok := FormatOf(mime); ok {
		return f.Family
	}
	switch kind, _, _ := strings.Cut(mime, "/"); kind {
	case "image":
		return Image
	case "audio":
		return Audio
	}
	return Document
}

// Textual reports whether files of a type are text: text/*, JSON, YAML and XML, among it SVG.
func Textual(mime string) bool {
	mime = bare(mime)
	return strings.HasPrefix(mime, "text/") || mime == "application/json" || mime == "application/yaml" || mime == "application/xml" ||
		strings.HasSuffix(mime, "+json") || strings.HasSuffix(mime, "/xml") || strings.HasSuffix(mime, "+xml")
}

// Matches reports whether a type fits one of the patterns, each a type or family/*.
func Matches(patterns []string, mime string) bool {
	mime = bare(mime)
	kind, _, _ := strings.Cut(mime, "/")
	return slices.ContainsFunc(patterns, func(p string) bool { return p == mime || p == kind+"/*" })
}

// Renamed returns a file name with the extension of a format.
func Renamed(name, token string) string {
	if token == "jpeg" {
		token = "jpg"
	}
	return Base(name) + "." + token
}

// Base returns a file name without folder and extension; "untitled" where nothing is left.
func Base(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	if b := strings.TrimSuffix(name, path.Ext(name)); b != "" && b != "." && b != "/" {
		return b
	}
	return "untitled"
}
