// Package custom makes tools of executables that a person or a project describes in a manifest (A10): arguments go in as JSON on
// standard input, what comes out on standard output is the result. Such a tool is a command as any other: policy sees the
// command line and the scripts that it runs, whatever the manifest says about its effects.
package custom

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"github.com/tackle-dev/tackle/schema"
	"github.com/tackle-dev/tackle/tool"
)

// Ext is how the names of manifests end.
const Ext = ".yaml"

// Limits of a tool.
const (
	DefaultTimeout = 30 * time.Second
	MaxTimeout     = 10 * time.Minute
	maxManifest    = 256 << 10 // bytes
	maxOutput      = 4 << 20   // bytes; a tool that writes more is ended
)

// Forms of output.
const (
	TextOutput = "text"
	JSONOutput = "json"
)

// Manifest describes one tool.
type Manifest struct {
	Name        string         `yaml:"name"` // default: the file's, without extension
	Title       string         `yaml:"title"`
	Description string         `yaml:"description"`
	Command     []string       `yaml:"command"` // program and arguments; what begins with "./" lies beside the manifest
	Schema      map[string]any `yaml:"schema"`  // of the arguments; default: an object without any
	Example     map[string]any `yaml:"example"` // of the arguments
	Effects     []string       `yaml:"effects"` // read, write, execute, network: what people are told; default execute
	Timeout     time.Duration  `yaml:"timeout"` // default 30s
	Env         []string       `yaml:"env"`     // names of variables that it gets beside the usual ones
	Modes       []string       `yaml:"modes"`   // that list it; default code
	Output      string         `yaml:"output"`  // text (default) or json

	Path   string             `yaml:"-"` // of the manifest, absolute
	schema *jsonschema.Schema // parsed
}

var (
	goodName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)
	goodVar  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// foreign is how the names of imported tools begin.
const foreign = "mcp__"

var effects = []string{string(tool.Read), string(tool.Write), string(tool.Execute), string(tool.Network)}

// Parse reads a manifest. path is where it lies; errors name it.
func Parse(path string, data []byte) (*Manifest, error) {
	m := &Manifest{Path: path}
	fail := func(format string, args ...any) (*Manifest, error) {
		return nil, fmt.Errorf("custom tool %s: %w", path, fmt.Errorf(format, args...))
	}
	if len(data) > maxManifest {
		return fail("%d bytes; a manifest has at most %d", len(data), maxManifest)
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(m); err != nil {
		if errors.Is(err, io.EOF) {
			return fail("it is empty: say description and command")
		}
		return fail("%w", err)
	}
	if m.Name == "" {
		m.Name = strings.TrimSuffix(filepath.Base(path), Ext)
	}
	if m.Output == "" {
		m.Output = TextOutput
	}
	if m.Timeout == 0 {
		m.Timeout = DefaultTimeout
	}
	if m.Effects == nil {
		m.Effects = []string{string(tool.Execute)}
	}
	if m.Modes == nil {
		m.Modes = []string{"code"}
	}
	switch {
	case !goodName.MatchString(m.Name):
		return fail("name %q: want %s", m.Name, goodName)
	case strings.HasPrefix(m.Name, foreign):
		return fail("name %q: names that begin with %s are those of other servers' tools, and rules for them are not for this one", m.Name, foreign)
	case strings.TrimSpace(m.Description) == "":
		return fail("no description: say what it does and when to use it")
	case len(m.Command) == 0 || m.Command[0] == "":
		return fail("no command: name the program, such as [./%s.sh]", m.Name)
	case strings.ContainsAny(m.Command[0], "/\\") && !filepath.IsAbs(m.Command[0]) && !beside(m.Command[0]):
		return fail("command %q would be looked for in the working folder, which anybody may write: begin it with ./ for a file beside the manifest", m.Command[0])
	case m.Timeout < 0 || m.Timeout > MaxTimeout:
		return fail("timeout %s: want at most %s", m.Timeout, MaxTimeout)
	case m.Output != TextOutput && m.Output != JSONOutput:
		return fail("output %q: want text or json", m.Output)
	case len(m.Modes) == 0:
		return fail("modes: name at least one, or leave it out for code")
	}
	for _, e := range m.Effects {
		if !slices.Contains(effects, e) {
			return fail("effect %q: want %s", e, strings.Join(effects, ", "))
		}
	}
	for _, v := range m.Env {
		if !goodVar.MatchString(v) {
			return fail("env %q: want the name of a variable, without a value", v)
		}
	}
	for _, a := range m.Command {
		if strings.ContainsRune(a, 0) {
			return fail("command has a NUL in it")
		}
	}
	return m, m.check(fail)
}

// check reads schema and example.
func (m *Manifest) check(fail func(string, ...any) (*Manifest, error)) error {
	s := m.Schema
	if s == nil {
		s = map[string]any{"type": "object", "properties": map[string]any{}, "additionalProperties": false}
	}
	raw, err := json.Marshal(s)
	if err == nil {
		m.schema, err = schema.Parse(raw)
	}
	var checker *schema.Checker
	if err == nil {
		checker, err = schema.Compile(m.schema)
	}
	if err != nil {
		_, err = fail("%w", err)
		return err
	}
	if m.Example != nil {
		raw, err := json.Marshal(m.Example)
		if err == nil {
			var p schema.Prepared
			if p, err = checker.Prepare(raw); err == nil && len(p.Problems) > 0 {
				err = fmt.Errorf("it does not fit the schema: %v", p.Problems[0].Message)
			}
		}
		if err != nil {
			_, err = fail("example: %w", err)
			return err
		}
	}
	return nil
}

// beside reports whether a part of a command is a path from the folder of the manifest.
func beside(a string) bool { return strings.HasPrefix(a, "./") || strings.HasPrefix(a, "../") }

// Scripts are the files beside the manifest that the command names: what is trusted and approved with it.
func (m *Manifest) Scripts() []string {
	var out []string
	for _, a := range m.Command {
		if beside(a) {
			out = append(out, filepath.Join(filepath.Dir(m.Path), filepath.FromSlash(a)))
		}
	}
	return out
}

// argv is the command with the paths beside the manifest made absolute.
func (m *Manifest) argv() []string {
	out := slices.Clone(m.Command)
	for i, a := range out {
		if beside(a) {
			out[i] = filepath.Join(filepath.Dir(m.Path), filepath.FromSlash(a))
		}
	}
	return out
}
