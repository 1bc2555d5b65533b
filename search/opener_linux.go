package search

import (
	"context"
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/host"
)

// openerFS reads directories that a host opened.
func openerFS(o DirOpener) FS { return &rawHost{raw: &raw{}, opener: o} }

type rawHost struct {
	raw    *raw
	opener DirOpener
}

func (r *rawHost) Root(ctx context.Context, path string) (Dir, error) {
	f, err := r.opener.OpenDir(ctx, path)
	if errors.Is(err, host.ErrNotDir) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotDir}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, pathError("open", path, err)
	}
	d := r.raw.dir(fd)
	if info, err := d.Stat("."); err != nil || info.Kind != Directory {
		d.Close()
		return nil, pathError("open", path, unix.ENOTDIR)
	}
	return d, nil
}
