package patch

import (
	"strings"
)

// unwrap takes off what is wrapped around a patch: code fences, a here-document, and the shell command before it. The
// bare here-document <<EOF is part of the envelope's language, as its programs take it; the rest is noted.
func (in *input) unwrap() error {
	for range 4 { // a fence around a command around a here-document, and one to spare
		n := in.end()
		switch first := in.trimmed(0); {
		case n >= 2 && isFence(first) && in.trimmed(n-1) == first[:3]:
			in.note(0, "code fences around the patch were dropped")
			in.cut(1)
		case strings.HasPrefix(first, "%%") && n > 1:
			in.note(0, "the line "+first+" before the patch was dropped")
			in.lines, in.first = in.lines[1:], in.first+1
		case strings.Contains(first, "<<"):
			done, err := in.hereDocument(first)
			if err != nil || !done {
				return err
			}
		default:
			return nil
		}
		if in.trimStart(); in.blank() {
			return &ParseError{Line: in.first, Msg: "nothing is wrapped in the fences" + expected}
		}
	}
	return nil
}

// cut drops n lines at both ends, at the lower end after the blank lines.
func (in *input) cut(n int) {
	in.lines = in.lines[n:max(n, in.end()-n)]
	in.first += n
}

// isFence reports whether a line opens a block of code: three marks and perhaps the name of a language.
func isFence(line string) bool {
	return (strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")) && !strings.ContainsAny(line[3:], "`~ ")
}

// hereDocument takes off a here-document that begins on the first line. It reports whether there was one.
func (in *input) hereDocument(first string) (bool, error) {
	command, tag, _ := strings.Cut(first, "<<")
	tag, bare := unquoteTag(strings.TrimPrefix(tag, "-"))
	if tag == "" {
		return false, nil
	}
	switch command = strings.TrimSpace(command); {
	case command == "", command == "cat", command == "apply_patch", command == "applypatch":
	case strings.Contains(command, "apply"):
		return false, in.errorf(0, "the patch is wrapped in the command %q; send the patch alone, with paths relative to the working directory", clip(first))
	default:
		return false, nil
	}
	n := in.end()
	if in.trimmed(n-1) != tag {
		return false, in.errorf(n-1, "the here-document <<%s has no end: the last line must be %q, is %q", tag, tag, clip(in.trimmed(n-1)))
	}
	if n < 3 {
		return false, in.errorf(0, "the here-document <<%s is empty", tag)
	}
	if command != "" || tag != "EOF" || !bare {
		in.note(0, "the here-document "+first+" around the patch was dropped")
	}
	in.cut(1)
	return true, nil
}

// unquoteTag returns the tag of a here-document, or "" where it is none, and whether nothing but it stands there.
func unquoteTag(s string) (tag string, bare bool) {
	s = strings.TrimSpace(s)
	if len(s) > 2 && (s[0] == '\'' || s[0] == '"') && s[len(s)-1] == s[0] {
		s = s[1 : len(s)-1]
	}
	if strings.ContainsAny(s, "'\"`$ \t<>|&;()\\") {
		return "", false
	}
	return s, true
}
