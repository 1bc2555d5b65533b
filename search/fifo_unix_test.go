//go:build unix

package search

import (
	"syscall"
	"testing"
)

// fifo makes a named pipe: whoever opens it without care waits for ever.
func fifo(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
}
