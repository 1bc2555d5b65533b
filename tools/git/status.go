package git

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/tool"
)

// statusData is what people and programs see of op=status.
type statusData struct {
	Root       string   `json:"root"`
	Branch     string   `json:"branch,omitempty"` // "" where HEAD is on none
	Commit     string   `json:"commit,omitempty"` // "" before the first
	Upstream   string   `json:"upstream,omitempty"`
	Ahead      int      `json:"ahead,omitempty"`
	Behind     int      `json:"behind,omitempty"`
	State      []string `json:"state,omitempty"` // "merging", "rebasing", …
	Files      []delta  `json:"files"`
	Hidden     int      `json:"hidden,omitempty"`
	Filtered   []string `json:"filtered,omitempty"`
	NextOffset int      `json:"next_offset,omitempty"`
}

// A delta is one file that differs.
type delta struct {
	Path   string `json:"path"` // below the root
	From   string `json:"from,omitempty"`
	Status string `json:"status"` // status: two letters as of git status --short; otherwise one
	Added  int    `json:"added,omitempty"`
	Gone   int    `json:"removed,omitempty"`
	Binary bool   `json:"binary,omitempty"`

	times bool // perhaps nothing but its times differs: its mode does not, and no lines were counted yet
}

// states are the files that tell what is under way.
var states = []struct{ name, word string }{
	{"MERGE_HEAD", "merging"}, {"rebase-merge", "rebasing"}, {"rebase-apply", "rebasing"}, {"CHERRY_PICK_HEAD", "cherry-picking"},
	{"REVERT_HEAD", "reverting"}, {"BISECT_LOG", "bisecting"},
}

func status(ctx context.Context, r *repo, in *input) (tool.Result, error) {
	out, err := r.must(ctx, append([]string{"status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--ignore-submodules=dirty", "--find-renames"}, r.pathArgs()...)...)
	if err != nil {
		return tool.Result{}, err
	}
	d := statusData{Root: r.top}
	if err := d.parse(out.text, out.cut); err != nil {
		return tool.Result{}, err
	}
	d.Files = slices.DeleteFunc(d.Files, func(c delta) bool { return !r.shown(c.Path, false) || c.From != "" && !r.shown(c.From, false) })
	d.Hidden = len(r.hidden)
	for _, s := range states {
		if r.is(ctx, filepath.Join(r.dir, s.name), change.File, change.Dir) && !slices.Contains(d.State, s.word) {
			d.State = append(d.State, s.word)
		}
	}
	var changed []string
	for _, c := range d.Files {
		if len(c.Status) == 2 && c.Status[1] == 'M' {
			changed = append(changed, c.Path)
		}
	}
	if d.Filtered, err = r.throughFilters(ctx, changed); err != nil {
		return tool.Result{}, err
	}
	p := r.page()
	p.head(d.headline())
	rows := make([]string, 0, len(d.Files))
	for _, c := range d.Files {
		name := quote(r.show(c.Path))
		if c.From != "" {
			name = quote(r.show(c.From)) + " -> " + name
		}
		rows = append(rows, c.Status+" "+name)
	}
	notes, next, err := p.body(in, rows, Files, "files", out.cut)
	if err != nil {
		return tool.Result{}, err
	}
	d.NextOffset = next
	return p.result(d, r.filtered(r.left(notes), d.Filtered), next), nil
}

// headline says where HEAD is.
func (d *statusData) headline() string {
	var b strings.Builder
	switch {
	case d.Branch == "":
		fmt.Fprintf(&b, "On no branch, at %.10s", d.Commit)
	case d.Commit == "":
		fmt.Fprintf(&b, "On %s, before the first commit", d.Branch)
	default:
		fmt.Fprintf(&b, "On %s at %.10s", d.Branch, d.Commit)
	}
	switch {
	case d.Upstream == "":
	case d.Ahead+d.Behind == 0:
		fmt.Fprintf(&b, ", as %s", d.Upstream)
	default:
		fmt.Fprintf(&b, ", %d ahead of and %d behind %s", d.Ahead, d.Behind, d.Upstream)
	}
	for _, s := range d.State {
		b.WriteString(", " + s)
	}
	if len(d.Files) == 0 {
		b.WriteString(". Nothing differs")
	}
	return b.String() + "."
}

// parse reads "git status --porcelain=v2 --branch -z". cut says that the end may be missing.
func (d *statusData) parse(text string, cut bool) error {
	items := strings.Split(text, "\x00")
	for i := 0; i < len(items); i++ {
		item := items[i]
		kind, rest, _ := strings.Cut(item, " ")
		switch kind {
		case "":
		case "#":
			d.header(rest)
		case "?":
			d.Files = append(d.Files, delta{Path: rest, Status: "??"})
		case "1", "2", "u":
			n := map[string]int{"1": 8, "2": 9, "u": 10}[kind] // fields before the path, the status first
			f := strings.SplitN(rest, " ", n)
			if len(f) < n {
				if cut {
					return nil
				}
				return fmt.Errorf("git status: %q is not understood", item)
			}
			c := delta{Path: f[n-1], Status: strings.ReplaceAll(f[0], ".", " ")}
			if kind == "2" {
				if i++; i < len(items) {
					c.From = items[i]
				}
			}
			d.Files = append(d.Files, c)
		}
	}
	return nil
}

func (d *statusData) header(rest string) {
	key, value, _ := strings.Cut(rest, " ")
	switch key {
	case "branch.oid":
		if value != "(initial)" {
			d.Commit = value
		}
	case "branch.head":
		if value != "(detached)" {
			d.Branch = strings.ToValidUTF8(value, "�")
		}
	case "branch.upstream":
		d.Upstream = strings.ToValidUTF8(value, "�")
	case "branch.ab":
		a, b, _ := strings.Cut(value, " ")
		d.Ahead, _ = strconv.Atoi(strings.TrimPrefix(a, "+"))
		d.Behind, _ = strconv.Atoi(strings.TrimPrefix(b, "-"))
	}
}

// maxAttributes bounds how many files are looked up.
const maxAttributes = 500

// throughFilters returns those of the files that attributes send through a filter which is configured, and not run here.
func (r *repo) throughFilters(ctx context.Context, files []string) ([]string, error) {
	if len(r.filters) == 0 || len(files) == 0 {
		return nil, nil
	}
	out, err := r.must(ctx, append([]string{"check-attr", "-z", "filter", "--"}, files[:min(len(files), maxAttributes)]...)...)
	if err != nil {
		return nil, err
	}
	var found []string
	f := strings.Split(out.text, "\x00")
	for i := 0; i+2 < len(f); i += 3 {
		if slices.Contains(r.filters, f[i+2]) {
			found = append(found, f[i])
		}
	}
	return found, nil
}

// quote shows a path, quoted where it would be misread.
func quote(path string) string {
	if strings.ContainsFunc(path, func(c rune) bool { return c < 0x20 || c == 0x7f || c == '"' || c == '\\' || c == '\uFFFD' }) {
		return strconv.Quote(path)
	}
	return path
}
