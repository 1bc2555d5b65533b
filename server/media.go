package server

import (
	"bytes"
	"context"
	"mime"
	"net/http"
	"time"

	"github.com/tackle-dev/tackle/server/internal/core"
)

type onlyAsk struct {
	Ask string `json:"ask" jsonschema:"id of the ask"`
}

// mediaRoutes lists the operations on the media of sessions, and on the pictures and workbooks that asks would change.
func (s *Server) mediaRoutes() []route {
	c := s.core
	const at, askAt = "/api/sessions/{session}/media", "/api/asks/{ask}/media"
	return []route{
		read(at, "sessionMedia", "media", "The media of a session: attachments, then what tools made", c.Media),
		read(at+"/{media}", "mediaView", "media", "One media with what its viewer needs: the names of sheets, the size of a picture", c.MediaByID),
		read(at+"/{media}/rows", "mediaRows", "media", "A window of a sheet of a workbook or table: values and formulas", c.MediaRows),
		read(at+"/{media}/lines", "mediaLines", "media", "Lines of a text, or of the words of a document", c.MediaLines),
		read(at+"/{media}/compare", "mediaCompare", "media", "What differs from the media that it was made from, or from another one", c.MediaChanges),
		{method: http.MethodGet, path: at + "/{media}/picture", id: "mediaPicture", about: "media", summary: "A picture, or a page of a PDF, as browsers draw it: PNG, JPEG, GIF or WebP that our decoder has read to its end, or that it made",
			role: Viewer, query: typeOf[core.PictureQuery](), media: "image/*", serve: func(w http.ResponseWriter, r *http.Request) error {
				return draw(w, r, c.MediaPicture)
			}},
		{method: http.MethodGet, path: at + "/{media}/content", id: "mediaContent", about: "media", summary: "Its bytes, always as a download",
			role: Viewer, query: typeOf[core.MediaID](), media: "application/octet-stream", serve: s.mediaContent},
		read(askAt, "askMedia", "asks", "The pictures and workbooks that an open ask would change", func(ctx context.Context, q onlyAsk) (core.AskMedia, error) { return c.AskMedia(ctx, q.Ask) }),
		read(askAt+"/{file}/compare", "askCompare", "asks", "What differs between a file of an open ask and what it would become", c.AskChanges),
		{method: http.MethodGet, path: askAt + "/{file}/picture/{side}", id: "askPicture", about: "asks", summary: "A picture of an open ask, before or after, as browsers draw it",
			role: Viewer, query: typeOf[core.AskPictureQuery](), media: "image/*", serve: func(w http.ResponseWriter, r *http.Request) error {
				return draw(w, r, c.AskPicture)
			}},
	}
}

// strict is what every answer with bytes of media carries: a browser that opens it by itself runs nothing and shows no page.
func strict(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// draw sends a picture.
func draw[Q any](w http.ResponseWriter, r *http.Request, get func(context.Context, Q) (core.Drawn, error)) error {
	var q Q
	if err := bind(r, &q); err != nil {
		return err
	}
	p, err := get(r.Context(), q)
	if err != nil {
		return err
	}
	h := w.Header()
	strict(h)
	h.Set("Content-Type", p.MIME)
	h.Set("Content-Disposition", "inline")
	h.Set("Cache-Control", "private, max-age=3600")
	h.Set("ETag", `"`+p.Digest+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(p.Data))
	return nil
}

// mediaContent sends the bytes of media as what they are to a browser: a file to be saved.
func (s *Server) mediaContent(w http.ResponseWriter, r *http.Request) error {
	var q core.MediaID
	if err := bind(r, &q); err != nil {
		return err
	}
	m, a, err := s.core.OpenMedia(r.Context(), q)
	if err != nil {
		return err
	}
	defer a.Close()
	h := w.Header()
	strict(h)
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": fileName(m.Name, m.ID)}))
	h.Set("Cache-Control", "private, max-age=3600")
	h.Set("ETag", `"`+a.Artifact.Digest+`"`)
	http.ServeContent(w, r, "", a.Artifact.Created, a)
	return nil
}
