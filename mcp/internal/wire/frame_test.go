package wire

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseFrame(t *testing.T) {
	tests := []struct {
		in   string
		want Frame
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`, Frame{ID: []byte("1"), Method: "tools/call", Params: []byte(`{"name":"x"}`)}},
		{`{"jsonrpc":"2.0","id":"a-1","method":"ping"}`, Frame{ID: []byte(`"a-1"`), Method: "ping"}},
		{`{"jsonrpc":"2.0","method":"notifications/initialized","params":null}`, Frame{Method: "notifications/initialized", Params: []byte("null")}},
		{`{"jsonrpc":"2.0","id":-3,"result":{}}`, Frame{ID: []byte("-3"), Result: []byte("{}")}},
		{`{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"no"},"extra":[]}`, Frame{ID: []byte("3"), Error: []byte(`{"code":1,"message":"no"}`)}},
	}
	for _, tt := range tests {
		got, err := ParseFrame([]byte(tt.in))
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: -want +got\n%s", tt.in, d)
		}
	}
}

func TestParseFrameErrors(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, ErrBatch.Error()},
		{`"x"`, "not a JSON object"},
		{`{"id":1,"method":"ping"}`, `jsonrpc "": want "2.0"`},
		{`{"jsonrpc":2.0,"id":1,"method":"ping"}`, `jsonrpc "": want "2.0"`},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "id 1.5: want a string or an integer"},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, "id null: want a string or an integer"},
		{`{"jsonrpc":"2.0","id":1,"method":7}`, "method 7: want a string"},
		{`{"jsonrpc":"2.0","id":1,"method":""}`, "method is empty"},
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}`, "params: want an object"},
		{`{"jsonrpc":"2.0","id":1}`, "neither a request nor a response"},
		{`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, `the key "id" occurs twice`},
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"a","n\u0061me":"b"}}`, `the key "name" occurs twice`},
	} {
		_, err := ParseFrame([]byte(tt.in))
		var syntax *SyntaxError
		if err == nil || err.Error() != tt.want || errors.As(err, &syntax) {
			t.Errorf("%s: %v, want %s", tt.in, err, tt.want)
		}
	}
}

func TestAppend(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{string(AppendResult(nil, []byte(`"a"`), []byte(`{}`))), `{"jsonrpc":"2.0","id":"a","result":{}}`},
		{string(AppendError(nil, nil, -32700, "bad \"x\"", nil)), `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"bad \"x\""}}`},
		{string(AppendError(nil, []byte("7"), -32602, "no", []byte(`{"uri":"x"}`))), `{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no","data":{"uri":"x"}}}`},
		{string(AppendNotification(nil, "notifications/progress", []byte(`{"progress":1}`))), `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}`},
	} {
		if tt.got != tt.want {
			t.Errorf("got  %s\nwant %s", tt.got, tt.want)
		}
		if err := Valid([]byte(tt.got)); err != nil {
			t.Errorf("%s: %v", tt.got, err)
		}
	}
}

// Whatever arrives, the parser answers without a panic, and what it accepts is JSON.
func FuzzParseFrame(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{}}}`))
	f.Add([]byte(`[`))
	f.Add([]byte(``))
	f.Fuzz(func(t *testing.T, data []byte) {
		fr, err := ParseFrame(data)
		if err == nil && Valid(data) != nil {
			t.Errorf("accepted %q as %+v", data, fr)
		}
	})
}
