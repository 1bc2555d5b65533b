package console

import (
	"encoding/json"
	"net/http"
	"time"

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

// keysData is what the page of help knows beside its words.
type keysData struct {
	Codes      bool // codes can be made
	Code, Path string
	Expires    time.Time
}

func (c *Console) keys(_ *http.Request, p *page) error {
	p.Name, p.Title, p.Section, p.Data = "keys", "Keys and help", "keys", keysData{Codes: c.cfg.Code != nil}
	return nil
}

// code makes a code for another browser.
func (c *Console) code(r *http.Request, p *page) error {
	if c.cfg.Code == nil {
		return &core.Error{Kind: core.NotFound, Message: "This server makes no codes; whoever runs it logs people in."}
	}
	d := keysData{Codes: true}
	var err error
	d.Code, d.Path, d.Expires, err = c.cfg.Code(r, p.Who)
	p.Name, p.Title, p.Section, p.Data = "keys", "Keys and help", "keys", d
	return err
}
