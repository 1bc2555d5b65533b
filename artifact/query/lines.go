package query

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
)

const (
	blockSize = 256 << 10 // bytes read at a time
	keepLine  = 64 << 10  // bytes of one line that are held
)

// line is one line of a document. text is its start, at most keepLine bytes, valid until the next line is read; size is
// the number of bytes of the whole line. Neither includes the line ending.
type line struct {
	n    int64 // number, 1-based
	off  int64 // where it starts
	size int64
	text []byte
}

// lineReader reads lines in order in constant memory.
type lineReader struct {
	ctx  context.Context
	br   *bufio.Reader
	off  int64
	n    int64
	long []byte
}

// linesFrom reads lines from an offset, which must be the start of line n.
func (d *document) linesFrom(ctx context.Context, off, n int64) *lineReader {
	sec := io.NewSectionReader(d.ReaderAt, off, d.Size-off)
	return &lineReader{ctx: ctx, br: bufio.NewReaderSize(sec, blockSize), off: off, n: n - 1}
}

// next returns the next line, or io.EOF.
func (r *lineReader) next() (line, error) {
	if r.n%1024 == 0 {
		if err := r.ctx.Err(); err != nil {
			return line{}, err
		}
	}
	part, err := r.br.ReadSlice('\n')
	if len(part) == 0 && err != nil {
		return line{}, err
	}
	r.n++
	ln := line{n: r.n, off: r.off, text: part}
	total := int64(len(part))
	if errors.Is(err, bufio.ErrBufferFull) {
		r.long = append(r.long[:0], part[:keepLine]...)
		before := byte(0) // last byte of the part before
		for errors.Is(err, bufio.ErrBufferFull) {
			if err := r.ctx.Err(); err != nil {
				return line{}, err
			}
			before = part[len(part)-1]
			part, err = r.br.ReadSlice('\n')
			total += int64(len(part))
		}
		ln.text, ln.size = r.long, total
		if n := len(part); n > 0 && part[n-1] == '\n' {
			ln.size--
			if n > 1 {
				before = part[n-2]
			}
			if before == '\r' {
				ln.size--
			}
		}
	} else {
		ln.text = trimEnding(part)
		ln.size = int64(len(ln.text))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return line{}, err
	}
	r.off += total
	return ln, nil
}

func trimEnding(b []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(b, []byte{'\n'}), []byte{'\r'})
}

// blocks calls fn with the bytes from off on, a block at a time, until it says stop.
func (d *document) blocks(ctx context.Context, off int64, fn func(off int64, block []byte) (stop bool)) error {
	buf := make([]byte, blockSize)
	for off < d.Size {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := d.ReadAt(buf[:min(blockSize, d.Size-off)], off)
		if n > 0 && fn(off, buf[:n]) {
			return nil
		}
		off += int64(n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// total returns the number of lines; a last line without newline counts.
func (d *document) total(ctx context.Context) (int64, error) {
	if d.Lines > 0 || d.Size == 0 {
		return d.Lines, nil
	}
	var n int64
	last := byte('\n')
	err := d.blocks(ctx, 0, func(_ int64, b []byte) bool {
		n += int64(bytes.Count(b, []byte{'\n'}))
		last = b[len(b)-1]
		return false
	})
	if last != '\n' {
		n++
	}
	d.Lines = n
	return n, err
}

// startOf returns the offset of line n, or false where there are fewer lines.
func (d *document) startOf(ctx context.Context, n int64) (int64, bool, error) {
	if n <= 1 {
		return 0, d.Size > 0, nil
	}
	left := n - 1 // newlines still to pass
	start := int64(-1)
	err := d.blocks(ctx, 0, func(off int64, b []byte) bool {
		if c := int64(bytes.Count(b, []byte{'\n'})); c < left {
			left -= c
			return false
		}
		pos := 0
		for ; left > 0; left-- {
			pos += bytes.IndexByte(b[pos:], '\n') + 1
		}
		start = off + int64(pos)
		return true
	})
	return start, start >= 0 && start < d.Size, err
}

// startOfLast returns the offset where the last n lines begin, reading backwards.
func (d *document) startOfLast(ctx context.Context, n int) (int64, error) {
	buf := make([]byte, blockSize)
	end, want := d.Size, n
	for end > 0 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		size := min(blockSize, end)
		b := buf[:size]
		if _, err := d.ReadAt(b, end-size); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		pos := len(b)
		if end == d.Size && b[pos-1] == '\n' {
			pos-- // ends the last line
		}
		for {
			i := bytes.LastIndexByte(b[:pos], '\n')
			if i < 0 {
				break
			}
			if want--; want == 0 {
				return end - size + int64(i) + 1, nil
			}
			pos = i
		}
		end -= size
	}
	return 0, nil
}

// row returns a numbered line as it is shown.
func row(n int64, sep string, text string) string {
	return strconv.FormatInt(n, 10) + sep + strings.ToValidUTF8(text, "\uFFFD")
}
