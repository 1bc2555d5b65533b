//go:build linux || darwin

package local

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/host"
)

// The edit that is measured: read, find, replace, write. The floor does it as a bare program would, with a temporary
// file and rename and nothing else. Both write the same bytes into the same directory.
var editSizes = []struct {
	name  string
	bytes int
}{{"10KB", 10 << 10}, {"1MB", 1 << 20}}

func editContent(size int) []byte {
	line := []byte("the quick brown fox jumps over the lazy dog, and writes it down\n")
	data := bytes.Repeat(line, size/len(line)+1)[:size]
	copy(data[size/2:], "MARK0000")
	return data
}

func editOnce(data []byte, i int) []byte {
	return bytes.Replace(data, fmt.Appendf(nil, "MARK%04d", i%10000), fmt.Appendf(nil, "MARK%04d", (i+1)%10000), 1)
}

func floorEdit(path string, i int, durable bool) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path+".tmp", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err = f.Write(editOnce(data, i)); err != nil {
		return err
	}
	if durable {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	if err := os.Rename(path+".tmp", path); err != nil || !durable {
		return err
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func hostEdit(ctx context.Context, l *Local, path string, i int, opt host.CommitOptions) error {
	f, err := l.Open(ctx, path)
	if err != nil {
		return err
	}
	data := make([]byte, f.Info().Size)
	_, err = io.ReadFull(f, data)
	f.Close()
	if err != nil {
		return err
	}
	before := change.FileState(data, f.Info().Mode)
	_, err = l.Commit(ctx, &change.Set{Ops: []change.Op{change.Replace(path, before, editOnce(data, i))}}, opt)
	return err
}

func benchHost(b *testing.B, images int64) (*Local, string) {
	dir := b.TempDir()
	ws := filepath.Join(dir, "ws")
	if err := os.Mkdir(ws, 0o755); err != nil {
		b.Fatal(err)
	}
	l, err := Open(Config{Roots: []host.Root{{Path: ws}}, StateDir: filepath.Join(dir, "state"), MaxImageBytes: images})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	return l, l.info.Roots[0].Path
}

// BenchmarkCommitFloor is the bare edit.
func BenchmarkCommitFloor(b *testing.B) {
	for _, durable := range []bool{false, true} {
		for _, size := range editSizes {
			b.Run(fmt.Sprintf("durable=%v/%s", durable, size.name), func(b *testing.B) {
				path := filepath.Join(b.TempDir(), "f")
				os.WriteFile(path, editContent(size.bytes), 0o644)
				for i := 0; b.Loop(); i++ {
					if err := floorEdit(path, i, durable); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkCommit is the same edit through the host, digests computed and before-image kept.
func BenchmarkCommit(b *testing.B) {
	for _, durable := range []bool{false, true} {
		for _, size := range editSizes {
			b.Run(fmt.Sprintf("durable=%v/%s", durable, size.name), func(b *testing.B) {
				l, ws := benchHost(b, 0)
				path := filepath.Join(ws, "f")
				os.WriteFile(path, editContent(size.bytes), 0o644)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if err := hostEdit(b.Context(), l, path, i, host.CommitOptions{Durable: durable}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkCommitRatio runs both in turns, so that what else the machine does falls on both, and reports the ratio of
// the medians. "elsewhere" has the state directory on another file system, so that before-images are copied.
func BenchmarkCommitRatio(b *testing.B) {
	for _, kind := range []string{"plain", "durable", "elsewhere"} {
		for _, size := range editSizes {
			b.Run(kind+"/"+size.name, func(b *testing.B) {
				l, ws := benchHost(b, 0)
				l.noState.Store(kind == "elsewhere")
				durable := kind == "durable"
				bare, path := filepath.Join(ws, "bare"), filepath.Join(ws, "f")
				os.WriteFile(bare, editContent(size.bytes), 0o644)
				os.WriteFile(path, editContent(size.bytes), 0o644)
				var floor, ours []time.Duration
				for i := 0; b.Loop(); i++ {
					t0 := time.Now()
					err := floorEdit(bare, i, durable)
					t1 := time.Now()
					if err == nil {
						err = hostEdit(b.Context(), l, path, i, host.CommitOptions{Durable: durable})
					}
					if err != nil {
						b.Fatal(err)
					}
					floor, ours = append(floor, t1.Sub(t0)), append(ours, time.Since(t1))
				}
				slices.Sort(floor)
				slices.Sort(ours)
				mid := len(ours) / 2
				b.ReportMetric(float64(floor[mid].Microseconds()), "floor-µs")
				b.ReportMetric(float64(ours[mid].Microseconds()), "commit-µs")
				b.ReportMetric(float64(ours[mid])/float64(floor[mid]), "ratio")
				b.ReportMetric(float64(ours[0])/float64(floor[0]), "ratio-of-min")
			})
		}
	}
}

// BenchmarkCommitMany is a set of fifty files of a thousand lines, beside bare writes of the same.
func BenchmarkCommitMany(b *testing.B) {
	const files = 50
	l, ws := benchHost(b, 0)
	data := editContent(40 << 10)
	paths := make([]string, 2*files)
	for i := range paths {
		paths[i] = filepath.Join(ws, fmt.Sprintf("f%03d", i))
		os.WriteFile(paths[i], data, 0o644)
	}
	var floor, ours []time.Duration
	for i := 0; b.Loop(); i++ {
		t0 := time.Now()
		for _, p := range paths[files:] {
			if err := floorEdit(p, i, false); err != nil {
				b.Fatal(err)
			}
		}
		t1 := time.Now()
		next := editOnce(data, i)
		set := &change.Set{}
		for _, p := range paths[:files] {
			set.Ops = append(set.Ops, change.Replace(p, change.FileState(data, 0o644), next))
		}
		if _, err := l.Commit(b.Context(), set, host.CommitOptions{}); err != nil {
			b.Fatal(err)
		}
		data = next
		floor, ours = append(floor, t1.Sub(t0)), append(ours, time.Since(t1))
	}
	slices.Sort(floor)
	slices.Sort(ours)
	mid := len(ours) / 2
	b.ReportMetric(float64(floor[mid].Microseconds()), "floor-µs")
	b.ReportMetric(float64(ours[mid])/float64(floor[mid]), "ratio")
}

// BenchmarkRead is what every reading tool does: resolve, open, close. The file lies five directories deep.
func BenchmarkRead(b *testing.B) {
	l, ws := benchHost(b, 0)
	path := filepath.Join(ws, "a/b/c/d/f")
	os.MkdirAll(filepath.Dir(path), 0o755)
	os.WriteFile(path, []byte("x"), 0o644)
	b.Run("resolve", func(b *testing.B) {
		for b.Loop() {
			if p, err := l.Resolve(b.Context(), "", "a/b/c/d/f"); err != nil || p.Real != path {
				b.Fatal(p, err)
			}
		}
	})
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			f, err := l.Open(b.Context(), path)
			if err != nil {
				b.Fatal(err)
			}
			f.Close()
		}
	})
}
