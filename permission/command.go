package permission

import (
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/command"
	"github.com/tackle-dev/tackle/tool"
)

// Shell is the permission under which commands are run. A rule for it has a pattern for commands, see [Rule.Pattern].
const Shell = "shell"

// The one idea about commands: a command line is not one target but as many as it has parts. Each simple command in it,
// wherever it hides, is a subject of its own, so that "allow needs every part and deny needs any" is what the strictest
// verdict over all subjects says already, over rules and layers.

// A line is a parsed command line, shared by the subjects that it makes.
type line struct {
	facts  command.Facts
	err    error // why no rule may allow any of it
	barred string
	// calls are, for each part, the indexes of the calls that a restricting rule judges with it: the part itself, the
	// wrappers around it, and what it may run by a guess.
	calls map[int][]int
	// names are, for each part, the names of its command and of what runs it.
	names map[int][]string
}

// commands returns the subjects of a command target: its parts, or the whole line where it cannot be read.
func (j *judge) commands(t tool.Target) []subject {
	l := &line{calls: map[int][]int{}, names: map[int][]string{}}
	l.facts, l.err = command.Parse(t.Value)
	parts := l.facts.Parts()
	if l.err != nil || len(parts) == 0 {
		all := make([]int, len(l.facts.Calls))
		for i := range all {
			all[i] = i
		}
		l.calls[-1] = all
		return []subject{{target: t, line: l, part: -1, n: 1, classes: [2]Class{j.classCommand(&t)}}}
	}
	l.barred = l.facts.Together()
	for i := range l.facts.Calls {
		owner := l.owner(i, parts)
		l.calls[owner] = append(l.calls[owner], i)
	}
	whole := l.facts.Looks()
	out := make([]subject, 0, len(parts))
	for _, i := range parts {
		part := t
		part.Value = l.facts.Calls[i].String()
		for k := i; k >= 0; k = l.facts.Calls[k].Parent {
			l.names[i] = append(l.names[i], l.facts.Calls[k].Name())
		}
		s := subject{target: part, line: l, part: i, n: 1, whole: t.Value}
		if l.looks(i) && !t.Unseen && (!j.facts.OpenPath || whole || !l.found(i)) {
			s.classes[0] = ExecReadonly
		} else {
			s.classes[0] = j.classCommand(&part)
		}
		out = append(out, s)
	}
	return out
}

// owner returns the part with which a call is judged: itself, the part that a guess belongs to, or the first part that a
// wrapper runs.
func (l *line) owner(i int, parts []int) int {
	for k := i; k >= 0; k = l.facts.Calls[k].Parent {
		if slices.Contains(parts, k) {
			return k
		}
	}
	for _, p := range parts {
		for k := p; k >= 0; k = l.facts.Calls[k].Parent {
			if k == i {
				return p
			}
		}
	}
	return parts[0]
}

// looks reports whether a part only looks. A wrapper around it that does more is a part of its own. In a line with loops,
// functions or background jobs nothing does: it may run something else under the same name, or for ever.
func (l *line) looks(i int) bool {
	if l.facts.Construct != "" {
		return false
	}
	ok, _ := l.facts.Calls[i].Looks()
	return ok
}

// found reports whether a part is looked up on PATH: it is no builtin of bash, and named without its directory.
func (l *line) found(i int) bool {
	c := &l.facts.Calls[i]
	switch name := c.Args[0].Text; name {
	case "cd", "echo", "printf", "pwd", "true", "false", "test", "[", "type", "command":
		return c.Via == command.Wrapped
	default:
		return !strings.Contains(name, "/")
	}
}

func (j *judge) classCommand(t *tool.Target) Class {
	if j.facts.Command != nil {
		return j.facts.Command(*t)
	}
	return ExecHost
}

// compileCommand reads the pattern of a rule about commands. is is false where the pattern is about something else.
func (r *rule) compileCommand(tools map[string]string) (is bool, err error) {
	shell := r.Permission == Shell || tools[r.Permission] == Shell
	if r.Pattern == Any || !shell && !command.IsPattern(r.Pattern) {
		return false, nil
	}
	p, err := command.ParsePattern(r.Pattern)
	if err != nil {
		return true, err
	}
	r.command, r.names = p, p.Names()
	return true, p.Check(r.restricts())
}

// matchesCommand matches a part of a command line. known is false where the rule may be about it and nobody can say.
func (r *rule) matchesCommand(s *subject) (matches, known bool) {
	if r.command == nil {
		return false, true // a pattern for something else
	}
	if !r.restricts() {
		if r.names != nil && !slices.ContainsFunc(s.line.names[s.part], func(name string) bool { return slices.Contains(r.names, name) }) {
			return false, true // most rules, without a look at the words
		}
		return s.part >= 0 && s.barredBy() == "" && r.command.Allows(&s.line.facts, s.part), true
	}
	answer := command.No
	for _, i := range s.line.calls[s.part] {
		answer = max(answer, r.command.Restricts(&s.line.facts, i))
	}
	if answer == command.No && s.line.err != nil {
		answer = command.Maybe // what could not be read may be it
	}
	return answer == command.Yes, answer != command.Maybe
}

// barredBy says why no rule may allow the part, or "".
func (s *subject) barredBy() string {
	switch {
	case s.line == nil:
		return ""
	case s.line.err != nil:
		return "the line cannot be trusted: " + s.line.err.Error()
	case s.part < 0:
		return "there is no command in the line"
	}
	c := &s.line.facts.Calls[s.part]
	switch name := c.Name(); {
	case c.Problem != "":
		return c.Problem
	case len(c.Args) == 0:
		return "it is an assignment or a redirection without a command"
	case s.line.barred != "" && (name == "git" || name == "gh" || name == "hg" || name == "jj" || name == "svn"):
		return s.line.barred
	}
	return ""
}

// exactly reports whether the opinion is an allow that spells out the whole command, or the permission under which no other
// command ever asks: then it may run outside of confinement (P1).
func (o *opinion) exactly(s *subject) bool {
	switch {
	case o.rule == nil || o.verdict != tool.Allow:
		return false
	case o.rule.command != nil && o.rule.command.Exact():
		return true
	}
	return s.target.Fixed && !strings.ContainsAny(o.rule.Permission, "*?[{")
}

// lintCommand finds patterns for commands that say more than they seem to.
func (g *Gate) lintCommand(r *rule, report reporter) {
	if r.restricts() || r.command.Exact() {
		return
	}
	if why := r.command.Broad(); why != "" {
		report(Warning, "broad", "%s", why)
	}
	if g.judge.classCommand(&tool.Target{Kind: tool.CommandTarget, Effect: tool.Execute}) == ExecHost {
		report(Note, "unconfined", "commands run outside of confinement here, where only an exact command is allowed by a rule: this one asks all the same")
	}
}
