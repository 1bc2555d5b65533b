package tool

import (
	"errors"
	"time"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/internal/content"
)

// Part is one piece of a result: text, a picture, a document or a link.
type Part = content.Part

// The kinds of parts.
const (
	TextKind     = content.Text
	ImageKind    = content.Image
	DocumentKind = content.Document
	AudioKind    = content.Audio
	LinkKind     = content.Link
)

// Text returns a text part.
func Text(s string) Part { return content.TextPart(s) }

// Result is what a call gives back. It speaks to two audiences: Parts to the model, Data to people and programs.
// No face parses model text.
type Result struct {
	Parts []Part
	Data  any
	// Err is the tool error, when the call failed in a way that the model can act on.
	Err *Error
	// Denied is set when policy or a person refused the call; Err is then its rendering.
	Denied *Denial
	// Bounded says that the tool bounded its own output; it is not cut again (O2).
	Bounded bool
	Meta    Meta
}

// Meta is what the road and the tool note about a call.
type Meta struct {
	Call        string              `json:"call,omitempty"`
	Tool        string              `json:"tool,omitempty"`
	Repairs     []string            `json:"repairs,omitempty"`     // T6, one sentence each
	Decision    *Decision           `json:"decision,omitempty"`    // what let it run, or did not
	Transaction []string            `json:"transaction,omitempty"` // ids for undo
	Changes     []change.FileChange `json:"changes,omitempty"`     // files that really changed
	Diff        string              `json:"diff,omitempty"`        // of those files, paths relative to the working folder
	Artifact    string              `json:"artifact,omitempty"`    // id of the whole output when the text was cut
	Truncated   bool                `json:"truncated,omitempty"`
	Started     time.Time           `json:"started,omitzero"`
	Duration    time.Duration       `json:"duration,omitempty"` // nanoseconds
	Values      map[string]any      `json:"values,omitempty"`   // from Runner.Meta
}

// OK reports whether the call did what it was asked.
func (r *Result) OK() bool { return r.Err == nil && r.Denied == nil }

// Text returns the text for the model: the text parts, or the rendered error.
func (r *Result) Text() string { return content.JoinText(r.Parts) }

// TextResult returns a result with one text part.
func TextResult(s string, data any) Result { return Result{Parts: []Part{Text(s)}, Data: data} }

// fault marks an error that stops the run.
type fault struct{ err error }

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// Fault wraps an error of the host or of the program itself, which no model can act on. Returned from Plan or Run it
// becomes the error of the toolbox call instead of a result. Fault(nil) is nil.
func Fault(err error) error {
	if err == nil {
		return nil
	}
	return &fault{err}
}

// IsFault reports whether err was made by Fault.
func IsFault(err error) bool {
	var f *fault
	return errors.As(err, &f)
}
