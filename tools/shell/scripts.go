package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/command"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/tool"
)

// maxScript bounds the files that an approval is bound to, in bytes; programs are larger and seldom change meanwhile.
const maxScript = 1 << 20

// interpreters run a file that is an argument: the first that is there.
var interpreters = []string{"sh", "bash", "dash", "zsh", "ksh", "source", ".", "python", "python2", "python3", "node", "deno", "bun", "ruby", "perl", "php", "lua", "Rscript"}

// scripts returns the files of this project that a line runs, with what they hold: who approves "./x.sh" approves that
// content. Where a file is named after a cd, or by what the shell computes, it is not found.
func scripts(ctx context.Context, call *tool.Call, facts *command.Facts, dir string) []tool.Script {
	if call.Host == nil {
		return nil
	}
	var out []tool.Script
	add := func(name string) bool {
		p, err := call.Host.Resolve(ctx, dir, name)
		if err != nil || slices.ContainsFunc(out, func(s tool.Script) bool { return s.Path == p.Real }) {
			return err == nil
		}
		d, err := digest(ctx, call.Host, p.Real)
		if err == nil {
			out = append(out, tool.Script{Path: p.Real, Digest: d})
		}
		return err == nil
	}
	for i := range facts.Calls {
		c := &facts.Calls[i]
		name := c.Name()
		if name == "" {
			continue
		}
		if strings.Contains(c.Args[0].Text, "/") {
			add(c.Args[0].Text)
		}
		if !slices.Contains(interpreters, name) {
			continue
		}
		for _, w := range c.Args[1:] {
			if w.Literal() && !strings.HasPrefix(w.Text, "-") && add(w.Text) {
				break
			}
		}
	}
	return out
}

var errNoScript = errors.New("no script")

// digest returns the digest of a small regular file.
func digest(ctx context.Context, h host.Host, real string) (change.Digest, error) {
	info, err := h.Stat(ctx, real)
	if err != nil || info.Type != change.File || info.Special != "" || info.Size > maxScript {
		return change.Digest{}, errNoScript
	}
	f, err := h.Open(ctx, real)
	if err != nil {
		return change.Digest{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxScript+1))
	if err != nil || len(data) > maxScript {
		return change.Digest{}, errNoScript
	}
	return change.Sum(data), nil
}

// unchanged reports that a script is not what was planned and approved any more.
func (j *job) unchanged(ctx context.Context) error {
	for _, s := range j.scripts {
		if now, err := digest(ctx, j.call.Host, s.Path); err != nil || now != s.Digest {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return &tool.Error{Code: tool.Stale, Retry: true, Message: fmt.Sprintf("%s changed after this call was planned; nothing was run.", filepath.Base(s.Path)),
				Hint: "Call again: the command is decided anew, with the script as it is now."}
		}
	}
	return nil
}
