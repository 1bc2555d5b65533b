package git

import (
	"context"
	_ "embed"
	"strings"

	"github.com/tackle-dev/tackle/tool"
)

//go:embed git.md
var text string

// Git is the git tool.
type Git Config

type input struct {
	Op        string `json:"op" schema:"enum=status|diff|log|show|blame"`
	Path      string `json:"path,omitempty" jsonschema:"File or folder, default all"`
	Rev       string `json:"rev,omitempty" jsonschema:"Commit, branch or tag (diff, log, show, blame)"`
	Staged    bool   `json:"staged,omitempty"`
	Stat      bool   `json:"stat,omitempty" jsonschema:"Only files and counts (diff, show)"`
	Context   *int   `json:"context,omitempty" jsonschema:"Lines around changes" schema:"min=0,max=1000"`
	HeadLimit *int   `json:"head_limit,omitempty" jsonschema:"0 for no limit" schema:"min=0"`
	Offset    int    `json:"offset,omitempty" schema:"min=0"`
}

// Tool returns the tool.
func (t Git) Tool() tool.Tool {
	user := &person{}
	return tool.Define(tool.Spec{
		Name: "git", Category: "git", Title: "Look at git",
		Description: tool.Describe(text, map[string]int{"Lines": Lines, "Commits": Commits}),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Example:     `{"op": "diff", "path": "src"}`,
	}, func(ctx context.Context, call *tool.Call, in input) (tool.Action, error) {
		return t.plan(ctx, call, &in, user)
	})
}

// A view is what one op makes of the repository.
type view func(ctx context.Context, r *repo, in *input) (tool.Result, error)

var views = map[string]view{"status": status, "diff": diff, "log": log, "show": show, "blame": blame}

// takes lists the arguments that only some ops have.
var takes = map[string]string{"rev": "diff log show blame", "staged": "diff", "stat": "diff show", "context": "diff show"}

func (t Git) plan(ctx context.Context, call *tool.Call, in *input, user *person) (tool.Action, error) {
	v := views[in.Op]
	if v == nil {
		return tool.Action{}, tool.Errorf(tool.InvalidParameter, "op %q is none of this tool, which only looks.", in.Op).
			For("op", "status, diff, log, show or blame").With("What changes the repository is a command for the shell.")
	}
	for name, set := range map[string]bool{"rev": in.Rev != "", "staged": in.Staged, "stat": in.Stat, "context": in.Context != nil} {
		if set && !strings.Contains(takes[name], in.Op) {
			return tool.Action{}, tool.Errorf(tool.InvalidParameter, "op=%s has no %s.", in.Op, name).
				For(name, "nothing: it belongs to "+strings.ReplaceAll(takes[name], " ", ", "))
		}
	}
	if err := checkRev(in); err != nil {
		return tool.Action{}, err
	}
	if in.Op == "blame" && in.Path == "" {
		return tool.Action{}, tool.Errorf(tool.MissingParameter, "op=blame needs a file.").For("path", "the path of a file")
	}
	r, err := find(ctx, call, in.Path)
	if err != nil {
		return tool.Action{}, err
	}
	r.runner = t.Runner
	if err := r.closed(in); err != nil {
		return tool.Action{}, err
	}
	return tool.Action{Intent: r.intent(), Run: func(ctx context.Context, _ tool.Runner) (tool.Result, error) {
		if err := r.configure(ctx, user); err != nil {
			return tool.Result{}, err
		}
		return v(ctx, r, in)
	}}, nil
}

// limit returns how many lines or commits a page has.
func (in *input) limit(def int) int {
	switch {
	case in.HeadLimit == nil:
		return def
	case *in.HeadLimit == 0:
		return 1 << 30
	}
	return *in.HeadLimit
}
