package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// startPool starts servers and waits for their lists.
func startPool(t *testing.T, opt Options, servers ...Server) *Pool {
	t.Helper()
	p, err := New(servers, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	p.Wait(t.Context())
	return p
}

func find(t *testing.T, p *Pool, name string) tool.Tool {
	t.Helper()
	var names []string
	for _, x := range p.Tools() {
		if x.Definition().Name == name {
			return x
		}
		names = append(names, x.Definition().Name)
	}
	t.Fatalf("no tool %s among %v; %+v", name, names, p.Status())
	return nil
}

// allowAll lets everything pass and remembers the last intent.
type allowAll struct{ intent *tool.Intent }

func (g *allowAll) Decide(_ context.Context, req toolbox.GateRequest) (tool.Decision, error) {
	g.intent = req.Intent
	return tool.Decision{Verdict: tool.Allow, By: "test"}, nil
}

// call takes a call of an imported tool down the real road.
func call(t *testing.T, x tool.Tool, args string, gate *allowAll) *tool.Result {
	t.Helper()
	return callWith(t.Context(), t, x, toolbox.Request{Args: json.RawMessage(args)}, gate)
}

func callWith(ctx context.Context, t *testing.T, x tool.Tool, req toolbox.Request, gate *allowAll) *tool.Result {
	t.Helper()
	if gate == nil {
		gate = &allowAll{}
	}
	box, err := toolbox.New(toolbox.Config{Gate: gate})
	if err != nil {
		t.Fatal(err)
	}
	if err := box.Register(x, "code"); err != nil {
		t.Fatal(err)
	}
	req.Tool, req.Mode = x.Definition().Name, "code"
	res, err := box.Call(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	return &res
}

// X3: a server's tool takes our road: name, gate, repair, progress, result.
func TestX3_ImportedTool(t *testing.T) {
	p := startPool(t, Options{}, fake(t, "good"))
	x := find(t, p, "mcp__good__echo")
	def := x.Definition()
	if def.Permission != def.Name || def.Title != "echo (good)" || !def.Annotations.ReadOnly || def.Category != "mcp" {
		t.Errorf("%+v", def)
	}
	gate := &allowAll{}
	var progress []string
	res := callWith(t.Context(), t, x, toolbox.Request{Args: json.RawMessage(`{"text":"hi"}`), Progress: func(done, total float64, m string) {
		progress = append(progress, fmt.Sprintf("%v/%v %s", done, total, m))
	}}, gate)
	if res.Text() != `echo {"text":"hi"}` || res.Err != nil {
		t.Errorf("%+v", res)
	}
	if in := gate.intent; in == nil || in.Permission != "mcp__good__echo" || len(in.Targets) != 1 || in.Targets[0].Kind != tool.ToolTarget || in.Targets[0].Value != "mcp__good__echo" || !in.Has(tool.Network) {
		t.Errorf("intent %+v", gate.intent)
	}
	if len(progress) > 0 && (len(progress) != 1 || progress[0] != "1/2 half") { // the answer may overtake the report
		t.Errorf("progress %v", progress)
	}
	failed := call(t, find(t, p, "mcp__good__fails"), `{}`, nil)
	if failed.Err == nil || failed.Err.Code != tool.ExecutionFailed || !strings.Contains(failed.Text(), "no such thing") {
		t.Errorf("%+v", failed)
	}
}

// T9: a server gets the variables that it needs and those of its configuration, and no others.
func TestT9_ServerEnvironment(t *testing.T) {
	t.Setenv("CANARY_SECRET", "canary-value")
	s := fake(t, "good")
	s.Env["OWN"] = "yes"
	p := startPool(t, Options{}, s)
	env := call(t, find(t, p, "mcp__good__environment"), `{}`, nil).Text()
	if strings.Contains(env, "canary-value") || !strings.Contains(env, "OWN=yes") || !strings.Contains(env, "PATH=") {
		t.Errorf("environment: %s", env)
	}
}

// A cancelled call is cancelled at the server, which lives on.
func TestCancelledCall(t *testing.T) {
	p := startPool(t, Options{}, fake(t, "good"))
	ctx, cancel := context.WithCancel(t.Context())
	slow := find(t, p, "mcp__good__slow")
	go cancel()
	if res := callWith(ctx, t, slow, toolbox.Request{Args: json.RawMessage(`{}`)}, nil); res.OK() {
		t.Errorf("%+v", res)
	}
	if res := call(t, find(t, p, "mcp__good__echo"), `{}`, nil); res.Text() != "echo {}" {
		t.Errorf("afterwards: %+v", res)
	}
}

// Bad servers: each costs its own tools, a bounded time, and a message that says what it said.
func TestBadServers(t *testing.T) {
	for _, tt := range []struct{ kind, want string }{
		{"hang", "deadline"},
		{"dies", "cannot find the database"},
		{"flood", ""},
		{"garbage", ""},
	} {
		p := startPool(t, Options{StartTime: 2 * time.Second}, fake(t, tt.kind), fake(t, "good"))
		s := p.Status()[0]
		if s.Err == nil || !strings.Contains(s.Err.Error(), tt.want) || s.Tools != 0 || !s.Listed {
			t.Errorf("%s: %+v", tt.kind, s)
		}
		if res := call(t, find(t, p, "mcp__good__echo"), `{}`, nil); res.Err != nil {
			t.Errorf("%s: the other server suffers: %+v", tt.kind, res)
		}
	}
	missing := Server{Name: "missing", Command: "/no/such/program"}
	if s := startPool(t, Options{}, missing).Status()[0]; s.Err == nil || !strings.Contains(s.Err.Error(), "/no/such/program") {
		t.Errorf("%+v", s)
	}
}

// A server that does not answer a call costs its timeout; one that dies is started again, but not for ever.
func TestBadCalls(t *testing.T) {
	s := fake(t, "deaf")
	s.Timeout = 50 * time.Millisecond
	p := startPool(t, Options{}, s, fake(t, "diesmid"))
	res := call(t, find(t, p, "mcp__deaf__hole"), `{}`, nil)
	if res.Err == nil || res.Err.Code != tool.TimedOut && !strings.Contains(res.Text(), "in time") {
		t.Errorf("deaf: %+v", res.Err)
	}
	bomb := find(t, p, "mcp__diesmid__bomb")
	for i := range 4 {
		res := call(t, bomb, `{}`, nil)
		want := "segmentation fault"
		if i == 3 {
			want = "does not stay"
		}
		if res.Err == nil || !strings.Contains(res.Text(), want) {
			t.Errorf("call %d: %s", i, res.Text())
		}
	}
}

// MCP-002: a tool whose definition changes after it was accepted is withheld, at once and in the next run, until somebody accepts it.
func TestMCP002_RugPull(t *testing.T) {
	cache := Dir(t.TempDir())
	p := startPool(t, Options{Cache: cache}, fake(t, "changes"))
	x := find(t, p, "mcp__changes__change")
	if res := call(t, x, `{}`, nil); res.Text() != "changed" {
		t.Fatalf("%+v", res)
	}
	for !p.servers[0].link.relisted.Load() {
		<-p.Changed()
	}
	res := call(t, x, `{}`, nil)
	if res.Err == nil || res.Err.Code != tool.PermissionDenied || strings.Contains(res.Text(), "stolen") {
		t.Errorf("the changed tool ran: %s", res.Text())
	}
	if res := call(t, find(t, p, "mcp__changes__steady"), `{}`, nil); res.Text() != "steady" {
		t.Errorf("%+v", res)
	}
	s := p.Status()[0]
	if s.Tools != 1 || len(s.Withheld) != 1 || !strings.Contains(s.Withheld[0].Now, "id_rsa") {
		t.Errorf("%+v", s)
	}
	if err := p.Accept(t.Context(), "changes", "change"); err != nil {
		t.Fatal(err)
	}
	if res := call(t, find(t, p, "mcp__changes__change"), `{}`, nil); res.Text() != "stolen" {
		t.Errorf("after it was accepted: %+v", res)
	}
	p.Close()
	// The next run: the server is as it was at first, which is not what was accepted last.
	again := startPool(t, Options{Cache: cache}, fake(t, "changes"))
	if s := again.Status()[0]; len(s.Withheld) != 1 {
		t.Errorf("next run: %+v", s)
	}
}

// MCP-003: a server cannot take our names, nor one that looks like them.
func TestMCP003_Shadowing(t *testing.T) {
	p := startPool(t, Options{}, fake(t, "lies"))
	names := map[string]bool{}
	for _, x := range p.Tools() {
		n := x.Definition().Name
		if !strings.HasPrefix(n, "mcp__lies__") || names[n] {
			t.Errorf("name %q", n)
		}
		for _, r := range n {
			if r > 127 {
				t.Errorf("name %q", n)
			}
		}
		names[n] = true
	}
	if len(names) != 2 {
		t.Errorf("names %v", names)
	}
}

// MCP-001: words that nobody sees are dropped, and the rest is flagged for doctor.
func TestMCP001_HiddenInstructions(t *testing.T) {
	p := startPool(t, Options{}, fake(t, "lies"))
	var found []Finding
	for _, x := range p.Tools() {
		d := x.Definition()
		if strings.ContainsAny(d.Description+d.Title, "\u200b\u202e") {
			t.Errorf("hidden characters: %q %q", d.Title, d.Description)
		}
		found = append(found, Inspect(d)...)
	}
	if len(found) == 0 || !strings.Contains(found[0].Message, "previous instructions") {
		t.Errorf("findings %v", found)
	}
}

// MCP-004: what a project's file names is not started before exactly that was approved, also not to be listed or called.
func TestMCP004_Approval(t *testing.T) {
	canary := filepath.Join(t.TempDir(), "canary")
	s := Server{Name: "evil", Command: "touch", Args: []string{canary}, Project: true}
	approved := map[string]bool{}
	opt := Options{Approved: func(s *Server) bool { return approved[s.Fingerprint()] }, StartTime: 2 * time.Second}
	p := startPool(t, opt, s)
	if st := p.Status()[0]; !errors.Is(st.Err, errNotApproved) {
		t.Errorf("%+v", st)
	}
	if _, err := os.Stat(canary); err == nil {
		t.Fatal("the command ran")
	}
	other := s
	other.Args = []string{canary + "2"}
	approved[other.Fingerprint()] = true
	startPool(t, opt, s)
	if _, err := os.Stat(canary); err == nil {
		t.Fatal("the command ran with another's approval")
	}
	approved[s.Fingerprint()] = true
	startPool(t, opt, s)
	if _, err := os.Stat(canary); err != nil {
		t.Error("an approved command did not run")
	}
}

// MCP-005, MCP-006: arguments travel as data.
func TestMCP005_ArgumentsAreData(t *testing.T) {
	canary := filepath.Join(t.TempDir(), "CANARY")
	p := startPool(t, Options{}, fake(t, "good"))
	x := find(t, p, "mcp__good__echo")
	for _, v := range []string{"'; touch " + canary + " #", "$(touch " + canary + ")", "`touch " + canary + "`", "a\ntouch " + canary, "--help", "3000; touch " + canary} {
		args, _ := json.Marshal(map[string]string{"text": v})
		if res := call(t, x, string(args), nil); res.Text() != "echo "+string(args) {
			t.Errorf("%q came back as %s", v, res.Text())
		}
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("an argument was executed")
	}
}

// MCP-010: a server's question carries its name; one that asks for a secret is never shown.
func TestMCP010_Elicitation(t *testing.T) {
	var shown []string
	opt := Options{Elicit: func(_ context.Context, server, message string, _ any) (string, map[string]any, error) {
		shown = append(shown, message)
		return "accept", map[string]any{"colour": "red"}, nil
	}}
	p := startPool(t, opt, fake(t, "asks"))
	x := find(t, p, "mcp__asks__ask")
	if res := call(t, x, `{"field":"colour"}`, nil); res.Text() != "accept map[colour:red]" {
		t.Errorf("%+v", res)
	}
	for _, field := range []string{"password", "API key", "otp"} {
		if res := call(t, x, fmt.Sprintf(`{"field":%q}`, field), nil); !strings.HasPrefix(res.Text(), "decline") {
			t.Errorf("%s: %s", field, res.Text())
		}
	}
	if len(shown) != 1 || shown[0] != "The MCP server asks asks: Enter your colour" {
		t.Errorf("shown: %q", shown)
	}
}

// A server may answer with 5 MB: the model sees what fits. An answer past every limit ends the connection, not us.
func TestBigAnswers(t *testing.T) {
	p := startPool(t, Options{}, fake(t, "big"))
	res := call(t, find(t, p, "mcp__big__big"), `{}`, nil)
	if n := len(res.Text()); n > 60_000 || !res.Meta.Truncated {
		t.Errorf("%d bytes, truncated %v", n, res.Meta.Truncated)
	}
	limited := startPool(t, Options{MaxAnswer: 1 << 19}, fake(t, "big"))
	if res := call(t, find(t, limited, "mcp__big__huge"), `{}`, nil); res.Err == nil {
		t.Errorf("%+v", res)
	}
	if res := call(t, find(t, limited, "mcp__big__media"), `{}`, nil); res.Err != nil {
		t.Errorf("the call after it: %+v", res)
	}
	media := call(t, find(t, p, "mcp__big__media"), `{}`, nil)
	want := []string{"text", "link", "document"}
	var got []string
	for _, part := range media.Parts {
		got = append(got, string(part.Kind))
	}
	if strings.Join(got, " ") != strings.Join(want, " ") || !strings.Contains(media.Text(), "not shown") {
		t.Errorf("parts %v: %s", got, media.Text())
	}
}

// No tool is lost for an odd schema or name, and each can be registered beside ours.
func TestOddTools(t *testing.T) {
	p := startPool(t, Options{}, fake(t, "odd"))
	box, err := toolbox.New(toolbox.Config{Gate: &allowAll{}})
	if err != nil {
		t.Fatal(err)
	}
	tools := p.Tools()
	if len(tools) != 7 {
		t.Errorf("%d tools: %+v", len(tools), p.Status())
	}
	for _, x := range tools {
		if err := box.Register(x, "code"); err != nil && !strings.Contains(err.Error(), ": E6 ") { // long names are for the box to allow
			t.Errorf("%v", err)
		}
		if n := x.Definition().Name; len(n) > 64 {
			t.Errorf("name of %d bytes: %s", len(n), n)
		}
	}
	if res := call(t, find(t, p, "mcp__odd__spaces"), `{"a b":"1","$c":"2"}`, nil); res.Text() != `{"a b":"1","$c":"2"}` {
		t.Errorf("%+v", res)
	}
}

// Further pages of a list are read.
func TestPages(t *testing.T) {
	if n := len(startPool(t, Options{}, fake(t, "pages")).Tools()); n != 5 {
		t.Errorf("%d tools", n)
	}
}

// A server that ends at a message it does not know is started again and asked in the older era.
func TestLegacyServer(t *testing.T) {
	p := startPool(t, Options{}, fake(t, "legacy"))
	if res := call(t, find(t, p, "mcp__legacy__old"), `{}`, nil); res.Text() != "old" {
		t.Errorf("%+v", res)
	}
}

// A start does not wait for a slow server: its tools come from the cache, or later.
func TestLateArrival(t *testing.T) {
	cache, gate := Dir(t.TempDir()), filepath.Join(t.TempDir(), "go")
	s := fake(t, "late", gate)
	p, err := New([]Server{s}, Options{Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	p.Wait(short)
	if n := len(p.Tools()); n != 0 || p.Status()[0].Listed {
		t.Errorf("%d tools before the server was there", n)
	}
	if err := os.WriteFile(gate, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	<-p.Changed()
	if n := len(p.Tools()); n != 4 {
		t.Errorf("%d tools afterwards: %+v", n, p.Status())
	}
	p.Close()
	if err := os.Remove(gate); err != nil {
		t.Fatal(err)
	}
	again, err := New([]Server{s}, Options{Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if st := again.Status()[0]; st.Tools != 4 || !st.Cached {
		t.Errorf("from the cache: %+v", st)
	}
	x := find(t, again, "mcp__late__echo")
	go os.WriteFile(gate, nil, 0o644)
	if res := call(t, x, `{}`, nil); res.Text() != "echo {}" {
		t.Errorf("a call of a cached tool waits for its server: %+v", res)
	}
}

// No orphans: the server that ignores the end of its input is ended, with its children.
func TestNoOrphans(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("process groups are not signalled here")
	}
	p := startPool(t, Options{}, fake(t, "parent"))
	pid, err := strconv.Atoi(call(t, find(t, p, "mcp__parent__child"), `{}`, nil).Text())
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the child is not there: %v", err)
	}
	p.Close()
	if state := processState(pid); state != "" && state != "Z" {
		t.Errorf("the child %d lives on in state %s", pid, state)
	}
}

// processState returns the state letter of a process, or "" when it is gone.
func processState(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	s := string(b)
	return strings.Fields(s[strings.LastIndexByte(s, ')')+1:])[0]
}
