package console

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/server/internal/access"
	"github.com/tackle-dev/tackle/server/internal/core"
)

// toolGroup are the tools of a category.
type toolGroup struct {
	Name  string
	Tools []core.Tool
}

// toolsData is the catalogue.
type toolsData struct {
	Mode   string
	Modes  []string
	Groups []toolGroup
	Count  int
}

func (c *Console) tools(r *http.Request, p *page) error {
	all, err := c.core.Tools(r.URL.Query().Get("mode"))
	if err != nil {
		return err
	}
	d := toolsData{Mode: all.Mode, Modes: all.Modes, Count: len(all.Tools)}
	place := map[string]int{}
	for _, t := range all.Tools {
		i, ok := place[t.Category]
		if !ok {
			i, place[t.Category] = len(d.Groups), len(d.Groups)
			d.Groups = append(d.Groups, toolGroup{Name: t.Category})
		}
		d.Groups[i].Tools = append(d.Groups[i].Tools, t)
	}
	p.Name, p.Title, p.Section, p.Data = "tools", "Tools", "tools", d
	return nil
}

// toolData is one tool and the form to try it.
type toolData struct {
	Tool    core.Tool
	Mode    string
	JSON    bool // the arguments are one field of JSON
	Args    string
	Fields  []field
	Problem string
	Tried   *core.Tried
}

func (c *Console) tool(r *http.Request, p *page) error {
	q := r.URL.Query()
	t, err := c.core.Tool(r.PathValue("tool"), q.Get("mode"))
	if err != nil {
		return err
	}
	args := map[string]any{}
	if q.Get("example") != "" {
		args = exampleOf(&t)
	}
	c.showTool(p, &t, q.Get("mode"), q.Get("as") == "json", args, nil)
	return nil
}

// showTool makes the page of a tool with arguments filled in.
func (c *Console) showTool(p *page, t *core.Tool, mode string, asJSON bool, args map[string]any, problems map[string]string) *toolData {
	d := &toolData{Tool: *t, Mode: mode, JSON: asJSON || t.Schema == nil, Args: pretty([]byte(written(args)))}
	if t.Schema != nil {
		d.Fields = fieldsOf(t.Schema, "", args, exampleOf(t), problems)
	}
	p.Name, p.Title, p.Section, p.Data = "tool", t.Name, "tools", d
	return d
}

func exampleOf(t *core.Tool) map[string]any {
	v, err := readJSON(string(t.Example))
	m, _ := v.(map[string]any)
	if err != nil || m == nil {
		return map[string]any{}
	}
	return m
}

// tryTool does what the form of a tool says: shows what a call would do, makes it, or shows the form with a row more or less.
func (c *Console) tryTool(r *http.Request, p *page) error {
	if err := r.ParseForm(); err != nil {
		return invalid("the form could not be read; reload the page and try again")
	}
	f := r.PostForm
	t, err := c.core.Tool(r.PathValue("tool"), f.Get("mode"))
	if err != nil {
		return err
	}
	asJSON := f.Get("as") == "json" || t.Schema == nil
	args, problems := argsFrom(&t, asJSON, f)
	action, at, _ := strings.Cut(f.Get("action"), ":")
	switch action {
	case "add":
		addRow(args, at)
	case "remove":
		removeRow(args, at)
	case "as-json":
		asJSON = true
	case "as-form":
		asJSON = false
	}
	d := c.showTool(p, &t, f.Get("mode"), asJSON, args, problems)
	if len(problems) > 0 {
		p.Status, d.Problem = http.StatusUnprocessableEntity, "Some fields cannot be read; they say why."
		if asJSON {
			d.Problem, d.Args = problems[""], f.Get("args")
		}
		return nil
	}
	if action != "plan" && action != "run" {
		return nil
	}
	body, err := json.Marshal(args)
	if err != nil {
		return err
	}
	in := core.CallInput{Tool: t.Name, Args: body, Mode: f.Get("mode"), Plan: action == "plan"}
	if in.Plan {
		tried, err := c.core.Try(r.Context(), p.Who, in)
		d.Tried = &tried
		return d.refused(p, err)
	}
	tried, err := c.begin(r.Context(), p.Who, in)
	if err := d.refused(p, err); err != nil || p.Status != http.StatusOK {
		return err
	}
	p.Goto = link("/sessions", tried.Session) + link("/calls", tried.Call) + "?new=1"
	return nil
}

// refused shows a refusal beside the form; other errors stay.
func (d *toolData) refused(p *page, err error) error {
	var no *core.Error
	if !errors.As(err, &no) {
		return err
	}
	p.Status, d.Problem, d.Tried = statuses[no.Kind], no.Message, nil
	return nil
}

func argsFrom(t *core.Tool, asJSON bool, f url.Values) (map[string]any, map[string]string) {
	if !asJSON {
		return argsOf(t.Schema, f)
	}
	v, err := readJSON(f.Get("args"))
	if err != nil {
		return map[string]any{}, map[string]string{"": err.Error()}
	}
	m, ok := v.(map[string]any)
	if !ok {
		return map[string]any{}, map[string]string{"": "the arguments must be one JSON object: {…}"}
	}
	return m, map[string]string{}
}

// patience is how long a page waits for what it has begun before it shows it as it goes on.
const patience = 1500 * time.Millisecond

// begin makes a call that nobody waits for, and returns when it is recorded, asks, or goes on for a while: so that the page
// of the call has something to show.
func (c *Console) begin(ctx context.Context, who access.Identity, in core.CallInput) (core.Tried, error) {
	sub, err := c.core.Subscribe(ctx, core.Subscription{After: core.FromNow})
	if err != nil {
		return core.Tried{}, err
	}
	defer sub.Close()
	in.Detach = true
	tried, err := c.core.Try(ctx, who, in)
	if err != nil {
		return tried, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		evs, err := sub.Next(ctx)
		if err != nil {
			return tried, nil // it goes on; its page will follow it
		}
		for _, e := range evs {
			if e.Call == tried.Call && (e.Type == core.CallEnded || e.Type == core.AskOpened) {
				return tried, nil
			}
		}
	}
}
