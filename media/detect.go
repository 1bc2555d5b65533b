package media

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/richardlehane/mscfb"

	"github.com/tackle-dev/tackle/internal/text"
)

// Identify finds the type of a media from its bytes. The declared type and the extension of the name count only among types
// that the bytes leave open: which kind of text it is.
func Identify(p Payload) Payload {
	if bare(p.MIME) == EmptyMIME || bare(p.MIME) == PCMMIME {
		return p
	}
	if p.Name == "" {
		p.Name = "untitled"
		if f, ok := FormatOf(p.MIME); ok {
			p.Name += "." + f.Token
		}
	}
	if m := magic(p.Data); m != "" {
		p.MIME = m
		return p
	}
	hint := bare(p.MIME)
	if f, ok := FormatOf(strings.TrimPrefix(path.Ext(p.Name), ".")); ok && (hint == "" || hint == "text/plain" || hint == "application/octet-stream") {
		hint = f.MIME
	}
	if f, ok := FormatOf(hint); ok {
		hint = f.MIME
	}
	p.MIME = textType(p.Data, hint)
	return p
}

var magics = []struct {
	at          int
	bytes, mime string
}{
	{0, "\x89PNG\r\n\x1a\n", "image/png"}, {0, "\xff\xd8\xff", "image/jpeg"}, {0, "GIF87a", "image/gif"}, {0, "GIF89a", "image/gif"},
	{0, "BM", ""}, {0, "II*\x00", "image/tiff"}, {0, "MM\x00*", "image/tiff"}, {0, "%PDF-", "application/pdf"}, {0, "{\\rtf", "application/rtf"},
	{0, "fLaC", "audio/flac"}, {0, "OggS", "audio/ogg"},
	{4, "ftypavif", "image/avif"}, {4, "ftypavis", "image/avif"}, {4, "ftypheic", "image/heic"}, {4, "ftypheix", "image/heic"}, {4, "ftypmif1", "image/heic"},
	{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"}, {0, "7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"}, {0, "\x1f\x8b", "application/gzip"},
	{0, "ID;P", "application/x-sylk"},
}

// magic returns the type that the first bytes tell, or "".
func magic(b []byte) string {
	for _, m := range magics {
		if m.mime != "" && len(b) >= m.at+len(m.bytes) && string(b[m.at:m.at+len(m.bytes)]) == m.bytes {
			if m.mime == "application/x-ole-storage" {
				return ole(b)
			}
			return m.mime
		}
	}
	switch {
	case len(b) >= 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		return "image/webp"
	case len(b) >= 10 && string(b[:3]) == "ID3" && b[3] < 0xff && b[4] < 0xff:
		// A tag stands before mp3, and before flac at times.
		if n := 10 + int(b[6]&127)<<21 + int(b[7]&127)<<14 + int(b[8]&127)<<7 + int(b[9]&127); n+4 <= len(b) && string(b[n:n+4]) == "fLaC" {
			return "audio/flac"
		}
		return "audio/mpeg"
	case len(b) >= 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WAVE":
		return "audio/wav"
	case len(b) >= 26 && b[0] == 'B' && b[1] == 'M' && b[6] == 0 && b[7] == 0 && b[14] < 128 && b[15] == 0 && b[16] == 0:
		return "image/bmp"
	case len(b) >= 4 && b[0] == 0xff && b[1]&0xe6 == 0xe2 && b[1] != 0xff && b[2]&0xf0 != 0xf0:
		return "audio/mpeg"
	case bytes.HasPrefix(b, []byte("PK\x03\x04")) || bytes.HasPrefix(b, []byte("PK\x05\x06")):
		return zipped(b)
	}
	return ""
}

// ole tells the old Office formats apart by the names of the streams at the top of the container; what is embedded lies
// deeper.
func ole(b []byte) string {
	const unknown = "application/x-ole-storage"
	f, err := mscfb.New(bytes.NewReader(b))
	if err != nil {
		return unknown
	}
	found := map[string]bool{}
	for {
		e, err := f.Next()
		if err != nil {
			break
		}
		if len(e.Path) == 0 {
			found[e.Name] = true
		}
	}
	for _, s := range []struct{ stream, mime string }{
		{"EncryptedPackage", "application/x-ole-encrypted"}, {"WordDocument", "application/msword"}, {"PowerPoint Document", "application/vnd.ms-powerpoint"},
		{"Workbook", "application/vnd.ms-excel"}, {"Book", "application/vnd.ms-excel"}, {"__properties_version1.0", "application/vnd.ms-outlook"},
	} {
		if found[s.stream] {
			return s.mime
		}
	}
	return unknown
}

// zipped looks into a zip file for what it is a container of.
func zipped(b []byte) string {
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return "application/zip"
	}
	member := func(name string) string {
		for _, f := range z.File {
			if f.Name != name {
				continue
			}
			r, err := f.Open()
			if err != nil {
				return ""
			}
			defer r.Close()
			data, _ := io.ReadAll(io.LimitReader(r, 1<<20)) // what can be read of it says enough
			return string(data)
		}
		return ""
	}
	if m := strings.TrimSpace(member("mimetype")); m != "" && len(m) < 200 {
		return bare(m)
	}
	types := strings.ToLower(member("[Content_Types].xml"))
	for _, t := range []struct{ part, mime string }{
		{"ms-excel.sheet.macroenabled.main", "xlsm"}, {"ms-excel.sheet.binary", "xlsb"}, {"spreadsheetml.sheet.main", "xlsx"}, {"spreadsheetml.template.main", "xlsx"},
		{"wordprocessingml.document.main", "docx"}, {"wordprocessingml.template.main", "docx"}, {"ms-word.document.macroenabled.main", "docx"},
		{"presentationml.presentation.main", "pptx"}, {"presentationml.slideshow.main", "pptx"}, {"ms-powerpoint.presentation.macroenabled.main", "pptx"},
	} {
		if strings.Contains(types, t.part) {
			return mimeOf(t.mime)
		}
	}
	return "application/zip"
}

var header = regexp.MustCompile(`(?m)^(From|To|Subject|Date|Message-ID|Received|Return-Path|MIME-Version|Delivered-To): `)

// letter reports whether a text begins as mails do: with header lines, three of them known.
func letter(b []byte) bool {
	head, _, _ := bytes.Cut(bytes.ReplaceAll(b[:min(len(b), 8192)], []byte("\r"), nil), []byte("\n\n"))
	loc := header.FindAllIndex(head, 4)
	return len(loc) >= 3 && loc[0][0] < 80
}

// textType tells kinds of text apart: by the hint where the bytes allow it.
func textType(b []byte, hint string) string {
	if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
		if text.Detect(b, true).Charset == text.Binary {
			return "application/octet-stream"
		}
	}
	head := strings.ToLower(strings.TrimLeft(strings.TrimPrefix(string(b[:min(len(b), 1024)]), "\ufeff"), " \t\r\n"))
	markup := ""
	switch {
	case strings.HasPrefix(head, "<!doctype html"), strings.HasPrefix(head, "<html"):
		markup = "text/html"
	case strings.Contains(head, "<svg") && strings.HasPrefix(head, "<"):
		markup = "image/svg+xml"
	case strings.HasPrefix(head, "<?xml") && strings.Contains(head, "office:document"):
		// The kind stands among dozens of namespaces, in any order.
		root, _, _ := strings.Cut(string(b[:min(len(b), 64<<10)]), "<office:body")
		switch {
		case strings.Contains(root, `office:mimetype="`+odf+`spreadsheet"`):
			markup = mimeOf("fods")
		case strings.Contains(root, `office:mimetype="`+odf+`text"`):
			markup = mimeOf("fodt")
		default:
			markup = "application/xml"
		}
	case strings.HasPrefix(head, "<?xml"):
		markup = "application/xml"
	}
	if hint == "message/rfc822" || (hint == "" || hint == "application/octet-stream") && letter(b) {
		return "message/rfc822"
	}
	if Textual(hint) || hint == "application/x-dif" {
		if markup == "text/html" && hint != "text/markdown" && hint != "text/plain" || markup != "" && hint == "text/plain" {
			return markup
		}
		return hint
	}
	if markup != "" {
		return markup
	}
	if len(head) > 0 && (head[0] == '{' || head[0] == '[') && json.Valid(bytes.TrimSpace(b)) {
		return "application/json"
	}
	return "text/plain"
}
