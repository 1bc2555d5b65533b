package permission

import (
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/tool"
)

func fetch(address string) *tool.Intent {
	return &tool.Intent{Tool: "fetch_url", Permission: "fetch_url", Effects: []tool.Effect{tool.Network},
		Targets: []tool.Target{{Kind: tool.URLTarget, Effect: tool.Network, Value: address}}}
}

// P5, POL-018: rules for addresses compare hosts, not texts. An allow is exact; a deny reaches further.
func TestP5_Hosts(t *testing.T) {
	tests := []struct{ rule, allows, restricts, neither string }{
		{"example.com",
			"https://example.com/a?b#c http://example.com https://EXAMPLE.com:443/ http://example.com:80/",
			"https://www.example.com/ https://example.com:8443/ https://example.com./ https://user@example.com/ https://ｅxample.com/ https://example。com/ ftp://example.com/",
			"https://example.com.evil.test/ https://evilexample.com/ https://example.com@evil.test/ https://evil.test/example.com https://evil.test?https://example.com https://evil.test#@example.com https://com/ https://example.org/ https://1.2.3.4/"},
		{"*.example.com", "https://www.example.com/ https://a.b.example.com/", "https://www.example.com:8443/", "https://example.com/ https://evil-example.com/ https://www.example.com.evil.test/"},
		{"https://example.com", "https://example.com/x", "https://www.example.com/", "http://example.com/ http://www.example.com/"},
		{"example.com:8443", "https://example.com:8443/", "https://www.example.com:8443/", "https://example.com/ https://example.com:84430/"},
		{"example.com:443", "https://example.com/", "", "http://example.com/"},
		{"127.0.0.1", "http://127.0.0.1/", "http://2130706433/ http://0x7f000001/ http://0177.0.0.1/ http://127.1/ http://[::ffff:127.0.0.1]/ http://①②⑦.⓪.⓪.①/ http://127.0.0.1:9/", "http://example.com/ http://localhost/"},
		{"[::1]", "http://[::1]/", "http://[0:0:0:0:0:0:0:1]/ http://[::1%25eth0]/", "http://example.com/"},
	}
	for _, tt := range tests {
		allow := gate(t, Options{Layers: user(t, "allow fetch_url "+tt.rule)})
		deny := gate(t, Options{Layers: user(t, "deny fetch_url "+tt.rule)})
		try := func(list string, allowed, denied bool) {
			for address := range strings.FieldsSeq(list) {
				if d := decide(t, allow, Request{Intent: fetch(address)}); (d.Verdict == tool.Allow) != allowed {
					t.Errorf("allow %s: %s: %s by %s", tt.rule, address, d.Verdict, d.By)
				}
				if d := decide(t, deny, Request{Intent: fetch(address)}); (d.Verdict == tool.Deny) != denied || d.Verdict == tool.Allow {
					t.Errorf("deny %s: %s: %s by %s", tt.rule, address, d.Verdict, d.By)
				}
			}
		}
		try(tt.allows, true, true)
		try(tt.restricts, false, true)
		try(tt.neither, false, false)
	}
}

// P5: what is no host is no pattern for one; a pattern for files never allows an address.
func TestP5_HostsAndFiles(t *testing.T) {
	for _, p := range []string{"", "src/**", "https://example.com/a", "ftp://example.com", "*", "exa*mple.com", "user@example.com", "example.com?x", "bücher.example", "https://", "a b", "example.com:x"} {
		if _, err := (Hosts{}).Compile(p, true); err == nil {
			t.Errorf("%q is read as a host", p)
		}
	}
	g := gate(t, Options{Layers: user(t, "allow * *.sh")})
	if d := decide(t, g, Request{Intent: fetch("https://evil.sh/")}); d.Verdict != tool.Ask {
		t.Errorf("a rule about files: %s by %s", d.Verdict, d.By)
	}
	g = gate(t, Options{Layers: user(t, "allow * https://example.com\ndeny * evil.test")})
	for address, want := range map[string]tool.Verdict{"https://example.com/": tool.Allow, "https://www.evil.test/": tool.Deny} {
		if d := decide(t, g, Request{Intent: fetch(address)}); d.Verdict != want {
			t.Errorf("%s: %s by %s", address, d.Verdict, d.By)
		}
	}
	// Nobody can be sure about a host in other letters, whatever allows it.
	g = gate(t, Options{Layers: user(t, "allow fetch_url *")})
	if d := decide(t, g, Request{Intent: fetch("https://exаmple.com/")}); d.Verdict != tool.Ask || !strings.Contains(d.Reason, "ASCII") {
		t.Errorf("%s: %s", d.Verdict, d.Reason)
	}
	// A grant for a host answers the asks about it, and no others.
	g = gate(t, Options{})
	if err := g.Grant(t.Context(), Grant{Permission: "fetch_url", Pattern: "https://example.com", Scope: ThisProject, Person: "ada"}); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]tool.Verdict{"https://example.com/b": tool.Allow, "https://www.example.com/": tool.Ask, "http://example.com/": tool.Ask, "https://example.com@evil.test/": tool.Ask} {
		if d := decide(t, g, Request{Intent: fetch(address)}); d.Verdict != want {
			t.Errorf("with the grant, %s: %s by %s", address, d.Verdict, d.By)
		}
	}
}

// FuzzHosts reads any pattern and compares it with any address: no panic, and a deny matches whatever an allow matches.
func FuzzHosts(f *testing.F) {
	for _, s := range [][2]string{{"example.com", "https://EXAMPLE.com:443/"}, {"*.x.y:8080", "http://a.x.y:8080"}, {"https://[::1]", "https://[::1]/"}, {"xn--bcher-kva.example", "https://bücher.example"}, {"1.2.3.4", "http://16909060"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, address string) {
		allow, err := (Hosts{}).Compile(pattern, false)
		deny, other := (Hosts{}).Compile(pattern, true)
		if (err == nil) != (other == nil) {
			t.Fatalf("%q: %v for an allow, %v for a deny", pattern, err, other)
		}
		target := tool.Target{Kind: tool.URLTarget, Value: address}
		if err == nil && allow(target) && !deny(target) {
			t.Errorf("%q allows %q and does not deny it", pattern, address)
		}
	})
}
