package permission

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/tool"
)

// Any is the pattern that matches every target of every kind. A layer whose last rule for a permission denies Any takes
// the tools of that permission out of the list (P3). It is wider than "**", which is every path of the workspace.
const Any = "*"

// The names of the layers (P1). Any other name may be used; it only shows in explanations. What P1 calls the layer of
// built-in defaults is the [Posture].
const (
	User    = "user"    // the person's configuration
	Project = "project" // the configuration that lies in the project
	Mode    = "mode"
	Session = "session"
	OneCall = "request"
)

// Rule says what happens to the calls that it matches.
type Rule struct {
	// Permission is the name that tools ask under: "edit", "read_file", "shell", an imported tool's name. "*" in it stands
	// for any characters. The name of a tool that asks under another permission (write_file) means that permission.
	Permission string `json:"permission"`
	// Pattern is matched with each target of the call: [Any], a glob relative to the workspace roots ("src/**"), a glob
	// below the home directory ("~/notes/*.md") or an absolute one; for imported tools a name with "*". A pattern that
	// ends in "/" means the directory and all that is below; "artifact:*" means artifacts, wherever they lie. For addresses it is a host, see [Hosts]. For commands it is a [command.Pattern]: ["git", "diff", "..."]
	// for any permission, and also in the text form ("git diff *") for the permission [Shell]; such a rule is about
	// commands alone.
	Pattern string `json:"pattern"`
	// Action is allow, ask or deny. The zero value is allow.
	Action tool.Verdict `json:"action"`
	// Reason is shown to the model with a deny and to the person with an ask. Optional.
	Reason string `json:"reason,omitempty"`
	// Source is where the rule is written, for messages.
	Source Source `json:"source,omitzero"`
}

func (r Rule) String() string {
	return fmt.Sprintf("%s %s %q", r.Action, r.Permission, r.Pattern)
}

// Source is a position in a file; line and column are 1-based, 0 means unknown.
type Source struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// String returns file:line:column as far as known.
func (s Source) String() string {
	switch {
	case s.Line == 0:
		return s.File
	case s.Column == 0:
		return fmt.Sprintf("%s:%d", s.File, s.Line)
	}
	return fmt.Sprintf("%s:%d:%d", s.File, s.Line, s.Column)
}

// Layer is a list of rules of one origin.
type Layer struct {
	Name  string
	Rules []Rule
	// Untrusted layers only tighten: their allow rules are ignored, and explanations say so. It is set for the layer of a
	// project until the person has trusted the exact content of its file.
	Untrusted bool
	// Base is the folder that relative patterns of the layer are relative to, absolute and resolved; "" means each of the
	// workspace roots. It is set for the layer of a project, whose folder need not be a root. An allow with a relative
	// pattern still covers only what lies in a root.
	Base string
}

// RuleError is a rule that cannot be understood. No gate is built from it: a deny that nobody understands must not turn
// into a deny that matches nothing.
type RuleError struct {
	Layer  string
	Number int // 1-based position in the layer
	Rule   Rule
	Reason string // what is wrong, and how to write it
}

func (e *RuleError) Error() string {
	at := e.Rule.Source.String()
	if at == "" {
		at = "layer " + e.Layer
	}
	return fmt.Sprintf("%s: rule %d (%s): %s", at, e.Number, e.Rule, e.Reason)
}

// Check reports what is wrong with the rules of a layer, all of it at once. Errors: *RuleError, joined.
func Check(l Layer) error {
	_, err := compile(l, &settings{home: "/", spool: (&Facts{}).spool(), tools: nil})
	return err
}

// checkName accepts the names that a permission or a tool can have, with "*".
func checkName(name string) error {
	if name == "" {
		return errors.New(`the permission is empty; write the permission's name, or "*" for every permission`)
	}
	if name != strings.TrimSpace(name) {
		return fmt.Errorf("the permission %q has blanks at its ends", name)
	}
	for _, r := range name {
		ok := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.:*", r)
		if !ok {
			return fmt.Errorf("the permission %q has the character %q; names are letters, digits, \"_-.:\" and \"*\", and what a rule applies to goes into pattern", name, r)
		}
	}
	return nil
}

// wildcard matches a name with a pattern in which "*" stands for any characters.
func wildcard(pattern, name string) bool {
	star, mark := -1, 0
	p, n := 0, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, n
			p++
		case p < len(pattern) && pattern[p] == name[n]:
			p++
			n++
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
