package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/internal/store"
)

var eventTests = []test{
	{"numbers are contiguous per session", func(t *testing.T, st store.Store, _ *clock) {
		same(t, "a", []int64{1, 2}, appendAll(t, st, events("a", 2)...))
		same(t, "b", []int64{1}, appendAll(t, st, events("b", 1)...))
		mixed := append(events("a", 1), append(events("b", 2), events("a", 1)...)...)
		same(t, "mixed", []int64{3, 2, 3, 4}, appendAll(t, st, mixed...))
		for session, want := range map[string]int64{"a": 4, "b": 3, "none": 0} {
			got, err := st.Last(t.Context(), session)
			if got != want || err != nil {
				t.Errorf("Last(%q) = %d, %v, want %d", session, got, err, want)
			}
		}
	}},
	{"read gives back what was appended", func(t *testing.T, st store.Store, clock *clock) {
		at := time.Date(2020, 2, 29, 1, 2, 3, 4567891, time.UTC)
		in := []store.Event{
			{Session: "s", Kind: "call", Key: "c1", At: at, Body: json.RawMessage(`{"text":"é <>& \u2028 漢","n":9007199254740993}`)},
			{Session: "s", Kind: "empty"},
		}
		appendAll(t, st, in...)
		want := []store.Event{
			{Session: "s", Seq: 1, Kind: "call", Key: "c1", At: at.Truncate(time.Microsecond), Body: in[0].Body},
			{Session: "s", Seq: 2, Kind: "empty", At: clock.at.UTC().Truncate(time.Microsecond), Body: json.RawMessage("null")},
		}
		same(t, "events", want, read(t, st, "s", 0, 0))
	}},
	{"read pages", func(t *testing.T, st store.Store, _ *clock) {
		appendAll(t, st, events("s", 10)...)
		for _, c := range []struct {
			after int64
			limit int
			first int64
			n     int
		}{{0, 0, 1, 10}, {0, 3, 1, 3}, {3, 3, 4, 3}, {9, 3, 10, 1}, {10, 3, 0, 0}, {99, 0, 0, 0}, {-5, 2, 1, 2}} {
			got := read(t, st, "s", c.after, c.limit)
			if len(got) != c.n || (c.n > 0 && got[0].Seq != c.first) {
				t.Errorf("Read after %d limit %d: %d events %v", c.after, c.limit, len(got), got)
			}
		}
		if got := read(t, st, "unknown", 0, 0); len(got) != 0 {
			t.Errorf("an unknown session has events: %v", got)
		}
	}},
	{"a key stores once", func(t *testing.T, st store.Store, _ *clock) {
		same(t, "first", []int64{1, 2}, appendAll(t, st, ev("s", "k", "x", 1), ev("s", "k", "", 2)))
		same(t, "again", []int64{1}, appendAll(t, st, ev("s", "k", "x", 99)))
		same(t, "again in a batch", []int64{3, 1, 4, 4}, appendAll(t, st, ev("s", "k", "", 3), ev("s", "k", "x", 98), ev("s", "k", "y", 4), ev("s", "k", "y", 97)))
		same(t, "in another session", []int64{1}, appendAll(t, st, ev("t", "k", "x", 5)))
		var bodies []string
		for _, e := range read(t, st, "s", 0, 0) {
			bodies = append(bodies, string(e.Body))
		}
		same(t, "bodies", []string{"1", "2", "3", "4"}, bodies)
	}},
	{"an expected number is checked", func(t *testing.T, st store.Store, _ *clock) {
		appendAll(t, st, events("s", 2)...)
		for _, seq := range []int64{1, 2, 4} {
			e := ev("s", "k", "", seq)
			e.Seq = seq
			_, err := st.Append(t.Context(), ev("other", "k", "", 0), e)
			var c *store.ConflictError
			if !errors.As(err, &c) || !errors.Is(err, store.ErrConflict) {
				t.Fatalf("seq %d: error %v, want a conflict", seq, err)
			}
			same(t, "conflict", &store.ConflictError{Session: "s", Want: seq, Last: 2}, c)
		}
		if got := read(t, st, "other", 0, 0); len(got) != 0 {
			t.Errorf("half of a refused batch was stored: %v", got)
		}
		e := ev("s", "k", "", 3)
		e.Seq = 3
		same(t, "right number", []int64{3}, appendAll(t, st, e))
		e = ev("s", "k", "key", 4)
		e.Seq = 4
		same(t, "keyed", []int64{4}, appendAll(t, st, e))
		same(t, "a retry of a keyed event is no conflict", []int64{4}, appendAll(t, st, e))
	}},
	{"what is not valid is refused whole", func(t *testing.T, st store.Store, _ *clock) {
		for name, bad := range map[string]store.Event{
			"no session":      {Kind: "k"},
			"no kind":         {Session: "s"},
			"NUL in session":  {Session: "s\x00", Kind: "k"},
			"invalid UTF-8":   {Session: "s\xff", Kind: "k"},
			"long key":        {Session: "s", Kind: "k", Key: strings.Repeat("x", 600)},
			"body not JSON":   {Session: "s", Kind: "k", Body: json.RawMessage(`{"a":`)},
			"negative number": {Session: "s", Kind: "k", Seq: -1},
			"large body":      {Session: "s", Kind: "k", Body: json.RawMessage(`"` + strings.Repeat("x", store.MaxBody) + `"`)},
		} {
			if _, err := st.Append(t.Context(), ev("s", "k", "", 1), bad); !errors.Is(err, store.ErrInvalid) {
				t.Errorf("%s: error %v, want ErrInvalid", name, err)
			}
		}
		if got := read(t, st, "s", 0, 0); len(got) != 0 {
			t.Errorf("stored in spite of the error: %v", got)
		}
		if seqs, err := st.Append(t.Context()); len(seqs) != 0 || err != nil {
			t.Errorf("appending nothing: %v, %v", seqs, err)
		}
	}},
	{"sessions are listed newest first", func(t *testing.T, st store.Store, clock *clock) {
		begin := clock.at.UTC().Truncate(time.Microsecond)
		for _, s := range []string{"b", "a", ".own", "ab", "a"} {
			appendAll(t, st, events(s, 1)...)
			clock.forward(time.Hour)
		}
		list := func(f store.Filter) (ids []string) {
			got, err := st.Sessions(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range got {
				ids = append(ids, s.ID)
			}
			return ids
		}
		same(t, "all", []string{"a", "ab", "b"}, list(store.Filter{}))
		same(t, "limit", []string{"a", "ab"}, list(store.Filter{Limit: 2}))
		same(t, "prefix", []string{"a", "ab"}, list(store.Filter{Prefix: "a"}))
		same(t, "own streams", []string{".own"}, list(store.Filter{Prefix: "."}))
		same(t, "since", []string{"a", "ab"}, list(store.Filter{Since: begin.Add(2 * time.Hour)}))
		same(t, "no such prefix", []string(nil), list(store.Filter{Prefix: "x"}))
		got, _ := st.Sessions(t.Context(), store.Filter{Limit: 1})
		same(t, "ends", []store.Session{{ID: "a", Last: 2, Updated: begin.Add(4 * time.Hour),
			First: store.Event{Session: "a", Seq: 1, At: begin.Add(time.Hour), Kind: "note", Body: json.RawMessage(`"a1"`)}}}, got)
	}},
	{"appends from many goroutines leave no gap", func(t *testing.T, st store.Store, _ *clock) {
		const writers, each = 8, 25
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					if _, err := st.Append(t.Context(), ev("s", "k", fmt.Sprint(w, "-", i), w), ev(fmt.Sprint("own", w), "k", "", i)); err != nil {
						t.Errorf("append: %v", err)
					}
				}
			})
		}
		wg.Wait()
		evs := read(t, st, "s", 0, 0)
		if len(evs) != writers*each {
			t.Fatalf("%d events, want %d", len(evs), writers*each)
		}
		for i, e := range evs {
			if e.Seq != int64(i+1) {
				t.Fatalf("event %d has number %d", i+1, e.Seq)
			}
		}
	}},
	{"one writer wins an expected number", func(t *testing.T, st store.Store, _ *clock) {
		var wg sync.WaitGroup
		var mu sync.Mutex
		won := map[int64]int{}
		for range 6 {
			wg.Go(func() {
				for seq := int64(1); seq <= 10; seq++ {
					e := ev("s", "k", "", seq)
					e.Seq = seq
					if _, err := st.Append(t.Context(), e); err == nil {
						mu.Lock()
						won[seq]++
						mu.Unlock()
					} else if !errors.Is(err, store.ErrConflict) {
						t.Errorf("append: %v", err)
					}
				}
			})
		}
		wg.Wait()
		last, _ := st.Last(t.Context(), "s")
		for seq := int64(1); seq <= last; seq++ {
			if won[seq] != 1 {
				t.Errorf("number %d was won %d times", seq, won[seq])
			}
		}
		if last == 0 || len(won) != int(last) {
			t.Errorf("%d numbers won, the newest is %d", len(won), last)
		}
	}},
	{"a cancelled context stores nothing", func(t *testing.T, st store.Store, _ *clock) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := st.Append(ctx, events("s", 1)...); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context.Canceled", err)
		}
		if got := read(t, st, "s", 0, 0); len(got) != 0 {
			t.Errorf("stored: %v", got)
		}
	}},
	{"a closed store says so", func(t *testing.T, st store.Store, _ *clock) {
		appendAll(t, st, events("s", 1)...)
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		_, err := st.Append(t.Context(), events("s", 1)...)
		wantKind(t, err, store.ErrClosed)
		_, err = st.Read(t.Context(), "s", 0, 0)
		wantKind(t, err, store.ErrClosed)
		wantKind(t, st.Set(t.Context(), store.Record{Space: "a", Key: "b"}), store.ErrClosed)
	}},
}
