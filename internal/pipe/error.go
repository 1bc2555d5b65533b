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
	if a := e.Advice(); a != "" {
		return e.Fact() + " " + a
	}
	return e.Fact()
}

// Fact says where it is and what is wrong.
func (e *Error) Fact() string {
	switch {
	case e.Pos.Line == 0:
		return e.Message
	case e.Oneline:
		return fmt.Sprintf("column %d: %s", e.Pos.Col, e.Message)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Pos.Line, e.Pos.Col, e.Message)
}

// Advice says what to do next: the nearest valid names, that a retry will not help, one line to copy, what is usable.
func (e *Error) Advice() string {
	var parts []string
	switch {
	case len(e.Suggest) > 0 && e.Code == UnknownVerb:
		parts = append(parts, "Closest: "+strings.Join(e.Suggest, ", ")+".")
	case len(e.Suggest) > 0:
		parts = append(parts, "Did you mean "+quoteAll(e.Suggest)+"?")
	}
	if e.Final {
		parts = append(parts, "Do not retry "+spoken(e.Verb)+".")
	}
	if e.Usable != nil {
		if len(e.Usable) == 0 {
			parts = append(parts, "No verb works here.")
		} else {
			parts = append(parts, "Usable here: "+strings.Join(e.Usable, ", ")+".")
		}
	}
	if e.Use != "" {
		parts = append(parts, "Use: "+e.Use)
	}
	return strings.Join(parts, " ")
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
