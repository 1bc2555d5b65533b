package access

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tackle-dev/tackle/internal/store"
)

// login is a code that was not used, or a login of the console, as it is kept.
type login struct {
	Identity Identity  `json:"identity"`
	Token    string    `json:"token,omitempty"` // it came from, and ends with
	Expires  time.Time `json:"expires"`
}

// Code makes a code that logs somebody in at the console, once, within CodeTime. token is the id of the token that asked for
// it, if any: the login ends when that is revoked.
func (k *Keys) Code(ctx context.Context, id Identity, token string) (code string, expires time.Time, err error) {
	if err := errors.Join(CheckName(id.Name), id.Role.Check()); err != nil {
		return "", expires, fmt.Errorf("code: %w", err)
	}
	if id.Program {
		return "", expires, errors.New("code: the console is for people; make a token for a program")
	}
	code, expires = secret(codePrefix), k.now().Add(CodeTime).UTC()
	id.Via = ""
	return code, expires, k.set(ctx, codeSpace, digest(code), login{id, token, expires})
}

// Login turns a code into a login and returns the value of its cookie. Of several uses, in whatever process, one succeeds.
// Errors: ErrNobody, and those of the store.
func (k *Keys) Login(ctx context.Context, code string) (cookie string, id Identity, err error) {
	var l login
	key := digest(code)
	ok, err := k.get(ctx, codeSpace, key, &l)
	if err != nil {
		return "", id, err
	}
	if !ok || expired(l.Expires, k.now()) {
		return "", id, ErrNobody
	}
	// The first event of a stream is taken from one writer.
	_, err = k.store.Append(ctx, store.Event{Session: "." + codeSpace + "." + key[:32], Seq: 1, Kind: "used", Body: json.RawMessage("null")})
	if errors.Is(err, store.ErrConflict) {
		return "", id, ErrNobody
	}
	if err != nil {
		return "", id, err
	}
	cookie = secret("")
	l.Expires = k.now().Add(LoginTime).UTC()
	if err := k.set(ctx, loginSpace, digest(cookie), l); err != nil {
		return "", id, err
	}
	return cookie, l.Identity, k.store.Unset(ctx, codeSpace, key)
}

// Cookie returns who logged in. token is the token that the login ends with, "" where there is none. Errors: ErrNobody, and
// those of the store.
func (k *Keys) Cookie(ctx context.Context, cookie string) (id Identity, token string, err error) {
	var l login
	ok, err := k.get(ctx, loginSpace, digest(cookie), &l)
	if err != nil {
		return id, "", err
	}
	if !ok || expired(l.Expires, k.now()) {
		return id, "", ErrNobody
	}
	return l.Identity, l.Token, nil
}

// Logout ends a login.
func (k *Keys) Logout(ctx context.Context, cookie string) error {
	return k.store.Unset(ctx, loginSpace, digest(cookie))
}

// csrfOf returns the token that a page of a login sends with what it posts. Who cannot read the page cannot know it, and it
// does not tell the cookie.
func csrfOf(cookie string) string {
	m := hmac.New(sha256.New, []byte(cookie))
	m.Write([]byte("csrf"))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

func sameText(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
