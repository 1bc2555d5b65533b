package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/tackle-dev/tackle/server/internal/core"
)

// contract is the description as a client reads it.
type contract struct {
	t     *testing.T
	place *place
	doc   struct {
		OpenAPI    string                          `json:"openapi"`
		Paths      map[string]map[string]operation `json:"paths"`
		Components struct {
			Schemas map[string]*jsonschema.Schema `json:"schemas"`
		} `json:"components"`
	}
	seen     map[string]bool
	resolved map[string]*jsonschema.Resolved
}

type operation struct {
	ID         string `json:"operationId"`
	Parameters []struct {
		Name, In string
		Required bool
	} `json:"parameters"`
	Body *struct {
		Content map[string]struct {
			Schema *jsonschema.Schema `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Content map[string]struct {
			Schema *jsonschema.Schema `json:"schema"`
		} `json:"content"`
	} `json:"responses"`
}

// validate checks a value against a schema of the description.
func (c *contract) validate(what string, schema *jsonschema.Schema, data []byte) {
	c.t.Helper()
	one, _ := json.Marshal(schema)
	resolved := c.resolved[string(one)]
	if resolved == nil {
		whole, err := json.Marshal(c.doc.Components.Schemas)
		if err != nil {
			c.t.Fatal(err)
		}
		text := fmt.Sprintf(`{"$defs": %s, "allOf": [%s]}`, whole, one)
		var root jsonschema.Schema
		if err := json.Unmarshal([]byte(strings.ReplaceAll(text, "#/components/schemas/", "#/$defs/")), &root); err != nil {
			c.t.Fatal(err)
		}
		if resolved, err = root.Resolve(nil); err != nil {
			c.t.Fatalf("%s: %v", what, err)
		}
		c.resolved[string(one)] = resolved
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		c.t.Errorf("%s: no JSON: %v: %.200s", what, err, data)
		return
	}
	if err := resolved.Validate(v); err != nil {
		c.t.Errorf("%s: %v\n%.600s", what, err, data)
	}
}

// call makes a request as the description says and checks the answer against it.
func (c *contract) call(who, method, template string, path map[string]string, query string, body any) []byte {
	c.t.Helper()
	op, ok := c.doc.Paths[template][strings.ToLower(method)]
	if !ok {
		c.t.Fatalf("%s %s is not described", method, template)
	}
	at := template
	for k, v := range path {
		at = strings.ReplaceAll(at, "{"+k+"}", v)
	}
	for _, param := range op.Parameters {
		if param.In == "path" && path[param.Name] == "" {
			c.t.Errorf("%s: no value for the parameter %s", template, param.Name)
		}
	}
	what := method + " " + at + query
	if (op.Body != nil) != (body != nil) {
		c.t.Errorf("%s: a body is described: %v", what, op.Body != nil)
	}
	if body != nil {
		data, _ := json.Marshal(body)
		c.validate(what+" (request)", op.Body.Content["application/json"].Schema, data)
	}
	a := c.place.send(who, method, at+query, body)
	status := fmt.Sprint(a.StatusCode)
	res, ok := op.Responses[status]
	if !ok {
		res = op.Responses["default"]
	} else {
		c.seen[op.ID] = true
	}
	media, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	content, ok := res.Content[media]
	if !ok && op.ID != "content" && (res.Content["image/*"].Schema != nil || !strings.HasPrefix(media, "image/")) {
		c.t.Errorf("%s: %s of type %q is not described", what, status, media)
	}
	if content.Schema != nil {
		c.validate(what+" "+status, content.Schema, a.body)
	}
	return a.body
}

func (c *contract) get(template string, path map[string]string, query string) []byte {
	c.t.Helper()
	return c.call("admin", http.MethodGet, template, path, query, nil)
}

// X4: every operation answers as its description says, in success and in refusal.
func TestX4_AnswersMatchTheDescription(t *testing.T) {
	p := start(t, nil)
	c := &contract{t: t, place: p, seen: map[string]bool{}, resolved: map[string]*jsonschema.Resolved{}}
	p.get("viewer", "/api/openapi.json", &c.doc)
	if c.doc.OpenAPI != "3.1.0" || len(c.doc.Paths) < 25 {
		t.Fatalf("description: %q, %d paths", c.doc.OpenAPI, len(c.doc.Paths))
	}
	p.write("a.txt", "one\ntwo\n")
	failed := p.call("read_file", map[string]any{"path": "missing"}).Meta.Call
	long := p.call("read_file", map[string]any{"path": "a.txt"}).Meta.Call
	artifact, err := p.box.ArtifactStore().Put(t.Context(), "main", "out put\".txt", "text/plain", strings.NewReader("hello\n"))
	if err != nil {
		t.Fatal(err)
	}
	main := map[string]string{"session": "main"}
	for _, path := range []string{"/api/info", "/api/me", "/api/openapi.json", "/api/tools", "/api/asks", "/api/changes", "/api/artifacts", "/api/media", "/api/rules", "/api/ledger/verify", "/api/ledger/export",
		"/metrics", "/api/tokens"} {
		c.get(path, nil, "")
	}
	c.get("/api/sessions", nil, "?limit=3&since=2020-01-01T00:00:00Z")
	c.get("/api/usage", nil, "?hours=48&step=6")
	c.get("/api/ledger", nil, "?before=2&limit=1")
	c.get("/api/calls", nil, "?limit=2")
	c.get("/api/tools/{tool}", map[string]string{"tool": "write_file"}, "")
	c.get("/api/tools/{tool}", map[string]string{"tool": "none"}, "")
	c.get("/api/sessions/{session}", main, "")
	c.get("/api/sessions/{session}", map[string]string{"session": "none"}, "")
	c.get("/api/sessions/{session}/calls", main, "?state=ok&limit=5")
	for _, id := range []string{failed, long, "none"} {
		c.get("/api/sessions/{session}/calls/{call}", map[string]string{"session": "main", "call": id}, "")
	}
	c.get("/api/sessions/{session}/dryrun", main, "")
	c.get("/api/artifacts/{artifact}", map[string]string{"artifact": artifact.ID}, "")
	if got := c.get("/api/artifacts/{artifact}/content", map[string]string{"artifact": artifact.ID}, ""); string(got) != "hello\n" {
		t.Errorf("content %q", got)
	}
	c.media()

	a, done := p.asked("write_file", map[string]any{"path": "ask/x.txt", "content": "x\n"})
	c.get("/api/asks", nil, "")
	c.get("/api/asks/{ask}", map[string]string{"ask": a.ID}, "")
	yes := core.Answer{Allow: true, Scope: "session", Fingerprint: a.Fingerprint}
	c.call("viewer", http.MethodPost, "/api/asks/{ask}/answer", map[string]string{"ask": a.ID}, "", yes)
	c.call("approver", http.MethodPost, "/api/asks/{ask}/answer", map[string]string{"ask": a.ID}, "", yes)
	c.call("admin", http.MethodPost, "/api/asks/{ask}/answer", map[string]string{"ask": a.ID}, "", yes)
	if res := <-done; !res.OK() {
		t.Fatal(res.Text())
	}
	c.get("/api/sessions/{session}/calls/{call}", map[string]string{"session": "main", "call": a.Call}, "")
	var rules core.Rules
	if err := json.Unmarshal(c.get("/api/rules", nil, ""), &rules); err != nil || len(rules.Grants) != 1 {
		t.Fatalf("grants: %+v, %v", rules.Grants, err)
	}
	c.call("admin", http.MethodDelete, "/api/grants/{grant}", map[string]string{"grant": rules.Grants[0].ID}, "", nil)
	c.call("admin", http.MethodDelete, "/api/grants/{grant}", map[string]string{"grant": rules.Grants[0].ID}, "", nil)
	c.call("admin", http.MethodPost, "/api/why", nil, "", core.WhyInput{Tool: "write_file", Args: json.RawMessage(`{"path":"ask/y","content":""}`)})
	c.call("admin", http.MethodPost, "/api/policy/reload", nil, "", nil)
	for _, in := range []core.CallInput{{Tool: "write_file", Args: json.RawMessage(`{"path":"b.txt","content":"b\n"}`), Plan: true},
		{Tool: "write_file", Args: json.RawMessage(`{"path":"b.txt","content":"b\n"}`), Session: "other"}, {Tool: "write_file", Args: json.RawMessage(`{"path":"no/b","content":""}`)},
		{Tool: "read_file", Args: json.RawMessage(`{"path":"a.txt"}`), Detach: true}, {Tool: "nothing", Args: json.RawMessage(`{}`)}, {}} {
		c.call("admin", http.MethodPost, "/api/calls", nil, "", in)
	}
	c.call("admin", http.MethodPost, "/api/undo", nil, "", core.UndoInput{Session: "other", Plan: true})
	c.call("admin", http.MethodPost, "/api/undo", nil, "", core.UndoInput{Session: "other"})
	c.call("admin", http.MethodPost, "/api/undo", nil, "", core.UndoInput{})
	var made MadeToken
	if err := json.Unmarshal(c.call("admin", http.MethodPost, "/api/tokens", nil, "", NewToken{Name: "x", Role: Viewer, Hours: 1}), &made); err != nil {
		t.Fatal(err)
	}
	c.call("admin", http.MethodPost, "/api/tokens", nil, "", NewToken{Name: "x", Role: "viewer", Hours: -1})
	c.call("admin", http.MethodDelete, "/api/tokens/{token}", map[string]string{"token": made.ID}, "", nil)
	c.call("admin", http.MethodDelete, "/api/tokens/{token}", map[string]string{"token": made.ID}, "", nil)
	c.call("admin", http.MethodPost, "/api/codes", nil, "", NewCode{})
	c.call("admin", http.MethodPost, "/api/backup", nil, "", nil)
	c.call("admin", http.MethodPost, "/api/purge", nil, "", PurgeInput{Hours: 1, Plan: true})
	c.call("admin", http.MethodDelete, "/api/sessions/{session}", map[string]string{"session": "other"}, "", nil)
	c.call("admin", http.MethodDelete, "/api/sessions/{session}", main, "", nil)

	stream := p.follow("admin", "?after=0&types="+strings.Join(core.EventTypes, ","), "")
	for kinds := map[string]bool{}; len(kinds) < len(core.EventTypes)-1; {
		e := stream.next()
		switch e.name {
		case "hello":
			c.validate("hello", c.doc.Components.Schemas["Hello"], e.data)
		default:
			c.validate("event "+e.name, c.doc.Components.Schemas["Event"], e.data)
			kinds[e.name] = true
		}
	}
	c.seen["events"] = true

	for path, ops := range c.doc.Paths {
		for method, op := range ops {
			if !c.seen[op.ID] {
				t.Errorf("%s %s was never answered with success", method, path)
			}
			if !slices.ContainsFunc(p.srv.routes, func(rt route) bool { return rt.id == op.ID }) {
				t.Errorf("%s %s is described and not served", method, path)
			}
		}
	}
}
