package core

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/permission/ask"
)

// Kind says what kind of mistake an error is.
type Kind string

// The kinds.
const (
	Invalid   Kind = "invalid"   // the question is wrong
	NotFound  Kind = "not_found" // there is no such thing, or not any more
	Forbidden Kind = "forbidden" // the asker's role does not reach
	Conflict  Kind = "conflict"  // somebody was faster, or the thing changed
	Busy      Kind = "busy"      // try again later
)

// Error is a refused question: the fact and the next step, in one text for people.
type Error struct {
	Kind    Kind
	Message string
	Err     error // the cause, where there is one
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func errorf(kind Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Message: err.Error(), Err: errors.Unwrap(err)}
}

// Mistake gives an error of the parts below its kind. What stays as it is is a fault.
func Mistake(err error) error {
	var own *Error
	kind := Kind("")
	switch {
	case err == nil, errors.As(err, &own):
		return err
	case errors.Is(err, ask.ErrAnswered), errors.Is(err, ask.ErrExpired), errors.Is(err, ask.ErrEnded):
		kind = Conflict
	case errors.Is(err, ask.ErrUnknown), errors.Is(err, fs.ErrNotExist), errors.Is(err, store.ErrNotFound):
		kind = NotFound
	case errors.Is(err, ask.ErrOther):
		kind = Conflict
	case errors.Is(err, ask.ErrNotOffered), errors.Is(err, store.ErrInvalid):
		kind = Invalid
	case errors.Is(err, store.ErrLocked), errors.Is(err, store.ErrFull):
		kind = Busy
	default:
		return err
	}
	return &Error{Kind: kind, Message: err.Error(), Err: err}
}
