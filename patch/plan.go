package patch

import (
	"fmt"
	"slices"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/edit"
)

// Source says what the files are that a patch speaks of. Whoever calls [Plan] implements it, by reading or from memory.
type Source interface {
	// Read returns the absolute path that a path of the patch stands for, and what is there now: a file with its
	// content, a directory, or nothing. Two paths that are one file must give the same absolute path. With follow a
	// symbolic link is followed to the file that would be written; without, the link itself is meant (it is to be
	// moved or deleted). An error refuses the section, not the whole plan at once.
	Read(path string, follow bool) (abs string, now change.State, err error)
}

// Options tune a plan. The zero value plans the whole patch.
type Options struct {
	// Hunks plans only the hunks with these numbers and reports the others as denied. nil: all. An added or deleted
	// file needs all of its hunks; the new name and mode of an updated file come with any of them.
	Hunks []int
	// FirstMatch takes the first of several places where a hunk could go, as some other tools do.
	FirstMatch bool
	// FinalNewline ends every changed file with a line feed, as some other tools do. Otherwise a last line has one
	// if it had one.
	FinalNewline bool
}

// Result says what a patch would do. Everything in it is filled as far as it is known, also beside an error.
type Result struct {
	Files []FileResult // one for each section of the patch
	Hunks []HunkResult // by number
	Set   change.Set   // what to commit; empty beside an error
	Notes []Note       // what was overlooked, in the patch text and in the files
}

// FileResult says what a section does.
type FileResult struct {
	Op          Op
	Path, To    string // as written; of several readings of a name, the one that exists
	Abs, AbsTo  string // as the Source resolves them; "" where it was not asked
	Line        int    // in the patch text, from 1
	Denied      bool   // no hunk of it was approved, so it does nothing
	Err         *Error // why the section as a whole cannot be done, or nil
	first, last int    // hunk numbers
}

// Outcome is what becomes of a hunk.
type Outcome string

// The outcomes.
const (
	Applied Outcome = "applied" // it could be; whether it is depends on the others
	Failed  Outcome = "failed"
	Denied  Outcome = "denied"
)

// HunkResult says what becomes of a hunk, or of a section without hunks.
type HunkResult struct {
	Number  int
	Path    string // as in FileResult
	Line    int    // in the patch text, from 1
	Outcome Outcome
	At      int       // the line, from 1, of the file as earlier sections left it, where the old lines begin; 0: unknown
	Rung    edit.Rung // how the old lines were compared
	Offset  int       // lines from where the header says, and where earlier hunks moved it, to At; 0 without numbers
	Fuzz    int       // lines of context that were left out at either end
	Note    string    // what was overlooked, or ""
	Err     *Error    // if Failed
}

// Plan works out the changeset that carries out a patch. It is pure: the same patch and files give the same result.
//
// The sections are carried out in order, each on what those before it left, and all of them or none: if any hunk fails,
// the error is a *PlanError with every failure and the Set is empty.
func Plan(p *Patch, src Source, opt Options) (Result, error) {
	w := planner{patch: p, src: src, opt: opt, files: map[string]*file{}, hunks: map[int]bool{}}
	w.res.Notes = slices.Clone(p.Notes)
	w.res.Hunks = make([]HunkResult, p.Count())
	for _, n := range opt.Hunks {
		if n < 1 || n > len(w.res.Hunks) {
			return w.res, fmt.Errorf("hunk #%d: the patch has %d hunks", n, len(w.res.Hunks))
		}
		w.hunks[n] = true
	}
	w.lookAhead()
	for i := range p.Files {
		w.section(&p.Files[i])
	}
	if errs := w.errors(); errs != nil {
		return w.res, errs
	}
	w.res.Set.Ops = w.ops()
	if err := w.res.Set.Validate(); err != nil {
		return w.res, &PlanError{Errors: []*Error{{Code: Conflict, Msg: err.Error()}}}
	}
	return w.res, nil
}

// planner is one run of Plan.
type planner struct {
	patch   *Patch
	src     Source
	opt     Options
	hunks   map[int]bool // approved; empty where opt.Hunks is nil
	files   map[string]*file
	order   []*file
	vacated map[string]bool // absolute paths that a git patch moves away or deletes
	res     Result

	failures, places int // see maxFailures and maxPlaces
}

func (w *planner) approved(number int) bool { return w.opt.Hunks == nil || w.hunks[number] }

// errors collects the failures in the order of the patch.
func (w *planner) errors() error {
	var errs []*Error
	for _, f := range w.res.Files {
		if f.Err != nil {
			errs = append(errs, f.Err)
			continue
		}
		for n := f.first; n <= f.last; n++ {
			if h := w.res.Hunks[n-1]; h.Err != nil {
				errs = append(errs, h.Err)
			}
		}
	}
	if errs == nil {
		return nil
	}
	return &PlanError{Errors: errs}
}

// section plans one section.
func (w *planner) section(f *FilePatch) {
	r := FileResult{Op: f.Op, Path: f.Path, To: f.To, Line: f.Line}
	approved := w.outcomes(f, &r)
	r.Denied = !slices.Contains(approved, true)
	if !r.Denied {
		var err *Error
		switch f.Op {
		case Add:
			err = w.add(f, &r)
		case Delete:
			err = w.delete(f, &r)
		case Copy:
			err = w.copy(f, &r, approved)
		default:
			err = w.update(f, &r, approved)
		}
		for n := r.first; n <= r.last; n++ {
			w.res.Hunks[n-1].Path = r.Path
		}
		if err != nil {
			w.refuse(f, &r, err)
		}
	}
	w.res.Files = append(w.res.Files, r)
}

// outcomes fills in the hunk results of a section, as applied or denied, and returns which hunks are approved. A section
// without hunks counts as one.
func (w *planner) outcomes(f *FilePatch, r *FileResult) []bool {
	whole := (f.Op == Add || f.Op == Delete) && len(f.Hunks) > 0
	ok := make([]bool, max(1, len(f.Hunks)))
	all := true
	for i := range ok {
		h := HunkResult{Number: f.Number, Path: f.Path, Line: f.Line}
		if len(f.Hunks) > 0 {
			h.Number, h.Line = f.Hunks[i].Number, f.Hunks[i].Line
		}
		ok[i] = w.approved(h.Number)
		all = all && ok[i]
		w.res.Hunks[h.Number-1] = h
	}
	r.first = f.Number
	if len(f.Hunks) > 0 {
		r.first = f.Hunks[0].Number
	}
	r.last = r.first + len(ok) - 1
	for i := range ok {
		ok[i] = ok[i] && (all || !whole)
		w.res.Hunks[r.first-1+i].Outcome = Denied
		if ok[i] {
			w.res.Hunks[r.first-1+i].Outcome = Applied
		}
	}
	return ok
}

// refuse records that a section cannot be done. Its approved hunks fail with it.
func (w *planner) refuse(f *FilePatch, r *FileResult, err *Error) {
	if err.Path == "" {
		err.Path = f.Path
	}
	if err.Line == 0 {
		err.Line = f.Line
	}
	r.Err = err
	for n := r.first; n <= r.last; n++ {
		if h := &w.res.Hunks[n-1]; h.Outcome == Applied {
			h.Outcome, h.Err = Failed, err
		}
	}
}

func (w *planner) note(line int, format string, args ...any) {
	w.res.Notes = append(w.res.Notes, Note{Line: line, Text: fmt.Sprintf(format, args...)})
}
