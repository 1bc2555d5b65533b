package history_test

import (
	"fmt"
	"testing"

	"github.com/tackle-dev/tackle/agent"
	"github.com/tackle-dev/tackle/agent/history"
	"github.com/tackle-dev/tackle/internal/store"
)

// filed returns a database with so many short sessions, and one of about 5,000 events that is called "long".
func filed(b *testing.B, sessions int) *store.Local {
	b.Helper()
	db := store.Open(b.TempDir(), store.Options{})
	b.Cleanup(func() { db.Close() })
	long := newBook(b, "long")
	long.start()
	for range 1000 {
		long.say("Look for x")
		ids := long.answer("", `grep {"pattern": "x"}`)
		long.ran(ids[0], agent.OK, "x")
		long.answer("Found.")
		long.end(agent.Done)
	}
	evs, err := long.s.Read(b.Context(), "long", 0, 0)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := db.Append(b.Context(), evs...); err != nil {
		b.Fatal(err)
	}
	for i := range sessions {
		some := make([]store.Event, 21)
		for j, ev := range evs[:21] {
			ev.Session = fmt.Sprintf("s%d", i)
			some[j] = ev
		}
		if _, err := db.Append(b.Context(), some...); err != nil {
			b.Fatal(err)
		}
	}
	return db
}

// BenchmarkOpen reads a session of 5,001 events.
func BenchmarkOpen(b *testing.B) {
	db := filed(b, 0)
	for b.Loop() {
		if s, err := history.Open(b.Context(), db, "long"); err != nil || len(s.Turns) != 1000 {
			b.Fatal(err)
		}
	}
}

// BenchmarkList lists the newest 20 of 1,001 sessions.
func BenchmarkList(b *testing.B) {
	db := filed(b, 1000)
	for b.Loop() {
		if l, err := history.List(b.Context(), db, history.Query{Limit: 20}); err != nil || len(l) != 20 {
			b.Fatal(err)
		}
	}
}
