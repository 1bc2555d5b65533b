package schema

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
)

// Parse reads a JSON Schema as its author wrote it: unlike json.Unmarshal it keeps the order of properties, which a
// model reads as their weight, in PropertyOrder.
func Parse(b []byte) (*jsonschema.Schema, error) {
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	d, err := scan(b)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	d.order(s, 0)
	return s, nil
}

// order records the order of names in s and in the schemas inside it, as the token t has them.
func (d *document) order(s *jsonschema.Schema, t int32) {
	if d.tokens[t].kind != kindObject {
		return
	}
	single, inside := map[string]*jsonschema.Schema{}, map[string]*jsonschema.Schema{}
	for _, c := range children(s, true) {
		if c.key == "" && c.keyword != "properties" {
			single[c.keyword] = c.schema
		} else {
			inside[c.keyword+"/"+c.key] = c.schema
		}
	}
	d.members(t, func(keyword string, v int32) {
		if one := single[keyword]; one != nil {
			d.order(one, v)
			return
		}
		d.members(v, func(name string, c int32) {
			if keyword == "properties" {
				s.PropertyOrder = append(s.PropertyOrder, name)
			}
			if child := inside[keyword+"/"+name]; child != nil {
				d.order(child, c)
			}
		})
	})
}

// members visits the children of an object or array by name or index.
func (d *document) members(t int32, visit func(name string, c int32)) {
	for i, c := int32(0), t+1; i < d.tokens[t].n; i, c = i+1, d.tokens[c].next {
		if d.tokens[c].key >= 0 {
			visit(d.name(c), c)
		} else {
			visit(strconv.Itoa(int(i)), c)
		}
	}
}
