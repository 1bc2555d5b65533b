package tackle

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/agent/history"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
	"github.com/tackle-dev/tackle/tools/todo"
)

// AgentConfig says how an agent works. The model is needed; everything else has a default.
type AgentConfig struct {
	Model model.Model
	Mode  string // default: that of the box

	Limits  agent.Limits    // of each turn; fields that are zero are those of the configuration
	Overlay map[string]bool // tools of the mode that are switched off or on
	// Instructions are read instead of the files of the person and of the project; an empty list reads none.
	Instructions []agent.Instruction

	Effort      model.Effort // default: that of the mode
	MaxTokens   int          // of one answer; default: the model's
	Temperature *float64

	// Watch hears of everything that happens. See agent.Config.
	Watch func(session string, u agent.Update)
}

// Agent returns an agent that works with the tools of the box: under its policy, in its store, so that sessions outlive the
// process, with the prompt of the mode and the instructions of the project.
//
//	a, err := box.Agent(tackle.AgentConfig{Model: m})
//	turn, err := a.Run(ctx, "", "Make the tests pass.")
func (b *Box) Agent(cfg AgentConfig) (*agent.Agent, error) {
	m, err := b.Mode(cfg.Mode)
	if err != nil {
		return nil, err
	}
	instructions := cfg.Instructions
	if instructions == nil {
		instructions = b.instructions()
	}
	return agent.New(agent.Config{
		Model: cfg.Model, Box: b.Box, Events: b.store, Records: b.log, Shelf: agentShelf{b},
		Mode: m.Name, Dir: b.cfg.Dir, Prompt: agent.Prompt{Mode: m.Prompt, Instructions: instructions, Skills: b.promptSkills(toolbox.View{Mode: m.Name, Overlay: cfg.Overlay}), Facts: b.facts()},
		Overlay: cfg.Overlay, Limits: b.limits(cfg.Limits), Effort: cmp.Or(cfg.Effort, m.Effort), MaxTokens: cfg.MaxTokens, Temperature: cfg.Temperature,
		Keep: []agent.Keeper{keepTasks{b}, keepMedia{b}, keepTodos{b}}, Claim: b.claim, Watch: cfg.Watch, Log: b.cfg.Log,
	})
}

// limits completes limits from the configuration.
func (b *Box) limits(l agent.Limits) agent.Limits {
	c := b.merged.Config.Agent
	l.Rounds, l.Tokens, l.Cost, l.Time = cmp.Or(l.Rounds, c.Rounds), cmp.Or(l.Tokens, c.Tokens), cmp.Or(l.Cost, c.Cost), cmp.Or(l.Time, c.Time)
	return l
}

// facts are lines about the place that stay as they are for the whole session.
func (b *Box) facts() []string {
	out := []string{"Working folder: " + b.cfg.Dir}
	if roots := b.cfg.Roots; len(roots) > 1 || roots[0] != b.cfg.Dir {
		out = append(out, "Workspace: "+strings.Join(roots, ", "))
	}
	out = append(out, "System: "+runtime.GOOS+"/"+runtime.GOARCH)
	if _, err := os.Stat(filepath.Join(b.merged.ProjectDir, ".git")); err == nil && b.merged.ProjectDir != "" {
		out = append(out, "The folder is in a git repository.")
	}
	return out
}

// instructionsFile is the name of files that tell agents how to work somewhere.
const instructionsFile = "AGENTS.md"

// instructions returns the person's instructions, then those of the project from its top down to the working folder.
func (b *Box) instructions() []agent.Instruction {
	if b.cfg.NoFiles {
		return []agent.Instruction{}
	}
	var paths []string
	if user := b.userFile(); user != "" {
		paths = append(paths, filepath.Join(filepath.Dir(user), instructionsFile))
	}
	top, dir := b.merged.ProjectDir, b.cfg.Dir
	if top == "" {
		top = dir
	}
	var below []string
	for {
		below = append(below, filepath.Join(dir, instructionsFile))
		if dir == top || filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	if dir != top { // the working folder is not in the project
		below = below[:1]
	}
	slices.Reverse(below)
	out := []agent.Instruction{}
	for _, path := range append(paths, below...) {
		if data, err := os.ReadFile(path); err == nil && len(bytes.TrimSpace(data)) > 0 {
			shown := path
			if rel, err := filepath.Rel(top, path); err == nil && filepath.IsLocal(rel) {
				shown = rel
			}
			out = append(out, agent.Instruction{Path: shown, Text: b.mask(strings.ToValidUTF8(string(data), "\uFFFD"))})
		}
	}
	return out
}

// claim keeps other processes from driving a session. A process that is killed lets it go.
func (b *Box) claim(session string) (release func(), err error) {
	dir := filepath.Join(b.cfg.StateDir, "sessions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	l := flock.New(filepath.Join(dir, fileName(session)+".lock"), flock.SetPermissions(0o600))
	held, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("claim the session: %w", err)
	}
	if !held {
		return nil, errors.New("another process works on this session; wait for it, or begin from a copy (tackle sessions fork)")
	}
	return func() { _ = l.Close() }, nil // the end of the process would let it go as well
}

// claimDriven is claim for a session in which an agent may never have worked; of such a one nothing is kept.
func (b *Box) claimDriven(session string) (release func(), err error) {
	if _, err := os.Stat(filepath.Join(b.cfg.StateDir, "sessions", fileName(session)+".lock")); errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	return b.claim(session)
}

// fileName makes a name for a file of a session's name.
func fileName(session string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.", r) {
			return r
		}
		return '_'
	}, session)
}

// agentShelf keeps the media of an agent where its tools find them.
type agentShelf struct{ box *Box }

// Keep is described at agent.Shelf. Media that a tool put on the shelf stay what they are.
func (s agentShelf) Keep(ctx context.Context, session, name, mime string, data []byte) (string, error) {
	a, err := s.box.artifacts.Put(ctx, session, name, mime, bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	_, _, err = s.box.shelf.Open(ctx, session, a.ID)
	if !errors.Is(err, fs.ErrNotExist) {
		return a.ID, err
	}
	it, err := s.box.shelf.Attach(ctx, session, name, mime, data)
	return it.ID, err
}

// Fetch is described at agent.Shelf.
func (s agentShelf) Fetch(ctx context.Context, session, id string) ([]byte, error) {
	_, data, err := s.box.shelf.Open(ctx, session, id)
	return data, err
}

// keepTasks tells of the background tasks that run.
type keepTasks struct{ box *Box }

// Keep is described at agent.Keeper.
func (k keepTasks) Keep(ctx context.Context, session string) (string, string, error) {
	tasks := k.box.commands.tasks
	if tasks == nil {
		return "", "", nil
	}
	list, err := tasks.List(ctx, session)
	if err != nil {
		return "", "", err
	}
	var lines []string
	for _, t := range list {
		if t.Running {
			lines = append(lines, fmt.Sprintf("- %s: %s", t.ID, t.Command))
		}
	}
	return "Background tasks", strings.Join(lines, "\n"), nil
}

// keepMedia tells of the media that tools know.
type keepMedia struct{ box *Box }

// Keep is described at agent.Keeper.
func (k keepMedia) Keep(ctx context.Context, session string) (string, string, error) {
	list, err := k.box.shelf.List(ctx, session)
	if err != nil {
		return "", "", err
	}
	var lines []string
	for _, it := range list {
		lines = append(lines, fmt.Sprintf("- %s: %s (%s, %d bytes, from %s)", it.ID, it.Filename, it.MIMEType, it.Size, it.Source))
	}
	return "Media of this session", strings.Join(lines, "\n"), nil
}

// keepTodos tells of what the session has to do.
type keepTodos struct{ box *Box }

// Keep is described at agent.Keeper.
func (k keepTodos) Keep(ctx context.Context, session string) (string, string, error) {
	list, err := k.box.todos().Load(ctx, session)
	return "To do", todo.Text(list), err
}

// todos are the lists of the sessions.
func (b *Box) todos() session.Todos { return session.Todos{Records: b.store} }

// Sessions returns what sessions were, the most recently used first.
func (b *Box) Sessions(ctx context.Context, q history.Query) ([]history.Summary, error) {
	b.log.Settle()
	return history.List(ctx, b.store, q)
}

// History returns a stored session as it went. Errors: history.ErrUnknown.
func (b *Box) History(ctx context.Context, id string) (*history.Session, error) {
	b.log.Settle()
	return history.Open(ctx, b.store, id)
}

// Fork makes a session of the first turns of another one, over which it can see the same artifacts and media, and returns its
// name. A negative number keeps all turns that are over.
func (b *Box) Fork(ctx context.Context, id string, turns int) (string, error) {
	s, err := b.History(ctx, id)
	if err != nil {
		return "", err
	}
	return b.fork(ctx, s, turns)
}

func (b *Box) fork(ctx context.Context, s *history.Session, turns int) (string, error) {
	if turns < 0 {
		turns = s.Over()
	}
	seq, err := s.Cut(turns)
	if err != nil {
		return "", err
	}
	to := agent.NewID()
	if err := s.Fork(ctx, b.store, to, seq); err != nil {
		return "", err
	}
	list, err := b.artifacts.List(ctx, s.ID)
	if err != nil {
		return "", err
	}
	for _, a := range list {
		if _, err := b.artifacts.Share(ctx, a.ID, to); err != nil {
			return "", fmt.Errorf("fork session %s: artifact %s: %w", s.ID, a.ID, err)
		}
	}
	if err := b.shelf.Share(ctx, s.ID, to); err != nil {
		return "", fmt.Errorf("fork session %s: %w", s.ID, err)
	}
	todos, err := b.todos().Load(ctx, s.ID)
	if err == nil {
		err = b.todos().Save(ctx, to, todos)
	}
	if err != nil {
		return "", fmt.Errorf("fork session %s: %w", s.ID, err)
	}
	return to, nil
}

// Rewound says what a rewind did.
type Rewound struct {
	Session string          // the new one
	Files   *tool.Result    // of the undo; nil where nothing was to be taken back
	Lasting []*history.Call // what was done since that no undo takes back
}

// RewindRequest says how far to go back.
type RewindRequest struct {
	Session string
	Turns   int  // that are kept
	Keep    bool // leave files as they are
	Merge   bool // where others changed a file since, take back our change and keep theirs
}

// Rewind takes back what a session did behind its first turns: a new session begins there, and the files become what they were.
// The old session stays as it is. Files that others changed since refuse the rewind before anything is done; Files.Err says so, and
// there is no session then. Files of a session in which an agent works now are not taken back: that is an error. Undoing is a call of the new session, so it can itself be undone.
func (b *Box) Rewind(ctx context.Context, r RewindRequest) (Rewound, error) {
	if !r.Keep { // files must not become what they were under a turn that works on them
		release, err := b.claimDriven(r.Session)
		if err != nil {
			return Rewound{}, fmt.Errorf("session %s is not rewound: %w", r.Session, err)
		}
		defer release()
	}
	s, err := b.History(ctx, r.Session)
	if err != nil {
		return Rewound{}, err
	}
	seq, err := s.Cut(r.Turns)
	if err != nil {
		return Rewound{}, err
	}
	calls := s.Since(seq)
	out := Rewound{Lasting: history.Lasting(calls)}
	undo := UndoRequest{Transactions: history.Transactions(calls), Merge: r.Merge}
	if !r.Keep && len(undo.Transactions) > 0 {
		if left, err := b.Undoable(ctx, undo); err != nil {
			return out, err
		} else if len(left) == 0 { // taken back already
			r.Keep = true
		} else if _, failed, err := b.PreviewUndo(ctx, undo); err != nil || failed != nil {
			out.Files = &tool.Result{Err: failed}
			return out, err
		}
	}
	if out.Session, err = b.fork(ctx, s, r.Turns); err != nil || r.Keep || len(undo.Transactions) == 0 {
		return out, err
	}
	undo.By = out.Session
	res, err := b.Undo(ctx, undo)
	out.Files = &res
	return out, err
}

// ReadStates returns what sessions know of files: which ones were read, as they were then.
func (b *Box) ReadStates() *session.Log { return b.log }
