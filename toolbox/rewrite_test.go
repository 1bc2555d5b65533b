package toolbox

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/tackle-dev/tackle/tool"
)

// narrow is a plugin that tells models less about echo: another description, and no more than two times.
func narrow(d Described) Described {
	if d.Tool != "echo" || d.Model == "plain" {
		return d
	}
	d.Description = "Say something, in the house's words."
	two := 2.0
	d.Schema.Properties["times"].Maximum = &two
	d.Schema.Properties["tone"] = &jsonschema.Schema{Type: "string", Description: "Tone"}
	return d
}

// P3, layer two: plugins rewrite descriptions and schemas; arguments validate against what the model was told, then
// against the tool's own schema.
func TestP3_Rewrite(t *testing.T) {
	b := newBox(t, Config{Rewriters: []Rewriter{narrow}}, echo(tool.Spec{}, nil), echo(tool.Spec{Name: "other"}, nil))
	def := b.Tools(View{Mode: "code", Model: "m"})[0]
	if def.Description != "Say something, in the house's words." || def.Schema.Properties["times"].Maximum == nil {
		t.Errorf("got %q %+v", def.Description, def.Schema.Properties["times"])
	}
	if own, _ := b.Definition("echo", "code"); own.Description != "Say something." || own.Schema.Properties["times"].Maximum != nil {
		t.Errorf("the tool itself was changed: %q", own.Description)
	}
	for _, plain := range []tool.Definition{b.Tools(View{Mode: "code", Model: "plain"})[0], b.Tools(View{Mode: "code", Model: "m"})[1]} {
		if plain.Description != "Say something." {
			t.Errorf("%s: %q", plain.Name, plain.Description)
		}
	}
	for _, tt := range []struct {
		args, model, code, says string
	}{
		{`{"text": "a", "times": "2"}`, "m", "", ""},
		{`{"text": "a", "times": 3}`, "m", "INVALID_PARAMETER", "times"},
		{`{"text": "a", "times": 3}`, "plain", "", ""},
		{`{"text": "a", "tone": "low"}`, "m", "INVALID_PARAMETER", "tone"}, // told, but the tool's own schema has no such thing
		{`{"times": 1}`, "m", "MISSING_PARAMETER", "text"},
		{`{"text": "a`, "m", "INVALID_TOOL_ARGUMENTS", ""},
	} {
		res, err := b.Call(t.Context(), Request{Tool: "echo", Args: json.RawMessage(tt.args), Model: tt.model, Session: "s"})
		if err != nil {
			t.Fatal(err)
		}
		code := ""
		if res.Err != nil {
			code = string(res.Err.Code)
		}
		if code != tt.code || !strings.Contains(res.Text(), tt.says) {
			t.Errorf("%s for %s: %s", tt.args, tt.model, res.Text())
		}
	}
	res, err := b.Call(t.Context(), Request{Tool: "echo", Args: json.RawMessage(`{"text": "a", "times": "2"}`), Model: "m"})
	if err != nil || len(res.Meta.Repairs) != 1 {
		t.Errorf("repairs %q, %v", res.Meta.Repairs, err)
	}
	if res, err := b.Call(t.Context(), Request{Tool: "echo", Args: json.RawMessage(`{"text": "a", "times": 3}`), Model: "m", Platform: true}); err != nil || !res.OK() {
		t.Errorf("the platform is bound by what models are told: %s %v", res.Text(), err)
	}
}

// P3: a list is byte-stable, also where plugins rewrite it.
func TestP3_RewrittenListIsStable(t *testing.T) {
	calls := 0
	b := newBox(t, Config{Rewriters: []Rewriter{func(d Described) Described { calls++; d.Description += strings.Repeat("!", calls); return d }}}, echo(tool.Spec{}, nil))
	first, _ := json.Marshal(b.Tools(View{Mode: "code"})[0].Def())
	again, _ := json.Marshal(b.Tools(View{Mode: "code"})[0].Def())
	if string(first) != string(again) || calls != 1 {
		t.Errorf("%d calls of the plugin\n%s\n%s", calls, first, again)
	}
}

// P3: a schema that cannot be used takes the tool out of the view and says so; nothing is validated against a schema
// that nobody was told.
func TestP3_BadRewrite(t *testing.T) {
	for name, bad := range map[string]Rewriter{
		"no schema":      func(d Described) Described { d.Schema = nil; return d },
		"no description": func(d Described) Described { d.Description = ""; return d },
		"not portable":   func(d Described) Described { d.Schema.Type = "array"; return d },
	} {
		b := newBox(t, Config{Rewriters: []Rewriter{bad}}, echo(tool.Spec{}, nil))
		if names := b.Names(View{Mode: "code"}); len(names) != 0 {
			t.Errorf("%s: listed %q", name, names)
		}
		if why := b.Absence("echo", View{Mode: "code"}); !strings.Contains(why, "plugin") {
			t.Errorf("%s: %q", name, why)
		}
		if res := call(t, b, "echo", `{"text": "a"}`); res.Err == nil || res.Err.Code != tool.UnknownTool {
			t.Errorf("%s: %s", name, res.Text())
		}
	}
}

func TestCanonical(t *testing.T) {
	b := newBox(t, Config{Overrides: map[string]Override{"echo": {Name: "say"}}, Aliases: map[string]string{"old": "say"}}, echo(tool.Spec{}, nil))
	for _, name := range []string{"say", "old"} {
		m, ok := b.Canonical(Request{Tool: name, Args: json.RawMessage(`"{\"text\": \"a\", \"times\": \"2\"}"`)})
		if m.Tool != "echo" || m.Permission != "echo" || !ok || !json.Valid(m.Args) || strings.Contains(string(m.Args), `"2"`) {
			t.Errorf("%s: %+v %t", name, m, ok)
		}
	}
	for _, req := range []Request{{Tool: "nothing"}, {Tool: "say", Args: json.RawMessage(`{`)}, {Tool: "say", Args: json.RawMessage(`{"text": 7, "x": 1}`)}} {
		if m, ok := b.Canonical(req); ok {
			t.Errorf("%s: %+v", req.Args, m)
		}
	}
}
