package tackle_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/tools/shell"
)

// workspace makes a folder with some files for the examples.
func workspace(files map[string]string) (dir string, cleanup func()) {
	dir, err := os.MkdirTemp("", "tackle-example")
	if err != nil {
		log.Fatal(err)
	}
	for name, content := range files {
		p := filepath.Join(dir, "ws", name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	return dir, func() { os.RemoveAll(dir) }
}

func open(dir string, cfg tackle.Config) *tackle.Box {
	cfg.Dir, cfg.StateDir, cfg.NoFiles = filepath.Join(dir, "ws"), filepath.Join(dir, "state"), true
	box, err := tackle.Open(context.Background(), cfg)
	if err != nil {
		log.Fatal(err)
	}
	return box
}

// Call a tool. A result that is not OK is text for the model; an error is a fault of the program.
func ExampleOpen() {
	dir, cleanup := workspace(map[string]string{"hello.txt": "hello\nworld\n"})
	defer cleanup()
	box := open(dir, tackle.Config{})
	defer box.Close()

	ctx := context.Background()
	for _, req := range []tackle.Request{
		tackle.NewRequest("edit", map[string]any{"path": "hello.txt", "old_string": "world", "new_string": "there"}),
		tackle.NewRequest("read_file", `{"path": "hello.txt"}`),
		tackle.NewRequest("read_file", `{"path": "helo.txt"}`),
	} {
		res, err := box.Call(ctx, req)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(res.OK())
		fmt.Println(res.Text())
	}
	// Output:
	// true
	// Edited hello.txt: 1 replacement at line 2.
	// true
	// 1	hello
	// 2	there
	// false
	// TOOL ERROR: NOT_FOUND
	// "helo.txt" does not exist.
	// PARAMETER: path
	// RECOVERY HINT: Did you mean "hello.txt"?
}

// Write a tool: an input struct, a plan, one line to register it. Planning says what the call would touch; running does
// it. Permission, bounds, records and errors are not its business.
func ExampleConfig_tools() {
	type input struct {
		Name string `json:"name" jsonschema:"Whom to greet"`
	}
	greet := tool.Define(tool.Spec{
		Name: "greet", Category: "demo", Title: "Greet", Description: "Greet somebody.",
		Annotations: tool.Annotations{ReadOnly: true}, Example: `{"name": "Ada"}`,
	}, func(_ context.Context, _ *tool.Call, in input) (tool.Action, error) {
		return tool.Action{
			Intent: tool.Intent{Effects: []tool.Effect{tool.Read}},
			Run: func(context.Context, tool.Runner) (tool.Result, error) {
				return tool.TextResult("Hello, "+in.Name+".", in), nil
			},
		}, nil
	})

	dir, cleanup := workspace(map[string]string{"a": ""})
	defer cleanup()
	box := open(dir, tackle.Config{Tools: []tackle.Tool{{Tool: greet}}})
	defer box.Close()
	for _, args := range []string{`{"name": "Ada"}`, `{"nam": "Ada"}`} {
		res, err := box.Call(context.Background(), tackle.NewRequest("greet", args))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(res.Text())
	}
	// Output:
	// Hello, Ada.
	// TOOL ERROR: MISSING_PARAMETER
	// Unknown property "nam"; did you mean name? Known: name.
	// name is required, but missing: a string, "Whom to greet"; for example "text".
	// PARAMETER: name
	// EXPECTED: a string
	// EXAMPLE: greet {"name": "Ada"}
	// RECOVERY HINT: Correct the arguments and call again. Nothing was done.
}

// Set a rule, and ask why a call gets what it gets.
func ExampleBox_Why() {
	dir, cleanup := workspace(map[string]string{"vendor/lib.go": "package lib\n"})
	defer cleanup()
	box := open(dir, tackle.Config{Rules: []permission.Rule{
		{Permission: "edit", Pattern: "vendor/**", Action: tool.Deny, Reason: "vendored code is changed upstream"},
	}})
	defer box.Close()

	req := tackle.NewRequest("edit", `{"path": "vendor/lib.go", "old_string": "lib", "new_string": "mine"}`)
	res, err := box.Call(context.Background(), req)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Denied != nil, res.Err.Code)
	why, err := box.Why(context.Background(), req)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(why.Decision.Verdict, "by", why.Decision.By)
	// Output:
	// true PERMISSION_DENIED
	// deny by rule program:1
}

// Preview a change before it happens: plan, look at the exact bytes, then run what was planned.
func ExampleBox_Plan() {
	dir, cleanup := workspace(map[string]string{"main.go": "package main\nfunc main() { run() }\n"})
	defer cleanup()
	box := open(dir, tackle.Config{})
	defer box.Close()

	ctx := context.Background()
	planned, err := box.Plan(ctx, tackle.NewRequest("edit", `{"path": "main.go", "old_string": "run()", "new_string": "start()"}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(box.PreviewOf(&planned.Action.Intent).Diff)
	decision, err := box.Decide(ctx, planned)
	if err != nil {
		log.Fatal(err)
	}
	res, err := box.Run(ctx, planned, decision)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Text())
	// Output:
	// diff --git a/main.go b/main.go
	// --- a/main.go
	// +++ b/main.go
	// @@ -1,2 +1,2 @@
	//  package main
	// -func main() { run() }
	// +func main() { start() }
	// Edited main.go: 1 replacement at line 2.
}

// Run the calls of one turn: reads together, writers of one file in order, results in call order.
func ExampleBox_CallAll() {
	dir, cleanup := workspace(map[string]string{"a": "1\n", "b": "2\n"})
	defer cleanup()
	box := open(dir, tackle.Config{})
	defer box.Close()

	results, err := box.CallAll(context.Background(),
		tackle.NewRequest("edit", `{"path": "a", "old_string": "1", "new_string": "one"}`),
		tackle.NewRequest("read_file", `{"path": "b"}`),
		tackle.NewRequest("edit", `{"path": "a", "old_string": "one", "new_string": "uno"}`),
		tackle.NewRequest("read_file", `{"path": "a"}`),
	)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range results {
		fmt.Println(r.Text())
	}
	// Output:
	// Edited a: 1 replacement at line 1.
	// 1	2
	// Edited a: 1 replacement at line 1.
	// 1	uno
}

// Run commands. What only looks asks nobody; anything else is allowed by a rule, a grant or a person. A command that shall
// go on becomes a task, which ends with the box unless it was started to outlive it.
func ExampleBox_EndSession() {
	dir, cleanup := workspace(map[string]string{"notes.txt": "one\ntwo\n"})
	defer cleanup()
	box := open(dir, tackle.Config{Rules: []permission.Rule{{Permission: "shell", Pattern: `["sleep", "100"]`, Action: tool.Allow}}})
	defer box.Close()

	ctx := context.Background()
	for _, args := range []string{
		`{"command": "wc -l < notes.txt; grep -c three notes.txt"}`,
		`{"command": "rm notes.txt"}`,
		`{"command": "sleep 100", "background": true}`,
	} {
		res, err := box.Call(ctx, tackle.NewRequest("shell", args))
		if err != nil {
			log.Fatal(err)
		}
		if res.Denied == nil && res.Data.(*shell.Data).Task == "" {
			fmt.Println(res.Text())
		}
		fmt.Println(res.OK())
	}
	if err := box.EndSession(ctx, box.SessionID()); err != nil {
		log.Fatal(err)
	}
	for _, t := range box.Tasks().Own() {
		fmt.Println(t.Command, t.Running, t.Exit)
	}
	// Output:
	// 2
	// 0
	// [exit status 1]
	// true
	// false
	// true
	// sleep 100 false stopped
}
