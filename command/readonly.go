package command

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// ReadOnly reports whether a command line only looks: it changes no file, starts no program of the project, opens no
// connection and ends. reason says what speaks against it.
//
// Everything must be on a list: the syntax (simple commands joined by "&&", "||", ";", "|", "|&" and newlines, negated or
// grouped by parentheses and braces), each word (literal, but for globs of some commands), each redirection (see
// [Redirect.Harmless]), each command and each of its options ([ReadOnlyTable]). Assignments are refused. git is not on
// the list, because it runs what the repository configures.
//
// What the line reads is for policy to judge, see [Facts.Paths]; the package comment says what else it relies on.
func ReadOnly(line string) (ok bool, reason string) {
	facts, err := Parse(line)
	if err != nil {
		return false, err.Error()
	}
	return facts.ReadOnly()
}

// ReadOnly is [ReadOnly] for the facts of a line that was parsed without an error.
func (f *Facts) ReadOnly() (ok bool, reason string) {
	if reason := f.looks(checkCall); reason != "" {
		return false, reason
	}
	return true, ""
}

// Looks reports whether every part of a line only looks, see [Call.Looks] and [Facts.Parts]: then it does so in whatever it is
// wrapped. It wants facts of a line that was parsed without an error.
func (f *Facts) Looks() bool {
	parts := f.Parts()
	return f.Construct == "" && len(parts) > 0 && !slices.ContainsFunc(parts, func(i int) bool {
		ok, _ := f.Calls[i].Looks()
		return !ok
	})
}

// looks returns why the facts are not those of a read-only line, or "".
func (f *Facts) looks(call func(*Call) string) string {
	switch {
	case f.Construct != "":
		return "construct: " + f.Construct
	case len(f.Calls) == 0:
		return "there is no command"
	case len(f.Calls) > MaxCalls:
		return fmt.Sprintf("more than %d commands", MaxCalls)
	}
	for i := range f.Calls {
		if why := f.Calls[i].direct(); why != "" {
			return why
		}
		if why := call(&f.Calls[i]); why != "" {
			return why
		}
	}
	return ""
}

// ReadOnly reports whether the call alone would be a read-only line. It says nothing about the line around it.
func (c *Call) ReadOnly() (ok bool, reason string) {
	if reason = c.direct(); reason == "" {
		reason = checkCall(c)
	}
	return reason == "", reason
}

// Looks reports whether the call only looks, as [Call.ReadOnly] does, also where another call runs it. It judges the call
// with the words, redirections and assignments that its surroundings give it, and not what runs it: a wrapper that does
// more than that is a part of its own, see [Facts.Parts].
func (c *Call) Looks() (ok bool, reason string) {
	switch {
	case c.Problem != "":
		reason = c.Problem
	case c.Guess:
		reason = "a command that may be none"
	default:
		if reason = syntaxOf(c); reason == "" {
			reason = checkCall(c)
		}
	}
	return reason == "", reason
}

// direct is syntaxOf for a call that nothing else runs.
func (c *Call) direct() string {
	if why := syntaxOf(c); why != "" {
		return why
	}
	if c.Via != Direct {
		return "a command that another one runs: " + c.String()
	}
	return ""
}

// syntaxOf judges the words, assignments and redirections of a call.
func syntaxOf(c *Call) string {
	switch {
	case len(c.Assigns) > 0:
		return "assignment of " + c.Assigns[0].Name
	case len(c.Args) == 0:
		return "redirection without a command"
	}
	for i := range c.Redirects {
		if ok, why := c.Redirects[i].Harmless(); !ok {
			return why
		}
	}
	e := table()[c.Name()]
	for i := range c.Args {
		w := &c.Args[i]
		switch {
		case w.Doubt == 0 && !w.odd:
		case w.odd || i == 0 || e == nil:
			return w.doubt() + " in " + w.Source
		case w.Doubt == Glob && e.globs && e.named && !w.operand():
			return "a glob that a file name may turn into an option: " + w.Source + "; ./" + w.Source + " cannot be one"
		case w.Doubt == Glob && e.globs:
		case w.found && e.most < 0 && (e.operands == files || e.operands == tree || e.operands == pattern):
			// A name that find puts there begins with the folder that find looks into: it is no option.
		default:
			return w.doubt() + " in " + w.Source
		}
	}
	return ""
}

// checkCall judges the argument vector by the table.
func checkCall(c *Call) string {
	name := c.Args[0].Text
	if d, base := path.Split(name); d != "" {
		if d != "/bin/" && d != "/usr/bin/" {
			return "a command that is not in /bin or /usr/bin: " + name
		}
		name = base
	}
	e := table()[name]
	if e == nil {
		return "not on the list of commands that only look: " + name
	}
	args, _ := c.Argv()
	if why := e.judge(name, args[1:]); why != "" {
		return name + ": " + why
	}
	return ""
}

// judge reads the arguments of a command.
func (e *entry) judge(name string, args []string) string {
	ck := checks(e.check)
	if name == "[" {
		if len(args) == 0 || args[len(args)-1] != "]" {
			return "no closing ]"
		}
		args = args[:len(args)-1]
	}
	if ck != nil && ck.raw || len(e.short)+len(e.long) == 0 && e.most < 0 {
		if ck == nil {
			return ""
		}
		return ck.look(args, nil)
	}
	d := e.decode(args)
	switch {
	case d.refused != "":
		return d.refused
	case e.most >= 0 && len(d.operands) > e.most:
		return fmt.Sprintf("more than %d operands", e.most)
	}
	if e.value != nil {
		for _, o := range d.options {
			if o.value != "" && !e.value.MatchString(o.value) {
				return fmt.Sprintf("option %s with the value %s", o.name, o.value)
			}
		}
	}
	if ck != nil {
		return ck.look(args, &d)
	}
	return ""
}

// Together says why commands that are harmless one by one are not so in one line, or "": git reads, and obeys, the
// configuration of the folder that it stands in, and the line has changed it.
func (f *Facts) Together() string {
	cd, git := false, false
	for i := range f.Calls {
		switch f.Calls[i].Name() {
		case "cd", "pushd", "popd", "chdir":
			cd = true
		case "git", "gh", "hub", "jj", "hg", "svn":
			git = true
		}
	}
	if cd && git {
		return "it changes the folder and runs git there, which obeys the configuration of that folder"
	}
	return ""
}

// trusted reports whether a name is that of a command on the path, or of one in /bin and /usr/bin.
func trusted(name string) (base string, ok bool) {
	d, base := path.Split(name)
	return base, base != "" && (d == "" || d == "/bin/" || d == "/usr/bin/") && !strings.Contains(base, "/")
}
