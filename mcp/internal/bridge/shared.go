package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"sync"
)

// shared is the child that serves every request of the newer era. Requests get ids of our own, since those of two clients
// may be equal; the answers go back under theirs.
type shared struct {
	in io.Writer

	mu    sync.Mutex
	next  int
	posts map[string]*post // by our id
}

// post is one HTTP request that waits for its answer.
type post struct {
	id       json.RawMessage // the client's
	listen   bool            // a stream of announcements
	messages chan map[string]json.RawMessage
}

// child returns the shared child, started when first needed.
func (b *bridge) child() (*shared, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shared != nil {
		return b.shared, nil
	}
	cmd := exec.CommandContext(b.ctx, b.argv[0], b.argv[1:]...)
	cmd.Stderr = os.Stderr
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
	b.shared = &shared{in: in, posts: map[string]*post{}}
	go b.shared.read(out)
	return b.shared, nil
}

// read gives each message of the child to the requests that it is for.
func (s *shared) read(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var m map[string]json.RawMessage
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			continue
		}
		s.mu.Lock()
		if p := s.posts[string(m["id"])]; p != nil && m["method"] == nil {
			m["id"] = p.id
			p.messages <- m
		} else if m["method"] != nil {
			s.announce(m)
		}
		s.mu.Unlock()
	}
}

// announce passes a notification on: one that names a stream to that stream, any other to the requests that wait.
func (s *shared) announce(m map[string]json.RawMessage) {
	var params struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	_ = json.Unmarshal(m["params"], &params) // a notification without params has no stream
	const key = "io.modelcontextprotocol/subscriptionId"
	if id, ok := params.Meta[key]; ok {
		p := s.posts[string(id)]
		if p == nil {
			return
		}
		var all map[string]json.RawMessage
		if json.Unmarshal(m["params"], &all) != nil {
			return
		}
		params.Meta[key] = p.id
		all["_meta"], _ = json.Marshal(params.Meta) // raw messages marshal
		m["params"], _ = json.Marshal(all)
		p.messages <- m
		return
	}
	for _, p := range s.posts {
		if !p.listen {
			p.messages <- m
		}
	}
}

// serve sends a request to the child and its answer back: one body, or a stream where something comes before it.
func (s *shared) serve(w http.ResponseWriter, r *http.Request, body []byte) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(body, &m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if m["id"] == nil {
		s.send(m)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	p := &post{id: m["id"], listen: string(m["method"]) == `"subscriptions/listen"`, messages: make(chan map[string]json.RawMessage, 64)}
	s.mu.Lock()
	s.next++
	own := fmt.Sprint(s.next)
	s.posts[own] = p
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.posts, own)
		s.mu.Unlock()
	}()
	m["id"] = json.RawMessage(own)
	s.send(m)
	streaming := false
	for {
		select {
		case m := <-p.messages:
			last := m["method"] == nil
			if last && !streaming {
				answer(w, m)
				return
			}
			if !streaming {
				streaming = true
				w.Header().Set("Content-Type", "text/event-stream")
			}
			b, _ := json.Marshal(m) // raw messages marshal
			fmt.Fprintf(w, "event: message\ndata: %s\n\n", b)
			_ = http.NewResponseController(w).Flush()
			if last {
				return
			}
		case <-r.Context().Done():
			cancelled, _ := json.Marshal(map[string]any{"requestId": json.RawMessage(own)})
			s.send(map[string]json.RawMessage{"jsonrpc": json.RawMessage(`"2.0"`), "method": json.RawMessage(`"notifications/cancelled"`), "params": cancelled})
			return
		}
	}
}

func (s *shared) send(m map[string]json.RawMessage) {
	b, _ := json.Marshal(m) // raw messages marshal
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.in.Write(append(b, '\n')) // a child that ended answers nothing
}

// answer writes one body, with the status that the protocol wants for an error.
func answer(w http.ResponseWriter, m map[string]json.RawMessage) {
	w.Header().Set("Content-Type", "application/json")
	var e struct{ Code int }
	if m["error"] != nil && json.Unmarshal(m["error"], &e) == nil {
		switch e.Code {
		case -32601:
			w.WriteHeader(http.StatusNotFound)
		case -32602, -32020, -32021, -32022, -32700, -32600:
			w.WriteHeader(http.StatusBadRequest)
		}
	}
	b, _ := json.Marshal(m) // raw messages marshal
	_, _ = w.Write(b)       // a client that went away needs no answer
}
