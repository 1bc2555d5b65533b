package store

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

const maxName = 512 // bytes of a session, kind, space, key or owner

func checkName(op, what, s string, empty bool) error {
	switch {
	case s == "" && !empty:
		return invalid(op, "%s is empty", what)
	case len(s) > maxName:
		return invalid(op, "%s %.40q… has %d bytes, at most %d are allowed", what, s, len(s), maxName)
	case strings.ContainsRune(s, 0) || !utf8.ValidString(s):
		return invalid(op, "%s %q is not UTF-8 text without NUL", what, s)
	}
	return nil
}

func checkBody(op string, body json.RawMessage) (json.RawMessage, error) {
	switch {
	case body == nil:
		return json.RawMessage("null"), nil
	case len(body) > MaxBody:
		return nil, invalid(op, "body has %d bytes, at most %d are allowed: put it in a blob and refer to it", len(body), MaxBody)
	case !json.Valid(body):
		return nil, invalid(op, "body is not JSON: %.60q", body)
	}
	return body, nil
}

// normal returns a copy of the events that can be stored as they are.
func normal(evs []Event, now func() time.Time) ([]Event, error) {
	out := make([]Event, len(evs))
	for i, e := range evs {
		for _, n := range []struct {
			what, s string
			empty   bool
		}{{"session", e.Session, false}, {"kind", e.Kind, false}, {"key", e.Key, true}} {
			if err := checkName("append", n.what, n.s, n.empty); err != nil {
				return nil, err
			}
		}
		if e.Seq < 0 {
			return nil, invalid("append", "event number %d is negative", e.Seq)
		}
		body, err := checkBody("append", e.Body)
		if err != nil {
			return nil, err
		}
		e.Body, e.At = body, stamp(e.At, now)
		out[i] = e
	}
	return out, nil
}

// normalRecords does the same for records.
func normalRecords(recs []Record, now func() time.Time) ([]Record, error) {
	out := make([]Record, len(recs))
	for i, r := range recs {
		for _, n := range []struct {
			what, s string
			empty   bool
		}{{"space", r.Space, false}, {"key", r.Key, false}, {"owner", r.Owner, true}} {
			if err := checkName("set", n.what, n.s, n.empty); err != nil {
				return nil, err
			}
		}
		body, err := checkBody("set", r.Body)
		if err != nil {
			return nil, err
		}
		r.Body, r.At = body, stamp(r.At, now)
		out[i] = r
	}
	return out, nil
}

func stamp(at time.Time, now func() time.Time) time.Time {
	if at.IsZero() {
		at = now()
	}
	return at.UTC().Truncate(time.Microsecond)
}

// own reports whether a session is a stream of the program itself.
func own(session string) bool { return strings.HasPrefix(session, ".") }

func (f Filter) matches(s Session) bool {
	if !strings.HasPrefix(s.ID, f.Prefix) || (own(s.ID) && !own(f.Prefix)) {
		return false
	}
	return f.Since.IsZero() || !s.Updated.Before(f.Since)
}

func (q RecordQuery) matches(r Record) bool {
	return (q.Owner == "" || q.Owner == r.Owner) && strings.HasPrefix(r.Key, q.Prefix)
}

func validDigest(d string) bool {
	if len(d) != 64 {
		return false
	}
	for i := range len(d) {
		if c := d[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
