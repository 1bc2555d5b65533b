package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// The kinds of failures, to be tested with errors.Is.
var (
	ErrConflict = errors.New("another writer was faster")
	ErrNotFound = errors.New("not found")
	ErrInvalid  = errors.New("invalid argument")
	ErrLocked   = errors.New("store is locked by another process")
	ErrFull     = errors.New("no space left for the store")
	ErrCorrupt  = errors.New("store is damaged")
	ErrForeign  = errors.New("file is not a tackle store")
	ErrNewer    = errors.New("store was written by a newer tackle")
	ErrReadOnly = errors.New("store cannot be written")
	ErrClosed   = errors.New("store is closed")
)

// nextStep tells a person what to do about a kind of failure.
func nextStep(kind error) string {
	switch kind {
	case ErrLocked:
		return "end the process that holds it, or try again"
	case ErrFull:
		return "free some space and try again; nothing of this write was stored"
	case ErrCorrupt:
		return "move the file aside to go on with an empty store, and keep it: `sqlite3 FILE .recover` reads what is left"
	case ErrForeign:
		return "choose another path for the store"
	case ErrNewer:
		return "update tackle, or choose another path for the store"
	case ErrReadOnly:
		return "make the folder and its files writable for this user, or choose another path"
	}
	return ""
}

// Error is a failure of a store. Kind is one of the errors above, or nil where none fits.
type Error struct {
	Op   string // "append", "open", …
	Path string // of the file or blob, where there is one
	Kind error
	Err  error // the cause, where there is one
}

// Error says the fact, the place, the cause and the next step.
func (e *Error) Error() string {
	s := e.Op
	if e.Path != "" {
		s += " " + e.Path
	}
	if e.Kind != nil {
		s += ": " + e.Kind.Error()
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if next := nextStep(e.Kind); next != "" {
		s += " (" + next + ")"
	}
	return s
}

// Unwrap gives errors.Is the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Kind == nil {
		return []error{e.Err}
	}
	return []error{e.Kind, e.Err}
}

// ConflictError says that an event did not get the number that its writer expected. Nothing was stored.
type ConflictError struct {
	Session string
	Want    int64 // expected number
	Last    int64 // newest number in the session
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("append event %d to session %q: %v, the newest event is %d", e.Want, e.Session, ErrConflict, e.Last)
}

// Unwrap makes errors.Is(err, ErrConflict) true.
func (e *ConflictError) Unwrap() error { return ErrConflict }

func invalid(op, format string, args ...any) error {
	return &Error{Op: op, Kind: ErrInvalid, Err: fmt.Errorf(format, args...)}
}

// fileError gives an error of the file system its kind.
func fileError(op, path string, err error) error {
	e := &Error{Op: op, Path: path, Err: err}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		e.Kind = ErrFull
	case errors.Is(err, fs.ErrNotExist):
		e.Kind = ErrNotFound
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		e.Kind = ErrReadOnly
	}
	var pe *os.PathError
	if errors.As(err, &pe) {
		e.Err = pe.Err
	}
	return e
}
