package file

import (
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/search"
	"github.com/tackle-dev/tackle/tool"
)

//go:embed list.md
var listText string

// List is the list_dir tool (F8): the tree of the search engine, drawn. The zero value is ready.
type List struct{ Config search.Config }

type listInput struct {
	Path     string `json:"path,omitempty" jsonschema:"Folder, default the working folder"`
	Depth    int    `json:"depth,omitempty" jsonschema:"Levels" schema:"min=1,max=20"`
	Limit    int    `json:"limit,omitempty" jsonschema:"Entries to show" schema:"min=1,max=5000"`
	NoIgnore bool   `json:"no_ignore,omitempty" jsonschema:"Also ignored files and .git"`
}

// listData is what people and programs see of list_dir.
type listData struct {
	Path    string         `json:"path"`
	Entries []listEntry    `json:"entries"`
	Hidden  int            `json:"hidden,omitempty"` // entries that are known and not shown
	Receipt search.Receipt `json:"receipt"`
}

type listEntry struct {
	Path   string `json:"path"` // relative to the listed folder, with slashes
	Type   string `json:"type"` // file, dir, symlink, fifo, socket or device
	Size   int64  `json:"size,omitempty"`
	Target string `json:"target,omitempty"`
	More   int    `json:"more,omitempty"` // entries of the folder that are not shown; -1 when it was not opened

	depth int
}

// listTime bounds the reading of one tree.
const listTime = 30 * time.Second

// Tool returns the tool.
func (t List) Tool() tool.Tool {
	return tool.Define(tool.Spec{
		Name: "list_dir", Category: "file", Title: "List folder",
		Description: tool.Describe(listText, map[string]int{"Depth": ListDepth, "Entries": ListEntries}),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Example:     `{"path": "src", "depth": 2}`,
	}, t.plan)
}

func (t List) plan(ctx context.Context, call *tool.Call, in listInput) (tool.Action, error) {
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
	q := search.TreeQuery{Sizes: true, Limit: in.Limit, Filter: search.Filter{Root: l.path.Real, Hidden: true, NoIgnore: in.NoIgnore,
		MaxDepth: in.Depth, TimeLimit: listTime}}
	if q.MaxDepth == 0 {
		q.MaxDepth = ListDepth
	}
	if q.Limit == 0 {
		q.Limit = ListEntries
	}
	return tool.Action{
		Intent: tool.Intent{Effects: []tool.Effect{tool.Read}, Targets: []tool.Target{tool.PathTo(l.path, tool.Read)}},
		Run: func(ctx context.Context, _ tool.Runner) (tool.Result, error) {
			q.Filter.Allow = visibleBelow(call, l.path) // as was decided, not as it was planned
			tree, err := search.New(search.HostFS(call.Host), t.Config).Tree(ctx, q)
			if err != nil {
				return tool.Result{}, tool.PathError("path", given, err)
			}
			data := listData{Path: given, Entries: make([]listEntry, 0, len(tree.Entries)), Hidden: tree.More, Receipt: tree.Receipt}
			for _, e := range tree.Entries {
				data.Entries = append(data.Entries, describe(ctx, call.Host, l.path.Real, e))
				data.Hidden += max(e.More, 0)
			}
			return tool.Result{Parts: []tool.Part{tool.Text(data.draw(tree.More))}, Data: data, Meta: tool.Meta{Truncated: data.Hidden > 0 || tree.Receipt.Partial != search.Complete}}, nil
		},
	}, nil
}

// visibleBelow returns a function that reports whether policy lets the call see a file below a folder.
func visibleBelow(call *tool.Call, dir host.Path) func(rel string) bool {
	see := call.Visible()
	return func(rel string) bool {
		p := dir
		p.Abs, p.Real = filepath.Join(p.Abs, rel), filepath.Join(p.Real, rel)
		if p.Root != "" {
			p.Rel = filepath.Join(p.Rel, rel)
		}
		return see(p)
	}
}

// describe makes an entry. What a walk does not know of links and special files is asked of the host.
func describe(ctx context.Context, h host.Host, root string, e search.TreeEntry) listEntry {
	out := listEntry{Path: e.Path, Type: "file", Size: e.Size, More: e.More, depth: e.Depth}
	switch e.Kind {
	case search.Directory:
		out.Type = "dir"
	case search.RegularFile:
	default:
		out.Type = e.Kind.String()
		if info, err := h.Stat(ctx, filepath.Join(root, filepath.FromSlash(e.Path))); err == nil {
			out.Type, out.Target = info.Type.String(), info.Target
			if info.Special != "" {
				out.Type = info.Special
			}
		}
	}
	return out
}

// draw draws the tree. more is how many entries of the folder itself are not shown.
func (d *listData) draw(more int) string {
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(d.Path, "/") + "/\n")
	open := []listEntry{{More: more}} // the folder and those below it that are being drawn
	closeTo := func(depth int) {
		for len(open) > depth {
			last := open[len(open)-1]
			if last.More > 0 {
				fmt.Fprintf(&b, "%s… %d more\n", strings.Repeat("  ", last.depth+1), last.More)
			}
			open = open[:len(open)-1]
		}
	}
	for _, e := range d.Entries {
		closeTo(e.depth)
		fmt.Fprintf(&b, "%s%s%s\n", strings.Repeat("  ", e.depth), oneLine(e.Path[strings.LastIndexByte(e.Path, '/')+1:]), e.suffix())
		open = append(open, e)
	}
	closeTo(0)
	notes := d.notes()
	if len(d.Entries) == 0 && len(notes) == 0 {
		notes = append(notes, "The folder is empty.")
	}
	for _, n := range notes {
		b.WriteString("[" + n + "]\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// suffix says what an entry is besides its name.
func (e *listEntry) suffix() string {
	switch e.Type {
	case "dir":
		return "/"
	case "file":
		return " " + size(e.Size)
	case "symlink":
		return " -> " + oneLine(e.Target)
	}
	return " (" + e.Type + ")"
}

// oneLine quotes a name that would look like something else, such as another row of the tree.
func oneLine(name string) string {
	if utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
	}) {
		return name
	}
	return strconv.Quote(name)
}

// notes say what is there and not shown (F13).
func (d *listData) notes() []string {
	var out []string
	if d.Hidden > 0 {
		out = append(out, fmt.Sprintf("%d entries shown, %d more known; list a subfolder, or raise limit.", len(d.Entries), d.Hidden))
	}
	for _, s := range d.Receipt.Skipped {
		examples := ""
		for i, e := range s.Examples {
			if i > 0 {
				examples += ", "
			}
			examples += oneLine(e)
		}
		if s.Count > len(s.Examples) {
			examples += ", …"
		}
		switch s.Reason {
		case search.Ignored:
			out = append(out, fmt.Sprintf("%d ignored and not shown: %s; no_ignore=true shows them.", s.Count, examples))
		case search.Unreadable:
			out = append(out, fmt.Sprintf("%d unreadable: %s.", s.Count, examples))
		case search.Denied:
			out = append(out, fmt.Sprintf("%d kept back by policy.", s.Count))
		}
	}
	if d.Receipt.Partial != search.Complete {
		out = append(out, fmt.Sprintf("The listing was ended early (%s).", d.Receipt.Partial))
	}
	return out
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
