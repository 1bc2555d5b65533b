package modeltest

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/model"
)

// Bench measures how long a token needs from the service's socket to the listener: one op is one token. The metric first-µs is that of
// the first token of a stream, the head of the answer included, worst-µs the longest of all.
func Bench(b *testing.B, s Suite) {
	came := make(chan time.Time)
	first, worst := time.Duration(0), time.Duration(0)
	x := s.Fake.Stream(s.reply(model.End, text("one ")))
	srv := &server{suite: &s, answers: []answerFunc{func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", x.ContentType)
		b.ResetTimer()
		for i := range b.N {
			part := x.Steps[0]
			if i == 0 {
				part = x.Head + part
			}
			sent := time.Now()
			send(w, part)
			took := (<-came).Sub(sent)
			if i == 0 {
				first = took
			}
			worst = max(worst, took)
		}
		b.StopTimer()
		send(w, x.Tail)
	}}}
	h := httptest.NewServer(srv)
	defer h.Close()
	m, err := s.New(Endpoint{URL: h.URL, Key: Key})
	if err != nil {
		b.Fatal(err)
	}
	tokens := 0
	_, err = m.Stream(b.Context(), ask("Count."), func(model.Piece) error {
		tokens++
		came <- time.Now()
		return nil
	})
	if err != nil || tokens != b.N {
		b.Fatalf("%d of %d tokens came: %v", tokens, b.N, err)
	}
	b.ReportMetric(float64(first.Microseconds()), "first-µs")
	b.ReportMetric(float64(worst.Microseconds()), "worst-µs")
}
