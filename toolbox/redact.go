package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
)

const mask = "[secret]"

// redactor masks the secrets of the environment in everything that leaves a call (T9).
type redactor struct {
	forms    []string // of the secrets: plain and as JSON writes them, the longest first
	replacer *strings.Replacer
}

func newRedactor(secrets []string) *redactor {
	r := &redactor{}
	add := func(form string) {
		if !slices.Contains(r.forms, form) {
			r.forms = append(r.forms, form)
		}
	}
	for _, s := range secrets {
		if len(s) < 4 { // masking very short strings would mask ordinary text
			continue
		}
		add(s)
		for _, html := range []bool{true, false} {
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(html)
			if enc.Encode(s) == nil {
				add(strings.TrimSuffix(b.String(), "\"\n")[1:])
			}
		}
	}
	slices.SortStableFunc(r.forms, func(a, b string) int { return len(b) - len(a) }) // one may begin with another
	pairs := make([]string, 0, 2*len(r.forms))
	for _, f := range r.forms {
		pairs = append(pairs, f, mask)
	}
	r.replacer = strings.NewReplacer(pairs...)
	return r
}

// Mask hides the secrets of the environment in a text, or in JSON, which stays JSON. What holds none comes back as it is.
func (b *Box) Mask(text []byte) []byte { return b.redact.Load().raw(text) }

// idle reports that there is nothing to mask.
func (r *redactor) idle() bool { return r == nil || len(r.forms) == 0 }

func (r *redactor) text(s string) string {
	if r.idle() {
		return s
	}
	return r.replacer.Replace(s)
}

func (r *redactor) raw(b json.RawMessage) json.RawMessage {
	if r.idle() {
		return b
	}
	for _, f := range r.forms {
		if bytes.Contains(b, []byte(f)) {
			return json.RawMessage(r.replacer.Replace(string(b)))
		}
	}
	return b
}

// value masks any value by way of its JSON. A value without a secret comes back as it is.
func (r *redactor) value(v any) any {
	b, err := json.Marshal(v)
	if err != nil || v == nil {
		return v
	}
	if masked := r.raw(b); !bytes.Equal(masked, b) {
		return masked
	}
	return v
}

// result masks a result in place.
func (r *redactor) result(res *tool.Result) {
	if r.idle() {
		return
	}
	for i := range res.Parts {
		p := &res.Parts[i]
		p.Text, p.Name, p.URI = r.text(p.Text), r.text(p.Name), r.text(p.URI)
		if strings.HasPrefix(p.MIME, "text/") || strings.HasSuffix(p.MIME, "json") {
			p.Data = []byte(r.text(string(p.Data)))
		}
	}
	if res.Err != nil {
		res.Err = r.err(res.Err)
	}
	if res.Denied != nil {
		d := *res.Denied
		d.Message, d.Decision = r.text(d.Message), *r.decision(&d.Decision)
		res.Denied = &d
	}
	res.Data = r.value(res.Data)
	m := &res.Meta
	m.Decision, m.Diff = r.decision(m.Decision), r.text(m.Diff)
	m.Repairs, m.Changes = slices.Clone(m.Repairs), slices.Clone(m.Changes)
	for i := range m.Repairs {
		m.Repairs[i] = r.text(m.Repairs[i])
	}
	for i := range m.Changes {
		m.Changes[i].Path, m.Changes[i].From = r.text(m.Changes[i].Path), r.text(m.Changes[i].From)
	}
	m.Values = maps.Clone(m.Values)
	for key, v := range m.Values {
		m.Values[key] = r.value(v)
	}
}

func (r *redactor) err(e *tool.Error) *tool.Error {
	c := *e
	c.Message, c.Expected, c.Example, c.Hint, c.Err = r.text(e.Message), r.text(e.Expected), r.text(e.Example), r.text(e.Hint), nil
	return &c
}

func (r *redactor) decision(d *tool.Decision) *tool.Decision {
	if d == nil {
		return nil
	}
	c := *d
	c.By, c.Reason, c.Denied = r.text(d.By), r.text(d.Reason), maps.Clone(d.Denied)
	for n, words := range c.Denied {
		c.Denied[n] = r.text(words)
	}
	return &c
}

// record returns rec with the arguments, the intent and the decision masked; the result was masked before.
func (r *redactor) record(rec *session.Record) *session.Record {
	if r.idle() {
		return rec
	}
	c := *rec
	c.Raw, c.Args, c.Decision = r.raw(c.Raw), r.raw(c.Args), r.decision(c.Decision)
	if c.Intent != nil {
		c.Intent = r.intent(c.Intent)
	}
	return &c
}

func (r *redactor) intent(in *tool.Intent) *tool.Intent {
	c := *in
	c.Args, c.Targets, c.MayCreate, c.Note = r.raw(in.Args), slices.Clone(in.Targets), slices.Clone(in.MayCreate), maps.Clone(in.Note)
	for i := range c.Targets {
		t := &c.Targets[i]
		t.Value = r.text(t.Value)
		if t.Path != nil {
			p := *t.Path
			p.Given, p.Abs, p.Real, p.Self, p.Rel = r.text(p.Given), r.text(p.Abs), r.text(p.Real), r.text(p.Self), r.text(p.Rel)
			t.Path = &p
		}
	}
	for i := range c.MayCreate {
		c.MayCreate[i] = r.text(c.MayCreate[i])
	}
	for key, v := range c.Note {
		c.Note[key] = r.text(v)
	}
	return &c
}

// masked returns artifacts that hold no secrets.
func (b *Box) masked(a tool.Artifacts) tool.Artifacts {
	if r := b.redact.Load(); a != nil && !r.idle() {
		return maskedArtifacts{a, r}
	}
	return a
}

// maskedArtifacts masks what tools spool by themselves.
type maskedArtifacts struct {
	tool.Artifacts
	redactor *redactor
}

// Put is described at tool.Artifacts.
func (m maskedArtifacts) Put(ctx context.Context, session, name, mime string, r io.Reader) (string, error) {
	return m.Artifacts.Put(ctx, session, m.redactor.text(name), mime, &maskReader{r: r, redactor: m.redactor})
}

// maskReader masks secrets in what it reads, also where one falls on a border between two reads.
type maskReader struct {
	r        io.Reader
	redactor *redactor
	raw      []byte // read and not masked yet
	out      []byte // masked and not handed out yet
	err      error
}

func (m *maskReader) Read(p []byte) (int, error) {
	for len(m.out) == 0 {
		if m.err != nil {
			return 0, m.err
		}
		m.fill()
	}
	n := copy(p, m.out)
	m.out = m.out[n:]
	return n, nil
}

func (m *maskReader) fill() {
	const chunk = 64 << 10
	start := len(m.raw)
	m.raw = append(m.raw, make([]byte, chunk)...)
	n, err := m.r.Read(m.raw[start:])
	m.raw, m.err = m.raw[:start+n], err
	limit := len(m.raw)
	if err == nil { // what may be the beginning of a secret waits for its end
		limit = max(0, limit-(len(m.redactor.forms[0])-1))
	}
	cut := m.mask(limit)
	m.raw = append(m.raw[:0], m.raw[cut:]...)
}

// mask hands out what stands before limit, and the rest of a secret that begins there, as the replacer does with a whole
// text: from left to right, since masks decide what the text behind them is. It returns how much was used.
func (m *maskReader) mask(limit int) int {
	m.out = m.out[:0]
	next := make([]int, len(m.redactor.forms)) // where each form stands next, from at on
	at := 0
	for at < limit {
		start, size := limit, 0
		for i, f := range m.redactor.forms {
			if next[i] < at || at == 0 {
				if next[i] = bytes.Index(m.raw[at:], []byte(f)); next[i] < 0 {
					next[i] = len(m.raw)
				} else {
					next[i] += at
				}
			}
			if next[i] < start {
				start, size = next[i], len(f)
			}
		}
		m.out = append(m.out, m.raw[at:start]...)
		if at = start; size > 0 {
			m.out = append(m.out, mask...)
			at += size
		}
	}
	return at
}

// redactHandler masks secrets in log records. It asks the box each time, since credentials can change while it lives.
type redactHandler struct {
	slog.Handler
	box *Box
}

func (h *redactHandler) Handle(ctx context.Context, rec slog.Record) error {
	r := h.box.redact.Load()
	if r.idle() {
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
