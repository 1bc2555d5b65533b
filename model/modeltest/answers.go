package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
)

// name is the model that fakes answer as.
const name = "fake-model-1"

func text(s string) Step { return Step{Text: s} }
func user(parts ...content.Part) model.Message {
	m := model.Message{Role: model.User}
	for i := range parts {
		m.Blocks = append(m.Blocks, model.Block{Part: &parts[i]})
	}
	return m
}
func say(s string) model.Message { return user(content.TextPart(s)) }

func results(r ...model.Result) model.Message {
	m := model.Message{Role: model.User}
	for i := range r {
		m.Blocks = append(m.Blocks, model.Block{Result: &r[i]})
	}
	return m
}

func ask(s string) model.Request { return model.Request{Messages: []model.Message{say(s)}} }

// words are the texts of an answer, the reasoning apart.
func words(a model.Answer) (text, reasoning string) {
	for _, b := range a.Message.Blocks {
		switch {
		case b.Part != nil:
			text += b.Part.Text
		case b.Reasoning != nil:
			reasoning += b.Reasoning.Text
		}
	}
	return text, reasoning
}

func calls(a model.Answer) (out []model.Call) {
	for _, b := range a.Message.Blocks {
		if b.Call != nil {
			out = append(out, *b.Call)
		}
	}
	return out
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

func (s *Suite) reply(stop model.Stop, steps ...Step) Reply {
	return Reply{Steps: steps, Stop: stop, Model: name, Usage: model.Usage{Input: 10, Output: 5}}
}

// checkPieces checks that blocks and pieces hold exactly one thing each, and that the pieces add up to the answer.
func checkPieces(t *testing.T, pieces []model.Piece, a model.Answer) {
	t.Helper()
	var text, reasoning string
	var got []model.Call
	for i, p := range pieces {
		set := 0
		for _, on := range []bool{p.Text != "", p.Reasoning != "", p.Call != nil} {
			if on {
				set++
			}
		}
		if set != 1 {
			t.Errorf("piece %d has %d fields set, want exactly one: %+v", i, set, p)
		}
		text, reasoning = text+p.Text, reasoning+p.Reasoning
		if p.Call != nil {
			got = append(got, *p.Call)
		}
	}
	wantText, wantReasoning := words(a)
	if text != wantText || reasoning != wantReasoning {
		t.Errorf("pieces add up to %q and reasoning %q, the answer holds %q and %q", text, reasoning, wantText, wantReasoning)
	}
	if !reflect.DeepEqual(got, calls(a)) {
		t.Errorf("pieces hold the calls %+v, the answer %+v", got, calls(a))
	}
	if a.Message.Role != model.Assistant {
		t.Errorf("role %q, want %q", a.Message.Role, model.Assistant)
	}
	for i, b := range a.Message.Blocks {
		set := 0
		for _, on := range []bool{b.Part != nil, b.Reasoning != nil, b.Call != nil, b.Result != nil} {
			if on {
				set++
			}
		}
		if set != 1 || b.Result != nil {
			t.Errorf("block %d of the answer: %+v", i, b)
		}
	}
}

func (s *Suite) answers(t *testing.T) {
	t.Run("text", func(t *testing.T) {
		v := s.serve(t, 0, s.whole(s.reply(model.End, text("Hello"), text(", wörld"), text("\n\n  \"quoted\" \\ and 🧵."))))
		pieces, a := v.must(ask("Say hello."))
		checkPieces(t, pieces, a)
		if got, _ := words(a); got != "Hello, wörld\n\n  \"quoted\" \\ and 🧵." || len(a.Message.Blocks) != 1 {
			t.Errorf("got %q in %d blocks", got, len(a.Message.Blocks))
		}
		if a.Stop != model.End || a.Model != name {
			t.Errorf("stop %q, model %q", a.Stop, a.Model)
		}
		if len(pieces) < 3 {
			t.Errorf("%d pieces, want each part that arrived", len(pieces))
		}
	})
	t.Run("nobody listens", func(t *testing.T) {
		v := s.serve(t, 0, s.whole(s.reply(model.End, text("Hello"))))
		a, err := v.model.Stream(t.Context(), ask("Say hello."), nil)
		if got, _ := words(a); err != nil || got != "Hello" {
			t.Errorf("got %q, %v", got, err)
		}
	})
	t.Run("large", func(t *testing.T) {
		big := strings.Repeat("0123456789abcdef", 1<<16) // one line of a mebibyte
		v := s.serve(t, 0, s.whole(s.reply(model.End, text(big))))
		_, a := v.must(ask("Say much."))
		if got, _ := words(a); got != big {
			t.Errorf("got %d bytes, want %d", len(got), len(big))
		}
	})
	t.Run("empty", func(t *testing.T) {
		v := s.serve(t, 0, s.whole(s.reply(model.End)))
		pieces, a := v.must(ask("Say nothing."))
		if len(pieces) != 0 || len(a.Message.Blocks) != 0 || a.Stop != model.End || a.Message.Role != model.Assistant {
			t.Errorf("got %d pieces and %+v", len(pieces), a)
		}
	})
	if s.Can.Reasoning {
		t.Run("reasoning", s.reasoning)
	}
	t.Run("one call", func(t *testing.T) {
		v := s.serve(t, 0, s.whole(s.reply(model.Calls, text("I read it."), s.call("call_1", "read_file", `{"path":"a.go","limit":3}`))))
		pieces, a := v.must(ask("Read a.go."))
		checkPieces(t, pieces, a)
		c := calls(a)
		if len(c) != 1 || c[0].Name != "read_file" || !sameJSON(c[0].Arguments, []byte(`{"path":"a.go","limit":3}`)) || c[0].Malformed != "" || a.Stop != model.Calls {
			t.Fatalf("got %+v, stop %q", c, a.Stop)
		}
		if s.Can.CallIDs && c[0].ID != "call_1" || c[0].ID == "" {
			t.Errorf("id %q", c[0].ID)
		}
		if got, _ := words(a); got != "I read it." {
			t.Errorf("text %q", got)
		}
	})
	t.Run("call without arguments", func(t *testing.T) {
		v := s.serve(t, 0, s.whole(s.reply(model.Calls, Step{Call: &Call{ID: s.id("call_1"), Name: "list"}})))
		_, a := v.must(ask("List."))
		if c := calls(a); len(c) != 1 || !sameJSON(c[0].Arguments, []byte(`{}`)) || c[0].Malformed != "" {
			t.Errorf("got %+v, want the arguments {}", c)
		}
	})
	if s.Can.Parallel {
		t.Run("parallel calls", s.parallel)
	}
	if s.Can.TextArgs {
		t.Run("broken arguments", s.broken)
	}
	t.Run("unknown tool", func(t *testing.T) {
		v := s.serve(t, 0, s.whole(s.reply(model.Calls, s.call("call_1", "no_such_tool", `{"x":1}`))))
		req := ask("Do.")
		req.Tools = []model.Tool{tool("read_file")}
		if _, a := v.must(req); len(calls(a)) != 1 || calls(a)[0].Name != "no_such_tool" {
			t.Errorf("got %+v, want the name as the model wrote it", calls(a))
		}
	})
	t.Run("usage", s.usage)
	t.Run("stop", s.stops)
}

// id returns id where the format has ids.
func (s *Suite) id(id string) string {
	if s.Can.CallIDs {
		return id
	}
	return ""
}

func (s *Suite) call(id, name string, args ...string) Step {
	return Step{Call: &Call{ID: s.id(id), Name: name, Args: args}}
}

func (s *Suite) reasoning(t *testing.T) {
	think := Step{Reasoning: "Let me think.", Signature: "signature-canary-c2lnbmVk"}
	v := s.serve(t, 0, s.whole(s.reply(model.End, think, text("Done."))))
	pieces, a := v.must(ask("Think."))
	checkPieces(t, pieces, a)
	got, thought := words(a)
	if got != "Done." || thought != "Let me think." || a.Message.Blocks[0].Reasoning == nil {
		t.Fatalf("text %q, reasoning %q, blocks %+v", got, thought, a.Message.Blocks)
	}
	next := model.Request{Messages: []model.Message{say("Think."), a.Message, say("Go on.")}}
	v.must(next)
	v.last()
	if back := bytes.Contains(v.body(), []byte(think.Signature)); back != s.Can.Signed {
		t.Errorf("the signature goes back: %v, want %v", back, s.Can.Signed)
	}
	// What another provider signed would be refused.
	foreign := model.Message{Role: model.Assistant, Blocks: []model.Block{
		{Reasoning: &model.Reasoning{Text: "Mm.", Provider: "elsewhere", Opaque: json.RawMessage(`{"signature":"foreign-canary"}`)}},
		{Part: &content.Part{Kind: content.Text, Text: "Done."}},
	}}
	next.Messages[1] = foreign
	v.must(next)
	v.last()
	if bytes.Contains(v.body(), []byte("foreign-canary")) {
		t.Error("what another provider signed was sent")
	}
}

func (s *Suite) parallel(t *testing.T) {
	v := s.serve(t, 0, s.whole(s.reply(model.Calls,
		s.call("call_1", "read_file", `{"pa`, `th":"a`, `.go"}`), s.call("call_2", "read_file", `{"path":"b.go"}`), s.call("call_3", "grep", `{`, `}`))))
	pieces, a := v.must(ask("Look."))
	checkPieces(t, pieces, a)
	c := calls(a)
	if len(c) != 3 {
		t.Fatalf("got %d calls: %+v", len(c), c)
	}
	ids := map[string]bool{}
	for i, want := range []string{`{"path":"a.go"}`, `{"path":"b.go"}`, `{}`} {
		if !sameJSON(c[i].Arguments, []byte(want)) {
			t.Errorf("call %d: %s %q, want %s", i, c[i].Arguments, c[i].Malformed, want)
		}
		if s.Can.CallIDs && c[i].ID != fmt.Sprintf("call_%d", i+1) {
			t.Errorf("call %d has the id %q", i, c[i].ID)
		}
		ids[c[i].ID] = true
	}
	if len(ids) != 3 || ids[""] {
		t.Errorf("ids %v, want three different ones", ids)
	}
	// The next answer's calls are named apart from these.
	_, b := v.must(model.Request{Messages: []model.Message{say("Look."), a.Message, answersTo(c), say("Again.")}})
	if !s.Can.CallIDs {
		for _, x := range calls(b) {
			if ids[x.ID] {
				t.Errorf("id %q was given before", x.ID)
			}
		}
	}
	if s.Can.CallIDs { // a model that errs: one id for two calls
		v := s.serve(t, 0, s.whole(s.reply(model.Calls, s.call("call_1", "read_file", `{"path":"a.go"}`), s.call("call_1", "grep", `{"pattern":"x"}`))))
		_, a := v.must(ask("Look."))
		c := calls(a)
		if len(c) != 2 || !sameJSON(c[0].Arguments, []byte(`{"path":"a.go"}`)) || !sameJSON(c[1].Arguments, []byte(`{"pattern":"x"}`)) || c[0].Name != "read_file" || c[1].Name != "grep" {
			t.Errorf("two calls with one id: %+v, want both", c)
		}
	}
}

func answersTo(c []model.Call) model.Message {
	var r []model.Result
	for _, x := range c {
		r = append(r, model.Result{CallID: x.ID, Name: x.Name, Parts: []content.Part{content.TextPart("result of " + x.Name)}})
	}
	return results(r...)
}

func (s *Suite) broken(t *testing.T) {
	for _, bad := range []string{`{"path":"a.go"`, `{"path":`, `not json`, `{"a":1}{"b":2}`, `{"a":1,}`, "{\"a\":\"\x01\"}"} {
		v := s.serve(t, 0, s.whole(s.reply(model.Calls, s.call("call_1", "read_file", bad))))
		_, a := v.must(ask("Read."))
		c := calls(a)
		if len(c) != 1 || c[0].Malformed != bad || len(c[0].Arguments) > 0 && string(c[0].Arguments) != "null" || a.Stop != model.Calls {
			t.Errorf("arguments %q: got %+v, want them as Malformed", bad, c)
			continue
		}
		// What the model wrote does not spoil the next request.
		v.must(model.Request{Messages: []model.Message{say("Read."), a.Message, answersTo(c)}})
		if seen := v.last(); len(seen.Messages) < 3 {
			t.Errorf("arguments %q: the next request holds %d messages", bad, len(seen.Messages))
		}
		if !json.Valid(v.body()) {
			t.Errorf("arguments %q: the next request is not JSON: %s", bad, v.body())
		}
	}
}

func (s *Suite) usage(t *testing.T) {
	u := model.Usage{Input: 1000, Output: 200}
	if s.Can.CacheRead {
		u.CacheRead = 300
	}
	if s.Can.CacheWrite {
		u.CacheWrite = 50
	}
	r := s.reply(model.End, text("Yes."))
	r.Usage = u
	v := s.serve(t, 0, s.whole(r))
	_, a := v.must(ask("Count."))
	a.Usage.Reasoning = 0
	if a.Usage != u {
		t.Errorf("usage %+v, want %+v", a.Usage, u)
	}
	p := v.model.Info().Price
	want := (1000*p.Input + 200*p.Output + float64(u.CacheRead)*p.CacheRead + float64(u.CacheWrite)*p.CacheWrite) / 1e6
	if got := p.Cost(a.Usage); math.Abs(got-want) > 1e-12 || p.Input == 0 || p.Output == 0 {
		t.Errorf("cost %v at %+v, want %v", got, p, want)
	}
	if i := v.model.Info(); i.Provider == "" || i.Name == "" || v.count() != 1 {
		t.Errorf("info %+v after %d requests, want a provider, a name and no request", i, v.count())
	}
}

func (s *Suite) stops(t *testing.T) {
	stops := []model.Stop{model.End, model.Length}
	if s.Can.Refusal {
		stops = append(stops, model.Refusal)
	}
	for _, stop := range stops {
		v := s.serve(t, 0, s.whole(s.reply(stop, text("I see"))))
		if _, a := v.must(ask("Go.")); a.Stop != stop {
			t.Errorf("stop %q, want %q", a.Stop, stop)
		}
	}
	// Cut at its limit within a call: what is not whole is no call.
	if s.Can.TextArgs {
		v := s.serve(t, 0, s.whole(s.reply(model.Length, s.call("call_1", "write_file", `{"path":"a","content":"half`))))
		_, a := v.must(ask("Write."))
		if c := calls(a); a.Stop != model.Length || len(c) > 1 || len(c) == 1 && c[0].Malformed == "" {
			t.Errorf("an answer cut within a call: stop %q, calls %+v", a.Stop, c)
		}
	}
}
