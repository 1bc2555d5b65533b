package glob

import "strings"

// Rule is one line of an ignore file.
type Rule struct {
	Source  string // name of the file, as given to ParseIgnore
	Line    int    // 1-based
	Text    string // the line without its line end
	Include bool   // the line begins with "!": what it matches is not ignored
	Problem string // why the line can never match, or ""
}

// Ignore is a parsed ignore file. A nil *Ignore has no rules.
type Ignore struct {
	rules []Rule
	ix    index
}

// ParseIgnore parses an ignore file as git does: a UTF-8 byte order mark and "\r" before a line end are dropped, blanks
// at the end of a line do not count unless "\" stands before them, "#" begins a comment. It never fails: a line that git
// would never match is kept as a rule with a Problem. With fold, case is ignored.
func ParseIgnore(source string, data []byte, fold bool) *Ignore {
	ig := &Ignore{ix: index{fold: fold}}
	d := dialect{fold: fold, git: true, noBraces: true, ignore: true}
	text := strings.TrimPrefix(string(data), "\ufeff")
	for n := 1; text != ""; n++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		ig.addLine(d, Rule{Source: source, Line: n, Text: strings.TrimSuffix(line, "\r")})
	}
	ig.ix.build()
	return ig
}

func (ig *Ignore) addLine(d dialect, r Rule) {
	if r.Text == "" || r.Text[0] == '#' {
		return
	}
	pattern := trimBlanks(r.Text)
	if pattern, r.Include = strings.CutPrefix(pattern, "!"); pattern == "" {
		return
	}
	alts, err := d.compile(pattern)
	if err != nil {
		r.Problem = err.Error()
	}
	ig.ix.add(alts, int32(len(ig.rules)))
	ig.rules = append(ig.rules, r)
}

// trimBlanks drops spaces at the end unless "\" stands before them. Git drops spaces only, no tabs.
func trimBlanks(s string) string {
	end := len(s)
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			end = min(end, i)
			continue
		case '\\':
			i++
		}
		end = len(s)
	}
	return s[:end]
}

// Rules returns the rules in order. The caller must not change them.
func (ig *Ignore) Rules() []Rule {
	if ig == nil {
		return nil
	}
	return ig.rules
}

// Match returns the rule that decides about a path relative to the directory of the ignore file, or nil. It looks at
// this path only: that something is ignored because its directory is, is the business of the walker (or of [Tree]).
func (ig *Ignore) Match(path string, dir bool) *Rule { return ig.match(path, baseAt(path), dir) }

func (ig *Ignore) match(path string, base int, dir bool) *Rule {
	if ig == nil {
		return nil
	}
	if i := ig.ix.last(path, base, dir); i >= 0 {
		return &ig.rules[i]
	}
	return nil
}

// DirFiles are the ignore files that one directory brings. All fields may be nil.
type DirFiles struct {
	Tool    *Ignore // .rgignore
	Dot     *Ignore // .ignore
	Git     *Ignore // .gitignore
	Exclude *Ignore // .git/info/exclude; only with Repo
	Global  *Ignore // the user's excludes file (core.excludesFile); only with Repo
	Repo    bool    // the directory is the top of a repository (it has .git, a directory or a file)
}

// Stack is the set of ignore files in force in one directory. It is immutable; the stacks of subdirectories share it.
// A nil *Stack has no rules.
//
// Paths are relative to one top that all directories of the stack share, which may be above the directory where a walk
// begins: the files of parents apply to it as well.
//
// Precedence is ripgrep's: .rgignore, .ignore, .gitignore, the repository's exclude file, the user's excludes; within
// one kind the nearest directory; within one file the last line. The git kinds end at the top of a repository.
type Stack struct {
	tool, dot, git  *level
	exclude, global *level
	repo            bool
}

type level struct {
	ig   *Ignore
	base int // length of the directory in paths, with its "/"
	up   *level
}

// InRepo reports whether the directory is inside a repository. Git's files have no meaning outside of one, so a walker
// that goes by the book reads .gitignore only where InRepo, or its own test for .git, says yes.
func (s *Stack) InRepo() bool { return s != nil && s.repo }

// Push returns the stack of a directory below. base is the length of the directory's path with a "/" at the end (0 for
// the top).
func (s *Stack) Push(base int, f DirFiles) *Stack {
	var n Stack
	if s != nil {
		n = *s
	}
	if f.Repo {
		n.repo = true
		n.git, n.exclude, n.global = nil, nil, nil
	}
	put(&n.tool, f.Tool, base)
	put(&n.dot, f.Dot, base)
	put(&n.git, f.Git, base)
	put(&n.exclude, f.Exclude, base)
	put(&n.global, f.Global, base)
	if s != nil && n == *s {
		return s
	}
	return &n
}

func put(l **level, ig *Ignore, base int) {
	if ig != nil && len(ig.rules) > 0 {
		*l = &level{ig, base, *l}
	}
}

// Empty reports whether no rule is in force.
func (s *Stack) Empty() bool {
	return s == nil || s.tool == nil && s.dot == nil && s.git == nil && s.exclude == nil && s.global == nil
}

// Match returns the rule that decides about a path (relative to the top), or nil. The path's directory must be the one
// that the stack was made for, and must not be ignored itself.
func (s *Stack) Match(path string, dir bool) *Rule {
	if s == nil {
		return nil
	}
	base := baseAt(path)
	for _, l := range [...]*level{s.tool, s.dot, s.git, s.exclude, s.global} {
		for ; l != nil; l = l.up {
			if r := l.ig.match(path[l.base:], base-l.base, dir); r != nil {
				return r
			}
		}
	}
	return nil
}
