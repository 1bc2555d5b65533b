package search

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// DirOpener is the raw-directory capability of a host whose files are files of this machine: it opens a directory by its
// resolved path, with the host's own checks, for the engine to read in the way of [Local].
type DirOpener interface {
	OpenDir(ctx context.Context, real string) (*os.File, error)
}

// HostFS is the file system of a host: through its raw directories where it has them, else file by file.
func HostFS(h host.Host) FS {
	if o, ok := h.(DirOpener); ok {
		if f := openerFS(o); f != nil {
			return f
		}
	}
	return hostFS{h}
}

type hostFS struct{ h host.Host }

func (f hostFS) Root(ctx context.Context, path string) (Dir, error) {
	info, err := f.h.Stat(ctx, path)
	if err != nil {
		return nil, err
	}
	if info.Type != change.Dir {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotDir}
	}
	return hostDir{ctx, f.h, path}, nil
}

// hostDir is a directory of a host. It keeps the context of the search, as a Dir does not outlive it.
type hostDir struct {
	ctx  context.Context
	h    host.Host
	path string
}

func (d hostDir) join(name string) string {
	if name == "." {
		return d.path
	}
	return strings.TrimSuffix(d.path, "/") + "/" + name
}

func (d hostDir) Sub(path string) (Dir, error) { return hostFS{d.h}.Root(d.ctx, d.join(path)) }

func (d hostDir) Entries(e *Entries) error {
	list, err := d.h.ReadDir(d.ctx, d.path)
	for _, info := range list {
		e.Add(info.Name, hostKind(info))
	}
	return err
}

func hostKind(info host.FileInfo) Kind {
	switch info.Type {
	case change.File:
		return RegularFile
	case change.Dir:
		return Directory
	case change.Symlink:
		return SymbolicLink
	}
	return SpecialFile
}

func (d hostDir) Read(name string, buf []byte) (int, OpenFile, error) {
	f, err := d.h.Open(d.ctx, d.join(name))
	if err != nil {
		if errors.Is(err, host.ErrSpecial) || errors.Is(err, host.ErrChanged) || errors.Is(err, host.ErrIsDir) {
			err = fmt.Errorf("%w: %w", ErrNotRegular, err)
		}
		return 0, nil, err
	}
	return readFull(hostFile{f}, buf)
}

func (d hostDir) Stat(name string) (Info, error) {
	info, err := d.h.Stat(d.ctx, d.join(name))
	if err != nil {
		return Info{}, err
	}
	return Info{Kind: hostKind(info), Size: info.Size, ModTime: info.ModTime, Dev: info.Dev}, nil
}

func (d hostDir) Close() error { return nil }

type hostFile struct{ host.File }

func (f hostFile) Size() (int64, error) { return f.Info().Size, nil }

// readFull fills buf from an open file, which it closes when the file ends.
func readFull(f OpenFile, buf []byte) (int, OpenFile, error) {
	n, err := io.ReadFull(f, buf)
	if err == nil {
		return n, f, nil
	}
	f.Close()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, nil, err
}
