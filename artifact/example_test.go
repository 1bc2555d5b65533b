package artifact_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/tackle-dev/tackle/artifact"
	"github.com/tackle-dev/tackle/artifact/query"
	"github.com/tackle-dev/tackle/internal/store"
)

func Example() {
	ctx := context.Background()
	mem := &store.Memory{} // a program uses store.Open(dir, …): records in its database, blobs in a folder of their own
	arts := artifact.New(mem, mem, artifact.Options{})

	output := strings.Repeat("ok\n", 5000) + "FAIL: TestParse\n"
	a, err := arts.Put(ctx, "session-1", "go test", "text/plain", strings.NewReader(output))
	if err != nil {
		log.Fatal(err)
	}
	r, err := arts.Open(ctx, "artifact:"+a.ID)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	src := query.Source{ReaderAt: r, Size: r.Size(), Name: r.Name(), MIME: r.MIME(), Lines: a.Lines}
	answer, err := query.Run(ctx, src, query.Query{Op: query.Grep, Pattern: "^FAIL"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Text)
	// Output:
	// 5001:FAIL: TestParse
	// [1 of 5001 lines match.]
}
