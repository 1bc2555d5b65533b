//go:build linux || darwin

package proc

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/host"
)

// BenchmarkTrivial runs `true` as a bare fork and exec of bash and through the runner in turns, so that what else the
// machine does falls on both, and reports the ratio of medians and of tenth percentiles. The requirement is 1.5.
func BenchmarkTrivial(b *testing.B) {
	for _, tree := range []Tree{TreeDefault, TreeNamespace, TreeSubreaper, "group", TreeSession} {
		b.Run("tree="+string(tree), func(b *testing.B) {
			cfg := Config{Keeper: Self(), Tree: tree, StateDir: b.TempDir()}
			if tree == "group" {
				cfg.Keeper, cfg.Tree = nil, TreeDefault
			}
			r, err := Open(cfg)
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			r.Confinement()
			var bare, ours []time.Duration
			for b.Loop() {
				cmd := exec.Command("/bin/bash", "--norc", "--noprofile", "-c", "true")
				cmd.Env = r.env[0] // the locale alone costs bash a tenth of its time
				t0 := time.Now()
				err := cmd.Run()
				t1 := time.Now()
				if err != nil {
					b.Fatal(err)
				}
				p, err := r.Start(b.Context(), host.Command{Script: "true"})
				if err != nil {
					b.Fatal(err)
				}
				if e, err := p.Wait(b.Context()); err != nil || !e.Success() {
					b.Fatal(e, err)
				}
				if err := p.Close(); err != nil {
					b.Fatal(err)
				}
				bare, ours = append(bare, t1.Sub(t0)), append(ours, time.Since(t1))
			}
			slices.Sort(bare)
			slices.Sort(ours)
			for _, q := range []struct {
				name string
				at   int
			}{{"p10", len(ours) / 10}, {"p50", len(ours) / 2}} {
				b.ReportMetric(float64(bare[q.at].Microseconds()), "bare-"+q.name+"-µs")
				b.ReportMetric(float64(ours[q.at].Microseconds()), "ours-"+q.name+"-µs")
				b.ReportMetric(float64(ours[q.at])/float64(bare[q.at]), "ratio-"+q.name)
			}
		})
	}
}
