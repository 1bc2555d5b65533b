package search

import (
	"errors"
	"io"
	"path"
	"strings"

	"github.com/tackle-dev/tackle/glob"
)

// maxIgnoreFile bounds what is read of an ignore file.
const maxIgnoreFile = 4 << 20

// names are the entries of a directory that matter for ignoring.
type names struct {
	git, gitignore, ignore, rgignore bool
	gitFile                          bool // .git is a file: a worktree or a submodule
}

func (n *names) note(name string, kind Kind) {
	switch name {
	case ".git":
		n.git = kind == Directory || kind == RegularFile
		n.gitFile = kind == RegularFile
	case ".gitignore":
		n.gitignore = true
	case ".ignore":
		n.ignore = true
	case ".rgignore":
		n.rgignore = true
	}
}

func (n *names) any() bool { return n.git || n.gitignore || n.ignore || n.rgignore }

// push reads the ignore files of a directory (dir is its absolute path) and puts them on the stack.
func (w *walker) push(s *glob.Stack, d Dir, dir string, n names) *glob.Stack {
	var f glob.DirFiles
	in := insideOf(dir)
	read := func(name string) *glob.Ignore {
		if data := readSmall(d, name); len(data) > 0 {
			return glob.ParseIgnore("/"+in+name, data, false)
		}
		return nil
	}
	if n.git {
		f.Repo = true
		f.Global = w.e.excludes
		f.Exclude = w.exclude(d, dir, n.gitFile)
	}
	if n.gitignore && (n.git || s.InRepo() || w.f.AnyTree) {
		f.Git = read(".gitignore")
	}
	if n.ignore {
		f.Dot = read(".ignore")
	}
	if n.rgignore {
		f.Tool = read(".rgignore")
	}
	return s.Push(len(in), f)
}

// exclude reads info/exclude of the repository whose top is d. In a worktree or submodule .git is a file that names the
// real folder, which may name a common one.
func (w *walker) exclude(d Dir, dir string, isFile bool) *glob.Ignore {
	gitDir := path.Join(dir, ".git")
	if isFile {
		target, ok := strings.CutPrefix(string(readSmall(d, ".git")), "gitdir:")
		if !ok {
			return nil
		}
		gitDir = absolute(dir, strings.TrimSpace(target))
	}
	g, err := w.e.fs.Root(w.ctx, gitDir)
	if err != nil {
		return nil
	}
	defer g.Close()
	if isFile {
		if common := strings.TrimSpace(string(readSmall(g, "commondir"))); common != "" {
			gitDir = absolute(gitDir, common)
			c, err := w.e.fs.Root(w.ctx, gitDir)
			if err != nil {
				return nil
			}
			defer c.Close()
			g = c
		}
	}
	info, err := g.Sub("info")
	if err != nil {
		return nil
	}
	defer info.Close()
	if data := readSmall(info, "exclude"); len(data) > 0 {
		return glob.ParseIgnore(gitDir+"/info/exclude", data, false)
	}
	return nil
}

func absolute(dir, p string) string {
	if path.IsAbs(p) {
		return path.Clean(p)
	}
	return path.Join(dir, p)
}

// readSmall reads a file, or nothing where that is not possible: an ignore file that cannot be read ignores nothing.
func readSmall(d Dir, name string) []byte {
	buf := make([]byte, 16<<10)
	n, rest, err := d.Read(name, buf)
	if err != nil {
		return nil
	}
	buf = buf[:n]
	if rest != nil {
		defer rest.Close()
		more, err := io.ReadAll(io.LimitReader(rest, maxIgnoreFile))
		if err != nil {
			return nil
		}
		buf = append(buf, more...)
	}
	return buf
}

// above returns the stack of everything above the root of the walk.
func (w *walker) above(root string) *glob.Stack {
	if w.f.NoIgnore || root == "/" {
		return nil
	}
	var s *glob.Stack
	for i := 0; i < len(root); i++ {
		if root[i] != '/' {
			continue
		}
		dir := root[:max(i, 1)]
		d, err := w.e.fs.Root(w.ctx, dir)
		if err != nil {
			continue
		}
		n := names{gitignore: true, ignore: true, rgignore: true}
		if info, err := d.Stat(".git"); err == nil {
			n.note(".git", info.Kind)
		}
		s = w.push(s, d, dir, n)
		d.Close()
	}
	return s
}

// UserExcludes returns the ignore file that the user has set for all repositories, as text for Config.Excludes: what
// core.excludesFile in ~/.gitconfig or the file git/config below configHome names, else git/ignore below configHome.
// configHome is $XDG_CONFIG_HOME, or ~/.config where that is empty.
func UserExcludes(read func(path string) ([]byte, error), home, configHome string) (name string, data []byte, err error) {
	if configHome == "" {
		configHome = path.Join(home, ".config")
	}
	name = path.Join(configHome, "git", "ignore")
	for _, config := range []string{path.Join(configHome, "git", "config"), path.Join(home, ".gitconfig")} {
		text, err := read(config)
		if err != nil {
			continue
		}
		if file := excludesFile(string(text)); file != "" {
			name = file
		}
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = path.Join(home, rest)
	}
	if !path.IsAbs(name) {
		return name, nil, errors.New("core.excludesFile is not an absolute path")
	}
	data, err = read(name)
	return name, data, err
}

// excludesFile finds core.excludesFile in a git configuration.
func excludesFile(config string) string {
	section, found := "", ""
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = strings.ToLower(strings.Trim(line, "[] \t"))
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		if section == "core" && strings.EqualFold(strings.TrimSpace(key), "excludesfile") {
			found = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return found
}
