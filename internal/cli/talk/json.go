package talk

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/agent/history"
	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
)

// JSON prints one object on a line for everything that is whole: "session", "said", "answer", "call", "note", and "end" as the
// last. Pieces of answers are not printed.
type JSON struct {
	Out   io.Writer
	words strings.Builder
}

// Line is one line. Type says which of the fields are set.
type Line struct {
	Type string `json:"type"`

	Session string `json:"session,omitempty"` // session, end
	Mode    string `json:"mode,omitempty"`    // session
	Model   string `json:"model,omitempty"`   // session
	Dir     string `json:"dir,omitempty"`     // session
	Resumed bool   `json:"resumed,omitempty"` // session
	From    string `json:"from,omitempty"`    // said, by somebody else than the user
	Text    string `json:"text,omitempty"`    // said, answer, note; call: what the model read; end: the last answer

	ID      string              `json:"id,omitempty"` // call, and what follows
	Tool    string              `json:"tool,omitempty"`
	Args    json.RawMessage     `json:"args,omitempty"`
	Outcome agent.Outcome       `json:"outcome,omitempty"`
	Error   string              `json:"error,omitempty"` // code
	By      string              `json:"by,omitempty"`    // what allowed or denied it
	Took    float64             `json:"seconds,omitempty"`
	Changes []change.FileChange `json:"changes,omitempty"`
	Diff    string              `json:"diff,omitempty"`

	Why    agent.Ending `json:"why,omitempty"` // end, and what follows
	Detail string       `json:"detail,omitempty"`
	Calls  int          `json:"calls,omitempty"`
	Rounds int          `json:"rounds,omitempty"`
	Usage  *model.Usage `json:"usage,omitempty"`
	Cost   float64      `json:"cost,omitempty"`
	Resume string       `json:"resume,omitempty"`
}

func (j *JSON) put(l Line) {
	enc := json.NewEncoder(j.Out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(&l) // whoever reads has gone
}

// Begin is described at Printer.
func (j *JSON) Begin(b Begun) {
	j.put(Line{Type: "session", Session: b.Session, Mode: b.Mode, Model: b.Model, Dir: b.Dir, Resumed: b.Resumed})
}

// Said is described at Printer.
func (j *JSON) Said(m *agent.Message) {
	j.put(Line{Type: "said", From: m.From, Text: content.JoinText(m.Parts)})
}

// Words is described at Printer.
func (j *JSON) Words(piece string) { j.words.WriteString(piece) }

// EndWords is described at Printer.
func (j *JSON) EndWords() {
	if j.words.Len() > 0 {
		j.put(Line{Type: "answer", Text: j.words.String()})
		j.words.Reset()
	}
}

// Doing is described at Printer.
func (j *JSON) Doing(*history.Call) {}

// Call is described at Printer.
func (j *JSON) Call(c *history.Call) {
	meta := c.Meta()
	l := Line{Type: "call", ID: c.ID, Tool: c.Tool, Args: c.Args, Outcome: c.Outcome, Text: c.Text(), Took: float64(c.Took.Round(time.Microsecond)) / float64(time.Second), Changes: meta.Changes, Diff: meta.Diff}
	if !json.Valid(l.Args) {
		l.Args = nil
	}
	if d := c.Decision(); d != nil {
		l.By = d.Verdict.String() + " by " + d.By
	}
	if c.Record != nil && c.Record.Result != nil && c.Record.Result.Err != nil {
		l.Error = string(c.Record.Result.Err.Code)
	}
	j.put(l)
}

// Rest is described at Printer.
func (j *JSON) Rest() {}

// Note is described at Printer.
func (j *JSON) Note(text string) { j.put(Line{Type: "note", Text: text}) }

// End is described at Printer.
func (j *JSON) End(e Ended) {
	j.EndWords()
	u := e.Tally.Usage
	j.put(Line{Type: "end", Session: e.Session, Text: e.Text, Why: e.End.Why, Detail: e.End.Detail, Calls: e.Tally.Calls, Rounds: e.Tally.Rounds, Usage: &u, Cost: e.Tally.Cost, Resume: e.Resume})
}
