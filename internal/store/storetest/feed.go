package storetest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/tackle-dev/tackle/internal/store"
)

// follow reads the feed and checks that its numbers grow.
func follow(t *testing.T, st store.Feed, after int64, limit int) []store.Fed {
	t.Helper()
	got, err := st.Follow(t.Context(), after, limit)
	if err != nil {
		t.Fatalf("follow: %v", err)
	}
	for _, f := range got {
		if f.ID <= after {
			t.Fatalf("number %d follows %d", f.ID, after)
		}
		after = f.ID
	}
	return got
}

func names(fed []store.Fed) (out []string) {
	for _, f := range fed {
		out = append(out, fmt.Sprintf("%s/%d %s", f.Session, f.Seq, f.Kind))
	}
	return out
}

func newest(t *testing.T, st store.Feed) int64 {
	t.Helper()
	id, err := st.Newest(t.Context())
	if err != nil {
		t.Fatalf("newest: %v", err)
	}
	return id
}

var feedTests = []test{
	{"the feed is all events in the order of storing", func(t *testing.T, st store.Store, _ *clock) {
		if got := newest(t, st); got != 0 {
			t.Errorf("Newest of nothing = %d", got)
		}
		appendAll(t, st, ev("b", "one", "", 1), ev("a", "two", "", 2))
		appendAll(t, st, ev(".own", "three", "k", 3))
		appendAll(t, st, ev(".own", "three", "k", 3)) // known: stored once
		appendAll(t, st, ev("b", "four", "", 4))
		all := follow(t, st, 0, 0)
		same(t, "feed", []string{"b/1 one", "a/1 two", ".own/1 three", "b/2 four"}, names(all))
		same(t, "events", read(t, st, "b", 0, 0), []store.Event{all[0].Event, all[3].Event})
		if got := newest(t, st); got != all[3].ID {
			t.Errorf("Newest = %d, want %d", got, all[3].ID)
		}
		same(t, "page", names(all[1:3]), names(follow(t, st, all[0].ID, 2)))
		same(t, "nothing new", []string(nil), names(follow(t, st, all[3].ID, 0)))
	}},
	{"appended wakes those who wait", func(t *testing.T, st store.Store, _ *clock) {
		ch := st.Appended()
		select {
		case <-ch:
			t.Fatal("woken by nothing")
		default:
		}
		appendAll(t, st, events("s", 1)...)
		<-ch
		again := st.Appended()
		select {
		case <-again:
			t.Fatal("woken by what was stored before")
		default:
		}
	}},
	{"who follows misses nothing beside writers", func(t *testing.T, st store.Store, _ *clock) {
		const writers, each = 4, 50
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for range each {
					if _, err := st.Append(t.Context(), events(fmt.Sprint("w", w), 1)...); err != nil {
						t.Errorf("append: %v", err)
					}
				}
			})
		}
		seen := map[string]bool{}
		for after := int64(0); len(seen) < writers*each; {
			more := st.Appended()
			got := follow(t, st, after, 7)
			for _, f := range got {
				seen[fmt.Sprint(f.Session, " ", f.Seq)] = true
				after = f.ID
			}
			if len(got) == 0 {
				select {
				case <-more:
				case <-t.Context().Done():
					t.Fatalf("saw %d of %d events", len(seen), writers*each)
				}
			}
		}
		wg.Wait()
	}},
	{"what is removed is gone, and no number is used twice", func(t *testing.T, st store.Store, _ *clock) {
		appendAll(t, st, events("keep", 2)...)
		appendAll(t, st, ev("gone", "note", "k", 1), ev("gone", "note", "", 2))
		before := newest(t, st)
		ch := st.Appended()
		if err := st.Remove(t.Context(), "gone", "unknown"); err != nil {
			t.Fatal(err)
		}
		<-ch
		if got := read(t, st, "gone", 0, 0); len(got) != 0 {
			t.Errorf("the removed session has %d events", len(got))
		}
		list, err := st.Sessions(t.Context(), store.Filter{})
		if err != nil || len(list) != 1 || list[0].ID != "keep" {
			t.Errorf("sessions: %v, %v", list, err)
		}
		if got := newest(t, st); got < before {
			t.Errorf("the newest number went from %d to %d", before, got)
		}
		same(t, "feed", []string{"keep/1 note", "keep/2 note", store.Removed + "/1 " + store.KindRemoved}, names(follow(t, st, 0, 0)))
		same(t, "a new life", []int64{1}, appendAll(t, st, ev("gone", "note", "k", 3)))
		if got := newest(t, st); got <= before {
			t.Errorf("the number %d was used before", got)
		}
	}},
	{"streams of the program are not removed", func(t *testing.T, st store.Store, _ *clock) {
		appendAll(t, st, events(".ledger", 1)...)
		appendAll(t, st, events("s", 1)...)
		wantKind(t, st.Remove(t.Context(), "s", ".ledger"), store.ErrInvalid)
		wantKind(t, st.Remove(t.Context(), ""), store.ErrInvalid)
		if got := len(read(t, st, "s", 0, 0)); got != 1 {
			t.Errorf("a refused removal left %d events of 1", got)
		}
		if err := st.Remove(t.Context()); err != nil {
			t.Errorf("removing nothing: %v", err)
		}
	}},
}
