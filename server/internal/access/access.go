// Package access says who may do what at the server: identities, roles, and the tokens that prove them.
//
// The one idea: a request is somebody's or it is nobody's, and this package decides which before anything else of the
// request is read. Roles are a ladder: an approver may do what a viewer may, an admin everything.
package access

import (
	"context"
	"fmt"
)

// Role is what somebody may do.
type Role string

// The roles, each with what it adds to the one before.
const (
	Viewer   Role = "viewer"   // sees everything
	Approver Role = "approver" // answers asks, takes changes back
	Admin    Role = "admin"    // makes calls, revokes grants, reloads policy, removes records, makes tokens
)

// Roles lists the roles, the least first.
var Roles = []Role{Viewer, Approver, Admin}

func (r Role) rank() int {
	for i, o := range Roles {
		if o == r {
			return i + 1
		}
	}
	return 0
}

// Reaches reports whether the role may do what want may.
func (r Role) Reaches(want Role) bool { return r.rank() > 0 && r.rank() >= want.rank() }

// Check reports a role that does not exist.
func (r Role) Check() error {
	if r.rank() == 0 {
		return fmt.Errorf("role %q: want viewer, approver or admin", string(r))
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

type identityKey struct{}

// With returns a context that carries who makes the request.
func With(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, id)
}

// From returns who makes the request, and whether that is known.
func From(ctx context.Context) (Identity, bool) {
	id, ok := ctx.Value(identityKey{}).(Identity)
	return id, ok
}
