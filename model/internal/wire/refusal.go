package wire

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/tackle-dev/tackle/model"
)

// maxRefusal is how much of a refusal is read.
const maxRefusal = 64 << 10

// refusal reads a response that is no answer.
func (t *Transport) refusal(res *http.Response) *model.Error {
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxRefusal)) // what came of it is enough
	if isPage(res) || strings.HasPrefix(strings.ToLower(strings.TrimSpace(string(body[:min(len(body), 64)]))), "<!doctype html") {
		return t.page(res.StatusCode, body)
	}
	if res.StatusCode < 400 {
		return &model.Error{Provider: t.Provider, Class: model.Invalid, Status: res.StatusCode,
			Message: fmt.Sprintf("status %d leads to %q: give the base URL of the service itself", res.StatusCode, t.text(res.Header.Get("Location")))}
	}
	e := t.Refusal(res.StatusCode, body)
	if e.Class == model.Retry {
		if d, ok := t.after(res.Header); ok {
			e.After = d
		}
	}
	return e
}

var title = NewPattern(`(?is)<title[^>]*>(.*?)</title>`)

// page is an answer of something between us and the service, or of a wrong address.
func (t *Transport) page(status int, body []byte) *model.Error {
	name := ""
	if m := title().FindSubmatch(body); m != nil {
		name = fmt.Sprintf(" (%q)", t.text(html.UnescapeString(string(m[1]))))
	}
	e := &model.Error{Provider: t.Provider, Class: model.Invalid, Status: status}
	e.Message = fmt.Sprintf("status %d with a web page%s instead of an answer: check the base URL", status, name)
	switch {
	case status == http.StatusTooManyRequests, status >= 500:
		e.Class = model.Retry
		e.Message = fmt.Sprintf("status %d with a web page%s: something before the service is down; the same request may be sent again", status, name)
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusProxyAuthRequired:
		e.Class = model.Unauthorized
	}
	return e
}

// told is what a refusal says, in the words of any service: OpenAI and those like it {"error":{"message","type","code"}}, Anthropic
// {"error":{"type","message"}}, Gemini {"error":{"message","status","details"}} and a list of it, Ollama {"error":"…"}, and
// what frameworks say by themselves, {"message":…} and {"detail":…}.
type told struct {
	message string
	words   []string // types, codes, reasons
	after   time.Duration
	status  int // a code that is a number of HTTP
}

func tell(body []byte) (x told, ok bool) {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return told{}, false
	}
	if l, is := v.([]any); is && len(l) > 0 {
		v = l[0]
	}
	m, is := v.(map[string]any)
	if !is {
		return told{}, false
	}
	x.read(m)
	switch e := m["error"].(type) {
	case string:
		x.message = e
	case map[string]any:
		x.read(e)
		if meta, is := e["metadata"].(map[string]any); is { // a router tells what the service behind it said
			if raw, is := meta["raw"].(string); is && raw != "" {
				x.message += ": " + raw
			}
		}
	}
	return x, x.message != "" || len(x.words) > 0
}

func (x *told) read(m map[string]any) {
	for _, k := range []string{"message", "detail"} {
		switch s := m[k].(type) {
		case string:
			x.message = s
		case []any, map[string]any:
			if b, err := json.Marshal(s); err == nil {
				x.message = string(b)
			}
		}
	}
	for _, k := range []string{"type", "code", "status", "reason"} {
		if s, ok := m[k].(string); ok && s != "" && s != "error" {
			x.words = append(x.words, s)
		}
	}
	if n, ok := m["code"].(float64); ok && n >= 400 && n < 600 {
		x.status = int(n)
	}
	details, _ := m["details"].([]any)
	for _, d := range details {
		o, _ := d.(map[string]any)
		if s, ok := o["reason"].(string); ok {
			x.words = append(x.words, s)
		}
		if s, ok := o["retryDelay"].(string); ok {
			if d, err := time.ParseDuration(s); err == nil && d > 0 {
				x.after = d
			}
		}
	}
}

// Refusal reads a refusal that came with a status, or, with status 0, within a stream, where a number as its code is the status.
func (t *Transport) Refusal(status int, body []byte) *model.Error {
	x, ok := tell(body)
	if !ok {
		x.message = string(body)
	}
	if status == 0 {
		status = x.status
	}
	e := &model.Error{Provider: t.Provider, Status: status, Class: classify(status, x)}
	said := t.text(x.message)
	if said == "" {
		said = t.text(strings.Join(x.words, ", "))
	}
	if status != 0 {
		said = strings.TrimSuffix(fmt.Sprintf("status %d: %s", status, said), ": ")
	}
	if e.Class == model.Retry {
		e.After = x.after
	}
	e.Message = strings.TrimRight(said, ".") + t.next(e.Class)
	return e
}

// next says what to do about a class.
func (t *Transport) next(c model.Class) string {
	switch c {
	case model.Retry:
		return ": the same request may be sent again"
	case model.TooLong:
		return ": shorten the conversation or take a model with a larger window"
	case model.Refused:
		return ": the content of the request must change"
	case model.Unauthorized:
		if t.KeyName != "" {
			return fmt.Sprintf(": check %s and what it may use", t.KeyName)
		}
		return ": check the key and what it may use"
	}
	return ": the request must change before it is sent again"
}

var (
	long = NewPattern(`(?i)context_length_exceeded|context_window_exceeded|model_max_length|maximum context|context (length|window|size)|prompt is too long|(input|prompt|request)[^.]{0,40} (is )?too (long|large)|input token count|too many (input )?tokens|reduce the length|exceeds? the (maximum|max|limit)[^.]{0,40}tokens|exceeds the (available )?context|request_too_large|maximum (allowed )?(input|prompt) (length|tokens)`)
	// A rate of tokens that one request alone exceeds will be exceeded again.
	oversized = NewPattern(`(?i)request too large for`)
	refused   = NewPattern(`(?i)content_filter|content_policy|content_violation|responsible_ai|moderation|\bsafety\b|prohibited_content|blocked by|policy_violation`)
	broke     = NewPattern(`(?i)insufficient_quota|billing|credit balance|payment_required|insufficient[ _](balance|funds|credits)|exceeded your current quota[^.]*plan`)
	keyless   = NewPattern(`(?i)invalid_api_key|API_KEY_INVALID|api key (is )?(not valid|invalid|missing|expired)|authentication_error|permission_error|UNAUTHENTICATED|PERMISSION_DENIED|API_KEY_`)
	busy      = NewPattern(`(?i)overloaded|rate_limit|too_many_requests|RESOURCE_EXHAUSTED|UNAVAILABLE|server_error|api_error|internal_error|\bINTERNAL\b|timeout|try again|capacity|temporarily`)
)

// classify says what can be done. The order matters: what a service says in words counts before its status, because services
// disagree about statuses (a wrong key is 400 at Gemini, an empty account 429 at OpenAI).
func classify(status int, x told) model.Class {
	all := x.message + "\n" + strings.Join(x.words, "\n")
	client := status == 0 || status >= 400 && status < 500
	switch {
	case status == http.StatusTooManyRequests && oversized.MatchString(all):
		return model.TooLong
	case status == http.StatusTooManyRequests && (x.after > 0 || slices.Contains(x.words, "RESOURCE_EXHAUSTED")):
		return model.Retry // Gemini speaks of plan and billing at each limit of a minute
	case broke.MatchString(all) && (client && status != 0), status == http.StatusPaymentRequired:
		return model.Unauthorized
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly:
		return model.Retry
	case status == http.StatusUnauthorized, status == http.StatusProxyAuthRequired:
		return model.Unauthorized
	case client && long.MatchString(all), status == http.StatusRequestEntityTooLarge:
		return model.TooLong
	case client && refused.MatchString(all):
		return model.Refused
	case status == http.StatusForbidden, client && keyless.MatchString(all):
		return model.Unauthorized
	case status == http.StatusNotImplemented:
		return model.Invalid
	case status >= 500:
		if long.MatchString(all) { // some local servers say it so
			return model.TooLong
		}
		return model.Retry
	case status == 0 && (busy.MatchString(all) || x.message == ""):
		return model.Retry
	}
	return model.Invalid
}

// after reads how long a service asks to wait.
func (t *Transport) after(h http.Header) (time.Duration, bool) {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e10 {
		return time.Duration(ms * float64(time.Millisecond)), true
	}
	s := strings.TrimSpace(h.Get("Retry-After"))
	if s == "" {
		return 0, false
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil && n >= 0 && n < 1e8 {
		return time.Duration(n * float64(time.Second)), true
	}
	if at, err := http.ParseTime(s); err == nil {
		now := time.Now
		if t.Now != nil {
			now = t.Now
		}
		return max(0, at.Sub(now())), true
	}
	return 0, false
}

// maxSaid is how much of a service's own words a message holds, in characters.
const maxSaid = 600

// text makes the words of a service fit for a message: one line, bounded, without control characters and without the key.
func (t *Transport) text(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, s)
	s = t.redact(strings.Join(strings.Fields(s), " "))
	if r := []rune(s); len(r) > maxSaid {
		s = string(r[:maxSaid]) + "…"
	}
	return s
}
