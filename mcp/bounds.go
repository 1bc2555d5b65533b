package mcp

import (
	"strings"

	"github.com/tackle-dev/tackle/tool"
)

// What a client shows a model of one text result before it cuts, in bytes, measured with each client and a scripted
// model (November 2026); a margin is taken off for the notice behind a cut. A client that is not listed gets the
// smallest, which stays whole everywhere.
var clientBudgets = []struct {
	prefix string // of the client's own name, lower case
	bytes  int
}{
	{"codex", 11_000},       // 11.5 KB whole, 12.5 KB cut to head and tail, for a model without metadata
	{"claude-code", 48_000}, // 50,000 characters
	{"gemini-cli", 38_000},  // 40,000 characters, then head and tail
	{"qwen", 24_000},        // 25.5 KB whole, 40 KB becomes a preview of 2.5 KB
	{"opencode", 48_000},    // 50 KB
	{"pi", 15_500},          // 16 KB whole, 25.5 KB cut to about 20
}

// DefaultClientBytes is the limit for a client that nothing is known about.
const DefaultClientBytes = 11_000

// BoundsFor returns what a client can show of one result. Lines keep the default of the toolbox.
func BoundsFor(c Client) tool.Bounds {
	name := strings.ToLower(c.Name)
	for _, b := range clientBudgets {
		rest, ok := strings.CutPrefix(name, b.prefix)
		if ok && (rest == "" || strings.ContainsAny(rest[:1], "-_/ .0123456789")) {
			return tool.Bounds{Bytes: b.bytes}
		}
	}
	return tool.Bounds{Bytes: DefaultClientBytes}
}
