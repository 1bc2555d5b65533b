package wire

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestMembers(t *testing.T) {
	type member struct{ Key, Value string }
	tests := []struct {
		in   string
		want []member
	}{
		{`{}`, nil},
		{` { "a" : 1 , "b":[1,{"a":2,"a":3}] }` + "\n", []member{{"a", "1"}, {"b", `[1,{"a":2,"a":3}]`}}},
		{`{"\u0061":"x\"y","A":null}`, []member{{"a", `"x\"y"`}, {"A", "null"}}},
		{`{"é":-1.5e+3,"😀":true,"\ud83d\ude01":{}}`, []member{{"é", "-1.5e+3"}, {"😀", "true"}, {"😁", "{}"}}},
	}
	for _, tt := range tests {
		var got []member
		err := Members([]byte(tt.in), func(k string, v []byte) error {
			got = append(got, member{k, string(v)})
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: -want +got\n%s", tt.in, d)
		}
	}
}

// MCP-014: a key that occurs twice, in any spelling, is refused; a key in another case is another key.
func TestMembersRefusesDuplicates(t *testing.T) {
	for _, in := range []string{`{"path":"ok","path":"/etc/passwd"}`, `{"path":1,"\u0070ath":2}`} {
		var dup *DuplicateError
		if err := Members([]byte(in), func(string, []byte) error { return nil }); !errors.As(err, &dup) || dup.Key != "path" {
			t.Errorf("%s: %v, want a duplicate of path", in, err)
		}
	}
	if err := Members([]byte(`{"path":1,"Path":2}`), func(string, []byte) error { return nil }); err != nil {
		t.Error(err)
	}
}

func TestMembersErrors(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{``, "offset 0: the message is empty"},
		{`[1]`, "not a JSON object"},
		{`{"a":1}x`, "offset 7: something follows the value"},
		{`{"a":1,}`, `offset 7: '}' stands where a key is expected`},
		{`{"a" 1}`, `offset 5: '1' stands where a colon is expected`},
		{`{"a":01}`, `offset 6: '1' stands where a comma or } is expected`},
		{`{"a":"\x"}`, "offset 6: an escape sequence is not one of JSON's"},
		{"{\"a\":\"\n\"}", "offset 6: a control character stands in a string"},
		{`{"a":"b`, "offset 7: a string does not end"},
		{`{"a":nul}`, `offset 5: 'n' stands where a value is expected`},
		{`{"a":`, "offset 5: the message ends where a value is expected"},
		{`{"a":` + strings.Repeat("[", MaxDepth+1), "offset 516: nested too deeply"},
	} {
		err := Members([]byte(tt.in), nil)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%.40s: %v, want %s", tt.in, err, tt.want)
		}
	}
}

// The scanner accepts what encoding/json accepts, and nothing else.
func FuzzValid(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e-3,"x\u00e9",null,true]}`, `-0`, `1e`, `"\ud800"`, `[[]`, ` {} `, "\"\x01\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		want := json.Valid(data)
		if err := Valid(data); (err == nil) != want && !strings.Contains(err.Error(), "deeply") {
			t.Errorf("Valid(%q) = %v, encoding/json says %v", data, err, want)
		}
	})
}

// AppendString and Unquote are inverse on valid UTF-8, and agree with encoding/json.
func TestStringRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		quoted := AppendString(nil, s)
		var back string
		if err := json.Unmarshal(quoted, &back); err != nil || back != s {
			t.Fatalf("%q → %s → %q, %v", s, quoted, back, err)
		}
		std, _ := json.Marshal(s)
		if got := Unquote(std); got != s {
			t.Fatalf("Unquote(%s) = %q, want %q", std, got, s)
		}
	})
	if got := string(AppendString(nil, "a\xffb")); got != `"a\ufffdb"` {
		t.Errorf("invalid UTF-8: %s", got)
	}
	if got := Unquote([]byte("\"\xff\\ud800x\"")); got != string(utf8.RuneError)+string(utf8.RuneError)+"x" {
		t.Errorf("Unquote of invalid text: %q", got)
	}
}

func BenchmarkMembers(b *testing.B) {
	frame := []byte(`{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"read4k.txt"},"_meta":{"progressToken":3}}}`)
	for b.Loop() {
		if err := Members(frame, func(string, []byte) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendString(b *testing.B) {
	text := strings.Repeat("line 001: the quick brown fox jumps over the lazy dog\n", 80)
	b.SetBytes(int64(len(text)))
	var buf []byte
	for b.Loop() {
		buf = AppendString(buf[:0], text)
	}
}
