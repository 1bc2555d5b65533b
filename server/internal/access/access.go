// Package access says who may do what at the server: identities, roles, and the tokens that prove them.
//
// The one idea: a request is somebody's or it is nobody's, and this package decides which before anything else of the
// request is read. Roles are a ladder: an approver may do what a viewer may, an admin everything. Beside the ladder stands the
// agent, which makes calls and sees nothing of others: a program that could answer its own asks would need nobody.
package access

import (
	"context"
	"fmt"
	"slices"
)

// Role is what somebody may do.
type Role string

// The roles, each with what it adds to the one before.
const (
	Viewer   Role = "viewer"   // sees everything
	Approver Role = "approver" // answers asks, takes changes back
	Admin    Role = "admin"    // makes calls, revokes grants, reloads policy, removes records, makes tokens
	Agent    Role = "agent"    // makes calls, and nothing else
)

// reach says what each role may do: its own, and that of others.
var reach = map[Role][]Role{
	Viewer:   {Viewer},
	Approver: {Approver, Viewer},
	Admin:    {Admin, Approver, Viewer, Agent},
	Agent:    {Agent},
}

// Reaches reports whether the role may do what want may.
func (r Role) Reaches(want Role) bool { return slices.Contains(reach[r], want) }

// Check reports a role that does not exist.
func (r Role) Check() error {
	if reach[r] == nil {
		return fmt.Errorf("role %q: want viewer, approver, admin or agent", string(r))
	}
	return nil
}

// Identity is who makes a request.
type Identity struct {
	Name string `json:"name"`
	Role Role   `json:"role"`
	// Program says that no person stands behind it: its yes does not answer a guard, which needs a person.
	Program bool `json:"program,omitempty"`
	// Via is the face: "api", "console" or "mcp".
	Via string `json:"via,omitempty"`
}

// String returns the identity as the ledger writes it.
func (id Identity) String() string {
	kind := "person "
	if id.Program {
		kind = "program "
	}
	if id.Via == "" {
		return kind + id.Name
	}
	return kind + id.Name + " (" + id.Via + ")"
}

// Pass is what a request was let in by.
type Pass struct {
	Identity
	Token string // id of the token that it came with or from, "" where there is none
	CSRF  string // what a page sends with what it posts; "" where the request came with a token of its own
	// Valid says later whether the pass still holds; a stream asks now and then.
	Valid func(ctx context.Context) error
}

type passKey struct{}

// With returns a context that carries what the request was let in by.
func With(ctx context.Context, p *Pass) context.Context {
	return context.WithValue(ctx, passKey{}, p)
}

// From returns who makes the request. Behind a [Door] somebody always does; elsewhere it is nobody, who may nothing.
func From(ctx context.Context) Identity { return PassOf(ctx).Identity }

// PassOf returns what the request was let in by.
func PassOf(ctx context.Context) *Pass {
	if p, ok := ctx.Value(passKey{}).(*Pass); ok {
		return p
	}
	return &Pass{}
}

// CSRF returns what the pages of this request send with everything that they post: as the form field [CSRFField], or as the
// header [CSRFHeader].
func CSRF(ctx context.Context) string { return PassOf(ctx).CSRF }
