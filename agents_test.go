package tackle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/agent/history"
	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
)

// lines is a model that says one line after the other: words, or calls written as "tool {json}", several with "&".
type lines struct {
	mu   sync.Mutex
	left []string
	seen []model.Request
}

func (l *lines) Info() model.Info {
	return model.Info{Provider: "test", Name: "lines", Window: 100_000, Images: true}
}

func (l *lines) Stream(ctx context.Context, req model.Request, on func(model.Piece) error) (model.Answer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = append(l.seen, req)
	if len(l.left) == 0 {
		return model.Answer{}, &model.Error{Class: model.Refused, Provider: "test", Message: "there are no more lines"}
	}
	line := l.left[0]
	l.left = l.left[1:]
	a := model.Answer{Stop: model.End, Usage: model.Usage{Input: 10, Output: 5}, Message: model.Message{Role: model.Assistant}}
	if !strings.Contains(line, " {") {
		p := content.TextPart(line)
		a.Message.Blocks = []model.Block{{Part: &p}}
		if on != nil {
			if err := on(model.Piece{Text: line}); err != nil {
				return a, err
			}
		}
		return a, nil
	}
	a.Stop = model.Calls
	for i, c := range strings.Split(line, " & ") {
		name, args, _ := strings.Cut(c, " ")
		a.Message.Blocks = append(a.Message.Blocks, model.Block{Call: &model.Call{ID: fmt.Sprintf("c%d", i), Name: name, Arguments: json.RawMessage(args)}})
	}
	return a, nil
}

func agentBox(t *testing.T, dir string) *tackle.Box {
	t.Helper()
	box, err := tackle.Open(t.Context(), tackle.Config{Dir: filepath.Join(dir, "ws"), StateDir: filepath.Join(dir, "state"), NoFiles: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	return box
}

func run(t *testing.T, box *tackle.Box, m *lines, id, prompt string) agent.Turn {
	t.Helper()
	a, err := box.Agent(tackle.AgentConfig{Model: m})
	if err != nil {
		t.Fatal(err)
	}
	turn, err := a.Run(t.Context(), id, prompt)
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

func agentPlace(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		path := filepath.Join(dir, "ws", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func fileIs(t *testing.T, dir, name, want string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "ws", name))
	if err != nil && (want != "" || !errors.Is(err, os.ErrNotExist)) || string(b) != want {
		t.Errorf("%s is %q, %v", name, b, err)
	}
}

// A3: a session is listed, read as it went, gone on with by another process, forked, and rewound with its files.
func TestA3_Sessions(t *testing.T) {
	dir := agentPlace(t, map[string]string{"a.txt": "one\n"})
	box := agentBox(t, dir)
	m := &lines{left: []string{
		`read_file {"path": "a.txt"}`, `edit {"path": "a.txt", "old_string": "one", "new_string": "two"}`, "It says two now.",
		`write_file {"path": "b.txt", "content": "b\n"} & edit {"path": "a.txt", "old_string": "two", "new_string": "three"}`, `shell {"command": "echo hello > c.txt"}`, "Three, and more files.",
	}}
	if turn := run(t, box, m, "s1", "Make a.txt say two. Thank you."); turn.End.Why != agent.Done || turn.Text != "It says two now." {
		t.Fatalf("%+v", turn)
	}
	// Another process goes on, and knows what was read: the edit needs no second read.
	box = agentBox(t, dir)
	if turn := run(t, box, m, "s1", "Now three."); turn.End.Why != agent.Done || turn.Tally.Calls != 3 {
		t.Fatalf("%+v", turn)
	}
	s, err := box.History(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Turns) != 2 || !s.Turns[0].Over() || !s.Turns[1].Over() || s.Title != "Make a.txt say two" || s.Calls != 5 || s.Changed != 3 || s.Model != "test/lines" || s.Status() != "done" {
		t.Errorf("%+v", s.Summary)
	}
	calls := s.Since(0)
	if len(calls) != 5 || calls[1].Tool != "edit" || calls[1].Outcome != agent.OK || !strings.Contains(calls[1].Meta().Diff, "+two") || string(calls[0].Args) != `{"path":"a.txt"}` {
		t.Errorf("%+v", calls)
	}
	list, err := box.Sessions(t.Context(), history.Query{Loop: true})
	if diff := cmp.Diff([]history.Summary{s.Summary}, list); err != nil || diff != "" {
		t.Errorf("list: %v, -session +list\n%s", err, diff)
	}

	// A fork knows the first turn, and neither hears of what the other does.
	fork, err := box.Fork(t.Context(), "s1", 1)
	if err != nil {
		t.Fatal(err)
	}
	m2 := &lines{left: []string{"I am a fork."}}
	if turn := run(t, box, m2, fork, "Who are you?"); turn.Text != "I am a fork." {
		t.Errorf("%+v", turn)
	}
	if got := len(m2.seen[0].Messages); got != 7 {
		t.Errorf("the fork was sent %d messages", got)
	}
	f, err := box.History(t.Context(), fork)
	if err != nil || len(f.Turns) != 2 || f.Origin == nil || f.Origin.Session != "s1" || f.State.Setup.Session != fork {
		t.Errorf("%v %+v", err, f)
	}
	if again, err := box.History(t.Context(), "s1"); err != nil || again.Events != s.Events {
		t.Errorf("the first session has %d events, had %d; %v", again.Events, s.Events, err)
	}
	rs, err := box.ReadStates().ReadState(t.Context(), fork)
	if err != nil {
		t.Fatal(err)
	}
	if n := rs.(*session.ReadState).Len(); n == 0 {
		t.Error("the fork knows nothing of what was read")
	}

	// A rewind takes the files back, and says what it cannot take back.
	back, err := box.Rewind(t.Context(), tackle.RewindRequest{Session: "s1", Turns: 1})
	if err != nil || back.Files == nil || !back.Files.OK() || back.Session == "" {
		t.Fatalf("%+v %v", back, err)
	}
	fileIs(t, dir, "a.txt", "two\n")
	fileIs(t, dir, "b.txt", "")
	m3 := &lines{left: []string{`edit {"path": "a.txt", "old_string": "two", "new_string": "four"}`, "Four."}}
	if turn := run(t, box, m3, back.Session, "Then four."); turn.Text != "Four." {
		t.Errorf("%+v", turn)
	}
	fileIs(t, dir, "a.txt", "four\n")
	// And from there to the very beginning, over what the first session did: its changes are in the history of the second.
	if back, err = box.Rewind(t.Context(), tackle.RewindRequest{Session: back.Session}); err != nil || back.Files == nil || !back.Files.OK() {
		t.Fatalf("%+v %v", back, err)
	}
	fileIs(t, dir, "a.txt", "one\n")
}

// A3: a rewind over what others changed does nothing, and says so.
func TestA3_RewindOverOthers(t *testing.T) {
	dir := agentPlace(t, map[string]string{"a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n"})
	box := agentBox(t, dir)
	m := &lines{left: []string{`edit {"path": "a.txt", "old_string": "2", "new_string": "two"}`, "Done."}}
	run(t, box, m, "s1", "Write two.")
	path := filepath.Join(dir, "ws", "a.txt")
	if err := os.WriteFile(path, []byte("1\ntwo\n3\n4\n5\n6\n7\n8\nnine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	back, err := box.Rewind(t.Context(), tackle.RewindRequest{Session: "s1"})
	if err != nil || back.Session != "" || back.Files == nil || back.Files.Err == nil {
		t.Fatalf("%+v %v", back, err)
	}
	fileIs(t, dir, "a.txt", "1\ntwo\n3\n4\n5\n6\n7\n8\nnine\n")
	if list, err := box.Sessions(t.Context(), history.Query{Loop: true}); err != nil || len(list) != 1 {
		t.Errorf("%d sessions, %v", len(list), err)
	}
	if back, err = box.Rewind(t.Context(), tackle.RewindRequest{Session: "s1", Merge: true}); err != nil || back.Session == "" || !back.Files.OK() {
		t.Fatalf("%+v %v", back, err)
	}
	fileIs(t, dir, "a.txt", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n")
	for _, turns := range []int{-1, 2} {
		if _, err := box.Rewind(t.Context(), tackle.RewindRequest{Session: "s1", Turns: turns}); err == nil {
			t.Errorf("rewound to %d turns", turns)
		}
	}
}

// meddler is a model during whose answers somebody does something.
type meddler struct {
	lines
	meddle func()
}

func (m *meddler) Stream(ctx context.Context, req model.Request, on func(model.Piece) error) (model.Answer, error) {
	if len(req.Messages) > 1 {
		m.meddle()
	}
	return m.lines.Stream(ctx, req, on)
}

// A3: a session in which an agent works is neither removed nor are its files taken back under it.
func TestA3_HandsOffARunningSession(t *testing.T) {
	dir := agentPlace(t, map[string]string{"a.txt": "1\n"})
	box := agentBox(t, dir)
	other := agentBox(t, dir)
	m := &meddler{lines: lines{left: []string{`write_file {"path": "b.txt", "content": "b\n"}`, "Done."}}}
	m.meddle = func() {
		if back, err := other.Rewind(t.Context(), tackle.RewindRequest{Session: "s1"}); err == nil || !strings.Contains(err.Error(), "another process works") {
			t.Errorf("rewound: %+v %v", back, err)
		}
		if err := other.RemoveSessions(t.Context(), "test", "s1"); err == nil || !strings.Contains(err.Error(), "another process works") {
			t.Errorf("removed: %v", err)
		}
	}
	a, err := box.Agent(tackle.AgentConfig{Model: m})
	if err != nil {
		t.Fatal(err)
	}
	if turn, err := a.Run(t.Context(), "s1", "Write b."); err != nil || turn.End.Why != agent.Done {
		t.Fatalf("%+v %v", turn, err)
	}
	fileIs(t, dir, "b.txt", "b\n")
	if back, err := other.Rewind(t.Context(), tackle.RewindRequest{Session: "s1"}); err != nil || !back.Files.OK() {
		t.Errorf("after the turn: %+v %v", back, err)
	}
	if err := other.RemoveSessions(t.Context(), "test", "s1"); err != nil {
		t.Error(err)
	}
}

// T8: the title is given by a system tool, in words of a cheap model, and that of a person stays.
func TestT8_Title(t *testing.T) {
	dir := agentPlace(t, map[string]string{"a.txt": "one\n"})
	box := agentBox(t, dir)
	run(t, box, &lines{left: []string{"Yes."}}, "s1", "Is there anything in a.txt? I wonder, because yesterday there was nothing at all in it.")
	title := func() string {
		t.Helper()
		s, err := box.History(t.Context(), "s1")
		if err != nil {
			t.Fatal(err)
		}
		return s.Title
	}
	if got := title(); got != "Is there anything in a.txt?" {
		t.Errorf("words %q", got)
	}
	small := &lines{left: []string{"\"What a.txt holds\"\n"}}
	if err := box.NameSession(t.Context(), "s1", small); err != nil {
		t.Fatal(err)
	}
	if got := title(); got != "What a.txt holds" || len(small.seen) != 1 || len(small.seen[0].Tools) != 0 {
		t.Errorf("model: %q", got)
	}
	if err := box.NameSession(t.Context(), "s1", small); err != nil || len(small.seen) != 1 {
		t.Errorf("named twice: %v", err)
	}
	if err := box.SetTitle(t.Context(), "s1", "Mine"); err != nil || title() != "Mine" {
		t.Errorf("person: %q %v", title(), err)
	}
	for _, mode := range box.Modes() {
		if slices.Contains(box.Names(tackle.View{Mode: mode}), "title") {
			t.Errorf("mode %s shows the system tool", mode)
		}
	}
	if err := box.SetTitle(t.Context(), "nobody", "x"); !errors.Is(err, history.ErrUnknown) {
		t.Error(err)
	}
	if err := box.RemoveSessions(t.Context(), "test", "s1"); err != nil {
		t.Fatal(err)
	}
	if _, err := box.History(t.Context(), "s1"); !errors.Is(err, history.ErrUnknown) {
		t.Error(err)
	}
}

// The prompt of an agent begins with that of its mode, and holds the instructions of the person and of the project, the most
// general first.
func TestAgentPrompt(t *testing.T) {
	dir := agentPlace(t, map[string]string{"AGENTS.md": "Tabs, no blanks.", "pkg/x/AGENTS.md": "x is special.", ".git/HEAD": "ref: refs/heads/main\n"})
	home := filepath.Join(dir, "home")
	if err := os.MkdirAll(filepath.Join(home, "tackle"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "tackle", "AGENTS.md"), []byte("Speak plainly."), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", home)
	box, err := tackle.Open(t.Context(), tackle.Config{Dir: filepath.Join(dir, "ws", "pkg", "x"), StateDir: filepath.Join(dir, "state"), Mode: "explore"})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	m := &lines{left: []string{"Hello.", "Again."}}
	run(t, box, m, "s1", "Hello")
	run(t, box, m, "s1", "Hello")
	got := m.seen[0].System
	at := -1
	for _, want := range []string{"You look around", "Working folder: " + box.Dir(), "git repository", "Speak plainly.", "Tabs, no blanks.", "# Instructions from pkg/x/AGENTS.md", "x is special."} {
		i := strings.Index(got, want)
		if i <= at {
			t.Errorf("%q stands at %d, behind %d, in\n%s", want, i, at, got)
		}
		at = i
	}
	if m.seen[1].System != got || m.seen[0].Effort != model.Low {
		t.Error("the prompt changed from turn to turn, or the effort of the mode does not count")
	}
	for _, tl := range m.seen[0].Tools {
		if tl.Name == "edit" || tl.Name == "shell" {
			t.Errorf("explore has %s", tl.Name)
		}
	}
}

// One process drives a session at a time; the end of a process lets it go.
func TestAgentClaim(t *testing.T) {
	dir := agentPlace(t, nil)
	if err := os.MkdirAll(filepath.Join(dir, "ws"), 0o755); err != nil {
		t.Fatal(err)
	}
	one, two := agentBox(t, dir), agentBox(t, dir)
	inside, leave := make(chan struct{}), make(chan struct{})
	slow := &lines{left: []string{"Slow."}}
	a, err := one.Agent(tackle.AgentConfig{Model: slow, Watch: func(_ string, u agent.Update) {
		if u.Piece != nil {
			close(inside)
			<-leave
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := a.Run(context.Background(), "s/1", "Hello")
		done <- err
	}()
	<-inside
	b, err := two.Agent(tackle.AgentConfig{Model: &lines{left: []string{"Quick."}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Run(t.Context(), "s/1", "Hello"); err == nil || !strings.Contains(err.Error(), "another process works on this session") {
		t.Errorf("got %v", err)
	}
	close(leave)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if turn, err := b.Run(t.Context(), "s/1", "Hello"); err != nil || turn.Text != "Quick." {
		t.Errorf("%+v %v", turn, err)
	}
}

// P10: hooks add to the beginning of a session, and have a turn go on that the model had ended.
func TestP10_HooksOfTheLoop(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the hooks of this test are lines for a POSIX shell")
	}
	dir := agentPlace(t, map[string]string{"a.txt": "one\n"})
	home := filepath.Join(dir, "home", "tackle")
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	hooks := `{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "echo the branch is main"}]}],
		"Stop": [{"hooks": [{"type": "command", "command": "grep -rq two . || { echo write two first >&2; exit 2; }"}]}]}}`
	if err := os.WriteFile(filepath.Join(home, "hooks.json"), []byte(hooks), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", filepath.Dir(home))
	box, err := tackle.Open(t.Context(), tackle.Config{Dir: filepath.Join(dir, "ws"), StateDir: filepath.Join(dir, "state")})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	m := &lines{left: []string{"I am done.", `write_file {"path": "a.txt", "content": "two\n"}`, "Now I am done."}}
	a, err := box.Agent(tackle.AgentConfig{Model: m})
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.Start(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	parts, err := box.Begin(t.Context(), "s1", false)
	if err != nil {
		t.Fatal(err)
	}
	turn, err := box.Turn(t.Context(), s, append(parts, content.TextPart("Begin."))...)
	if err != nil || turn.End.Why != agent.Done || turn.Text != "Now I am done." || turn.Tally.Rounds != 3 {
		t.Fatalf("%+v %v", turn, err)
	}
	fileIs(t, dir, "a.txt", "two\n")
	said := func(req model.Request) string {
		out := ""
		for _, msg := range req.Messages {
			for _, b := range msg.Blocks {
				if b.Part != nil {
					out += b.Part.Text + "\n"
				}
			}
		}
		return out
	}
	if got := said(m.seen[0]); !strings.Contains(got, "the branch is main") || !strings.Contains(got, "Begin.") {
		t.Errorf("at the start the model read %q", got)
	}
	if got := said(m.seen[1]); !strings.Contains(got, "[A message from: a hook that ran when you stopped]") || !strings.Contains(got, "write two first") {
		t.Errorf("at the stop the model read %q", got)
	}
}

// F9, A3: a session that goes on in another process, and a fork, know what was read; a session that did not read is refused.
func TestF9_ReadStateOfStoredTurns(t *testing.T) {
	dir := agentPlace(t, map[string]string{"a.txt": "one\n"})
	open := func() *tackle.Box {
		t.Helper()
		box, err := tackle.Open(t.Context(), tackle.Config{Dir: filepath.Join(dir, "ws"), StateDir: filepath.Join(dir, "state"), NoFiles: true, Options: tool.Options{RequireRead: true}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { box.Close() })
		return box
	}
	run(t, open(), &lines{left: []string{`read_file {"path": "a.txt"}`, "Read."}}, "s1", "Read.")
	box := open()
	fork, err := box.Fork(t.Context(), "s1", -1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		session, edit string
		want          agent.Outcome
	}{
		{"s2", `edit {"path": "a.txt", "old_string": "one", "new_string": "two"}`, agent.Error},
		{"s1", `edit {"path": "a.txt", "old_string": "one", "new_string": "two"}`, agent.OK},
		{fork, `edit {"path": "a.txt", "old_string": "two", "new_string": "three"}`, agent.Error}, // changed since it was read there
	} {
		run(t, box, &lines{left: []string{c.edit, "Tried."}}, c.session, "Edit.")
		s, err := box.History(t.Context(), c.session)
		if err != nil {
			t.Fatal(err)
		}
		calls := s.Since(0)
		if got := calls[len(calls)-1]; got.Outcome != c.want {
			t.Errorf("%s: %s\n%s", c.session, got.Outcome, got.Text())
		}
	}
	again, err := box.Fork(t.Context(), "s1", -1)
	if err != nil {
		t.Fatal(err)
	}
	run(t, box, &lines{left: []string{`edit {"path": "a.txt", "old_string": "two", "new_string": "three"}`, "Tried."}}, again, "Edit.")
	fileIs(t, dir, "a.txt", "three\n")
}

// The model is the named one, else that of the environment, of the mode, of the files.
func TestModelName(t *testing.T) {
	dir := agentPlace(t, map[string]string{"a.txt": ""})
	home := filepath.Join(dir, "home", "tackle")
	for name, data := range map[string]string{"config.yaml": "model: ollama/files\n", "modes/own.md": "---\ndescription: x\nmodel: ollama/mode\n---\n"} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("XDG_CONFIG_HOME", filepath.Dir(home))
	for _, c := range []struct{ named, env, mode, want string }{
		{"ollama/named", "ollama/env", "own", "ollama/named"}, {"", "ollama/env", "own", "ollama/env"}, {"", "", "own", "ollama/mode"}, {"", "", "code", "ollama/files"},
	} {
		t.Setenv("TACKLE_MODEL", c.env)
		box, err := tackle.Open(t.Context(), tackle.Config{Dir: filepath.Join(dir, "ws"), StateDir: filepath.Join(dir, "state")})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := box.ModelName(c.named, c.mode); got != c.want || err != nil {
			t.Errorf("%+v: %s %v", c, got, err)
		}
		box.Close()
	}
	box := agentBox(t, dir)
	if _, err := box.ModelName("", ""); !errors.Is(err, tackle.ErrNoModel) {
		t.Errorf("no model: %v", err)
	}
}

// T9: the key of a model stands in no result and no record.
func TestT9_KeysOfModels(t *testing.T) {
	const canary = "canary-key-of-a-model"
	t.Setenv("ANTHROPIC_API_KEY", canary)
	dir := agentPlace(t, map[string]string{"a.txt": "the key is " + canary + "\n"})
	box := agentBox(t, dir)
	m := &lines{left: []string{`read_file {"path": "a.txt"}`, "Read."}}
	run(t, box, m, "s1", "Read.")
	evs, err := box.Store().Read(t.Context(), "s1", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range evs {
		if strings.Contains(string(ev.Body), canary) {
			t.Errorf("event %d (%s) holds the key", ev.Seq, ev.Kind)
		}
	}
	for _, req := range m.seen {
		if b, err := json.Marshal(req); err != nil || strings.Contains(string(b), canary) {
			t.Errorf("the model was sent the key: %v", err)
		}
	}
}
