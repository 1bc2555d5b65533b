package model_test

import (
	"context"
	"fmt"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/script"
	"github.com/tackle-dev/tackle/tool"
)

// A loop of one's own: ask, answer the calls, ask again.
func Example() {
	m, err := script.Parse("clock.yaml", []byte(`
turns:
  - calls: [{tool: now}]
  - expect: {tool: now, result: '(?P<time>\d+:\d+)'}
    say: It is ${time}.
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	req := model.Request{
		Tools:    []model.Tool{{Name: "now", Description: "Tells the time.", Schema: []byte(`{"type":"object","properties":{}}`)}},
		Messages: []model.Message{{Role: model.User, Blocks: []model.Block{model.Text("How late is it?")}}},
	}
	for {
		answer, err := m.Stream(context.Background(), req, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		if answer.Stop != model.Calls {
			fmt.Println(answer.Message.Text())
			return
		}
		results := model.Message{Role: model.User}
		for _, c := range answer.Message.Calls() {
			noon := model.Result{CallID: c.ID, Name: c.Name, Parts: []tool.Part{tool.Text("12:00")}}
			results.Blocks = append(results.Blocks, model.Block{Result: &noon})
		}
		req.Messages = append(req.Messages, answer.Message, results)
	}
	// Output: It is 12:00.
}
