package ooxml

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"io"
	"path"
	"strings"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/pack"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// packed returns the bytes that a program keeps in base64 in an element, and the splice that takes them away: the data of a
// field, in which reference managers keep whole entries, and the drawing of a shape for newer versions.
func packed(n *tree.Node) (cut tree.Splice, what []byte) {
	decode := func(s string) []byte {
		b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), ""))
		if err != nil {
			return nil // no base64: a text like any other
		}
		return b
	}
	if n.Name == "w:fldData" {
		return tree.Splice{From: n.From, To: n.To}, decode(n.Words())
	}
	if a := n.Find("o:gfxdata"); a != nil {
		return tree.Splice{From: a.From, To: a.To}, decode(a.Val)
	}
	return tree.Splice{}, nil
}

// maxPacked bounds what is unpacked to look at it.
const maxPacked = 256 << 20

// within searches bytes of any kind: as they stand, without tags, and unpacked.
func within(data []byte, red *tree.Redaction, lim media.Limits) (string, error) {
	if hit, err := red.Scan(data); hit != "" || err != nil {
		return hit, err
	}
	if bytes.IndexByte(data, '<') >= 0 {
		if hit, err := red.Hit(tree.Bare(data)); hit != "" || err != nil {
			return hit, err
		}
	}
	if !bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		return "", nil
	}
	z, err := pack.Open(&media.Payload{Data: data, Name: "packed data"}, lim)
	if err != nil {
		return "", err
	}
	for _, name := range z.Names() {
		b, err := z.Read(name)
		if err != nil {
			return "", err
		}
		if hit, err := red.Scan(b); hit != "" || err != nil {
			return hit, err
		}
		if hit, err := red.Hit(tree.Bare(b)); hit != "" || err != nil {
			return hit, err
		}
	}
	return "", nil
}

// unzipped returns what a compressed metafile or SVG is, or the bytes as they are.
func unzipped(name string, data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return data, nil // it only looks so
	}
	out, err := io.ReadAll(io.LimitReader(r, maxPacked+1))
	switch {
	case len(out) > maxPacked:
		return nil, media.Failf("the part %q unpacks to more than %d MB; it is refused.", name, maxPacked>>20)
	case err != nil:
		return nil, media.Failf("the part %q is damaged: %v.", name, err)
	}
	return out, nil
}

// lookForeign searches a file of another format that stands within a document, by what an engine for it reads. What nothing
// here reads was searched as bytes and no more, which is said.
func (f *file) lookForeign(ctx context.Context, name string, data []byte, red *tree.Redaction) (string, error) {
	if hit, err := red.Hit(tree.Bare(data)); hit != "" || err != nil {
		return hit, err
	}
	in := media.Payload{Data: data, Name: path.Base(name)}
	if ext := strings.ToLower(path.Ext(name)); ext == ".mht" || ext == ".mhtml" {
		in.MIME = "message/rfc822" // a page and its pictures are written as a mail
	}
	in = media.Identify(in)
	switch media.FamilyOf(in.MIME) {
	case media.Document, media.Spreadsheet, media.Presentation:
	default:
		return "", nil
	}
	if f.r.ReadText == nil || in.MIME == "text/plain" || in.MIME == "application/octet-stream" {
		return "", nil
	}
	words, err := f.r.ReadText(ctx, in)
	if err != nil {
		return "", ctx.Err()
	}
	return red.Hit(words)
}
