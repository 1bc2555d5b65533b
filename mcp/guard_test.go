package mcp

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func plain(r *http.Request) { modernHeaders("tools/call", "echo")(r) }

// WEB-001, WEB-002, WEB-003, WEB-018: a foreign Host is refused, whatever the listener.
func TestWEB001_Host(t *testing.T) {
	w := startWeb(t, newTestServer(t, echoBox(), Config{}), func(c *HTTPConfig) { c.Hosts = []string{"Tools.example"} })
	for host, want := range map[string]int{
		"evil.example": 403, "rebind.test:8080": 403, "localhost.evil.example": 403, "127.0.0.1.evil.example": 403, "": 200, "169.254.169.254": 403, "0.0.0.0:80": 403,
		"localhost": 200, "LOCALHOST:1": 200, "127.0.0.1:9": 200, "[::1]:9": 200, "[::1]": 200, "tools.example": 200, "tools.example:443": 200, "x.tools.example": 403,
	} {
		res := w.send(modernCall("1", "{}"), func(r *http.Request) { plain(r); r.Host = host })
		if res.StatusCode != want {
			t.Errorf("Host %q: %d, want %d", host, res.StatusCode, want)
		}
	}
}

// WEB-001 on an IPv6 and on a socket listener (WEB-018).
func TestWEB018_EveryListener(t *testing.T) {
	h, err := Handler(map[string]*Server{"/mcp": newTestServer(t, echoBox(), Config{})}, HTTPConfig{Open: true})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "s")
	addrs := []string{"127.0.0.1:0", ":0", "unix:" + filepath.Join(dir, "mcp.sock")}
	if l, err := net.Listen("tcp", "[::1]:0"); err == nil {
		l.Close()
		addrs = append(addrs, "[::1]:0")
	}
	for _, addr := range addrs {
		l, err := Listen(addr, false)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		ctx, cancel := contextOf(t)
		go func() { done <- Serve(ctx, l, h, nil) }()
		client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			return net.Dial(l.Addr().Network(), l.Addr().String())
		}}}
		for host, want := range map[string]int{"evil.example": 403, "localhost": 200} {
			req, _ := http.NewRequest(http.MethodPost, "http://x/mcp", strings.NewReader(modernCall("1", "{}")))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			plain(req)
			req.Host = host
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
			t.Errorf("Serve: %v", err)
		}
	}
}

// WEB-004, WEB-009: a foreign Origin is refused, and no answer lets a page read it.
func TestWEB004_Origin(t *testing.T) {
	w := startWeb(t, newTestServer(t, echoBox(), Config{}), func(c *HTTPConfig) { c.Origins = []string{"https://console.example"} })
	for origin, want := range map[string]int{
		"https://evil.example": 403, "null": 403, "http://localhost.evil.example": 403, "http://localhost:1@evil.example": 403, "file://": 403,
		"https://console.example.evil": 403, "http://console.example": 403, "chrome-extension://abc": 403, "": 403,
		"https://console.example": 200, "http://localhost:9999": 200, w.url: 200,
	} {
		res := w.send(modernCall("1", "{}"), func(r *http.Request) { plain(r); r.Header.Set("Origin", origin) })
		if res.StatusCode != want {
			t.Errorf("Origin %q: %d, want %d", origin, res.StatusCode, want)
		}
		for name := range res.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("Origin %q: the answer has %s", origin, name)
			}
		}
	}
	res := w.send("", func(r *http.Request) {
		r.Method = http.MethodOptions
		r.Header.Set("Origin", "https://evil.example")
		r.Header.Set("Access-Control-Request-Method", "POST")
		r.Header.Set("Access-Control-Request-Private-Network", "true")
	})
	if res.StatusCode != 403 || res.Header.Get("Access-Control-Allow-Private-Network") != "" {
		t.Errorf("preflight: %d %v", res.StatusCode, res.Header)
	}
}

// WEB-005, WEB-006, WEB-008, WEB-011: without a token nothing is served; a cookie or a URL is no token.
func TestWEB005_Token(t *testing.T) {
	w := startWeb(t, newTestServer(t, echoBox(), Config{}), nil)
	for name, change := range map[string]func(*http.Request){
		"none":           func(r *http.Request) { r.Header.Del("Authorization") },
		"wrong":          func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+NewSecret()) },
		"prefix":         func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+w.clientA[:40]) },
		"basic":          func(r *http.Request) { r.Header.Set("Authorization", "Basic "+w.clientA) },
		"cookie":         func(r *http.Request) { r.Header.Del("Authorization"); r.Header.Set("Cookie", "token="+w.clientA) },
		"in the URL":     func(r *http.Request) { r.Header.Del("Authorization"); r.URL.RawQuery = "access_token=" + w.clientA },
		"localhost page": func(r *http.Request) { r.Header.Del("Authorization"); r.Header.Set("Origin", "http://localhost:9999") },
		"another route":  func(r *http.Request) { r.Header.Del("Authorization"); r.URL.Path = "/" },
		"form of a page": func(r *http.Request) { r.Header.Del("Authorization"); r.Header.Set("Content-Type", "text/plain") },
		"websocket upgrade": func(r *http.Request) {
			r.Header.Del("Authorization")
			r.Method = http.MethodGet
			r.Header.Set("Upgrade", "websocket")
			r.Header.Set("Connection", "Upgrade")
		},
	} {
		if res := w.send(modernCall("1", "{}"), func(r *http.Request) { plain(r); change(r) }); res.StatusCode != 401 {
			t.Errorf("%s: %d, want 401", name, res.StatusCode)
		}
	}
	// WEB-007: an upgrade from a foreign page is refused before anything else.
	res := w.send("", func(r *http.Request) {
		r.Method = http.MethodGet
		r.Header.Set("Upgrade", "websocket")
		r.Header.Set("Connection", "Upgrade")
		r.Header.Set("Origin", "https://evil.example")
	})
	if res.StatusCode != 403 {
		t.Errorf("upgrade with a foreign origin: %d", res.StatusCode)
	}
}

// WEB-011 without tokens: only pages of this very server may call.
func TestWEB011_OpenServer(t *testing.T) {
	w := startWeb(t, newTestServer(t, echoBox(), Config{}), func(c *HTTPConfig) { c.Open, c.Tokens = true, nil })
	for origin, want := range map[string]int{"http://localhost:9999": 403, w.url: 200} {
		if res := w.send(modernCall("1", "{}"), func(r *http.Request) { plain(r); r.Header.Set("Origin", origin) }); res.StatusCode != want {
			t.Errorf("Origin %s: %d, want %d", origin, res.StatusCode, want)
		}
	}
}

// WEB-010: the default address is the loopback one; another needs to be asked for.
func TestWEB010_Listen(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", "[::]:0", "192.0.2.1:0", "nonsense"} {
		if l, err := Listen(addr, false); err == nil {
			l.Close()
			t.Errorf("%s was opened", addr)
		}
	}
	l, err := Listen(":0", false)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if !strings.HasPrefix(l.Addr().String(), "127.0.0.1:") {
		t.Errorf("address %s", l.Addr())
	}
}

// WEB-013: a session id is no credential.
func TestWEB013_ForeignSession(t *testing.T) {
	w := startWeb(t, newTestServer(t, echoBox(), Config{}), nil)
	session := w.open(w.clientA)
	for method, body := range map[string]string{http.MethodPost: `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, http.MethodGet: "", http.MethodDelete: ""} {
		res := w.send(body, func(r *http.Request) {
			r.Method = method
			inSession(session)(r)
			r.Header.Set("Authorization", "Bearer "+w.clientB)
		})
		if res.StatusCode != 403 {
			t.Errorf("%s with another's session: %d", method, res.StatusCode)
		}
	}
	if res := w.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`, inSession(session)); res.StatusCode != 200 {
		t.Errorf("the session of clientA: %d", res.StatusCode)
	}
}

// WEB-016: secrets are 32 random bytes, and differ.
func TestWEB016_Secrets(t *testing.T) {
	a, b := NewSecret(), NewSecret()
	if a == b || len(a) != 43 {
		t.Errorf("%q %q", a, b)
	}
	tok, err := NewToken("a", a)
	if err != nil || strings.Contains(string(tok.Digest[:]), a) {
		t.Errorf("%+v %v", tok, err)
	}
}

// WEB-017: the socket is for its user alone.
func TestWEB017_Socket(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes of files mean nothing here")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen("unix:"+filepath.Join(dir, "a.sock"), false); err == nil || !strings.Contains(err.Error(), "want 0700") {
		t.Errorf("in a folder of others: %v", err)
	}
	path := filepath.Join(dir, "own", "a.sock")
	l, err := Listen("unix:"+path, false)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if _, err := Listen("unix:"+path, false); err == nil || !strings.Contains(err.Error(), "another server") {
		t.Errorf("twice: %v", err)
	}
	accepted := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			c.Close()
		}
		accepted <- err
	}()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if err := <-accepted; err != nil {
		t.Error(err)
	}
	l.Close()
}
