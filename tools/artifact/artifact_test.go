package artifact

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/artifact"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/tool/tooltest"
	"github.com/tackle-dev/tackle/toolbox"
)

// kept gives tools the store, as the front door does.
type kept struct{ *artifact.Store }

func (k kept) Put(ctx context.Context, session, name, mime string, r io.Reader) (string, error) {
	a, err := k.Store.Put(ctx, session, name, mime, r)
	return a.ID, err
}

func (k kept) Open(ctx context.Context, id string) (tool.ArtifactReader, error) {
	r, err := k.Store.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// O6: every question through the road, with what exists when it cannot be answered.
func TestO6_Questions(t *testing.T) {
	st := &store.Memory{}
	arts := artifact.New(st, st, artifact.Options{})
	box, err := toolbox.New(toolbox.Config{Artifacts: kept{arts}, Env: tool.Environment{Mode: "code"}})
	if err != nil {
		t.Fatal(err)
	}
	tl := Tool{List: arts.List}.Tool()
	if err := box.Register(tl, "code"); err != nil {
		t.Fatal(err)
	}
	ask := func(args map[string]any) tool.Result {
		t.Helper()
		b, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		res, err := box.Call(t.Context(), toolbox.Request{Tool: "artifact", Args: b, Session: "s"})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	if res := ask(nil); !strings.Contains(res.Text(), "no artifacts yet") {
		t.Errorf("empty: %s", res.Text())
	}
	put := func(name, content string) string {
		t.Helper()
		a, err := arts.Put(t.Context(), "s", name, "", strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		return a.ID
	}
	var log strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&log, "line %d\n", i+1)
	}
	text := put("build.log", log.String())
	doc := put("data.json", `{"users": [{"name": "a", "age": 1}, {"name": "b", "age": 2}], "total": 2}`)
	md := put("notes.md", "# One\ntext\n## Two\nmore\n")
	for _, tt := range []struct {
		name  string
		args  map[string]any
		holds []string
		code  tool.Code
	}{
		{"list", nil, []string{text, doc, md, "build.log"}, ""},
		{"describe", map[string]any{"id": text}, []string{"3000"}, ""},
		{"head", map[string]any{"id": text, "op": "head", "limit": 2}, []string{"line 1", "line 2"}, ""},
		{"tail", map[string]any{"id": text, "op": "tail", "limit": 1}, []string{"line 3000"}, ""},
		{"cat", map[string]any{"id": text, "op": "cat", "offset": 10, "limit": 2}, []string{"line 10", "line 11"}, ""},
		{"grep", map[string]any{"id": text, "op": "grep", "pattern": "line 29[0-9]$"}, []string{"line 290", "line 299"}, ""},
		{"as it is written in notices", map[string]any{"id": "artifact:" + text, "op": "size"}, []string{fmt.Sprint(log.Len())}, ""},
		{"keys", map[string]any{"id": doc, "op": "keys"}, []string{"users", "total"}, ""},
		{"get", map[string]any{"id": doc, "op": "get", "query": "$.users[1].name"}, []string{"b"}, ""},
		{"filter", map[string]any{"id": doc, "op": "filter", "query": "[.users[].age] | add"}, []string{"3"}, ""},
		{"slice", map[string]any{"id": doc, "op": "slice", "query": "$.users", "offset": 1, "limit": 1}, []string{`"b"`}, ""},
		{"pluck", map[string]any{"id": doc, "op": "pluck", "query": "$.users", "fields": []string{"age"}}, []string{"1", "2"}, ""},
		{"sections", map[string]any{"id": md, "op": "sections"}, []string{"One", "Two"}, ""},
		{"section", map[string]any{"id": md, "op": "section", "query": "Two"}, []string{"more"}, ""},
		{"no such section", map[string]any{"id": md, "op": "section", "query": "Three"}, []string{"Two"}, tool.NotFound},
		{"no such artifact", map[string]any{"id": "a0000000"}, []string{"artifact without id"}, tool.NotFound},
		{"no id", map[string]any{"id": "../etc/passwd"}, []string{"no artifact id"}, tool.InvalidParameter},
		{"not JSON", map[string]any{"id": text, "op": "keys"}, []string{"head"}, tool.OperationNotAllowed},
		{"unknown question", map[string]any{"id": text, "op": "sum"}, []string{"op"}, tool.InvalidParameter},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := ask(tt.args)
			if got := tool.Code(""); res.Err != nil && res.Err.Code != tt.code || res.Err == nil && tt.code != got {
				t.Fatalf("%+v, want code %q\n%s", res.Err, tt.code, res.Text())
			}
			for _, h := range tt.holds {
				if !strings.Contains(res.Text(), h) {
					t.Errorf("lacks %q:\n%.600s", h, res.Text())
				}
			}
		})
	}
	tooltest.Run(t, tl, tooltest.World{Artifacts: kept{arts}, Good: []string{`{}`, `{"id":"` + text + `","op":"size"}`}, Bad: map[string]tool.Code{`{"id":"!"}`: tool.InvalidParameter}})
}
