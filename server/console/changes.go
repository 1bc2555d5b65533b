package console

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/tackle-dev/tackle/server/internal/core"
)

// changesData is the list of changes.
type changesData struct {
	core.Changes
	Of    string // the session that they are of
	Older string
}

func (c *Console) changes(r *http.Request, p *page) error {
	before, err := timeParam(r, "before")
	if err != nil {
		return err
	}
	of := r.URL.Query().Get("session")
	list, err := c.core.Changes(r.Context(), core.ChangeQuery{Session: of, Before: before, Limit: 50})
	if err != nil {
		return err
	}
	d := changesData{Changes: list, Of: of}
	if list.More {
		d.Older = withQuery("/changes", "before", list.Changes[len(list.Changes)-1].At, "session", of)
	}
	p.Name, p.Title, p.Section, p.Data = "changes", "Changes", "changes", d
	if before.IsZero() {
		p.Live = "call.ended"
	}
	return nil
}

// undoData is what taking back would do, or has done.
type undoData struct {
	Session, Call string
	Last, Merge   bool
	Tried         *core.Tried
	Planned       bool // nothing was done yet
	Asked         bool // policy asks a person first
}

// undoTime bounds how long an undo waits for a person.
const undoTime = 15 * time.Minute

func (c *Console) undo(r *http.Request, p *page) error {
	if err := r.ParseForm(); err != nil {
		return invalid("the form could not be read; reload the page and try again")
	}
	f := r.PostForm
	in := core.UndoInput{Session: f.Get("session"), Call: f.Get("call"), Last: f.Get("last") != "", Merge: f.Get("merge") != "", Plan: f.Get("step") != "do"}
	d := &undoData{Session: in.Session, Call: in.Call, Last: in.Last, Merge: in.Merge, Planned: in.Plan}
	p.Name, p.Title, p.Section, p.Data = "undo", "Take changes back", "changes", d
	if r.Header.Get("HX-Request") != "" {
		p.Part = "undone"
	}
	if in.Plan {
		tried, err := c.core.Undo(r.Context(), p.Who, in)
		d.Tried = &tried
		return err
	}
	done := make(chan error, 1)
	var tried core.Tried
	c.wg.Go(func() { // it goes on where the person looks at something else meanwhile, such as what policy asks about it
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), undoTime)
		defer cancel()
		defer context.AfterFunc(c.ctx, cancel)()
		var err error
		tried, err = c.core.Undo(ctx, p.Who, in)
		if err != nil && !errors.Is(err, context.Canceled) {
			c.cfg.Log.Warn("undo", "err", err)
		}
		done <- err
	})
	wait := time.NewTimer(2 * patience)
	defer wait.Stop()
	select {
	case err := <-done:
		d.Tried = &tried
		return err
	case <-wait.C:
		d.Asked = true
		return nil
	}
}
