package task

import (
	"fmt"
	"os"
	"path/filepath"
)

// maxSocketPath is how long the path of a socket may be, in bytes (sun_path is 108 with its end).
const maxSocketPath = 107

// shortPath returns another path of a folder in which a socket can be made however deep the folder lies, until free.
func shortPath(dir string) (short string, free func(), err error) {
	if len(filepath.Join(dir, doorFile)) <= maxSocketPath {
		return dir, func() {}, nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d", f.Fd()), func() { f.Close() }, nil
}
