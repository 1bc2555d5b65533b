package hook

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/patch"
	"github.com/tackle-dev/tackle/tool"
)

// Judge is our gate, as the hooks of other agents ask it.
type Judge interface {
	// Resolve resolves a path as the agent wrote it.
	Resolve(ctx context.Context, cwd, path string) (host.Path, error)
	// Judge decides about a call that another agent would make. session is the agent's.
	Judge(ctx context.Context, session string, in *tool.Intent) (tool.Decision, error)
}

// Reply is what a hook command prints, and how it exits.
type Reply struct {
	Stdout, Stderr string
	Code           int
}

// Serve answers one question of another agent: in is what it gave the hook on standard input. It knows PreToolUse and
// PermissionRequest in the convention's form, which Claude Code and Codex speak, and BeforeTool of Gemini CLI. About
// anything else it has no opinion, and prints nothing.
//
// A deny is passed on, and so is an ask, where the agent can ask. An allow is passed on where a rule or a grant says it, or
// where the call only reads: what the posture allows beyond that counts on our journal and sandbox, which do not stand
// behind another agent's tools, so there the agent's own rules decide. A question that cannot be read, or a gate that
// fails, is exit code 2, which blocks the call.
func Serve(ctx context.Context, in []byte, j Judge) Reply {
	var q input
	if err := json.Unmarshal(in, &q); err != nil || q.Event == "" {
		return failed(fmt.Errorf("standard input is no question of a hook: %w", cmp.Or(err, errNoOpinion)))
	}
	form, known := forms[q.Event]
	if !known || q.Tool == "" {
		return Reply{}
	}
	intent, err := theirs(ctx, &q, j)
	if err != nil {
		return failed(err)
	}
	d, err := j.Judge(ctx, q.SessionID, intent)
	if err != nil {
		return failed(err)
	}
	word := d.Verdict.String()
	switch {
	case strings.HasPrefix(q.Tool, own) && (d.Verdict != tool.Deny || !strings.HasPrefix(d.By, "rule ")):
		word = ""
	case strings.HasPrefix(d.By, "rule "), strings.HasPrefix(d.By, "grant "):
	case slices.ContainsFunc(intent.Targets, foreignTool), d.Verdict == tool.Allow && !onlyReads(intent):
		word = ""
	}
	out := form(word, strings.TrimSpace(cmp.Or(d.Reason, d.By)))
	if out == nil {
		return Reply{}
	}
	return Reply{Stdout: string(marshal(out)) + "\n"}
}

// own is how the tools of our own server are called in Claude Code. They ask our gate themselves, when they are planned:
// asked here as well, a person would be asked twice for one thing. A rule that denies them holds all the same: any server
// can take the name.
const own = "mcp__tackle__"

func failed(err error) Reply {
	return Reply{Stderr: "tackle hook: " + err.Error() + "; the call is blocked\n", Code: 2}
}

func onlyReads(in *tool.Intent) bool {
	return !slices.ContainsFunc(in.Effects, func(e tool.Effect) bool { return e != tool.Read })
}

// foreignTool reports whether a target is a tool of the agent that has no counterpart here; those of MCP servers are judged
// like others.
func foreignTool(t tool.Target) bool {
	return t.Kind == tool.ToolTarget && !strings.HasPrefix(t.Value, "mcp")
}

// forms writes an answer, by event. The word is allow, ask, deny or "" for no opinion; nil prints nothing.
var forms = map[Event]func(word, reason string) any{
	PreToolUse: func(word, reason string) any {
		if word == "" {
			return nil
		}
		return specific(PreToolUse, map[string]any{"permissionDecision": word, "permissionDecisionReason": "tackle: " + reason})
	},
	PermissionRequest: func(word, reason string) any {
		switch word {
		case "allow":
			return specific(PermissionRequest, map[string]any{"decision": map[string]any{"behavior": "allow"}})
		case "deny":
			return specific(PermissionRequest, map[string]any{"decision": map[string]any{"behavior": "deny", "message": "tackle: " + reason}})
		}
		return nil // its person is asked anyhow
	},
	"BeforeTool": func(word, reason string) any {
		if word != "allow" && word != "deny" {
			return nil
		}
		return map[string]any{"decision": word, "reason": "tackle: " + reason}
	},
}

func specific(e Event, fields map[string]any) any {
	fields["hookEventName"] = e
	return map[string]any{"hookSpecificOutput": fields}
}

// kind is what a tool of another agent does, in our words.
type kind struct {
	tool, permission string
	effect           tool.Effect
	paths            []string // the fields that hold a path
	folder           bool     // without a path it is about the working folder
}

// pathFields are the fields in which agents name a file.
var pathFields = []string{"file_path", "path", "absolute_path", "notebook_path", "filePath", "target_file"}

func reads(name string) kind {
	return kind{name, name, tool.Read, pathFields, false}
}

func writes(name string) kind {
	return kind{name, "edit", tool.Write, pathFields, false}
}

func looks(name string) kind {
	return kind{name, name, tool.Read, []string{"path", "dir_path"}, true}
}

// kinds are the tools of Claude Code, Codex and Gemini CLI.
var kinds = map[string]kind{
	"Read": reads("read_file"), "NotebookRead": reads("read_file"), "read_file": reads("read_file"), "view_image": reads("read_file"),
	"Write": writes("write_file"), "write_file": writes("write_file"), "Edit": writes("edit"), "MultiEdit": writes("multi_edit"),
	"NotebookEdit": writes("edit"), "replace": writes("edit"),
	"Glob": looks("glob"), "glob": looks("glob"), "Grep": looks("grep"), "search_file_content": looks("grep"), "grep_search": looks("grep"),
	"LS": looks("list_dir"), "list_directory": looks("list_dir"), "read_many_files": looks("read_file"),
}

// theirs makes an intent of a call of another agent.
func theirs(ctx context.Context, q *input, j Judge) (*tool.Intent, error) {
	var in object
	if err := json.Unmarshal(q.Input, &in); err != nil {
		return nil, fmt.Errorf("tool_input of %s is no object", q.Tool)
	}
	text := func(keys ...string) string {
		for _, k := range keys {
			var s string
			if json.Unmarshal(in[k], &s) == nil && s != "" {
				return s
			}
		}
		return ""
	}
	out := &tool.Intent{Args: q.Input}
	add := func(e tool.Effect, paths ...string) error {
		for _, p := range paths {
			resolved, err := j.Resolve(ctx, q.Cwd, p)
			if err != nil {
				return fmt.Errorf("%s %q: %w", q.Tool, p, err)
			}
			out.Targets = append(out.Targets, tool.PathTo(resolved, e))
		}
		return nil
	}
	other := func(name, permission string, e tool.Effect, k tool.TargetKind, value string) {
		out.Tool, out.Permission, out.Effects = name, permission, []tool.Effect{e}
		if value != "" {
			out.Targets = []tool.Target{{Kind: k, Effect: e, Value: value}}
		}
	}
	k, known := kinds[q.Tool]
	switch {
	case known:
		out.Tool, out.Permission, out.Effects = k.tool, k.permission, []tool.Effect{k.effect}
		p := text(k.paths...)
		if p == "" && !k.folder {
			// The agent's tool will refuse it, or it has a form that is not known here: policy cannot say what it is about, so a
			// person does.
			out.Targets = []tool.Target{{Kind: tool.PathTarget, Effect: k.effect}}
			return out, nil
		}
		return out, add(k.effect, cmp.Or(p, "."))
	case q.Tool == "Bash" || q.Tool == "run_shell_command" || q.Tool == "shell":
		line := commandLine(in)
		if line == "" {
			return nil, fmt.Errorf("tool_input of %s holds no command", q.Tool)
		}
		other("shell", "shell", tool.Execute, tool.CommandTarget, line)
	case q.Tool == "apply_patch":
		out.Tool, out.Permission, out.Effects = "apply_patch", "edit", []tool.Effect{tool.Write}
		p, err := patch.Parse(text("patch", "input", "command"))
		if err != nil {
			return nil, fmt.Errorf("the patch cannot be read: %w", err)
		}
		for _, f := range p.Files {
			paths := []string{f.Path}
			if f.To != "" {
				paths = append(paths, f.To)
			}
			if err := add(tool.Write, paths...); err != nil {
				return nil, err
			}
		}
	case q.Tool == "WebFetch" || q.Tool == "web_fetch":
		other("fetch_url", "fetch_url", tool.Network, tool.URLTarget, text("url"))
	case q.Tool == "WebSearch" || q.Tool == "google_web_search":
		other("search_google", "search_google", tool.Network, "", "")
	default:
		other(q.Tool, q.Tool, tool.Execute, tool.ToolTarget, q.Tool)
	}
	return out, nil
}

// commandLine returns a command: a line, or an argument vector, which Codex gives.
func commandLine(in object) string {
	var line string
	if json.Unmarshal(in["command"], &line) == nil {
		return line
	}
	var argv []string
	if json.Unmarshal(in["command"], &argv) != nil {
		return ""
	}
	// "bash -lc LINE" is what the agent makes of a line.
	if len(argv) == 3 && (argv[0] == "bash" || argv[0] == "sh") && (argv[1] == "-lc" || argv[1] == "-c") {
		return argv[2]
	}
	return quote(argv)
}
