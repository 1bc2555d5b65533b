package change

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"

	"github.com/tackle-dev/tackle/internal/diff"
)

// Status says in one letter what happens to a file, as git does.
type Status string

// The letters. A change of permission bits alone is Modified; see OldMode and NewMode.
const (
	Added       Status = "A"
	Modified    Status = "M"
	Deleted     Status = "D"
	Renamed     Status = "R" // From is the old path; the content may change too
	TypeChanged Status = "T" // a file becomes a link or the reverse
)

// FileChange is one line of a Preview. Paths are relative to the root of the preview with slashes, or absolute outside of
// it; the path of a directory ends with a slash.
type FileChange struct {
	Path   string
	From   string // Renamed only
	Status Status

	// Added and Removed count lines. They mean something only where LineCountsAvailable is set: it is not for binary
	// content and for content that is not held.
	Added, Removed      int
	LineCountsAvailable bool
	Binary              bool // NUL among the first 8000 bytes, before or after, as git decides

	OldSize, NewSize int64 // bytes; 0 where there is no file
	// OldMode and NewMode hold type and permission bits; 0 where there is nothing. A file that is to be made with the
	// mode of the host's choice has no permission bits.
	OldMode, NewMode fs.FileMode
}

// Preview shows what a Set does: to people, to a policy, and to git, whose apply takes Diff where all content is text.
type Preview struct {
	Files []FileChange `json:"files"` // what really changes, in the order of the operations
	Diff  string       `json:"diff"`  // unified diff with git's headers
}

// PreviewOptions tune a preview. The zero value is the usual form.
type PreviewOptions struct {
	// Context is the number of equal lines around a change. Default 3; negative means none.
	Context int
}

// Preview describes the set with paths relative to root ("" leaves all of them absolute). A Delete and the creation of a
// similar file (the same content anywhere in the set, or at least half of it where the two operations are neighbours)
// are shown as a rename. Text in UTF-16 with a byte order mark is shown decoded; other bytes are shown as they are.
func (s *Set) Preview(root string, opt PreviewOptions) Preview {
	switch {
	case opt.Context == 0:
		opt.Context = 3
	case opt.Context < 0:
		opt.Context = 0
	}
	v := viewer{root: root, opt: opt}
	if s != nil {
		source := s.renames()
		moved := make(map[int]bool, len(source))
		for _, i := range source {
			moved[i] = true
		}
		for i, op := range s.Ops {
			from, renamed := source[i]
			switch {
			case moved[i]:
			case renamed:
				v.rename(s.Ops[from].Path, op.Path, s.Ops[from].Before, op.After)
			case op.Kind == Move:
				v.rename(op.Path, op.To, op.Before, op.Before)
			default:
				v.file(op)
			}
		}
	}
	return Preview{Files: v.files, Diff: string(v.out)}
}

// renames pairs the operations that create a file with those that delete it elsewhere: index of the Write to index of
// the Delete.
func (s *Set) renames() map[int]int {
	type key struct {
		size int64
		sum  Digest
	}
	var gone map[key][]int
	for i, op := range s.Ops {
		if op.Kind == Delete && op.Before.Type == File && op.Before.Blob.Size() > 0 {
			if gone == nil {
				gone = map[key][]int{}
			}
			k := key{op.Before.Blob.Size(), op.Before.Blob.Digest()}
			gone[k] = append(gone[k], i)
		}
	}
	if gone == nil {
		return nil
	}
	out, used := map[int]int{}, map[int]bool{}
	for i, op := range s.Ops {
		if !op.creates() {
			continue
		}
		k := key{op.After.Blob.Size(), op.After.Blob.Digest()}
		if l := gone[k]; len(l) > 0 {
			out[i], used[l[0]], gone[k] = l[0], true, l[1:]
		}
	}
	for i, op := range s.Ops {
		if _, done := out[i]; done || !op.creates() {
			continue
		}
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < len(s.Ops) && !used[j] && s.Ops[j].Kind == Delete && similar(s.Ops[j].Before, op.After) >= 50 {
				out[i], used[j] = j, true
				break
			}
		}
	}
	return out
}

func (o Op) creates() bool {
	return o.Kind == Write && o.Before.Type == Absent && o.After.Type == File && o.After.Blob.Size() > 0
}

// similar returns how much of the larger of two files is in both, in percent.
func similar(a, b State) int {
	if a.Type != File || b.Type != File {
		return 0
	}
	if a.Blob.equal(b.Blob) {
		return 100
	}
	x, okA := a.Blob.Bytes()
	y, okB := b.Blob.Bytes()
	if !okA || !okB {
		return 0
	}
	same := len(x)
	for _, c := range diff.Compare(x, y) {
		same -= c.A.OffEnd - c.A.Off
	}
	return min(99, 100*same/max(len(x), len(y)))
}

// viewer builds a preview.
type viewer struct {
	root  string
	opt   PreviewOptions
	files []FileChange
	out   []byte
}

// rel returns the path as the preview shows it.
func (v *viewer) rel(path string) string {
	sep := func(c byte) bool { return c == '/' || c == '\\' && !strings.HasPrefix(path, "/") }
	rest, ok := strings.CutPrefix(path, v.root)
	if v.root == "" || !ok || rest == "" || !sep(rest[0]) && !sep(v.root[len(v.root)-1]) {
		return path
	}
	if sep(rest[0]) {
		rest = rest[1:]
	}
	if !strings.HasPrefix(path, "/") {
		rest = strings.ReplaceAll(rest, `\`, "/")
	}
	return rest
}

// file shows any operation but Move.
func (v *viewer) file(op Op) {
	before, after := op.Before, op.After
	if after.Type != Absent && after.Mode == 0 {
		after.Mode = before.Mode // replaced by the host's choice, which is to keep it
	}
	if before.Equal(after) || before.Type == Dir && op.Kind == Mkdir {
		return
	}
	f := FileChange{Path: v.rel(op.Path), Status: Modified}
	switch {
	case before.Type == Absent:
		f.Status = Added
	case after.Type == Absent:
		f.Status = Deleted
	case before.Type != after.Type:
		f.Status = TypeChanged
	}
	if before.Type == Dir || after.Type == Dir {
		f.Path += "/"
	}
	v.show(f, before, after)
}

func (v *viewer) rename(from, to string, before, after State) {
	if after.Mode == 0 {
		after.Mode = before.Mode
	}
	f := FileChange{Path: v.rel(to), From: v.rel(from), Status: Renamed}
	if before.Type == Dir {
		f.Path, f.From = f.Path+"/", f.From+"/"
	}
	v.show(f, before, after)
}

// show adds a change to the list and to the diff. A change of type is two sections of the diff, as in git.
func (v *viewer) show(f FileChange, before, after State) {
	f.OldSize, f.NewSize = before.size(), after.size()
	f.OldMode, f.NewMode = before.fullMode(), after.fullMode()
	if f.Status == TypeChanged {
		gone, made := f, f
		gone.Status, made.Status = Deleted, Added
		v.section(&gone, before, State{})
		v.section(&made, State{}, after)
		f.Binary = gone.Binary || made.Binary
		f.LineCountsAvailable = gone.LineCountsAvailable && made.LineCountsAvailable
		f.Added, f.Removed = made.Added, gone.Removed
	} else if before.Type != Dir && after.Type != Dir {
		v.section(&f, before, after)
	}
	v.files = append(v.files, f)
}

// section writes a change to the diff and notes what it counted.
func (v *viewer) section(f *FileChange, before, after State) {
	v.header(*f)
	a, heldA := before.shown()
	b, heldB := after.shown()
	switch {
	case before.Type == after.Type && before.Blob.equal(after.Blob) && before.Target == after.Target:
		f.LineCountsAvailable = true // only the name or the mode changes
		f.Binary = isBinary(a)
	case !heldA || !heldB:
		v.differ(*f, "content not held")
	case isBinary(a) || isBinary(b):
		f.Binary = true
		v.differ(*f, "binary")
	default:
		f.LineCountsAvailable = true
		changes := diff.Compare(a, b)
		f.Added, f.Removed = diff.Count(changes)
		v.hunks(*f, a, b, changes)
	}
}

func (s State) size() int64 {
	if s.Type == Symlink {
		return int64(len(s.Target))
	}
	return s.Blob.Size()
}

func (s State) fullMode() fs.FileMode {
	switch s.Type {
	case File:
		return s.Mode.Perm()
	case Dir:
		return s.Mode.Perm() | fs.ModeDir
	case Symlink:
		return s.Mode.Perm() | fs.ModeSymlink
	}
	return 0
}

// shown returns the text that a diff shows for a state, and whether it is known.
func (s State) shown() ([]byte, bool) {
	switch s.Type {
	case Symlink:
		return []byte(s.Target), true
	case File:
		data, ok := s.Blob.Bytes()
		return decode(data), ok
	}
	return nil, true
}

// isBinary decides as git does.
func isBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 }

// differ says that contents differ without showing them.
func (v *viewer) differ(f FileChange, why string) {
	a, b := names(f)
	v.out = fmt.Appendf(v.out, "Binary files %s and %s differ\n(%s: %d bytes before, %d after)\n", a, b, why, f.OldSize, f.NewSize)
}
