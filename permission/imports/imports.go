package imports

import (
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/command"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

// Finding is what an import says about something in the file.
type Finding struct {
	Severity permission.Severity `json:"severity"` // warning: a rule was left out or became an ask; note: it differs a little
	Line     int                 `json:"line"`     // 1-based
	Text     string              `json:"text"`     // as written
	Message  string              `json:"message"`
}

func (f Finding) String() string {
	return fmt.Sprintf("line %d: %s: %s: %s", f.Line, f.Severity, f.Text, f.Message)
}

// result collects what an import makes.
type result struct {
	rules    []permission.Rule
	findings []Finding
}

func (r *result) warn(line int, text, format string, args ...any) {
	r.findings = append(r.findings, Finding{permission.Warning, line, text, fmt.Sprintf(format, args...)})
}

func (r *result) note(line int, text, format string, args ...any) {
	r.findings = append(r.findings, Finding{permission.Note, line, text, fmt.Sprintf(format, args...)})
}

// A source is a rule as it stands in the file.
type source struct {
	line   int
	text   string
	action tool.Verdict
	reason string
}

func (s *source) rule(perm, pattern string) permission.Rule {
	return permission.Rule{Permission: perm, Pattern: pattern, Action: s.action, Reason: s.reason, Source: permission.Source{Line: s.line}}
}

// add takes over a rule for some permissions, unless permission cannot read it.
func (r *result) add(s *source, perms []string, pattern string) {
	for _, perm := range perms {
		rule := s.rule(perm, pattern)
		if err := permission.Check(permission.Layer{Rules: []permission.Rule{rule}}); err != nil {
			r.lost(s, []string{perm}, reasonOf(err))
			continue
		}
		r.rules = append(r.rules, rule)
	}
}

// lost leaves a rule out. One that restricts becomes an ask for all of the permissions: a deny that nobody understands must
// not turn into one that matches nothing. A permission that is no name is one that no tool has.
func (r *result) lost(s *source, perms []string, why string) {
	if s.action == tool.Allow {
		r.warn(s.line, s.text, "left out: %s", why)
		return
	}
	ask := *s
	ask.action = tool.Ask
	var names []string
	for _, perm := range perms {
		rule := ask.rule(perm, permission.Any)
		if permission.Check(permission.Layer{Rules: []permission.Rule{rule}}) == nil {
			r.rules, names = append(r.rules, rule), append(names, perm)
		}
	}
	if names == nil {
		r.warn(s.line, s.text, "left out: %s", why)
		return
	}
	r.warn(s.line, s.text, "everything under %s asks instead: %s", strings.Join(names, ", "), why)
}

// command takes over a pattern for commands.
func (r *result) command(s *source, p *command.Pattern) {
	if err := p.Check(s.action != tool.Allow); err != nil {
		examples := len(p.Match)+len(p.NotMatch) > 0
		bare := *p
		bare.Match, bare.NotMatch = nil, nil
		if !examples || bare.Check(s.action != tool.Allow) != nil {
			r.lost(s, []string{permission.Shell}, err.Error())
			return
		}
		r.note(s.line, s.text, "the examples are left out, because a rule here decides them otherwise: %v", err)
		p = &bare
	}
	if s.action == tool.Allow {
		if why := p.Broad(); why != "" {
			r.note(s.line, s.text, "%s", why)
		}
	}
	r.rules = append(r.rules, s.rule(permission.Shell, p.String()))
}

// text takes over the text form of a pattern for commands, in which "*" stands for any characters.
func (r *result) text(s *source, pattern string) {
	if strings.Trim(pattern, "* ") == "" {
		r.rules = append(r.rules, s.rule(permission.Shell, permission.Any))
		return
	}
	p, err := command.ParsePattern(pattern)
	if err != nil {
		r.lost(s, []string{permission.Shell}, err.Error())
		return
	}
	r.command(s, p)
}

// host takes over a rule about the host of an address.
func (r *result) host(s *source, pattern string) {
	if _, err := (permission.Hosts{}).Compile(pattern, s.action != tool.Allow); err != nil {
		r.lost(s, fetches(), err.Error())
		return
	}
	r.add(s, fetches(), pattern)
}

func reasonOf(err error) string {
	text := err.Error()
	if _, after, ok := strings.Cut(text, "): "); ok {
		return after
	}
	return text
}

// reads are the permissions for looking at files.
func reads() []string { return []string{"read_file", "grep", "glob", "list_dir"} }

// fetches are the permissions for reading the web.
func fetches() []string { return []string{"fetch_url", "web_fetcher"} }
