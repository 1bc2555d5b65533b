package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Disk keeps blobs as files: DIR/ab/abcdef…, named by digest in 256 folders, readable by the user alone and writable by
// nobody, so that a hard link to a blob cannot be used to change it by mistake. A blob appears by a rename when it is
// complete. The folder is made by the first Put.
type Disk struct {
	dir string
	opt Options
}

// NewDisk returns the blob store in a folder without touching it.
func NewDisk(dir string, opt Options) *Disk { return &Disk{dir: dir, opt: opt.withDefaults()} }

// File returns the path of the file that holds a blob, whether it exists or not. The file must not be changed.
func (d *Disk) File(digest string) string {
	if !validDigest(digest) {
		return filepath.Join(d.dir, "invalid")
	}
	return filepath.Join(d.dir, digest[:2], digest)
}

func (d *Disk) tmp() string { return filepath.Join(d.dir, "tmp") }

const small = 64 << 10 // bytes; smaller blobs are hashed in memory and need no temporary file when they are known

// Put implements [Blobs].
func (d *Disk) Put(ctx context.Context, r io.Reader) (Blob, error) {
	r = withContext(ctx, r)
	head := make([]byte, small)
	n, err := io.ReadFull(r, head)
	head = head[:n]
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		sum := sha256.Sum256(head)
		digest := hex.EncodeToString(sum[:])
		if b, ok, err := d.renew(digest, int64(n)); ok || err != nil {
			return b, err
		}
		return d.spool(digest, bytes.NewReader(head))
	case err != nil:
		return Blob{}, err
	}
	return d.spool("", io.MultiReader(bytes.NewReader(head), r))
}

// spool writes r to a temporary file and gives it its name.
func (d *Disk) spool(digest string, r io.Reader) (_ Blob, err error) {
	f, err := d.create()
	if err != nil {
		return Blob{}, fileError("put blob into", d.dir, err)
	}
	defer func() {
		f.Close()
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	h := sha256.New()
	w := &fileWriter{f: f, path: d.dir}
	size, err := io.CopyBuffer(io.MultiWriter(w, h), r, make([]byte, 128<<10))
	if err != nil {
		return Blob{}, err
	}
	if d.opt.Durable {
		if err := f.Sync(); err != nil {
			return Blob{}, fileError("put blob into", d.dir, err)
		}
	}
	if digest == "" {
		digest = hex.EncodeToString(h.Sum(nil))
	}
	return d.install(f, digest, size)
}

// fileWriter tells errors of the file from those of the reader beside it.
type fileWriter struct {
	f    *os.File
	path string
}

func (w *fileWriter) Write(p []byte) (int, error) {
	n, err := w.f.Write(p)
	if err != nil {
		err = fileError("put blob into", w.path, err)
	}
	return n, err
}

func (d *Disk) create() (*os.File, error) {
	f, err := os.CreateTemp(d.tmp(), "put-*")
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(d.tmp(), 0o700); err != nil {
			return nil, err
		}
		f, err = os.CreateTemp(d.tmp(), "put-*")
	}
	return f, err
}

func (d *Disk) install(f *os.File, digest string, size int64) (Blob, error) {
	fail := func(err error) (Blob, error) { return Blob{}, fileError("put blob into", d.dir, err) }
	if err := f.Chmod(0o400); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return fail(err)
	}
	if err := f.Close(); err != nil {
		return fail(err)
	}
	now := d.opt.Now()
	if err := os.Chtimes(f.Name(), now, now); err != nil {
		return fail(err)
	}
	if b, ok, err := d.renew(digest, size); ok || err != nil {
		os.Remove(f.Name())
		return b, err
	}
	path := d.File(digest)
	err := os.Rename(f.Name(), path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = os.Rename(f.Name(), path)
		}
	}
	if err != nil {
		return fail(err)
	}
	if d.opt.Durable {
		if err := syncDir(filepath.Dir(path)); err != nil {
			return fail(err)
		}
	}
	b, err := d.stat(digest)
	if err != nil {
		return fail(err)
	}
	return b, nil
}

// renew marks a known blob as put again. A blob of the wrong size (a machine crashed before its bytes were written out)
// counts as unknown.
func (d *Disk) renew(digest string, size int64) (Blob, bool, error) {
	b, err := d.stat(digest)
	if err != nil || b.Size != size {
		return Blob{}, false, nil
	}
	now := d.opt.Now()
	if err := os.Chtimes(d.File(digest), now, now); err != nil {
		if errors.Is(err, fs.ErrNotExist) { // deleted in between
			return Blob{}, false, nil
		}
		return Blob{}, false, fileError("put blob into", d.dir, err)
	}
	b.At = now.UTC()
	return b, true, nil
}

func (d *Disk) stat(digest string) (Blob, error) {
	fi, err := os.Stat(d.File(digest))
	if err != nil {
		return Blob{}, err
	}
	return Blob{Digest: digest, Size: fi.Size(), At: fi.ModTime().UTC()}, nil
}

// Stat implements [Blobs].
func (d *Disk) Stat(ctx context.Context, digest string) (Blob, error) {
	if err := ctx.Err(); err != nil {
		return Blob{}, err
	}
	b, err := d.stat(digest)
	if errors.Is(err, fs.ErrNotExist) {
		return Blob{}, noBlob("stat", digest)
	}
	if err != nil {
		return Blob{}, fileError("stat blob", d.File(digest), err)
	}
	return b, nil
}

type diskContent struct {
	*os.File
	size int64
}

func (c diskContent) Size() int64 { return c.size }

// Open implements [Blobs].
func (d *Disk) Open(ctx context.Context, digest string) (Content, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := os.Open(d.File(digest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noBlob("open", digest)
	}
	if err != nil {
		return nil, fileError("open blob", d.File(digest), err)
	}
	fi, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fileError("open blob", d.File(digest), err)
	}
	return diskContent{f, fi.Size()}, nil
}

func noBlob(op, digest string) error {
	return &Error{Op: op + " blob", Path: digest, Kind: ErrNotFound}
}

// Delete implements [Blobs]. It takes the file out of sight first and looks at its time then, so that a Put of the same
// bytes either made it young before (and it comes back) or finds it missing (and stores it anew).
func (d *Disk) Delete(ctx context.Context, digest string, before time.Time) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	path := d.File(digest)
	b, err := d.stat(digest)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err == nil && !before.IsZero() && !b.At.Before(before) {
		return false, nil
	}
	if err := os.MkdirAll(d.tmp(), 0o700); err != nil {
		return false, fileError("delete blob", path, err)
	}
	aside := filepath.Join(d.tmp(), "del-"+digest[:16]+"-"+rand.Text()) // two deleters never meet
	if err := os.Rename(path, aside); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		return false, fileError("delete blob", path, err)
	}
	kept := false
	if fi, err := os.Stat(aside); err == nil && !before.IsZero() && !fi.ModTime().Before(before) {
		kept = true
		os.Link(aside, path) // fails where somebody stored it anew, which is as good
	}
	if err := os.Remove(aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fileError("delete blob", aside, err)
	}
	return !kept, nil
}

// Walk implements [Blobs].
func (d *Disk) Walk(ctx context.Context) iter.Seq2[Blob, error] {
	return func(yield func(Blob, error) bool) {
		shards, err := os.ReadDir(d.dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(Blob{}, fileError("list blobs in", d.dir, err))
			return
		}
		for _, shard := range shards {
			if len(shard.Name()) == 2 && !d.walkShard(ctx, shard.Name(), yield) {
				return
			}
		}
	}
}

func (d *Disk) walkShard(ctx context.Context, shard string, yield func(Blob, error) bool) bool {
	entries, err := os.ReadDir(filepath.Join(d.dir, shard))
	if err != nil {
		return yield(Blob{}, fileError("list blobs in", d.dir, err))
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			yield(Blob{}, err)
			return false
		}
		if !validDigest(e.Name()) || !strings.HasPrefix(e.Name(), shard) {
			continue
		}
		b, err := d.stat(e.Name())
		if errors.Is(err, fs.ErrNotExist) { // deleted since
			continue
		}
		if err != nil {
			err = fileError("list blobs in", d.dir, err)
		}
		if !yield(b, err) {
			return false
		}
	}
	return true
}

// Sweep removes temporary files that processes left behind which were killed before the given time.
func (d *Disk) Sweep(ctx context.Context, before time.Time) (removed int, err error) {
	entries, err := os.ReadDir(d.tmp())
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return 0, nil
		}
		return 0, fileError("sweep", d.tmp(), err)
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return removed, err
		}
		if fi, err := e.Info(); err == nil && fi.ModTime().Before(before) && os.Remove(filepath.Join(d.tmp(), e.Name())) == nil {
			removed++
		}
	}
	return removed, nil
}

func syncDir(dir string) error {
	if runtime.GOOS == "windows" { // has no such thing
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// withContext makes a reader that ends with ctx.
func withContext(ctx context.Context, r io.Reader) io.Reader { return contextReader{ctx, r} }

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
