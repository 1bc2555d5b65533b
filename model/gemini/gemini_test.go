package gemini

import (
	"testing"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/modeltest"
)

func suite(name string, ids bool) modeltest.Suite {
	return modeltest.Suite{
		New: func(e modeltest.Endpoint) (model.Model, error) {
			return New(Options{Model: name, BaseURL: e.URL, Key: e.Key, Idle: e.Idle})
		},
		Fake: fake{ids: ids},
		Can: modeltest.Can{Reasoning: true, Signed: true, CallIDs: ids, Parallel: true, Images: true, Documents: true, ResultImages: true,
			CacheRead: true, Refusal: true, Choice: true, StreamErrors: true, Ends: true, RetryAfter: true},
	}
}

// Newer models name their calls, and want a signature with the first of them.
func TestA2_Model(t *testing.T) {
	t.Run("gemini-2.5-pro", func(t *testing.T) { modeltest.Run(t, suite("gemini-2.5-pro", false)) })
	t.Run("gemini-4-argon", func(t *testing.T) { modeltest.Run(t, suite("gemini-4-argon", true)) })
}

// A token is shown within 50 ms of its arrival.
func BenchmarkToken(b *testing.B) { modeltest.Bench(b, suite("gemini-4-argon", true)) }
