// Package text turns the bytes of a file into text and back without losing one of them.
//
// [Decode] finds out how a file is encoded and returns its text as UTF-8; [Encoding.Encode] is the inverse, and Decode
// accepts a file only if that inverse gives the very bytes back. So a tool can read, splice and write any file that
// Decode accepts, and every byte outside the splice stays what it was. What cannot be kept is an error that names the
// character and its place; it never becomes U+FFFD.
//
// The package also knows lines: which ending a text uses, where line n begins, which line an offset is in.
// A line ends with LF or CRLF. A lone CR ends a line only in a text that has no LF at all (classic Mac files): in any
// other text it is a character like the rest, as for grep, wc and editors that count as they do.
//
// Plain UTF-8, which is nearly every file, is neither copied nor converted.
package text

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Charset is a way to write characters as bytes.
type Charset uint8

// The character sets that Decode knows. The zero value is UTF-8.
const (
	UTF8    Charset = iota // valid UTF-8
	Broken                 // UTF-8 with some invalid bytes, which stay as they are
	UTF16LE                // UTF-16, low byte first
	UTF16BE                // UTF-16, high byte first
	GB18030                // Chinese; GBK and GB 2312 are parts of it
	Latin1                 // Windows-1252, of which ISO 8859-1 text is a part; any byte is a character in it
	Binary                 // not text
)

var charsetNames = [...]string{"UTF-8", "UTF-8 with invalid bytes", "UTF-16LE", "UTF-16BE", "GB18030", "Windows-1252", "binary"}

func (c Charset) String() string {
	if int(c) < len(charsetNames) {
		return charsetNames[c]
	}
	return fmt.Sprintf("charset %d", uint8(c))
}

// Encoding is how a file is written. The zero value is plain UTF-8. Encodings can be compared with ==.
type Encoding struct {
	Charset Charset
	BOM     bool // the file begins with a byte order mark; it is no part of the text
}

func (e Encoding) String() string {
	if e.BOM {
		return e.Charset.String() + " with BOM"
	}
	return e.Charset.String()
}

// Plain reports whether the bytes of the file are the bytes of its text.
func (e Encoding) Plain() bool { return !e.BOM && (e.Charset == UTF8 || e.Charset == Broken) }

// Text is a decoded file.
type Text struct {
	Encoding Encoding
	// Content is UTF-8 without a byte order mark. With Charset Broken it has the invalid bytes of the file in it.
	// It shares memory with the raw bytes where no conversion was needed, so neither may be changed.
	Content []byte
}

// ErrBinary is returned by Decode for bytes that are not text.
var ErrBinary = errors.New("binary, not text")

// CharError says which character cannot be kept. Decode returns it for a file that would not come back as it was, Encode
// for a character that the encoding of the file does not have.
type CharError struct {
	Encoding Encoding
	Decoding bool   // true from Decode: Bytes of the file; false from Encode: Rune of the text
	Rune     rune   // the character, or utf8.RuneError for invalid UTF-8 in the text
	Bytes    []byte // from Decode: the bytes at Offset that cannot be kept, at most four
	Offset   int    // in bytes from 0: of the file from Decode, of the text from Encode
	Line     int    // from 1
}

func (e *CharError) Error() string {
	switch {
	case e.Decoding:
		return fmt.Sprintf("line %d, byte %d: % x is not valid %s", e.Line, e.Offset, e.Bytes, e.Encoding)
	case e.Rune == utf8.RuneError:
		return fmt.Sprintf("line %d, byte %d: invalid UTF-8 cannot be written as %s", e.Line, e.Offset, e.Encoding)
	}
	return fmt.Sprintf("line %d, byte %d: %q (%U) does not exist in %s", e.Line, e.Offset, e.Rune, e.Rune, e.Encoding)
}

var (
	bomUTF8    = []byte{0xEF, 0xBB, 0xBF}
	bomUTF16LE = []byte{0xFF, 0xFE}
	bomUTF16BE = []byte{0xFE, 0xFF}
)

// Decode finds the encoding of a whole file and returns its text.
// Errors: ErrBinary, or a *CharError when bytes of the file would not survive the way back.
func Decode(raw []byte) (Text, error) {
	e := Detect(raw, true)
	switch e.Charset {
	case Binary:
		return Text{Encoding: e}, ErrBinary
	case UTF16LE, UTF16BE:
		content, err := decodeUTF16(raw, e)
		return Text{Encoding: e, Content: content}, err
	case GB18030:
		content, err := decodeGB18030(raw)
		return Text{Encoding: e, Content: content}, err
	case Latin1:
		return Text{Encoding: e, Content: decodeLatin1(raw)}, nil
	}
	if e.BOM {
		raw = raw[len(bomUTF8):]
	}
	return Text{Encoding: e, Content: raw}, nil
}

// Encode returns the bytes of a file with the given text. For Plain encodings that is content itself, not a copy.
// Errors: *CharError for the first character that the encoding does not have, ErrBinary for Charset Binary.
func (e Encoding) Encode(content []byte) ([]byte, error) {
	switch e.Charset {
	case Binary:
		return nil, ErrBinary
	case UTF16LE, UTF16BE:
		return encodeUTF16(content, e)
	case Latin1:
		return encodeLatin1(content, e)
	case GB18030:
		return encodeGB18030(content, e)
	}
	if !e.BOM {
		return content, nil
	}
	raw := make([]byte, 0, len(bomUTF8)+len(content))
	return append(append(raw, bomUTF8...), content...), nil
}

func charError(content []byte, off int, r rune, e Encoding) *CharError {
	return &CharError{Encoding: e, Rune: r, Offset: off, Line: 1 + bytes.Count(content[:off], lf)}
}
