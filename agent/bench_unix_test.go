//go:build unix

package agent

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// processor returns the time of processors that this process has used.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
