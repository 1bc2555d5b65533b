package todo

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/tool/tooltest"
)

func lists(t *testing.T) session.Todos {
	t.Helper()
	s := store.Open(t.TempDir(), store.Options{})
	t.Cleanup(func() { _ = s.Close() })
	return session.Todos{Records: s}
}

func TestContract(t *testing.T) {
	long, _ := json.Marshal(map[string]any{"items": []any{map[string]any{"content": strings.Repeat("é", MaxContent+1)}}})
	many, _ := json.Marshal(map[string]any{"items": slicesOf(MaxItems + 1)})
	tooltest.Run(t, Tool{lists(t)}.Tool(), tooltest.World{
		Good: []string{`{}`, `{"clear":true}`, `{"items":[]}`},
		Bad: map[string]tool.Code{`{"items":[{"content":" \n"}]}`: tool.InvalidParameter, `{"items":[{"content":"a"}],"clear":true}`: tool.InvalidParameter,
			string(long): tool.LimitExceeded, string(many): tool.LimitExceeded},
	})
}

func slicesOf(n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = map[string]any{"content": "x"}
	}
	return out
}

// A list is written whole and kept for its session; what was forgotten is said.
func TestTodo(t *testing.T) {
	l := lists(t)
	tl := Tool{l}.Tool()
	run := func(session, args string) string {
		t.Helper()
		a, err := tl.Plan(t.Context(), &tool.Call{Session: session}, json.RawMessage(args))
		if err != nil {
			t.Fatal(err)
		}
		res, err := a.Run(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return res.Text()
	}
	for _, tt := range []struct{ session, args, want string }{
		{"a", `{}`, "The list is empty."},
		{"a", `{"items":[{"content":"read\n it","status":"completed"},{"content":"mend","status":"in_progress"},{"content":"test"},{"content":"sing","status":"cancelled"}]}`, "- [x] read it\n- [ ] mend (in progress)\n- [ ] test\n- [-] sing (cancelled)"},
		{"b", `{}`, "The list is empty."},
		{"a", `{}`, "- [x] read it\n- [ ] mend (in progress)\n- [ ] test\n- [-] sing (cancelled)"},
		{"a", `{"items":[{"content":"mend","status":"completed"}]}`, "- [x] mend\nEverything on the list is done.\nNo longer on the list, though it was open: test."},
		{"a", `{"clear":true}`, "The list is empty."},
		{"a", `{}`, "The list is empty."},
	} {
		if got := run(tt.session, tt.args); got != tt.want {
			t.Errorf("%s %s gave\n%s\nwant\n%s", tt.session, tt.args, got, tt.want)
		}
	}
	if _, err := l.Load(context.Background(), "none"); err != nil {
		t.Error(err)
	}
}
