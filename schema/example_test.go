package schema_test

import (
	"fmt"

	"github.com/tackle-dev/tackle/schema"
)

type readFile struct {
	Path  string `json:"path" jsonschema:"File to read"`
	Limit int    `json:"limit,omitempty" jsonschema:"Lines to read" schema:"min=1,max=2000,default=2000"`
}

// A struct gives the schema, the checker mends what models often get wrong and explains the rest.
func Example() {
	s, err := schema.For[readFile]()
	if err != nil {
		fmt.Println(err)
		return
	}
	checker, err := schema.Compile(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, args := range []string{`{"file_path":"a.go","limit":"50"}`, `{"limit":"all"}`} {
		p, err := checker.Prepare([]byte(args))
		if err != nil {
			fmt.Println(err)
			continue
		}
		for _, r := range p.Repairs {
			fmt.Println("repaired", r)
		}
		for _, problem := range p.Problems {
			fmt.Println("problem:", problem.Message)
		}
		if len(p.Problems) == 0 {
			fmt.Println(string(p.Args))
		}
	}
	// Output:
	// repaired path: name learned elsewhere (file_path → path)
	// repaired limit: number sent as a string ("50" → 50)
	// {"path":"a.go","limit":50}
	// problem: limit must be an integer, 1–2000, but is "all"; for example 2000.
	// problem: path is required, but missing: a string, "File to read"; for example "src/main.go".
}

// The same definition in the words of two providers.
func ExampleRender() {
	s, err := schema.For[readFile]()
	if err != nil {
		fmt.Println(err)
		return
	}
	def := schema.Def{Name: "read_file", Description: "Read a file.", Schema: s}
	for _, format := range []schema.Format{schema.FormatAnthropic, schema.FormatGemini} {
		b, err := schema.Render(format, def)
		fmt.Println(string(b), err)
	}
	// Output:
	// {"name":"read_file","description":"Read a file.","input_schema":{"type":"object","properties":{"path":{"type":"string","description":"File to read"},"limit":{"type":"integer","description":"Lines to read (1–2000, default 2000)","default":2000,"minimum":1,"maximum":2000}},"required":["path"],"additionalProperties":false}} <nil>
	// {"name":"read_file","description":"Read a file.","parameters":{"type":"object","properties":{"path":{"type":"string","description":"File to read"},"limit":{"type":"integer","description":"Lines to read (1–2000, default 2000)","minimum":1,"maximum":2000}},"required":["path"]}} <nil>
}
