package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/internal/fit"
	"github.com/tackle-dev/tackle/model/internal/wire"
	"github.com/tackle-dev/tackle/model/modeltest"
)

// service answers each request with the next of its streams and keeps what it was asked.
type service struct {
	*httptest.Server
	t       *testing.T
	fake    fake
	status  int
	streams []string
	bodies  []string
	seen    []modeltest.Seen
}

func serve(t *testing.T, streams ...string) *service {
	s := &service{t: t, streams: streams, status: http.StatusOK}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		seen, err := s.fake.Request(r, body)
		if err != nil {
			t.Errorf("the service would refuse the request: %v\n%s", err, body)
		}
		s.bodies, s.seen = append(s.bodies, string(body)), append(s.seen, seen)
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(s.status)
		_, _ = io.WriteString(w, s.streams[min(len(s.bodies), len(s.streams))-1])
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *service) model(name string) *Model {
	m, err := New(Options{Model: name, BaseURL: s.URL, Key: "k"})
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

func (s *service) ask(m *Model, req model.Request) model.Answer {
	s.t.Helper()
	a, err := m.Stream(s.t.Context(), req, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

func (s *service) last() (q seenRequest) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.bodies[len(s.bodies)-1]), &q); err != nil {
		s.t.Fatal(err)
	}
	return q
}

// says is a stream of these parts.
func says(finish string, parts ...object) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(event(object{"candidates": []any{object{"index": 0, "content": object{"role": "model", "parts": []any{p}}}}, "modelVersion": "m"}))
	}
	b.WriteString(event(object{"candidates": []any{object{"index": 0, "finishReason": finish, "finishMessage": "why"}}, "modelVersion": "m"}))
	return b.String()
}

func say(s string) model.Message {
	p := content.TextPart(s)
	return model.Message{Role: model.User, Blocks: []model.Block{{Part: &p}}}
}

func answered(results ...model.Result) model.Message {
	m := model.Message{Role: model.User}
	for i := range results {
		m.Blocks = append(m.Blocks, model.Block{Result: &results[i]})
	}
	return m
}

func stored(t *testing.T, m model.Message) (out model.Message) {
	t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Signatures go back on the parts on which they came: a thought, a call, a text, a part without words.
func TestA2_SignaturesStayOnTheirParts(t *testing.T) {
	s := serve(t, says("STOP",
		object{"text": "Hm.", "thought": true},
		object{"text": "I ", "thoughtSignature": ""},
		object{"text": "look."},
		object{"text": "There.", "thoughtSignature": "c2lnLXRleHQ="},
		object{"functionCall": object{"id": "c1", "name": "x", "args": object{"a": 1}}, "thoughtSignature": "c2lnLWNhbGw="},
		object{"functionCall": object{"id": "c2", "name": "x", "args": object{"a": 2}}},
		object{"text": "", "thoughtSignature": "c2lnLWVtcHR5"},
	), says("STOP", object{"text": "Done."}))
	m := s.model("gemini-4-argon")
	a := s.ask(m, model.Request{Messages: []model.Message{say("Go.")}})
	if a.Stop != model.Calls {
		t.Errorf("stop %q", a.Stop)
	}
	req := model.Request{Messages: []model.Message{say("Go."), stored(t, a.Message), answered(
		model.Result{CallID: "c1", Name: "x", Parts: []content.Part{content.TextPart("1")}}, model.Result{CallID: "c2", Name: "x", Parts: []content.Part{content.TextPart("2")}})}}
	s.ask(m, req)
	var q struct{ Contents []json.RawMessage }
	if err := json.Unmarshal([]byte(s.bodies[1]), &q); err != nil {
		t.Fatal(err)
	}
	want := `{"role":"model","parts":[{"text":"I look."},{"text":"There.","thoughtSignature":"c2lnLXRleHQ="},` +
		`{"functionCall":{"id":"c1","name":"x","args":{"a":1}},"thoughtSignature":"c2lnLWNhbGw="},{"functionCall":{"id":"c2","name":"x","args":{"a":2}}},{"text":"","thoughtSignature":"c2lnLWVtcHR5"}]}`
	if got := string(q.Contents[1]); got != want {
		t.Errorf("sent\n%s\nwant\n%s", got, want)
	}
	// Another model did not make them. It refuses calls without any, and takes the value that stands for that.
	s.fake.ids = true
	s.ask(s.model("gemini-4-carbon"), req)
	if body := s.bodies[2]; strings.Contains(body, "c2ln") || strings.Count(body, unsigned) != 1 {
		t.Errorf("to another model: %s", body)
	}
	s.fake.ids = false
	s.ask(s.model("gemini-2.5-flash"), req)
	if body := s.bodies[3]; strings.Contains(body, "c2ln") || strings.Contains(body, unsigned) {
		t.Errorf("to an older model: %s", body)
	}
}

// Signatures that the provider does not take back, for whatever reason, must not fail the session from then on.
func TestA2_SignaturesThatAreNotTaken(t *testing.T) {
	s := serve(t, says("STOP", object{"functionCall": object{"id": "c1", "name": "x"}, "thoughtSignature": "c2lnLWNhbGw="}), says("STOP", object{"text": "Done."}))
	s.fake.ids = true
	refusals := 0
	inner := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !bytes.Contains(body, []byte("c2lnLWNhbGw=")) {
			inner.ServeHTTP(w, r)
			return
		}
		refusals++
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"code":400,"message":"Corrupted thought signature.","status":"INVALID_ARGUMENT"}}`)
	})
	m := s.model("gemini-4-argon")
	a := s.ask(m, model.Request{Messages: []model.Message{say("Go.")}})
	again := model.Request{Messages: []model.Message{say("Go."), a.Message, answered(model.Result{CallID: "c1", Name: "x", Parts: []content.Part{content.TextPart("1")}})}}
	for range 2 {
		if b := s.ask(m, again); b.Message.Blocks[0].Part.Text != "Done." {
			t.Errorf("got %+v", b.Message)
		}
	}
	if refusals != 1 || !strings.Contains(s.bodies[len(s.bodies)-1], unsigned) {
		t.Errorf("it was sent %d times; the last request: %s", refusals, s.bodies[len(s.bodies)-1])
	}
}

// A model that is newer than the adapter may know no such effort.
func TestA2_EffortThatIsNotKnown(t *testing.T) {
	s := serve(t, says("STOP", object{"text": "Done."}))
	refusals := 0
	inner := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !bytes.Contains(body, []byte("thinkingConfig")) {
			inner.ServeHTTP(w, r)
			return
		}
		refusals++
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"code":400,"message":"Thinking level MEDIUM is not supported for this model.","status":"INVALID_ARGUMENT"}}`)
	})
	m := s.model("gemini-5-xenon")
	for range 2 {
		if b := s.ask(m, model.Request{Messages: []model.Message{say("Go.")}, Effort: model.Medium}); b.Message.Blocks[0].Part.Text != "Done." {
			t.Errorf("got %+v", b.Message)
		}
	}
	if refusals != 1 {
		t.Errorf("it was sent %d times", refusals)
	}
}

func TestA2_ThinkingByModel(t *testing.T) {
	s := serve(t, says("STOP", object{"text": "Done."}))
	for _, row := range []struct {
		name   string
		effort model.Effort
		budget int // -1: none
		level  string
		shown  bool
	}{
		{"gemini-2.5-flash", "", -1, "", true},
		{"gemini-2.5-flash", model.Off, 0, "", false},
		{"gemini-2.5-pro", model.Off, 128, "", false},
		{"models/gemini-2.5-pro", model.High, 24_576, "", true},
		{"gemini-3-pro-preview", model.Medium, -1, "HIGH", true},
		{"gemini-3.8-flash", model.Medium, -1, "MEDIUM", true},
		{"gemini-4-argon", model.Off, -1, "LOW", false},
		{"gemini-4-argon", "", -1, "", true},
		{"gemini-flash-latest", model.Low, -1, "LOW", true},
		{"gemini-2.0-flash", model.High, -1, "", false},
		{"gemma-3-27b-it", model.High, -1, "", false},
	} {
		s.ask(s.model(row.name), model.Request{Messages: []model.Message{say("Go.")}, Effort: row.effort})
		budget, level, shown := -1, "", false
		if x := s.last().Generate.Thinking; x != nil {
			level, shown = x.Level, x.Include
			if x.Budget != nil {
				budget = *x.Budget
			}
		}
		if budget != row.budget || level != row.level || shown != row.shown {
			t.Errorf("%s %q: budget %d, level %q, shown %v, want %d, %q, %v", row.name, row.effort, budget, level, shown, row.budget, row.level, row.shown)
		}
	}
}

// Media of results stand within them for models that look there, beside them for the others; sound goes to all.
func TestA2_MediaOfResults(t *testing.T) {
	s := serve(t, says("STOP", object{"text": "Done."}))
	s.fake.ids = true
	wav := content.Part{Kind: content.Audio, MIME: "audio/x-wav", Data: []byte("RIFF....WAVE")}
	odd := content.Part{Kind: content.Audio, MIME: "audio/x-odd", Data: []byte("??"), Name: "odd.snd"}
	pdf := content.Part{Kind: content.Document, MIME: "application/pdf", Data: []byte("%PDF-1.7 << /Type /Page >>"), Name: "a.pdf"}
	call := model.Message{Role: model.Assistant, Blocks: []model.Block{{Call: &model.Call{ID: "c1", Name: "x", Arguments: json.RawMessage(`{}`)}}}}
	req := model.Request{Messages: []model.Message{say("Go."), call, answered(model.Result{CallID: "c1", Name: "x", Parts: []content.Part{content.TextPart("[media id: m1]"), pdf, wav, odd}})}}
	s.ask(s.model("gemini-4-argon"), req)
	r := s.last().Contents[2].Parts
	if len(r) != 2 || len(r[0].Response.Parts) != 1 || r[0].Response.Parts[0].Data.MIME != "application/pdf" || !bytes.Equal(r[0].Response.Parts[0].Data.Data, pdf.Data) || r[1].Data.MIME != "audio/wav" {
		t.Errorf("newer: %s", s.bodies[0])
	}
	if said := r[0].Response.Response["output"]; !strings.Contains(said, "[media id: m1]") || !strings.Contains(said, "odd.snd") {
		t.Errorf("the result says %q", said)
	}
	s.fake.ids = false
	s.ask(s.model("gemini-2.5-pro"), req)
	if r := s.last().Contents[2].Parts; len(r) != 3 || len(r[0].Response.Parts) != 0 || r[1].Data.MIME != "application/pdf" || r[2].Data.MIME != "audio/wav" {
		t.Errorf("older: %s", s.bodies[1])
	}
}

// What the provider declines is told apart: the prompt makes an error, an answer that was stopped an answer.
func TestA2_Refusals(t *testing.T) {
	s := serve(t, event(object{"promptFeedback": object{"blockReason": "PROHIBITED_CONTENT", "safetyRatings": []any{}}, "usageMetadata": object{"promptTokenCount": 3}, "modelVersion": "m"}))
	_, err := s.model("gemini-2.5-pro").Stream(t.Context(), model.Request{Messages: []model.Message{say("Go.")}}, nil)
	var e *model.Error
	if !errors.As(err, &e) || e.Class != model.Refused || !strings.Contains(e.Message, "PROHIBITED_CONTENT") {
		t.Errorf("got %v", err)
	}
	for _, row := range []struct {
		finish string
		stop   model.Stop
		class  model.Class
	}{
		{"SAFETY", model.Refusal, ""}, {"RECITATION", model.Refusal, ""}, {"PROHIBITED_CONTENT", model.Refusal, ""}, {"SPII", model.Refusal, ""}, {"BLOCKLIST", model.Refusal, ""},
		{"MAX_TOKENS", model.Length, ""}, {"STOP", model.End, ""},
		{"MALFORMED_FUNCTION_CALL", "", model.Retry}, {"OTHER", "", model.Retry},
	} {
		s.streams = []string{says(row.finish, object{"text": "I"})}
		a, err := s.model("gemini-2.5-pro").Stream(t.Context(), model.Request{Messages: []model.Message{say("Go.")}}, nil)
		var e *model.Error
		switch {
		case row.class == "" && (err != nil || a.Stop != row.stop):
			t.Errorf("%s: stop %q, %v, want %q", row.finish, a.Stop, err, row.stop)
		case row.class != "" && (!errors.As(err, &e) || e.Class != row.class || !strings.Contains(e.Message, row.finish) || !strings.Contains(e.Message, "why")):
			t.Errorf("%s: %v, want the class %q", row.finish, err, row.class)
		}
	}
}

// The service tells how long to wait within the body of a refusal.
func TestA2_RetryInfo(t *testing.T) {
	for _, row := range []struct {
		details []any
		after   time.Duration
	}{
		{[]any{object{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17.5s"}}, 17500 * time.Millisecond},
		{nil, 0},
	} {
		b, err := json.Marshal(object{"error": object{"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "You exceeded your current quota, please check your plan and billing details.", "details": row.details}})
		if err != nil {
			t.Fatal(err)
		}
		s := serve(t, string(b))
		s.status = http.StatusTooManyRequests
		_, err = s.model("gemini-2.5-pro").Stream(t.Context(), model.Request{Messages: []model.Message{say("Go.")}}, nil)
		var e *model.Error
		if !errors.As(err, &e) || e.Class != model.Retry || e.After != row.after {
			t.Errorf("got %v, wait %v, want %v", err, e.After, row.after)
		}
	}
}

func TestA2_Usage(t *testing.T) {
	s := serve(t, event(object{"candidates": []any{object{"finishReason": "STOP"}}, "usageMetadata": object{"promptTokenCount": 1000, "cachedContentTokenCount": 800, "candidatesTokenCount": 20, "thoughtsTokenCount": 30, "toolUsePromptTokenCount": 5, "totalTokenCount": 1055}}))
	m := s.model("gemini-4-argon")
	a := s.ask(m, model.Request{Messages: []model.Message{say("Go.")}})
	if want := (model.Usage{Input: 205, CacheRead: 800, Output: 50, Reasoning: 30}); a.Usage != want {
		t.Errorf("usage %+v, want %+v", a.Usage, want)
	}
}

// A part of a kind that is not known does not spoil an answer; an event that is no JSON does, and so does an error in the stream.
func TestA2_StrangeStreams(t *testing.T) {
	s := serve(t, says("STOP", object{"executableCode": object{"code": "1"}}, object{"text": "Yes."}, object{"functionCall": object{"name": "x", "args": nil}}))
	a := s.ask(s.model("gemini-2.5-pro"), model.Request{Messages: []model.Message{say("Go.")}})
	if len(a.Message.Blocks) != 2 || a.Message.Blocks[0].Part.Text != "Yes." || string(a.Message.Blocks[1].Call.Arguments) != "{}" || a.Message.Blocks[1].Call.ID == "" {
		t.Errorf("got %+v", a.Message)
	}
	for stream, class := range map[string]model.Class{
		"data: {\"candidates\":[}\n\n": model.Invalid,
		"data: {\"error\":{\"code\":503,\"message\":\"The model is overloaded.\",\"status\":\"UNAVAILABLE\"}}\n\n": model.Retry,
		"data: {\"candidates\":": model.Retry, // cut
	} {
		s.streams = []string{stream}
		_, err := s.model("gemini-2.5-pro").Stream(t.Context(), model.Request{Messages: []model.Message{say("Go.")}}, nil)
		var e *model.Error
		if !errors.As(err, &e) || e.Class != class {
			t.Errorf("%q: got %v, want the class %q", stream, err, class)
		}
	}
}

func TestA2_Address(t *testing.T) {
	for base, want := range map[string]string{
		"":                             DefaultURL + "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
		"http://h:1":                   "http://h:1/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
		"http://h/proxy/":              "http://h/proxy/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
		"http://h/v1beta":              "http://h/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
		"http://h/v1/":                 "http://h/v1/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
		"http://h/v1alpha":             "http://h/v1alpha/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
		"https://h/v1beta1/publishers": "https://h/v1beta1/publishers/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
	} {
		m, err := New(Options{Model: "gemini-2.5-pro", BaseURL: base})
		if err != nil || m.address != want {
			t.Errorf("%q: %v, %v, want %s", base, m, err, want)
		}
	}
	for _, o := range []Options{{}, {Model: "m", BaseURL: "localhost:80"}, {Model: "m", BaseURL: "ftp://x"}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}

// Whatever a service streams becomes an answer or an error of the seam, and can go back.
func FuzzStream(f *testing.F) {
	f.Add([]byte(says("STOP", object{"text": "a", "thought": true, "thoughtSignature": "eA=="}, object{"functionCall": object{"name": "x"}}, object{"text": "", "thoughtSignature": "eA=="})))
	f.Add([]byte("data: {\"candidates\":[{\"content\":null}]}\n\ndata: [DONE]\n"))
	m, err := New(Options{Model: "gemini-4-argon"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		c := collector{model: m, names: fit.NewNames(words, nil)}
		err := wire.Events(bytes.NewReader(stream), c.chunk)
		if err == nil {
			err = c.finish()
		}
		a := c.Done()
		if err == nil && a.Stop == "" {
			t.Error("an answer without a stop")
		}
		if err != nil && m.transport.Error(t.Context(), err).Class == "" {
			t.Errorf("no class: %v", err)
		}
		q, _ := m.request(model.Request{Messages: []model.Message{say("Go."), a.Message}}, c.names)
		if _, err := json.Marshal(q); err != nil {
			t.Error(err)
		}
	})
}
