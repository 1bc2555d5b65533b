package openai

import "github.com/tackle-dev/tackle/model/modeltest"

// Suites are for tests outside of this package.
func Suites() map[string]modeltest.Suite {
	open, signed := can, can
	open.Reasoning = true
	signed.Reasoning, signed.Signed = true, true
	return map[string]modeltest.Suite{
		"chat":       {New: adapter(Options{Model: "gpt-4o", API: Chat, Official: true}), Fake: chatFake{official: true}, Can: can},
		"compatible": {New: adapter(Options{Model: "qwen3-coder", Provider: "local", API: Chat}), Fake: chatFake{}, Can: open},
		"responses":  {New: adapter(Options{Model: "recorded", API: Responses, Official: true}), Fake: responsesFake{}, Can: signed}, // a name of theirs is offered another tool to edit with
	}
}
