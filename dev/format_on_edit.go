package dev

import (
	"context"
	"fmt"

	"github.com/tackle-dev/tackle/change"
)

// onEdit reports whether a step that changes files by itself is formatted on the way to the disk.
func (w *workspace) onEdit(s Step, args []byte) bool {
	return w.p.cfg.FormatOnEdit && w.call.Persist && s.Requires(args) == "" && s.Effect(args) == Delta
}

// formatProposed formats what a step proposes, once, so that the changeset holds the formatted files. A file that cannot
// be formatted is written as it was proposed: the edit is what was asked for. Only formatters that work in this process
// take part: an edit is no reason to start a program.
func (w *workspace) formatProposed(ctx context.Context, step string, prop *proposal) error {
	if len(prop.states) == 0 || !w.p.Has(CanFormat) {
		return nil
	}
	overlay := w.overlay()
	for _, eng := range w.p.cfg.Engines {
		var files []File
		var at []int
		for i, n := range prop.states {
			if n.state.Type == change.File && w.p.inside(n.entry.file) && same(eng)(w.p.serving(CanFormat, n.entry.file)[0]) {
				content, _ := n.state.Blob.Bytes()
				files, at = append(files, File{n.entry.file, content}), append(at, i)
			}
		}
		if len(files) == 0 {
			continue
		}
		name := eng.Info().Name
		r, err := w.work(ctx, step, eng, CanFormat, files, overlay)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			w.result.note(Diagnostic{Severity: Warn, Source: "dev", Code: "not-formatted", Message: "written without formatting: " + sentence(err)})
			continue
		}
		prop.engines = append(prop.engines, name)
		w.result.Diagnostics = append(w.result.Diagnostics, r.Diagnostics...)
		for k, f := range files {
			if content, changed := r.Contents[f.Path]; changed {
				n := &prop.states[at[k]]
				n.state = change.State{Type: change.File, Mode: n.state.Mode, Blob: change.NewBlob(content)}
				w.result.Notes = append(w.result.Notes, fmt.Sprintf("%s was formatted by %s on the way: read it again before you edit it", n.entry.rel, name))
			}
		}
	}
	return nil
}

// inside reports whether the formatter of a file works in this process.
func (p *Pipeline) inside(file string) bool {
	serving := p.serving(CanFormat, file)
	return len(serving) > 0 && len(serving[0].Info().Can[CanFormat].Commands) == 0
}

// Formatted returns what the formatter of a file makes of a content, by engines that work in this process; the content
// itself where there is none, where it cannot be read, or where nothing changes. It is for changes that are made
// elsewhere, and asks no gate: whoever makes the change does.
func (p *Pipeline) Formatted(ctx context.Context, file string, content []byte) (out []byte, engine string) {
	if !p.inside(file) {
		return content, ""
	}
	serving := p.serving(CanFormat, file)
	info := serving[0].Info()
	job := Job{Capability: CanFormat, Root: p.root.Real, Files: []File{{file, content}}}
	r, err := p.one(ctx, "format", serving[0], &job)
	if err != nil || r.Contents[file] == nil {
		return content, ""
	}
	return r.Contents[file], info.Name
}
