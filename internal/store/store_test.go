package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/internal/store/storetest"
)

func TestLocal(t *testing.T) {
	storetest.Run(t, func(t *testing.T, now func() time.Time) store.Store {
		return store.Open(t.TempDir(), store.Options{Now: now})
	})
}

func TestMemory(t *testing.T) {
	storetest.Run(t, func(t *testing.T, now func() time.Time) store.Store {
		return &store.Memory{Now: now}
	})
}

// Any sequence of appends gives the same numbers, errors and events in the database and in memory.
func TestDatabaseEqualsMemory(t *testing.T) {
	now := func() time.Time { return time.Unix(0, 0) }
	db := store.NewDB(filepath.Join(t.TempDir(), "tackle.db"), store.Options{Now: now})
	defer db.Close()
	mem := &store.Memory{Now: now}
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		sessions := []string{fmt.Sprint("a", round), fmt.Sprint("b", round), fmt.Sprint("c", round)}
		ctx := context.Background()
		for range rapid.IntRange(1, 12).Draw(t, "appends") {
			batch := make([]store.Event, rapid.IntRange(1, rapid.SampledFrom([]int{10, 40}).Draw(t, "most")).Draw(t, "size"))
			for i := range batch {
				batch[i] = store.Event{
					Session: rapid.SampledFrom(sessions).Draw(t, "session"), Kind: "k",
					Key: rapid.SampledFrom([]string{"", "", "x", "y"}).Draw(t, "key"),
					Seq: rapid.SampledFrom([]int64{0, 0, 0, 0, 1, 2, 5}).Draw(t, "seq"),
				}
			}
			want, wantErr := mem.Append(ctx, batch...)
			got, gotErr := db.Append(ctx, batch...)
			if d := cmp.Diff(want, got); d != "" || fmt.Sprint(wantErr) != fmt.Sprint(gotErr) {
				t.Fatalf("append %+v\nmemory: %v %v\ndatabase: %v %v", batch, want, wantErr, got, gotErr)
			}
		}
		for _, s := range sessions {
			want, _ := mem.Read(ctx, s, 0, 0)
			got, err := db.Read(ctx, s, 0, 0)
			if d := cmp.Diff(want, got); d != "" || err != nil {
				t.Fatalf("session %s, %v (-memory +database):\n%s", s, err, d)
			}
		}
	})
}
