package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tackle-dev/tackle/mcp/setup"
)

// light are the clients that run by default.
const light = "inspector gemini codex claude pi"

// stage is what a client is run with.
type stage struct {
	t     *testing.T
	home  string // fresh
	ws    string // the workspace
	model string // address of the scripted model
	entry setup.Entry
}

// write puts a file below the home of the client.
func (s *stage) write(path, content string) string {
	s.t.Helper()
	full := filepath.Join(s.home, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
	return full
}

// settings writes the settings of a client: base with our server added as "tackle setup" does it.
func (s *stage) settings(client, path, base string) string {
	s.t.Helper()
	c, ok := setup.Find(client)
	if !ok {
		s.t.Fatalf("setup does not know %s", client)
	}
	out, _, err := c.Edit([]byte(base), s.entry)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.write(path, string(out))
}

// trusted marks our server as trusted, which only a person does by hand.
func trusted(settings string) string {
	for _, key := range []string{`"command":`, `"httpUrl":`} {
		settings = strings.Replace(settings, key, `"trust": true, `+key, 1)
	}
	return settings
}

// recipe says how a client is installed, set up and run.
type recipe struct {
	pkg          string // with its exact version
	bin          string
	tool         string // pattern of the name under which the model sees read_file
	instructions bool   // the client shows the server's instructions to the model
	run          func(s *stage) (args, env []string)
}

var recipes = map[string]recipe{
	"codex": {"@openai/codex@0.171.0", "codex", `^mcp__tackle.*read_file$`, true, func(s *stage) ([]string, []string) {
		s.settings("codex", ".codex/config.toml", fmt.Sprintf("model = \"fake\"\nmodel_provider = \"fake\"\n\n[model_providers.fake]\nname = \"fake\"\nbase_url = %q\nwire_api = \"responses\"\n", s.model+"/v1"))
		return []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "go"}, []string{"CODEX_HOME=" + s.home + "/.codex"}
	}},
	"claude": {"@anthropic-ai/claude-code@2.1.332", "claude", `^mcp__tackle__read_file$`, true, func(s *stage) ([]string, []string) {
		file := s.settings("claude", "mcp.json", "")
		return []string{"-p", "go", "--model", "fake", "--mcp-config", file, "--strict-mcp-config", "--allowedTools", "mcp__tackle", "--output-format", "json"},
			[]string{"ANTHROPIC_BASE_URL=" + s.model, "ANTHROPIC_API_KEY=fake", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "ENABLE_TOOL_SEARCH=false"}
	}},
	"gemini": {"@google/gemini-cli@0.61.0", "gemini", `^mcp_tackle_read_file$`, true, func(s *stage) ([]string, []string) {
		file := s.settings("gemini", ".gemini/settings.json", `{"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"disableAutoUpdate": true, "disableUpdateNag": true}, "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false}}`)
		s.trust(file)
		return []string{"-p", "go", "-m", "gemini-2.5-flash", "--approval-mode", "yolo"},
			[]string{"GEMINI_API_KEY=fake", "GOOGLE_GEMINI_BASE_URL=" + s.model, "GEMINI_CLI_TRUST_WORKSPACE=true"}
	}},
	"qwen": {"@qwen-code/qwen-code@0.24.4", "qwen", `^mcp__tackle__read_file$`, true, func(s *stage) ([]string, []string) {
		file := s.settings("qwen", ".qwen/settings.json", `{"security": {"auth": {"selectedType": "openai"}}, "general": {"disableAutoUpdate": true, "enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false}, "tools": {"toolSearch": {"enabled": false}}}`)
		s.trust(file)
		return []string{"-p", "go", "--auth-type", "openai", "--yolo"}, []string{"OPENAI_API_KEY=fake", "OPENAI_BASE_URL=" + s.model + "/v1", "OPENAI_MODEL=fake"}
	}},
	"opencode": {"opencode-ai@1.18.33", "opencode", `^tackle_read_file$`, true, func(s *stage) ([]string, []string) {
		s.settings("opencode", ".config/opencode/opencode.json", fmt.Sprintf(`{"autoupdate": false, "share": "disabled", "model": "fake/fake", "small_model": "fake/fake", "permission": "allow",
 "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "Fake", "options": {"baseURL": %q, "apiKey": "fake"}, "models": {"fake": {"name": "fake", "tool_call": true, "limit": {"context": 128000, "output": 8192}}}}}}`, s.model+"/v1"))
		return []string{"run", "--model", "fake/fake", "go"}, []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"}
	}},
	"pi": {"@earendil-works/pi-coding-agent@1.6.0", "pi", `^mcp__tackle__read_file$`, false, func(s *stage) ([]string, []string) {
		s.write(".pi/agent/models.json", fmt.Sprintf(`{"providers": {"fake": {"baseUrl": %q, "api": "openai-completions", "apiKey": "fake", "models": [{"id": "fake"}]}}}`, s.model+"/v1"))
		s.settings("pi", ".pi/agent/mcp.json", "")
		return []string{"-p", "--no-session", "--offline", "--provider", "fake", "--model", "fake", "go"}, []string{"PI_OFFLINE=1"}
	}},
}

// trust rewrites a settings file so that the client does not hide our tools from a run without a person.
func (s *stage) trust(file string) {
	s.t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(trusted(string(b))), 0o644); err != nil {
		s.t.Fatal(err)
	}
}
