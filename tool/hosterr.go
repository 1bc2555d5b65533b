package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/internal/clip"
)

// PathError turns a host's error about a path argument into an *Error that says what to do next. given is the path as
// the model wrote it. Errors that no model can act on stay as they are, and so does the end of a context: it is the
// call's, not the path's.
func PathError(parameter, given string, err error) error {
	var te *Error
	var denied *Denial
	if err == nil || errors.As(err, &te) || errors.As(err, &denied) || IsFault(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := &Error{Parameter: parameter, Err: err}
	given = clip.Middle(given, quoted)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Code, e.Message = NotFound, fmt.Sprintf("%q does not exist.", given)
		e.Hint = "List the parent folder with list_dir, or find the file with glob."
	case errors.Is(err, host.ErrIsDir):
		e.Code, e.Message, e.Expected = InvalidParameter, fmt.Sprintf("%q is a directory.", given), "the path of a file"
		e.Hint = "List it with list_dir."
	case errors.Is(err, host.ErrNotDir):
		e.Code, e.Message, e.Expected = InvalidParameter, fmt.Sprintf("%q, or a parent of it, is not a directory.", given), "the path of a directory"
	case errors.Is(err, host.ErrNotEmpty):
		e.Code, e.Message, e.Retry = Stale, fmt.Sprintf("%q is not empty: something was put there meanwhile; nothing was changed.", given), true
		e.Hint = "Look at it with list_dir, then repeat the call."
	case errors.Is(err, host.ErrSpecial):
		e.Code, e.Message, e.Expected = InvalidParameter, fmt.Sprintf("%q is a device, socket or FIFO and is never opened.", given), "a regular file"
	case errors.Is(err, host.ErrInvalidPath):
		e.Code, e.Message, e.Expected = InvalidParameter, fmt.Sprintf("%q is not a usable path: %v.", given, cause(err)), "a path without NUL bytes or link loops"
	case errors.Is(err, fs.ErrPermission):
		e.Code, e.Message = Forbidden, fmt.Sprintf("the operating system refuses access to %q: %v.", given, cause(err))
		e.Hint = "Retrying will not help; ask for the file's permissions to be changed."
	case errors.Is(err, host.ErrNoSpace):
		e.Code, e.Message = OperationFailed, fmt.Sprintf("the disk is full; %q is unchanged.", given)
		e.Hint, e.Retry = "Free some space, then repeat the call.", true
	case errors.Is(err, host.ErrChanged):
		e.Code, e.Message, e.Retry = Stale, fmt.Sprintf("%q changed while it was used; nothing was written.", given), true
		e.Hint = "Read it again, then repeat the call."
	case errors.Is(err, host.ErrUnsupported):
		e.Code, e.Message = OperationNotAllowed, fmt.Sprintf("%q: %v.", given, cause(err))
		e.Hint = "Retrying will not help; take another way."
	default:
		e.Code, e.Message = OperationFailed, fmt.Sprintf("%q: %v.", given, cause(err))
		e.Hint = "Look at the path with list_dir. If nothing is wrong there, report the failure."
	}
	return e
}

// quoted is how many characters of a path an error quotes.
const quoted = 300

func cause(err error) error {
	var pe *host.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
