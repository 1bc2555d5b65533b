package model_test

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
)

// pdf is as much of a document of so many pages as is counted.
func pdf(pages int) []byte {
	return []byte("%PDF-1.4\n" + strings.Repeat("1 0 obj << /Type /Page >> endobj\n", pages))
}

// O9: what a model does not take is described, with its name and why.
func TestO9_Fit(t *testing.T) {
	all := model.Info{Images: true, Files: true, Audio: true}
	for _, row := range []struct {
		p    content.Part
		info model.Info
		kind content.Kind
		says []string
	}{
		{content.TextPart("a\xffb"), all, content.Text, []string{"a\uFFFDb"}},
		{content.Part{Kind: content.Document, MIME: "application/pdf", Data: pdf(3), Name: "a.pdf"}, all, content.Document, nil},
		{content.Part{Kind: content.Document, MIME: "application/pdf", Data: []byte("%PDF"), Name: "a.pdf"}, model.Info{}, content.Text, []string{"a.pdf", "4 bytes", "no documents"}},
		{content.Part{Kind: content.Document, MIME: "text/csv", Data: []byte("a,b"), Name: "a.csv"}, model.Info{}, content.Text, []string{"a,b"}},
		{content.Part{Kind: content.Document, MIME: "application/zip", Data: []byte("PK"), Name: "a.zip"}, all, content.Text, []string{"a.zip", "PDF"}},
		{content.Part{Kind: content.Image, MIME: "image/png", Data: []byte("??"), Name: "a.png"}, all, content.Text, []string{"a.png", "not shown"}},
		{content.Part{Kind: content.Image, MIME: "image/png", Data: []byte("??"), Name: "a.png"}, model.Info{}, content.Text, []string{"a.png", "no pictures"}},
		{content.Part{Kind: content.Audio, MIME: "audio/wav", Data: []byte("RIFF"), Name: "a.wav"}, model.Info{}, content.Text, []string{"a.wav", "no sound"}},
		{content.Part{Kind: content.Audio, MIME: "audio/wav", Data: []byte("RIFF")}, all, content.Audio, nil},
		{content.Part{Kind: content.Link, URI: "artifact:1", Name: "log", Size: 9}, all, content.Text, []string{"artifact:1", "log", "9 bytes"}},
		{content.Part{}, all, content.Text, nil},
		{content.Part{Kind: content.Document, MIME: "application/pdf", Data: pdf(101), Name: "a.pdf"}, all, content.Text, []string{"101 pages", "100 can be shown"}},
		{content.Part{Kind: content.Document, MIME: "application/pdf", Data: pdf(101)}, model.Info{Provider: "gemini", Files: true}, content.Document, nil},
		{content.Part{Kind: content.Document, MIME: "application/pdf", Data: append(pdf(1), "/Encrypt 5 0 R"...)}, all, content.Text, []string{"encrypted"}},
		{content.Part{Kind: content.Document, MIME: "application/pdf", Data: []byte("%PDF-1.4 ...")}, all, content.Text, []string{"damaged"}},
		{content.Part{Kind: content.Document, MIME: "application/pdf", Data: []byte("PK")}, all, content.Text, []string{"no PDF"}},
		{content.Part{Kind: content.Document, MIME: "application/pdf", Data: append(pdf(1), make([]byte, 14_000_000)...)}, all, content.Text, []string{"14000000 bytes"}},
		{content.Part{Kind: content.Document, MIME: "application/pdf", Data: append(pdf(1), make([]byte, 14_000_000)...)}, model.Info{Provider: "openai", Files: true}, content.Document, nil},
		{content.Part{Kind: content.Audio, MIME: "audio/wav", Data: make([]byte, 14_000_001)}, all, content.Text, []string{"14000000 bytes"}},
		{content.Part{Kind: content.Audio, MIME: "audio/wav"}, all, content.Text, []string{"empty"}},
	} {
		got := model.Fit(row.p, row.info)
		if got.Kind != row.kind {
			t.Errorf("%s %s became %s, want %s", row.p.Kind, row.p.MIME, got.Kind, row.kind)
		}
		for _, s := range row.says {
			if !strings.Contains(got.Text, s) {
				t.Errorf("%s %s: %q, want %q in it", row.p.Kind, row.p.MIME, got.Text, s)
			}
		}
	}
}

// O9: a picture is scaled down to what its provider takes, and stays as it is where it fits.
func TestO9_FitScales(t *testing.T) {
	draw := func(w, h int) content.Part {
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
			t.Fatal(err)
		}
		return content.Part{Kind: content.Image, MIME: "image/png", Data: b.Bytes(), Width: w, Height: h}
	}
	for _, row := range []struct {
		provider     string
		w, h         int
		wantW, wantH int
	}{
		{"anthropic", 2000, 10, 2000, 10},
		{"anthropic", 3000, 30, 2000, 20},
		{"gemini", 3000, 30, 3000, 30},
		{"openai", 4096, 64, 2048, 32},
		{"nobody", 25, 2500, 20, 2000},
	} {
		p := draw(row.w, row.h)
		got := model.Fit(p, model.Info{Provider: row.provider, Images: true})
		cfg, err := png.DecodeConfig(bytes.NewReader(got.Data))
		if err != nil || cfg.Width != row.wantW || cfg.Height != row.wantH || got.Width != row.wantW || got.Height != row.wantH {
			t.Errorf("%s: %d×%d became %d×%d (%d×%d said), %v; want %d×%d", row.provider, row.w, row.h, cfg.Width, cfg.Height, got.Width, got.Height, err, row.wantW, row.wantH)
		}
		if row.w == row.wantW && !bytes.Equal(got.Data, p.Data) {
			t.Errorf("%s: a picture that fits was written anew", row.provider)
		}
	}
}

// Cost adds what each kind of token costs, per million.
func TestA1_Cost(t *testing.T) {
	p := model.Price{Input: 2, Output: 10, CacheRead: 0.5, CacheWrite: 3}
	u := model.Usage{Input: 1_000_000, Output: 500_000}.Add(model.Usage{CacheRead: 2_000_000, CacheWrite: 1_000_000, Reasoning: 7})
	if got := p.Cost(u); got != 2+5+1+3 {
		t.Errorf("%v", got)
	}
}
