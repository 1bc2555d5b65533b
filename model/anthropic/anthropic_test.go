package anthropic

import (
	"testing"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/modeltest"
)

func suite() modeltest.Suite {
	return modeltest.Suite{
		New: func(e modeltest.Endpoint) (model.Model, error) {
			return New(Options{Model: "claude-sonnet-4-5", BaseURL: e.URL, Key: e.Key, Idle: e.Idle})
		},
		Fake: fake{},
		Can: modeltest.Can{Reasoning: true, Signed: true, CallIDs: true, TextArgs: true, Parallel: true, Images: true, Documents: true, ResultImages: true,
			CacheRead: true, CacheWrite: true, CacheMarks: true, Refusal: true, Choice: true, StreamErrors: true, Ends: true, RetryAfter: true},
	}
}

func TestA2_Model(t *testing.T) { modeltest.Run(t, suite()) }

// A token is shown within 50 ms of its arrival.
func BenchmarkToken(b *testing.B) { modeltest.Bench(b, suite()) }
