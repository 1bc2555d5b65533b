package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/server/internal/access"
	"github.com/tackle-dev/tackle/server/internal/core"
)

// everyPath is every operation with something for its parameters, and what stands beside the API.
func (p *place) everyPath() (out [][2]string) {
	for _, rt := range p.srv.routes {
		path := wildcard.ReplaceAllString(rt.path, "x")
		out = append(out, [2]string{rt.method, path})
	}
	return append(out, [2]string{"GET", "/"}, [2]string{"GET", "/sessions"}, [2]string{"POST", "/logout"}, [2]string{"POST", "/mcp"}, [2]string{"GET", "/mcp"})
}

// WEB-001, WEB-002, WEB-003: a foreign Host is refused on every path, before who asks is looked at.
func TestWEB001_Host(t *testing.T) {
	p := start(t, func(c *Config) { c.Hosts = []string{"tackle.example"} })
	for _, at := range append(p.everyPath(), [2]string{"GET", "/healthz"}, [2]string{"GET", "/readyz"}, [2]string{"GET", "/login?code=x"}) {
		for _, host := range []string{"evil.example", "rebind.test:7710", "localhost.evil.example", "0.0.0.0:7710", "169.254.169.254"} {
			a := p.do(p.request(at[0], at[1], nil, p.as("admin"), header("Host", host)))
			wantStatus(t, at[0]+" "+at[1]+" Host "+host, a, 403)
		}
	}
	for host, want := range map[string]int{"tackle.example": 200, "tackle.example:443": 200, "localhost:1": 200, "[::1]:1": 200, "x.tackle.example": 403} {
		wantStatus(t, "Host "+host, p.do(p.request("GET", "/api/me", nil, p.as("viewer"), header("Host", host))), want)
	}
}

// WEB-004, WEB-009, WEB-011: foreign pages are refused, pages of this machine need a token, and no answer allows a page of
// another origin to read it.
func TestWEB004_Origin(t *testing.T) {
	p := start(t, func(c *Config) { c.Origins = []string{"https://tackle.example"} })
	for _, at := range p.everyPath() {
		for _, origin := range []string{"https://evil.example", "null", "http://localhost.evil.example", "https://tackle.example.evil.example", "http://127.0.0.1:1@evil.example"} {
			a := p.do(p.request(at[0], at[1], nil, p.as("admin"), header("Origin", origin)))
			wantStatus(t, at[0]+" "+at[1]+" Origin "+origin, a, 403)
			noCORS(t, a)
		}
	}
	for _, origin := range []string{"http://localhost:9999", "https://tackle.example"} {
		wantStatus(t, origin+" without a token", p.do(p.request("GET", "/api/me", nil, header("Origin", origin))), 401)
		a := p.do(p.request("GET", "/api/me", nil, header("Origin", origin), p.as("viewer")))
		wantStatus(t, origin, a, 200)
		noCORS(t, a)
	}
	for _, path := range []string{"/api/calls", "/api/asks", "/mcp", "/"} {
		a := p.do(p.request("OPTIONS", path, nil, header("Origin", "http://localhost:9999"), header("Access-Control-Request-Method", "POST"),
			header("Access-Control-Request-Private-Network", "true")))
		noCORS(t, a)
		if a.StatusCode < 400 {
			t.Errorf("OPTIONS %s: %d", path, a.StatusCode)
		}
	}
}

func noCORS(t *testing.T, a answer) {
	t.Helper()
	for name := range a.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("%s has %s: %s", a.Request.URL.Path, name, a.Header.Get(name))
		}
	}
}

// WEB-005, WEB-006: without a token every path but health says 401, and health tells nothing.
func TestWEB006_NobodySeesAnything(t *testing.T) {
	p := start(t, nil)
	for _, at := range p.everyPath() {
		a := p.do(p.request(at[0], at[1], nil))
		wantStatus(t, at[0]+" "+at[1], a, 401)
		if strings.Contains(string(a.body), p.dir) {
			t.Errorf("%s tells where it works: %s", at[1], a.body)
		}
	}
	for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "ready\n"} {
		if a := p.do(p.request("GET", path, nil)); a.StatusCode != 200 || string(a.body) != want {
			t.Errorf("%s: %d %q", path, a.StatusCode, a.body)
		}
	}
}

// WEB-005, WEB-016: forged, short, revoked and expired tokens are nobody's; where one stands in the wrong place it is not looked
// at.
func TestWEB016_Tokens(t *testing.T) {
	p := start(t, func(c *Config) {
		c.Tokens = []FixedToken{{Name: "fix", Role: Viewer, Secret: strings.Repeat("f", 40)}}
	})
	good := p.tokens["viewer"]
	if n := len(strings.TrimPrefix(good, "tackle_")); n != 43 {
		t.Errorf("a token has %d characters of base64, want 43 for 32 bytes", n)
	}
	old, token, err := p.srv.keys.Create(t.Context(), Token{Name: "old", Role: Admin}, time.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	gone, revoked, err := p.srv.keys.Create(t.Context(), Token{Name: "gone", Role: Admin}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if was, err := p.srv.keys.Revoke(t.Context(), revoked.ID); !was || err != nil {
		t.Fatal(was, err)
	}
	for what, value := range map[string]string{"forged": "Bearer tackle_" + strings.Repeat("A", 43), "cut": "Bearer " + good[:len(good)-1], "longer": "Bearer " + good + "x",
		"empty": "Bearer ", "basic": "Basic " + good, "none": good, "expired": "Bearer " + old, "revoked": "Bearer " + gone, "its id": "Bearer " + token.ID, "case": "Bearer " + strings.ToUpper(good)} {
		wantStatus(t, what, p.do(p.request("GET", "/api/me", nil, header("Authorization", value))), 401)
	}
	wantStatus(t, "in the address", p.do(p.request("GET", "/api/me?token="+good+"&access_token="+good, nil)), 401)
	wantStatus(t, "in a cookie", p.do(p.request("GET", "/api/me", nil, header("Cookie", "tackle_login_0="+good+"; token="+good))), 401)
	wantStatus(t, "two", p.do(p.request("GET", "/api/me", nil, func(r *http.Request) { r.Header["Authorization"] = []string{"Bearer " + good, "Bearer " + good} })), 401)
	wantStatus(t, "good", p.do(p.request("GET", "/api/me", nil, header("Authorization", "bearer "+good))), 200)
	wantStatus(t, "of the configuration", p.do(p.request("GET", "/api/me", nil, header("Authorization", "Bearer "+strings.Repeat("f", 40)))), 200)
	// Nothing of a secret is kept.
	data, err := os.ReadFile(filepath.Join(p.state, "tackle.db"))
	if err != nil {
		t.Fatal(err)
	}
	wal, _ := os.ReadFile(filepath.Join(p.state, "tackle.db-wal"))
	for _, s := range p.tokens {
		if strings.Contains(string(data)+string(wal), s) || strings.Contains(string(data)+string(wal), strings.TrimPrefix(s, "tackle_")) {
			t.Error("a secret stands in the database")
		}
	}
}

// Every operation is refused to the roles below its own, and the table of roles is the one that is documented.
func TestX4_Roles(t *testing.T) {
	p := start(t, nil)
	may := map[Role]string{Viewer: "viewer approver admin", Approver: "approver admin", Admin: "admin", Agent: "bot admin", "": "viewer approver admin bot"}
	for _, rt := range p.srv.routes {
		path := wildcard.ReplaceAllString(rt.path, "x")
		for _, who := range []string{"viewer", "approver", "admin", "bot"} {
			if strings.Contains(may[rt.role], who) {
				continue
			}
			a := p.send(who, rt.method, path, map[string]any{})
			wantStatus(t, who+" "+rt.method+" "+path, a, 403)
			if !strings.Contains(a.problem().Message, string(rt.role)) {
				t.Errorf("%s: the refusal names no role: %s", path, a.body)
			}
		}
	}
	for who, want := range map[string]int{"viewer": 401, "approver": 401, "bot": 200, "admin": 200} {
		a := p.do(p.request("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
			p.as(who), header("Accept", "application/json, text/event-stream")))
		wantStatus(t, who+" at /mcp", a, want)
	}
	// An agent cannot work in the session of others, where their grants hold.
	wantStatus(t, "an agent in another session", p.send("bot", "POST", "/api/calls", core.CallInput{Tool: "list_dir", Session: "main", Args: json.RawMessage(`{"path":"."}`)}), 403)
	wantStatus(t, "an agent in its own", p.send("bot", "POST", "/api/calls", core.CallInput{Tool: "list_dir", Session: "by-bot-2", Args: json.RawMessage(`{"path":"."}`)}), 200)
}

// WEB-007: there are no web sockets; a page of another origin that tries one is refused.
func TestWEB007_WebSockets(t *testing.T) {
	p := start(t, nil)
	for _, path := range []string{"/api/events", "/mcp", "/"} {
		a := p.do(p.request("GET", path, nil, p.as("admin"), header("Origin", "https://evil.example"), header("Connection", "Upgrade"), header("Upgrade", "websocket"),
			header("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), header("Sec-WebSocket-Version", "13")))
		wantStatus(t, path, a, 403)
	}
}

// WEB-008: what a browser can send by itself changes nothing: no form, no text, no cookie alone.
func TestWEB008_CrossSiteRequests(t *testing.T) {
	p := start(t, nil)
	a, done := p.asked("write_file", map[string]any{"path": "ask/x", "content": "x"})
	yes := fmt.Sprintf(`{"allow":true,"fingerprint":%q}`, a.Fingerprint)
	path := "/api/asks/" + a.ID + "/answer"
	for _, media := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "application/jsonx"} {
		wantStatus(t, "token and "+media, p.do(p.request("POST", path, yes, p.as("approver"), header("Content-Type", media))), 415)
	}
	cookie, token := p.login(Identity{Name: "approver", Role: Approver})
	own := header("Origin", p.web.URL)
	for what, change := range map[string][]func(*http.Request){
		"the cookie alone":             {},
		"a token of another page":      {header(access.CSRFHeader, csrf("other"))},
		"a foreign origin":             {header(access.CSRFHeader, token), header("Origin", "https://evil.example")},
		"an origin of this machine":    {header(access.CSRFHeader, token), header("Origin", "http://localhost:9999")},
		"no origin at all, cross-site": {header(access.CSRFHeader, token), header("Sec-Fetch-Site", "cross-site")},
		"same-site":                    {header(access.CSRFHeader, token), header("Sec-Fetch-Site", "same-site")},
		"a text":                       {header("Content-Type", "text/plain"), own},
		"a form":                       {header("Content-Type", "application/x-www-form-urlencoded"), own},
	} {
		wantStatus(t, what, p.do(p.request("POST", path, yes, append([]func(*http.Request){withCookie(cookie)}, change...)...)), 403)
	}
	if len(p.box.Asks().Open()) != 1 {
		t.Fatal("the ask was answered")
	}
	wantStatus(t, "the page itself", p.do(p.request("POST", path, yes, withCookie(cookie), own, header("Sec-Fetch-Site", "same-origin"), header(access.CSRFHeader, token))), 200)
	if res := <-done; !res.OK() || res.Meta.Decision.By != "person approver (console)" {
		t.Errorf("decided by %+v", res.Meta.Decision)
	}
}

// WEB-010: the default address is a loopback one, and another needs a word.
func TestWEB010_Addresses(t *testing.T) {
	p := start(t, nil)
	for addr, ok := range map[string]bool{"": true, "0.0.0.0:0": false, "[::]:0": false, ":0": true, "192.0.2.1:0": false} {
		s, err := New(Config{Box: p.box, Listen: addr})
		if err != nil {
			t.Fatal(err)
		}
		if addr == "" {
			s.cfg.Listen = strings.Replace(s.cfg.Listen, ":7710", ":0", 1)
		}
		l, err := s.Listen()
		if (err == nil) != ok {
			t.Errorf("%q: %v", addr, err)
		}
		if err == nil {
			if ip := l.Addr().(*net.TCPAddr).IP; !ip.IsLoopback() {
				t.Errorf("%q listens at %s", addr, ip)
			}
			l.Close()
		}
		s.Close()
	}
	s, err := New(Config{Box: p.box, Listen: "0.0.0.0:0", Public: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l, err := s.Listen()
	if err != nil {
		t.Fatalf("public: %v", err)
	}
	l.Close()
}

// WEB-012: a login takes a code that is valid once; the cookie is for this server alone, out of the reach of scripts, and the
// code is gone from the address at once.
func TestWEB012_Login(t *testing.T) {
	p := start(t, nil)
	path, err := p.srv.Code(t.Context(), Identity{Name: "approver", Role: Approver})
	if err != nil {
		t.Fatal(err)
	}
	wantStatus(t, "a program looks at the link", p.do(p.request("HEAD", path, nil)), 200)
	a := p.do(p.request("GET", path, nil, header("Accept", "text/html")))
	wantStatus(t, "log in", a, 200)
	c := a.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || len(c.Value) < 43 || c.MaxAge <= 0 {
		t.Errorf("cookie: %+v", c)
	}
	if strings.Contains(string(a.body), "code_") || !strings.Contains(string(a.body), `content="0;url=/"`) {
		t.Errorf("the page keeps the code, or does not go on: %s", a.body)
	}
	if a.Header.Get("Referrer-Policy") != "same-origin" || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers: %v", a.Header)
	}
	wantStatus(t, "the code again", p.do(p.request("GET", path, nil)), 401)
	wantStatus(t, "a forged code", p.do(p.request("GET", "/login?code=code_"+strings.Repeat("A", 43), nil)), 401)
	wantStatus(t, "a token as code", p.do(p.request("GET", "/login?code="+p.tokens["admin"], nil)), 401)
	var me Identity
	p.want(p.do(p.request("GET", "/api/me", nil, withCookie(c))), &me)
	if me != (Identity{Name: "approver", Role: Approver, Via: "console"}) {
		t.Errorf("who: %+v", me)
	}
	// By the form, from a page of ours, and of nobody else.
	path, _ = p.srv.Code(t.Context(), Identity{Name: "approver", Role: Approver})
	form := "code=" + url.QueryEscape(strings.TrimPrefix(path, "/login?code="))
	media := header("Content-Type", "application/x-www-form-urlencoded")
	wantStatus(t, "a form of another page", p.do(p.request("POST", "/login", form, media, header("Origin", "http://localhost:9999"))), 403)
	wantStatus(t, "the form", p.do(p.request("POST", "/login", form, media, header("Origin", p.web.URL))), 200)
	// It outlives the process, and ends with the way out.
	p.close()
	p.open(nil)
	port := c.Name[strings.LastIndex(c.Name, "_")+1:]
	host := header("Host", "127.0.0.1:"+port) // the name of the cookie holds the port, which is another one now
	wantStatus(t, "after a restart", p.do(p.request("GET", "/api/me", nil, withCookie(c), host)), 200)
	wantStatus(t, "log out", p.do(p.request("POST", "/logout", nil, withCookie(c), host, header("Origin", "http://127.0.0.1:"+port), header(access.CSRFHeader, csrf(c.Value)))), 200)
	wantStatus(t, "afterwards", p.do(p.request("GET", "/api/me", nil, withCookie(c), host)), 401)
}

// A login that came from a token ends with it; codes reach no further than who makes them.
func TestX4_CodesOfTokens(t *testing.T) {
	p := start(t, nil)
	secret, token, err := p.srv.keys.Create(t.Context(), Token{Name: "other", Role: Approver}, 0)
	if err != nil {
		t.Fatal(err)
	}
	p.tokens["other"] = secret
	var code MadeCode
	p.post("other", "/api/codes", NewCode{}, &code)
	c := p.do(p.request("GET", code.Path, nil)).Cookies()[0]
	wantStatus(t, "logged in", p.do(p.request("GET", "/api/me", nil, withCookie(c))), 200)
	wantStatus(t, "for more than one's own role", p.send("other", "POST", "/api/codes", NewCode{Role: Admin}), 403)
	wantStatus(t, "for an agent", p.send("other", "POST", "/api/codes", NewCode{Role: Agent}), 403)
	wantStatus(t, "for somebody else", p.send("other", "POST", "/api/codes", NewCode{Name: "approver"}), 403)
	wantStatus(t, "revoke", p.send("admin", "DELETE", "/api/tokens/"+token.ID, nil), 200)
	wantStatus(t, "the login of a revoked token", p.do(p.request("GET", "/api/me", nil, withCookie(c))), 401)
	for _, name := range []string{"", "a\nb", "a\u202eb", "person (console)", strings.Repeat("x", 65), " x"} {
		wantStatus(t, fmt.Sprintf("a token for %q", name), p.send("admin", "POST", "/api/tokens", NewToken{Name: name, Role: Viewer}), 400)
	}
}

// WEB-013: the session of an MCP client is of no use to the holder of another token.
func TestWEB013_SessionsAreNoCredentials(t *testing.T) {
	p := start(t, nil)
	other, _, err := p.srv.keys.Create(t.Context(), Token{Name: "other", Role: Agent, Program: true}, 0)
	if err != nil {
		t.Fatal(err)
	}
	p.tokens["other"] = other
	accept := header("Accept", "application/json, text/event-stream")
	a := p.do(p.request("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, p.as("bot"), accept))
	id := a.Header.Get("Mcp-Session-Id")
	if id == "" {
		t.Fatalf("no session: %d %s", a.StatusCode, a.body)
	}
	call := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	if a := p.do(p.request("POST", "/mcp", call, p.as("other"), accept, header("Mcp-Session-Id", id))); a.StatusCode != 403 && a.StatusCode != 404 {
		t.Errorf("another token: %d %.200s", a.StatusCode, a.body)
	}
	wantStatus(t, "no token", p.do(p.request("POST", "/mcp", call, accept, header("Mcp-Session-Id", id))), 401)
	wantStatus(t, "its own", p.do(p.request("POST", "/mcp", call, p.as("bot"), accept, header("Mcp-Session-Id", id))), 200)
}

// WEB-014: what looks like a path is only an id.
func TestWEB014_Traversal(t *testing.T) {
	p := start(t, nil)
	for _, id := range []string{"..%2f..%2fetc%2fpasswd", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "..%5c..%5cetc", "%2fetc%2fpasswd", "a%00b", "....%2f%2f", ".."} {
		for _, path := range []string{"/api/artifacts/" + id, "/api/artifacts/" + id + "/content", "/api/sessions/" + id, "/api/sessions/main/calls/" + id, "/api/asks/" + id, "/api/tools/" + id} {
			a := p.send("admin", "GET", path, nil)
			if a.StatusCode != 404 && a.StatusCode != 400 && a.StatusCode != 307 && a.StatusCode != 301 {
				t.Errorf("%s: %d %.100s", path, a.StatusCode, a.body)
			}
			if strings.Contains(string(a.body), "root:x:") {
				t.Errorf("%s gave a file", path)
			}
		}
	}
	for _, id := range []string{".ledger", ".removed"} { // streams of the program
		wantStatus(t, id, p.send("admin", "GET", "/api/sessions/"+id, nil), 404)
		wantStatus(t, id+" calls", p.send("admin", "GET", "/api/sessions/"+id+"/calls", nil), 404)
		wantStatus(t, id+" removal", p.send("admin", "DELETE", "/api/sessions/"+id, nil), 404)
		wantStatus(t, id+" call", p.send("admin", "POST", "/api/calls", core.CallInput{Tool: "list_dir", Session: id, Args: json.RawMessage(`{"path":"."}`)}), 400)
	}
}

// WEB-015: what a tool stored is never a page here.
func TestWEB015_StoredPages(t *testing.T) {
	p := start(t, nil)
	for _, c := range []struct{ name, mime, body, kind, how string }{
		{"x.svg", "image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`, "", "attachment"},
		{"x.html", "text/html", `<!doctype html><script>alert(1)</script>`, "text/plain; charset=utf-8", "attachment"},
		{"x.png", "image/png", `<html><script>alert(1)</script></html>`, "text/plain; charset=utf-8", "attachment"},
		{"x.xml", "application/xhtml+xml", `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>`, "text/plain; charset=utf-8", "attachment"},
		{"x.js", "text/javascript", `alert(1)`, "text/plain; charset=utf-8", "attachment"},
		{"x.png", "image/png", "\x89PNG\r\n\x1a\n0000", "image/png", "inline"},
		{"a\"; filename=\"b.exe\r\nX: y", "text/plain", "text", "text/plain; charset=utf-8", "attachment"},
	} {
		art, err := p.box.ArtifactStore().Put(t.Context(), "main", c.name, c.mime, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		a := p.send("viewer", "GET", "/api/artifacts/"+art.ID+"/content", nil)
		wantStatus(t, c.name, a, 200)
		h := a.Header
		if !strings.HasPrefix(h.Get("Content-Disposition"), c.how) || h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") ||
			c.kind != "" && h.Get("Content-Type") != c.kind || strings.Contains(h.Get("Content-Type"), "html") || strings.Contains(h.Get("Content-Type"), "svg") || strings.Contains(h.Get("Content-Type"), "xml") || h.Get("X") != "" {
			t.Errorf("%s: %v", c.name, h)
		}
		if string(a.body) != c.body {
			t.Errorf("%s: the bytes changed", c.name)
		}
	}
}

// WEB-017, WEB-018: a socket is for its user alone, and a foreign Host is refused on every kind of listener.
func TestWEB018_EveryListener(t *testing.T) {
	p := start(t, nil)
	sock := filepath.Join(t.TempDir(), "s", "tackle.sock")
	addrs := []string{"127.0.0.1:0", ":0", "unix:" + sock}
	if l, err := net.Listen("tcp", "[::1]:0"); err == nil {
		l.Close()
		addrs = append(addrs, "[::1]:0")
	}
	for _, addr := range addrs {
		s, err := New(Config{Box: p.box, Listen: addr})
		if err != nil {
			t.Fatal(err)
		}
		l, err := s.Listen()
		if err != nil {
			t.Fatal(err)
		}
		if addr == "unix:"+sock {
			file, _ := os.Stat(sock)
			dir, _ := os.Stat(filepath.Dir(sock))
			if file.Mode().Perm() != 0o600 || dir.Mode().Perm() != 0o700 {
				t.Errorf("socket %v in a folder %v", file.Mode(), dir.Mode())
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Serve(ctx, l) }()
		client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			return net.Dial(l.Addr().Network(), l.Addr().String())
		}}}
		for host, want := range map[string]int{"evil.example": 403, "localhost": 200} {
			req, _ := http.NewRequest("GET", "http://x/api/me", nil)
			req.Host = host
			p.as("viewer")(req)
			res, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != want {
				t.Errorf("%s, Host %s: %d, want %d", addr, host, res.StatusCode, want)
			}
		}
		client.CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("%s: %v", addr, err)
		}
		s.Close()
	}
}

// UI-001 to UI-004, UI-006: what a person is shown over HTTP is escaped, field by field, by the one escaper of all faces; what a
// program reads keeps the bytes.
func TestUI006_HostileTextOverHTTP(t *testing.T) {
	p := start(t, nil)
	hostile := "a\u200b\u202eb\u2066\U000e0020\u3164\r\x1b[2K<script>alert(1)</script>" + strings.Repeat(" ", 500) + "; touch CANARY"
	a, done := p.asked("write_file", map[string]any{"path": "ask/<img src=x onerror=alert(1)>.txt", "content": hostile})
	res := p.send("approver", "GET", "/api/asks/"+a.ID, nil)
	wantStatus(t, "ask", res, 200)
	var got core.Ask
	if err := json.Unmarshal(res.body, &got); err != nil {
		t.Fatal(err)
	}
	texts := []string{got.View.Title, got.View.Diff, got.View.Reason, got.View.Summary}
	for _, f := range got.View.Args {
		texts = append(texts, f.Name, f.Value)
	}
	for _, f := range got.View.Targets {
		texts = append(texts, f.Value, f.Given)
	}
	for _, s := range texts {
		if strings.ContainsAny(s, "\u200b\u202e\u2066\U000e0020\u3164\r\x1b") || strings.Contains(s, strings.Repeat(" ", 100)) {
			t.Errorf("shown raw: %.200q", s)
		}
	}
	if !strings.Contains(got.View.Diff, "touch CANARY") || len(got.View.Warnings) == 0 {
		t.Errorf("the tail is hidden, or nobody warns: %+v", got.View)
	}
	if strings.Contains(string(res.body), "<script>") || strings.Contains(string(res.body), "<img") {
		t.Error("JSON that a careless page could take for HTML")
	}
	words := "no\u202e\x1b[31m <b>never</b>"
	p.post("approver", "/api/asks/"+a.ID+"/answer", core.Answer{Words: words, Fingerprint: a.Fingerprint}, nil)
	if res := <-done; res.Denied == nil || res.Denied.Decision.Reason != words {
		t.Errorf("the words changed: %+v", res.Denied)
	}
	var call core.CallDetail
	p.get("viewer", "/api/sessions/main/calls/"+a.Call, &call)
	var args struct{ Content string }
	if err := json.Unmarshal(call.Args, &args); err != nil || args.Content != hostile {
		t.Errorf("the record does not keep the bytes: %q, %v", args.Content, err)
	}
}

// UI-007: one edit is one question; reads are none.
func TestUI007_OneQuestion(t *testing.T) {
	p := start(t, nil)
	p.write("r.txt", "x")
	for range 20 {
		p.call("read_file", map[string]any{"path": "r.txt"})
	}
	a, done := p.asked("write_file", map[string]any{"path": "ask/one", "content": "x"})
	p.post("approver", "/api/asks/"+a.ID+"/answer", core.Answer{Allow: true, Fingerprint: a.Fingerprint}, nil)
	if res := <-done; !res.OK() {
		t.Fatal(res.Text())
	}
	var calls core.Calls
	p.get("viewer", "/api/sessions/main/calls", &calls)
	asked := 0
	for _, c := range calls.Calls {
		var one core.CallDetail
		p.get("viewer", "/api/sessions/main/calls/"+c.ID, &one)
		asked += len(one.Asks)
	}
	if asked != 1 {
		t.Errorf("%d questions for one edit and twenty reads", asked)
	}
}

// UI-010: no page of ours can be framed, and none runs a script that stands in it.
func TestUI010_Frames(t *testing.T) {
	p := start(t, nil)
	for _, path := range []string{"/", "/login", "/api/me", "/nothing", "/healthz", "/mcp"} {
		a := p.do(p.request("GET", path, nil, p.as("admin"), header("Accept", "text/html")))
		csp := a.Header.Get("Content-Security-Policy")
		if !strings.Contains(csp, "frame-ancestors 'none'") || a.Header.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s can be framed: %v", path, a.Header)
		}
		if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: %s", path, csp)
		}
	}
}

// P8: the answer is bound to what was shown, and the second one is told who was first.
func TestP8_AnswersOverHTTP(t *testing.T) {
	p := start(t, nil)
	a, done := p.asked("write_file", map[string]any{"path": "ask/x", "content": "x"})
	path := "/api/asks/" + a.ID + "/answer"
	wantStatus(t, "another fingerprint", p.send("approver", "POST", path, core.Answer{Allow: true, Fingerprint: strings.Repeat("0", 64)}), 409)
	wantStatus(t, "no fingerprint", p.send("approver", "POST", path, core.Answer{Allow: true}), 409)
	wantStatus(t, "a scope that is not offered", p.send("approver", "POST", path, core.Answer{Allow: true, Scope: "forever", Fingerprint: a.Fingerprint}), 400)
	wantStatus(t, "hunks of one", p.send("approver", "POST", path, core.Answer{Allow: true, Hunks: []int{1}, Fingerprint: a.Fingerprint}), 400)
	wantStatus(t, "an unknown member", p.send("approver", "POST", path, map[string]any{"allow": true, "fingerprint": a.Fingerprint, "approver": map[string]string{"name": "admin"}}), 400)
	wantStatus(t, "two values", p.do(p.request("POST", path, `{"allow":true,"fingerprint":"`+a.Fingerprint+`"}{}`, p.as("approver"))), 400)
	wantStatus(t, "no such ask", p.send("approver", "POST", "/api/asks/ask_none/answer", core.Answer{Fingerprint: "x"}), 404)
	if len(p.box.Asks().Open()) != 1 {
		t.Fatal("an answer that was refused closed the ask")
	}
	var got core.Answered
	p.post("approver", path, core.Answer{Allow: true, Fingerprint: a.Fingerprint}, &got)
	if got.Decision.By != "person approver (api)" {
		t.Errorf("answered by %q", got.Decision.By)
	}
	late := p.send("admin", "POST", path, core.Answer{Fingerprint: a.Fingerprint})
	wantStatus(t, "the second answer", late, 409)
	if !strings.Contains(late.problem().Message, "person approver (api)") {
		t.Errorf("it does not name the winner: %s", late.body)
	}
	if res := <-done; !res.OK() {
		t.Error(res.Text())
	}
	var led core.Ledger
	p.get("viewer", "/api/ledger", &led)
	said := false
	for _, e := range led.Entries {
		said = said || e.Call == a.Call && e.By == "person approver (api)"
	}
	if !said {
		t.Error("the ledger does not say who answered")
	}
}

// Of many answers at once one wins, and every other is told so.
func TestP8_OneWinnerOverHTTP(t *testing.T) {
	p := start(t, nil)
	a, done := p.asked("write_file", map[string]any{"path": "ask/x", "content": "x"})
	const n = 16
	statuses := make(chan int, n)
	for range n {
		req := p.request("POST", "/api/asks/"+a.ID+"/answer", core.Answer{Allow: true, Fingerprint: a.Fingerprint}, p.as("approver"))
		go func() {
			res, err := p.web.Client().Do(req)
			if err != nil {
				t.Error(err)
				statuses <- 0
				return
			}
			res.Body.Close()
			statuses <- res.StatusCode
		}()
	}
	count := map[int]int{}
	for range n {
		count[<-statuses]++
	}
	if count[200] != 1 || count[409] != n-1 {
		t.Errorf("statuses: %v", count)
	}
	if res := <-done; !res.OK() {
		t.Error(res.Text())
	}
}

// While a server runs, asks wait; when it stops, they end with a ticket.
func TestP8_AsksEndWithTheServer(t *testing.T) {
	p := start(t, nil)
	_, done := p.asked("write_file", map[string]any{"path": "ask/x", "content": "x"})
	p.srv.Close()
	res := <-done
	if res.Denied == nil || res.Denied.Decision.Ticket == "" {
		t.Errorf("after the end: %+v", res.Denied)
	}
	if n := len(p.box.Asks().Open()); n != 0 {
		t.Errorf("%d asks are open", n)
	}
	_ = ask.Once
}
