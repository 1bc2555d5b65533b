package mode

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tackle-dev/tackle/config"
	"github.com/tackle-dev/tackle/internal/front"
	"github.com/tackle-dev/tackle/model"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/schema"
)

// maxFile bounds a file, in bytes. What is larger is a mistake: it would be sent to a model with every request.
const maxFile = 256 << 10

// Ext is how the names of files of modes end.
const Ext = ".md"

// Bases are the modes that tools are registered for; every other mode takes its tools from one of them.
var bases = []string{Code, Dev}

// The modes that tools are registered for.
const (
	Code = "code" // the tools of an agent
	Dev  = "dev"  // those of the dev pipeline alone
)

var validName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)

// File is a file of a mode.
type File struct {
	Layer   string // config.LayerBuiltIn, LayerUser or LayerProject
	Path    string
	Data    []byte
	Trusted bool   // of a project's: the person has trusted exactly this content
	Base    string // of a project's: the folder that its patterns are relative to
}

// Mode is what a file says, and what the files of one name say together.
type Mode struct {
	Name        string
	Description string
	From        string   // the mode that its tools are registered for
	Tools       []string // patterns of names, in no order that means anything; nil: all
	Model       string   // PROVIDER/NAME; "": that of the configuration
	Effort      model.Effort
	Prompt      string // the text below the head
	Text        string // the whole file

	Origin config.Origin      // of the file
	Layers []permission.Layer // its rules, each file's a layer
	Notes  []string           // what a person should know about it, each a sentence
}

// Has reports whether the mode takes a tool of this name, of those that are registered for its From.
func (m *Mode) Has(tool string) bool {
	return m.Tools == nil || slices.ContainsFunc(m.Tools, func(p string) bool { return matches(p, tool) })
}

func matches(pattern, name string) bool {
	before, after, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	rest, ok := strings.CutPrefix(name, before)
	if !ok {
		return false
	}
	for i := 0; i <= len(rest); i++ {
		if matches(after, rest[i:]) {
			return true
		}
	}
	return false
}

// Parse reads one file. Errors are *config.Error, joined: one for each mistake, with file and line.
func Parse(f File) (Mode, error) {
	r := reader{file: f, origin: config.Origin{Layer: f.Layer, File: f.Path}}
	r.mode = Mode{Name: strings.TrimSuffix(filepath.Base(f.Path), Ext), From: Code, Text: string(f.Data), Origin: r.origin}
	r.read()
	if err := errors.Join(r.errs...); err != nil {
		return Mode{}, err
	}
	return r.mode, nil
}

type reader struct {
	file   File
	origin config.Origin // without a position
	mode   Mode
	errs   []error
}

func (r *reader) fail(line, column int, path, format string, args ...any) {
	o := r.origin
	o.Line, o.Column = line, column
	r.errs = append(r.errs, &config.Error{Origin: o, Path: path, Reason: fmt.Sprintf(format, args...)})
}

func (r *reader) failAt(n *yaml.Node, path, format string, args ...any) {
	r.fail(n.Line, n.Column, path, format, args...)
}

var yamlLine = regexp.MustCompile(`^yaml: line (\d+): `)

func (r *reader) read() {
	if !validName.MatchString(r.mode.Name) {
		r.fail(0, 0, "", "the name of the file, without %s, is the name of the mode: small letters, digits, \"-\" and \"_\", at most 32", Ext)
	}
	if len(r.file.Data) > maxFile {
		r.fail(0, 0, "", "the file has %d bytes; at most %d are read", len(r.file.Data), maxFile)
		return
	}
	matter, err := front.Split(r.file.Data)
	switch {
	case err != nil:
		r.fail(1, 1, "", "%v", err)
		return
	case matter.Head == nil:
		r.fail(1, 1, "", `a mode begins with a head: a line of "---", "description: what the mode is for", and a line of "---"`)
		return
	}
	r.mode.Prompt = strings.TrimSpace(strings.ReplaceAll(string(matter.Body), "\r\n", "\n"))
	var doc yaml.Node
	if err := yaml.Unmarshal(matter.Head, &doc); err != nil {
		line, text := 1, strings.TrimPrefix(err.Error(), "yaml: ")
		if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
			line, _ = strconv.Atoi(m[1])
			text = strings.TrimPrefix(err.Error(), m[0])
		}
		if strings.Contains(text, "mapping values") {
			text += `; a value that holds ": " needs quotes`
		}
		r.fail(line, 0, "", "not YAML: %s", text)
		return
	}
	if len(doc.Content) == 1 && doc.Content[0].Kind != yaml.MappingNode {
		r.failAt(doc.Content[0], "", "want keys and values here, such as description: what the mode is for")
		return
	}
	seen := map[string]bool{}
	if len(doc.Content) == 1 {
		keys := doc.Content[0].Content
		for i := 0; i+1 < len(keys); i += 2 {
			if k := keys[i]; seen[k.Value] {
				r.failAt(k, "", "the key %q stands twice", k.Value)
				continue
			}
			seen[keys[i].Value] = true
			r.key(keys[i], keys[i+1])
		}
	}
	if !seen["description"] {
		r.fail(1, 1, "description", "a mode needs a description: one line that tells a person what it is for")
	}
}

var keys = []string{"name", "description", "from", "tools", "permissions", "model", "effort"}

func (r *reader) key(k, v *yaml.Node) {
	m := &r.mode
	switch k.Value {
	case "name":
		if s, ok := r.text(k, v); ok && s != m.Name {
			r.failAt(v, "name", "the name %q is not that of the file; leave it out, or call the file %s%s", s, s, Ext)
		}
	case "description":
		if s, ok := r.text(k, v); ok {
			if m.Description = strings.TrimSpace(s); m.Description == "" || strings.ContainsAny(m.Description, "\r\n") {
				r.failAt(v, "description", "want one line that tells a person what the mode is for")
			}
		}
	case "from":
		if s, ok := r.text(k, v); ok && r.oneOf(v, "from", s, bases) {
			m.From = s
		}
	case "tools":
		m.Tools = r.tools(v)
	case "permissions":
		r.rules(v)
	case "model":
		if s, ok := r.text(k, v); ok {
			provider, name, _ := strings.Cut(s, "/")
			if provider == "" || name == "" || strings.ContainsAny(s, " \t") {
				r.failAt(v, "model", "the model %q is not of the form PROVIDER/NAME, such as anthropic/NAME or ollama/NAME", s)
			}
			m.Model = s
		}
	case "effort":
		efforts := []string{string(model.Off), string(model.Low), string(model.Medium), string(model.High)}
		if v.ShortTag() == "!!bool" && v.Value == "off" {
			v.Tag = "!!str"
		}
		if s, ok := r.text(k, v); ok && r.oneOf(v, "effort", s, efforts) {
			m.Effort = model.Effort(s)
		}
	default:
		hint := "; keys here are " + strings.Join(keys, ", ")
		if near := schema.Nearest(k.Value, keys); near != "" {
			hint = fmt.Sprintf("; did you mean %s?", near)
		}
		r.failAt(k, k.Value, "a mode has no key of this name%s", hint)
	}
}

// text returns the text of a single value.
func (r *reader) text(k, v *yaml.Node) (string, bool) {
	if v.Kind != yaml.ScalarNode || v.Anchor != "" || v.ShortTag() == "!!null" {
		r.failAt(v, k.Value, "want a single value here")
		return "", false
	}
	return v.Value, true
}

func (r *reader) oneOf(v *yaml.Node, key, s string, of []string) bool {
	if slices.Contains(of, s) {
		return true
	}
	r.failAt(v, key, "%q is none of %s", s, strings.Join(of, ", "))
	return false
}

var toolPattern = regexp.MustCompile(`^[A-Za-z_*][A-Za-z0-9_*]{0,63}$`)

func (r *reader) tools(v *yaml.Node) []string {
	if v.Kind != yaml.SequenceNode {
		r.failAt(v, "tools", "want a list of names here, such as [read_file, grep]; leave the key out for all tools")
		return nil
	}
	out := []string{}
	for _, n := range v.Content {
		if n.Kind != yaml.ScalarNode || n.Anchor != "" || !toolPattern.MatchString(n.Value) {
			r.failAt(n, "tools", "%q is no name of a tool, with \"*\" for any characters", n.Value)
			continue
		}
		out = append(out, n.Value)
	}
	return out
}

func (r *reader) rules(v *yaml.Node) {
	rules, err := config.ReadRules(v, "permissions", r.origin)
	if err != nil {
		r.errs = append(r.errs, err)
		return
	}
	if len(rules) > 0 {
		project := r.file.Layer == config.LayerProject
		l := permission.Layer{Name: permission.Mode + " " + r.mode.Name, Rules: rules, Untrusted: project && !r.file.Trusted, Base: r.file.Base}
		if project {
			l.Name += " of the project"
		}
		r.mode.Layers = append(r.mode.Layers, l)
	}
}
