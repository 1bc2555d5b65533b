// Package front splits a text file into the YAML between two lines of "---" at its head and the rest: the form in which modes
// and skills are written. It reads no YAML.
package front

import (
	"bytes"
	"errors"
)

// ErrOpen says that the head begins and does not end.
var ErrOpen = errors.New(`the head begins with "---" and has no second line of "---" that ends it`)

// Matter is a file in its two halves.
type Matter struct {
	Head []byte // with as many empty lines before it as it has lines above, so that a parser counts as an editor does; nil where there is none
	Body []byte
	Line int // of the body's first line, from 1
}

// Split splits a file. A file that does not begin with a line of "---" is all body. A byte order mark is dropped, and lines
// may end as they do on any system.
func Split(data []byte) (Matter, error) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	first, rest := line(data)
	if !fence(first) {
		return Matter{Body: data, Line: 1}, nil
	}
	head := []byte("\n")
	for n := 2; len(rest) > 0; n++ {
		var l []byte
		l, rest = line(rest)
		if fence(l) {
			return Matter{Head: head, Body: rest, Line: n + 1}, nil
		}
		head = append(head, l...)
	}
	return Matter{}, ErrOpen
}

// line returns the first line of data with its ending, and the rest.
func line(data []byte) (first, rest []byte) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return data[:i+1], data[i+1:]
	}
	return data, nil
}

func fence(line []byte) bool {
	return bytes.HasPrefix(line, []byte("---")) && len(bytes.TrimSpace(line)) == 3
}
