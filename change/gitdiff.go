package change

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/internal/diff"
	"github.com/tackle-dev/tackle/internal/text"
)

// The headers are those of git-diff(1), "Generating patch text with -p", so that git apply reads them.

// header writes the lines before the hunks.
func (v *viewer) header(f FileChange) {
	a, b := quote("a/"+first(f.From, f.Path)), quote("b/"+f.Path)
	v.out = fmt.Appendf(v.out, "diff --git %s %s\n", a, b)
	switch f.Status {
	case Added:
		v.out = fmt.Appendf(v.out, "new file mode %s\n", gitMode(f.NewMode, false))
	case Deleted:
		v.out = fmt.Appendf(v.out, "deleted file mode %s\n", gitMode(f.OldMode, false))
	default:
		if f.OldMode != f.NewMode {
			exact := gitMode(f.OldMode, false) == gitMode(f.NewMode, false)
			v.out = fmt.Appendf(v.out, "old mode %s\nnew mode %s\n", gitMode(f.OldMode, exact), gitMode(f.NewMode, exact))
		}
		if f.Status == Renamed {
			v.out = fmt.Appendf(v.out, "rename from %s\nrename to %s\n", quote(f.From), quote(f.Path))
		}
	}
}

func (v *viewer) hunks(f FileChange, a, b []byte, changes []diff.Change) {
	if len(changes) == 0 {
		if f.Status == Modified || f.Status == Renamed {
			v.out = fmt.Appendf(v.out, "(only the encoding differs: %d bytes before, %d after)\n", f.OldSize, f.NewSize)
		}
		return
	}
	from, to := names(f)
	v.out = fmt.Appendf(v.out, "--- %s\n+++ %s\n", from, to)
	v.out = diff.AppendUnified(v.out, a, b, changes, v.opt.Context)
}

// names returns the names for the --- and +++ lines. As in git, a name with a blank ends with a tab, since other
// programs take what follows a blank for a time.
func names(f FileChange) (from, to string) {
	name := func(s string) string {
		if q := quote(s); q != s || !strings.ContainsAny(s, " ") {
			return q
		}
		return s + "\t"
	}
	from, to = name("a/"+first(f.From, f.Path)), name("b/"+f.Path)
	switch f.Status {
	case Added:
		from = "/dev/null"
	case Deleted:
		to = "/dev/null"
	}
	return from, to
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// gitMode prints a mode as git does: only two kinds of files, unless exact asks for all permission bits.
func gitMode(m fs.FileMode, exact bool) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "120000"
	case m&fs.ModeDir != 0:
		return "040000"
	case exact:
		return fmt.Sprintf("100%03o", m.Perm())
	case m&0o111 != 0:
		return "100755"
	}
	return "100644"
}

// quote writes a path as git does: in quotes with C escapes where it holds control characters, quotes or backslashes.
// Characters that do not print (among them those that reverse or hide text) are escaped too, so that a preview shows
// what is there.
func quote(path string) string {
	odd := func(r rune) bool { return r == '"' || r == '\\' || r == utf8.RuneError || !unicode.IsPrint(r) }
	if strings.IndexFunc(path, odd) < 0 {
		return path
	}
	out := []byte{'"'}
	for i := 0; i < len(path); {
		r, n := utf8.DecodeRuneInString(path[i:])
		switch j := strings.IndexRune("\a\b\t\n\v\f\r\"\\", r); {
		case j >= 0 && r != utf8.RuneError:
			out = append(out, '\\', `abtnvfr"\`[j])
		case odd(r):
			for _, c := range []byte(path[i : i+n]) {
				out = fmt.Appendf(out, `\%03o`, c)
			}
		default:
			out = append(out, path[i:i+n]...)
		}
		i += n
	}
	return string(append(out, '"'))
}

// decode returns UTF-16 text that begins with a byte order mark as UTF-8, and other bytes as they are.
func decode(data []byte) []byte {
	if !bytes.HasPrefix(data, []byte{0xff, 0xfe}) && !bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		return data
	}
	if t, err := text.Decode(data); err == nil {
		return t.Content
	}
	return data
}
