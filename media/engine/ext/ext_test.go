package ext_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"github.com/tackle-dev/tackle/host/local/confine"
	"github.com/tackle-dev/tackle/host/local/proc"
	"github.com/tackle-dev/tackle/host/local/scratch"
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine"
	"github.com/tackle-dev/tackle/media/engine/ext"
	"github.com/tackle-dev/tackle/media/forge/programs"
)

const officePackages = "libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui python3-uno"

// machine finds the programs of this machine once for all tests.
type machine struct {
	finder *ext.Finder
	found  []ext.Found
	pipe   *media.Pipeline
	dir    string // where its folders are
}

var (
	once   sync.Once
	here   machine
	places []func()
)

func TestMain(m *testing.M) {
	confine.Main()
	code := m.Run()
	for _, f := range places {
		f()
	}
	os.Exit(code)
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

func look(name string) string {
	p, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return p
}

func open(t testing.TB, change func(*ext.Config)) machine {
	t.Helper()
	dir, err := os.MkdirTemp("", "ext-")
	if err != nil {
		t.Fatal(err)
	}
	r, err := proc.Open(proc.Config{StateDir: filepath.Join(dir, "run"), Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	cfg := ext.Config{Runner: programs.OnHost{Runner: r, Confine: confine.Here()}, Folder: func() (ext.Folder, error) { return scratch.New(filepath.Join(dir, "work")) }, Look: look, Exists: exists}
	if change != nil {
		change(&cfg)
	}
	f := ext.New(cfg)
	places = append(places, func() { f.Close(); r.Close(); os.RemoveAll(dir) })
	m := machine{finder: f, dir: dir}
	if m.found, err = f.Find(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m.pipe, err = media.New(media.Config{Engines: engine.All(), More: f.Engines}); err == nil {
		err = m.pipe.Find(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// only has one program found, and no other.
func only(names ...string) func(*ext.Config) {
	return func(c *ext.Config) {
		c.Look = func(name string) string {
			if slices.Contains(names, name) {
				return look(name)
			}
			return ""
		}
	}
}

// need returns the pipeline with the programs of this machine. Where one is not here the test is skipped, or fails where
// TACKLE_ORACLES is set, as in make race.
func need(t testing.TB, name, pkg string) *media.Pipeline {
	t.Helper()
	once.Do(func() {
		here = open(t, nil)
		for _, f := range here.found {
			t.Logf("%s %s %s %s", f.Name, f.Version, f.Path, f.Reason)
		}
	})
	for _, f := range here.found {
		switch {
		case f.Name != name:
		case f.Engine != nil:
			return here.pipe
		case f.Path != "":
			t.Fatalf("%s is at %s and not used: %s", name, f.Path, f.Reason)
		case os.Getenv("TACKLE_ORACLES") == "1":
			t.Fatalf("%s is not here, and TACKLE_ORACLES asks for it: scripts/deps.sh installs %s", name, pkg)
		default:
			t.Skipf("%s is not here: scripts/deps.sh installs %s", name, pkg)
		}
	}
	t.Fatalf("nobody looks for %s", name)
	return nil
}

func run(t testing.TB, p *media.Pipeline, in media.Payload, q string) media.Result {
	t.Helper()
	res, err := p.Query(t.Context(), in, q)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	return res
}

// drawn is a picture with some words.
func drawn(words string) media.Payload {
	small := image.NewGray(image.Rect(0, 0, 7*len(words)+20, 33))
	for i := range small.Pix {
		small.Pix[i] = 255
	}
	d := font.Drawer{Dst: small, Src: image.NewUniform(color.Black), Face: basicfont.Face7x13, Dot: fixed.P(10, 20)}
	d.DrawString(words)
	const by = 4
	big := image.NewGray(image.Rect(0, 0, small.Rect.Dx()*by, small.Rect.Dy()*by))
	for y := range big.Rect.Dy() {
		for x := range big.Rect.Dx() {
			big.SetGray(x, y, small.GrayAt(x/by, y/by))
		}
	}
	var b bytes.Buffer
	_ = png.Encode(&b, big)
	return media.Payload{Data: b.Bytes(), Name: "p.png"}
}

func TestOCR(t *testing.T) {
	p := need(t, "tesseract", "tesseract-ocr tesseract-ocr-eng")
	in := drawn("Invoice number 4711 for Hopper")
	if got := run(t, p, in, "extract text").Read.Text; !strings.Contains(got, "4711") || !strings.Contains(got, "Invoice") {
		t.Errorf("reads %q", got)
	}
	if got := run(t, p, in, "extract text ocr_out=json").Read.Text; !strings.Contains(got, `"confidence"`) || !strings.Contains(got, `"4711"`) {
		t.Errorf("reads %q", got)
	}
	if got := run(t, p, in, "extract text ocr_out=hocr lang=en").Read.Text; !strings.Contains(got, "ocrx_word") {
		t.Errorf("reads %q", got)
	}
	if _, err := p.Query(t.Context(), in, "extract text lang=tlh"); err == nil || !strings.Contains(err.Error(), "not installed") {
		t.Errorf("an unknown language: %v", err)
	}
}

const clips = "/usr/share/pocketsphinx/test/data/librivox/"

// The speech that Debian packages with its transcript.
func TestSpeech(t *testing.T) {
	p := need(t, "pocketsphinx", "pocketsphinx pocketsphinx-en-us pocketsphinx-testdata")
	need(t, "ffmpeg", "ffmpeg")
	want, err := os.ReadFile(clips + "transcription")
	if err != nil {
		if os.Getenv("TACKLE_ORACLES") == "1" {
			t.Fatal("the samples are not here, and TACKLE_ORACLES asks for them: scripts/deps.sh installs pocketsphinx-testdata")
		}
		t.Skip("the samples are not here: scripts/deps.sh installs pocketsphinx-testdata")
	}
	const name = "sense_and_sensibility_01_austen_64kb-0880"
	b, err := os.ReadFile(clips + name + ".wav")
	if err != nil {
		t.Fatal(err)
	}
	in := media.Payload{Data: b, Name: "a.wav"}
	got := strings.Fields(run(t, p, in, "audio transcribe").Read.Text)
	var said []string
	for _, l := range strings.Split(string(want), "\n") {
		if strings.Contains(l, name) {
			said = strings.Fields(strings.NewReplacer("<s>", "", "</s>", "").Replace(l[:strings.LastIndexByte(l, '(')]))
		}
	}
	right := 0
	for _, w := range said {
		for _, g := range got {
			if g == w {
				right++
				break
			}
		}
	}
	if len(said) == 0 || right*2 < len(said) {
		t.Errorf("%d words of %d are right: %q for %q", right, len(said), got, said)
	}
	srt := run(t, p, in, "audio transcribe out=srt").Read.Text
	if !strings.HasPrefix(srt, "1\n00:00:0") || !strings.Contains(srt, " --> 00:00:") {
		t.Errorf("subtitles are %q", srt)
	}
	if _, err := p.Query(t.Context(), in, `audio transcribe lang="de"`); err == nil || !strings.Contains(err.Error(), "English") {
		t.Errorf("another language: %v", err)
	}
}

func sample(t testing.TB, name string) media.Payload {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	return media.Payload{Data: b, Name: filepath.Base(name)}
}

// What passed its trial is known the next time, and nothing is started to know it.
func TestKnown(t *testing.T) {
	need(t, "tesseract", "tesseract-ocr tesseract-ocr-eng")
	stamp := func(p string) string { return "1" }
	dir := t.TempDir()
	cfg := ext.Config{Runner: noRunner{t}, Folder: func() (ext.Folder, error) { return scratch.New(dir) }, Look: look, Exists: exists, Stamp: stamp,
		Known: []ext.Known{{Name: "tesseract", Path: look("tesseract"), Stamp: "1", Version: "5", Abilities: []string{"eng"}}, {Name: "ffmpeg", Path: look("ffmpeg"), Stamp: "2"}, {Name: "vips", Path: look("vips"), Stamp: "1"}}}
	got := ext.New(cfg).Quick()
	if len(got) != 1 || got[0].ID != "tesseract" {
		t.Errorf("%v", got)
	}
}

// A LibreOffice that hangs is ended, and it is said.
func TestOfficeThatHangs(t *testing.T) {
	dir := t.TempDir()
	h := &hanging{}
	cfg := ext.Config{Runner: h, Folder: func() (ext.Folder, error) { return scratch.New(dir) }, Look: func(n string) string { return "/bin/" + n }, Exists: func(string) bool { return true },
		Stamp: func(string) string { return "1" }, OfficeTime: 20 * time.Millisecond, Known: []ext.Known{{Name: "soffice", Path: "/bin/soffice", Stamp: "1"}}}
	f := ext.New(cfg)
	defer f.Close()
	p, err := media.New(media.Config{Engines: f.Quick()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Query(t.Context(), media.Payload{Data: []byte("x"), Name: "a.txt"}, "convert to=pdf")
	if err == nil || !strings.Contains(err.Error(), "LibreOffice did not finish within 20ms and was ended") || h.closed != 1 {
		t.Errorf("%v, ended %d times", err, h.closed)
	}
}

// hanging is a program that is ready and never answers.
type hanging struct {
	asked, closed int
}

func (h *hanging) Run(context.Context, ext.Start) (ext.End, error) {
	return ext.End{}, errors.New("no")
}

func (h *hanging) Keep(context.Context, ext.Start) (ext.Resident, error) { return h, nil }

func (h *hanging) Ask(ctx context.Context, _ string) (string, error) {
	if h.asked++; h.asked == 1 {
		return "ready", nil
	}
	<-ctx.Done()
	return "", ctx.Err()
}

func (h *hanging) Kill() error {
	h.closed++
	return nil
}

func (h *hanging) Close() error { return nil }

// noRunner fails the test where a program is started.
type noRunner struct{ t *testing.T }

func (n noRunner) Run(context.Context, ext.Start) (ext.End, error) {
	n.t.Error("a program was started")
	return ext.End{}, errors.New("no")
}

func (n noRunner) Keep(context.Context, ext.Start) (ext.Resident, error) {
	n.t.Error("a program was started")
	return nil, errors.New("no")
}

// fake writes a program that does as it is told.
func fake(t *testing.T, script string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "prog")
	if err := os.WriteFile(p, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

// A program that fails its trial is not used, and it is said why.
func TestTrials(t *testing.T) {
	broken, chatty := fake(t, "echo 'cannot open display' >&2; exit 3"), fake(t, "echo nothing of use")
	m := open(t, func(c *ext.Config) {
		c.Look = func(name string) string {
			switch name {
			case "soffice", "tesseract", "vips", "vipsthumbnail", "ffmpeg":
				return broken
			case "pandoc":
				return chatty
			}
			return ""
		}
	})
	for _, f := range m.found {
		if f.Engine != nil || f.Reason == "" {
			t.Errorf("%s: %+v", f.Name, f)
		}
		if f.Name == "soffice" && !strings.Contains(f.Reason, "cannot open display") {
			t.Errorf("%s: %s", f.Name, f.Reason)
		}
	}
	if m.pipe.Available("audio.transcribe") || m.pipe.Reads() {
		t.Error("it offers what no program here does")
	}
	var e *media.Error
	if _, err := m.pipe.Query(t.Context(), media.Payload{Data: []byte("x"), Name: "a.wav"}, "audio transcribe"); !errors.As(err, &e) || e.Code != media.EngineRequired || !e.Final {
		t.Errorf("%v", err)
	}
}

func TestSpeechService(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, _, err := r.FormFile("file")
		if err != nil || r.URL.Path != "/v1/audio/transcriptions" || r.Header.Get("Authorization") != "Bearer k" || r.FormValue("model") != "m" || r.FormValue("language") != "de" {
			http.Error(w, fmt.Sprintf("%v %s %s", err, r.URL.Path, r.FormValue("language")), http.StatusBadRequest)
			return
		}
		b, _ := io.ReadAll(f)
		fmt.Fprintf(w, `{"text":"hallo welt","segments":[{"start":0.5,"end":1.25,"text":" hallo welt"}],"duration":%d}`, len(b))
	}))
	defer srv.Close()
	f := ext.New(ext.Config{Speech: &ext.Speech{URL: srv.URL + "/v1", Model: "m", Key: "k", Post: post}})
	engines, err := f.Engines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wav := media.Engine{ID: "test", Convert: []media.Convert{{From: []string{"audio/wav"}, To: []string{"pcm"}, Do: func(context.Context, *media.Request) (media.Result, error) {
		return media.Result{Media: &media.Payload{Data: make([]byte, 4*8000), MIME: media.PCMMIME + ";rate=8000"}}, nil
	}}}}
	p, err := media.New(media.Config{Engines: append(engines, wav)})
	if err != nil {
		t.Fatal(err)
	}
	in := media.Payload{Data: []byte("RIFF\x00\x00\x00\x00WAVEfmt "), Name: "a.wav"}
	if got := run(t, p, in, `audio transcribe lang="de-DE" out=vtt`).Read.Text; got != "WEBVTT\n\n00:00:00.500 --> 00:00:01.250\nhallo welt\n\n" {
		t.Errorf("%q", got)
	}
	if _, err := p.Query(t.Context(), in, `audio transcribe lang="fr"`); err == nil || !strings.Contains(err.Error(), "status 400") {
		t.Errorf("%v", err)
	}
}

func post(ctx context.Context, url string, header map[string]string, body []byte) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, b, err
}
