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
	if _, err := io.Copy(sum, f); err != nil {
		return change.Digest{}, err
	}
	return change.Digest(sum.Sum(nil)), nil
}

// nearest returns the name that a mistyped one probably meant, or "".
func nearest(name string, names []string) string { return schema.Nearest(name, names) }
