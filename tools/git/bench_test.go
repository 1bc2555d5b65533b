//go:build linux || darwin

package git

import "testing"

// One call of each kind in a small repository: what is paid for the private configuration is two starts of bash.
func BenchmarkGit(b *testing.B) {
	w := newWorld(b, option{})
	w.repository()
	w.put("a.txt", "changed\n")
	for _, bb := range []struct {
		name string
		args args
	}{{"status", args{"op": "status"}}, {"diff", args{"op": "diff"}}, {"log", args{"op": "log"}}, {"show", args{"op": "show"}}, {"blame", args{"op": "blame", "path": "a.txt"}}} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				w.ok(bb.args)
			}
		})
	}
	b.Run("plain status", func(b *testing.B) {
		for b.Loop() {
			w.plain("status", "--short")
		}
	})
}
