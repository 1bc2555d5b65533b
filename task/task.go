package task

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/internal/clip"
)

// Spec describes a task for people, and says where it belongs.
type Spec struct {
	Session     string // the task ends with it, unless Detach
	Title       string // what it is for, in the words of the caller; may be empty
	Detach      bool   // outlive session and server, until it ends or is stopped
	Command     string // as the caller wrote it; default: script or joined arguments of the host.Command
	Interactive bool   // the caller may send input
}

// Info describes a task as it is now.
type Info struct {
	ID       string             `json:"id"`
	Session  string             `json:"session,omitempty"`
	Title    string             `json:"title,omitempty"`
	Command  string             `json:"command"`
	Dir      string             `json:"dir,omitempty"`
	Detached bool               `json:"detached,omitempty"`
	Terminal bool               `json:"terminal,omitempty"` // it has one
	Started  time.Time          `json:"started"`
	Running  bool               `json:"running"`             // something of it lives
	Exit     *host.Exit         `json:"exit,omitempty"`      // how its first process ended; nil while that lives
	Lives    []host.ProcessInfo `json:"processes,omitempty"` // what lives, as [Manager.Look] saw it
	Waiting  *host.Waiting      `json:"waiting,omitempty"`   // as [Manager.Look] saw it
	Output   int64              `json:"output"`              // bytes written so far
	Log      []string           `json:"log,omitempty"`       // files that hold what is kept of it
}

// String says in one line how a task stands at a time, such as "running for 12s" or "exit status 0 after 3s".
func (i Info) String() string { return i.At(time.Now()) }

// At is String for a given time.
func (i Info) At(now time.Time) string {
	if i.Exit == nil {
		s := "running for " + short(now.Sub(i.Started))
		if i.Waiting != nil {
			s += "; it " + i.Waiting.String()
		}
		return s
	}
	s := i.Exit.String()
	if took := i.Exit.Took(); took > 0 {
		what, rest, more := strings.Cut(s, ";")
		s = what + " after " + short(took)
		if i.Exit.End == host.EndOwner {
			s = "ended after " + short(took) + strings.TrimPrefix(what, "ended")
		}
		if i.Exit.End == host.EndTime {
			s = what // says how long already
		}
		if more {
			s += ";" + rest
		}
	}
	return s
}

// short rounds a duration for reading.
func short(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// Errors that a manager wraps.
var (
	ErrNotFound = errors.New("no such task")
	ErrEnded    = errors.New("the task has ended")
	ErrNoInput  = errors.New("the task has no input")
	ErrTooMany  = errors.New("too many tasks are running")
	ErrRunning  = errors.New("the task is running")
	ErrClosed   = errors.New("the task manager is closed")
)

// Error is a failure about one task, in words that say what to do next. Err is one of the errors above.
type Error struct {
	ID  string
	Err error
	Say string
}

func (e *Error) Error() string { return e.Say }

func (e *Error) Unwrap() error { return e.Err }

func (m *Manager) notFound(id string) error {
	say := fmt.Sprintf("there is no task %q; no task has been started", id)
	if ids := m.ids(); len(ids) > 0 {
		const most = 20
		latest := ids[max(len(ids)-most, 0):]
		say = fmt.Sprintf("there is no task %q; there are: %s", clip.Middle(id, 100), strings.Join(latest, ", "))
		if n := len(ids) - len(latest); n > 0 {
			say += fmt.Sprintf(" and %d older ones", n)
		}
	}
	return &Error{ID: id, Err: ErrNotFound, Say: say}
}

func ended(id string, what string) error {
	return &Error{ID: id, Err: ErrEnded, Say: fmt.Sprintf("task %s has ended (%s); its output can still be read", id, what)}
}
