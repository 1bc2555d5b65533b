package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/tackle-dev/tackle/server/internal/core"
	"github.com/tackle-dev/tackle/tool"
)

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// schemas of types whose JSON is not that of their fields.
func special() map[reflect.Type]*jsonschema.Schema {
	return map[reflect.Type]*jsonschema.Schema{
		typeOf[time.Time]():         {Type: "string", Format: "date-time"},
		typeOf[time.Duration]():     {Type: "integer", Description: "nanoseconds"},
		typeOf[json.RawMessage]():   {},
		typeOf[tool.Verdict]():      {Type: "string", Enum: []any{"allow", "ask", "deny"}},
		typeOf[jsonschema.Schema](): {Type: "object", Description: "a JSON Schema"},
		typeOf[Role]():              {Type: "string", Enum: []any{Viewer, Approver, Admin, Agent}},
		typeOf[map[int]string]():    {Type: "object", Description: "by number", AdditionalProperties: &jsonschema.Schema{Type: "string"}},
		typeOf[[]byte]():            {Type: "string", ContentEncoding: "base64"},
	}
}

// describer makes the description of the API from its routes.
type describer struct {
	schemas map[string]*jsonschema.Schema
	types   map[string]reflect.Type
}

// ref returns a reference to the schema of a type, which it adds to the components.
func (d *describer) ref(t reflect.Type) (*jsonschema.Schema, error) {
	name := t.Name()
	if name == "" || t.Kind() == reflect.Map { // map[string]any and the like
		return jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: special()})
	}
	name = strings.ToUpper(name[:1]) + name[1:]
	if was, ok := d.types[name]; ok && was != t {
		return nil, fmt.Errorf("two types are named %s: %s and %s", name, was, t)
	}
	if d.schemas[name] == nil {
		s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: special()})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t, err)
		}
		d.schemas[name], d.types[name] = s, t
	}
	return &jsonschema.Schema{Ref: "#/components/schemas/" + name}, nil
}

var wildcard = regexp.MustCompile(`\{(\w+)\}`)

type object = map[string]any

// describe returns the description as JSON (OpenAPI 3.1).
func (s *Server) describe() ([]byte, error) {
	d := &describer{schemas: map[string]*jsonschema.Schema{}, types: map[string]reflect.Type{}}
	problem, err := d.ref(typeOf[Problem]())
	if err != nil {
		return nil, err
	}
	paths := map[string]object{}
	for i := range s.routes {
		rt := &s.routes[i]
		op, err := d.operation(rt, problem)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", rt.method, rt.path, err)
		}
		if paths[rt.path] == nil {
			paths[rt.path] = object{}
		}
		paths[rt.path][strings.ToLower(rt.method)] = op
	}
	for _, t := range []reflect.Type{typeOf[Hello](), typeOf[Notice](), typeOf[core.Event]()} {
		if _, err := d.ref(t); err != nil {
			return nil, err
		}
	}
	return json.Marshal(object{
		"openapi":           "3.1.0",
		"jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
		"info": object{"title": "tackle", "version": s.cfg.Version,
			"description": "Sessions, calls, asks and changes of a toolbox. Every request needs a token. Event streams are server-sent events: each has an id, the name of its type, and as data a value of the schema Event; notices without an id begin (hello, with Hello) and end (dropped, closing, expired, fault, with Notice) a stream."},
		"paths": paths,
		"components": object{"schemas": d.schemas, "securitySchemes": object{
			"token":  object{"type": "http", "scheme": "bearer"},
			"cookie": object{"type": "apiKey", "in": "cookie", "name": "tackle_login_PORT", "description": "of a person who logged in; what changes something also needs X-CSRF-Token"},
		}},
		"security": []object{{"token": []string{}}, {"cookie": []string{}}},
	})
}

func (d *describer) operation(rt *route, problem *jsonschema.Schema) (object, error) {
	op := object{"operationId": rt.id, "summary": rt.summary, "tags": []string{rt.about}}
	if rt.role != "" {
		op["description"] = "Role: " + string(rt.role) + "."
	}
	params, err := d.parameters(rt)
	if err != nil {
		return nil, err
	}
	if len(params) > 0 {
		op["parameters"] = params
	}
	if rt.body != nil {
		ref, err := d.ref(rt.body)
		if err != nil {
			return nil, err
		}
		op["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": ref}}}
	}
	content := object{}
	switch {
	case rt.out != nil:
		ref, err := d.ref(rt.out)
		if err != nil {
			return nil, err
		}
		content["application/json"] = object{"schema": ref}
	default:
		media, _, _ := strings.Cut(rt.media, ";")
		content[media] = object{}
	}
	op["responses"] = object{
		"200":     object{"description": "done", "content": content},
		"default": object{"description": "refused", "content": object{"application/json": object{"schema": problem}}},
	}
	return op, nil
}

// parameters lists the parameters of path and query. What a path names and no struct does is a text.
func (d *describer) parameters(rt *route) ([]object, error) {
	inPath := map[string]bool{}
	for _, m := range wildcard.FindAllStringSubmatch(rt.path, -1) {
		inPath[m[1]] = true
	}
	var out []object
	if rt.query != nil {
		s, err := jsonschema.ForType(rt.query, &jsonschema.ForOptions{TypeSchemas: special()})
		if err != nil {
			return nil, err
		}
		for _, name := range s.PropertyOrder {
			p := *s.Properties[name]
			about := p.Description
			p.Description = ""
			one := object{"name": name, "in": "query", "schema": &p}
			if about != "" {
				one["description"] = about
			}
			if inPath[name] {
				one["in"], one["required"] = "path", true
				delete(inPath, name)
			}
			out = append(out, one)
		}
	}
	for _, m := range wildcard.FindAllStringSubmatch(rt.path, -1) {
		if inPath[m[1]] {
			out = append(out, object{"name": m[1], "in": "path", "required": true, "schema": object{"type": "string"}})
		}
	}
	if rt.id == "events" {
		out = append(out, object{"name": "Last-Event-ID", "in": "header", "description": "goes on behind this event", "schema": object{"type": "string"}})
	}
	return out, nil
}

func (s *Server) openapi(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(s.spec) // a client that went away reads nothing
	return nil
}
