package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// caller sends one request and returns its result.
type caller interface {
	call(method string, params any) (json.RawMessage, error)
	pid() int
	stop()
}

const answerTime = 30 * time.Second

type answer struct {
	ID     *int64          `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// stdioClient talks to a child process.
type stdioClient struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	write sync.Mutex

	mu   sync.Mutex
	wait map[int64]chan answer
	next int64
	dead error
}

func startStdio(argv []string, stderr io.Writer) (*stdioClient, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &stdioClient{cmd: cmd, in: in, wait: map[int64]chan answer{}}
	go c.readAll(out)
	return c, nil
}

func (c *stdioClient) readAll(out io.Reader) {
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			c.mu.Lock()
			c.dead = err
			for id, ch := range c.wait {
				close(ch)
				delete(c.wait, id)
			}
			c.mu.Unlock()
			return
		}
		var a answer
		if json.Unmarshal(line, &a) != nil || a.ID == nil {
			continue
		}
		if a.Method != "" { // a request from the server: refuse it
			c.send(object{"jsonrpc": "2.0", "id": *a.ID, "error": object{"code": -32601, "message": "no"}})
			continue
		}
		c.mu.Lock()
		ch := c.wait[*a.ID]
		delete(c.wait, *a.ID)
		c.mu.Unlock()
		if ch != nil {
			ch <- a
		}
	}
}

func (c *stdioClient) send(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	c.write.Lock()
	defer c.write.Unlock()
	_, err = c.in.Write(append(b, '\n'))
	return err
}

func (c *stdioClient) call(method string, params any) (json.RawMessage, error) {
	if strings.HasPrefix(method, "notifications/") {
		return nil, c.send(object{"jsonrpc": "2.0", "method": method, "params": params})
	}
	ch := make(chan answer, 1)
	c.mu.Lock()
	if c.dead != nil {
		c.mu.Unlock()
		return nil, c.dead
	}
	c.next++
	id := c.next
	c.wait[id] = ch
	c.mu.Unlock()
	if err := c.send(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params}); err != nil {
		return nil, err
	}
	late := time.NewTimer(answerTime)
	defer late.Stop()
	select {
	case a, ok := <-ch:
		if !ok {
			return nil, errors.New("the server went away")
		}
		return result(method, a)
	case <-late.C:
		return nil, fmt.Errorf("%s: no answer in %v", method, answerTime)
	}
}

func result(method string, a answer) (json.RawMessage, error) {
	if a.Error != nil {
		return nil, fmt.Errorf("%s: %s", method, a.Error)
	}
	return a.Result, nil
}

func (c *stdioClient) pid() int { return c.cmd.Process.Pid }

func (c *stdioClient) stop() {
	c.in.Close()
	done := make(chan struct{})
	go func() { c.cmd.Wait(); close(done) }()
	late := time.NewTimer(5 * time.Second)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
		syscall.Kill(-c.pid(), syscall.SIGKILL)
		<-done
	}
}

// httpClient talks to a server at a URL.
type httpClient struct {
	url, token string
	modern     bool
	process    int
	client     http.Client
	session    string
	next       atomic.Int64
}

func newHTTP(url, token string, modern bool, pid, width int) *httpClient {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = width
	return &httpClient{url: url, token: token, modern: modern, process: pid, client: http.Client{Transport: t}}
}

func (c *httpClient) call(method string, params any) (json.RawMessage, error) {
	msg := object{"jsonrpc": "2.0", "method": method, "params": params}
	if !strings.HasPrefix(method, "notifications/") {
		msg["id"] = c.next.Add(1)
	}
	if m, ok := params.(object); ok && c.modern {
		m["_meta"] = object{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": object{},
			"io.modelcontextprotocol/clientInfo": object{"name": "bench", "version": "1"}}
	}
	b, err := json.Marshal(msg)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(http.MethodPost, c.url, bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	c.headers(req.Header, method, params)
	res, err := c.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	if res.StatusCode == http.StatusAccepted {
		return nil, nil
	}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		body = lastEvent(body)
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, fmt.Errorf("%s: status %d: %.200s", method, res.StatusCode, body)
	}
	return result(method, a)
}

func (c *httpClient) headers(h http.Header, method string, params any) {
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	if c.token != "" {
		h.Set("Authorization", "Bearer "+c.token)
	}
	if !c.modern {
		h.Set("Mcp-Protocol-Version", "2025-06-18")
		if c.session != "" {
			h.Set("Mcp-Session-Id", c.session)
		}
		return
	}
	h.Set("Mcp-Protocol-Version", "2026-07-28")
	h.Set("Mcp-Method", method)
	if m, ok := params.(object); ok {
		if name, ok := m["name"].(string); ok {
			h.Set("Mcp-Name", name)
		}
	}
}

func lastEvent(stream []byte) []byte {
	var last []byte
	for line := range bytes.SplitSeq(stream, []byte("\n")) {
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && len(data) > 0 {
			last = data
		}
	}
	return last
}

func (c *httpClient) pid() int { return c.process }

func (c *httpClient) stop() { c.client.CloseIdleConnections() }
