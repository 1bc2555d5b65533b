package program

import (
	"context"
	"encoding/json"
	"io"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/dev"
	"github.com/tackle-dev/tackle/host"
)

// Found is a program that was found.
type Found struct {
	Argv    []string // how to start it
	Shown   string   // the same in short, as policy judges it
	Version string
	Links   []string // see Command.Links
	Where   string   // its path
}

// Place is where programs are looked for. Nothing is started to find them.
type Place struct {
	Host host.Host
	Root string   // of the project
	Path []string // absolute folders that hold the machine's own programs
}

// Engines finds every engine of this package, in the order in which they are preferred.
func (p Place) Engines(ctx context.Context, r Runner, w Workshop) (engines []dev.Engine, detected []dev.Detection) {
	add := func(name string, find func(context.Context) (Found, string), make func(Found) dev.Engine) {
		f, why := find(ctx)
		detected = append(detected, dev.Detection{Name: name, Version: f.Version, Where: f.Where, Reason: why})
		if why == "" {
			engines = append(engines, make(f))
		}
	}
	add("govet", p.FindGo, func(f Found) dev.Engine { return &GoVet{Found: f, Runner: r, Workshop: w} })
	add("biome", p.FindBiome, func(f Found) dev.Engine { return Biome(f, r, w) })
	add("typescript", p.FindTypeScript, func(f Found) dev.Engine { return TypeScript(f, r, w) })
	return engines, detected
}

// FindBiome finds the project's own Biome: the program for this machine, which needs no node.
func (p Place) FindBiome(ctx context.Context) (f Found, why string) {
	f.Version = p.packageVersion(ctx, "@biomejs/biome")
	if f.Version == "" {
		return f, "not among the project's packages; npm install --save-dev --save-exact @biomejs/biome brings it"
	}
	if !atLeast(f.Version, 2, 4) {
		return f, "version " + f.Version + " is too old: 2.4 or later prints what it finds in a form that is read here"
	}
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	for _, name := range []string{"cli-" + runtime.GOOS + "-" + arch, "cli-" + runtime.GOOS + "-" + arch + "-musl"} {
		at := filepath.Join(p.Root, "node_modules", "@biomejs", name, "biome")
		if p.isFile(ctx, at) {
			f.Argv, f.Shown, f.Where, f.Links = []string{at}, "node_modules/.bin/biome", at, []string{"node_modules"}
			return f, ""
		}
	}
	return f, "its package has no program for " + runtime.GOOS + "/" + runtime.GOARCH + "; install the project's packages again"
}

// FindTypeScript finds the project's own compiler, and the node that runs it.
func (p Place) FindTypeScript(ctx context.Context) (f Found, why string) {
	f.Version = p.packageVersion(ctx, "typescript")
	at := filepath.Join(p.Root, "node_modules", "typescript", "bin", "tsc")
	switch {
	case f.Version == "" || !p.isFile(ctx, at):
		return f, "not among the project's packages; npm install --save-dev typescript brings it"
	case !p.isFile(ctx, filepath.Join(p.Root, "tsconfig.json")):
		return f, "there is no tsconfig.json in the root, so it is not known what belongs to the project"
	}
	node, ok := p.onPath(ctx, "node")
	if !ok {
		return f, "node, which runs it, is not on the path"
	}
	f.Argv, f.Shown, f.Where, f.Links = []string{node, at}, "node_modules/.bin/tsc", at, []string{"node_modules"}
	return f, ""
}

// FindGo finds the go command of the machine.
func (p Place) FindGo(ctx context.Context) (f Found, why string) {
	at, ok := p.onPath(ctx, "go")
	if !ok {
		return f, "the go command is not on the path"
	}
	f.Argv, f.Shown, f.Where = []string{at}, "go vet", at
	if real, err := p.Host.Resolve(ctx, "", at); err == nil {
		version := p.read(ctx, filepath.Join(filepath.Dir(filepath.Dir(real.Real)), "VERSION"))
		f.Version, _, _ = strings.Cut(string(version), "\n")
	}
	return f, ""
}

func (p Place) onPath(ctx context.Context, name string) (string, bool) {
	for _, dir := range p.Path {
		if at := filepath.Join(dir, name); filepath.IsAbs(dir) && p.isFile(ctx, at) {
			return at, true
		}
	}
	return "", false
}

func (p Place) isFile(ctx context.Context, at string) bool {
	real, err := p.Host.Resolve(ctx, "", at)
	if err != nil {
		return false
	}
	info, err := p.Host.Stat(ctx, real.Real)
	return err == nil && info.Type == change.File
}

// packageVersion reads the version of an installed npm package, "" where it is not there.
func (p Place) packageVersion(ctx context.Context, name string) string {
	var pkg struct{ Version string }
	data := p.read(ctx, filepath.Join(p.Root, "node_modules", filepath.FromSlash(path.Clean(name)), "package.json"))
	if json.Unmarshal(data, &pkg) != nil {
		return ""
	}
	return pkg.Version
}

func (p Place) read(ctx context.Context, at string) []byte {
	real, err := p.Host.Resolve(ctx, "", at)
	if err != nil {
		return nil
	}
	f, err := p.Host.Open(ctx, real.Real)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return nil
	}
	return data
}

func atLeast(version string, major, minor int) bool {
	var a, b int
	for i, part := range strings.SplitN(version, ".", 3) {
		n := 0
		for _, c := range part {
			if c < '0' || c > '9' {
				break
			}
			n = 10*n + int(c-'0')
		}
		switch i {
		case 0:
			a = n
		case 1:
			b = n
		}
	}
	return a > major || a == major && b >= minor
}
