package mcp

import (
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/internal/clip"
	"github.com/tackle-dev/tackle/tool"
)

// maxInstructions is the length, in bytes, that every client shows whole.
const maxInstructions = 2047

// maxRootsShown bounds the roots that are named.
const maxRootsShown = 8

// instructions is what a client tells its model about the server. Most clients load tools on demand and show the model
// only this at first, so it names the tools, by category. The configured text comes first and gives way when the whole
// would be cut by a client.
func instructions(cfg *Config, defs []tool.Definition) string {
	var roots strings.Builder
	for i, r := range cfg.Roots {
		switch {
		case i == maxRootsShown:
			fmt.Fprintf(&roots, " and %d more", len(cfg.Roots)-maxRootsShown)
		case i > maxRootsShown:
		case i == 0:
			fmt.Fprintf(&roots, "Workspace: %s", r.Path)
		default:
			fmt.Fprintf(&roots, ", %s", r.Path)
		}
	}
	if len(cfg.Roots) > 0 {
		roots.WriteString(". Relative paths start at the first.\n")
	}
	tools := toolNames(defs, maxInstructions-min(roots.Len(), 600)-200)
	head := cfg.Instructions
	if head != "" {
		head = strings.TrimSpace(head) + "\n"
	}
	rest := clip.Middle(roots.String(), 600) + tools
	if len(head)+len(rest) > maxInstructions {
		head = clip.Text(head, tool.Bounds{Lines: -1, Bytes: max(maxInstructions-len(rest)-8, 0)}, clip.Head).Head
		head = strings.TrimRight(head, "\n") + " …\n"
	}
	return strings.TrimSpace(head + rest)
}

// toolNames lists the names by category in at most limit bytes, in the order of the list.
func toolNames(defs []tool.Definition, limit int) string {
	var order []string
	names := map[string][]string{}
	for _, d := range defs {
		if _, ok := names[d.Category]; !ok {
			order = append(order, d.Category)
		}
		names[d.Category] = append(names[d.Category], d.Name)
	}
	out := "Tools:"
	left := len(defs)
	for _, c := range order {
		line := fmt.Sprintf(" %s: %s;", c, strings.Join(names[c], ", "))
		if len(out)+len(line) > limit-24 {
			return out + fmt.Sprintf(" and %d more.", left)
		}
		out += line
		left -= len(names[c])
	}
	return strings.TrimSuffix(out, ";") + "."
}
