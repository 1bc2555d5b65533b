package query

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path"
	"strings"
	"unicode/utf8"
)

// Format is how content is understood.
type Format string

// The formats.
const (
	Text      Format = "text"
	JSON      Format = "JSON"
	JSON5     Format = "JSON5"
	JSONLines Format = "JSON lines"
	Markdown  Format = "Markdown"
	Binary    Format = "binary"
)

const sniffSize = 8 << 10

// Detect finds the format of content from its media type, its name and its first 8 KB.
func Detect(src Source) (Format, error) {
	head := make([]byte, min(src.Size, sniffSize))
	if _, err := src.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return Binary, nil
	}
	kind, _, _ := strings.Cut(src.MIME, ";")
	switch kind = strings.ToLower(strings.TrimSpace(kind)); {
	case kind == "application/json5":
		return JSON5, nil
	case kind == "application/jsonl", kind == "application/x-ndjson", kind == "application/ndjson":
		return JSONLines, nil
	case kind == "application/json", strings.HasSuffix(kind, "+json"):
		return JSON, nil
	case kind == "text/markdown":
		return Markdown, nil
	case strings.HasPrefix(kind, "image/"), strings.HasPrefix(kind, "audio/"), strings.HasPrefix(kind, "video/"):
		return Binary, nil
	}
	switch strings.ToLower(path.Ext(src.Name)) {
	case ".json":
		return JSON, nil
	case ".json5", ".jsonc":
		return JSON5, nil
	case ".jsonl", ".ndjson":
		return JSONLines, nil
	case ".md", ".markdown":
		return Markdown, nil
	}
	return sniff(head, int64(len(head)) == src.Size), nil
}

// sniff judges text without a telling name. whole says that head is all of it.
func sniff(head []byte, whole bool) Format {
	if mostlyInvalid(head) {
		return Binary
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(text) == 0 || (text[0] != '{' && text[0] != '[') {
		return Text
	}
	line, rest, more := bytes.Cut(text, []byte{'\n'})
	if more && json.Valid(line) {
		next, _, complete := bytes.Cut(bytes.TrimLeft(rest, " \t\r\n"), []byte{'\n'})
		switch {
		case len(next) == 0:
			return JSON
		case json.Valid(next), !complete && !whole && next[0] == line[0]:
			return JSONLines
		}
		return Text
	}
	if whole {
		if json.Valid(text) {
			return JSON
		}
		return Text
	}
	// Only the start is known: it must at least begin like JSON, which most logs in brackets do not.
	dec := json.NewDecoder(bytes.NewReader(text))
	for range 4 {
		if _, err := dec.Token(); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
				break
			}
			return Text
		}
	}
	return JSON
}

// mostlyInvalid reports whether more than a tenth of the start is not UTF-8: text in another encoding has fewer such
// bytes, compressed or encrypted bytes have more.
func mostlyInvalid(head []byte) bool {
	bad := 0
	for i := 0; i < len(head); {
		r, n := utf8.DecodeRune(head[i:])
		if r == utf8.RuneError && n == 1 && utf8.FullRune(head[i:]) {
			bad++
		}
		i += n
	}
	return bad > len(head)/10
}
