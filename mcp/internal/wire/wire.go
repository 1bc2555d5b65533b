// Package wire reads and writes the JSON of protocol messages without building trees.
//
// A message is split into its members, which stay raw ([Members]); the values that matter are decoded by whoever needs
// them. The scanner accepts exactly the JSON of RFC 8259, refuses a key that occurs twice in one of the objects it is
// asked to split, compares keys byte by byte, and bounds nesting, so that two readers of one message can never
// disagree about it. What is written is appended to a caller's buffer.
package wire

import (
	"errors"
	"fmt"
)

// MaxDepth bounds the nesting of arrays and objects in one message.
const MaxDepth = 512

// SyntaxError says where a message stops being JSON.
type SyntaxError struct {
	Offset int // bytes from the start of the value that was scanned
	Reason string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("offset %d: %s", e.Offset, e.Reason) }

// ErrNotObject is returned by Members for JSON that is no object.
var ErrNotObject = errors.New("not a JSON object")

// DuplicateError names a key that occurs twice in one object.
type DuplicateError struct{ Key string }

func (e *DuplicateError) Error() string { return fmt.Sprintf("the key %q occurs twice", e.Key) }

// maxMembers bounds the members of an object that is split; envelopes have few.
const maxMembers = 64

// Members calls f for each member of the object in data, in order, with the key unescaped and the value raw. The
// slices point into data. A nil f only checks the syntax. Errors of f end the scan and are returned.
// Errors: *SyntaxError, ErrNotObject, *DuplicateError.
func Members(data []byte, f func(key string, value []byte) error) error {
	i := space(data, 0)
	if i >= len(data) {
		return &SyntaxError{i, "the message is empty"}
	}
	if data[i] != '{' {
		end, err := skip(data, i, 0)
		if err == nil {
			err = trailing(data, end)
		}
		if err != nil {
			return err
		}
		return ErrNotObject
	}
	end, err := object(data, i, 0, f)
	if err != nil {
		return err
	}
	return trailing(data, end)
}

// Valid reports whether data is one JSON value and nothing else. The error is a *SyntaxError.
func Valid(data []byte) error {
	end, err := skip(data, space(data, 0), 0)
	if err != nil {
		return err
	}
	return trailing(data, end)
}

func trailing(data []byte, i int) error {
	if i = space(data, i); i < len(data) {
		return &SyntaxError{i, "something follows the value"}
	}
	return nil
}

// object scans the object that begins at data[i] and returns the offset behind it. With f it refuses duplicate keys.
func object(data []byte, i, depth int, f func(string, []byte) error) (int, error) {
	if depth >= MaxDepth {
		return i, &SyntaxError{i, "nested too deeply"}
	}
	var keys [maxMembers]string
	n := 0
	i = space(data, i+1)
	if i < len(data) && data[i] == '}' {
		return i + 1, nil
	}
	for {
		if i >= len(data) || data[i] != '"' {
			return i, unexpected(data, i, "a key")
		}
		end, err := skipString(data, i)
		if err != nil {
			return i, err
		}
		quoted := data[i:end]
		i = space(data, end)
		if i >= len(data) || data[i] != ':' {
			return i, unexpected(data, i, "a colon")
		}
		start := space(data, i+1)
		if i, err = skip(data, start, depth+1); err != nil {
			return i, err
		}
		if f != nil {
			if n == maxMembers {
				return i, &SyntaxError{i, "too many members"}
			}
			keys[n] = Unquote(quoted)
			for _, k := range keys[:n] {
				if k == keys[n] {
					return i, &DuplicateError{k}
				}
			}
			if err := f(keys[n], data[start:i]); err != nil {
				return i, err
			}
			n++
		}
		i = space(data, i)
		switch {
		case i < len(data) && data[i] == ',':
			i = space(data, i+1)
		case i < len(data) && data[i] == '}':
			return i + 1, nil
		default:
			return i, unexpected(data, i, "a comma or }")
		}
	}
}

// skip scans the value at data[i] and returns the offset behind it.
func skip(data []byte, i, depth int) (int, error) {
	if i >= len(data) {
		return i, unexpected(data, i, "a value")
	}
	switch c := data[i]; {
	case c == '"':
		return skipString(data, i)
	case c == '{':
		return object(data, i, depth, nil)
	case c == '[':
		return array(data, i, depth)
	case c == '-' || '0' <= c && c <= '9':
		return number(data, i)
	case c == 't':
		return literal(data, i, "true")
	case c == 'f':
		return literal(data, i, "false")
	case c == 'n':
		return literal(data, i, "null")
	}
	return i, unexpected(data, i, "a value")
}

func array(data []byte, i, depth int) (int, error) {
	if depth >= MaxDepth {
		return i, &SyntaxError{i, "nested too deeply"}
	}
	i = space(data, i+1)
	if i < len(data) && data[i] == ']' {
		return i + 1, nil
	}
	for {
		var err error
		if i, err = skip(data, i, depth+1); err != nil {
			return i, err
		}
		i = space(data, i)
		switch {
		case i < len(data) && data[i] == ',':
			i = space(data, i+1)
		case i < len(data) && data[i] == ']':
			return i + 1, nil
		default:
			return i, unexpected(data, i, "a comma or ]")
		}
	}
}

func skipString(data []byte, i int) (int, error) {
	for i++; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			return i + 1, nil
		case c < 0x20:
			return i, &SyntaxError{i, "a control character stands in a string"}
		case c == '\\':
			n, err := escape(data, i)
			if err != nil {
				return i, err
			}
			i += n - 1
		}
	}
	return i, &SyntaxError{i, "a string does not end"}
}

// escape returns the length of the escape sequence at data[i].
func escape(data []byte, i int) (int, error) {
	if i+1 >= len(data) {
		return 0, &SyntaxError{i, "a string does not end"}
	}
	switch data[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, nil
	case 'u':
		if _, ok := hex4(data, i+2); ok {
			return 6, nil
		}
	}
	return 0, &SyntaxError{i, "an escape sequence is not one of JSON's"}
}

func hex4(data []byte, i int) (rune, bool) {
	if i+4 > len(data) {
		return 0, false
	}
	var r rune
	for _, c := range data[i : i+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

func number(data []byte, i int) (int, error) {
	digits := func() bool {
		from := i
		for i < len(data) && '0' <= data[i] && data[i] <= '9' {
			i++
		}
		return i > from
	}
	if data[i] == '-' {
		i++
	}
	if i < len(data) && data[i] == '0' {
		i++
	} else if !digits() {
		return i, unexpected(data, i, "a digit")
	}
	if i < len(data) && data[i] == '.' {
		i++
		if !digits() {
			return i, unexpected(data, i, "a digit")
		}
	}
	if i < len(data) && (data[i] == 'e' || data[i] == 'E') {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		if !digits() {
			return i, unexpected(data, i, "a digit")
		}
	}
	return i, nil
}

func literal(data []byte, i int, word string) (int, error) {
	if len(data)-i < len(word) || string(data[i:i+len(word)]) != word {
		return i, unexpected(data, i, "a value")
	}
	return i + len(word), nil
}

func space(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\r' || data[i] == '\t') {
		i++
	}
	return i
}

func unexpected(data []byte, i int, want string) *SyntaxError {
	if i >= len(data) {
		return &SyntaxError{i, "the message ends where " + want + " is expected"}
	}
	return &SyntaxError{i, fmt.Sprintf("%q stands where %s is expected", data[i], want)}
}
