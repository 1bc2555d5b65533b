package query

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/tackle-dev/tackle/internal/clip"
)

// piece returns the window of a line that begins at a column. Of a line longer than what is held it reads the rest again.
func (d *document) piece(ctx context.Context, ln line, column, width int) (clip.Piece, error) {
	if int64(len(ln.text)) == ln.size {
		return clip.Columns(string(ln.text), column, width), nil
	}
	p := clip.Piece{From: column}
	var kept strings.Builder
	var carry, buf []byte
	end := ln.off + ln.size
	err := d.blocks(ctx, ln.off, func(off int64, block []byte) bool {
		final := off+int64(len(block)) >= end
		if final {
			block = block[:end-off]
		}
		buf = append(append(buf[:0], carry...), block...)
		b := buf
		for len(b) > 0 && (final || utf8.FullRune(b)) {
			n := 1
			if b[0] >= utf8.RuneSelf {
				_, n = utf8.DecodeRune(b)
			}
			p.Total++
			if p.Total >= column && p.Total < column+width {
				kept.Write(b[:n])
				p.To = p.Total
			}
			b = b[n:]
		}
		carry = append(carry[:0], b...)
		return final
	})
	p.Text = kept.String()
	if p.To == 0 { // the window lies behind the end
		p.From, p.To = p.Total+1, p.Total
	}
	return p, err
}

// characters counts the characters between two offsets.
func (d *document) characters(ctx context.Context, from, to int64) (n int, err error) {
	sub := &document{Source: Source{ReaderAt: d.ReaderAt, Size: to}}
	var carry, b []byte
	err = sub.blocks(ctx, from, func(off int64, block []byte) bool {
		b = append(append(b[:0], carry...), block...)
		whole := len(b)
		for i := 1; i < utf8.UTFMax && i <= len(b); i++ { // leave an incomplete character for the next block
			if utf8.RuneStart(b[len(b)-i]) {
				if !utf8.FullRune(b[len(b)-i:]) && off+int64(len(block)) < to {
					whole = len(b) - i
				}
				break
			}
		}
		n += utf8.RuneCount(b[:whole])
		carry = append(carry[:0], b[whole:]...)
		return false
	})
	return n, err
}

const around = 16 << 10 // bytes that are kept on each side of a match in a long line

// findLong finds the first match in a line that is not held whole.
func (d *document) findLong(ctx context.Context, m *matcher, ln line) (*hit, error) {
	at := []int{-1, 0}
	if len(m.literal) > 0 {
		i, err := d.index(ctx, m.literal, ln.off, ln.off+ln.size)
		if err != nil || i < 0 {
			return nil, err
		}
		at = []int{int(i - ln.off), int(i-ln.off) + len(m.literal)}
	}
	if !m.exact {
		r := contextReader{ctx, io.NewSectionReader(d.ReaderAt, ln.off, ln.size)}
		at = m.re.FindReaderIndex(bufio.NewReaderSize(r, keepLine)) // knows the true ends of the line
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if at == nil {
			return nil, nil
		}
	}
	from := max(int64(at[0])-around, 0)
	to := min(int64(at[1])+around, ln.size, int64(at[0])+2*around)
	text := make([]byte, to-from)
	if _, err := d.ReadAt(text, ln.off+from); err != nil && err != io.EOF {
		return nil, err
	}
	for from > 0 && len(text) > 0 && !utf8.RuneStart(text[0]) {
		text, from = text[1:], from+1
	}
	h := &hit{line: ln, start: int(int64(at[0]) - from), end: int(min(int64(at[1]), to) - from), skipped: from}
	h.text = text
	return h, nil
}

// index returns the offset of the first occurrence of text between two offsets, or -1.
func (d *document) index(ctx context.Context, text []byte, from, to int64) (int64, error) {
	sub := &document{Source: Source{ReaderAt: d.ReaderAt, Size: to}}
	at := int64(-1)
	var carry []byte
	err := sub.blocks(ctx, from, func(off int64, b []byte) bool {
		seam := append(carry, b[:min(len(b), len(text))]...)
		if i := bytes.Index(seam, text); i >= 0 {
			at = off - int64(len(carry)) + int64(i)
		} else if i := bytes.Index(b, text); i >= 0 {
			at = off + int64(i)
		}
		if keep := len(text) - 1; len(b) >= keep {
			carry = append(carry[:0], b[len(b)-keep:]...)
		} else {
			carry = append(carry, b...)
			carry = carry[max(0, len(carry)-keep):]
		}
		return at >= 0
	})
	return at, err
}

// window returns what is shown of a hit.
func (d *document) window(ctx context.Context, h *hit) (clip.Piece, error) {
	p := clip.LineAt(string(h.text), clip.DefaultColumns, h.start, h.end)
	if h.skipped == 0 && int64(len(h.text)) == h.size {
		return p, nil
	}
	before, err := d.characters(ctx, h.off, h.off+h.skipped)
	if err != nil {
		return p, err
	}
	after, err := d.characters(ctx, h.off+h.skipped+int64(len(h.text)), h.off+h.size)
	p.From, p.To, p.Total = p.From+before, p.To+before, p.Total+before+after
	return p, err
}

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
