package tool

import (
	"fmt"
	"time"
)

// Verdict is allow, deny or ask.
type Verdict uint8

// The verdicts, strictest last.
const (
	Allow Verdict = iota
	Ask
	Deny
)

func (v Verdict) String() string { return [...]string{"allow", "ask", "deny"}[v] }

// MarshalText writes the name of the verdict.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the name of a verdict.
func (v *Verdict) UnmarshalText(b []byte) error {
	switch string(b) {
	case "allow":
		*v = Allow
	case "ask":
		*v = Ask
	case "deny":
		*v = Deny
	default:
		return fmt.Errorf("verdict %q: want allow, deny or ask", b)
	}
	return nil
}

// Decision is the answer of policy, or of a person, to an intent.
type Decision struct {
	Verdict Verdict `json:"verdict"`
	// By names what decided: "rule user:3", "guard protected-names", "posture guarded", "person", "--approve always".
	By string `json:"by"`
	// Reason is for the model when the verdict is deny, and for the person when it is ask.
	Reason string `json:"reason,omitempty"`
	// Person says that a human saw the preview: from then on any change of the files is STALE (T5).
	Person bool `json:"person,omitempty"`
	// Hunks are the 1-based numbers of the approved hunks; nil approves all of them (P9).
	Hunks []int `json:"hunks,omitempty"`
	// Denied maps the number of a denied hunk to the person's words.
	Denied map[int]string `json:"denied,omitempty"`
	// Fingerprint is that of the intent that was decided.
	Fingerprint string    `json:"fingerprint"`
	Shown       string    `json:"shown,omitempty"`  // digest of what a person was shown
	Ticket      string    `json:"ticket,omitempty"` // of an ask that is still open
	At          time.Time `json:"at,omitzero"`
}

// Denial is a refused call. It is text for the model and a type of its own, so that no face mistakes it for a failure.
type Denial struct {
	Decision Decision
	Tool     string
	Message  string // what was refused and what the model can do now
}

func (d *Denial) Error() string { return d.Message }

// AsError renders the denial as the error value that results carry: PERMISSION_DENIED.
func (d *Denial) AsError() *Error {
	e := &Error{Code: PermissionDenied, Message: d.Message, Hint: "Do not repeat the call. Take another way, or ask the person who runs this session to allow it."}
	if d.Decision.Ticket != "" {
		e.Hint = "Go on with other work, or ask the person who runs this session; the call will pass only after they have allowed it."
	}
	return e
}
