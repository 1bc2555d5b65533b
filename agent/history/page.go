package history

import (
	"bytes"
	"context"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/tool"
)

//go:embed page.html page.css
var pageFiles embed.FS

// PageOptions tune a page.
type PageOptions struct {
	Now     time.Time
	Version string // of the program
	// Media returns the bytes of a picture by its artifact id; nil leaves pictures out that no event holds.
	Media func(ctx context.Context, id string) (mime string, data []byte, err error)
}

// Bounds of a page.
const (
	mostPicture = 4 << 20 // bytes of one picture
	mostText    = 200_000 // bytes of one result
	openLines   = 60      // lines of a diff that stands open
)

// WritePage writes the session as one page of HTML that needs nothing else: no script, no address of anybody. What tools and
// models said is escaped, and hidden characters show.
func (s *Session) WritePage(ctx context.Context, w io.Writer, o PageOptions) error {
	css, err := pageFiles.ReadFile("page.css")
	if err != nil {
		return err
	}
	p := page{ctx: ctx, opt: o, session: s}
	t, err := template.New("page.html").Funcs(template.FuncMap{
		"css": func() template.CSS { return template.CSS(css) }, "markdown": markdown, "text": func(v string) string { return show.Text(v) },
		"line": func(v string) string { return show.Line(v) }, "when": when, "count": counted, "short": Short,
	}).ParseFS(pageFiles, "page.html")
	if err != nil {
		return err
	}
	view, err := p.view()
	if err != nil {
		return err
	}
	return t.Execute(w, view)
}

type page struct {
	ctx     context.Context
	opt     PageOptions
	session *Session
}

// pageView is what the template sees.
type pageView struct {
	Summary
	Turns   []turnView
	Files   []fileView
	Now     time.Time
	Version string
}

type turnView struct {
	Number int
	Items  []itemView
	End    string // a sentence where the turn did not end as it should
}

type itemView struct {
	Kind      string // said, answer, call, told, note
	At        time.Time
	From      string
	Text      string
	Reasoning string
	Pictures  []template.URL
	Other     []string // media that are no pictures
	Call      *callView
}

type callView struct {
	Tool    string
	Subject string
	Outcome string
	Word    string // for people
	Took    string
	Args    string
	By      string
	Text    string
	Cut     int // bytes of text that are left out
	Whose   string
	Diff    []diffLine
	Open    bool
}

type diffLine struct{ Kind, Text string }

type fileView struct {
	Path, Status   string
	Added, Removed int
}

func (p *page) view() (pageView, error) {
	out := pageView{Summary: p.session.Summary, Now: p.opt.Now, Version: p.opt.Version}
	for i := range p.session.Turns {
		t := &p.session.Turns[i]
		tv := turnView{Number: t.Number}
		for _, it := range t.Items {
			v, err := p.item(it)
			if err != nil {
				return out, err
			}
			if v.Kind != "" {
				tv.Items = append(tv.Items, v)
			}
		}
		switch {
		case t.End == nil && p.session.Looped():
			tv.End = "This turn is not over."
		case t.End != nil && t.End.Why != agent.Done:
			tv.End = "Ended: " + string(t.End.Why) + ". " + t.End.Detail
		}
		out.Turns = append(out.Turns, tv)
	}
	out.Files = files(p.session)
	return out, nil
}

// files adds up what calls changed, in the order in which files came up.
func files(s *Session) []fileView {
	var out []fileView
	for _, c := range s.Since(0) {
		for _, ch := range Changed(c.Meta()) {
			i := slices.IndexFunc(out, func(f fileView) bool { return f.Path == ch.Path })
			if i < 0 {
				out = append(out, fileView{Path: ch.Path})
				i = len(out) - 1
			}
			out[i].Status = string(ch.Status)
			out[i].Added += ch.Added
			out[i].Removed += ch.Removed
		}
	}
	return out
}

func (p *page) item(it Item) (itemView, error) {
	v := itemView{At: it.At}
	switch {
	case it.Said != nil:
		v.Kind, v.From, v.Text = "said", it.Said.From, content.JoinText(it.Said.Parts)
		return v, p.media(&v, it.Said.Parts)
	case it.Answer != nil:
		if it.Answer.Message == nil {
			return v, nil
		}
		var parts []content.Part
		for _, b := range it.Answer.Message.Blocks {
			if b.Part != nil {
				parts = append(parts, *b.Part)
			}
			if b.Reasoning != nil {
				v.Reasoning += b.Reasoning.Text
			}
		}
		v.Text = content.JoinText(parts)
		if v.Text != "" || v.Reasoning != "" || len(parts) > 0 {
			v.Kind = "answer"
		}
		return v, p.media(&v, parts)
	case it.Call != nil:
		v.Kind, v.Call = "call", p.call(it.Call)
		return v, p.media(&v, it.Call.Parts)
	case it.Told != "":
		v.Kind, v.Text = "told", it.Told
	case it.Note != "":
		v.Kind, v.Text = "note", it.Note
	}
	return v, nil
}

// shown are the types of pictures that every browser shows and that hold no program.
var shown = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

func (p *page) media(v *itemView, parts []content.Part) error {
	for _, part := range parts {
		if part.Kind == content.Text {
			continue
		}
		mime, data := part.MIME, part.Data
		id, stored := strings.CutPrefix(part.URI, "artifact:")
		if len(data) == 0 && stored && p.opt.Media != nil && part.Kind == content.Image {
			var err error
			if mime, data, err = p.opt.Media(p.ctx, id); err != nil {
				data = nil // it has expired; the page says that it was there
			}
		}
		if part.Kind == content.Image && len(data) > 0 && len(data) <= mostPicture && slices.Contains(shown, mime) {
			v.Pictures = append(v.Pictures, template.URL("data:"+mime+";base64,"+base64.StdEncoding.EncodeToString(data)))
			continue
		}
		name := part.Name
		if name == "" {
			name = part.URI
		}
		v.Other = append(v.Other, strings.TrimSpace(fmt.Sprintf("%s %s %s", part.Kind, part.MIME, name)))
	}
	return p.ctx.Err()
}

func (p *page) call(c *Call) *callView {
	v := &callView{Tool: c.Tool, Subject: Subject(c), Outcome: string(c.Outcome), Word: word(c.Outcome), Whose: c.Untrusted}
	switch {
	case c.Took >= time.Second:
		v.Took = c.Took.Round(100 * time.Millisecond).String()
	case c.Took >= time.Millisecond:
		v.Took = c.Took.Round(time.Millisecond).String()
	}
	v.Args = pretty(c.Args)
	if d := c.Decision(); d != nil {
		v.By = map[tool.Verdict]string{tool.Allow: "Allowed", tool.Deny: "Denied", tool.Ask: "Asked"}[d.Verdict] + " by " + d.By
		if d.Reason != "" {
			v.By += ": " + d.Reason
		}
	}
	v.Text = strings.TrimRight(c.Text(), "\n")
	if len(v.Text) > mostText {
		v.Cut = len(v.Text) - mostText
		v.Text = strings.ToValidUTF8(v.Text[:mostText], "")
	}
	if diff := c.Meta().Diff; diff != "" {
		for l := range strings.Lines(diff) {
			if strings.HasPrefix(l, "diff ") || strings.HasPrefix(l, "index ") || len(Changed(c.Meta())) == 1 && kindOf(l) == "meta" {
				continue // the line above says which file it is
			}
			v.Diff = append(v.Diff, diffLine{kindOf(l), show.Text(strings.TrimSuffix(l, "\n"))})
		}
	}
	v.Open = len(v.Diff) > 0 && len(v.Diff) <= openLines || c.Outcome != agent.OK
	return v
}

func kindOf(line string) string {
	switch {
	case strings.HasPrefix(line, "@@"):
		return "hunk"
	case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "), strings.HasPrefix(line, "new file"), strings.HasPrefix(line, "deleted file"):
		return "meta"
	case strings.HasPrefix(line, "+"):
		return "add"
	case strings.HasPrefix(line, "-"):
		return "del"
	}
	return "same"
}

// word is what people read of an outcome.
func word(o agent.Outcome) string {
	switch o {
	case "":
		return "no result"
	case agent.OK:
		return "done"
	case agent.Error:
		return "failed"
	case agent.NotSure:
		return "outcome unknown"
	case agent.Lost:
		return "result lost"
	case agent.Skipped:
		return "not run"
	}
	return string(o)
}

func pretty(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s // it was no JSON
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

func when(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04:05 UTC") }

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// reader of Markdown: raw HTML in it is left out and addresses that run programs are, as goldmark does unless told otherwise;
// pictures, which a browser would fetch from anywhere, become links.
var toHTML = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(noPictures{}, 1))))

func markdown(s string) (template.HTML, error) {
	var b bytes.Buffer
	if err := toHTML.Convert([]byte(show.Text(s)), &b); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil
}

type noPictures struct{}

// RegisterFuncs is described at renderer.NodeRenderer.
func (noPictures) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindImage, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString("[picture: ")
		} else {
			_, _ = w.WriteString(" at " + template.HTMLEscapeString(string(n.(*ast.Image).Destination)) + "]")
		}
		return ast.WalkContinue, nil
	})
}
