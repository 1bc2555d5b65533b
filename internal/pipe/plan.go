package pipe

import (
	"bytes"
	"encoding/json"
	"iter"
	"reflect"
	"strings"
)

// MaxItems bounds how many numbers one argument may name, and one list may hold.
const MaxItems = 100_000

// MaxSteps bounds the steps of a plan.
const MaxSteps = 100

// Plan is a checked sequence of steps. It is pure data.
type Plan struct {
	Steps []Step
}

// Step is one verb with its arguments.
type Step struct {
	Verb string // id
	// Args holds the arguments that were given, by name; the Go type of each follows its [Type].
	Args map[string]any
	// From and To are where it stands in the statement; zero for structured operations.
	From, To Pos
}

// Equal reports whether two plans do the same; where their steps stand in a statement does not count.
func (p Plan) Equal(q Plan) bool {
	if len(p.Steps) != len(q.Steps) {
		return false
	}
	for i := range p.Steps {
		a, b := &p.Steps[i], &q.Steps[i]
		if a.Verb != b.Verb || len(a.Args) != len(b.Args) || len(a.Args) > 0 && !reflect.DeepEqual(a.Args, b.Args) {
			return false
		}
	}
	return true
}

// Refs returns the ids of the media that the plan names, in order, each once.
func (p Plan) Refs() []string {
	var out []string
	seen := map[string]bool{}
	add := func(ids ...string) {
		for _, id := range ids {
			if !seen[id] {
				seen[id] = true
				out = append(out, id)
			}
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		// "with" is the one argument of types Media and MediaList; TestReferencesAreCalledWith holds that.
		switch v := s.Args[refArg].(type) {
		case MediaID:
			add(string(v))
		case []MediaID:
			for _, id := range v {
				add(string(id))
			}
		}
	}
	return out
}

const refArg = "with"

// MediaID is the id of a media that an argument names.
type MediaID string

// Ints is a list of whole numbers, held as ascending runs so that a range costs nothing.
// Two equal lists are equal values, because runs are as long as they can be.
type Ints []Run

// Run is Lo, Lo+1, …, Hi.
type Run struct{ Lo, Hi int }

// Len returns how many numbers the list has.
func (n Ints) Len() int {
	sum := 0
	for _, r := range n {
		sum += r.Hi - r.Lo + 1
	}
	return sum
}

// All visits the numbers in order.
func (n Ints) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, r := range n {
			for i := r.Lo; i <= r.Hi; i++ {
				if !yield(i) {
					return
				}
			}
		}
	}
}

// Slice returns the numbers.
func (n Ints) Slice() []int {
	out := make([]int, 0, n.Len())
	for i := range n.All() {
		out = append(out, i)
	}
	return out
}

// add appends lo to hi, joined to the last run where it continues that.
func (n Ints) add(lo, hi int) Ints {
	if k := len(n) - 1; k >= 0 && n[k].Hi+1 == lo {
		n[k].Hi = hi
		return n
	}
	return append(n, Run{lo, hi})
}

// MakeInts returns a list of numbers.
func MakeInts(numbers ...int) Ints {
	var n Ints
	for _, i := range numbers {
		n = n.add(i, i)
	}
	return n
}

// Match is a text to find, or an expression.
type Match struct {
	Text          string
	Source, Flags string // of an expression; Source is never empty then
}

// NameOrIndex names something: by index from 1, or, where Index is 0, by name.
type NameOrIndex struct {
	Index int
	Name  string
}

type wireStep struct {
	Verb string         `json:"verb"`
	Args map[string]any `json:"args,omitempty"`
}

// MarshalJSON writes the plan as structured operations, which [Language.Ops] reads back as an equal plan.
func (p Plan) MarshalJSON() ([]byte, error) {
	out := make([]wireStep, len(p.Steps))
	for i := range p.Steps {
		args := map[string]any{}
		for name, v := range p.Steps[i].Args {
			args[name] = wireValue(v)
		}
		out[i] = wireStep{p.Steps[i].Verb, args}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func wireValue(v any) any {
	switch v := v.(type) {
	case Ints:
		return v.Slice()
	case NameOrIndex:
		if v.Index > 0 {
			return v.Index
		}
		return v.Name
	case []Match:
		out := make([]any, len(v))
		for i, m := range v {
			switch {
			case m.Source != "":
				out[i] = map[string]string{"regex": m.Source, "flags": m.Flags}
			case strings.HasPrefix(m.Text, "/"):
				out[i] = map[string]string{"text": m.Text}
			default:
				out[i] = m.Text
			}
		}
		return out
	case json.RawMessage:
		return map[string]json.RawMessage{"$json": v}
	}
	return v
}
