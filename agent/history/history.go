package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
)

// Store is what sessions are kept in.
type Store interface {
	store.Events
	store.Records
}

// ErrUnknown says that no session of the name is recorded.
var ErrUnknown = errors.New("no such session is recorded here; 'tackle sessions' lists them")

// Session is a stored session as it went.
type Session struct {
	Summary
	State agent.State // of the loop; the zero State where no loop ran it
	Turns []Turn
	Log   []store.Event // every event, in order
}

// Turn is a message with everything up to the next rest of the loop. Calls of a session without a loop are one turn without a
// message.
type Turn struct {
	Number int       `json:"turn"` // from 1
	First  int64     `json:"first"`
	Last   int64     `json:"last"` // its last event; that of the session while it runs
	Began  time.Time `json:"began"`
	Ended  time.Time `json:"ended,omitzero"` // zero while it is not over
	Items  []Item    `json:"items"`
	End    *agent.End
}

// Over reports whether the loop rests behind the turn.
func (t *Turn) Over() bool { return t.End != nil }

// Item is one thing that happened. Exactly one of the pointers is set, or Note.
type Item struct {
	Seq    int64          `json:"seq"`
	At     time.Time      `json:"at"`
	Said   *agent.Message `json:"said,omitempty"`
	Answer *agent.Answer  `json:"answer,omitempty"`
	Call   *Call          `json:"call,omitempty"`
	Told   string         `json:"told,omitempty"` // what the conversation became in short
	Note   string         `json:"note,omitempty"` // a sentence about the loop itself
}

// Call is a call with everything that is recorded of it.
type Call struct {
	ID      string          `json:"id"`
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"args,omitempty"` // as the model wrote them; a JSON string where they were no JSON
	Outcome agent.Outcome   `json:"outcome"`        // "" while it runs
	Parts   []content.Part  `json:"parts,omitempty"`
	Took    time.Duration   `json:"took,omitempty"`
	// Untrusted says whose words the result holds, where they are nobody's here.
	Untrusted string          `json:"untrusted,omitempty"`
	Record    *session.Record `json:"record,omitempty"` // of the road; nil for a call that never reached it
}

// Text returns what the model read of the call.
func (c *Call) Text() string { return content.JoinText(c.Parts) }

// Decision returns what let the call run or refused it; nil where that is not known.
func (c *Call) Decision() *tool.Decision {
	if c.Record == nil {
		return nil
	}
	return c.Record.Decision
}

// Meta returns what the road noted about the call.
func (c *Call) Meta() tool.Meta {
	if c.Record == nil || c.Record.Result == nil {
		return tool.Meta{}
	}
	return c.Record.Result.Meta
}

// Changed returns the files that a call changed, without the folders that were made for them.
func Changed(m tool.Meta) []change.FileChange {
	return slices.DeleteFunc(slices.Clone(m.Changes), func(f change.FileChange) bool { return strings.HasSuffix(f.Path, "/") })
}

// Open reads a session. Errors: ErrUnknown, what agent.Read says of sessions that it cannot read, those of the store.
func Open(ctx context.Context, s Store, id string) (*Session, error) {
	if id == "" || strings.HasPrefix(id, ".") {
		return nil, fmt.Errorf("session %q: %w", id, ErrUnknown)
	}
	evs, err := s.Read(ctx, id, 0, 0)
	if err != nil {
		return nil, err
	}
	if len(evs) == 0 {
		return nil, fmt.Errorf("session %q: %w", id, ErrUnknown)
	}
	loop, err := agent.Read(evs)
	if err != nil {
		return nil, err
	}
	out := &Session{Log: evs}
	r := newReader(loop)
	for _, ev := range evs {
		if err := r.take(ev); err != nil {
			return nil, fmt.Errorf("session %s, event %d (%s): %w", id, ev.Seq, ev.Kind, err)
		}
	}
	out.State, out.Turns = r.state, r.turns
	if n := len(out.Turns); n > 0 && !r.resting() {
		out.Turns[n-1].Last = evs[len(evs)-1].Seq
	}
	out.Summary = r.sums.of(id, evs[0].At, evs[len(evs)-1])
	title, err := TitleOf(ctx, s, id)
	if err != nil {
		return nil, err
	}
	out.Summary.entitle(title, r.sums.words())
	return out, nil
}

// reader folds events into turns.
type reader struct {
	loop  map[int64]agent.Event
	state agent.State
	sums  sums
	turns []Turn
	calls map[string]*Call
	held  []Item // that belong to the turn that comes next
}

func newReader(loop []agent.Event) *reader {
	r := &reader{loop: make(map[int64]agent.Event, len(loop)), calls: map[string]*Call{}}
	for _, ev := range loop {
		r.loop[ev.Seq] = ev
	}
	return r
}

func (r *reader) resting() bool {
	return r.state.Phase == agent.Resting || r.state.Phase == agent.Fresh
}

// turn returns the turn that events belong to now.
func (r *reader) turn() *Turn {
	if len(r.turns) == 0 {
		return nil
	}
	return &r.turns[len(r.turns)-1]
}

func (r *reader) begin(at time.Time, seq int64) {
	if len(r.held) > 0 {
		seq = r.held[0].Seq
	}
	r.turns = append(r.turns, Turn{Number: len(r.turns) + 1, First: seq, Last: seq, Began: at, Items: r.held})
	r.held = nil
}

func (r *reader) add(it Item) {
	if r.turn() == nil {
		r.begin(it.At, it.Seq)
	}
	t := r.turn()
	t.Items = append(t.Items, it)
	t.Last = it.Seq
}

func (r *reader) take(ev store.Event) error {
	e, ok := r.loop[ev.Seq]
	if !ok {
		if ev.Kind != session.EventKind {
			return nil
		}
		return r.record(ev)
	}
	before := r.state
	r.state, _ = agent.Next(r.state, e)
	r.sums.take(e, &r.state)
	if e.Said != nil && r.state.Turns > before.Turns {
		r.begin(ev.At, ev.Seq)
	}
	r.follow(e)
	if t := r.turn(); t != nil && e.Kind == agent.Finished {
		t.End, t.Ended, t.Last = r.state.Last, ev.At, ev.Seq
		if r.state.Phase != agent.Resting { // what was said at the end begins another turn
			r.begin(ev.At, ev.Seq+1)
		}
	}
	return nil
}

// follow turns an event of the loop into what people see of it.
func (r *reader) follow(e agent.Event) {
	it := Item{Seq: e.Seq, At: e.At}
	switch {
	case e.Said != nil:
		it.Said = e.Said
	case e.Answer != nil:
		it.Answer = e.Answer
		r.add(it)
		r.asked(e)
		return
	case e.Result != nil:
		if c := r.calls[e.Result.ID]; c != nil {
			c.Take(&e)
		}
		return
	case e.Failure != nil:
		if p := e.Failure.Partial; p != "" {
			part := content.TextPart(p)
			r.add(Item{Seq: e.Seq, At: e.At, Answer: &agent.Answer{Message: &model.Message{Role: model.Assistant, Blocks: []model.Block{{Part: &part}}}}})
		}
		it.Note = Note(e)
	case e.Compaction != nil:
		it.Told = e.Compaction.Summary
		if it.Told == "" {
			it.Told = "(what was said before was dropped)"
		}
	default:
		it.Note = Note(e)
	}
	if e.Kind == agent.Configured && r.resting() {
		r.held = append(r.held, it)
		return
	}
	if it.Said != nil || it.Told != "" || it.Note != "" {
		r.add(it)
	}
}

// Note says in a sentence what an event of the loop tells people beside messages, answers and calls, "" for nothing.
func Note(e agent.Event) string {
	switch {
	case e.Failure != nil && e.Failure.Class != model.Canceled:
		note := "the model did not answer: " + e.Failure.Message
		if w := e.Failure.After; w > 0 && e.Failure.Class == model.Retry {
			note += fmt.Sprintf("; it asks to wait %v", max(w.Round(time.Second), time.Second))
		}
		return note
	case e.Compaction != nil:
		return "the conversation was told in short"
	case e.Kind == agent.Configured && e.Setup != nil:
		return fmt.Sprintf("goes on in mode %s with model %s/%s", e.Setup.Mode, e.Setup.Model.Provider, e.Setup.Model.Name)
	case e.Kind == agent.Resumed:
		return "another process goes on"
	case e.Kind == agent.Cancelled:
		return because("cancelled", e.Reason)
	case e.Kind == agent.Limited:
		return because("a limit was reached", e.Reason)
	}
	return ""
}

func because(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

// asked adds the calls of an answer.
func (r *reader) asked(e agent.Event) {
	for _, c := range CallsOf(e.Answer) {
		r.calls[c.ID] = c
		r.add(Item{Seq: e.Seq, At: e.At, Call: c})
	}
}

// CallsOf returns the calls of an answer, each with its arguments out of the message and no outcome.
func CallsOf(a *agent.Answer) []*Call {
	var args []json.RawMessage
	if m := a.Message; m != nil {
		for _, b := range m.Blocks {
			switch {
			case b.Call == nil:
			case b.Call.Malformed != "":
				text, _ := json.Marshal(b.Call.Malformed) // a string always marshals
				args = append(args, text)
			default:
				args = append(args, b.Call.Arguments)
			}
		}
	}
	var out []*Call
	for i, c := range a.Calls {
		call := &Call{ID: c.ID, Tool: c.Name}
		if i < len(args) {
			call.Args = args[i]
		}
		out = append(out, call)
	}
	return out
}

// Take takes what came of the call out of its event.
func (c *Call) Take(e *agent.Event) {
	c.Outcome, c.Parts, c.Took, c.Untrusted = e.Result.Outcome, e.Result.Parts, e.Result.Took, e.Result.Untrusted
	if e.Kind == agent.Unknown {
		c.Outcome = agent.NotSure
	}
}

// record takes what the road recorded of a call. A call that no answer asked for is a turn's of its own accord.
func (r *reader) record(ev store.Event) error {
	var rec session.Record
	if err := json.Unmarshal(ev.Body, &rec); err != nil {
		return err
	}
	if rec.Args == nil {
		rec.Args = rec.Raw
	}
	c := r.calls[rec.Call]
	if c == nil {
		c = &Call{ID: rec.Call, Tool: rec.Tool, Args: rec.Raw}
		r.calls[rec.Call] = c
		r.add(Item{Seq: ev.Seq, At: ev.At, Call: c})
	}
	if c.Record == nil || rec.Phase == session.End {
		intent := rec.Intent
		if c.Record != nil && intent == nil {
			intent = c.Record.Intent
		}
		c.Record = &rec
		c.Record.Intent = intent
	}
	if rec.Phase == session.End {
		r.sums.recorded(&rec)
		if c.Outcome == "" { // the loop, where there is one, says it again later
			c.Outcome, c.Parts, c.Took = outcomeOf(rec.Result), partsOf(rec.Result), took(rec.Result)
		}
	}
	return nil
}

func outcomeOf(o *session.Outcome) agent.Outcome {
	switch {
	case o == nil:
		return ""
	case o.Denied:
		return agent.Denied
	case o.Err != nil:
		return agent.Error
	}
	return agent.OK
}

func partsOf(o *session.Outcome) []content.Part {
	if o == nil {
		return nil
	}
	return o.Parts
}

func took(o *session.Outcome) time.Duration {
	if o == nil {
		return 0
	}
	return o.Meta.Duration
}

// Since returns the calls that were made behind an event, in order.
func (s *Session) Since(seq int64) []*Call {
	var out []*Call
	for i := range s.Turns {
		for _, it := range s.Turns[i].Items {
			if it.Call != nil && it.Seq > seq {
				out = append(out, it.Call)
			}
		}
	}
	return out
}

// Transactions returns the transactions of the host that calls made, in order; each can be undone.
func Transactions(calls []*Call) []string {
	var out []string
	for _, c := range calls {
		out = append(out, c.Meta().Transaction...)
	}
	return out
}

// Lasting returns those of the calls that did something which no undo takes back: they executed, sent or reached out and are no
// changes of files alone.
func Lasting(calls []*Call) []*Call {
	var out []*Call
	for _, c := range calls {
		rec := c.Record
		if rec == nil || rec.Intent == nil || c.Outcome == agent.Denied || rec.Intent.Looks {
			continue
		}
		if slices.ContainsFunc(rec.Intent.Effects, func(e tool.Effect) bool { return e != tool.Read && e != tool.Write }) {
			out = append(out, c)
		}
	}
	return out
}
