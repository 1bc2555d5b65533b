package modeltest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/model"
)

// answerFunc writes the answer to one request.
type answerFunc func(w http.ResponseWriter, r *http.Request)

// server serves a fake and keeps what it was asked.
type server struct {
	t     *testing.T
	suite *Suite
	http  *httptest.Server
	model model.Model

	mu      sync.Mutex
	answers []answerFunc // one for each request; the last one stays
	seen    []Seen
	bodies  [][]byte
	refused []error
}

// serve starts a server that answers with these, and makes the adapter for it.
func (s *Suite) serve(t *testing.T, idle time.Duration, answers ...answerFunc) *server {
	t.Helper()
	v := &server{t: t, suite: s, answers: answers}
	v.http = httptest.NewServer(v)
	t.Cleanup(v.http.Close)
	m, err := s.New(Endpoint{URL: v.http.URL, Key: Key, Idle: idle})
	if err != nil {
		t.Fatalf("make the adapter: %v", err)
	}
	v.model = m
	return v
}

// ServeHTTP is described at http.Handler.
func (v *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	seen, err := v.suite.Fake.Request(r, body)
	v.mu.Lock()
	if err != nil {
		v.refused = append(v.refused, fmt.Errorf("%s %s: %w\n%s", r.Method, r.URL.Path, err, body))
	}
	v.seen, v.bodies = append(v.seen, seen), append(v.bodies, body)
	answer := v.answers[0]
	if len(v.answers) > 1 {
		v.answers = v.answers[1:]
	}
	v.mu.Unlock()
	if err != nil {
		status, kind, text := v.suite.Fake.Error(Invalid)
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
		return
	}
	answer(w, r)
}

// last returns the last request, and fails the test where the service would have refused one.
func (v *server) last() Seen {
	v.t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, err := range v.refused {
		v.t.Errorf("the service would refuse this request: %v", err)
	}
	if len(v.seen) == 0 {
		v.t.Fatal("no request came")
	}
	return v.seen[len(v.seen)-1]
}

func (v *server) body() []byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.bodies) == 0 {
		v.t.Fatal("no request came")
	}
	return v.bodies[len(v.bodies)-1]
}

func (v *server) count() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.seen)
}

// stream asks and returns the pieces with the answer.
func (v *server) stream(req model.Request) (pieces []model.Piece, answer model.Answer, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	answer, err = v.model.Stream(ctx, req, func(p model.Piece) error {
		pieces = append(pieces, p)
		return nil
	})
	return pieces, answer, err
}

// must is stream for requests that succeed.
func (v *server) must(req model.Request) ([]model.Piece, model.Answer) {
	v.t.Helper()
	pieces, answer, err := v.stream(req)
	if err != nil {
		v.last()
		v.t.Fatalf("stream: %v", err)
	}
	return pieces, answer
}

// patience is how long a test waits for what must come. A busy machine may take its time.
const patience = 30 * time.Second

// whole answers with all of a reply.
func (s *Suite) whole(r Reply) answerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		x := s.Fake.Stream(r)
		w.Header().Set("Content-Type", x.ContentType)
		for _, part := range x.parts() {
			send(w, part)
		}
	}
}

func (x Stream) parts() []string {
	parts := append([]string{x.Head}, x.Steps...)
	return append(parts, x.Tail)
}

func send(w http.ResponseWriter, part string) {
	_, _ = io.WriteString(w, part) // a client that went away needs no answer
	_ = http.NewResponseController(w).Flush()
}

// fault answers with an error and these headers.
func (s *Suite) fault(f Fault, headers ...string) answerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		status, kind, body := s.Fake.Error(f)
		w.Header().Set("Content-Type", kind)
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}
