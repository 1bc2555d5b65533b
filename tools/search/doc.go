// Package search holds the tools that find files by name, lines by pattern and definitions by name: thin skins over the
// search engine and the outlines of source files.
//
// They say what they skipped and how to include it, and never report an invalid pattern or a page past the end as
// "no matches" (F13).
package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/glob"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/search"
	"github.com/tackle-dev/tackle/tool"
)

// Limits of the search tools. Descriptions are rendered from these constants.
const (
	GlobEntries = 1000 // files of one glob call (F6)
	GrepLines   = 250  // output lines of one grep call (F7)
	LineWidth   = 500  // characters of one line that grep shows

	OutlineSymbols = 300 // symbols of one outline call
	FoundSymbols   = 50  // definitions of one find_symbol call

	TimeLimit = 30 * time.Second
)

// Tools returns the search tools in the order of their list.
func Tools(cfg search.Config) []tool.Tool {
	return []tool.Tool{Glob{cfg}.Tool(), Grep{cfg}.Tool(), Outline{cfg}.Tool(), FindSymbol{cfg}.Tool()}
}

// place is where a call searches.
type place struct {
	path host.Path
	info host.FileInfo
	call *tool.Call
}

// locate resolves the folder or file that a call searches in.
func locate(ctx context.Context, call *tool.Call, given string) (place, error) {
	if given == "" {
		given = "."
	}
	p, err := call.Resolve(ctx, given)
	if err != nil {
		return place{}, err
	}
	info, err := call.Host.Stat(ctx, p.Real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return place{}, tool.PathError("path", given, err)
	case err != nil:
		return place{}, tool.PathError("path", given, err)
	case info.Special != "":
		return place{}, tool.PathError("path", given, host.ErrSpecial)
	}
	return place{p, info, call}, nil
}

// show returns a found path as the model should write it: relative to the working folder where it lies below.
func (p *place) show(rel string) string {
	full := p.path.Real
	if p.info.Type == change.Dir {
		full = filepath.Join(full, filepath.FromSlash(rel))
	}
	if short, err := filepath.Rel(p.call.Dir, full); err == nil && filepath.IsLocal(short) {
		return filepath.ToSlash(short)
	}
	return filepath.ToSlash(full)
}

// at returns the path of a found file.
func (p *place) at(rel string) host.Path {
	q := p.path
	if p.info.Type == change.Dir {
		q.Abs, q.Real = filepath.Join(q.Abs, rel), filepath.Join(q.Real, rel)
		if q.Root != "" {
			q.Rel = filepath.Join(q.Rel, rel)
		}
	}
	return q
}

// visible returns a function that reports whether policy lets the call see a found file.
func (p *place) visible() func(rel string) bool {
	see := p.call.Visible()
	return func(rel string) bool { return see(p.at(rel)) }
}

// readable is visible for tools that show contents: what read_file may not read, no search tells either.
func (p *place) readable() func(rel string) bool {
	see := p.visible()
	return func(rel string) bool { return see(rel) && p.call.Reading(p.at(rel)) == tool.Allow }
}

// closed refuses a place that is a file which policy does not let the session read.
func (p *place) closed(given string) error {
	if p.info.Type == change.Dir || p.call.Reading(p.path) != tool.Deny {
		return nil
	}
	return tool.Errorf(tool.PermissionDenied, "policy does not let this session read %q.", given).For("path", "a file that may be read").With("Retrying will not help; why read_file explains the rule to a person.")
}

// intent is that of every search: it reads the place.
func (p *place) intent() tool.Intent {
	return tool.Intent{Effects: []tool.Effect{tool.Read}, Targets: []tool.Target{tool.PathTo(p.path, tool.Read)}}
}

// queryError turns an error of the engine into one for the model.
func queryError(given string, err error) error {
	var (
		pattern *search.PatternError
		bad     *glob.Error
		kind    *search.TypeError
		path    *search.PathError
	)
	switch {
	case errors.As(err, &pattern):
		return patternError(pattern)
	case errors.As(err, &bad):
		return &tool.Error{Code: tool.InvalidParameter, Parameter: "glob", Err: err, Message: sentence(err.Error()), Expected: "a glob such as **/*.go or src/{a,b}/*.ts", Hint: "Nothing was searched."}
	case errors.As(err, &kind):
		e := &tool.Error{Code: tool.InvalidParameter, Parameter: "type", Err: err, Message: sentence(err.Error()), Expected: "a file type such as go, py, js, ts, rust, java, md"}
		if len(kind.Near) > 0 {
			e.Hint = "Did you mean " + strings.Join(kind.Near, " or ") + "?"
		}
		return e
	case errors.As(err, &path):
		return tool.Errorf(tool.InvalidParameter, "%s", sentence(err.Error())).For("path", "a folder or a file")
	}
	return tool.PathError("path", given, err)
}

// patternError says where a pattern is wrong, and offers the text that was probably meant (F13).
func patternError(p *search.PatternError) *tool.Error {
	e := &tool.Error{Code: tool.InvalidParameter, Parameter: "pattern", Err: p, Message: sentence(p.Error()) + " Nothing was searched.",
		Expected: "a regular expression in RE2 syntax, or any text with literal=true"}
	text, err := json.Marshal(p.Text)
	if err != nil || p.Text == "" {
		text = []byte(`"text"`)
	}
	e.Example = fmt.Sprintf(`{"pattern": %s, "literal": true}`, text)
	e.Hint = "Repeat the call with literal=true to search for the text, or correct the expression at the position given."
	if p.PCRE {
		e.Hint = "Search for a simpler expression and sift its lines, or for the text with literal=true; ripgrep with -P knows this feature, where it is installed."
	}
	return e
}

func sentence(s string) string {
	if strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// reasons that a search reports by itself; the others are usual and only counted in the data.
var told = []search.Reason{search.Binary, search.TooLarge, search.Unreadable, search.LongLine, search.Denied}

// receipt says in words what a model has to know about what was not looked at: always what limits the result, and when
// nothing was found also what is left out by habit, with the way to include it.
func receipt(r *search.Receipt, found bool) []string {
	var out []string
	switch r.Partial {
	case search.TimeLimit:
		out = append(out, fmt.Sprintf("The search was stopped after %v; the result is incomplete. Narrow the path or the pattern.", TimeLimit))
	case search.FileLimit, search.Canceled:
		out = append(out, fmt.Sprintf("The search was ended early (%s); the result is incomplete.", r.Partial))
	}
	for _, s := range r.Skipped {
		usual := !slices.Contains(told, s.Reason)
		if usual && found {
			continue
		}
		line := fmt.Sprintf("Skipped %d %s", s.Count, s.Reason)
		if len(s.Examples) > 0 {
			line += ": " + strings.Join(s.Examples[:min(3, len(s.Examples))], ", ")
		}
		if s.Reason == search.Ignored || s.Reason == search.Hidden {
			line += "; no_ignore=true includes them"
		}
		out = append(out, line+".")
	}
	return out
}

// notes renders receipts behind a result, each in brackets on its own line.
func notes(b *strings.Builder, lines []string) {
	for _, l := range lines {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("[" + l + "]")
	}
}
