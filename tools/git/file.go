package git

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/tool"
)

// fileData is what people and programs see of a file or folder of a commit.
type fileData struct {
	Root       string   `json:"root"`
	Commit     string   `json:"commit"`
	Path       string   `json:"path"`
	Type       string   `json:"type"` // "file", "link", "folder", "submodule"
	Size       int      `json:"size,omitempty"`
	Binary     bool     `json:"binary,omitempty"`
	Lines      int      `json:"lines,omitempty"`
	Entries    []string `json:"entries,omitempty"`
	Hidden     int      `json:"hidden,omitempty"`
	NextOffset int      `json:"next_offset,omitempty"`
}

// A leaf is an entry of a tree.
type leaf struct{ mode, kind, id, size, path string }

func leaves(text string) []leaf {
	var out []leaf
	for item := range strings.SplitSeq(text, "\x00") {
		head, name, ok := strings.Cut(item, "\t")
		if f := strings.Fields(head); ok && len(f) == 4 {
			out = append(out, leaf{f[0], f[1], f[2], f[3], name})
		}
	}
	return out
}

// file shows a file or lists a folder of a commit.
func file(ctx context.Context, r *repo, in *input, name, given string) (tool.Result, error) {
	id, err := r.commit(ctx, name)
	if err != nil {
		return tool.Result{}, err
	}
	rel := path.Clean(given)
	d := fileData{Root: r.top, Commit: id, Path: rel}
	if rel == "." {
		d.Type = "folder"
		return r.folder(ctx, in, &d, id)
	}
	out, err := r.must(ctx, "ls-tree", "-l", "-z", "--full-tree", id, "--", rel)
	if err != nil {
		return tool.Result{}, err
	}
	list := leaves(out.text)
	if len(list) != 1 || list[0].path != rel {
		return tool.Result{}, tool.Errorf(tool.NotFound, "%.10s has no %q.", id, given).For("rev", "COMMIT:PATH, with the path below the top folder").
			With("op=show with rev=COMMIT:. lists the top folder.")
	}
	l := list[0]
	switch {
	case l.kind == "tree":
		d.Type = "folder"
		return r.folder(ctx, in, &d, id+":"+rel)
	case l.kind == "commit":
		d.Type = "submodule"
		p := r.page()
		p.head(fmt.Sprintf("%s is a submodule at commit %s.", rel, l.id))
		return p.result(d, nil, 0), nil
	}
	if d.Type = "file"; l.mode == "120000" {
		d.Type = "link"
	}
	d.Size, _ = strconv.Atoi(l.size)
	if out, err = r.must(ctx, "cat-file", "blob", l.id); err != nil {
		return tool.Result{}, err
	}
	p := r.page()
	if d.Binary = strings.ContainsRune(out.text[:min(len(out.text), 8000)], 0); d.Binary {
		p.head(fmt.Sprintf("%s is binary, %d bytes.", rel, d.Size))
		return p.result(d, nil, 0), nil
	}
	text := lines(out.text)
	d.Lines = len(text)
	notes, next, err := p.body(in, text, Lines, "lines", out.cut)
	if err != nil {
		return tool.Result{}, err
	}
	if len(text) == 0 {
		notes = append(notes, "The file is empty.")
	}
	if d.Type == "link" {
		notes = append(notes, "A symbolic link; this is what it names.")
	}
	d.NextOffset = next
	return p.result(d, notes, next), nil
}

// folder lists a folder of a commit. tree is made of digits and a literal path.
func (r *repo) folder(ctx context.Context, in *input, d *fileData, tree string) (tool.Result, error) {
	out, err := r.must(ctx, "ls-tree", "-l", "-z", tree)
	if err != nil {
		return tool.Result{}, err
	}
	for _, l := range leaves(out.text) {
		if !r.shown(path.Join(d.Path, l.path), false) {
			continue
		}
		name := quote(strings.ToValidUTF8(l.path, "�"))
		if l.kind == "tree" {
			name += "/"
		}
		d.Entries = append(d.Entries, name)
	}
	d.Hidden = len(r.hidden)
	p := r.page()
	notes, next, err := p.body(in, d.Entries, Files, "entries", out.cut)
	if err != nil {
		return tool.Result{}, err
	}
	d.NextOffset = next
	return p.result(d, r.left(notes), next), nil
}
