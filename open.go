// Package tackle is the front door: [Open] gives a ready box of tools for agents, with policy, journal, sessions and
// artifacts behind it.
//
//	box, err := tackle.Open(ctx, tackle.Config{Dir: "."})
//	if err != nil { … }
//	defer box.Close()
//	res, err := box.Call(ctx, tackle.NewRequest("read_file", map[string]any{"path": "go.mod"}))
//
// A result whose OK is false is for the model: a tool error or a denial, with what to do next. An error beside the
// result is a fault of the host or the program. The packages that Open puts together are all usable alone.
package tackle

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/tackle-dev/tackle/artifact"
	"github.com/tackle-dev/tackle/config"
	"github.com/tackle-dev/tackle/config/mode"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local"
	"github.com/tackle-dev/tackle/host/local/proc"
	"github.com/tackle-dev/tackle/internal/ledger"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/ext"
	"github.com/tackle-dev/tackle/media/forge"
	"github.com/tackle-dev/tackle/media/forge/shelf"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
	"github.com/tackle-dev/tackle/toolbox/hook"
)

// DefaultMode is the mode of a box that was given none.
const DefaultMode = mode.Code

// Config configures a box. The zero value works in the current folder, with the configuration files of the user and of
// the project, posture guarded, and nobody to answer asks. Fields that are set win over the files.
type Config struct {
	Dir      string   // working folder; default: the current one
	Roots    []string // workspace roots; default: those of the files, else Dir
	StateDir string   // sessions, journal, before-images; default: that of the files, else the user's state folder
	NoFiles  bool     // read no configuration files

	Mode    string // default: that of the files, else "code"; one that nothing names is an error
	Session string // default: a new one
	Posture string // plan, guarded, auto or ci; default: that of the files, else guarded
	// Rules are a layer of their own, as strict as any other: the strictest opinion of all layers wins.
	Rules []permission.Rule
	// Faces answer what policy asks a person, each in the context of its call, beside whoever listens to [Box.Asks].
	// Approve answers without a person.
	Faces   []ask.Face
	Approve permission.Answer

	// Tools are added to the built-in ones, for the given modes (default: the box's mode).
	Tools []Tool
	Hooks []toolbox.Hook
	// Host replaces the local host.
	Host host.Host
	// Keeper starts the processes that end a command's tree when this one dies, kill -9 included: usually proc.Self(), in a
	// program whose main calls proc.KeeperMain first. Default: none; what a killed process leaves is ended by the next one.
	Keeper []string

	Options tool.Options // add to those of the files
	Log     *slog.Logger // default: discards
}

// Tool is a tool with the modes that it is registered for. Modes of files that take their tools from one of them list it too,
// as their files say.
type Tool struct {
	tool.Tool
	Modes []string
	// Replace puts it in the place of a tool of the same name, such as a built-in one. Otherwise a name that is taken is an
	// error.
	Replace bool
}

// Answers for Config.Approve.
const (
	// ApproveAlways answers every ask with yes, also those of guards, as a person would who saw nothing. Denials stay.
	ApproveAlways = permission.Always
	// ApproveNever answers every ask with no.
	ApproveNever = permission.Never
)

// View selects a list of tools.
type View = toolbox.View

// Request is one call.
type Request = toolbox.Request

// Box is a toolbox with everything that stands behind it. It is safe for concurrent use.
type Box struct {
	*toolbox.Box
	cfg         Config
	merged      config.Merged
	policy      *policy
	asks        *ask.Queue
	ledger      *ledger.Ledger
	store       store.Store
	end         func() error // ends commands of the host that Open opened
	commands    commandHalf
	log         *session.Log
	artifacts   *artifact.Store
	media       *media.Pipeline
	mediaFinder *ext.Finder
	shelf       *shelf.Shelf
	forged      *forge.Set
	snapshot    snapshot
	loading     config.Options // how the configuration was read
	faces       []ask.Face
	notes       []string
	programs    []string // files that hooks run
	dev         *devRoom
	skills      *skillRoom
	modes       *mode.Set
	titler      atomic.Pointer[model.Model] // that names sessions
	hooks       *hook.Hooks
}

// Open puts a box together. Close it when done. Opening is cheap: the database is opened by the first call that
// records something.
func Open(ctx context.Context, cfg Config) (*Box, error) {
	b := &Box{cfg: cfg}
	if err := b.configure(ctx); err != nil {
		return nil, fmt.Errorf("open tackle: %w", err)
	}
	if err := b.assemble(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open tackle: %w", err), b.Close())
	}
	return b, nil
}

// configure merges files and fields, fills defaults and makes paths absolute.
func (b *Box) configure(ctx context.Context) error {
	c := &b.cfg
	var err error
	if c.Dir, err = filepath.Abs(c.Dir); err != nil {
		return err
	}
	opt := config.Options{Dir: c.Dir, NoFiles: c.NoFiles, Flags: c.flags(), ReadFile: b.snapshot.read}
	if b.merged, err = config.Load(ctx, opt); err != nil {
		return err
	}
	if c.StateDir = b.merged.Config.StateDir; c.StateDir == "" {
		if c.StateDir, err = local.DefaultStateDir(); err != nil {
			return err
		}
	}
	if b.projectUntrusted() { // only now is it known where the list of trusted projects is
		opt.Trusted = b.trust().Trusted
		if b.merged, err = config.Load(ctx, opt); err != nil {
			return err
		}
	}
	b.loading = opt
	m := &b.merged.Config
	if c.Roots = m.Roots; len(c.Roots) == 0 {
		c.Roots = []string{c.Dir}
	}
	if c.Mode = m.Mode; c.Mode == "" {
		c.Mode = DefaultMode
	}
	if c.Session == "" {
		c.Session = "s_" + strings.ToLower(rand.Text()[:12])
	}
	c.Options.RequireRead = c.Options.RequireRead || m.Files.RequireRead
	c.Options.Durable = c.Options.Durable || m.Files.Durable
	return nil
}

func (c *Config) flags() []config.Flag {
	var out []config.Flag
	add := func(path string, values ...string) {
		if len(values) > 0 && values[0] != "" {
			out = append(out, config.Flag{Path: path, Values: values})
		}
	}
	add("roots", c.Roots...)
	add("state_dir", c.StateDir)
	add("mode", c.Mode)
	add("posture", c.Posture)
	return out
}

func (b *Box) projectUntrusted() bool {
	for _, f := range b.merged.Files {
		if !f.Trusted {
			return true
		}
	}
	return false
}

// trust returns the list of the project files that the person has trusted.
func (b *Box) trust() config.Trust { return config.Trust{File: filepath.Join(b.cfg.StateDir, "trust")} }

func (b *Box) assemble(ctx context.Context) error {
	cfg, m := &b.cfg, &b.merged.Config
	h := cfg.Host
	if h == nil {
		roots := make([]host.Root, 0, len(cfg.Roots))
		for _, r := range cfg.Roots {
			roots = append(roots, host.Root{Path: r})
		}
		l, err := local.Open(local.Config{Roots: roots, StateDir: filepath.Join(cfg.StateDir, "host"),
			MaxImageBytes: int64(m.Images.MaxBytes), MaxImageAge: m.Images.MaxAge, Commands: proc.Config{Keeper: cfg.Keeper, Pass: m.Shell.Pass}})
		if err != nil {
			return err
		}
		h, b.end = l, l.EndCommands
	}
	b.store = store.Open(cfg.StateDir, store.Options{})
	b.log = session.NewLog(b.store)
	b.ledger = ledger.New(b.store, nil)
	// Both kinds of retention have the defaults that their configuration documents.
	b.artifacts = artifact.New(b.store, b.store, artifact.Options{Dir: filepath.Join(cfg.StateDir, "artifacts"),
		MaxAge: cmp.Or(m.Artifacts.MaxAge, local.DefaultMaxImageAge), MaxBytes: cmp.Or(int64(m.Artifacts.MaxBytes), local.DefaultMaxImageBytes)})
	env := b.merged.ToolEnvironment()
	env.Mode, env.Services.Models = cfg.Mode, b.modelKeys()
	env.Workspace.WorkspaceDir, env.Workspace.Roots = cfg.Roots[0], cfg.Roots[1:]
	b.skills = b.newSkillRoom()
	b.openCommands(h)
	if err := b.openMedia(); err != nil {
		return err
	}
	devTools, err := b.newDev(ctx, h)
	if err != nil {
		return err
	}
	if err := b.loadModes(); err != nil {
		return err
	}
	tools := b.builtins(devTools)
	b.checkModes(tools)
	set, hookFiles, err := b.loadHooks()
	if err != nil {
		return err
	}
	b.programs = append(b.programs, b.hookPrograms(set)...)
	if b.policy, err = b.newPolicy(h, tools); err != nil {
		return err
	}
	b.asks = b.newAsks()
	b.hooks = b.newHooks(set)
	b.faces = append(slices.Clone(cfg.Faces), b.hooks.Face())
	var answerer toolbox.Answerer = asker{b}
	if cfg.Approve != permission.Nobody {
		answerer = settle(cfg.Approve)
	}
	overrides := map[string]toolbox.Override{}
	for name, t := range m.Tools {
		overrides[name] = toolbox.Override{Name: t.Name, Description: t.Description}
	}
	b.Box, err = toolbox.New(toolbox.Config{Host: h, Env: env, Gate: b.hooks.Gate(b.policy), Answerer: answerer, Recorder: b.log, Sessions: b.log,
		Artifacts: spool{b.artifacts}, Hooks: append(slices.Clone(cfg.Hooks), hookFiles, b.hooks), Overrides: overrides, Bounds: b.merged.Bounds(), Timeout: m.Limits.Timeout,
		Parallel: m.Limits.Parallel, Options: cfg.Options, Log: cfg.Log, Shape: b.dev.shape()})
	if err != nil {
		return err
	}
	for _, t := range tools {
		add := b.Register
		if t.Replace {
			add = b.Replace
		}
		modes := b.modes.For(t.Definition().Name, t.Modes...)
		if len(modes) == 0 && len(t.Modes) > 0 {
			continue // no mode lists it; without modes it would be a system tool
		}
		if err := add(t.Tool, modes...); err != nil {
			return err
		}
	}
	_, err = b.Mode(cfg.Mode)
	return err
}

// settle answers asks without a person.
type settle permission.Answer

// Answer is described at toolbox.Answerer.
func (s settle) Answer(_ context.Context, a toolbox.Asked) (tool.Decision, error) {
	d := permission.Settle(a.Policy, permission.Answer(s))
	d.Fingerprint = a.Intent.Fingerprint
	return d, nil
}

// Close ends the box, and the commands that its host runs. Calls that still run fail.
func (b *Box) Close() error {
	if b.store == nil {
		return nil
	}
	var err error
	if b.mediaFinder != nil {
		err = b.mediaFinder.Close()
	}
	err = errors.Join(err, b.commands.close())
	if b.end != nil {
		err = errors.Join(err, b.end())
	}
	if b.log != nil {
		err = errors.Join(err, b.log.Close())
	}
	return errors.Join(err, b.store.Close())
}

// View returns the view of the box's own mode.
func (b *Box) View() View { return View{Mode: b.Env().Mode} }

// SessionID returns the session of calls that name none.
func (b *Box) SessionID() string { return b.cfg.Session }

// Dir returns the working folder.
func (b *Box) Dir() string { return b.cfg.Dir }

// Settings returns the merged configuration with the origin of each value.
func (b *Box) Settings() config.Merged { return b.merged }

// ProjectFile is a file of the project that counts fully only when a person trusts its exact content.
type ProjectFile struct {
	Path    string
	Content []byte
	Trusted bool
	key     string
}

// ProjectFiles returns the configuration file of the project, its modes, its custom tools with their scripts, and its hooks, as they are now.
func (b *Box) ProjectFiles() ([]ProjectFile, error) {
	var out []ProjectFile
	add := func(path string, key func(content []byte) string) error {
		content, err := readPlain(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		f := ProjectFile{Path: path, Content: content, key: key(content)}
		f.Trusted = b.trust().Trusted(f.key)
		out = append(out, f)
		return nil
	}
	for _, f := range b.merged.Files {
		if f.Key == "" {
			continue
		}
		if err := add(f.Path, func(content []byte) string { return config.TrustKey(b.merged.ProjectDir, content) }); err != nil {
			return nil, err
		}
	}
	for _, path := range b.modeFiles(b.projectModes(), new([]error)) {
		if err := add(path, modeKey(path)); err != nil {
			return nil, err
		}
	}
	for _, path := range b.customFiles() {
		if err := add(path, modeKey(path)); err != nil {
			return nil, err
		}
	}
	if path := b.projectHooks(); path != "" {
		if err := add(path, b.hooksKey); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Trust trusts files of the project exactly as they were returned, so that rules may also allow and hooks run. Boxes that
// are open keep what they began with.
func (b *Box) Trust(files ...ProjectFile) error {
	for _, f := range files {
		if err := b.trust().Add(f.key, f.Path); err != nil {
			return err
		}
	}
	return nil
}

// TrustProject trusts every file of [Box.ProjectFiles] as it is now, and returns the path of one. It is the word of whoever
// wrote the program: where a person decides, show them the files and use [Box.Trust].
func (b *Box) TrustProject() (string, error) {
	files, err := b.ProjectFiles()
	if err != nil {
		return "", err
	}
	if len(files) == 0 {
		return "", errors.New("no configuration file of a project was found here")
	}
	return files[0].Path, b.Trust(files...)
}
