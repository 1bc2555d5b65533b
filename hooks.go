package tackle

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tackle-dev/tackle/command"
	"github.com/tackle-dev/tackle/config"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
	"github.com/tackle-dev/tackle/toolbox/hook"
)

// hooksFile is the name of the files that hold hooks, beside the configuration files: in the person's configuration folder,
// and in the folder .tackle of a project.
const hooksFile = "hooks.json"

// hookFiles are the files that hooks were read from, as they were then.
type hookFiles struct {
	paths []string
	seen  []stamp
	box   *Box
	once  sync.Once
}

// loadHooks reads the hooks of the person, and those of the project where the person has trusted the exact content of its
// file: a hook runs a program, so a project that was only downloaded has none.
func (b *Box) loadHooks() (*hook.Set, *hookFiles, error) {
	files := &hookFiles{box: b}
	if b.cfg.NoFiles {
		return &hook.Set{}, files, nil
	}
	var sets []*hook.Set
	add := func(path string, trusted func(data []byte) bool) error {
		data, err := readPlain(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if !trusted(data) {
			b.notes = append(b.notes, fmt.Sprintf("the hooks of %s do not run until the project is trusted (tackle config --trust)", path))
			return nil
		}
		files.paths, files.seen = append(files.paths, path), append(files.seen, stampOf(path))
		set, notes, err := hook.Parse(data, path)
		b.notes = append(b.notes, notes...)
		if err != nil {
			return err
		}
		sets = append(sets, set)
		return nil
	}
	for _, path := range b.hookPaths() {
		if err := add(path, func([]byte) bool { return true }); err != nil {
			return nil, files, err
		}
	}
	if path := b.projectHooks(); path != "" {
		if err := add(path, func(data []byte) bool { return b.trust().Trusted(b.hooksKey(data)) }); err != nil {
			return nil, files, err
		}
	}
	return hook.Join(sets...), files, nil
}

// projectHooks returns the place of the project's hooks.
func (b *Box) projectHooks() string {
	if b.merged.ProjectDir == "" {
		return ""
	}
	return filepath.Join(b.merged.ProjectDir, ".tackle", hooksFile)
}

// hooksKey names the project's hooks with this content. It is no key of a configuration file: what is harmless in the one
// is not in the other.
func (b *Box) hooksKey(content []byte) string {
	return config.TrustKey(filepath.Join(b.merged.ProjectDir, ".tackle", hooksFile), content)
}

// hookPaths are the places of hooks, which only people write.
func (b *Box) hookPaths() []string {
	var out []string
	if path := b.userFile(); path != "" {
		out = append(out, filepath.Join(filepath.Dir(path), hooksFile))
	}
	return out // a project's lie below .tackle, which is guarded at every place
}

// hookPrograms returns the files that the lines of hooks name: a hook runs outside of every guard, so who changes its script
// changes what is guarded. What a line names by other means than a path is not found.
func (b *Box) hookPrograms(set *hook.Set) []string {
	project := cmp.Or(b.merged.ProjectDir, b.cfg.Dir)
	var out []string
	add := func(dir, name string) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			return
		}
		out = append(out, name)
		if real, err := filepath.EvalSymlinks(name); err == nil && real != name {
			out = append(out, real)
		}
	}
	for _, c := range set.Commands() {
		words := c.Args
		if words == nil {
			quoted := command.Quote(project)
			line := strings.NewReplacer(`"$CLAUDE_PROJECT_DIR"`, quoted, `"${CLAUDE_PROJECT_DIR}"`, quoted, `$CLAUDE_PROJECT_DIR`, quoted, `${CLAUDE_PROJECT_DIR}`, quoted).Replace(c.Command)
			facts, _ := command.Parse(line) // what cannot be read whole is read as far as it goes
			for i := range facts.Calls {
				for _, w := range facts.Calls[i].Args {
					words = append(words, w.Text)
				}
			}
		} else {
			words = append([]string{c.Command}, words...)
		}
		for _, w := range words {
			if rest, ok := strings.CutPrefix(w, "~/"); ok {
				if home, err := os.UserHomeDir(); err == nil {
					w = filepath.Join(home, rest)
				}
			}
			if w != "" {
				add(b.cfg.Dir, w)
			}
		}
	}
	return out
}

// Notes returns what a person should know about the configuration, each a sentence: rules that do not do what they seem to
// do, hooks that do not run.
func (b *Box) Notes() []string { return b.notes }

// newHooks makes the runner of external hooks. The box's tools are looked up when a call comes.
func (b *Box) newHooks(set *hook.Set) *hook.Hooks {
	return hook.New(hook.Options{Set: set, Runner: HookRunner{}, Dir: b.cfg.Dir, Project: b.merged.ProjectDir, Posture: string(b.merged.Config.Posture), Log: b.logger(),
		Canonical: func(r toolbox.Request) (toolbox.Meaning, bool) { return b.Canonical(r) }})
}

// Before is described at toolbox.Hook: it says once that a file of hooks changed since it was read. What was read stays in
// force: a session whose agent can write the file would guard itself.
func (f *hookFiles) Before(ctx context.Context, _ *Request) error {
	for i, path := range f.paths {
		if stampOf(path) != f.seen[i] {
			f.once.Do(func() {
				f.box.logger().WarnContext(ctx, "the file of hooks changed; those that were read at the start stay in force", "file", path)
			})
		}
	}
	return nil
}

// After is described at toolbox.Hook.
func (f *hookFiles) After(context.Context, *Request, *tool.Result) error { return nil }

// HookRunner runs the programs of hooks on this machine, as this user, with the environment of this process: hooks are the
// person's own programs. When the context ends, the whole process group is
// killed; what a hook leaves in the background otherwise is its own affair.
type HookRunner struct{}

// Run is described at hook.Runner.
func (HookRunner) Run(ctx context.Context, p hook.Process) (hook.Output, error) {
	argv := p.Argv
	if p.Script != "" {
		argv = shellLine(p.Script)
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = p.Dir, append(os.Environ(), p.Env...)
	cmd.Stdin = bytes.NewReader(p.Stdin)
	stdout, stderr := &bounded{limit: p.Limit}, &bounded{limit: p.Limit}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	ownGroup(cmd)
	cmd.WaitDelay = time.Second // a child that keeps the pipes open does not hold the call
	err := cmd.Run()
	out := hook.Output{Stdout: stdout.buf.Bytes(), Stderr: stderr.buf.Bytes(), Cut: stdout.cut || stderr.cut}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return out, ctx.Err()
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		out.Code = exit.ExitCode()
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return out, err
	}
	return out, nil
}

// bounded keeps the beginning of what is written.
type bounded struct {
	buf   bytes.Buffer
	limit int
	cut   bool
}

func (w *bounded) Write(p []byte) (int, error) {
	if room := w.limit - w.buf.Len(); len(p) > room {
		w.cut = true
		w.buf.Write(p[:max(room, 0)])
	} else {
		w.buf.Write(p)
	}
	return len(p), nil
}
