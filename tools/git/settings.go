package git

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A setting is one that git is given from the configuration that it would read: it changes what is read or compared, names
// no program, and no file that is run.
type setting struct {
	key   *regexp.Regexp // of the whole key; section and name are in lower case, a subsection is as written
	value *regexp.Regexp
	own   bool // only from the repository, not from the user's configuration
}

var truth = regexp.MustCompile(`^(?i:true|false|yes|no|on|off|1|0|)$`)

// settings is the list.
var settings = []setting{
	{key: regexp.MustCompile(`^core\.(filemode|ignorecase|symlinks|precomposeunicode|trustctime|longpaths)$`), value: truth},
	{key: regexp.MustCompile(`^core\.(sparsecheckout|sparsecheckoutcone)$|^index\.sparse$`), value: truth, own: true},
	{key: regexp.MustCompile(`^core\.autocrlf$`), value: regexp.MustCompile(`^(?i:true|false|yes|no|on|off|1|0|input|)$`)},
	{key: regexp.MustCompile(`^core\.eol$`), value: regexp.MustCompile(`^(lf|crlf|native)$`)},
	{key: regexp.MustCompile(`^core\.checkstat$`), value: regexp.MustCompile(`^(default|minimal)$`)},
	{key: regexp.MustCompile(`^extensions\.objectformat$`), value: regexp.MustCompile(`^(sha1|sha256)$`), own: true},
	{key: regexp.MustCompile(`^extensions\.refstorage$`), value: regexp.MustCompile(`^(files|reftable)$`), own: true},
	// Which branch a branch follows, for "ahead 2"; nothing is ever fetched.
	{key: regexp.MustCompile(`^branch\.[^\n]+\.(remote|merge)$`), value: regexp.MustCompile(`^[^\x00-\x1f\x7f-][^\x00-\x1f\x7f]*$`), own: true},
	{key: regexp.MustCompile(`^remote\.[^\n]+\.fetch$`), value: regexp.MustCompile(`^\+?refs/[^\x00-\x1f\x7f:]*:refs/[^\x00-\x1f\x7f:]*$`), own: true},
}

// maxSettings bounds how many are passed on: a repository may follow thousands of branches.
const maxSettings = 20_000

// An entry is one of a configuration.
type entry struct{ key, value string }

// entries reads what "git config -z --list" prints.
func entries(text string) []entry {
	var out []entry
	for item := range strings.SplitSeq(text, "\x00") {
		if item == "" {
			continue
		}
		key, value, has := strings.Cut(item, "\n")
		if !has {
			value = "true" // a key alone
		}
		out = append(out, entry{key, value})
	}
	return out
}

// choose makes the configuration for git from those of the user and of the repository. home is the user's.
func choose(user, own []entry, home string) string {
	var b strings.Builder
	version := "0"
	lines, excludes := []string{}, ""
	for k, list := range [][]entry{user, own} {
		for _, e := range list {
			if e.key == "core.excludesfile" && k == 0 { // a list of patterns of the person; a repository has its own files for it
				excludes = e.value
				continue
			}
			if len(lines) < maxSettings && slices.ContainsFunc(settings, func(s setting) bool {
				return (k == 1 || !s.own) && s.key.MatchString(e.key) && s.value.MatchString(e.value)
			}) {
				lines = append(lines, line(e))
				if strings.HasPrefix(e.key, "extensions.") {
					version = "1"
				}
			}
		}
	}
	for _, e := range []entry{{"core.repositoryformatversion", version}, {"core.bare", "false"}, {"core.quotepath", "false"},
		{"diff.autorefreshindex", "false"}} { // otherwise git diff writes the index, whatever GIT_OPTIONAL_LOCKS says
		b.WriteString(line(e))
	}
	if rest, ok := strings.CutPrefix(excludes, "~/"); ok && home != "" {
		excludes = filepath.Join(home, rest)
	}
	if filepath.IsAbs(excludes) && !strings.ContainsAny(excludes, "\x00\n") {
		b.WriteString(line(entry{"core.excludesfile", excludes}))
	}
	for _, l := range lines {
		b.WriteString(l)
	}
	return b.String()
}

// line writes an entry as a section with one line.
func line(e entry) string {
	section, name, _ := strings.Cut(e.key, ".")
	head := "[" + section
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		head += ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name[:i]) + `"`
		name = name[i+1:]
	}
	return head + "]\n\t" + name + ` = "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(e.value) + "\"\n"
}

// filterNames returns the names of the filters that configurations define.
func filterNames(lists ...[]entry) []string {
	var out []string
	for _, list := range lists {
		for _, e := range list {
			rest, ok := strings.CutPrefix(e.key, "filter.")
			if i := strings.LastIndexByte(rest, '.'); ok && i > 0 && e.value != "" && !slices.Contains(out, rest[:i]) {
				out = append(out, rest[:i])
			}
		}
	}
	return out
}

// partial reports whether objects of the repository may still be elsewhere.
func partial(list []entry) bool {
	return slices.ContainsFunc(list, func(e entry) bool {
		return e.key == "extensions.partialclone" || strings.HasPrefix(e.key, "remote.") && (strings.HasSuffix(e.key, ".promisor") || strings.HasSuffix(e.key, ".partialclonefilter"))
	})
}
