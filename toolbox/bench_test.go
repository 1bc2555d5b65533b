package toolbox

import (
	"encoding/json"
	"testing"

	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
)

// benchCall measures a call of a tool that does nothing, with permission and figures on.
func benchCall(b *testing.B, rec Recorder) {
	gate, err := permission.New(permission.Options{Facts: permission.Facts{Roots: []string{"/w"}}})
	if err != nil {
		b.Fatal(err)
	}
	box, err := New(Config{Gate: gate, Recorder: rec, Env: tool.Environment{Mode: "code"}})
	if err != nil {
		b.Fatal(err)
	}
	if err := box.Register(echo(tool.Spec{}, nil), "code"); err != nil {
		b.Fatal(err)
	}
	req := Request{Tool: "echo", Args: json.RawMessage(`{"text":"hello","times":2}`), Session: "bench"}
	b.ReportAllocs()
	for b.Loop() {
		res, err := box.Call(b.Context(), req)
		if err != nil || !res.OK() {
			b.Fatal(err, res.Err)
		}
	}
}

func BenchmarkCall(b *testing.B) { benchCall(b, nil) }

func BenchmarkCallRecorded(b *testing.B) {
	st := store.Open(b.TempDir(), store.Options{})
	defer st.Close()
	benchCall(b, session.NewLog(st))
}
