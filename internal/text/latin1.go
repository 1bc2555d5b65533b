package text

import "unicode/utf8"

// c1 holds the characters of the bytes 80 to 9F in Windows-1252; all others equal their Unicode numbers. The five bytes
// that Windows leaves open stand for the control characters of the same number, as browsers do it
// (encoding.spec.whatwg.org, index-windows-1252), so that every byte has a way back.
var c1 = [32]rune{
	'€', 0x81, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0x8D, 'Ž', 0x8F,
	0x90, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0x9D, 'ž', 'Ÿ',
}

func decodeLatin1(raw []byte) []byte {
	content := make([]byte, 0, len(raw)+len(raw)/8)
	for _, b := range raw {
		switch {
		case b < utf8.RuneSelf:
			content = append(content, b)
		case b < 0xA0:
			content = utf8.AppendRune(content, c1[b-0x80])
		default:
			content = utf8.AppendRune(content, rune(b))
		}
	}
	return content
}

func encodeLatin1(content []byte, e Encoding) ([]byte, error) {
	raw := make([]byte, 0, len(content))
	for off := 0; off < len(content); {
		if b := content[off]; b < utf8.RuneSelf {
			raw = append(raw, b)
			off++
			continue
		}
		r, n := utf8.DecodeRune(content[off:])
		b, ok := latin1Byte(r)
		if !ok {
			return nil, charError(content, off, r, e)
		}
		raw = append(raw, b)
		off += n
	}
	return raw, nil
}

func latin1Byte(r rune) (byte, bool) {
	if r >= 0xA0 && r <= 0xFF {
		return byte(r), true
	}
	for i, c := range c1 {
		if c == r {
			return byte(0x80 + i), true
		}
	}
	return 0, false
}
