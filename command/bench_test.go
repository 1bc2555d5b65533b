package command

import "testing"

// Classification must take less than 100 µs.
func BenchmarkReadOnly(b *testing.B) {
	for _, bb := range []struct{ name, line string }{
		{"short", "ls -la"},
		{"usual", `rg -n --no-heading 'a|b' internal | head -20`},
		{"long", `cd src && grep -rn "func main" . --include='*.go' | sort -u -k2,2n | head -n 50; find . -type f -name '*.go' -printf '%s %p\n' | sort -rn | head -20; sed -n '/^func/,/^}/p' main.go && jq -r '.scripts | keys[]' package.json`},
		{"refused", "cd a && npm test 2>&1 | tail -50"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ReadOnly(bb.line)
			}
		})
	}
}

func BenchmarkEveryday(b *testing.B) {
	for b.Loop() {
		for _, line := range everyday {
			ReadOnly(line)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(everyday)), "ns/line")
}

func BenchmarkParse_Wrapped(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(`timeout 60 bash -lc 'cd src && CI=1 go test ./... 2>&1 | tail -50'`); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPattern_Allows(b *testing.B) {
	p := mustPattern(b, `{"argv": ["go", "test", "..."], "flags": {"deny": ["-exec", "-toolexec", "-o"]}}`)
	f, err := Parse("go test -run X -count=1 ./a ./b ./c")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if !p.Allows(&f, 0) {
			b.Fatal("not allowed")
		}
	}
}
