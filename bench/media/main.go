// Command media measures what the media pipeline costs beside libraries of npm that people use for the same work:
//
//	npm install --prefix DIR exceljs sharp pdf-lib pdfjs-dist
//	go run ./bench/media -npm DIR
//
// It makes a workbook of 50,000 rows by 10 columns, a photograph of 12 megapixels and a PDF of 200 pages, lets each side do the same in turn,
// in processes of their own, and prints medians of processor time, the largest memory, and the ratio. A machine that is
// busy does not change who wins; processor time is compared, not waiting.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/xuri/excelize/v2"

	"github.com/tackle-dev/tackle/media"
	"github.com/tackle-dev/tackle/media/engine"
	"github.com/tackle-dev/tackle/media/engine/pdf/object"
)

var (
	npm    = flag.String("npm", "", "folder in which the peers are installed")
	rounds = flag.Int("rounds", 3, "rounds of all contenders")
	iters  = flag.Int("n", 3, "measured runs of a contender in a round, after one to warm up")
	only   = flag.String("only", "", "only these operations, with commas between them")
	one    = flag.String("one", "", "only run this operation on FILE, in this process")
)

// task is one operation.
type task struct {
	name, file, statement string
	goal                  string
}

func main() {
	log.SetFlags(0)
	flag.Parse()
	if *one == "inputs" {
		if err := inputs(flag.Arg(0)); err != nil {
			log.Fatal(err)
		}
		return
	}
	if *one != "" {
		if err := single(*one, flag.Arg(0)); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := all(); err != nil {
		log.Fatal(err)
	}
}

func updates() string {
	var parts []string
	for i := 2; i < 202; i++ {
		parts = append(parts, fmt.Sprintf(`{"address":"D%d","value":%d}`, i, i))
	}
	return "sheet update_cells updates='[" + strings.Join(parts, ",") + "]'"
}

func tasks(dir string) []task {
	book, photo, paper := filepath.Join(dir, "big.xlsx"), filepath.Join(dir, "big.jpg"), filepath.Join(dir, "big.pdf")
	return []task{
		{"update", book, updates(), "at least 20 times less than exceljs, under 120 MB"},
		{"read", book, "convert to=csv", "at least 4 times less than exceljs"},
		{"resize", photo, "image resize width=1024", "within 4 times of sharp"},
		{"select", paper, "select pages=101-150", "at least 20 times less than pdf-lib"},
		{"text", paper, "extract text", "at least 2 times less than pdfjs-dist"},
	}
}

func all() error {
	dir, err := os.MkdirTemp("", "media-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	// A process of its own: the largest memory of a process is handed on to those that it starts.
	if out, err := exec.Command(self, "-one", "inputs", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("make the inputs: %w: %s", err, out)
	}
	peers, err := filepath.Abs("bench/media/peers.js")
	if err != nil {
		return err
	}
	type figures struct {
		cpu []float64
		rss float64
	}
	got := map[string]*figures{}
	for range *rounds {
		for _, t := range tasks(dir) {
			if *only != "" && !slices.Contains(strings.Split(*only, ","), t.name) {
				continue
			}
			for _, side := range []string{"tackle", "peer"} {
				cmd := exec.Command(self, "-one", t.name, "-n", fmt.Sprint(*iters), t.file)
				if side == "peer" {
					if *npm == "" {
						continue
					}
					cmd = exec.Command("node", peers, t.name, t.file, fmt.Sprint(*iters))
					cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(*npm, "node_modules"))
				}
				cmd.Stderr = os.Stderr
				out, err := cmd.Output()
				if err != nil {
					return fmt.Errorf("%s of %s: %w", t.name, side, err)
				}
				f := got[t.name+side]
				if f == nil {
					f = &figures{}
					got[t.name+side] = f
				}
				for line := range strings.Lines(string(out)) {
					var v float64
					if _, err := fmt.Sscanf(line, "cpu %f", &v); err == nil {
						f.cpu = append(f.cpu, v)
					} else if _, err := fmt.Sscanf(line, "rss %f", &v); err == nil {
						f.rss = max(f.rss, v)
					}
				}
			}
		}
	}
	fmt.Printf("%-8s %12s %8s %12s %8s %8s  %s\n", "", "tackle ms", "MB", "peer ms", "MB", "ratio", "aim")
	for _, t := range tasks(dir) {
		a, b := got[t.name+"tackle"], got[t.name+"peer"]
		if a == nil {
			continue
		}
		if b == nil {
			fmt.Printf("%-8s %12.0f %8.0f\n", t.name, median(a.cpu), a.rss)
			continue
		}
		fmt.Printf("%-8s %12.0f %8.0f %12.0f %8.0f %8.2f  %s\n", t.name, median(a.cpu), a.rss, median(b.cpu), b.rss, median(b.cpu)/median(a.cpu), t.goal)
	}
	return nil
}

func median(v []float64) float64 {
	slices.Sort(v)
	if len(v) == 0 {
		return math.NaN()
	}
	return v[len(v)/2]
}

func cpu() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return math.NaN()
	}
	return float64(r.Utime.Sec+r.Stime.Sec)*1000 + float64(r.Utime.Usec+r.Stime.Usec)/1000
}

// single runs one operation as the command does, with its setting of the garbage collector.
func single(name, file string) error {
	debug.SetGCPercent(100)
	p, err := media.New(media.Config{Engines: engine.With(engine.Config{Cache: filepath.Join(filepath.Dir(file), "cache")})})
	if err != nil {
		return err
	}
	statement := ""
	for _, t := range tasks("") {
		if t.name == name {
			statement = t.statement
		}
	}
	plan, err := p.Compile(statement)
	if err != nil {
		return err
	}
	for i := range *iters + 1 {
		runtime.GC()
		began := cpu()
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		res, err := p.Run(context.Background(), media.Payload{Data: data, Name: filepath.Base(file)}, plan, media.RunOptions{})
		if err != nil {
			return err
		}
		if i > 0 {
			size := 0
			if res.Media != nil {
				size = len(res.Media.Data)
			} else if res.Read != nil {
				size = len(res.Read.Text)
			}
			fmt.Printf("cpu %.1f %d\n", cpu()-began, size)
		}
	}
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return err
	}
	fmt.Printf("rss %d\n", r.Maxrss/1024)
	return nil
}

// inputs makes the workbook and the photograph.
func inputs(dir string) error {
	f := excelize.NewFile()
	for r := 1; r <= 50_000; r++ {
		row := make([]any, 10)
		for c := range row {
			if c%3 == 0 {
				row[c] = fmt.Sprintf("name %d of %d", r*7%1000, c)
			} else {
				row[c] = float64(r*(c+3)%100_000) / 100
			}
		}
		if err := f.SetSheetRow("Sheet1", fmt.Sprintf("A%d", r), &row); err != nil {
			return err
		}
	}
	if err := f.SaveAs(filepath.Join(dir, "big.xlsx")); err != nil {
		return err
	}
	m := image.NewRGBA(image.Rect(0, 0, 4000, 3000))
	seed := uint32(1)
	for y := range 3000 {
		for x := range 4000 {
			seed = seed*1664525 + 1013904223
			n := int(seed>>27) - 16
			v := func(f float64) uint8 { return uint8(min(255, max(0, int(128+100*f)+n))) }
			fx, fy := float64(x)/90, float64(y)/70
			m.SetRGBA(x, y, color.RGBA{v(math.Sin(fx + fy/3)), v(math.Cos(fy)), v(math.Sin(fx * fy / 40)), 255})
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 88}); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "big.jpg"), b.Bytes(), 0o600); err != nil {
		return err
	}
	return paper(filepath.Join(dir, "big.pdf"))
}

// paper makes a PDF of 200 pages with 45 lines of text each.
func paper(name string) error {
	f := object.New()
	font := f.Add(object.Dict{"Type": object.Name("Font"), "Subtype": object.Name("Type1"), "BaseFont": object.Name("Helvetica"), "Encoding": object.Name("WinAnsiEncoding")})
	pages := f.Add(nil)
	var kids object.Array
	for p := range 200 {
		var b bytes.Buffer
		b.WriteString("BT /F 11 Tf 14 TL 50 800 Td\n")
		for l := range 45 {
			fmt.Fprintf(&b, "(Page %d, line %d: a line of words as reports have them, %d of all.) Tj T*\n", p+1, l+1, p*l)
		}
		b.WriteString("ET")
		kids = append(kids, f.Add(object.Dict{"Type": object.Name("Page"), "Parent": pages, "MediaBox": object.Array{int64(0), int64(0), int64(595), int64(842)},
			"Resources": object.Dict{"Font": object.Dict{"F": font}}, "Contents": f.Add(object.Deflate(b.Bytes(), nil))}))
	}
	f.Set(pages, object.Dict{"Type": object.Name("Pages"), "Kids": kids, "Count": int64(len(kids))})
	f.Trailer["Root"] = f.Add(object.Dict{"Type": object.Name("Catalog"), "Pages": pages})
	data, err := f.Write()
	if err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o600)
}
