package engine

import (
	"context"
	"errors"
	"go/scanner"

	"golang.org/x/tools/imports"

	"github.com/tackle-dev/tackle/dev"
)

// Goimports finds Go files whose imports are not sorted and grouped as goimports does, and repairs them. It stays within
// the file: imports that are missing or not used are what the compiler says, and adding them would need the go command.
type Goimports struct {
	// Format makes it a formatter too. A pipeline that wants it lists it before Gofmt, whose work it does as well.
	Format bool
}

// Info is described at dev.Engine.
func (g Goimports) Info() dev.Info {
	files := dev.Ability{Files: []string{"*.go"}}
	can := map[dev.Capability]dev.Ability{dev.CanLint: files, dev.CanFix: files}
	if g.Format {
		can[dev.CanFormat] = files
	}
	return dev.Info{Name: "goimports", Version: moduleVersion("golang.org/x/tools"), Can: can}
}

// Run is described at dev.Engine.
func (g Goimports) Run(ctx context.Context, job *dev.Job) (*dev.Report, error) {
	opt := &imports.Options{FormatOnly: true, Comments: true, TabIndent: true, TabWidth: 8}
	return each(job, func(f dev.File) ([]byte, []dev.Diagnostic, error) {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		out, err := imports.Process(f.Path, f.Content, opt)
		var syntax scanner.ErrorList
		switch {
		case errors.As(err, &syntax):
			return nil, goErrors("goimports", f.Path, err), nil
		case err != nil:
			return nil, nil, err
		case string(out) == string(f.Content):
			return nil, nil, nil
		case job.Capability == dev.CanLint:
			return nil, one(dev.Diagnostic{File: f.Path, Severity: dev.Warn, Code: "imports", Source: "goimports", Fix: true,
				Message: "the file is not formatted, or its imports are not sorted and grouped, as goimports does"}), nil
		}
		return out, nil, nil
	})
}
