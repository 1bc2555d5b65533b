// Package engine holds the engines of the dev pipeline that work in this process: gofmt, goimports, shfmt, and checkers
// of JSON, YAML and TOML. They start no program and read nothing but the contents that they are handed, so they are
// always available; programs are engines of package program below. One engine, one file.
//
//	p, err := dev.New(dev.Config{…, Engines: engine.All()})
package engine

import (
	"runtime/debug"

	"github.com/tackle-dev/tackle/dev"
)

// All returns every engine of this package in the order in which they are preferred, with their default options.
func All() []dev.Engine {
	return []dev.Engine{Gofmt{}, Goimports{}, Shfmt{}, JSON{}, YAML{}, TOML{}}
}

// moduleVersion returns the version of a module that this program was built with, or "".
func moduleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return ""
}

// each makes a report of what a function finds in each file of a job.
func each(job *dev.Job, f func(file dev.File) (content []byte, found []dev.Diagnostic, err error)) (*dev.Report, error) {
	r := &dev.Report{Contents: map[string][]byte{}}
	for _, file := range job.Files {
		content, found, err := f(file)
		if err != nil {
			return nil, err
		}
		if content != nil && string(content) != string(file.Content) {
			r.Contents[file.Path] = content
		}
		r.Diagnostics = append(r.Diagnostics, found...)
	}
	return r, nil
}

// one is a single diagnostic.
func one(d dev.Diagnostic) []dev.Diagnostic { return []dev.Diagnostic{d} }
