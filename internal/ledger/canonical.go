package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// timeForm has a fixed width: canonical text may not depend on trailing zeros.
const timeForm = "2006-01-02T15:04:05.000000Z"

// valid returns the entry as it can be written: text as UTF-8, time in UTC and microseconds.
func (e Entry) valid() Entry {
	e.At = e.At.UTC().Truncate(time.Microsecond)
	for _, s := range []*string{
		(*string)(&e.Kind), &e.Session, &e.Call, &e.Tool, &e.Fingerprint,
		&e.Decision, &e.By, &e.Reason, &e.Shown, &e.Outcome, &e.Tx,
	} {
		*s = strings.ToValidUTF8(*s, "\uFFFD")
	}
	e.Effects, e.Targets = validAll(e.Effects), validAll(e.Targets)
	if len(e.Files) == 0 {
		e.Files = nil
		return e
	}
	files := make([]File, len(e.Files))
	for i, f := range e.Files {
		files[i] = File{
			Path:   strings.ToValidUTF8(f.Path, "\uFFFD"),
			Before: strings.ToValidUTF8(f.Before, "\uFFFD"),
			After:  strings.ToValidUTF8(f.After, "\uFFFD"),
		}
	}
	e.Files = files
	return e
}

func validAll(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strings.ToValidUTF8(s, "\uFFFD")
	}
	return out
}

// seal sets the hash of the entry and returns its canonical JSON with it.
func (e *Entry) seal() []byte {
	e.Hash = ""
	sum := sha256.Sum256(e.canonical())
	e.Hash = hex.EncodeToString(sum[:])
	return e.canonical()
}

// canonical returns the entry in the form of RFC 8785: members sorted, no white space, the shortest escapes; an empty
// hash is left out. The names below stand in sorted order.
func (e *Entry) canonical() []byte {
	w := writer{buf: make([]byte, 0, 512)}
	w.open('{')
	w.text("at", e.At.Format(timeForm))
	w.text("by", e.By)
	w.text("call", e.Call)
	w.text("decision", e.Decision)
	w.list("effects", e.Effects)
	w.files("files", e.Files)
	w.text("fingerprint", e.Fingerprint)
	w.text("hash", e.Hash)
	w.text("kind", string(e.Kind))
	w.text("outcome", e.Outcome)
	w.number("point", int64(e.Point))
	w.text("prev", e.Prev)
	w.text("reason", e.Reason)
	w.number("seq", e.Seq)
	w.text("session", e.Session)
	w.text("shown", e.Shown)
	w.list("targets", e.Targets)
	w.text("tool", e.Tool)
	w.text("tx", e.Tx)
	w.close('}')
	return w.buf
}

// writer writes canonical JSON; members that are empty are left out.
type writer struct {
	buf   []byte
	comma bool // a member or element stands before
}

func (w *writer) open(c byte) { w.buf, w.comma = append(w.buf, c), false }

func (w *writer) close(c byte) { w.buf, w.comma = append(w.buf, c), true }

func (w *writer) next() {
	if w.comma {
		w.buf = append(w.buf, ',')
	}
	w.comma = true
}

func (w *writer) name(s string) {
	w.next()
	w.str(s)
	w.buf = append(w.buf, ':')
}

func (w *writer) text(name, s string) {
	if s != "" {
		w.name(name)
		w.str(s)
	}
}

func (w *writer) number(name string, n int64) {
	if n != 0 {
		w.name(name)
		w.buf = strconv.AppendInt(w.buf, n, 10)
	}
}

func (w *writer) list(name string, list []string) {
	if len(list) == 0 {
		return
	}
	w.name(name)
	w.open('[')
	for _, s := range list {
		w.next()
		w.str(s)
	}
	w.close(']')
}

func (w *writer) files(name string, files []File) {
	if len(files) == 0 {
		return
	}
	w.name(name)
	w.open('[')
	for _, f := range files {
		w.next()
		w.open('{')
		w.text("after", f.After)
		w.text("before", f.Before)
		w.text("path", f.Path)
		w.close('}')
	}
	w.close(']')
}

func (w *writer) str(s string) {
	const hexDigits = "0123456789abcdef"
	w.buf = append(w.buf, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		w.buf = append(w.buf, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			w.buf = append(w.buf, '\\', c)
		case '\b':
			w.buf = append(w.buf, '\\', 'b')
		case '\t':
			w.buf = append(w.buf, '\\', 't')
		case '\n':
			w.buf = append(w.buf, '\\', 'n')
		case '\f':
			w.buf = append(w.buf, '\\', 'f')
		case '\r':
			w.buf = append(w.buf, '\\', 'r')
		default:
			w.buf = append(w.buf, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	w.buf = append(append(w.buf, s[start:]...), '"')
}

// parse reads an entry and proves that its text is canonical, so that nothing can hide in it.
func parse(body []byte) (Entry, error) {
	var e Entry
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return Entry{}, fmt.Errorf("the entry is not readable: %w", err)
	}
	if !bytes.Equal(e.canonical(), body) {
		return Entry{}, errors.New("the entry's text is not the canonical form of what it says")
	}
	return e, nil
}
