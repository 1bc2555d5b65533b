package agent

import (
	"fmt"
	"time"

	"github.com/tackle-dev/tackle/model"
)

// State is where a session stands: what Next needs, and no text. It is small, and can be written down and taken up by another
// process or engine. The zero State is that of a session that has not begun.
type State struct {
	Version int    `json:"v"`
	Seq     int64  `json:"seq"` // of the last event that it holds
	Setup   Setup  `json:"setup"`
	Phase   Phase  `json:"phase"`
	Turns   int    `json:"turns"`   // that have begun
	Answers int    `json:"answers"` // in the session
	Turn    string `json:"turn"`    // id of the message that began the turn
	Opened  int64  `json:"opened"`  // event that began it

	Calls   []CallState `json:"calls,omitempty"`   // of the last answer, in its order
	Steered string      `json:"steered,omitempty"` // id of the first message that no request to the model holds yet

	Tally     Tally     `json:"tally"`               // of the turn
	Total     Tally     `json:"total"`               // of the session
	Began     time.Time `json:"began,omitzero"`      // of the turn
	Context   int       `json:"context,omitempty"`   // tokens of the next request, as far as known
	Compacted int64     `json:"compacted,omitempty"` // what was said up to this event is told in short
	Floor     int       `json:"floor,omitempty"`     // tokens that the last compaction left
	Squeezes  int       `json:"squeezes,omitempty"`  // compactions since the model last answered
	Tries     int       `json:"tries,omitempty"`     // requests that failed since the model last answered
	Nudges    int       `json:"nudges,omitempty"`    // empty or cut answers in a row
	Repeats   []Repeat  `json:"repeats,omitempty"`   // calls of the turn, the latest last
	Ending    *End      `json:"ending,omitempty"`    // the turn ends as soon as every call has a result
	Last      *End      `json:"last,omitempty"`      // how the last turn ended
	Messages  int       `json:"messages,omitempty"`  // of users
	LastSaid  int64     `json:"lastSaid,omitempty"`  // event of the last of them
	LastModel string    `json:"lastModel,omitempty"` // that answered last
	Resumes   int       `json:"resumes,omitempty"`   // since there was progress
	Unsure    int       `json:"unsure,omitempty"`    // calls of the session of which nobody knows whether they ran
}

// Phase says what the loop waits for.
type Phase string

// The phases.
const (
	Fresh      Phase = ""           // for its Started event
	Resting    Phase = "resting"    // for a message
	Thinking   Phase = "thinking"   // for an answer of the model
	Working    Phase = "working"    // for results of calls
	Compacting Phase = "compacting" // for a summary
	Ends       Phase = "ending"     // for its Finished event
)

// Tally counts what was used.
type Tally struct {
	Rounds int         `json:"rounds"` // answers of the model
	Calls  int         `json:"calls"`
	Usage  model.Usage `json:"usage"`
	Cost   float64     `json:"cost"` // US dollars
}

// Tokens returns all tokens that were used.
func (t Tally) Tokens() int {
	return t.Usage.Input + t.Usage.CacheRead + t.Usage.CacheWrite + t.Usage.Output
}

// Limits bound one turn. Zero means the default, negative none.
type Limits struct {
	Rounds int           `json:"rounds,omitempty"` // answers of the model; default 200
	Tokens int           `json:"tokens,omitempty"` // read and written, caches included; default none
	Cost   float64       `json:"cost,omitempty"`   // US dollars; default none
	Time   time.Duration `json:"time,omitempty"`   // nanoseconds; default none
	// Compact is the part of the model's window at which the conversation is told in short; default 0.8.
	Compact float64 `json:"compact,omitempty"`
}

// Defaults of Limits, and the window of a model that does not say.
const (
	DefaultRounds  = 200
	DefaultCompact = 0.8
	DefaultWindow  = 128_000
)

// CallState is a call of the last answer.
type CallState struct {
	Call
	Status  Status  `json:"status"`
	Class   Class   `json:"class,omitempty"`
	Outcome Outcome `json:"outcome,omitempty"` // once it is settled
}

// Status says how far a call is.
type Status string

// The statuses.
const (
	Open      Status = "open"     // not planned, or waiting for its turn
	IsPlanned Status = "planned"  // it waits for policy
	IsAsked   Status = "asked"    // it waits for a person
	IsRunning Status = "running"  // it may have run
	InDoubt   Status = "in doubt" // it was running when its process ended, and cannot simply be run again
	Settled   Status = "settled"  // its result is stored
)

// Repeat counts a call that was made before in the turn.
type Repeat struct {
	Same    string `json:"same"`              // of Call
	Digest  string `json:"digest,omitempty"`  // of its last result
	Times   int    `json:"times"`             // with this very result, since something else changed
	Denied  int    `json:"denied,omitempty"`  // refusals in a row
	Stopped int    `json:"stopped,omitempty"` // how often it was not run for repeating itself
}

// StepKind says what a driver has to do.
type StepKind string

// The kinds of steps, with the fields that each fills and the events that a driver answers it with.
const (
	CallModel StepKind = "call model" // After, Try; Answered or Failed
	RunCalls  StepKind = "run calls"  // Calls; Planned, Asked, Decided, Running where they apply, and a Ran for each
	Settle    StepKind = "settle"     // Calls, Words; a Ran with Outcome Skipped for each, and nothing is run
	FindOut   StepKind = "find out"   // Calls: whether they ran; for each Ran, Unknown, or Planned where it is sure that it did not
	Compact   StepKind = "compact"    // Target; Compacted
	Interrupt StepKind = "interrupt"  // end what runs: the model's answer, a summary, calls; they still give their events
	Finish    StepKind = "finish"     // End; Finished
)

// Step is something that a driver has to do.
type Step struct {
	Kind   StepKind      `json:"kind"`
	After  time.Duration `json:"after,omitempty"` // wait so long before
	Try    int           `json:"try,omitempty"`   // how many requests failed before this one
	Calls  []Call        `json:"calls,omitempty"`
	Words  string        `json:"words,omitempty"`  // what the model is told instead of a result
	Target int           `json:"target,omitempty"` // tokens that the next request should have at most
	End    *End          `json:"end,omitempty"`
}

// CallID returns the id of the n-th call, from 0, of the answer that comes next. It is unique among all sessions whose names are.
func (s *State) CallID(n int) string {
	return fmt.Sprintf("%s-%d-%d", s.Setup.Session, s.Answers+1, n+1)
}

// Window returns the tokens that a request may have, with its answer.
func (s *State) Window() int {
	if s.Setup.Model.Window > 0 {
		return s.Setup.Model.Window
	}
	return DefaultWindow
}

// Unsettled returns the calls that have no result yet.
func (s *State) Unsettled() []CallState {
	var out []CallState
	for _, c := range s.Calls {
		if c.Status != Settled {
			out = append(out, c)
		}
	}
	return out
}
