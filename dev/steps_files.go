package dev

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/edit"
	"github.com/tackle-dev/tackle/internal/text"
	"github.com/tackle-dev/tackle/patch"
)

// MaxLines is how many lines read_lines shows where the caller sets no limit.
const MaxLines = 2000

type readLinesArgs struct {
	Path   string `json:"path" jsonschema:"File"`
	Offset int    `json:"offset,omitempty" jsonschema:"First line, from 1" schema:"min=1"`
	Limit  int    `json:"limit,omitempty" jsonschema:"Most lines to return" schema:"min=1"`
}

func readLinesStep() Step {
	return define(Step{Name: "read_lines", Title: "Read lines", About: "Read lines of a file.", Most: Reads},
		constant[readLinesArgs](Reads), needs[readLinesArgs](""), nil,
		func(a readLinesArgs) ([]string, bool, error) { return []string{a.Path}, false, nil },
		func(ctx context.Context, w *workspace, a readLinesArgs) (*proposal, error) {
			e, err := w.acquired(ctx, "read_lines", a.Path, false)
			if err != nil {
				return nil, err
			}
			return &proposal{targets: []*entry{e}, apply: func(context.Context) error { return w.excerpt(e, a) }}, nil
		})
}

// excerpt adds lines of a file to the result.
func (w *workspace) excerpt(e *entry, a readLinesArgs) error {
	t, err := decode("read_lines", e)
	if err != nil {
		return err
	}
	lines := text.Index(t.Content)
	first, limit := max(a.Offset, 1), a.Limit
	if limit == 0 {
		limit = MaxLines
	}
	if first > lines.Len() && (lines.Len() > 0 || first > 1) {
		return &Error{Code: Invalid, Step: "read_lines", Path: e.rel, Message: fmt.Sprintf("offset %d is past the end: %q has %d lines", first, e.rel, lines.Len()), Hint: "Read from a smaller offset."}
	}
	last := min(first-1+limit, lines.Len())
	x := Excerpt{File: e.rel, First: first, Lines: last - first + 1, Total: lines.Len()}
	if x.Lines > 0 {
		x.Text = string(t.Content[lines.Start(first-1):lines.End(last-1)])
	}
	w.result.Excerpts = append(w.result.Excerpts, x)
	if w.call.Seen != nil && x.Lines == x.Total && !e.dirty() {
		w.call.Seen(e.path, e.now.Blob.Digest())
	}
	return nil
}

// decode returns the text of a file.
func decode(step string, e *entry) (text.Text, error) {
	t, err := text.Decode(e.content())
	switch {
	case errors.Is(err, text.ErrBinary):
		return t, &Error{Code: Unreadable, Step: step, Path: e.rel, Message: fmt.Sprintf("%q is binary", e.rel), Hint: "Retrying will not help; use a tool made for its format.", Err: err}
	case err != nil:
		return t, &Error{Code: Unreadable, Step: step, Path: e.rel, Message: fmt.Sprintf("%q cannot be worked on as text: %v", e.rel, err), Hint: "Convert the file to UTF-8 first.", Err: err}
	}
	return t, nil
}

// Block is one exact replacement of the step edit.
type Block struct {
	Old        string `json:"old_string" jsonschema:"Text to replace"`
	New        string `json:"new_string" jsonschema:"Text to put there"`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"Replace every occurrence"`
	Line       int    `json:"line,omitempty" jsonschema:"Of several matches, the one on this line" schema:"min=1"`
}

type editArgs struct {
	Path  string  `json:"path" jsonschema:"File"`
	Edits []Block `json:"edits" jsonschema:"Replacements, applied in order, all or none" schema:"min=1"`
}

func editStep() Step {
	return define(Step{Name: "edit", Title: "Edit file", About: "Replace exact blocks of text in a file, all of them or none.", Most: Delta},
		constant[editArgs](Delta), needs[editArgs](""),
		func(a *editArgs) error {
			if len(a.Edits) == 0 {
				return &Error{Code: Invalid, Step: "edit", Path: a.Path, Message: "edits is empty", Hint: "Give at least one object with old_string and new_string."}
			}
			return nil
		},
		func(a editArgs) ([]string, bool, error) { return []string{a.Path}, true, nil },
		func(ctx context.Context, w *workspace, a editArgs) (*proposal, error) {
			e, err := w.acquired(ctx, "edit", a.Path, a.Edits[0].Old == "")
			if err != nil {
				return nil, err
			}
			return w.edit(e, a)
		})
}

// edit proposes the content of a file after all replacements.
func (w *workspace) edit(e *entry, a editArgs) (*proposal, error) {
	t, err := decode("edit", e)
	if err != nil {
		return nil, err
	}
	reqs := make([]edit.Request, len(a.Edits))
	for i, b := range a.Edits {
		reqs[i] = edit.Request{Old: b.Old, New: b.New, ReplaceAll: b.ReplaceAll, Line: b.Line}
	}
	batch := edit.ApplyAll(t.Content, reqs, edit.Options{Atomic: true})
	var failed []string
	for i, o := range batch.Outcomes {
		if o.Err != nil {
			failed = append(failed, fmt.Sprintf("edit #%d: %s", i+1, sentence(o.Err)))
		}
	}
	if len(failed) > 0 {
		return nil, &Error{Code: NotFound, Step: "edit", Path: e.rel, Err: batch.Outcomes[0].Err,
			Message: fmt.Sprintf("%d of %d edits of %q cannot be made:\n%s", len(failed), len(reqs), e.rel, strings.Join(failed, "\n")), Hint: "Nothing was written. Correct them and send all edits again."}
	}
	for i, o := range batch.Outcomes {
		if o.Result.Note != "" {
			w.result.Notes = append(w.result.Notes, fmt.Sprintf("edit #%d of %s: %s", i+1, e.rel, o.Result.Note))
		}
	}
	raw, err := t.Encoding.Encode(batch.Content)
	if err != nil {
		return nil, &Error{Code: Invalid, Step: "edit", Path: e.rel, Message: fmt.Sprintf("%q is written in %s, which cannot hold the new text: %v", e.rel, t.Encoding, err), Hint: "Replace the character, or convert the file first.", Err: err}
	}
	prop := &proposal{targets: []*entry{e}}
	if e.now.Type == change.Absent {
		prop.creates = []*entry{e}
	}
	prop.become(e, raw)
	return prop, nil
}

// become proposes a content. The same content is no change.
func (p *proposal) become(e *entry, content []byte) {
	if e.now.Type == change.File && bytes.Equal(content, e.content()) {
		return
	}
	p.states = append(p.states, newState{e, change.State{Type: change.File, Mode: e.now.Mode, Blob: change.NewBlob(content)}})
}

type applyPatchArgs struct {
	Patch string `json:"patch" jsonschema:"The whole patch"`
}

func applyPatchStep() Step {
	return define(Step{Name: "apply_patch", Title: "Apply patch", About: "Apply a patch (*** Begin Patch envelope or unified diff) to files, all of it or none.", Most: Delta},
		constant[applyPatchArgs](Delta), needs[applyPatchArgs](""),
		func(a *applyPatchArgs) error {
			_, err := parsePatch(a.Patch)
			return err
		},
		func(a applyPatchArgs) (paths []string, missing bool, err error) {
			p, err := parsePatch(a.Patch)
			if err != nil {
				return nil, false, err
			}
			return patchPaths(p), true, nil
		},
		func(ctx context.Context, w *workspace, a applyPatchArgs) (*proposal, error) {
			p, err := parsePatch(a.Patch)
			if err != nil {
				return nil, err
			}
			return w.patch(ctx, p)
		})
}

// parsePatch parses before anybody is asked: a patch with a mistake in its syntax never reaches a gate.
func parsePatch(s string) (*patch.Patch, error) {
	p, err := patch.Parse(s)
	if err != nil {
		return nil, &Error{Code: Invalid, Step: "apply_patch", Message: "the patch cannot be read: " + sentence(err), Hint: "Nothing was written. Correct the patch and send it again whole.", Err: err}
	}
	return p, nil
}

// patchPaths lists every path that a patch names, both ends of a move included, in its order.
func patchPaths(p *patch.Patch) []string {
	var out []string
	seen := map[string]bool{}
	for _, f := range p.Files {
		for _, path := range append([]string{f.Path, f.To}, f.Names...) {
			if path != "" && !seen[path] {
				seen[path] = true
				out = append(out, path)
			}
		}
	}
	return out
}

// patch proposes what a patch makes of its files.
func (w *workspace) patch(ctx context.Context, p *patch.Patch) (*proposal, error) {
	src := &patchSource{ctx: ctx, w: w}
	res, err := patch.Plan(p, src, patch.Options{})
	if src.fault != nil {
		return nil, src.fault
	}
	if err != nil {
		return nil, &Error{Code: NotFound, Step: "apply_patch", Message: "the patch does not apply: " + sentence(err), Hint: "Nothing was written. Correct what failed and send the whole patch again.", Err: err}
	}
	for _, n := range res.Notes {
		w.result.Notes = append(w.result.Notes, n.String())
	}
	prop := &proposal{}
	listed := map[*entry]bool{}
	for _, f := range res.Files {
		for _, abs := range []string{f.Abs, f.AbsTo} {
			if e := w.files[abs]; e != nil && !listed[e] {
				listed[e] = true
				prop.targets = append(prop.targets, e)
			}
		}
	}
	states := map[*entry]change.State{}
	for _, op := range res.Set.Ops {
		e := w.files[op.Path]
		switch op.Kind {
		case change.Write, change.Chmod:
			states[e] = op.After
		case change.Delete:
			states[e] = change.State{}
		case change.Move:
			states[e], states[w.files[op.To]] = change.State{}, op.Before
		case change.Mkdir: // made with the file that needs it
		}
	}
	for _, e := range prop.targets {
		s, ok := states[e]
		if !ok {
			continue
		}
		if s.Type != change.Absent && e.now.Type == change.Absent {
			prop.creates = append(prop.creates, e)
		}
		prop.states = append(prop.states, newState{e, s})
	}
	return prop, nil
}

// patchSource reads the files of a patch from the workspace.
type patchSource struct {
	ctx   context.Context
	w     *workspace
	fault error
}

// Read is described at patch.Source.
func (s *patchSource) Read(path string, follow bool) (string, change.State, error) {
	e, err := s.entry(path, follow)
	if err != nil {
		var own *Error
		if !errors.As(err, &own) || own.Code == NotAcquired || own.Code == Outside {
			s.fault = err
		}
		return "", change.State{}, err
	}
	return e.path.Real, e.now, nil
}

func (s *patchSource) entry(path string, follow bool) (*entry, error) {
	w := s.w
	p, err := w.resolve(s.ctx, path)
	if err != nil || follow || p.Self == p.Real || p.Self == "" {
		if err != nil {
			return nil, inStep("apply_patch", err)
		}
		return w.acquired(s.ctx, "apply_patch", path, true)
	}
	if e, ok := w.files[p.Self]; ok {
		return e, nil
	}
	info, err := w.p.cfg.Host.Stat(s.ctx, p.Self)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, w.p.pathError(path, err)
	}
	p.Real = p.Self
	e := w.absent(p)
	if err == nil {
		e.base = change.State{Type: info.Type, Mode: info.Mode, Target: info.Target}
		e.now = e.base
	}
	return e, nil
}

type writeArgs struct{}

func writeStep() Step {
	return define(Step{Name: WriteName, Title: "Write", About: "Write every file that the plan has changed so far to the disk, all of them or none.", Most: Writes},
		constant[writeArgs](Writes), needs[writeArgs](""), nil,
		func(writeArgs) ([]string, bool, error) { return nil, false, nil },
		func(_ context.Context, w *workspace, _ writeArgs) (*proposal, error) {
			prop := &proposal{}
			for _, e := range w.sorted() {
				if !e.dirty() {
					continue
				}
				prop.targets = append(prop.targets, e)
				if e.base.Type == change.Absent {
					prop.creates = append(prop.creates, e)
				}
			}
			return prop, nil
		})
}

func constant[A any](e Effect) func(A) Effect { return func(A) Effect { return e } }

func needs[A any](c Capability) func(A) Capability { return func(A) Capability { return c } }

// encoded marshals arguments of a builder.
func encoded(args any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(args)
	return bytes.TrimSpace(b.Bytes()), err
}
