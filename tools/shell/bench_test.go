//go:build linux

package shell

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

// A trivial command through the whole road, beside a bare fork and exec of bash, one after the other, so that a busy machine
// is as busy for both: one that only looks, and one that might become a task. The medians are reported, and their ratio.
func BenchmarkTrivial(b *testing.B) {
	w := newWorld(b, option{rules: []permission.Rule{{Permission: "shell", Pattern: `[":"]`, Action: tool.Allow}}})
	for name, line := range map[string]string{"looks": "true", "may-be-a-task": ":"} {
		b.Run(name, func(b *testing.B) {
			req := w.request("shell", args{"command": line})
			var road, bare []time.Duration
			for b.Loop() {
				began := time.Now()
				if res := w.do(req); !res.OK() {
					b.Fatal(res.Text())
				}
				between := time.Now()
				cmd := exec.Command("/bin/bash", "--norc", "--noprofile", "-c", line)
				cmd.Dir = w.dir
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				road, bare = append(road, between.Sub(began)), append(bare, time.Since(between))
			}
			slices.Sort(road)
			slices.Sort(bare)
			b.ReportMetric(float64(road[len(road)/2].Microseconds()), "road-µs")
			b.ReportMetric(float64(bare[len(bare)/2].Microseconds()), "bare-µs")
			b.ReportMetric(float64(road[len(road)/2])/float64(bare[len(bare)/2]), "ratio")
		})
	}
}

// One gigabyte of output through the road.
func BenchmarkFlood(b *testing.B) {
	w := newWorld(b, option{})
	req := w.request("shell", args{"command": "head -c 1073741824 /dev/zero | tr '\\0' '\\n'", "timeout": 300})
	b.SetBytes(1 << 30)
	for b.Loop() {
		if res := w.do(req); !res.OK() {
			b.Fatal(res.Text())
		}
	}
}
