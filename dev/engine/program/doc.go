// Package program holds the engines of the dev pipeline that are programs: any command with a problem matcher, SARIF or
// RDJSON ([Command]), Biome, TypeScript and go vet. One engine, one file.
//
// A program that rewrites files never sees the workspace: it gets a folder with copies of the files that it shall work on
// and of its configuration, and what it made of those copies is what the pipeline proposes. Whatever else it writes
// there is gone with the folder. A program that only looks may run in the root, where the plan has changed nothing; else
// it gets a copy of all of its inputs.
//
// Finding programs starts none of them: where a project brings its own, what they do is not known before somebody has
// allowed them to run. Versions are read from files.
package program

import (
	"context"
	"time"
)

// Runner starts programs where the files are, and ends the whole tree of one that is out of time.
type Runner interface {
	// Run waits for the end of the program, or of ctx. A program that fails is no error; one that cannot be started is, with
	// io/fs.ErrNotExist where it is not there.
	Run(ctx context.Context, s Start) (End, error)
}

// Start says what to run.
type Start struct {
	Argv  []string
	Dir   string            // absolute
	Env   map[string]string // beside the runner's own
	Limit time.Duration     // of time
}

// End says how a program ended.
type End struct {
	Stdout, Stderr []byte
	Code           int    // exit status, -1 where a signal ended it
	Signal         string // that ended it, or ""
	TimedOut       bool
	Cut            bool // more was printed than is kept
}

// MaxOutput is how many bytes of each stream a runner keeps at most.
const MaxOutput = 32 << 20

// Workshop makes folders outside of every root, in which programs work on copies.
type Workshop func(ctx context.Context) (Folder, error)

// Folder is a folder of a workshop. Paths are relative to it, with slashes.
type Folder interface {
	Dir() string
	// Put makes a file, and the folders above it.
	Put(path string, content []byte) error
	// Copy makes a copy of a file that lies elsewhere, by its absolute path.
	Copy(path, from string) error
	// Link makes a symbolic link to something elsewhere.
	Link(path, to string) error
	// Get reads a file. It errs with io/fs.ErrNotExist where none is there, and for anything but a regular file.
	Get(path string, limit int64) ([]byte, error)
	Close() error
}
