package search

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

var bomUTF8 = []byte("\xef\xbb\xbf")

// utf16Order returns the byte order that a UTF-16 byte order mark at the start of a file announces, or nil. Without a
// mark UTF-16 is not recognised, as in ripgrep: it is full of NUL bytes and so binary.
func utf16Order(b []byte) binary.ByteOrder {
	if len(b) < 2 {
		return nil
	}
	switch {
	case b[0] == 0xFF && b[1] == 0xFE:
		return binary.LittleEndian
	case b[0] == 0xFE && b[1] == 0xFF:
		return binary.BigEndian
	}
	return nil
}

// decodeUTF16 appends UTF-16 text, byte order mark included, to out as UTF-8 without one. What is no character becomes
// U+FFFD.
func decodeUTF16(out, b []byte, order binary.ByteOrder) []byte {
	b = b[2:]
	for len(b) >= 2 {
		r := rune(order.Uint16(b))
		b = b[2:]
		if utf16.IsSurrogate(r) {
			low := rune(0)
			if len(b) >= 2 {
				low = rune(order.Uint16(b))
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				b = b[2:]
			}
		}
		out = utf8.AppendRune(out, r)
	}
	if len(b) == 1 {
		out = utf8.AppendRune(out, utf8.RuneError)
	}
	return out
}
