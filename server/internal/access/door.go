package access

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/mcp"
)

// What the pages of a login send with what they post.
const (
	CSRFField  = "csrf"
	CSRFHeader = "X-CSRF-Token"
)

// Fixed is a token that is configured, not kept in the store.
type Fixed struct {
	Identity
	Digest [sha256.Size]byte // SHA-256 of the secret
}

// Door lets requests in: by a token in the header, or by the cookie of a login. Everybody else is told 401, and who is let in
// stands in the context ([From]).
type Door struct {
	Keys   *Keys
	Guard  *mcp.Guard
	Fixed  []Fixed
	Secure bool // mark cookies for TLS only
	// Refuse writes a refusal. login says that a person could log in.
	Refuse func(w http.ResponseWriter, r *http.Request, status int, message string)
}

// refusal is why a request is not let in.
type refusal struct {
	status  int
	message string
}

func (e *refusal) Error() string { return e.message }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// Wrap puts the door before a handler.
func (d *Door) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pass, err := d.admit(r)
		var no *refusal
		switch {
		case err == nil:
			next.ServeHTTP(w, r.WithContext(With(r.Context(), pass)))
		case errors.As(err, &no):
			if no.status == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", `Bearer realm="tackle"`)
			}
			d.Refuse(w, r, no.status, no.message)
		default: // the store
			w.Header().Set("Retry-After", "2")
			d.Refuse(w, r, http.StatusServiceUnavailable, "who you are cannot be looked up now: "+err.Error())
		}
	})
}

// Open puts only the checks of Host and Origin before a handler, for what nobody needs to be known for.
func (d *Door) Open(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := d.guard(r, true); err != nil {
			d.Refuse(w, r, http.StatusForbidden, err.Error())
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (d *Door) guard(r *http.Request, knock bool) error {
	switch {
	case !d.Guard.Host(r):
		return refuse(http.StatusForbidden, "forbidden: the server is not known under this host name; name it with --host")
	case !d.Guard.Origin(r, knock):
		return refuse(http.StatusForbidden, "forbidden: pages of this origin may not call; name it with --origin")
	}
	return nil
}

// admit finds out whose the request is.
func (d *Door) admit(r *http.Request) (*Pass, error) {
	if err := d.guard(r, true); err != nil {
		return nil, err
	}
	if values := r.Header.Values("Authorization"); len(values) > 0 {
		scheme, secret, _ := strings.Cut(values[0], " ")
		if len(values) > 1 || !strings.EqualFold(scheme, "Bearer") {
			return nil, refuse(http.StatusUnauthorized, "want one header: Authorization: Bearer TOKEN")
		}
		return d.bearer(r.Context(), strings.TrimSpace(secret))
	}
	cookie, err := r.Cookie(d.cookieName(r))
	if err != nil || cookie.Value == "" {
		return nil, refuse(http.StatusUnauthorized, "nobody is logged in: send a token (Authorization: Bearer TOKEN), or log in at /login")
	}
	return d.cookie(r, cookie.Value)
}

// bearer admits the holder of a token.
func (d *Door) bearer(ctx context.Context, secret string) (*Pass, error) {
	who, token, err := d.Holder(ctx, secret)
	if errors.Is(err, ErrNobody) {
		return nil, refuse(http.StatusUnauthorized, "%v; make one with `tackle serve token create`", err)
	}
	if err != nil {
		return nil, err
	}
	return &Pass{Identity: who, Token: token, Valid: func(ctx context.Context) error {
		_, _, err := d.Holder(ctx, secret)
		return err
	}}, nil
}

// Holder returns who holds the secret of a token. Errors: ErrNobody, and those of the store.
func (d *Door) Holder(ctx context.Context, secret string) (who Identity, token string, err error) {
	sum, found := sha256.Sum256([]byte(secret)), -1
	for i := range d.Fixed { // all are compared, in constant time
		if subtle.ConstantTimeCompare(sum[:], d.Fixed[i].Digest[:]) == 1 {
			found = i
		}
	}
	if found >= 0 {
		who = d.Fixed[found].Identity
		who.Via = "api"
		return who, "", nil
	}
	t, err := d.Keys.Token(ctx, secret)
	if err != nil {
		return who, "", err
	}
	return t.Identity("api"), t.ID, nil
}

// cookie admits who has logged in. A browser sends the cookie by itself, so what changes something must also come from a page
// of this server, and prove that it read one.
func (d *Door) cookie(r *http.Request, value string) (*Pass, error) {
	who, token, err := d.Keys.Cookie(r.Context(), value)
	if errors.Is(err, ErrNobody) {
		return nil, refuse(http.StatusUnauthorized, "the login has ended; log in again at /login")
	}
	if err != nil {
		return nil, err
	}
	who.Via = "console"
	pass := &Pass{Identity: who, Token: token, CSRF: csrfOf(value), Valid: func(ctx context.Context) error {
		_, _, err := d.Keys.Cookie(ctx, value)
		return err
	}}
	if err := d.guard(r, false); err != nil {
		return nil, err
	}
	// A page of another port of this machine is of the same site to a browser, which sends it the cookie along. It may lead
	// here, as any link does, and nothing else.
	led := safe(r.Method) && r.Header.Get("Sec-Fetch-Mode") == "navigate"
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" && !led {
		return nil, refuse(http.StatusForbidden, "forbidden: another page sent this")
	}
	if safe(r.Method) {
		return pass, nil
	}
	sent := r.Header.Get(CSRFHeader)
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); sent == "" && err == nil && media == "application/x-www-form-urlencoded" {
		r.Body = http.MaxBytesReader(nil, r.Body, mostForm)
		sent = r.PostFormValue(CSRFField)
	}
	if !sameText(sent, pass.CSRF) {
		return nil, refuse(http.StatusForbidden, "forbidden: the page that sent this is out of date; reload it")
	}
	return pass, nil
}

// mostForm bounds the forms of pages, in bytes.
const mostForm = 4 << 20

func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// cookieName holds the port: cookies do not know ports, and two servers of one machine must not log each other out.
func (d *Door) cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "0"
	}
	return "tackle_login_" + port
}

// SetCookie gives a browser the cookie of a login; "" takes it back.
func (d *Door) SetCookie(w http.ResponseWriter, r *http.Request, value string) {
	c := &http.Cookie{Name: d.cookieName(r), Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: d.Secure || r.TLS != nil,
		MaxAge: int(LoginTime / time.Second)}
	if value == "" {
		c.MaxAge = -1
		if old, err := r.Cookie(c.Name); err == nil {
			_ = d.Keys.Logout(r.Context(), old.Value) // the browser forgets it in any case
		}
	}
	http.SetCookie(w, c)
}
