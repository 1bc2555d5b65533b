package tackle_test

import (
	"context"
	"io"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/mcp"
	"github.com/tackle-dev/tackle/permission/ask"
)

// client is a real MCP client of a box, whose person answers by f.
func client(t *testing.T, box *tackle.Box, f func(*sdk.ElicitParams) *sdk.ElicitResult) *sdk.ClientSession {
	t.Helper()
	srv, err := mcp.NewServer(box, mcp.Config{Dir: box.Dir(), View: box.View()})
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := io.Pipe()
	back, answers := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- srv.ServeStdio(t.Context(), ours, answers) }()
	c := sdk.NewClient(&sdk.Implementation{Name: "person", Version: "1"}, &sdk.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) { return f(r.Params), nil }})
	session, err := c.Connect(t.Context(), &sdk.IOTransport{Reader: back, Writer: theirs}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		theirs.Close()
		answers.Close()
		<-done
	})
	return session
}

// T5, P8: a file that changes behind an approval that an MCP client's person gives: nothing is written, and the model is
// told what somebody else changed. The same call, asked again, is then made of what the file holds.
func TestT5_ChangedBehindTheElicitation(t *testing.T) {
	p := newPlace(t, map[string]string{"a.txt": "one\ntwo\n"})
	box := p.open(tackle.Config{Rules: askEdits, Faces: []ask.Face{mcp.Face{}}}, false)
	asked := 0
	session := client(t, box, func(q *sdk.ElicitParams) *sdk.ElicitResult {
		asked++
		if !strings.Contains(q.Message, "-two\n+three\n") {
			t.Errorf("shown: %s", q.Message)
		}
		if asked == 1 {
			p.put("ws/a.txt", "zero\ntwo\n")
		}
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "allow this call"}}
	})
	call := &sdk.CallToolParams{Name: "edit", Arguments: map[string]any{"path": "a.txt", "old_string": "two", "new_string": "three"}}
	text := func(res *sdk.CallToolResult, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return res.Content[0].(*sdk.TextContent).Text
	}
	res, err := session.CallTool(t.Context(), call)
	if got := text(res, err); !res.IsError || !strings.Contains(got, "STALE") || !strings.Contains(got, "-one\n+zero\n") {
		t.Errorf("got %s", got)
	}
	if got := p.get("ws/a.txt"); got != "zero\ntwo\n" {
		t.Errorf("written: %q", got)
	}
	res, err = session.CallTool(t.Context(), call)
	if got := text(res, err); res.IsError || asked != 2 || p.get("ws/a.txt") != "zero\nthree\n" {
		t.Errorf("asked %d times, then %s", asked, got)
	}
}
