package mcp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// Token is a credential for HTTP: the digest of a secret, and the name of who holds it. Give each client a token of its
// own: calls with one token form one session in the newer era.
type Token struct {
	Name   string
	Digest [sha256.Size]byte // SHA-256 of the secret
}

// minSecret is the shortest secret that is accepted, in bytes as it is sent.
const minSecret = 32

// NewSecret returns a fresh secret of 32 random bytes, as text for a header.
func NewSecret() string {
	b := make([]byte, 32)
	rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// NewToken returns the token of a secret. Errors: no name, or a secret that is too short to be safe.
func NewToken(name, secret string) (Token, error) {
	if name == "" || len(secret) < minSecret {
		return Token{}, fmt.Errorf("mcp: token %q: want a name and a secret of at least %d bytes", name, minSecret)
	}
	return Token{name, sha256.Sum256([]byte(secret))}, nil
}

// Guard checks Host and Origin of a request: whether it was meant for this server, and for which page it was made. Every
// face over HTTP asks it first, whatever the listener.
type Guard struct {
	hosts   []string
	origins []string
}

// NewGuard returns a guard. hosts are names, without port, under which the server may be addressed besides localhost and the
// loopback addresses; origins are web origins, as browsers send them, whose pages may call besides those of the server's
// own host.
func NewGuard(hosts, origins []string) (*Guard, error) {
	g := &Guard{origins: slices.Clone(origins)}
	for _, h := range hosts {
		if h == "" || strings.ContainsAny(h, "/ *") {
			return nil, fmt.Errorf("mcp: host %q: want a name without port and wildcard", h)
		}
		g.hosts = append(g.hosts, strings.ToLower(h))
	}
	for _, o := range g.origins {
		u, err := url.Parse(o)
		if err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" {
			return nil, fmt.Errorf("mcp: origin %q: want scheme://host[:port]", o)
		}
	}
	return g, nil
}

// Host reports whether the server is known under the name that the client addressed.
func (g *Guard) Host(r *http.Request) bool {
	host := strings.ToLower(hostOnly(r.Host))
	return loopback(host) || slices.Contains(g.hosts, host)
}

// Origin reports whether the page that a browser says it acts for may call: a page of this server, or of a listed origin. A
// request without Origin comes from no page. With knock also every page of this machine may, which then needs a token that
// a browser does not add by itself.
func (g *Guard) Origin(r *http.Request, knock bool) bool {
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return true
	}
	u, err := url.Parse(values[0])
	if len(values) > 1 || err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Path != "" {
		return false
	}
	if slices.Contains(g.origins, values[0]) || strings.EqualFold(u.Host, r.Host) {
		return true
	}
	return knock && loopback(strings.ToLower(u.Hostname()))
}

// Wrap puts both checks before a handler; see Origin for knock.
func (g *Guard) Wrap(next http.Handler, knock bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !g.Host(r):
			http.Error(w, "forbidden: the server is not known under this host name", http.StatusForbidden)
		case !g.Origin(r, knock):
			http.Error(w, "forbidden: pages of this origin may not call", http.StatusForbidden)
		default:
			w.Header().Set("X-Content-Type-Options", "nosniff")
			next.ServeHTTP(w, r)
		}
	})
}

// tokens are those that may call.
type tokens struct {
	list   []Token
	lookup func(ctx context.Context, secret string) (holder string, err error)
}

// guarded puts all checks before a handler, in front of everything that is read.
func guarded(cfg *HTTPConfig, next http.Handler) (http.Handler, error) {
	g, err := NewGuard(cfg.Hosts, cfg.Origins)
	if err != nil {
		return nil, err
	}
	t := tokens{list: slices.Clone(cfg.Tokens), lookup: cfg.Verify}
	known := len(t.list) > 0 || t.lookup != nil
	if !known && !cfg.Open {
		return nil, errors.New("mcp: no tokens: set some, or Open to let everybody call who can reach the address")
	}
	if known && cfg.Open {
		return nil, errors.New("mcp: tokens and Open exclude each other")
	}
	for i, t := range t.list {
		if t.Name == "" || t.Digest == [sha256.Size]byte{} {
			return nil, fmt.Errorf("mcp: token %d has no name or no digest", i)
		}
	}
	if !cfg.Open {
		next = auth.RequireBearerToken(t.verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(next)
	}
	return g.Wrap(next, !cfg.Open), nil
}

func hostOnly(hostport string) string {
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		return h
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// verify finds the holder of a secret. Every token is compared, in constant time.
func (t *tokens) verify(ctx context.Context, secret string, _ *http.Request) (*auth.TokenInfo, error) {
	sum := sha256.Sum256([]byte(secret))
	holder := ""
	for i := range t.list {
		if subtle.ConstantTimeCompare(sum[:], t.list[i].Digest[:]) == 1 {
			holder = t.list[i].Name
		}
	}
	if holder == "" && t.lookup != nil {
		var err error
		if holder, err = t.lookup(ctx, secret); err != nil {
			return nil, err
		}
	}
	if holder == "" {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{UserID: holder}, nil
}
