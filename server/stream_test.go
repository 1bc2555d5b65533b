package server

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/server/internal/core"
)

// client reads a stream of events as a browser does.
type client struct {
	t    *testing.T
	body io.ReadCloser
	r    *bufio.Reader
	last string // id
}

type frame struct {
	id, name string
	data     []byte
}

func (p *place) follow(name, query, last string) *client {
	p.t.Helper()
	req := p.request(http.MethodGet, "/api/events"+query, nil, p.as(name))
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := p.web.Client().Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		data, _ := io.ReadAll(res.Body)
		p.t.Fatalf("stream: %d %s", res.StatusCode, data)
	}
	return &client{t: p.t, body: res.Body, r: bufio.NewReader(res.Body), last: last}
}

// read returns the next event or notice, or why there is none.
func (c *client) read() (frame, error) {
	var f frame
	for {
		line, err := c.r.ReadString('\n')
		if err != nil {
			return f, err
		}
		line = strings.TrimSuffix(line, "\n")
		key, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "" && f.data != nil:
			if f.id != "" {
				c.last = f.id
			}
			return f, nil
		case key == "id":
			f.id = value
		case key == "event":
			f.name = value
		case key == "data":
			f.data = []byte(value)
		}
	}
}

func (c *client) next() frame {
	c.t.Helper()
	f, err := c.read()
	if err != nil {
		c.t.Fatalf("stream: %v", err)
	}
	return f
}

// until reads events up to one of a name.
func (c *client) until(name string) core.Event {
	c.t.Helper()
	for {
		if f := c.next(); f.name == name {
			var e core.Event
			if err := json.Unmarshal(f.data, &e); err != nil {
				c.t.Fatal(err)
			}
			return e
		}
	}
}

func TestX4_StreamGoesOnAfterARestart(t *testing.T) {
	p := start(t, nil)
	c := p.follow("viewer", "", "")
	if f := c.next(); f.name != "hello" || f.id == "" {
		t.Fatalf("first: %+v", f)
	}
	first := p.write("1.txt", "1")
	if e := c.until(core.CallEnded); e.Call != first || e.State != core.OK {
		t.Errorf("event: %+v", e)
	}
	p.close()
	var said string
	for {
		f, err := c.read()
		if err != nil {
			break // of the connection
		}
		said = f.name
	}
	if said != "closing" {
		t.Errorf("the last notice was %q", said)
	}
	p.open(nil)
	second := p.write("2.txt", "2") // before the client is back
	again := p.follow("viewer", "", c.last)
	if e := again.until(core.CallEnded); e.Call != second {
		t.Errorf("missed %s, got %s", second, e.Call)
	}
	third := p.write("3.txt", "3")
	if e := again.until(core.CallEnded); e.Call != third {
		t.Errorf("then: %+v", e)
	}
	lost := p.follow("viewer", "", "999999")
	var hello Hello
	if err := json.Unmarshal(lost.next().data, &hello); err != nil || !hello.Reset {
		t.Errorf("an id of another store: %+v, %v", hello, err)
	}
}

func TestX4_StreamRefusals(t *testing.T) {
	p := start(t, func(c *Config) { c.Streams = 1 })
	for query, want := range map[string]int{"?types=nothing": 400, "?after=x": 400, "?after=-3": 400, "?color=red": 400} {
		wantStatus(t, query, p.send("viewer", http.MethodGet, "/api/events"+query, nil), want)
	}
	wantStatus(t, "an agent", p.send("bot", http.MethodGet, "/api/events", nil), 403)
	p.follow("viewer", "", "").next()
	a := p.send("viewer", http.MethodGet, "/api/events", nil)
	wantStatus(t, "one too many", a, 503)
	if a.Header.Get("Retry-After") == "" {
		t.Error("it does not say when to come back")
	}
}

// A client that stops reading is dropped with a notice, the others go on, and it gets what it missed when it comes back.
func TestX4_SlowClientIsDropped(t *testing.T) {
	p := start(t, func(c *Config) { c.Buffer = 8 })
	p.srv.patience = time.Hour // a busy machine is no dead client
	slow := p.follow("viewer", "?types=call.ended", "")
	slow.next()
	fast := p.follow("approver", "?types=call.ended", "")
	fast.next()
	p.write("0.txt", "")
	slow.until(core.CallEnded)
	fast.until(core.CallEnded)
	long := strings.Repeat("x", 20<<10) // the name of a tool that does not exist makes an event large
	var ids []int64
	for len(ids) < 150 {
		p.call("no_"+long+strconv.Itoa(len(ids)), nil)
		ids = append(ids, fast.until(core.CallEnded).ID)
	}
	got := 0
	for {
		f, err := slow.read()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("ended without a notice after %d events", got)
		}
		if err != nil {
			t.Fatal(err)
		}
		if f.name == "dropped" {
			var n Notice
			if err := json.Unmarshal(f.data, &n); err != nil || strconv.FormatInt(n.Last, 10) != slow.last {
				t.Errorf("notice %s after id %s", f.data, slow.last)
			}
			break
		}
		if f.id != strconv.FormatInt(ids[got], 10) {
			t.Fatalf("event %d has id %s, want %d", got, f.id, ids[got])
		}
		got++
	}
	if got == len(ids) {
		t.Fatal("nothing was missed: the test is too small")
	}
	again := p.follow("viewer", "?types=call.ended", slow.last)
	again.next()
	for ; got < len(ids); got++ {
		if f := again.next(); f.id != strconv.FormatInt(ids[got], 10) {
			t.Fatalf("after coming back: event %d has id %s, want %d", got, f.id, ids[got])
		}
	}
}

// WEB-016: a stream ends with the token that it came with, also where there is always something to send.
func TestWEB016_BusyStreamsEndWithTheirToken(t *testing.T) {
	p := start(t, nil)
	p.srv.beat = time.Second
	secret, token, err := p.srv.keys.Create(t.Context(), Token{Name: "other", Role: Viewer}, 0)
	if err != nil {
		t.Fatal(err)
	}
	p.tokens["other"] = secret
	c := p.follow("other", "", "")
	c.next()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				p.call("no_such_tool", nil)
			}
		}
	}()
	defer func() { close(stop); <-done }()
	c.until(core.CallEnded)
	p.send("admin", http.MethodDelete, "/api/tokens/"+token.ID, nil)
	for {
		f, err := c.read()
		if err != nil {
			t.Fatalf("ended without a notice: %v", err)
		}
		if f.name == "expired" {
			return
		}
	}
}
