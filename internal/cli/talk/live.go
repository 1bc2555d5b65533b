package talk

import (
	"context"
	"sync"

	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/agent/history"
	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/session"
)

// Live prints a session as it goes: its Watch is an agent's. It is safe for concurrent use, and prints one session.
type Live struct {
	Printer Printer
	// Record returns what the road recorded of a call, nil where it recorded nothing.
	Record func(ctx context.Context, call string) *session.Record
	// Whole prints answers when they are whole, as they are stored (without secrets), and not as they arrive. One that broke off and
	// is asked for again is not printed.
	Whole bool

	mu     sync.Mutex
	calls  map[string]*history.Call
	files  map[string]bool
	pieces bool // of the answer that is arriving were printed
}

// Watch prints an update.
func (l *Live) Watch(_ string, u agent.Update) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case u.Piece != nil:
		if u.Piece.Text != "" && !l.Whole {
			l.pieces = true
			l.Printer.Words(u.Piece.Text)
		}
	case u.Event != nil:
		l.event(u.Event)
	}
}

func (l *Live) event(e *agent.Event) {
	switch {
	case e.Said != nil:
		l.Printer.Said(e.Said)
	case e.Answer != nil:
		l.answer(e)
	case e.Failure != nil:
		if l.Whole {
			l.Printer.Words(e.Failure.Partial) // what somebody interrupted is kept in the conversation
		}
		if l.pieces || l.Whole {
			l.Printer.EndWords()
		}
		l.pieces = false
	case e.Kind == agent.Running && e.Call != nil:
		if c := l.calls[e.Call.ID]; c != nil {
			l.Printer.Doing(c)
		}
	case e.Result != nil:
		l.result(e)
	}
	if note := history.Note(*e); note != "" && e.Kind != agent.Cancelled && e.Kind != agent.Limited { // the end says it
		l.Printer.Note(note)
	}
}

// answer ends what was streamed. An answer that did not come in pieces is printed now.
func (l *Live) answer(e *agent.Event) {
	if m := e.Answer.Message; m != nil && !l.pieces {
		for _, b := range m.Blocks {
			if b.Part != nil && b.Part.Kind == content.Text {
				l.Printer.Words(b.Part.Text)
			}
		}
	}
	l.Printer.EndWords()
	l.pieces = false
	l.calls = map[string]*history.Call{}
	for _, c := range history.CallsOf(e.Answer) {
		l.calls[c.ID] = c
	}
}

func (l *Live) result(e *agent.Event) {
	c := l.calls[e.Result.ID]
	if c == nil {
		return
	}
	c.Take(e)
	if l.Record != nil {
		c.Record = l.Record(context.Background(), c.ID)
	}
	for _, f := range history.Changed(c.Meta()) {
		if l.files == nil {
			l.files = map[string]bool{}
		}
		l.files[f.Path] = true
	}
	l.Printer.Call(c)
}

// Resume tells what a session had begun when its process ended, so that results of those calls are printed with their names.
func (l *Live) Resume(s *history.Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = map[string]*history.Call{}
	for _, c := range s.Since(0) {
		if c.Outcome == "" {
			l.calls[c.ID] = c
		}
	}
}

// Changed returns how many files were changed.
func (l *Live) Changed() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.files)
}

// Replay prints a stored session. wait is called before each thing that is printed, with its time, and may let time pass; its
// error ends the replay.
func Replay(s *history.Session, p Printer, wait func(history.Item) error) error {
	p.Begin(Begun{Session: s.ID, Mode: s.Mode, Model: s.Model, Dir: s.Dir})
	files, err := items(s, p, wait, false)
	if err != nil {
		return err
	}
	end := agent.End{Why: agent.Done}
	switch {
	case s.Last != nil && !s.Open():
		end = *s.Last
	case s.Open():
		end = agent.End{Why: "unfinished", Detail: "The last turn is not over."}
	}
	total := s.State.Total
	if !s.Looped() {
		total.Calls = s.Calls
	}
	p.End(Ended{Session: s.ID, End: end, Tally: total, Changed: len(files)})
	return nil
}

// Items prints what happened in a stored session, without a beginning and an end.
func Items(s *history.Session, p Printer) {
	_, _ = items(s, p, nil, true) // only a wait fails
}

// items also returns the files that were changed. last says that the end of the last turn is printed too.
func items(s *history.Session, p Printer, wait func(history.Item) error, last bool) (map[string]bool, error) {
	files := map[string]bool{}
	for i := range s.Turns {
		t := &s.Turns[i]
		for _, it := range t.Items {
			if wait != nil {
				if err := wait(it); err != nil {
					return nil, err
				}
			}
			item(p, it)
			if it.Call != nil {
				for _, f := range history.Changed(it.Call.Meta()) {
					files[f.Path] = true
				}
			}
		}
		if t.End != nil && t.End.Why != agent.Done && (last || i < len(s.Turns)-1) {
			p.Note("ended: " + string(t.End.Why) + ". " + t.End.Detail)
		}
	}
	return files, nil
}

func item(p Printer, it history.Item) {
	switch {
	case it.Said != nil:
		p.Said(it.Said)
	case it.Answer != nil && it.Answer.Message != nil:
		for _, b := range it.Answer.Message.Blocks {
			if b.Part != nil && b.Part.Kind == content.Text {
				p.Words(b.Part.Text)
			}
		}
		p.EndWords()
	case it.Call != nil:
		p.Call(it.Call)
	case it.Told != "":
		p.Note("the conversation was told in short")
	case it.Note != "":
		p.Note(it.Note)
	}
}

// Print prints something between what the session prints.
func (l *Live) Print(do func(Printer)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Printer.Rest()
	do(l.Printer)
}
