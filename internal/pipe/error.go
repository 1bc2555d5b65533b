package pipe

import (
	"fmt"
	"strings"
)

// The codes of errors.
const (
	Syntax         = "PIPE_SYNTAX"
	UnknownVerb    = "UNKNOWN_VERB"
	UnknownArg     = "UNKNOWN_ARG"
	BadArg         = "BAD_ARG"
	MissingArg     = "MISSING_ARG"
	EngineRequired = "ENGINE_REQUIRED" // the verb exists but nothing here can do it
	NotExpressible = "NOT_PIPE_EXPRESSIBLE"
)

// Pos is a place in a statement. The zero Pos is no place: the step came as structured data.
type Pos struct {
	Offset int // bytes from 0
	Line   int // from 1
	Col    int // characters from 1
}

// Error is a statement or operation that cannot become a plan.
type Error struct {
	Code    string
	Message string // the fact, the offending text quoted
	Pos     Pos    // where, if it was a statement
	Oneline bool   // the statement has one line, so that a column says enough
	Step    int    // from 1; 0: unknown
	Verb    string // id, or as written if there is none
	Arg     string
	Suggest []string // the nearest valid names, best first
	// Use is one line to copy: the repaired segment, or an example of the verb.
	Use string
	// Final says that no change of the words will help here: do not retry.
	Final bool
	// Usable lists the verbs that work here, where Final is set or no verb was near.
	Usable []string
}

// Error returns one line: where, what, the nearest valid name, one line to copy.
func (e *Error) Error() string {
	var b strings.Builder
	switch {
	case e.Pos.Line == 0:
	case e.Oneline:
		fmt.Fprintf(&b, "column %d: ", e.Pos.Col)
	default:
		fmt.Fprintf(&b, "line %d, column %d: ", e.Pos.Line, e.Pos.Col)
	}
	b.WriteString(e.Message)
	if len(e.Suggest) > 0 {
		if e.Code == UnknownVerb {
			b.WriteString(" Closest: " + strings.Join(e.Suggest, ", ") + ".")
		} else {
			b.WriteString(" Did you mean " + quoteAll(e.Suggest) + "?")
		}
	}
	if e.Final {
		b.WriteString(" Do not retry " + spoken(e.Verb) + ".")
	}
	if e.Use != "" {
		b.WriteString(" Use: " + e.Use)
	}
	if e.Usable != nil {
		if e.Use != "" {
			b.WriteString(" .")
		}
		if len(e.Usable) == 0 {
			b.WriteString(" No verb works here.")
		} else {
			b.WriteString(" Usable here: " + strings.Join(e.Usable, ", ") + ".")
		}
	}
	return b.String()
}

func quoteAll(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = `"` + n + `"`
	}
	return strings.Join(q, ", ")
}

// spoken returns a verb's id as it is written in statements.
func spoken(id string) string { return strings.ReplaceAll(id, ".", " ") }

// quoted quotes text of a statement for an error, shortened in the middle.
func quoted(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		s = string(r[:most/2]) + "…" + string(r[len(r)-most/2:])
	}
	return quote(s)
}
