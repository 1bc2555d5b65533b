package command

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The limits of a line that can be trusted. A line beyond them is refused, never read in part.
const (
	MaxLine  = 8 << 10 // bytes
	MaxCalls = 50      // simple commands, nested ones included
	MaxDepth = 8       // scripts within scripts
)

// maxSeen bounds what is read of a line that is refused for its size, so that a rule that denies still sees much of it.
const (
	maxSeen      = 64 << 10
	maxSeenCalls = 1000
	maxBrackets  = 500 // the parser's time grows with the square of what is open
	maxWrappers  = 16  // within one another
	maxScripts   = 64  // in a line
)

// Facts are what is known about a command line.
type Facts struct {
	Line string
	// Calls are the simple commands that may run, in the order of the text; what a wrapper runs follows the wrapper.
	Calls []Call
	// Construct names the first thing in the line that is more than simple commands joined by "&&", "||", ";", "|" and
	// newlines, grouped by parentheses and braces: "for", "function", "background", … It is "" when there is none.
	Construct string
}

// Error is why a line cannot be trusted.
type Error struct {
	Offset int    // in bytes; of the character that is refused
	Line   int    // 1-based
	Column int    // in bytes, 1-based
	Reason string // what was found
}

func (e *Error) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Reason) }

// at makes an Error for an offset.
func at(line string, offset int, format string, args ...any) *Error {
	before := line[:min(offset, len(line))]
	return &Error{
		Offset: offset,
		Line:   strings.Count(before, "\n") + 1,
		Column: len(before) - strings.LastIndexByte(before, '\n'),
		Reason: fmt.Sprintf(format, args...),
	}
}

// Call is one simple command.
type Call struct {
	// Args is the argument vector; Args[0] is the command. It is empty for a redirection or an assignment on its own.
	Args      []Word
	Assigns   []Assign   // "A=b" before the command, or what env sets for it
	Redirects []Redirect // its own, and those of the groups around it
	Offset    int        // in the line, in bytes; within a script, of the word that holds the script

	Via    Via
	Parent int // index of the call that runs this one, or -1
	From   int // index in the parent's Args where what it runs begins

	// Through says that the call only starts another command, with the same rights and the same arguments (timeout, env,
	// bash -c): whoever allows what it runs allows it.
	Through bool
	// Guess says that the call may be no command at all: a wrapper was given options that are not known here, and any of
	// the words that follow might be what it runs.
	Guess bool
	// Exact says that the call runs some of its arguments, and which is not known here: only a pattern that spells out every
	// argument may allow it.
	Exact bool
	// Hidden says that the call runs commands that cannot be seen: any rule that denies may be about them.
	Hidden bool
	// Problem is why no pattern may allow the call, or "": it runs something that cannot be seen.
	Problem string
}

// Via says how a call is reached.
type Via string

// The ways.
const (
	Direct       Via = ""
	Wrapped      Via = "wrapper"      // timeout, sudo, xargs, find -exec, …
	Script       Via = "script"       // sh -c, eval, a here-document for a shell
	Substitution Via = "substitution" // $(…), <(…)
)

// Name returns the name of the command without its directory, or "" where it is not literal.
func (c *Call) Name() string {
	if len(c.Args) == 0 || !c.Args[0].Literal() {
		return ""
	}
	name := c.Args[0].Text
	return name[strings.LastIndexByte(name, '/')+1:]
}

// Argv returns the argument vector, and whether all of it is literal.
func (c *Call) Argv() (argv []string, literal bool) {
	argv, literal = make([]string, 0, len(c.Args)), true
	for i := range c.Args {
		argv = append(argv, c.Args[i].Text)
		literal = literal && c.Args[i].Literal()
	}
	return argv, literal
}

// String returns the call as a command line of its own. Literal words are quoted afresh, in one way only; others stay as
// they are written.
func (c *Call) String() string {
	var parts []string
	for _, a := range c.Assigns {
		if a.Source != "" {
			parts = append(parts, a.Source)
		}
	}
	for i := range c.Args {
		word := c.Args[i].String()
		if i == 0 && c.Problem == "" && syntax.IsKeyword(word) {
			word = "'" + word + "'"
		}
		parts = append(parts, word)
	}
	for _, r := range c.Redirects {
		parts = append(parts, r.String())
	}
	return strings.Join(parts, " ")
}

// Assign is an assignment.
type Assign struct {
	Name   string
	Source string // as written; "" where it is an argument
}

// Redirect is a redirection.
type Redirect struct {
	FD     string // "", digits, or "{name}"
	Op     string // ">", ">>", "<", "<<", …
	Target Word   // file, descriptor, here-string, or the delimiter of a here-document
	Body   *Word  // of a here-document
}

func (r Redirect) String() string { return r.FD + r.Op + r.Target.String() }

// Harmless reports whether the redirection changes no file and opens no connection: to another descriptor, to /dev/null,
// or from a literal text. Reading a file is harmless as well; see [Facts.Paths].
func (r Redirect) Harmless() (ok bool, reason string) {
	if r.FD != "" && strings.Trim(r.FD, "0123456789") != "" {
		return false, "redirection with a named descriptor"
	}
	t := &r.Target
	if !t.Literal() || t.odd {
		return false, "target of a redirection: " + t.doubt()
	}
	switch r.Op {
	case ">&":
		ok = t.Text == "1" || t.Text == "2"
	case ">", ">>", "&>":
		ok = t.Text == "/dev/null"
	case "<":
		ok = !device(t.Text)
	case "<<<":
		ok = true
	case "<<", "<<-":
		ok = r.Body == nil || r.Body.Literal()
		if !ok {
			return false, "here-document: " + r.Body.doubt()
		}
	}
	if !ok {
		return false, "redirection " + r.String()
	}
	return true, ""
}

// Writes reports whether the redirection opens a file for writing.
func (r Redirect) Writes() bool {
	switch r.Op {
	case ">", ">>", ">|", "&>", "&>>", "<>", ">>|", "&>|", "&>>|":
		return r.Target.Text != "/dev/null" || !r.Target.Literal()
	case ">&":
		t := strings.TrimSuffix(r.Target.Text, "-") // ">&1-" moves a descriptor
		return !r.Target.Literal() || t != "" && strings.Trim(t, "0123456789") != ""
	}
	return false
}

// device reports whether bash opens a connection for the name instead of a file.
func device(name string) bool {
	return strings.HasPrefix(name, "/dev/tcp/") || strings.HasPrefix(name, "/dev/udp/")
}
