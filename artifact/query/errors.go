package query

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/internal/clip"
)

// Code says what kind of answer an Error is.
type Code string

// The codes of errors.
const (
	CodeInvalid   Code = "invalid"   // an argument is missing or wrong
	CodeNotFound  Code = "not_found" // what is asked for does not exist; Exists names what does
	CodeFormat    Code = "format"    // the question does not fit the content
	CodeTooLarge  Code = "too_large" // the content is too large for this question
	CodeMalformed Code = "malformed" // the content is not what it claims to be
	CodeTimedOut  Code = "timed_out" // the program took too long or too much memory
)

// Error is a question that cannot be answered, in words for a model.
type Error struct {
	Code    Code
	Field   string   // the field of Query at fault, in its JSON form; "" where it is none
	Message string   // the fact, with the value quoted
	Exists  []string // what could be asked for instead
	Hint    string   // the next step
}

// Error returns the fact, what exists, and the next step.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Message)
	if len(e.Exists) > 0 {
		const most = 40
		list, more := e.Exists, ""
		if len(list) > most {
			list, more = list[:most], fmt.Sprintf(", and %d more", len(e.Exists)-most)
		}
		fmt.Fprintf(&b, "; there is: %s%s", strings.Join(list, ", "), more)
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

func invalid(field, hint, format string, args ...any) *Error {
	return &Error{Code: CodeInvalid, Field: field, Message: fmt.Sprintf(format, args...), Hint: hint}
}

func wrongFormat(d *document, op Op, formats []Format) *Error {
	return &Error{
		Code: CodeFormat, Field: "op", Exists: names(Ops(d.format)),
		Message: fmt.Sprintf("%s needs %s, but %s is %s", op, orList(formats), d.name(), d.format),
	}
}

func orList(formats []Format) string {
	if len(formats) == len(textual) {
		return "text"
	}
	return strings.Join(names(formats), " or ")
}

// quote returns a value as it can stand in a message.
func quote(s string) string { return strconv.Quote(clip.Middle(s, 80)) }

func names[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

// plural returns a number with its noun.
func plural[T int | int64](n T, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
