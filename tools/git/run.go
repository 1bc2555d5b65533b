package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

// running runs git with a private directory in the place of the repository's common directory. The directory stays in the
// host's state for the next run; where that cannot be, it is made anew and removed. It appears at once and whole, and so does
// another configuration in it, so that runs do not meet each other's halves.
const running = `umask 077
c=$TACKLE_GIT_COMMON config=$TACKLE_GIT_CONFIG dir=$TACKLE_GIT_PRIVATE
fill() {
	ln -s -- "$c/objects" "$c/refs" "$c/packed-refs" "$c/reftable" "$c/shallow" "$c/logs" "$c/worktrees" "$c/info" "$1/" &&
	printf '%s' "$config" > "$1/config"
}
if [ -n "$dir" ] && [ ! -f "$dir/config" ]; then
	{ mkdir -p -- "${dir%/*}" && new=$(mktemp -d "$dir.XXXXXXXXXX") && fill "$new" && mv -- "$new" "$dir"; } 2>/dev/null || dir=
	[ -z "$dir" ] || rm -rf -- "$dir/${new##*/}"
fi
if [ -n "$dir" ]; then
	IFS= read -r -d '' current < "$dir/config"
	if [ "$current" != "$config" ]; then
		{ new=$(mktemp "$dir/config.XXXXXXXXXX") && printf '%s' "$config" > "$new" && mv -f -- "$new" "$dir/config"; } 2>/dev/null || dir=
	fi
fi
if [ -n "$dir" ]; then
	export GIT_COMMON_DIR="$dir"
	exec git "$@"
fi
dir=$(mktemp -d "${TMPDIR:-/tmp}/tackle-git.XXXXXXXXXX") || exit
trap 'rm -rf -- "$dir"' EXIT
trap 'exit 143' TERM INT HUP
export GIT_COMMON_DIR="$dir"
fill "$dir" && git "$@"`

// environment is that of every run. Nothing of user or system is read, nothing is written, fetched or asked.
func environment() map[string]string {
	return map[string]string{
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_ATTR_NOSYSTEM": "1",
		"HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent",
		"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "", "GIT_PROTOCOL_FROM_USER": "0",
		"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "false", "SSH_ASKPASS": "false", "GIT_SSH_COMMAND": "false", "GIT_EDITOR": "false",
		"GIT_PAGER": "cat", "PAGER": "cat", "LC_ALL": "C.UTF-8", "LANGUAGE": "",
	}
}

// A person is the user whose configuration plain git would read. It is read once; git config starts no program.
type person struct {
	mu      sync.Mutex
	entries []entry
	known   bool
}

func (u *person) settings(ctx context.Context, r *repo) ([]entry, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.known {
		return u.entries, nil
	}
	out, err := r.start(ctx, []string{"git", "config", "--includes", "-z", "--list"}, map[string]string{"GIT_DIR": "/nonexistent/git", "LC_ALL": "C.UTF-8"})
	if err != nil {
		return nil, err
	}
	if !out.exit.Success() {
		return nil, r.failure(out)
	}
	u.entries, u.known = entries(out.text), true
	return u.entries, nil
}

// maxConfig bounds the configuration of a repository, bytes.
const maxConfig = 4 << 20

// configure reads the configurations and chooses what git is given of them.
func (r *repo) configure(ctx context.Context, u *person) error {
	user, err := u.settings(ctx, r)
	if err != nil {
		return err
	}
	own, err := r.parse(ctx, filepath.Join(r.common, "config"))
	if err != nil {
		return err
	}
	if slices.Contains(own, entry{"extensions.worktreeconfig", "true"}) {
		more, err := r.parse(ctx, filepath.Join(r.dir, "config.worktree"))
		if err != nil {
			return err
		}
		own = append(own, more...)
	}
	r.config = choose(user, own, r.call.Host.Info().Home)
	r.filters, r.partial = filterNames(user, own), partial(own)
	return nil
}

// parse reads a configuration file of the repository, if it is there and a file.
func (r *repo) parse(ctx context.Context, real string) ([]entry, error) {
	text, err := r.small(ctx, real, maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, r.broken(real, err.Error())
	}
	list, err := parseConfig(text)
	if err != nil {
		return nil, r.broken(real, err.Error())
	}
	return list, nil
}

// private is the directory that takes the place of a common directory, "" where the host has no place for it.
func (r *repo) private() string {
	state := r.call.Host.Info().StateDir
	if state == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(r.common))
	return filepath.Join(state, "git", hex.EncodeToString(sum[:16]))
}

// output is what a run of git wrote.
type output struct {
	text   string
	cut    bool // there was more
	errors string
	exit   host.Exit
}

// git runs git with arguments, in the top folder of the work tree.
func (r *repo) git(ctx context.Context, args ...string) (output, error) {
	env := environment()
	env["GIT_DIR"], env["GIT_WORK_TREE"] = r.dir, r.top
	env["TACKLE_GIT_COMMON"], env["TACKLE_GIT_CONFIG"], env["TACKLE_GIT_PRIVATE"] = r.common, r.config, r.private()
	argv := []string{"/bin/bash", "--norc", "--noprofile", "-c", running, "git", "--no-pager", "--literal-pathspecs"}
	return r.start(ctx, append(argv, args...), env)
}

// must is git for a run that has to succeed.
func (r *repo) must(ctx context.Context, args ...string) (output, error) {
	out, err := r.git(ctx, args...)
	if err == nil && !out.exit.Success() && !out.cut {
		err = r.failure(out)
	}
	return out, err
}

// start runs a program.
func (r *repo) start(ctx context.Context, argv []string, env map[string]string) (output, error) {
	p, err := r.runner.Start(ctx, host.Command{Argv: argv, Dir: r.top, Env: env, Split: true, Trusted: true,
		Limits: host.Limits{Time: TimeLimit, Spool: 4 * maxOutput, Output: maxOutput}})
	if err != nil {
		return output{}, r.unstarted(err)
	}
	defer p.Close()
	out := output{}
	if out.exit, err = p.Wait(ctx); err != nil {
		return out, err
	}
	if out.text, err = read(p.Output(), maxOutput); err == nil {
		out.errors, err = read(p.Errors(), maxFile)
	}
	if err != nil {
		return out, fmt.Errorf("output of git: %w", err)
	}
	switch out.exit.End {
	case host.EndTime:
		return out, tool.Errorf(tool.TimedOut, "git was ended after %v.", TimeLimit).With("Name a smaller path or range of commits.")
	case host.EndOutput:
		out.cut = true
	}
	return out, nil
}

func (r *repo) unstarted(err error) error {
	if errors.Is(err, host.ErrUnsupported) {
		return tool.Errorf(tool.OperationNotAllowed, "no command can be run here: %v.", err).With("Retrying will not help.")
	}
	return tool.Errorf(tool.OperationFailed, "git could not be started: %v.", err).With("Retrying will not help before bash and git can be run.")
}

// read reads an output from its start.
func read(o host.Output, most int) (string, error) {
	var b strings.Builder
	buf := make([]byte, 64<<10)
	for at := int64(0); b.Len() < most; {
		n, from, err := o.Read(buf[:min(len(buf), most-b.Len())], at)
		if from > at {
			break // the rest is no longer kept
		}
		b.Write(buf[:n])
		at += int64(n)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// failure turns what git says into an error for the model.
func (r *repo) failure(out output) error {
	said := strings.TrimSpace(strings.ToValidUTF8(out.errors, "�"))
	if i := strings.LastIndex(said, "fatal: "); i >= 0 {
		said = said[i+len("fatal: "):]
	}
	said, _, _ = strings.Cut(said, "\n")
	lower := strings.ToLower(said)
	switch {
	case strings.Contains(said, "git: command not found"):
		return tool.Errorf(tool.OperationNotAllowed, "git is not installed where commands run.").With("Retrying will not help.")
	case r.partial && (strings.Contains(lower, "object") || strings.Contains(lower, "unable to read") || strings.Contains(lower, "missing") || strings.Contains(lower, "bad ")):
		return tool.Errorf(tool.OperationFailed, "git: %s. This is a partial clone, and what is missing is not fetched here.", said).
			With("A person, or the shell, can fetch it: git fetch --refetch, or git show of the commit.")
	case said == "":
		return tool.Errorf(tool.OperationFailed, "git gave up without a word (%s).", out.exit)
	}
	return tool.Errorf(tool.OperationFailed, "git: %s.", strings.TrimSuffix(said, "."))
}
