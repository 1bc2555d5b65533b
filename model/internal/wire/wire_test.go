package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tackle-dev/tackle/model"
)

// A1: what each service says is sorted by what can be done about it. The bodies are in the services' own words.
func TestA1_Refusals(t *testing.T) {
	openai := func(typ, code, message string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":%q,"param":null,"code":%q}}`, message, typ, code)
	}
	anthropic := func(typ, message string) string {
		return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"req_1"}`, typ, message)
	}
	gemini := func(code int, status, message, details string) string {
		return fmt.Sprintf(`{"error":{"code":%d,"message":%q,"status":%q,"details":[%s]}}`, code, message, status, details)
	}
	for _, row := range []struct {
		name   string
		status int
		body   string
		class  model.Class
		after  time.Duration
		say    string
	}{
		{"openai key", 401, openai("invalid_request_error", "invalid_api_key", "Incorrect API key provided: key-1234."), model.Unauthorized, 0, "provided: [key]: check SERVICE_KEY"},
		{"openai empty account", 429, openai("insufficient_quota", "insufficient_quota", "You exceeded your current quota, please check your plan and billing details."), model.Unauthorized, 0, "quota"},
		{"openai rate", 429, openai("requests", "rate_limit_exceeded", "Rate limit reached. Please try again in 20s."), model.Retry, 0, "may be sent again"},
		{"openai one request over the rate", 429, openai("tokens", "rate_limit_exceeded", "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 40000."), model.TooLong, 0, "larger window"},
		{"openai window", 400, openai("invalid_request_error", "context_length_exceeded", "This model's maximum context length is 8192 tokens."), model.TooLong, 0, ""},
		{"openai window of responses", 400, openai("invalid_request_error", "context_length_exceeded", "Your input exceeds the context window of this model. Please adjust your input and try again."), model.TooLong, 0, ""},
		{"openai filter", 400, openai("invalid_request_error", "content_filter", "The response was filtered."), model.Refused, 0, "content of the request must change"},
		{"openai field", 400, openai("invalid_request_error", "unsupported_parameter", "Unsupported parameter: 'max_tokens' is not supported with this model."), model.Invalid, 0, ""},
		{"openai server", 500, openai("server_error", "", "The server had an error"), model.Retry, 0, ""},
		{"anthropic key", 401, anthropic("authentication_error", "invalid x-api-key"), model.Unauthorized, 0, ""},
		{"anthropic right", 403, anthropic("permission_error", "Your API key does not have permission to use the specified resource."), model.Unauthorized, 0, ""},
		{"anthropic credit", 400, anthropic("invalid_request_error", "Your credit balance is too low to access the Anthropic API."), model.Unauthorized, 0, ""},
		{"anthropic window", 400, anthropic("invalid_request_error", "prompt is too long: 213000 tokens > 200000 maximum"), model.TooLong, 0, ""},
		{"anthropic bytes", 413, anthropic("request_too_large", "Request exceeds the maximum size"), model.TooLong, 0, ""},
		{"anthropic overloaded", 529, anthropic("overloaded_error", "Overloaded"), model.Retry, 0, ""},
		{"anthropic overloaded in a stream", 0, anthropic("overloaded_error", "Overloaded"), model.Retry, 0, ""},
		{"anthropic model", 404, anthropic("not_found_error", "model: claude-0"), model.Invalid, 0, ""},
		{"gemini key", 400, gemini(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}`), model.Unauthorized, 0, ""},
		{"gemini rate", 429, gemini(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).", `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"36.5s"}`), model.Retry, 36500 * time.Millisecond, ""},
		{"gemini rate in a list", 429, "[" + gemini(429, "RESOURCE_EXHAUSTED", "exhausted", "") + "]", model.Retry, 0, "exhausted"},
		{"gemini window", 400, gemini(400, "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", ""), model.TooLong, 0, ""},
		{"gemini busy", 503, gemini(503, "UNAVAILABLE", "The model is overloaded. Please try again later.", ""), model.Retry, 0, ""},
		{"ollama model", 404, `{"error":"model 'x' not found"}`, model.Invalid, 0, "model 'x' not found"},
		{"ollama window", 400, `{"error":"the input length exceeds the context length"}`, model.TooLong, 0, ""},
		{"llama.cpp window", 400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}`, model.TooLong, 0, ""},
		{"vllm window", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens","type":"BadRequestError","param":null,"code":400}`, model.TooLong, 0, ""},
		{"framework", 422, `{"detail":[{"loc":["body","tools"],"msg":"field required"}]}`, model.Invalid, 0, "field required"},
		{"router", 502, `{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"upstream says no","provider_name":"x"}}}`, model.Retry, 0, "upstream says no"},
		{"payment", 402, `{"error":{"message":"Insufficient credits"}}`, model.Unauthorized, 0, ""},
		{"no JSON", 502, "Bad Gateway", model.Retry, 0, "status 502: Bad Gateway"},
		{"nothing", 500, "", model.Retry, 0, "status 500"},
		{"not built", 501, "", model.Invalid, 0, "status 501"},
		{"a code that is a status", 0, `{"error":{"message":"m","code":503}}`, model.Retry, 0, "status 503: m"},
	} {
		t.Run(row.name, func(t *testing.T) {
			x := &Transport{Provider: "service", Key: "key-1234", KeyName: "SERVICE_KEY"}
			e := x.Refusal(row.status, []byte(row.body))
			if e.Class != row.class || e.After != row.after || !strings.Contains(e.Message, row.say) || strings.Contains(e.Message, "key-1234") {
				t.Errorf("class %q, after %v: %s", e.Class, e.After, e.Message)
			}
		})
	}
}

// The words of a service cannot break out of a message, nor fill a screen.
func TestRefusalIsOneCleanLine(t *testing.T) {
	x := &Transport{Provider: "service"}
	e := x.Refusal(500, []byte(`{"error":"a\u001b[31m\nb\u202e\u200b`+strings.Repeat("x", 5000)+`"}`))
	if strings.ContainsAny(e.Message, "\x1b\n\u202e\u200b") || len([]rune(e.Message)) > 700 {
		t.Errorf("%q", e.Message)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	x := &Transport{Now: func() time.Time { return now }}
	for _, row := range []struct {
		name, value string
		want        time.Duration
		ok          bool
	}{
		{"Retry-After", "17", 17 * time.Second, true},
		{"Retry-After", "0.5", 500 * time.Millisecond, true},
		{"Retry-After", " 3 ", 3 * time.Second, true},
		{"Retry-After", "Mon, 30 Nov 2026 12:00:09 GMT", 9 * time.Second, true},
		{"Retry-After", "Mon, 30 Nov 2026 11:00:00 GMT", 0, true},
		{"Retry-After-Ms", "1500", 1500 * time.Millisecond, true},
		{"Retry-After", "soon", 0, false},
		{"Retry-After", "-4", 0, false},
		{"Retry-After", "1e300", 0, false},
		{"Other", "3", 0, false},
	} {
		h := http.Header{}
		h.Set(row.name, row.value)
		if got, ok := x.after(h); got != row.want || ok != row.ok {
			t.Errorf("%s: %s: %v %v, want %v %v", row.name, row.value, got, ok, row.want, row.ok)
		}
	}
}

// line is a transport whose body is written by the test.
type line struct {
	r    io.ReadCloser
	wait time.Duration // before the head
}

func (l line) RoundTrip(r *http.Request) (*http.Response, error) {
	if l.wait > 0 {
		select {
		case <-time.After(l.wait):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: body{l.r, r.Context()}}, nil
}

// body ends with its request, as those of net/http do.
type body struct {
	io.ReadCloser
	ctx context.Context
}

func (b body) Read(p []byte) (int, error) {
	type read struct {
		n   int
		err error
	}
	c := make(chan read, 1)
	go func() {
		n, err := b.ReadCloser.Read(p)
		c <- read{n, err}
	}()
	select {
	case r := <-c:
		return r.n, r.err
	case <-b.ctx.Done():
		_ = b.ReadCloser.Close() // ends the read
		<-c
		return 0, b.ctx.Err()
	}
}

// A service that says nothing for the idle time is given up; one that says something now and then, and a listener that takes its time,
// are not.
func TestIdle(t *testing.T) {
	get := func(t *testing.T, x *Transport) (*http.Response, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://service.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		return x.RoundTrip(r)
	}
	t.Run("slow but alive", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, w := io.Pipe()
			go func() {
				for range 5 {
					time.Sleep(9 * time.Second)
					_, _ = w.Write([]byte("x"))
				}
				w.Close()
			}()
			x := &Transport{Idle: 10 * time.Second, Base: line{r: r, wait: 9 * time.Second}}
			res, err := get(t, x)
			if err != nil {
				t.Fatal(err)
			}
			buf := make([]byte, 1)
			n := 0
			for {
				_, err := res.Body.Read(buf)
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				n++
				time.Sleep(time.Minute) // the listener's own time
			}
			if n != 5 {
				t.Errorf("read %d bytes", n)
			}
			res.Body.Close()
		})
	})
	t.Run("silent", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, w := io.Pipe()
			defer w.Close()
			x := &Transport{Provider: "service", Base: line{r: r}}
			start := time.Now()
			res, err := get(t, x)
			if err != nil {
				t.Fatal(err)
			}
			_, err = io.ReadAll(res.Body)
			e := x.Error(t.Context(), err)
			if e.Class != model.Retry || !strings.Contains(e.Message, "nothing came for 5m0s") || time.Since(start) != DefaultIdle {
				t.Errorf("after %v: %+v", time.Since(start), e)
			}
			res.Body.Close()
		})
	})
	t.Run("silent before the head", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			x := &Transport{Provider: "service", Idle: time.Second, Base: line{wait: time.Hour}}
			_, err := get(t, x)
			if e := x.Error(t.Context(), err); e.Class != model.Retry || !strings.Contains(e.Message, "nothing came for 1s") {
				t.Errorf("%+v", e)
			}
		})
	})
	t.Run("for ever", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, w := io.Pipe()
			go func() {
				time.Sleep(24 * time.Hour)
				w.Close()
			}()
			x := &Transport{Idle: -1, Base: line{r: r}}
			res, err := get(t, x)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(res.Body); err != nil {
				t.Error(err)
			}
			res.Body.Close()
		})
	})
}

func TestErrors(t *testing.T) {
	x := &Transport{Provider: "service", Key: "key-1234"}
	for _, row := range []struct {
		err   error
		class model.Class
		say   string
	}{
		{io.ErrUnexpectedEOF, model.Retry, "cut off"},
		{fmt.Errorf("read: %w", io.EOF), model.Retry, "cut off"},
		{errors.New("read tcp: connection reset by peer"), model.Retry, "cut off"},
		{errors.New("tls: failed to verify certificate: x509: certificate signed by unknown authority"), model.Invalid, "certificates of this machine"},
		{errors.New("odd: key-1234 is in it"), model.Retry, "[key]"},
		{fmt.Errorf("wrapped: %w", &model.Error{Class: model.TooLong, Message: "m"}), model.TooLong, "m"},
	} {
		e := x.Error(t.Context(), row.err)
		if e.Class != row.class || !strings.Contains(e.Message, row.say) || e.Cause != nil && strings.Contains(e.Cause.Error(), "key-1234") {
			t.Errorf("%v: %+v", row.err, e)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), -1)
	defer cancel()
	if e := x.Error(ctx, io.EOF); e.Class != model.Canceled || !errors.Is(e, context.DeadlineExceeded) || !strings.Contains(e.Message, "time") {
		t.Errorf("%+v", e)
	}
}

func TestArguments(t *testing.T) {
	for text, want := range map[string]string{"": `{}`, " \n": `{}`, `{"a":1}`: `{"a":1}`, " {} ": `{}`, `"{}"`: `"{}"`, `[1]`: `[1]`, `{"a":`: "", "{}{}": ""} {
		var c model.Call
		Arguments(&c, text)
		if string(c.Arguments) != want || (c.Malformed == "") != (want != "") || want == "" && c.Malformed != text {
			t.Errorf("%q: %s, malformed %q", text, c.Arguments, c.Malformed)
		}
		sent := Sent(&c)
		if !json.Valid(sent) || !bytes.HasPrefix(sent, []byte("{")) {
			t.Errorf("%q is sent back as %s", text, sent)
		}
	}
}
