// Package shell holds the tools that run commands: shell, and for its background tasks task_list, task_output, task_input
// and task_stop.
//
// The tools judge nothing and confine nothing. shell tells policy what it would run: the command line, which policy reads
// part by part (package command), and the files that the line names, which are judged like those of the file tools. A line
// that only looks runs beside other reading calls; any other runs alone. How a command runs, and how its whole tree ends,
// is the part of host.Runner; what becomes of a task, that of package task.
//
// A command's exit status is an answer, not a failure of the call: grep and test answer with 1. A call fails where the
// command could not be started, was ended by a limit, or was cancelled; its output until then stands in the error.
package shell

import (
	"time"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/internal/clip"
	"github.com/tackle-dev/tackle/task"
	"github.com/tackle-dev/tackle/tool"
)

// Defaults of [Config], and what is fixed. Descriptions are rendered from them.
const (
	DefaultTimeout    = host.DefaultTime
	DefaultMaxTimeout = 10 * time.Minute
	DefaultMaxBytes   = clip.DefaultTailBytes

	startLook  = 250 * time.Millisecond // how long a task is watched after its start, for commands that fail at once
	replyTime  = 2 * time.Second        // how long task_input waits for what the task answers,
	quietTime  = 200 * time.Millisecond // and how long a task is quiet that has answered
	streamFrom = 300 * time.Millisecond // how long a command runs before its output is streamed to the face
	slack      = 15 * time.Second       // between the longest timeout and the limit of the road
)

// Config is what the tools need. Runner is required; the zero values of the others are good.
type Config struct {
	Runner host.Runner
	// Tasks keeps background tasks. Without it the shell tool has no arguments about them, and ends what a command leaves
	// behind.
	Tasks *task.Manager
	// Timeout and MaxTimeout are the default and the longest time of a foreground command. Defaults 30 s and 10 minutes.
	Timeout, MaxTimeout time.Duration
	// MaxBytes is how much of the output of one call a model sees, both streams together: the end of it, or start and end
	// of a command that explores. Default 32 KiB; negative: only the limits of toolbox and face.
	MaxBytes int
	// Quota is how much output of one command is kept on disk. Default that of the host (32 MiB).
	Quota int64
}

func (c Config) complete() Config {
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.MaxTimeout <= 0 {
		c.MaxTimeout = max(DefaultMaxTimeout, c.Timeout)
	}
	c.Timeout = min(c.Timeout, c.MaxTimeout)
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	return c
}

// Tools returns the tools in the order of their list. Without Tasks it is shell alone.
func Tools(c Config) []tool.Tool {
	list := []tool.Tool{Shell{c}.Tool()}
	if c.Tasks != nil {
		list = append(list, Output{c}.Tool(), Input{c}.Tool(), Stop{c}.Tool(), List{c}.Tool())
	}
	return list
}
