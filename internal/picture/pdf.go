package picture

import (
	"bytes"
	"compress/zlib"
	"io"
	"regexp"
)

var (
	pdfPage      = regexp.MustCompile(`/Type\s*/Page[^s\w]`)
	pdfObjStream = regexp.MustCompile(`/Type\s*/ObjStm`)
	pdfStream    = regexp.MustCompile(`stream\r?\n`)
)

// Pages counts the pages of a PDF by their dictionaries, which stand in the file or in compressed object streams
// (ISO 32000-1, 7.5.7 and 7.7.3.3). A page that was changed later may count twice; of a damaged file it may be 0.
func Pages(pdf []byte) int {
	n := len(pdfPage.FindAllIndex(pdf, -1))
	for _, at := range pdfObjStream.FindAllIndex(pdf, -1) {
		rest := pdf[at[1]:]
		begin := pdfStream.FindIndex(rest)
		if begin == nil {
			break
		}
		z, err := zlib.NewReader(bytes.NewReader(rest[begin[1]:]))
		if err != nil {
			continue // another filter; it is not counted
		}
		objects, _ := io.ReadAll(io.LimitReader(z, 8<<20)) // what comes before damage counts
		n += len(pdfPage.FindAllIndex(objects, -1))
	}
	return n
}

// Encrypted reports whether a PDF asks for a password, or may: no provider opens it.
func Encrypted(pdf []byte) bool { return bytes.Contains(pdf, []byte("/Encrypt")) }
