//go:build linux || darwin

package local

import (
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/change"
)

// way is how a step acts on the file system.
type way string

const (
	wayCreate   way = "create"   // staged beside the path, renamed where nothing stands; links are made at once
	wayExchange way = "exchange" // staged in the state directory, exchanged
	waySide     way = "side"     // staged beside the path, exchanged; the displaced inode is copied
	wayReplace  way = "replace"  // staged beside the path; the old inode is linked or copied, then renamed over
	wayInPlace  way = "in-place" // before-image copied, written through
	wayDelete   way = "delete"   // renamed into the state directory, or beside the path and then copied
	wayRmdir    way = "rmdir"
	wayMove     way = "move"
	wayMkdir    way = "mkdir"
	wayChmod    way = "chmod"
	wayNone     way = "none" // a directory that is there
)

// sidePrefix begins the name of every file that a commit makes in a workspace before its content is complete.
const sidePrefix = ".~tackle-"

// step is one operation as the journal keeps it: an operation of the set, or a parent directory that it needs.
type step struct {
	Kind   change.Kind `json:"kind"`
	Path   string      `json:"path"`
	To     string      `json:"to,omitempty"`
	Before before      `json:"before"`
	After  after       `json:"after"`
	Way    way         `json:"way"`
	Why    string      `json:"why,omitempty"`   // of an in-place write
	Side   string      `json:"side,omitempty"`  // name of the file beside Path, if the way has one
	Inode  uint64      `json:"inode,omitempty"` // of the staged content, known once it is staged
	Mtime  int64       `json:"mtime,omitempty"` // likewise
	Late   bool        `json:"late,omitempty"`  // staged when applied: an earlier step opens the directory
}

// before is what stood at the path, with its identity.
type before struct {
	Type   change.Type `json:"type"`
	Mode   uint32      `json:"mode,omitempty"` // as the kernel has it, type included
	Dev    uint64      `json:"dev,omitempty"`
	Ino    uint64      `json:"ino,omitempty"`
	Size   int64       `json:"size,omitempty"`
	Mtime  int64       `json:"mtime,omitempty"`
	Target string      `json:"target,omitempty"`
	UID    uint32      `json:"uid,omitempty"`
	GID    uint32      `json:"gid,omitempty"`
}

// after is what the path becomes.
type after struct {
	Type   change.Type `json:"type"`
	Mode   fs.FileMode `json:"mode,omitempty"` // 0: the default of the place
	Size   int64       `json:"size,omitempty"`
	Target string      `json:"target,omitempty"`
}

func beforeOf(st stat, target string) before {
	typ, _ := st.typ()
	return before{Type: typ, Mode: st.mode, Dev: st.dev, Ino: st.ino, Size: st.size, Mtime: st.mtime, Target: target, UID: st.uid, GID: st.gid}
}

func (b before) stat() stat {
	return stat{dev: b.Dev, ino: b.Ino, mode: b.Mode, size: b.Size, mtime: b.Mtime, uid: b.UID, gid: b.GID}
}

// strategy is what a receipt says of a step.
func (s *step) strategy() string {
	switch {
	case s.Way == waySide:
		return "exchange: before-image copied"
	case s.Way == wayReplace:
		return "replace: the file system has no exchange"
	case s.Way == wayNone:
		return "already there"
	case s.Why != "":
		return fmt.Sprintf("%s: %s", s.Way, s.Why)
	}
	return string(s.Way)
}

// atomic reports whether the step happens in one system call, so that a set with no other needs no journal.
func (s *step) atomic() bool { return s.Way != wayInPlace }

// ahead reports whether the step is done while staging, before the commit point, because others need it.
func (s *step) ahead() bool { return s.Way == wayMkdir || s.Way == wayNone }

// stages reports whether new content is staged under a name of its own.
func (s *step) stages() bool {
	switch s.Way {
	case wayExchange, waySide, wayReplace:
		return true
	case wayCreate:
		return s.After.Type == change.File
	}
	return false
}

// copies reports whether the before-image is kept ahead of the act, because the act does not move the old inode away.
func (s *step) copies() bool {
	switch s.Way {
	case waySide, wayReplace, wayInPlace:
		return true
	}
	return s.Way == wayDelete && s.Side != ""
}

// hasImage reports whether the step leaves a file in img/.
func (s *step) hasImage() bool {
	switch s.Way {
	case wayExchange, waySide, wayReplace, wayInPlace, wayDelete:
		return true
	}
	return false
}

// needWay is the error of a way that turned out not to work here; the commit begins again with another one.
type needWay struct {
	path string
	way  way
	why  string
	dev  uint64 // of the file
}

func (e *needWay) Error() string { return fmt.Sprintf("%s needs %s: %s", e.path, e.way, e.why) }

// rerouted says which other way serves where an exchange or rename was refused, or nil where none does.
func rerouted(s *step, err error) error {
	side := s.Way == waySide || s.Side != ""
	switch {
	case err == unix.EXDEV && s.Way == wayExchange:
		return &needWay{path: s.Path, way: waySide, why: "another mount"}
	case err == unix.EXDEV && s.Way == wayDelete && !side:
		return &needWay{path: s.Path, way: wayDelete, why: "another mount"}
	case err == unix.ENOTSUP && (s.Way == wayExchange || s.Way == waySide):
		return &needWay{path: s.Path, way: wayReplace, dev: s.Before.Dev}
	case s.Way == wayDelete || s.Way == wayCreate || s.Before.Type != change.File || s.After.Type != change.File:
		return nil
	case err == unix.EBUSY || err == unix.EXDEV:
		return &needWay{path: s.Path, way: wayInPlace, why: "mount point"}
	case err == unix.EACCES || err == unix.EPERM || err == unix.EROFS:
		return &needWay{path: s.Path, way: wayInPlace, why: "directory not writable"}
	}
	return nil
}
