package text

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/internal/diff"
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/patch"
)

// group is a run of lines of a comparison.
type group struct {
	Added   bool   `json:"added,omitempty"`
	Removed bool   `json:"removed,omitempty"`
	Count   int    `json:"count"`
	Value   string `json:"value"`
}

// Comparison is what diff gives.
type comparison struct {
	Patch   string  `json:"patch"`
	Changes []group `json:"changes"`
}

// readings compares and cuts what the words of a media are, whatever its format.
func readings(ctx context.Context, r *media.Request) (media.Result, error) {
	a, err := words(ctx, r, r.In)
	if err != nil {
		return media.Result{}, err
	}
	if r.Op == "chunk" {
		return chunk(ctx, r, a)
	}
	b, err := words(ctx, r, r.With[0])
	if err != nil {
		return media.Result{}, err
	}
	return compare(r.In.Name, r.With[0].Name, a, b), nil
}

// words gives the text of a media; of a text file that text with its line endings, so that a patch fits it.
func words(ctx context.Context, r *media.Request, p media.Payload) (string, error) {
	if media.Textual(p.MIME) && r.Op == "diff" {
		f, err := open(&media.Request{In: p})
		if err != nil {
			return "", err
		}
		return f.src, nil
	}
	return r.ReadText(ctx, p)
}

func compare(nameA, nameB, a, b string) media.Result {
	changes := diff.Compare([]byte(a), []byte(b))
	c := comparison{Changes: []group{}}
	if len(changes) > 0 {
		nameA, nameB = diffName(nameA), diffName(nameB)
		c.Patch = fmt.Sprintf("--- a/%s\n+++ b/%s\n", nameA, nameB) + string(diff.AppendUnified(nil, []byte(a), []byte(b), changes, 3))
	}
	at := 0
	put := func(g group, s string, lines int) {
		if lines > 0 {
			g.Count, g.Value = lines, s
			c.Changes = append(c.Changes, g)
		}
	}
	for _, ch := range changes {
		put(group{}, a[at:ch.A.Off], diff.Lines([]byte(a[at:ch.A.Off])))
		put(group{Removed: true}, a[ch.A.Off:ch.A.OffEnd], ch.A.Len())
		put(group{Added: true}, b[ch.B.Off:ch.B.OffEnd], ch.B.Len())
		at = ch.A.OffEnd
	}
	put(group{}, a[at:], diff.Lines([]byte(a[at:])))
	added, removed := diff.Count(changes)
	res := media.Result{Read: &media.Reading{Data: c, Text: c.Patch}, Counts: media.Counts{Added: added, Removed: removed}}
	if c.Patch == "" {
		res.Read.Text = "No differences.\n"
	}
	return res
}

func diffName(name string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == '"' || c == '\\' {
			return '_'
		}
		return c
	}, media.CleanName(name))
}

// desk holds the files that a patch may speak of, by name.
type desk struct {
	files map[string]media.Payload
	order []string
}

// Read is described at patch.Source.
func (d *desk) Read(name string, _ bool) (string, change.State, error) {
	if why := badName(name); why != "" {
		return "", change.State{}, fmt.Errorf("%q %s", name, why)
	}
	abs := "/" + path.Clean(name)
	if p, ok := d.files[abs]; ok {
		return abs, change.FileState(p.Data, 0o644), nil
	}
	return abs, change.State{}, nil
}

func badName(name string) string {
	switch {
	case name == "" || strings.HasPrefix(name, "/") || strings.Contains(name, `\`) || len(name) > 1 && name[1] == ':':
		return "is no relative name"
	case slices.ContainsFunc(strings.Split(name, "/"), func(s string) bool { return s == "" || s == "." || s == ".." }):
		return "has an empty part, . or .. in it"
	}
	return ""
}

func applyPatch(_ context.Context, r *media.Request) (media.Result, error) {
	d := &desk{files: map[string]media.Payload{}}
	for _, p := range append([]media.Payload{r.In}, r.With...) {
		abs := "/" + path.Base(p.Name)
		if _, ok := d.files[abs]; ok {
			return media.Result{}, media.Failf("two of the files are called %s; a patch cannot tell them apart.", path.Base(p.Name))
		}
		d.files[abs] = p
		d.order = append(d.order, abs)
	}
	text := r.Args["patch"].(string)
	pt, err := patch.Parse(text)
	if err != nil {
		return media.Result{}, media.Failf("the patch cannot be read: %v", err)
	}
	d.aliases(pt)
	res, err := patch.Plan(pt, d, patch.Options{})
	if err != nil {
		var pe *patch.PlanError
		if errors.As(err, &pe) {
			var all []string
			for _, e := range pe.Errors {
				if e.Code != patch.NotTried {
					all = append(all, e.Error())
				}
			}
			return media.Result{}, media.Failf("%s. Nothing was changed.", strings.TrimSuffix(strings.Join(all, "\n"), "."))
		}
		return media.Result{}, media.Failf("%v", err)
	}
	out := media.Result{}
	for _, n := range res.Notes {
		out.Warnings = append(out.Warnings, n.String())
	}
	if err := d.commit(res.Set); err != nil {
		return media.Result{}, err
	}
	for _, c := range res.Hunks {
		if c.Note != "" {
			out.Warnings = append(out.Warnings, fmt.Sprintf("hunk %d: %s", c.Number, c.Note))
		}
	}
	var left []string
	for abs := range d.files {
		left = append(left, abs)
	}
	slices.Sort(left)
	for _, abs := range left {
		p := d.files[abs]
		p.Name = strings.TrimPrefix(abs, "/")
		if p.Data == nil {
			p.Data = []byte{}
		}
		out.List = append(out.List, p)
	}
	switch len(out.List) {
	case 0:
		return media.Result{}, media.Failf("the patch deletes every file, so nothing would be left.")
	case 1:
		out.Media, out.List = &out.List[0], nil
	}
	return out, nil
}

// aliases lets a unified diff of two files be applied to the first of them, whatever the second is called.
func (d *desk) aliases(pt *patch.Patch) {
	if pt.Format != patch.Unified || len(pt.Files) != 1 || len(d.order) != 1 {
		return
	}
	f := &pt.Files[0]
	own := strings.TrimPrefix(d.order[0], "/")
	if f.Op == patch.Update && f.To == "" && badName(f.Path) == "" && path.Base(f.Path) != own || f.To != "" && f.Op == patch.Update {
		f.Path, f.To, f.Names = own, "", nil
	}
}

func (d *desk) commit(set change.Set) error {
	for _, op := range set.Ops {
		switch op.Kind {
		case change.Write:
			data, ok := op.After.Blob.Bytes()
			if !ok {
				return media.Failf("the patch copies what is not here.")
			}
			p, known := d.files[op.Path]
			if !known {
				p = media.Identify(media.Payload{Data: data, Name: path.Base(op.Path)})
			}
			p.Data = data
			d.files[op.Path] = p
		case change.Move:
			p := d.files[op.Path]
			delete(d.files, op.Path)
			if data, ok := blobOf(op); ok {
				p.Data = data
			}
			d.files[op.To] = p
		case change.Delete:
			delete(d.files, op.Path)
		}
	}
	return nil
}

func blobOf(op change.Op) ([]byte, bool) {
	if op.After.Blob == nil {
		return nil, false
	}
	return op.After.Blob.Bytes()
}
