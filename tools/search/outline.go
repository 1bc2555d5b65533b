package search

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"path"
	"strings"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/internal/outline"
	"github.com/tackle-dev/tackle/search"
	"github.com/tackle-dev/tackle/tool"
)

//go:embed outline.md
var outlineText string

// Outline is the outline tool.
type Outline struct{ Config search.Config }

type outlineInput struct {
	Path   string `json:"path,omitempty" jsonschema:"File or folder, default the working folder"`
	Depth  int    `json:"depth,omitempty" jsonschema:"Levels of nesting, default all of a file and 1 of a folder" schema:"min=1,max=20"`
	Limit  int    `json:"limit,omitempty" jsonschema:"Symbols to show" schema:"min=1,max=5000"`
	Offset int    `json:"offset,omitempty" jsonschema:"Symbols to skip" schema:"min=0"`
}

// outlineData is what people and programs see of outline.
type outlineData struct {
	Root       string         `json:"root"`
	Files      []sourceFile   `json:"files"`
	NextOffset int            `json:"next_offset,omitempty"`
	Receipt    search.Receipt `json:"receipt"`
}

// Tool returns the tool.
func (t Outline) Tool() tool.Tool {
	return tool.Define(tool.Spec{
		Name: "outline", Category: "search", Title: "Outline code",
		Description: tool.Describe(outlineText, map[string]int{"Languages": len(outline.Languages())}),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Example:     `{"path": "src/server.go"}`,
	}, t.plan)
}

func (t Outline) plan(ctx context.Context, call *tool.Call, in outlineInput) (tool.Action, error) {
	p, err := locate(ctx, call, in.Path)
	if err == nil {
		err = p.closed(in.Path)
	}
	if err != nil {
		return tool.Action{}, err
	}
	if p.info.Type != change.Dir && outline.Language(p.path.Real) == "" {
		return tool.Action{}, tool.Errorf(tool.InvalidParameter, "%q is of a language that outline does not read.", in.Path).
			For("path", "a folder, or a file of "+strings.Join(outline.Languages(), ", ")).With("Read the file with read_file, or search it with grep.")
	}
	if in.Limit == 0 {
		in.Limit = OutlineSymbols
	}
	if in.Depth == 0 {
		in.Depth = 1
		if p.info.Type != change.Dir {
			in.Depth = math.MaxInt
		}
	}
	return tool.Action{Intent: p.intent(), Run: func(ctx context.Context, _ tool.Runner) (tool.Result, error) {
		ctx, cancel := context.WithTimeout(ctx, TimeLimit)
		defer cancel()
		f := search.Filter{Root: p.path.Real, Hidden: true, Types: outline.Types(), TimeLimit: TimeLimit, Allow: p.readable()}
		paths, rec, err := p.sources(ctx, t.Config, f)
		if err != nil {
			return tool.Result{}, queryError(in.Path, err)
		}
		return outlinePage(ctx, &p, in, paths, rec)
	}}, nil
}

// batch is how many files are read before it is seen whether the page is full.
const batch = 64

func outlinePage(ctx context.Context, p *place, in outlineInput, paths []string, rec search.Receipt) (tool.Result, error) {
	data := outlineData{Root: p.path.Real, Receipt: rec}
	b := page{left: math.MaxInt}
	if n := pageBytes(p.call); n > 0 {
		b.left = n
	}
	keep := func(s *outline.Symbol) bool { return s.Depth < in.Depth }
	seen, shown, read, full := 0, 0, 0, false
	var failed []sourceFile
	for read < len(paths) && !full && ctx.Err() == nil {
		files := p.parse(ctx, paths[read:min(read+batch, len(paths))], keep)
		for i := range files {
			f := &files[i]
			read++
			if f.err != nil {
				failed = append(failed, *f)
				continue
			}
			from := min(max(in.Offset-seen, 0), len(f.Symbols))
			seen += from
			n := b.source(p, f, from, in.Limit-shown)
			if n > 0 {
				data.Files = append(data.Files, sourceFile{Path: f.Path, Lines: f.Lines, Symbols: f.Symbols[from : from+n]})
			}
			shown, seen = shown+n, seen+n
			if full = n < len(f.Symbols)-from || shown >= in.Limit && read < len(paths); full {
				data.NextOffset = seen
				break
			}
		}
	}
	if shown == 0 && in.Offset > 0 && ctx.Err() == nil {
		return tool.Result{}, tool.Errorf(tool.InvalidParameter, "offset %d is past the end: there are %d symbols.", in.Offset, seen).For("offset", fmt.Sprintf("a number below %d", seen))
	}
	if p.info.Type != change.Dir && len(failed) > 0 {
		return tool.Result{}, tool.PathError("path", in.Path, failed[0].err)
	}
	lines := p.failures(failed)
	switch {
	case ctx.Err() != nil:
		lines = append(lines, fmt.Sprintf("Stopped after %d of %d files; the outline is incomplete. Name a smaller folder.", read, len(paths)))
	case full:
		lines = append(lines, fmt.Sprintf("Symbols %d–%d from %d of %d files; go on with offset=%d, or name a folder or file.", in.Offset+1, seen, len(data.Files), len(paths), seen))
	case shown == 0:
		lines = append(lines, fmt.Sprintf("No symbols in %s; %d files of known languages were read.", p.show("."), len(paths)))
	}
	notes(&b.Builder, append(lines, receipt(&rec, shown > 0)...))
	return tool.Result{Parts: []tool.Part{tool.Text(b.String())}, Data: data, Bounded: true, Meta: tool.Meta{Truncated: full || ctx.Err() != nil}}, nil
}

// source writes the symbols of one file from an index on, at most so many, and returns how many had room.
func (b *page) source(p *place, f *sourceFile, from, most int) (n int) {
	head := fmt.Sprintf("%s (%d lines)\n", p.show(f.Path), f.Lines)
	for i := from; i < len(f.Symbols) && n < most; i++ {
		s := &f.Symbols[i]
		if !b.row(head, fmt.Sprintf("  %s%s %s", strings.Repeat("  ", s.Depth), span(s), s.Text)) {
			return n
		}
		head = ""
		n++
	}
	return n
}

// qualified splits a name as it is written in many languages: Type.method, ns::Type, Class#method.
func qualified(name string) (container, last string) {
	name = strings.NewReplacer("::", ".", "#", ".", `\`, ".").Replace(strings.TrimSpace(name))
	last = strings.TrimPrefix(path.Ext(name), ".")
	if last == "" {
		return "", name
	}
	return strings.TrimSuffix(name, "."+last), last
}
