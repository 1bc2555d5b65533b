// Package session keeps what a session did and knows: its calls, as events that outlive the process, and the state that
// follows from them, which can always be folded from the events again.
//
// [Log] is the durable form; [Memory] is for programs that keep nothing.
package session

import (
	"encoding/json"
	"time"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/internal/clip"
	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/tool"
)

// Unnamed is the session of calls that name none.
const Unnamed = "unnamed"

// Phase says when a record of a call was made.
type Phase string

// Start is recorded before a call with an effect other than reading runs, so that after a crash it is known that it may
// have run; End is recorded for every call, before its result is shown to anybody.
const (
	Start Phase = "start"
	End   Phase = "end"
)

// Record is one record of a tool call. Secrets of the environment are masked before it is made.
type Record struct {
	Phase   Phase           `json:"phase"`
	Call    string          `json:"call"`
	Tool    string          `json:"tool"`
	Session string          `json:"session"`
	Message string          `json:"message,omitempty"`
	Mode    string          `json:"mode,omitempty"`
	Model   string          `json:"model,omitempty"`
	Dir     string          `json:"dir,omitempty"`
	Raw     json.RawMessage `json:"raw,omitempty"`  // the arguments as the model wrote them, when they are JSON
	Args    json.RawMessage `json:"args,omitempty"` // after hooks and repair; absent where the same as Raw
	Intent  *tool.Intent    `json:"intent,omitempty"`
	// Decision is what let the call run or refused it; nil for a call that failed before it was decided.
	Decision *tool.Decision `json:"decision,omitempty"`
	// Point is the gate point that a Start speaks of; 0 means the first. Intent and Decision are then those of the second.
	Point int `json:"point,omitempty"`
	// Committed are the changesets that were carried out. The ledger keeps their digests.
	Committed []*change.Set `json:"-"`
	Result    *Outcome      `json:"result,omitempty"` // End only
	Marks     []Mark        `json:"marks,omitempty"`  // changes of the read-state, in order
	At        time.Time     `json:"at"`
	// Light says that the record may be stored a little later: the call only read, or the host's journal tells of it.
	Light bool `json:"-"`
}

// Outcome is a result as it is stored: what the model saw, without the bytes of media, and what people see.
type Outcome struct {
	Parts  []content.Part  `json:"parts,omitempty"`
	Data   json.RawMessage `json:"data,omitempty"`
	Err    *tool.Error     `json:"error,omitempty"`
	Denied bool            `json:"denied,omitempty"`
	Meta   tool.Meta       `json:"meta"`
}

// keptText is how much of the text of a call that only read is stored, in bytes. What it read is still where it was, or
// in the message that a loop stores; what a call changed is stored whole.
const keptText = 1000

// keptData is how many bytes of data of such a call are stored; more is left out.
const keptData = 64 << 10

// Shorten keeps the beginning of each text part, and size and digest of the whole, and data that is small.
func (o *Outcome) Shorten() {
	if len(o.Data) > keptData {
		o.Data = nil
	}
	for i := range o.Parts {
		p := &o.Parts[i]
		if len(p.Text) <= keptText {
			continue
		}
		p.Size = int64(len(p.Text))
		p.Name = "sha256:" + change.Sum([]byte(p.Text)).String()
		p.Text = clip.Text(p.Text, clip.Limits{Bytes: keptText}, clip.Head).Text()
	}
}

// Mark is one change of the read-state; the zero digest forgets the key.
type Mark struct {
	Key    string        `json:"key"`
	Digest change.Digest `json:"digest"`
}

// OutcomeOf returns the stored form of a result. Data that cannot be written as JSON is left out.
func OutcomeOf(res *tool.Result) *Outcome {
	o := &Outcome{Err: res.Err, Denied: res.Denied != nil, Meta: res.Meta}
	for _, p := range res.Parts {
		if len(p.Data) > 0 {
			p.Size, p.Data = int64(len(p.Data)), nil
		}
		o.Parts = append(o.Parts, p)
	}
	if res.Data != nil {
		if b, err := json.Marshal(res.Data); err == nil {
			o.Data = b
		}
	}
	return o
}
