//go:build linux || darwin

package terminal

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/permission/ask"
)

// screen is a pseudo-terminal with somebody in front of it.
type screen struct {
	t      *testing.T
	master *os.File
	tty    *TTY
	mu     sync.Mutex
	seen   strings.Builder
	from   int // where the next wait looks from
	news   chan struct{}
	ready  chan struct{} // closed when the prompt takes keys; nil where there is none yet
}

// watched tells when what was typed before is dropped: a key that comes earlier is no answer.
type watched struct {
	*TTY
	ready chan struct{}
}

func (w watched) Flush() {
	w.TTY.Flush()
	close(w.ready)
}

func newScreen(t *testing.T) *screen {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, master: master, tty: NewTTY(slave), news: make(chan struct{}, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			s.mu.Lock()
			s.seen.Write(buf[:n])
			s.mu.Unlock()
			select {
			case s.news <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { slave.Close(); master.Close(); <-done })
	return s
}

// wait waits until the text is on the screen, behind what was waited for before.
func (s *screen) wait(text string) {
	s.t.Helper()
	late := time.NewTimer(20 * time.Second)
	defer late.Stop()
	for {
		s.mu.Lock()
		all := s.seen.String()
		s.mu.Unlock()
		if i := strings.Index(all[s.from:], text); i >= 0 {
			s.from += i + len(text)
			return
		}
		select {
		case <-s.news:
		case <-late.C:
			s.t.Fatalf("%q does not come; the screen holds\n%s", text, all[s.from:])
		}
	}
}

func (s *screen) type_(keys ...string) {
	s.t.Helper()
	if s.ready != nil {
		<-s.ready
	}
	for _, k := range keys {
		if _, err := s.master.WriteString(k); err != nil {
			s.t.Fatal(err)
		}
	}
}

type answered struct {
	a   ask.Answer
	err error
}

// start asks in the background.
func (s *screen) start(ctx context.Context, p *Prompt, r *ask.Request) <-chan answered {
	s.ready = make(chan struct{})
	p.Device, p.Name = watched{s.tty, s.ready}, "ada"
	if p.Settle == 0 {
		p.Settle = -1
	}
	out := make(chan answered, 1)
	go func() {
		a, err := p.Ask(ctx, r)
		out <- answered{a, err}
	}()
	return out
}

func request() *ask.Request {
	return &ask.Request{ID: "ask_1", Tool: "multi_edit", Fingerprint: "f", By: "rule user:1", Hunks: 3,
		Offers: []ask.Offer{{Scope: ask.Once, Says: "this call"}, {Scope: ask.Session, Says: "edit of src/a.go, until the session ends"},
			{Scope: ask.Like, Patterns: []string{"src/*.go"}, Says: "edit of src/*.go, until the session ends"},
			{Scope: ask.Project, Says: "edit of src/a.go, in this project"}, {Scope: ask.Always, Patterns: []string{"src/*.go"}, Says: "edit of src/*.go, in this project"},
			{Scope: ask.Until, Says: "edit of src/a.go, in this project until a time"}},
		View: ask.View{Title: "multi_edit asks to change 1 file", Badges: []string{"write-in"}, Reason: "a rule says so",
			Args:    []ask.Field{{Name: "path", Value: `"src/../src/a.go"`}},
			Targets: []ask.Target{{Effect: "write", Kind: "path", Value: "/w/ws/src/a.go", Given: "src/../src/a.go", Asks: true}},
			Diff:    "--- a/src/a.go\n+++ b/src/a.go\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n",
			Hunks:   []ask.Hunk{{Number: 1, Text: "-a\n+b\n"}, {Number: 2, Title: "at line 7", Text: "-c\n+d\n"}, {Number: 3, Text: "-e\n"}}}}
}

// P8: one key answers, from the terminal, and says who it was.
func TestP8_Keys(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	yes := func(scope ask.Scope) ask.Answer { return ask.Answer{Allow: true, Scope: scope} }
	type step struct{ wait, keys string }
	tests := []struct {
		name  string
		steps []step
		want  ask.Answer
	}{
		{"y", []step{{"yes, once", "y"}}, yes(ask.Once)},
		{"s", []step{{"session", "s"}}, yes(ask.Session)},
		{"p", []step{{"project", "p"}}, yes(ask.Project)},
		{"l", []step{{"session, like src/*.go", "l"}}, yes(ask.Like)},
		{"a", []step{{"always: edit of src/*.go, in this project", "a"}}, yes(ask.Always)},
		{"n", []step{{"help", "n"}}, ask.Answer{}},
		{"turn is not offered", []step{{"help", "t"}, {"answers nothing", "n"}}, ask.Answer{}},
		{"other keys and Enter answer nothing", []step{{"help", "\r"}, {"answers nothing", "x"}, {"answers nothing", " "}, {"answers nothing", "?"}, {"show the whole call", "n"}}, ask.Answer{}},
		{"w", []step{{"help", "w"}, {"no, because: ", "use the "}, {"use the ", "größere"}, {"größere", " file"}, {" file", "\r"}}, ask.Answer{Words: "use the größere file"}},
		{"w, erase", []step{{"help", "w"}, {"no, because: ", "abc"}, {"abc", "\x7f"}, {"no, because: ab", "\r"}}, ask.Answer{Words: "ab"}},
		{"w, back", []step{{"help", "w"}, {"no, because: ", "\x1b"}, {"yes, once", "y"}}, yes(ask.Once)},
		{"u", []step{{"help", "u"}, {"for how long", "soon"}, {"8h): soon", "\r"}, {"no length of time", ""}, {"for how long", "30m"}, {"8h): 30m", "\r"}}, ask.Answer{Allow: true, Scope: ask.Until, Until: now.Add(30 * time.Minute)}},
		{"v", []step{{"help", "v"}, {"+three", ""}, {"yes, once", "y"}}, yes(ask.Once)},
		{"e: some", []step{{"choose of 3 edits", "e"}, {"edit 1 of 3", "y"}, {"edit 2 of 3 at line 7", "w"}, {"because: ", "keep d"}, {"keep d", "\r"}, {"edit 3 of 3", "y"}}, ask.Answer{Allow: true, Hunks: []int{1, 3}, Denied: map[int]string{2: "keep d"}}},
		{"h: all", []step{{"choose of 3 edits", "h"}, {"edit 1 of 3", "a"}}, ask.Answer{Allow: true}},
		{"e: none", []step{{"choose of 3 edits", "e"}, {"edit 1 of 3", "w"}, {"because: ", "no"}, {"because: no", "\r"}, {"edit 2 of 3", "d"}}, ask.Answer{Words: "#1: no"}},
		{"e: back", []step{{"choose of 3 edits", "e"}, {"edit 1 of 3", "n"}, {"edit 2 of 3", "b"}, {"edit 1 of 3", "y"}, {"edit 2 of 3", "d"}}, ask.Answer{Allow: true, Hunks: []int{1}, Denied: map[int]string{}}},
		{"e: leave", []step{{"choose of 3 edits", "e"}, {"edit 1 of 3", "\x1b"}, {"yes, once", "n"}}, ask.Answer{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScreen(t)
			done := s.start(t.Context(), &Prompt{Now: clock}, request())
			for _, st := range tt.steps {
				s.wait(st.wait)
				s.type_(st.keys)
			}
			got := <-done
			if got.err != nil {
				t.Fatal(got.err)
			}
			tt.want.Fingerprint, tt.want.Approver = "f", ask.Approver{Name: "ada", Face: "terminal"}
			if diff := cmp.Diff(tt.want, got.a); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A plain question takes yes and no, and nothing else.
func TestConfirm(t *testing.T) {
	for key, want := range map[string]bool{"y": true, "n": false} {
		s := newScreen(t)
		s.ready = make(chan struct{})
		done := make(chan bool, 1)
		go func() {
			yes, err := (&Prompt{Device: watched{s.tty, s.ready}, Settle: -1}).Confirm(t.Context(), ask.View{Title: "trust 1 file", Diff: "+rules: []\n"})
			if err != nil {
				t.Error(err)
			}
			done <- yes
		}()
		s.wait("trust 1 file")
		s.wait("+rules: []")
		s.wait("help")
		for _, other := range []string{"w", "s", "p", "\r"} {
			s.type_(other)
			s.wait("answers nothing")
		}
		s.type_("?")
		s.wait("yes: exactly what is shown")
		s.type_(key)
		if got := <-done; got != want {
			t.Errorf("%q: %t", key, got)
		}
	}
}

// UI-010: what was typed before the prompt was drawn answers nothing.
func TestUI010_TypedBefore(t *testing.T) {
	s := newScreen(t)
	s.type_("y\ny\n")
	s.wait("y\r\ny\r\n") // the terminal has it
	done := s.start(t.Context(), &Prompt{}, request())
	s.wait("help")
	s.type_("n")
	if a := <-done; a.err != nil || a.a.Allow {
		t.Errorf("%+v", a)
	}
}

// hand is a terminal whose keys the test hands over one by one.
type hand struct {
	keys chan string
	stop chan struct{}
}

func (h *hand) Read(p []byte) (int, error) {
	select {
	case k := <-h.keys:
		return copy(p, k), nil
	case <-h.stop:
		return 0, os.ErrDeadlineExceeded
	}
}
func (h *hand) Write(p []byte) (int, error) { return len(p), nil }
func (h *hand) Raw() (func(), error)        { return func() {}, nil }
func (h *hand) Flush()                      {}
func (h *hand) Size() (int, int)            { return 0, 0 }
func (h *hand) SetReadDeadline(at time.Time) error {
	if !at.IsZero() {
		close(h.stop)
	}
	return nil
}

// UI-010: keys in the moment after the prompt was drawn answer nothing, and neither do a paste or an arrow.
func TestUI010_TypeAhead(t *testing.T) {
	var mu sync.Mutex
	now := time.Unix(0, 0)
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	h := &hand{keys: make(chan string), stop: make(chan struct{})}
	p := &Prompt{Device: h, Now: clock}
	done := make(chan answered, 1)
	go func() {
		a, err := p.Ask(t.Context(), request())
		done <- answered{a, err}
	}()
	// A key is taken only when the one before it was looked at, so when the last one is taken the others have been.
	for _, k := range []string{"y", "y", "\xff"} {
		h.keys <- k
	}
	mu.Lock()
	now = now.Add(DefaultSettle)
	mu.Unlock()
	for _, k := range []string{"yy", "y\n", "\x1b[A", "\xff", "\x1b[200~y\x1b[201~"} {
		h.keys <- k
	}
	select {
	case h.keys <- "n":
	case a := <-done:
		t.Fatalf("answered by what is no answer: %+v", a)
	}
	if a := <-done; a.err != nil || a.a.Allow {
		t.Errorf("%+v", a)
	}
}

// P8: an ask that is decided elsewhere, or whose call ends, leaves the prompt and the terminal as it was.
func TestP8_PromptEnds(t *testing.T) {
	s := newScreen(t)
	for _, tt := range []struct {
		cause error
		says  string
	}{{ask.ErrElsewhere, "answered elsewhere"}, {errors.New("the call ended"), "not answered: the call ended"}} {
		ctx, cancel := context.WithCancelCause(t.Context())
		done := s.start(ctx, &Prompt{}, request())
		s.wait("help")
		cancel(tt.cause)
		if a := <-done; !errors.Is(a.err, tt.cause) {
			t.Errorf("%+v", a)
		}
		s.wait(tt.says)
	}
	done := s.start(t.Context(), &Prompt{}, request())
	s.wait("help")
	s.type_("\x03")
	if a := <-done; !errors.Is(a.err, errGone) {
		t.Errorf("%+v", a)
	}
	s.type_("cooked\n") // echo is on again
	s.wait("cooked\r\n")
}

// P8: what does not fit is cut in the middle, said so, and can be opened whole.
func TestP8_LongPayload(t *testing.T) {
	s := newScreen(t)
	r := request()
	r.View.Diff = "+first\n" + strings.Repeat("+x\n", 200) + "+touch CANARY\n"
	r.View.Args = []ask.Field{{Name: "content", Value: "start" + strings.Repeat("-", 500) + "CANARY"}}
	for i := range 30 {
		r.View.Targets = append(r.View.Targets, ask.Target{Effect: "write", Kind: "path", Value: "/w/" + strings.Repeat("d", i+1)})
	}
	done := s.start(t.Context(), &Prompt{}, r)
	for _, part := range []string{"start---", "not shown: ", "---CANARY", "… and 21 more", "+first", "…(not shown: ", "+touch CANARY", "Not everything is shown; v shows the whole."} {
		s.wait(part)
	}
	s.wait("help")
	s.type_("v")
	for range 8 { // 30 lines a screen
		s.wait("space: more")
		s.type_(" ")
	}
	s.wait("+touch CANARY")
	s.wait("help")
	s.type_("n")
	if a := <-done; a.err != nil || a.a.Allow {
		t.Errorf("%+v", a)
	}
}

// P8, P9: a single edit that does not fit is cut, said so, and can be opened whole before it is answered.
func TestP9_LongHunk(t *testing.T) {
	s := newScreen(t)
	r := request()
	r.View.Hunks[0].Text = "-a\n" + strings.Repeat("+x\n", 200) + "+" + strings.Repeat("y", 900) + "CANARY" + strings.Repeat("z", 900) + "\n"
	done := s.start(t.Context(), &Prompt{}, r)
	s.wait("help")
	s.type_("e")
	s.wait("Not everything is shown; v shows the whole.")
	s.wait("Esc")
	s.type_("v")
	for range 7 {
		s.wait("space: more")
		s.type_(" ")
	}
	s.wait("CANARY")
	s.wait("edit 1 of 3")
	s.wait("Esc")
	s.type_("d")
	if a := <-done; a.err != nil || a.a.Allow {
		t.Errorf("%+v", a)
	}
}

// A guard's ask has no pattern, and says so; colour is for terminals that have it.
func TestRender(t *testing.T) {
	r := request()
	r.PersonOnly = true
	r.Offers = slices.DeleteFunc(r.Offers, func(o ask.Offer) bool { return o.Scope == ask.Always })
	r.View.Warnings = []string{"The arguments hold 1 invisible character."}
	r.View.Scripts = []string{"rm -rf x\n"}
	plain := style(false).ask(r, false, 100, 40)
	want := `
? multi_edit asks to change 1 file [write-in]
  why a rule says so
  path: "src/../src/a.go"
→ write path /w/ws/src/a.go given as src/../src/a.go
  which runs
  rm -rf x
  ! The arguments hold 1 invisible character.
  --- a/src/a.go
  +++ b/src/a.go
  @@ -1,2 +1,2 @@
   one
  -two
  +three
  y yes, once · s session · p project · u for a time · l session, like src/*.go · e choose of 3 edits · n no · w no, with words · v view all · ? help
`
	if diff := cmp.Diff(want, plain); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(style(false).help(r, false), "never for a pattern") {
		t.Error("the help does not say what a guard means")
	}
	coloured := style(true).ask(r, false, 100, 40)
	for _, part := range []string{"\x1b[32m+three\x1b[0m", "\x1b[31m-two\x1b[0m", "\x1b[7m[write-in]\x1b[0m"} {
		if !strings.Contains(coloured, part) {
			t.Errorf("%q is not in %q", part, coloured)
		}
	}
}
