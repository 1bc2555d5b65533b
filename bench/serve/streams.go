package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// client keeps connections for the calls.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}

func (s *process) request(ctx context.Context, method, path string, body, into any) error {
	var r io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return err
		}
		r = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+s.addr+path, r)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %d %s", path, res.StatusCode, data)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(data, into)
}

func (s *process) post(ctx context.Context, path string, body, into any) error {
	return s.request(ctx, http.MethodPost, path, body, into)
}

func (s *process) get(ctx context.Context, path string, into any) error {
	return s.request(ctx, http.MethodGet, path, nil, into)
}

// streams are all open event streams.
type streams struct {
	list     []*stream
	expected int
	lost     int
	twice    int
}

// stream reads one.
type stream struct {
	mu    sync.Mutex
	seen  map[string]int // ends of calls, by id of the call
	timed bool           // it looks how late events come
	late  []time.Duration
	last  string // notice
	news  chan struct{}
}

func open(ctx context.Context, s *process, n int) (*streams, error) {
	all := &streams{}
	for i := range n {
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			return nil, fmt.Errorf("stream %d: %w", i, err)
		}
		fmt.Fprintf(c, "GET /api/events?types=call.ended,ask.opened,ask.closed HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", s.addr, s.token)
		st := &stream{seen: map[string]int{}, timed: i%20 == 0, news: make(chan struct{}, 1)}
		hello := make(chan struct{})
		go st.read(c, hello)
		select {
		case <-hello:
		case <-time.After(30 * time.Second):
			return nil, fmt.Errorf("stream %d says nothing", i)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		all.list = append(all.list, st)
	}
	return all, nil
}

func (st *stream) read(c net.Conn, hello chan struct{}) {
	r := bufio.NewReader(c)
	name := ""
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		switch {
		case strings.HasPrefix(line, "event: "):
			name = strings.TrimSpace(line[7:])
		case strings.HasPrefix(line, "data: ") && name == "hello":
			close(hello)
		case name == "call.ended" && strings.HasPrefix(line, "data: "):
			_, rest, _ := strings.Cut(line, `"call":"`) // cheaper than JSON, and the client must not be what is measured
			id, _, _ := strings.Cut(rest, `"`)
			st.mu.Lock()
			st.seen[id]++
			if st.timed {
				_, rest, _ = strings.Cut(line, `"at":"`)
				at, _, _ := strings.Cut(rest, `"`)
				if when, err := time.Parse(time.RFC3339Nano, at); err == nil {
					st.late = append(st.late, time.Since(when))
				}
			}
			st.mu.Unlock()
			select {
			case st.news <- struct{}{}:
			default:
			}
		case strings.HasPrefix(line, "data: ") && (name == "dropped" || name == "closing" || name == "fault"):
			st.mu.Lock()
			st.last = name
			st.mu.Unlock()
		}
	}
}

// wait returns when every stream has got the ends of the given calls, or none has come for a while.
func (a *streams) wait(ctx context.Context, calls map[string]bool) (late []time.Duration, err error) {
	a.expected = len(calls)
	for _, st := range a.list {
		for st.missing(calls) > 0 {
			select {
			case <-st.news:
				continue
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(10 * time.Second):
			}
			break
		}
		st.mu.Lock()
		for id := range calls {
			switch n := st.seen[id]; {
			case n == 0:
				a.lost++
			case n > 1:
				a.twice++
			}
		}
		late = append(late, st.late...)
		if st.last != "" {
			fmt.Println("a stream was ended:", st.last)
		}
		st.mu.Unlock()
	}
	return late, nil
}

func (st *stream) missing(calls map[string]bool) int {
	st.mu.Lock()
	defer st.mu.Unlock()
	if len(st.seen) < len(calls) {
		return len(calls) - len(st.seen)
	}
	n := 0
	for id := range calls {
		if st.seen[id] == 0 {
			n++
		}
	}
	return n
}

func quantile(list []time.Duration, q float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)].Round(10 * time.Microsecond)
}
