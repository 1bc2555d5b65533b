package forge_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/tackle-dev/tackle/artifact"
	"github.com/tackle-dev/tackle/internal/store"
	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine"
	"github.com/tackle-dev/tackle/media/forge"
	"github.com/tackle-dev/tackle/media/forge/shelf"
	"github.com/tackle-dev/tackle/toolbox"
)

// Make tools for an agent of a pipeline. Media have ids; their bytes do not pass through the model.
func Example() {
	ctx := context.Background()
	p, err := media.New(media.Config{Engines: engine.All()})
	if err != nil {
		log.Fatal(err)
	}
	mem := &store.Memory{}
	library := shelf.New(mem, artifact.New(mem, mem, artifact.Options{}), nil)
	set, err := forge.Tools(forge.Config{Pipeline: p, Library: library, Surface: forge.Composite})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(set.Order)

	box, err := toolbox.New(toolbox.Config{})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range set.Tools() {
		if err := box.Register(t, "code"); err != nil {
			log.Fatal(err)
		}
	}
	item, err := library.Attach(ctx, "s", "fruit.csv", "", []byte("name,qty\nApple,3\n"))
	if err != nil {
		log.Fatal(err)
	}
	ask := func(q string) forge.Answer {
		args := fmt.Sprintf(`{"media_id": %q, "q": %q}`, item.ID, q)
		res, err := box.Call(ctx, toolbox.Request{Tool: "media_query", Args: []byte(args), Session: "s", Mode: "code"})
		if err != nil {
			log.Fatal(err)
		}
		if !res.OK() {
			fmt.Println(strings.SplitN(res.Text(), "\n", 2)[0])
		}
		answer, _ := res.Data.(forge.Answer)
		return answer
	}
	made := ask("convert to=xlsx").Media[0]
	fmt.Println(made.Filename, made.Trust, made.Inherits, len(made.Derived))
	ask("convert to=numbers")
	// Output:
	// [list_media media_query]
	// fruit.xlsx first-party third-party-private 1
	// Error (ENGINE_REQUIRED): nothing here converts to numbers. Reachable formats: xlsx, csv, json, md, html, txt, docx, ods, images, pdf, yaml, wav. Do not retry convert to=numbers.
}

// A tool for each verb, for models that choose tools better than they write statements.
func ExampleTools_granular() {
	p, err := media.New(media.Config{Engines: engine.All()})
	if err != nil {
		log.Fatal(err)
	}
	mem := &store.Memory{}
	set, err := forge.Tools(forge.Config{Pipeline: p, Library: shelf.New(mem, artifact.New(mem, mem, artifact.Options{}), nil), Surface: forge.Granular})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(set.Order[:4])
	// Output:
	// [list_media convert select split]
}
