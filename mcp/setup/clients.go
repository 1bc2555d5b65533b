package setup

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Entry is the server that a client shall know: a command to start, or a URL.
type Entry struct {
	Name     string // "tackle"
	Command  string // absolute path
	Args     []string
	Env      map[string]string
	URL      string // streamable HTTP, instead of Command
	TokenEnv string // variable of the client's environment that holds the bearer token, with URL
}

// Scope says for whom settings count.
type Scope string

// The scopes.
const (
	User    Scope = "user"    // everything that the person does
	Project Scope = "project" // one folder; the file can be shared with others
)

// form is how a client writes servers.
type form uint8

const (
	jsonForm form = iota // an object below a path, in JSON with or without comments
	tomlForm
	yamlForm
)

// Client is a program that speaks MCP and its way of being told about servers.
type Client struct {
	Name  string // as "tackle setup NAME" takes it
	Title string
	form  form
	at    []string // path to the object of servers
	user  string   // settings file of the person, below home; "" where there is none
	proj  string   // settings file of a project, below its folder; "" where there is none
	entry func(Entry) any
	// Note tells a person what else to know. May be empty.
	Note string
}

// Clients returns the clients that are known, in the order in which help lists them.
func Clients() []Client { return slices.Clone(clients[:]) }

// Find returns the client of a name or of a common other spelling.
func Find(name string) (Client, bool) {
	name = strings.ToLower(strings.NewReplacer(" ", "-", "_", "-").Replace(name))
	if to, ok := map[string]string{"claude-code": "claude", "gemini-cli": "gemini", "qwen-code": "qwen", "code": "vscode", "vs-code": "vscode"}[name]; ok {
		name = to
	}
	i := slices.IndexFunc(clients[:], func(c Client) bool { return c.Name == name })
	if i < 0 {
		return Client{}, false
	}
	return clients[i], true
}

// Path returns the settings file of a scope: below home for User, below the project's folder for Project.
// Errors: the client has no file for the scope.
func (c Client) Path(scope Scope, home, project string) (string, error) {
	switch {
	case scope == User && c.user != "":
		return path.Join(home, c.user), nil
	case scope == Project && c.proj != "":
		return path.Join(project, c.proj), nil
	case scope == User:
		return "", fmt.Errorf("%s: settings for everything are not written here; use the scope project, or: %s", c.Title, c.Note)
	}
	return "", fmt.Errorf("%s has no settings file for a project; use the scope user", c.Title)
}

// Scopes returns the scopes that the client has a file for, the usual one first.
func (c Client) Scopes() []Scope {
	var out []Scope
	if c.proj != "" {
		out = append(out, Project)
	}
	if c.user != "" {
		out = append(out, User)
	}
	return out
}

var clients = [...]Client{
	{Name: "claude", Title: "Claude Code", at: []string{"mcpServers"}, proj: ".mcp.json", entry: typed("stdio", "http", "${%s}"),
		Note: "claude mcp add --scope user tackle -- COMMAND writes the settings for everything"},
	{Name: "codex", Title: "Codex", form: tomlForm, at: []string{"mcp_servers"}, user: ".codex/config.toml", entry: codexEntry},
	{Name: "gemini", Title: "Gemini CLI", at: []string{"mcpServers"}, user: ".gemini/settings.json", proj: ".gemini/settings.json", entry: geminiEntry},
	{Name: "opencode", Title: "opencode", at: []string{"mcp"}, user: ".config/opencode/opencode.json", proj: "opencode.json", entry: opencodeEntry},
	{Name: "qwen", Title: "Qwen Code", at: []string{"mcpServers"}, user: ".qwen/settings.json", proj: ".qwen/settings.json", entry: geminiEntry},
	{Name: "pi", Title: "pi", at: []string{"mcpServers"}, user: ".pi/agent/mcp.json", entry: piEntry},
	{Name: "vscode", Title: "VS Code", at: []string{"servers"}, proj: ".vscode/mcp.json", entry: typed("stdio", "http", "${env:%s}"),
		Note: "the command “MCP: Open User Configuration” opens the settings for everything"},
	{Name: "cursor", Title: "Cursor", at: []string{"mcpServers"}, user: ".cursor/mcp.json", proj: ".cursor/mcp.json", entry: typed("", "", "${env:%s}")},
	{Name: "zed", Title: "Zed", at: []string{"context_servers"}, user: ".config/zed/settings.json", proj: ".zed/settings.json", entry: zedEntry},
	{Name: "goose", Title: "Goose", form: yamlForm, at: []string{"extensions"}, user: ".config/goose/config.yaml", entry: gooseEntry},
}

// object keeps the order of its members.
type object []member

type member struct {
	key   string
	value any // string, bool, int, []string, map[string]string or object
}

func (o *object) put(key string, value any) { *o = append(*o, member{key, value}) }

// start adds command, args and env.
func (o *object) start(e Entry) {
	o.put("command", e.Command)
	o.put("args", e.Args)
	if len(e.Env) > 0 {
		o.put("env", e.Env)
	}
}

// reach adds the URL and, where a token is needed, the header that carries it. reference is how the client writes a
// variable, with %s for its name.
func (o *object) reach(e Entry, key, reference string) {
	o.put(key, e.URL)
	if e.TokenEnv != "" {
		o.put("headers", map[string]string{"Authorization": "Bearer " + fmt.Sprintf(reference, e.TokenEnv)})
	}
}

// typed is the widespread form, with a type member where the client wants one.
func typed(stdio, http, reference string) func(Entry) any {
	return func(e Entry) any {
		var o object
		kind := stdio
		if e.URL != "" {
			kind = http
		}
		if kind != "" {
			o.put("type", kind)
		}
		if e.URL != "" {
			o.reach(e, "url", reference)
		} else {
			o.start(e)
		}
		return o
	}
}

// geminiEntry does not set trust: the client then asks before each call, and its person decides.
func geminiEntry(e Entry) any {
	var o object
	if e.URL != "" {
		o.reach(e, "httpUrl", "$%s")
	} else {
		o.start(e)
	}
	return o
}

func opencodeEntry(e Entry) any {
	var o object
	if e.URL != "" {
		o.put("type", "remote")
		o.reach(e, "url", "{env:%s}")
	} else {
		o.put("type", "local")
		o.put("command", append([]string{e.Command}, e.Args...))
		if len(e.Env) > 0 {
			o.put("environment", e.Env)
		}
	}
	o.put("enabled", true)
	return o
}

// piEntry shows the tools to the model itself; the default hides them behind a search.
func piEntry(e Entry) any {
	var o object
	if e.URL != "" {
		o.reach(e, "url", "${%s}")
	} else {
		o.start(e)
	}
	o.put("exposure", "direct")
	return o
}

func zedEntry(e Entry) any {
	var o object
	if e.URL != "" {
		o.reach(e, "url", "$%s")
		return o
	}
	o.put("source", "custom")
	o.start(e)
	return o
}

func codexEntry(e Entry) any {
	var o object
	if e.URL != "" {
		o.put("url", e.URL)
		if e.TokenEnv != "" {
			o.put("bearer_token_env_var", e.TokenEnv)
		}
		return o
	}
	o.start(e)
	return o
}

func gooseEntry(e Entry) any {
	o := object{{"name", e.Name}, {"enabled", true}}
	if e.URL != "" {
		o.put("type", "streamable_http")
		o.put("uri", e.URL)
		if e.TokenEnv != "" {
			o.put("env_keys", []string{e.TokenEnv})
			o.put("headers", map[string]string{"Authorization": "Bearer $" + e.TokenEnv})
		}
	} else {
		o.put("type", "stdio")
		o.put("cmd", e.Command)
		o.put("args", e.Args)
		o.put("envs", e.Env)
	}
	o.put("timeout", 300) // seconds
	return o
}
