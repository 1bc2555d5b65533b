// Package undo plans how to take committed transactions back.
//
// The one idea: what a run of transactions did to a path is the pair of its first "before" and its last "after". If the
// path still is what the last transaction left, it can become what it was before the first; if it is not, somebody else
// changed it since, and nothing is touched until a person decides. For text the plan then offers a three-way merge that
// takes back our change and keeps theirs.
//
// Only paths that the host's journal names are touched. The result is a changeset like any other: it is previewed,
// decided, committed by the journal, and can itself be undone.
package undo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// Keys of the notes that the road keeps with transactions, and the one that an undo adds.
const (
	NoteTool    = "tool"
	NoteSession = "session"
	NoteCall    = "call"
	NoteUndoes  = "undoes" // ids of the transactions that this one took back, separated by blanks
)

// Query selects transactions. Conditions are joined by "and". Undone ones are never selected, and undos only by their call:
// that does again what they took back.
type Query struct {
	Session string    // "" for every session
	Call    string    // only this call
	Since   time.Time // only what was committed after this time
	Txs     []string  // only these transactions; nil for all
	// Roots are the folders that the query is about: without a session, a call or transactions, only what touched something there.
	// Nil means everywhere.
	Roots []string
	Last  bool // only the newest call of what the rest selects
}

// Select returns the transactions that the query means, oldest first, of a list in that order.
func (q Query) Select(all []host.Transaction) []host.Transaction {
	undone := map[string]bool{}
	for _, tx := range slices.Backward(all) { // an undo that was undone itself does not count
		if ids := tx.Note[NoteUndoes]; ids != "" && !undone[tx.ID] {
			for _, id := range strings.Fields(ids) {
				undone[id] = true
			}
		}
	}
	var out []host.Transaction
	for _, tx := range all {
		switch {
		case undone[tx.ID], tx.Note[NoteUndoes] != "" && (q.Call == "" || tx.Note[NoteCall] != q.Call),
			q.Session != "" && tx.Note[NoteSession] != q.Session,
			q.Call != "" && tx.Note[NoteCall] != q.Call,
			q.Txs != nil && !slices.Contains(q.Txs, tx.ID),
			!q.Since.IsZero() && !tx.At.After(q.Since),
			q.Session == "" && q.Call == "" && q.Txs == nil && q.Roots != nil && !touches(tx, q.Roots):
			continue
		}
		out = append(out, tx)
	}
	if q.Last && len(out) > 0 {
		last := out[len(out)-1]
		out = slices.DeleteFunc(out, func(tx host.Transaction) bool {
			return tx.ID != last.ID && (last.Note[NoteCall] == "" || tx.Note[NoteCall] != last.Note[NoteCall] || tx.Note[NoteSession] != last.Note[NoteSession])
		})
	}
	return out
}

// touches reports whether a transaction changed something below one of the folders.
func touches(tx host.Transaction, roots []string) bool {
	return slices.ContainsFunc(tx.Paths, func(o host.TxPath) bool {
		return slices.ContainsFunc(roots, func(root string) bool { return inside(root, o.Path) || o.To != "" && inside(root, o.To) })
	})
}

func inside(root, path string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimRight(root, `/\`))
	return ok && (rest == "" || rest[0] == '/' || rest[0] == '\\')
}

// Conflict is a path that cannot be taken back as it is.
type Conflict struct {
	Path   string `json:"path"`
	Tx     string `json:"tx"` // the newest of our transactions there
	Reason string `json:"reason"`
	// Foreign is what others changed since, as a unified diff; "" where it is not known.
	Foreign string `json:"foreign,omitempty"`
	// Merge is the operation that takes back our change and keeps the foreign one; nil where both touch the same lines
	// or the content is no text.
	Merge *change.Op `json:"-"`
}

func (c *Conflict) Error() string { return fmt.Sprintf("%s: %s", c.Path, c.Reason) }

// Plan is what taking back would do.
//
// One changeset can neither turn a folder into a file nor follow a folder that was moved through other changes. Where the
// transactions did such a thing, a plan takes back the newest ones up to there and leaves the others for another plan.
type Plan struct {
	Txs       []string // that it takes back, newest first
	Left      int      // older transactions that another plan has to take back
	Set       change.Set
	Conflicts []Conflict
}

// Source is what a plan reads. host.Host is one.
type Source interface {
	Stat(ctx context.Context, real string) (host.FileInfo, error)
	Open(ctx context.Context, real string) (host.File, error)
	ReadDir(ctx context.Context, real string) ([]host.FileInfo, error)
	Image(ctx context.Context, tx, path string) (change.State, error)
}

// Diffs returns the unified diff of a transaction, where it is known, and the folder that its paths are relative to:
// the base of a merge is made from it.
type Diffs func(tx string) (diff, dir string, ok bool)

// step is what a run of transactions did to one path.
type step struct {
	path   string
	before change.State // its content is looked for when it is needed
	after  host.TxPath  // the newest change; its After fields are what should be there now
	newest string       // id of the newest transaction
	broken string       // why the chain does not hold
}

// planner folds transactions into steps.
type planner struct {
	ctx   context.Context
	src   Source
	diffs Diffs
	steps map[string]*step
	order []string // paths, newest change first
	// images says whose before-image has a content: a file that was moved and then changed has its first content there.
	images map[change.Digest][2]string
	moved  string // the folder that the plan moves back
}

// New plans to take back transactions, given oldest first. Errors are those of the source; conflicts are in the plan.
func New(ctx context.Context, src Source, txs []host.Transaction, diffs Diffs) (Plan, error) {
	p := &planner{ctx: ctx, src: src, diffs: diffs, steps: map[string]*step{}, images: map[change.Digest][2]string{}}
	plan := Plan{}
	for i, tx := range slices.Backward(txs) {
		if len(plan.Txs) > 0 && !p.fits(tx) {
			plan.Left = i + 1
			break
		}
		plan.Txs = append(plan.Txs, tx.ID)
		if movesFolder(tx) {
			plan.Left = i
			return plan, p.folderMove(&plan, tx)
		}
		for _, o := range slices.Backward(tx.Paths) {
			p.fold(tx.ID, o)
		}
	}
	return plan, p.finish(&plan)
}

func movesFolder(tx host.Transaction) bool {
	return slices.ContainsFunc(tx.Paths, func(o host.TxPath) bool { return o.Kind == change.Move && o.BeforeType == change.Dir })
}

// fits reports whether an older transaction can be taken back in the same changeset.
func (p *planner) fits(tx host.Transaction) bool {
	if movesFolder(tx) {
		return false
	}
	for _, o := range tx.Paths {
		for _, o := range split(o) {
			if s := p.steps[o.Path]; s != nil && flips(s.after.AfterType, o.BeforeType) {
				return false
			}
		}
	}
	return true
}

// flips reports whether a path would turn from a folder into something else, or the reverse.
func flips(now, before change.Type) bool {
	return now != change.Absent && before != change.Absent && (now == change.Dir) != (before == change.Dir)
}

// folderMove takes back a transaction that moved a folder.
func (p *planner) folderMove(plan *Plan, tx host.Transaction) error {
	for _, o := range slices.Backward(tx.Paths) {
		if o.Kind != change.Move {
			p.fold(tx.ID, o)
			continue
		}
		now, err := p.now(o.To, true)
		if err != nil {
			return err
		}
		free, err := p.now(o.Path, false)
		if err != nil {
			return err
		}
		if now.Type != o.BeforeType || free.Type != change.Absent {
			plan.Conflicts = append(plan.Conflicts, Conflict{Path: o.To, Tx: tx.ID, Reason: "it is not where the move left it any more, or something stands at its old place"})
			continue
		}
		plan.Set.Ops = append(plan.Set.Ops, change.Op{Kind: change.Move, Path: o.To, To: o.Path, Before: now})
		p.moved = o.To
	}
	return p.finish(plan)
}

// split turns a move into what it is in terms of paths: something made at the new one and removed at the old one.
func split(o host.TxPath) []host.TxPath {
	if o.Kind != change.Move {
		return []host.TxPath{o}
	}
	made := host.TxPath{Kind: change.Write, Path: o.To, AfterType: o.AfterType, AfterDigest: o.AfterDigest, AfterMode: o.AfterMode, AfterTarget: o.AfterTarget, AfterSize: o.AfterSize}
	gone := host.TxPath{Kind: change.Delete, Path: o.Path, BeforeType: o.BeforeType, BeforeDigest: o.BeforeDigest, BeforeMode: o.BeforeMode, BeforeTarget: o.BeforeTarget, BeforeSize: o.BeforeSize}
	return []host.TxPath{made, gone}
}

// fold adds an older change of a path to its step.
func (p *planner) fold(tx string, o host.TxPath) {
	for _, half := range split(o) {
		p.add(tx, half, o.Kind != change.Move)
	}
}

// add folds one path. image says that the transaction keeps the content that the path had.
func (p *planner) add(tx string, o host.TxPath, image bool) {
	if image && o.BeforeType == change.File && o.BeforeDigest.IsZero() { // the journal leaves out what its image can tell
		if st, err := p.src.Image(p.ctx, tx, o.Path); err == nil && st.Blob != nil {
			o.BeforeDigest = st.Blob.Digest()
		}
	}
	s := p.steps[o.Path]
	if s == nil {
		s = &step{path: o.Path, after: o, newest: tx}
		p.steps[o.Path] = s
		p.order = append(p.order, o.Path)
	} else if s.broken == "" && (o.AfterType != s.before.Type || o.AfterType == change.File && o.AfterDigest != s.before.Blob.Digest()) {
		s.broken = "it was changed by others between the calls that are to be taken back"
	}
	if image && o.BeforeType == change.File {
		p.images[o.BeforeDigest] = [2]string{tx, o.Path}
	}
	s.before = change.State{Type: o.BeforeType, Mode: o.BeforeMode, Target: o.BeforeTarget}
	if o.BeforeType == change.File {
		s.before.Blob = change.KnownBlob(o.BeforeDigest, o.BeforeSize)
	}
}

// finish compares every step with what is there now and turns it into an operation or a conflict.
func (p *planner) finish(plan *Plan) error {
	var dirs, files, gone []change.Op
	for _, path := range p.order {
		s := p.steps[path]
		now, err := p.now(path, s.after.AfterType == change.File || s.before.Type == change.File)
		if err != nil {
			return err
		}
		op, conflict, err := p.settle(s, now)
		switch {
		case err != nil:
			return err
		case conflict != nil:
			plan.Conflicts = append(plan.Conflicts, *conflict)
		case op == nil:
		case op.Kind == change.Mkdir:
			dirs = append(dirs, *op)
		case op.Kind == change.Delete:
			gone = append(gone, *op)
		default:
			files = append(files, *op)
		}
	}
	// Folders first, outermost first; then contents; then what was made, innermost first.
	slices.SortFunc(dirs, func(a, b change.Op) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(gone, func(a, b change.Op) int { return strings.Compare(b.Path, a.Path) })
	plan.Set.Ops = append(plan.Set.Ops, dirs...)
	plan.Set.Ops = append(plan.Set.Ops, files...)
	plan.Set.Ops = append(plan.Set.Ops, gone...)
	return nil
}

// settle decides what becomes of one path.
func (p *planner) settle(s *step, now change.State) (*change.Op, *Conflict, error) {
	if now.Type == change.File && s.before.Type == change.File && !s.ownMode() {
		s.before.Mode, s.after.AfterMode = now.Mode, now.Mode // whoever changed it since, it was not us
	}
	before := s.before
	if now.Type == before.Type && same(now, before) {
		return nil, nil, nil // somebody took it back already
	}
	if s.broken != "" {
		return nil, &Conflict{Path: s.path, Tx: s.newest, Reason: s.broken}, nil
	}
	if !p.untouched(s, now) {
		c, err := p.conflict(s, now)
		return nil, c, err
	}
	if before.Type == change.Dir {
		return &change.Op{Kind: change.Mkdir, Path: s.path, After: before}, nil, nil
	}
	if before.Type == change.Absent {
		if now.Type == change.Dir && !p.empty(s.path) {
			return nil, nil, nil // a folder that we made and others filled stays
		}
		return &change.Op{Kind: change.Delete, Path: s.path, Before: now}, nil, nil
	}
	if before.Type == change.File && now.Type == change.File && before.Blob.Digest() == now.Blob.Digest() {
		return &change.Op{Kind: change.Chmod, Path: s.path, Before: now, After: change.State{Type: change.File, Mode: before.Mode, Blob: now.Blob}}, nil, nil
	}
	restored, err := p.content(s)
	if err != nil {
		return nil, &Conflict{Path: s.path, Tx: s.newest, Reason: err.Error()}, nil
	}
	return &change.Op{Kind: change.Write, Path: s.path, Before: now, After: restored}, nil, nil
}

// empty reports whether a folder holds nothing but what the plan deletes as well. It looks at the steps only; the host
// refuses to delete a folder that holds more, and then nothing happens at all.
func (p *planner) empty(dir string) bool {
	entries, err := p.src.ReadDir(p.ctx, dir)
	if err != nil {
		return true
	}
	for _, e := range entries {
		path := strings.TrimSuffix(dir, "/") + "/" + e.Name
		s := p.steps[path]
		if path == p.moved {
			continue
		}
		if s == nil || s.before.Type != change.Absent || e.Type == change.Dir && !p.empty(s.path) {
			return false
		}
	}
	return true
}

func same(a, b change.State) bool {
	switch a.Type {
	case change.File:
		return a.Mode == b.Mode && a.Blob.Digest() == b.Blob.Digest()
	case change.Symlink:
		return a.Target == b.Target
	}
	return true
}

// untouched reports whether a path is what our newest change left there.
func (p *planner) untouched(s *step, now change.State) bool {
	if now.Type != s.after.AfterType {
		return false
	}
	switch now.Type {
	case change.File:
		left := s.leftMode()
		return now.Blob.Digest() == s.after.AfterDigest && (!s.ownMode() || left == 0 || left == now.Mode)
	case change.Symlink:
		return now.Target == s.after.AfterTarget
	}
	return true
}

// leftMode returns the permission bits that the newest change left; 0 where the host chose them for a new file.
func (s *step) leftMode() fs.FileMode {
	if s.after.AfterMode == 0 && s.after.BeforeType == change.File {
		return s.after.BeforeMode
	}
	return s.after.AfterMode
}

// ownMode reports whether the run of transactions changed the permission bits of a file, as far as is known.
func (s *step) ownMode() bool {
	return s.before.Type == change.File && s.leftMode() != s.before.Mode
}

// content returns the state before the run, with its content.
func (p *planner) content(s *step) (change.State, error) {
	if s.before.Type != change.File {
		return s.before, nil
	}
	want := s.before.Blob.Digest()
	if image, ok := p.images[want]; ok {
		st, err := p.src.Image(p.ctx, image[0], image[1])
		if err == nil && st.Blob != nil {
			if _, held := st.Blob.Bytes(); held && st.Blob.Digest() == want {
				return change.State{Type: change.File, Mode: s.before.Mode, Blob: st.Blob}, nil
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return change.State{}, err
		}
	}
	for _, o := range p.steps { // a moved file's content is where the move left it
		if o.after.AfterType != change.File || o.after.AfterDigest != want {
			continue
		}
		now, err := p.now(o.path, true)
		if err == nil && now.Type == change.File && now.Blob.Digest() == want {
			return change.State{Type: change.File, Mode: s.before.Mode, Blob: now.Blob}, nil
		}
	}
	return change.State{}, errors.New("its before-image is not kept any more")
}

// now returns what is at a path, with content where it is asked for.
func (p *planner) now(path string, content bool) (change.State, error) {
	info, err := p.src.Stat(p.ctx, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return change.State{}, nil
	case err != nil:
		return change.State{}, err
	}
	st := change.State{Type: info.Type, Mode: info.Mode, Target: info.Target}
	if info.Type != change.File || !content {
		return st, nil
	}
	f, err := p.src.Open(p.ctx, path)
	if err != nil {
		return st, err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	st.Blob = change.NewBlob(data)
	return st, err
}
