package dev

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Plan is a sequence of steps over files. Its JSON form is {"paths": […], "ops": […]}.
type Plan struct {
	// Paths are what to acquire: files, folders, and globs, relative to the root. None: the whole root.
	Paths []string `json:"paths,omitempty"`
	// Ops are the steps, in order.
	Ops []Op `json:"ops"`
}

// Op is one step with its arguments. Its JSON form is one flat object: {"step": "edit", "path": …, "edits": …}.
type Op struct {
	Step string
	// Args is the argument object, as the caller wrote it. Nil is the empty object.
	Args json.RawMessage
}

// MarshalJSON writes the flat form.
func (o Op) MarshalJSON() ([]byte, error) {
	name, err := json.Marshal(o.Step)
	if err != nil {
		return nil, err
	}
	body := bytes.TrimSpace(o.args())
	if len(body) < 2 || body[0] != '{' {
		return nil, errors.New("the arguments of a step are an object")
	}
	out := append([]byte(`{"step":`), name...)
	if rest := bytes.TrimSpace(body[1:]); rest[0] != '}' {
		out = append(out, ',')
	}
	return append(out, body[1:]...), nil
}

// UnmarshalJSON reads the flat form. The arguments keep the bytes of their values and their order.
func (o *Op) UnmarshalJSON(b []byte) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("an op is an object with step and its arguments, not %.40s", b)
	}
	o.Step, o.Args = "", nil
	args := []byte{'{'}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		if key == "step" {
			if err := json.Unmarshal(value, &o.Step); err != nil {
				return fmt.Errorf("step: %w", err)
			}
			continue
		}
		if len(args) > 1 {
			args = append(args, ',')
		}
		name, err := json.Marshal(key)
		if err != nil {
			return err
		}
		args = append(append(append(args, name...), ':'), value...)
	}
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("an op ends before it is closed: %w", err)
	}
	o.Args = append(args, '}')
	if o.Step == "" {
		return errors.New(`an op names its step, such as {"step": "format"}`)
	}
	return nil
}

func (o Op) args() json.RawMessage {
	if len(o.Args) == 0 {
		return json.RawMessage("{}")
	}
	return o.Args
}
