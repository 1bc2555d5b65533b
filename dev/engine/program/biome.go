package program

import (
	"strings"

	"github.com/tackle-dev/tackle/dev"
)

// Biome formats and lints JavaScript, TypeScript, JSON and CSS with the project's own Biome (2.4 and later).
func Biome(f Found, r Runner, w Workshop) *Command {
	scripts := []string{"*.js", "*.mjs", "*.cjs", "*.jsx", "*.ts", "*.mts", "*.cts", "*.tsx"}
	files := append(scripts[:len(scripts):len(scripts)], "*.json", "*.jsonc", "*.css", "*.graphql")
	argv := func(args ...string) []string {
		return append(append(append([]string{}, f.Argv...), args...), "--reporter=rdjson", "--max-diagnostics=none", "--no-errors-on-unmatched", "--files-ignore-unknown=true", "--vcs-enabled=false", "--colors=off", filesMark)
	}
	action := func(rewrites bool, args ...string) Action {
		// The copies are no repository; which files there are to work on was decided before, ignore files included.
		return Action{Files: files, Argv: argv(args...), Shown: f.Shown + " " + strings.Join(args, " "), Rewrites: rewrites, Exits: []int{1}, Find: biomeFinder(args[0])}
	}
	return &Command{Name: "biome", Version: f.Version, Runner: r, Workshop: w, Config: []string{"biome.json", "biome.jsonc", ".editorconfig", "package.json"}, Links: f.Links,
		Can: map[dev.Capability]Action{dev.CanFormat: action(true, "format", "--write"), dev.CanLint: action(false, "lint"), dev.CanFix: action(true, "lint", "--write")}}
}

// biomeFinder leaves out what is no finding: that a file was not formatted because of the syntax errors that stand beside
// it, or that it would be.
func biomeFinder(command string) Finder {
	all := RDJSON()
	return func(end End, source string) ([]dev.Diagnostic, bool) {
		found, ok := all(end, source)
		out := found[:0]
		for _, d := range found {
			if d.Code == "format" && command == "format" {
				continue
			}
			if d.Code == "parse" {
				d.Code = "syntax"
			}
			// What Biome suggests may need --unsafe; only what lint --write repairs counts as a fix.
			out = append(out, d)
		}
		return out, ok
	}
}
