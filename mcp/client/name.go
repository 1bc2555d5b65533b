package client

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxName is the longest tool name that every provider takes.
const maxName = 64

// prefix marks the names of imported tools, as agents expect them: mcp__server__tool.
const prefix = "mcp__"

// toolName returns the name of a server's tool for models and rules: ASCII letters, digits and underscores only, at most
// 64 bytes. What had to be replaced or cut gets a suffix made of the original, so that two tools never share a name and a
// look-alike in another script cannot pass for one of ours.
func toolName(server, tool string) string {
	s, t := ascii(server), ascii(tool)
	name := prefix + s + "__" + t
	if s == server && t == tool && len(name) <= maxName && !strings.Contains(server, "__") && !strings.Contains(tool, "__") {
		return name
	}
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	suffix := "_" + hex.EncodeToString(sum[:4])
	if len(name)+len(suffix) > maxName {
		name = name[:maxName-len(suffix)]
	}
	return name + suffix
}

func ascii(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, s)
}
