package main

// preset says how the tools of a kind of server are called.
type preset struct {
	read, edit string
	readArgs   func(path string) any
	editArgs   func(path, from, to string) any
}

type object = map[string]any

var presets = map[string]preset{
	"tackle": {"read_file", "edit",
		func(p string) any { return object{"path": p} },
		func(p, a, b string) any { return object{"path": p, "old_string": a, "new_string": b} }},
	"filesystem": {"read_text_file", "edit_file",
		func(p string) any { return object{"path": p} },
		func(p, a, b string) any {
			return object{"path": p, "edits": []any{object{"oldText": a, "newText": b}}}
		}},
	"desktop-commander": {"read_file", "edit_block",
		func(p string) any { return object{"path": p} },
		func(p, a, b string) any {
			return object{"file_path": p, "old_string": a, "new_string": b, "expected_replacements": 1}
		}},
}
