package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/internal/content"
	"github.com/tackle-dev/tackle/model"
)

// Run a loop: a box of tools, a model, a task. Any model of the packages below model does instead of this one.
func Example() {
	dir, err := os.MkdirTemp("", "agent-example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	box, err := tackle.Open(ctx, tackle.Config{Dir: dir, StateDir: filepath.Join(dir, ".state"), NoFiles: true})
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	agent, err := box.Agent(tackle.AgentConfig{Model: greeter{}})
	if err != nil {
		log.Fatal(err)
	}
	turn, err := agent.Run(ctx, "", "Greet the reader in hello.txt.")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(turn.Text, turn.End.Why)
	// Output: I wrote hello.txt. done
}

// greeter is a model that knows one answer.
type greeter struct{}

func (greeter) Info() model.Info { return model.Info{Provider: "example", Name: "greeter"} }

func (greeter) Stream(_ context.Context, req model.Request, _ func(model.Piece) error) (model.Answer, error) {
	m := model.Message{Role: model.Assistant}
	if len(req.Messages) == 1 {
		m.Blocks = []model.Block{{Call: &model.Call{ID: "1", Name: "write_file", Arguments: json.RawMessage(`{"path": "hello.txt", "content": "Hello, reader.\n"}`)}}}
		return model.Answer{Message: m, Stop: model.Calls}, nil
	}
	text := content.TextPart("I wrote hello.txt.")
	m.Blocks = []model.Block{{Part: &text}}
	return model.Answer{Message: m, Stop: model.End}, nil
}
