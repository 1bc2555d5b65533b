package ask

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

// Question is what a call asks. The intent is sealed.
type Question struct {
	permission.Request
	Policy tool.Decision // the ask of policy
	Hunks  int           // how many hunks can be approved one by one; 0 where none
	// Faces may answer this ask only, beside those of the queue.
	Faces []Face
}

// Request is one ask as faces see it. It is plain data; nobody changes it once it is open. Its JSON holds no secret of the
// environment.
type Request struct {
	ID         string `json:"id"`
	Tool       string `json:"tool"`
	Permission string `json:"permission"`
	Session    string `json:"session,omitempty"`
	Turn       string `json:"turn,omitempty"`
	Mode       string `json:"mode,omitempty"`
	Call       string `json:"call,omitempty"`

	// Fingerprint binds the answer to what was shown; an answer names it.
	Fingerprint string       `json:"fingerprint"`
	Intent      *tool.Intent `json:"-"` // nil in a ticket; not masked, not escaped

	By     string  `json:"by"` // what asks: the rule, guard or posture
	Hunks  int     `json:"hunks,omitempty"`
	Offers []Offer `json:"offers"` // how long a yes may hold; "once" is always among them
	// Asks are the exact targets that policy asks about, where they can be granted: not escaped, never for showing.
	Asks []string `json:"asks,omitempty"`
	// Dir is the folder that a command would run in: a yes that holds longer holds for the same line there.
	Dir string `json:"dir,omitempty"`
	// Scripts names the scripts that it would run, as they are: a yes that holds longer holds while they stay as they are.
	Scripts string `json:"scripts,omitempty"`
	// PersonOnly says that a guard asks, so that only a named person can say yes.
	PersonOnly bool `json:"personOnly,omitempty"`

	View  View   `json:"view"`  // what is shown
	Shown string `json:"shown"` // digest of View, for the record

	Asked   time.Time `json:"asked"`
	Expires time.Time `json:"expires"`
}

// Scope says how long a yes holds.
type Scope string

// The scopes of answers.
const (
	Once    Scope = "once"    // this call
	Turn    Scope = "turn"    // the same targets, until the turn ends
	Session Scope = "session" // the same targets, until the session ends
	Like    Scope = "like"    // what the offered patterns cover, until the session ends
	Project Scope = "project" // the same targets, in this project
	Always  Scope = "always"  // what the offered patterns cover, in this project
	Until   Scope = "until"   // the same targets, in this project, until Answer.Until
)

// Offer is one way in which a yes may hold.
type Offer struct {
	Scope    Scope    `json:"scope"`
	Patterns []string `json:"patterns,omitempty"` // of Like and Always: what is allowed from then on
	Says     string   `json:"says"`               // in words, escaped
}

// Approver says who answered and where.
type Approver struct {
	Name string `json:"name,omitempty"` // of the person; "" is a program
	Face string `json:"face,omitempty"` // "terminal", "console", "mcp", …
}

// String returns "person ada (terminal)", or "program (go)".
func (a Approver) String() string {
	s := "program"
	if a.Name != "" {
		s = "person " + a.Name
	}
	if a.Face != "" {
		s += " (" + a.Face + ")"
	}
	return s
}

// Answer is what somebody says to a request.
type Answer struct {
	Allow bool  `json:"allow"`
	Scope Scope `json:"scope,omitempty"` // default once
	// Until ends a Project, Always or Until answer; required for Until.
	Until time.Time `json:"until,omitzero"`
	// Hunks are the numbers of the hunks that are allowed, from 1; nil allows all. Only with once (P9).
	Hunks []int `json:"hunks,omitempty"`
	// Denied holds words about single hunks that are not allowed. Optional.
	Denied map[int]string `json:"denied,omitempty"`
	Words  string         `json:"words,omitempty"` // for the model
	// Fingerprint is that of the request that the answerer saw.
	Fingerprint string `json:"fingerprint"`
	// Session, where not empty, must be that of the request.
	Session  string   `json:"session,omitempty"`
	Approver Approver `json:"approver"`
}

// The ways in which an answer is refused; test with errors.Is.
var (
	ErrUnknown    = errors.New("there is no such ask")
	ErrAnswered   = errors.New("the ask was answered already")
	ErrExpired    = errors.New("the time to answer is over")
	ErrEnded      = errors.New("the call has ended")
	ErrOther      = errors.New("the answer belongs to something else")
	ErrNotOffered = errors.New("the answer is not offered")
)

// check reports why an answer does not fit the request.
func (r *Request) check(a *Answer) error {
	bad := func(kind error, format string, args ...any) error {
		return fmt.Errorf("ask %s: %w: %s", r.ID, kind, fmt.Sprintf(format, args...))
	}
	switch {
	case a.Session != "" && a.Session != r.Session:
		return bad(ErrOther, "it comes from session %q, the ask is of another one", a.Session)
	case a.Fingerprint == "":
		return bad(ErrOther, "it names no fingerprint, so it is not known what was shown")
	case a.Fingerprint != r.Fingerprint:
		return bad(ErrOther, "what was shown is not what is asked (fingerprint %.12s, not %.12s)", a.Fingerprint, r.Fingerprint)
	}
	if !a.Allow {
		if a.Hunks != nil || a.Scope != "" && a.Scope != Once || !a.Until.IsZero() {
			return bad(ErrNotOffered, "a no holds for this call and all of its hunks; write a rule to deny more")
		}
		return nil
	}
	if r.PersonOnly && a.Approver.Name == "" {
		return bad(ErrNotOffered, "%s asks, so only a person can say yes", r.By)
	}
	if err := r.checkScope(a, bad); err != nil {
		return err
	}
	return r.checkHunks(a, bad)
}

func (r *Request) checkScope(a *Answer, bad func(error, string, ...any) error) error {
	if r.offer(a.Scope) == nil {
		var names []string
		for _, o := range r.Offers {
			names = append(names, string(o.Scope))
		}
		return bad(ErrNotOffered, "scope %q; offered are %s", a.Scope, strings.Join(names, ", "))
	}
	switch a.Scope {
	case Until:
		if a.Until.IsZero() {
			return bad(ErrNotOffered, "until needs a time")
		}
	case Project, Always:
	default:
		if !a.Until.IsZero() {
			return bad(ErrNotOffered, "a time to end with belongs to the scopes until, project and always")
		}
	}
	return nil
}

func (r *Request) checkHunks(a *Answer, bad func(error, string, ...any) error) error {
	if a.Hunks == nil {
		return nil
	}
	switch {
	case r.Hunks < 2:
		return bad(ErrNotOffered, "the call has no hunks that can be allowed one by one")
	case a.Scope != "" && a.Scope != Once:
		return bad(ErrNotOffered, "single hunks can be allowed once, not for the scope %s", a.Scope)
	case len(a.Hunks) == 0:
		return bad(ErrNotOffered, "no hunk is allowed; say no instead")
	}
	for i, h := range a.Hunks {
		if h < 1 || h > r.Hunks || slices.Contains(a.Hunks[:i], h) {
			return bad(ErrNotOffered, "hunk %d; there are 1 to %d, each once", h, r.Hunks)
		}
	}
	return nil
}

// offer returns the offer of a scope, or nil.
func (r *Request) offer(s Scope) *Offer {
	if s == "" {
		s = Once
	}
	for i := range r.Offers {
		if r.Offers[i].Scope == s {
			return &r.Offers[i]
		}
	}
	return nil
}

// Offered reports whether a yes may hold for a scope, and how.
func (r *Request) Offered(s Scope) (Offer, bool) {
	if o := r.offer(s); o != nil {
		return *o, true
	}
	return Offer{}, false
}

// decision is what an answer means for the call.
func (r *Request) decision(a *Answer, at time.Time) tool.Decision {
	d := tool.Decision{Verdict: tool.Deny, By: a.Approver.String(), Reason: a.Words, Person: a.Approver.Name != "",
		Fingerprint: r.Fingerprint, Shown: r.Shown, At: at}
	if !a.Allow {
		return d
	}
	d.Verdict = tool.Allow
	if a.Hunks == nil {
		return d
	}
	d.Hunks = slices.Sorted(slices.Values(a.Hunks))
	d.Denied = map[int]string{}
	for n := 1; n <= r.Hunks; n++ {
		if !slices.Contains(a.Hunks, n) {
			words := a.Denied[n]
			if words == "" {
				words = a.Words
			}
			d.Denied[n] = words
		}
	}
	return d
}
