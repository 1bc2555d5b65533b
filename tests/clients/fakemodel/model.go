// Package fakemodel is a deterministic stand-in for a language model behind the wire formats of OpenAI (chat and
// responses), Anthropic, Gemini and Ollama, with and without streaming. Real agents can be run against it offline.
//
// While a conversation holds fewer tool results than wanted, it calls the first offered tool whose name matches; after
// that it answers with the last result. A test may give it a mind of its own with Next. Every request is kept, so that a test can assert what a model would have seen.
package fakemodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Model is the endpoint. Set the fields before it serves.
type Model struct {
	Tool  *regexp.Regexp // of the name of the tool to call
	Args  string         // JSON arguments of the call
	Calls int            // tool results wanted before the final answer; 0 means 1
	// Script, where it is set, takes the place of the three: one call after the other.
	Script []Call
	// Next, where it is set, takes the place of all of these: it reads the request and returns the call that follows, or
	// false for the final answer.
	Next func(*Request) (Call, bool)

	mu   sync.Mutex
	seen []Request
	next int
}

// Call is one call of a script.
type Call struct {
	Tool *regexp.Regexp
	Args string
}

// Request is one request as the model saw it.
type Request struct {
	API     string // "chat", "responses", "messages", "gemini", "ollama"
	Tools   []Tool
	Results []string // tool results of the conversation, in order
	Texts   string   // every other text of the conversation, system text included
	Raw     []byte
}

// Tool is a tool as it was offered.
type Tool struct {
	Name        string
	Space       string // namespace that the API adds before the name
	Description string
	Schema      any
}

// Requests returns what was seen so far. Helper calls without tools and results (titles, routers) are among them.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.seen)
}

// turn is a request in the words of no API.
type turn struct {
	Request
	stream bool
	model  string
}

// decision is what the model does: call a tool, or say something.
type decision struct {
	tool *Tool
	text string
	id   string
	args string
}

func (m *Model) decide(t *turn) decision {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen = append(m.seen, t.Request)
	m.next++
	d := decision{id: fmt.Sprintf("id_%d", m.next), args: m.Args, text: "FINAL: no matching tool was offered"}
	wanted, name := max(m.Calls, 1), m.Tool
	if m.Script != nil {
		if wanted = len(m.Script); len(t.Results) < wanted {
			name, d.args = m.Script[len(t.Results)].Tool, m.Script[len(t.Results)].Args
		}
	}
	more := len(t.Results) < wanted
	if m.Next != nil {
		var c Call
		if c, more = m.Next(&t.Request); more {
			name, d.args = c.Tool, c.Args
		}
	}
	if more {
		for i := range t.Tools {
			if name.MatchString(t.Tools[i].Space + t.Tools[i].Name) {
				d.tool = &t.Tools[i]
				return d
			}
		}
	}
	if n := len(t.Results); n > 0 {
		d.text = "FINAL: " + t.Results[n-1]
	}
	return d
}

type object = map[string]any

// ServeHTTP is described at http.Handler.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var q object
	_ = json.Unmarshal(body, &q) // requests without a body have none
	t := &turn{Request: Request{Raw: body}, model: str(q["model"])}
	t.stream, _ = q["stream"].(bool)
	p := r.URL.Path
	switch {
	case strings.HasSuffix(p, "/chat/completions"):
		m.chat(w, q, t)
	case strings.HasSuffix(p, "/responses") && r.Method == http.MethodPost:
		m.responses(w, q, t)
	case strings.HasSuffix(p, "/count_tokens"):
		reply(w, object{"input_tokens": len(body) / 4})
	case strings.HasSuffix(p, "/messages"):
		m.messages(w, q, t)
	case strings.HasSuffix(p, "enerateContent"):
		m.gemini(w, p, q, t)
	case strings.HasSuffix(p, ":countTokens"):
		reply(w, object{"totalTokens": len(body) / 4})
	case p == "/api/chat":
		m.ollama(w, q, t)
	case p == "/api/show":
		reply(w, object{"capabilities": []string{"completion", "tools"}, "model_info": object{"general.context_length": 32768}})
	case p == "/api/tags":
		reply(w, object{"models": []any{object{"name": "fake:latest", "model": "fake:latest"}}})
	case strings.HasSuffix(p, "/models"):
		reply(w, object{"object": "list", "data": []any{object{"id": "fake", "object": "model", "created": 0, "owned_by": "fake", "type": "model", "display_name": "fake"}}})
	default:
		w.WriteHeader(http.StatusNotFound)
		reply(w, object{"error": object{"message": "not found", "type": "not_found_error"}})
	}
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that went away needs no answer
}

// events is a stream of server-sent events.
type events struct{ w http.ResponseWriter }

func stream(w http.ResponseWriter) events {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	return events{w}
}

func (e events) data(v any) {
	b, err := json.Marshal(v)
	if err != nil { // maps of strings and numbers always marshal
		panic(err)
	}
	fmt.Fprintf(e.w, "data: %s\n\n", b)
	_ = http.NewResponseController(e.w).Flush()
}

func (e events) event(name string, v any) {
	fmt.Fprintf(e.w, "event: %s\n", name)
	e.data(v)
}

// text returns the text in a value, however the API wraps it.
func text(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case string:
		return x
	case []any:
		var b strings.Builder
		for _, e := range x {
			b.WriteString(text(e))
		}
		return b.String()
	case object:
		for _, k := range []string{"text", "content", "output"} {
			if x[k] != nil {
				return text(x[k])
			}
		}
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

func str(v any) string { s, _ := v.(string); return s }
func list(v any) []any { l, _ := v.([]any); return l }
func obj(v any) object { m, _ := v.(object); return m }
