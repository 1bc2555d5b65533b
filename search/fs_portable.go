package search

import (
	"context"
	"io/fs"
	"os"
	"syscall"
)

// portable is the file system of this machine by the standard library, for systems without a raw way.
type portable struct{}

func (portable) Root(_ context.Context, path string) (Dir, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotDir}
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &osDir{root}, nil
}

// osDir is a directory as an os.Root, which nothing below can escape.
type osDir struct{ root *os.Root }

func (d *osDir) Sub(path string) (Dir, error) {
	sub, err := d.root.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &osDir{sub}, nil
}

func (d *osDir) Entries(e *Entries) error {
	f, err := d.root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	list, err := f.ReadDir(-1)
	for _, entry := range list {
		e.Add(entry.Name(), typeKind(entry.Type()))
	}
	return err
}

func typeKind(t fs.FileMode) Kind {
	switch t.Type() {
	case 0:
		return RegularFile
	case fs.ModeDir:
		return Directory
	case fs.ModeSymlink:
		return SymbolicLink
	}
	return SpecialFile
}

func (d *osDir) Read(name string, buf []byte) (int, OpenFile, error) {
	// Asked twice: before, so that nothing is opened that must not be, and after, in case it was exchanged meanwhile.
	info, err := d.root.Lstat(name)
	if err != nil {
		return 0, nil, err
	}
	if !info.Mode().IsRegular() {
		return 0, nil, &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	f, err := d.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return 0, nil, err
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		f.Close()
		return 0, nil, &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	return readFull(osFile{f}, buf)
}

func (d *osDir) Stat(name string) (Info, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return Info{}, err
	}
	return Info{Kind: typeKind(info.Mode()), Size: info.Size(), ModTime: info.ModTime()}, nil
}

func (d *osDir) Close() error { return d.root.Close() }

type osFile struct{ *os.File }

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
