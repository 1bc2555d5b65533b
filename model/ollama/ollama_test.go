package ollama

import (
	"testing"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/modeltest"
)

func TestA2_Model(t *testing.T) {
	for _, ids := range []bool{false, true} { // older servers do not name calls
		t.Run(map[bool]string{false: "without ids", true: "with ids"}[ids], func(t *testing.T) {
			modeltest.Run(t, modeltest.Suite{
				New: func(e modeltest.Endpoint) (model.Model, error) {
					return New(Options{Model: "qwen3-vl:8b", BaseURL: e.URL, Key: e.Key, Idle: e.Idle,
						Info: model.Info{Window: 32_768, Price: model.Price{Input: 1, Output: 2}}})
				},
				Fake: fake{ids: ids},
				Can:  modeltest.Can{Reasoning: true, CallIDs: ids, Parallel: true, Images: true, ResultImages: true, StreamErrors: true, Ends: true, RetryAfter: true},
			})
		})
	}
}
