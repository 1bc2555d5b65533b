package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

// looking prints two configurations, each behind a line of its own kind: that of user and system, with no repository around,
// and those of the repository without what they include. git config starts no program.
const looking = `GIT_DIR=/nonexistent/git git config --includes -z --list
printf '\0\n'
for file; do git config --no-includes -z --list --file "$file"; printf '\0\n'; done
true`

// running makes the private directory that takes the place of the repository's common directory, and runs git with it.
const running = `set -eu
umask 077
dir=$(mktemp -d "${TMPDIR:-/tmp}/tackle-git.XXXXXXXXXX")
trap 'rm -rf -- "$dir"' EXIT
trap 'exit 143' TERM INT HUP
printf '%s' "$TACKLE_GIT_CONFIG" > "$dir/config"
c=$TACKLE_GIT_COMMON
ln -s -- "$c/objects" "$c/refs" "$c/packed-refs" "$c/reftable" "$c/shallow" "$c/logs" "$c/worktrees" "$c/info" "$dir/"
export GIT_COMMON_DIR="$dir"
unset TACKLE_GIT_CONFIG TACKLE_GIT_COMMON
git "$@"`

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

// configure reads the configurations and chooses what git is given of them.
func (r *repo) configure(ctx context.Context) error {
	args := []string{"git"}
	own := filepath.Join(r.common, "config")
	for _, f := range []string{own, filepath.Join(r.dir, "config.worktree")} {
		if r.is(ctx, f, change.File) {
			args = append(args, f)
		}
	}
	out, err := r.start(ctx, looking, map[string]string{"LC_ALL": "C.UTF-8"}, args)
	if err != nil {
		return err
	}
	lists := strings.Split(out.text, "\x00\n")
	if len(lists) < 2 {
		return r.failure(out)
	}
	user := entries(lists[0])
	var repository, worktree []entry
	for i, name := range args[1:] {
		if i+1 >= len(lists) {
			break
		}
		if name == own {
			repository = entries(lists[i+1])
		} else {
			worktree = entries(lists[i+1])
		}
	}
	for _, e := range repository {
		if e.key == "extensions.worktreeconfig" && e.value == "true" {
			repository = append(repository, worktree...)
			break
		}
	}
	r.config = choose(user, repository, r.call.Host.Info().Home)
	r.filters, r.partial = filterNames(user, repository), partial(repository)
	return nil
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
	env["TACKLE_GIT_COMMON"], env["TACKLE_GIT_CONFIG"] = r.common, r.config
	return r.start(ctx, running, env, append([]string{"git", "--no-pager", "--literal-pathspecs"}, args...))
}

// must is git for a run that has to succeed.
func (r *repo) must(ctx context.Context, args ...string) (output, error) {
	out, err := r.git(ctx, args...)
	if err == nil && !out.exit.Success() && !out.cut {
		err = r.failure(out)
	}
	return out, err
}

// start runs a script of ours.
func (r *repo) start(ctx context.Context, script string, env map[string]string, args []string) (output, error) {
	argv := append([]string{"/bin/bash", "--norc", "--noprofile", "-c", script}, args...)
	p, err := r.runner.Start(ctx, host.Command{Argv: argv, Dir: r.top, Env: env, Split: true,
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
