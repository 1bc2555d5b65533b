package dev

import (
	"context"
	"path"
	"slices"
	"strings"
)

// Capability is something that engines can do with files.
type Capability string

// The capabilities.
const (
	CanFormat Capability = "format" // give a file its canonical form
	CanLint   Capability = "lint"   // find what is questionable
	CanFix    Capability = "fix"    // lint, and repair what can be repaired safely
	CanCheck  Capability = "check"  // find what is wrong: syntax, types
)

// Capabilities returns every capability, in a fixed order.
func Capabilities() []Capability { return []Capability{CanFormat, CanLint, CanFix, CanCheck} }

// Engine does the work of steps. Implementations are safe for concurrent use, change nothing in the workspace, and
// return the same for the same job.
type Engine interface {
	// Info describes the engine. It does not change.
	Info() Info
	// Run does one job. A file that the engine cannot read (a syntax error) is a diagnostic; an error means that the
	// engine itself failed. An *Error keeps its hint, any other is given one.
	Run(ctx context.Context, job *Job) (*Report, error)
}

// Info describes an engine.
type Info struct {
	Name    string // short and unique in a pipeline: "gofmt"
	Version string
	Can     map[Capability]Ability
	// Config are base names of files that change what the engine finds. They are looked for in the folder of a file and in
	// every folder above it, up to the root.
	Config []string
	// Batch wants many files in one job. Otherwise each file is a job of its own, several at a time.
	Batch bool
}

// Ability says how an engine has a capability.
type Ability struct {
	Files []string // base-name globs of the files that it serves: "*.go", "Makefile"
	// Inputs are base-name globs of all files of the root on which a result may depend. None: what is found in a file
	// depends on that file and the configuration alone.
	Inputs []string
	// Commands are the command lines that the engine starts, without the names of files, as policy shall judge them.
	// None: it works in this process.
	Commands []string
}

// Serves reports whether the engine has the capability for a file.
func (i Info) Serves(c Capability, file string) bool {
	a, ok := i.Can[c]
	return ok && matches(a.Files, file)
}

// matches reports whether the base name of a file fits one of the globs.
func matches(globs []string, file string) bool {
	base := path.Base(file)
	return slices.ContainsFunc(globs, func(g string) bool {
		if ext, ok := strings.CutPrefix(g, "*"); ok && !strings.ContainsAny(ext, "*?[") {
			return strings.HasSuffix(base, ext) && len(base) > len(ext)
		}
		ok, err := path.Match(g, base)
		return ok && err == nil
	})
}

// Job is work for one engine.
type Job struct {
	Capability Capability
	Root       string // absolute path of the root on the host
	Files      []File // to work on, sorted by path
	// Overlay are the files of the root whose content is not what is on the disk, sorted by path: what a plan changed, or
	// the state before it. A nil Content is a file that is not there.
	Overlay []File
	// Config are the configuration files that were found for Files.
	Config []File
	// Inputs are the paths of all files of the root that fit the Inputs of the ability, sorted, those of Overlay included
	// where they exist.
	Inputs []string
}

// File is a file with its content.
type File struct {
	Path    string // relative to the root, with slashes
	Content []byte
}

// Report is what an engine found.
type Report struct {
	// Contents are new contents by path, of files that change (format, fix).
	Contents map[string][]byte
	// Diagnostics in files of the job, or of the root where the engine looks at all of it.
	Diagnostics []Diagnostic
}

// Detection says whether an engine is available here.
type Detection struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Where   string `json:"where,omitempty"`  // the program, "" for one that works in this process
	Reason  string `json:"reason,omitempty"` // why it is not available, with what to do; "" where it is
}
