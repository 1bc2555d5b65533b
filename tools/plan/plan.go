// Package plan holds the tools over plan files (A7): plan_list, plan_read, plan_write and plan_edit. They are the file tools,
// confined to one folder of Markdown files; a mode that changes no files has them in place of those that do.
package plan

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

// ext is how the names of plans end.
const ext = ".md"

//go:embed list.md
var listText string

//go:embed read.md
var readText string

//go:embed write.md
var writeText string

//go:embed edit.md
var editText string

// Files are the file tools that do the work.
type Files struct{ Read, Write, Edit tool.Tool }

// Tools returns the tools, in the order in which models see them.
func Tools(f Files) []tool.Tool {
	return []tool.Tool{listTool(), confined[readInput](f.Read, tool.Spec{
		Name: "plan_read", Title: "Read plan", Permission: tool.ReadPermission, Description: tool.Describe(readText, nil),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true}, Example: `{"path": "release.md"}`,
	}), confined[writeInput](f.Write, tool.Spec{
		Name: "plan_write", Title: "Write plan", Permission: tool.EditPermission, Description: tool.Describe(writeText, nil),
		Annotations: tool.Annotations{Destructive: true, Idempotent: true}, Example: `{"path": "release.md", "content": "# Release\n\n1. …\n"}`,
	}), confined[editInput](f.Edit, tool.Spec{
		Name: "plan_edit", Title: "Edit plan", Permission: tool.EditPermission, Description: tool.Describe(editText, nil),
		Annotations: tool.Annotations{Destructive: true}, Example: `{"path": "release.md", "old_string": "- [ ] tests", "new_string": "- [x] tests"}`,
	})}
}

// The arguments are those of the file tools, without what a plan has no use for.
type readInput struct {
	Path   string `json:"path" jsonschema:"Name of the plan"`
	Offset int    `json:"offset,omitempty" jsonschema:"First line, from 1" schema:"min=1"`
	Limit  int    `json:"limit,omitempty" jsonschema:"Number of lines" schema:"min=1"`
}

type writeInput struct {
	Path    string `json:"path" jsonschema:"Name of the plan"`
	Content string `json:"content" jsonschema:"The whole plan"`
}

type editInput struct {
	Path       string `json:"path" jsonschema:"Name of the plan"`
	OldString  string `json:"old_string" jsonschema:"Text to replace"`
	NewString  string `json:"new_string" jsonschema:"Text to put there"`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"Replace every occurrence"`
}

func (in readInput) at() string  { return in.Path }
func (in writeInput) at() string { return in.Path }
func (in editInput) at() string  { return in.Path }

func (in readInput) to(path string) any  { in.Path = path; return in }
func (in writeInput) to(path string) any { in.Path = path; return in }
func (in editInput) to(path string) any  { in.Path = path; return in }

// input is the arguments of a tool over one plan.
type input interface {
	at() string
	to(path string) any
}

// confined makes a tool of a file tool: the same, with its path in the folder of plans.
func confined[In input](inner tool.Tool, spec tool.Spec) tool.Tool {
	spec.Category = "plan"
	return tool.Define(spec, func(ctx context.Context, call *tool.Call, in In) (tool.Action, error) {
		d, err := open(ctx, call)
		if err != nil {
			return tool.Action{}, err
		}
		path, err := d.file(ctx, call, in.at())
		if err != nil {
			return tool.Action{}, err
		}
		args, err := json.Marshal(in.to(path))
		if err != nil {
			return tool.Action{}, err
		}
		a, err := inner.Plan(ctx, call, args)
		if err != nil {
			return a, err
		}
		return a, d.holds(&a.Intent)
	})
}

// folder is the folder of plans of a call.
type folder struct {
	path  host.Path
	shown string // relative to the call's working folder, with slashes
}

// open finds the folder, which need not exist. One that is a link out of the workspace is refused.
func open(ctx context.Context, call *tool.Call) (folder, error) {
	roots := call.Host.Info().Roots
	if len(roots) == 0 {
		return folder{}, tool.Errorf(tool.OperationNotAllowed, "there is no workspace to keep plans in.").With("Put the plan into your answer.")
	}
	dir := roots[0].Path
	p, err := call.Host.Resolve(ctx, call.Dir, filepath.Join(dir, filepath.FromSlash(tool.PlanFolder)))
	if err != nil {
		return folder{}, tool.PathError("path", tool.PlanFolder, err)
	}
	if p.Link || p.Root != dir {
		return folder{}, tool.Errorf(tool.OperationNotAllowed, "the folder of plans, %s, is a link to %s.", tool.PlanFolder, p.Real).With("Have the person replace it by a folder; put the plan into your answer.")
	}
	f := folder{path: p, shown: p.Real}
	if rel, err := filepath.Rel(call.Dir, p.Real); err == nil && call.Dir != "" {
		f.shown = filepath.ToSlash(rel)
	}
	return f, nil
}

// file is the path of a plan, in the folder, whatever the model wrote before its name.
func (d *folder) file(ctx context.Context, call *tool.Call, given string) (string, error) {
	bad := func(why string) error {
		return tool.Errorf(tool.InvalidParameter, "%q %s; plans are Markdown files in %s.", given, why, d.shown).For("path", "a name such as release.md")
	}
	name := filepath.FromSlash(strings.TrimSpace(given))
	for _, prefix := range []string{d.path.Real, filepath.FromSlash(tool.PlanFolder), filepath.FromSlash(d.shown)} {
		if rel, err := filepath.Rel(prefix, name); err == nil && filepath.IsLocal(rel) && rel != "." {
			name = rel
			break
		}
	}
	switch {
	case name == "" || name == ".":
		return "", bad("names no plan")
	case !filepath.IsLocal(name):
		return "", bad("is not in the folder of plans")
	case slices.ContainsFunc(strings.Split(name, string(filepath.Separator)), func(part string) bool { return strings.HasPrefix(part, ".") }):
		return "", bad("has a name that begins with a dot")
	case filepath.Ext(name) == "":
		name += ext
	case !strings.EqualFold(filepath.Ext(name), ext):
		return "", bad("is no Markdown file")
	}
	p, err := call.Host.Resolve(ctx, call.Dir, filepath.Join(d.path.Real, name))
	if err != nil {
		return "", tool.PathError("path", given, err)
	}
	if rel, err := filepath.Rel(d.path.Real, p.Real); err != nil || !filepath.IsLocal(rel) {
		return "", bad("is a link that leaves the folder of plans")
	}
	return d.shown + "/" + filepath.ToSlash(name), nil
}

// holds proves that an intent touches nothing but the folder: the tools say nothing else to policy, so nothing else may happen.
func (d *folder) holds(in *tool.Intent) error {
	inside := func(path string) bool {
		rel, err := filepath.Rel(d.path.Real, path)
		return err == nil && filepath.IsLocal(rel)
	}
	ok := !slices.ContainsFunc(in.Targets, func(t tool.Target) bool { return t.Kind != tool.PathTarget || !inside(t.Value) }) &&
		!slices.ContainsFunc(in.MayCreate, func(p string) bool { return !inside(p) })
	if in.Changes != nil {
		for i := range in.Changes.Ops {
			op := &in.Changes.Ops[i]
			// The folders above it are made with it.
			made := op.Kind == change.Mkdir && strings.HasPrefix(d.path.Real, op.Path)
			ok = ok && (inside(op.Path) || made) && (op.To == "" || inside(op.To))
		}
	}
	if !ok {
		return tool.Errorf(tool.OperationNotAllowed, "the call would leave the folder of plans, %s. Nothing was changed.", d.shown)
	}
	return nil
}

type listInput struct{}

// listed is one plan for people and programs.
type listed struct {
	Path  string `json:"path"`
	Title string `json:"title,omitempty"` // its first heading
	Bytes int64  `json:"bytes"`
	Time  string `json:"time"` // when it was changed, RFC 3339
}

func listTool() tool.Tool {
	return tool.Define(tool.Spec{
		Name: "plan_list", Category: "plan", Title: "List plans", Permission: tool.ReadPermission, Description: tool.Describe(listText, nil),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true}, Example: `{}`,
	}, func(ctx context.Context, call *tool.Call, _ listInput) (tool.Action, error) {
		d, err := open(ctx, call)
		if err != nil {
			return tool.Action{}, err
		}
		intent := tool.Intent{Effects: []tool.Effect{tool.Read}, Targets: []tool.Target{tool.PathTo(d.path, tool.Read)}}
		return tool.Action{Intent: intent, Run: func(ctx context.Context, _ tool.Runner) (tool.Result, error) { return d.list(ctx, call) }}, nil
	})
}

// maxDepth is how deep plans lie in folders of their own.
const maxDepth = 4

func (d *folder) list(ctx context.Context, call *tool.Call) (tool.Result, error) {
	visible := call.Visible()
	all := []listed{}
	var walk func(dir, rel string, depth int) error
	walk = func(dir, rel string, depth int) error {
		entries, err := call.Host.ReadDir(ctx, dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			at, name := filepath.Join(dir, e.Name), strings.TrimPrefix(rel+"/"+e.Name, "/")
			switch {
			case strings.HasPrefix(e.Name, "."):
			case e.Type == change.Dir && depth < maxDepth:
				if err := walk(at, name, depth+1); err != nil {
					return err
				}
			case e.Type == change.File && strings.EqualFold(filepath.Ext(e.Name), ext):
				p, err := call.Host.Resolve(ctx, call.Dir, at)
				if err != nil || !visible(p) {
					continue
				}
				all = append(all, listed{Path: name, Title: title(ctx, call.Host, p), Bytes: e.Size, Time: e.ModTime.UTC().Format("2006-01-02T15:04:05Z07:00")})
			}
		}
		return nil
	}
	if err := walk(d.path.Real, "", 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return tool.Result{}, tool.PathError("path", d.shown, err)
	}
	if len(all) == 0 {
		return tool.TextResult(fmt.Sprintf("There are no plans in %s yet. plan_write makes one.", d.shown), all), nil
	}
	var b strings.Builder
	for _, p := range all {
		fmt.Fprintf(&b, "%s\t%d bytes\t%s\t%s\n", oneLine(p.Path), p.Bytes, p.Time, oneLine(p.Title))
	}
	return tool.TextResult(strings.TrimSuffix(b.String(), "\n"), all), nil
}

// oneLine quotes a name that would look like something else, such as another line of the list.
func oneLine(name string) string {
	if utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }) {
		return name
	}
	return strconv.Quote(name)
}

// title is the first heading of a plan, or "".
func title(ctx context.Context, h host.Host, p host.Path) string {
	f, err := h.Open(ctx, p.Real)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, _ := f.Read(head)
	for line := range strings.Lines(string(head[:n])) {
		if t, ok := strings.CutPrefix(strings.TrimSpace(line), "# "); ok {
			return strings.ToValidUTF8(strings.TrimSpace(t), "\uFFFD")
		}
	}
	return ""
}
