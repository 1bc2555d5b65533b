package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/server/internal/access"
	"github.com/tackle-dev/tackle/server/internal/core"
)

// Times of event streams.
const (
	beat      = 15 * time.Second // between signs of life
	writeTime = 20 * time.Second // for a client to take what was written
)

// Notices are sent between events, without an id.
const (
	noticeHello   = "hello"   // first: where the stream begins, and whether what the client knows is of no use
	noticeDropped = "dropped" // last: the client did not keep up
	noticeClosing = "closing" // last: the server stops
	noticeExpired = "expired" // last: the token or the login holds no more
	noticeFault   = "fault"   // last: the store cannot be read
)

// Hello is the data of the first notice of a stream.
type Hello struct {
	Position int64 `json:"position" jsonschema:"the id behind which the stream begins"`
	Reset    bool  `json:"reset" jsonschema:"the id that was named was never given here: begin anew"`
}

// Notice is the data of the last notice of a stream.
type Notice struct {
	Message string `json:"message"`
	Last    int64  `json:"last" jsonschema:"id to come back with"`
}

// events streams what happens.
func (s *Server) events(w http.ResponseWriter, r *http.Request) error {
	var q eventsQuery
	if err := bind(r, &q); err != nil {
		return err
	}
	what := core.Subscription{After: core.FromNow, Session: q.Session}
	if q.Types != "" {
		what.Types = strings.Split(q.Types, ",")
	}
	from := q.After
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		from = id
	}
	if from != "" {
		n, err := strconv.ParseInt(from, 10, 64)
		if err != nil || n < 0 {
			return invalid("%q is no id of an event", from)
		}
		what.After = n
	}
	if s.core.Streams() >= s.cfg.Streams {
		return &core.Error{Kind: core.Busy, Message: fmt.Sprintf("%d event streams are open already", s.cfg.Streams)}
	}
	stream, err := s.core.Subscribe(r.Context(), what)
	if err != nil {
		return err
	}
	defer stream.Close()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // of proxies
	w.WriteHeader(http.StatusOK)
	out := &eventWriter{w: w, ctl: http.NewResponseController(w), patience: s.patience, beat: s.beat, valid: access.PassOf(r.Context()).Valid}
	out.buf = append(out.buf, "retry: 1000\n\n"...)
	out.notice(noticeHello, stream.Position(), Hello{stream.Position(), stream.Reset()})
	return out.run(r.Context(), stream)
}

// eventWriter writes one stream.
type eventWriter struct {
	w        http.ResponseWriter
	ctl      *http.ResponseController
	buf      []byte
	patience time.Duration // for a client to take what was written
	beat     time.Duration
	valid    func(context.Context) error
}

// run writes events until the stream or the client ends. What it returns has no one to read it.
func (o *eventWriter) run(ctx context.Context, stream *core.Stream) error {
	last, looked := stream.Position(), time.Now()
	for {
		if err := o.flush(); err != nil {
			return err
		}
		if time.Since(looked) >= o.beat { // also where there is always something to send
			if o.valid != nil && errors.Is(o.valid(ctx), access.ErrNobody) { // a store that is locked says nothing about it
				o.notice(noticeExpired, noID, Notice{"the token or the login holds no more", last})
				return o.flush()
			}
			looked = time.Now()
		}
		wait, cancel := context.WithTimeout(ctx, o.beat)
		evs, err := stream.Next(wait)
		cancel()
		var slow *core.SlowError
		switch {
		case err == nil:
			for _, e := range evs {
				o.buf = append(o.buf, e.Wire()...)
			}
			last = evs[len(evs)-1].ID
			continue
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, context.DeadlineExceeded):
			o.buf = append(o.buf, ":\n\n"...)
			continue
		case errors.As(err, &slow):
			o.notice(noticeDropped, noID, Notice{slow.Error(), slow.Last})
		case errors.Is(err, core.ErrClosed):
			o.notice(noticeClosing, noID, Notice{core.ErrClosed.Error(), last})
		default:
			o.notice(noticeFault, noID, Notice{err.Error(), last})
		}
		return o.flush()
	}
}

// noID leaves the client's last id as it is.
const noID = -1

// notice adds a notice.
func (o *eventWriter) notice(name string, id int64, data any) {
	body, err := json.Marshal(data)
	if err != nil { // texts, numbers and booleans
		panic(err)
	}
	if id != noID {
		o.buf = fmt.Appendf(o.buf, "id: %d\n", id)
	}
	o.buf = fmt.Appendf(o.buf, "event: %s\ndata: %s\n\n", name, body)
}

func (o *eventWriter) flush() error {
	_ = o.ctl.SetWriteDeadline(time.Now().Add(o.patience)) // a listener that has none needs none
	_, err := o.w.Write(o.buf)
	if o.buf = o.buf[:0]; cap(o.buf) > 64<<10 {
		o.buf = nil
	}
	if err != nil {
		return err
	}
	return o.ctl.Flush()
}

// content gives the bytes of an artifact. A browser shows pictures, sound, film and PDF; everything else, and what only claims
// to be one of them, is a download. Whatever it is, nothing in it runs.
func (s *Server) content(w http.ResponseWriter, r *http.Request) error {
	a, err := s.core.OpenArtifact(r.Context(), r.PathValue("artifact"))
	if err != nil {
		return err
	}
	defer a.Close()
	h := w.Header()
	kind, disposition := "application/octet-stream", "attachment"
	head := make([]byte, 512)
	n, err := io.ReadFull(a, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	switch found := http.DetectContentType(head[:n]); {
	case core.IsMedia(found):
		kind, disposition = found, "inline"
	case strings.HasPrefix(found, "text/"), strings.HasPrefix(a.MIME(), "text/"), a.MIME() == "application/json":
		kind = "text/plain; charset=utf-8"
	}
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": fileName(a.Name(), a.Artifact.ID)}))
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "private, max-age=3600")
	h.Set("ETag", `"`+a.Artifact.Digest+`"`)
	http.ServeContent(w, r, "", a.Artifact.Created, a)
	return nil
}

// fileName makes a name for a download of what a tool said.
func fileName(name, id string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`/\:*?"<>|%;'`, r) {
			return '_'
		}
		return r
	}, name)
	clean = strings.Trim(clean, " .")
	if clean == "" || len(clean) > 120 {
		return id
	}
	return clean
}

// export writes the ledger.
func (s *Server) export(w http.ResponseWriter, r *http.Request) error {
	var q exportQuery
	if err := bind(r, &q); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/x-ndjson")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Disposition", `attachment; filename="ledger.jsonl"`)
	if err := s.core.ExportLedger(r.Context(), w, q.After); err != nil {
		h.Del("Content-Disposition")
		return err
	}
	return nil
}
