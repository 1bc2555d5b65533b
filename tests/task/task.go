// Package task plays one recorded task through the whole: a service on this machine that speaks a provider's format and stumbles as
// services do, its adapter, the loop, the road, and files on disk. The tests of the adapters bring their formats.
package task

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/modeltest"
)

const (
	signature = "c2lnbmF0dXJlLWNhbmFyeQ==" // of the reasoning, in base64, as the formats want it
	wrong     = "func Add(a, b int) int { return a - b }\n"
	right     = "func Add(a, b int) int { return a + b }\n"
)

// round is one answer of the service.
type round struct {
	reply modeltest.Reply
	fault modeltest.Fault // told instead
	cut   bool            // the connection ends after the first step
}

// rounds is the recording: a model that looks, is cut off, errs, mends a file and says so.
func rounds(can modeltest.Can) []round {
	n := 0
	call := func(name string, args ...string) modeltest.Step {
		n++
		c := &modeltest.Call{Name: name, Args: args}
		if can.CallIDs {
			c.ID = fmt.Sprintf("call_%d", n)
		}
		return modeltest.Step{Call: c}
	}
	text := func(s string) modeltest.Step { return modeltest.Step{Text: s} }
	reply := func(stop model.Stop, steps ...modeltest.Step) round {
		return round{reply: modeltest.Reply{Model: "recorded", Stop: stop, Usage: model.Usage{Input: 100, Output: 10}, Steps: steps}}
	}
	first := []modeltest.Step{text("I look at both.")}
	if can.Reasoning {
		first = slices.Insert(first, 0, modeltest.Step{Reasoning: "The sum is wrong somewhere.", Signature: signature})
	}
	first = append(first, call("read_file", `{ "path":`, ` "add.go"  }`)) // stored in other words, it is the same
	if can.Parallel {
		first = append(first, call("read_file", `{"path":"main.go"}`))
	}
	stumbles := reply(model.Calls, text("Now I "), text("mend it."))
	stumbles.cut = true
	broken := call("edit", `{"path":"add.go","old_string":5}`)
	if can.TextArgs {
		broken = call("edit", `{"path":"add.go","old_str`)
	}
	return []round{
		{fault: modeltest.RateLimited},
		reply(model.Calls, first...),
		stumbles,
		reply(model.Calls, broken),
		reply(model.Calls, call("no_such_tool", `{"x":1}`)),
		reply(model.Calls, text("Now I mend it."), call("edit", `{"path":"add.go",`, `"old_string":"a - b","new_string":"a + b"}`)),
		reply(model.End, text("Add "), text("adds now.")),
	}
}

// service plays the rounds, keeps the requests and hangs up on a request that its format refuses.
type service struct {
	t      *testing.T
	suite  modeltest.Suite
	rounds []round

	mu     sync.Mutex
	asked  int
	seen   []modeltest.Seen
	bodies []string
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
		return
	}
	seen, err := s.suite.Fake.Request(r, body)
	if err != nil {
		s.t.Errorf("the service refuses request %d: %v\n%s", s.asked, err, body)
	}
	s.mu.Lock()
	n := s.asked
	s.asked++
	s.seen, s.bodies = append(s.seen, seen), append(s.bodies, string(body))
	s.mu.Unlock()
	if n >= len(s.rounds) {
		s.t.Errorf("request %d: the recording is over", n)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	x := s.rounds[n]
	if x.fault != "" {
		status, contentType, body := s.suite.Fake.Error(x.fault)
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Retry-After-Ms", "1")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		return
	}
	stream := s.suite.Fake.Stream(x.reply)
	w.Header().Set("Content-Type", stream.ContentType)
	parts := slices.Concat([]string{stream.Head}, stream.Steps, []string{stream.Tail})
	for i, p := range parts {
		if x.cut && i == 2 {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, p)
		_ = http.NewResponseController(w).Flush()
	}
}

// Run plays the task with an adapter and judges what it left: the file, the answer, and what the service saw.
func Run(t *testing.T, suite modeltest.Suite) {
	s := &service{t: t, suite: suite, rounds: rounds(suite.Can)}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	m, err := suite.New(modeltest.Endpoint{URL: server.URL, Key: modeltest.Key})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws := filepath.Join(dir, "ws")
	for name, data := range map[string]string{"add.go": "package main\n\n" + wrong, "main.go": "package main\n\nfunc main() { println(Add(1, 2)) }\n"} {
		if err := os.MkdirAll(ws, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(ws, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	box, err := tackle.Open(t.Context(), tackle.Config{Dir: ws, StateDir: filepath.Join(dir, "state"), NoFiles: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close() })
	a, err := box.Agent(tackle.AgentConfig{Model: m})
	if err != nil {
		t.Fatal(err)
	}
	turn, err := a.Run(t.Context(), "recorded", "Make Add add.")
	if err != nil {
		t.Fatal(err)
	}
	if turn.Text != "Add adds now." || turn.End.Why != agent.Done {
		t.Errorf("the turn ended with %q (%s)", turn.Text, turn.End.Why)
	}
	if got, err := os.ReadFile(filepath.Join(ws, "add.go")); err != nil || string(got) != "package main\n\n"+right {
		t.Errorf("add.go is %q, %v", got, err)
	}
	s.judge(t)
}

// judge looks at what the service saw.
func (s *service) judge(t *testing.T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked != len(s.rounds) {
		t.Fatalf("%d requests, want %d", s.asked, len(s.rounds))
	}
	for i := 1; i < len(s.seen); i++ {
		last, now := s.seen[i-1].Prefix, s.seen[i].Prefix
		if len(now) < len(last) || !slices.Equal(now[:len(last)], last) {
			t.Errorf("request %d does not begin as the one before it:\n%.2000q\n%.2000q", i, last, now)
		}
	}
	results := 0
	var told strings.Builder
	for _, msg := range s.seen[len(s.seen)-1].Messages {
		for _, b := range msg.Blocks {
			if b.Result != nil {
				results++
				for _, p := range b.Result.Parts {
					told.WriteString(p.Text + "\n")
				}
			}
		}
	}
	want := 4
	if s.suite.Can.Parallel {
		want = 5
	}
	if results != want {
		t.Errorf("the last request holds %d results, want %d", results, want)
	}
	if t.Failed() {
		t.Logf("the results say:\n%s", told.String())
	}
	for _, s := range []string{"return a - b", "no_such_tool"} {
		if !strings.Contains(told.String(), s) {
			t.Errorf("no result says %q:\n%s", s, told.String())
		}
	}
	if back := strings.Contains(s.bodies[len(s.bodies)-1], signature); s.suite.Can.Signed && !back {
		t.Error("the signature of the reasoning did not go back")
	}
}
