package hook

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/patch"
	"github.com/tackle-dev/tackle/toolbox"
)

// Shown is a call as hooks see it.
type Shown struct {
	Name  string          `json:"tool_name"`
	Input json.RawMessage `json:"tool_input"`
	// Also are further names by which a matcher may mean the call.
	Also []string `json:"-"`
	// Part says that it shows one file of several that the call touches, or the call in another form: what a hook rewrites
	// cannot be given back.
	Part bool `json:"-"`
}

// names maps our tools to those of the convention, where one stands for the other.
var names = map[string]string{
	"shell": "Bash", "read_file": "Read", "write_file": "Write", "edit": "Edit", "multi_edit": "MultiEdit", "glob": "Glob",
	"grep": "Grep", "list_dir": "LS", "fetch_url": "WebFetch", "web_fetcher": "WebFetch", "search_google": "WebSearch",
	"spawn": "Task", "skills_use": "Skill",
}

// fields maps our arguments to the fields of the convention, by tool of the convention. Fields that are not listed have one
// name.
var fields = map[string]map[string]string{
	"Bash":      {"background": "run_in_background"},
	"Read":      {"path": "file_path"},
	"Write":     {"path": "file_path"},
	"Edit":      {"path": "file_path"},
	"MultiEdit": {"path": "file_path"},
	"Grep":      {"case_insensitive": "-i", "context": "-C", "before": "-B", "after": "-A"},
}

type object = map[string]json.RawMessage

// Foreign shows a call of one of our tools in the convention: usually once, a call that touches several files once for
// each. dir is the working folder, to which the convention's absolute paths are joined.
func Foreign(m toolbox.Meaning, dir string) []Shown {
	var in object
	if json.Unmarshal(m.Args, &in) != nil {
		return []Shown{{Name: m.Tool, Input: m.Args}}
	}
	text := func(key string) string { var s string; _ = json.Unmarshal(in[key], &s); return s }
	name, known := names[m.Tool]
	switch {
	case m.Tool == "read_file" && in["files"] != nil:
		return readFiles(in, dir)
	case m.Tool == "task_input": // what is typed into a shell is a command as any other
		return []Shown{{Name: "Bash", Input: marshal(object{"command": marshal(text("content")), "description": marshal("input of task " + text("id"))}), Also: []string{m.Tool}, Part: true}}
	case m.Tool == "apply_patch":
		return patchFiles(m.Tool, text("patch"), dir)
	case (m.Tool == "outline" || m.Tool == "find_symbol" || m.Tool == "git") && text("path") != "":
		in["path"] = absolute(in["path"], dir)
		in["file_path"] = in["path"] // so that a guard of reading finds it
		return []Shown{{Name: m.Tool, Input: marshal(in), Also: []string{"Read"}, Part: true}}
	case !known && m.Permission == "edit":
		return fileSteps(m.Tool, in, dir)
	case !known:
		return []Shown{{Name: m.Tool, Input: m.Args}}
	}
	also := []string{m.Tool}
	if name == "MultiEdit" {
		also = append(also, "Edit") // newer guards know no MultiEdit
	}
	return []Shown{{Name: name, Input: rename(name, in, dir), Also: also}}
}

// rename gives the fields the names of the convention.
func rename(name string, in object, dir string) json.RawMessage {
	out := make(object, len(in))
	for key, value := range in {
		if to, ok := fields[name][key]; ok {
			key = to
		}
		switch {
		case key == "file_path" || key == "path" && (name == "Glob" || name == "Grep" || name == "LS"):
			value = absolute(value, dir)
		case name == "Bash" && key == "timeout": // seconds here, milliseconds there
			value = scale(value, 1000)
		}
		out[key] = value
	}
	return marshal(out)
}

func absolute(raw json.RawMessage, dir string) json.RawMessage {
	var p string
	if json.Unmarshal(raw, &p) != nil || p == "" || filepath.IsAbs(p) || dir == "" || strings.HasPrefix(p, "artifact:") {
		return raw
	}
	return marshal(filepath.Join(dir, p))
}

func scale(raw json.RawMessage, by float64) json.RawMessage {
	var n float64
	if json.Unmarshal(raw, &n) != nil {
		return raw
	}
	return marshal(n * by)
}

func marshal(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil { // strings, numbers and what was JSON already
		panic(err)
	}
	return b
}

// readFiles shows each file of a read of several.
func readFiles(in object, dir string) []Shown {
	var files []object
	_ = json.Unmarshal(in["files"], &files)
	var out []Shown
	for _, f := range files {
		out = append(out, Shown{Name: "Read", Input: rename("Read", f, dir), Also: []string{"read_file"}, Part: true})
	}
	if len(out) == 0 {
		return []Shown{{Name: "Read", Input: rename("Read", in, dir), Also: []string{"read_file"}, Part: true}}
	}
	return out
}

// fileSteps shows any other tool that changes files (a move, a deletion, a formatter) as an edit of each of its paths.
func fileSteps(tool string, in object, dir string) []Shown {
	var out []Shown
	for key, raw := range in {
		var p string
		if json.Unmarshal(raw, &p) != nil || p == "" || !slices.Contains([]string{"path", "from", "to", "source", "destination", "new_path"}, key) {
			continue
		}
		out = append(out, edited(tool, p, "", "", dir))
	}
	slices.SortFunc(out, func(a, b Shown) int { return strings.Compare(string(a.Input), string(b.Input)) })
	if len(out) == 0 {
		return []Shown{{Name: tool, Input: marshal(in), Also: []string{"Edit", "Write"}}}
	}
	return out
}

func edited(tool, path, old, new, dir string) Shown {
	in := object{"file_path": absolute(marshal(path), dir), "old_string": marshal(old), "new_string": marshal(new)}
	return Shown{Name: "Edit", Input: marshal(in), Also: []string{"Write", "MultiEdit", tool}, Part: true}
}

// patchFiles shows each file of a patch: an added file as Write, any other as an Edit of each hunk.
func patchFiles(tool, text, dir string) []Shown {
	p, err := patch.Parse(text)
	if err != nil { // the call fails, unless a hook rewrites it
		return []Shown{{Name: tool, Input: marshal(object{"patch": marshal(text)}), Also: []string{"Edit", "Write"}}}
	}
	var out []Shown
	for _, f := range p.Files {
		before := len(out)
		for _, h := range f.Hunks {
			var old, new strings.Builder
			for _, l := range h.Lines {
				if l.Kind != patch.Added {
					old.WriteString(l.Text + "\n")
				}
				if l.Kind != patch.Removed {
					new.WriteString(l.Text + "\n")
				}
			}
			if f.Op == patch.Add {
				in := object{"file_path": absolute(marshal(f.Path), dir), "content": marshal(new.String())}
				out = append(out, Shown{Name: "Write", Input: marshal(in), Also: []string{"Edit", tool}, Part: true})
				continue
			}
			out = append(out, edited(tool, f.Path, old.String(), new.String(), dir))
		}
		if len(out) == before {
			out = append(out, edited(tool, f.Path, "", "", dir))
		}
		if f.To != "" {
			out = append(out, edited(tool, f.To, "", "", dir))
		}
	}
	return out
}

// Ours turns the input of a tool of the convention back into the arguments of ours.
func Ours(name string, input json.RawMessage) (json.RawMessage, bool) {
	var in object
	if json.Unmarshal(input, &in) != nil || in == nil {
		return nil, false
	}
	back := map[string]string{}
	for ours, theirs := range fields[name] {
		back[theirs] = ours
	}
	out := make(object, len(in))
	for key, value := range in {
		if name == "Bash" && key == "timeout" {
			value = scale(value, 0.001)
		}
		if to, ok := back[key]; ok {
			key = to
		}
		out[key] = value
	}
	return marshal(out), true
}
