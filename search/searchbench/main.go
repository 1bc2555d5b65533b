// Command searchbench compares package search with ripgrep and fd: every row of a table is run round robin, each side as
// a program of its own with its output read through a pipe, and the medians of wall and processor time are printed with
// their ratio.
//
//	go run ./search/searchbench -rg /path/to/rg -fd /path/to/fd -tree /usr/local/go/src -n 10
//
// The same program is the other side: with -child it runs one query and prints it as ripgrep would.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/search"
)

func main() {
	rg := flag.String("rg", "rg", "path of ripgrep")
	fd := flag.String("fd", "", "path of fd; empty: leave its rows out")
	tree := flag.String("tree", "", "directory to search")
	n := flag.Int("n", 10, "rounds")
	only := flag.String("only", "", "run only rows whose name contains this")
	child := flag.Bool("child", false, "run one query: the rest are ripgrep's flags -i -w -l -c -n -U -F -g GLOB --files --sortr modified, and the pattern")
	flag.Parse()
	var err error
	if *child {
		err = runChild(*tree, flag.Args())
	} else {
		err = runTable(*rg, *fd, *tree, *only, *n)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// row is one comparison. Class is what the geometric means are taken over.
type row struct {
	class, name string
	args        []string
	fd          []string // for lists: the same for fd
	sub         string   // a directory below the tree
}

func rows(tree string) []row {
	lit, no, list := "literal", "no literal", "list"
	out := []row{
		{lit, "common word", []string{"-n", "return"}, nil, ""},
		{lit, "absent", []string{"-n", "zqxjkvbpm"}, nil, ""},
		{lit, "-i", []string{"-n", "-i", "pm_resume|closenotify"}, nil, ""},
		{lit, "alternation", []string{"-n", "sync_file_range|EPOLLRDHUP|tcp_sendmsg"}, nil, ""},
		{lit, "regex with literal", []string{"-n", `\w+_alloc_coherent\(`}, nil, ""},
		{lit, "-w", []string{"-n", "-w", "Deadline|ktime_get"}, nil, ""},
		{lit, "-l", []string{"-l", "TODO"}, nil, ""},
		{lit, "-c", []string{"-c", "TODO"}, nil, ""},
		{no, "upper, digits, lower", []string{"-n", "[A-Z]{5}[0-9]{4}[a-z]"}, nil, ""},
		{no, "three words", []string{"-n", `^[a-z]+ [a-z]+ [a-z]+$`}, nil, ""},
		{list, "--files", []string{"--files"}, []string{"--type", "f"}, ""},
	}
	if _, err := os.Stat(filepath.Join(tree, "Kconfig")); err == nil { // the kernel
		return append(out,
			row{lit, "mutex_lock", []string{"-n", "mutex_lock"}, nil, ""},
			row{lit, "struct ... = {", []string{"-n", `struct \w+_operations \w+ = \{`}, nil, ""},
			row{lit, "-g *.h", []string{"-n", "-g", "*.h", "EXPORT_SYMBOL"}, nil, ""},
			row{lit, "err.*goto", []string{"-n", "err.*goto"}, nil, ""},
			row{lit, "-U", []string{"-n", "-U", `return -ENOSYS;\n\}\n\nstatic`}, nil, ""},
			row{list, "*.c", []string{"--files", "-g", "*.c"}, []string{"--type", "f", "-e", "c"}, ""},
			row{"small folder", "kernel/", []string{"-n", "mutex_lock"}, nil, "kernel"},
			row{"small folder", "net/ipv4", []string{"-n", "tcp_sendmsg"}, nil, "net/ipv4"})
	}
	return append(out,
		row{lit, "err != nil", []string{"-n", "err != nil"}, nil, ""},
		row{lit, "method", []string{"-n", `func \(\w+ \*\w+\) Close\(`}, nil, ""},
		row{lit, "-g *.s", []string{"-n", "-g", "*.s", "MOVQ"}, nil, ""},
		row{list, "*.go", []string{"--files", "-g", "*.go"}, []string{"--type", "f", "-e", "go"}, ""},
		row{"small folder", "net/http", []string{"-n", "Deadline"}, nil, "net/http"},
		row{"small folder", "strings", []string{"-n", "Builder"}, nil, "strings"})
}

// sample is one run.
type sample struct{ wall, cpu time.Duration }

func runTable(rg, fd, tree, only string, n int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	means := map[string][]float64{}
	fmt.Printf("%-14s %-22s %9s %9s %9s %9s %6s %6s\n", "class", "row", "rg ms", "rg cpu", "ours ms", "ours cpu", "wall", "cpu")
	for _, r := range rows(tree) {
		if !strings.Contains(r.class+" "+r.name, only) {
			continue
		}
		dir := filepath.Join(tree, r.sub)
		theirs := append([]string{rg, "--no-config", "--color=never", "--no-heading"}, r.args...)
		if r.class != "list" {
			theirs = append(theirs, ".")
		}
		ours := append([]string{self, "-child", "-tree", dir, "--"}, r.args...)
		sides := [][]string{theirs, ours}
		if r.fd != nil && fd != "" {
			sides = append(sides, append([]string{fd, "--color=never", "."}, r.fd...))
		}
		got, sizes, err := race(dir, sides, n)
		if err != nil {
			return err
		}
		a, b := median(got[0]), median(got[1])
		wall, cpu := ratio(b.wall, a.wall), ratio(b.cpu, a.cpu)
		if r.class == "small folder" {
			b.wall = inProcess(dir, r.args, n)
			wall = ratio(b.wall, a.wall)
		}
		means[r.class] = append(means[r.class], wall)
		means[r.class+" cpu"] = append(means[r.class+" cpu"], cpu)
		fmt.Printf("%-14s %-22s %9.1f %9.1f %9.1f %9.1f %6.2f %6.2f", r.class, r.name, ms(a.wall), ms(a.cpu), ms(b.wall), ms(b.cpu), wall, cpu)
		if len(got) > 2 {
			c := median(got[2])
			fmt.Printf("  fd %.1f ms: %.2f", ms(c.wall), ratio(b.wall, c.wall))
		}
		if sizes[0] != sizes[1] {
			fmt.Printf("  output differs: %d and %d bytes", sizes[0], sizes[1])
		}
		fmt.Println()
	}
	for _, class := range slices.Sorted(func(yield func(string) bool) {
		for c := range means {
			if !yield(c) {
				return
			}
		}
	}) {
		sum, most := 0.0, 0.0
		for _, x := range means[class] {
			sum += math.Log(x)
			most = max(most, x)
		}
		fmt.Printf("geometric mean %-18s %.2f, worst %.2f\n", class, math.Exp(sum/float64(len(means[class]))), most)
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

// race runs all sides n times in turn, after one round to warm the cache.
func race(dir string, sides [][]string, n int) ([][]sample, []int, error) {
	out := make([][]sample, len(sides))
	sizes := make([]int, len(sides))
	for round := range n + 1 {
		for i, argv := range sides {
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Dir = dir
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			pipe, err := cmd.StdoutPipe()
			if err != nil {
				return nil, nil, err
			}
			begin := time.Now()
			if err := cmd.Start(); err != nil {
				return nil, nil, err
			}
			size, err := io.Copy(io.Discard, pipe)
			if err != nil {
				return nil, nil, err
			}
			err = cmd.Wait()
			wall := time.Since(begin)
			if err != nil && cmd.ProcessState.ExitCode() > 1 {
				return nil, nil, fmt.Errorf("%q: %w\n%s", argv, err, stderr.Bytes())
			}
			sizes[i] = int(size)
			if round > 0 {
				out[i] = append(out[i], sample{wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()})
			}
		}
	}
	return out, sizes, nil
}

func median(s []sample) sample {
	pick := func(f func(sample) time.Duration) time.Duration {
		var d []time.Duration
		for _, x := range s {
			d = append(d, f(x))
		}
		slices.Sort(d)
		return d[len(d)/2]
	}
	return sample{pick(func(x sample) time.Duration { return x.wall }), pick(func(x sample) time.Duration { return x.cpu })}
}

// inProcess times the query as a server would run it.
func inProcess(dir string, args []string, n int) time.Duration {
	var s []sample
	for range n {
		begin := time.Now()
		if err := search1(dir, args, io.Discard); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		s = append(s, sample{wall: time.Since(begin)})
	}
	return median(s).wall
}

func runChild(dir string, args []string) error {
	debug.SetGCPercent(400)
	return search1(dir, args, os.Stdout)
}

// search1 runs one query and prints it as ripgrep would.
func search1(dir string, args []string, to io.Writer) error {
	q := search.GrepQuery{Filter: search.Filter{Root: dir}, Mode: search.Content, MaxColumns: -1}
	files := false
	for i := 0; i < len(args); i++ {
		switch a := args[i]; a {
		case "-n":
		case "-i":
			q.CaseInsensitive = true
		case "-w":
			q.Word = true
		case "-F":
			q.Literal = true
		case "-U":
			q.Multiline = true
		case "-l":
			q.Mode = search.FilesWithMatches
		case "-c":
			q.Mode = search.Count
		case "-g":
			i++
			q.Globs = append(q.Globs, args[i])
		case "--files":
			files = true
		default:
			q.Pattern = a
		}
	}
	e := search.New(search.Local(), search.Config{})
	out := newPrinter(e.Workers(), to)
	defer out.flushAll()
	if files {
		_, err := e.StreamFiles(context.Background(), search.FilesQuery{Filter: q.Filter}, func(worker int, path string) error {
			b := append(out.bufs[worker], path...)
			out.bufs[worker] = append(b, '\n')
			return out.flush(worker, 64<<10)
		})
		return err
	}
	_, err := e.StreamGrep(context.Background(), q, func(worker int, h *search.FileHits, _ bool) error {
		out.bufs[worker] = appendHits(out.bufs[worker], h, q.Mode)
		return out.flush(worker, 64<<10)
	})
	return err
}

func appendHits(b []byte, h *search.FileHits, m search.Mode) []byte {
	switch m {
	case search.FilesWithMatches:
		b = append(append(append(b, "./"...), h.Path...), '\n')
	case search.Count:
		b = append(append(append(b, "./"...), h.Path...), ':')
		b = append(strconv.AppendInt(b, int64(h.Count), 10), '\n')
	default:
		for i := range h.Lines {
			b = append(append(append(b, "./"...), h.Path...), ':')
			b = append(strconv.AppendInt(b, int64(h.Lines[i].Number), 10), ':')
			b = append(append(b, h.Lines[i].Text...), '\n')
		}
	}
	return b
}

// printer keeps a buffer for each worker.
type printer struct {
	to   io.Writer
	bufs [][]byte
	lock chan struct{}
}

func newPrinter(workers int, to io.Writer) *printer {
	return &printer{to: to, bufs: make([][]byte, workers), lock: make(chan struct{}, 1)}
}

func (p *printer) flush(worker, above int) error {
	if len(p.bufs[worker]) <= above {
		return nil
	}
	p.lock <- struct{}{}
	_, err := p.to.Write(p.bufs[worker])
	<-p.lock
	p.bufs[worker] = p.bufs[worker][:0]
	return err
}

func (p *printer) flushAll() {
	for i := range p.bufs {
		if err := p.flush(i, 0); err != nil {
			return
		}
	}
}
