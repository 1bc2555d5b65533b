package edit

import (
	"regexp"
	"strings"

	"github.com/tackle-dev/tackle/internal/text"
)

// A model that saves itself writing writes "// ... existing code ..." or "(rest of methods ...)" on a line of its own.
// A tool that takes it literally deletes the code that it stands for. The line must have the dots and one of the usual
// phrases, and nothing else but comment signs, brackets and a few words.
var (
	omissionDots   = regexp.MustCompile(`^(\.\.\.|…)[ \t]|(\.\.\.|…)$`)
	omissionPhrase = regexp.MustCompile(`(?i)^(\W*)(the |all |your |other |more |any )*(rest|remainder|remaining|existing|unchanged|previous|omitted|same as (before|above)|code unchanged|keep (the )?(rest|existing|other)|as before|(code|methods?|functions?|lines?|imports?|content|implementation|logic) (remains?|omitted|unchanged|stays?|here))\b`)
)

// AddedOmission returns a line of the new text that stands for text left out, such as "// ... existing code ...", where the
// new text has more of it than the old one; otherwise "".
func AddedOmission(old, new string) string {
	var had map[string]int
	for rest := new; rest != ""; {
		body, _, next := text.Next(rest, false)
		rest = next
		p := placeholder(body)
		if p == "" {
			continue
		}
		if had == nil {
			had = placeholders(old)
		}
		if had[p]--; had[p] < 0 {
			return p
		}
	}
	return ""
}

func placeholders(s string) map[string]int {
	n := map[string]int{}
	for rest := s; rest != ""; {
		body, _, next := text.Next(rest, false)
		if p := placeholder(body); p != "" {
			n[p]++
		}
		rest = next
	}
	return n
}

// placeholder returns the line without white space around it if it is a placeholder, otherwise "".
func placeholder(body string) string {
	const long = 100 // bytes; a longer line says more than a placeholder does
	if len(body) > 4*long || !strings.Contains(body, "...") && !strings.Contains(body, "…") {
		return ""
	}
	line := strings.TrimSpace(body)
	if len(line) > long {
		return ""
	}
	// A bare "Previous..." can be a text on a button, and a quoted one is a string: neither is meant for a reader of code.
	bare := strings.Trim(line, " \t/#*<>!-;%()[]{}")
	if !strings.HasPrefix(line, "...") && !strings.HasPrefix(line, "…") && strings.HasPrefix(line, bare) {
		return ""
	}
	if !omissionDots.MatchString(bare) || !omissionPhrase.MatchString(strings.Trim(bare, ".… ")) {
		return ""
	}
	return line
}
