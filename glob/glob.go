// Package glob matches paths against patterns and against the ignore files of version control.
//
// Three dialects share one machine:
//
//   - [Compile] reads the pattern of a tool or of a rule: "*", "?" and classes stay inside one path component, "**" as a
//     whole component stands for any number of them, "{a,b}" is a choice, "\" takes the next character as it is.
//     A trailing "/**" also matches the directory itself ("src/**" matches "src"), so that a rule for a tree covers its top.
//   - [NewOverrides] reads the list behind ripgrep's -g: the same syntax under the rules of ignore files (a pattern
//     without "/" applies at every depth, a leading "/" anchors, "!" excludes, later patterns win).
//   - [ParseIgnore] reads .gitignore, .ignore, .rgignore and .git/info/exclude as git reads them: no braces, POSIX
//     classes, bytes instead of characters, a broken pattern matches nothing. [Stack] and [Tree] combine such files.
//
// The package is pure: it reads no file and keeps no state. Paths are relative, use "/" and have no "./" in front.
// Compiled values are immutable and safe for concurrent use.
//
// A pattern is never run as a regular expression. It is cut into components, every component is matched by the
// simplest test that does (equal, prefix, suffix, or a walk with one point to return to), and lists of patterns are
// looked up by the hash of the last component or of its extension. The worst case is linear in pattern times path.
package glob

import (
	"fmt"
	"strings"
)

// Options tune [Compile]. The zero value is the dialect of the package comment.
type Options struct {
	Fold       bool // ignore case, by Unicode simple folding
	CrossSlash bool // "*", "?" and classes also match "/"; "**" keeps its meaning as a whole component
	NoEscape   bool // "\" is an ordinary character
}

// Error is a pattern that cannot be compiled.
type Error struct {
	Pattern string
	Offset  int    // byte offset of the problem
	Reason  string // "class is not closed", …
}

func (e *Error) Error() string {
	return fmt.Sprintf("glob %q: %s at byte %d", e.Pattern, e.Reason, e.Offset)
}

// Pattern is a compiled pattern.
type Pattern struct {
	text string
	ix   index
}

// Compile compiles a pattern. Errors: *Error.
func Compile(pattern string, opt Options) (*Pattern, error) {
	d := dialect{fold: opt.Fold, cross: opt.CrossSlash, noEscape: opt.NoEscape, topOfTree: true}
	alts, err := d.compile(pattern)
	if err != nil {
		return nil, err
	}
	p := &Pattern{text: pattern, ix: index{fold: opt.Fold}}
	p.ix.add(alts, 0)
	p.ix.build()
	return p, nil
}

// Match is Compile and Match in one, with default options; for a pattern that is used once.
func Match(pattern, path string) (bool, error) {
	p, err := Compile(pattern, Options{})
	if err != nil {
		return false, err
	}
	return p.Match(path), nil
}

// String returns the pattern as it was written.
func (p *Pattern) String() string { return p.text }

// Match reports whether the pattern matches the whole path.
func (p *Pattern) Match(path string) bool {
	return p.ix.last(path, baseAt(path), true) >= 0
}

// Below reports whether some path below the directory dir ("" for the top) could match. A walker need not enter a
// directory for which the answer is false.
func (p *Pattern) Below(dir string) bool {
	if p.ix.fold {
		dir = foldString(dir)
	}
	for i := range p.ix.alts {
		if p.ix.alts[i].below(dir) {
			return true
		}
	}
	return false
}

// Dir returns the longest directory without wildcards that contains every match ("" when there is none, or when case
// is ignored): the place where a walk can start.
func (p *Pattern) Dir() string {
	if p.ix.fold || len(p.ix.alts) == 0 {
		return ""
	}
	common := p.ix.alts[0].dir()
	for i := range p.ix.alts[1:] {
		common = commonDir(common, p.ix.alts[i+1].dir())
	}
	return strings.TrimSuffix(common, "/")
}

// commonDir returns the longest common prefix of two directories that end in "/" (or are empty).
func commonDir(a, b string) string {
	n := 0
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '/' {
			n = i + 1
		}
	}
	return a[:n]
}

// baseAt returns the offset of the base name in a path.
func baseAt(path string) int { return strings.LastIndexByte(path, '/') + 1 }

// HasMeta reports whether a pattern in the dialect of [Compile] has any character that is not taken literally.
func HasMeta(pattern string) bool { return strings.ContainsAny(pattern, `*?[{}\`) }

// Quote returns a pattern that matches exactly the given path.
func Quote(path string) string {
	if !HasMeta(path) {
		return path
	}
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if strings.IndexByte(`*?[]{},\`, path[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(path[i])
	}
	return b.String()
}
