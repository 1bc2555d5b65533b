package wire

import (
	"strings"
	"testing"
	"unicode"

	"github.com/tackle-dev/tackle/model"
)

// Whatever a service says in a refusal, the error has a class, one clean line of bounded length, and no key.
func FuzzRefusal(f *testing.F) {
	f.Add(400, []byte(`{"error":{"message":"context length exceeded","code":"x"}}`))
	f.Add(0, []byte(`[{"error":{"code":503,"status":"UNAVAILABLE","details":[{"retryDelay":"-1s"}]}}]`))
	f.Add(429, []byte("key-1234 \x1b[2J \xff"))
	f.Add(500, []byte("key\x00-1\u200b234"))
	f.Add(502, []byte(`{"error":{"metadata":{"raw":"key-1234"}},"detail":[{"a":1}]}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		x := &Transport{Provider: "service", Key: "key-1234"}
		e := x.Refusal(status, body)
		switch e.Class {
		case model.Retry, model.TooLong, model.Refused, model.Unauthorized, model.Invalid:
		default:
			t.Errorf("class %q", e.Class)
		}
		if e.Message == "" || len([]rune(e.Message)) > maxSaid+200 || strings.Contains(e.Message, x.Key) || e.After < 0 {
			t.Errorf("%+v", e)
		}
		if strings.IndexFunc(e.Message, func(r rune) bool { return unicode.IsControl(r) }) >= 0 {
			t.Errorf("%q", e.Message)
		}
	})
}
