package console

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tackle-dev/tackle/server/internal/core"
)

// rulesData is the policy in force, and the answer to a question about it.
type rulesData struct {
	Rules    core.Rules
	Tools    []core.Tool
	Sessions []core.Session
	Tool     string
	Args     string
	Why      *core.Why
	Problem  string
	Dry      *core.DryRun
	DryOf    string
	Reloaded bool
}

func (c *Console) rulesPage(r *http.Request, p *page) (*rulesData, error) {
	d := &rulesData{}
	var err error
	if d.Rules, err = c.core.Rules(r.Context()); err != nil {
		return nil, err
	}
	all, err := c.core.Tools("")
	if err != nil {
		return nil, err
	}
	d.Tools = all.Tools
	sessions, err := c.core.Sessions(r.Context(), core.SessionQuery{Limit: 30})
	if err != nil {
		return nil, err
	}
	d.Sessions = sessions.Sessions
	p.Name, p.Title, p.Section, p.Data = "rules", "Rules", "rules", d
	return d, nil
}

func (c *Console) rules(r *http.Request, p *page) error {
	_, err := c.rulesPage(r, p)
	return err
}

// why answers what a call would get.
func (c *Console) why(r *http.Request, p *page) error {
	d, err := c.rulesPage(r, p)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	d.Tool, d.Args = q.Get("tool"), q.Get("args")
	if d.Tool == "" {
		return nil
	}
	in := core.WhyInput{Tool: d.Tool}
	if strings.TrimSpace(d.Args) != "" {
		v, err := readJSON(d.Args)
		if _, ok := v.(map[string]any); err != nil || !ok {
			p.Status, d.Problem = http.StatusBadRequest, `The arguments must be one JSON object, such as {"path": "main.go"}.`
			return nil
		}
		in.Args = json.RawMessage(d.Args)
	}
	w, err := c.core.Why(r.Context(), in)
	if err != nil {
		return err
	}
	d.Why = &w
	return nil
}

// dryRun asks policy again about the calls of a session.
func (c *Console) dryRun(r *http.Request, p *page) error {
	d, err := c.rulesPage(r, p)
	if err != nil {
		return err
	}
	d.DryOf = r.URL.Query().Get("session")
	if d.DryOf == "" {
		return nil
	}
	run, err := c.core.DryRun(r.Context(), d.DryOf)
	if err != nil {
		return err
	}
	d.Dry = &run
	return nil
}

func (c *Console) revoke(r *http.Request, p *page) error {
	if err := c.core.Revoke(r.Context(), p.Who, r.PostFormValue("grant")); err != nil {
		return err
	}
	p.Goto = "/rules#grants"
	return nil
}

func (c *Console) reload(r *http.Request, p *page) error {
	if _, err := c.core.Reload(r.Context(), p.Who); err != nil {
		return err
	}
	d, err := c.rulesPage(r, p)
	if err == nil {
		d.Reloaded = true
	}
	return err
}

// ledgerData is a page of the ledger, newest first.
type ledgerData struct {
	core.Ledger
	Older    string
	Verified *core.Verified
}

func (c *Console) ledger(r *http.Request, p *page) error {
	before, err := numberParam(r, "before")
	if err != nil {
		return err
	}
	l, err := c.core.Ledger(r.Context(), core.LedgerQuery{Before: before, Limit: 60})
	if err != nil {
		return err
	}
	d := &ledgerData{Ledger: l}
	if n := len(l.Entries); n > 0 && l.Entries[0].Seq > 1 {
		d.Older = withQuery("/ledger", "before", l.Entries[0].Seq)
	}
	for i, n := 0, len(l.Entries); i < n/2; i++ {
		l.Entries[i], l.Entries[n-1-i] = l.Entries[n-1-i], l.Entries[i]
	}
	p.Name, p.Title, p.Section, p.Data = "ledger", "Ledger", "ledger", d
	if before == 0 {
		p.Live = "ledger"
	}
	return nil
}

func (c *Console) verify(r *http.Request, p *page) error {
	if err := c.ledger(r, p); err != nil {
		return err
	}
	v, err := c.core.VerifyLedger(r.Context())
	if err != nil {
		return err
	}
	p.Data.(*ledgerData).Verified, p.Live = &v, ""
	return nil
}
