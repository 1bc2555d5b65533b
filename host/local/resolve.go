package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/tackle-dev/tackle/host"
)

// Limits of a path, those of Linux; other systems have the same or smaller ones and then refuse by themselves.
const (
	maxPath  = 4096
	maxName  = 255
	maxLinks = 40
)

// Resolve implements [host.Host]. A path that begins with "~/" is relative to the home directory; a file that is really
// named "~" is reached as "./~". ".." is removed before links are followed, so that Abs and Real speak of one place.
func (l *Local) Resolve(ctx context.Context, cwd, path string) (host.Path, error) {
	if err := ctx.Err(); err != nil {
		return host.Path{}, err
	}
	abs, err := l.absolute(cwd, path)
	if err != nil {
		return host.Path{}, &host.PathError{Op: "resolve", Path: path, Err: err}
	}
	p := host.Path{Given: path, Abs: abs}
	var followed bool
	if p.Real, followed, err = l.follow(abs); err != nil {
		return host.Path{}, fail("resolve", path, err)
	}
	p.Self = p.Real
	if p.Real != abs {
		dir, _, err := l.follow(filepath.Dir(abs))
		if err != nil {
			return host.Path{}, fail("resolve", path, err)
		}
		p.Self = filepath.Join(dir, filepath.Base(abs))
	}
	p.Root, p.Rel = l.place(p.Real)
	p.Link = followed
	return p, nil
}

// absolute makes path absolute and clean, and refuses what no file system takes.
func (l *Local) absolute(cwd, path string) (string, error) {
	switch {
	case path == "":
		return "", fmt.Errorf("%w: empty; name a file or \".\"", host.ErrInvalidPath)
	case strings.ContainsRune(path, 0):
		return "", fmt.Errorf("%w: contains a NUL byte", host.ErrInvalidPath)
	case foreignSpelling(runtime.GOOS, path):
		return "", fmt.Errorf("%w: device, UNC and stream spellings are refused", host.ErrInvalidPath)
	}
	if path == "~" || strings.HasPrefix(path, "~/") {
		if l.info.Home == "" {
			return "", fmt.Errorf("%w: \"~\" is unknown on this host", host.ErrInvalidPath)
		}
		path = filepath.Join(l.info.Home, path[1:])
	}
	if !filepath.IsAbs(path) {
		if cwd == "" && len(l.info.Roots) > 0 {
			cwd = l.info.Roots[0].Path
		}
		if !filepath.IsAbs(cwd) || strings.ContainsRune(cwd, 0) {
			return "", fmt.Errorf("%w: relative, and the working directory %q is not absolute", host.ErrInvalidPath, cwd)
		}
		path = cwd + string(filepath.Separator) + path
	}
	path = filepath.Clean(path)
	if len(path) >= maxPath {
		return "", fmt.Errorf("%w: %d bytes long, the limit is %d", host.ErrInvalidPath, len(path), maxPath-1)
	}
	for name := range strings.SplitSeq(path, string(filepath.Separator)) {
		if len(name) > maxName {
			return "", fmt.Errorf("%w: the name %.20q… is %d bytes long, the limit is %d", host.ErrInvalidPath, name, len(name), maxName)
		}
	}
	return path, nil
}

// foreignSpelling reports a Windows spelling that leaves the name space of drive letters: a device or NT prefix, a UNC
// share, or an alternate data stream. Elsewhere these are ordinary names.
func foreignSpelling(goos, path string) bool {
	if goos != "windows" {
		return false
	}
	p := strings.ReplaceAll(path, `\`, "/")
	if strings.HasPrefix(p, "//") || strings.HasPrefix(p, "/??/") {
		return true
	}
	if len(p) >= 2 && p[1] == ':' {
		p = p[2:]
	}
	return strings.Contains(p, ":")
}

// place returns the innermost root that contains real, and real relative to it.
func (l *Local) place(real string) (root, rel string) {
	for _, r := range l.info.Roots {
		if within(r.Path, real) && len(r.Path) > len(root) {
			root = r.Path
		}
	}
	if root == "" {
		return "", real
	}
	if rel = strings.TrimLeft(real[len(root):], string(filepath.Separator)); rel == "" {
		rel = "."
	}
	return root, filepath.ToSlash(rel)
}

// follow resolves every symbolic link of a clean absolute path. Parts that do not exist stay as written. followed
// reports a link that stands inside a root, or any link where the path lies outside of every root.
func (l *Local) follow(abs string) (real string, followed bool, err error) {
	if l.linkFree(abs) {
		return abs, false, nil
	}
	sep := string(filepath.Separator)
	cur := filepath.VolumeName(abs) + sep
	rest := strings.TrimPrefix(abs[len(cur)-1:], sep)
	outside, links := false, 0
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest, sep)
		switch name {
		case "", ".":
			continue
		case "..":
			cur = filepath.Dir(cur)
			continue
		}
		next := filepath.Join(cur, name)
		fi, err := os.Lstat(next)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
				cur = filepath.Join(next, rest)
				break
			}
			return "", false, err
		}
		if fi.Mode()&fs.ModeSymlink == 0 {
			cur = next
			continue
		}
		if links++; links > maxLinks {
			return "", false, fmt.Errorf("%w: more than %d symbolic links, probably a loop", host.ErrInvalidPath, maxLinks)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", false, err
		}
		if root, _ := l.place(cur); root != "" {
			followed = true
		} else {
			outside = true
		}
		rest = target + sep + rest
		if filepath.IsAbs(target) {
			cur = filepath.VolumeName(target) + sep
			rest = rest[len(cur)-1:]
		}
	}
	if root, _ := l.place(cur); root == "" {
		followed = followed || outside
	}
	return filepath.Clean(cur), followed, nil
}
