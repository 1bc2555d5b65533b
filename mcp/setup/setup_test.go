package setup

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite golden files")

var (
	command = Entry{Name: "tackle", Command: "/usr/local/bin/tackle", Args: []string{"mcp", "-C", "/w/with space"}}
	remote  = Entry{Name: "tackle", URL: "http://127.0.0.1:7777/mcp", TokenEnv: "TACKLE_TOKEN"}
)

// The settings of every client, for a command and for a URL.
func TestSnippets(t *testing.T) {
	if len(Clients()) != 10 {
		t.Fatalf("%d clients", len(Clients()))
	}
	for _, c := range Clients() {
		for kind, e := range map[string]Entry{"command": command, "url": remote} {
			got, err := c.Snippet(e)
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", c.Name+"-"+kind+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("%s %s: -want +got\n%s", c.Name, kind, d)
			}
			if p := c.Check([]byte(got), e); p != "" {
				t.Errorf("%s %s: %s", c.Name, kind, p)
			}
			again, changed, err := c.Edit([]byte(got), e)
			if err != nil || changed || string(again) != got {
				t.Errorf("%s %s: a second time: changed %v, %v", c.Name, kind, changed, err)
			}
		}
	}
}

func TestFindAndPath(t *testing.T) {
	for name, want := range map[string]string{"claude": "Claude Code", "Claude Code": "Claude Code", "VS Code": "VS Code", "gemini-cli": "Gemini CLI", "QWEN": "Qwen Code"} {
		if c, ok := Find(name); !ok || c.Title != want {
			t.Errorf("%s: %v %v", name, c.Title, ok)
		}
	}
	if _, ok := Find("nope"); ok {
		t.Error("nope was found")
	}
	codex, _ := Find("codex")
	if p, err := codex.Path(User, "/home/x", "/w"); err != nil || p != "/home/x/.codex/config.toml" {
		t.Errorf("%s %v", p, err)
	}
	if _, err := codex.Path(Project, "/home/x", "/w"); err == nil {
		t.Error("codex has no project file")
	}
	claude, _ := Find("claude")
	if _, err := claude.Path(User, "/home/x", "/w"); err == nil || !strings.Contains(err.Error(), "claude mcp add") {
		t.Errorf("%v", err)
	}
	if p, err := claude.Path(Project, "/home/x", "/w"); err != nil || p != "/w/.mcp.json" {
		t.Errorf("%s %v", p, err)
	}
}

// Files that people wrote keep every other byte.
func TestEdit(t *testing.T) {
	small := Entry{Name: "tackle", Command: "/t", Args: []string{"mcp"}}
	for _, tt := range []struct{ name, client, in, want string }{
		{"one line", "cursor", `{"mcpServers": {"a": {"command": "b"}}}`, "{\"mcpServers\": {\"a\": {\"command\": \"b\"},\n  \"tackle\": {\n    \"command\": \"/t\",\n    \"args\": [\"mcp\"]\n  }\n}}"},
		{"comments and a trailing comma", "zed", "// mine\n{\n\t\"theme\": \"x\", // dark\n\t/* servers */ \"context_servers\": {\n\t\t\"a\": {}, // first\n\t},\n}\n",
			"// mine\n{\n\t\"theme\": \"x\", // dark\n\t/* servers */ \"context_servers\": {\n\t\t\"a\": {}, // first\n\t\t\"tackle\": {\n\t\t  \"source\": \"custom\",\n\t\t  \"command\": \"/t\",\n\t\t  \"args\": [\"mcp\"]\n\t\t}\n\t},\n}\n"},
		{"no servers yet", "gemini", "{\n  \"theme\": \"x\"\n}\n", "{\n  \"theme\": \"x\",\n  \"mcpServers\": {\n    \"tackle\": {\n      \"command\": \"/t\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n"},
		{"replaced", "cursor", "{\"mcpServers\": {\"tackle\": {\"command\": \"old\", \"disabled\": true}, \"b\": 1}}", "{\"mcpServers\": {\"tackle\": {\n  \"command\": \"/t\",\n  \"args\": [\"mcp\"]\n}, \"b\": 1}}"},
		{"empty object with a comment", "cursor", "{\n  \"mcpServers\": {\n    // none\n  }\n}\n", "{\n  \"mcpServers\": {\n    // none\n    \"tackle\": {\n      \"command\": \"/t\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n"},
		{"toml", "codex", "model = \"x\" # mine\n\n[mcp_servers.a]\ncommand = \"b\"\n", "model = \"x\" # mine\n\n[mcp_servers.a]\ncommand = \"b\"\n\n[mcp_servers.tackle]\ncommand = \"/t\"\nargs = [\"mcp\"]\n"},
		{"toml replaced", "codex", "[mcp_servers.tackle]\ncommand = \"old\"\n[mcp_servers.tackle.env]\nA = \"1\"\n\n# next\n[other]\nx = 1\n", "[mcp_servers.tackle]\ncommand = \"/t\"\nargs = [\"mcp\"]\n\n# next\n[other]\nx = 1\n"},
		{"yaml", "goose", "# mine\nGOOSE_MODEL: x\nextensions:\n  developer: # built in\n    enabled: true\n", "# mine\nGOOSE_MODEL: x\nextensions:\n  developer: # built in\n    enabled: true\n  tackle:\n    name: tackle\n    enabled: true\n    type: stdio\n    cmd: /t\n    args:\n      - mcp\n    envs: {}\n    timeout: 300\n"},
	} {
		c, ok := Find(tt.client)
		if !ok {
			t.Fatal(tt.client)
		}
		got, changed, err := c.Edit([]byte(tt.in), small)
		if err != nil || !changed {
			t.Errorf("%s: changed %v, %v", tt.name, changed, err)
			continue
		}
		if d := cmp.Diff(tt.want, string(got)); d != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, d)
		}
		if p := c.Check(got, small); p != "" {
			t.Errorf("%s: %s", tt.name, p)
		}
		if p := c.Check([]byte(tt.in), small); p == "" {
			t.Errorf("%s: the old file checks", tt.name)
		}
	}
}

func TestEditErrors(t *testing.T) {
	small := Entry{Name: "tackle", Command: "/t"}
	for _, tt := range []struct {
		client, in string
		e          Entry
		want       string
	}{
		{"cursor", `{"mcpServers": [1]}`, small, "mcpServers is not an object"},
		{"cursor", `{"mcpServers": {}, "mcpServers": {}}`, small, `line 1: the member "mcpServers" occurs twice`},
		{"cursor", "{\n\"a\": nope}", small, `line 2: "nope" is not a value`},
		{"cursor", `{"a": 1`, small, "the file ends"},
		{"cursor", `[]`, small, "the file is not an object"},
		{"codex", "[mcp_servers]\ntackle = {command = \"x\"}\n", small, "line 2: mcp_servers.tackle is written as a value"},
		{"codex", "[mcp_servers.tackle]\n[b]\n[mcp_servers.tackle.env]\n", small, "line 3: the table [mcp_servers.tackle.env] stands apart"},
		{"goose", "- a\n", small, "want a mapping at the top"},
		{"goose", "extensions: [a]\n", small, "want a mapping for extensions"},
		{"goose", "a: [", small, "yaml"},
		{"cursor", "", Entry{Name: "a b", Command: "x"}, "want letters"},
		{"cursor", "", Entry{Name: "a"}, "either a command or a URL"},
	} {
		c, _ := Find(tt.client)
		if _, _, err := c.Edit([]byte(tt.in), tt.e); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %q: %v, want %s", tt.client, tt.in, err, tt.want)
		}
	}
}

// Whatever JSON is there, the edit gives JSON in which only our entry is new, and a second edit changes nothing.
func TestEditJSONProperty(t *testing.T) {
	c, _ := Find("cursor")
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z"\\é]{1,4}`), 0, 4, rapid.ID[string]).Draw(t, "keys")
		doc := map[string]any{}
		for _, k := range keys {
			doc[k] = rapid.SampledFrom([]any{1.0, "x,}", []any{}, map[string]any{"a": nil}, true}).Draw(t, "value")
		}
		if rapid.Bool().Draw(t, "servers") {
			doc["mcpServers"] = map[string]any{"other": map[string]any{}}
		}
		var in []byte
		if rapid.Bool().Draw(t, "indent") {
			in, _ = json.MarshalIndent(doc, "", "\t")
		} else {
			in, _ = json.Marshal(doc)
		}
		out, _, err := c.Edit(in, command)
		if err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		var got map[string]any
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%s → %s: %v", in, out, err)
		}
		servers := got["mcpServers"].(map[string]any)
		if servers["tackle"] == nil {
			t.Fatalf("%s → %s", in, out)
		}
		delete(servers, "tackle")
		if _, had := doc["mcpServers"]; !had {
			delete(got, "mcpServers")
		}
		if d := cmp.Diff(doc, got); d != "" {
			t.Fatalf("%s → %s:\n%s", in, out, d)
		}
		if again, changed, err := c.Edit(out, command); err != nil || changed {
			t.Fatalf("again: %s %v", again, err)
		}
	})
}

func FuzzEdit(f *testing.F) {
	f.Add([]byte("{ // c\n\"mcpServers\": {\"a\": 1,},}"), []byte("[mcp_servers.tackle]\n"), []byte("extensions:\n  a: 1\n"))
	f.Fuzz(func(t *testing.T, j, toml, y []byte) {
		cursor, _ := Find("cursor")
		if out, _, err := cursor.Edit(j, command); err == nil {
			if p := cursor.Check(out, command); p != "" {
				t.Errorf("JSON %q → %q: %s", j, out, p)
			}
		}
		codex, _ := Find("codex")
		if out, _, err := codex.Edit(toml, command); err == nil && strings.Count(string(toml), `"""`)+strings.Count(string(toml), "'''") == 0 {
			if p := codex.Check(out, command); p != "" {
				t.Errorf("TOML %q → %q: %s", toml, out, p)
			}
		}
		goose, _ := Find("goose")
		if out, _, err := goose.Edit(y, command); err == nil {
			var v any
			if err := yaml.Unmarshal(out, &v); err != nil {
				t.Errorf("YAML %q → %q: %v", y, out, err)
			}
		}
	})
}
