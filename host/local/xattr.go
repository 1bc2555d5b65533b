//go:build linux || darwin

package local

import (
	"strings"

	"golang.org/x/sys/unix"
)

// xattr is one extended attribute.
type xattr struct {
	name  string
	value []byte
}

// readXattrs returns the extended attributes that a new inode has to take over.
func readXattrs(fd int) ([]xattr, error) {
	size, err := unix.Flistxattr(fd, nil)
	if err == unix.ENOTSUP || size == 0 && err == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	buf := make([]byte, size+1024)
	if size, err = unix.Flistxattr(fd, buf); err != nil {
		return nil, err
	}
	var out []xattr
	for name := range strings.SplitSeq(string(buf[:size]), "\x00") {
		if name == "" || ownXattr(name) {
			continue
		}
		n, err := unix.Fgetxattr(fd, name, nil)
		if err != nil {
			return nil, err
		}
		value := make([]byte, n)
		if n > 0 {
			if n, err = unix.Fgetxattr(fd, name, value); err != nil {
				return nil, err
			}
		}
		out = append(out, xattr{name, value[:n]})
	}
	return out, nil
}

func writeXattrs(fd int, attrs []xattr) error {
	for _, a := range attrs {
		if err := unix.Fsetxattr(fd, a.name, a.value, 0); err != nil {
			return err
		}
	}
	return nil
}
