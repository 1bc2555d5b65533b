package text

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// UTF-16 is decoded here rather than by x/text, whose decoders turn a lone surrogate into U+FFFD and go on.

func order(c Charset) binary.ByteOrder {
	if c == UTF16BE {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// decodeUTF16 refuses what has no way back: an odd byte at the end, or half of a surrogate pair.
func decodeUTF16(raw []byte, e Encoding) ([]byte, error) {
	bo, off := order(e.Charset), 0
	if e.BOM {
		off = len(bomUTF16LE)
	}
	content := make([]byte, 0, len(raw)/2+len(raw)/8)
	for off < len(raw) {
		r, n := nextUTF16(raw[off:], bo)
		if n == 0 {
			bad := raw[off:min(off+2, len(raw))]
			return nil, &CharError{Encoding: e, Decoding: true, Rune: utf8.RuneError, Bytes: bad, Offset: off, Line: 1 + bytes.Count(content, lf)}
		}
		content = utf8.AppendRune(content, r)
		off += n
	}
	return content, nil
}

// nextUTF16 returns the first character of raw and its length in bytes, which is 0 where there is no whole character.
func nextUTF16(raw []byte, bo binary.ByteOrder) (rune, int) {
	if len(raw) < 2 {
		return 0, 0
	}
	r := rune(bo.Uint16(raw))
	if !utf16.IsSurrogate(r) {
		return r, 2
	}
	if len(raw) < 4 {
		return 0, 0
	}
	r = utf16.DecodeRune(r, rune(bo.Uint16(raw[2:])))
	if r == utf8.RuneError {
		return 0, 0
	}
	return r, 4
}

func encodeUTF16(content []byte, e Encoding) ([]byte, error) {
	bo := order(e.Charset)
	raw := make([]byte, 0, 2*len(content)+2)
	put := func(u uint16) {
		raw = append(raw, 0, 0)
		bo.PutUint16(raw[len(raw)-2:], u)
	}
	if e.BOM {
		put(0xFEFF)
	}
	for off := 0; off < len(content); {
		r, n := utf8.DecodeRune(content[off:])
		if r == utf8.RuneError && n == 1 {
			return nil, charError(content, off, r, e)
		}
		if hi, lo := utf16.EncodeRune(r); hi != utf8.RuneError {
			put(uint16(hi))
			put(uint16(lo))
		} else {
			put(uint16(r))
		}
		off += n
	}
	return raw, nil
}
