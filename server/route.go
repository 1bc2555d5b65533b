package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/server/internal/access"
	"github.com/tackle-dev/tackle/server/internal/core"
)

// route is one operation of the API. The description is made from it.
type route struct {
	method, path string
	id           string // operationId
	summary      string
	about        string // the tag
	role         Role   // "": whoever is let in

	query reflect.Type // struct whose fields are parameters; nil for none
	body  reflect.Type // of the request; nil for none
	out   reflect.Type // of the response; nil for none
	media string       // of the response, where it is not JSON
	most  int64        // bytes of the body; default mostBody

	serve func(w http.ResponseWriter, r *http.Request) error
}

const mostBody = 1 << 20

// Problem is the body of every refusal.
type Problem struct {
	Kind    string `json:"kind" jsonschema:"invalid, unauthorized, forbidden, not_found, conflict, too_large, busy or fault"`
	Message string `json:"message" jsonschema:"the fact and the next step"`
}

// read is a route that reads. Q's fields are path and query parameters.
func read[Q, R any](path, id, about, summary string, fn func(ctx context.Context, q Q) (R, error)) route {
	return route{method: http.MethodGet, path: path, id: id, about: about, summary: summary, role: Viewer,
		query: reflect.TypeFor[Q](), out: reflect.TypeFor[R](),
		serve: func(w http.ResponseWriter, r *http.Request) error {
			var q Q
			if err := bind(r, &q); err != nil {
				return err
			}
			out, err := fn(r.Context(), q)
			if err != nil {
				return err
			}
			return reply(w, http.StatusOK, out)
		}}
}

// act is a route that does something. B is the body; path parameters are read from the request.
func act[B, R any](method, path, id, about, summary string, role Role, fn func(r *http.Request, who Identity, body B) (R, error)) route {
	rt := route{method: method, path: path, id: id, about: about, summary: summary, role: role, out: reflect.TypeFor[R]()}
	if b := reflect.TypeFor[B](); b != reflect.TypeFor[none]() {
		rt.body = b
	}
	rt.serve = func(w http.ResponseWriter, r *http.Request) error {
		var body B
		if rt.body != nil {
			if err := decode(r, &body); err != nil {
				return err
			}
		}
		out, err := fn(r, access.From(r.Context()), body)
		if err != nil {
			return err
		}
		return reply(w, http.StatusOK, out)
	}
	return rt
}

// none is the body of a request that has none.
type none struct{}

// Done is the answer to something that has nothing to say.
type Done struct {
	Done bool `json:"done"`
}

// wrap puts role, limits and errors around a route.
func (s *Server) wrap(rt *route) http.Handler {
	most := rt.most
	if most == 0 {
		most = mostBody
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		rec := &statusWriter{ResponseWriter: w}
		defer func() { s.metrics.request(rt.id, rec.status, time.Since(begin)) }()
		who := access.From(r.Context())
		if rt.role != "" && !who.Role.Reaches(rt.role) {
			refuse(rec, r, http.StatusForbidden, fmt.Sprintf("%s has the role %s; this needs %s", who.Name, who.Role, rt.role))
			return
		}
		if r.ContentLength > most {
			refuse(rec, r, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has %d bytes, at most %d are read", r.ContentLength, most))
			return
		}
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = http.MaxBytesReader(rec, r.Body, most)
		}
		if err := rt.serve(rec, r); err != nil {
			s.fail(rec, r, rt, err)
		}
	})
}

// statusWriter remembers the status of a response.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// kinds are the statuses of what core refuses.
var kinds = map[core.Kind]int{core.Invalid: http.StatusBadRequest, core.NotFound: http.StatusNotFound, core.Forbidden: http.StatusForbidden,
	core.Conflict: http.StatusConflict, core.Busy: http.StatusServiceUnavailable}

// fail answers with an error. What has begun cannot be answered any more.
func (s *Server) fail(w *statusWriter, r *http.Request, rt *route, err error) {
	late := errors.Is(err, os.ErrDeadlineExceeded) // of the body; the context of the request ends with it
	if w.status != 0 || r.Context().Err() != nil && !late {
		return
	}
	err = core.Mistake(err)
	var refused *core.Error
	var large *http.MaxBytesError
	var other *unsupported
	switch {
	case late:
		refuse(w, r, http.StatusRequestTimeout, fmt.Sprintf("the body did not come within %v; send it again, at once", s.bodyTime))
	case errors.As(err, &refused):
		if refused.Kind == core.Busy {
			w.Header().Set("Retry-After", "2")
		}
		refuse(w, r, kinds[refused.Kind], s.cfg.Box.Mask(refused.Message))
	case errors.As(err, &other):
		refuse(w, r, http.StatusUnsupportedMediaType, err.Error())
	case errors.As(err, &large):
		refuse(w, r, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes", large.Limit))
	case errors.Is(err, core.ErrClosed):
		w.Header().Set("Retry-After", "2")
		refuse(w, r, http.StatusServiceUnavailable, err.Error())
	default:
		s.cfg.Log.Error("request", "route", rt.id, "err", err)
		refuse(w, r, http.StatusInternalServerError, s.cfg.Box.Mask(err.Error()))
	}
}

// words are the kinds of problems by status.
var words = map[int]string{http.StatusBadRequest: "invalid", http.StatusUnauthorized: "unauthorized", http.StatusForbidden: "forbidden",
	http.StatusNotFound: "not_found", http.StatusMethodNotAllowed: "invalid", http.StatusConflict: "conflict", http.StatusUnsupportedMediaType: "invalid", http.StatusRequestTimeout: "invalid",
	http.StatusRequestEntityTooLarge: "too_large", http.StatusServiceUnavailable: "busy"}

// refuse writes a problem.
func refuse(w http.ResponseWriter, r *http.Request, status int, message string) {
	kind, ok := words[status]
	if !ok {
		kind = "fault"
	}
	if wantsPage(r) {
		refusePage(w, r, status, message)
		return
	}
	_ = reply(w, status, Problem{Kind: kind, Message: message}) // plain texts
}

// reply writes JSON.
func reply(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)+1))
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // a client that went away reads nothing
	return nil
}

func invalid(format string, args ...any) error {
	return &core.Error{Kind: core.Invalid, Message: fmt.Sprintf(format, args...)}
}

// unsupported is a body of another kind.
type unsupported struct{ got string }

func (e *unsupported) Error() string {
	return fmt.Sprintf("the body is %q; send application/json", e.got)
}

// decode reads a JSON body, strictly. A body of another type is refused: a page of another origin could send it unasked.
func decode(r *http.Request, v any) error {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return &unsupported{r.Header.Get("Content-Type")}
	}
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) || errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		return invalid("the body: %v", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return invalid("the body goes on after the JSON value")
	}
	return nil
}

// bind fills a struct from the parameters of a request, by the names of its fields in JSON. Unknown ones are refused.
func bind(r *http.Request, into any) error {
	v := reflect.ValueOf(into).Elem()
	query := r.URL.Query()
	var known []string
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		text := r.PathValue(name)
		if text == "" {
			known = append(known, name)
			values := query[name]
			if len(values) > 1 {
				return invalid("the parameter %s stands %d times", name, len(values))
			}
			if delete(query, name); len(values) == 0 || values[0] == "" {
				continue
			}
			text = values[0]
		}
		if err := set(v.Field(i), text); err != nil {
			return invalid("the parameter %s: %v", name, err)
		}
	}
	for name := range query {
		return invalid("there is no parameter %q; there are: %s", name, strings.Join(known, ", "))
	}
	return nil
}

func set(f reflect.Value, text string) error {
	switch f.Interface().(type) {
	case time.Time:
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return fmt.Errorf("%q is no time; write it as 2026-01-31T14:00:00Z", text)
		}
		f.Set(reflect.ValueOf(at))
		return nil
	}
	switch f.Kind() {
	case reflect.String:
		f.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q: want true or false", text)
		}
		f.SetBool(b)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("%q is no whole number", text)
		}
		f.SetInt(n)
	default:
		return fmt.Errorf("fields of type %s cannot be parameters", f.Type())
	}
	return nil
}
