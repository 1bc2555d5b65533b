package mcp

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// slowBox takes as long as the path of the call says.
func slowBox() *stubBox {
	box := echoBox()
	box.call = func(ctx context.Context, req toolbox.Request) (tool.Result, error) {
		var d time.Duration
		if _, after, ok := strings.Cut(string(req.Args), `"path":"`); ok {
			d, _ = time.ParseDuration(after[:strings.IndexByte(after, '"')])
		}
		select {
		case <-time.After(d):
			return tool.TextResult(fmt.Sprintf("done after %v", d), nil), nil
		case <-ctx.Done():
			e := tool.Errorf(tool.Cancelled, "%v", context.Cause(ctx))
			return tool.Result{Err: e, Parts: []tool.Part{tool.Text(e.Render())}}, nil
		}
	}
	return box
}

var callID = regexp.MustCompile(`c-[A-Z2-7]{12}`)

// H6: no call is held longer than the budget; it answers with a handle, and a wait call follows.
func TestH6_Budget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startStdio(t, newTestServer(t, slowBox(), Config{}))
		defer c.in.Close()
		c.initialize("x", "{}")
		began := time.Now()
		first := c.request("tools/call", `{"name":"echo","arguments":{"path":"130s"}}`).call(t)
		if d := time.Since(began); d != DefaultBudget {
			t.Errorf("the first answer took %v", d)
		}
		id := callID.FindString(first.text())
		if id == "" || first.IsError || !strings.Contains(first.text(), "echo is still running after 50s") || !strings.Contains(first.text(), "call_wait") {
			t.Fatalf("first: %+v", first)
		}
		wait := func(args string) callResult {
			return c.request("tools/call", `{"name":"call_wait","arguments":`+args+`}`).call(t)
		}
		if got := wait(`{"id":"` + id + `","timeout":10}`); callID.FindString(got.text()) != id || time.Since(began) != 60*time.Second {
			t.Errorf("second: %+v at %v", got, time.Since(began))
		}
		if got := wait(`{"id":"` + id + `"}`); callID.FindString(got.text()) != id {
			t.Errorf("third: %+v", got)
		}
		if got := wait(`{"id":"` + id + `"}`); got.text() != "done after 2m10s" || time.Since(began) != 130*time.Second {
			t.Errorf("fourth: %+v at %v", got, time.Since(began))
		}
		if got := wait(`{"id":"` + id + `"}`); got.text() != "done after 2m10s" {
			t.Errorf("the result is kept: %+v", got)
		}
		time.Sleep(DefaultRetention + time.Second) // of the bubble's clock
		if got := wait(`{"id":"` + id + `"}`); !got.IsError || !strings.Contains(got.text(), "NOT_FOUND") {
			t.Errorf("after the retention: %+v", got)
		}
	})
}

// H6: the wait call can end what it waits for; a cancelled wait does not.
func TestH6_StopAndCancelledWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startStdio(t, newTestServer(t, slowBox(), Config{Budget: time.Second}))
		defer c.in.Close()
		c.initialize("x", "{}")
		id := callID.FindString(c.request("tools/call", `{"name":"echo","arguments":{"path":"1h"}}`).call(t).text())
		c.send(`{"jsonrpc":"2.0","id":"w","method":"tools/call","params":{"name":"call_wait","arguments":{"id":"` + id + `"}}}`)
		synctest.Wait()
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w"}}`)
		synctest.Wait()
		unknown := c.request("tools/call", `{"name":"call_wait","arguments":{"id":"c-NOSUCHCALL22"}}`).call(t)
		if !unknown.IsError || !strings.Contains(unknown.text(), id+" (echo)") {
			t.Errorf("the call goes on after a cancelled wait: %+v", unknown)
		}
		stopped := c.request("tools/call", `{"name":"call_wait","arguments":{"id":"`+id+`","stop":"true"}}`).call(t)
		if !stopped.IsError || !strings.Contains(stopped.text(), errStopped.Error()) {
			t.Errorf("stopped: %+v", stopped)
		}
		bad := c.request("tools/call", `{"name":"call_wait","arguments":{}}`).call(t)
		if !bad.IsError || !strings.Contains(bad.text(), "id") {
			t.Errorf("without id: %+v", bad)
		}
	})
}

// Without a budget the wait tool is not there, and calls are held.
func TestNoBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startStdio(t, newTestServer(t, slowBox(), Config{Budget: -1}))
		defer c.in.Close()
		c.initialize("x", "{}")
		if m := c.request("tools/list", "{}"); strings.Contains(string(m.Result), waitName) {
			t.Errorf("tools: %s", m.Result)
		}
		if got := c.request("tools/call", `{"name":"echo","arguments":{"path":"1h"}}`).call(t); got.text() != "done after 1h0m0s" {
			t.Errorf("%+v", got)
		}
	})
}

// A silent call keeps its client with a report every ten seconds; a token is needed.
func TestKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startStdio(t, newTestServer(t, slowBox(), Config{}))
		defer c.in.Close()
		c.initialize("x", "{}")
		m := c.request("tools/call", `{"name":"echo","arguments":{"path":"35s"},"_meta":{"progressToken":"p-1"}}`)
		var values []string
		for m.Method == "notifications/progress" {
			values = append(values, string(m.Params))
			m = c.receive()
		}
		want := []string{`{"progressToken":"p-1","progress":0,"message":"running for 10s"}`, `{"progressToken":"p-1","progress":0.001,"message":"running for 20s"}`, `{"progressToken":"p-1","progress":0.002,"message":"running for 30s"}`}
		if strings.Join(values, "\n") != strings.Join(want, "\n") || m.call(t).text() != "done after 35s" {
			t.Errorf("reports: %s, then %+v", values, m)
		}
	})
}

// Reports only grow, a flood of them is thinned, and the last one gets through.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box := echoBox()
		box.call = func(_ context.Context, req toolbox.Request) (tool.Result, error) {
			for i := range 1000 {
				req.Progress(float64(i+1), 1000, "step")
			}
			req.Progress(5, 0, "back")
			time.Sleep(time.Second) // of the bubble's clock
			req.Progress(5, 0, strings.Repeat("long ", 100))
			req.Partial("first line\nsecond line\n")
			req.Partial("\n")
			return tool.TextResult("ok", nil), nil
		}
		c := startStdio(t, newTestServer(t, box, Config{}))
		defer c.in.Close()
		c.initialize("x", "{}")
		m := c.request("tools/call", `{"name":"echo","arguments":{},"_meta":{"progressToken":7}}`)
		var lines []string
		for m.Method == "notifications/progress" {
			lines = append(lines, string(m.Params))
			m = c.receive()
		}
		if len(lines) != 23 {
			t.Fatalf("%d reports: %s", len(lines), strings.Join(lines, "\n"))
		}
		if lines[20] != `{"progressToken":7,"progress":1000,"total":1000,"message":"step"}` {
			t.Errorf("the last step: %s", lines[20])
		}
		if !strings.Contains(lines[21], `"progress":1000.001,`) || len(lines[21]) > 300 || !strings.Contains(lines[22], `"second line"`) {
			t.Errorf("then: %s", lines[21:])
		}
	})
}

// H6: a tool is told how long its caller waits, so that it can answer by itself before the server does; not where the
// caller waits for ever, or makes a task of the call.
func TestH6_HoldIsTold(t *testing.T) {
	for _, tt := range []struct {
		cfg   Config
		tasks bool
		want  time.Duration
	}{{Config{}, false, 47500 * time.Millisecond}, {Config{Budget: 10 * time.Second}, false, 9500 * time.Millisecond}, {Config{Budget: -1}, false, 0}, {Config{}, true, 0}} {
		s := newTestServer(t, echoBox(), tt.cfg)
		if got := s.hold(taskyPeer{tasky: tt.tasks}); got != tt.want {
			t.Errorf("%+v, tasks %v: %v, want %v", tt.cfg.Budget, tt.tasks, got, tt.want)
		}
	}
	told := make(chan time.Duration, 1)
	box := echoBox()
	box.call = func(_ context.Context, req toolbox.Request) (tool.Result, error) {
		told <- req.Hold
		return tool.TextResult("", nil), nil
	}
	c := startStdio(t, newTestServer(t, box, Config{}))
	defer c.in.Close()
	c.initialize("x", "{}")
	c.request("tools/call", `{"name":"echo","arguments":{}}`).call(t)
	if got := <-told; got != 47500*time.Millisecond {
		t.Errorf("told %v", got)
	}
}

// taskyPeer is a client that does or does not speak of tasks.
type taskyPeer struct {
	peer
	tasky bool
}

func (p taskyPeer) tasks() bool { return p.tasky }

// H2: what belongs to the session of a token that paused too long is told to end.
func TestH2_IdleSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var over []string
		n := sessionNames{process: "p", ended: func(s string) { over = append(over, s) }}
		from := Origin{Principal: "alice", Endpoint: "/mcp"}
		first := n.of(from)
		time.Sleep(idleSession)
		if again := n.of(from); again != first || over != nil {
			t.Errorf("within the time: %s after %s, ended %v", again, first, over)
		}
		time.Sleep(idleSession + time.Second)
		if next := n.of(from); next == first || len(over) != 1 || over[0] != first {
			t.Errorf("after it: %s after %s, ended %v", next, first, over)
		}
	})
}
