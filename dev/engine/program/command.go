package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/dev"
)

// Command is an engine made of a command line for each capability.
type Command struct {
	Name, Version string
	Can           map[dev.Capability]Action
	// Config are base names of its configuration files; see dev.Info.
	Config []string
	// Links are names in the root that are linked into a folder of copies, because they are too large to copy and belong to
	// nobody's source: node_modules.
	Links []string
	Env   map[string]string

	Runner   Runner
	Workshop Workshop
	// Limit of time of one run; default DefaultLimit. The pipeline's own limit holds too.
	Limit time.Duration
}

// Action is what a Command does for one capability.
type Action struct {
	Files  []string // base-name globs of the files that it serves
	Inputs []string // see dev.Ability: it looks at more than the files it is given

	// Argv is the command line. The paths of files, relative to the folder it runs in, take the place of an argument
	// "{files}", or stand at the end. An action with Inputs and no "{files}" is not told files.
	Argv []string
	// Shown is the command line as policy judges it. Default: Argv without "{files}".
	Shown string
	// Rewrites says that it rewrites the copies of its files in place: those are its result.
	Rewrites bool
	// Find reads what it printed. Nil: it finds nothing that it could say.
	Find Finder
	// Exits are exit statuses, beside 0, with which it has done its work, such as 1 for "something was found".
	Exits []int
}

// Finder reads diagnostics out of what a program printed. File names may be absolute or relative to the folder that the
// program ran in; they are mapped afterwards. understood is false where the output is in no form that it knows.
type Finder func(end End, source string) (found []dev.Diagnostic, understood bool)

// DefaultLimit of one run of a Command.
const DefaultLimit = 3 * time.Minute

const filesMark = "{files}"

// Info is described at dev.Engine.
func (c *Command) Info() dev.Info {
	info := dev.Info{Name: c.Name, Version: c.Version, Can: map[dev.Capability]dev.Ability{}, Config: c.Config, Batch: true}
	for what, a := range c.Can {
		info.Can[what] = dev.Ability{Files: a.Files, Inputs: a.Inputs, Commands: []string{a.shown()}}
	}
	return info
}

func (a *Action) shown() string {
	if a.Shown != "" {
		return a.Shown
	}
	return strings.Join(slices.DeleteFunc(slices.Clone(a.Argv), func(s string) bool { return s == filesMark }), " ")
}

// Run is described at dev.Engine.
func (c *Command) Run(ctx context.Context, job *dev.Job) (*dev.Report, error) {
	a, ok := c.Can[job.Capability]
	if !ok {
		return nil, fmt.Errorf("it cannot %s", job.Capability)
	}
	dir, folder, err := c.place(ctx, job, &a)
	if err != nil {
		return nil, fmt.Errorf("make a folder to work in: %w", err)
	}
	if folder != nil {
		defer folder.Close()
	}
	end, err := c.start(ctx, a.argv(job.Files), dir)
	if err != nil {
		return nil, err
	}
	r := &dev.Report{Contents: map[string][]byte{}}
	understood := false
	if a.Find != nil {
		r.Diagnostics, understood = a.Find(end, c.Name)
	}
	// A program that only looks and says something else than findings has not said that there are none.
	garbled := a.Find != nil && !understood && (end.Code != 0 || !a.Rewrites && len(bytes.TrimSpace(end.Stdout)) > 0)
	if garbled || end.Code != 0 && !slices.Contains(a.Exits, end.Code) {
		return nil, c.broken(end, job.Config)
	}
	if a.Find != nil && end.Cut {
		r.Diagnostics = append(r.Diagnostics, dev.Diagnostic{Severity: dev.Warn, Source: c.Name, Code: "cut", Message: fmt.Sprintf("it printed more than %d bytes; what is behind them is not listed", MaxOutput)})
	}
	place(r.Diagnostics, dir, job.Root)
	if a.Rewrites {
		return r, rewritten(r, job, folder)
	}
	return r, nil
}

// place decides where the program runs, and puts there what it needs.
func (c *Command) place(ctx context.Context, job *dev.Job, a *Action) (dir string, folder Folder, err error) {
	if len(a.Inputs) > 0 && len(job.Overlay) == 0 && !a.Rewrites {
		return job.Root, nil, nil
	}
	if folder, err = c.Workshop(ctx); err != nil {
		return "", nil, err
	}
	if err := c.fill(ctx, folder, job, a); err != nil {
		return "", nil, errors.Join(err, folder.Close())
	}
	return folder.Dir(), folder, nil
}

func (c *Command) fill(ctx context.Context, folder Folder, job *dev.Job, a *Action) error {
	put := map[string]bool{}
	write := func(list []dev.File) error {
		for _, f := range list {
			if put[f.Path] {
				continue
			}
			put[f.Path] = true
			if f.Content == nil && slices.ContainsFunc(job.Overlay, func(o dev.File) bool { return o.Path == f.Path }) {
				continue // deleted by the plan
			}
			if err := folder.Put(f.Path, f.Content); err != nil {
				return err
			}
		}
		return nil
	}
	if err := write(job.Files); err != nil {
		return err
	}
	if len(a.Inputs) > 0 {
		if err := write(job.Overlay); err != nil {
			return err
		}
	}
	if err := write(job.Config); err != nil {
		return err
	}
	for _, path := range job.Inputs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if put[path] {
			continue
		}
		put[path] = true
		if err := folder.Copy(path, filepath.Join(job.Root, filepath.FromSlash(path))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, name := range c.Links {
		if err := folder.Link(name, filepath.Join(job.Root, name)); err != nil {
			return err
		}
	}
	return nil
}

func (a *Action) argv(files []dev.File) []string {
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = filepath.FromSlash(f.Path)
		if strings.HasPrefix(f.Path, "-") { // a name is never an option
			paths[i] = "." + string(filepath.Separator) + paths[i]
		}
	}
	i := slices.Index(a.Argv, filesMark)
	switch {
	case i >= 0:
		return slices.Concat(a.Argv[:i], paths, a.Argv[i+1:])
	case len(a.Inputs) > 0:
		return a.Argv
	}
	return append(slices.Clone(a.Argv), paths...)
}

func (c *Command) start(ctx context.Context, argv []string, dir string) (End, error) {
	limit := c.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	end, err := c.Runner.Run(ctx, Start{Argv: argv, Dir: dir, Env: maps.Clone(c.Env), Limit: limit})
	switch {
	case err != nil && ctx.Err() == nil && errors.Is(err, fs.ErrNotExist):
		return end, &dev.Error{Code: dev.EngineFailed, Engine: c.Name, Err: err, Message: fmt.Sprintf("its program %s is not there any more", argv[0]), Hint: "Install it again, or take the engine out of the configuration (dev.engines)."}
	case err != nil:
		return end, err
	case end.TimedOut:
		return end, &dev.Error{Code: dev.EngineFailed, Engine: c.Name, Err: context.DeadlineExceeded, Message: fmt.Sprintf("it was ended after %v", limit), Hint: "Name fewer files, or have its time limit raised."}
	}
	return end, nil
}

// broken is the error of a program that did not do its work. It quotes the end of what it said.
func (c *Command) broken(end End, config []dev.File) error {
	how := fmt.Sprintf("it ended with status %d", end.Code)
	switch {
	case end.Signal == "" && end.Code == 0:
		how = "what it printed cannot be read as findings"
		end.Stderr = nil // it is the other stream that cannot be read
	case end.Signal != "":
		how = "it was ended by " + end.Signal
	}
	said := strings.TrimSpace(string(end.Stderr))
	if said == "" {
		said = strings.TrimSpace(string(end.Stdout))
	}
	if said != "" {
		how += "; it said: " + tail(said, 800)
	}
	hint := fmt.Sprintf("Run %s by hand to see more, or take the engine out of the configuration (dev.engines).", c.Name)
	if len(config) > 0 {
		names := make([]string, len(config))
		for i, f := range config {
			names[i] = f.Path
		}
		hint = "Look at its configuration (" + strings.Join(names, ", ") + "). " + hint
	}
	return &dev.Error{Code: dev.EngineFailed, Engine: c.Name, Message: how, Hint: hint}
}

// tail returns the last bytes of a text, from the beginning of a line where there is one.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	if i := strings.IndexByte(s, '\n'); i >= 0 && i < len(s)-1 {
		s = s[i+1:]
	}
	return "… " + strings.ToValidUTF8(s, "?")
}

// place gives diagnostics paths relative to the root.
func place(list []dev.Diagnostic, dir, root string) {
	for i := range list {
		d := &list[i]
		if d.File == "" {
			continue
		}
		file := filepath.FromSlash(d.File)
		for _, base := range []string{dir, root} {
			if rel, err := filepath.Rel(base, file); filepath.IsAbs(file) && err == nil && filepath.IsLocal(rel) {
				file = rel
				break
			}
		}
		d.File = strings.TrimPrefix(filepath.ToSlash(filepath.Clean(file)), "./")
	}
}

// rewritten reads the copies back.
func rewritten(r *dev.Report, job *dev.Job, folder Folder) error {
	for _, f := range job.Files {
		content, err := folder.Get(f.Path, int64(16*len(f.Content)+1<<20))
		if err != nil {
			return fmt.Errorf("read what it made of %s: %w", f.Path, err)
		}
		if string(content) == string(f.Content) {
			continue
		}
		if len(content) == 0 && len(strings.TrimSpace(string(f.Content))) > 0 {
			return fmt.Errorf("it made %s empty", f.Path)
		}
		r.Contents[f.Path] = content
	}
	return nil
}
