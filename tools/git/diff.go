package git

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/tool"
)

// diffData is what people and programs see of op=diff, and of a commit.
type diffData struct {
	Root       string   `json:"root"`
	From       string   `json:"from"` // what is compared: "index", "work tree", or a commit
	To         string   `json:"to"`
	Files      []delta  `json:"files"`
	Added      int      `json:"added"`
	Removed    int      `json:"removed"`
	Hidden     int      `json:"hidden,omitempty"`
	Filtered   []string `json:"filtered,omitempty"`
	NextOffset int      `json:"next_offset,omitempty"`
}

func diff(ctx context.Context, r *repo, in *input) (tool.Result, error) {
	d := diffData{Root: r.top, From: "index", To: "work tree"}
	var sides []string
	if in.Staged {
		d.From, d.To, sides = "HEAD", "index", []string{"--cached"}
	}
	if in.Rev != "" {
		ids, err := r.span(ctx, in.Rev)
		if err != nil {
			return tool.Result{}, err
		}
		sides = append(sides, ids...)
		d.From = ids[0]
		if a, dots, b, ok := cutRange(ids[0]); ok {
			if d.From, d.To = a, b; dots == "..." {
				d.From = "merge base of " + a
			}
		}
	}
	p := r.page()
	return r.compare(ctx, in, p, &d, &d, sides)
}

// safely are the options of every comparison.
func (r *repo) safely(in *input, more ...string) []string {
	n := 3
	if in.Context != nil {
		n = *in.Context
	}
	return append([]string{"diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "--submodule=short", "--no-color", "--find-renames",
		"--src-prefix=a/", "--dst-prefix=b/", "--unified=" + strconv.Itoa(n)}, more...)
}

// compare writes which files differ, and how. The comparison is made twice: to know the files, which policy judges, and
// then for the text of those alone that may be shown.
func (r *repo) compare(ctx context.Context, in *input, p *page, d *diffData, data any, sides []string) (tool.Result, error) {
	args := append(r.safely(in, "--raw", "--numstat", "-z"), sides...)
	out, err := r.must(ctx, append(args, r.pathArgs()...)...)
	if err != nil {
		return tool.Result{}, err
	}
	d.Files = parseChanges(out.text)
	d.Files = slices.DeleteFunc(d.Files, func(c delta) bool {
		return c.times && !out.cut || !r.shown(c.Path, true) || c.From != "" && !r.shown(c.From, true)
	})
	d.Hidden = len(r.hidden)
	var names []string
	rows := make([]string, 0, len(d.Files))
	for _, c := range d.Files {
		d.Added, d.Removed = d.Added+c.Added, d.Removed+c.Gone
		names = append(names, c.Path)
		rows = append(rows, r.row(&c))
	}
	if d.To == "work tree" {
		if d.Filtered, err = r.throughFilters(ctx, names); err != nil {
			return tool.Result{}, err
		}
	}
	if len(d.Files) == 0 {
		p.head("Nothing differs.")
		return p.result(data, r.left(nil), 0), nil
	}
	total := fmt.Sprintf("%s, +%d -%d", plural(len(d.Files), "file"), d.Added, d.Removed)
	if in.Stat {
		p.head(total)
		notes, next, err := p.body(in, rows, Files, "files", out.cut)
		d.NextOffset = next
		if err != nil {
			return tool.Result{}, err
		}
		return p.result(data, r.filtered(r.left(notes), d.Filtered), next), nil
	}
	if in.Offset == 0 {
		p.head(total)
		for _, row := range rows[:min(len(rows), Files)] {
			p.head(row)
		}
		if n := len(rows) - Files; n > 0 {
			p.head(fmt.Sprintf("[%d more; stat=true lists all]", n))
		}
		p.head("")
	}
	return r.patch(ctx, in, p, d, data, sides)
}

// maxNames bounds the names that one command is given, bytes.
const maxNames = 500 << 10

// patch writes the text of the comparison, for the files that may be shown.
func (r *repo) patch(ctx context.Context, in *input, p *page, d *diffData, data any, sides []string) (tool.Result, error) {
	args := append(append(r.safely(in, "--patch"), sides...), "--")
	bytes, shown := 0, 0
	for _, c := range d.Files {
		if bytes += len(c.Path) + len(c.From) + 2; bytes > maxNames {
			break
		}
		if args, shown = append(args, c.Path), shown+1; c.From != "" {
			args = append(args, c.From)
		}
	}
	out, err := r.must(ctx, args...)
	if err != nil {
		return tool.Result{}, err
	}
	notes, next, err := p.body(in, lines(out.text), Lines, "lines", out.cut)
	if err != nil {
		return tool.Result{}, err
	}
	if d.NextOffset = next; shown < len(d.Files) {
		notes = append(notes, fmt.Sprintf("The text is that of the first %d files; name a path for the others.", shown))
	}
	return p.result(data, r.filtered(r.left(notes), d.Filtered), next), nil
}

// row is a file in one line.
func (r *repo) row(c *delta) string {
	name := quote(r.show(c.Path))
	if c.From != "" {
		name = quote(r.show(c.From)) + " -> " + name
	}
	if c.Binary {
		return fmt.Sprintf("%s %s (binary)", c.Status, name)
	}
	return fmt.Sprintf("%s %s +%d -%d", c.Status, name, c.Added, c.Gone)
}

// parseChanges reads "git diff --raw --numstat -z": the files with a letter each, then the files with their numbers.
func parseChanges(text string) []delta {
	var out []delta
	at := map[string]int{}
	f := strings.Split(text, "\x00")
	for i := 0; i < len(f); i++ {
		switch {
		case strings.HasPrefix(f[i], ":"):
			head := f[i]
			letter := f[i][strings.LastIndexByte(f[i], ' ')+1:]
			if letter == "" || i+1 >= len(f) {
				return out
			}
			i++
			c := delta{Path: f[i], Status: letter[:1]}
			c.times = c.Status == "M" && sameMode(head)
			if (c.Status == "R" || c.Status == "C") && i+1 < len(f) {
				i++
				c.From, c.Path = c.Path, f[i]
			}
			if k, twice := at[c.Path]; twice { // a file with conflicts is listed twice
				out[k].Status = "U"
				continue
			}
			at[c.Path] = len(out)
			out = append(out, c)
		default:
			n := strings.SplitN(f[i], "\t", 3)
			if len(n) < 3 {
				continue
			}
			path := n[2]
			if path == "" && i+2 < len(f) { // renamed: both names follow
				path = f[i+2]
				i += 2
			}
			k, ok := at[path]
			if !ok {
				continue
			}
			out[k].Binary, out[k].times = n[0] == "-", false
			out[k].Added, _ = strconv.Atoi(n[0])
			out[k].Gone, _ = strconv.Atoi(n[1])
		}
	}
	return out
}

// sameMode reports whether ":100644 100755 …" names one mode.
func sameMode(head string) bool {
	f := strings.Fields(strings.TrimPrefix(head, ":"))
	return len(f) > 1 && f[0] == f[1]
}
