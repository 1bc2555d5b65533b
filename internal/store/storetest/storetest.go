// Package storetest is the conformance suite of the store seam: what every implementation of events, records and blobs
// must do. A new store proves itself by calling [Run].
package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/internal/store"
)

// Run tests a store. Each call of open must return an empty store whose clock is now; the suite closes it.
func Run(t *testing.T, open func(t *testing.T, now func() time.Time) store.Store) {
	suites := []struct {
		name  string
		tests []test
	}{{"events", eventTests}, {"feed", feedTests}, {"records", recordTests}, {"blobs", blobTests}}
	for _, s := range suites {
		t.Run(s.name, func(t *testing.T) {
			if len(s.tests) == 0 {
				t.Fatal("the suite is empty")
			}
			for _, c := range s.tests {
				t.Run(c.name, func(t *testing.T) {
					clock := &clock{at: start}
					st := open(t, clock.now)
					defer func() {
						if err := st.Close(); err != nil {
							t.Errorf("close: %v", err)
						}
					}()
					c.run(t, st, clock)
				})
			}
		})
	}
}

type test struct {
	name string
	run  func(t *testing.T, st store.Store, clock *clock)
}

var start = time.Date(2026, 11, 29, 12, 0, 0, 123456789, time.FixedZone("CET", 3600))

// clock is a clock that only the test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time          { return c.at }
func (c *clock) forward(d time.Duration) { c.at = c.at.Add(d) }

func ev(session, kind, key string, body any) store.Event {
	b, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return store.Event{Session: session, Kind: kind, Key: key, Body: b}
}

// events makes n unkeyed events of a session.
func events(session string, n int) []store.Event {
	out := make([]store.Event, n)
	for i := range out {
		out[i] = ev(session, "note", "", fmt.Sprint(session, i+1))
	}
	return out
}

func appendAll(t *testing.T, st store.Events, evs ...store.Event) []int64 {
	t.Helper()
	seqs, err := st.Append(t.Context(), evs...)
	if err != nil {
		t.Fatalf("append: %v", err)
	}
	return seqs
}

func read(t *testing.T, st store.Events, session string, after int64, limit int) []store.Event {
	t.Helper()
	evs, err := st.Read(t.Context(), session, after, limit)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	return evs
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func wantKind(t *testing.T, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("error %v, want one of kind %q", err, kind)
	}
}
