package media

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine"
)

// pipeline has the engines that need no other program. What PDFium compiles to is kept for all runs of the tests.
var pipeline = sync.OnceValues(func() (*media.Pipeline, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return media.New(media.Config{Engines: engine.With(engine.Config{Cache: filepath.Join(dir, "tackle", "pdfium")})})
})

func run(t testing.TB, in media.Payload, do string) (media.Result, error) {
	t.Helper()
	p, err := pipeline()
	if err != nil {
		t.Fatal(err)
	}
	return p.Query(t.Context(), in, do)
}

func must(t testing.TB, in media.Payload, do string) media.Result {
	t.Helper()
	res, err := run(t, in, do)
	if err != nil {
		t.Fatalf("%s on %s: %v", do, in.Name, err)
	}
	return res
}

// oracle returns a program, or says that it is missing: with TACKLE_ORACLES that is a failure.
func oracle(t testing.TB, name, pkg string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("TACKLE_ORACLES") != "" {
		t.Fatalf("%s is not installed, and TACKLE_ORACLES asks for it: run scripts/deps.sh", name)
	}
	t.Logf("%s is not installed (Debian: %s), so it is not asked", name, pkg)
	return ""
}

// output runs a program and returns what it said; one that fails said nothing unless must.
func output(t testing.TB, must bool, name string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && must {
		t.Fatalf("%s %s: %v: %.500s", filepath.Base(name), strings.Join(args, " "), err, errs.String())
	}
	return out.String()
}

// officeBy converts files with LibreOffice, all in one run, with further options, and returns the results by their names
// without extension: nil where it is not installed.
func officeBy(t testing.TB, how []string, to string, files ...string) map[string]string {
	t.Helper()
	soffice := oracle(t, "soffice", "libreoffice-writer-nogui")
	if soffice == "" {
		return nil
	}
	dir := t.TempDir()
	args := append([]string{"-env:UserInstallation=file://" + filepath.Join(dir, "profile"), "--headless"}, how...)
	args = append(append(args, "--convert-to", to, "--outdir", dir), files...)
	output(t, true, soffice, args...)
	ext, _, _ := strings.Cut(to, ":")
	out := map[string]string{}
	for _, f := range files {
		base := strings.TrimSuffix(filepath.Base(f), filepath.Ext(f))
		name := filepath.Join(dir, base+"."+ext)
		if _, err := os.Stat(name); err != nil {
			t.Errorf("LibreOffice does not open %s", filepath.Base(f))
			continue
		}
		out[base] = name
	}
	return out
}

// reading is what a program reads out of a file.
type reading struct{ by, text string }

// own is what our readers read, by every door that they have.
func own(t testing.TB, p media.Payload) []reading {
	t.Helper()
	var out []reading
	for _, do := range []string{"extract text", "convert to=txt", "convert to=md", "convert to=html", "extract metadata", "extract assets", "chunk"} {
		res, err := run(t, p, do)
		if err != nil {
			continue // a format has not every door
		}
		var b strings.Builder
		if res.Media != nil {
			b.Write(res.Media.Data)
		}
		for _, m := range res.List {
			b.WriteString(m.Name + "\n")
			for _, l := range peel(m.Name, m.Data) {
				b.Write(l.data)
			}
		}
		if res.Read != nil {
			d, err := json.Marshal(res.Read.Data)
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString(res.Read.Text + "\n" + string(d))
		}
		out = append(out, reading{"tackle, " + do, b.String()})
	}
	return out
}

// foreign is what other programs read out of a file of a folder.
func foreign(t testing.TB, file string, withPandoc bool) []reading {
	t.Helper()
	var out []reading
	ext := strings.TrimPrefix(filepath.Ext(file), ".")
	if pandoc := oracle(t, "pandoc", "pandoc"); pandoc != "" && withPandoc {
		from := map[string][]string{"docx": {"docx"}, "odt": {"odt"}, "html": {"html"}, "epub": {"epub"}, "rtf": {"rtf"}, "txt": {"markdown"}}[ext]
		for _, f := range from {
			for _, how := range []string{"all", "accept", "reject"} {
				if how != "all" && ext != "docx" {
					continue
				}
				for _, to := range []string{"native", "plain"} {
					out = append(out, reading{"pandoc, " + how + ", " + to, output(t, true, pandoc, "-s", "-f", f, "-t", to, "--wrap=none", "--track-changes="+how, file)})
				}
			}
		}
	}
	if exiftool := oracle(t, "exiftool", "libimage-exiftool-perl"); exiftool != "" && ext != "txt" {
		out = append(out, reading{"exiftool", output(t, false, exiftool, "-a", "-u", "-U", "-ee", "-G1", "-s", file)})
	}
	if ext != "pdf" {
		return out
	}
	if tool := oracle(t, "pdftotext", "poppler-utils"); tool != "" {
		out = append(out, reading{"pdftotext", output(t, true, tool, "-layout", file, "-")}, reading{"pdftotext, raw", output(t, true, tool, "-raw", file, "-")})
		out = append(out, reading{"pdfinfo", output(t, true, "pdfinfo", "-meta", file) + output(t, true, "pdfinfo", "-dests", file) + output(t, true, "pdfinfo", "-js", file) + output(t, true, "pdfdetach", "-list", file)})
	}
	if qpdf := oracle(t, "qpdf", "qpdf"); qpdf != "" {
		flat := filepath.Join(t.TempDir(), "flat.pdf")
		output(t, false, qpdf, "--qdf", "--object-streams=disable", file, flat)
		b, err := os.ReadFile(flat)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, reading{"qpdf", string(b)})
	}
	return out
}

// look looks for numbers in a file by all readers and by the scan, and returns by number who found it.
func look(t testing.TB, p media.Payload, numbers []string, withPandoc bool, more ...reading) map[string][]string {
	t.Helper()
	found := seen(peel(p.Name, p.Data), numbers)
	file := filepath.Join(t.TempDir(), p.Name)
	if err := os.WriteFile(file, p.Data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, r := range append(append(own(t, p), foreign(t, file, withPandoc)...), more...) {
		for n, where := range seen([]layer{{r.by, []byte(r.text)}}, numbers) {
			found[n] = append(found[n], where...)
		}
	}
	return found
}

func read(t testing.TB, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
