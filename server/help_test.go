package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/mcp"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/tool"
)

// place is a server over a scratch project, with a token of each role. Edits below "ask/" ask, those below "no/" are denied.
type place struct {
	t          *testing.T
	dir, state string
	box        *tackle.Box
	srv        *Server
	web        *httptest.Server
	tokens     map[string]string // secrets by holder: viewer, approver, admin, and bot, which is an agent
}

func start(t *testing.T, change func(*Config)) *place {
	t.Helper()
	p := &place{t: t, dir: t.TempDir(), state: t.TempDir(), tokens: map[string]string{}}
	p.open(change)
	for name, role := range map[string]Role{"viewer": Viewer, "approver": Approver, "admin": Admin, "bot": Agent} {
		secret, _, err := p.srv.keys.Create(t.Context(), Token{Name: name, Role: role, Program: role == Agent}, 0)
		if err != nil {
			t.Fatal(err)
		}
		p.tokens[name] = secret
	}
	return p
}

// open starts the server; after a close it is another process over the same state.
func (p *place) open(change func(*Config)) {
	p.t.Helper()
	box, err := tackle.Open(p.t.Context(), tackle.Config{Dir: p.dir, StateDir: p.state, NoFiles: true, Session: "main",
		Rules: []permission.Rule{{Permission: "edit", Pattern: "ask/**", Action: tool.Ask, Reason: "look first"}, {Permission: "edit", Pattern: "no/**", Action: tool.Deny}}})
	if err != nil {
		p.t.Fatal(err)
	}
	m, err := mcp.NewServer(box, mcp.Config{Version: "test", View: box.View(), Dir: box.Dir()})
	if err != nil {
		p.t.Fatal(err)
	}
	cfg := Config{Box: box, Version: "test", MCP: m}
	if change != nil {
		change(&cfg)
	}
	if p.srv, err = New(cfg); err != nil {
		p.t.Fatal(err)
	}
	p.box, p.web = box, httptest.NewUnstartedServer(p.srv.Handler())
	p.web.Listener = tight{p.web.Listener}
	p.web.Start()
	web, srv := p.web, p.srv
	p.t.Cleanup(func() {
		srv.core.EndStreams()
		web.CloseClientConnections()
		web.Close()
		srv.Close()
		if err := box.Close(); err != nil {
			p.t.Error(err)
		}
	})
}

// tight gives connections small buffers, so that a client that does not read is noticed soon.
type tight struct{ net.Listener }

func (l tight) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if t, ok := c.(*net.TCPConn); ok {
		err = t.SetWriteBuffer(4 << 10)
	}
	return c, err
}

// close ends the process. Clients that stream are told.
func (p *place) close() {
	p.srv.core.EndStreams()
	p.web.Close()
	p.srv.Close()
	if err := p.box.Close(); err != nil {
		p.t.Error(err)
	}
}

type answer struct {
	*http.Response
	body []byte
}

func (a answer) problem() Problem {
	var p Problem
	_ = json.Unmarshal(a.body, &p)
	return p
}

// request makes one, with changes of the test.
func (p *place) request(method, path string, body any, change ...func(*http.Request)) *http.Request {
	p.t.Helper()
	var r io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		r = strings.NewReader(b)
	default:
		data, err := json.Marshal(b)
		if err != nil {
			p.t.Fatal(err)
		}
		r = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.web.URL+path, r)
	if err != nil {
		p.t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, c := range change {
		c(req)
	}
	return req
}

func (p *place) do(req *http.Request) answer {
	p.t.Helper()
	client := &http.Client{Transport: p.web.Client().Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return answer{res, data}
}

// as carries somebody's token.
func (p *place) as(name string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+p.tokens[name]) }
}

// send makes a request of somebody.
func (p *place) send(name, method, path string, body any) answer {
	p.t.Helper()
	return p.do(p.request(method, path, body, p.as(name)))
}

// get reads something and expects it.
func (p *place) get(name, path string, into any) {
	p.t.Helper()
	p.want(p.send(name, http.MethodGet, path, nil), into)
}

func (p *place) post(name, path string, body, into any) {
	p.t.Helper()
	p.want(p.send(name, http.MethodPost, path, body), into)
}

func (p *place) want(a answer, into any) {
	p.t.Helper()
	if a.StatusCode != http.StatusOK {
		p.t.Fatalf("%s %s: %d %s", a.Request.Method, a.Request.URL.Path, a.StatusCode, a.body)
	}
	if into != nil {
		if err := json.Unmarshal(a.body, into); err != nil {
			p.t.Fatalf("%s: %v in %s", a.Request.URL.Path, err, a.body)
		}
	}
}

func (p *place) call(name string, args map[string]any) tool.Result {
	p.t.Helper()
	res, err := p.box.Call(p.t.Context(), tackle.NewRequest(name, args))
	if err != nil {
		p.t.Fatal(err)
	}
	return res
}

func (p *place) write(path, content string) string {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(p.dir, path)), 0o700); err != nil {
		p.t.Fatal(err)
	}
	return p.call("write_file", map[string]any{"path": path, "content": content}).Meta.Call
}

// asked starts a call that waits for a person, and returns its ask and where its result comes.
func (p *place) asked(name string, args map[string]any) (*ask.Request, <-chan tool.Result) {
	p.t.Helper()
	return p.askedBy(tackle.NewRequest(name, args))
}

func (p *place) askedBy(req tackle.Request) (*ask.Request, <-chan tool.Result) {
	p.t.Helper()
	watch := p.box.Asks().Subscribe(ask.Audience{Watches: true})
	defer watch.Close()
	before := len(p.box.Asks().Open())
	done := make(chan tool.Result, 1)
	box := p.box
	go func() {
		res, err := box.Call(context.WithoutCancel(p.t.Context()), req)
		if err != nil {
			p.t.Error(err)
		}
		done <- res
	}()
	for {
		e, err := watch.Next(p.t.Context())
		if err != nil {
			p.t.Fatal(err)
		}
		if before--; e.Kind == ask.Opened && before < 0 {
			return e.Request, done
		}
	}
}

// login logs somebody in and returns the cookie and the token of its pages.
func (p *place) login(who Identity) (*http.Cookie, string) {
	p.t.Helper()
	path, err := p.srv.Code(p.t.Context(), who)
	if err != nil {
		p.t.Fatal(err)
	}
	a := p.do(p.request(http.MethodGet, path, nil))
	if a.StatusCode != http.StatusOK || len(a.Cookies()) != 1 {
		p.t.Fatalf("log in: %d %s", a.StatusCode, a.body)
	}
	c := a.Cookies()[0]
	return c, csrf(c.Value)
}

func withCookie(c *http.Cookie) func(*http.Request) {
	return func(r *http.Request) { r.AddCookie(c) }
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) {
		if name == "Host" {
			r.Host = value
			return
		}
		r.Header.Set(name, value)
	}
}

func wantStatus(t *testing.T, what string, a answer, want int) {
	t.Helper()
	if a.StatusCode != want {
		t.Errorf("%s: %d, want %d: %.200s", what, a.StatusCode, want, a.body)
	}
}
