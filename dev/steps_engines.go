package dev

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/glob"
)

type formatArgs struct {
	Paths []string `json:"paths,omitempty" jsonschema:"Files, folders or globs, default all"`
}

func formatStep() Step {
	return define(Step{Name: "format", Title: "Format", About: "Give files their canonical format.", Most: Delta},
		constant[formatArgs](Delta), needs[formatArgs](CanFormat), nil,
		func(a formatArgs) ([]string, bool, error) { return a.Paths, false, nil },
		func(ctx context.Context, w *workspace, a formatArgs) (*proposal, error) {
			entries, err := w.pick(ctx, "format", CanFormat, a.Paths)
			if err != nil {
				return nil, err
			}
			return w.rewrite(ctx, "format", CanFormat, entries)
		})
}

type lintArgs struct {
	Paths []string `json:"paths,omitempty" jsonschema:"Files, folders or globs, default all"`
	Fix   bool     `json:"fix,omitempty" jsonschema:"Repair what can be repaired safely"`
}

func lintStep() Step {
	return define(Step{Name: "lint", Title: "Lint", About: "Find questionable code in files.", Most: Delta},
		func(a lintArgs) Effect {
			if a.Fix {
				return Delta
			}
			return Reads
		},
		func(a lintArgs) Capability {
			if a.Fix {
				return CanFix
			}
			return CanLint
		}, nil,
		func(a lintArgs) ([]string, bool, error) { return a.Paths, false, nil },
		func(ctx context.Context, w *workspace, a lintArgs) (*proposal, error) {
			need := CanLint
			if a.Fix {
				need = CanFix
			}
			entries, err := w.pick(ctx, "lint", need, a.Paths)
			if err != nil {
				return nil, err
			}
			if a.Fix {
				return w.rewrite(ctx, "lint", CanFix, entries)
			}
			return w.inspect("lint", CanLint, entries, nil), nil
		})
}

type checkArgs struct {
	Paths []string `json:"paths,omitempty" jsonschema:"Files, folders or globs, default all"`
	Delta bool     `json:"delta,omitempty" jsonschema:"Report only what the changes so far introduced or resolved"`
}

func checkStep() Step {
	return define(Step{Name: "check", Title: "Check", About: "Check files for errors of syntax and types.", Most: Reads},
		constant[checkArgs](Reads), needs[checkArgs](CanCheck), nil,
		func(a checkArgs) ([]string, bool, error) { return a.Paths, false, nil },
		func(ctx context.Context, w *workspace, a checkArgs) (*proposal, error) {
			entries, err := w.pick(ctx, "check", CanCheck, a.Paths)
			if err != nil {
				return nil, err
			}
			var then func(ctx context.Context, found []Diagnostic) error
			if a.Delta {
				then = func(ctx context.Context, found []Diagnostic) error { return w.compare(ctx, entries, found) }
			}
			return w.inspect("check", CanCheck, entries, then), nil
		})
}

// pick returns the files of a step that an engine serves, sorted, and says which it leaves out: a step over mixed files
// is the usual case and no failure.
func (w *workspace) pick(ctx context.Context, step string, c Capability, paths []string) ([]*entry, error) {
	all := w.sorted()
	if len(paths) > 0 && !w.call.Persist {
		var err error
		if all, err = w.choose(ctx, step, paths); err != nil {
			return nil, err
		}
	}
	var out []*entry
	skipped := map[string]int{}
	for _, e := range all {
		if e.loaded && e.now.Type != change.File {
			continue // created and deleted again, or a link
		}
		if len(w.servers(c, e.file)) == 0 {
			skipped[kindOf(e.file)]++
			continue
		}
		if err := w.load(ctx, e); err != nil {
			if e.named {
				return nil, inStep(step, err)
			}
			w.result.note(Diagnostic{File: e.rel, Severity: Note, Source: "dev", Code: "skipped", Message: "skipped: " + sentence(err)})
			continue
		}
		if e.gone {
			w.result.note(Diagnostic{File: e.rel, Severity: Note, Source: "dev", Code: "gone", Message: "skipped: the file was removed since it was acquired"})
			continue
		}
		out = append(out, e)
	}
	w.skip(step, skipped)
	return out, nil
}

// servers returns the engines that take part in a capability for a file: to fix, also those that only lint.
func (w *workspace) servers(c Capability, file string) []Engine {
	list := w.p.serving(c, file)
	if c == CanFix {
		for _, e := range w.p.serving(CanLint, file) {
			if !e.Info().Serves(CanFix, file) {
				list = append(list, e)
			}
		}
	}
	return list
}

// kindOf is how a file is named among those that are skipped: by its extension, else by its name.
func kindOf(file string) string {
	if ext := path.Ext(file); ext != "" && ext != path.Base(file) {
		return ext
	}
	return path.Base(file)
}

func (w *workspace) skip(step string, kinds map[string]int) {
	if len(kinds) == 0 {
		return
	}
	total := 0
	names := make([]string, 0, len(kinds))
	for k, n := range kinds {
		total += n
		names = append(names, k)
	}
	slices.Sort(names)
	const show = 12
	if len(names) > show {
		names = append(names[:show], "…")
	}
	w.result.note(Diagnostic{Severity: Note, Source: "dev", Code: "unsupported",
		Message: fmt.Sprintf("%s skipped %s that no engine here serves (%s)", step, plural(total, "file"), strings.Join(names, ", "))})
}

// choose returns the acquired files that paths of a step stand for.
func (w *workspace) choose(ctx context.Context, step string, paths []string) ([]*entry, error) {
	var out []*entry
	for _, given := range paths {
		p, err := w.resolve(ctx, given)
		if err != nil {
			return nil, inStep(step, err)
		}
		found := false
		for _, e := range w.sorted() {
			ok := below(e.path.Real, p.Real)
			if !ok && glob.HasMeta(given) {
				ok, err = glob.Match(strings.TrimPrefix(given, "./"), e.rel)
				if err != nil {
					return nil, &Error{Code: Invalid, Step: step, Path: given, Message: sentence(err), Err: err, Hint: "Correct the glob."}
				}
			}
			if ok {
				found = true
				if !slices.Contains(out, e) {
					out = append(out, e)
				}
			}
		}
		if !found {
			return nil, &Error{Code: NotAcquired, Step: step, Path: given, Message: fmt.Sprintf("%q is not among the files that this plan acquired", given), Hint: "Add it to the paths of the plan."}
		}
	}
	slices.SortFunc(out, byPath)
	return out, nil
}

// commands lists the command lines that engines start to use a capability on any of the files: to fix, also those of
// engines that only lint some of them.
func (w *workspace) commands(c Capability, entries []*entry) []string {
	uses := []Capability{c}
	if c == CanFix {
		uses = append(uses, CanLint)
	}
	var out []string
	for _, eng := range w.p.cfg.Engines {
		info := eng.Info()
		for _, use := range uses {
			if a := info.Can[use]; len(a.Commands) > 0 && slices.ContainsFunc(entries, func(e *entry) bool {
				return slices.ContainsFunc(w.p.serving(use, e.file), same(eng)) && (use == c || !info.Serves(c, e.file))
			}) {
				out = append(out, a.Commands...)
			}
		}
	}
	return out
}

func same(e Engine) func(Engine) bool {
	name := e.Info().Name
	return func(o Engine) bool { return o.Info().Name == name }
}

// inspect proposes to look at files once the gate has granted it.
func (w *workspace) inspect(step string, c Capability, entries []*entry, then func(context.Context, []Diagnostic) error) *proposal {
	prop := &proposal{targets: entries, commands: w.commands(c, entries)}
	for _, eng := range w.p.cfg.Engines {
		if slices.ContainsFunc(entries, func(e *entry) bool { return eng.Info().Serves(c, e.file) }) {
			prop.engines = append(prop.engines, eng.Info().Name)
		}
	}
	prop.apply = func(ctx context.Context) error {
		var found []Diagnostic
		overlay := w.overlay()
		for _, eng := range w.p.cfg.Engines {
			files := w.filesFor(eng, c, entries)
			if len(files) == 0 {
				continue
			}
			r, err := w.work(ctx, step, eng, c, files, overlay)
			if err != nil {
				return err
			}
			found = joined(found, r.Diagnostics)
		}
		if then != nil {
			return then(ctx, found)
		}
		w.report(found, entries)
		return nil
	}
	return prop
}

func (w *workspace) filesFor(eng Engine, c Capability, entries []*entry) []File {
	var files []File
	for _, e := range entries {
		if slices.ContainsFunc(w.p.serving(c, e.file), same(eng)) {
			files = append(files, File{e.file, e.content()})
		}
	}
	return files
}

// report adds what was found in the files of a step. What an engine that sees the whole root found elsewhere is counted.
func (w *workspace) report(found []Diagnostic, entries []*entry) {
	chosen := map[string]bool{"": true}
	for _, e := range entries {
		chosen[e.file] = true
	}
	elsewhere := 0
	w.result.Diagnostics = slices.Grow(w.result.Diagnostics, len(found))
	for _, d := range found {
		if !chosen[d.File] {
			elsewhere++
			continue
		}
		w.result.note(w.shown(d))
	}
	if elsewhere > 0 {
		w.result.note(Diagnostic{Severity: Note, Source: "dev", Code: "elsewhere", Message: fmt.Sprintf("found in files that were not selected: %s; name their folder, or no paths, to see them", plural(elsewhere, "diagnostic"))})
	}
}

// shown gives a diagnostic the path that callers know.
func (w *workspace) shown(d Diagnostic) Diagnostic {
	if d.File != "" {
		d.File = w.p.cfg.PathTranslator.Caller(d.File)
	}
	return d
}

// rewrite runs engines on copies of the files, one engine after the other, and proposes what they made of them. Nothing
// is written: the bytes are what the gate is asked about.
func (w *workspace) rewrite(ctx context.Context, step string, c Capability, entries []*entry) (*proposal, error) {
	prop := &proposal{targets: entries}
	now := map[string][]byte{}
	for _, e := range entries {
		now[e.file] = e.content()
	}
	use := func(c Capability, eng Engine, skip func(string) bool) error {
		files := w.filesFor(eng, c, entries)
		files = slices.DeleteFunc(files, func(f File) bool { return skip(f.Path) })
		if len(files) == 0 {
			return nil
		}
		for i := range files {
			files[i].Content = now[files[i].Path]
		}
		r, err := w.work(ctx, step, eng, c, files, w.overlayWith(now))
		if err != nil {
			return err
		}
		prop.engines = append(prop.engines, eng.Info().Name)
		for file, content := range r.Contents {
			if _, ours := now[file]; ours {
				now[file] = content
			}
		}
		w.report(r.Diagnostics, entries)
		return nil
	}
	for _, eng := range w.p.cfg.Engines {
		if err := use(c, eng, func(string) bool { return false }); err != nil {
			return nil, err
		}
	}
	if c == CanFix {
		for _, eng := range w.p.cfg.Engines {
			if err := use(CanLint, eng, func(file string) bool { return eng.Info().Serves(CanFix, file) }); err != nil {
				return nil, err
			}
		}
	}
	for _, e := range entries {
		prop.become(e, now[e.file])
	}
	return prop, nil
}

// overlay lists what the plan has changed and not written.
func (w *workspace) overlay() []File { return w.overlayWith(nil) }

// overlayWith is overlay with other contents for some files.
func (w *workspace) overlayWith(now map[string][]byte) []File {
	var out []File
	for _, e := range w.sorted() {
		if !e.loaded || e.now.Type == change.Symlink {
			continue
		}
		content := e.content()
		if c, ok := now[e.file]; ok {
			content = c
		}
		base, _ := e.base.Blob.Bytes()
		switch {
		case e.now.Type == change.Absent && e.base.Type == change.File:
			out = append(out, File{Path: e.file})
		case e.now.Type == change.File && (e.base.Type != change.File || string(base) != string(content)):
			if content == nil {
				content = []byte{}
			}
			out = append(out, File{e.file, content})
		}
	}
	slices.SortFunc(out, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return out
}
