package wire

import (
	"errors"
	"fmt"
)

// Frame is one JSON-RPC message, split into its members. The slices point into the message.
type Frame struct {
	ID     []byte // raw string or integer; nil for a notification
	Method string // "" for a response
	Params []byte // raw; nil where absent
	Result []byte // raw; responses only
	Error  []byte // raw; responses only
}

// ErrBatch says that a message is a batch. Batches left the protocol with revision 2025-06-18.
var ErrBatch = errors.New("batches are not supported; send one message per line")

// IsRequest reports whether the message is a request, which wants an answer.
func (f *Frame) IsRequest() bool { return f.Method != "" && f.ID != nil }

// IsResponse reports whether the message answers a request.
func (f *Frame) IsResponse() bool { return f.Method == "" }

// ParseFrame splits a message.
// Errors: *SyntaxError when it is not JSON; any other error when it is JSON but no JSON-RPC 2.0 message. The Frame then
// holds the id where one could be read, so that the error can be answered.
func ParseFrame(data []byte) (Frame, error) {
	var f Frame
	version, method := "", false
	err := Members(data, func(key string, value []byte) error {
		switch key {
		case "jsonrpc":
			if value[0] == '"' {
				version = Unquote(value)
			}
		case "id":
			if !isID(value) {
				return fmt.Errorf("id %s: want a string or an integer", value)
			}
			f.ID = value
		case "method":
			if value[0] != '"' {
				return fmt.Errorf("method %s: want a string", value)
			}
			f.Method, method = Unquote(value), true
		case "params":
			if value[0] != '{' && string(value) != "null" {
				return errors.New("params: want an object")
			}
			f.Params = value
			if value[0] == '{' { // a second reader must not find another value behind a name
				return Members(value, func(string, []byte) error { return nil })
			}
		case "result":
			f.Result = value
		case "error":
			f.Error = value
		}
		return nil
	})
	switch {
	case errors.Is(err, ErrNotObject) && firstByte(data) == '[':
		return f, ErrBatch
	case err != nil:
		return f, err
	case version != "2.0":
		return f, fmt.Errorf("jsonrpc %q: want \"2.0\"", version)
	case method && f.Method == "":
		return f, errors.New("method is empty")
	case !method && (f.ID == nil || f.Result == nil && f.Error == nil):
		return f, errors.New("neither a request nor a response")
	}
	return f, nil
}

func firstByte(data []byte) byte { return data[space(data, 0)] }

// isID reports whether a value can be an id: a string, or a number without fraction and exponent.
func isID(v []byte) bool {
	if v[0] == '"' {
		return true
	}
	for i, c := range v {
		if !('0' <= c && c <= '9' || i == 0 && c == '-') {
			return false
		}
	}
	return true
}

// AppendResult appends the response with the given raw id and raw result.
func AppendResult(dst, id, result []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	dst = append(dst, `,"result":`...)
	dst = append(dst, result...)
	return append(dst, '}')
}

// AppendError appends the error response with the given raw id; nil writes null, for a message whose id is unknown.
// data is raw JSON or nil.
func AppendError(dst, id []byte, code int, message string, data []byte) []byte {
	if id == nil {
		id = []byte("null")
	}
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	dst = fmt.Appendf(dst, `,"error":{"code":%d,"message":`, code)
	dst = AppendString(dst, message)
	if data != nil {
		dst = append(dst, `,"data":`...)
		dst = append(dst, data...)
	}
	return append(dst, "}}"...)
}

// AppendNotification appends the notification with raw params.
func AppendNotification(dst []byte, method string, params []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":`...)
	dst = AppendString(dst, method)
	dst = append(dst, `,"params":`...)
	dst = append(dst, params...)
	return append(dst, '}')
}
