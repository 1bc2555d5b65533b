package agent

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/tool"
)

type keeperFunc func() (string, string, error)

func (f keeperFunc) Keep(context.Context, string) (string, string, error) { return f() }

// big gives a result of so many bytes, each time another one.
func big(n int) tool.Tool {
	var i atomic.Int64
	return testTool("big", []tool.Effect{tool.Read}, func(context.Context, string) (tool.Result, error) {
		return tool.TextResult(fmt.Sprintf("result %d ", i.Add(1))+strings.Repeat("word ", n/5), nil), nil
	})
}

// A4: over the threshold the conversation is told in short, by the model; what it keeps is kept, word for word where it is recent,
// and no call is parted from its result.
func TestA4_Compaction(t *testing.T) {
	for _, c := range []struct {
		name       string
		summariser act
		mechanical bool
		want       string
	}{
		{"by the model", says("SUMMARY: we look at big things"), false, "SUMMARY: we look at big things"},
		{"the model fails", fails(model.Retry), true, "You called big"},
		{"the model says nothing", says(""), true, "You called big"},
		{"the model's window is too small for the summary", fails(model.TooLong), true, "You called big"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var play []act
			for range 5 {
				play = append(play, calls(`big {}`))
			}
			play = append(play, c.summariser, says("done"))
			m := &actor{info: model.Info{Name: "small", Window: 6000, Price: model.Price{Input: 1}}, play: play}
			keep := []Keeper{
				keeperFunc(func() (string, string, error) { return "Todos", "- [ ] the second half", nil }),
				keeperFunc(func() (string, string, error) { return "Media", "", nil }),
				keeperFunc(func() (string, string, error) { return "Tasks", "", fmt.Errorf("no list") }),
			}
			w := newWorld(t, Config{Keep: keep}, m, nil, big(4000))
			turn, err := w.Run(t.Context(), "s", "Find the biggest thing.")
			if err != nil || turn.End.Why != Done {
				t.Fatalf("%+v %v", turn, err)
			}
			reqs := m.sent()
			last := reqs[len(reqs)-1]
			consistent(t, last.Messages)
			text := shown(last.Messages)
			for _, part := range []string{c.want, "## Todos\n\n- [ ] the second half", "## Tasks\n\n(This could not be read: no list", "word for word\n\nFind the biggest thing.", "result 5 word"} {
				if !strings.Contains(text, part) {
					t.Errorf("no %q in\n%s", part, text)
				}
			}
			if strings.Contains(text, "## Media") || strings.Contains(text, "result 1 word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word") {
				t.Errorf("too much is left:\n%s", text)
			}
			sum := reqs[len(reqs)-2]
			if sum.Choose != model.None || sum.System != last.System || len(sum.Tools) == 0 {
				t.Errorf("the summariser does not use the cache: %+v", sum.Choose)
			}
			consistent(t, sum.Messages)
			var found bool
			for _, ev := range w.stored(t, "s") {
				if ev.Compaction != nil {
					found = true
					if ev.Compaction.Mechanical != c.mechanical || (ev.Compaction.Why != "") != c.mechanical {
						t.Errorf("%+v", ev.Compaction)
					}
				}
			}
			if !found {
				t.Error("no compaction")
			}
			again, _ := follow(w.stored(t, "s")) // another process sends the same
			n := len(last.Messages)
			if got := shown(again.messages()[:n]); got != text {
				t.Errorf("read again it is another conversation:\n%s\nwas\n%s", got, text)
			}
		})
	}
}

// A request that the provider finds too long is made shorter until it fits: the results are cut, in the end.
func TestTooLongIsMadeShorter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const window = 3000
		var list []string
		for range 10 {
			list = append(list, `big {}`)
		}
		n := 0
		m := &actor{info: model.Info{Name: "small", Window: window}}
		m.play = []act{func(ctx context.Context, req model.Request, on func(model.Piece) error) (model.Answer, error) {
			size := len(req.System) / bytesPerToken
			for i := range req.Messages {
				size += estimateMessage(&req.Messages[i])
			}
			if n++; n == 1 {
				return calls(list...)(ctx, req, on)
			}
			if size > window {
				return fails(model.TooLong)(ctx, req, on)
			}
			return says("done")(ctx, req, on)
		}}
		w := newWorld(t, Config{}, m, nil, big(8000))
		turn, err := w.Run(t.Context(), "s", "go")
		if err != nil || turn.End.Why != Done {
			t.Fatalf("%+v %v %s", turn, err, w.story(t, "s"))
		}
		reqs := m.sent()
		last := shown(reqs[len(reqs)-1].Messages)
		consistent(t, reqs[len(reqs)-1].Messages)
		if strings.Count(last, "[Cut to make room") != 10 {
			t.Errorf("%s", last)
		}
	})
}

// What is cut is never between a call and its result, wherever the cut falls.
func TestCut(t *testing.T) {
	var r request
	add := func(role model.Role, seq int64, blocks ...model.Block) {
		m := model.Message{Role: role, Blocks: blocks}
		r.spoken, r.messages = append(r.spoken, utterance{seq, m}), append(r.messages, m)
	}
	text := textBlock(strings.Repeat("x", 400))
	for i := range 20 {
		seq := int64(i * 10)
		add(model.User, seq+1, text)
		add(model.Assistant, seq+2, model.Block{Call: &model.Call{ID: fmt.Sprint(i), Name: "look"}})
		add(model.User, seq+3, model.Block{Result: &model.Result{CallID: fmt.Sprint(i), Parts: []content.Part{*text.Part}}})
		add(model.Assistant, seq+4, text)
	}
	for room := 0; room < 6000; room += 50 {
		p := cut(&r, room)
		if p.keep > 0 && p.upto != r.spoken[p.keep-1].seq {
			t.Fatalf("room %d: %+v", room, p)
		}
		if p.keep < len(r.spoken) && holdsResults(&r.spoken[p.keep].Message) {
			t.Fatalf("room %d: the rest begins with a result", room)
		}
		if room > 800 && p.rest > room {
			t.Fatalf("room %d: %d tokens are left", room, p.rest)
		}
	}
}

// A4, F9: the read-state outlives a compaction, and the model is told which files it knows.
func TestA4_ReadStateIsKept(t *testing.T) {
	know := change.Sum([]byte("content"))
	read := tool.Define(tool.Spec{Name: "read", Category: "test", Description: "Read."}, func(_ context.Context, c *tool.Call, _ struct{}) (tool.Action, error) {
		return tool.Action{Intent: tool.Intent{Effects: []tool.Effect{tool.Read}}, Run: func(context.Context, tool.Runner) (tool.Result, error) {
			c.ReadState.Mark("/w/a.go", know)
			c.ReadState.Mark("/w/gone.go", know)
			c.ReadState.Mark("/w/gone.go", change.Digest{})
			return tool.TextResult(strings.Repeat("content ", 4000), nil), nil
		}}, nil
	})
	m := &actor{play: []act{calls(`read {}`), says("ok"), says("in short"), says("done")}}
	w := newWorld(t, Config{}, m, nil, read)
	if _, err := w.Run(t.Context(), "s", "go"); err != nil {
		t.Fatal(err)
	}
	s, err := w.Open(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), content.TextPart("go on")); err != nil {
		t.Fatal(err)
	}
	got := shown(m.sent()[3].Messages)
	if !strings.Contains(got, "## Files that you have read or written") || !strings.Contains(got, "- /w/a.go") || strings.Contains(got, "gone.go") {
		t.Error(got)
	}
	rs, err := w.cfg.Records.ReadState(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if d, ok := rs.Seen("/w/a.go"); !ok || d != know {
		t.Error("the read-state is gone")
	}
}
