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

// guard refuses requests before anything of them is read.
type guard struct {
	tokens  []Token
	open    bool
	hosts   []string
	origins []string
}

func newGuard(cfg *HTTPConfig) (*guard, error) {
	g := &guard{tokens: slices.Clone(cfg.Tokens), open: cfg.Open, origins: slices.Clone(cfg.Origins)}
	if len(g.tokens) == 0 && !g.open {
		return nil, errors.New("mcp: no tokens: set some, or Open to let everybody call who can reach the address")
	}
	if len(g.tokens) > 0 && g.open {
		return nil, errors.New("mcp: tokens and Open exclude each other")
	}
	for i, t := range g.tokens {
		if t.Name == "" || t.Digest == [sha256.Size]byte{} {
			return nil, fmt.Errorf("mcp: token %d has no name or no digest", i)
		}
	}
	for _, h := range cfg.Hosts {
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

// wrap puts the checks before a handler.
func (g *guard) wrap(next http.Handler) http.Handler {
	if !g.open {
		next = auth.RequireBearerToken(g.verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(next)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !g.hostAllowed(r.Host):
			http.Error(w, "forbidden: the server is not known under this host name", http.StatusForbidden)
		case !g.originAllowed(r):
			http.Error(w, "forbidden: pages of this origin may not call", http.StatusForbidden)
		default:
			w.Header().Set("X-Content-Type-Options", "nosniff")
			next.ServeHTTP(w, r)
		}
	})
}

// hostAllowed checks the name that the client addressed.
func (g *guard) hostAllowed(hostport string) bool {
	host := strings.ToLower(hostOnly(hostport))
	return loopback(host) || slices.Contains(g.hosts, host)
}

// originAllowed checks the page that a browser says it acts for. A request without Origin comes from no page. A page of
// this machine may knock when a token is needed; without one it must be of this very server.
func (g *guard) originAllowed(r *http.Request) bool {
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
	return !g.open && loopback(strings.ToLower(u.Hostname()))
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
func (g *guard) verify(_ context.Context, secret string, _ *http.Request) (*auth.TokenInfo, error) {
	sum := sha256.Sum256([]byte(secret))
	holder := ""
	for i := range g.tokens {
		if subtle.ConstantTimeCompare(sum[:], g.tokens[i].Digest[:]) == 1 {
			holder = g.tokens[i].Name
		}
	}
	if holder == "" {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{UserID: holder}, nil
}
