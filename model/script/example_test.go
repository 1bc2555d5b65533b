package script_test

import (
	"context"
	"fmt"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/model/script"
)

func Example() {
	m, err := script.Parse("greet.yaml", []byte(`
turns:
  - expect: {user: 'I am (?P<name>\w+)'}
    say: Hello ${name}.
    calls: [{tool: list_dir, args: {path: .}}]
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	req := model.Request{Messages: []model.Message{{Role: model.User, Blocks: []model.Block{model.Text("I am Ada.")}}}}
	_, err = m.Stream(context.Background(), req, func(p model.Piece) error {
		if p.Call != nil {
			fmt.Printf("\ncall %s %s\n", p.Call.Name, p.Call.Arguments)
		} else {
			fmt.Print(p.Text)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// Hello Ada.
	// call list_dir {"path":"."}
}
