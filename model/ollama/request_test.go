package ollama

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/internal/fit"
	"github.com/tackle-dev/tackle/model/internal/wire"
	"github.com/tackle-dev/tackle/model/modeltest"
)

// service answers each request with the next of its answers and keeps what it was asked.
type service struct {
	*httptest.Server
	t       *testing.T
	answers []http.HandlerFunc
	bodies  []string
	seen    []modeltest.Seen
}

func serve(t *testing.T, answers ...http.HandlerFunc) *service {
	s := &service{t: t, answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		seen, err := fake{}.Request(r, body)
		if err != nil {
			t.Errorf("the service would refuse the request: %v\n%s", err, body)
		}
		s.bodies, s.seen = append(s.bodies, string(body)), append(s.seen, seen)
		s.answers[min(len(s.bodies), len(s.answers))-1](w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func says(stream string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = io.WriteString(w, stream)
	}
}

func refuses(status int, said string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text(object{"error": said}))
	}
}

func whole(r modeltest.Reply) string {
	x := fake{}.Stream(r)
	return x.Head + strings.Join(x.Steps, "") + x.Tail
}

func done() http.HandlerFunc {
	return says(whole(modeltest.Reply{Model: "m", Stop: model.End, Steps: []modeltest.Step{{Text: "Done."}}}))
}

func (s *service) model(o Options) *Model {
	o.BaseURL = s.URL
	m, err := New(o)
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

func (s *service) last() (q seenRequest) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.bodies[len(s.bodies)-1]), &q); err != nil {
		s.t.Fatal(err)
	}
	return q
}

func say(s string) model.Message {
	p := content.TextPart(s)
	return model.Message{Role: model.User, Blocks: []model.Block{{Part: &p}}}
}

func TestA2_ThinkingByModel(t *testing.T) {
	s := serve(t, done())
	for _, row := range []struct {
		name   string
		effort model.Effort
		think  any
	}{
		{"qwen3:8b", "", nil}, {"qwen3:8b", model.Off, false}, {"qwen3:8b", model.Low, true}, {"qwen3:8b", model.High, true},
		{"gpt-oss:20b", model.Low, "low"}, {"gpt-oss:120b-cloud", model.High, "high"}, {"gpt-oss:20b", model.Off, false},
	} {
		if _, err := s.model(Options{Model: row.name}).Stream(t.Context(), model.Request{Messages: []model.Message{say("Go.")}, Effort: row.effort}, nil); err != nil {
			t.Fatal(err)
		}
		if got := s.last().Think; got != row.think {
			t.Errorf("%s %q: think %v, want %v", row.name, row.effort, got, row.think)
		}
	}
}

// A model that does not think answers all the same, and is not asked to think again.
func TestA2_ModelThatDoesNotThink(t *testing.T) {
	s := serve(t, refuses(http.StatusBadRequest, `"llama3.2" does not support thinking`), done())
	m := s.model(Options{Model: "llama3.2"})
	req := model.Request{Messages: []model.Message{say("Go.")}, Effort: model.High}
	for range 2 {
		a, err := m.Stream(t.Context(), req, nil)
		if err != nil || a.Message.Blocks[0].Part.Text != "Done." {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	if len(s.bodies) != 3 || s.last().Think != nil {
		t.Errorf("%d requests, the last with think %v", len(s.bodies), s.last().Think)
	}
	// Other refusals are not tried again.
	s.answers, s.bodies = []http.HandlerFunc{refuses(http.StatusBadRequest, `"llama3.2" does not support tools`)}, nil
	_, err := s.model(Options{Model: "llama3.2"}).Stream(t.Context(), req, nil)
	var e *model.Error
	if !errors.As(err, &e) || e.Class != model.Invalid || len(s.bodies) != 1 || !strings.Contains(e.Message, "does not support tools") {
		t.Errorf("%v after %d requests", err, len(s.bodies))
	}
}

// The window is asked for, and nothing is forgotten in silence.
func TestA2_Window(t *testing.T) {
	s := serve(t, done())
	if _, err := s.model(Options{Model: "m", Info: model.Info{Window: 65_536}}).Stream(t.Context(), model.Request{Messages: []model.Message{say("Go.")}, MaxTokens: 99}, nil); err != nil {
		t.Fatal(err)
	}
	if o := s.last().Options; o.Window != 65_536 || o.MaxTokens != 99 {
		t.Errorf("options %+v", o)
	}
	if _, err := s.model(Options{Model: "m"}).Stream(t.Context(), model.Request{Messages: []model.Message{say("Go.")}}, nil); err != nil {
		t.Fatal(err)
	}
	if o := s.last().Options; o.Window != DefaultWindow || s.model(Options{Model: "m"}).Info().Window != DefaultWindow {
		t.Errorf("without a window: options %+v", o)
	}
	s.answers = []http.HandlerFunc{refuses(http.StatusBadRequest, "the input length exceeds the context length")}
	_, err := s.model(Options{Model: "m"}).Stream(t.Context(), model.Request{Messages: []model.Message{say("Go.")}}, nil)
	var e *model.Error
	if !errors.As(err, &e) || e.Class != model.TooLong || !strings.Contains(e.Message, "32768") {
		t.Errorf("got %v", err)
	}
}

// Reasoning goes back to the models that wrote it: some want it between their calls.
func TestA2_ReasoningGoesBack(t *testing.T) {
	s := serve(t, says(whole(modeltest.Reply{Model: "m", Stop: model.Calls, Steps: []modeltest.Step{{Reasoning: "Hm. "}, {Reasoning: "Look."}, {Call: &modeltest.Call{Name: "x", Args: []string{`{"a":1}`}}}}})), done())
	m := s.model(Options{Model: "m"})
	a, err := m.Stream(t.Context(), model.Request{Messages: []model.Message{say("Go.")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := a.Message.Blocks[1].Call
	result := model.Message{Role: model.User, Blocks: []model.Block{{Result: &model.Result{CallID: c.ID, Name: "x", Parts: []content.Part{content.TextPart("no")}, Error: true}}}}
	if _, err := m.Stream(t.Context(), model.Request{Messages: []model.Message{say("Go."), a.Message, result}}, nil); err != nil {
		t.Fatal(err)
	}
	q := s.last()
	if q.Messages[1].Thinking != "Hm. Look." || q.Messages[1].Calls[0].ID != c.ID || q.Messages[2].CallID != c.ID || q.Messages[2].ToolName != "x" || q.Messages[2].Content != "error: no" {
		t.Errorf("sent %s", s.bodies[1])
	}
}

// Pictures stand behind the words before them, those of results in what the user says next, since templates look for them there.
func TestA2_Pictures(t *testing.T) {
	dot := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\xdac\xfc\xcf\xc0P\x0f\x00\x04\x85\x01\x80\x84\xa9\x8c!\x00\x00\x00\x00IEND\xaeB`\x82")
	picture := content.Part{Kind: content.Image, MIME: "image/png", Data: dot, Name: "dot.png"}
	call := model.Message{Role: model.Assistant, Blocks: []model.Block{{Call: &model.Call{ID: "c1", Name: "x", Arguments: json.RawMessage(`{}`)}}, {Call: &model.Call{ID: "c2", Name: "x", Arguments: json.RawMessage(`{}`)}}}}
	words := content.TextPart("And?")
	results := model.Message{Role: model.User, Blocks: []model.Block{
		{Result: &model.Result{CallID: "c1", Name: "x", Parts: []content.Part{content.TextPart("[m1]"), picture}}},
		{Result: &model.Result{CallID: "c2", Name: "x", Parts: []content.Part{content.TextPart("two")}}}, {Part: &words}}}
	req := model.Request{Messages: []model.Message{say("Go."), call, results}}
	for name, shown := range map[string]bool{"qwen2.5vl:7b": true, "llama3.2-vision": true, "gemma3:27b": true, "llava": true, "gemma3:1b": false, "qwen3:8b": false, "gpt-oss:20b": false} {
		s := serve(t, done())
		m := s.model(Options{Model: name})
		if m.Info().Images != shown {
			t.Errorf("%s takes pictures: %v, want %v", name, m.Info().Images, shown)
		}
		if _, err := m.Stream(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
		var roles []string
		for _, x := range s.last().Messages {
			role := x.Role
			if len(x.Images) > 0 {
				role += "+picture"
			}
			roles = append(roles, role)
		}
		want := "user assistant tool tool user"
		if shown {
			want = "user assistant tool tool user+picture user"
		}
		if got := strings.Join(roles, " "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if !shown && !strings.Contains(s.last().Messages[2].Content, "dot.png") {
			t.Errorf("%s is not told of the picture: %q", name, s.last().Messages[2].Content)
		}
	}
}

// None is said by sending no tools; the words of arguments and names are taken as they come.
func TestA2_ToolsOfOddServers(t *testing.T) {
	tool := model.Tool{Name: "lab/x.y", Description: "Does.", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","minimum":3}},"additionalProperties":false}`)}
	s := serve(t, says(text(object{"message": object{"role": "assistant", "content": "", "tool_calls": []any{object{"function": object{"name": "lab/x.y", "arguments": `{"n":1}`}}, object{"function": object{"name": "lab/x.y", "arguments": `{"n":`}}, object{"function": object{"name": "lab/x.y"}}}}, "done": false})+
		text(object{"done": true, "done_reason": "stop"})))
	m := s.model(Options{Model: "m"})
	a, err := m.Stream(t.Context(), model.Request{Tools: []model.Tool{tool}, Messages: []model.Message{say("Go.")}}, nil)
	if err != nil || len(a.Message.Blocks) != 3 || a.Stop != model.Calls {
		t.Fatalf("%+v, %v", a, err)
	}
	b := a.Message.Blocks
	if b[0].Call.Name != "lab/x.y" || string(b[0].Call.Arguments) != `{"n":1}` || b[1].Call.Malformed != `{"n":` || string(b[2].Call.Arguments) != "{}" {
		t.Errorf("got %+v %+v %+v", b[0].Call, b[1].Call, b[2].Call)
	}
	if x := s.seen[0].Tools[0]; x.Name != "lab/x.y" || !strings.Contains(string(x.Schema), "3") {
		t.Errorf("the tool is %+v %s; what the format cannot say is to be said in words", x, x.Schema)
	}
	if _, err := m.Stream(t.Context(), model.Request{Tools: []model.Tool{tool}, Choose: model.None, Messages: []model.Message{say("Go.")}}, nil); err != nil {
		t.Fatal(err)
	}
	if len(s.seen[1].Tools) != 0 {
		t.Errorf("tools were sent though none may be called")
	}
}

func TestA2_Address(t *testing.T) {
	for base, want := range map[string]string{"": DefaultURL + "/api/chat", "127.0.0.1:9": "http://127.0.0.1:9/api/chat", "http://h/": "http://h/api/chat", "http://h/api": "http://h/api/chat", "https://h/x/v1": "https://h/x/api/chat"} {
		m, err := New(Options{Model: "m", BaseURL: base})
		if err != nil || m.address != want {
			t.Errorf("%q: %+v, %v, want %s", base, m, err, want)
		}
	}
	for _, o := range []Options{{}, {Model: "m", BaseURL: "ftp://x"}, {Model: "m", BaseURL: "http://"}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}

// Whatever a server streams becomes an answer or an error of the seam, and can go back.
func FuzzStream(f *testing.F) {
	f.Add([]byte(whole(modeltest.Reply{Model: "m", Stop: model.Calls, Steps: []modeltest.Step{{Reasoning: "a"}, {Text: "b"}, {Call: &modeltest.Call{Name: "x", Args: []string{`{"a":1}`}}}}})))
	f.Add([]byte("{\"error\":\"server busy\"}\n"))
	m, err := New(Options{Model: "m"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		c := collector{model: m, names: fit.NewNames(words, nil)}
		err := wire.Lines(bytes.NewReader(stream), c.line)
		a := c.Done()
		if c.ended != (a.Stop != "") {
			t.Errorf("ended %v, stop %q", c.ended, a.Stop)
		}
		if err != nil && !c.ended && m.transport.Error(t.Context(), err).Class == "" {
			t.Errorf("no class: %v", err)
		}
		if _, err := json.Marshal(m.request(model.Request{Messages: []model.Message{say("Go."), a.Message}}, c.names)); err != nil {
			t.Error(err)
		}
	})
}
