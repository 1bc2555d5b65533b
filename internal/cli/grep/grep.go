// Package grep is what a person gets of the search engine: the commands grep and glob, with the flags, the output and
// the exit codes that users of ripgrep know. It opens no box, no database and no configuration, streams what the engine
// finds, and returns as soon as the tree is searched.
//
//	code := grep.Run(ctx, args, grep.Streams{Out: os.Stdout, Err: os.Stderr})
//
// What differs from ripgrep on purpose: standard input is never searched; "$" matches before "\r\n"; what look-around or
// back-references need is an error with a way out.
package grep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tackle-dev/tackle/glob"
	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/search"
)

// Exit codes, those of ripgrep and grep.
const (
	ExitMatch = 0
	ExitNone  = 1
	ExitError = 2 // also when something could not be read, whatever was found
)

// Streams are where a command writes, and where it stands.
type Streams struct {
	Out, Err io.Writer
	Dir      string // working folder; "" is the process's
	Terminal bool   // Out is a terminal: headings, colours, line numbers, control characters escaped
	Plain    bool   // no colours although Out is a terminal
	Explain  bool   // Err is a terminal: say what was skipped when nothing was found
}

// Run is tackle grep. args are the words behind the name of the command.
func Run(ctx context.Context, args []string, s Streams) int {
	o, err := parseGrep(args, s.Dir)
	return run(ctx, &o, err, s, "grep")
}

// RunGlob is tackle glob.
func RunGlob(ctx context.Context, args []string, s Streams) int {
	o, err := parseGlob(args)
	return run(ctx, &o, err, s, "glob")
}

func run(ctx context.Context, o *options, err error, s Streams, name string) int {
	r := &runner{o: o, s: s, name: name}
	switch {
	case errors.Is(err, errHelp):
		fmt.Fprint(s.Out, Usage(name))
		return ExitMatch
	case err != nil:
		return r.fail(err)
	case o.typeList:
		return r.types()
	case o.nothing:
		return ExitNone
	}
	if err := r.locate(); err != nil {
		return r.fail(err)
	}
	if err := r.prepare(); err != nil {
		return r.fail(err)
	}
	for _, t := range r.targets {
		if err := r.search(ctx, t); err != nil {
			r.fail(err)
		}
		if r.enough() {
			break
		}
	}
	return r.code()
}

// runner is one run of a command.
type runner struct {
	o       *options
	s       Streams
	name    string
	dir     string // working folder, resolved
	targets []target
	engine  *search.Engine
	out     *printer

	failed bool
	totals search.Receipt
}

// target is a folder or file to search.
type target struct {
	root   string // absolute and resolved
	prefix string // what stands before its paths in the output
	file   bool
}

// fail reports an error; the run may go on with the next target.
func (r *runner) fail(err error) int {
	r.failed = true
	if !r.o.noMessages {
		fmt.Fprintf(r.s.Err, "tackle %s: %s\n", r.name, show.Text(explain(err)))
	}
	return ExitError
}

// explain adds the way out to an error of a query.
func explain(err error) string {
	var pattern *search.PatternError
	var kind *search.TypeError
	var path *search.PathError
	switch {
	case errors.As(err, &pattern) && pattern.PCRE:
		return err.Error() + "\nSearch for a simpler expression, or use rg -P where ripgrep is installed."
	case errors.As(err, &pattern):
		return err.Error() + "\nUse -F to search for the text as it is."
	case errors.As(err, &kind):
		return err.Error() + "\n--type-list shows all types."
	case errors.As(err, &path) && strings.Contains(path.Reason, "pattern"):
		return err.Error() + "\nGive the folder as the second argument."
	}
	return err.Error()
}

// locate resolves the paths. One that does not exist is reported, and the others are searched.
func (r *runner) locate() error {
	dir, err := filepath.Abs(r.s.Dir)
	if err != nil {
		return err
	}
	if r.dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	if len(r.o.paths) == 0 {
		r.targets = []target{{root: r.dir}}
		return nil
	}
	for _, p := range r.o.paths {
		t, err := r.target(p)
		if err != nil {
			r.fail(err)
			continue
		}
		r.targets = append(r.targets, t)
	}
	return nil
}

func (r *runner) target(p string) (target, error) {
	real, err := filepath.EvalSymlinks(resolve(r.dir, p))
	if err != nil {
		return target{}, fmt.Errorf("%s: %w", p, cause(err))
	}
	info, err := os.Stat(real)
	if err != nil {
		return target{}, fmt.Errorf("%s: %w", p, cause(err))
	}
	t := target{root: real, prefix: p, file: !info.IsDir()}
	if !t.file {
		t.prefix = strings.TrimSuffix(p, "/") + "/"
	}
	return t, nil
}

func resolve(dir, p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(dir, p)
}

func cause(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// prepare makes the engine and the printer, and finds what is wrong with the query before anything is read.
func (r *runner) prepare() error {
	r.engine = search.New(search.Local(), excludes(r.o.workers))
	q := &r.o.grep
	if !r.o.files {
		if _, err := q.Scanner(); err != nil {
			return err
		}
	}
	names := r.o.names
	if names == unset {
		names = off
		if len(r.o.paths) != 1 || len(r.targets) == 1 && !r.targets[0].file {
			names = on
		}
	}
	r.out = newPrinter(r.o, r.s, r.engine.Workers(), names == on)
	return nil
}

// excludes gives the engine the ignore file that the user has set for all repositories.
func excludes(workers int) search.Config {
	cfg := search.Config{Workers: workers}
	home, err := os.UserHomeDir()
	if err != nil {
		return cfg
	}
	if name, data, err := search.UserExcludes(os.ReadFile, home, os.Getenv("XDG_CONFIG_HOME")); err == nil {
		cfg.Excludes, cfg.ExcludesName = data, name
	}
	return cfg
}

// search searches one target.
func (r *runner) search(ctx context.Context, t target) error {
	f := r.o.grep.Filter
	f.Root = t.root
	if below := strings.TrimSuffix(r.dir, "/") + "/"; t.root == r.dir || strings.HasPrefix(t.root, below) {
		f.Base = r.dir // globs are meant from where the person stands
	}
	if t.file {
		f.Base = ""
	}
	rec, err := r.stream(ctx, t, f)
	if errors.Is(err, errEnough) {
		err = nil
	}
	if flushed := r.out.flushAll(); err == nil {
		err = flushed
	}
	if err != nil {
		return err
	}
	r.report(&rec, t)
	return nil
}

func (r *runner) stream(ctx context.Context, t target, f search.Filter) (search.Receipt, error) {
	if r.o.files {
		return r.list(ctx, t, search.FilesQuery{Filter: f, Pattern: r.o.pattern, Fold: r.o.grep.CaseInsensitive, Order: r.o.order})
	}
	q := r.o.grep
	q.Filter = f
	if !r.o.sorted {
		res, err := r.engine.StreamGrep(ctx, q, func(worker int, h *search.FileHits, more bool) error { return r.out.hits(worker, t.prefix, h, more) })
		return res.Receipt, err
	}
	q.Order, q.CountFor = r.o.order, -1
	res, err := r.engine.Grep(ctx, q)
	for i := range res.Files {
		if err == nil {
			err = r.out.hits(0, t.prefix, &res.Files[i], false)
		}
	}
	return res.Receipt, err
}

func (r *runner) list(ctx context.Context, t target, q search.FilesQuery) (search.Receipt, error) {
	if !r.o.sorted && !r.o.long {
		return r.engine.StreamFiles(ctx, q, func(worker int, path string) error { return r.out.file(worker, t, path) })
	}
	res, err := r.engine.Files(ctx, q)
	for i := range res.Files {
		if err == nil {
			err = r.out.described(t, &res.Files[i])
		}
	}
	return res.Receipt, err
}

// report says what could not be read.
func (r *runner) report(rec *search.Receipt, t target) {
	r.totals.Files += rec.Files
	r.totals.Skipped = append(r.totals.Skipped, rec.Skipped...)
	if s := rec.Skip(search.Unreadable); s.Count > 0 {
		for _, e := range s.Examples {
			r.fail(fmt.Errorf("%s%s", t.prefix, e))
		}
		if more := s.Count - len(s.Examples); more > 0 {
			r.fail(fmt.Errorf("%d more could not be read", more))
		}
	}
	if rec.Partial != search.Complete && !r.enough() {
		r.fail(fmt.Errorf("ended early: %s", rec.Partial))
	}
}

func (r *runner) enough() bool { return r.o.quiet && r.out.found.Load() }

func (r *runner) code() int {
	found := r.out != nil && r.out.found.Load()
	switch {
	case found && r.o.quiet:
		return ExitMatch
	case r.failed:
		return ExitError
	case found:
		return ExitMatch
	}
	if r.s.Explain && !r.o.quiet && !r.o.noMessages {
		fmt.Fprintln(r.s.Err, show.Line(r.nothing()))
	}
	return ExitNone
}

// nothing says why nothing may have been found (F13).
func (r *runner) nothing() string {
	msg := fmt.Sprintf("Nothing found in %d files", r.totals.Files)
	ways := map[search.Reason]string{search.Ignored: "-u", search.Hidden: "-uu", search.Binary: "-a"}
	for _, reason := range []search.Reason{search.Ignored, search.Hidden, search.Binary, search.TooLarge, search.LongLine, search.Link} {
		n := 0
		for _, s := range r.totals.Skipped {
			if s.Reason == reason {
				n += s.Count
			}
		}
		if n > 0 {
			msg += fmt.Sprintf("; skipped %d %s", n, reason)
			if w := ways[reason]; w != "" {
				msg += " (" + w + " includes)"
			}
		}
	}
	return msg + "."
}

// types prints the type list.
func (r *runner) types() int {
	for _, name := range search.TypeNames() {
		fmt.Fprintf(r.s.Out, "%s: %s\n", name, strings.Join(search.TypeGlobs(name), ", "))
	}
	return ExitMatch
}

var errEnough = errors.New("enough")

// checkGlobs compiles the globs for their errors.
func checkGlobs(globs []string, fold bool) error {
	_, err := glob.NewOverrides(globs, fold)
	return err
}
