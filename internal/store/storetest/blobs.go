package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/tackle-dev/tackle/internal/store"
)

func sum(data string) string {
	s := sha256.Sum256([]byte(data))
	return hex.EncodeToString(s[:])
}

func put(t *testing.T, st store.Blobs, data string) store.Blob {
	t.Helper()
	b, err := st.Put(t.Context(), strings.NewReader(data))
	if err != nil {
		t.Fatalf("put: %v", err)
	}
	if b.Digest != sum(data) || b.Size != int64(len(data)) {
		t.Fatalf("put %d bytes gave %+v", len(data), b)
	}
	return b
}

func content(t *testing.T, st store.Blobs, digest string) string {
	t.Helper()
	c, err := st.Open(t.Context(), digest)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer c.Close()
	data, err := io.ReadAll(c)
	if err != nil || int64(len(data)) != c.Size() {
		t.Fatalf("read %d of %d bytes: %v", len(data), c.Size(), err)
	}
	return string(data)
}

var blobTests = []test{
	{"put, open, stat", func(t *testing.T, st store.Store, clock *clock) {
		for _, data := range []string{"", "x", "hello\n", strings.Repeat("0123456789", 30000), strings.Repeat("\xff\x00", 1<<20)} {
			b := put(t, st, data)
			if got := content(t, st, b.Digest); got != data {
				t.Errorf("%d bytes came back as %d others", len(data), len(got))
			}
			got, err := st.Stat(t.Context(), b.Digest)
			if err != nil || got.Size != int64(len(data)) || got.At.Sub(b.At).Abs() > time.Second {
				t.Errorf("stat = %+v, %v, want %+v", got, err, b)
			}
		}
	}},
	{"random access", func(t *testing.T, st store.Store, _ *clock) {
		b := put(t, st, "0123456789")
		c, err := st.Open(t.Context(), b.Digest)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		p := make([]byte, 3)
		if _, err := c.ReadAt(p, 4); err != nil || string(p) != "456" {
			t.Errorf("ReadAt: %q, %v", p, err)
		}
		if _, err := c.Seek(-2, io.SeekEnd); err != nil {
			t.Error(err)
		}
		if rest, err := io.ReadAll(c); err != nil || string(rest) != "89" {
			t.Errorf("after Seek: %q, %v", rest, err)
		}
	}},
	{"unknown and malformed digests", func(t *testing.T, st store.Store, _ *clock) {
		put(t, st, "x")
		for _, d := range []string{sum("never"), "", "../../etc/passwd", strings.ToUpper(sum("x")), sum("x")[:63], sum("x") + "0"} {
			_, err := st.Open(t.Context(), d)
			wantKind(t, err, store.ErrNotFound)
			_, err = st.Stat(t.Context(), d)
			wantKind(t, err, store.ErrNotFound)
			if gone, err := st.Delete(t.Context(), d, time.Time{}); !gone || err != nil {
				t.Errorf("delete %q: %v, %v", d, gone, err)
			}
		}
		content(t, st, sum("x"))
	}},
	{"an error of the reader leaves nothing", func(t *testing.T, st store.Store, _ *clock) {
		boom := errors.New("boom")
		for _, n := range []int{10, 200000} {
			r := io.MultiReader(strings.NewReader(strings.Repeat("y", n)), iotest.ErrReader(boom))
			if _, err := st.Put(t.Context(), r); !errors.Is(err, boom) {
				t.Errorf("error %v, want that of the reader", err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := st.Put(ctx, strings.NewReader("z")); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context.Canceled", err)
		}
		for b, err := range st.Walk(t.Context()) {
			t.Errorf("found %+v, %v", b, err)
		}
	}},
	{"walk and delete", func(t *testing.T, st store.Store, _ *clock) {
		want := map[string]int64{}
		for i := range 20 {
			b := put(t, st, strings.Repeat("x", i))
			want[b.Digest] = b.Size
		}
		walk := func() map[string]int64 {
			got := map[string]int64{}
			for b, err := range st.Walk(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				got[b.Digest] = b.Size
			}
			return got
		}
		same(t, "walk", want, walk())
		for d := range maps.Clone(want) {
			if want[d]%2 == 0 {
				if gone, err := st.Delete(t.Context(), d, time.Time{}); !gone || err != nil {
					t.Fatalf("delete: %v, %v", gone, err)
				}
				delete(want, d)
				_, err := st.Open(t.Context(), d)
				wantKind(t, err, store.ErrNotFound)
			}
		}
		same(t, "after deleting", want, walk())
		for range st.Walk(t.Context()) {
			break // stopping early is allowed
		}
	}},
	{"putting again renews, and delete spares the young", func(t *testing.T, st store.Store, clock *clock) {
		old := put(t, st, "x")
		clock.forward(time.Hour)
		before := clock.at
		if again := put(t, st, "x"); again.At.Before(before.Add(-time.Second)) {
			t.Errorf("put again at %v, but it says %v", before, again.At)
		}
		if gone, err := st.Delete(t.Context(), old.Digest, before.Add(-time.Minute)); gone || err != nil {
			t.Errorf("delete of a young blob: %v, %v", gone, err)
		}
		content(t, st, old.Digest)
		if gone, err := st.Delete(t.Context(), old.Digest, before.Add(time.Minute)); !gone || err != nil {
			t.Errorf("delete of an old blob: %v, %v", gone, err)
		}
		_, err := st.Stat(t.Context(), old.Digest)
		wantKind(t, err, store.ErrNotFound)
	}},
	{"putting wins against deleting", func(t *testing.T, st store.Store, clock *clock) {
		data := "contended " + strings.Repeat("z", 100)
		now := clock.at
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for range 50 {
					if _, err := st.Delete(t.Context(), sum(data), now.Add(-time.Minute)); err != nil {
						t.Errorf("delete: %v", err)
					}
				}
			})
			wg.Go(func() {
				for range 50 {
					if _, err := st.Put(t.Context(), strings.NewReader(data)); err != nil {
						t.Errorf("put: %v", err)
					}
				}
			})
		}
		wg.Wait()
		if got := content(t, st, sum(data)); got != data {
			t.Errorf("came back as %q", got)
		}
	}},
	{"many writers of the same and of different bytes", func(t *testing.T, st store.Store, _ *clock) {
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				for i := range 10 {
					data := fmt.Appendf(nil, "%d %d", w%2, i)
					if _, err := st.Put(t.Context(), bytes.NewReader(data)); err != nil {
						t.Errorf("put: %v", err)
					}
				}
			})
		}
		wg.Wait()
		n := 0
		for b, err := range st.Walk(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if sum(content(t, st, b.Digest)) != b.Digest {
				t.Errorf("blob %s holds other bytes", b.Digest)
			}
			n++
		}
		if n != 20 {
			t.Errorf("%d blobs, want 20", n)
		}
	}},
}
