package file

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/glob"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

//go:embed list.md
var listText string

// List is the list_dir tool (F8). The zero value is ready.
type List struct{}

type listInput struct {
	Path  string `json:"path,omitempty" jsonschema:"Folder, default the working folder"`
	Depth int    `json:"depth,omitempty" jsonschema:"Levels" schema:"min=1,max=20"`
	Limit int    `json:"limit,omitempty" jsonschema:"Entries to show" schema:"min=1,max=5000"`
}

// listData is what people and programs see of list_dir.
type listData struct {
	Path    string      `json:"path"`
	Entries []listEntry `json:"entries"`
	Hidden  int         `json:"hidden,omitempty"` // entries that are known and not shown
}

type listEntry struct {
	Path    string `json:"path"` // relative to the listed folder, with slashes
	Type    string `json:"type"` // file, dir, symlink, fifo, socket or device
	Size    int64  `json:"size,omitempty"`
	Target  string `json:"target,omitempty"`
	Ignored bool   `json:"ignored,omitempty"`
	More    int    `json:"more,omitempty"` // entries of the folder that are not shown
	Error   string `json:"error,omitempty"`
}

// Tool returns the tool.
func (t List) Tool() tool.Tool {
	return tool.Define(tool.Spec{
		Name: "list_dir", Category: "file", Title: "List folder",
		Description: tool.Describe(listText, map[string]int{"Depth": ListDepth, "Entries": ListEntries}),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Example:     `{"path": "src", "depth": 2}`,
	}, t.plan)
}

func (List) plan(ctx context.Context, call *tool.Call, in listInput) (tool.Action, error) {
	given := in.Path
	if given == "" {
		given = "."
	}
	l, err := stat(ctx, call, given)
	switch {
	case err != nil:
		return tool.Action{}, err
	case !l.exists():
		return tool.Action{}, missing(ctx, call, &l, "path", given)
	case l.state.Type != change.Dir:
		return tool.Action{}, tool.PathError("path", given, host.ErrNotDir)
	}
	b := &lister{host: call.Host, depth: in.Depth, limit: in.Limit}
	if b.depth == 0 {
		b.depth = ListDepth
	}
	if b.limit == 0 {
		b.limit = ListEntries
	}
	return tool.Action{
		Intent: tool.Intent{Effects: []tool.Effect{tool.Read}, Targets: []tool.Target{tool.PathTo(l.path, tool.Read)}},
		Run: func(ctx context.Context, _ tool.Runner) (tool.Result, error) {
			top, err := b.list(ctx, l.path)
			if err != nil {
				return tool.Result{}, tool.PathError("path", given, err)
			}
			data := listData{Path: given, Hidden: b.hidden}
			text := render(top, given, &data)
			return tool.Result{Parts: []tool.Part{tool.Text(text)}, Data: data, Meta: tool.Meta{Truncated: b.hidden > 0}}, nil
		},
	}, nil
}

// lister reads a tree level by level, so that every folder of the first level is seen before any of the second.
type lister struct {
	host         host.Host
	depth, limit int
	shown        int
	hidden       int
}

// node is one entry of the tree.
type node struct {
	info     host.FileInfo
	rel      string // to the listed folder
	path     string // real
	ignored  bool
	err      error
	children []*node
	more     int // children that are not shown
	rules    *glob.Stack
}

func (l *lister) list(ctx context.Context, p host.Path) (*node, error) {
	top := &node{path: p.Real, info: host.FileInfo{Type: change.Dir}}
	base := p.Root
	if base == "" {
		base = p.Real
	}
	var err error
	if top.rules, err = l.above(ctx, base, p.Real); err != nil {
		return nil, err
	}
	level := []*node{top}
	for d := 0; d < l.depth && len(level) > 0; d++ {
		var next []*node
		for _, n := range level {
			if err := l.open(ctx, n, base); err != nil {
				if n == top || ctx.Err() != nil {
					return nil, err
				}
				n.err = err
			}
			for _, c := range n.children {
				if c.info.Type == change.Dir && !c.ignored && c.info.Name != ".git" {
					next = append(next, c)
				}
			}
		}
		level = next
	}
	return top, nil
}

// open reads one folder. Entries over the limit are counted and not shown.
func (l *lister) open(ctx context.Context, n *node, base string) error {
	entries, err := l.host.ReadDir(ctx, n.path)
	if err != nil {
		return err
	}
	rel := slashRel(base, n.path)
	if n.rel != "" { // the top's own rules are there already
		n.rules = n.rules.Push(len(rel), ignoreFiles(ctx, l.host, n.path, entries))
	}
	for _, e := range entries {
		if l.shown >= l.limit {
			n.more++
			l.hidden++
			continue
		}
		l.shown++
		c := &node{info: e, path: filepath.Join(n.path, e.Name), rel: e.Name, rules: n.rules}
		if n.rel != "" {
			c.rel = n.rel + "/" + e.Name
		}
		if r := n.rules.Match(rel+e.Name, e.Type == change.Dir); r != nil && !r.Include {
			c.ignored = true
		}
		n.children = append(n.children, c)
	}
	return nil
}

// above collects the ignore files from base down to dir, inclusive.
func (l *lister) above(ctx context.Context, base, dir string) (*glob.Stack, error) {
	var stack *glob.Stack
	at := base
	rest := strings.Split(strings.TrimSuffix(slashRel(base, dir), "/"), "/")
	for i := -1; i < len(rest); i++ {
		if i >= 0 {
			if rest[i] == "" {
				break
			}
			at = filepath.Join(at, rest[i])
		}
		entries, err := l.host.ReadDir(ctx, at)
		if err != nil {
			if at == dir || ctx.Err() != nil {
				return nil, err
			}
			continue
		}
		stack = stack.Push(len(slashRel(base, at)), ignoreFiles(ctx, l.host, at, entries))
	}
	return stack, nil
}

// slashRel returns the path of dir relative to base with slashes and one at the end, "" for base itself.
func slashRel(base, dir string) string {
	rel, err := filepath.Rel(base, dir)
	if err != nil || rel == "." {
		return ""
	}
	return filepath.ToSlash(rel) + "/"
}

// maxIgnoreFile bounds what is read of an ignore file, in bytes.
const maxIgnoreFile = 1 << 20

func ignoreFiles(ctx context.Context, h host.Host, dir string, entries []host.FileInfo) glob.DirFiles {
	var f glob.DirFiles
	for _, e := range entries {
		var into **glob.Ignore
		switch e.Name {
		case ".gitignore":
			into = &f.Git
		case ".ignore":
			into = &f.Dot
		case ".rgignore":
			into = &f.Tool
		case ".git":
			f.Repo = true
			continue
		default:
			continue
		}
		path := filepath.Join(dir, e.Name)
		if e.Type != change.File || e.Size > maxIgnoreFile {
			continue
		}
		if data, err := readAll(ctx, h, path); err == nil {
			*into = glob.ParseIgnore(path, data, false)
		}
	}
	if f.Repo {
		path := filepath.Join(dir, ".git", "info", "exclude")
		if data, err := readAll(ctx, h, path); err == nil {
			f.Exclude = glob.ParseIgnore(path, data, false)
		}
	}
	return f
}

// render draws the tree and fills the entries of data.
func render(top *node, given string, data *listData) string {
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(given, "/") + "/\n")
	var draw func(n *node, indent string)
	draw = func(n *node, indent string) {
		for _, c := range n.children {
			e := listEntry{Path: c.rel, Type: c.info.Type.String(), Size: c.info.Size, Target: c.info.Target, Ignored: c.ignored, More: c.more}
			fmt.Fprintf(&b, "%s%s%s\n", indent, c.info.Name, c.suffix(&e))
			data.Entries = append(data.Entries, e)
			draw(c, indent+"  ")
		}
		if n.more > 0 {
			fmt.Fprintf(&b, "%s… %d more entries\n", indent, n.more)
		}
	}
	draw(top, "  ")
	switch {
	case len(data.Entries) == 0:
		return b.String() + "[The folder is empty.]"
	case data.Hidden > 0:
		fmt.Fprintf(&b, "[%d entries shown, %d more known; list a subfolder, or raise limit.]", len(data.Entries), data.Hidden)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// suffix says what an entry is besides its name.
func (c *node) suffix(e *listEntry) string {
	s := ""
	switch {
	case c.info.Special != "":
		e.Type = c.info.Special
		s = " (" + c.info.Special + ")"
	case c.info.Type == change.Dir:
		s = "/"
	case c.info.Type == change.Symlink:
		s = " -> " + c.info.Target
	default:
		s = " " + size(c.info.Size)
	}
	if c.ignored {
		s += " (ignored)"
	}
	if c.err != nil {
		e.Error = c.err.Error()
		if errors.Is(c.err, fs.ErrPermission) {
			e.Error = "no permission"
		}
		s += " (" + e.Error + ")"
	}
	return s
}

// size writes bytes for people: "0 B", "1.5 KB", "12 MB".
func size(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	f, unit := float64(n), 0
	for f >= 1000 && unit < 4 {
		f /= 1000
		unit++
	}
	if f < 10 {
		return fmt.Sprintf("%.1f %cB", f, " KMGT"[unit])
	}
	return fmt.Sprintf("%.0f %cB", f, " KMGT"[unit])
}
