package file

import (
	"fmt"

	"github.com/tackle-dev/tackle/internal/picture"
)

// A document that a provider refuses makes every later request of the conversation fail, so a PDF is counted before it is
// handed to a model (O9): the strictest of the large providers takes maxPages pages and nothing that is encrypted.
const maxPages = 100

// pdfProblem says why a PDF cannot be shown, or "".
func pdfProblem(raw []byte) string {
	switch n := picture.Pages(raw); {
	case len(raw) > maxDocument:
		return fmt.Sprintf("more than the %d bytes that can be shown at once", maxDocument)
	case picture.Encrypted(raw):
		return "it is encrypted"
	case n == 0:
		return "its pages cannot be counted; it may be damaged"
	case n > maxPages:
		return fmt.Sprintf("it has %d pages, and %d can be shown at once", n, maxPages)
	}
	return ""
}
