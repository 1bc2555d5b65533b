package console

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/server/internal/core"
)

// artifactsData is the list of artifacts.
type artifactsData struct {
	core.Artifacts
	Media bool
	Of    string
	Older string
}

func (c *Console) artifacts(r *http.Request, p *page) error {
	before, err := timeParam(r, "before")
	if err != nil {
		return err
	}
	q := r.URL.Query()
	d := artifactsData{Media: q.Get("media") != "", Of: q.Get("session")}
	if d.Artifacts, err = c.core.Artifacts(r.Context(), core.ArtifactQuery{Session: d.Of, Media: d.Media, Before: before, Limit: 60}); err != nil {
		return err
	}
	if d.More {
		d.Older = withQuery("/artifacts", "before", d.Artifacts.Artifacts[len(d.Artifacts.Artifacts)-1].Created, "media", q.Get("media"), "session", d.Of)
	}
	p.Name, p.Title, p.Section, p.Data = "artifacts", "Artifacts", "artifacts", d
	if before.IsZero() {
		p.Live = "call.ended"
	}
	return nil
}

// artifactData is one artifact, and a piece of its text.
type artifactData struct {
	Artifact core.Artifact
	Kind     string // image, audio, video, pdf, text or other
	Lines    []string
	From     int64 // number of the first line, from 1
	Next     int64 // of the first line of the next piece; 0 for none
	Before   int64 // of the piece before; 0 for none
	Cut      bool  // a line was too long to show whole
}

// Bounds of a piece of text: lines, characters of one, bytes of all.
const (
	pieceLines = 1000
	pieceLine  = 2000
	pieceBytes = 512 << 10
)

func (c *Console) artifact(r *http.Request, p *page) error {
	a, err := c.core.Artifact(r.Context(), r.PathValue("artifact"))
	if err != nil {
		return err
	}
	from, err := numberParam(r, "from")
	if err != nil {
		return err
	}
	d := &artifactData{Artifact: a, Kind: viewKind(a.MIME), From: max(from, 1)}
	p.Name, p.Title, p.Section, p.Data = "artifact", "Artifact "+a.ID, "artifacts", d
	if d.Kind != "text" {
		return nil
	}
	content, err := c.core.OpenArtifact(r.Context(), a.ID)
	if err != nil {
		return err
	}
	defer content.Close()
	return d.read(io.NewSectionReader(content, 0, a.Size))
}

// read takes a piece of text, from line From on.
func (d *artifactData) read(r io.Reader) error {
	b := bufio.NewReaderSize(r, 64<<10)
	var size int
	for n := int64(1); ; n++ {
		line, cut, err := readLine(b)
		if errors.Is(err, io.EOF) && line == "" {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if n >= d.From {
			if len(d.Lines) == pieceLines || size > pieceBytes {
				d.Next = n
				break
			}
			d.Lines, d.Cut, size = append(d.Lines, line), d.Cut || cut, size+len(line)
		}
		if err != nil {
			break
		}
	}
	if d.From > 1 {
		d.Before = max(d.From-pieceLines, 1)
	}
	return nil
}

// readLine reads a line and keeps its beginning. The error is that of the reader.
func readLine(b *bufio.Reader) (line string, cut bool, err error) {
	var keep []byte
	for {
		part, err := b.ReadSlice('\n')
		if room := 4*pieceLine - len(keep); room > 0 {
			keep = append(keep, part[:min(len(part), room)]...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			keep = bytes.TrimRight(keep, "\r\n")
			if utf8.RuneCount(keep) > pieceLine {
				runes := []rune(string(keep))
				return string(runes[:pieceLine]), true, err
			}
			return string(keep), false, err
		}
		cut = true
	}
}

// viewKind says how something is looked at.
func viewKind(mime string) string {
	mime, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(mime)), ";")
	kind, sub, _ := strings.Cut(mime, "/")
	switch {
	case inline[mime] && kind != "application":
		return kind
	case mime == "application/pdf":
		return "pdf"
	case kind == "text", sub == "json", strings.HasSuffix(sub, "+json"), strings.HasSuffix(sub, "+xml"), sub == "xml", sub == "x-ndjson", sub == "yaml", sub == "x-sh":
		return "text"
	}
	return "other"
}

// inline are the media types that a browser draws without running anything. SVG and HTML are not among them.
var inline = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/avif": true, "image/bmp": true,
	"audio/mpeg": true, "audio/ogg": true, "audio/wav": true, "audio/x-wav": true, "audio/flac": true, "audio/mp4": true, "audio/webm": true, "audio/aac": true,
	"video/mp4": true, "video/webm": true, "video/ogg": true, "application/pdf": true}

// raw sends the bytes of an artifact: what a browser can draw as what it is, everything else as a download of bytes.
func (c *Console) raw(r *http.Request, p *page) error {
	id := r.PathValue("artifact")
	a, err := c.core.Artifact(r.Context(), id)
	if err != nil {
		return err
	}
	content, err := c.core.OpenArtifact(r.Context(), a.ID)
	if err != nil {
		return err
	}
	mime, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(a.MIME)), ";")
	p.Send = func(w http.ResponseWriter) {
		defer content.Close()
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'")
		h.Set("Content-Type", "application/octet-stream")
		h.Set("Content-Disposition", "attachment; filename=\""+a.ID+"\"")
		if inline[mime] && r.URL.Query().Get("download") == "" {
			h.Set("Content-Type", mime)
			h.Set("Content-Disposition", "inline; filename=\""+a.ID+"\"")
			if mime == "application/pdf" { // shown in a frame of its page
				h.Set("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'self'")
				h.Set("X-Frame-Options", "SAMEORIGIN")
			}
		}
		h.Set("Cache-Control", "private, max-age=86400, immutable") // it is named by what it holds
		http.ServeContent(w, r, "", a.Created, io.NewSectionReader(content, 0, a.Size))
	}
	return nil
}
