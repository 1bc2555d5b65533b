package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// table collects figures by metric and server.
type table struct {
	metrics []string
	servers []string
	values  map[string]map[string][]float64 // by metric, then server
}

func newTable() *table { return &table{values: map[string]map[string][]float64{}} }

// column returns the function that takes the figures of one server.
func (t *table) column(name string) func(metric string, value float64) {
	if !slices.Contains(t.servers, name) {
		t.servers = append(t.servers, name)
	}
	return func(metric string, value float64) {
		if t.values[metric] == nil {
			t.metrics = append(t.metrics, metric)
			t.values[metric] = map[string][]float64{}
		}
		t.values[metric][name] = append(t.values[metric][name], value)
	}
}

// print writes the medians.
func (t *table) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "median\t")
	for _, s := range t.servers {
		fmt.Fprintf(w, "%s\t", s)
	}
	fmt.Fprintln(w)
	for _, m := range t.metrics {
		fmt.Fprintf(w, "%s\t", m)
		for _, s := range t.servers {
			if v := t.values[m][s]; len(v) > 0 {
				fmt.Fprintf(w, "%.3f\t", median(v))
			} else {
				fmt.Fprint(w, "-\t")
			}
		}
		fmt.Fprintln(w)
	}
	w.Flush()
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

// quantile returns a quantile in milliseconds.
func quantile(d []time.Duration, q float64) float64 {
	if len(d) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(d))
	return float64(s[min(int(q*float64(len(s))), len(s)-1)].Nanoseconds()) / 1e6
}
