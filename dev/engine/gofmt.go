package engine

import (
	"context"
	"errors"
	"go/format"
	"go/parser"
	"go/scanner"
	"go/token"
	"runtime"

	"github.com/tackle-dev/tackle/dev"
)

// Gofmt formats Go files as the gofmt of this program's Go release does, and checks their syntax.
type Gofmt struct{}

// Info is described at dev.Engine.
func (Gofmt) Info() dev.Info {
	files := dev.Ability{Files: []string{"*.go"}}
	return dev.Info{Name: "gofmt", Version: runtime.Version(), Can: map[dev.Capability]dev.Ability{dev.CanFormat: files, dev.CanCheck: files}}
}

// Run is described at dev.Engine.
func (Gofmt) Run(ctx context.Context, job *dev.Job) (*dev.Report, error) {
	return each(job, func(f dev.File) ([]byte, []dev.Diagnostic, error) {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		// format.Source takes a piece of a file for a program; a file has to begin with its package.
		_, err := parser.ParseFile(token.NewFileSet(), f.Path, f.Content, parser.PackageClauseOnly)
		if job.Capability == dev.CanFormat && err == nil {
			out, err := format.Source(f.Content)
			return out, goErrors("gofmt", f.Path, err), nil
		}
		_, err = parser.ParseFile(token.NewFileSet(), f.Path, f.Content, parser.SkipObjectResolution)
		return nil, goErrors("gofmt", f.Path, err), nil
	})
}

// goErrors turns the errors of Go's parser into diagnostics.
func goErrors(source, file string, err error) []dev.Diagnostic {
	var list scanner.ErrorList
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &list):
		return one(dev.Diagnostic{File: file, Severity: dev.Err, Code: "syntax", Source: source, Message: err.Error()})
	}
	var out []dev.Diagnostic
	for _, e := range list {
		out = append(out, dev.Diagnostic{File: file, Range: dev.At(e.Pos.Line, e.Pos.Column), Severity: dev.Err, Code: "syntax", Source: source, Message: e.Msg})
	}
	return out
}
