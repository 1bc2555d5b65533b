package query_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/artifact/query"
)

func Example() {
	report := `{"runs": [{"id": 7, "ok": true}, {"id": 8, "ok": false}]}`
	src := query.Source{ReaderAt: strings.NewReader(report), Size: int64(len(report)), Name: "report.json"}

	for _, q := range []query.Query{
		{Op: query.Type},
		{Op: query.Get, Path: "$.runs[?@.ok == false].id"},
		{Op: query.Filter, Program: ".runs | map(.id) | add"},
		{Op: query.Get, Path: "$.run"},
	} {
		a, err := query.Run(context.Background(), src, q)
		var e *query.Error
		if errors.As(err, &e) {
			fmt.Println(e.Code, "-", e)
			continue
		}
		fmt.Println(a.Text)
	}
	// Output:
	// an object with 1 member
	// 8
	// 15
	// not_found - nothing is at $.run; $ is an object with 1 member; there is: runs
}
