package dev_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/tackle-dev/tackle/dev"
)

// An op that was read is written as something that reads as the same op.
func FuzzOp(f *testing.F) {
	for _, s := range []string{`{"step":"edit","path":"a","edits":[{"old_string":"\u2028<&>","new_string":""}]}`, `{"paths":[],"step":"format"}`, `{"step":"write"}`, `{"step":"x","step":"y","a":1,"a":2}`, `{ }`, `[]`, `{"step":null}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var op, again dev.Op
		if json.Unmarshal(text, &op) != nil {
			return
		}
		out, err := json.Marshal(op)
		if err != nil {
			t.Fatalf("%q was read as %+v and cannot be written: %v", text, op, err)
		}
		if err := json.Unmarshal(out, &again); err != nil {
			t.Fatalf("%q was written as %q, which cannot be read: %v", text, out, err)
		}
		var one, two bytes.Buffer
		if err := json.Compact(&one, op.Args); err != nil {
			t.Fatal(err)
		}
		if err := json.Compact(&two, again.Args); err != nil {
			t.Fatal(err)
		}
		var a, b bytes.Buffer
		json.HTMLEscape(&a, one.Bytes())
		json.HTMLEscape(&b, two.Bytes())
		if op.Step != again.Step || !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Fatalf("%q: %q %s, then %q %s", text, op.Step, op.Args, again.Step, again.Args)
		}
	})
}
