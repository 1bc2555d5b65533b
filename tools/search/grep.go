package search

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"strings"

	"github.com/tackle-dev/tackle/search"
	"github.com/tackle-dev/tackle/tool"
)

//go:embed grep.md
var grepText string

// Grep is the grep tool (F7).
type Grep struct{ Config search.Config }

type grepInput struct {
	Pattern         string `json:"pattern" jsonschema:"Regular expression"`
	Path            string `json:"path,omitempty" jsonschema:"Folder or file, default the working folder"`
	Glob            string `json:"glob,omitempty" jsonschema:"Only files that match, such as *.go or !*_test.go"`
	Type            string `json:"type,omitempty" jsonschema:"Only files of a type, such as go, py, ts"`
	OutputMode      string `json:"output_mode,omitempty" jsonschema:"What to return" schema:"enum=files_with_matches|content|count,default=files_with_matches"`
	Literal         bool   `json:"literal,omitempty" jsonschema:"pattern is text, not an expression"`
	CaseInsensitive bool   `json:"case_insensitive,omitempty"`
	Word            bool   `json:"word,omitempty" jsonschema:"Whole words only"`
	Multiline       bool   `json:"multiline,omitempty" jsonschema:"Matches may span lines, . matches newlines"`
	Context         int    `json:"context,omitempty" jsonschema:"Lines around each match (content)" schema:"min=0,max=1000"`
	Before          int    `json:"before,omitempty" schema:"min=0,max=1000"`
	After           int    `json:"after,omitempty" schema:"min=0,max=1000"`
	HeadLimit       *int   `json:"head_limit,omitempty" jsonschema:"Output lines, 0 for no limit" schema:"min=0"`
	Offset          int    `json:"offset,omitempty" jsonschema:"Output lines to skip" schema:"min=0"`
	NoIgnore        bool   `json:"no_ignore,omitempty" jsonschema:"Also ignored and hidden files"`
}

// noteBytes is what a page leaves for the notes behind it.
const noteBytes = 1000

// pageBytes is the room that the face of a call has for a page; 0: no limit.
func pageBytes(call *tool.Call) int {
	n := call.Bounds.Resolve().Bytes
	if n < 0 {
		return 0
	}
	return max(n-noteBytes, n/2, 1)
}

// grepData is what people and programs see of grep.
type grepData struct {
	search.GrepResult
	Root string `json:"root"`
}

// Tool returns the tool.
func (t Grep) Tool() tool.Tool {
	return tool.Define(tool.Spec{
		Name: "grep", Category: "search", Title: "Search contents",
		Description: tool.Describe(grepText, map[string]int{"Lines": GrepLines}),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Example:     `{"pattern": "func main\\(", "glob": "*.go", "output_mode": "content"}`,
	}, t.plan)
}

func (t Grep) plan(ctx context.Context, call *tool.Call, in grepInput) (tool.Action, error) {
	if in.Pattern == "" {
		return tool.Action{}, tool.Errorf(tool.InvalidParameter, "pattern is empty.").For("pattern", "a regular expression, or text with literal=true")
	}
	p, err := locate(ctx, call, in.Path)
	if err == nil {
		err = p.closed(in.Path)
	}
	if err != nil {
		return tool.Action{}, err
	}
	q := search.GrepQuery{Filter: search.Filter{Root: p.path.Real, Hidden: true, NoIgnore: in.NoIgnore, TimeLimit: TimeLimit, Allow: p.readable()},
		Pattern: in.Pattern, Literal: in.Literal, CaseInsensitive: in.CaseInsensitive, Word: in.Word, Multiline: in.Multiline, DotAll: in.Multiline,
		Before: max(in.Before, in.Context), After: max(in.After, in.Context), Offset: in.Offset, Limit: GrepLines, MaxColumns: LineWidth, MaxBytes: pageBytes(call)}
	if in.HeadLimit != nil {
		q.Limit = *in.HeadLimit
	}
	if in.Glob != "" {
		q.Globs = []string{in.Glob}
	}
	if in.Type != "" {
		q.Types = []string{in.Type}
	}
	switch in.OutputMode {
	case "content":
		q.Mode = search.Content
	case "count":
		q.Mode = search.Count
	default:
		q.Order = search.Newest
	}
	if _, err := q.Scanner(); err != nil { // a bad pattern fails before anything is asked or read
		return tool.Action{}, queryError(in.Path, err)
	}
	return tool.Action{Intent: p.intent(), Run: func(ctx context.Context, _ tool.Runner) (tool.Result, error) {
		res, err := search.New(search.HostFS(call.Host), t.Config).Grep(ctx, q)
		if err != nil {
			return tool.Result{}, queryError(in.Path, err)
		}
		return grepResult(&p, in, &q, &res)
	}}, nil
}

func grepResult(p *place, in grepInput, q *search.GrepQuery, res *search.GrepResult) (tool.Result, error) {
	if res.PastEnd {
		return tool.Result{}, tool.Errorf(tool.InvalidParameter, "offset %d is past the end: there are %d output lines.", in.Offset, outputLines(q, res)).
			For("offset", fmt.Sprintf("a number below %d", outputLines(q, res)))
	}
	b := page{left: math.MaxInt}
	if q.Mode == search.Content && q.MaxBytes > 0 {
		b.left = q.MaxBytes
	}
	for i := range res.Files {
		if !b.file(p, q, &res.Files[i]) {
			res.NextOffset = in.Offset + b.lines
			break
		}
	}
	var lines []string
	found := len(res.Files) > 0
	if !found {
		lines = append(lines, fmt.Sprintf("No matches for %q in %s; %d files were searched.", in.Pattern, p.show("."), res.Receipt.Files))
	}
	if res.NextOffset > 0 {
		lines = append(lines, fmt.Sprintf("Output lines %d–%d of %s%d (%s); go on with offset=%d.", in.Offset+1, res.NextOffset, atLeast(res.AtLeast), outputLines(q, res), totals(q, res), res.NextOffset))
	}
	lines = append(lines, res.Notes...)
	notes(&b.Builder, append(lines, receipt(&res.Receipt, found)...))
	return tool.Result{Parts: []tool.Part{tool.Text(b.String())}, Data: grepData{*res, p.path.Real}, Bounded: q.Mode == search.Content,
		Meta: tool.Meta{Truncated: res.NextOffset > 0}}, nil
}

func outputLines(q *search.GrepQuery, res *search.GrepResult) int {
	if q.Mode == search.Content {
		return res.TotalLines
	}
	return res.TotalFiles
}

func totals(q *search.GrepQuery, res *search.GrepResult) string {
	if q.Mode == search.FilesWithMatches {
		return fmt.Sprintf("%d files", res.TotalFiles)
	}
	return fmt.Sprintf("%d matches in %d files", res.TotalMatches, res.TotalFiles)
}

// page is the text of a page. It ends before the output line that would exceed its bytes, names and separators
// included, since a result that bounds itself is not cut again (O2).
type page struct {
	strings.Builder
	left  int // bytes; what notes need is kept back by the caller
	lines int // output lines written
}

// row writes one output line, with what stands before it, and reports whether there was room.
func (b *page) row(before, text string) bool {
	n := len(before) + len(text) + 1
	if b.lines > 0 && n > b.left {
		return false
	}
	b.left -= n
	b.lines++
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(before)
	b.WriteString(text)
	return true
}

// file writes one file in the form of the mode: path; path:count; or path:line:text, with path-line-text for context
// and, between contexts that do not meet, --.
func (b *page) file(p *place, q *search.GrepQuery, f *search.FileHits) bool {
	name := p.show(f.Path)
	switch q.Mode {
	case search.Count:
		return b.row("", fmt.Sprintf("%s:%d", name, f.Count))
	case search.FilesWithMatches:
		return b.row("", name)
	}
	if f.Binary && len(f.Lines) == 0 {
		return b.row("", name+": binary file matches")
	}
	for _, l := range f.Lines {
		gap, sep := "", ":"
		if l.Gap && q.Before+q.After > 0 && b.Len() > 0 {
			gap = "--\n"
		}
		if l.Context {
			sep = "-"
		}
		if !b.row(gap, fmt.Sprintf("%s%s%d%s%s%s%s", name, sep, l.Number, sep, cut(l.Before, "…(%d characters before)… "), l.Text, cut(l.After, " …(%d characters after)…"))) {
			return false
		}
	}
	return true
}

func cut(n int, format string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(format, n)
}
