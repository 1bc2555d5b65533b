package skill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Place is a folder of skills.
type Place struct {
	Name string // "project", "user", …
	Dir  string // absolute; the root of FS
	FS   fs.FS
}

const (
	maxDepth      = 4     // folders below a place in which skills are looked for
	maxFolders    = 20000 // that are looked into in one place
	maxCandidates = 5000  // of one place
)

// Load reads the skills of places. Of two skills of one name that of the earlier place counts. A place that does not exist
// has none. Links are followed; a file larger than MaxFile is not read.
// Errors: only those of the context. What cannot be read is a finding.
func Load(ctx context.Context, places []Place) (*Catalogue, error) {
	c := &Catalogue{}
	seen := map[string]string{}
	for _, p := range places {
		l := loader{ctx: ctx, place: p, out: c, seen: seen}
		if err := l.folder(".", 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			l.reject(".", "", fmt.Sprintf("the folder cannot be read: %v", cause(err)))
		}
	}
	slices.SortFunc(c.Skills, func(a, b Skill) int { return cmp.Compare(a.Name, b.Name) })
	return c, nil
}

// Any reports whether a place has a candidate, without reading one.
func Any(ctx context.Context, places []Place) bool {
	for _, p := range places {
		l := loader{ctx: ctx, place: p, out: &Catalogue{}, look: true}
		_ = l.folder(".", 0)
		if l.found > 0 {
			return true
		}
	}
	return false
}

type loader struct {
	ctx     context.Context
	place   Place
	out     *Catalogue
	seen    map[string]string // name of a skill → its path
	folders int
	found   int
	look    bool // only whether there is one
	full    bool
}

// folder looks for skills in a folder and those below it. Errors: of reading the folder itself, or of the context.
func (l *loader) folder(dir string, depth int) error {
	if l.folders++; l.folders > maxFolders || l.found >= maxCandidates {
		if !l.full {
			l.full = true
			l.reject(dir, "", fmt.Sprintf("no more than %d folders and %d skills of one place are read: move skills out of large trees", maxFolders, maxCandidates))
		}
		return nil
	}
	if err := l.ctx.Err(); err != nil {
		return err
	}
	entries, err := fs.ReadDir(l.place.FS, dir)
	if err != nil {
		return err
	}
	has := false
	for _, e := range entries {
		if e.Name() == File || !has && strings.EqualFold(e.Name(), File) {
			if has = true; dir != "." {
				l.file(dir, e.Name())
			} else {
				l.found++
				l.reject(e.Name(), "", "a skill is a folder: move it to NAME/"+File)
			}
		} else if depth == 0 && strings.EqualFold(path.Ext(e.Name()), ".md") && !strings.EqualFold(e.Name(), "README.md") && !e.IsDir() {
			l.found++
			stem := strings.TrimSuffix(e.Name(), path.Ext(e.Name()))
			l.reject(e.Name(), stem, fmt.Sprintf("a skill is a folder: move it to %s/%s", stem, File))
		}
		if l.look && l.found > 0 {
			return nil
		}
	}
	for _, e := range entries {
		sub := path.Join(dir, e.Name())
		if e.Name() == ".git" || e.Name() == "node_modules" || e.Type().IsRegular() {
			continue
		}
		if !e.IsDir() {
			info, err := fs.Stat(l.place.FS, sub)
			if err != nil && depth == 0 {
				l.found++
				l.reject(sub, e.Name(), fmt.Sprintf("the link leads to nothing that can be read (%v): mend or remove it", cause(err)))
			}
			if err != nil || !info.IsDir() {
				continue
			}
		}
		if depth == maxDepth {
			if l.holds(sub) {
				l.found++
				l.reject(path.Join(sub, File), e.Name(), fmt.Sprintf("it lies more than %d folders deep: move it up", maxDepth))
			}
			continue
		}
		switch err := l.folder(sub, depth+1); {
		case l.ctx.Err() != nil:
			return err
		case err != nil:
			l.reject(sub, e.Name(), fmt.Sprintf("the folder cannot be read: %v", cause(err)))
		case l.look && l.found > 0:
			return nil
		}
	}
	return nil
}

func (l *loader) holds(dir string) bool {
	_, err := fs.Stat(l.place.FS, path.Join(dir, File))
	return err == nil
}

// file takes one candidate.
func (l *loader) file(dir, name string) {
	l.found++
	if l.look {
		return
	}
	folder, at := path.Base(dir), path.Join(dir, name)
	data, err := read(l.place.FS, at)
	if err != nil {
		l.reject(at, folder, fmt.Sprintf("it cannot be read: %v", cause(err)))
		return
	}
	s, err := Parse(folder, data)
	if err != nil {
		l.reject(at, folder, err.Error())
		return
	}
	if name != File {
		s.note("it is named %s: rename it to %s", name, File)
	}
	s.Place, s.Dir, s.Path = l.place.Name, l.at(dir), l.at(at)
	f := Finding{State: Loaded, Name: s.Name, Place: s.Place, Path: s.Path}
	if len(s.Notes) > 0 {
		f.State, f.Reason = Mended, strings.Join(s.Notes, "; ")
	}
	if first, ok := l.seen[s.Name]; ok {
		f.State, f.Reason = Shadowed, fmt.Sprintf("%s has the same name and comes first: rename one of them", first)
	} else {
		l.seen[s.Name] = s.Path
		l.out.Skills = append(l.out.Skills, s)
	}
	l.out.Findings = append(l.out.Findings, f)
}

func read(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxFile+1))
}

func (l *loader) at(rel string) string {
	return strings.TrimSuffix(path.Join(l.place.Dir, rel), "/")
}

func (l *loader) reject(rel, name, reason string) {
	l.out.Findings = append(l.out.Findings, Finding{State: Rejected, Name: name, Place: l.place.Name, Path: l.at(rel), Reason: reason})
}

// cause is an error without the path, which stands beside it.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
