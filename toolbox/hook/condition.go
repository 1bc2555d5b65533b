package hook

import (
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/command"
	"github.com/tackle-dev/tackle/glob"
)

// condition is the "if" of a hook: Tool or Tool(what). It only spares runs that cannot matter. Where it cannot be known
// whether it holds, it holds: a hook that runs for nothing costs a moment, one that is passed by costs what it guards.
type condition struct {
	tool    string
	first   string // of a rule for commands: the first word, "" where it has a wildcard
	pattern string // of a rule for paths
}

func parseCondition(s string) (*condition, error) {
	if s == "" {
		return nil, nil
	}
	name, spec, has := strings.Cut(strings.TrimSpace(s), "(")
	spec, closed := strings.CutSuffix(spec, ")")
	if name == "" || has && !closed {
		return nil, errors.New("want Tool or Tool(what)")
	}
	c := &condition{tool: name}
	if spec = strings.TrimSpace(spec); spec == "" || spec == "*" {
		return c, nil
	}
	if name == "Bash" {
		words := strings.Fields(strings.TrimSuffix(spec, ":*"))
		if len(words) > 0 && !strings.ContainsAny(words[0], "*?[") {
			c.first = words[0]
		}
		return c, nil
	}
	c.pattern = spec
	return c, nil
}

// holds reports whether the condition may hold for a call, which may be meant by several names.
func (c *condition) holds(names []string, input json.RawMessage) bool {
	if c == nil {
		return true
	}
	// Edit stands for every tool that changes files, as in rules.
	if !slices.ContainsFunc(names, func(name string) bool {
		return c.tool == name || c.tool == "Edit" && (name == "Write" || name == "MultiEdit" || name == "NotebookEdit")
	}) {
		return false
	}
	var in struct {
		Command string `json:"command"`
		File    string `json:"file_path"`
		Path    string `json:"path"`
	}
	if json.Unmarshal(input, &in) != nil {
		return true
	}
	switch {
	case c.first != "":
		return mayRun(in.Command, c.first)
	case c.pattern != "" && in.File+in.Path != "":
		return mayName(c.pattern, in.File+in.Path)
	}
	return true
}

// mayRun reports whether a command line may run a program, anywhere: behind assignments, wrappers, && or in sh -c.
func mayRun(line, program string) bool {
	facts, err := command.Parse(line)
	if err != nil {
		return true
	}
	for i := range facts.Calls {
		c := &facts.Calls[i]
		if c.Problem != "" || c.Guess || c.Exact || c.Hidden || len(c.Args) > 0 && !c.Args[0].Literal() || c.Name() == path.Base(program) {
			return true
		}
	}
	return false
}

// mayName reports whether a path rule may be about a path. Rules are relative to places that are not known here, so it
// matches by the end of the path.
func mayName(pattern, file string) bool {
	if strings.Contains(file, "..") {
		return true
	}
	text := pattern
	for _, prefix := range []string{"//", "~/", "./", "/"} {
		text = strings.TrimPrefix(text, prefix)
	}
	for _, p := range []string{text, "**/" + text, "**/" + text + "/**"} {
		g, err := glob.Compile(p, glob.Options{})
		if err != nil || g.Match(strings.TrimLeft(path.Clean(file), "/")) {
			return true
		}
	}
	return false
}

// quote returns an argument vector as a command line.
func quote(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = command.Quote(a)
	}
	return strings.Join(words, " ")
}
