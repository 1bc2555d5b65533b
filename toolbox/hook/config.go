package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Event is a moment at which hooks run.
type Event string

// The events.
const (
	PreToolUse        Event = "PreToolUse"        // before a call
	PermissionRequest Event = "PermissionRequest" // when a person would be asked
	PostToolUse       Event = "PostToolUse"       // after a call that succeeded
	Stop              Event = "Stop"              // before a turn ends
	SessionStart      Event = "SessionStart"
)

// Events returns the events that hooks are run for.
func Events() []Event {
	return []Event{PreToolUse, PermissionRequest, PostToolUse, Stop, SessionStart}
}

// DefaultTimeout is how long a hook may take whose entry says nothing.
const DefaultTimeout = 60 * time.Second

// Command is one hook.
type Command struct {
	Event   Event
	Matcher string   // which tools it is for; "" and "*" are all
	If      string   // a rule such as "Bash(git *)" that narrows it; "" does not
	Command string   // run by a shell; with Args a program
	Args    []string // nil: Command is a line for a shell
	Timeout time.Duration
	// FailOpen lets a call pass where the hook fails. It is our addition to the format.
	FailOpen bool
	Source   string // the file, for messages
	// Unsupported is why the hook cannot be run here ("prompt", "http"); it then asks a person for every call it matches.
	Unsupported string

	match matcher
	only  *condition
}

// Name returns what messages call the hook.
func (c *Command) Name() string {
	if c.Command == "" {
		return c.Unsupported
	}
	return c.Command
}

// Set is the hooks of a configuration, in their order. The zero value has none.
type Set struct{ list []*Command }

// Commands returns the hooks.
func (s *Set) Commands() []Command {
	var out []Command
	for _, c := range s.list {
		out = append(out, *c)
	}
	return out
}

// Join returns a set with the hooks of all.
func Join(sets ...*Set) *Set {
	out := &Set{}
	for _, s := range sets {
		if s != nil {
			out.list = append(out.list, s.list...)
		}
	}
	return out
}

// of returns the hooks of an event.
func (s *Set) of(e Event) []*Command {
	var out []*Command
	for _, c := range s.list {
		if c.Event == e {
			out = append(out, c)
		}
	}
	return out
}

// Parse reads the "hooks" section of a settings file. Other keys are not looked at. notes say what has no effect here. The
// error joins everything that is wrong; there is no set then, because a guard that cannot be read must not be one that is
// not there.
func Parse(data []byte, file string) (set *Set, notes []string, err error) {
	var top struct {
		Hooks   map[string]json.RawMessage `json:"hooks"`
		Disable bool                       `json:"disableAllHooks"`
	}
	if err := json.Unmarshal(data, &top); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", position(file, data, err), err)
	}
	set = &Set{}
	if top.Disable {
		return set, []string{file + ": disableAllHooks is set, so none of its hooks runs"}, nil
	}
	var errs []error
	for _, e := range Events() {
		raw, ok := top.Hooks[string(e)]
		if !ok {
			continue
		}
		list, err := parseEvent(raw, e, file)
		set.list = append(set.list, list...)
		errs = append(errs, err)
	}
	for name := range top.Hooks {
		if !slices.Contains(Events(), Event(name)) {
			notes = append(notes, fmt.Sprintf("%s: hooks.%s: this event does not occur here", file, name))
		}
	}
	slices.Sort(notes)
	for _, c := range set.list {
		if c.Unsupported != "" {
			notes = append(notes, fmt.Sprintf("%s: hooks.%s: a hook of type %q cannot be run here", file, c.Event, c.Unsupported))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, notes, err
	}
	return set, notes, nil
}

// position adds line and column to the name of a file, where the error knows an offset.
func position(file string, data []byte, err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	offset := int64(-1)
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	}
	if offset < 0 || offset > int64(len(data)) {
		return file
	}
	before := data[:offset]
	return fmt.Sprintf("%s:%d:%d", file, bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n'))
}

func parseEvent(raw json.RawMessage, e Event, file string) ([]*Command, error) {
	var groups []struct {
		Matcher string `json:"matcher"`
		Hooks   []struct {
			Type     string          `json:"type"`
			Command  string          `json:"command"`
			Args     []string        `json:"args"`
			Timeout  json.Number     `json:"timeout"` // seconds
			If       string          `json:"if"`
			FailOpen bool            `json:"failOpen"`
			URL      json.RawMessage `json:"url"`
		} `json:"hooks"`
	}
	if err := json.Unmarshal(raw, &groups); err != nil {
		return nil, fmt.Errorf("%s: hooks.%s: %w", file, e, err)
	}
	var out []*Command
	var errs []error
	for i, g := range groups {
		bad := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("%s: hooks.%s[%d]: %s", file, e, i, fmt.Sprintf(format, args...)))
		}
		m, err := parseMatcher(g.Matcher)
		if err != nil {
			bad("matcher %q: %v", g.Matcher, err)
		}
		for _, h := range g.Hooks {
			c := &Command{Event: e, Matcher: g.Matcher, If: h.If, Command: h.Command, Args: h.Args, Timeout: DefaultTimeout, FailOpen: h.FailOpen, Source: file, match: m}
			switch {
			case h.Type != "command" && h.Type != "":
				c.Unsupported, c.Command = h.Type, ""
			case strings.TrimSpace(h.Command) == "":
				bad("a hook without a command")
			}
			if h.Timeout != "" {
				seconds, err := h.Timeout.Float64()
				if err != nil || seconds <= 0 || seconds > 24*3600 {
					bad("timeout %s: want seconds", h.Timeout)
				}
				c.Timeout = time.Duration(seconds * float64(time.Second))
			}
			if c.only, err = parseCondition(h.If); err != nil {
				bad("if %q: %v", h.If, err)
			}
			out = append(out, c)
		}
	}
	return out, errors.Join(errs...)
}

// matcher selects tools by name.
type matcher struct {
	any   bool
	names []string
	expr  *regexp.Regexp
}

// plainMatcher is a list of names, which match whole.
var plainMatcher = regexp.MustCompile(`^[A-Za-z0-9_|, -]*$`)

// parseMatcher reads a matcher: "" and "*" for all tools, names separated by "|", or a regular expression, which may match
// anywhere in a name: a guard had better match too much.
func parseMatcher(s string) (matcher, error) {
	if s == "" || s == "*" {
		return matcher{any: true}, nil
	}
	if plainMatcher.MatchString(s) {
		var names []string
		for _, n := range strings.FieldsFunc(s, func(r rune) bool { return r == '|' || r == ',' }) {
			if n = strings.TrimSpace(n); n != "" {
				names = append(names, n)
			}
		}
		return matcher{names: names}, nil
	}
	e, err := regexp.Compile(s)
	if err != nil {
		return matcher{}, fmt.Errorf("it is no regular expression of RE2: %w", err)
	}
	return matcher{expr: e}, nil
}

// matches reports whether one of the names is selected, and which.
func (m *matcher) matches(names ...string) (string, bool) {
	for _, n := range names {
		if m.any || slices.Contains(m.names, n) || m.expr != nil && m.expr.MatchString(n) {
			return n, true
		}
	}
	return "", false
}
