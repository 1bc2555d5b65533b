//go:build linux || darwin

package local

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/change"
)

// The tx file of a set with several operations is one line of JSON, the new contents in the order of the steps, and a
// trailer. It is complete, and the set committed, if and only if the trailer fits: then recovery can make every new
// content again from it.
const journalTrailer = "tackle tx\n"

type journalHeader struct {
	ID     string            `json:"id"`
	Note   map[string]string `json:"note,omitempty"`
	Steps  []step            `json:"steps"`
	Sizes  []int64           `json:"sizes"`  // bytes of new content, by step
	Before []change.Digest   `json:"before"` // of old content, by step; zero where unknown
}

// writeJournal writes and syncs the tx file. When it returns nil, the set is committed.
func (c *commit) writeJournal() (err error) {
	h := journalHeader{ID: c.id, Note: c.opt.Note, Steps: c.steps(), Sizes: make([]int64, len(c.acts)), Before: make([]change.Digest, len(c.acts))}
	for i, a := range c.acts {
		h.Sizes[i] = int64(len(a.content()))
		h.Before[i] = a.beforeDigest()
	}
	head, err := json.Marshal(h)
	if err != nil {
		return err
	}
	fd, err := openAt(c.s.tx, c.key, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		unix.Close(fd)
		if err != nil {
			unix.Unlinkat(c.s.tx, c.key, 0)
		}
	}()
	w := &sumWriter{fd: fd, buf: make([]byte, 0, 64<<10)}
	w.put(append(head, '\n'))
	for _, a := range c.acts {
		w.put(a.content())
	}
	sum := binary.LittleEndian.AppendUint32(nil, w.sum)
	w.put(sum)
	w.put([]byte(journalTrailer))
	if w.flush(); w.err != nil {
		return w.err
	}
	if err := fdatasync(fd); err != nil {
		return err
	}
	return syncDir(c.s.tx)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumWriter writes to a file through a buffer and sums what passes.
type sumWriter struct {
	fd  int
	buf []byte
	sum uint32
	err error
}

func (w *sumWriter) put(data []byte) {
	w.sum = crc32.Update(w.sum, castagnoli, data)
	if len(w.buf)+len(data) > cap(w.buf) {
		w.flush()
	}
	if len(data) > cap(w.buf) {
		if w.err == nil {
			w.err = writeAll(w.fd, data)
		}
		return
	}
	w.buf = append(w.buf, data...)
}

func (w *sumWriter) flush() {
	if w.err == nil {
		w.err = writeAll(w.fd, w.buf)
	}
	w.buf = w.buf[:0]
}

// readJournal reads a tx file. ok is false where the file never became complete.
func readJournal(data []byte) (h journalHeader, contents [][]byte, ok bool) {
	body, ok := bytes.CutSuffix(data, []byte(journalTrailer))
	if !ok || len(body) < 4 {
		return h, nil, false
	}
	sum := binary.LittleEndian.Uint32(body[len(body)-4:])
	body = body[:len(body)-4]
	if crc32.Checksum(body, castagnoli) != sum {
		return h, nil, false
	}
	head, rest, ok := bytes.Cut(body, []byte{'\n'})
	if !ok || json.Unmarshal(head, &h) != nil || len(h.Sizes) != len(h.Steps) || len(h.Before) != len(h.Steps) {
		return h, nil, false
	}
	contents = make([][]byte, len(h.Steps))
	for i, n := range h.Sizes {
		if n < 0 || n > int64(len(rest)) {
			return h, nil, false
		}
		contents[i], rest = rest[:n:n], rest[n:]
	}
	return h, contents, len(rest) == 0
}

// errJournal is the error of a journal that this version cannot carry out.
func errJournal(key, why string) error { return fmt.Errorf("transaction %s: %s", key, why) }
