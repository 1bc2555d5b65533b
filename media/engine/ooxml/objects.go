package ooxml

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path"

	"github.com/richardlehane/mscfb"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/internal/tree"
)

// maxModule bounds what the macros of one stream may grow to.
const maxModule = 64 << 20

// lookObject searches an embedded object or a project of macros: every stream as it stands, macros as they were written,
// and documents within it as documents. known reports whether it is such a container.
func (f *file) lookObject(ctx context.Context, name string, data []byte, red *tree.Redaction) (hit string, known bool, err error) {
	box, err := mscfb.New(bytes.NewReader(data))
	if err != nil {
		return "", false, nil
	}
	left := f.r.Limits.WithDefaults().Unpacked
	for entry, err := box.Next(); ; entry, err = box.Next() {
		if errors.Is(err, io.EOF) {
			return "", true, nil
		}
		if err != nil {
			return "", false, nil // its bytes are searched as they are
		}
		if err := ctx.Err(); err != nil {
			return "", true, err
		}
		if hit, err := red.Hit(entry.Name); hit != "" || err != nil {
			return hit, true, err
		}
		if entry.Size <= 0 {
			continue
		}
		if left -= entry.Size; left < 0 {
			return "", true, media.Failf("the embedded object %s is larger than can be looked through.", path.Base(name))
		}
		body, err := io.ReadAll(io.LimitReader(entry, entry.Size))
		if err != nil {
			return "", false, nil
		}
		if hit, err := red.Scan(body); hit != "" || err != nil {
			return hit, true, err
		}
		for _, source := range macroSources(body) {
			if hit, err := red.Scan(source); hit != "" || err != nil {
				return hit, true, err
			}
		}
		if at := bytes.Index(body, []byte("PK\x03\x04")); at >= 0 {
			in := media.Identify(media.Payload{Data: body[at:], Name: path.Base(name)})
			if hit, err := f.lookOffice(ctx, in, red); hit != "" || err != nil {
				return hit, true, err
			}
		}
	}
}

// macroSources returns the texts that a stream holds in the compression of macros (MS-OVBA 2.4.1). Where they begin is said
// in another stream; here every place is tried that could be a beginning.
func macroSources(b []byte) [][]byte {
	var out [][]byte
	total := 0
	for i := 0; i+3 < len(b); i++ {
		if b[i] != 1 || b[i+2]&0x70 != 0x30 {
			continue
		}
		if s := decompress(b[i+1:]); len(s) >= 4 {
			out = append(out, s)
			if total += len(s); total > maxModule {
				return out
			}
		}
	}
	return out
}

// decompress unpacks chunks up to the first that is none.
func decompress(b []byte) []byte {
	var out []byte
	for len(b) > 2 && len(out) < maxModule {
		head := int(b[0]) | int(b[1])<<8
		size := head&0xfff + 1 // without the header
		if head>>12&7 != 3 {
			break
		}
		chunk := b[2:min(len(b), 2+size)]
		b = b[2+len(chunk):]
		if head&0x8000 == 0 {
			out = append(out, chunk...)
			continue
		}
		start := len(out)
		for len(chunk) > 0 {
			flags := chunk[0]
			chunk = chunk[1:]
			for bit := 0; bit < 8 && len(chunk) > 0; bit++ {
				if flags>>bit&1 == 0 {
					out = append(out, chunk[0])
					chunk = chunk[1:]
					continue
				}
				if len(chunk) < 2 {
					return out
				}
				token := int(chunk[0]) | int(chunk[1])<<8
				chunk = chunk[2:]
				if len(out)-start > 4096 { // more than a chunk is of
					return out
				}
				bits := 4
				for 1<<bits < len(out)-start {
					bits++
				}
				length := token&(0xffff>>bits) + 3
				from := len(out) - (token >> (16 - bits)) - 1
				if from < start {
					return out
				}
				for k := range length {
					out = append(out, out[from+k])
				}
			}
		}
	}
	return out
}
