package agent

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/tool"
)

// O9: a picture that ends in its middle, in a result or in what a person says, would be refused with each request from then on.
func TestO9_HalfAPicture(t *testing.T) {
	img := image.NewGray(image.Rect(0, 0, 50, 50))
	for i := range img.Pix {
		img.Pix[i] = byte(rand.IntN(256))
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"whole": b.Bytes(), "half": b.Bytes()[:b.Len()/2]} {
		part := content.Part{Kind: content.Image, MIME: "image/png", Data: data}
		show := testTool("show", []tool.Effect{tool.Read}, func(context.Context, string) (tool.Result, error) { return tool.Result{Parts: []tool.Part{part}}, nil })
		m := &actor{play: []act{calls("show"), says("Seen.")}}
		w := newWorld(t, Config{}, m, nil, show)
		if _, err := w.Run(t.Context(), "s", "Show it."); err != nil {
			t.Fatal(err)
		}
		sent := m.sent()
		pictures, told := 0, false
		for _, msg := range sent[len(sent)-1].Messages {
			for _, bl := range msg.Blocks {
				if bl.Result == nil {
					continue
				}
				for _, p := range bl.Result.Parts {
					if p.Kind == content.Image {
						pictures++
					}
					told = told || strings.Contains(p.Text, "cannot be shown")
				}
			}
		}
		if whole := name == "whole"; (pictures == 1) != whole || told == whole {
			t.Errorf("%s: %d pictures are sent, the model is told %v", name, pictures, told)
		}
	}
}
