// Package content holds the parts that tool results and messages are made of.
//
// A part is text, a picture, a document or a link to something that can be read later. The type is one flat struct
// because parts are stored, sent over several protocols and compared in tests; a reader switches on Kind.
// The package knows no protocol: each face converts parts to its own wire form.
package content

import "strings"

// Kind says which fields of a Part count.
type Kind string

// The kinds of parts. Their values are stored, so they never change meaning.
const (
	Text     Kind = "text"     // Text
	Image    Kind = "image"    // Data, MIME, Width and Height in pixels where known
	Document Kind = "document" // Data, MIME, Name
	Audio    Kind = "audio"    // Data, MIME
	Link     Kind = "link"     // URI, Name, MIME, Size: bytes that stay where they are
)

// Part is one piece of a result. The zero value is an empty part of no kind and is never sent.
type Part struct {
	Kind   Kind   `json:"kind"`
	Text   string `json:"text,omitempty"`
	Data   []byte `json:"data,omitempty"` // base64 in JSON
	MIME   string `json:"mime,omitempty"`
	Name   string `json:"name,omitempty"`
	URI    string `json:"uri,omitempty"`
	Size   int64  `json:"size,omitempty"` // bytes
	Width  int    `json:"width,omitempty"`
	Height int    `json:"height,omitempty"`
}

// TextPart returns a text part.
func TextPart(s string) Part { return Part{Kind: Text, Text: s} }

// JoinText returns the text parts joined by newlines, without the other kinds.
func JoinText(parts []Part) string {
	var b strings.Builder
	for _, p := range parts {
		if p.Kind != Text {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

// Bytes returns the size of the parts as a model's face would carry them: text bytes plus raw data bytes.
func Bytes(parts []Part) int {
	n := 0
	for _, p := range parts {
		n += len(p.Text) + len(p.Data)
	}
	return n
}
