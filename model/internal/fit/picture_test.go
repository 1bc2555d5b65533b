package fit

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/internal/content"
)

func TestO9_Drawn(t *testing.T) {
	frame := func(c uint8) *image.Paletted {
		m := image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.Black, color.White})
		m.SetColorIndex(1, 1, c)
		return m
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{frame(1), frame(0)}, Delay: []int{9, 9}}); err != nil {
		t.Fatal(err)
	}
	moving := content.Part{Kind: content.Image, MIME: "image/gif", Data: b.Bytes()}
	if got := Drawn(moving, "image/png", "image/gif"); !bytes.Equal(got.Data, moving.Data) {
		t.Error("a type that is known was drawn anew")
	}
	got := Drawn(moving, "image/png", "image/jpeg")
	img, err := png.Decode(bytes.NewReader(got.Data))
	if err != nil || got.MIME != "image/png" || img.Bounds().Dx() != 3 {
		t.Fatalf("%s: %v", got.MIME, err)
	}
	if r, _, _, _ := img.At(1, 1).RGBA(); r == 0 {
		t.Error("it is not the first frame")
	}
	if again := Drawn(moving, "image/png"); !bytes.Equal(again.Data, got.Data) {
		t.Error("equal pictures are drawn in different ways")
	}
	broken := content.Part{Kind: content.Image, MIME: "image/gif", Data: b.Bytes()[:20], Name: "a.gif"}
	if got := Drawn(broken, "image/png"); got.Kind != content.Text || !strings.Contains(got.Text, "a.gif") {
		t.Errorf("what cannot be drawn became %+v", got)
	}
}
