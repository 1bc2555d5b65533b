package model

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/internal/picture"
)

// MediaLimits is what a provider takes as one part of a message. Bytes are those before base64, which adds a third.
type MediaLimits struct {
	Edge    int // pixels of the longest edge of a picture; larger ones are scaled down
	Picture int // bytes of a picture; larger ones are scaled down
	Pages   int // of a document
	Bytes   int // of a document or of sound
}

// strictest is what all large providers take, and Limits says who takes more. Source: the providers' pages on pictures and
// documents, as of November 2026: Anthropic takes 5 MB of base64 for a picture, 2000 pixels where there are many of them, 32 MB for a
// request and 100 pages where the window is small; OpenAI works on 2048 pixels; Gemini takes 20 MB for a request and 1000 pages.
var strictest = MediaLimits{Edge: 2000, Picture: 3_700_000, Pages: 100, Bytes: 14_000_000}

// Limits returns what the model's provider takes. Providers that are not known get the strictest limits.
func (i Info) Limits() MediaLimits {
	lim := strictest
	switch i.Provider {
	case "anthropic":
		lim.Bytes = 22_000_000
	case "openai":
		lim.Edge, lim.Picture, lim.Bytes = 2048, 14_000_000, 32_000_000
	case "gemini":
		lim.Edge, lim.Picture, lim.Pages = 3072, 7_000_000, 1000
	}
	return lim
}

// Fit returns p as the model that info describes takes it: a picture of a format and size that its provider knows, scaled down where
// it must be; a PDF of so many pages; sound; text. What the model cannot take becomes a text that says what it is and why it is not
// shown, so that nothing that a result holds makes the next request fail (O9). What fits stays as it is, byte by byte, and
// equal parts fit in equal ways.
func Fit(p content.Part, info Info) content.Part {
	lim := info.Limits()
	switch p.Kind {
	case content.Text:
		return content.TextPart(strings.ToValidUTF8(p.Text, "\uFFFD"))
	case content.Image:
		if !info.Images {
			return instead(p, "this model takes no pictures")
		}
		pic, err := picture.Fit(p.Data, picture.Limits{Edge: lim.Edge, Bytes: lim.Picture})
		if err != nil {
			return instead(p, err.Error())
		}
		p.Data, p.MIME, p.Width, p.Height = pic.Data, pic.MIME, pic.Width, pic.Height
		return p
	case content.Document:
		return fitDocument(p, info, lim)
	case content.Audio:
		switch {
		case !info.Audio:
			return instead(p, "this model takes no sound")
		case len(p.Data) == 0:
			return instead(p, "it is empty")
		case len(p.Data) > lim.Bytes:
			return instead(p, fmt.Sprintf("it has more than the %d bytes that can be shown at once", lim.Bytes))
		}
		return p
	}
	return instead(p, "")
}

func fitDocument(p content.Part, info Info, lim MediaLimits) content.Part {
	switch {
	case p.MIME == "application/pdf" && info.Files:
	case isText(p):
		return content.TextPart(string(p.Data))
	case p.MIME == "application/pdf":
		return instead(p, "this model takes no documents")
	default:
		return instead(p, "it takes PDF files only")
	}
	switch n := picture.Pages(p.Data); {
	case !bytes.HasPrefix(p.Data, []byte("%PDF")):
		return instead(p, "it is no PDF, though it is said to be one")
	case picture.Encrypted(p.Data):
		return instead(p, "it is encrypted")
	case n == 0:
		return instead(p, "its pages cannot be counted; it may be damaged")
	case n > lim.Pages:
		return instead(p, fmt.Sprintf("it has %d pages, and %d can be shown at once: take some of them out", n, lim.Pages))
	case len(p.Data) > lim.Bytes:
		return instead(p, fmt.Sprintf("it has more than the %d bytes that can be shown at once: take some pages out", lim.Bytes))
	}
	return p
}

func isText(p content.Part) bool {
	return (strings.HasPrefix(p.MIME, "text/") || p.MIME == "application/json" || strings.HasSuffix(p.MIME, "+json") || strings.HasSuffix(p.MIME, "+xml")) && utf8.Valid(p.Data)
}

// instead says in brackets what a part is and why it is not shown.
func instead(p content.Part, why string) content.Part {
	var b strings.Builder
	b.WriteString("[" + string(p.Kind))
	for _, s := range []string{p.Name, p.URI, p.MIME} {
		if s != "" {
			b.WriteString(" " + s)
		}
	}
	switch {
	case len(p.Data) > 0:
		fmt.Fprintf(&b, ", %d bytes", len(p.Data))
	case p.Size > 0:
		fmt.Fprintf(&b, ", %d bytes", p.Size)
	}
	if why != "" {
		b.WriteString(": not shown, " + why)
	}
	b.WriteString("]")
	return content.TextPart(strings.ToValidUTF8(b.String(), "\uFFFD"))
}
