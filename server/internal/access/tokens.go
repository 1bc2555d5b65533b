package access

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/internal/show"
	"github.com/tackle-dev/tackle/internal/store"
)

// The spaces of the records. Keys are digests: who reads the store learns no secret.
const (
	tokenSpace = "server.token"
	codeSpace  = "server.code"
	loginSpace = "server.login"
)

// Times.
const (
	CodeTime  = 5 * time.Minute    // until a code that nobody used is void
	LoginTime = 7 * 24 * time.Hour // how long a login of the console holds
)

// Prefixes of secrets, so that one is recognised where it does not belong.
const (
	tokenPrefix = "tackle_"
	codePrefix  = "code_"
)

// ErrNobody says that a secret is nobody's: forged, revoked or expired.
var ErrNobody = errors.New("the token is not known, was revoked, or has expired")

// Store is what this package needs of a store.
type Store interface {
	store.Events
	store.Records
}

// Keys proves identities by secrets that are kept as digests. It is safe for concurrent use, also by several processes.
type Keys struct {
	store Store
	now   func() time.Time
}

// NewKeys returns the keys of a store. It touches nothing. A nil now means time.Now.
func NewKeys(s Store, now func() time.Time) *Keys {
	if now == nil {
		now = time.Now
	}
	return &Keys{s, now}
}

// Token describes a token. The secret is not in it.
type Token struct {
	ID      string    `json:"id"`
	Name    string    `json:"name" jsonschema:"who holds it: the ledger names answers by it"`
	Role    Role      `json:"role"`
	Program bool      `json:"program,omitempty" jsonschema:"no person stands behind it"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero" jsonschema:"absent: never"`
	By      string    `json:"by,omitempty" jsonschema:"who made it"`
}

// Identity returns who holds the token.
func (t *Token) Identity(via string) Identity {
	return Identity{Name: t.Name, Role: t.Role, Program: t.Program, Via: via}
}

// secret returns 32 random bytes as text.
func secret(prefix string) string {
	b := make([]byte, 32)
	rand.Read(b) // never fails
	return prefix + base64.RawURLEncoding.EncodeToString(b)
}

func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// CheckName reports a name that an identity cannot have: people will read it in the ledger.
func CheckName(name string) error {
	switch {
	case name == "" || len(name) > 64:
		return fmt.Errorf("name %.70q: want 1 to 64 bytes", name)
	case name != strings.TrimSpace(name) || name != show.Line(name):
		return fmt.Errorf("name %q: want one line of characters that can be seen", name)
	case strings.ContainsAny(name, "()"):
		return fmt.Errorf("name %q: parentheses stand for the face in the ledger", name)
	}
	return nil
}

// Create makes a token and returns its secret, which is shown once and never again. lifetime 0 is without end.
func (k *Keys) Create(ctx context.Context, t Token, lifetime time.Duration) (string, Token, error) {
	if err := cmp.Or(CheckName(t.Name), t.Role.Check()); err != nil {
		return "", t, fmt.Errorf("token: %w", err)
	}
	if lifetime < 0 {
		return "", t, fmt.Errorf("token: lifetime %v is negative", lifetime)
	}
	s := secret(tokenPrefix)
	key := digest(s)
	t.ID, t.Created = "t_"+key[:10], k.now().UTC()
	if t.Expires = (time.Time{}); lifetime > 0 {
		t.Expires = t.Created.Add(lifetime)
	}
	return s, t, k.set(ctx, tokenSpace, key, t)
}

func (k *Keys) set(ctx context.Context, space, key string, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return k.store.Set(ctx, store.Record{Space: space, Key: key, Body: body})
}

// get reads a record. It reports false where there is none. The key is a digest, so that the time of the look-up says nothing
// about the secret.
func (k *Keys) get(ctx context.Context, space, key string, v any) (bool, error) {
	r, err := k.store.Get(ctx, space, key)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, json.Unmarshal(r.Body, v)
}

// Token returns the token of a secret. Errors: ErrNobody, and those of the store.
func (k *Keys) Token(ctx context.Context, secret string) (Token, error) {
	var t Token
	ok, err := k.get(ctx, tokenSpace, digest(secret), &t)
	if err != nil {
		return t, err
	}
	if !ok || expired(t.Expires, k.now()) {
		return Token{}, ErrNobody
	}
	return t, nil
}

func expired(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

// Tokens lists the tokens, oldest first, also those that have expired.
func (k *Keys) Tokens(ctx context.Context) ([]Token, error) {
	recs, err := k.store.List(ctx, tokenSpace, store.RecordQuery{})
	if err != nil {
		return nil, err
	}
	out := make([]Token, 0, len(recs))
	for _, r := range recs {
		var t Token
		if err := json.Unmarshal(r.Body, &t); err != nil {
			return nil, fmt.Errorf("token %.10s: %w", r.Key, err)
		}
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b Token) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	return out, nil
}

// Revoke voids a token, given by its id, and the logins that came from it. It reports whether there was one.
func (k *Keys) Revoke(ctx context.Context, id string) (bool, error) {
	short, ok := strings.CutPrefix(id, "t_")
	if !ok || len(short) != 10 {
		return false, nil
	}
	recs, err := k.store.List(ctx, tokenSpace, store.RecordQuery{Prefix: short})
	if err != nil || len(recs) == 0 {
		return false, err
	}
	if err := k.store.Unset(ctx, tokenSpace, recs[0].Key); err != nil {
		return true, err
	}
	for _, space := range []string{loginSpace, codeSpace} {
		err = errors.Join(err, k.sweep(ctx, space, func(l *login) bool { return l.Token == id }))
	}
	return true, err
}

// sweep removes logins or codes that match, and those that have expired.
func (k *Keys) sweep(ctx context.Context, space string, match func(*login) bool) error {
	recs, err := k.store.List(ctx, space, store.RecordQuery{})
	if err != nil {
		return err
	}
	var gone []string
	for _, r := range recs {
		var l login
		if json.Unmarshal(r.Body, &l) != nil || expired(l.Expires, k.now()) || match != nil && match(&l) {
			gone = append(gone, r.Key)
		}
	}
	return k.store.Unset(ctx, space, gone...)
}

// Sweep removes codes and logins that have expired. Tokens stay listed until they are revoked.
func (k *Keys) Sweep(ctx context.Context) error {
	return errors.Join(k.sweep(ctx, codeSpace, nil), k.sweep(ctx, loginSpace, nil))
}
