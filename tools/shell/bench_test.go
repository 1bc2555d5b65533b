//go:build linux

package shell

import (
	"os/exec"
	"testing"

	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

// A trivial command through the whole road, beside a bare fork and exec of bash: one that only looks, and one that might
// become a task, for which a folder is made and removed.
func BenchmarkTrivial(b *testing.B) {
	w := newWorld(b, option{rules: []permission.Rule{{Permission: "shell", Pattern: `[":"]`, Action: tool.Allow}}})
	for name, line := range map[string]string{"looks": "true", "may-be-a-task": ":"} {
		req := w.request("shell", args{"command": line})
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if res := w.do(req); !res.OK() {
					b.Fatal(res.Text())
				}
			}
		})
		b.Run(name+"/bare-bash", func(b *testing.B) {
			for b.Loop() {
				cmd := exec.Command("/bin/bash", "--norc", "--noprofile", "-c", line)
				cmd.Dir = w.dir
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
			}
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
