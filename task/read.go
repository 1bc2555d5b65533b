package task

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"
)

// DefaultRead is how much one reading returns unless asked otherwise, in bytes.
const DefaultRead = 32 << 10

// Reading says what to read of a task's output.
type Reading struct {
	// Reader names whose cursor is used and moved: each reader sees all output once. "" reads from At and moves nothing.
	Reader string
	// At is the offset to read from for a reading without a reader, and for one whose reader should go there first when
	// Seek is set.
	At   int64
	Seek bool
	// Max bounds what is returned, in bytes. Default DefaultRead.
	Max int
	// Last skips to the last Max bytes when there is more. Default: the first Max bytes, and the rest with the next reading.
	Last bool
	// Lines leaves a last line that has no end yet to the next reading, unless it fills Max or is the last there will be.
	Lines bool
	// Wait is how long to wait for output when there is none. Default: not at all.
	Wait time.Duration
}

// Chunk is what was read.
type Chunk struct {
	Info
	Data []byte // whole characters of UTF-8, unless the output holds others
	From int64  // offset of Data
	Next int64  // offset behind Data, where the next reading goes on
	// Skipped counts bytes between the cursor and From: no longer kept, or skipped by Last.
	Skipped int64
	More    bool // there is more already
	Done    bool // there will never be more
}

// Read returns what a task has written behind the reader's cursor.
func (m *Manager) Read(ctx context.Context, id string, r Reading) (Chunk, error) {
	rec, p, err := m.find(ctx, id)
	if err != nil {
		return Chunk{}, err
	}
	at := max(r.At, 0)
	if r.Reader != "" && !r.Seek {
		at = m.cursor(id, r.Reader)
	}
	size := r.Max
	if size <= 0 {
		size = DefaultRead
	}
	out := p.Output()
	if r.Wait > 0 {
		soon, cancel := context.WithTimeout(ctx, r.Wait)
		err := out.More(soon, at)
		cancel()
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return Chunk{}, errors.Join(ctx.Err(), err)
		}
	}
	st, err := out.Stat()
	if err != nil {
		return Chunk{}, fmt.Errorf("output of task %s: %w", id, err)
	}
	c := Chunk{Info: m.info(rec, p), Done: st.Done}
	from := at
	if r.Last && st.Total-at > int64(size) {
		from = st.Total - int64(size)
	}
	c.Data = make([]byte, min(int64(size), max(st.Total-from, 0)))
	n, err := fill(c.Data, out.Read, &from)
	if err != nil {
		return Chunk{}, fmt.Errorf("output of task %s: %w", id, err)
	}
	c.Data = c.Data[:n]
	c.From, c.Next = from, from+int64(n)
	if n == 0 && st.Done { // what was written last may be lost
		c.From, c.Next = max(at, st.Total), max(at, st.Total)
	}
	c.Skipped, c.More = c.From-at, c.Next < st.Total
	c.whole(st.Done && !c.More)
	if r.Lines && !(st.Done && !c.More) {
		c.lines(size)
	}
	if r.Reader != "" {
		m.setCursor(id, r.Reader, c.Next)
	}
	return c, nil
}

// fill reads until p is full, a gap comes, or there is no more for now. The first read may move from over a gap.
func fill(p []byte, read func([]byte, int64) (int, int64, error), from *int64) (n int, err error) {
	for n < len(p) {
		got, at, err := read(p[n:], *from+int64(n))
		switch {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return n, err
		case n == 0:
			*from = at
		case at > *from+int64(n):
			return n, nil // the gap is for the next reading
		}
		n += got
	}
	return n, nil
}

// whole moves the ends of Data to the bounds of characters. The end of a character whose start was skipped is skipped too;
// the start of one whose end has not come yet is left for the next reading, unless this was the last.
func (c *Chunk) whole(last bool) {
	for i := 0; i < utf8.UTFMax-1 && c.Skipped > 0 && len(c.Data) > 0 && !utf8.RuneStart(c.Data[0]); i++ {
		c.Data = c.Data[1:]
		c.From++
		c.Skipped++
	}
	for back := 1; !last && back < min(utf8.UTFMax, len(c.Data)); back++ {
		tail := c.Data[len(c.Data)-back:]
		if utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				c.Data = c.Data[:len(c.Data)-back]
				c.Next -= int64(back)
			}
			return
		}
	}
}

// lines moves the end of Data behind its last line that is whole.
func (c *Chunk) lines(size int) {
	end := bytes.LastIndexByte(c.Data, '\n') + 1
	if end == 0 && len(c.Data) > size-utf8.UTFMax { // it would never move
		return
	}
	c.Next -= int64(len(c.Data) - end)
	c.Data = c.Data[:end]
}

func (m *Manager) cursor(id, reader string) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cursors[id][reader]
}

func (m *Manager) setCursor(id, reader string, at int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cursors[id] == nil {
		m.cursors[id] = make(map[string]int64)
	}
	m.cursors[id][reader] = at
}
