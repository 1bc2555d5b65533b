package fit

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif" // decoders register themselves with package image
	_ "image/jpeg"
	"image/png"
	"slices"

	_ "golang.org/x/image/webp"

	"github.com/tackle-dev/tackle/internal/content"
)

// Drawn returns a picture that its provider knows: p where its type is among these, and otherwise a PNG of it, of its first frame
// where it moves. What cannot be drawn becomes a text that says so. Other parts stay as they are.
func Drawn(p content.Part, types ...string) content.Part {
	if p.Kind != content.Image || slices.Contains(types, p.MIME) {
		return p
	}
	img, _, err := image.Decode(bytes.NewReader(p.Data))
	var b bytes.Buffer
	if err == nil {
		err = png.Encode(&b, img)
	}
	if err != nil {
		return content.TextPart(fmt.Sprintf("[%s %s %s, %d bytes: not shown, %v]", p.Kind, p.Name, p.MIME, len(p.Data), err))
	}
	p.Data, p.MIME = b.Bytes(), "image/png"
	return p
}
