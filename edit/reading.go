package edit

import (
	"strings"

	"github.com/tackle-dev/tackle/internal/text"
)

// reading is one way to understand a request: as it stands, or without what got into it by copying. Old and new text are
// always read in the same way; where the new text contradicts, there is no such reading.
type reading struct {
	old, new string
	lines    bool // the old text is made of whole lines, since each of them was marked
	line     int  // LineNumbers: the number before the first line
	rung     Rung
}

// separators are what viewers put between the number and the text of a line, those that begin like another one first.
var separators = []string{"\t", "→", ": ", ":", " | ", "| ", "|"}

// withoutNumbers reads text copied with the line numbers of a viewer. The numbers must count up by one.
func withoutNumbers(old, new string) []reading {
	var all []reading
	for _, sep := range separators {
		stripped, first, ok := stripNumbers(old, sep, true)
		if !ok {
			continue
		}
		r := reading{old: stripped, new: new, lines: true, line: first, rung: LineNumbers}
		if s, _, ok := stripNumbers(new, sep, false); ok {
			r.new = s
		} else if numbered(new, sep) {
			continue // only some lines are: which of them mean it?
		}
		all = append(all, r)
	}
	return all
}

// stripNumbers removes the number and separator from each line. Blank lines may lack them unless strict, where only an
// empty line may lack the blank of the separator.
func stripNumbers(s, sep string, strict bool) (stripped string, first int, ok bool) {
	var b strings.Builder
	last := 0
	for rest := s; rest != ""; {
		body, ending, next := text.Next(rest, false)
		n, tail, found := cutNumber(body, sep)
		switch {
		case found && (!strict || last == 0 || n == last+1):
			b.WriteString(tail)
		case !found && !strict && strings.TrimSpace(body) == "":
		default:
			return "", 0, false
		}
		if found {
			if first == 0 {
				first = n
			}
			last = n
		}
		b.WriteString(ending)
		rest = next
	}
	return b.String(), first, last > 0
}

// numbered reports whether some line of s has a number and the separator.
func numbered(s, sep string) bool {
	for rest := s; rest != ""; {
		body, _, next := text.Next(rest, false)
		if _, _, found := cutNumber(body, sep); found {
			return true
		}
		rest = next
	}
	return false
}

// cutNumber cuts blanks, a number of at most seven digits and the separator from the start of a line.
func cutNumber(line, sep string) (n int, tail string, ok bool) {
	s := strings.TrimLeft(line, " ")
	digits := 0
	for digits < len(s) && digits < 8 && s[digits] >= '0' && s[digits] <= '9' {
		n = 10*n + int(s[digits]-'0')
		digits++
	}
	if digits == 0 || digits == 8 || n == 0 {
		return 0, "", false
	}
	if tail, ok = strings.CutPrefix(s[digits:], sep); ok {
		return n, tail, true
	}
	return n, "", s[digits:] == strings.TrimRight(sep, " \t") // an empty line whose blank was trimmed
}

// withoutMarkers reads text copied from a diff: '-' or '+' before some lines, and that or a blank before all others.
func withoutMarkers(old, new string) []reading {
	plainOld, signsOld, ok := stripMarkers(old, "- ")
	if !ok || signsOld == "" {
		plainOld, signsOld, ok = stripMarkers(old, "+ ")
	}
	if !ok || strings.Trim(signsOld, " ") == "" {
		return nil
	}
	r := reading{old: plainOld, new: new, lines: true, rung: DiffMarkers}
	plainNew, signsNew, ok := stripMarkers(new, "+ ")
	switch {
	case ok && strings.Contains(signsNew, "+"):
		r.new = plainNew
	case strings.Contains(signsOld, " ") && new != "": // the blanks before context lines: are they in the new text, too?
		if !ok {
			return nil
		}
		r.new = plainNew
	case strings.ContainsAny(lineStarts(new), "+-"):
		return nil
	}
	return []reading{r}
}

// stripMarkers cuts the first character of each line, which must be one of allowed, and returns those characters.
// Empty lines have lost theirs.
func stripMarkers(s, allowed string) (stripped, signs string, ok bool) {
	var b strings.Builder
	for rest := s; rest != ""; {
		body, ending, next := text.Next(rest, false)
		if body != "" {
			if strings.IndexByte(allowed, body[0]) < 0 {
				return "", "", false
			}
			signs += body[:1]
			body = body[1:]
		}
		b.WriteString(body)
		b.WriteString(ending)
		rest = next
	}
	return b.String(), signs, signs != ""
}

// lineStarts returns the first characters of the lines of s.
func lineStarts(s string) string {
	var b strings.Builder
	for rest := s; rest != ""; {
		body, _, next := text.Next(rest, false)
		if body != "" {
			b.WriteByte(body[0])
		}
		rest = next
	}
	return b.String()
}

const (
	escapes = `ntr"'\`
	quotes  = `"'`
)

// withoutEscapes reads text that was escaped once too often: all of it, or only its quotes while its \n are meant.
func withoutEscapes(old, new string) []reading {
	var all []reading
	_, every := unescape(old, escapes)
	for _, known := range []string{escapes, quotes} {
		plain, kinds := unescape(old, known)
		if kinds == "" || strings.Contains(kinds, "n") && strings.Contains(old, "\n") {
			continue // a real line break in the old text: its \n are meant
		}
		if known == quotes && strings.Trim(every, quotes) == "" {
			continue // nothing else in the old text is escaped, so it says nothing about other escapes
		}
		// If the new text shows the same slip it is read likewise; if it has a real character where the old text had
		// the escape, it is right as it stands; otherwise there is no telling.
		r := reading{old: plain, new: new, rung: Escapes}
		plainNew, kindsNew := unescape(new, known)
		switch {
		case kindsNew == "", real(new, kinds):
		case strings.Trim(kindsNew, kinds) == "":
			r.new = plainNew
		default:
			continue
		}
		all = append(all, r)
	}
	return all
}

// real reports whether s has one of the characters whose escapes are listed in kinds, not escaped.
func real(s, kinds string) bool {
	for i := 0; i < len(s); i++ {
		kind := ""
		switch s[i] {
		case '\\':
			i++
		case '\n':
			kind = "n"
		case '\t':
			kind = "t"
		case '"', '\'':
			kind = s[i : i+1]
		}
		if kind != "" && strings.Contains(kinds, kind) {
			return true
		}
	}
	return false
}

// unescape undoes one level of escaping and returns the kinds of escapes found, each once. It looks for known kinds.
func unescape(s, known string) (plain, kinds string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '\\' || i+1 == len(s) || strings.IndexByte(known, s[i+1]) < 0 {
			b.WriteByte(c)
			continue
		}
		i++
		switch c = s[i]; c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		default:
			b.WriteByte(c)
		}
		if strings.IndexByte(kinds, c) < 0 {
			kinds += s[i : i+1]
		}
	}
	return b.String(), kinds
}
