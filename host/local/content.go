//go:build linux || darwin

package local

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

const (
	readChunk = 128 << 10
	// maxCurrent is the size in bytes up to which a StaleError carries the content that was found.
	maxCurrent = 8 << 20
)

func (p *platform) buffer() *[]byte {
	if b, _ := p.bufs.Get().(*[]byte); b != nil {
		return b
	}
	b := make([]byte, readChunk)
	return &b
}

// sameContent compares an open file of the given size with a blob: byte for byte where the blob is held, which is
// several times cheaper than hashing, and by digest otherwise.
func (p *platform) sameContent(fd int, size int64, want *change.Blob) (bool, error) {
	if size != want.Size() {
		return false, nil
	}
	data, ok := want.Bytes()
	if !ok {
		sum, err := p.digest(fd)
		return sum == want.Digest(), err
	}
	buf := p.buffer()
	defer p.bufs.Put(buf)
	for off := 0; off < len(data); {
		n, err := preadFull(fd, (*buf)[:min(readChunk, len(data)-off)], int64(off))
		if err != nil {
			return false, err
		}
		if n == 0 || !bytes.Equal((*buf)[:n], data[off:off+n]) {
			return false, nil
		}
		off += n
	}
	return true, nil
}

func (p *platform) digest(fd int) (change.Digest, error) {
	buf := p.buffer()
	defer p.bufs.Put(buf)
	h := sha256.New()
	for off := int64(0); ; {
		n, err := preadFull(fd, *buf, off)
		if err != nil {
			return change.Digest{}, err
		}
		h.Write((*buf)[:n])
		off += int64(n)
		if n < len(*buf) {
			return change.Digest(h.Sum(nil)), nil
		}
	}
}

// readFile returns the content of an open file.
func readFile(fd int, size int64) ([]byte, error) {
	data := make([]byte, size)
	n, err := preadFull(fd, data, 0)
	return data[:n], err
}

// copyFile copies the content of one open file to another, at the start of both.
func (p *platform) copyFile(to, from int) error {
	buf := p.buffer()
	defer p.bufs.Put(buf)
	for off := int64(0); ; {
		n, err := preadFull(from, *buf, off)
		if err != nil {
			return err
		}
		if err := writeAll(to, (*buf)[:n]); err != nil {
			return err
		}
		off += int64(n)
		if n < len(*buf) {
			return nil
		}
	}
}

// observe describes what stands at a name, content included where it is of reasonable size.
func (p *platform) observe(dir int, base string) change.State {
	st, target, err := look(dir, base)
	if err != nil {
		return change.State{}
	}
	typ, _ := st.typ()
	s := change.State{Type: typ, Mode: st.perm(), Target: target}
	if typ != change.File {
		return s
	}
	fd, st, err := openLeaf(dir, base)
	if err != nil {
		return s // unreadable: type and mode is all that can be said
	}
	defer unix.Close(fd)
	if st.size <= maxCurrent {
		if data, err := readFile(fd, st.size); err == nil {
			s.Blob = change.NewBlob(data)
		}
	} else if sum, err := p.digest(fd); err == nil {
		s.Blob = change.KnownBlob(sum, st.size)
	}
	return s
}

func (c *commit) stale(op *change.Op, current change.State) error {
	return &host.StaleError{Path: op.Path, Want: op.Before, Current: current}
}

// staleNow is the error of an operation whose path is not what it expects. What cannot stand in a set is named.
func (c *commit) staleNow(op *change.Op, a *act) error {
	if a.dir >= 0 {
		if st, err := lstatAt(a.dir, a.base); err == nil {
			if _, special := st.typ(); special != "" {
				return &host.PathError{Op: "commit", Path: op.Path, Err: fmt.Errorf("%w: it is a %s", host.ErrSpecial, special)}
			}
		}
	}
	return c.stale(op, c.l.observe(a.dir, a.base))
}
