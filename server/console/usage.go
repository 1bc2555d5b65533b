package console

import (
	"encoding/json"
	"net/http"

	"github.com/tackle-dev/tackle/server/internal/core"
)

// usageData is what was used.
type usageData struct {
	core.Usage
	Hours int
	Spans []span
}

// span is a choice of time.
type span struct {
	Name        string
	Hours, Step int
	Current     bool
}

func (c *Console) usage(r *http.Request, p *page) error {
	hours, err := numberParam(r, "hours")
	if err != nil {
		return err
	}
	spans := []span{{"24 hours", 24, 1, false}, {"3 days", 72, 1, false}, {"7 days", 168, 3, false}, {"31 days", 744, 12, false}}
	at := 0
	for i, s := range spans {
		if s.Hours == int(hours) {
			at = i
		}
	}
	spans[at].Current = true
	u, err := c.core.Usage(r.Context(), core.UsageQuery{Hours: spans[at].Hours, Step: spans[at].Step})
	if err != nil {
		return err
	}
	p.Name, p.Title, p.Section, p.Data = "usage", "Usage", "usage", usageData{Usage: u, Hours: spans[at].Hours, Spans: spans}
	return nil
}

// series returns numbers of the buckets as a plot reads them: one list of times and one for each name.
func series(buckets []core.Bucket, names ...string) string {
	out := make([][]float64, len(names)+1)
	for i := range out {
		out[i] = make([]float64, len(buckets))
	}
	for i := range buckets {
		b := &buckets[i]
		out[0][i] = float64(b.At.Unix())
		values := map[string]float64{"calls": float64(b.Calls), "failures": float64(b.Failures), "denied": float64(b.Denied), "asks": float64(b.Asks),
			"in": float64(b.BytesIn), "out": float64(b.BytesOut), "p50": b.P50MS, "p90": b.P90MS, "p99": b.P99MS}
		for k, n := range names {
			out[k+1][i] = values[n]
		}
	}
	body, err := json.Marshal(out)
	if err != nil { // numbers only
		return "[]"
	}
	return string(body)
}

func (c *Console) keys(_ *http.Request, p *page) error {
	p.Name, p.Title, p.Section = "keys", "Keys and help", "keys"
	return nil
}
