//go:build unix

package agent

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/session"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// quick is a model that costs nothing: so many rounds of so many calls, then the end. Turn after turn.
type quick struct{ rounds, calls int }

func (quick) Info() model.Info {
	return model.Info{Provider: "test", Name: "quick", Window: 1 << 30}
}

func (q quick) Stream(_ context.Context, req model.Request, _ func(model.Piece) error) (model.Answer, error) {
	last := 0 // answers since the user last spoke
	for i := len(req.Messages) - 1; i >= 0; i-- {
		if b := req.Messages[i].Blocks; req.Messages[i].Role == model.User && b[len(b)-1].Part != nil {
			break
		} else if req.Messages[i].Role == model.Assistant {
			last++
		}
	}
	m := model.Message{Role: model.Assistant}
	if last >= q.rounds {
		m.Blocks = []model.Block{textBlock("done")}
		return model.Answer{Message: m, Stop: model.End, Usage: model.Usage{Input: 10, Output: 10}}, nil
	}
	for i := range q.calls {
		m.Blocks = append(m.Blocks, model.Block{Call: &model.Call{ID: fmt.Sprintf("c%d_%d", last, i), Name: "look", Arguments: []byte(fmt.Sprintf(`{"text":"%d %d"}`, last, i))}})
	}
	return model.Answer{Message: m, Stop: model.Calls, Usage: model.Usage{Input: 10, Output: 10}}, nil
}

func benchAgent(b *testing.B, m model.Model, effect tool.Effect) (*Agent, *toolbox.Box) {
	b.Helper()
	db := store.Open(b.TempDir(), store.Options{})
	log := session.NewLog(db)
	b.Cleanup(func() {
		if err := log.Close(); err != nil {
			b.Error(err)
		}
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	box, err := toolbox.New(toolbox.Config{Env: tool.Environment{Mode: "code"}, Gate: gateFunc(allowAll), Recorder: log, Sessions: log})
	if err != nil {
		b.Fatal(err)
	}
	if err := box.Register(testTool("look", []tool.Effect{effect}, echo), "code"); err != nil {
		b.Fatal(err)
	}
	a, err := New(Config{Model: m, Box: box, Events: db, Records: log, Limits: Limits{Rounds: -1, Compact: -1}})
	if err != nil {
		b.Fatal(err)
	}
	return a, box
}

// BenchmarkTurn is a whole turn over a store on disk, without the model and what the tools do: the loop, the road, the records.
// "bare" is the road alone, with the same calls.
func BenchmarkTurn(b *testing.B) {
	for _, effect := range []tool.Effect{tool.Read, tool.Execute} {
		for _, shape := range []quick{{1, 20}, {20, 1}, {5, 4}} {
			name := fmt.Sprintf("%s/%dx%d", effect, shape.rounds, shape.calls)
			b.Run(name, func(b *testing.B) {
				a, _ := benchAgent(b, shape, effect)
				used := processor(b)
				for i := 0; b.Loop(); i++ {
					turn, err := a.Run(b.Context(), fmt.Sprint("s", i), "go")
					if err != nil || turn.End.Why != Done || turn.Tally.Calls != 20 {
						b.Fatalf("%+v %v", turn, err)
					}
				}
				b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N)/20, "ms/call")
				b.ReportMetric((processor(b)-used).Seconds()*1e3/float64(b.N), "cpu-ms/turn")
			})
			b.Run(name+"/bare", func(b *testing.B) {
				_, box := benchAgent(b, shape, effect)
				used := processor(b)
				for n := 0; b.Loop(); n++ {
					for r := range shape.rounds {
						var reqs []toolbox.Request
						for i := range shape.calls {
							reqs = append(reqs, toolbox.Request{Tool: "look", Args: []byte(fmt.Sprintf(`{"text":"%d %d"}`, r, i)), Session: fmt.Sprint("s", n)})
						}
						if _, err := box.CallAll(b.Context(), reqs); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N)/20, "ms/call")
				b.ReportMetric((processor(b)-used).Seconds()*1e3/float64(b.N), "cpu-ms/turn")
			})
		}
	}
}

// BenchmarkResume opens a session of 5,000 events that another process left.
func BenchmarkResume(b *testing.B) {
	a, _ := benchAgent(b, quick{230, 22}, tool.Read)
	if _, err := a.Run(b.Context(), "s", "go"); err != nil {
		b.Fatal(err)
	}
	a.cfg.Records.Settle()
	last, err := a.cfg.Events.Last(b.Context(), "s")
	if err != nil {
		b.Fatal(err)
	}
	evs, err := a.read(b.Context(), "s")
	if err != nil {
		b.Fatal(err)
	}
	if last < 5000 {
		b.Fatalf("%d events, %d of the loop", last, len(evs))
	}
	used := processor(b)
	for b.Loop() {
		fresh, err := New(a.cfg)
		if err != nil {
			b.Fatal(err)
		}
		s, err := fresh.Open(b.Context(), "s")
		if err != nil || s.State().Phase != Resting {
			b.Fatal(err)
		}
	}
	b.ReportMetric((processor(b)-used).Seconds()*1e3/float64(b.N), "cpu-ms")
	b.ReportMetric(float64(last), "events")
	b.ReportMetric(float64(len(evs)), "of_the_loop")
}

// BenchmarkIdle holds 10,000 sessions that had a turn and rest, in one process.
func BenchmarkIdle(b *testing.B) {
	const sessions = 10_000
	for b.Loop() {
		a, err := New(Config{Model: quick{1, 2}, Box: idleBox(b), Limits: Limits{Compact: -1}, Events: store.Open(b.TempDir(), store.Options{})})
		if err != nil {
			b.Fatal(err)
		}
		before := heap()
		var held []*Session
		for i := range sessions {
			s, err := a.Start(b.Context(), fmt.Sprint("s", i))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := s.Run(b.Context(), content.TextPart(strings.Repeat("Do the work. ", 100))); err != nil {
				b.Fatal(err)
			}
			held = append(held, s)
		}
		b.ReportMetric(float64(heap()-before)/(1<<20), "MiB")
		b.ReportMetric(float64(runtime.NumGoroutine()), "goroutines")
		runtime.KeepAlive(held)
		if err := a.cfg.Events.(io.Closer).Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func idleBox(b *testing.B) *toolbox.Box {
	b.Helper()
	box, err := toolbox.New(toolbox.Config{Env: tool.Environment{Mode: "code"}, Gate: gateFunc(allowAll)})
	if err != nil {
		b.Fatal(err)
	}
	if err := box.Register(testTool("look", []tool.Effect{tool.Read}, echo), "code"); err != nil {
		b.Fatal(err)
	}
	return box
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
