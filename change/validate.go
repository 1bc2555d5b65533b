package change

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// Equal reports whether two states are the same: type, permission bits, content and link target. Contents are compared
// by bytes where both are held and by digest otherwise.
func (s State) Equal(t State) bool {
	return s.Type == t.Type && s.Mode == t.Mode && s.Target == t.Target && s.Blob.equal(t.Blob)
}

func (b *Blob) equal(c *Blob) bool {
	if b == c {
		return true
	}
	if b == nil || c == nil || b.size != c.size {
		return false
	}
	if b.known && c.known {
		return string(b.data) == string(c.data)
	}
	return b.Digest() == c.Digest()
}

// Validate reports the first operation that no host could carry out: a path that is not absolute and clean, a path that
// a second operation names, a state that does not fit the kind, content that is not held, or an operation below a path
// that another one turns into a file, moves away, or removes first. Whether the Before states hold is for the host.
func (s *Set) Validate() error {
	if s == nil {
		return nil
	}
	at := make(map[string]int, len(s.Ops)+1)
	for i, op := range s.Ops {
		if err := op.validate(); err != nil {
			return opError(i, op, err)
		}
		for _, p := range op.paths() {
			if j, ok := at[p]; ok {
				return opError(i, op, fmt.Errorf("operation %d names %q too; join them", j, p))
			}
			at[p] = i
		}
	}
	for i, op := range s.Ops {
		for _, p := range op.paths() {
			for dir := parent(p); dir != ""; dir = parent(dir) {
				j, ok := at[dir]
				if !ok || j == i {
					continue
				}
				if err := below(op, p, i, s.Ops[j], dir, j); err != nil {
					return opError(i, op, err)
				}
			}
		}
	}
	return nil
}

func opError(i int, op Op, err error) error {
	return fmt.Errorf("operation %d, %s %q: %w", i, op.Kind, op.Path, err)
}

// paths returns the paths that the operation names.
func (o Op) paths() []string {
	if o.Kind == Move {
		return []string{o.Path, o.To}
	}
	return []string{o.Path}
}

func (o Op) validate() error {
	if o.Kind > Chmod {
		return fmt.Errorf("unknown kind %d", uint8(o.Kind))
	}
	for _, p := range o.paths() {
		if !cleanAbs(p) {
			return fmt.Errorf("path %q is not absolute and clean", p)
		}
	}
	if o.Kind != Move && o.To != "" {
		return fmt.Errorf("only a move has a second path, got %q", o.To)
	}
	b, a := o.Before, o.After
	switch o.Kind {
	case Write:
		if b.Type == Dir {
			return errors.New("a directory cannot be replaced; delete it first")
		}
		return a.writable()
	case Delete, Move:
		if b.Type == Absent {
			return errors.New("its Before says that the path is absent")
		}
		if a.Type != Absent {
			return fmt.Errorf("its After must be empty, is a %s", a.Type)
		}
		if o.Kind == Move && o.Path == o.To {
			return errors.New("moved onto itself")
		}
	case Mkdir:
		if a.Type != Dir || b.Type != Absent && b.Type != Dir {
			return fmt.Errorf("makes a %s of a %s", a.Type, b.Type)
		}
	case Chmod:
		if b.Type != a.Type || b.Type != File && b.Type != Dir {
			return fmt.Errorf("changes the mode of a %s into a %s", b.Type, a.Type)
		}
		if b.Type == File && !b.Blob.equal(a.Blob) {
			return errors.New("changes the content too; use a write")
		}
	}
	return nil
}

// writable reports what keeps a state from being written.
func (s State) writable() error {
	switch s.Type {
	case File:
		if _, ok := s.Blob.Bytes(); !ok {
			return errors.New("the content to write is not held")
		}
	case Symlink:
		if s.Target == "" || strings.ContainsRune(s.Target, 0) {
			return fmt.Errorf("bad link target %q", s.Target)
		}
	default:
		return fmt.Errorf("a write makes a file or a link, not a %s", s.Type)
	}
	return nil
}

// below judges operation i on p against operation j on dir, which is a directory above p.
func below(op Op, p string, i int, above Op, dir string, j int) error {
	switch above.Kind {
	case Write:
		return fmt.Errorf("%q lies below %q, which operation %d makes a %s", p, dir, j, above.After.Type)
	case Move:
		return fmt.Errorf("%q lies below %q, which operation %d moves", p, dir, j)
	case Delete:
		if gone := above.Before.Type != Dir; gone == (i < j) {
			return fmt.Errorf("%q lies below %q, which operation %d removes; their order is wrong", p, dir, j)
		} else if !gone && (op.Kind == Write || op.Kind == Mkdir || op.Kind == Chmod || p == op.To) {
			return fmt.Errorf("%q would stand below %q, which operation %d removes", p, dir, j)
		}
	case Mkdir:
		if i < j && above.Before.Type == Absent {
			return fmt.Errorf("%q lies below %q, which operation %d makes only afterwards", p, dir, j)
		}
	}
	return nil
}

// cleanAbs reports whether p is an absolute, clean path of some host: "/x/y", or "C:\x\y" and "\\server\share\x" with either separator.
// The rules of this machine do not matter, since a set may be planned for another one.
func cleanAbs(p string) bool {
	if strings.ContainsRune(p, 0) {
		return false
	}
	if strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "//") {
		return path.Clean(p) == p
	}
	rest, ok := cutVolume(p)
	if !ok {
		return false
	}
	return len(rest) == 1 || path.Clean("/"+rest[1:]) == "/"+rest[1:]
}

// cutVolume returns what follows the volume of a Windows path, beginning with a separator, as slashes.
func cutVolume(p string) (rest string, ok bool) {
	p = strings.ReplaceAll(p, `\`, "/")
	if len(p) >= 3 && p[1] == ':' && p[2] == '/' && ('A' <= p[0]&^0x20 && p[0]&^0x20 <= 'Z') {
		return p[2:], true
	}
	if strings.HasPrefix(p, "//") {
		host, share, _ := strings.Cut(p[2:], "/")
		share, rest, _ = strings.Cut(share, "/")
		return "/" + rest, host != "" && share != ""
	}
	return "", false
}

// parent returns the directory above p, or "" at the top.
func parent(p string) string {
	i := strings.LastIndexAny(p, `/\`)
	if i <= 0 {
		return ""
	}
	return p[:i]
}
