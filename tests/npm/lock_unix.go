//go:build unix

package npm

import (
	"os"
	"syscall"
	"testing"
)

// lock waits until no other test or test process holds the lock file and returns what lets go of it. The lock of a process
// that dies is free.
func lock(t testing.TB, file string) (unlock func()) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err == nil {
			return func() { _ = f.Close() } // which unlocks
		}
		if err != syscall.EINTR {
			t.Fatalf("lock %s: %v", file, err)
		}
	}
}
