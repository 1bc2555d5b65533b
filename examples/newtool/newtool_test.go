package main

import (
	"os"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/tool/tooltest"
)

// A tool joins the contract's suite with one line.
func TestContract(t *testing.T) { tooltest.Run(t, Greet{Most: 3}.Tool(), tooltest.World{}) }

// Adding a tool takes one new file of at most 60 lines and one registration line: counted.
func TestOneFileAndOneLine(t *testing.T) {
	file, err := os.ReadFile("greet.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(file), "\n"); n > 60 {
		t.Errorf("greet.go has %d lines", n)
	}
	main, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(main), "Greet"); n != 1 {
		t.Errorf("main.go names the tool on %d places, want the one registration line", n)
	}
}

func ExampleGreet() {
	main()
	// Output:
	// Hello, Reader.
	// Hello, Reader.
	//
	// TOOL ERROR: LIMIT_EXCEEDED
	// 9 greetings are too many.
	// PARAMETER: times
	// EXPECTED: at most 3
	// TOOL ERROR: MISSING_PARAMETER
	// name is required, but missing: a string, "Whom to greet"; for example "text".
	// PARAMETER: name
	// EXPECTED: a string
	// EXAMPLE: greet {"name": "Reader"}
	// RECOVERY HINT: Correct the arguments and call again. Nothing was done.
}
