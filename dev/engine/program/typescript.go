package program

import (
	"github.com/tackle-dev/tackle/dev"
)

// TypeScript checks a project with its own compiler, as tsconfig.json in the root says.
func TypeScript(f Found, r Runner, w Workshop) *Command {
	files := []string{"*.ts", "*.mts", "*.cts", "*.tsx"}
	argv := append(append([]string{}, f.Argv...), "--noEmit", "--incremental", "false", "--composite", "false", "--pretty", "false")
	if atLeast(f.Version, 4, 1) { // a tsconfig.json that asks for a trace would have a check write files
		argv = append(argv, "--generateTrace", "null")
	}
	check := Action{Files: files, Shown: f.Shown + " --noEmit", Exits: []int{1, 2},
		Inputs: append(files[:len(files):len(files)], "*.js", "*.mjs", "*.cjs", "*.jsx", "*.json"),
		Argv:   argv,
		Find:   Match(`^(?:(?P<file>[^\s(][^(]*)\((?P<line>\d+),(?P<column>\d+)\): )?(?P<severity>error|warning|message) (?P<code>TS\d+): (?P<message>.*)$`, dev.Err)}
	return &Command{Name: "typescript", Version: f.Version, Runner: r, Workshop: w, Links: f.Links, Can: map[dev.Capability]Action{dev.CanCheck: check}}
}
