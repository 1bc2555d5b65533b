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

func TestA2_Chat(t *testing.T) {
	modeltest.Run(t, modeltest.Suite{New: adapter(Options{Model: "gpt-4o", API: Chat, Official: true}), Fake: chatFake{official: true}, Can: can})
}

func TestA2_Compatible(t *testing.T) {
	can := can
	can.Reasoning = true
	modeltest.Run(t, modeltest.Suite{New: adapter(Options{Model: "qwen3-coder", Provider: "local", API: Chat}), Fake: chatFake{}, Can: can})
}

func TestA2_Responses(t *testing.T) {
	can := can
	can.Reasoning, can.Signed = true, true
	modeltest.Run(t, modeltest.Suite{New: adapter(Options{Model: "gpt-4.1", API: Responses, Official: true}), Fake: responsesFake{}, Can: can})
}
