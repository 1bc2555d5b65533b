package skill

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/internal/text"
	"github.com/tackle-dev/tackle/skill"
	"github.com/tackle-dev/tackle/tool"
)

//go:embed read.md
var readText string

// Read is read_skill: the text of a skill and of the files in its folder, without using it.
type Read struct{ Config }

type readInput struct {
	Name string `json:"name" jsonschema:"Name of the skill"`
	File string `json:"file,omitempty" jsonschema:"A file in its folder, default SKILL.md"`
}

// content is a file of a skill for people and programs.
type content struct {
	Skill string   `json:"skill"`
	Path  string   `json:"path"`
	Size  int64    `json:"size"` // bytes
	Files []string `json:"files,omitempty"`
}

const (
	maxRead  = 1 << 20 // bytes of a file
	maxFiles = 200     // that are named
	maxWalk  = 3       // folders deep
)

// Tool returns the tool.
func (t Read) Tool() tool.Tool {
	return tool.Define(tool.Spec{
		Name: "read_skill", Category: "skill", Title: "Read skill", Permission: tool.ReadPermission,
		Description: tool.Describe(readText, nil),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Example:     `{"name": "release-notes", "file": "references/style.md"}`,
	}, t.plan)
}

func (t Read) plan(ctx context.Context, call *tool.Call, in readInput) (tool.Action, error) {
	s, err := t.find(ctx, in.Name)
	if err != nil {
		return tool.Action{}, err
	}
	if call.Host == nil {
		return tool.Action{}, tool.Errorf(tool.OperationNotAllowed, "no files can be read here.").With("skills_use gives the text of the skill.")
	}
	path, err := inside(s, in.File)
	if err != nil {
		return tool.Action{}, tool.Errorf(tool.InvalidParameter, "%q is not in the folder of skill %s.", in.File, s.Name).For("file", "a relative path in "+s.Dir)
	}
	p, to, err := target(ctx, call, path)
	if err != nil {
		return tool.Action{}, err
	}
	return tool.Action{
		Intent: tool.Intent{Effects: []tool.Effect{tool.Read}, Targets: []tool.Target{to}},
		Run: func(ctx context.Context, _ tool.Runner) (tool.Result, error) {
			return t.read(ctx, call, s, in.File, p)
		},
	}, nil
}

// inside is the path of a file in the folder of a skill.
func inside(s *skill.Skill, file string) (string, error) {
	if file == "" {
		return s.Path, nil
	}
	rel := filepath.FromSlash(file)
	if filepath.IsAbs(rel) {
		var err error
		if rel, err = filepath.Rel(s.Dir, rel); err != nil {
			return "", errOutside
		}
	}
	if !filepath.IsLocal(rel) {
		return "", errOutside
	}
	return filepath.Join(s.Dir, rel), nil
}

func (t Read) read(ctx context.Context, call *tool.Call, s *skill.Skill, file string, p host.Path) (tool.Result, error) {
	out := content{Skill: s.Name, Path: p.Abs}
	if file == "" {
		out.Files = files(ctx, call, s)
	}
	f, err := call.Host.Open(ctx, p.Real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e := tool.Errorf(tool.NotFound, "skill %s has no file %q.", s.Name, file)
		if have := files(ctx, call, s); len(have) > 0 {
			e = e.With("It has: " + strings.Join(have, ", ") + ".")
		}
		return tool.Result{}, e
	case err != nil:
		return tool.Result{}, tool.PathError("file", file, err)
	}
	defer f.Close()
	if out.Size = f.Info().Size; out.Size > maxRead {
		return tool.Result{}, tool.Errorf(tool.LimitExceeded, "%s has %d bytes; read_skill reads %d.", p.Abs, out.Size, maxRead).With("read_file reads a part of it.")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxRead+1))
	if err != nil {
		return tool.Result{}, tool.PathError("file", file, err)
	}
	doc, err := text.Decode(data)
	if err != nil {
		return tool.Result{}, tool.Errorf(tool.OperationNotAllowed, "%s is no text.", p.Abs).With("read_file shows what it can of such a file.")
	}
	body := strings.ToValidUTF8(string(doc.Content), "\uFFFD")
	if len(out.Files) > 0 {
		body = fmt.Sprintf("%s\n\nFiles beside it: %s", strings.TrimRight(body, "\n"), strings.Join(out.Files, ", "))
	}
	return tool.TextResult(body, out), nil
}

// files names the files of a skill that the session may see, with slashes, in the order of their paths.
func files(ctx context.Context, call *tool.Call, s *skill.Skill) []string {
	visible := call.Visible()
	var out []string
	var walk func(rel string, depth int)
	walk = func(rel string, depth int) {
		p, err := call.Host.Resolve(ctx, call.Dir, filepath.Join(s.Dir, rel))
		if err != nil || len(out) >= maxFiles {
			return
		}
		entries, err := call.Host.ReadDir(ctx, p.Real)
		if err != nil {
			return
		}
		for _, e := range entries {
			at := filepath.Join(rel, e.Name)
			switch {
			case len(out) >= maxFiles:
				return
			case e.Type == change.Dir && depth < maxWalk && e.Name != ".git" && e.Name != "node_modules":
				walk(at, depth+1)
			case e.Type == change.File && e.Special == "" && filepath.Join(s.Dir, at) != s.Path:
				if q, err := call.Host.Resolve(ctx, call.Dir, filepath.Join(s.Dir, at)); err == nil && visible(q) {
					out = append(out, filepath.ToSlash(at))
				}
			}
		}
	}
	walk(".", 0)
	slices.Sort(out)
	return out
}
