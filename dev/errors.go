package dev

import (
	"fmt"
	"strings"
)

// Code is the kind of an [Error].
type Code string

// The codes.
const (
	Invalid      Code = "invalid"       // arguments or a patch that cannot be understood
	NoEngine     Code = "no_engine"     // no engine of this pipeline can do it; trying again will not help
	EngineFailed Code = "engine_failed" // an engine crashed, hung, vanished or cannot read its configuration
	NotFound     Code = "not_found"     // a file, or text in it
	Outside      Code = "outside"       // a path that leads out of the root
	Unwritable   Code = "unwritable"    // a file that may not be written
	TooLarge     Code = "too_large"
	Stale        Code = "stale" // a file is not what the plan read
	Unreadable   Code = "unreadable"
	NotAcquired  Code = "not_acquired" // a step names a file that the plan did not acquire
)

// Error is why a plan or a step of it failed. Message states the fact, Hint what to do next.
type Error struct {
	Code    Code
	Step    string // "" before the first
	Engine  string // of EngineFailed
	Path    string // as the caller would write it, or ""
	Message string
	Hint    string
	Err     error
}

func (e *Error) Error() string {
	s := e.Message
	if e.Step != "" {
		s = e.Step + ": " + s
	}
	if e.Hint != "" {
		s = strings.TrimSuffix(s, ".") + ". " + e.Hint
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// DeniedError says that the gate refused a step. Nothing of the step was done.
type DeniedError struct {
	Step   string
	Reason string
	Err    error // what the gate itself returns to its own caller, or nil
}

func (e *DeniedError) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("the gate refused the step %s", e.Step)
	}
	return fmt.Sprintf("the gate refused the step %s: %s", e.Step, e.Reason)
}

func (e *DeniedError) Unwrap() error { return e.Err }

func invalid(step, format string, args ...any) *Error {
	return &Error{Code: Invalid, Step: step, Message: fmt.Sprintf(format, args...)}
}
