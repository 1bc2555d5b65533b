package modeltest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/model"
)

// failure checks that err is a *model.Error of a class, with a message and without the key.
func (v *server) failure(t *testing.T, err error, class model.Class) *model.Error {
	t.Helper()
	var e *model.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %T %v, want a *model.Error", err, err)
	}
	if e.Class != class {
		t.Errorf("class %q, want %q: %v", e.Class, class, e)
	}
	if e.Message == "" || e.Provider != v.model.Info().Provider {
		t.Errorf("provider %q, message %q", e.Provider, e.Message)
	}
	for x := err; x != nil; x = errors.Unwrap(x) {
		if strings.Contains(x.Error(), Key) {
			t.Errorf("the key is in %q", x)
		}
	}
	return e
}

func (s *Suite) errors(t *testing.T) {
	for _, row := range []struct {
		fault  Fault
		class  model.Class
		status int // 0: any
	}{
		{Unauthorized, model.Unauthorized, 0}, // Gemini says 400
		{Forbidden, model.Unauthorized, 403},
		{TooLong, model.TooLong, 0},
		{Invalid, model.Invalid, 0},
		{NoModel, model.Invalid, 0},
		{RateLimited, model.Retry, 429},
		{Broken, model.Retry, 500},
		{Overloaded, model.Retry, 0},
	} {
		t.Run(string(row.fault), func(t *testing.T) {
			v := s.serve(t, 0, s.fault(row.fault))
			pieces, _, err := v.stream(ask("Go."))
			e := v.failure(t, err, row.class)
			if row.status != 0 && e.Status != row.status || e.Status < 400 {
				t.Errorf("status %d, want %d", e.Status, row.status)
			}
			if v.count() != 1 || len(pieces) != 0 {
				t.Errorf("%d requests, %d pieces: the loop's driver tries again, not the adapter", v.count(), len(pieces))
			}
			if e.After != 0 {
				t.Errorf("wait %v, though the service does not say", e.After)
			}
		})
	}
	s.waits(t)
	s.pages(t)
	if s.Can.StreamErrors {
		t.Run("told within the stream", func(t *testing.T) {
			r := s.reply(model.End, text("Half"))
			r.Fail = Overloaded
			v := s.serve(t, 0, s.whole(r))
			_, a, err := v.stream(ask("Go."))
			v.failure(t, err, model.Retry)
			if got, _ := words(a); got != "Half" {
				t.Errorf("the answer holds %q, want what had arrived", got)
			}
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		v := s.serve(t, 0, s.whole(s.reply(model.End)))
		v.http.Close()
		_, _, err := v.stream(ask("Go."))
		if e := v.failure(t, err, model.Retry); e.Status != 0 {
			t.Errorf("status %d without a response", e.Status)
		}
	})
	t.Run("context ended", func(t *testing.T) {
		v := s.serve(t, 0, s.whole(s.reply(model.End)))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := v.model.Stream(ctx, ask("Go."), nil)
		if e := v.failure(t, err, model.Canceled); !errors.Is(e, context.Canceled) {
			t.Errorf("%v is no context.Canceled", e)
		}
	})
}

// waits is how long a service asks to wait.
func (s *Suite) waits(t *testing.T) {
	t.Run("retry after seconds", func(t *testing.T) {
		v := s.serve(t, 0, s.fault(RateLimited, "Retry-After", "17"))
		_, _, err := v.stream(ask("Go."))
		if e := v.failure(t, err, model.Retry); e.After != 17*time.Second {
			t.Errorf("wait %v, want 17s", e.After)
		}
	})
	t.Run("retry after date", func(t *testing.T) {
		v := s.serve(t, 0, s.fault(Overloaded, "Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)))
		_, _, err := v.stream(ask("Go."))
		if e := v.failure(t, err, model.Retry); e.After < 50*time.Minute || e.After > time.Hour {
			t.Errorf("wait %v, want about an hour", e.After)
		}
	})
}

// pages are bodies that come from something before the service.
func (s *Suite) pages(t *testing.T) {
	for _, row := range []struct {
		name   string
		status int
		class  model.Class
	}{{"page of a proxy", http.StatusBadGateway, model.Retry}, {"page instead of an answer", http.StatusOK, model.Invalid}, {"page not found", http.StatusNotFound, model.Invalid}} {
		t.Run(row.name, func(t *testing.T) {
			v := s.serve(t, 0, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				w.WriteHeader(row.status)
				_, _ = io.WriteString(w, "<!DOCTYPE html>\n<html><head><title>Some gateway</title></head><body><h1>It is down</h1></body></html>")
			})
			_, _, err := v.stream(ask("Go."))
			if e := v.failure(t, err, row.class); !strings.Contains(e.Message, "Some gateway") || strings.Contains(e.Message, "<h1>") {
				t.Errorf("message %q, want the title of the page and no markup", e.Message)
			}
		})
	}
	t.Run("no JSON", func(t *testing.T) {
		v := s.serve(t, 0, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, "upstream connect error")
		})
		_, _, err := v.stream(ask("Go."))
		if e := v.failure(t, err, model.Retry); !strings.Contains(e.Message, "upstream connect error") {
			t.Errorf("message %q", e.Message)
		}
	})
}
