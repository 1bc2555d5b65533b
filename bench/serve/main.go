// Command serve measures "tackle serve" under load: many open event streams, a steady rate of calls, and asks that are
// answered over the API.
//
//	go build -o bin/tackle ./cmd/tackle && go run ./bench/serve -tackle bin/tackle -streams 1000 -rate 200 -for 30s
//
// It starts the server as a process of its own, over a scratch project, and prints: events that a stream lost or got twice
// (there must be none), how late events came, how long it took from the answer to an ask to the end of its call, and the
// memory and processor time of the server alone.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/server"
)

type options struct {
	tackle  string
	streams int
	rate    int
	asks    int
	span    time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.tackle, "tackle", "bin/tackle", "the command to measure")
	flag.IntVar(&o.streams, "streams", 1000, "open event streams")
	flag.IntVar(&o.rate, "rate", 200, "calls a second")
	flag.IntVar(&o.asks, "asks", 5, "asks a second among the calls, answered at once")
	flag.DurationVar(&o.span, "for", 30*time.Second, "how long")
	flag.Parse()
	if err := run(context.Background(), &o); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o *options) error {
	dir, err := os.MkdirTemp("", "tackle-serve-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := launch(ctx, o, dir)
	if err != nil {
		return err
	}
	defer s.stop()
	idle := s.memory()
	all, err := open(ctx, s, o.streams)
	if err != nil {
		return err
	}
	fmt.Printf("%d streams are open; resident %d MiB (%d before them)\n", o.streams, s.memory(), idle)
	cpu := s.cpu()
	begin := time.Now()
	l := &load{srv: s}
	l.drive(ctx, o)
	took := time.Since(begin)
	late, err := all.wait(ctx, l.ended())
	if err != nil {
		return err
	}
	fmt.Printf("%d calls in %.1f s (%.0f/s), %d refused or failed; call p50 %v p99 %v\n", l.n.Load(), took.Seconds(), float64(l.n.Load())/took.Seconds(), l.failed.Load(), quantile(l.times, .5), quantile(l.times, .99))
	fmt.Printf("events: %d delivered to each of %d streams, %d lost, %d twice; late p50 %v p99 %v max %v\n", all.expected, o.streams, all.lost, all.twice, quantile(late, .5), quantile(late, .99), quantile(late, 1))
	fmt.Printf("from the answer to the end of the call: %d asks, p50 %v p99 %v max %v\n", len(l.answers), quantile(l.answers, .5), quantile(l.answers, .99), quantile(l.answers, 1))
	fmt.Printf("server: resident %d MiB, peak %d MiB, processor %.2f s (%.0f %% of one core)\n", s.memory(), s.peak(), s.cpu()-cpu, 100*(s.cpu()-cpu)/took.Seconds())
	if all.lost+all.twice > 0 || l.failed.Load() > 0 {
		return errors.New("events or calls were lost")
	}
	return nil
}

// process is the server.
type process struct {
	cmd   *exec.Cmd
	addr  string
	token string
}

func launch(ctx context.Context, o *options, dir string) (*process, error) {
	project, state := filepath.Join(dir, "project"), filepath.Join(dir, "state")
	for path, content := range map[string]string{"project/a.txt": strings.Repeat("a line of text\n", 50), "project/ask/x.txt": "0\n",
		"config/tackle/config.yaml": "rules:\n  - edit: {\"ask/**\": ask}\n"} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return nil, err
		}
	}
	box, err := tackle.Open(ctx, tackle.Config{Dir: project, StateDir: state, NoFiles: true})
	if err != nil {
		return nil, err
	}
	defer box.Close()
	s := &process{}
	if s.token, _, err = server.NewKeys(box).Create(ctx, server.Token{Name: "bench", Role: server.Admin}, time.Hour); err != nil {
		return nil, err
	}
	s.cmd = exec.CommandContext(ctx, o.tackle, "serve", "-C", project, "--state", state, "--listen", "127.0.0.1:0")
	s.cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
	out, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	buf := make([]byte, 0, 4096)
	for !strings.Contains(string(buf), "No agent at hand") {
		n, err := out.Read(buf[len(buf):cap(buf)])
		if err != nil {
			return nil, fmt.Errorf("the server says: %s: %w", buf, err)
		}
		buf = buf[:len(buf)+n]
	}
	_, rest, _ := strings.Cut(string(buf), "http://")
	s.addr, _, _ = strings.Cut(rest, "/")
	go func() { // what it says later
		more := make([]byte, 4096)
		for {
			n, err := out.Read(more)
			if err != nil {
				return
			}
			os.Stderr.Write(more[:n])
		}
	}()
	return s, nil
}

func (s *process) stop() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait() // its exit code says nothing about the measurement
}

// status reads a number of kilobytes from /proc.
func (s *process) status(key string) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return -1
	}
	_, rest, _ := strings.Cut(string(data), key+":")
	n, _ := strconv.Atoi(strings.Fields(rest)[0])
	return n / 1024
}

func (s *process) memory() int { return s.status("VmRSS") }
func (s *process) peak() int   { return s.status("VmHWM") }

// cpu returns seconds of processor time.
func (s *process) cpu() float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	f := strings.Fields(rest)
	user, _ := strconv.ParseFloat(f[11], 64)
	system, _ := strconv.ParseFloat(f[12], 64)
	return (user + system) / 100
}

// load makes calls.
type load struct {
	srv     *process
	n       atomic.Int64
	failed  atomic.Int64
	mu      sync.Mutex
	times   []time.Duration
	answers []time.Duration
	calls   map[string]bool // that ended, by id
}

// ended returns the ids of the calls.
func (l *load) ended() map[string]bool { return l.calls }

func (l *load) drive(ctx context.Context, o *options) {
	l.calls = map[string]bool{}
	tick := time.NewTicker(time.Second / time.Duration(o.rate))
	defer tick.Stop()
	var wg sync.WaitGroup
	until := time.Now().Add(o.span)
	for i := 0; time.Now().Before(until); i++ {
		<-tick.C
		ask := o.asks > 0 && i%max(o.rate/o.asks, 1) == 0
		wg.Go(func() {
			if ask {
				l.ask(ctx, i)
				return
			}
			l.call(ctx, "read_file", map[string]any{"path": "a.txt"})
		})
	}
	wg.Wait()
}

func (l *load) call(ctx context.Context, name string, args any) {
	begin := time.Now()
	raw, _ := json.Marshal(args)
	var out struct{ Call, State string }
	err := l.srv.post(ctx, "/api/calls", map[string]any{"tool": name, "args": json.RawMessage(raw), "session": "bench"}, &out)
	l.n.Add(1)
	if err != nil || out.State != "ok" {
		if l.failed.Add(1) == 1 {
			fmt.Fprintln(os.Stderr, "a call failed:", out.State, err)
		}
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.times = append(l.times, time.Since(begin))
	l.calls[out.Call] = true
}

// ask makes an edit that policy asks about, answers it, and measures the time from the answer to the end of the call.
func (l *load) ask(ctx context.Context, i int) {
	path := fmt.Sprintf("ask/%d.txt", i)
	ended := make(chan time.Time, 1)
	go func() {
		var out struct{ Call, State string }
		err := l.srv.post(ctx, "/api/calls", map[string]any{"tool": "write_file", "args": map[string]any{"path": path, "content": "x\n"}, "session": "bench-asks"}, &out)
		ended <- time.Now()
		l.n.Add(1)
		l.mu.Lock()
		defer l.mu.Unlock()
		if err != nil || out.State != "ok" {
			l.failed.Add(1)
			return
		}
		l.calls[out.Call] = true
	}()
	for {
		var asks struct {
			Open []struct {
				ID, Fingerprint string
				View            struct{ Targets []struct{ Value string } }
			}
		}
		if err := l.srv.get(ctx, "/api/asks", &asks); err != nil {
			l.failed.Add(1)
			return
		}
		for _, a := range asks.Open {
			if len(a.View.Targets) == 0 || !strings.HasSuffix(a.View.Targets[0].Value, path) {
				continue
			}
			begin := time.Now()
			if err := l.srv.post(ctx, "/api/asks/"+a.ID+"/answer", map[string]any{"allow": true, "fingerprint": a.Fingerprint}, nil); err != nil {
				l.failed.Add(1)
				return
			}
			took := (<-ended).Sub(begin)
			l.mu.Lock()
			l.answers = append(l.answers, took)
			l.mu.Unlock()
			return
		}
		select {
		case <-ended:
			l.failed.Add(1)
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}
