package server

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // a second writer beside the server

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/server/internal/core"
)

// X4: bodies beyond the limit are refused, whether they say how long they are or not, and the server goes on.
func TestX4_LargeBodies(t *testing.T) {
	p := start(t, nil)
	big := `{"tool":"x","args":{"a":"` + strings.Repeat("x", 17<<20) + `"}}`
	for path, body := range map[string]string{"/api/calls": big, "/api/why": big[:2<<20], "/api/undo": big[:2<<20], "/api/asks/x/answer": big[:2<<20], "/api/tokens": big[:2<<20]} {
		wantStatus(t, path, p.send("admin", "POST", path, body), 413)
		req := p.request("POST", path, body, p.as("admin"))
		req.ContentLength, req.Body = -1, io.NopCloser(strings.NewReader(body))
		wantStatus(t, path+" of unknown length", p.do(req), 413)
	}
	p.get("viewer", "/api/me", nil)
	head := p.request("GET", "/api/me", nil, p.as("viewer"), header("X-Long", strings.Repeat("x", 2<<20)))
	if res, err := p.web.Client().Do(head); err == nil {
		res.Body.Close()
		if res.StatusCode != 431 {
			t.Errorf("a header of two megabytes: %d", res.StatusCode)
		}
	}
}

// X4: what is no JSON, or no such JSON, is refused with what is wrong.
func TestX4_OddBodies(t *testing.T) {
	p := start(t, nil)
	for body, says := range map[string]string{"": "EOF", "{": "EOF", "[]": "array", "null x": "goes on", `{"tool":1}`: "number", `{"tool":"a","tol":"b"}`: "tol", "\x00": "invalid character",
		strings.Repeat(`{"args":`, 20000): ""} {
		a := p.send("admin", "POST", "/api/calls", body)
		wantStatus(t, fmt.Sprintf("%.30q", body), a, 400)
		if !strings.Contains(a.problem().Message, says) {
			t.Errorf("%.30q: the refusal does not say %q: %s", body, says, a.body)
		}
	}
	for query, says := range map[string]string{"limit=x": "whole number", "since=yesterday": "2026-01-31T14:00:00Z", "limit=1&limit=2": "2 times", "colour=red": "there are: limit"} {
		a := p.send("viewer", "GET", "/api/sessions?"+query, nil)
		wantStatus(t, query, a, 400)
		if !strings.Contains(a.problem().Message, says) {
			t.Errorf("%s: %s", query, a.body)
		}
	}
	wantStatus(t, "another method", p.send("admin", "PUT", "/api/calls", `{}`), 405)
	wantStatus(t, "another path", p.send("admin", "GET", "/api/nothing", nil), 404)
	wantStatus(t, "a negative number", p.send("viewer", "GET", "/api/sessions?limit=-5", nil), 200)
}

// X4: bytes that are no HTTP, and requests that never end, hurt nobody else.
func TestX4_OddConnections(t *testing.T) {
	p := start(t, nil)
	addr := p.web.Listener.Addr().String()
	for _, text := range []string{"\x16\x03\x01\x02\x00", "GET / HTTP/9.9\r\n\r\n", "GET /api/me HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", "POST /api/calls HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"} {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, text)
		c.(*net.TCPConn).CloseWrite()
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err == nil && res.StatusCode < 400 {
			t.Errorf("%.30q: %d", text, res.StatusCode)
		}
		c.Close()
	}
	slow, err := net.Dial("tcp", addr) // sends a part and waits
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	fmt.Fprintf(slow, "POST /api/calls HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", p.tokens["admin"])
	p.get("viewer", "/api/me", nil)
}

// X4: who never ends a body holds no connection: not where it is read, and not where it is refused unread.
func TestX4_BodiesThatNeverEnd(t *testing.T) {
	p := start(t, nil)
	p.srv.bodyTime = 50 * time.Millisecond
	for _, at := range []string{"/api/calls", "/mcp", "/login", "/logout", "/healthz", "/asks/x", "/api/nothing"} {
		for _, auth := range []string{"", "Authorization: Bearer " + p.tokens["admin"] + "\r\n"} {
			c, err := net.Dial("tcp", p.web.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			c.SetDeadline(time.Now().Add(time.Minute))
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", at, auth)
			if res, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
				t.Errorf("POST %s: no answer: %v", at, err)
			} else if at != "/logout" && res.StatusCode < 400 && at != "/login" {
				t.Errorf("POST %s: %d", at, res.StatusCode)
			}
			c.Close()
		}
	}
}

// deadlines remembers the read deadlines that a handler sets.
type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.set = append(d.set, at)
	return nil
}

// P8: the time to send a body is bounded, the time that a call may wait for a person is not bounded by it.
func TestP8_WaitingCallsHaveNoReadDeadline(t *testing.T) {
	p := start(t, nil)
	req := p.request("POST", "/api/calls", core.CallInput{Tool: "list_dir", Args: json.RawMessage(`{"path":"."}`)}, p.as("admin"), header("Host", "localhost"))
	d := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	p.srv.Handler().ServeHTTP(d, req)
	if d.Code != 200 || len(d.set) != 2 || d.set[0].IsZero() || !d.set[1].IsZero() {
		t.Errorf("%d, deadlines %v", d.Code, d.set)
	}
}

// X4: while another process holds the database, what is read is still answered, and what would be stored is refused with what to
// do. Afterwards everything goes on.
func TestX4_LockedDatabase(t *testing.T) {
	p := start(t, nil)
	p.write("a.txt", "x")
	a, done := p.asked("write_file", map[string]any{"path": "ask/x", "content": "x"})
	path, err := p.srv.Code(t.Context(), Identity{Name: "approver", Role: Approver})
	if err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite", filepath.Join(p.state, "tackle.db")+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tx, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/api/me", "/api/sessions", "/api/sessions/main/calls", "/api/asks", "/api/ledger", "/api/usage", "/metrics"} {
		p.get("viewer", path, nil)
	}
	wantStatus(t, "ready", p.do(p.request("GET", "/readyz", nil)), 200)
	results := make(chan answer, 2) // each waits for the lock as long as the store does, one after the other
	for _, req := range []*http.Request{
		p.request("POST", "/api/tokens", NewToken{Name: "x", Role: Viewer}, p.as("admin")),
		p.request("GET", path, nil),
	} {
		go func() { results <- p.do(req) }()
	}
	for range 2 {
		a := <-results
		wantStatus(t, a.Request.URL.Path, a, 503)
		if a.Request.URL.Path != "/login" && (!strings.Contains(a.problem().Message, "locked") || a.Header.Get("Retry-After") == "") {
			t.Errorf("%s: %s", a.Request.URL.Path, a.body)
		}
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	p.post("admin", "/api/calls", core.CallInput{Tool: "list_dir", Args: json.RawMessage(`{"path":"."}`)}, nil)
	wantStatus(t, "the code, which was not used up", p.do(p.request("GET", path, nil)), 200)
	p.post("approver", "/api/asks/"+a.ID+"/answer", core.Answer{Allow: true, Fingerprint: a.Fingerprint}, nil)
	if res := <-done; !res.OK() {
		t.Error(res.Text())
	}
}

// X4: retention removes what was not used, never what is in use, and the ledger says so.
func TestX4_Retention(t *testing.T) {
	p := start(t, nil)
	for _, s := range []string{"old", "new"} {
		p.post("admin", "/api/calls", core.CallInput{Tool: "list_dir", Session: s, Args: json.RawMessage(`{"path":"."}`)}, nil)
	}
	p.write("main.txt", "x")
	req := tackle.NewRequest("write_file", map[string]any{"path": "ask/w", "content": "x"})
	req.Session = "waits"
	a, done := p.askedBy(req)
	wantStatus(t, "nothing selected", p.send("admin", "POST", "/api/purge", PurgeInput{}), 400)
	wantStatus(t, "an approver", p.send("approver", "POST", "/api/purge", PurgeInput{Hours: 1}), 403)
	wantStatus(t, "the session of the server", p.send("admin", "DELETE", "/api/sessions/main", nil), 409)
	wantStatus(t, "a session that waits", p.send("admin", "DELETE", "/api/sessions/waits", nil), 409)
	wantStatus(t, "no session", p.send("admin", "DELETE", "/api/sessions/none", nil), 404)
	var got core.Purged
	p.post("admin", "/api/purge", PurgeInput{Sessions: []string{"old"}, Plan: true}, &got)
	if len(got.Sessions) != 1 {
		t.Errorf("plan: %+v", got)
	}
	p.get("viewer", "/api/sessions/old", nil)
	p.post("admin", "/api/purge", PurgeInput{Sessions: []string{"old"}}, &got)
	wantStatus(t, "a removed session", p.send("viewer", "GET", "/api/sessions/old", nil), 404)
	p.get("viewer", "/api/sessions/new", nil)
	// What was used just now is young, whatever the clock of the machine does to a limit of nothing.
	all, err := p.srv.core.Purge(t.Context(), Identity{Name: "retention", Role: Admin, Program: true}, core.PurgeInput{Unused: 1})
	if err != nil || len(all.Sessions) != 1 || all.Sessions[0] != "new" {
		t.Errorf("unused: %+v, %v", all, err)
	}
	var led core.Ledger
	p.get("viewer", "/api/ledger?limit=1000", &led)
	said := 0
	for _, e := range led.Entries {
		if strings.Contains(e.Reason, "removed") && (e.By == "person admin (api)" || e.By == "program retention") {
			said++
		}
	}
	if said != 2 {
		t.Errorf("the ledger tells of %d removals of 2", said)
	}
	var whole core.Verified
	if p.get("viewer", "/api/ledger/verify", &whole); !whole.Whole {
		t.Errorf("the ledger: %+v", whole)
	}
	p.post("approver", "/api/asks/"+a.ID+"/answer", core.Answer{Words: "no", Fingerprint: a.Fingerprint}, nil)
	<-done
}

// X4: a copy of the database opens, and holds what there was.
func TestX4_Backup(t *testing.T) {
	p := start(t, nil)
	p.write("a.txt", "x")
	var made Copy
	p.post("admin", "/api/backup", nil, &made)
	if info, err := os.Stat(made.Path); err != nil || info.Mode().Perm() != 0o600 || info.Size() != made.Size || filepath.Dir(made.Path) != p.state {
		t.Fatalf("copy %+v: %v", made, err)
	}
	dir := t.TempDir()
	if err := os.Rename(made.Path, filepath.Join(dir, "tackle.db")); err != nil {
		t.Fatal(err)
	}
	box, err := tackle.Open(t.Context(), tackle.Config{Dir: p.dir, StateDir: dir, NoFiles: true})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	if recs, err := box.Calls(t.Context(), "main"); err != nil || len(recs) == 0 {
		t.Errorf("the copy has %d records, %v", len(recs), err)
	}
}
