package ooxml

import (
	"bytes"
	"context"
	"image"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/sheet"
	"github.com/tackle-dev/tackle/media/engine/text"
)

// Where pictures can be read, one that shows a number is black afterwards.
func TestRedactPictures(t *testing.T) {
	says := "Card of " + ssn
	ocr := media.Engine{ID: "ocr", Convert: []media.Convert{{From: []string{"image/*"}, To: []string{"txt"}, Keep: media.Text, Do: func(_ context.Context, r *media.Request) (media.Result, error) {
		im, _, err := image.Decode(bytes.NewReader(r.In.Data))
		if err != nil {
			return media.Result{}, err
		}
		out := ""
		for x := range im.Bounds().Dx() {
			if c, _, _, _ := im.At(x, 10).RGBA(); c > 0 {
				out = says
			}
		}
		return media.Result{Media: &media.Payload{Data: []byte(out + "\n")}}, nil
	}}}}
	p, err := media.New(media.Config{Engines: []media.Engine{sheet.Engine(), Engine(), text.Engine(), ocr}})
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.Query(t.Context(), sample(t, "rep.docx"), redactAll)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(res.Warnings, "\n"); !strings.Contains(got, "The picture rId21.png shows words that match and is black now.") || !strings.Contains(got, "word/media/rId21.png 1") {
		t.Error(got)
	}
	im, format, err := image.Decode(bytes.NewReader(members(t, res.Media.Data)["word/media/rId21.png"]))
	if err != nil || format != "png" || im.Bounds().Dx() != 400 {
		t.Error(format, err)
	}
	says = "nothing"
	if res, err = p.Query(t.Context(), sample(t, "rep.docx"), redactAll); err != nil || !bytes.Equal(members(t, res.Media.Data)["word/media/rId21.png"], members(t, sample(t, "rep.docx").Data)["word/media/rId21.png"]) {
		t.Error(err)
	}
}
