package search

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/internal/outline"
	"github.com/tackle-dev/tackle/search"
	"github.com/tackle-dev/tackle/tool"
)

//go:embed findsymbol.md
var findSymbolText string

// FindSymbol is the find_symbol tool: the search engine finds the files that hold the name, and only those are read.
type FindSymbol struct{ Config search.Config }

type findSymbolInput struct {
	Name  string `json:"name" jsonschema:"Name of the symbol"`
	Path  string `json:"path,omitempty" jsonschema:"Folder or file, default the working folder"`
	Match string `json:"match,omitempty" schema:"enum=exact|prefix|substring,default=exact"`
	Kind  string `json:"kind,omitempty" jsonschema:"Only function, method, class, struct, interface, enum, type, constant, …"`
	Limit int    `json:"limit,omitempty" jsonschema:"Definitions to show" schema:"min=1,max=1000"`
}

// findSymbolData is what people and programs see of find_symbol.
type findSymbolData struct {
	Root    string         `json:"root"`
	Total   int            `json:"total"`
	Near    bool           `json:"near,omitempty"` // nothing has exactly the name; these come close
	Symbols []foundSymbol  `json:"symbols"`
	Receipt search.Receipt `json:"receipt"`
}

type foundSymbol struct {
	Path string `json:"path"`
	outline.Symbol
}

// Tool returns the tool.
func (t FindSymbol) Tool() tool.Tool {
	return tool.Define(tool.Spec{
		Name: "find_symbol", Category: "search", Title: "Find definitions",
		Description: tool.Describe(findSymbolText, map[string]int{"Symbols": FoundSymbols}),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Example:     `{"name": "Server.Close"}`,
	}, t.plan)
}

func (t FindSymbol) plan(ctx context.Context, call *tool.Call, in findSymbolInput) (tool.Action, error) {
	w := wanted{match: in.Match, kind: outline.Kind(strings.ToLower(in.Kind))}
	w.container, w.name = qualified(in.Name)
	if w.name == "" {
		return tool.Action{}, tool.Errorf(tool.InvalidParameter, "name is empty.").For("name", "the name of a function, type or constant, or a part of it with match=substring")
	}
	p, err := locate(ctx, call, in.Path)
	if err == nil {
		err = p.closed(in.Path)
	}
	if err != nil {
		return tool.Action{}, err
	}
	if in.Limit == 0 {
		in.Limit = FoundSymbols
	}
	return tool.Action{Intent: p.intent(), Run: func(ctx context.Context, _ tool.Runner) (tool.Result, error) {
		ctx, cancel := context.WithTimeout(ctx, TimeLimit)
		defer cancel()
		data, mentions, failed, err := t.find(ctx, &p, &w)
		if err == nil && data.Total == 0 && ctx.Err() == nil && w.match != "substring" {
			near := wanted{name: w.name, match: "substring", kind: w.kind, fold: true}
			var more findSymbolData
			if more, _, _, err = t.find(ctx, &p, &near); more.Total > 0 {
				more.Near = true
				data = more
			}
		}
		if err != nil {
			return tool.Result{}, queryError(in.Path, err)
		}
		return symbolPage(ctx, &p, in, data, mentions, failed)
	}}, nil
}

// wanted is what a symbol must be.
type wanted struct {
	container, name, match string
	kind                   outline.Kind
	fold                   bool
}

func (w *wanted) is(s *outline.Symbol) bool {
	switch {
	case w.kind == "" && (s.Kind == outline.Heading || !s.Defines()), w.kind != "" && s.Kind != w.kind:
		return false
	case w.container != "" && s.Container != w.container && !strings.HasSuffix(s.Container, "."+w.container):
		return false
	}
	name, want := s.Name, w.name
	if w.fold {
		name, want = strings.ToLower(name), strings.ToLower(want)
	}
	switch w.match {
	case "prefix":
		return strings.HasPrefix(name, want)
	case "substring":
		return strings.Contains(name, want)
	}
	return name == want || strings.HasSuffix(name, "."+want)
}

// find searches for the name and reads the files that hold it.
func (t FindSymbol) find(ctx context.Context, p *place, w *wanted) (findSymbolData, int, []sourceFile, error) {
	types := outline.Types()
	if w.kind != outline.Heading {
		types = slices.DeleteFunc(types, func(s string) bool { return s == "md" })
	}
	word := w.match == "exact" || w.match == ""
	q := search.GrepQuery{Filter: search.Filter{Root: p.path.Real, Hidden: true, Types: types, TimeLimit: TimeLimit, Allow: p.readable()},
		Pattern: w.name, Literal: true, CaseInsensitive: w.fold, Word: word && strings.IndexFunc(w.name, noWord) < 0, Mode: search.FilesWithMatches}
	var mu sync.Mutex
	var paths []string
	res, err := search.New(search.HostFS(p.call.Host), t.Config).StreamGrep(ctx, q, func(_ int, h *search.FileHits, _ bool) error {
		rel := h.Path
		if p.info.Type != change.Dir {
			rel = ""
		}
		if rel == "" && outline.Language(p.path.Real) != "" || outline.Language(rel) != "" {
			mu.Lock()
			defer mu.Unlock()
			paths = append(paths, rel)
		}
		return nil
	})
	data := findSymbolData{Root: p.path.Real, Receipt: res.Receipt}
	if err != nil {
		return data, 0, nil, err
	}
	slices.Sort(paths)
	files := p.parse(ctx, paths, w.is)
	for i := range files {
		for _, s := range files[i].Symbols {
			data.Symbols = append(data.Symbols, foundSymbol{files[i].Path, s})
		}
	}
	data.Total = len(data.Symbols)
	return data, len(paths), files, nil
}

func noWord(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }

func symbolPage(ctx context.Context, p *place, in findSymbolInput, data findSymbolData, mentions int, files []sourceFile) (tool.Result, error) {
	b := page{left: math.MaxInt}
	if n := pageBytes(p.call); n > 0 {
		b.left = n
	}
	for i := range data.Symbols {
		s := &data.Symbols[i]
		name := s.Name
		if s.Container != "" {
			name = s.Container + "." + name
		}
		if b.lines >= in.Limit || !b.row("", fmt.Sprintf("%s:%s %s %s: %s", p.show(s.Path), span(&s.Symbol), s.Kind, name, s.Text)) {
			data.Symbols = data.Symbols[:i]
			break
		}
	}
	var lines []string
	switch {
	case data.Near:
		lines = append(lines, fmt.Sprintf("Nothing is named %q; these names hold it.", in.Name))
	case data.Total == 0:
		lines = append(lines, fmt.Sprintf("No definition of %q in %s; %d source files mention it. grep finds the places.", in.Name, p.show("."), mentions))
	}
	cut := len(data.Symbols) < data.Total
	if cut {
		lines = append(lines, fmt.Sprintf("%d of %d definitions; narrow by path or kind, or raise limit.", len(data.Symbols), data.Total))
	}
	if ctx.Err() != nil {
		lines = append(lines, "Stopped by the time limit; the result is incomplete. Narrow the path.")
	}
	lines = append(lines, p.failures(files)...)
	notes(&b.Builder, append(lines, receipt(&data.Receipt, data.Total > 0)...))
	return tool.Result{Parts: []tool.Part{tool.Text(b.String())}, Data: data, Bounded: true, Meta: tool.Meta{Truncated: cut || ctx.Err() != nil}}, nil
}
