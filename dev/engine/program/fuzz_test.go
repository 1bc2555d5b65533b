package program

import (
	"testing"

	"github.com/tackle-dev/tackle/dev"
)

// Whatever a program prints, reading it ends, and what is found is complete.
func FuzzFinders(f *testing.F) {
	for _, s := range []string{
		"a.c:1:2: error: x\n  y\n", `{"runs":[{"results":[{"level":"error","message":{"text":"x"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"file:///a"}}}]}]}]}`,
		`{"diagnostics":[{"message":"m","location":{"path":"a","range":{"start":{"line":1}}}}]}`, "# m\nvet: ./a.go:7:14: x\n\thave\n{\"m\":{\"printf\":[{\"posn\":\"/a.go:6:14\",\"message\":\"y\"}]}}\n{\"m\":{\"x\":{\"error\":\"z\"}}}\n", "{", "a.go:1: x", "/a:b.go:1:2: x",
	} {
		f.Add([]byte(s), 1)
	}
	finders := []Finder{SARIF(), RDJSON(), Match(`^(?P<file>[^:]+):(?P<line>\d+):(?P<column>\d+): (?P<severity>\w+): (?P<message>.*)$`, dev.Err),
		func(end End, _ string) ([]dev.Diagnostic, bool) { return vetFindings(end, dev.CanLint) }}
	f.Fuzz(func(t *testing.T, out []byte, code int) {
		for _, end := range []End{{Stdout: out, Code: code}, {Stderr: out, Code: code}} {
			for i, find := range finders {
				found, _ := find(end, "s")
				place(found, "/w/copies", "/w/root")
				for _, d := range found {
					if d.Severity == "" || d.Source == "" || d.Range.Start.Line < 0 {
						t.Errorf("finder %d: %+v", i, d)
					}
				}
			}
		}
	})
}
