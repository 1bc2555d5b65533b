package agent

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
)

// Whatever happens, in whatever order: the conversation is one that providers take, and it is the same in a process that reads the
// events again.
func TestTalkIsConsistent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		evs := []Event{{Seq: 1, Kind: Started, Setup: &Setup{Version: Version, Session: "s", Nonce: "n", Model: model.Info{Window: 1000}}}}
		tk, s := follow(evs)
		for i := range rapid.IntRange(1, 60).Draw(t, "events") {
			ev := drawEvent(t, &s)
			ev.Seq = int64(i + 2)
			if a := ev.Answer; a != nil {
				a.Message = &model.Message{Role: model.Assistant}
				if !a.Empty {
					a.Message.Blocks = append(a.Message.Blocks, textBlock("says"))
				}
				for _, c := range a.Calls {
					a.Message.Blocks = append(a.Message.Blocks, model.Block{Call: &model.Call{ID: rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "id"), Name: c.Name}})
				}
			}
			if c := ev.Compaction; c != nil && len(tk.spoken) > 0 { // as cut would choose it
				keep := rapid.IntRange(0, len(tk.spoken)).Draw(t, "keep")
				for keep < len(tk.spoken) && holdsResults(&tk.spoken[keep].Message) {
					keep++
				}
				if len(tk.calls) > 0 && keep == len(tk.spoken) {
					keep--
				}
				if c.Upto = 0; keep > 0 {
					c.Upto = tk.spoken[keep-1].seq
				}
				c.Clip = rapid.SampledFrom([]int{0, 1}).Draw(t, "clip")
			}
			was := s.Phase
			steps := s.next(&ev)
			tk.add(&ev, was, steps)
			evs = append(evs, ev)
			msgs := tk.messages()
			if problem := inconsistent(msgs); problem != "" {
				t.Fatalf("after %s: %s\n%s", ev.Kind, problem, shown(msgs))
			}
			if again := Messages(evs); shown(again) != shown(msgs) {
				t.Fatalf("after %s: read again it is\n%s\ninstead of\n%s", ev.Kind, shown(again), shown(msgs))
			}
		}
	})
}

// inconsistent says what is wrong with a conversation; one that begins with the assistant is that of a test that begins so.
func inconsistent(msgs []model.Message) string {
	ids := map[string]bool{}
	for i, m := range msgs {
		var open, got []string
		if i > 0 && msgs[i-1].Role == m.Role {
			return "two messages of one side"
		}
		for _, b := range m.Blocks {
			switch {
			case b.Call != nil && (ids[b.Call.ID] || b.Call.ID == ""):
				return "an id is used twice, or empty"
			case b.Call != nil:
				ids[b.Call.ID] = true
				open = append(open, b.Call.ID)
			case b.Result != nil && (i == 0 || !slices.ContainsFunc(msgs[i-1].Blocks, func(o model.Block) bool { return o.Call != nil && o.Call.ID == b.Result.CallID })):
				return "a result without its call"
			}
		}
		if len(open) == 0 {
			continue
		}
		if i+1 < len(msgs) {
			for _, b := range msgs[i+1].Blocks {
				if b.Result != nil {
					got = append(got, b.Result.CallID)
				}
			}
		}
		if !slices.Equal(open, got) {
			return "calls " + strings.Join(open, " ") + " have the results " + strings.Join(got, " ")
		}
	}
	return ""
}

// A result that comes when nobody waits for it is not taken, nor one of another answer.
func TestTalkTakesWhatTheMachineTakes(t *testing.T) {
	evs := []Event{
		{Kind: Started, Setup: &Setup{Version: 1, Session: "s"}},
		{Kind: Answered, Answer: &Answer{Message: &model.Message{Blocks: []model.Block{textBlock("too early")}}}},
		{Kind: Said, Said: &Message{ID: "a", Parts: []content.Part{content.TextPart("go")}}},
		{Kind: Ran, Result: &Result{ID: "s-1-1", Parts: []content.Part{content.TextPart("too early")}}},
		{Kind: Answered, Answer: &Answer{Message: &model.Message{Blocks: []model.Block{textBlock("hello")}}}},
	}
	if got, want := shown(Messages(evs)), "user:\n  go\nassistant:\n  hello\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
