package file

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/host"
	"github.com/tackle-dev/tackle/host/local"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
	"github.com/tackle-dev/tackle/toolbox"
)

// content returns text of about n bytes with one marker line in the middle.
func benchContent(n int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		if i == n/100 {
			b.WriteString("the marker is A here\n")
		}
		fmt.Fprintf(&b, "%06d some ordinary text in a line\n", i)
	}
	return b.Bytes()
}

// floorEdit is the least that an edit can do: read, find once, replace, write beside, rename; and sync with durable.
func floorEdit(path, old, new string, durable bool) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if bytes.Count(data, []byte(old)) != 1 {
		return fmt.Errorf("%q is not there once", old)
	}
	data = bytes.Replace(data, []byte(old), []byte(new), 1)
	tmp := path + ".tmp"
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if durable {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// BenchmarkEdit measures edits through the whole road, before-image kept, beside the floor, in turns. The ratio of the
// medians is what counts; single times move with the machine.
func BenchmarkEdit(b *testing.B) {
	for _, size := range []int{10 << 10, 1 << 20} {
		for _, durable := range []bool{false, true} {
			name := fmt.Sprintf("%dKB", size>>10)
			if durable {
				name += "/durable"
			}
			b.Run(name, func(b *testing.B) { benchEdit(b, size, durable) })
		}
	}
}

func benchEdit(b *testing.B, size int, durable bool) {
	dir := b.TempDir()
	ws := filepath.Join(dir, "ws")
	if err := os.Mkdir(ws, 0o755); err != nil {
		b.Fatal(err)
	}
	ours, bare := filepath.Join(ws, "ours"), filepath.Join(ws, "bare")
	for _, p := range []string{ours, bare} {
		if err := os.WriteFile(p, benchContent(size), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	h, err := local.Open(local.Config{Roots: []host.Root{{Path: ws}}, StateDir: filepath.Join(dir, "state")})
	if err != nil {
		b.Fatal(err)
	}
	gate, err := permission.New(permission.Options{Facts: permission.FactsOf(h.Info())})
	if err != nil {
		b.Fatal(err)
	}
	box, err := toolbox.New(toolbox.Config{Host: h, Gate: gate, Env: tool.Environment{Mode: "code"}, Options: tool.Options{Durable: durable}})
	if err != nil {
		b.Fatal(err)
	}
	if err := box.Register(Edit{}.Tool(), "code"); err != nil {
		b.Fatal(err)
	}
	words := [2]string{"the marker is A here", "the marker is B here"}
	var mine, floor []time.Duration
	for i := 0; b.Loop(); i++ {
		from, to := words[i%2], words[(i+1)%2]
		args, err := json.Marshal(map[string]string{"path": "ours", "old_string": from, "new_string": to})
		if err != nil {
			b.Fatal(err)
		}
		t0 := time.Now()
		res, err := box.Call(context.Background(), toolbox.Request{Tool: "edit", Args: args})
		t1 := time.Now()
		if err != nil || !res.OK() {
			b.Fatal(err, res.Text())
		}
		if err := floorEdit(bare, from, to, durable); err != nil {
			b.Fatal(err)
		}
		mine, floor = append(mine, t1.Sub(t0)), append(floor, time.Since(t1))
	}
	slices.Sort(mine)
	slices.Sort(floor)
	m, f := mine[len(mine)/2], floor[len(floor)/2]
	b.ReportMetric(float64(m)/float64(f), "×floor")
	b.ReportMetric(float64(m.Microseconds()), "ours-µs")
	b.ReportMetric(float64(f.Microseconds()), "floor-µs")
	b.ReportMetric(0, "ns/op")
}
