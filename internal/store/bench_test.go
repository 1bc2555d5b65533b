package store

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkAppend measures one event per call; "median-ns" is the figure to compare, since a checkpoint now and then
// takes milliseconds.
func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct {
		name  string
		size  int
		keyed bool
		batch int
		opt   Options
	}{
		{"200B", 200, false, 1, Options{}}, {"1KB", 1000, false, 1, Options{}}, {"1KB-keyed", 1000, true, 1, Options{}},
		{"1KB-batch2", 1000, false, 2, Options{}}, {"1KB-durable", 1000, false, 1, Options{Durable: true}},
	} {
		b.Run(c.name, func(b *testing.B) {
			d := NewDB(filepath.Join(b.TempDir(), "t.db"), c.opt)
			defer d.Close()
			body := []byte(`"` + strings.Repeat("x", c.size) + `"`)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			mustAppend(b, d, note("s"))
			var took []time.Duration
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				evs := make([]Event, c.batch)
				for j := range evs {
					evs[j] = Event{Session: fmt.Sprint("s", j), Kind: "call", Body: body}
					if c.keyed {
						evs[j].Key = fmt.Sprint(i)
					}
				}
				t := time.Now()
				if _, err := d.Append(ctx, evs...); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(t))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2]), "median-ns")
			b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
		})
	}
}

// BenchmarkOpen measures the cold start: a new DB value up to its first answer.
func BenchmarkOpen(b *testing.B) {
	ctx := context.Background()
	b.Run("existing-append", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "t.db")
		keep := NewDB(path, Options{})
		defer keep.Close()
		mustAppend(b, keep, note("s"))
		for b.Loop() {
			d := NewDB(path, Options{})
			mustAppend(b, d, note("s"))
			d.Close()
		}
	})
	b.Run("existing-read", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "t.db")
		keep := NewDB(path, Options{})
		defer keep.Close()
		mustAppend(b, keep, note("s"))
		for b.Loop() {
			d := NewDB(path, Options{})
			if _, err := d.Last(ctx, "s"); err != nil {
				b.Fatal(err)
			}
			d.Close()
		}
	})
	b.Run("new", func(b *testing.B) {
		dir := b.TempDir()
		for i := 0; b.Loop(); i++ {
			d := NewDB(filepath.Join(dir, fmt.Sprint(i), "t.db"), Options{})
			mustAppend(b, d, note("s"))
			d.Close()
		}
	})
}

func BenchmarkRead(b *testing.B) {
	d := NewDB(filepath.Join(b.TempDir(), "t.db"), Options{})
	defer d.Close()
	evs := make([]Event, 1000)
	for i := range evs {
		evs[i] = Event{Session: "s", Kind: "k", Body: []byte(`"` + strings.Repeat("x", 1000) + `"`)}
	}
	mustAppend(b, d, evs...)
	b.ReportAllocs()
	for b.Loop() {
		if got, err := d.Read(context.Background(), "s", 0, 0); len(got) != 1000 || err != nil {
			b.Fatal(len(got), err)
		}
	}
}

func BenchmarkSessions(b *testing.B) {
	d := NewDB(filepath.Join(b.TempDir(), "t.db"), Options{})
	defer d.Close()
	var evs []Event
	for s := range 500 {
		for range 40 {
			evs = append(evs, note(fmt.Sprintf("session-%03d", s)))
		}
	}
	mustAppend(b, d, evs...)
	for b.Loop() {
		if got, err := d.Sessions(context.Background(), Filter{Limit: 50}); len(got) != 50 || err != nil {
			b.Fatal(len(got), err)
		}
	}
}

func BenchmarkPut(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20, 20 << 20} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			d := NewDisk(b.TempDir(), Options{})
			data := make([]byte, size)
			b.SetBytes(int64(size))
			for i := 0; b.Loop(); i++ {
				copy(data, fmt.Sprint(i, "-"))
				if _, err := d.Put(context.Background(), io.MultiReader(strings.NewReader(""), strings.NewReader(string(data)))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
