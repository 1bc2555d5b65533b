package gemini

import (
	"testing"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/modeltest"
)

func TestA2_Model(t *testing.T) {
	can := modeltest.Can{Reasoning: true, Signed: true, Parallel: true, Images: true, Documents: true, ResultImages: true,
		CacheRead: true, Refusal: true, Choice: true, StreamErrors: true, Ends: true, RetryAfter: true}
	for _, row := range []struct {
		name string
		ids  bool // newer models name their calls, and want a signature with the first of them
	}{{"gemini-2.5-pro", false}, {"gemini-4-argon", true}} {
		t.Run(row.name, func(t *testing.T) {
			can.CallIDs = row.ids
			modeltest.Run(t, modeltest.Suite{
				New: func(e modeltest.Endpoint) (model.Model, error) {
					return New(Options{Model: row.name, BaseURL: e.URL, Key: e.Key, Idle: e.Idle})
				},
				Fake: fake{ids: row.ids},
				Can:  can,
			})
		})
	}
}
