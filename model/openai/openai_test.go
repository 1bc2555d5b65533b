package openai

import (
	"testing"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/modeltest"
)

// priced is what the suite wants to know of a model.
var priced = model.Info{Images: true, Files: true, Price: model.Price{Input: 2, CacheRead: 0.2, CacheWrite: 2.5, Output: 10}}

func adapter(o Options) func(e modeltest.Endpoint) (model.Model, error) {
	return func(e modeltest.Endpoint) (model.Model, error) {
		o.BaseURL, o.Key, o.Idle, o.Info = e.URL+"/v1", e.Key, e.Idle, priced
		return New(o)
	}
}

var can = modeltest.Can{CallIDs: true, TextArgs: true, Parallel: true, Images: true, Documents: true, ResultImages: true,
	CacheRead: true, CacheWrite: true, Refusal: true, Choice: true, StreamErrors: true, Ends: true, RetryAfter: true}

// A2: one suite for all adapters.
func TestA2_Suite(t *testing.T) {
	for name, suite := range Suites() {
		t.Run(name, func(t *testing.T) { modeltest.Run(t, suite) })
	}
}
