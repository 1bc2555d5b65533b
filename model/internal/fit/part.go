package fit

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/internal/picture"
	"github.com/tackle-dev/tackle/model"
)

// Part returns p as a model that can take what info says takes it, and otherwise as a text that says what it is: a picture of a
// format and size that all providers take, a PDF, a sound, or text. Nothing that a result holds makes the next request fail (O9).
func Part(p content.Part, info model.Info) content.Part {
	switch p.Kind {
	case content.Text:
		return content.TextPart(strings.ToValidUTF8(p.Text, "\uFFFD"))
	case content.Image:
		if !info.Images {
			return describe(p, "this model takes no pictures")
		}
		// The loop has made it fit already, so that this only reads its header.
		pic, err := picture.Fit(p.Data, picture.Limits{})
		if err != nil {
			return describe(p, err.Error())
		}
		p.Data, p.MIME = pic.Data, pic.MIME
		return p
	case content.Document:
		switch {
		case p.MIME == "application/pdf" && info.Files:
			return p
		case isText(p):
			return content.TextPart(string(p.Data))
		case p.MIME == "application/pdf":
			return describe(p, "this model takes no documents")
		}
		return describe(p, "the provider takes PDF files only")
	case content.Audio:
		if info.Audio {
			return p
		}
		return describe(p, "this model takes no sound")
	}
	return describe(p, "")
}

func isText(p content.Part) bool {
	return (strings.HasPrefix(p.MIME, "text/") || p.MIME == "application/json" || strings.HasSuffix(p.MIME, "+json") || strings.HasSuffix(p.MIME, "+xml")) && utf8.Valid(p.Data)
}

// describe says in brackets what a part is and why it is not shown.
func describe(p content.Part, why string) content.Part {
	var b strings.Builder
	b.WriteString("[" + string(p.Kind))
	add := func(s string) {
		if s != "" {
			b.WriteString(" " + s)
		}
	}
	add(p.Name)
	add(p.URI)
	add(p.MIME)
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

// Info returns known with the fields of better that are not zero.
func Info(known, better model.Info) model.Info {
	set := func(s *string, v string) {
		if v != "" {
			*s = v
		}
	}
	set(&known.Provider, better.Provider)
	set(&known.Name, better.Name)
	if better.Window > 0 {
		known.Window = better.Window
	}
	if better.Output > 0 {
		known.Output = better.Output
	}
	if better.Price != (model.Price{}) {
		known.Price = better.Price
	}
	known.Images = known.Images || better.Images
	known.Files = known.Files || better.Files
	known.Audio = known.Audio || better.Audio
	return known
}
