package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tackle-dev/tackle/dev"
)

// YAML checks the syntax of YAML files, every document of them, and keys that stand twice.
type YAML struct{}

// Info is described at dev.Engine.
func (YAML) Info() dev.Info {
	return dev.Info{Name: "yaml", Version: moduleVersion("go.yaml.in/yaml/v3"), Can: map[dev.Capability]dev.Ability{dev.CanCheck: {Files: []string{"*.yaml", "*.yml"}}}}
}

// Run is described at dev.Engine.
func (YAML) Run(ctx context.Context, job *dev.Job) (*dev.Report, error) {
	return each(job, func(f dev.File) ([]byte, []dev.Diagnostic, error) {
		var out []dev.Diagnostic
		dec := yaml.NewDecoder(bytes.NewReader(f.Content))
		for {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			var n yaml.Node
			err := dec.Decode(&n)
			if errors.Is(err, io.EOF) {
				return nil, out, nil
			}
			if err != nil {
				return nil, append(out, yamlError(f.Path, err)), nil
			}
			out = append(out, sameKeys(f.Path, &n)...)
		}
	})
}

var yamlLine = regexp.MustCompile(`^line (\d+): `)

// yamlError reads the line out of the library's message: it has no other form.
func yamlError(file string, err error) dev.Diagnostic {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	d := dev.Diagnostic{File: file, Severity: dev.Err, Code: "syntax", Source: "yaml"}
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		line, _ := strconv.Atoi(m[1]) // digits
		d.Range, msg = dev.At(line, 0), msg[len(m[0]):]
	}
	d.Message = msg
	return d
}

// sameKeys finds mappings that have a plain key twice.
func sameKeys(file string, n *yaml.Node) []dev.Diagnostic {
	var out []dev.Diagnostic
	if n.Kind == yaml.MappingNode {
		seen := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := n.Content[i]
			if k.Kind != yaml.ScalarNode || k.Tag == "!!merge" {
				continue
			}
			if id := k.Tag + " " + k.Value; seen[id] {
				out = append(out, dev.Diagnostic{File: file, Range: dev.At(k.Line, k.Column), Severity: dev.Err, Code: "duplicate", Source: "yaml",
					Message: "the key " + strconv.Quote(k.Value) + " stands twice in one mapping"})
			} else {
				seen[id] = true
			}
		}
	}
	for _, c := range n.Content {
		out = append(out, sameKeys(file, c)...)
	}
	return out
}
