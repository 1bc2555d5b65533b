package patch

import (
	"io/fs"
	"strings"

	"github.com/tackle-dev/tackle/change"
)

// file is a path that the patch touches: what it was, and what it is after the sections so far.
type file struct {
	abs         string
	before, now change.State
	made        bool  // a section created it, so a later rename away from it (in a git patch) means the one before
	from        *file // it was moved from there
}

// read returns the file that a path stands for, from the earlier sections or from the source.
func (w *planner) read(path string, follow bool) (*file, *Error) {
	abs, now, err := w.src.Read(path, follow)
	if err != nil {
		return nil, fail(Unreadable, "%v", err)
	}
	if f, ok := w.files[abs]; ok {
		return f, nil
	}
	return &file{abs: abs, before: now, now: now}, nil
}

// touch says that the plan changes the file.
func (w *planner) touch(f *file) {
	if w.files[f.abs] == nil {
		w.files[f.abs] = f
		w.order = append(w.order, f)
	}
}

// existing returns the file that a section starts from. Of the readings of its name the first that exists counts; where
// both names of a diff exist, one of them must be the backup copy of the other.
func (w *planner) existing(p *FilePatch, r *FileResult, follow bool) (*file, *Error) {
	var missing *file
	names := append([]string{p.Path}, p.Names...)
	for i, name := range names {
		f, err := w.read(name, follow)
		if err != nil {
			if i > 0 {
				continue // another reading may be no path at all
			}
			return nil, err
		}
		if f.now.Type == change.Absent {
			if i == 0 {
				missing = f
			}
			continue
		}
		if i == 0 && len(names) > 1 {
			if name, f, err = w.preferred(name, names[1], f, follow); err != nil {
				return nil, err
			}
		}
		r.Path, r.Abs = name, f.abs
		return f, w.usable(f, follow)
	}
	if missing != nil {
		r.Abs = missing.abs
	}
	return missing, fail(FileMissing, "there is no file %q%s", p.Path, alsoTried(p.Names))
}

// preferred decides between the old and the new name of a diff that renames nothing, if both exist.
func (w *planner) preferred(old, new string, f *file, follow bool) (string, *file, *Error) {
	other, err := w.read(new, follow)
	if err != nil || other.now.Type != change.File || other.abs == f.abs || strings.HasSuffix(new, "/"+old) {
		return old, f, nil
	}
	for _, suffix := range []string{".orig", ".old", ".bak", "~"} {
		switch {
		case old == new+suffix:
			return new, other, nil
		case new == old+suffix:
			return old, f, nil
		}
	}
	return "", nil, fail(Conflict, "the --- and +++ lines name two files that both exist, %q and %q; write the same path on both", old, new)
}

func alsoTried(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (nor " + strings.Join(names, ", ") + ")"
}

// usable reports what keeps a path from being patched.
func (w *planner) usable(f *file, follow bool) *Error {
	switch f.now.Type {
	case change.Dir:
		return fail(IsDirectory, "this is a directory; a patch changes files")
	case change.Symlink:
		if follow {
			return fail(IsLink, "this is a symbolic link; its text cannot be patched")
		}
	case change.File:
		if _, ok := f.now.Blob.Bytes(); !ok {
			return fail(Unreadable, "the content of the file is not at hand")
		}
	}
	return nil
}

// lookAhead finds out which paths a git patch moves away or deletes, so that files can change places in it.
func (w *planner) lookAhead() {
	w.vacated = map[string]bool{}
	if w.patch.Format != Unified {
		return
	}
	for i := range w.patch.Files {
		p := &w.patch.Files[i]
		if n := p.Number; n > 0 && !w.approved(n) {
			continue
		}
		if p.Op == Delete || p.Op == Update && p.To != "" {
			if abs, _, err := w.src.Read(p.Path, false); err == nil {
				w.vacated[abs] = true
			}
		}
	}
}

// absent returns the file that a section makes at a path where nothing may be.
func (w *planner) absent(path, what string) (*file, *Error) {
	f, err := w.read(path, true)
	if err != nil {
		return nil, err
	}
	switch f.now.Type {
	case change.Absent:
		return f, nil
	case change.Dir:
		return f, fail(IsDirectory, "%q is a directory, so no file can be %s there", path, what)
	}
	if !f.made && w.vacated[f.abs] {
		return f, nil
	}
	return f, fail(FileExists, "%q exists and is never overwritten", path)
}

// source returns what a rename or copy takes. In a git patch that is what was there before the patch, if an earlier section
// has put another file in its place.
func (w *planner) source(f *file) change.State {
	if f.made && w.patch.Format == Unified {
		return f.before
	}
	return f.now
}

// place puts a file where a section makes one.
func (w *planner) place(f *file, now change.State, from *file) {
	f.now, f.made, f.from = now, true, from
	w.touch(f)
}

// withMode returns the permission bits for a change of modes. Git knows only whether a file can be executed; other bits
// stay as they are unless the patch states unusual ones.
func withMode(mode, to fs.FileMode) fs.FileMode {
	switch to.Perm() {
	case 0:
		return mode
	case 0o644:
		return mode &^ 0o111
	case 0o755:
		return mode | mode>>2&0o111
	}
	return to.Perm()
}
