package ollama

import (
	"testing"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/modeltest"
)

func suite(ids bool) modeltest.Suite {
	return modeltest.Suite{
		New: func(e modeltest.Endpoint) (model.Model, error) {
			return New(Options{Model: "qwen3-vl:8b", BaseURL: e.URL, Key: e.Key, Idle: e.Idle,
				Info: model.Info{Window: 32_768, Price: model.Price{Input: 1, Output: 2}}})
		},
		Fake: fake{ids: ids},
		Can:  modeltest.Can{Reasoning: true, CallIDs: ids, Parallel: true, Images: true, ResultImages: true, StreamErrors: true, Ends: true, RetryAfter: true},
	}
}

func TestA2_Model(t *testing.T) {
	t.Run("an older server, which does not name calls", func(t *testing.T) { modeltest.Run(t, suite(false)) })
	t.Run("a newer server", func(t *testing.T) { modeltest.Run(t, suite(true)) })
}

// A token is shown within 50 ms of its arrival.
func BenchmarkToken(b *testing.B) { modeltest.Bench(b, suite(true)) }
