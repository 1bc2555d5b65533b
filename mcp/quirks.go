package mcp

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/tool"
)

// shownTo returns a result as its client takes it. Gemini CLI (0.61) reads a first text that is JSON as structured content,
// which must be an object, and makes an error of every other result: a list of media, a number that a command printed. A
// word before it keeps it a text.
func shownTo(c Client, res *tool.Result) *tool.Result {
	if !strings.HasPrefix(strings.ToLower(c.Name), "gemini-cli") || len(res.Parts) == 0 || res.Parts[0].Kind != content.Text {
		return res
	}
	s := strings.TrimLeft(res.Parts[0].Text, " \t\r\n")
	if s == "" || s[0] == '{' || !json.Valid([]byte(s)) {
		return res
	}
	out := *res
	out.Parts = slices.Clone(res.Parts)
	out.Parts[0].Text = "Result:\n" + res.Parts[0].Text
	return &out
}
