package ext

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/image"
)

// probeWord is what is written into the files with which programs are tried.
const probeWord = "tackle"

// Small files with which programs are tried: the word as a picture, and two black ones of 16 by 16 dots.
var (
	//go:embed probe.png
	probePNG []byte
	//go:embed probe.heic
	probeHEIC []byte
	//go:embed probe.avif
	probeAVIF []byte
)

// limitOf is how many bytes a result may have.
func limitOf(r *media.Request) int64 { return r.Limits.WithDefaults().Bytes }

// pandoc converts between formats of running text, by structure. It runs in its sandbox, where it opens no file but the one
// it is given: a document can name others. So it does not write docx and odt, for which it opens templates.
func (f *Finder) pandoc(ctx context.Context) Found {
	x, ok := f.find("pandoc", "RTF from Markdown, HTML and e-books", "on Debian: apt install pandoc")
	if !ok {
		return x
	}
	from := map[string]string{"text/markdown": "gfm+footnotes", "text/html": "html"}
	for token, name := range map[string]string{"docx": "docx", "odt": "odt", "epub": "epub", "rtf": "rtf"} {
		m, _ := media.FormatOf(token)
		from[m.MIME] = name
	}
	do := func(ctx context.Context, r *media.Request) (media.Result, error) {
		kind := from[r.In.MIME]
		to := map[string]string{"md": "gfm+footnotes", "rtf": "rtf"}[r.To]
		out := "out." + r.To
		args := []string{x.Path, "--sandbox", "--standalone", "--from", kind, "--to", cmp.Or(to, r.To), "--output", out, "in"}
		b, err := f.run(ctx, job{argv: args, in: map[string][]byte{"in": r.In.Data}, out: out}, limitOf(r))
		if err != nil {
			return media.Result{}, err
		}
		return gave(b)
	}
	trial := func() error {
		res, err := do(ctx, &media.Request{In: media.Payload{Data: []byte("# " + probeWord + "\n"), MIME: "text/markdown"}, To: "rtf"})
		if err == nil && !strings.Contains(string(res.Media.Data), probeWord) {
			err = errors.New("it did not convert a small file; version 2.15 or later is needed")
		}
		return err
	}
	if !f.tried(ctx, &x, trial, x.Path, "--version") {
		return x
	}
	return x.works(media.Engine{Convert: []media.Convert{
		{From: mimes("md", "html"), To: []string{"rtf"}, Keep: media.Structure, Do: do},
		{From: mimes("docx", "odt", "epub", "rtf"), To: []string{"md", "html", "rtf"}, Keep: media.Structure, Do: do},
	}})
}

// vips reads pictures in formats that are not read inside: HEIC, and AVIF in plain builds. What is done to them then is done
// inside.
func (f *Finder) vips(ctx context.Context) Found {
	x, ok := f.find("vips", "pictures in HEIC and AVIF", "on Debian: apt install libvips-tools")
	if !ok {
		return x
	}
	do := func(ctx context.Context, r *media.Request) (media.Result, error) {
		name := inputName(&r.In)
		b, err := f.run(ctx, job{argv: []string{x.Path, "copy", name, "out.png"}, in: map[string][]byte{name: r.In.Data}, out: "out.png"}, limitOf(r))
		if err != nil {
			return media.Result{}, err
		}
		return gave(b)
	}
	// Which formats it reads depends on what was installed with it.
	trial := func() error {
		var first error
		for format, probe := range map[string][]byte{"heic": probeHEIC, "avif": probeAVIF} {
			res, err := do(ctx, &media.Request{In: media.Payload{Data: probe, MIME: mimes(format)[0]}, To: "png"})
			if err == nil && !bytes.HasPrefix(res.Media.Data, []byte("\x89PNG")) {
				err = errors.New("it made no picture of a small picture")
			}
			if err == nil {
				x.abilities = append(x.abilities, format)
			}
			first = cmp.Or(first, err)
		}
		if x.abilities != nil {
			return nil
		}
		return first
	}
	if !f.tried(ctx, &x, trial, x.Path, "--version") {
		return x
	}
	var mutate []media.Mutate
	for _, m := range image.Engine().Mutate {
		inside := m.Do
		m.Over = mimes(x.abilities...)
		m.Do = func(ctx context.Context, r *media.Request) (media.Result, error) {
			res, err := do(ctx, r)
			if err != nil {
				return media.Result{}, err
			}
			as := *r
			as.In = media.Payload{Data: res.Media.Data, MIME: "image/png", Name: r.In.Name}
			return inside(ctx, &as)
		}
		mutate = append(mutate, m)
	}
	return x.works(media.Engine{Mutate: mutate, Convert: []media.Convert{{From: mimes(x.abilities...), To: []string{"png"}, Keep: media.Exact, Do: do}}})
}

// tesseract reads text from pictures.
func (f *Finder) tesseract(ctx context.Context) Found {
	x, ok := f.find("tesseract", "the words in pictures and scanned pages", "on Debian: apt install tesseract-ocr tesseract-ocr-eng")
	if !ok {
		return x
	}
	do := func(ctx context.Context, r *media.Request) (media.Result, error) {
		lang, warnings, err := ocrLanguages(r, x.abilities)
		if err != nil {
			return media.Result{}, err
		}
		kind, ext := map[string]string{"txt": "txt", "hocr": "hocr", "json": "tsv"}[r.To], map[string]string{"txt": "txt", "hocr": "hocr", "json": "tsv"}[r.To]
		name := inputName(&r.In)
		b, err := f.run(ctx, job{argv: []string{x.Path, name, "out", "-l", lang, kind}, in: map[string][]byte{name: r.In.Data}, out: "out." + ext, time: 2 * time.Minute}, limitOf(r))
		if err != nil {
			return media.Result{}, err
		}
		if r.To == "json" {
			if b, err = ocrWords(b); err != nil {
				return media.Result{}, err
			}
		}
		res, err := gave(b)
		res.Warnings = warnings
		return res, err
	}
	trial := func() error {
		list, err := f.run(ctx, job{argv: []string{x.Path, "--list-langs"}, time: 20 * time.Second}, 1<<20)
		if err != nil {
			return err
		}
		for _, l := range strings.Split(string(list), "\n")[1:] {
			if l = strings.TrimSpace(l); l != "" && l != "osd" && !strings.ContainsAny(l, " :") {
				x.abilities = append(x.abilities, l)
			}
		}
		if len(x.abilities) == 0 {
			return errors.New("it has no language; on Debian: apt install tesseract-ocr-eng")
		}
		res, err := do(ctx, &media.Request{In: media.Payload{Data: probePNG, MIME: "image/png"}, To: "txt"})
		if err == nil && len(bytes.TrimSpace(res.Media.Data)) == 0 { // another script than the word's reads something else
			err = errors.New("it read nothing in a picture with a word")
		}
		return err
	}
	if !f.tried(ctx, &x, trial, x.Path, "--version") {
		return x
	}
	return x.works(media.Engine{Convert: []media.Convert{{From: mimes("png", "jpeg", "tiff", "bmp", "gif", "webp"), To: []string{"txt", "hocr", "json"}, Keep: media.Text, Do: do}}})
}

// ocrLanguages returns the languages for tesseract, joined by plus signs.
func ocrLanguages(r *media.Request, have []string) (string, []string, error) {
	short := map[string]string{"en": "eng", "de": "deu", "fr": "fra", "es": "spa", "it": "ita", "pt": "por", "nl": "nld", "pl": "pol", "ru": "rus", "ja": "jpn", "zh": "chi_sim", "ko": "kor", "sv": "swe", "da": "dan", "cs": "ces", "uk": "ukr", "tr": "tur", "ar": "ara"}
	want, _ := r.Args["languages"].([]string)
	var out []string
	for _, w := range want {
		l, _, _ := strings.Cut(strings.ToLower(w), "-")
		l = cmp.Or(short[l], l)
		if !slices.Contains(have, l) {
			return "", nil, media.Failf("the language %q is not installed for tesseract here; there are %s. Leave lang out, or have it installed (Debian: tesseract-ocr-%s).", w, strings.Join(have, ", "), l)
		}
		out = append(out, l)
	}
	if out == nil {
		out = []string{have[0]}
		if slices.Contains(have, "eng") {
			out = []string{"eng"}
		}
	}
	return strings.Join(out, "+"), nil, nil
}

// ocrWord is a word that was read, with its box in pixels and how sure tesseract is of it, from 0 to 100.
type ocrWord struct {
	Text       string  `json:"text"`
	Confidence float64 `json:"confidence"`
	Left       int     `json:"left"`
	Top        int     `json:"top"`
	Width      int     `json:"width"`
	Height     int     `json:"height"`
	Line       int     `json:"line"`
}

func ocrWords(tsv []byte) ([]byte, error) {
	out := struct {
		Text       string    `json:"text"`
		Confidence float64   `json:"confidence"` // the mean
		Words      []ocrWord `json:"words"`
	}{Words: []ocrWord{}}
	line, last := 0, ""
	sum := 0.0
	for _, row := range strings.Split(string(tsv), "\n") {
		c := strings.Split(row, "\t")
		if len(c) < 12 || c[0] != "5" {
			continue
		}
		if key := strings.Join(c[1:5], "/"); key != last {
			if last = key; line > 0 {
				out.Text += "\n"
			}
			line++
		} else {
			out.Text += " "
		}
		w := ocrWord{Text: strings.TrimSpace(c[11]), Line: line}
		for i, to := range []*int{&w.Left, &w.Top, &w.Width, &w.Height} {
			fmt.Sscan(c[6+i], to) //nolint:errcheck // what is no number stays 0
		}
		fmt.Sscan(c[10], &w.Confidence) //nolint:errcheck // as above
		sum += w.Confidence
		out.Text += w.Text
		out.Words = append(out.Words, w)
	}
	if n := len(out.Words); n > 0 {
		out.Confidence = float64(int(sum/float64(n)*10)) / 10
	}
	return json.Marshal(out)
}
