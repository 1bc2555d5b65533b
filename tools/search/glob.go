package search

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/search"
	"github.com/tackle-dev/tackle/tool"
)

//go:embed glob.md
var globText string

// Glob is the glob tool (F6).
type Glob struct{ Config search.Config }

type globInput struct {
	Pattern  string `json:"pattern" jsonschema:"Glob, relative to path"`
	Path     string `json:"path,omitempty" jsonschema:"Folder to search in, default the working folder"`
	NoIgnore bool   `json:"no_ignore,omitempty" jsonschema:"Also ignored and hidden files"`
	Metadata *bool  `json:"metadata,omitempty" jsonschema:"false for plain paths"`
	Limit    int    `json:"limit,omitempty" jsonschema:"Most files to return" schema:"min=1,max=100000"`
	Offset   int    `json:"offset,omitempty" jsonschema:"Files to skip" schema:"min=0"`
}

// globData is what people and programs see of glob.
type globData struct {
	search.FilesResult
	Root string `json:"root"`
}

// Tool returns the tool.
func (t Glob) Tool() tool.Tool {
	return tool.Define(tool.Spec{
		Name: "glob", Category: "search", Title: "Find files",
		Description: tool.Describe(globText, map[string]int{"Entries": GlobEntries}),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Example:     `{"pattern": "**/*_test.go"}`,
	}, t.plan)
}

func (t Glob) plan(ctx context.Context, call *tool.Call, in globInput) (tool.Action, error) {
	if strings.TrimSpace(in.Pattern) == "" {
		return tool.Action{}, tool.Errorf(tool.InvalidParameter, "pattern is empty.").For("pattern", "a glob; ** matches everything")
	}
	dir, pattern := splitPattern(in.Path, in.Pattern)
	p, err := locate(ctx, call, dir)
	if err != nil {
		return tool.Action{}, err
	}
	if p.info.Type != change.Dir {
		return tool.Action{}, tool.PathError("path", cmp.Or(dir, "."), host.ErrNotDir)
	}
	q := search.FilesQuery{Filter: search.Filter{Root: p.path.Real, Hidden: true, NoIgnore: in.NoIgnore, TimeLimit: TimeLimit},
		Pattern: pattern, Order: search.Newest, Offset: in.Offset, Limit: in.Limit}
	if q.Limit == 0 {
		q.Limit = GlobEntries
	}
	q.Allow = p.visible()
	plain := in.Metadata != nil && !*in.Metadata
	return tool.Action{Intent: p.intent(), Run: func(ctx context.Context, _ tool.Runner) (tool.Result, error) {
		res, err := search.New(search.HostFS(call.Host), t.Config).Files(ctx, q)
		if err != nil {
			return tool.Result{}, queryError(dir, err)
		}
		return globResult(&p, in, &res, plain)
	}}, nil
}

// splitPattern moves the fixed leading folders of a pattern into the place to search, so that "../x/*.go" and absolute
// patterns work, and a pattern that names a folder walks only that.
func splitPattern(path, pattern string) (dir, rest string) {
	rest = strings.TrimPrefix(pattern, "./")
	var fixed []string
	for {
		head, tail, more := strings.Cut(rest, "/")
		if !more || strings.ContainsAny(head, `*?[{\`) {
			break
		}
		fixed = append(fixed, head)
		rest = tail
	}
	if len(fixed) == 0 {
		return path, rest
	}
	dir = strings.Join(fixed, "/")
	switch {
	case fixed[0] == "": // an absolute pattern
		if dir == "" {
			dir = "/"
		}
	case path != "":
		dir = strings.TrimSuffix(path, "/") + "/" + dir
	}
	return dir, rest
}

func globResult(p *place, in globInput, res *search.FilesResult, plain bool) (tool.Result, error) {
	if res.PastEnd {
		return tool.Result{}, tool.Errorf(tool.InvalidParameter, "offset %d is past the end: %d files match.", in.Offset, res.Total).
			For("offset", fmt.Sprintf("a number below %d", res.Total))
	}
	var b strings.Builder
	for i, f := range res.Files {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.show(f.Path))
		if !plain {
			fmt.Fprintf(&b, "\t%d\t%s", f.Size, f.ModTime.Format(time.DateTime))
		}
	}
	var lines []string
	if len(res.Files) == 0 {
		lines = append(lines, fmt.Sprintf("No files match %q in %s; %d files were looked at.", in.Pattern, p.show("."), res.Receipt.Files))
	}
	shown := in.Offset + len(res.Files)
	if shown < res.Total {
		lines = append(lines, fmt.Sprintf("Files %d–%d of %s%d, newest first; go on with offset=%d, or narrow the pattern.", in.Offset+1, shown, atLeast(res.AtLeast), res.Total, shown))
	}
	notes(&b, append(lines, receipt(&res.Receipt, len(res.Files) > 0)...))
	return tool.Result{Parts: []tool.Part{tool.Text(b.String())}, Data: globData{*res, p.path.Real}, Meta: tool.Meta{Truncated: shown < res.Total}}, nil
}

func atLeast(b bool) string {
	if b {
		return "at least "
	}
	return ""
}
