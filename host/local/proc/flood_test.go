//go:build linux

package proc

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/host"
)

// H1, RES-004: a GiB of output costs less than 64 MiB of memory, in the owner and in the keeper together, and no more
// disk than the quota.
func TestH1_Flood(t *testing.T) {
	const quota, most = 8 << 20, 64 << 20
	size := int64(1 << 30)
	if testing.Short() {
		size = 64 << 20
	}
	r := open(t, TreeDefault)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	t0 := time.Now()
	p, err := r.Start(t.Context(), host.Command{Script: fmt.Sprintf("head -c %d /dev/zero", size), Limits: host.Limits{Spool: quota, Time: 5 * time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	e, err := p.Wait(t.Context())
	if err != nil || !e.Success() || e.Output != size {
		t.Fatalf("exit is %v, %d bytes, %v", e, e.Output, err)
	}
	took := time.Since(t0)
	runtime.ReadMemStats(&after)
	memory := int64(after.TotalAlloc - before.TotalAlloc)
	if k := p.Handle().Keeper; k != nil {
		memory += peak(t, k.PID)
	}
	st, err := p.Output().Stat()
	if err != nil || st.Total != size || st.Kept > quota {
		t.Errorf("stat is %+v, %v", st, err)
	}
	if memory > most {
		t.Errorf("%d MiB of memory", memory>>20)
	}
	t.Logf("%d MiB in %s: %d MiB of memory, %d MiB on disk", size>>20, took, memory>>20, st.Kept>>20)
}

// peak returns the most memory that a process had, in bytes.
func peak(t *testing.T, pid int) int64 {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(raw) {
		if f := bytes.Fields(line); len(f) == 3 && string(f[0]) == "VmHWM:" {
			n, err := strconv.ParseInt(string(f[1]), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n << 10
		}
	}
	t.Fatal("no peak of memory is known")
	return 0
}
