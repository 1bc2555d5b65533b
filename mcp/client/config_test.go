package client

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	env := map[string]string{"HOME": "/home/x", "EMPTY": "", "TOKEN": "t"}
	get := func(k string) (string, bool) { v, ok := env[k]; return v, ok }
	got, err := Parse([]byte(`{"$schema":"x","mcpServers":{
		"files":{"command":"${HOME}/bin/files","args":["--root","${ROOT:-/w}","${EMPTY:-d}"],"env":{"A":"$TOKEN ${TOKEN}"},"timeout":5000,"futureMember":{"a":1}},
		"web":{"type":"http","url":"https://example.com/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}},
		"gemini":{"httpUrl":"http://localhost:1/mcp"}}}`), get, true)
	if err != nil {
		t.Fatal(err)
	}
	want := []Server{
		{Name: "files", Command: "/home/x/bin/files", Args: []string{"--root", "/w", "d"}, Env: map[string]string{"A": "$TOKEN t"}, Timeout: 5 * time.Second, Project: true},
		{Name: "gemini", URL: "http://localhost:1/mcp", Project: true},
		{Name: "web", URL: "https://example.com/mcp", Headers: map[string]string{"Authorization": "Bearer t"}, Project: true},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, tt := range []struct{ in, want string }{
		{`{`, "unexpected"},
		{`[]`, "cannot unmarshal"},
		{`{}`, `no member "mcpServers"`},
		{`{"mcpServers":{"a":{"command":"x"},"a":{"command":"y"}}}`, `"a" occurs twice`},
		{`{"mcpServers":{"a":{"command":"x","command":"y"}}}`, `"command" occurs twice`},
		{`{"mcpServers":{"a":{}}}`, "either a command or a URL"},
		{`{"mcpServers":{"a":{"command":"x","url":"http://y"}}}`, "either a command or a URL"},
		{`{"mcpServers":{"a":{"url":"file:///etc/passwd"}}}`, "want http:// or https://"},
		{`{"mcpServers":{"a":{"type":"sse","url":"http://y"}}}`, "SSE transport"},
		{`{"mcpServers":{"a":{"type":"ws","url":"http://y"}}}`, "want stdio or http"},
		{`{"mcpServers":{"a":{"command":"${NOPE}"}}}`, "NOPE"},
		{`{"mcpServers":{"\u0000":{"command":"x"}}}`, "want a name"},
	} {
		if _, err := Parse([]byte(tt.in), get, false); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.in, err, tt.want)
		}
	}
	// One bad entry does not cost the others.
	some, err := Parse([]byte(`{"servers":{"bad":{"type":"ws"},"good":{"command":"x"}}}`), get, false)
	if err == nil || len(some) != 1 || some[0].Name != "good" {
		t.Errorf("%v %v", some, err)
	}
}

func TestFingerprint(t *testing.T) {
	base := Server{Name: "a", Command: "x", Args: []string{"b", "c"}, Env: map[string]string{"K": "v"}}
	seen := map[string]bool{base.Fingerprint(): true}
	for _, change := range []func(*Server){
		func(s *Server) { s.Command = "y" }, func(s *Server) { s.Args = []string{"bc"} }, func(s *Server) { s.Args = []string{"b", "c", ""} },
		func(s *Server) { s.Env = map[string]string{"K": "w"} }, func(s *Server) { s.Dir = "/" }, func(s *Server) { s.URL = "http://x" },
	} {
		s := base
		change(&s)
		if f := s.Fingerprint(); seen[f] {
			t.Errorf("%+v has the fingerprint of another", s)
		} else {
			seen[f] = true
		}
	}
	renamed := base
	renamed.Name, renamed.Timeout = "b", time.Second
	if renamed.Fingerprint() != base.Fingerprint() {
		t.Error("what is not started counts")
	}
}

// Names are legal, at most 64 bytes, and never equal.
func TestToolName(t *testing.T) {
	seen := map[string]string{}
	for _, in := range [][2]string{{"lab", "echo"}, {"la", "b__echo"}, {"la__b", "echo"}, {"my server", "do.it"}, {"my_server", "do_it"}, {"my.server", "do-it"},
		{strings.Repeat("s", 60), "x"}, {strings.Repeat("s", 60), "y"}, {"lab", strings.Repeat("t", 200)}, {"lab", "reаd"}, {"lab", "read"}} {
		n := toolName(in[0], in[1])
		if len(n) > 64 || !strings.HasPrefix(n, "mcp__") || strings.Trim(n, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
			t.Errorf("%q → %q", in, n)
		}
		if old, ok := seen[n]; ok {
			t.Errorf("%q and %q are both %q", old, in, n)
		}
		seen[n] = in[0] + "/" + in[1]
	}
	if n := toolName("lab", "echo"); n != "mcp__lab__echo" {
		t.Errorf("%q", n)
	}
}

// MCP-016: doctor warns about code that changes between runs.
func TestMCP016_Unpinned(t *testing.T) {
	for want, s := range map[string]Server{
		"takes whatever version": {Name: "a", Command: "npx", Args: []string{"-y", "some-server@latest"}},
		"newest":                 {Name: "a", Command: "/usr/bin/uvx", Args: []string{"some-server"}},
		"goes through bash":      {Name: "a", Command: "bash", Args: []string{"-c", "server | tee log"}},
		"not encrypted":          {Name: "a", URL: "http://example.com/mcp"},
		"":                       {Name: "a", Command: "npx", Args: []string{"-y", "@scope/server@1.2.3"}},
	} {
		got := InspectServer(&s)
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.Contains(got[0].String(), want)) {
			t.Errorf("%v %v: %v, want %q", s.Command, s.Args, got, want)
		}
	}
}

// MCP-017: a file that others can write, or a link, does not decide what runs.
func TestMCP017_File(t *testing.T) {
	dir := t.TempDir()
	plain, link := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(plain, link); err != nil {
		t.Fatal(err)
	}
	check := func(path string, owner bool) error {
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return InspectFile(path, info, owner)
	}
	if err := check(plain, true); err != nil {
		t.Error(err)
	}
	if err := check(plain, false); err == nil {
		t.Error("a file of somebody else")
	}
	if err := check(link, true); err == nil {
		t.Error("a link")
	}
	if err := os.Chmod(plain, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := check(plain, true); err == nil {
		t.Error("a file that all can write")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"mcpServers":{"a":{"command":"x","args":["${A:-b}"]}}}`))
	f.Add([]byte(`{"a":[{},{"b":1,"b":2}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		servers, _ := Parse(data, func(string) (string, bool) { return "", false }, false)
		for _, s := range servers {
			if err := s.Validate(); err != nil {
				t.Errorf("%q: %v", data, err)
			}
		}
	})
}

// MCP-009: an authorization address is an address, and nothing to a shell or a system opener.
func TestMCP009_AuthorizationURL(t *testing.T) {
	for _, bad := range []string{"file:///etc/passwd", "javascript:alert(1)", "http://x/$(touch CANARY)", "http://x/`id`", "http://x/;id", "http://u:p@x/", "https:///x", "http://x/ -a", "http://x/\n", "ms-settings:", "--help", ""} {
		if err := CheckAuthorizationURL(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	if err := CheckAuthorizationURL("https://auth.example.com/authorize?client_id=a&scope=b+c%20d&state=x-y_z.~"); err != nil {
		t.Error(err)
	}
}
