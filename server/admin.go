package server

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/tackle-dev/tackle/server/internal/access"
	"github.com/tackle-dev/tackle/server/internal/core"
)

// NewToken asks for a token.
type NewToken struct {
	Name    string `json:"name" jsonschema:"who holds it"`
	Role    Role   `json:"role" jsonschema:"viewer, approver, admin or agent"`
	Program bool   `json:"program,omitempty" jsonschema:"no person stands behind it"`
	Hours   int    `json:"hours,omitempty" jsonschema:"until it expires; 0 is never"`
}

// MadeToken is a new token with its secret, which is shown this once.
type MadeToken struct {
	Token
	Secret string `json:"secret" jsonschema:"shown this once"`
}

// Tokens lists the tokens of the store.
type Tokens struct {
	Tokens []Token `json:"tokens"`
}

// NewCode asks for a code that logs somebody in at the console.
type NewCode struct {
	Name string `json:"name,omitempty" jsonschema:"default: who asks"`
	Role Role   `json:"role,omitempty" jsonschema:"at most that of who asks, which is the default"`
}

// MadeCode is a code.
type MadeCode struct {
	Code    string    `json:"code"`
	Path    string    `json:"path" jsonschema:"to open in a browser at this server"`
	Expires time.Time `json:"expires"`
}

// PurgeInput selects what to remove.
type PurgeInput struct {
	Sessions []string `json:"sessions,omitempty" jsonschema:"these"`
	Hours    int      `json:"hours,omitempty" jsonschema:"those that were not used for so many hours"`
	Plan     bool     `json:"plan,omitempty" jsonschema:"only say what would be removed"`
}

// Copy describes a copy of the database.
type Copy struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
}

// administration lists the operations of admins.
func (s *Server) administration() []route {
	return []route{
		act(http.MethodGet, "/api/tokens", "tokens", "access", "The tokens of the store, without their secrets", Admin,
			func(r *http.Request, _ Identity, _ none) (Tokens, error) {
				list, err := s.keys.Tokens(r.Context())
				if list == nil {
					list = []Token{}
				}
				return Tokens{list}, err
			}),
		act(http.MethodPost, "/api/tokens", "createToken", "access", "Make a token", Admin, s.createToken),
		act(http.MethodDelete, "/api/tokens/{token}", "revokeToken", "access", "Void a token, and the logins that came from it", Admin, s.revokeToken),
		act(http.MethodPost, "/api/codes", "createCode", "access", "Make a code that logs a person in at the console, once", Viewer, s.createCode),
		act(http.MethodPost, "/api/purge", "purge", "server", "Remove sessions for good, and artifacts that have expired; the ledger stays", Admin, s.purge),
		act(http.MethodDelete, "/api/sessions/{session}", "removeSession", "sessions", "Remove a session for good; the ledger stays", Admin,
			func(r *http.Request, who Identity, _ none) (core.Purged, error) {
				return s.purge(r, who, PurgeInput{Sessions: []string{r.PathValue("session")}})
			}),
		act(http.MethodPost, "/api/backup", "backup", "server", "Copy the database to a new file in the state folder; blobs are not in it", Admin, s.backup),
	}
}

func (s *Server) me(w http.ResponseWriter, r *http.Request) error {
	return reply(w, http.StatusOK, access.From(r.Context()))
}

func (s *Server) createToken(r *http.Request, who Identity, b NewToken) (MadeToken, error) {
	const most = 100 * 365 * 24
	if b.Hours < 0 || b.Hours > most {
		return MadeToken{}, invalid("hours: want 0 to %d", most)
	}
	if err := access.CheckName(b.Name); err != nil {
		return MadeToken{}, invalid("%v", err)
	}
	if err := b.Role.Check(); err != nil {
		return MadeToken{}, invalid("%v", err)
	}
	secret, t, err := s.keys.Create(r.Context(), Token{Name: b.Name, Role: b.Role, Program: b.Program, By: who.String()}, time.Duration(b.Hours)*time.Hour)
	if err != nil {
		return MadeToken{}, err
	}
	return MadeToken{t, secret}, s.cfg.Box.Note(r.Context(), who.String(), fmt.Sprintf("made token %s for %s (%s)", t.ID, t.Name, t.Role))
}

func (s *Server) revokeToken(r *http.Request, who Identity, _ none) (Done, error) {
	id := r.PathValue("token")
	was, err := s.keys.Revoke(r.Context(), id)
	if err != nil {
		return Done{}, err
	}
	if !was {
		return Done{}, &core.Error{Kind: core.NotFound, Message: fmt.Sprintf("there is no token %q", id)}
	}
	return Done{true}, s.cfg.Box.Note(r.Context(), who.String(), "revoked token "+id)
}

// codeAgain makes a code for who is logged in at the console already.
func (s *Server) codeAgain(r *http.Request, who Identity) (code, path string, expires time.Time, err error) {
	made, err := s.createCode(r, who, NewCode{})
	return made.Code, made.Path, made.Expires, err
}

func (s *Server) createCode(r *http.Request, who Identity, b NewCode) (MadeCode, error) {
	id := Identity{Name: b.Name, Role: b.Role}
	if id.Name == "" {
		id.Name = who.Name
	}
	if id.Role == "" {
		id.Role = who.Role
	}
	switch {
	case who.Program:
		return MadeCode{}, &core.Error{Kind: core.Forbidden, Message: "the token of a program makes no codes for people"}
	case id.Role.Check() != nil || !who.Role.Reaches(id.Role):
		return MadeCode{}, &core.Error{Kind: core.Forbidden, Message: fmt.Sprintf("%s has the role %s and makes no codes for the role %q", who.Name, who.Role, id.Role)}
	case id.Name != who.Name && who.Role != Admin:
		return MadeCode{}, &core.Error{Kind: core.Forbidden, Message: "only an admin makes codes for others"}
	}
	if err := access.CheckName(id.Name); err != nil {
		return MadeCode{}, invalid("%v", err)
	}
	code, expires, err := s.keys.Code(r.Context(), id, access.PassOf(r.Context()).Token)
	if err != nil {
		return MadeCode{}, err
	}
	return MadeCode{Code: code, Path: "/login?code=" + code, Expires: expires}, s.cfg.Box.Note(r.Context(), who.String(), fmt.Sprintf("made a code for %s (%s)", id.Name, id.Role))
}

func (s *Server) purge(r *http.Request, who Identity, b PurgeInput) (core.Purged, error) {
	if len(b.Sessions) == 0 && b.Hours <= 0 {
		return core.Purged{}, invalid("say what to remove: sessions, or a number of hours")
	}
	return s.core.Purge(r.Context(), who, core.PurgeInput{Sessions: b.Sessions, Unused: time.Duration(b.Hours) * time.Hour, Plan: b.Plan})
}

func (s *Server) backup(r *http.Request, who Identity, _ none) (Copy, error) {
	path, err := s.core.Backup(r.Context())
	if err != nil {
		return Copy{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return Copy{}, err
	}
	return Copy{Path: path, Size: info.Size()}, s.cfg.Box.Note(r.Context(), who.String(), "copied the database to "+filepath.Base(path))
}

// keepHouse removes what has expired, at the start and once an hour.
func (s *Server) keepHouse(ctx context.Context) {
	every := time.NewTicker(time.Hour)
	defer every.Stop()
	for {
		if err := s.tidy(ctx); err != nil && ctx.Err() == nil {
			s.cfg.Log.Error("remove what has expired", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

// tidy removes codes and logins that have expired, and sessions that were not used for as long as they are kept.
func (s *Server) tidy(ctx context.Context) error {
	if err := s.keys.Sweep(ctx); err != nil || s.cfg.Keep == 0 {
		return err
	}
	_, err := s.core.Purge(ctx, Identity{Name: "retention", Role: Admin, Program: true}, core.PurgeInput{Unused: s.cfg.Keep})
	return err
}
