package clip

import (
	"bytes"
	"sync"
)

// Cutter is a writer that keeps what [Text] would keep of everything written to it, in memory of at most about twice
// the byte limit, however much is written. With a negative byte limit it keeps everything. The zero Cutter keeps the
// head within the default limits. Write never fails. A Cutter is safe for concurrent use, so that a face can show what
// a command has said so far.
type Cutter struct {
	Limits Limits // not to be changed after the first Write
	Keep   Keep

	mu   sync.Mutex
	st   stats // lines counts newlines only; open says whether a last line has begun
	open bool
	head []byte
	tail []byte
}

// Write takes the next piece of the text. It never fails and never keeps p.
func (c *Cutter) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.st.bytes += int64(len(p))
	c.st.lines += int64(bytes.Count(p, []byte{'\n'}))
	c.open = p[len(p)-1] != '\n'
	h, t := budgets(c.Limits.Resolve(), c.Keep)
	if h.Bytes < 0 || t.Bytes < 0 {
		c.head = append(c.head, p...)
		return len(p), nil
	}
	rest := p
	if room := h.Bytes - len(c.head); room > 0 {
		k := min(room, len(rest))
		c.head = append(c.head, rest[:k]...)
		rest = rest[k:]
	}
	c.pushTail(rest, t.Bytes)
	return len(p), nil
}

// pushTail keeps at least the last n bytes of everything pushed and lets the buffer grow to 2n before it shortens it,
// so that each byte is moved at most twice.
func (c *Cutter) pushTail(p []byte, n int) {
	if n == 0 || len(p) == 0 {
		return
	}
	if len(p) >= n {
		c.tail = append(c.tail[:0], p[len(p)-n:]...)
		return
	}
	if len(c.tail)+len(p) > 2*n {
		keep := n - len(p)
		copy(c.tail, c.tail[len(c.tail)-keep:])
		c.tail = c.tail[:keep]
	}
	c.tail = append(c.tail, p...)
}

// Bytes returns how many bytes were written so far.
func (c *Cutter) Bytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.st.bytes
}

// Result returns the cut of what was written so far. It may be called at any time and more than once.
func (c *Cutter) Result() Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	lim := c.Limits.Resolve()
	st := c.st
	if c.open {
		st.lines++
	}
	whole := int64(len(c.head)+len(c.tail)) == st.bytes
	if whole && st.fits(lim) {
		return Result{Keep: c.Keep, Head: string(c.head) + string(c.tail)}
	}
	h, t := budgets(lim, c.Keep)
	head, tail := string(c.head), string(c.tail)
	if whole { // the ends may overlap: give finish what Text would give it
		all := head + tail
		head, tail = all, all
	}
	head = head[:within(len(head), h.Bytes)]
	tail = tail[len(tail)-within(len(tail), t.Bytes):]
	return finish(head, tail, st, lim, c.Keep)
}
