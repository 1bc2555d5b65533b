package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// web is a served handler and two tokens for it.
type web struct {
	t      *testing.T
	url    string
	client *http.Client
	alice  string
	bob    string
}

func startWeb(t *testing.T, s *Server, change func(*HTTPConfig)) *web {
	t.Helper()
	w := &web{t: t, alice: NewSecret(), bob: NewSecret()}
	cfg := HTTPConfig{}
	for name, secret := range map[string]string{"alice": w.alice, "bob": w.bob} {
		tok, err := NewToken(name, secret)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Tokens = append(cfg.Tokens, tok)
	}
	if change != nil {
		change(&cfg)
	}
	h, err := Handler(map[string]*Server{"/mcp": s}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	w.url, w.client = srv.URL, srv.Client()
	return w
}

// send posts a body with alice's token; change may alter the request.
func (w *web) send(body string, change func(*http.Request)) *http.Response {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+"/mcp", strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+w.alice)
	if change != nil {
		change(req)
	}
	res, err := w.client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { res.Body.Close() })
	return res
}

// messages returns the messages of an answer, be it one body or a stream.
func messages(t *testing.T, res *http.Response) []message {
	t.Helper()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var raw [][]byte
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		for line := range bytes.SplitSeq(body, []byte("\n")) {
			if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
				raw = append(raw, data)
			}
		}
	} else {
		raw = append(raw, body)
	}
	var out []message
	for _, r := range raw {
		var m message
		if err := json.Unmarshal(r, &m); err != nil {
			t.Fatalf("status %d, %q: %v", res.StatusCode, r, err)
		}
		out = append(out, m)
	}
	return out
}

func modernHeaders(method, name string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Set(versionHeader, modernVersion)
		r.Header.Set("Mcp-Method", method)
		if name != "" {
			r.Header.Set("Mcp-Name", name)
		}
	}
}

func modernCall(id, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"echo","arguments":%s,"_meta":{%s}}}`, id, args, modernMeta("x", elicitation))
}

const initBody = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"x","version":"1"}}}`

// open starts a session of the older era with a token.
func (w *web) open(token string) (session string) {
	w.t.Helper()
	as := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	res := w.send(initBody, as)
	messages(w.t, res)
	session = res.Header.Get(sessionHeader)
	if res.StatusCode != 200 || session == "" {
		w.t.Fatalf("initialize: status %d", res.StatusCode)
	}
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, func(r *http.Request) { as(r); inSession(session)(r) })
	return session
}

func inSession(session string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Set(sessionHeader, session)
		r.Header.Set(versionHeader, "2025-06-18")
	}
}

// X3: both eras at one endpoint.
func TestX3_HTTPBothEras(t *testing.T) {
	w := startWeb(t, newTestServer(t, echoBox(), Config{}), nil)
	session := w.open(w.alice)
	legacy := messages(t, w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"path":"l"}}}`, inSession(session)))
	if got := legacy[0].call(t); got.text() != `echo {"path":"l"}` || got.ResultType != "" {
		t.Errorf("older era: %+v", got)
	}
	res := w.send(modernCall(`"a"`, `{"path":"m"}`), modernHeaders("tools/call", "echo"))
	if ct := res.Header.Get("Content-Type"); ct != "application/json" {
		t.Errorf("content type %s", ct)
	}
	m := messages(t, res)[0]
	if got := m.call(t); got.text() != `echo {"path":"m"}` || got.ResultType != "complete" || string(m.ID) != `"a"` {
		t.Errorf("newer era: %+v", got)
	}
	discover := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{` + modernMeta("x", "{}") + `}}}`
	if m := messages(t, w.send(discover, modernHeaders("server/discover", "")))[0]; m.Error != nil || !strings.Contains(string(m.Result), modernVersion) {
		t.Errorf("discover: %+v", m)
	}
	// Without the header the body decides, and the newer era then asks for the header.
	if m := messages(t, w.send(discover, nil))[0]; m.Error == nil || m.Error.Code != -32020 {
		t.Errorf("discover without header: %+v", m)
	}
}

// Bad input over HTTP: the status and the code of each.
func TestHTTPBadInput(t *testing.T) {
	w := startWeb(t, newTestServer(t, echoBox(), Config{}), func(c *HTTPConfig) { c.MaxBody = 1000 })
	session := w.open(w.alice)
	modern := modernHeaders("tools/call", "echo")
	for _, tt := range []struct {
		name   string
		body   string
		change func(*http.Request)
		status int
		code   int // 0: the body is no message
	}{
		{"no JSON", `{"jsonrpc"`, inSession(session), 400, 0},
		{"duplicate key", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, nil, 400, -32600},
		{"too large", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"x":"` + strings.Repeat("x", 1000) + `"}}`, modern, 413, 0},
		{"too large in a session", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"x":"` + strings.Repeat("x", 1000) + `"}}`, inSession(session), 413, 0},
		{"text/plain", modernCall("1", "{}"), func(r *http.Request) { modern(r); r.Header.Set("Content-Type", "text/plain") }, 415, 0},
		{"no accept", modernCall("1", "{}"), func(r *http.Request) { modern(r); r.Header.Set("Accept", "application/json") }, 400, 0},
		{"name in header differs", modernCall("1", "{}"), modernHeaders("tools/call", "other"), 400, -32020},
		{"unknown tool", strings.Replace(modernCall("1", "{}"), `"echo"`, `"nope"`, 1), modernHeaders("tools/call", "nope"), 400, -32602},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"no/such","params":{"_meta":{` + modernMeta("x", "{}") + `}}}`, modernHeaders("no/such", ""), 404, -32601},
		{"unknown revision", strings.Replace(modernCall("1", "{}"), modernVersion, "2099-01-01", 1), func(r *http.Request) { modern(r); r.Header.Set(versionHeader, "2099-01-01") }, 400, -32022},
		{"unknown old revision", initBody, func(r *http.Request) { r.Header.Set(versionHeader, "2020-01-01") }, 400, 0},
		{"unknown session", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, inSession("nope"), 404, 0},
		{"no session", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, nil, 200, 0},
	} {
		res := w.send(tt.body, tt.change)
		if res.StatusCode != tt.status {
			t.Errorf("%s: status %d, want %d", tt.name, res.StatusCode, tt.status)
			continue
		}
		if tt.code != 0 {
			if m := messages(t, res)[0]; m.Error == nil || m.Error.Code != tt.code {
				t.Errorf("%s: %+v, want code %d", tt.name, m.Error, tt.code)
			}
		}
	}
}

// X3: closing the stream cancels a call of the newer era.
func TestX3_HTTPCancel(t *testing.T) {
	box, begun, _, ended := gateBox()
	w := startWeb(t, newTestServer(t, box, Config{}), nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-begun
		cancel()
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/mcp", strings.NewReader(modernCall("1", "{}")))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+w.alice)
	modernHeaders("tools/call", "echo")(req)
	if res, err := w.client.Do(req); err == nil {
		res.Body.Close()
		t.Error("the request was answered")
	}
	if err := <-ended; err == nil {
		t.Error("the call ended by itself")
	}
}

// A session that ends takes its calls with it.
func TestHTTPDeleteEndsCalls(t *testing.T) {
	box, begun, _, ended := gateBox()
	over := make(chan string, 1)
	w := startWeb(t, newTestServer(t, box, Config{Ended: func(session string) { over <- session }}), nil)
	session := w.open(w.alice)
	answered := make(chan int, 1)
	go func() {
		res := w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{}}}`, inSession(session))
		io.Copy(io.Discard, res.Body)
		answered <- res.StatusCode
	}()
	<-begun
	res := w.send("", func(r *http.Request) { r.Method = http.MethodDelete; inSession(session)(r) })
	if res.StatusCode != http.StatusNoContent {
		t.Errorf("DELETE: %d", res.StatusCode)
	}
	if err := <-ended; err != errGone {
		t.Errorf("the call ended with %v", err)
	}
	<-answered
	if got, want := <-over, "mcp-alice-"+short(session); got != want {
		t.Errorf("session %q ended, want %q", got, want)
	}
	if res := w.send(`{"jsonrpc":"2.0","id":3,"method":"ping"}`, inSession(session)); res.StatusCode != 404 {
		t.Errorf("after DELETE: %d", res.StatusCode)
	}
}

// Progress turns the answer into a stream, in both eras.
func TestHTTPProgress(t *testing.T) {
	box := echoBox()
	box.call = func(_ context.Context, req toolbox.Request) (tool.Result, error) {
		req.Progress(1, 2, "half")
		return tool.TextResult("ok", nil), nil
	}
	w := startWeb(t, newTestServer(t, box, Config{}), nil)
	body := strings.Replace(modernCall("1", "{}"), `"_meta":{`, `"_meta":{"progressToken":"p",`, 1)
	session := w.open(w.alice)
	for name, res := range map[string]*http.Response{
		"newer": w.send(body, modernHeaders("tools/call", "echo")),
		"older": w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":"p"}}}`, inSession(session)),
	} {
		got := messages(t, res)
		if len(got) != 2 || got[0].Method != "notifications/progress" || !strings.Contains(string(got[0].Params), `"progress":1`) || got[1].call(t).text() != "ok" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// P8 over HTTP, newer era: the second round may come over another connection.
func TestP8_HTTPModern(t *testing.T) {
	w := startWeb(t, newTestServer(t, askBox(0), Config{}), nil)
	first := messages(t, w.send(modernCall("1", "{}"), modernHeaders("tools/call", "echo")))[0].call(t)
	if first.ResultType != "input_required" {
		t.Fatalf("%+v", first)
	}
	retry := strings.Replace(modernCall("2", "{}"), `"arguments"`, fmt.Sprintf(`"requestState":%q,"inputResponses":{"approval":{"action":"accept","content":{"answer":"allow this call"}}},"arguments"`, first.RequestState), 1)
	// MCP-015, WEB-013: another holder's state finds nothing; the call begins anew for them, with an ask of its own.
	stolen := messages(t, w.send(retry, func(r *http.Request) {
		modernHeaders("tools/call", "echo")(r)
		r.Header.Set("Authorization", "Bearer "+w.bob)
	}))[0].call(t)
	if stolen.ResultType != "input_required" || stolen.RequestState == first.RequestState {
		t.Errorf("bob with alice's state: %+v", stolen)
	}
	if got := messages(t, w.send(retry, modernHeaders("tools/call", "echo")))[0].call(t); !strings.HasPrefix(got.text(), "allow by") {
		t.Errorf("second round: %+v", got)
	}
}

// P8 over HTTP, older era: the question travels on the stream of the call.
func TestP8_HTTPLegacy(t *testing.T) {
	w := startWeb(t, newTestServer(t, askBox(0), Config{}), nil)
	session := w.open(w.alice)
	res := w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}`, inSession(session))
	events := bufio.NewScanner(res.Body)
	next := func() (m message) {
		for events.Scan() {
			if data, ok := strings.CutPrefix(events.Text(), "data: "); ok {
				if err := json.Unmarshal([]byte(data), &m); err != nil {
					t.Fatal(err)
				}
				return m
			}
		}
		t.Fatal("the stream ended")
		return m
	}
	ask := next()
	if ask.Method != "elicitation/create" {
		t.Fatalf("%+v", ask)
	}
	w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"answer":"allow this call"}}}`, ask.ID), inSession(session))
	if got := next().call(t).text(); !strings.HasPrefix(got, "allow by") {
		t.Errorf("%s", got)
	}
}

// The session of a call: the MCP session in the older era, token and endpoint in the newer one.
func TestHTTPSessions(t *testing.T) {
	names := make(chan string, 10)
	box := echoBox()
	box.call = func(_ context.Context, req toolbox.Request) (tool.Result, error) {
		names <- req.Session
		return tool.TextResult("", nil), nil
	}
	w := startWeb(t, newTestServer(t, box, Config{}), nil)
	modern := func(token string) string {
		messages(t, w.send(modernCall("1", "{}"), func(r *http.Request) {
			modernHeaders("tools/call", "echo")(r)
			r.Header.Set("Authorization", "Bearer "+token)
		}))
		return <-names
	}
	legacy := func(session string) string {
		messages(t, w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}`, inSession(session)))
		return <-names
	}
	a1, a2, b := modern(w.alice), modern(w.alice), modern(w.bob)
	if a1 != a2 || a1 == b {
		t.Errorf("newer era: %s %s %s", a1, a2, b)
	}
	s1, s2 := w.open(w.alice), w.open(w.alice)
	l1, l1b, l2 := legacy(s1), legacy(s1), legacy(s2)
	if l1 != l1b || l1 == l2 || l1 == a1 || strings.Contains(l1, s1) {
		t.Errorf("older era: %s %s %s", l1, l1b, l2)
	}
}

func TestHandlerErrors(t *testing.T) {
	s := newTestServer(t, echoBox(), Config{})
	one := map[string]*Server{"/mcp": s}
	tok, err := NewToken("a", NewSecret())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		endpoints map[string]*Server
		cfg       HTTPConfig
		want      string
	}{
		{nil, HTTPConfig{Open: true}, "no endpoints"},
		{one, HTTPConfig{}, "no tokens"},
		{one, HTTPConfig{Open: true, Tokens: []Token{tok}}, "exclude each other"},
		{one, HTTPConfig{Tokens: []Token{{Name: "x"}}}, "no digest"},
		{one, HTTPConfig{Open: true, Hosts: []string{"*.example.com"}}, "without port and wildcard"},
		{one, HTTPConfig{Open: true, Origins: []string{"example.com"}}, "want scheme://"},
		{one, HTTPConfig{Open: true, MaxBody: -1}, "must not be negative"},
		{map[string]*Server{"mcp": s}, HTTPConfig{Open: true}, "begins with /"},
	} {
		if _, err := Handler(tt.endpoints, tt.cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
	if _, err := NewToken("a", "short"); err == nil {
		t.Error("a short secret was accepted")
	}
}

// Several roots, or modes, are several endpoints.
func TestHTTPEndpoints(t *testing.T) {
	h, err := Handler(map[string]*Server{"/mcp": newTestServer(t, echoBox(), Config{Name: "one"}), "/mcp/plan": newTestServer(t, echoBox(), Config{Name: "two"})}, HTTPConfig{Open: true})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	defer srv.Close()
	for path, want := range map[string]string{"/mcp": `"name":"one"`, "/mcp/plan": `"name":"two"`, "/other": "404"} {
		res, err := http.Post(srv.URL+path, "application/json", strings.NewReader(initBody))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+path, strings.NewReader(initBody))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		res, err = http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if got := fmt.Sprintf("%d %s", res.StatusCode, body); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// A session of the older era: an id in use is refused, the owner cancels, a session that ends takes its calls along, and
// one that only calls tools is not taken for idle.
func TestHTTPSessionCalls(t *testing.T) {
	box, begun, release, ended := gateBox()
	s := newTestServer(t, box, Config{})
	w := startWeb(t, s, nil)
	session := w.open(w.alice)
	call := func(id string) *http.Response {
		return w.send(`{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"echo","arguments":{}}}`, inSession(session))
	}
	first := make(chan *http.Response, 1)
	go func() { first <- call("5") }()
	<-begun
	if m := messages(t, call("5"))[0]; m.Error == nil || !strings.Contains(m.Error.Message, "5 is in use") {
		t.Errorf("%+v", m)
	}
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`, inSession(session))
	if err := <-ended; err != errCancelled {
		t.Errorf("cancelled: %v", err)
	}
	if res := <-first; res.StatusCode != http.StatusNoContent {
		t.Errorf("a cancelled request was answered with %d", res.StatusCode)
	}
	close(release)
	v, ok := s.web.all.Load(session)
	if !ok {
		t.Fatal("the session is not known")
	}
	ws := v.(*webSession)
	ws.mu.Lock()
	ws.touched = ws.touched.Add(-DefaultSessionTimeout)
	old := ws.touched
	ws.mu.Unlock()
	if got := messages(t, call("6"))[0].call(t); got.text() != "released" {
		t.Errorf("%+v", got)
	}
	ws.mu.Lock()
	touched := ws.touched.After(old)
	ws.mu.Unlock()
	if !touched {
		t.Error("the SDK was not told that the session is in use")
	}
}
