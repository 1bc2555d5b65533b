package dev_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/tackle-dev/tackle/dev"
	"github.com/tackle-dev/tackle/dev/engine"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local"
)

// A pipeline is built with a host, a gate and engines. The builder and a plan do the same.
func Example() {
	dir, err := os.MkdirTemp("", "dev")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	root := filepath.Join(dir, "ws")
	if err := os.MkdirAll(root, 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "a.go"), []byte("package a\n\nvar  x = 1\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	h, err := local.Open(local.Config{Roots: []host.Root{{Path: root}}, StateDir: filepath.Join(dir, "state")})
	if err != nil {
		log.Fatal(err)
	}

	gate := dev.GateFunc(func(_ context.Context, r *dev.Request) error {
		payload, err := json.Marshal(r)
		fmt.Println(string(payload))
		return err
	})
	p, err := dev.New(dev.Config{Host: h, Gate: gate, Engines: engine.All()})
	if err != nil {
		log.Fatal(err)
	}
	res, err := p.Acquire("a.go").Edit("a.go", dev.Block{Old: "= 1", New: "= 2"}).Format().Check().Write().Run(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.OK, res.Changes.Summary)

	var plan dev.Plan
	if err := json.Unmarshal([]byte(`{"paths": ["a.go"], "ops": [{"step": "check"}]}`), &plan); err != nil {
		log.Fatal(err)
	}
	res, err = p.Run(context.Background(), plan)
	fmt.Println(res.OK, err)
	// Output:
	// {"step":"acquire","args":{"paths":["a.go"]},"targets":["a.go"],"mayCreate":[]}
	// {"step":"edit","args":{"path":"a.go","edits":[{"old_string":"= 1","new_string":"= 2"}]},"targets":["a.go"],"mayCreate":[]}
	// {"step":"format","args":{},"targets":["a.go"],"mayCreate":[],"engines":["gofmt"]}
	// {"step":"check","args":{},"targets":["a.go"],"mayCreate":[],"engines":["gofmt"]}
	// {"step":"write","args":{},"targets":["a.go"],"mayCreate":[]}
	// true 1 file changed, 1 insertion(+), 1 deletion(-)
	//  a.go | 2 +-
	// {"step":"acquire","args":{"paths":["a.go"]},"targets":["a.go"],"mayCreate":[]}
	// {"step":"check","args":{},"targets":["a.go"],"mayCreate":[],"engines":["gofmt"]}
	// true <nil>
}
