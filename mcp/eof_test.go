package mcp

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// A script that writes its messages and closes gets all of them answered, the handshake too.
func TestX3_AnswersAfterTheInputEnded(t *testing.T) {
	srv := newTestServer(t, echoBox(), Config{})
	for range 20 {
		var out bytes.Buffer
		in := strings.NewReader(strings.Join([]string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
			`{"jsonrpc":"2.0","id":"three","method":"ping"}`,
		}, "\n"))
		if err := srv.ServeStdio(t.Context(), in, &out); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{`1`, `2`, `"three"`} {
			if !strings.Contains(out.String(), fmt.Sprintf(`"id":%s,`, id)) {
				t.Fatalf("request %s was not answered:\n%s", id, out.String())
			}
		}
	}
}
