package text

import (
	"bytes"
	"unicode/utf8"
)

// How the encoding is found, in this order:
//
//  1. A byte order mark decides.
//  2. A NUL in the first bytes: UTF-16 if that is unmistakable, otherwise the file is binary. (UTF-16 has NULs, so it
//     comes first; NULs far behind the start do not make a log file binary, as for git.)
//  3. Valid UTF-8 is UTF-8.
//  4. Many control characters: binary.
//  5. What is left is either UTF-8 with accidents, or one of the older encodings. Three-byte sequences of UTF-8 hardly
//     ever arise by chance, so a file with more of them than invalid bytes is Broken UTF-8. GB18030 must decode without
//     an error, come back byte for byte, and look like Chinese: the common characters of GB 2312 make up most of it.
//     Then everything else is Windows-1252, in which any byte is a character, so nothing can be lost.
//
// Guessing wrong in step 5 costs a readable display, never a byte: each of the three is lossless.

// sniff is how many bytes at the start of a file decide whether it is binary.
const sniff = 8192

// Detect finds the encoding of a file from its bytes, or from a sample at its start if complete is false: then a
// character that the end of the sample cuts in two does not count. The result for a sample can differ from that for the
// file in everything except Binary and the byte order mark, which depend on the first 8 KiB only.
func Detect(raw []byte, complete bool) Encoding {
	switch {
	case bytes.HasPrefix(raw, bomUTF8):
		e := Encoding{Charset: UTF8, BOM: true}
		if !validUTF8(raw, complete) {
			e.Charset = Broken
		}
		if hasNUL(raw) {
			e = Encoding{Charset: Binary}
		}
		return e
	case bytes.HasPrefix(raw, bomUTF16LE):
		return bomOrBinary(raw, UTF16LE)
	case bytes.HasPrefix(raw, bomUTF16BE):
		return bomOrBinary(raw, UTF16BE)
	}
	if hasNUL(raw) {
		return Encoding{Charset: bareUTF16(raw)}
	}
	if validUTF8(raw, complete) {
		return Encoding{}
	}
	return Encoding{Charset: legacy(raw, complete)}
}

func hasNUL(raw []byte) bool { return bytes.IndexByte(raw[:min(len(raw), sniff)], 0) >= 0 }

// validUTF8 forgives an incomplete last character unless the bytes are a complete file.
func validUTF8(raw []byte, complete bool) bool {
	if !complete {
		raw = raw[:len(raw)-incomplete(raw)]
	}
	return utf8.Valid(raw)
}

// incomplete counts the bytes at the end of raw that begin a UTF-8 sequence and do not finish it.
func incomplete(raw []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(raw); n++ {
		if tail := raw[len(raw)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// bomOrBinary refuses UTF-16 with U+0000 in its first bytes. That is binary data, or UTF-32 behind a similar mark.
func bomOrBinary(raw []byte, c Charset) Encoding {
	bo := order(c)
	for i := 0; i+1 < min(len(raw), sniff); i += 2 {
		if bo.Uint16(raw[i:]) == 0 {
			return Encoding{Charset: Binary}
		}
	}
	return Encoding{Charset: c, BOM: true}
}

// bareUTF16 decides about bytes with a NUL and without a byte order mark. It takes them for UTF-16 only if every other
// byte is NUL nearly always, its neighbour never, and what this spells is printable: mostly ASCII text, that is.
func bareUTF16(raw []byte) Charset {
	if len(raw) < 4 || len(raw)%2 != 0 && len(raw) < sniff {
		return Binary
	}
	n := min(len(raw), sniff) &^ 1
	var nul [2]int
	for i, b := range raw[:n] {
		if b == 0 {
			nul[i%2]++
		}
	}
	c, most := UTF16LE, nul[1]
	if nul[0] > nul[1] {
		c, most = UTF16BE, nul[0]
	}
	if nul[0] > 0 && nul[1] > 0 || most*10 < n/2*7 {
		return Binary
	}
	bo := order(c)
	for i := 0; i < n; i += 2 {
		if u := bo.Uint16(raw[i:]); u < 0x20 && control[byte(u)] || u >= 0xFFFE {
			return Binary
		}
	}
	return c
}

// control marks the characters that text does not use. BS, FF and ESC are not among them: man pages, old C sources and
// terminal logs have them.
var control = func() (t [256]bool) {
	for b := range t[:0x20] {
		t[b] = b != '\b' && b != '\t' && b != '\n' && b != '\v' && b != '\f' && b != '\r' && b != 0x1B
	}
	t[0x7F] = true
	return t
}()

// legacy decides what bytes are that are neither UTF-8 nor contain NUL.
func legacy(raw []byte, complete bool) Charset {
	controls, head := 0, raw[:min(len(raw), sniff)]
	for _, b := range head {
		if control[b] {
			controls++
		}
	}
	if controls > 1 && controls*50 > len(head) {
		return Binary
	}
	two, long, invalid := sequences(raw)
	switch {
	case long > invalid:
		return Broken
	case looksChinese(raw, complete):
		return GB18030
	case two > 4*invalid:
		return Broken
	}
	return Latin1
}

// sequences counts the two-byte and the longer sequences of UTF-8, and the bytes that belong to none.
func sequences(raw []byte) (two, long, invalid int) {
	for i := 0; i < len(raw); {
		if raw[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(raw[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			invalid++
		case n == 2:
			two++
		default:
			long++
		}
		i += n
	}
	return two, long, invalid
}

// looksChinese decides for GB18030. The rows of GB 2312 by lead byte: A1-A9 punctuation and full-width letters, B0-D7
// the 3755 common characters, D8-F7 the rarer ones. Western and Cyrillic text that happens to decode as GB18030 falls
// into the rarer ones or outside of GB 2312.
func looksChinese(raw []byte, complete bool) bool {
	common, others := 0, 0
	for i := 0; i < len(raw); {
		lead := raw[i]
		if lead < utf8.RuneSelf {
			i++
			continue
		}
		if i+1 == len(raw) {
			if complete {
				return false
			}
			break
		}
		trail := raw[i+1]
		switch {
		case trail >= 0x30 && trail <= 0x39: // a four-byte character, rare
			others++
			i += 4
			continue
		case trail < 0x40 || trail == 0x7F || lead == 0x80 || lead == 0xFF || trail == 0xFF:
			return false
		case lead >= 0xB0 && lead <= 0xD7 && trail >= 0xA1:
			common++
		case lead >= 0xA1 && lead <= 0xA3 && trail >= 0xA1: // punctuation says neither yes nor no
		default:
			others++
		}
		i += 2
	}
	return common > 0 && common >= 2*others && (!complete || survivesGB18030(raw))
}
