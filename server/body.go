package server

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// bodyTime is how long a client may take to send a body.
const bodyTime = 30 * time.Second

// bodies bounds the time for the body of every request, also of one that is refused: before the refusal is sent, what was not
// read of the body is. The bound is for the body alone: one that passes later would end a call that waits for a person.
func (s *Server) bodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ctl := http.NewResponseController(w); r.ContentLength != 0 && ctl.SetReadDeadline(time.Now().Add(s.bodyTime)) == nil {
			r.Body = &timedBody{r.Body, ctl} // a listener that has no deadlines needs none
		}
		next.ServeHTTP(w, r)
	})
}

// timedBody takes the deadline back at its end.
type timedBody struct {
	io.ReadCloser
	ctl *http.ResponseController
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.ctl.SetReadDeadline(time.Time{}) // as it was before
	}
	return n, err
}
