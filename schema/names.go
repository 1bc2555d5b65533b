package schema

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/internal/text"
)

// Conversion says what an alias's value needs to become the canonical property's value.
type Conversion string

// The conversions of alias values. The zero value keeps the value.
const (
	Keep    Conversion = ""
	Negate  Conversion = "negated"                    // a boolean
	Seconds Conversion = "milliseconds to seconds"    // exact for numbers, rounded up for integers
	Span    Conversion = "last line to line count"    // counted from the offset in the same call
	Zeroed  Conversion = "line number to line offset" // one less
)

// Alias is an argument name that models learned elsewhere for one of ours.
type Alias struct {
	Name    string // also matches without regard to case, '_' and '-', unless it begins with '-'
	To      string // the canonical property
	Convert Conversion
	// Says is a word that the canonical property's description must hold, because the value's meaning depends on it.
	Says string
}

// Aliases returns the names that are accepted in place of ours, in order of preference. An alias applies where the
// schema has the property To and none called Name, and the value could not stand as it is.
func Aliases() []Alias { return slices.Clone(aliasTable[:]) }

// aliasTable is never written to.
var aliasTable = [...]Alias{
	{Name: "file_path", To: "path"}, {Name: "file", To: "path"}, {Name: "filename", To: "path"}, {Name: "file_name", To: "path"},
	{Name: "target_file", To: "path"}, {Name: "absolute_path", To: "path"}, {Name: "relative_path", To: "path"},
	{Name: "dir", To: "workdir"}, {Name: "directory", To: "workdir"}, {Name: "cwd", To: "workdir"}, {Name: "working_dir", To: "workdir"},
	{Name: "working_directory", To: "workdir"}, {Name: "dir_path", To: "workdir"},
	{Name: "dir", To: "path"}, {Name: "directory", To: "path"}, {Name: "dir_path", To: "path"},

	{Name: "contents", To: "content"}, {Name: "text", To: "content"}, {Name: "file_text", To: "content"}, {Name: "file_content", To: "content"},
	{Name: "file_contents", To: "content"},
	{Name: "old_str", To: "old_string"}, {Name: "old_text", To: "old_string"}, {Name: "old", To: "old_string"}, {Name: "search", To: "old_string"},
	{Name: "find", To: "old_string"}, {Name: "old_content", To: "old_string"},
	{Name: "new_str", To: "new_string"}, {Name: "new_text", To: "new_string"}, {Name: "new", To: "new_string"}, {Name: "replace", To: "new_string"},
	{Name: "replacement", To: "new_string"}, {Name: "new_content", To: "new_string"}, {Name: "new_content", To: "content"},
	{Name: "allow_multiple", To: "replace_all"},
	{Name: "replacements", To: "edits"}, {Name: "changes", To: "edits"},
	{Name: "patch_text", To: "patch"}, {Name: "diff", To: "patch"}, {Name: "input", To: "patch"},
	{Name: "line_number", To: "line"},

	{Name: "regex", To: "pattern"}, {Name: "regexp", To: "pattern"}, {Name: "query", To: "pattern"}, {Name: "search", To: "pattern"},
	{Name: "glob_pattern", To: "glob"}, {Name: "file_pattern", To: "glob"}, {Name: "include_pattern", To: "glob"}, {Name: "include", To: "glob"},
	{Name: "-i", To: "case_insensitive"}, {Name: "ignore_case", To: "case_insensitive"},
	{Name: "case_sensitive", To: "case_insensitive", Convert: Negate},
	{Name: "-A", To: "after"}, {Name: "-B", To: "before"}, {Name: "-C", To: "context"},
	{Name: "after_context", To: "after"}, {Name: "before_context", To: "before"}, {Name: "context_lines", To: "context"},
	{Name: "-F", To: "literal"}, {Name: "fixed_strings", To: "literal"}, {Name: "is_regex", To: "literal", Convert: Negate},
	{Name: "-w", To: "word"}, {Name: "whole_word", To: "word"},
	{Name: "max_results", To: "head_limit"}, {Name: "max_results", To: "limit"},
	{Name: "start_line", To: "offset", Says: "1-based"}, {Name: "start_line", To: "offset", Convert: Zeroed, Says: "0-based"},
	{Name: "end_line", To: "limit", Convert: Span, Says: "lines"},

	{Name: "cmd", To: "command"}, {Name: "script", To: "command"}, {Name: "shell_command", To: "command"},
	{Name: "timeout_ms", To: "timeout", Convert: Seconds, Says: "seconds"},
	{Name: "timeout_millis", To: "timeout", Convert: Seconds, Says: "seconds"},
	{Name: "timeout_milliseconds", To: "timeout", Convert: Seconds, Says: "seconds"},
	{Name: "timeout_seconds", To: "timeout", Says: "seconds"}, {Name: "timeout_secs", To: "timeout", Says: "seconds"},
	{Name: "run_in_background", To: "background"}, {Name: "is_background", To: "background"},

	{Name: "uri", To: "url"}, {Name: "link", To: "url"},
	{Name: "search_query", To: "query"}, {Name: "search_term", To: "query"}, {Name: "query", To: "q"}, {Name: "statement", To: "q"},
}

// target is where a foreign name leads in one schema.
type target struct {
	prop    int32
	convert Conversion
}

// aliasesFor collects the foreign names that one object schema understands: aliases, and its own names in another
// spelling (filePath for file_path). The first rule for a name wins.
func aliasesFor(n *node) map[string]target {
	if len(n.props) == 0 {
		return nil
	}
	out := map[string]target{}
	twin := map[string]bool{}
	for i, p := range n.props {
		f := fold(p.name)
		if _, ok := out[f]; ok {
			twin[f] = true // two of our names differ only in spelling: neither may be guessed
		}
		out[f] = target{prop: int32(i)}
	}
	for f := range twin {
		delete(out, f)
	}
	for _, a := range aliasTable {
		to, ok := n.index[a.To]
		if _, own := n.index[a.Name]; !ok || own {
			continue
		}
		if a.Says != "" && !hasWord(strings.ToLower(n.props[to].node.src.Description), a.Says) {
			continue
		}
		name := fold(a.Name)
		if _, ok := out[name]; !ok && !twin[name] {
			out[name] = target{to, a.Convert}
		}
	}
	return out
}

// fold strips case, '_' and '-' from a name. Option letters (-i, -A) mean different things in each case and stay.
func fold(name string) string {
	if strings.HasPrefix(name, "-") {
		return name
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '_' || r == '-':
			return -1
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return r
	}, name)
}

// convert applies a conversion to the JSON text of a value. offset is the integer that a Span counts from. It reports
// false where the value cannot be converted without loss.
func convert(value []byte, how Conversion, integer bool, offset int64) (string, bool) {
	value = bytes.Trim(value, `"`)
	if how == Negate {
		switch string(value) {
		case "true":
			return "false", true
		case "false":
			return "true", true
		}
		return "", false
	}
	if !isNumber(value) {
		return "", false
	}
	text, ok := integral(value)
	v, err := strconv.ParseInt(text, 10, 64)
	if !ok || err != nil {
		return "", false
	}
	switch {
	case how == Span && v >= offset && offset > 0:
		return strconv.FormatInt(v-offset+1, 10), true
	case how == Zeroed && v > 0:
		return strconv.FormatInt(v-1, 10), true
	case how == Seconds && v >= 0:
		whole, rest := v/1000, v%1000
		if rest > 0 && !integer {
			return strings.TrimRight(strconv.FormatInt(whole, 10)+"."+strconv.FormatInt(1000+rest, 10)[1:], "0"), true
		}
		if rest > 0 {
			whole++ // a limit in whole seconds that is never shorter than the one asked for
		}
		return strconv.FormatInt(whole, 10), true
	}
	return "", false
}

// Nearest returns the name that is most like word, or "" where none is close: the same name in another spelling, or at
// most one edit in three letters away. Ties go to the earlier name.
func Nearest(word string, names []string) string {
	best, bestDist := "", len(word)/3+1
	folded := fold(word)
	for _, name := range names {
		if name == word || folded != "" && fold(name) == folded {
			return name
		}
		if d := text.Distance(strings.ToLower(word), strings.ToLower(name), bestDist); d < bestDist {
			best, bestDist = name, d
		}
	}
	return best
}
