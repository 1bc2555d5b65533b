package fit

import (
	"encoding/json"
	"sync"

	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/schema"
)

// Schemas writes schemas of tools for one provider and remembers them, since each turn sends the same again.
// It is safe for concurrent use.
type Schemas struct {
	Profile schema.Profile

	mu    sync.Mutex
	known map[string]written
}

type written struct {
	schema json.RawMessage
	note   string
}

// keep is how many schemas are remembered; beyond it, all are forgotten.
const keep = 2048

// Fit returns t with its schema as the provider takes it. A schema that the provider would refuse is replaced by that of any
// object, and told in the description instead: a tool of a foreign server must not make each request fail.
func (s *Schemas) Fit(t model.Tool) model.Tool {
	key := string(t.Schema)
	s.mu.Lock()
	w, ok := s.known[key]
	s.mu.Unlock()
	if !ok {
		w = s.write(t.Schema)
		s.mu.Lock()
		if s.known == nil || len(s.known) >= keep {
			s.known = map[string]written{}
		}
		s.known[key] = w
		s.mu.Unlock()
	}
	t.Schema = w.schema
	if w.note != "" && t.Description != "" {
		t.Description += "\n"
	}
	t.Description += w.note
	return t
}

func (s *Schemas) write(raw json.RawMessage) written {
	open := json.RawMessage(`{"type":"object","properties":{}}`)
	if len(raw) == 0 || string(raw) == "null" {
		return written{schema: open}
	}
	parsed, err := schema.Parse(raw)
	if err == nil {
		var out json.RawMessage
		if out, err = schema.Convert(s.Profile, parsed); err == nil {
			return written{schema: out}
		}
	}
	return written{schema: open, note: "The arguments are an object of this JSON Schema: " + string(raw)}
}
