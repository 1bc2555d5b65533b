package search

import (
	"context"
	"testing"
)

func BenchmarkGrep(b *testing.B) {
	e := New(Local(), Config{})
	for _, r := range []struct {
		name string
		q    GrepQuery
	}{
		{"absent", GrepQuery{Pattern: "zqxjkvbpm"}},
		{"common", GrepQuery{Pattern: "return", Mode: Content, CountFor: -1}},
		{"page", GrepQuery{Pattern: "return", Mode: Content, Limit: 250, CountFor: 1}},
		{"no literal", GrepQuery{Pattern: "[A-Z]{5}[0-9]{4}[a-z]"}},
		{"anchored", GrepQuery{Pattern: "^[a-z]+ [a-z]+ [a-z]+$", Mode: Content}},
	} {
		r.q.Root = trees()[0]
		b.Run(r.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := e.Grep(context.Background(), r.q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFiles(b *testing.B) {
	e := New(Local(), Config{})
	for _, r := range []struct {
		name string
		q    FilesQuery
	}{
		{"all by path", FilesQuery{Limit: 100}},
		{"newest of a kind", FilesQuery{Pattern: "**/*.go", Order: Newest, Limit: 100}},
	} {
		r.q.Root = trees()[0]
		b.Run(r.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := e.Files(context.Background(), r.q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkStreamFiles(b *testing.B) {
	e := New(Local(), Config{})
	q := FilesQuery{Filter: Filter{Root: trees()[0]}}
	for b.Loop() {
		if _, err := e.StreamFiles(context.Background(), q, func(int, string) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
