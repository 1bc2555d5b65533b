package ext_test

import (
	"bytes"
	"image"
	_ "image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/ext"
)

// pandoc makes RTF of what nothing inside makes RTF of, and reads documents for who asks it alone.
func TestPandoc(t *testing.T) {
	p := need(t, "pandoc", "pandoc")
	b := run(t, p, media.Payload{Data: []byte("# One\n\nsome *bent* words\n"), Name: "a.md"}, "convert to=rtf").Media.Data
	if !bytes.HasPrefix(b, []byte(`{\rtf`)) || !bytes.Contains(b, []byte("One")) || !bytes.Contains(b, []byte(`{\i bent}`)) {
		t.Errorf("gives %.300q", b)
	}
	for _, tt := range []struct{ file, from, to, want string }{
		{"ooxml/testdata/rep.docx", "docx", "md", "# "}, {"odf/testdata/rep.odt", "odt", "html", "<h1"},
		{"legacy/testdata/rep.epub", "epub", "rtf", `{\rtf`}, {"legacy/testdata/rep.rtf", "rtf", "md", "# Introduction"},
	} {
		res, err := doing(t, here.found, "pandoc", mimeOf(t, tt.from), tt.to)(t, sample(t, tt.file).Data)
		if err != nil || !strings.Contains(string(res.Media.Data), tt.want) {
			t.Errorf("%s to %s: %v, %.200q", tt.file, tt.to, err, res.Media)
		}
	}
}

// vips reads the pictures of telephones, in colour and size.
func TestVips(t *testing.T) {
	p := need(t, "vips", "libvips-tools")
	dir := t.TempDir()
	from := drawn("invoice 4711")
	if err := os.WriteFile(filepath.Join(dir, "a.png"), from.Data, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"heic", "avif"} {
		file := filepath.Join(dir, "a."+format)
		if out, err := exec.Command("vips", "copy", filepath.Join(dir, "a.png"), file).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		res := run(t, p, media.Payload{Data: raw, Name: "a." + format}, "image format to=png")
		got, _, err := image.Decode(bytes.NewReader(res.Media.Data))
		want, _, _ := image.Decode(bytes.NewReader(from.Data))
		if err != nil || got.Bounds() != want.Bounds() {
			t.Fatalf("%s: %v", format, err)
		}
		if small, _, err := image.Decode(bytes.NewReader(run(t, p, media.Payload{Data: raw, Name: "a." + format}, "image resize width=50 | image rotate deg=90 | image format to=png").Media.Data)); err != nil || small.Bounds().Dy() != 50 {
			t.Errorf("%s: %v %v", format, small.Bounds(), err)
		}
		if look("tesseract") != "" {
			if got := run(t, p, media.Payload{Data: raw, Name: "a." + format}, "extract text").Read.Text; !strings.Contains(got, "invoice 471") {
				t.Errorf("%s: reads %q", format, got)
			}
		}
		off := 0
		for y := range want.Bounds().Dy() {
			for x := range want.Bounds().Dx() {
				a, _, _, _ := want.At(x, y).RGBA()
				if b, _, _, _ := got.At(x, y).RGBA(); (a > 0x8000) != (b > 0x8000) {
					off++
				}
			}
		}
		if all := want.Bounds().Dx() * want.Bounds().Dy(); off*100 > all {
			t.Errorf("%s: %d of %d dots are another", format, off, all)
		}
	}
}

// whisper-cli and vosk-transcriber are not packaged: programs that take their command lines and write what they write stand
// for them. That they read the model shows that a confined program is given it.
func TestRecognisersWithAModel(t *testing.T) {
	model := filepath.Join(t.TempDir(), "model.bin")
	if err := os.WriteFile(model, []byte("weights"), 0o644); err != nil {
		t.Fatal(err)
	}
	const check = `while [ $# -gt 0 ]; do case "$1" in -m) model=$2;; -l) lang=$2;; -f|-i) sound=$2;; -of|-o) out=$2;; esac; shift; done
[ "$(cat "$model")" = weights ] || { echo 'no model' >&2; exit 3; }
[ "$(head -c 4 "$sound")" = RIFF ] || { echo 'no sound' >&2; exit 4; }
`
	whisper := fake(t, check+`printf '{"transcription":[{"offsets":{"from":500,"to":1250},"text":" hello in %s"}]}' "$lang" > "$out.json"`)
	vosk := fake(t, check+`printf '1\n00:00:00,500 --> 00:00:01,250\nhello there\n\n' > "$out"`)
	for _, tt := range []struct{ name, program, args, want string }{
		{"whisper-cli", whisper, `lang="de-DE" out=srt`, "1\n00:00:00,500 --> 00:00:01,250\nhello in de\n\n"},
		{"vosk-transcriber", vosk, "out=json", `{"segments":[{"start":0.5,"end":1.25,"text":"hello there"}],"text":"hello there"}`},
	} {
		m := open(t, func(c *ext.Config) {
			c.Model = model
			c.Look = func(name string) string {
				if name == tt.name {
					return tt.program
				}
				return ""
			}
		})
		wav := run(t, m.pipe, media.Payload{Data: []byte("RIFF$\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00data\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), Name: "a.wav"}, "audio transcribe "+tt.args)
		if got := wav.Read.Text; got != tt.want {
			t.Errorf("%s: %q", tt.name, got)
		}
		m.finder.Close()
	}
	m := open(t, func(c *ext.Config) { only()(c); c.Look = func(string) string { return whisper } })
	for _, f := range m.found {
		if strings.HasPrefix(f.Name, "whisper") && !strings.Contains(f.Reason, "media.speech.model_file") {
			t.Errorf("without a model: %q", f.Reason)
		}
	}
}
