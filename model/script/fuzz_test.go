package script

import (
	"encoding/json"
	"testing"

	"github.com/tackle-dev/tackle/model"
)

// Whatever a file holds, it is refused with a message or plays without a panic, and its calls are JSON or marked as broken.
func FuzzParse(f *testing.F) {
	f.Add([]byte(fix))
	f.Add([]byte("turns: [{expect: {user: '(?P<a>.)'}, say: '${a} $${b}', calls: [{tool: x, args: &q {k: [1, 2.5, ~, true, 0x1f, 2026-01-01]}}, {tool: y, raw: '{'}]}]"))
	f.Add([]byte("rules: [{say: a}]\nconversations: [{starts: '.', turns: [{fail: [{class: retry, after: 1ms}]}]}]"))
	f.Add([]byte("turns: [{say: &a hi}, {say: *a}, {<<: {say: x}}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse("fuzz.yaml", data)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without a message")
			}
			return
		}
		m.script.Pace = 0
		for _, turns := range append([][]Turn{m.script.Turns, m.script.Rules}, turnsOf(m.script.Conversations)...) {
			for i := range turns {
				turns[i].Delay = 0
			}
		}
		req := model.Request{Messages: []model.Message{{Role: model.User, Blocks: []model.Block{model.Text("go a")}}}}
		for range 4 {
			a, err := m.Stream(t.Context(), req, nil)
			if err != nil {
				continue
			}
			for _, c := range a.Message.Calls() {
				if c.ID == "" || c.Malformed == "" && !json.Valid(c.Arguments) {
					t.Errorf("call %+v", c)
				}
			}
			req.Messages = append(req.Messages, a.Message, model.Message{Role: model.User, Blocks: []model.Block{model.Text("more")}})
		}
	})
}

func turnsOf(cs []Conversation) (out [][]Turn) {
	for _, c := range cs {
		out = append(out, c.Turns)
	}
	return out
}
