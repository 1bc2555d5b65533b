package media

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/internal/pipe"
)

// Error is a failure that a model can act on.
type Error = pipe.Error

// Plan is a checked sequence of steps; Step is one of them.
type (
	Plan = pipe.Plan
	Step = pipe.Step
)

// The types that arguments have in a plan, beside string, float64, bool, []string and json.RawMessage.
type (
	Ints        = pipe.Ints
	Match       = pipe.Match
	NameOrIndex = pipe.NameOrIndex
	MediaID     = pipe.MediaID
)

// The codes of errors, beside those of statements.
const (
	UnsupportedOp   = pipe.Unsupported    // the verb does not apply to this format
	EngineRequired  = pipe.EngineRequired // the verb exists and nothing here can do it
	StepFailed      = "STEP_FAILED"
	StepUnavailable = "STEP_UNAVAILABLE"
	BadArg          = pipe.BadArg
	NotFound        = "MEDIA_NOT_FOUND"
)

// Payload is one media.
type Payload struct {
	Data []byte
	MIME string // "" means that it is found from the bytes
	Name string // file name without folder
}

// Result is what a plan gives. Exactly one of Media, List and Read is what it is about.
type Result struct {
	Media *Payload
	List  []Payload
	Read  *Reading
	// Warnings say what could not be kept or followed, one sentence each.
	Warnings []string
	Counts   Counts
}

// Reading is a value read out of media, for the model as Text.
type Reading struct {
	Data any
	Text string // "" means: Data as JSON
}

// Counts say what an edit changed, in the unit of its verb.
type Counts struct {
	Added    int `json:"added,omitempty"`
	Removed  int `json:"removed,omitempty"`
	Modified int `json:"modified,omitempty"`
}

func (r *Result) empty() bool { return r.Media == nil && r.List == nil && r.Read == nil }

// Fidelity says what a conversion keeps. Only Exact and Structure may stand before another conversion.
type Fidelity uint8

// The classes of fidelity.
const (
	Text      Fidelity = iota // the words
	Visual                    // the look
	Structure                 // headings, lists, tables, cells
	Exact                     // everything
)

// Request is what an engine is asked.
type Request struct {
	In      Payload
	To      string         // format token, of a conversion
	Op      string         // verb, of an edit
	Args    map[string]any // of an edit, typed as in a plan; of a conversion its options
	With    []Payload      // the media that the arguments name, in order
	Changes []Change       // of a mutation, in the order in which they are to be done
	Quality int            // of a mutation: 1 to 100, 0 as the engine likes
	Limits  Limits         // their Err is that of the context
	// ReadText gives the text of a media by whatever engine converts it, for comparisons.
	ReadText func(ctx context.Context, p Payload) (string, error)
	// ReadPicture gives the text in a picture. It is nil where nothing here can, or where the step says not to.
	ReadPicture func(ctx context.Context, p Payload) (string, error)
}

// Change is one change of a picture: resize (Width, Height, Fit), rotate (Degrees clockwise), flip (Axis), strip_metadata.
type Change struct {
	Op            string
	Width, Height int
	Fit           string
	Degrees       int
	Axis          string
}

// Convert declares conversions from types to format tokens. Do returns one payload, of which only Data must be set, or
// for "images" several.
type Convert struct {
	From []string // MIME types or family/*
	To   []string
	Keep Fidelity
	Do   func(ctx context.Context, r *Request) (Result, error)
}

// Mutate declares changes of pictures. All of a run are done in one call: decode, change, encode.
type Mutate struct {
	Over    []string
	Ops     []string // of resize, rotate, flip, strip_metadata
	Encodes []string // format tokens
	Do      func(ctx context.Context, r *Request) (Result, error)
}

// Edit declares verbs over types.
type Edit struct {
	Over []string
	Ops  []string // verb ids
	Do   func(ctx context.Context, r *Request) (Result, error)
}

// Engine is a set of declarations with an id. Functions must be safe for concurrent use, load what is heavy when they are
// first called, and look at their context where they may take long.
type Engine struct {
	ID      string
	Convert []Convert
	Mutate  []Mutate
	Edit    []Edit
	// Locks says that the engine minds the arguments password and unsign: it opens encrypted files, and changes signed
	// ones only where it is told to.
	Locks bool
}

// MutateOps are the operations that Mutate may declare.
var MutateOps = []string{"resize", "rotate", "flip", "strip_metadata"}

// check finds contradictions in an engine's declarations.
func (e *Engine) check() error {
	if e.ID == "" {
		return errors.New("it has no id")
	}
	lang := pipe.Standard()
	known := func(tokens []string) error {
		for _, t := range tokens {
			if _, ok := FormatOf(t); !ok && t != "images" && t != "hocr" && t != "srt" && t != "vtt" {
				return fmt.Errorf("unknown format %q", t)
			}
		}
		return nil
	}
	for i, c := range e.Convert {
		if c.Do == nil || len(c.From) == 0 || len(c.To) == 0 {
			return fmt.Errorf("conversion %d: From, To and Do must be set", i)
		}
		if err := known(c.To); err != nil {
			return fmt.Errorf("conversion %d: %w", i, err)
		}
	}
	for i, m := range e.Mutate {
		if m.Do == nil || len(m.Over) == 0 || len(m.Encodes) == 0 {
			return fmt.Errorf("mutation %d: Over, Encodes and Do must be set", i)
		}
		if err := known(m.Encodes); err != nil {
			return fmt.Errorf("mutation %d: %w", i, err)
		}
		for _, op := range m.Ops {
			if !slices.Contains(MutateOps, op) {
				return fmt.Errorf("mutation %d: unknown operation %q", i, op)
			}
		}
	}
	for i, d := range e.Edit {
		if d.Do == nil || len(d.Over) == 0 || len(d.Ops) == 0 {
			return fmt.Errorf("edit %d: Over, Ops and Do must be set", i)
		}
		for _, op := range d.Ops {
			if v, ok := lang.Verb(op); !ok || v.ID != op || strings.HasPrefix(op, "image.") || op == "convert" {
				return fmt.Errorf("edit %d: %q is no verb that an edit can declare", i, op)
			}
		}
	}
	return nil
}
