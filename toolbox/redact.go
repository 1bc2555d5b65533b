package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"

	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
)

const mask = "[secret]"

// redactor masks the secrets of the environment in everything that leaves a call (T9).
type redactor struct {
	secrets  []string
	replacer *strings.Replacer
}

func newRedactor(secrets []string) *redactor {
	r := &redactor{}
	var pairs []string
	for _, s := range secrets {
		if len(s) < 4 { // masking very short strings would mask ordinary text
			continue
		}
		r.secrets = append(r.secrets, s)
		pairs = append(pairs, s, mask)
		if quoted, _ := json.Marshal(s); string(quoted[1:len(quoted)-1]) != s {
			pairs = append(pairs, string(quoted[1:len(quoted)-1]), mask)
		}
	}
	r.replacer = strings.NewReplacer(pairs...)
	return r
}

func (r *redactor) text(s string) string {
	if len(r.secrets) == 0 {
		return s
	}
	return r.replacer.Replace(s)
}

func (r *redactor) raw(b json.RawMessage) json.RawMessage {
	for _, s := range r.secrets {
		if bytes.Contains(b, []byte(s)) {
			return json.RawMessage(r.replacer.Replace(string(b)))
		}
	}
	return b
}

// result masks the texts of a result in place.
func (r *redactor) result(res *tool.Result) {
	if len(r.secrets) == 0 {
		return
	}
	for i := range res.Parts {
		res.Parts[i].Text = r.text(res.Parts[i].Text)
	}
	if res.Err != nil {
		e := *res.Err
		e.Message, e.Expected, e.Example, e.Hint, e.Err = r.text(e.Message), r.text(e.Expected), r.text(e.Example), r.text(e.Hint), nil
		res.Err = &e
	}
	if b, err := json.Marshal(res.Data); err == nil {
		if masked := r.raw(b); len(masked) != len(b) || !bytes.Equal(masked, b) {
			res.Data = masked
		}
	}
}

// record returns rec with the arguments and targets masked; the result was masked before.
func (r *redactor) record(rec *session.Record) *session.Record {
	if len(r.secrets) == 0 {
		return rec
	}
	c := *rec
	c.Raw, c.Args = r.raw(c.Raw), r.raw(c.Args)
	if c.Intent != nil {
		in := *c.Intent
		in.Args = r.raw(in.Args)
		in.Targets = append([]tool.Target(nil), in.Targets...)
		for i := range in.Targets {
			in.Targets[i].Value = r.text(in.Targets[i].Value)
		}
		c.Intent = &in
	}
	return &c
}

// redactHandler masks secrets in log records. It asks the box each time, since credentials can change while it lives.
type redactHandler struct {
	slog.Handler
	box *Box
}

func (h *redactHandler) Handle(ctx context.Context, rec slog.Record) error {
	r := h.box.redact.Load()
	if r == nil || len(r.secrets) == 0 {
		return h.Handler.Handle(ctx, rec)
	}
	out := slog.NewRecord(rec.Time, rec.Level, r.text(rec.Message), rec.PC)
	rec.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(maskAttr(r, a))
		return true
	})
	return h.Handler.Handle(ctx, out)
}

func maskAttr(r *redactor, a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString, slog.KindAny:
		return slog.String(a.Key, r.text(v.String()))
	case slog.KindGroup:
		var attrs []any
		for _, g := range v.Group() {
			attrs = append(attrs, maskAttr(r, g))
		}
		return slog.Group(a.Key, attrs...)
	}
	return a
}

func (h *redactHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	r := h.box.redact.Load()
	masked := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		masked[i] = maskAttr(r, a)
	}
	return &redactHandler{h.Handler.WithAttrs(masked), h.box}
}

func (h *redactHandler) WithGroup(name string) slog.Handler {
	return &redactHandler{h.Handler.WithGroup(name), h.box}
}
