//go:build linux || darwin

package local

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
)

// OpenDir opens the directory at a resolved path for programs that read it in the way of the operating system, such as
// a search engine. It makes the checks of ReadDir: no component is a link. The caller closes the file.
// Errors: *host.PathError as of ReadDir.
func (l *Local) OpenDir(ctx context.Context, real string) (*os.File, error) {
	dir, base, err := l.parentOf(ctx, "open directory", real)
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	fd, err := openAt(dir, base, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		if st, serr := lstatAt(dir, base); serr == nil && st.isLink() {
			err = unix.ELOOP
		}
		return nil, fail("open directory", real, err)
	}
	return os.NewFile(uintptr(fd), real), nil
}
