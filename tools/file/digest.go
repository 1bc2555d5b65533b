package file

import (
	"context"
	"crypto/sha256"
	"io"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/schema"
)

// digestOf streams a file through the hash.
func digestOf(ctx context.Context, h host.Host, real string) (change.Digest, error) {
	f, err := h.Open(ctx, real)
	if err != nil {
		return change.Digest{}, err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, ctxReader{ctx, f}); err != nil {
		return change.Digest{}, err
	}
	return change.Digest(sum.Sum(nil)), nil
}

// ctxReader ends with its context: hashing a huge file takes long.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// nearest returns the name that a mistyped one probably meant, or "".
func nearest(name string, names []string) string { return schema.Nearest(name, names) }
