package console

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/tackle-dev/tackle/server/internal/core"
)

// liveCalls are the events that change what pages about calls show.
const liveCalls = "call.started call.ended ask.opened ask.closed session.removed"

// homeData is what happens now.
type homeData struct {
	Asks     core.Asks
	Recent   core.Calls
	Running  []core.Call
	Sessions core.Sessions
	Connect  []Connection
}

func (c *Console) home(r *http.Request, p *page) error {
	ctx := r.Context()
	var d homeData
	var err error
	if d.Asks, err = c.core.Asks(ctx); err != nil {
		return err
	}
	if d.Sessions, err = c.core.Sessions(ctx, core.SessionQuery{Limit: 6}); err != nil {
		return err
	}
	recent, err := c.core.Recent(ctx, 20)
	if err != nil {
		return err
	}
	for _, call := range recent.Calls {
		switch call.State {
		case core.Asking: // it stands above
		case core.Running:
			d.Running = append(d.Running, call)
		default:
			d.Recent.Calls = append(d.Recent.Calls, call)
		}
	}
	d.Connect = c.cfg.Connect
	p.Name, p.Title, p.Section, p.Live, p.Data = "home", "Now", "now", liveCalls, d
	return nil
}

// sessionsData is the list of sessions.
type sessionsData struct {
	core.Sessions
	Older   string // address of the next page
	Connect []Connection
}

func (c *Console) sessions(r *http.Request, p *page) error {
	before, err := timeParam(r, "before")
	if err != nil {
		return err
	}
	list, err := c.core.Sessions(r.Context(), core.SessionQuery{Limit: 50, Before: before})
	if err != nil {
		return err
	}
	d := sessionsData{Sessions: list, Connect: c.cfg.Connect}
	if list.More {
		d.Older = withQuery("/sessions", "before", list.Sessions[len(list.Sessions)-1].Updated)
	}
	p.Name, p.Title, p.Section, p.Data = "sessions", "Sessions", "sessions", d
	if before.IsZero() {
		p.Live = liveCalls
	}
	return nil
}

// sessionData is one session and a page of its calls, newest first.
type sessionData struct {
	Session core.Session
	Calls   []core.Call
	Tool    string
	State   string
	Older   string
	Newest  bool // the page holds the newest calls
	States  []core.State
	Media   int // how many files it works with
}

func (c *Console) session(r *http.Request, p *page) error {
	q := r.URL.Query()
	id := r.PathValue("session")
	s, err := c.core.Session(r.Context(), id)
	if err != nil {
		return err
	}
	before, err := numberParam(r, "before")
	if err != nil {
		return err
	}
	query := core.CallQuery{Session: id, Tool: q.Get("tool"), State: core.State(q.Get("state")), Before: before, Limit: 100}
	calls, err := c.core.Calls(r.Context(), query)
	if err != nil {
		return err
	}
	d := sessionData{Session: s, Tool: query.Tool, State: q.Get("state"), Newest: before == 0,
		States: []core.State{core.Running, core.Asking, core.OK, core.Failed, core.Denied, core.Unknown}}
	for i := range calls.Calls {
		d.Calls = append(d.Calls, calls.Calls[len(calls.Calls)-1-i])
	}
	if calls.More {
		d.Older = withQuery(link("/sessions", id), "before", calls.Calls[0].Seq, "tool", d.Tool, "state", d.State)
	}
	files, err := c.core.Media(r.Context(), core.MediaQuery{Session: id})
	if err != nil {
		return err
	}
	d.Media = len(files.Media)
	p.Name, p.Title, p.Section, p.Data = "session", "Session "+id, "sessions", d
	if before == 0 {
		p.Live, p.Session = liveCalls, id
	}
	return nil
}

// callData is one call whole.
type callData struct {
	Call    core.CallDetail
	Asks    []core.Ask // that are open
	Waiting bool       // it was begun here and is not recorded yet
	Session string
	Whole   bool
	Media   []core.Media // that it made
}

func (c *Console) call(r *http.Request, p *page) error {
	session, id := r.PathValue("session"), r.PathValue("call")
	d := callData{Session: session, Whole: r.URL.Query().Get("whole") != ""}
	p.Name, p.Section, p.Live, p.Session = "call", "sessions", liveCalls, session
	call, err := c.core.CallByID(r.Context(), session, id)
	var refused *core.Error
	if errors.As(err, &refused) && refused.Kind == core.NotFound && r.URL.Query().Get("new") != "" {
		p.Title, d.Waiting, p.Data = "A call that has just begun", true, d
		return nil
	}
	if err != nil {
		return err
	}
	d.Call = call
	if call.State == core.Asking {
		asks, err := c.core.Asks(r.Context())
		if err != nil {
			return err
		}
		for _, a := range asks.Open {
			if a.Call == id && a.Session == session {
				d.Asks = append(d.Asks, a)
			}
		}
	}
	if d.Media, err = c.core.MadeBy(r.Context(), &call); err != nil {
		return err
	}
	if call.State != core.Running && call.State != core.Asking {
		p.Live = "" // nothing will change
		if call.Undoable {
			p.Live = "call.ended"
		}
	}
	p.Title, p.Data = call.Tool, d
	return nil
}

func timeParam(r *http.Request, name string) (time.Time, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return t, invalid("the address names a time that cannot be read; follow the links of the page")
	}
	return t, nil
}

func numberParam(r *http.Request, name string) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, invalid("the address names a number that cannot be read; follow the links of the page")
	}
	return n, nil
}

func invalid(message string) error { return &core.Error{Kind: core.Invalid, Message: message} }
