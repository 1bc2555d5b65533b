package mcp

import (
	"testing"

	"github.com/tackle-dev/tackle/tool"
)

// Gemini CLI makes an error of a result whose first text is JSON and no object; other clients get every text as it is.
func TestShownTo(t *testing.T) {
	for text, changes := range map[string]bool{
		"[]": true, "[\n {\"id\": \"a\"}\n]": true, "42": true, " null\n": true, `"a"`: true, "true": true,
		"{}": false, `{"a": [1]}`: false, "": false, "a": false, "[x]": false, "42 files": false,
	} {
		res := tool.Result{Parts: []tool.Part{tool.Text(text), tool.Text("[1]")}}
		want := text
		if changes {
			want = "Result:\n" + text
		}
		if got := shownTo(Client{Name: "gemini-cli-mcp-client"}, &res); got.Parts[0].Text != want || got.Parts[1].Text != "[1]" {
			t.Errorf("%q is shown as %q", text, got.Parts[0].Text)
		}
		if res.Parts[0].Text != text {
			t.Errorf("the result itself became %q", res.Parts[0].Text)
		}
		if got := shownTo(Client{Name: "claude-code"}, &res); got != &res {
			t.Errorf("%q changes for a client that shows it", text)
		}
	}
}
