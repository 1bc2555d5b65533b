package git

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/tool"
)

// commitData is a commit.
type commitData struct {
	ID        string   `json:"id"`
	Parents   []string `json:"parents,omitempty"`
	Author    string   `json:"author"`
	Mail      string   `json:"mail"`
	Date      string   `json:"date"` // of the author, RFC 3339
	Committer string   `json:"committer,omitempty"`
	Committed string   `json:"committed,omitempty"`
	Refs      string   `json:"refs,omitempty"`
	Subject   string   `json:"subject"`
	Body      string   `json:"body,omitempty"`
}

// logData is what people and programs see of op=log.
type logData struct {
	Root       string       `json:"root"`
	Commits    []commitData `json:"commits"`
	NextOffset int          `json:"next_offset,omitempty"`
}

const commitFormat = "--format=tformat:%H%x1f%P%x1f%an%x1f%ae%x1f%aI%x1f%cn%x1f%cI%x1f%D%x1f%s%x1f%b"

// parseCommits reads what git prints in that format with -z.
func parseCommits(text string) []commitData {
	var out []commitData
	for item := range strings.SplitSeq(text, "\x00") {
		f := strings.SplitN(strings.ToValidUTF8(item, "�"), "\x1f", 10)
		if len(f) < 10 {
			continue
		}
		out = append(out, commitData{ID: f[0], Parents: strings.Fields(f[1]), Author: f[2], Mail: f[3], Date: f[4], Committer: f[5], Committed: f[6],
			Refs: f[7], Subject: f[8], Body: strings.TrimSpace(f[9])})
	}
	return out
}

func log(ctx context.Context, r *repo, in *input) (tool.Result, error) {
	ids, err := r.span(ctx, in.Rev)
	if err != nil {
		return tool.Result{}, err
	}
	args := []string{"log", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-color", "-z", commitFormat, "--skip=" + strconv.Itoa(in.Offset)}
	limit := in.limit(Commits)
	if limit < 1<<30 {
		args = append(args, "--max-count="+strconv.Itoa(limit+1))
	}
	if r.rel != "" && r.is(ctx, r.place.Real, change.File) {
		args = append(args, "--follow")
	}
	out, err := r.must(ctx, append(append(args, ids...), r.pathArgs()...)...)
	if err != nil {
		return tool.Result{}, err
	}
	list := parseCommits(out.text)
	more := len(list) > limit
	list = list[:min(len(list), limit)]
	if len(list) == 0 && in.Offset > 0 {
		return tool.Result{}, tool.Errorf(tool.InvalidParameter, "offset %d is past the end.", in.Offset).For("offset", "a smaller number")
	}
	d := logData{Root: r.top, Commits: list}
	p := r.page()
	n := 0
	for ; n < len(list) && p.row(clean(list[n].row())); n++ {
	}
	d.Commits = list[:n]
	var notes []string
	switch {
	case len(list) == 0 && r.rel != "":
		notes = append(notes, fmt.Sprintf("No commit has changed %s.", r.show(r.rel)))
	case len(list) == 0:
		notes = append(notes, "No commits.")
	case more || n < len(list) || out.cut:
		d.NextOffset = in.Offset + n
		notes = append(notes, fmt.Sprintf("Commits %d–%d; go on with offset=%d. op=show shows one of them.", in.Offset+1, d.NextOffset, d.NextOffset))
	}
	return p.result(d, notes, d.NextOffset), nil
}

// row is a commit in one line.
func (c *commitData) row() string {
	day, _, _ := strings.Cut(c.Date, "T")
	s := fmt.Sprintf("%.10s %s %s: %s", c.ID, day, c.Author, c.Subject)
	if c.Refs != "" {
		s += " (" + c.Refs + ")"
	}
	return s
}

// showData is what people and programs see of a commit.
type showData struct {
	commitData
	diffData
}

func show(ctx context.Context, r *repo, in *input) (tool.Result, error) {
	if name, path, ok := cutFile(in.Rev); ok {
		return file(ctx, r, in, name, path)
	}
	name := cmp.Or(in.Rev, "HEAD")
	out, err := r.git(ctx, "log", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-color", "-z", commitFormat, "--max-count=1",
		"--end-of-options", name+"^{commit}", "--")
	if err != nil {
		return tool.Result{}, err
	}
	list := parseCommits(out.text)
	if !out.exit.Success() || len(list) != 1 || !digits(list[0].ID) {
		return tool.Result{}, r.unknown(name)
	}
	id := list[0].ID
	d := showData{commitData: list[0], diffData: diffData{Root: r.top, From: emptyTree(id), To: id}}
	if len(d.Parents) > 0 {
		d.From = d.Parents[0]
	}
	p := r.page()
	if in.Offset == 0 {
		d.heading(p)
	}
	return r.compare(ctx, in, p, &d.diffData, &d, []string{d.From, id})
}

// heading writes what a commit says of itself.
func (d *showData) heading(p *page) {
	p.head("commit " + d.ID)
	if d.Refs != "" {
		p.head("Refs: " + clean(d.Refs))
	}
	p.head(clean(fmt.Sprintf("Author: %s <%s>, %s", d.Author, d.Mail, d.Date)))
	if d.Committer != d.Author {
		p.head(clean(fmt.Sprintf("Committer: %s, %s", d.Committer, d.Committed)))
	}
	if len(d.Parents) > 1 {
		p.head(fmt.Sprintf("Merge of %s; what differs from the first follows.", strings.Join(d.Parents, " ")))
	}
	p.head("")
	p.head("    " + clean(d.Subject))
	const most = 100
	body := lines(d.Body)
	for i, l := range body {
		if i == 0 {
			p.head("")
		}
		if i == most {
			p.head(fmt.Sprintf("    [%d more lines]", len(body)-most))
			break
		}
		p.head(strings.TrimRight("    "+clean(l), " "))
	}
	p.head("")
}
