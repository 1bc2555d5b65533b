package media_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine"
)

// Embed the pipeline: bytes and a statement in, bytes or text out. No file is opened and nothing is started.
func Example() {
	p, err := media.New(media.Config{Engines: engine.All()})
	if err != nil {
		log.Fatal(err)
	}
	in := media.Payload{Name: "fruit.csv", Data: []byte("name,qty\nApple,3\nPear,4\n")}
	res, err := p.Query(context.Background(), in, `sheet update_cells updates='[{"address":"B3","value":40}]' | convert to=md`)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Media.Name, res.Media.MIME)
	fmt.Print(string(res.Media.Data))
	// Output:
	// fruit.md text/markdown
	// | name | qty |
	// | --- | --- |
	// | Apple | 3 |
	// | Pear | 40 |
}

// A statement is checked as a whole before anything runs, and what is wrong names the nearest right thing.
func ExamplePipeline_Compile() {
	p, err := media.New(media.Config{Engines: engine.All()})
	if err != nil {
		log.Fatal(err)
	}
	for _, statement := range []string{"convert md", "redackt match=x", "select pages=5-2"} {
		_, err := p.Compile(statement)
		fmt.Println(err)
	}
	// Output:
	// column 9: "md" has no name. Every argument is name=value. Use: convert to=md
	// column 1: there is no verb "redackt". Closest: redact. Use: redact match=/\d{3}-\d{2}-\d{4}/
	// column 14: the range 5-2 runs backwards. Use: select pages=2-5
}

// The same plan in Go: a builder, with the checks of statements.
func ExamplePipeline_Build() {
	p, err := media.New(media.Config{Engines: engine.All()})
	if err != nil {
		log.Fatal(err)
	}
	in := media.Payload{Name: "note.md", Data: []byte("# Call\n\nMia, 123-45-6789\n")}
	b := p.Build().
		Then("redact", media.Args{"match": []any{map[string]string{"regex": `\d{3}-\d{2}-\d{4}`}}, "replace": "[SSN]"}).
		Then("convert", media.Args{"to": "html"})
	plan, err := b.Plan()
	if err != nil {
		log.Fatal(err)
	}
	statement, err := p.Print(plan)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(statement)
	res, err := b.Run(context.Background(), in, media.RunOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Media.Name)
	// Output:
	// redact match=/\d{3}-\d{2}-\d{4}/ replace="[SSN]" | convert to=html
	// note.html
}
