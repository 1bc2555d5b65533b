package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/media"
)

// free reports an error when a file is there that may not be written over.
func (a *app) free(name string, force bool) error {
	fi, err := os.Stat(a.at(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if l, err := os.Lstat(a.at(name)); err == nil && l.Mode()&fs.ModeSymlink != 0 {
			return usage{fmt.Errorf("media: %s is a link that leads nowhere; name another file", name)}
		}
		dir := filepath.Dir(a.at(name))
		if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
			return usage{fmt.Errorf("media: there is no folder %s to write %s in; make it first", filepath.Dir(name), filepath.Base(name))}
		}
		return nil
	case err != nil:
		return fmt.Errorf("write %s: %w", name, err)
	case fi.IsDir():
		return usage{fmt.Errorf("media: %s is a folder; name a file", name)}
	case fi.Mode().IsRegular() && !force:
		return usage{fmt.Errorf("media: %s exists; --force writes over it", name)}
	}
	return nil
}

// write puts a file in place as a whole: a program that stops half way leaves the old one. A file that is written over
// keeps its mode, a link stays one, and what is no file (a pipe, a terminal) is written to as it is.
func (a *app) write(name string, data []byte, force bool) error {
	if err := a.free(name, force); err != nil {
		return err
	}
	path := a.at(name)
	if fi, err := os.Stat(path); err == nil {
		if !fi.Mode().IsRegular() {
			return a.pour(name, data)
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		return a.replace(name, path, data, fi.Mode().Perm())
	}
	return a.replace(name, path, data, 0)
}

func (a *app) pour(name string, data []byte) error {
	f, err := os.OpenFile(a.at(name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// replace writes beside the file and renames. A mode of 0 is that of any new file.
func (a *app) replace(name, path string, data []byte, mode fs.FileMode) error {
	beside := filepath.Join(filepath.Dir(path), fmt.Sprintf(".tackle-%d-%d", os.Getpid(), time.Now().UnixNano()))
	f, err := os.OpenFile(beside, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err // the name of the file beside tells nobody anything
		}
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, err = f.Write(data)
	if mode != 0 {
		err = errors.Join(err, f.Chmod(mode))
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(beside, path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", name, err), os.Remove(beside))
	}
	fmt.Fprintf(a.err, "Wrote %s (%d bytes).\n", forPeople(a.err, name), len(data))
	return nil
}

// writeAll writes several files into a folder, or none where one may not be written. Their names come from the media, so
// they are made safe, and never two alike.
func (a *app) writeAll(dir string, list []media.Payload, force bool) error {
	if fi, err := os.Stat(a.at(dir)); err == nil && !fi.IsDir() {
		return usage{fmt.Errorf("media: the statement makes %d files, and %s is a file; say with -o in which folder to write them", len(list), dir)}
	}
	if err := os.MkdirAll(a.at(dir), 0o777); err != nil {
		return err
	}
	names := make([]string, len(list))
	used := map[string]bool{}
	for i := range list {
		name := safeName(list[i].Name)
		for n := i + 1; used[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%d-%s", n, safeName(list[i].Name))
		}
		used[strings.ToLower(name)] = true
		names[i] = filepath.Join(dir, name)
		if err := a.free(names[i], force); err != nil {
			return err
		}
	}
	for i := range list {
		if err := a.write(names[i], list[i].Data, force); err != nil {
			return err
		}
	}
	return nil
}

// safeName is the name of a media as that of a file: within its folder, not hidden, never empty.
func safeName(name string) string {
	if name = strings.TrimLeft(media.CleanName(name), "."); name == "" {
		return "untitled"
	}
	return name
}
