package clients

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tackle-dev/tackle"
	"github.com/tackle-dev/tackle/mcp"
	"github.com/tackle-dev/tackle/mcp/setup"
	"github.com/tackle-dev/tackle/tests/clients/fakemodel"
	"github.com/tackle-dev/tackle/tests/npm"
)

// chosen are the clients to run.
func chosen() []string {
	names := os.Getenv("TACKLE_CLIENTS")
	switch names {
	case "":
		names = light
	case "all":
		return append(slices.Sorted(func(yield func(string) bool) {
			for n := range recipes {
				if !yield(n) {
					return
				}
			}
		}), "inspector")
	}
	return strings.Fields(names)
}

// withModel are the chosen clients that have a model; the inspector has none, and a test of its own.
func withModel() []string {
	return slices.DeleteFunc(chosen(), func(n string) bool { return n == "inspector" })
}

const lines = 140

// workspace makes a folder with a file whose numbered lines show whether a result came through whole.
func workspace(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "line %04d: the quick brown fox jumps over the lazy dog\n", i+1)
	}
	if err := os.WriteFile(filepath.Join(dir, "long.txt"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// binary builds the command once for all tests.
func binary(t *testing.T) string {
	t.Helper()
	if b := os.Getenv("TACKLE"); b != "" {
		return b
	}
	out := filepath.Join(t.TempDir(), "tackle")
	cmd := exec.Command("go", "build", "-o", out, "github.com/tackle-dev/tackle/cmd/tackle")
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, b)
	}
	return out
}

// serveHTTP serves a workspace over HTTP with a token.
func serveHTTP(t *testing.T, ws string) (url, secret string) {
	t.Helper()
	box, err := tackle.Open(t.Context(), tackle.Config{Dir: ws, StateDir: t.TempDir(), NoFiles: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	s, err := mcp.NewServer(box, mcp.Config{View: box.View(), Dir: ws, Roots: []mcp.Root{{Name: "ws", Path: ws}}})
	if err != nil {
		t.Fatal(err)
	}
	secret = mcp.NewSecret()
	token, err := mcp.NewToken("client", secret)
	if err != nil {
		t.Fatal(err)
	}
	h, err := mcp.Handler(map[string]*mcp.Server{"/mcp": s}, mcp.HTTPConfig{Tokens: []mcp.Token{token}})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL + "/mcp", secret
}

// environment is all that a client gets: no credentials and no settings of the person who runs the tests leak in.
func environment(t *testing.T, home string, more ...string) []string {
	path := strings.Join([]string{filepath.Dir(npm.Node(t)), "/usr/local/bin", "/usr/bin", "/bin"}, string(os.PathListSeparator))
	return append([]string{"PATH=" + path, "HOME=" + home, "TERM=xterm"}, more...)
}

// Every client lists, calls, and shows its model the complete result, over both transports.
func TestClients(t *testing.T) {
	npm.Root(t)
	tackleBin := binary(t)
	for _, name := range withModel() {
		r, ok := recipes[name]
		if !ok {
			t.Fatalf("no client %q", name)
		}
		for _, transport := range []string{"stdio", "http"} {
			t.Run(name+"/"+transport, func(t *testing.T) { runClient(t, name, r, transport, tackleBin) })
		}
	}
}

func runClient(t *testing.T, name string, r recipe, transport, tackleBin string) {
	model := &fakemodel.Model{Tool: regexp.MustCompile(r.tool), Args: `{"path":"long.txt"}`}
	endpoint := httptest.NewServer(model)
	defer endpoint.Close()
	s := &stage{t: t, home: t.TempDir(), ws: workspace(t), model: endpoint.URL}
	var secret string
	if transport == "stdio" {
		s.entry = setup.Entry{Name: "tackle", Command: tackleBin, Args: []string{"mcp", "-C", s.ws, "--state", t.TempDir(), "--no-config"}}
	} else {
		var url string
		url, secret = serveHTTP(t, s.ws)
		s.entry = setup.Entry{Name: "tackle", URL: url, TokenEnv: "TACKLE_TOKEN"}
	}
	args, env := r.run(s)
	modules := npm.Install(t, strings.NewReplacer("@", "", "/", "-").Replace(r.pkg), r.pkg)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm.Bin(t, modules, r.bin), args...)
	cmd.Dir = s.ws
	cmd.Env = environment(t, s.home, append(env, "TACKLE_TOKEN="+secret)...)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%.4000s", name, err, out)
	}
	if !strings.Contains(string(out), "FINAL:") {
		t.Errorf("the client does not show the model's answer:\n%.2000s", out)
	}
	inspect(t, model, r)
}

// inspect asserts what the model saw.
func inspect(t *testing.T, model *fakemodel.Model, r recipe) {
	t.Helper()
	read := regexp.MustCompile(r.tool)
	var tools []string
	var result, texts string
	for _, q := range model.Requests() {
		for _, x := range q.Tools {
			if n := x.Space + x.Name; !slices.Contains(tools, n) {
				tools = append(tools, n)
			}
			if read.MatchString(x.Space+x.Name) && !strings.Contains(fmt.Sprint(x.Schema), "path") {
				t.Errorf("the schema of %s came through as %v", x.Name, x.Schema)
			}
		}
		if n := len(q.Results); n > 0 {
			result = q.Results[n-1]
		}
		texts += q.Texts
	}
	if !slices.ContainsFunc(tools, read.MatchString) || !slices.ContainsFunc(tools, regexp.MustCompile(`call_wait$`).MatchString) {
		t.Errorf("the model was offered %v", tools)
	}
	for i := range lines {
		if !strings.Contains(result, fmt.Sprintf("line %04d:", i+1)) {
			t.Errorf("line %d is missing from what the model saw of the result (%d bytes):\n%.1500s", i+1, len(result), result)
			break
		}
	}
	if r.instructions && !strings.Contains(texts, "Tools: ") {
		t.Error("the model did not see the server's instructions")
	}
}

// The inspector's own checks are clean, in both eras and over both transports.
func TestInspector(t *testing.T) {
	if !slices.Contains(chosen(), "inspector") {
		t.Skip("TACKLE_CLIENTS does not name inspector")
	}
	modules := npm.Install(t, "inspector-2.12.0", "@modelcontextprotocol/inspector@2.12.0")
	ws := workspace(t)
	url, secret := serveHTTP(t, ws)
	stdio := []string{"--", binary(t), "mcp", "-C", ws, "--state", t.TempDir(), "--no-config"}
	http := []string{"--transport", "http", "--server-url", url, "--header", "Authorization: Bearer " + secret}
	for _, era := range []string{"legacy", "modern"} {
		for transport, server := range map[string][]string{"stdio": stdio, "http": http} {
			t.Run(era+"/"+transport, func(t *testing.T) {
				call := func(args ...string) string {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					all := append([]string{npm.Bin(t, modules, "mcp-inspector"), "--cli", "--format", "json", "--protocol-era", era}, args...)
					cmd := exec.CommandContext(ctx, npm.Node(t), append(all, server...)...)
					cmd.Env = environment(t, t.TempDir())
					out, err := cmd.Output()
					if err != nil {
						t.Fatalf("%v: %v\n%s", args, err, out)
					}
					return string(out)
				}
				var list struct {
					Result struct{ Tools []struct{ Name string } }
				}
				if err := json.Unmarshal([]byte(call("--strict", "--method", "tools/list")), &list); err != nil || len(list.Result.Tools) < 5 {
					t.Errorf("%v %+v", err, list)
				}
				if out := call("--method", "tools/call", "--tool-name", "read_file", "--tool-arg", "path=long.txt"); !strings.Contains(out, fmt.Sprintf("line %04d:", lines)) || strings.Contains(out, "isError") {
					t.Errorf("read_file: %.500s", out)
				}
				if out := call("--method", "resources/templates/list"); !strings.Contains(out, "resourceTemplates") {
					t.Errorf("templates: %s", out)
				}
			})
		}
	}
}
