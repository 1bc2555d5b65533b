package grep

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tackle-dev/tackle/search"
)

// options are what a command line asks for.
type options struct {
	grep    search.GrepQuery
	pattern string // glob: the pattern of names
	paths   []string
	files   bool // list files instead of searching in them

	order    search.Order
	sorted   bool
	long     bool
	only     bool // only what matches
	quiet    bool
	null     bool
	typeList bool
	nothing  bool // nothing can be found: no patterns, or none of their matches wanted
	workers  int

	names, numbers, heading, color choice
	noMessages                     bool
}

// choice is a switch that has a default of its own.
type choice int8

const (
	unset choice = iota
	on
	off
)

var errHelp = errors.New("help")

// flags are the values that pflag fills and that need more than to be copied.
type flags struct {
	*pflag.FlagSet
	patterns, files                                    []string
	fixed, smart, sensitive, folded, listed, unlisted  bool
	count, hidden, noIgnore, noNumbers, numbers, pairs bool
	names, noNames, heading, noHeading                 bool
	both, unrestricted                                 int
	color, sort, maxSize                               string
	newest, byPath, dotAll, follow, noConfig           bool
	iglobs                                             []string
}

// shared are the flags of both commands: which files are looked at, and how names are written.
func shared(o *options, name string) *flags {
	f := &flags{FlagSet: pflag.NewFlagSet(name, pflag.ContinueOnError)}
	f.SortFlags, f.Usage = false, func() {}
	q := &o.grep
	f.StringArrayVarP(&q.Globs, "glob", "g", nil, "only files that match `GLOB`; with ! before it, none that do; may be repeated")
	f.StringArrayVar(&f.iglobs, "iglob", nil, "like --glob, without regard to case (then all globs are)")
	f.StringArrayVarP(&q.Types, "type", "t", nil, "only files of `TYPE` (go, py, js, …)")
	f.StringArrayVarP(&q.NotTypes, "type-not", "T", nil, "no files of `TYPE`")
	f.BoolVar(&o.typeList, "type-list", false, "print all types with their globs")
	f.BoolVarP(&f.hidden, "hidden", ".", false, "also files and folders whose name begins with a dot")
	f.BoolVar(&f.noIgnore, "no-ignore", false, "ignore files (.gitignore, .ignore, …) do not count")
	f.CountVarP(&f.unrestricted, "unrestricted", "u", "-u is --no-ignore, -uu also --hidden")
	f.IntVarP(&q.MaxDepth, "max-depth", "d", 0, "go `N` levels deep, 1 is only the folder itself")
	f.StringVar(&f.maxSize, "max-filesize", "", "leave out files above `SIZE` bytes; K, M and G are known")
	f.BoolVar(&q.OneFS, "one-file-system", false, "do not enter other file systems")
	f.StringVar(&f.sort, "sort", "none", "order of files: `none` (fastest), path or modified (newest first)")
	f.IntVarP(&o.workers, "threads", "j", 0, "how many files at once; 0 is automatic")
	f.BoolVarP(&o.null, "null", "0", false, "write a NUL byte behind names")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print nothing, only set the exit status")
	f.BoolVar(&o.noMessages, "no-messages", false, "do not report what cannot be read")
	f.StringVar(&f.color, "color", "auto", "`WHEN` to use colours: auto, always or never")
	f.BoolVarP(&f.follow, "follow", "L", false, "")
	f.BoolVar(&f.noConfig, "no-config", false, "")
	f.IntVar(&q.MaxDepth, "maxdepth", 0, "")
	f.BoolVar(&f.byPath, "sort-files", false, "")
	for _, hide := range []string{"follow", "no-config", "maxdepth", "sort-files"} { // accepted, since people type them
		f.Lookup(hide).Hidden = true
	}
	return f
}

func grepFlags(o *options) *flags {
	f := shared(o, "grep")
	q := &o.grep
	f.StringArrayVarP(&f.patterns, "regexp", "e", nil, "a `PATTERN`; may be repeated, and may begin with -")
	f.StringArrayVarP(&f.files, "file", "f", nil, "patterns from `FILE`, one a line; may be repeated")
	f.BoolVarP(&f.fixed, "fixed-strings", "F", false, "patterns are text, not expressions")
	f.BoolVarP(&f.folded, "ignore-case", "i", false, "ignore case")
	f.BoolVarP(&f.smart, "smart-case", "S", false, "ignore case unless the pattern has an upper-case letter")
	f.BoolVarP(&f.sensitive, "case-sensitive", "s", false, "do not ignore case (the default)")
	f.BoolVarP(&q.Word, "word-regexp", "w", false, "whole words only")
	f.BoolVarP(&q.WholeLine, "line-regexp", "x", false, "whole lines only")
	f.BoolVarP(&q.Invert, "invert-match", "v", false, "the lines that do not match")
	f.BoolVarP(&q.Multiline, "multiline", "U", false, "matches may span lines")
	f.BoolVar(&f.dotAll, "multiline-dotall", false, "with -U, . also matches line ends")
	f.BoolVarP(&q.Text, "text", "a", false, "search binary files as if they were text")
	f.BoolVarP(&f.listed, "files-with-matches", "l", false, "only the names of files that match")
	f.BoolVar(&f.unlisted, "files-without-match", false, "only the names of files that do not")
	f.BoolVarP(&f.count, "count", "c", false, "only how many lines match in each file")
	f.BoolVar(&o.files, "files", false, "list the files that would be searched; there is no pattern then")
	f.BoolVarP(&o.only, "only-matching", "o", false, "only the parts of lines that match")
	f.IntVarP(&q.After, "after-context", "A", 0, "also `N` lines after each match")
	f.IntVarP(&q.Before, "before-context", "B", 0, "also `N` lines before")
	f.IntVarP(&f.both, "context", "C", 0, "also `N` lines before and after")
	f.IntVarP(&q.MaxPerFile, "max-count", "m", 0, "at most `N` matching lines of each file")
	f.IntVarP(&q.MaxColumns, "max-columns", "M", 0, "show at most `N` characters of a line, around the match")
	f.BoolVarP(&f.numbers, "line-number", "n", false, "write line numbers (the default on a terminal)")
	f.BoolVarP(&f.noNumbers, "no-line-number", "N", false, "no line numbers")
	f.BoolVarP(&f.names, "with-filename", "H", false, "write the name of the file also for a single one")
	f.BoolVarP(&f.noNames, "no-filename", "I", false, "never write names")
	f.BoolVar(&f.heading, "heading", false, "names as headings (the default on a terminal)")
	f.BoolVar(&f.noHeading, "no-heading", false, "names before each line")
	f.BoolVarP(&f.pairs, "pretty", "p", false, "as on a terminal: colours, headings, line numbers")
	return f
}

func globFlags(o *options) *flags {
	f := shared(o, "glob")
	f.BoolVarP(&f.folded, "ignore-case", "i", false, "ignore case")
	f.BoolVarP(&o.long, "long", "l", false, "also size in bytes and time of change")
	f.BoolVar(&f.newest, "newest", false, "newest first, the same as --sort modified")
	return f
}

// parseGrep reads the command line of grep.
func parseGrep(args []string, dir string) (o options, err error) {
	f := grepFlags(&o)
	if err := f.parse(args); err != nil {
		return o, err
	}
	o.paths = f.Args()
	given := len(f.patterns)+len(f.files) > 0
	for _, name := range f.files {
		lines, err := patternsIn(resolve(dir, name))
		if err != nil {
			return o, err
		}
		f.patterns = append(f.patterns, lines...)
	}
	o.nothing = given && len(f.patterns) == 0 || f.Changed("max-count") && o.grep.MaxPerFile == 0
	if !given && !o.files && !o.typeList {
		if len(o.paths) == 0 {
			return o, errors.New("no pattern: tackle grep PATTERN [PATH…]; --help shows the flags")
		}
		f.patterns, o.paths = o.paths[:1], o.paths[1:]
	}
	q := &o.grep
	if o.nothing {
		return o, nil
	}
	q.Pattern, q.Literal = joined(f.patterns, f.fixed)
	q.CaseInsensitive, q.SmartCase = f.folded && !f.sensitive, f.smart && !f.sensitive && !f.folded
	q.DotAll = f.dotAll
	q.Mode = search.Content
	switch {
	case f.unlisted:
		q.Mode = search.FilesWithoutMatch
	case f.listed || o.quiet:
		q.Mode = search.FilesWithMatches
	case f.count:
		q.Mode = search.Count
	}
	q.Before, q.After = max(q.Before, f.both), max(q.After, f.both)
	if q.MaxColumns <= 0 {
		q.MaxColumns = -1
	}
	if o.only {
		q.Before, q.After, q.MaxColumns = 0, 0, -1
		if q.Multiline || q.Invert {
			return o, errors.New("--only-matching goes with neither --multiline nor --invert-match")
		}
	}
	o.numbers = pick(f.numbers, f.noNumbers)
	o.names = pick(f.names, f.noNames)
	o.heading = pick(f.heading, f.noHeading)
	if f.pairs {
		o.numbers, o.heading, o.color = pick(!f.noNumbers, f.noNumbers), pick(!f.noHeading, f.noHeading), on
	}
	return o, f.finish(&o)
}

// parseGlob reads the command line of glob.
func parseGlob(args []string) (o options, err error) {
	f := globFlags(&o)
	if err := f.parse(args); err != nil {
		return o, err
	}
	o.files = true
	words := f.Args()
	switch {
	case o.typeList:
	case len(words) == 0:
		return o, errors.New("no pattern: tackle glob PATTERN [PATH]; --help shows the flags")
	case len(words) > 2:
		return o, fmt.Errorf("%d words where a pattern and a folder are expected: quote the pattern, so that the shell does not expand it", len(words))
	default:
		o.pattern, o.paths = words[0], words[1:]
	}
	if strings.HasPrefix(o.pattern, ".") && !strings.HasPrefix(o.pattern, "./") && !strings.HasPrefix(o.pattern, "../") {
		f.hidden = true // who writes the dot means it
	}
	if f.newest {
		f.sort = "modified"
	}
	o.grep.CaseInsensitive = f.folded
	return o, f.finish(&o)
}

func (f *flags) parse(args []string) error {
	err := f.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		return errHelp
	}
	return err
}

// finish takes over what both commands share.
func (f *flags) finish(o *options) error {
	q := &o.grep
	if f.follow {
		return errors.New("-L: links below the folder are not followed; name the target of a link as a path")
	}
	q.Hidden = f.hidden || f.unrestricted > 1
	q.NoIgnore = f.noIgnore || f.unrestricted > 0
	if f.unrestricted > 2 {
		return errors.New("-u may be given twice; -a searches binary files as text")
	}
	if q.FoldGlobs = len(f.iglobs) > 0; q.FoldGlobs {
		q.Globs = append(q.Globs, f.iglobs...)
	}
	if err := checkGlobs(q.Globs, q.FoldGlobs); err != nil {
		return err
	}
	if f.byPath {
		f.sort = "path"
	}
	var err error
	if q.MaxSize, err = bytesOf(f.maxSize); err != nil {
		return err
	}
	switch f.sort {
	case "none":
	case "path":
		o.sorted = true
	case "modified":
		o.sorted, o.order = true, search.Newest
		if !o.files && q.Mode == search.Content {
			return errors.New("--sort modified lists files: it goes with --files, -l, -c or glob")
		}
	default:
		return fmt.Errorf("--sort %q: want none, path or modified", f.sort)
	}
	switch {
	case f.color == "always" || f.color == "ansi":
		o.color = on
	case f.color == "never":
		o.color = off
	case f.color != "auto":
		return fmt.Errorf("--color %q: want auto, always or never", f.color)
	}
	for flag, n := range map[string]int{"after-context": q.After, "before-context": q.Before, "max-depth": q.MaxDepth, "max-count": q.MaxPerFile, "threads": o.workers} {
		if n < 0 {
			return fmt.Errorf("--%s %d: want 0 or more", flag, n)
		}
	}
	return nil
}

// patternsIn reads a file of patterns.
func patternsIn(name string) ([]string, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range strings.Lines(string(b)) {
		out = append(out, strings.TrimRight(line, "\r\n"))
	}
	return out, nil
}

// joined makes one pattern of several: each alternative is one of them.
func joined(patterns []string, literal bool) (string, bool) {
	if len(patterns) == 0 {
		return "", literal
	}
	if len(patterns) == 1 {
		return patterns[0], literal
	}
	out := make([]string, 0, len(patterns))
	for _, p := range patterns {
		if literal {
			p = regexp.QuoteMeta(p)
		}
		out = append(out, "(?:"+p+")")
	}
	return strings.Join(out, "|"), false
}

func pick(yes, no bool) choice {
	switch {
	case no:
		return off
	case yes:
		return on
	}
	return unset
}

// bytesOf reads a size such as 500, 20K or 1M.
func bytesOf(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	digits := strings.TrimRight(strings.ToUpper(s), "KMG")
	n, err := strconv.ParseInt(digits, 10, 64)
	unit := strings.ToUpper(s)[len(digits):]
	shift, ok := map[string]uint{"": 0, "K": 10, "M": 20, "G": 30}[unit]
	if err != nil || n < 0 || !ok || n > 1<<62>>shift {
		return 0, fmt.Errorf("--max-filesize %q: want a number of bytes such as 500, 20K or 1M", s)
	}
	return n << shift, nil
}

// Usage is the help of a command, "grep" or "glob".
func Usage(name string) string {
	var o options
	if name == "glob" {
		return `Find files by name pattern: ** crosses folders, {a,b} and [a-z] are known. What git ignores and hidden files stay out.

Usage:
  tackle glob [FLAGS] PATTERN [PATH]

Exit status: 0 something was found, 1 nothing, 2 an error.

Examples:
  tackle glob '**/*.go'
  tackle glob --newest '**/*.{ts,tsx}' web

Flags:
` + globFlags(&o).FlagUsages()
	}
	return `Search files for lines that match a regular expression (RE2), in a whole folder or in the files named.

Usage:
  tackle grep [FLAGS] PATTERN [PATH…]
  tackle grep [FLAGS] -e PATTERN… [PATH…]
  tackle grep [FLAGS] --files [PATH…]

Flags, output and exit status are those of ripgrep: 0 something was found, 1 nothing, 2 an error.

Examples:
  tackle grep -n 'func \w+Test' -t go
  tackle grep -F 'foo(' -g '!vendor/**' src
  tackle grep -l -i license

Flags:
` + grepFlags(&o).FlagUsages()
}
