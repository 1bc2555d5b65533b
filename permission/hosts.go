package permission

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/tool"
)

// Hosts matches addresses by their host: "example.com", "*.example.com" (every host below it, not itself),
// "https://example.com" (that scheme only), "example.com:8443" (that port; without one, the port of the scheme). What comes
// behind the host of an address is not compared.
//
// As everywhere, a rule that restricts reaches further: it covers every host below the named one, every port where it names
// none, and what cannot be read as an address at all. An allow is exact, and a host that is not written in plain ASCII is
// allowed by none.
type Hosts struct{}

// hostPattern is a compiled pattern.
type hostPattern struct {
	scheme string // "" is http and https
	host   string // folded
	below  bool   // "*." stood in front
	port   string
}

// Compile implements [Matcher].
func (Hosts) Compile(pattern string, restrict bool) (Match, error) {
	p, err := parseHostPattern(pattern)
	if err != nil {
		return nil, err
	}
	return func(t tool.Target) bool {
		u, err := url.Parse(t.Value)
		if err != nil || u.Hostname() == "" || u.Opaque != "" {
			return restrict
		}
		if restrict {
			return p.restricts(u)
		}
		return p.allows(u)
	}, nil
}

func parseHostPattern(pattern string) (p hostPattern, err error) {
	rest := pattern
	if scheme, after, ok := strings.Cut(pattern, "://"); ok {
		if p.scheme, rest = strings.ToLower(scheme), strings.TrimSuffix(after, "/"); p.scheme != "http" && p.scheme != "https" {
			return p, fmt.Errorf("the scheme %q: addresses have http or https", scheme)
		}
	}
	if rest, p.below = strings.CutPrefix(rest, "*."); strings.ContainsAny(rest, "/*?[]{}@\\ ") && !strings.HasPrefix(rest, "[") {
		return p, errors.New(`rules compare the hosts of addresses: write "example.com", "*.example.com" or "https://example.com:8443"`)
	}
	u, err := url.Parse("https://" + rest)
	if err != nil || u.Hostname() == "" || u.Path != "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return p, fmt.Errorf("%q is no host", rest)
	}
	p.host, p.port = foldHost(u.Hostname()), u.Port()
	switch {
	case p.host == "":
		return p, fmt.Errorf("%q is no host", rest)
	case !ascii(p.host):
		return p, fmt.Errorf("%q: write the host in its ASCII form (xn--…)", rest)
	}
	return p, nil
}

func (p *hostPattern) allows(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	if u.User != nil || !plainHost(host) {
		return false
	}
	if p.below && !strings.HasSuffix(host, "."+p.host) || !p.below && host != p.host {
		return false
	}
	scheme := strings.ToLower(u.Scheme)
	if p.scheme != "" && scheme != p.scheme || scheme != "http" && scheme != "https" {
		return false
	}
	port := u.Port()
	if port == "" {
		port = standardPort(scheme)
	}
	return p.port == port || p.port == "" && port == standardPort(scheme)
}

func (p *hostPattern) restricts(u *url.URL) bool {
	host := foldHost(u.Hostname())
	if scheme := strings.ToLower(u.Scheme); p.scheme != "" && scheme != p.scheme {
		return false
	}
	if p.port != "" && u.Port() != p.port && (u.Port() != "" || standardPort(u.Scheme) != p.port) {
		return false
	}
	if host == p.host {
		return !p.below
	}
	if strings.HasSuffix(host, "."+p.host) {
		return true
	}
	// Addresses have many spellings (decimal, octal, hexadecimal, mapped): a rule about one is taken to mean each that could be one.
	_, err := netip.ParseAddr(p.host)
	return err == nil && maybeAddress(host)
}

func standardPort(scheme string) string {
	if strings.EqualFold(scheme, "http") {
		return "80"
	}
	return "443"
}

// plainHost reports whether a host is written in the one way that means nothing else.
func plainHost(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.String() == host && !a.Is4In6()
	}
	if host == "" || strings.HasSuffix(host, ".") || maybeAddress(host) {
		return false
	}
	for _, c := range []byte(host) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_' {
			return false
		}
	}
	return true
}

// maybeAddress reports whether some resolver may read a host as a number.
func maybeAddress(host string) bool {
	if strings.Contains(host, ":") {
		return true
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != "" && (strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x"))
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// oddHost says why no rule can be sure about the host of an address, or "".
func oddHost(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "":
		return "it is no address with a host"
	case u.User != nil:
		return "its address names a user before the host"
	case !ascii(u.Hostname()):
		return "its host is not written in ASCII"
	}
	return ""
}

// foldHost brings the spellings of one host together.
func foldHost(host string) string {
	host = strings.Map(func(r rune) rune {
		if r == '。' || r == '．' || r == '｡' { // each is a dot to a resolver
			return '.'
		}
		return r
	}, host)
	host = strings.TrimRight(fold(host), ".")
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().WithZone("").String()
	}
	return host
}
