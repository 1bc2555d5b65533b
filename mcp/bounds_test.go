package mcp

import "testing"

// O2: the limit of the face, by the name that the client gives itself.
func TestBoundsFor(t *testing.T) {
	for name, want := range map[string]int{
		"codex-mcp-client": 11_000, "claude-code": 48_000, "gemini-cli-mcp-client": 38_000, "qwen-cli-mcp-client": 24_000,
		"opencode": 48_000, "pi": 15_500, "pi-mcp-adapter": 15_500, "Pi 1.6": 15_500,
		"pixel": DefaultClientBytes, "": DefaultClientBytes, "Visual Studio Code": DefaultClientBytes, "cursor": DefaultClientBytes,
	} {
		if got := BoundsFor(Client{Name: name}); got.Bytes != want || got.Lines != 0 {
			t.Errorf("%q: %+v, want %d bytes", name, got, want)
		}
	}
}
