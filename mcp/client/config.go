package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Server is one configured server: a command or a URL.
type Server struct {
	Name string

	Command string // looked up in PATH unless it holds a slash
	Args    []string
	Env     map[string]string // added to a small environment (PATH, HOME, …); nothing else is inherited
	Dir     string            // working directory; "" means the pool's

	URL     string // streamable HTTP
	Headers map[string]string

	Timeout  time.Duration // of one call; 0 means 2 minutes
	Legacy   bool          // speak the older era at once; for servers that fall over an unknown request
	Disabled bool
	Tools    []string // names of the tools to take; nil means all

	// Project says that a project's file names the server, not the person's own.
	Project bool
}

// Fingerprint names exactly what would be started or addressed. An approval is for one fingerprint.
func (s *Server) Fingerprint() string {
	h := sha256.New()
	put := func(parts ...string) {
		for _, p := range parts {
			fmt.Fprintf(h, "%d:%s", len(p), p)
		}
		fmt.Fprint(h, ";")
	}
	put(s.Command)
	put(s.Args...)
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		put(k, s.Env[k])
	}
	put(s.Dir, s.URL)
	for _, k := range slices.Sorted(maps.Keys(s.Headers)) {
		put(k, s.Headers[k])
	}
	return hex.EncodeToString(h.Sum(nil))
}

var serverName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._ -]{0,63}$`)

// Validate finds contradictions.
func (s *Server) Validate() error {
	switch {
	case !serverName.MatchString(s.Name):
		return fmt.Errorf("server %q: want a name of ASCII letters, digits, dots, dashes and underscores", s.Name)
	case (s.Command == "") == (s.URL == ""):
		return fmt.Errorf("server %s: want either a command or a URL", s.Name)
	case s.Timeout < 0:
		return fmt.Errorf("server %s: timeout %v must not be negative", s.Name, s.Timeout)
	case s.URL == "":
		return nil
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("server %s: URL %q: want http:// or https://", s.Name, s.URL)
	}
	return nil
}

// fileServer is an entry of .mcp.json and of the files of other clients that hold the same. Members that mean nothing
// here are skipped: clients add their own.
type fileServer struct {
	Type     string            `json:"type"`
	Command  string            `json:"command"`
	Args     []string          `json:"args"`
	Env      map[string]string `json:"env"`
	Cwd      string            `json:"cwd"`
	URL      string            `json:"url"`
	HTTPURL  string            `json:"httpUrl"`
	Headers  map[string]string `json:"headers"`
	Timeout  float64           `json:"timeout"` // milliseconds, as other clients write it
	Disabled bool              `json:"disabled"`
}

// Parse reads .mcp.json: {"mcpServers": {NAME: {"command": …} or {"type": "http", "url": …}}}. ${NAME} and
// ${NAME:-default} in values are replaced from env; a variable that is not set and has no default is an error.
// project says that the file belongs to a project. Servers come in the order of their names. All errors are returned
// together; the servers without one are returned beside them.
func Parse(data []byte, env func(string) (string, bool), project bool) ([]Server, error) {
	if err := noDuplicates(data); err != nil {
		return nil, err
	}
	var file struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
		VSCode  map[string]json.RawMessage `json:"servers"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("servers file: %w", err)
	}
	entries := file.Servers
	if entries == nil {
		entries = file.VSCode
	}
	if entries == nil {
		return nil, errors.New(`servers file: no member "mcpServers"`)
	}
	var out []Server
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		s, err := parseServer(name, entries[name], env)
		s.Project = project
		if err == nil {
			err = s.Validate()
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, s)
	}
	return out, errors.Join(errs...)
}

func parseServer(name string, raw json.RawMessage, env func(string) (string, bool)) (Server, error) {
	var f fileServer
	if err := json.Unmarshal(raw, &f); err != nil {
		return Server{}, fmt.Errorf("server %s: %w", name, err)
	}
	switch f.Type {
	case "", "stdio", "http", "streamable-http", "streamableHttp":
	case "sse":
		return Server{}, fmt.Errorf("server %s: the SSE transport left the protocol in 2025; give the streamable HTTP address and type \"http\"", name)
	default:
		return Server{}, fmt.Errorf("server %s: type %q: want stdio or http", name, f.Type)
	}
	if f.URL == "" {
		f.URL = f.HTTPURL
	}
	x := expander{env: env}
	s := Server{Name: name, Command: x.expand(f.Command), Env: x.all(f.Env), Dir: x.expand(f.Cwd), URL: x.expand(f.URL), Headers: x.all(f.Headers),
		Timeout: time.Duration(f.Timeout * float64(time.Millisecond)), Disabled: f.Disabled}
	for _, a := range f.Args {
		s.Args = append(s.Args, x.expand(a))
	}
	if len(x.missing) > 0 && !s.Disabled {
		return s, fmt.Errorf("server %s: not set and without default: %s", name, strings.Join(x.missing, ", "))
	}
	return s, nil
}

// expander replaces ${NAME} and ${NAME:-default}.
type expander struct {
	env     func(string) (string, bool)
	missing []string
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}`)

func (x *expander) expand(s string) string {
	return variable.ReplaceAllStringFunc(s, func(ref string) string {
		m := variable.FindStringSubmatch(ref)
		if v, ok := x.env(m[1]); ok && (v != "" || !strings.Contains(ref, ":-")) {
			return v
		}
		if !strings.Contains(ref, ":-") {
			x.missing = append(x.missing, m[1])
		}
		return m[2]
	})
}

func (x *expander) all(m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[k] = x.expand(v)
	}
	return out
}

// noDuplicates refuses a file in which an object names a member twice: two readers could take it for two things.
func noDuplicates(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	type frame struct {
		keys map[string]bool // nil for an array
		key  bool            // a key comes next
	}
	var stack []frame
	for {
		t, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("servers file: %w", err)
		}
		top := len(stack) - 1
		switch d, isDelim := t.(json.Delim); {
		case isDelim && (d == '}' || d == ']'):
			stack = stack[:top]
		case top >= 0 && stack[top].keys != nil && stack[top].key:
			k := t.(string)
			if stack[top].keys[k] {
				return fmt.Errorf("servers file: offset %d: the member %q occurs twice", dec.InputOffset(), k)
			}
			stack[top].keys[k], stack[top].key = true, false
			continue
		case isDelim && d == '{':
			stack = append(stack, frame{keys: map[string]bool{}, key: true})
			continue
		case isDelim:
			stack = append(stack, frame{})
			continue
		}
		if top = len(stack) - 1; top >= 0 && stack[top].keys != nil { // a value ended: a key comes next
			stack[top].key = true
		}
	}
}
