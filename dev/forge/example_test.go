package forge_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/tackle-dev/tackle/dev"
	"github.com/tackle-dev/tackle/dev/engine"
	"github.com/tackle-dev/tackle/dev/forge"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local"
)

// What is listed depends on the engines: without one that formats there is no tool for it. The gate is the pipeline's.
func ExampleTools() {
	root, err := os.MkdirTemp("", "forge")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	h, err := local.Open(local.Config{Roots: []host.Root{{Path: root}}, StateDir: root + ".state"})
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root + ".state")
	allow := dev.GateFunc(func(context.Context, *dev.Request) error { return nil })
	for _, engines := range [][]dev.Engine{engine.All(), {engine.JSON{}}} {
		p, err := dev.New(dev.Config{Host: h, Gate: allow, Engines: engines})
		if err != nil {
			log.Fatal(err)
		}
		for _, surface := range []forge.Surface{forge.Granular, forge.Composite} {
			tools, err := forge.Tools(p, forge.Options{Surface: surface})
			if err != nil {
				log.Fatal(err)
			}
			var names []string
			for _, t := range tools {
				names = append(names, t.Definition().Name)
			}
			fmt.Println(strings.Join(names, " "))
		}
	}
	// Output:
	// read_lines edit apply_patch format lint check
	// dev_plan
	// read_lines edit apply_patch check
	// dev_plan
}
