//go:build unix

package ext_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine/ext"
)

// counted counts what is started.
type counted struct {
	ext.Runner
	cold, kept atomic.Int32
}

func (c *counted) Run(ctx context.Context, s ext.Start) (ext.End, error) {
	c.cold.Add(1)
	return c.Runner.Run(ctx, s)
}

func (c *counted) Keep(ctx context.Context, s ext.Start) (ext.Resident, error) {
	c.kept.Add(1)
	return c.Runner.Keep(ctx, s)
}

// openOffice opens a pipeline with LibreOffice alone, and counts what it starts.
func openOffice(t testing.TB, change func(*ext.Config)) (machine, *counted) {
	t.Helper()
	need(t, "soffice", officePackages)
	var c counted
	m := open(t, func(cfg *ext.Config) {
		only("soffice")(cfg)
		c.Runner, cfg.Runner = cfg.Runner, &c
		if change != nil {
			change(cfg)
		}
	})
	t.Cleanup(func() { m.finder.Close() })
	if m.found[0].Engine == nil {
		t.Fatalf("%+v", m.found[0])
	}
	return m, &c
}

// offices are the processes of LibreOffice that work in a folder.
func offices(dir string) []int {
	var out []int
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if program, _, _ := bytes.Cut(line, []byte{0}); bytes.HasSuffix(program, []byte("soffice.bin")) && bytes.Contains(line, []byte(dir)) {
			out = append(out, pid)
		}
	}
	return out
}

func signal(t *testing.T, dir string, sig syscall.Signal) []int {
	t.Helper()
	pids := offices(dir)
	if len(pids) == 0 {
		t.Fatal("LibreOffice does not keep running")
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, sig); err != nil {
			t.Fatal(err)
		}
	}
	return pids
}

func TestOffice(t *testing.T) {
	m, c := openOffice(t, nil)
	for _, tt := range []struct{ file, to, head string }{
		{"odf/testdata/rep.odt", "pdf", "%PDF"}, {"odf/testdata/rep.odt", "docx", "PK"}, {"odf/testdata/rep.odt", "doc", "\xd0\xcf"},
		{"odf/testdata/rich.ods", "xls", "\xd0\xcf"}, {"odf/testdata/deck.odp", "pptx", "PK"}, {"legacy/testdata/rep.rtf", "odt", "PK"},
		{"ooxml/testdata/rep.docx", "pdf", "%PDF"}, {"ooxml/testdata/deck.pptx", "pdf", "%PDF"}, {"sheet/testdata/rich.xlsx", "pdf", "%PDF"},
		// Files with comments, on which some builds crash unless they work in their first thread.
		{"odf/testdata/contract.odt", "pdf", "%PDF"}, {"ooxml/testdata/contract.docx", "pdf", "%PDF"}, {"ooxml/testdata/contract.docx", "rtf", `{\rtf`},
	} {
		res, err := m.pipe.Query(t.Context(), sample(t, tt.file), "convert to="+tt.to)
		if err != nil {
			t.Errorf("%s to %s: %v", tt.file, tt.to, err)
			continue
		}
		if !bytes.HasPrefix(res.Media.Data, []byte(tt.head)) {
			t.Errorf("%s to %s gives %.8q", tt.file, tt.to, res.Media.Data)
		}
	}
	got := run(t, m.pipe, sample(t, "odf/testdata/rep.odt"), "convert to=pdf")
	if !strings.HasSuffix(got.Media.Name, "rep.pdf") {
		t.Errorf("the name is %s", got.Media.Name)
	}
	if c.kept.Load() != 1 || c.cold.Load() != 0 {
		t.Errorf("LibreOffice was started to stay %d times, and %d times for one file", c.kept.Load(), c.cold.Load())
	}
}

// A LibreOffice that is gone, because a file made it crash or somebody ended it, is replaced.
func TestOfficeAfterACrash(t *testing.T) {
	m, c := openOffice(t, nil)
	in := sample(t, "ooxml/testdata/gen.docx")
	run(t, m.pipe, in, "convert to=pdf")
	signal(t, m.dir, syscall.SIGKILL)
	run(t, m.pipe, in, "convert to=pdf") // by one of its own, or by the next that stays
	run(t, m.pipe, in, "convert to=pdf")
	if len(offices(m.dir)) != 1 || c.kept.Load() != 2 {
		t.Errorf("%d run, started %d times to stay, %d times for one file", len(offices(m.dir)), c.kept.Load(), c.cold.Load())
	}
}

// A LibreOffice that hangs is ended with all that it started, it is said, and the next file gets another.
func TestOfficeThatStands(t *testing.T) {
	const limit = 12 * time.Second
	m, c := openOffice(t, func(cfg *ext.Config) { cfg.OfficeTime = limit })
	in := sample(t, "ooxml/testdata/gen.docx")
	run(t, m.pipe, in, "convert to=pdf")
	pids := signal(t, m.dir, syscall.SIGSTOP)
	_, err := m.pipe.Query(t.Context(), in, "convert to=pdf")
	var e *media.Error
	if !errors.As(err, &e) || e.Code != media.StepFailed || !strings.Contains(e.Error(), "did not finish within 12s and was ended. The file may be damaged, or too large") {
		t.Errorf("%v", err)
	}
	for _, pid := range pids {
		if line, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline"); bytes.Contains(line, []byte("soffice.bin")) {
			t.Errorf("process %d lives on", pid)
		}
	}
	run(t, m.pipe, in, "convert to=pdf")
	if c.kept.Load() != 2 {
		t.Errorf("started %d times", c.kept.Load())
	}
}

// Without the interface for Python each file gets a LibreOffice of its own.
func TestOfficeForEachFile(t *testing.T) {
	m, c := openOffice(t, func(cfg *ext.Config) {
		cfg.Exists = func(p string) bool { return !strings.HasSuffix(p, "uno.py") && exists(p) }
	})
	if b := run(t, m.pipe, sample(t, "ooxml/testdata/gen.docx"), "convert to=pdf").Media.Data; !bytes.HasPrefix(b, []byte("%PDF")) {
		t.Errorf("gives %.8q", b)
	}
	if m.found[0].Version != "(started for each file)" || c.kept.Load() != 0 || c.cold.Load() != 2 || len(offices(m.dir)) != 0 {
		t.Errorf("%s; %d kept, %d for one file, %d run", m.found[0].Version, c.kept.Load(), c.cold.Load(), len(offices(m.dir)))
	}
}

// The second conversion and those after it, beside a LibreOffice that is started for the file, by us and plainly, in turns.
func BenchmarkOffice(b *testing.B) {
	for _, file := range []string{"rep.docx", "gen.docx"} {
		b.Run(file, func(b *testing.B) {
			warm, _ := openOffice(b, nil)
			cold, _ := openOffice(b, func(cfg *ext.Config) {
				cfg.Exists = func(p string) bool { return !strings.HasSuffix(p, "uno.py") && exists(p) }
			})
			raw, err := os.ReadFile(filepath.Join("..", "ooxml", "testdata", file))
			if err != nil {
				b.Fatal(err)
			}
			in := media.Payload{Data: raw, Name: file}
			once := func(m machine) time.Duration {
				from := time.Now()
				if _, err := m.pipe.Query(b.Context(), in, "convert to=pdf"); err != nil {
					b.Fatal(err)
				}
				return time.Since(from)
			}
			// As a person does it, with a profile that is there already: the fastest that a start can be.
			dir := b.TempDir()
			var cpu time.Duration
			plain := func() time.Duration {
				from := time.Now()
				cmd := exec.Command("soffice", "--headless", "--norestore", "--nologo", "-env:UserInstallation=file://"+dir+"/profile", "--convert-to", "pdf", "--outdir", dir, filepath.Join("..", "ooxml", "testdata", file))
				cmd.Env = append(os.Environ(), "HOME="+dir)
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v %s", err, out)
				}
				cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
				return time.Since(from)
			}
			once(warm)
			plain()
			cpu = 0
			before := ticks(warm.dir)
			var fast, slow, kept []time.Duration
			for b.Loop() {
				for range 5 {
					fast = append(fast, once(warm))
				}
				slow, kept = append(slow, once(cold)), append(kept, plain())
			}
			// Time on a processor, which a busy machine changes least, with what is tidied up after the answer.
			each := float64(ticks(warm.dir)-before) * 10 / float64(len(fast))
			b.ReportMetric(each, "warm-cpu-ms")
			b.ReportMetric(ms(cpu)/float64(len(kept)), "plain-cpu-ms")
			b.ReportMetric(ms(cpu)/float64(len(kept))/each, "plain-cpu-ratio")
			b.ReportMetric(ms(median(fast)), "warm-ms")
			b.ReportMetric(ms(median(slow)), "cold-ms")
			b.ReportMetric(ms(median(slow))/ms(median(fast)), "ratio")
			b.ReportMetric(ms(median(kept)), "plain-ms")
			b.ReportMetric(ms(median(kept))/ms(median(fast)), "plain-ratio")
			b.ReportMetric(ms(slices.Min(slow))/ms(slices.Min(fast)), "ratio-of-best")
			b.ReportMetric(ms(slices.Min(kept))/ms(slices.Min(fast)), "plain-ratio-of-best")
		})
	}
}

// ticks are hundredths of a second that the processes of the LibreOffice of a folder, and what talks to it, had a processor.
func ticks(dir string) int {
	sum := 0
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline"); !bytes.Contains(line, []byte(dir)) {
			continue
		}
		stat, _ := os.ReadFile("/proc/" + e.Name() + "/stat")
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		for _, i := range []int{11, 12} { // utime, stime
			if n, err := strconv.Atoi(f[i]); err == nil {
				sum += n
			}
		}
	}
	return sum
}

func median(d []time.Duration) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
