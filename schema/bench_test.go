package schema_test

import (
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/schema"
)

type editArgs struct {
	Path       string `json:"path" jsonschema:"File to change"`
	Old        string `json:"old_string" jsonschema:"Text to replace" schema:"min=1"`
	New        string `json:"new_string" jsonschema:"Its replacement"`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"Replace every match"`
	Line       int    `json:"line,omitempty" jsonschema:"Line of the match" schema:"min=1"`
}

func benchPrepare(b *testing.B, raw string, repaired bool) {
	c := compileFor[editArgs](b)
	in := []byte(raw)
	p, err := c.Prepare(in)
	if err != nil || len(p.Problems) > 0 || (len(p.Repairs) > 0) != repaired {
		b.Fatal(err, p)
	}
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Prepare(in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPrepareValid300B(b *testing.B) {
	benchPrepare(b, `{"path":"internal/server/handler.go","old_string":"`+strings.Repeat("x", 80)+`\n\treturn err","new_string":"`+strings.Repeat("y", 80)+
		`\n\treturn fmt.Errorf","replace_all":false,"line":120}`, false)
}

func BenchmarkPrepareRepaired300B(b *testing.B) {
	benchPrepare(b, `{"file_path":"internal/server/handler.go","oldString":"`+strings.Repeat("x", 80)+`\n\treturn err","new_string":"`+strings.Repeat("y", 80)+
		`\n\treturn fmt.Errorf","replaceAll":"false","line":"120"}`, true)
}

func BenchmarkPrepareValid1MB(b *testing.B) {
	line := `func f() error {\n\treturn errors.New(\"no\") // a line of usual length\n}\n`
	benchPrepare(b, `{"path":"a","old_string":"x","new_string":"`+strings.Repeat(line, 1<<20/len(line))+`"}`, false)
}

func BenchmarkCompile(b *testing.B) {
	s, err := schema.For[editArgs]()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schema.Compile(s); err != nil {
			b.Fatal(err)
		}
	}
}

// The allocations of a valid call do not grow with its size: large contents are not copied.
func TestPrepareAllocations(t *testing.T) {
	c := compileFor[editArgs](t)
	for _, size := range []int{10, 1 << 20} {
		raw := []byte(`{"path":"a","old_string":"x","new_string":"` + strings.Repeat(`y\n`, size/3) + `","line":3}`)
		n := testing.AllocsPerRun(20, func() {
			if p, err := c.Prepare(raw); err != nil || &p.Args[0] != &raw[0] {
				t.Fatal("copied")
			}
		})
		if n > 8 {
			t.Errorf("%d bytes: %v allocations", len(raw), n)
		}
	}
}
