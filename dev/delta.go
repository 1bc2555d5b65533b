package dev

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/internal/diff"
)

// compare reports of what was found now only what the state before the changes did not have, and what is gone since.
func (w *workspace) compare(ctx context.Context, entries []*entry, now []Diagnostic) error {
	before, name, err := w.baseline(ctx)
	if err != nil {
		return err
	}
	old, err := w.checkBefore(ctx, entries, before)
	if err != nil {
		return err
	}
	c := &Comparison{Baseline: name, Resolved: []Diagnostic{}}
	fresh, gone, same := difference(old, now, w.lineMaps(before))
	hidden := func(d Diagnostic) bool { return !w.mayTell(d.File) }
	fresh, gone = slices.DeleteFunc(fresh, hidden), slices.DeleteFunc(gone, hidden)
	for _, d := range fresh {
		w.result.note(w.shown(d))
	}
	for _, d := range gone {
		c.Resolved = append(c.Resolved, w.shown(d))
	}
	sortDiagnostics(c.Resolved)
	c.Introduced, c.Unchanged = len(fresh), same
	w.result.Compared = c
	return nil
}

// mayTell reports whether what was found in a file may be told: a message quotes what is there. What the plan acquired was
// asked for; of the rest only what a selector could have come to.
func (w *workspace) mayTell(file string) bool {
	real := filepath.Join(w.p.root.Real, filepath.FromSlash(file))
	if _, acquired := w.files[real]; acquired || file == "" || w.call.Visible == nil {
		return true
	}
	return w.call.Visible(at(w.p.root, file))
}

// baseline returns what the files were that differ by now, by their path relative to the root.
func (w *workspace) baseline(ctx context.Context) (map[string]change.State, string, error) {
	out := map[string]change.State{}
	for _, e := range w.sorted() {
		if e.dirty() {
			out[e.file] = e.base
		}
	}
	if w.call.Baseline == nil {
		return out, "the files as this plan acquired them", nil
	}
	older, name, err := w.call.Baseline(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("baseline: %w", err)
	}
	for real, s := range older {
		if below(real, w.p.root.Real) && (s.Type == change.File || s.Type == change.Absent) {
			if _, held := s.Blob.Bytes(); !held && s.Type == change.File {
				continue
			}
			out[w.p.file(real)] = s
		}
	}
	return out, name, nil
}

// checkBefore runs the checkers on the state before.
func (w *workspace) checkBefore(ctx context.Context, entries []*entry, before map[string]change.State) ([]Diagnostic, error) {
	content := func(file string, now []byte) []byte {
		s, changed := before[file]
		if !changed {
			return now
		}
		b, _ := s.Blob.Bytes()
		return b
	}
	overlay := make([]File, 0, len(before))
	for file, s := range before {
		if e, ok := w.files[filepath.Join(w.p.root.Real, filepath.FromSlash(file))]; ok && e.loaded && e.base.Equal(s) {
			continue // what is on the disk
		}
		f := File{Path: file}
		if s.Type == change.File {
			if f.Content, _ = s.Blob.Bytes(); f.Content == nil {
				f.Content = []byte{}
			}
		}
		overlay = append(overlay, f)
	}
	slices.SortFunc(overlay, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	var found []Diagnostic
	for _, eng := range w.p.cfg.Engines {
		var files []File
		for _, f := range w.filesFor(eng, CanCheck, entries) {
			if s, changed := before[f.Path]; changed && s.Type == change.Absent {
				continue
			}
			files = append(files, File{f.Path, content(f.Path, f.Content)})
		}
		for file, s := range before { // files that the changes deleted
			gone := !slices.ContainsFunc(entries, func(e *entry) bool { return e.file == file }) && w.isGone(file)
			if gone && s.Type == change.File && eng.Info().Serves(CanCheck, file) {
				files = append(files, File{file, content(file, nil)})
			}
		}
		if len(files) == 0 {
			continue
		}
		slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
		r, err := w.work(ctx, "check", eng, CanCheck, files, overlay)
		if err != nil {
			return nil, err
		}
		found = append(found, r.Diagnostics...)
	}
	return found, nil
}

func (w *workspace) isGone(file string) bool {
	e, ok := w.files[filepath.Join(w.p.root.Real, filepath.FromSlash(file))]
	return ok && e.loaded && e.now.Type == change.Absent
}

// lineMaps returns, for files that changed, the function from a line before to the line that it is now; 0 where it is
// gone.
func (w *workspace) lineMaps(before map[string]change.State) map[string]func(int) int {
	out := map[string]func(int) int{}
	for file, s := range before {
		e, ok := w.files[filepath.Join(w.p.root.Real, filepath.FromSlash(file))]
		if !ok || !e.loaded {
			continue
		}
		old, _ := s.Blob.Bytes()
		changes := diff.Compare(old, e.content())
		out[file] = func(line int) int {
			shift := 0
			for _, c := range changes {
				if line-1 < c.A.Line {
					break
				}
				if line-1 < c.A.End {
					return 0
				}
				shift = c.B.End - c.A.End
			}
			return line + shift
		}
	}
	return out
}

// difference pairs what was found before with what is found now: first on the line that the old one has moved to, then
// wherever the same is said of the same file.
func difference(old, now []Diagnostic, lines map[string]func(int) int) (fresh, gone []Diagnostic, same int) {
	type saying struct {
		file, source, code, message string
	}
	say := func(d *Diagnostic) saying { return saying{d.File, d.Source, d.Code, d.Message} }
	left := map[saying][]int{} // indexes of now
	for i := range now {
		left[say(&now[i])] = append(left[say(&now[i])], i)
	}
	paired := make([]bool, len(now))
	var rest []Diagnostic
	take := func(d *Diagnostic, fits func(*Diagnostic) bool) bool {
		list := left[say(d)]
		k := slices.IndexFunc(list, func(i int) bool { return fits(&now[i]) })
		if k < 0 {
			return false
		}
		paired[list[k]] = true
		left[say(d)] = slices.Delete(slices.Clone(list), k, k+1)
		same++
		return true
	}
	for i := range old {
		d := &old[i]
		at := d.Range.Start.Line
		if m := lines[d.File]; m != nil && at > 0 {
			at = m(at)
		}
		if !take(d, func(n *Diagnostic) bool { return n.Range.Start.Line == at }) {
			rest = append(rest, *d)
		}
	}
	for i := range rest {
		if !take(&rest[i], func(*Diagnostic) bool { return true }) {
			gone = append(gone, rest[i])
		}
	}
	for i := range now {
		if !paired[i] {
			fresh = append(fresh, now[i])
		}
	}
	return fresh, gone, same
}
