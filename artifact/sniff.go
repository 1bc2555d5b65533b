package artifact

import (
	"bytes"
	"path"
	"strings"
	"unicode/utf8"
)

// types are the kinds of content that tackle treats in a way of their own, by extension and by first bytes. The first
// entry of a media type gives its usual extension.
var types = []struct{ ext, mime, magic string }{
	{".json", "application/json", ""},
	{".jsonl", "application/jsonl", ""},
	{".ndjson", "application/jsonl", ""},
	{".json5", "application/json5", ""},
	{".jsonc", "application/json5", ""},
	{".md", "text/markdown", ""},
	{".markdown", "text/markdown", ""},
	{".txt", "text/plain", ""},
	{".log", "text/plain", ""},
	{".csv", "text/csv", ""},
	{".html", "text/html", ""},
	{".xml", "text/xml", ""},
	{".yaml", "application/yaml", ""},
	{".diff", "text/x-diff", ""},
	{".png", "image/png", "\x89PNG\r\n\x1a\n"},
	{".jpg", "image/jpeg", "\xff\xd8\xff"},
	{".gif", "image/gif", "GIF8"},
	{".pdf", "application/pdf", "%PDF-"},
	{".zip", "application/zip", "PK\x03\x04"},
	{".gz", "application/gzip", "\x1f\x8b"},
}

// sniff finds the media type of content from its first bytes and its name.
func sniff(name string, head []byte) string {
	for _, t := range types {
		if t.magic != "" && bytes.HasPrefix(head, []byte(t.magic)) {
			return t.mime
		}
	}
	if !isText(head) {
		return "application/octet-stream"
	}
	ext := strings.ToLower(path.Ext(name))
	for _, t := range types {
		if t.ext == ext && t.magic == "" {
			return t.mime
		}
	}
	return "text/plain"
}

// isText reports whether the start of some content is UTF-8 text; an incomplete last character does not count.
func isText(head []byte) bool {
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	for i := 0; i < utf8.UTFMax && len(head) > 0; i++ {
		if utf8.Valid(head) {
			return true
		}
		head = head[:len(head)-1]
	}
	return utf8.Valid(head)
}
