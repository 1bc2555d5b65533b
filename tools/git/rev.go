package git

import (
	"context"
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/tool"
)

const (
	maxRev   = 250 // bytes
	revWords = "a commit, branch or tag, such as HEAD~2, main or v1.0"
)

// cutFile splits COMMIT:PATH.
func cutFile(rev string) (commit, path string, ok bool) {
	commit, path, ok = strings.Cut(rev, ":")
	return commit, path, ok && commit != ""
}

// cutRange splits A..B and A...B.
func cutRange(rev string) (from, dots, to string, ok bool) {
	for _, dots := range []string{"...", ".."} {
		if from, to, ok := strings.Cut(rev, dots); ok {
			return from, dots, to, true
		}
	}
	return "", "", "", false
}

// checkRev refuses what is no revision, before anything runs.
func checkRev(in *input) error {
	if in.Rev == "" {
		return nil
	}
	bad := func(format string, a ...any) error {
		return tool.Errorf(tool.InvalidParameter, format, a...).For("rev", revWords)
	}
	names := []string{in.Rev}
	if commit, path, ok := cutFile(in.Rev); ok && in.Op == "show" {
		if path == "" || strings.HasPrefix(path, "-") || strings.HasPrefix(path, "/") || strings.HasPrefix(path, "../") || strings.ContainsRune(path, 0) {
			return bad("rev %q names no file: the path behind the colon is that below the top folder.", in.Rev)
		}
		if in.Path != "" {
			return bad("rev %q names a file already; leave path out.", in.Rev)
		}
		names = []string{commit}
	} else if from, _, to, ok := cutRange(in.Rev); ok {
		if in.Op != "diff" && in.Op != "log" {
			return bad("op=%s takes one revision, and rev %q is a range.", in.Op, in.Rev)
		}
		if in.Staged {
			return bad("rev %q is a range, which staged=true cannot be compared with.", in.Rev)
		}
		names = []string{from, to}
	}
	for _, n := range names {
		switch {
		case n == "" && len(names) == 2: // A.. and ..B mean HEAD
		case len(n) > maxRev || n == "":
			return bad("rev has %d bytes, which no revision has.", len(n))
		case n[0] == '-' || n[0] == '^' || strings.ContainsAny(n, ":\\") || strings.ContainsFunc(n, func(c rune) bool { return c < 0x20 || c == 0x7f }):
			return bad("rev %q is no revision.", in.Rev)
		}
	}
	return nil
}

// commit returns the name of a commit as digits, which no command can take for anything else.
func (r *repo) commit(ctx context.Context, name string) (string, error) {
	if name == "" {
		name = "HEAD"
	}
	out, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		return "", err
	}
	if id := strings.TrimSpace(out.text); out.exit.Success() && digits(id) {
		return id, nil
	}
	return "", r.unknown(name)
}

// unknown is the error about a name that git does not resolve.
func (r *repo) unknown(name string) error {
	if name == "HEAD" {
		return tool.Errorf(tool.NotFound, "there is no commit yet, or HEAD names none.").With("op=status shows the state; op=diff with staged=true needs no commit.")
	}
	e := tool.Errorf(tool.NotFound, "%q names no commit of this repository.", name).For("rev", revWords).With("op=log shows commits, with branches and tags.")
	if r.partial {
		e.Hint += " This is a partial clone: what was not fetched is not there."
	}
	return e
}

// span resolves a revision or a range to arguments of digits.
func (r *repo) span(ctx context.Context, rev string) ([]string, error) {
	from, dots, to, ok := cutRange(rev)
	if !ok {
		id, err := r.commit(ctx, rev)
		return []string{id}, err
	}
	a, err := r.commit(ctx, from)
	if err != nil {
		return nil, err
	}
	b, err := r.commit(ctx, to)
	return []string{a + dots + b}, err
}

// emptyTree names the tree without files, which git knows without having it.
func emptyTree(commit string) string {
	if len(commit) == 64 {
		return "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
	}
	return "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
}

// pathArgs are the arguments that keep a command to what the call asks about.
func (r *repo) pathArgs() []string {
	if r.rel == "" {
		return []string{"--"}
	}
	return []string{"--", r.rel}
}

func plural(n int, word string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, word)
	}
	return fmt.Sprintf("%d %ss", n, word)
}
