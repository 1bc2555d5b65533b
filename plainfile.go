package tackle

import (
	"fmt"
	"io"
	"os"
)

// maxPlain bounds a file that is read when a box is opened, in bytes.
const maxPlain = 64 << 20

// readPlain is os.ReadFile for files that a project may have put there: one that is a link to a device, or a pipe, would hold
// the start for ever or fill the memory before anybody has trusted anything.
// Errors: those of os.Stat and os.Open; for what is neither a regular file nor the null device, and for a file above maxPlain.
func readPlain(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		if null, err := os.Stat(os.DevNull); err == nil && os.SameFile(info, null) {
			return nil, nil
		}
		return nil, fmt.Errorf("%s is no regular file (%s): put a file in its place, or remove it", path, info.Mode().Type())
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxPlain+1))
	if err == nil && len(data) > maxPlain {
		return nil, fmt.Errorf("%s has more than %d bytes", path, maxPlain)
	}
	return data, err
}
