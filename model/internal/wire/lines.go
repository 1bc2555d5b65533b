package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is how long one line of a stream may be, in bytes: an answer can hold a file as the argument of a call.
const maxLine = 64 << 20

var errLine = errors.New("a line of more than 64 MiB")

// Lines hands on each line of a stream as soon as it is there, without its end and without blank lines. The slice is valid until
// each returns. It returns nil at the end of the stream, the error of each as it is, and otherwise what the reader returned; a
// last line without its end was cut and is not handed on.
func Lines(r io.Reader, each func(line []byte) error) error {
	b := bufio.NewReaderSize(r, 64<<10)
	var long []byte
	for {
		part, err := b.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			if long = append(long, part...); len(long) > maxLine {
				return errLine
			}
			continue
		}
		if err == io.EOF {
			if len(bytes.TrimSpace(part)) > 0 || len(bytes.TrimSpace(long)) > 0 {
				return io.ErrUnexpectedEOF
			}
			return nil
		}
		if err != nil {
			return err
		}
		line := part
		if len(long) > 0 {
			line = append(long, part...)
			long = nil
		}
		if line = bytes.TrimRight(line, "\r\n"); len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := each(line); err != nil {
			return err
		}
	}
}

// Events hands on the data of each server-sent event, for services that put all that they say into one line of data. Comments and
// other fields are skipped. It returns as Lines does.
func Events(r io.Reader, each func(data []byte) error) error {
	return Lines(r, func(line []byte) error {
		data, ok := bytes.CutPrefix(line, []byte("data:"))
		if data = bytes.TrimSpace(data); !ok || len(data) == 0 || string(data) == "[DONE]" {
			return nil
		}
		return each(data)
	})
}
