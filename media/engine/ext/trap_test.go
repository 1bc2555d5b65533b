package ext_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tackle-dev/tackle/host/local/confine"
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/ext"
	"github.com/tackle-dev/tackle/media/forge/programs"
)

// trap is a server that no document may reach.
type trap struct {
	url  string
	mu   sync.Mutex
	seen []string
}

func newTrap(t *testing.T) *trap {
	tr := &trap{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tr.mu.Lock()
		tr.seen = append(tr.seen, r.Method+" "+r.URL.Path)
		tr.mu.Unlock()
		http.NotFound(w, r)
	}))
	t.Cleanup(srv.Close)
	tr.url = srv.URL
	return tr
}

// caught returns what was asked for since the last time.
func (tr *trap) caught() []string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	out := tr.seen
	tr.seen = nil
	return out
}

func zipped(t *testing.T, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		f, err := w.Create(parts[i])
		if err == nil {
			_, err = f.Write([]byte(parts[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// remoteDocx is a document with a template and a picture that lie elsewhere.
func remoteDocx(t *testing.T, url string) []byte {
	const rels, types = "http://schemas.openxmlformats.org/package/2006/relationships", "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	rel := func(kind, to, mode string) string {
		return fmt.Sprintf(`<Relationships xmlns="%s"><Relationship Id="rId1" Type="%s/%s" Target="%s"%s/></Relationships>`, rels, types, kind, to, mode)
	}
	const words = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="` + types + `"`
	return zipped(t,
		"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>`+
			`<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>`+
			`<Override PartName="/word/settings.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.settings+xml"/></Types>`,
		"_rels/.rels", rel("officeDocument", "word/document.xml", ""),
		"word/_rels/settings.xml.rels", rel("attachedTemplate", url+"/template.dotx", ` TargetMode="External"`),
		"word/settings.xml", `<w:settings `+words+`><w:attachedTemplate r:id="rId1"/></w:settings>`,
		"word/_rels/document.xml.rels", `<Relationships xmlns="`+rels+`"><Relationship Id="rId1" Type="`+types+`/image" Target="`+url+`/docx.png" TargetMode="External"/>`+
			`<Relationship Id="rId2" Type="`+types+`/settings" Target="settings.xml"/></Relationships>`,
		"word/document.xml", `<w:document `+words+` xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><w:body><w:p><w:r><w:t>tackle</w:t></w:r><w:r><w:drawing><wp:inline><wp:extent cx="900000" cy="900000"/><wp:docPr id="1" name="p"/><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr><pic:cNvPr id="1" name="p"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:link="rId1"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="900000" cy="900000"/></a:xfrm><a:prstGeom prst="rect"/></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p></w:body></w:document>`)
}

func remoteText(url string) []byte {
	return []byte(`<?xml version="1.0"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text><text:section text:name="s" ><text:section-source xlink:href="` + url + `/section.odt"/><text:p>tackle</text:p></text:section><text:p><draw:frame svg:width="3cm" svg:height="3cm" text:anchor-type="as-char"><draw:image xlink:href="` + url + `/fodt.png" xlink:type="simple"/></draw:frame></text:p></office:text></office:body></office:document>`)
}

func remoteSheet(url string) []byte {
	return []byte(`<?xml version="1.0"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.spreadsheet"><office:body><office:spreadsheet><table:table table:name="a"><table:table-row><table:table-cell table:formula="of:=WEBSERVICE(&quot;` + url + `/cell&quot;)"/></table:table-row></table:table></office:spreadsheet></office:body></office:document>`)
}

func remotePage(url string) []byte {
	return []byte(`<html><head><link rel="stylesheet" href="` + url + `/style.css"></head><body><p>tackle</p><img src="` + url + `/html.png" width="50" height="50"><iframe src="` + url + `/frame.html"></iframe></body></html>`)
}

// doing returns what an engine does for a conversion.
func doing(t *testing.T, found []ext.Found, name, mime, to string) func(*testing.T, []byte) (media.Result, error) {
	t.Helper()
	for _, f := range found {
		if f.Name != name || f.Engine == nil {
			continue
		}
		for _, c := range f.Engine.Convert {
			if media.Matches(c.From, mime) && slices.Contains(c.To, to) {
				return func(t *testing.T, b []byte) (media.Result, error) {
					return c.Do(t.Context(), &media.Request{In: media.Payload{Data: b, MIME: mime, Name: "in"}, To: to})
				}
			}
		}
	}
	t.Fatalf("%s does not make %s of %s", name, to, mime)
	return nil
}

func mimeOf(t *testing.T, token string) string {
	t.Helper()
	f, ok := media.FormatOf(token)
	if !ok {
		t.Fatal(token)
	}
	return f.MIME
}

// No document reaches the network: neither where programs are confined nor by their own options alone.
func TestNoDocumentReachesTheNetwork(t *testing.T) {
	for _, name := range []string{"soffice", "pandoc", "ffmpeg", "vips"} {
		need(t, name, map[string]string{"soffice": officePackages, "pandoc": "pandoc", "ffmpeg": "ffmpeg", "vips": "libvips-tools"}[name])
	}
	tr := newTrap(t)
	list := []byte("#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\n" + tr.url + "/sound.ts\n#EXT-X-ENDLIST\n")
	drawing := []byte(`<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9"><image xlink:href="` + tr.url + `/svg.png" width="9" height="9"/></svg>`)
	for _, confined := range []bool{true, false} {
		t.Run(fmt.Sprintf("confined %v", confined), func(t *testing.T) {
			if h := confine.Here(); confined && !h.Network {
				t.Skip(h.Reason)
			}
			m := open(t, func(c *ext.Config) {
				only("soffice", "pandoc", "ffmpeg", "vips")(c)
				if on := c.Runner.(programs.OnHost); !confined {
					c.Runner = programs.OnHost{Runner: on.Runner}
				}
			})
			defer m.finder.Close()
			for _, tt := range []struct {
				program, from, to string
				in                []byte
				refused           bool // the program does not take it
			}{
				{"soffice", "docx", "pdf", remoteDocx(t, tr.url), false},
				{"soffice", "fodt", "pdf", remoteText(tr.url), false},
				{"soffice", "html", "pdf", remotePage(tr.url), false},
				{"soffice", "fods", "pdf", remoteSheet(tr.url), false},
				{"pandoc", "html", "rtf", remotePage(tr.url), false},
				{"pandoc", "docx", "html", remoteDocx(t, tr.url), false},
				{"ffmpeg", "wav", "pcm", list, true},
				{"vips", "heic", "png", drawing, false},
			} {
				_, err := doing(t, m.found, tt.program, mimeOf(t, tt.from), tt.to)(t, tt.in)
				if (err != nil) != tt.refused {
					t.Errorf("%s, %s to %s: %v", tt.program, tt.from, tt.to, err)
				}
				if got := tr.caught(); got != nil {
					t.Errorf("%s, %s to %s asks for %v", tt.program, tt.from, tt.to, got)
				}
			}
		})
	}
	// The trap works: the same files, in the same programs without our options.
	dir := t.TempDir()
	for name, b := range map[string][]byte{"a.html": remotePage(tr.url), "a.docx": remoteDocx(t, tr.url), "a.m3u8": list} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		argv  []string
		wants string
	}{
		{[]string{"soffice", "--headless", "-env:UserInstallation=file://" + dir + "/profile", "--convert-to", "pdf:writer_pdf_Export", "--outdir", dir, dir + "/a.html"}, "/html.png"},
		{[]string{"soffice", "--headless", "-env:UserInstallation=file://" + dir + "/profile", "--convert-to", "pdf", "--outdir", dir, dir + "/a.docx"}, "/docx.png"},
		{[]string{"pandoc", "--standalone", "--to", "rtf", "--output", dir + "/a.rtf", dir + "/a.html"}, "/html.png"},
		{[]string{"ffmpeg", "-nostdin", "-loglevel", "error", "-protocol_whitelist", "file,http,tcp", "-i", dir + "/a.m3u8", "-f", "f32le", dir + "/a.raw"}, "/sound.ts"},
	} {
		cmd := exec.Command(tt.argv[0], tt.argv[1:]...)
		cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + dir}
		out, _ := cmd.CombinedOutput() // some end with an error, since the trap gives nothing
		if got := tr.caught(); !strings.Contains(strings.Join(got, " "), tt.wants) {
			t.Errorf("%s without our options does not ask for %s, only %v: %s", tt.argv[0], tt.wants, got, out)
		}
	}
}

// A file that names other files of the user gets none of them.
func TestNoDocumentReadsOtherFiles(t *testing.T) {
	need(t, "tesseract", "tesseract-ocr tesseract-ocr-eng")
	need(t, "ffmpeg", "ffmpeg")
	if h := confine.Here(); !h.Files {
		t.Skip(h.Reason)
	}
	secret := filepath.Join(t.TempDir(), "secret.png")
	if err := os.WriteFile(secret, drawn("Invoice number 4711 for Hopper").Data, 0o644); err != nil {
		t.Fatal(err)
	}
	// tesseract takes a text for a list of pictures.
	list := []byte(secret + "\n" + secret + "\n")
	res, err := doing(t, here.found, "tesseract", "image/png", "txt")(t, list)
	if err == nil && strings.Contains(string(res.Media.Data), "4711") {
		t.Errorf("it read another file: %q", res.Media.Data)
	}
	plain := filepath.Join(t.TempDir(), "in.png")
	if err := os.WriteFile(plain, list, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("tesseract", plain, "-").Output(); err != nil || !strings.Contains(string(out), "4711") {
		t.Errorf("tesseract as it is does not read the file, so this proves nothing: %v, %q", err, out)
	}
	// ffmpeg takes lists of sounds.
	sound := filepath.Join(t.TempDir(), "secret.wav")
	if out, err := exec.Command("ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "sine=duration=1", sound).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if _, err := doing(t, here.found, "ffmpeg", "audio/wav", "pcm")(t, []byte("ffconcat version 1.0\nfile "+sound+"\n")); err == nil {
		t.Error("ffmpeg read another file")
	}
}
