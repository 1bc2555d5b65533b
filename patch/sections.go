package patch

import (
	"bytes"
	"io/fs"

	"github.com/tackle-dev/tackle/change"
)

// add makes a new file.
func (w *planner) add(p *FilePatch, r *FileResult) *Error {
	f, err := w.absent(p.Path, "added")
	if f != nil {
		r.Abs = f.abs
	}
	content := added(p)
	if err != nil {
		if f != nil && err.Code == FileExists {
			if now, ok := f.now.Blob.Bytes(); ok && bytes.Equal(now, content) {
				return fail(AlreadyApplied, "the file exists with exactly this content; leave the section out")
			}
			err.Msg += "; to change it, write \"" + updateMark + " " + p.Path + "\""
		}
		return err
	}
	now := change.State{Type: change.File, Blob: change.NewBlob(content)}
	switch {
	case p.NewMode&fs.ModeSymlink != 0:
		now = change.State{Type: change.Symlink, Target: string(content)}
	case p.NewMode.Perm() != 0 && p.NewMode.Perm() != 0o644:
		now.Mode = p.NewMode.Perm()
	case f.before.Type == change.File: // an earlier section deleted it
		now.Mode = f.before.Mode
	}
	w.place(f, now, nil)
	return nil
}

// added returns the content of an added file.
func added(p *FilePatch) []byte {
	var out []byte
	for _, h := range p.Hunks {
		for _, l := range h.Lines {
			if out = append(out, l.Text...); !l.NoEOL {
				out = append(out, '\n')
			}
		}
	}
	return out
}

// delete removes a file. A unified diff shows the whole content and must be right about it.
func (w *planner) delete(p *FilePatch, r *FileResult) *Error {
	f, err := w.existing(p, r, false)
	if err != nil {
		return err
	}
	switch {
	case f.now.Type == change.Symlink && w.patch.Format == Unified:
		if target := bytes.TrimSuffix(removed(p), []byte("\n")); string(target) != f.now.Target {
			return fail(NotWhole, "this is a symbolic link to %q, and the diff deletes something else", f.now.Target)
		}
	case len(p.Hunks) > 0:
		left, err := w.content(f, p, nil)
		if err != nil || w.failed(r) {
			return err
		}
		if len(left) > 0 {
			return fail(NotWhole, "the diff deletes the file but does not show all of it: %d bytes would be left, from %q on", len(left), clip(firstLine(left)))
		}
	case w.patch.Format == Unified && f.now.Blob.Size() > 0:
		return fail(NotWhole, "the diff deletes the file without showing its content; use an envelope with \"%s %s\"", deleteMark, p.Path)
	}
	f.now, f.made, f.from = change.State{}, false, nil
	w.touch(f)
	return nil
}

// removed returns the lines that the hunks take away.
func removed(p *FilePatch) []byte {
	var out []byte
	for _, h := range p.Hunks {
		for _, l := range h.Lines {
			if l.Kind == Removed {
				out = append(append(out, l.Text...), '\n')
			}
		}
	}
	return out
}

func firstLine(b []byte) string {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return string(line)
}

// failed reports whether a hunk of the section failed.
func (w *planner) failed(r *FileResult) bool {
	for n := r.first; n <= r.last; n++ {
		if w.res.Hunks[n-1].Outcome == Failed {
			return true
		}
	}
	return false
}

// update changes a file, and moves it where the section names a second path.
func (w *planner) update(p *FilePatch, r *FileResult, approved []bool) *Error {
	f, err := w.existing(p, r, p.To == "")
	if err != nil {
		if err.Code == FileMissing && f != nil && p.creates() {
			w.note(p.Line, "%s does not exist, so it is made", p.Path)
			w.place(f, change.State{Type: change.File, Blob: change.NewBlob(added(p))}, nil)
			return nil
		}
		return err
	}
	if p.To != "" {
		return w.move(f, p, r, approved)
	}
	now := f.now
	if now.Blob, err = w.patched(f, p, r, approved); err != nil || w.failed(r) {
		return err
	}
	now.Mode = withMode(now.Mode, p.NewMode)
	f.now = now
	w.touch(f)
	return nil
}

// creates reports whether an update of a missing file can only mean to make it: a unified diff that takes nothing, from
// line 0.
func (p *FilePatch) creates() bool {
	if len(p.Hunks) != 1 || p.To != "" {
		return false
	}
	h := &p.Hunks[0]
	old, _ := h.counts()
	return h.Numbered && h.OldStart == 0 && old == 0
}

// patched returns the content of a file after the approved hunks; the same Blob where they change nothing.
func (w *planner) patched(f *file, p *FilePatch, r *FileResult, approved []bool) (*change.Blob, *Error) {
	if len(p.Hunks) == 0 {
		return f.now.Blob, nil
	}
	if f.now.Type != change.File {
		return nil, fail(IsLink, "this is a symbolic link; its text cannot be patched")
	}
	was, _ := f.now.Blob.Bytes()
	content, err := w.content(f, p, approved)
	if err != nil || w.failed(r) || bytes.Equal(was, content) {
		return f.now.Blob, err
	}
	return change.NewBlob(content), nil
}

// move gives a file a new name.
func (w *planner) move(f *file, p *FilePatch, r *FileResult, approved []bool) *Error {
	to, err := w.read(p.To, false)
	if err != nil {
		return err
	}
	r.AbsTo = to.abs
	if to.abs == f.abs {
		return fail(SamePath, "the file would be moved onto itself; leave the line \"%s %s\" out", moveMark, p.To)
	}
	if to, err = w.absent(p.To, "moved"); err != nil {
		return err
	}
	from := *f
	from.now = w.source(f)
	now := from.now
	if now.Blob, err = w.patched(&from, p, r, approved); err != nil || w.failed(r) {
		return err
	}
	now.Mode = withMode(now.Mode, p.NewMode)
	if !f.made || w.patch.Format != Unified {
		f.now, f.made = change.State{}, false
	}
	w.touch(f)
	w.place(to, now, f)
	return nil
}

// copy makes a file from another one.
func (w *planner) copy(p *FilePatch, r *FileResult, approved []bool) *Error {
	f, err := w.existing(p, r, true)
	if err != nil {
		return err
	}
	to, err := w.absent(p.To, "copied")
	if to != nil {
		r.AbsTo = to.abs
	}
	if err != nil {
		return err
	}
	from := *f
	if from.now = f.before; from.now.Type == change.Absent {
		return fail(FileMissing, "%q is made by the patch itself; a copy is of what was there before", p.Path)
	}
	now := from.now
	if now.Blob, err = w.patched(&from, p, r, approved); err != nil || w.failed(r) {
		return err
	}
	now.Mode = withMode(now.Mode, p.NewMode)
	w.place(to, now, nil)
	return nil
}
