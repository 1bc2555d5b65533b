package engine

import (
	"context"
	"errors"

	"github.com/BurntSushi/toml"

	"github.com/tackle-dev/tackle/dev"
)

// TOML checks the syntax of TOML files.
type TOML struct{}

// Info is described at dev.Engine.
func (TOML) Info() dev.Info {
	return dev.Info{Name: "toml", Version: moduleVersion("github.com/BurntSushi/toml"), Can: map[dev.Capability]dev.Ability{dev.CanCheck: {Files: []string{"*.toml"}}}}
}

// Run is described at dev.Engine.
func (TOML) Run(ctx context.Context, job *dev.Job) (*dev.Report, error) {
	return each(job, func(f dev.File) ([]byte, []dev.Diagnostic, error) {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		var v map[string]any
		err := toml.Unmarshal(f.Content, &v)
		if err == nil {
			return nil, nil, nil
		}
		d := dev.Diagnostic{File: f.Path, Severity: dev.Err, Code: "syntax", Source: "toml", Message: err.Error()}
		var parse toml.ParseError
		if errors.As(err, &parse) {
			d.Range, d.Message = dev.At(parse.Position.Line, parse.Position.Col), parse.Message
			if d.Message == "" {
				d.Message = parse.Error()
			}
		}
		return nil, one(d), nil
	})
}
