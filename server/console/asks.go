package console

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/server/internal/core"
)

// asksData is what waits for a person. One is the ask that is shown alone and whole.
type asksData struct {
	Open    []core.Ask
	Tickets []core.Ask
	One     *core.Ask
	Media   map[string][]core.AskFile // pictures and workbooks that an ask would change
}

// filesOf returns the pictures and workbooks of asks. One that was answered meanwhile has none.
func (c *Console) filesOf(r *http.Request, asks ...core.Ask) (map[string][]core.AskFile, error) {
	out := map[string][]core.AskFile{}
	for _, a := range asks {
		m, err := c.core.AskMedia(r.Context(), a.ID)
		var refused *core.Error
		if err != nil && !errors.As(err, &refused) {
			return nil, err
		}
		out[a.ID] = m.Files
	}
	return out, nil
}

func (c *Console) asks(r *http.Request, p *page) error {
	all, err := c.core.Asks(r.Context())
	if err != nil {
		return err
	}
	files, err := c.filesOf(r, all.Open...)
	if err != nil {
		return err
	}
	p.Name, p.Title, p.Section, p.Live, p.Data = "asks", "Asks", "asks", "ask.opened ask.closed", asksData{Open: all.Open, Tickets: all.Tickets, Media: files}
	return nil
}

func (c *Console) ask(r *http.Request, p *page) error {
	a, err := c.core.Ask(r.Context(), r.PathValue("ask"))
	if err != nil {
		return err
	}
	files, err := c.filesOf(r, a)
	if err != nil {
		return err
	}
	p.Name, p.Title, p.Section, p.Data = "asks", "One ask, whole", "asks", asksData{One: &a, Media: files}
	return nil
}

// answeredData is what a person is told after an answer.
type answeredData struct {
	Ask      core.Ask
	Answered *core.Answered
	Problem  string
	Hunks    int
}

// answer passes on what somebody said. With htmx the reply is what came of it, for the list of answers of the page; a refusal
// goes to the ask itself, which stays as it is.
func (c *Console) answer(r *http.Request, p *page) error {
	id := r.PathValue("ask")
	if err := r.ParseForm(); err != nil {
		return invalid("the form could not be read; reload the page and answer again")
	}
	a, err := answerOf(r, c.cfg.Now())
	if err != nil {
		return err
	}
	shown, err := c.core.Ask(r.Context(), id)
	if err == nil {
		var done core.Answered
		if done, err = c.core.Answer(r.Context(), p.Who, id, a); err == nil {
			p.Name, p.Title, p.Section, p.Data = "asks", "Answered", "asks", answeredData{Ask: shown, Answered: &done, Hunks: len(done.Decision.Hunks)}
			if p.Part = "answered"; r.Header.Get("HX-Request") == "" {
				p.Goto = "/asks"
			}
			return nil
		}
	}
	var refused *core.Error
	if r.Header.Get("HX-Request") == "" || !errors.As(err, &refused) {
		return err
	}
	p.Name, p.Title, p.Part, p.Status, p.Data = "asks", "Not answered", "answered", statuses[refused.Kind], answeredData{Ask: shown, Problem: refused.Message}
	return nil
}

// answerOf reads an answer from a form.
func answerOf(r *http.Request, now time.Time) (core.Answer, error) {
	f := r.PostForm
	a := core.Answer{Fingerprint: f.Get("fingerprint")}
	if all, err := strconv.Atoi(f.Get("hunks")); err == nil && len(f["hunk"]) != all && (f.Get("answer") == "yes" || f.Get("answer") == "always") {
		return a, invalid(fmt.Sprintf("%d of %d edits are ticked, and the yes was for all; allow the ticked edits, or tick all of them", len(f["hunk"]), all))
	}
	switch f.Get("answer") {
	case "yes":
		a.Allow = true
	case "always":
		a.Allow, a.Scope = true, ask.Scope(f.Get("scope"))
		if a.Scope == "" {
			return a, invalid("choose how long the yes holds")
		}
		if hours := f.Get("hours"); a.Scope == ask.Until {
			n, err := strconv.ParseFloat(hours, 64)
			if err != nil || n <= 0 || n > 24*366 {
				return a, invalid("say for how many hours the yes holds: a number above 0")
			}
			a.Until = now.Add(time.Duration(n * float64(time.Hour)))
		}
	case "some":
		a.Allow, a.Words = true, f.Get("why")
		for _, h := range f["hunk"] {
			n, err := strconv.Atoi(h)
			if err != nil {
				return a, invalid("the form names a hunk that is no number; reload the page")
			}
			a.Hunks = append(a.Hunks, n)
		}
		slices.Sort(a.Hunks)
		if len(a.Hunks) == 0 {
			return a, invalid("no hunk is ticked; say no instead")
		}
	case "no":
	case "because":
		a.Words = f.Get("words")
	default:
		return a, invalid("the form says neither yes nor no; reload the page and answer again")
	}
	return a, nil
}
