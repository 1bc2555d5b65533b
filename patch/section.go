package patch

import (
	"slices"
	"strings"
)

// close turns the open section into a FilePatch.
func (u *unifiedParser) close() error {
	if !u.open {
		return nil
	}
	s := &u.sec
	f, err := u.resolve()
	if err != nil {
		return err
	}
	if (f.Op == Update || f.Op == Copy) && (f.NewMode == 0 || f.NewMode == f.OldMode) {
		f.OldMode, f.NewMode = 0, 0 // an old mode alone, or the same twice, asks for nothing
	}
	switch {
	case s.binary != "":
		return &ParseError{Line: s.line, Path: f.Path, Msg: s.binary}
	case len(s.hunks) == 0 && f.Op == Update && f.To == "" && f.OldMode == f.NewMode:
		if s.headers || !s.git {
			return &ParseError{Line: s.line, Path: f.Path, Msg: "no hunk follows the file header"}
		}
		return &ParseError{Line: s.line, Path: f.Path, Msg: "the section says no change"}
	}
	if len(s.hunks) == 0 {
		u.hunks++
	}
	f.Hunks, f.Line = s.hunks, s.line
	u.patch.Files = append(u.patch.Files, f)
	u.open = false
	return nil
}

// resolve decides what the section does, to which file.
func (u *unifiedParser) resolve() (FilePatch, error) {
	s, f := &u.sec, FilePatch{}
	bad := func(err error) (FilePatch, error) { return f, u.errorf(s.line-u.first, "%v", err) }
	var err error
	if f.OldMode, err = parseMode(s.oldMode); err != nil {
		return bad(err)
	}
	if f.NewMode, err = parseMode(s.newMode); err != nil {
		return bad(err)
	}
	if s.rename || s.copy {
		f.Path, f.To = s.from, s.to
		if s.copy {
			f.Op = Copy
		}
		if f.Path == "" || f.To == "" || hasNUL(f.Path, f.To) {
			return f, u.errorf(s.line-u.first, "a rename or copy needs both names, \"rename from\" and \"rename to\"")
		}
		return f, nil
	}
	old, new := s.old, s.new
	if !s.headers {
		o, n, ok := splitGitNames(s.names)
		if !ok || hasNUL(o, n) {
			return f, u.errorf(s.line-u.first, "the names %q cannot be told apart; --- and +++ lines are missing", clip(s.names))
		}
		old, new = name{text: o}, name{text: n}
	}
	s.decide(&f, &old, &new)
	f.names(old.path(), new.path(), s.index)
	if f.Path == "" {
		return f, u.errorf(s.line-u.first, "both sides are %s; name the file on one of them", devNull)
	}
	return f, nil
}

func hasNUL(names ...string) bool {
	return slices.ContainsFunc(names, func(s string) bool { return strings.ContainsRune(s, 0) })
}

// decide sets the operation. A side that does not exist (/dev/null, the epoch, git's words) makes an Add or a Delete, unless
// the hunks take lines from nothing, as models write them: then the file is there and is updated.
func (s *section) decide(f *FilePatch, old, new *name) {
	takes, gives := false, false
	for _, h := range s.hunks {
		o, n := h.counts()
		takes, gives = takes || o > 0, gives || n > 0
	}
	noOld := s.made || old.none || old.epoch && !takes
	noNew := s.gone || new.none || new.epoch && !gives
	switch {
	case noOld && !takes:
		f.Op, old.none = Add, true
	case noNew && !gives:
		f.Op, new.none = Delete, true
	default:
		f.Op = Update
		if s.made {
			f.NewMode = 0
		}
	}
}

// names sets Path and its other readings from the names of both sides, either of which may be "". Where a diff of two
// directories names the sides differently, the name below them is a reading too.
func (f *FilePatch) names(old, new, index string) {
	o, n := strip(old, new)
	_, below, _ := strings.Cut(o, "/")
	if _, b, ok := strings.Cut(n, "/"); !ok || b != below || o == n {
		below = ""
	}
	for _, name := range []string{o, n, old, new, index, below} {
		switch {
		case name == "":
		case f.Path == "":
			f.Path = name
		case name != f.Path && !slices.Contains(f.Names, name):
			f.Names = append(f.Names, name)
		}
	}
}
