// Command newtool shows how a tool is added: one file (greet.go) and one line (below).
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/tackle-dev/tackle"
)

func main() {
	state, err := os.MkdirTemp("", "newtool")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(state)
	ctx := context.Background()
	box, err := tackle.Open(ctx, tackle.Config{
		StateDir: state, NoFiles: true,
		Tools: []tackle.Tool{{Tool: Greet{Most: 3}.Tool()}}, // the one line
	})
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	for _, args := range []string{`{"name": "Reader", "times": 2}`, `{"name": "Reader", "times": 9}`, `{}`} {
		res, err := box.Call(ctx, tackle.NewRequest("greet", args))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(res.Text())
	}
}
