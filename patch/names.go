package patch

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// name is a name on a --- or +++ line.
type name struct {
	text  string // without quotes and time; "" where there was no line
	none  bool   // /dev/null, or the file does not exist on this side
	epoch bool   // dated at the epoch, as diff -N dates a file that does not exist
}

// path returns the name where it names a file.
func (n name) path() string {
	if n.none {
		return ""
	}
	return n.text
}

const devNull = "/dev/null"

// parseName reads what follows "--- ": a name, perhaps quoted, and after a tab (or blanks) a time or a revision.
func parseName(s string) (name, error) {
	var n name
	if strings.HasPrefix(s, `"`) {
		end := closingQuote(s)
		text, err := unquote(s[:end])
		if err != nil {
			return n, err
		}
		n.text, s = text, s[end:]
	} else {
		n.text, s = cutTime(s)
	}
	rest := strings.TrimSpace(s)
	n.epoch = isEpoch(rest)
	n.none = n.text == devNull || rest == "(nonexistent)"
	if n.text == "" {
		return n, fmt.Errorf("no path follows the --- or +++")
	}
	if strings.ContainsRune(n.text, 0) {
		return n, fmt.Errorf("the path %q contains a NUL", clip(n.text))
	}
	return n, nil
}

// cutTime cuts a name from the time or the revision behind it.
func cutTime(s string) (text, rest string) {
	if text, rest, ok := strings.Cut(s, "\t"); ok {
		return strings.TrimRight(text, " "), rest
	}
	s = strings.TrimRight(s, " ")
	// Without a tab, only what can be nothing else is cut off.
	if i := strings.LastIndex(s, " ("); i > 0 && (strings.HasPrefix(s[i:], " (revision ") || s[i:] == " (working copy)" || s[i:] == " (nonexistent)") {
		return strings.TrimRight(s[:i], " "), s[i:]
	}
	const longest = 48 // of the forms of a time
	for i := max(1, len(s)-longest); i+1 < len(s); i++ {
		if s[i] == ' ' && s[i+1] != ' ' {
			if _, ok := parseTime(s[i+1:]); ok {
				return strings.TrimRight(s[:i], " "), s[i:]
			}
		}
	}
	return s, ""
}

// The forms in which diff, git, hg and svn write times.
var timeLayouts = []string{
	"2006-01-02 15:04:05.999999999 -0700",
	"2006-01-02 15:04:05 -0700",
	"2006-01-02 15:04:05",
	"Mon Jan _2 15:04:05 2006 -0700",
	"Mon Jan _2 15:04:05 2006",
}

func parseTime(s string) (time.Time, bool) {
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

func isEpoch(s string) bool {
	t, ok := parseTime(s)
	return ok && t.Unix() == 0
}

// closingQuote returns the offset behind the quote that ends s, which begins with one.
func closingQuote(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

// unquote undoes git's quoting of names: C escapes between double quotes.
func unquote(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	bad := fmt.Errorf("the quoted name %s is not well formed", clip(s))
	if len(s) < 2 || closingQuote(s) != len(s) || s[len(s)-1] != '"' {
		return "", bad
	}
	in := s[1 : len(s)-1]
	var out []byte
	for i := 0; i < len(in); i++ {
		if in[i] != '\\' {
			out = append(out, in[i])
			continue
		}
		if i++; i == len(in) {
			return "", bad
		}
		if j := strings.IndexByte(`abtnvfr"\`, in[i]); j >= 0 {
			out = append(out, "\a\b\t\n\v\f\r\"\\"[j])
			continue
		}
		if i+3 > len(in) {
			return "", bad
		}
		n, err := strconv.ParseUint(in[i:i+3], 8, 8)
		if err != nil {
			return "", bad
		}
		out = append(out, byte(n))
		i += 2
	}
	return string(out), nil
}

// prefixes are the pairs that git puts before old and new names, also with diff.mnemonicPrefix.
var prefixes = [][2]string{{"a/", "b/"}, {"i/", "w/"}, {"c/", "i/"}, {"c/", "w/"}, {"o/", "w/"}, {"1/", "2/"}, {"w/", "i/"}, {"w/", "c/"}}

// strip takes the prefixes off a pair of names if both carry them. Either may be "", for a side without a file.
func strip(old, new string) (string, string) {
	for _, p := range prefixes {
		o, okOld := strings.CutPrefix(old, p[0])
		n, okNew := strings.CutPrefix(new, p[1])
		if (okOld || old == "") && (okNew || new == "") && (okOld || okNew) {
			return o, n
		}
	}
	return old, new
}

// splitGitNames returns the old and the new name of a "diff --git" line. Where the names are not quoted nothing marks the
// border, so only names that are equal without their prefixes can be told apart.
func splitGitNames(s string) (old, new string, ok bool) {
	if strings.HasPrefix(s, `"`) {
		end := closingQuote(s)
		old, err := unquote(s[:end])
		if err != nil || end >= len(s) {
			return "", "", false
		}
		new, err := unquote(strings.TrimPrefix(s[end:], " "))
		return old, new, err == nil
	}
	if i := strings.Index(s, ` "`); i > 0 && strings.HasSuffix(s, `"`) {
		new, err := unquote(s[i+1:])
		return s[:i], new, err == nil
	}
	for i := range s {
		if s[i] != ' ' {
			continue
		}
		o, n := strip(s[:i], s[i+1:])
		if o == n && o != "" {
			return s[:i], s[i+1:], true
		}
	}
	if i := strings.IndexByte(s, ' '); i > 0 && strings.Count(s, " ") == 1 {
		return s[:i], s[i+1:], true
	}
	return "", "", false
}

// parseMode reads one of git's octal modes.
func parseMode(s string) (fs.FileMode, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 8, 32)
	if err != nil {
		return 0, fmt.Errorf("the mode %q is not octal", clip(s))
	}
	mode := fs.FileMode(n).Perm()
	switch n >> 12 {
	case 0o10:
		return mode, nil
	case 0o12:
		return mode | fs.ModeSymlink, nil
	case 0o16:
		return 0, fmt.Errorf("mode %s is a git submodule, which a patch cannot change", s)
	}
	return 0, fmt.Errorf("mode %s is no file", s)
}
