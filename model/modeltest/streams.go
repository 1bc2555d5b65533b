package modeltest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/model"
)

// partly writes the first n parts of a reply and then lets then say how it goes on.
func (s *Suite) partly(r Reply, n int, then answerFunc) answerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		x := s.Fake.Stream(r)
		w.Header().Set("Content-Type", x.ContentType)
		for _, p := range x.parts()[:n] {
			send(w, p)
		}
		then(w, q)
	}
}

// cut ends the connection as a crash does.
func cut(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// hang says nothing more until the client goes.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func (s *Suite) streams(t *testing.T) {
	three := s.reply(model.End, text("one "), text("two "), text("three"))
	t.Run("cut", func(t *testing.T) {
		v := s.serve(t, 0, s.partly(three, 3, cut)) // the head and two steps
		pieces, a, err := v.stream(ask("Count."))
		v.failure(t, err, model.Retry)
		if got, _ := words(a); got != "one two " || len(pieces) == 0 {
			t.Errorf("the answer holds %q after %d pieces, want what had arrived", got, len(pieces))
		}
	})
	t.Run("cut within a part", func(t *testing.T) {
		v := s.serve(t, 0, s.partly(three, 2, func(w http.ResponseWriter, r *http.Request) {
			half := s.Fake.Stream(three).Steps[1]
			send(w, half[:len(half)/2])
			cut(w, r)
		}))
		_, a, err := v.stream(ask("Count."))
		v.failure(t, err, model.Retry)
		if got, _ := words(a); !strings.HasPrefix("one two ", got) {
			t.Errorf("the answer holds %q", got)
		}
	})
	t.Run("cut within a call", func(t *testing.T) {
		r := s.reply(model.Calls, s.call("call_1", "write_file", `{"path":"a"}`), s.call("call_2", "write_file", `{"path":"b"}`))
		v := s.serve(t, 0, s.partly(r, 2, cut))
		_, _, err := v.stream(ask("Write."))
		v.failure(t, err, model.Retry)
	})
	if s.Can.Ends {
		t.Run("ends without its end", func(t *testing.T) {
			v := s.serve(t, 0, s.partly(three, 3, func(http.ResponseWriter, *http.Request) {}))
			_, a, err := v.stream(ask("Count."))
			v.failure(t, err, model.Retry)
			if got, _ := words(a); got != "one two " {
				t.Errorf("the answer holds %q", got)
			}
		})
	}
	t.Run("nothing at all", func(t *testing.T) {
		v := s.serve(t, 0, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", s.Fake.Stream(three).ContentType)
		})
		_, _, err := v.stream(ask("Count."))
		v.failure(t, err, model.Retry)
	})
	s.stalls(t)
	s.forwards(t, three)
	s.ends(t, three)
	t.Run("many at once", func(t *testing.T) {
		v := s.serve(t, 0, s.whole(three))
		var wg sync.WaitGroup
		errs := make(chan error, 16)
		for range cap(errs) {
			wg.Go(func() {
				a, err := v.model.Stream(t.Context(), ask("Count."), nil)
				if got, _ := words(a); err != nil || got != "one two three" {
					errs <- fmt.Errorf("%q, %w", got, err)
				}
			})
		}
		wg.Wait()
		close(errs)
		for err := range errs {
			t.Error(err)
		}
	})
}

func (s *Suite) stalls(t *testing.T) {
	three := s.reply(model.End, text("one "), text("two "), text("three"))
	t.Run("stall before the first byte", func(t *testing.T) {
		v := s.serve(t, 100*time.Millisecond, hang)
		_, _, err := v.stream(ask("Count."))
		v.stalled(t, err)
	})
	t.Run("stall within the stream", func(t *testing.T) {
		v := s.serve(t, 200*time.Millisecond, s.partly(three, 2, hang))
		_, a, err := v.stream(ask("Count."))
		v.stalled(t, err)
		if got, _ := words(a); got != "one " && got != "" { // a machine that is too busy stalls before
			t.Errorf("the answer holds %q", got)
		}
	})
}

func (s *Suite) forwards(t *testing.T, three Reply) {
	t.Run("forwarded as it arrives", func(t *testing.T) {
		v := s.serve(t, 0, nil)
		came := make(chan string)
		v.answers = []answerFunc{func(w http.ResponseWriter, q *http.Request) {
			x := s.Fake.Stream(three)
			w.Header().Set("Content-Type", x.ContentType)
			send(w, x.Head)
			for i, p := range x.Steps {
				send(w, p)
				select { // nothing more is sent before this has been handed on
				case <-came:
				case <-q.Context().Done():
					t.Errorf("step %d was not handed on while the stream stood still", i)
					return
				}
			}
			send(w, x.Tail)
		}}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		_, err := v.model.Stream(ctx, ask("Count."), func(p model.Piece) error {
			select {
			case came <- p.Text:
			case <-ctx.Done():
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// ends are streams that the adapter's side ends.
func (s *Suite) ends(t *testing.T, three Reply) {
	t.Run("canceled within the stream", func(t *testing.T) {
		gone := make(chan struct{})
		v := s.serve(t, 0, s.partly(three, 2, func(w http.ResponseWriter, r *http.Request) {
			hang(w, r)
			close(gone)
		}))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		a, err := v.model.Stream(ctx, ask("Count."), func(model.Piece) error {
			cancel()
			return nil
		})
		if e := v.failure(t, err, model.Canceled); !errors.Is(e, context.Canceled) {
			t.Errorf("%v is no context.Canceled", e)
		}
		if got, _ := words(a); got != "one " {
			t.Errorf("the answer holds %q", got)
		}
		v.wait(t, gone, "the request is still open after the context ended")
	})
	t.Run("listener fails", func(t *testing.T) {
		gone := make(chan struct{})
		v := s.serve(t, 0, s.partly(three, 2, func(w http.ResponseWriter, r *http.Request) {
			hang(w, r)
			close(gone)
		}))
		enough := errors.New("enough")
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		_, err := v.model.Stream(ctx, ask("Count."), func(model.Piece) error { return enough })
		if err != enough {
			t.Errorf("got %v, want the listener's own error", err)
		}
		v.wait(t, gone, "the request is still open after its listener failed")
	})
}

func (v *server) stalled(t *testing.T, err error) {
	t.Helper()
	if e := v.failure(t, err, model.Retry); !strings.Contains(e.Message, "nothing came for") {
		t.Errorf("message %q, want how long nothing came", e.Message)
	}
}

func (v *server) wait(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-c:
	case <-timer.C:
		t.Error(what)
	}
}
