package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/tool"
)

// blameData is what people and programs see of op=blame.
type blameData struct {
	Root       string               `json:"root"`
	Path       string               `json:"path"`
	Rev        string               `json:"rev,omitempty"` // "" for the file as it is
	Lines      []blamed             `json:"lines"`
	Commits    map[string]blameNote `json:"commits"`
	NextOffset int                  `json:"next_offset,omitempty"`
}

// blamed is a line with the commit that it is from.
type blamed struct {
	Number int    `json:"number"`
	Commit string `json:"commit"` // "" where it is not committed
	Text   string `json:"text"`
}

type blameNote struct {
	Author  string `json:"author"`
	Date    string `json:"date"`
	Subject string `json:"subject"`
}

func blame(ctx context.Context, r *repo, in *input) (tool.Result, error) {
	limit := in.limit(Lines)
	span := strconv.Itoa(in.Offset+1) + ","
	if limit < 1<<30 {
		span += "+" + strconv.Itoa(limit+1)
	}
	args := []string{"blame", "--porcelain", "--no-textconv", "-L", span}
	d := blameData{Root: r.top, Path: r.rel}
	if in.Rev != "" {
		id, err := r.commit(ctx, in.Rev)
		if err != nil {
			return tool.Result{}, err
		}
		d.Rev = id
		args = append(args, id)
	}
	out, err := r.git(ctx, append(args, r.pathArgs()...)...)
	if err != nil {
		return tool.Result{}, err
	}
	if !out.exit.Success() && !out.cut {
		switch {
		case strings.Contains(out.errors, "has only"):
			return tool.Result{}, tool.Errorf(tool.InvalidParameter, "offset %d is past the end of %s.", in.Offset, r.show(r.rel)).For("offset", "a number below that of its lines")
		case strings.Contains(out.errors, "no such path"), strings.Contains(out.errors, "Cannot lstat"), strings.Contains(out.errors, "cannot stat path"):
			return tool.Result{}, tool.Errorf(tool.NotFound, "git does not know a file %q there.", r.show(r.rel)).For("path", "a file that is committed").
				With("op=status shows whether it is new.")
		}
		return tool.Result{}, r.failure(out)
	}
	d.parse(out.text)
	more := len(d.Lines) > limit
	d.Lines = d.Lines[:min(len(d.Lines), limit)]
	p := r.page()
	n := 0
	for ; n < len(d.Lines) && p.row(d.row(&d.Lines[n])); n++ {
	}
	var notes []string
	if more || n < len(d.Lines) || out.cut {
		d.NextOffset = in.Offset + n
		notes = append(notes, fmt.Sprintf("Lines %d–%d; go on with offset=%d.", in.Offset+1, d.NextOffset, d.NextOffset))
	}
	d.Lines = d.Lines[:n]
	if r.filters != nil && d.Rev == "" {
		files, err := r.throughFilters(ctx, []string{r.rel})
		if err != nil {
			return tool.Result{}, err
		}
		notes = r.filtered(notes, files)
	}
	return p.result(d, notes, d.NextOffset), nil
}

// row is a line as it is shown: commit, day, author, number and text.
func (d *blameData) row(l *blamed) string {
	n := d.Commits[l.Commit]
	day, _, _ := strings.Cut(n.Date, "T")
	if l.Commit == "" {
		return fmt.Sprintf("not committed %d: %s", l.Number, clean(l.Text))
	}
	return fmt.Sprintf("%.8s %s %s %d: %s", l.Commit, day, n.Author, l.Number, clean(l.Text))
}

// parse reads "git blame --porcelain": for each line a head "ID OLD NEW [COUNT]", what is new about the commit, and the
// line behind a tab.
func (d *blameData) parse(text string) {
	d.Commits = map[string]blameNote{}
	d.Lines = []blamed{}
	id, number := "", 0
	var seconds int64
	for _, l := range lines(text) {
		if rest, ok := strings.CutPrefix(l, "\t"); ok {
			d.Lines = append(d.Lines, blamed{number, id, strings.ToValidUTF8(strings.TrimSuffix(rest, "\r"), "�")})
			continue
		}
		key, value, _ := strings.Cut(l, " ")
		if digits(key) {
			f := strings.Fields(value)
			if id = key; strings.Trim(id, "0") == "" {
				id = ""
			}
			if len(f) >= 2 {
				number, _ = strconv.Atoi(f[1])
			}
			continue
		}
		n := d.Commits[id]
		switch key {
		case "author":
			n.Author = strings.ToValidUTF8(value, "�")
		case "author-time":
			seconds, _ = strconv.ParseInt(value, 10, 64)
		case "author-tz":
			n.Date = when(seconds, value)
		case "summary":
			n.Subject = strings.ToValidUTF8(value, "�")
		default:
			continue
		}
		d.Commits[id] = n
	}
	delete(d.Commits, "")
}

func digits(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// when renders seconds since 1970 in a zone such as +0130.
func when(seconds int64, zone string) string {
	t := time.Unix(seconds, 0).UTC()
	if n, err := strconv.Atoi(zone); err == nil && len(zone) == 5 {
		t = t.In(time.FixedZone("", (n/100*60+n%100)*60))
	}
	return t.Format(time.RFC3339)
}
