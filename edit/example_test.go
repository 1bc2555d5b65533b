package edit_test

import (
	"fmt"

	"github.com/tackle-dev/tackle/edit"
)

// The model saw the file through a viewer that shows tabs as blanks.
func ExampleApply() {
	content := []byte("func f() {\n\tif ok {\n\t\treturn 1\n\t}\n}\n")
	res, err := edit.Apply(content, edit.Request{
		Old: "    if ok {\n        return 1\n    }\n",
		New: "    if ok {\n        log()\n        return 2\n    }\n",
	})
	fmt.Println(err)
	fmt.Println(res.Rung, "at line", res.Spans[0].Line)
	fmt.Println(res.Note)
	fmt.Printf("%q\n", res.Content)
	// Output:
	// <nil>
	// indentation at line 2
	// old_string did not match exactly: indentation adapted to the file
	// "func f() {\n\tif ok {\n\t\tlog()\n\t\treturn 2\n\t}\n}\n"
}

func ExampleApplyAll() {
	content := []byte("a = 1\nb = 2\n")
	b := edit.ApplyAll(content, []edit.Request{
		{Old: "a = 1", New: "a = 10"},
		{Old: "c = 3", New: "c = 30"},
	}, edit.Options{})
	fmt.Printf("%d of %d: %q\n", b.Applied, len(b.Outcomes), b.Content)
	// Output:
	// 1 of 2: "a = 10\nb = 2\n"
}

// A patch says which lines it expects and where to go on.
func ExampleFinder_Find() {
	f := edit.NewFinder([]byte("class A:\r\n    def f(self):\r\n        pass\r\n"))
	for _, b := range f.Find([]string{"def f(self):", "    pass"}, edit.FindOptions{}) {
		line, ok := b.Adapt("    return 1", 1)
		fmt.Printf("lines %d-%d (%v): %q %v\n", b.Line+1, b.Line+b.Len, b.Rung, line+b.Ending(), ok)
	}
	// Output:
	// lines 2-3 (indentation): "        return 1\r\n" true
}
