package permission

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold maps spellings that a file system, or a person, may take for one another to one text: compatibility forms
// (full-width letters, ligatures), case, and characters that do not show. It is used where a wrong match costs a question
// and a missed one costs a secret.
func fold(s string) string {
	ascii, lower := true, true
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf {
			ascii = false
			break
		}
		if 'A' <= c && c <= 'Z' {
			lower = false
		}
	}
	switch {
	case ascii && lower:
		return s
	case ascii:
		return strings.ToLower(s)
	}
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKC.String(s))
	return norm.NFKC.String(s)
}

// foldName folds one path component the way the laxest file system reads it: Windows drops dots and blanks at the end
// and opens "name:stream" as name, and knows ".git" as "git~1" too. s must be folded already.
func foldName(s string) string {
	if i := strings.IndexByte(s, ':'); i > 0 {
		s = s[:i]
	}
	if s != "" && (s[len(s)-1] == '.' || s[len(s)-1] == ' ') {
		if t := strings.TrimRight(s, ". "); t != "" {
			s = t
		}
	}
	if s == "git~1" {
		return ".git"
	}
	return s
}
