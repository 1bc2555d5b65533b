package history

import (
	"encoding/json"
	"fmt"
	"strings"
)

// subjects are the arguments that say best what a call is about, the best first.
var subjects = []string{"command", "path", "paths", "from", "pattern", "query", "url", "media_id", "id", "task", "q", "name", "symbol", "op"}

// Subject says in a few words what a call is about: its most telling argument, on one line.
func Subject(c *Call) string { return SubjectOf(c.Args) }

// SubjectOf is [Subject] of arguments.
func SubjectOf(args json.RawMessage) string {
	var m map[string]any
	if json.Unmarshal(args, &m) != nil {
		return ""
	}
	var out []string
	for _, key := range subjects {
		v, ok := m[key]
		if !ok {
			continue
		}
		s := valueText(v)
		if s == "" {
			continue
		}
		out = append(out, s)
		if len(out) == 2 || key == "command" || key == "q" {
			break
		}
	}
	if len(out) == 0 {
		if s, ok := m["patch"].(string); ok {
			return patchFiles(s)
		}
	}
	return cut(strings.Join(out, "  "), 160)
}

func valueText(v any) string {
	switch v := v.(type) {
	case string:
		return strings.Join(strings.Fields(v), " ")
	case float64, bool:
		return fmt.Sprint(v)
	case []any:
		var out []string
		for _, e := range v {
			if s := valueText(e); s != "" {
				out = append(out, s)
			}
		}
		return strings.Join(out, " ")
	}
	return ""
}

// patchFiles names the files of a patch.
func patchFiles(patch string) string {
	var out []string
	for l := range strings.Lines(patch) {
		for _, prefix := range []string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "+++ b/"} {
			if name, ok := strings.CutPrefix(strings.TrimRight(l, "\r\n"), prefix); ok {
				out = append(out, name)
			}
		}
	}
	return cut(strings.Join(out, " "), 160)
}
