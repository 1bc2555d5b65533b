package text

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"
)

// The tables of x/text are not the inverse of each other everywhere: bytes that mean nothing decode to U+FFFD, and the
// encoder moves private-use characters. So both directions are checked by going back.

func decodeGB18030(raw []byte) ([]byte, error) {
	return simplifiedchinese.GB18030.NewDecoder().Bytes(raw)
}

func survivesGB18030(raw []byte) bool {
	content, err := decodeGB18030(raw)
	if err != nil {
		return false
	}
	back, err := simplifiedchinese.GB18030.NewEncoder().Bytes(content)
	return err == nil && bytes.Equal(back, raw)
}

func encodeGB18030(content []byte, e Encoding) ([]byte, error) {
	raw, encErr := simplifiedchinese.GB18030.NewEncoder().Bytes(content)
	back, decErr := decodeGB18030(raw)
	if encErr == nil && decErr == nil && bytes.Equal(back, content) {
		return raw, nil
	}
	off := 0
	for off < len(back) && off < len(content) && back[off] == content[off] {
		off++
	}
	for off > 0 && off < len(content) && !utf8.RuneStart(content[off]) {
		off--
	}
	r, _ := utf8.DecodeRune(content[off:])
	return nil, charError(content, off, r, e)
}
