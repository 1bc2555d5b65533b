//go:build linux

package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/artifact"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local"
	"github.com/tackle-dev/tackle/host/local/proc"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/task"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// serverVariable makes this test binary a server that starts tasks through a toolbox and waits to be killed.
const serverVariable = "TACKLE_SHELL_SERVER"

// TestMain lets this test binary act as a keeper, or as a server that tests kill.
func TestMain(m *testing.M) {
	proc.KeeperMain()
	if os.Getenv(serverVariable) != "" {
		if err := serve(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "server:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// parts are what a server is made of: the local host, a real runner, real policy, a store, tasks and the tools.
type parts struct {
	runner host.Runner
	tasks  *task.Manager
	box    *toolbox.Box
	kept   *artifact.Store
	close  func() error
}

// option changes what is put together.
type option struct {
	cfg     Config
	box     toolbox.Config
	rules   []permission.Rule
	plain   bool                          // no tasks
	wrap    func(host.Runner) host.Runner // around the runner
	posture permission.Posture
	manager task.Config
}

// assemble puts a server together over a workspace and a state folder.
func assemble(dir, state string, opt option) (*parts, error) {
	h, err := local.Open(local.Config{Roots: []host.Root{{Path: dir}}, StateDir: filepath.Join(state, "host")})
	if err != nil {
		return nil, err
	}
	r, err := proc.Open(proc.Config{Keeper: proc.Self(), Dir: dir, StateDir: filepath.Join(state, "host")})
	if err != nil {
		return nil, err
	}
	p := &parts{runner: r}
	if opt.wrap != nil {
		p.runner = opt.wrap(r)
	}
	cfg := opt.cfg
	cfg.Runner = p.runner
	if !opt.plain {
		opt.manager.Runner, opt.manager.Dir = p.runner, filepath.Join(state, "tasks")
		if p.tasks, err = task.Open(opt.manager); err != nil {
			return nil, err
		}
		cfg.Tasks = p.tasks
	}
	facts := permission.FactsOf(h.Info())
	facts.State = append(facts.State, state)
	o := permission.Options{Facts: facts, Posture: opt.posture}
	if opt.rules != nil {
		o.Layers = []permission.Layer{{Name: "user", Rules: opt.rules}}
	}
	gate, err := permission.New(o)
	if err != nil {
		return nil, err
	}
	st := store.Open(state, store.Options{})
	p.kept = artifact.New(st, st, artifact.Options{Dir: filepath.Join(state, "artifacts")})
	opt.box.Host, opt.box.Gate, opt.box.Env, opt.box.Artifacts = h, gate, tool.Environment{Mode: "code"}, spool{p.kept}
	if p.box, err = toolbox.New(opt.box); err != nil {
		return nil, err
	}
	for _, tl := range Tools(cfg) {
		if err := p.box.Register(tl, "code"); err != nil {
			return nil, err
		}
	}
	p.close = func() error {
		var err error
		if p.tasks != nil {
			err = p.tasks.Close()
		}
		return errors.Join(err, r.Close(), st.Close())
	}
	return p, nil
}

// world is a workspace with a server, and a person who says yes and remembers what was asked.
type world struct {
	*parts
	t     testing.TB
	ctx   context.Context
	dir   string // the workspace
	state string
	fifo  *os.File

	mu    sync.Mutex
	asked []string
	// meanwhile, where set, is what happens while the person thinks.
	meanwhile func(toolbox.Asked)
}

func newWorld(t testing.TB, opt option) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, ctx: ctx, dir: filepath.Join(top, "ws"), state: filepath.Join(top, "state")}
	w.ok(os.Mkdir(w.dir, 0o755))
	w.watch() // first, so that it looks last, when the tasks have ended
	opt.box.Answerer = person{w}
	if w.parts, err = assemble(w.dir, w.state, opt); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.ok(w.close()) })
	return w
}

// spool gives the toolbox its artifacts.
type spool struct{ *artifact.Store }

func (s spool) Put(ctx context.Context, session, name, mime string, r io.Reader) (string, error) {
	a, err := s.Store.Put(ctx, session, name, mime, r)
	return a.ID, err
}

func (s spool) Open(ctx context.Context, id string) (tool.ArtifactReader, error) {
	return s.Store.Open(ctx, id)
}

// person says yes to everything.
type person struct{ w *world }

func (p person) Answer(_ context.Context, a toolbox.Asked) (tool.Decision, error) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.w.asked = append(p.w.asked, a.Policy.Reason)
	if p.w.meanwhile != nil {
		p.w.meanwhile(a)
	}
	return tool.Decision{Verdict: tool.Allow, By: "person", Person: true, Fingerprint: a.Intent.Fingerprint}, nil
}

// watch makes the FIFO that tells whether any process lives whose script begins with hold.
func (w *world) watch() {
	w.t.Helper()
	path := filepath.Join(w.dir, "alive")
	w.ok(syscall.Mkfifo(path, 0o600))
	var err error
	if w.fifo, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { w.deserted(); w.fifo.Close() })
}

// hold begins a command: from here on its shell and all children keep the FIFO open.
const hold = "exec 9>alive; "

func (w *world) alive() bool {
	var p [1]byte
	n, err := syscall.Read(int(w.fifo.Fd()), p[:])
	return n != 0 || err != nil
}

// deserted waits until no process lives that a command with hold started.
func (w *world) deserted() {
	w.t.Helper()
	w.until("no process lives", func() bool { return !w.alive() })
}

func (w *world) until(what string, done func() bool) {
	w.t.Helper()
	limit, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-limit.Done():
			w.t.Fatalf("waited in vain: %s", what)
		}
	}
}

func (w *world) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Error(err)
	}
}

func (w *world) put(name, content string) {
	w.t.Helper()
	p := filepath.Join(w.dir, name)
	w.ok(os.MkdirAll(filepath.Dir(p), 0o755))
	w.ok(os.WriteFile(p, []byte(content), 0o644))
}

type args map[string]any

func (w *world) request(name string, a args) toolbox.Request {
	w.t.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		w.t.Fatal(err)
	}
	return toolbox.Request{Tool: name, Args: raw, Session: "s", Dir: w.dir}
}

func (w *world) call(name string, a args) tool.Result {
	w.t.Helper()
	return w.do(w.request(name, a))
}

func (w *world) do(req toolbox.Request) tool.Result {
	w.t.Helper()
	res, err := w.box.Call(w.ctx, req)
	if err != nil {
		w.t.Fatalf("%s %s: fault: %v", req.Tool, req.Args, err)
	}
	return res
}

// text calls a tool and returns the text of its result.
func (w *world) text(name string, a args) string {
	w.t.Helper()
	res := w.call(name, a)
	return res.Text()
}

// shell runs a command and returns its text.
func (w *world) shell(line string) string {
	w.t.Helper()
	return w.text("shell", args{"command": line})
}

// masks are what differs from run to run.
var masks = []struct {
	re *regexp.Regexp
	as string
}{
	{regexp.MustCompile(`artifact:[a-z0-9]+`), "artifact:ID"},
	{regexp.MustCompile(`([Tt]ask|task_output id=)( ?)[a-z2-9]{6}\b`), "${1}${2}TASK"},
	{regexp.MustCompile(`(pid|process|processes) [0-9]+`), "$1 N"},
	{regexp.MustCompile(`, [0-9]+ \(`), ", N ("},
	{regexp.MustCompile(`system \([0-9]+ bytes`), "system (N bytes"},
	{regexp.MustCompile(`\b(for|after) ([0-9]+m)?[0-9.]+(ms|s)\b`), "$1 TIME"},
}

// mask replaces ids, process numbers and measured times; exact keeps the times.
func (w *world) mask(text string, exact bool) string {
	text = strings.NewReplacer(w.dir, "DIR", w.state, "STATE").Replace(text)
	for _, m := range masks {
		if m.as != "$1 TIME" || !exact {
			text = m.re.ReplaceAllString(text, m.as)
		}
	}
	return text
}

func (w *world) is(what, got, want string) {
	w.t.Helper()
	if got = w.mask(got, strings.Contains(want, "(time limit)")); got != want {
		w.t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
}

var taskID = regexp.MustCompile(`[Tt]ask ([a-z2-9]{6})\b`)

// task returns the id in a text.
func (w *world) task(text string) string {
	w.t.Helper()
	m := taskID.FindStringSubmatch(text)
	if m == nil {
		w.t.Fatalf("names no task: %s", text)
	}
	return m[1]
}

// yes is a person who is not remembered.
type yes struct{}

func (yes) Answer(_ context.Context, a toolbox.Asked) (tool.Decision, error) {
	return tool.Decision{Verdict: tool.Allow, By: "person", Fingerprint: a.Intent.Fingerprint}, nil
}

// serve makes each of the calls that are given as JSON, prints its result as a line of JSON, and waits to be killed.
func serve(args []string) error {
	p, err := assemble(args[0], args[1], option{box: toolbox.Config{Answerer: yes{}}})
	if err != nil {
		return err
	}
	for _, raw := range args[2:] {
		res, err := p.box.Call(context.Background(), toolbox.Request{Tool: "shell", Args: json.RawMessage(raw), Session: "s", Dir: args[0]})
		if err != nil {
			return err
		}
		line, err := json.Marshal(res.Text())
		if err != nil {
			return err
		}
		fmt.Println(string(line))
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func (w *world) artifacts() spool { return spool{w.kept} }

// size returns the bytes of an artifact.
func (w *world) size(id string) int64 {
	w.t.Helper()
	r, err := w.artifacts().Open(w.ctx, id)
	if err != nil {
		w.t.Fatal(err)
	}
	defer r.Close()
	return r.Size()
}

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }

// writeFifo writes to a FIFO that a command reads or will read.
func writeFifo(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }

// running counts the processes of a name that work in the workspace.
func (w *world) running(name string) (n int) {
	dirs, err := filepath.Glob("/proc/[0-9]*/cwd")
	w.ok(err)
	for _, d := range dirs {
		comm, _ := os.ReadFile(filepath.Join(filepath.Dir(d), "comm"))
		if to, err := os.Readlink(d); err == nil && to == w.dir && strings.TrimSpace(string(comm)) == name {
			n++
		}
	}
	return n
}
