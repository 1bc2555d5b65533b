package core

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/internal/ledger"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/session"
)

// The types of events.
const (
	CallStarted    = "call.started" // calls that only read have none
	CallEnded      = "call.ended"
	AskOpened      = "ask.opened"
	AskClosed      = "ask.closed"
	LedgerEntry    = "ledger"          // an entry was added; only for those who ask for it
	SessionRemoved = "session.removed" // of each session that was removed
	SessionEvent   = "session.event"   // anything else that a session records; Kind says what
)

// EventTypes lists the types.
var EventTypes = []string{CallStarted, CallEnded, AskOpened, AskClosed, LedgerEntry, SessionRemoved, SessionEvent}

// Event is one thing that happened, short: who wants more asks for the call, the ask or the entry.
type Event struct {
	ID      int64     `json:"id" jsonschema:"grows; send the last one as Last-Event-ID to go on behind it"`
	Type    string    `json:"type"`
	At      time.Time `json:"at"`
	Session string    `json:"session,omitempty"`
	Call    string    `json:"call,omitempty"`
	Tool    string    `json:"tool,omitempty"`

	State      State   `json:"state,omitempty" jsonschema:"of a call"`
	Code       string  `json:"code,omitempty" jsonschema:"of the error of a call"`
	DurationMS float64 `json:"durationMs,omitempty"`
	Files      int     `json:"files,omitempty" jsonschema:"that a call changed"`

	Ask     string `json:"ask,omitempty"`
	Title   string `json:"title,omitempty" jsonschema:"of an ask, escaped for showing"`
	Verdict string `json:"verdict,omitempty"`
	By      string `json:"by,omitempty"`

	Entry int64  `json:"entry,omitempty" jsonschema:"number of a ledger entry"`
	Kind  string `json:"kind,omitempty" jsonschema:"of a ledger entry, or of another event of a session"`

	wire []byte // as it is streamed, made once for all subscribers
}

// Wire returns the event as a server-sent event.
func (e *Event) Wire() []byte {
	if e.wire == nil {
		e.wire = e.encode()
	}
	return e.wire
}

func (e *Event) encode() []byte {
	data, err := json.Marshal(e)
	if err != nil { // texts, numbers and times only
		panic(err)
	}
	out := make([]byte, 0, len(data)+64)
	out = append(append(out, "id: "...), strconv.FormatInt(e.ID, 10)...)
	out = append(append(out, "\nevent: "...), e.Type...)
	out = append(append(out, "\ndata: "...), data...)
	return append(out, "\n\n"...)
}

// eventOf returns the event of what was stored, or false for what is nobody's business: the program's own bookkeeping, and
// what cannot be read.
func eventOf(f *store.Fed) (e Event, ok bool) {
	e = Event{ID: f.ID, At: f.At, Session: f.Session}
	switch {
	case f.Session == ledger.Stream:
		ok = e.fromLedger(f.Body)
	case f.Session == store.Removed:
		e.Session = ""
		ok = e.fromRemoved(f.Body)
	case strings.HasPrefix(f.Session, "."):
	case f.Kind == session.EventKind:
		ok = e.fromCall(f.Body)
	case f.Kind == tackle.AskKind:
		ok = e.fromAsk(f.Body)
	default:
		e.Type, e.Kind, ok = SessionEvent, f.Kind, true
	}
	return e, ok
}

func (e *Event) fromCall(body []byte) bool {
	var rec struct {
		Phase    session.Phase `json:"phase"`
		Call     string        `json:"call"`
		Tool     string        `json:"tool"`
		Point    int           `json:"point"`
		Decision *struct {
			Verdict string `json:"verdict"`
			By      string `json:"by"`
		} `json:"decision"`
		Result *struct {
			Err *struct {
				Code string `json:"code"`
			} `json:"error"`
			Denied bool `json:"denied"`
			Meta   struct {
				Duration time.Duration     `json:"duration"`
				Changes  []json.RawMessage `json:"changes"`
			} `json:"meta"`
		} `json:"result"`
	}
	if json.Unmarshal(body, &rec) != nil {
		return false
	}
	e.Type, e.Call, e.Tool, e.State = CallStarted, rec.Call, rec.Tool, Running
	if d := rec.Decision; d != nil {
		e.Verdict, e.By = d.Verdict, d.By
	}
	if rec.Phase != session.End || rec.Result == nil {
		return true
	}
	e.Type, e.State = CallEnded, OK
	if rec.Result.Err != nil {
		e.State, e.Code = Failed, rec.Result.Err.Code
	}
	if rec.Result.Denied {
		e.State = Denied
	}
	e.DurationMS, e.Files = millis(rec.Result.Meta.Duration), len(rec.Result.Meta.Changes)
	return true
}

func (e *Event) fromAsk(body []byte) bool {
	var rec struct {
		tackle.AskRecord
		Request *struct {
			View struct {
				Title string `json:"title"`
			} `json:"view"`
			By string `json:"by"`
		} `json:"request"`
	}
	if json.Unmarshal(body, &rec) != nil {
		return false
	}
	e.Type, e.Ask, e.Call, e.Tool = AskOpened, rec.ID, rec.Call, rec.Tool
	if rec.Request != nil {
		e.Title, e.By = rec.Request.View.Title, rec.Request.By
	}
	if rec.Phase == ask.Closed {
		e.Type = AskClosed
	}
	if rec.Decision != nil {
		e.Verdict, e.By = rec.Decision.Verdict.String(), rec.Decision.By
	}
	return true
}

func (e *Event) fromLedger(body []byte) bool {
	var entry struct {
		Seq      int64  `json:"seq"`
		Kind     string `json:"kind"`
		Session  string `json:"session"`
		Call     string `json:"call"`
		Tool     string `json:"tool"`
		Decision string `json:"decision"`
		By       string `json:"by"`
	}
	if json.Unmarshal(body, &entry) != nil {
		return false
	}
	e.Type, e.Entry, e.Kind, e.Session, e.Call, e.Tool, e.Verdict, e.By = LedgerEntry, entry.Seq, entry.Kind, entry.Session, entry.Call, entry.Tool, entry.Decision, entry.By
	return true
}

func (e *Event) fromRemoved(body []byte) bool {
	var rec struct {
		Sessions []string `json:"sessions"`
	}
	if json.Unmarshal(body, &rec) != nil {
		return false
	}
	e.Type = SessionRemoved
	if len(rec.Sessions) == 1 {
		e.Session = rec.Sessions[0]
	}
	return true
}
