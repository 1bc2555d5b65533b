// Package wire is what the adapters of models share, whatever client they stand on: a transport that notices a service which says
// nothing more, reads every refusal into a *model.Error, and keeps keys out of messages; and a builder of answers.
//
// An adapter gives its client an HTTP client with a Transport, asks, feeds a Builder, and passes each error through Transport.Error.
package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tackle-dev/tackle/model"
)

// DefaultIdle is how long a service may say nothing, before its first byte or between two. Models think, and local ones are loaded.
const DefaultIdle = 5 * time.Minute

// Transport is an http.RoundTripper for one service. Set the fields before its first use. Unlike other transports it returns an
// error for an answer of status 400 or more and for a web page, because the clients of some services drop the headers and the body
// that say what to do. It tries nothing twice.
type Transport struct {
	Provider string
	Key      string            // is cut from all messages; may be empty
	KeyName  string            // the variable that holds the key, for messages, such as "OPENAI_API_KEY"
	Idle     time.Duration     // 0: DefaultIdle; negative: for ever
	Base     http.RoundTripper // nil: http.DefaultTransport
	Now      func() time.Time  // nil: time.Now
}

// Client returns a client over t that follows no redirect: one would carry the key elsewhere.
func (t *Transport) Client() *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func (t *Transport) idle() time.Duration {
	if t.Idle == 0 {
		return DefaultIdle
	}
	return t.Idle
}

// stalled is the cause of a context that ended because nothing came.
type stalled struct{ after time.Duration }

func (s stalled) Error() string { return fmt.Sprintf("nothing came for %v", s.after) }

// RoundTrip is described at http.RoundTripper and at Transport.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	w := &watch{cancel: cancel, ctx: ctx, idle: t.idle()}
	w.start()
	res, err := base.RoundTrip(r.WithContext(ctx))
	if err != nil {
		w.stop()
		if s := w.stall(); s != nil {
			err = s
		}
		return nil, err
	}
	w.body = res.Body
	res.Body = w
	if res.StatusCode >= 300 || isPage(res) {
		defer res.Body.Close()
		return nil, t.refusal(res)
	}
	return res, nil
}

func isPage(res *http.Response) bool {
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return err == nil && kind == "text/html"
}

// watch is a body that ends with stalled when nothing came for a while.
type watch struct {
	body   io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	idle   time.Duration
	timer  *time.Timer
	over   atomic.Bool
}

func (w *watch) start() {
	if w.idle > 0 {
		w.timer = time.AfterFunc(w.idle, func() { w.cancel(stalled{w.idle}) })
	}
}

func (w *watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
	w.cancel(nil)
}

func (w *watch) stall() error {
	var s stalled
	if errors.As(context.Cause(w.ctx), &s) {
		return s
	}
	return nil
}

func (w *watch) Read(p []byte) (int, error) {
	if w.timer != nil {
		w.timer.Reset(w.idle) // the time in which the listener works is not the service's
	}
	n, err := w.body.Read(p)
	if w.timer != nil {
		w.timer.Stop()
	}
	if err != nil && err != io.EOF {
		if s := w.stall(); s != nil {
			err = s
		}
	}
	return n, err
}

func (w *watch) Close() error {
	if w.over.Swap(true) {
		return nil
	}
	err := w.body.Close()
	w.stop()
	return err
}

// Error returns what an adapter returns for an error of its client. ctx is the caller's.
func (t *Transport) Error(ctx context.Context, err error) *model.Error {
	var e *model.Error
	var s stalled
	var dns *net.DNSError
	out := &model.Error{Provider: t.Provider, Class: model.Retry, Cause: t.clean(err)}
	switch {
	case errors.As(err, &e):
		return e
	case ctx.Err() != nil:
		out.Class, out.Message, out.Cause = model.Canceled, "the request was canceled", ctx.Err()
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			out.Message = "the time for the request was over"
		}
	case errors.As(err, &s):
		out.Message = s.Error() + "; the service stalls: the same request may be sent again"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), isCut(err):
		out.Message = "the answer was cut off before its end: the same request may be sent again"
	case errors.As(err, &dns):
		out.Message = fmt.Sprintf("the host %q has no address: check the base URL and the network", dns.Name)
	case isCertificate(err):
		out.Class, out.Message = model.Invalid, t.text(err.Error())+": check the base URL and the certificates of this machine"
	default:
		out.Message = t.text(err.Error())
		var op *net.OpError
		if errors.As(err, &op) {
			out.Message = fmt.Sprintf("cannot reach the service: %s: check that it runs and that the base URL is right", t.text(op.Error()))
		}
	}
	return out
}

// Cut is the error of an answer that ended without its end.
func (t *Transport) Cut() *model.Error {
	return &model.Error{Provider: t.Provider, Class: model.Retry, Cause: io.ErrUnexpectedEOF, Message: "the answer was cut off before its end: the same request may be sent again"}
}

// Strange is the error of an answer that cannot be understood.
func (t *Transport) Strange(err error) *model.Error {
	return &model.Error{Provider: t.Provider, Class: model.Invalid, Cause: t.clean(err),
		Message: "the answer cannot be understood: " + t.text(err.Error()) + ": check that the base URL belongs to a service of this kind"}
}

func isCut(err error) bool {
	s := err.Error()
	return strings.Contains(s, "unexpected EOF") || strings.Contains(s, "unexpected end of JSON input") || strings.Contains(s, "connection reset by peer") || strings.Contains(s, "stream error:")
}

func isCertificate(err error) bool {
	s := err.Error()
	return strings.Contains(s, "x509:") || strings.Contains(s, "tls: ")
}

// clean returns err, or one without the key where it holds it.
func (t *Transport) clean(err error) error {
	if err != nil && len(t.Key) >= secret && strings.Contains(err.Error(), t.Key) {
		return errors.New(t.redact(err.Error()))
	}
	return err
}

// secret is how long a key must be to be one. Servers of one's own take any word, and such a word may stand in a message.
const secret = 8

func (t *Transport) redact(s string) string {
	if len(t.Key) < secret {
		return s
	}
	return strings.ReplaceAll(s, t.Key, "[key]")
}
