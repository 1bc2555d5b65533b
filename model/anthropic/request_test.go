package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/modeltest"
)

// service answers each request with the next of its streams and keeps what it was asked.
type service struct {
	*httptest.Server
	t       *testing.T
	streams []string
	bodies  []string
	seen    []modeltest.Seen
}

func serve(t *testing.T, streams ...string) *service {
	s := &service{t: t, streams: streams}
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
		w.Header().Set("Content-Type", "text/event-stream")
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

func (s *service) last() (q request) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.bodies[len(s.bodies)-1]), &q); err != nil {
		s.t.Fatal(err)
	}
	return q
}

func whole(r modeltest.Reply) string {
	x := fake{}.Stream(r)
	return x.Head + strings.Join(x.Steps, "") + x.Tail
}

func done() string {
	return whole(modeltest.Reply{Steps: []modeltest.Step{{Text: "Done."}}, Stop: model.End, Model: "m"})
}

func say(s string) model.Message {
	p := content.TextPart(s)
	return model.Message{Role: model.User, Blocks: []model.Block{{Part: &p}}}
}

func answered(id, text string) model.Message {
	return model.Message{Role: model.User, Blocks: []model.Block{{Result: &model.Result{CallID: id, Name: "x", Parts: []content.Part{content.TextPart(text)}}}}}
}

var aTool = model.Tool{Name: "x", Description: "Does x.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}

// What each generation of models takes, as the provider's pages on thinking and migration tell it.
func TestA2_ThinkingByModel(t *testing.T) {
	warm := 0.5
	for _, row := range []struct {
		name   string
		effort model.Effort
		choose model.Choice
		// what must be sent
		thinking, level, choice string
		warm                    bool
	}{
		{"claude-3-5-haiku-20241022", model.High, "", "", "", "", true},
		{"claude-sonnet-4-5", "", "", "", "", "", true},
		{"claude-sonnet-4-5", model.Medium, "", "enabled", "", "", false},
		{"claude-sonnet-4-5", model.Medium, model.Required, "", "", "any", true},
		{"claude-opus-4-6", "", "", "", "", "", true},
		{"claude-opus-4-6", model.High, "", "adaptive", "high", "", false},
		{"claude-opus-4-8", "", "", "", "", "", false},
		{"claude-opus-4-8", model.Low, "", "adaptive", "low", "", false},
		{"claude-opus-5", "", "", "adaptive", "", "", false},
		{"claude-opus-5", model.Off, "", "disabled", "", "", false},
		{"claude-opus-5", model.High, model.Required, "", "high", "any", false},
		{"claude-opus-5-5", model.Off, "", "adaptive", "low", "", false},
		{"claude-opus-5-5", "", model.Required, "adaptive", "", "", false},
		{"claude-sonnet-5-5", model.Off, "", "between_tools", "", "", false},
		{"claude-sonnet-5-5", model.Medium, model.None, "adaptive", "medium", "none", false},
		{"claude-haiku-5-5", model.Off, "", "disabled", "", "", false},
		{"claude-fable-5-1", model.Off, "", "adaptive", "low", "", false},
		{"claude-mythos-preview", "", "", "adaptive", "", "", false},
		{"claude-opus-7", "", "", "adaptive", "", "", false},
		{"eu.anthropic.claude-haiku-4-5-20251001-v1:0", model.Low, "", "enabled", "", "", false},
		{"some-other-model", model.High, "", "enabled", "", "", false},
		{"some-other-model", "", model.Required, "", "", "any", true},
	} {
		t.Run(row.name+" "+string(row.effort)+" "+string(row.choose), func(t *testing.T) {
			s := serve(t, done())
			s.ask(s.model(row.name), model.Request{Tools: []model.Tool{aTool}, Messages: []model.Message{say("Go.")}, Effort: row.effort, Choose: row.choose, Temperature: &warm})
			q := s.last()
			thinking, level, choice := "", "", ""
			if q.Thinking != nil {
				thinking = q.Thinking.Type
				if thinking == "adaptive" && q.Thinking.Display != "summarized" {
					t.Errorf("display %q: nobody sees what the model says between calls", q.Thinking.Display)
				}
			}
			if q.OutputConfig != nil {
				level = q.OutputConfig.Effort
			}
			if q.ToolChoice != nil {
				choice = q.ToolChoice.Type
			}
			want := row.thinking
			if row.name == "claude-opus-5" && row.choose == model.Required {
				want = "disabled" // it thinks by itself, and cannot be forced while it does
			}
			if thinking != want || level != row.level || choice != row.choice || (q.Temperature != nil) != row.warm {
				t.Errorf("sent thinking %q, effort %q, choice %q, temperature %v, want %q, %q, %q, %v", thinking, level, choice, q.Temperature != nil, want, row.level, row.choice, row.warm)
			}
		})
	}
}

func TestA2_BudgetFits(t *testing.T) {
	s := serve(t, done())
	m := s.model("claude-sonnet-4-5")
	for _, row := range []struct{ tokens, budget int }{{0, 12_000}, {64_000, 12_000}, {8000, 4000}, {2048, 1024}, {2000, 0}, {100, 0}} {
		s.ask(m, model.Request{Messages: []model.Message{say("Go.")}, Effort: model.Medium, MaxTokens: row.tokens})
		budget := 0
		if q := s.last(); q.Thinking != nil {
			budget = q.Thinking.Budget
		}
		if budget != row.budget {
			t.Errorf("at most %d tokens: a budget of %d, want %d", row.tokens, budget, row.budget)
		}
	}
}

func TestA2_KnownModels(t *testing.T) {
	for _, row := range []struct {
		name           string
		window, output int
		input          float64
	}{
		{"claude-opus-5-5", 1_000_000, 128_000, 4},
		{"claude-opus-5", 1_000_000, 128_000, 5},
		{"claude-opus-4-8", 1_000_000, 128_000, 5},
		{"claude-opus-4-1-20250805", 200_000, 32_000, 15},
		{"claude-opus-4-20250514", 200_000, 32_000, 15},
		{"claude-sonnet-4-20250514", 200_000, 64_000, 3},
		{"claude-haiku-4-5-20251001", 200_000, 64_000, 1},
		{"claude-3-7-sonnet-latest", 200_000, 64_000, 3},
		{"claude-haiku-5-5", 1_000_000, 128_000, 0}, // its price depends on the request
		{"unheard-of", 0, 0, 0},
	} {
		m, err := New(Options{Model: row.name})
		if err != nil {
			t.Fatal(err)
		}
		if i := m.Info(); i.Window != row.window || i.Output != row.output || i.Price.Input != row.input {
			t.Errorf("%s: %+v, want a window of %d, %d of output, %v for input", row.name, i, row.window, row.output, row.input)
		}
	}
	m, err := New(Options{Model: "unheard-of", Provider: "mine", Info: model.Info{Window: 7, Price: model.Price{Input: 1}}})
	if i := m.Info(); err != nil || i.Window != 7 || i.Provider != "mine" || i.Price.Input != 1 || i.Name != "unheard-of" {
		t.Errorf("%+v, %v: what the caller knows does not count", i, err)
	}
}

// Signed reasoning goes back where it came from, and nowhere else: a session that was compacted, rewound or given to another model
// must not fail from then on.
func TestA2_ReasoningIsBound(t *testing.T) {
	thinking := whole(modeltest.Reply{Model: "m", Stop: model.Calls, Steps: []modeltest.Step{
		{Reasoning: "I look.", Signature: "sig-1"}, {Text: "Looking."}, {Call: &modeltest.Call{ID: "c1", Name: "x", Args: []string{`{ "a": "<b> & c",`, ` "n": 1.50 }`}}}}})
	s := serve(t, thinking, done())
	m := s.model("claude-opus-5")
	first := model.Request{Tools: []model.Tool{aTool}, System: "Be good.", Messages: []model.Message{say("Go.")}}
	a := s.ask(m, first)
	raw, err := json.Marshal(a.Message) // sessions are stored
	if err != nil {
		t.Fatal(err)
	}
	var kept model.Message
	if err := json.Unmarshal(raw, &kept); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		what   string
		model  *Model
		change func(*model.Request)
		back   bool
	}{
		{"the same", m, func(*model.Request) {}, true},
		{"longer behind it", m, func(r *model.Request) { r.Messages = append(r.Messages, say("More.")) }, true},
		{"with other knobs", m, func(r *model.Request) { r.Effort, r.MaxTokens = model.High, 5000 }, true},
		{"another model", s.model("claude-opus-5-5"), func(*model.Request) {}, false},
		{"another system prompt", m, func(r *model.Request) { r.System = "Be bad." }, false},
		{"other tools", m, func(r *model.Request) {
			r.Tools = append(slices.Clone(r.Tools), model.Tool{Name: "y", Schema: aTool.Schema})
		}, false},
		{"a summary before it", m, func(r *model.Request) { r.Messages[0] = say("Summary: go.") }, false},
		{"words moved between messages", m, func(r *model.Request) { r.Messages = append([]model.Message{say("G"), say("o.")}, r.Messages[1:]...) }, false},
		{"another provider", m, func(r *model.Request) { r.Messages[1].Blocks[0].Reasoning.Provider = "elsewhere" }, false},
		{"broken", m, func(r *model.Request) { r.Messages[1].Blocks[0].Reasoning.Opaque = json.RawMessage(`"x"`) }, false},
	} {
		t.Run(row.what, func(t *testing.T) {
			var again model.Message
			if err := json.Unmarshal(raw, &again); err != nil {
				t.Fatal(err)
			}
			req := first
			req.Messages = []model.Message{say("Go."), again, answered("c1", "done")}
			row.change(&req)
			s.t = t
			s.ask(row.model, req)
			body := s.bodies[len(s.bodies)-1]
			if back := strings.Contains(body, `"sig-1"`); back != row.back {
				t.Errorf("the block goes back: %v, want %v\n%s", back, row.back, body)
			}
			if row.back && !strings.Contains(body, `{"type":"thinking","thinking":"I look.","signature":"sig-1"}`) {
				t.Errorf("the block changed: %s", body)
			}
		})
	}
}

// A session that was stored writes arguments in another way than the model did, and bytes that are no text as it can.
func TestA2_ReasoningBehindStoredCalls(t *testing.T) {
	call := modeltest.Step{Call: &modeltest.Call{ID: "c1", Name: "x", Args: []string{`{ "b": "<i> & j",`, ` "a": 1.50 }`}}}
	later := modeltest.Step{Call: &modeltest.Call{ID: "c2", Name: "x", Args: []string{`{}`}}}
	s := serve(t, whole(modeltest.Reply{Model: "m", Stop: model.Calls, Steps: []modeltest.Step{call}}),
		whole(modeltest.Reply{Model: "m", Stop: model.Calls, Steps: []modeltest.Step{{Reasoning: "Hm.", Signature: "sig-2"}, later}}), done())
	m := s.model("claude-opus-5")
	req := model.Request{Tools: []model.Tool{aTool}, Messages: []model.Message{say("Go\xff.")}}
	req.Messages = append(req.Messages, s.ask(m, req).Message, answered("c1", "half \xe2\x82 a word"))
	req.Messages = append(req.Messages, s.ask(m, req).Message, answered("c2", "2"))
	raw, err := json.Marshal(req.Messages)
	if err != nil {
		t.Fatal(err)
	}
	req.Messages = nil
	if err := json.Unmarshal(raw, &req.Messages); err != nil {
		t.Fatal(err)
	}
	s.ask(m, req)
	if body := s.bodies[2]; !strings.Contains(body, "sig-2") {
		t.Errorf("the block did not go back: %s", body)
	}
}

// Reasoning that the provider does not take back, for whatever reason, must not fail the session from then on.
func TestA2_ReasoningThatIsNotTaken(t *testing.T) {
	for _, row := range []struct {
		said    string
		mending bool
	}{
		{"messages.1.content.0: Invalid `signature` in `thinking` block", true},
		{"messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.", true},
		{"messages.1.content.0.thinking: each thinking block must contain thinking", true},
		{"messages.1.content.0: Field required", false},
	} {
		s := serve(t, whole(modeltest.Reply{Model: "m", Stop: model.End, Steps: []modeltest.Step{{Reasoning: "Hm.", Signature: "sig-1"}, {Text: "Yes."}}}), done())
		refusals := 0
		inner := s.Config.Handler
		s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			if !bytes.Contains(body, []byte("sig-1")) {
				inner.ServeHTTP(w, r)
				return
			}
			refusals++
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%q}}`, row.said)
		})
		m := s.model("claude-opus-5")
		a := s.ask(m, model.Request{Messages: []model.Message{say("Go.")}})
		again := model.Request{Messages: []model.Message{say("Go."), a.Message, say("On.")}}
		b, err := m.Stream(t.Context(), again, nil)
		if !row.mending {
			if e, ok := err.(*model.Error); !ok || e.Class != model.Invalid || refusals != 1 {
				t.Errorf("%s: %v after %d refusals", row.said, err, refusals)
			}
			continue
		}
		if err != nil || b.Message.Blocks[0].Part.Text != "Done." {
			t.Fatalf("%s: %+v, %v", row.said, b, err)
		}
		s.ask(m, again)
		if refusals != 1 {
			t.Errorf("%s: it was sent %d times", row.said, refusals)
		}
	}
}

// A model that is newer than the adapter, or an endpoint that takes less, refuses parts of a request by their names. They are left out.
func TestA2_WhatIsRefusedIsLeftOut(t *testing.T) {
	warm := 0.5
	for _, row := range []struct {
		name, said string
		effort     model.Effort
		choose     model.Choice
		gone       string // from the request
		learns     bool
	}{
		{"claude-opus-9", "\"thinking.type.adaptive\" is not supported for this model.", model.High, "", `"thinking"`, true},
		{"claude-opus-5", "\"thinking.type.disabled\" is not supported for this model.", model.Off, "", `"thinking"`, true},
		{"claude-sonnet-4-5", "thinking: Input tag 'enabled' found using 'type' does not match any of the expected tags", model.High, "", `"thinking"`, true},
		{"claude-opus-9", "This model does not support the effort parameter.", model.High, "", `"output_config"`, true},
		{"some-model", "temperature: Extra inputs are not permitted", "", "", `"temperature"`, true},
		{"some-model", "`temperature` is deprecated for this model.", "", "", `"temperature"`, true},
		{"some-model", "Forced tool use is not supported on this model: tool_choice", "", model.Required, `"tool_choice"`, true},
		{"some-model", "messages.0.content.0.text.cache_control: Extra inputs are not permitted", "", "", `"cache_control"`, true},
		{"some-model", "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for some-model", "", "", `"max_tokens":8192`, true},
		{"some-model", "messages.0.content.0: thinking about temperature", "", "", "", false},
		{"some-model", "top_k: Field required", "", "", "", false},
	} {
		t.Run(row.said, func(t *testing.T) {
			s := serve(t, done())
			refusals := 0
			inner := s.Config.Handler
			s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
				if row.gone != "" && !bytes.Contains(body, []byte(row.gone)) {
					inner.ServeHTTP(w, r)
					return
				}
				refusals++
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%q}}`, row.said)
			})
			m := s.model(row.name)
			req := model.Request{Tools: []model.Tool{aTool}, Messages: []model.Message{say("Go.")}, Effort: row.effort, Choose: row.choose, Temperature: &warm}
			for range 2 {
				a, err := m.Stream(t.Context(), req, nil)
				if row.learns && (err != nil || a.Message.Blocks[0].Part.Text != "Done.") {
					t.Fatalf("%+v, %v", a, err)
				}
				if e, ok := err.(*model.Error); !row.learns && (!ok || e.Class != model.Invalid) {
					t.Fatalf("%v", err)
				}
			}
			if row.learns && refusals != 1 || !row.learns && refusals != 2 {
				t.Errorf("%d refusals", refusals)
			}
		})
	}
}

func TestA2_RedactedReasoningGoesBack(t *testing.T) {
	stream := event("message_start", map[string]any{"message": map[string]any{"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []any{}, "usage": map[string]any{"input_tokens": 1, "output_tokens": 1}}}) +
		block(0, map[string]any{"type": "redacted_thinking", "data": "c2VjcmV0"}) +
		block(1, map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": "Hm."}) +
		event("message_delta", map[string]any{"delta": map[string]any{"stop_reason": "end_turn"}, "usage": map[string]any{"output_tokens": 4, "output_tokens_details": map[string]any{"thinking_tokens": 3}}}) +
		event("message_stop", map[string]any{})
	s := serve(t, stream, done())
	m := s.model("claude-sonnet-4-5")
	a := s.ask(m, model.Request{Messages: []model.Message{say("Go.")}})
	if len(a.Message.Blocks) != 2 || a.Message.Blocks[0].Reasoning == nil || a.Message.Blocks[0].Reasoning.Text != "" || a.Usage.Reasoning != 3 {
		t.Fatalf("got %+v", a)
	}
	s.ask(m, model.Request{Messages: []model.Message{say("Go."), a.Message, say("On.")}})
	if body := s.bodies[1]; !strings.Contains(body, `{"type":"redacted_thinking","data":"c2VjcmV0"}`) {
		t.Errorf("the hidden block did not go back: %s", body)
	}
}

// Calls of another provider come without signed reasoning; a model that thinks within a budget refuses them, so it does not think.
func TestA2_ForeignCallsWithoutReasoning(t *testing.T) {
	s := serve(t, done())
	call := model.Message{Role: model.Assistant, Blocks: []model.Block{{Call: &model.Call{ID: "c1", Name: "x", Arguments: json.RawMessage(`{}`)}}}}
	req := model.Request{Tools: []model.Tool{aTool}, Messages: []model.Message{say("Go."), call, answered("c1", "done")}, Effort: model.High}
	s.ask(s.model("claude-sonnet-4-5"), req)
	if q := s.last(); q.Thinking != nil {
		t.Errorf("thinking %+v", *q.Thinking)
	}
	s.ask(s.model("claude-opus-4-6"), req)
	if q := s.last(); q.Thinking == nil || q.Thinking.Type != "adaptive" {
		t.Errorf("a model that does not mind does not think: %+v", q.Thinking)
	}
}

// Names and ids of a foreign origin fit, calls with one id are told apart, and the answer comes in the caller's names.
func TestA2_NamesAndIDsFit(t *testing.T) {
	odd := "lab/read.file: ä" + strings.Repeat("x", 140)
	s := serve(t, done())
	m := s.model("claude-sonnet-4-5")
	calls := model.Message{Role: model.Assistant, Blocks: []model.Block{
		{Call: &model.Call{ID: "a b:1", Name: odd, Arguments: json.RawMessage(`{"n":1}`)}},
		{Call: &model.Call{ID: "same", Name: "x", Malformed: `{"broken`}},
		{Call: &model.Call{ID: "same", Name: "x", Arguments: json.RawMessage(`{"n":3}`)}},
	}}
	var results []model.Block
	for _, r := range []model.Result{{CallID: "a b:1", Name: odd, Parts: []content.Part{content.TextPart("one")}}, {CallID: "same", Name: "x", Parts: []content.Part{content.TextPart("two")}}, {CallID: "same", Name: "x", Parts: []content.Part{content.TextPart("three")}}} {
		results = append(results, model.Block{Result: &r})
	}
	req := model.Request{Tools: []model.Tool{{Name: odd, Schema: aTool.Schema}, aTool}, Messages: []model.Message{say("Go."), calls, {Role: model.User, Blocks: results}}}
	s.ask(m, req)
	seen := s.seen[0]
	wire := seen.Tools[0].Name
	if !idRule.MatchString(wire) || len(wire) > 128 || seen.Messages[1].Blocks[0].Call.Name != wire {
		t.Errorf("the name became %q in the tool and %q in the call", wire, seen.Messages[1].Blocks[0].Call.Name)
	}
	for i, want := range []string{"one", "two", "three"} {
		c, r := seen.Messages[1].Blocks[i].Call, seen.Messages[2].Blocks[i].Result
		if c.ID != r.CallID || r.Parts[0].Text != want {
			t.Errorf("call %d: id %q is answered by %q with %q", i, c.ID, r.CallID, r.Parts[0].Text)
		}
	}
	s.streams = []string{whole(modeltest.Reply{Model: "m", Stop: model.Calls, Steps: []modeltest.Step{{Call: &modeltest.Call{ID: "c", Name: wire, Args: []string{`{}`}}}}})}
	if a := s.ask(m, req); a.Message.Blocks[0].Call.Name != odd {
		t.Errorf("the call is of %q, want the caller's name", a.Message.Blocks[0].Call.Name)
	}
}

// A schema that the provider refuses is told in words, so that one tool of a foreign server does not fail each request.
func TestA2_SchemasFit(t *testing.T) {
	s := serve(t, done())
	bad := model.Tool{Name: "bad", Description: "Is odd.", Schema: json.RawMessage(`{"type":"object","properties":{"a b$":{"type":"string"}}}`)}
	root := model.Tool{Name: "root", Description: "Chooses.", Schema: json.RawMessage(`{"oneOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"string"}}}]}`)}
	none := model.Tool{Name: "none"}
	s.ask(s.model("claude-sonnet-4-5"), model.Request{Tools: []model.Tool{bad, root, none, aTool}, Messages: []model.Message{say("Go.")}})
	for _, x := range s.seen[0].Tools {
		var v map[string]any
		if err := json.Unmarshal(x.Schema, &v); err != nil || v["type"] != "object" || v["oneOf"] != nil {
			t.Errorf("%s: schema %s", x.Name, x.Schema)
		}
	}
	if d := s.seen[0].Tools[0].Description; !strings.Contains(d, `"a b$"`) || !strings.HasPrefix(d, "Is odd.") {
		t.Errorf("the arguments are not told: %q", d)
	}
}

// The key and the address come from Options alone; environments of other programs do not count.
func TestA2_KeyFromOptionsOnly(t *testing.T) {
	for k, v := range map[string]string{"ANTHROPIC_API_KEY": "foreign", "ANTHROPIC_AUTH_TOKEN": "foreign", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1", "ANTHROPIC_CUSTOM_HEADERS": "X-Foreign: foreign"} {
		t.Setenv(k, v)
	}
	for _, path := range []string{"", "/", "/v1", "/v1/"} {
		s := serve(t, done())
		m, err := New(Options{Model: "claude-sonnet-4-5", BaseURL: s.URL + path, Key: "mine"})
		if err != nil {
			t.Fatal(err)
		}
		s.ask(m, model.Request{Messages: []model.Message{say("Go.")}})
		if s.seen[0].Key != "mine" {
			t.Errorf("key %q at %q", s.seen[0].Key, path)
		}
	}
}

// A redirect would carry the key to another host.
func TestA2_NoRedirect(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%v was asked with %v", r.URL, r.Header) }))
	t.Cleanup(other.Close)
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/v1/messages", http.StatusTemporaryRedirect)
	}))
	t.Cleanup(first.Close)
	m, err := New(Options{Model: "claude-sonnet-4-5", BaseURL: first.URL, Key: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Stream(t.Context(), model.Request{Messages: []model.Message{say("Go.")}}, nil)
	if e, ok := err.(*model.Error); !ok || e.Class != model.Invalid || !strings.Contains(e.Message, other.URL) {
		t.Errorf("got %v", err)
	}
}

func TestA2_OptionsAreChecked(t *testing.T) {
	for _, o := range []Options{{}, {Model: "m", BaseURL: "localhost:80"}, {Model: "m", BaseURL: "ftp://x"}, {Model: "m", BaseURL: "http://"}, {Model: "m", BaseURL: ":"}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}

// Events and blocks that are new do not spoil an answer; an event that is no JSON does.
func TestA2_StrangeStreams(t *testing.T) {
	ok := whole(modeltest.Reply{Model: "m", Stop: model.End, Steps: []modeltest.Step{{Text: "Yes."}}})
	s := serve(t, event("novelty", map[string]any{"x": 1})+": comment\n\n"+strings.Replace(ok, "event: message_delta", event("content_block_start", map[string]any{"index": 9, "content_block": map[string]any{"type": "hologram"}})+event("content_block_stop", map[string]any{"index": 9})+"event: message_delta", 1))
	if a := s.ask(s.model("claude-sonnet-4-5"), model.Request{Messages: []model.Message{say("Go.")}}); len(a.Message.Blocks) != 1 || a.Message.Blocks[0].Part.Text != "Yes." {
		t.Errorf("got %+v", a)
	}
	s.streams = []string{"event: message_start\ndata: {\"type\":\n\n"}
	_, err := s.model("claude-sonnet-4-5").Stream(t.Context(), model.Request{Messages: []model.Message{say("Go.")}}, nil)
	if e, ok := err.(*model.Error); !ok || e.Class != model.Invalid && e.Class != model.Retry {
		t.Errorf("got %v", err)
	}
	// Endpoints that do not stream arguments.
	s.streams = []string{strings.Replace(whole(modeltest.Reply{Model: "m", Stop: model.Calls, Steps: []modeltest.Step{{Call: &modeltest.Call{ID: "c", Name: "x"}}}}), `"input":{}`, `"input":{"a":1}`, 1)}
	if a := s.ask(s.model("claude-sonnet-4-5"), model.Request{Messages: []model.Message{say("Go.")}}); string(a.Message.Blocks[0].Call.Arguments) != `{"a":1}` {
		t.Errorf("got %+v", a.Message.Blocks[0].Call)
	}
}
