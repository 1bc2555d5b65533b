package shell

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/command"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/internal/clip"
	"github.com/tackle-dev/tackle/tool"
)

//go:embed shell.md
var shellText string

// Shell is the shell tool (H1–H3, O5).
type Shell struct{ Config }

type shellInput struct {
	Command     string `json:"command" jsonschema:"Command line for bash"`
	Description string `json:"description,omitempty" jsonschema:"Its purpose, briefly"`
	Workdir     string `json:"workdir,omitempty" jsonschema:"Folder, default the working folder"`
	Timeout     int    `json:"timeout,omitempty" jsonschema:"Seconds" schema:"min=1"`
}

// taskInput has what only a shell with tasks offers.
type taskInput struct {
	shellInput
	Background bool `json:"background,omitempty" jsonschema:"Return at once, go on as a task"`
	Adopt      bool `json:"adopt,omitempty" jsonschema:"At the timeout go on as a task"`
	Detach     bool `json:"detach,omitempty" jsonschema:"With background: outlive the session"`
	Terminal   bool `json:"terminal,omitempty" jsonschema:"With background: on a terminal"`
}

// Tool returns the tool.
func (t Shell) Tool() tool.Tool {
	t.Config = t.complete()
	spec := tool.Spec{
		Name: "shell", Category: "shell", Title: "Run command",
		Description: tool.Describe(shellText, map[string]any{"Timeout": int(t.Timeout.Seconds()), "KiB": max(t.MaxBytes, 0) >> 10, "Tasks": t.Tasks != nil}),
		Annotations: tool.Annotations{Destructive: true, OpenWorld: true},
		Example:     `{"command": "go test ./...", "timeout": 120}`,
		Timeout:     t.MaxTimeout + slack,
	}
	plan := func(ctx context.Context, call *tool.Call, in taskInput) (tool.Action, error) {
		return t.plan(ctx, call, in)
	}
	made := tool.Define(spec, plan)
	if t.Tasks == nil {
		made = tool.Define(spec, func(ctx context.Context, call *tool.Call, in shellInput) (tool.Action, error) {
			return t.plan(ctx, call, taskInput{shellInput: in})
		})
	}
	if def := made.Definition(); def.Err() == nil { // the limits are those of this tool
		p, most := def.Schema.Properties["timeout"], t.MaxTimeout.Seconds()
		p.Maximum = &most
		p.Description = fmt.Sprintf("%s, default %d", p.Description, int(t.Timeout.Seconds()))
	}
	return made
}

// job is a planned command.
type job struct {
	Config
	in      taskInput
	call    *tool.Call
	dir     string // absolute
	looks   bool   // the line only looks (H3)
	trusted bool   // each of its parts does, so that it may run unasked, with no program of the workspace
	scripts []tool.Script
	keep    clip.Keep
	timeout time.Duration // of a foreground command; of a task 0 means none
}

func (t Shell) plan(ctx context.Context, call *tool.Call, in taskInput) (tool.Action, error) {
	if err := in.check(); err != nil {
		return tool.Action{}, err
	}
	j := &job{Config: t.Config, in: in, call: call, dir: call.Dir, timeout: time.Duration(in.Timeout) * time.Second}
	if j.timeout == 0 && !in.Background {
		j.timeout = t.Timeout
	}
	intent := tool.Intent{Effects: []tool.Effect{tool.Execute}}
	add := func(p host.Path, e tool.Effect) {
		intent.Targets = append(intent.Targets, tool.PathTo(p, e))
		if !intent.Has(e) {
			intent.Effects = append(intent.Effects, e)
		}
	}
	if in.Workdir != "" {
		p, err := folder(ctx, call, in.Workdir)
		if err != nil {
			return tool.Action{}, err
		}
		j.dir = p.Real
		add(p, tool.Read)
	}
	facts, err := command.Parse(in.Command)
	if err == nil {
		j.looks, _ = facts.ReadOnly()
		j.trusted = facts.Looks()
	}
	j.keep = keepOf(&facts, err)
	intent.Looks = j.looks && !in.Background
	intent.Targets = append(intent.Targets, tool.Target{Kind: tool.CommandTarget, Effect: tool.Execute, Value: in.Command})
	for _, f := range named(ctx, call, &facts, j.dir) {
		add(f.path, f.effect)
	}
	intent.Dir = j.dir
	if !j.looks {
		j.scripts = scripts(ctx, call, &facts, j.dir)
		intent.Scripts = j.scripts
	}
	run := j.foreground
	if in.Background {
		run = j.background
	}
	return tool.Action{Intent: intent, Run: run}, nil
}

// check finds what is wrong with the arguments whatever the world is like.
func (in *taskInput) check() error {
	switch {
	case strings.TrimSpace(in.Command) == "":
		return tool.Errorf(tool.InvalidParameter, "command is empty.").For("command", "a command line for bash")
	case strings.ContainsRune(in.Command, 0):
		return tool.Errorf(tool.InvalidParameter, "command holds a NUL byte, which no command line can.").For("command", "a command line without NUL bytes").
			With("Write such data into a file with write_file, and name the file.")
	case in.Background && in.Adopt:
		return tool.Errorf(tool.InvalidParameter, "background and adopt exclude each other: a background command is a task from the start.").For("adopt", "only one of the two")
	case in.Detach && !in.Background:
		return tool.Errorf(tool.InvalidParameter, "detach is only for background commands.").For("detach", "detach together with background=true, or without detach")
	case in.Terminal && !in.Background:
		return tool.Errorf(tool.InvalidParameter, "terminal is only for background commands: nobody could type into it otherwise.").For("terminal", "terminal together with background=true, or without terminal")
	}
	return nil
}

// folder resolves the folder that a command shall run in.
func folder(ctx context.Context, call *tool.Call, given string) (host.Path, error) {
	p, err := call.Resolve(ctx, given)
	if err == nil {
		var info host.FileInfo
		if info, err = call.Host.Stat(ctx, p.Real); err == nil && info.Type != change.Dir {
			err = host.ErrNotDir
		}
		err = tool.PathError("workdir", given, err)
	}
	var e *tool.Error
	if errors.As(err, &e) {
		named := *e
		named.Parameter = "workdir"
		if e.Code == tool.NotFound {
			named.Message = fmt.Sprintf("the folder %q to run in does not exist.", clip.Middle(given, quoted))
			named.Hint = "Look for it with list_dir, or make it in the command: mkdir -p …"
		}
		err = &named
	}
	return p, err
}

// quoted is how many characters of an argument an error quotes.
const quoted = 300

// explorers are commands that only explore, beside those of the read-only table: what they show first is what they were
// run for, so their output keeps start and end. It decides about nothing else.
var explorers = map[string]bool{"awk": true, "gawk": true, "bat": true, "less": true, "more": true, "man": true, "rg": true, "fd": true, "jq": true, "yq": true, "ps": true, "env": true}

// exploringGit are the subcommands of git that show.
var exploringGit = []string{"log", "show", "diff", "status", "blame", "grep", "ls-files", "branch", "tag", "reflog", "shortlog"}

// keepOf says which part of the output survives a cut (O5).
func keepOf(facts *command.Facts, err error) clip.Keep {
	parts := facts.Parts()
	if err != nil || len(parts) == 0 {
		return clip.Tail
	}
	for _, i := range parts {
		c := &facts.Calls[i]
		if ok, _ := c.ReadOnly(); ok || explorers[c.Name()] {
			continue
		}
		if c.Name() != "git" || !slices.ContainsFunc(c.Args[1:], func(w command.Word) bool { return slices.Contains(exploringGit, w.Text) }) {
			return clip.Tail
		}
	}
	return clip.HeadTail
}

// startError says why a command could not be started.
func (j *job) startError(err error) error {
	e := &tool.Error{Code: tool.OperationFailed, Err: err, Message: fmt.Sprintf("the command could not be started: %v.", err), Hint: "If the machine is short of something, end what is not needed and try again; otherwise report the failure.", Retry: true}
	var pe *host.PathError
	switch path := errors.As(err, &pe); {
	case path && pe.Op == "chdir":
		e = &tool.Error{Code: tool.NotFound, Err: err, Message: fmt.Sprintf("the folder %q to run in is gone, or is no folder any more.", clip.Middle(pe.Path, quoted)),
			Hint: "Give the workdir of a folder that is there."}
		if j.in.Workdir != "" {
			e.Parameter = "workdir"
		}
		if errors.Is(err, fs.ErrPermission) {
			e.Code, e.Message = tool.Forbidden, fmt.Sprintf("the operating system refuses access to the folder %q.", clip.Middle(pe.Path, quoted))
		}
	case path && errors.Is(err, host.ErrInvalidPath):
		e = tool.Errorf(tool.InvalidParameter, "the command cannot be run: %v.", pe.Err).For("command", "a command line that the system takes").With("Put long text into a file, and name the file.")
	case path && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)):
		e = &tool.Error{Code: tool.OperationNotAllowed, Err: err, Message: fmt.Sprintf("there is no shell here that could run commands: %q: %v.", pe.Path, pe.Err),
			Hint: "No command will run until that is mended; retrying will not help. The file and search tools work without it."}
	case path:
		e = tool.Errorf(tool.InvalidParameter, "the command cannot be run: %v.", pe.Err).For("command", "a command line that the system takes").With("Put long text into a file, and name the file.")
	case errors.Is(err, host.ErrUnsupported):
		e = &tool.Error{Code: tool.OperationNotAllowed, Err: err, Message: fmt.Sprintf("the command cannot be run here: %v.", err), Hint: "Retrying will not help; do without what is not supported."}
	}
	return e
}
