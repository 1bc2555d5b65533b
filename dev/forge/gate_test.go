package forge_test

import (
	"testing"
)

func TestD4_Transcript(t *testing.T) {
	w := newWorld(t, setup{files: map[string]string{"a.go": "package a\n\nvar  x = 1\n", "s.sh": "if true;then\necho hi\nfi\n", "n.md": "# n\n"}})
	for _, c := range [][2]string{
		{"read_lines", `{"path":"a.go"}`},
		{"edit", `{"path":"a.go","edits":[{"old_string":"= 1","new_string":"= 2"}]}`},
		{"format", `{}`},
		{"lint", `{}`},
		{"lint", `{"fix":true}`},
		{"check", `{}`},
	} {
		res := w.call(c[0], c[1])
		t.Log(res.Text())
		for _, p := range w.payloads() {
			t.Log(p)
		}
	}
}
