package ask_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/permission/ask"
	"github.com/tackle-dev/tackle/permission/kept"
	"github.com/tackle-dev/tackle/tool"
)

// process is a queue and a gate over a store that several of them share.
func process(t testing.TB, s *store.Memory, now func() time.Time) (*ask.Queue, *permission.Gate) {
	g := gate(t, s)
	q, _ := queue(t, ask.Options{Gate: func() *permission.Gate { return g }, Tickets: kept.NewTickets(s, now), Now: now})
	return q, g
}

func decideIn(t *testing.T, g *permission.Gate, in *tool.Intent, session string) tool.Decision {
	t.Helper()
	d, err := g.Decide(t.Context(), permission.Request{Intent: in, Session: session})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// P8: an ask that nobody was there to answer leaves a ticket; a yes from another process lets the same call through once,
// in its session, and no other.
func TestP8_Ticket(t *testing.T) {
	s := memory()
	q, g := process(t, s, nil)
	in := intent("edit", tool.Write, "src/a.go")
	qu := question(t, g, in)
	d, err := q.Ask(t.Context(), qu)
	if err != nil || d.Verdict != tool.Deny || d.Ticket == "" || !strings.Contains(d.Reason, "tackle approve "+d.Ticket) {
		t.Fatalf("%+v %v", d, err)
	}
	again, err := q.Ask(t.Context(), qu)
	if err != nil || again.Ticket != d.Ticket {
		t.Errorf("the same call has another ticket: %+v %v", again, err)
	}
	other, _ := process(t, s, nil) // a person's terminal
	list, err := other.Tickets(t.Context())
	if err != nil || len(list) != 1 || list[0].Request.ID != d.Ticket {
		t.Fatalf("%+v %v", list, err)
	}
	if list[0].Request.View.Title == "" || list[0].Request.Shown == "" {
		t.Error("the ticket does not say what is asked")
	}
	r := list[0].Request
	bad := yes(r)
	bad.Fingerprint = strings.Repeat("0", 64)
	if _, err := other.AnswerTicket(t.Context(), r.ID, bad); !errors.Is(err, ask.ErrOther) {
		t.Errorf("got %v", err)
	}
	bad = yes(r)
	bad.Hunks = []int{1}
	if _, err := other.AnswerTicket(t.Context(), r.ID, bad); !errors.Is(err, ask.ErrNotOffered) {
		t.Errorf("got %v", err)
	}
	if _, err := other.AnswerTicket(t.Context(), "ask_x", yes(r)); !errors.Is(err, ask.ErrUnknown) {
		t.Errorf("got %v", err)
	}
	if _, err := other.AnswerTicket(t.Context(), r.ID, yes(r)); err != nil {
		t.Fatal(err)
	}
	if _, err := other.AnswerTicket(t.Context(), r.ID, no(r, "")); !errors.Is(err, ask.ErrAnswered) || !strings.Contains(err.Error(), "person reviewer (test)") {
		t.Errorf("a second answer: %v", err)
	}
	for _, tt := range []struct {
		in      *tool.Intent
		session string
		want    tool.Verdict
	}{
		{intent("edit", tool.Write, "src/b.go"), "s", tool.Ask},
		{in, "other", tool.Ask},
		{in, "s", tool.Allow},
		{in, "s", tool.Ask}, // spent
	} {
		if d := decideIn(t, g, tt.in, tt.session); d.Verdict != tt.want {
			t.Errorf("%s in %s: %s by %s, want %s", tt.in.Args, tt.session, d.Verdict, d.By, tt.want)
		}
	}
	if list, _ := other.Tickets(t.Context()); len(list) != 0 {
		t.Errorf("still open: %+v", list)
	}
}

// A no to a ticket is a no to the same call, with the words, for a while.
func TestP8_TicketRefused(t *testing.T) {
	s := memory()
	q, g := process(t, s, at(1000))
	in := intent("edit", tool.Write, "src/a.go")
	d, err := q.Ask(t.Context(), question(t, g, in))
	if err != nil {
		t.Fatal(err)
	}
	other, _ := process(t, s, at(1001))
	list, _ := other.Tickets(t.Context())
	if _, err := other.AnswerTicket(t.Context(), d.Ticket, no(list[0].Request, "leave it")); err != nil {
		t.Fatal(err)
	}
	got, err := q.Ask(t.Context(), question(t, g, in))
	if err != nil || got.Verdict != tool.Deny || got.Reason != "leave it" || !got.Person {
		t.Errorf("%+v %v", got, err)
	}
	later, _ := process(t, s, at(1001+3600))
	if got, err := later.Ask(t.Context(), question(t, g, in)); err != nil || got.Ticket == "" || got.Ticket == d.Ticket {
		t.Errorf("an hour later: %+v %v", got, err)
	}
}

// An old ticket cannot be answered.
func TestP8_TicketExpires(t *testing.T) {
	s := memory()
	q, g := process(t, s, at(1000))
	d, err := q.Ask(t.Context(), question(t, g, intent("edit", tool.Write, "src/a.go")))
	if err != nil {
		t.Fatal(err)
	}
	late, _ := process(t, s, at(1000+86401))
	if list, _ := late.Tickets(t.Context()); len(list) != 0 {
		t.Errorf("listed: %+v", list)
	}
	tk, err := kept.NewTickets(s, nil).Get(t.Context(), d.Ticket)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := late.AnswerTicket(t.Context(), d.Ticket, yes(tk.Request)); !errors.Is(err, ask.ErrExpired) {
		t.Errorf("got %v", err)
	}
}

// Two terminals answer one ticket: one of them wins.
func TestP8_TicketOneWinner(t *testing.T) {
	s := memory()
	q, g := process(t, s, nil)
	for range 50 {
		d, err := q.Ask(t.Context(), question(t, g, intent("edit", tool.Write, "src/a.go")))
		if err != nil {
			t.Fatal(err)
		}
		tk, err := kept.NewTickets(s, nil).Get(t.Context(), d.Ticket)
		if err != nil {
			t.Fatal(err)
		}
		var won atomic.Int32
		var wg sync.WaitGroup
		for range 2 {
			other, _ := process(t, s, nil)
			wg.Go(func() {
				switch _, err := other.AnswerTicket(t.Context(), d.Ticket, yes(tk.Request)); {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, ask.ErrAnswered):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d answers won", won.Load())
		}
		if d := decideIn(t, g, intent("edit", tool.Write, "src/a.go"), "s"); d.Verdict != tool.Allow {
			t.Fatalf("the grant does not hold: %+v", d)
		}
	}
}
