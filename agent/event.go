package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/model"
)

// Version is that of the events and the state that this package writes. It reads every version up to this one.
const Version = 1

// Kind says what an event is about. The values are stored, so they never change meaning.
type Kind string

// The kinds of events, with the field that each fills.
const (
	Started    Kind = "agent.started"    // Setup: the session began; always its first event of the loop
	Configured Kind = "agent.configured" // Setup: from the next request on, which is the first of a turn
	Said       Kind = "agent.said"       // Said: a message of the user; it begins a turn, or steers the one that runs
	Answered   Kind = "agent.answered"   // Answer: the model answered
	Failed     Kind = "agent.failed"     // Failure: a request to the model failed
	Planned    Kind = "agent.planned"    // Call: a call that does more than read was planned
	Asked      Kind = "agent.asked"      // Call: a person is asked about a call
	Decided    Kind = "agent.decided"    // Call: the person, or the end of their time, decided
	Running    Kind = "agent.running"    // Call: from here on one that does more than read may have run
	Ran        Kind = "agent.ran"        // Result: what came of a call
	Unknown    Kind = "agent.unknown"    // Result: a call may have run; nobody knows, and it will not be run again
	Compacted  Kind = "agent.compacted"  // Compaction: what was said before is now told in short
	Limited    Kind = "agent.limited"    // Reason: the time of the turn is over
	Cancelled  Kind = "agent.cancelled"  // Reason: somebody ended the turn
	Resumed    Kind = "agent.resumed"    // Reason: another process goes on with the turn
	Finished   Kind = "agent.finished"   // End: the turn is over, the loop rests
)

// prefix begins every kind, so that the loop's events are told from those of the road in the same session.
const prefix = "agent."

// Event is one thing that happened in the loop. Next decides by it; the messages that some events hold are the transcript, which
// Next never looks at.
type Event struct {
	Seq  int64     `json:"-"` // its number in the session's log; 0: not stored
	At   time.Time `json:"-"` // by the clock of the driver, UTC
	Kind Kind      `json:"-"`

	Setup      *Setup      `json:"setup,omitempty"`
	Said       *Message    `json:"said,omitempty"`
	Answer     *Answer     `json:"answer,omitempty"`
	Failure    *Failure    `json:"failure,omitempty"`
	Call       *CallEvent  `json:"call,omitempty"`
	Result     *Result     `json:"result,omitempty"`
	Compaction *Compaction `json:"compaction,omitempty"`
	End        *End        `json:"end,omitempty"`
	Reason     string      `json:"reason,omitempty"`
}

// Setup is what a session runs with. System and Tools are stored once for all sessions that share them; they stay as they are,
// byte for byte, until a Configured event, so that the caches of providers hold.
type Setup struct {
	Version int        `json:"v"`
	Session string     `json:"session"`
	Mode    string     `json:"mode,omitempty"`
	Model   model.Info `json:"model"`
	Dir     string     `json:"dir,omitempty"`
	System  Text       `json:"system,omitzero"` // the system prompt
	Tools   Text       `json:"tools,omitzero"`  // the definitions, a JSON array of model.Tool
	Limits  Limits     `json:"limits,omitzero"`
	Nonce   string     `json:"nonce,omitempty"` // what untrusted content is fenced with; nobody outside can guess it
	Origin  *Origin    `json:"origin,omitempty"`
}

// Origin says what a session was made from.
type Origin struct {
	Session string `json:"session"`
	Seq     int64  `json:"seq,omitempty"`  // the last event that was taken over
	How     string `json:"how,omitempty"`  // "fork", "child", …
	Call    string `json:"call,omitempty"` // that made it
}

// Text refers to a text in the stream [Texts].
type Text struct {
	Seq    int64  `json:"seq,omitempty"`
	Digest string `json:"digest,omitempty"` // SHA-256, hex
}

// Message is what a user said.
type Message struct {
	ID     string         `json:"id"`               // unique in the session; delivering it again changes nothing
	From   string         `json:"from,omitempty"`   // who speaks, where it is not the user: "task", "schedule", …
	Steers bool           `json:"steers,omitempty"` // it was said while a turn ran
	Tokens int            `json:"tokens,omitempty"` // estimated
	Parts  []content.Part `json:"parts,omitempty"`  // transcript
}

// Answer is an answer of the model.
type Answer struct {
	Stop   model.Stop  `json:"stop,omitempty"`
	Calls  []Call      `json:"calls,omitempty"` // in the order of the message
	Empty  bool        `json:"empty,omitempty"` // it says nothing and calls nothing
	Usage  model.Usage `json:"usage,omitzero"`
	Cost   float64     `json:"cost,omitempty"`   // US dollars
	Tokens int         `json:"tokens,omitempty"` // estimated, for models that count none
	Model  string      `json:"model,omitempty"`  // that answered
	// Message is transcript.
	Message *model.Message `json:"message,omitempty"`

	clear *model.Message // as the model wrote it, where that holds a secret; never stored
}

// Call is a call that the model asked for.
type Call struct {
	ID   string `json:"id"` // ours, of [State.CallID]; providers give one id to two calls
	Name string `json:"name"`
	Same string `json:"same"` // equal for calls with the same name and arguments
}

// CallEvent tells how far a call is.
type CallEvent struct {
	ID      string   `json:"id"`
	Class   Class    `json:"class,omitempty"`   // Planned, Running
	Effects []string `json:"effects,omitempty"` // Planned
	Point   int      `json:"point,omitempty"`   // Running: 2 at the second gate point, where a call that looked begins to act
	Ask     string   `json:"ask,omitempty"`     // Asked: what policy wants to know
	Verdict string   `json:"verdict,omitempty"` // Decided
	By      string   `json:"by,omitempty"`      // Decided
}

// Class says whether a call that may have run can be run again.
type Class string

// The classes.
const (
	Reads      Class = "reads"      // it changes nothing
	Idempotent Class = "idempotent" // running it twice is running it once
	Journalled Class = "journalled" // it is one changeset, and the journal of the host knows whether it was made
	Once       Class = "once"       // anything else: never again
)

// Again reports whether a call of the class may simply be run again.
func (c Class) Again() bool { return c == Reads || c == Idempotent }

// Outcome says what came of a call.
type Outcome string

// The outcomes.
const (
	OK      Outcome = "ok"
	Error   Outcome = "error"   // a tool error: for the model to act on
	Denied  Outcome = "denied"  // policy or a person refused it
	Skipped Outcome = "skipped" // it was not run
	Lost    Outcome = "lost"    // it ran before a crash; what it said is gone
	NotSure Outcome = "unknown" // it may have run
)

// Result is what came of a call.
type Result struct {
	ID        string         `json:"id"`
	Outcome   Outcome        `json:"outcome"`
	Code      string         `json:"code,omitempty"`      // of a tool error
	Changed   bool           `json:"changed,omitempty"`   // it did more than read
	Digest    string         `json:"digest,omitempty"`    // equal for results that say the same
	End       string         `json:"end,omitempty"`       // why the turn should end, as the road says it
	Fault     string         `json:"fault,omitempty"`     // of the host or the program, not of the call: the turn ends
	Tokens    int            `json:"tokens,omitempty"`    // estimated
	Tx        []string       `json:"tx,omitempty"`        // transactions of the host, for undo
	Took      time.Duration  `json:"took,omitempty"`      // nanoseconds
	Untrusted string         `json:"untrusted,omitempty"` // whose words these are, where they are nobody's here
	Parts     []content.Part `json:"parts,omitempty"`     // transcript; bytes of media may stand as artifact:ID
}

// Failure is a request that the model did not answer.
type Failure struct {
	Class   model.Class   `json:"class"`
	After   time.Duration `json:"after,omitempty"` // what the provider asked to wait
	Message string        `json:"message"`
	Usage   model.Usage   `json:"usage,omitzero"`
	Cost    float64       `json:"cost,omitempty"`
	// Partial is what had been said when the turn was cancelled. Transcript.
	Partial string `json:"partial,omitempty"`
}

// Compaction tells in short what was said before.
type Compaction struct {
	Upto       int64       `json:"upto"`                 // the last event that Summary stands for; what comes later is kept word for word
	Clip       int         `json:"clip,omitempty"`       // bytes that each text of a result in the rest is cut to; 0: not at all
	Tokens     int         `json:"tokens"`               // estimated, of what is left: summary and rest
	Mechanical bool        `json:"mechanical,omitempty"` // no model wrote it
	Why        string      `json:"why,omitempty"`        // why it is mechanical
	Usage      model.Usage `json:"usage,omitzero"`
	Cost       float64     `json:"cost,omitempty"`
	Summary    string      `json:"summary,omitempty"` // transcript
}

// Ending says why a turn is over.
type Ending string

// The endings.
const (
	Done        Ending = "done"         // the model had no more to say
	AtLimit     Ending = "limit"        // rounds, tokens, cost or time
	WasCanceled Ending = "cancelled"    // somebody ended it
	RefusedOver Ending = "refused"      // the same call was refused for the third time (P13)
	GoesRound   Ending = "repeats"      // the model repeats itself in spite of being told
	SaysNothing Ending = "empty"        // answers without words and calls, or cut off, several times
	Declined    Ending = "declined"     // the model or its provider declined
	ModelFailed Ending = "model failed" // what it said is in Detail
	DoesNotFit  Ending = "too long"     // compaction did not make it fit
	Broken      Ending = "fault"        // the host or the program itself failed
)

// End is the end of a turn.
type End struct {
	Why    Ending `json:"why"`
	Detail string `json:"detail,omitempty"` // a sentence for people: what happened, what to do next
}

// Control returns the event without the transcript: all that Next looks at.
func (e Event) Control() Event {
	if e.Said != nil {
		c := *e.Said
		c.Parts = nil
		e.Said = &c
	}
	if e.Answer != nil {
		c := *e.Answer
		c.Message, c.clear = nil, nil
		e.Answer = &c
	}
	if e.Failure != nil {
		c := *e.Failure
		c.Partial = ""
		e.Failure = &c
	}
	if e.Result != nil {
		c := *e.Result
		c.Parts = nil
		e.Result = &c
	}
	if e.Compaction != nil {
		c := *e.Compaction
		c.Summary = ""
		e.Compaction = &c
	}
	return e
}

// Stored returns the form in which the event is stored for a session.
func (e Event) Stored(session string) (store.Event, error) {
	body, err := plain(&e)
	if err != nil {
		return store.Event{}, fmt.Errorf("event %s of session %s: %w", e.Kind, session, err)
	}
	out := store.Event{Session: session, At: e.At, Kind: string(e.Kind), Body: body}
	if e.Said != nil && e.Said.ID != "" {
		out.Key = prefix + "said/" + e.Said.ID
	}
	return out, nil
}

// plain writes JSON as it is: a model that wrote a < b into a call is sent that again, and not an escape of it.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Read returns the events of the loop among those of a session, in order.
// Errors name the event that cannot be read, or say that a newer program wrote the session.
func Read(evs []store.Event) ([]Event, error) {
	var out []Event
	for _, ev := range evs {
		if !strings.HasPrefix(ev.Kind, prefix) {
			continue
		}
		e := Event{Seq: ev.Seq, At: ev.At, Kind: Kind(ev.Kind)}
		if err := json.Unmarshal(ev.Body, &e); err != nil {
			return nil, fmt.Errorf("session %s, event %d (%s): %w", ev.Session, ev.Seq, ev.Kind, err)
		}
		if e.Setup != nil && e.Setup.Version > Version {
			return nil, fmt.Errorf("session %s, event %d: written by a newer tackle (format %d, this one reads up to %d); update tackle to open it", ev.Session, ev.Seq, e.Setup.Version, Version)
		}
		out = append(out, e)
	}
	return out, nil
}
