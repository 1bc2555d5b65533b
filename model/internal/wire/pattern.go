package wire

import (
	"regexp"
	"sync"
)

// Pattern is an expression that is compiled when it is first used: a command that asks no model pays nothing for it.
type Pattern func() *regexp.Regexp

// NewPattern returns the pattern of an expression, which must be right.
func NewPattern(expr string) Pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// MatchString reports whether s holds a match.
func (p Pattern) MatchString(s string) bool { return p().MatchString(s) }
