package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// load is what every server has to carry in a round.
type load struct {
	dir                               string
	starts, reads, edits, width, wide int
	pid                               int
	modern, verbose                   bool
	token                             string
}

// text is a file of 4096 bytes: 64 lines of 64.
func text() string {
	var b strings.Builder
	for i := range 64 {
		fmt.Fprintf(&b, "%-63s\n", fmt.Sprintf("line %03d: the quick brown fox jumps over the lazy dog", i))
	}
	return b.String()
}

func (l *load) dial(s server) (caller, error) {
	if strings.HasPrefix(s.target, "http") {
		return newHTTP(s.target, l.token, l.modern, l.pid, l.width), nil
	}
	var stderr io.Writer
	if l.verbose {
		stderr = os.Stderr
	}
	return startStdio(strings.Fields(s.target), stderr)
}

// greet introduces the client and returns when the server answered.
func greet(c caller) error {
	if h, ok := c.(*httpClient); ok && h.modern {
		_, err := c.call("server/discover", object{})
		return err
	}
	_, err := c.call("initialize", object{"protocolVersion": "2025-06-18", "capabilities": object{}, "clientInfo": object{"name": "bench", "version": "1"}})
	if err != nil {
		return err
	}
	_, err = c.call("notifications/initialized", object{})
	return err
}

// round runs one server once and puts its figures into the column.
func (l *load) round(s server, put func(metric string, value float64)) error {
	if err := os.MkdirAll(l.dir, 0o755); err != nil {
		return err
	}
	readPath, editPath := filepath.Join(l.dir, "read4k.txt"), filepath.Join(l.dir, "edit4k.txt")
	if err := os.WriteFile(readPath, []byte(text()), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(editPath, []byte(strings.Replace(text(), "line 032", "MARK-A--", 1)), 0o644); err != nil {
		return err
	}
	if err := l.start(s, put); err != nil {
		return err
	}
	c, err := l.dial(s)
	if err != nil {
		return err
	}
	defer c.stop()
	if err := greet(c); err != nil {
		return err
	}
	if err := list(c, put); err != nil {
		return err
	}
	idle, _, processes := memory(c.pid())
	put("processes", float64(processes))
	put("rss idle, MiB", idle)
	if err := l.read(c, s.preset, readPath, put); err != nil {
		return err
	}
	if err := l.edit(c, s.preset, editPath, put); err != nil {
		return err
	}
	if err := l.readWide(c, s.preset, readPath, put); err != nil {
		return err
	}
	now, peak, _ := memory(c.pid())
	put("rss after load, MiB", now)
	put("rss peak, MiB", peak)
	return nil
}

// start measures process start to the answer of initialize.
func (l *load) start(s server, put func(string, float64)) error {
	if strings.HasPrefix(s.target, "http") {
		return nil
	}
	var times []time.Duration
	for range l.starts {
		began := time.Now()
		c, err := l.dial(s)
		if err != nil {
			return err
		}
		err = greet(c)
		times = append(times, time.Since(began))
		c.stop()
		if err != nil {
			return err
		}
	}
	put("start, ms", quantile(times, 0.5))
	return nil
}

func list(c caller, put func(string, float64)) error {
	began := time.Now()
	raw, err := c.call("tools/list", object{})
	if err != nil {
		return err
	}
	put("tools/list, ms", float64(time.Since(began).Microseconds())/1e3)
	var tools struct{ Tools []json.RawMessage }
	if err := json.Unmarshal(raw, &tools); err != nil {
		return err
	}
	put("tools", float64(len(tools.Tools)))
	put("tools/list, bytes", float64(len(raw)))
	return nil
}

// invoke calls a tool and returns its text.
func invoke(c caller, name string, args any) (string, error) {
	raw, err := c.call("tools/call", object{"name": name, "arguments": args})
	if err != nil {
		return "", err
	}
	var r struct {
		IsError bool
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return "", err
	}
	s := ""
	for _, part := range r.Content {
		s += part.Text
	}
	if r.IsError {
		return "", fmt.Errorf("%s: %s", name, s)
	}
	return s, nil
}

func (l *load) read(c caller, p preset, path string, put func(string, float64)) error {
	s, err := invoke(c, p.read, p.readArgs(path))
	if err != nil {
		return err
	}
	if !strings.Contains(s, "line 063:") {
		return fmt.Errorf("the read lacks the last line: %.200q", s)
	}
	for range 200 { // warm up
		if _, err := invoke(c, p.read, p.readArgs(path)); err != nil {
			return err
		}
	}
	return sequence(c, l.reads, "read", put, func() error {
		_, err := invoke(c, p.read, p.readArgs(path))
		return err
	})
}

func (l *load) edit(c caller, p preset, path string, put func(string, float64)) error {
	if l.edits == 0 {
		return nil
	}
	from, to := "MARK-A--", "MARK-B--"
	err := sequence(c, l.edits, "edit", put, func() error {
		_, err := invoke(c, p.edit, p.editArgs(path, from, to))
		from, to = to, from
		return err
	})
	if err != nil {
		return err
	}
	got, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !strings.Contains(string(got), from) {
		return errors.New("the edits did not reach the file")
	}
	return nil
}

// sequence measures n calls one after the other.
func sequence(c caller, n int, name string, put func(string, float64), f func() error) error {
	times := make([]time.Duration, 0, n)
	used := processor(c.pid())
	for range n {
		began := time.Now()
		if err := f(); err != nil {
			return err
		}
		times = append(times, time.Since(began))
	}
	put(name+" cpu, ms", (processor(c.pid())-used)/float64(max(n, 1)))
	put(name+" p50, ms", quantile(times, 0.5))
	put(name+" p99, ms", quantile(times, 0.99))
	return nil
}

// readWide measures reads with many callers at once.
func (l *load) readWide(c caller, p preset, path string, put func(string, float64)) error {
	per := l.wide / l.width
	var mu sync.Mutex
	var first error
	var times []time.Duration
	var wg sync.WaitGroup
	used, began := processor(c.pid()), time.Now()
	for range l.width {
		wg.Go(func() {
			mine := make([]time.Duration, 0, per)
			var failed error
			for range per {
				t := time.Now()
				if _, failed = invoke(c, p.read, p.readArgs(path)); failed != nil {
					break
				}
				mine = append(mine, time.Since(t))
			}
			mu.Lock()
			defer mu.Unlock()
			times = append(times, mine...)
			if first == nil {
				first = failed
			}
		})
	}
	wg.Wait()
	if first != nil {
		return first
	}
	took := time.Since(began)
	put("wide cpu, ms", (processor(c.pid())-used)/float64(per*l.width))
	put("wide calls/s", float64(per*l.width)/took.Seconds())
	put("wide p50, ms", quantile(times, 0.5))
	put("wide p99, ms", quantile(times, 0.99))
	return nil
}
