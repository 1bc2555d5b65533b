package file

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"regexp"
)

// A document that a provider refuses makes every later request of the conversation fail, so a PDF is counted before it is
// handed to a model (O9): the strictest of the large providers takes maxPages pages and nothing that is encrypted.
const maxPages = 100

var (
	pdfPage      = regexp.MustCompile(`/Type\s*/Page[^s\w]`)
	pdfObjStream = regexp.MustCompile(`/Type\s*/ObjStm`)
	pdfStream    = regexp.MustCompile(`stream\r?\n`)
)

// pdfProblem says why a PDF cannot be shown, or "".
func pdfProblem(raw []byte) string {
	switch n := pdfPages(raw); {
	case len(raw) > maxDocument:
		return fmt.Sprintf("more than the %d bytes that can be shown at once", maxDocument)
	case bytes.Contains(raw, []byte("/Encrypt")):
		return "it is encrypted"
	case n == 0:
		return "its pages cannot be counted; it may be damaged"
	case n > maxPages:
		return fmt.Sprintf("it has %d pages, and %d can be shown at once", n, maxPages)
	}
	return ""
}

// pdfPages counts the pages of a PDF by their dictionaries, which stand in the file or in compressed object streams
// (ISO 32000-1, 7.5.7 and 7.7.3.3). A page that was changed later may count twice.
func pdfPages(raw []byte) int {
	n := len(pdfPage.FindAllIndex(raw, -1))
	for _, at := range pdfObjStream.FindAllIndex(raw, -1) {
		rest := raw[at[1]:]
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
