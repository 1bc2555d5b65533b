package tackle

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/change"
	"github.com/tackle-dev/tackle/config"
	"github.com/tackle-dev/tackle/schema"
	"github.com/tackle-dev/tackle/tools/custom"
)

// toolsDir is the name of the folders that hold manifests of custom tools, beside the configuration files.
const toolsDir = "tools"

// customTools returns the tools that manifests of the person and of the project describe. What is wrong with one is a note: it
// takes no other tool away. A manifest of the project counts once the person has trusted it and the scripts beside it.
func (b *Box) customTools(taken []Tool) []Tool {
	if b.commands.runner == nil || b.cfg.NoFiles {
		return nil
	}
	var out []Tool
	for _, own := range []bool{true, false} { // the person's come first: a project takes no name of theirs
		for _, path := range b.manifests(own) {
			t, err := b.customTool(path, own)
			if err == nil {
				err = b.fits(path, t, slices.Concat(taken, out))
			}
			if err != nil {
				b.notes = append(b.notes, err.Error())
				continue
			}
			out = append(out, t)
		}
	}
	return out
}

// fits reports what keeps a custom tool off the list: a name that another has, by itself or by the configuration, and modes
// that there are none of.
func (b *Box) fits(path string, t Tool, taken []Tool) error {
	called := func(name string) string {
		if to := b.merged.Config.Tools[name].Name; to != "" {
			return to
		}
		return name
	}
	name := t.Definition().Name
	if slices.ContainsFunc(taken, func(o Tool) bool {
		other := o.Definition().Name
		return other == name || called(other) == called(name)
	}) {
		return fmt.Errorf("custom tool %s: there is a tool named %q already; give it another name", path, called(name))
	}
	if !slices.ContainsFunc(b.modes.For(name, t.Modes...), func(m string) bool {
		_, ok := b.modes.Get(m)
		return ok || slices.ContainsFunc(taken, func(o Tool) bool { return slices.Contains(o.Modes, m) })
	}) {
		var names []string
		for _, m := range b.modes.All() {
			names = append(names, m.Name)
		}
		return fmt.Errorf("custom tool %s: no mode lists it; modes are %s", path, strings.Join(names, ", "))
	}
	return nil
}

// manifests lists the manifests of the person, or of the project.
func (b *Box) manifests(own bool) []string {
	dir := ""
	if file := b.userFile(); own && file != "" {
		dir = filepath.Join(filepath.Dir(file), toolsDir)
	} else if !own && b.merged.ProjectDir != "" {
		dir = filepath.Join(b.merged.ProjectDir, ".tackle", toolsDir)
	}
	if dir == "" {
		return nil
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range list {
		if filepath.Ext(e.Name()) == custom.Ext && !strings.HasPrefix(e.Name(), ".") && !e.IsDir() {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// customTool makes the tool of a manifest.
func (b *Box) customTool(path string, own bool) (Tool, error) {
	data, err := readPlain(path)
	if err != nil {
		return Tool{}, fmt.Errorf("custom tool: %w", err)
	}
	trusted := func(path string, content []byte) bool {
		return own || b.trust().Trusted(config.TrustKey(path, content))
	}
	if !trusted(path, data) {
		return Tool{}, fmt.Errorf("custom tool %s is not used until the project is trusted (tackle config --trust)", path)
	}
	m, err := custom.Parse(path, data)
	if err != nil {
		return Tool{}, err
	}
	for _, a := range m.Command {
		// It would be one of the working folder, which nobody has looked at.
		if !filepath.IsAbs(a) && filepath.IsLocal(a) && !strings.HasPrefix(a, "./") {
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), a)); err == nil {
				return Tool{}, fmt.Errorf("custom tool %s: command names %q, which lies beside the manifest and is looked for elsewhere: write ./%s", path, a, a)
			}
		}
	}
	digests := map[string]change.Digest{}
	for _, script := range m.Scripts() {
		data, err := readPlain(script)
		switch {
		case err != nil:
			return Tool{}, fmt.Errorf("custom tool %s: %w", path, err)
		case !trusted(script, data):
			return Tool{}, fmt.Errorf("custom tool %s is not used until %s is trusted as it is now (tackle config --trust)", path, script)
		}
		digests[script] = change.Sum(data)
	}
	t := custom.New(m, custom.Config{Runner: b.commands.runner, Getenv: os.LookupEnv, Digests: digests})
	for _, f := range schema.Lint(t.Definition().Def()) {
		if f.Severity == schema.Error {
			return Tool{}, fmt.Errorf("custom tool %s: schema: %s", path, f)
		}
	}
	b.programs = append(b.programs, m.Scripts()...)
	return Tool{Tool: t, Modes: m.Modes}, nil
}

// customFiles are the manifests of the project and the scripts beside them.
func (b *Box) customFiles() []string {
	var out []string
	for _, path := range b.manifests(false) {
		out = append(out, path)
		data, err := readPlain(path)
		if err != nil {
			continue
		}
		if m, err := custom.Parse(path, data); err == nil {
			out = append(out, m.Scripts()...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// NewTool writes a manifest, its script and a test of it into the project's folder of tools, or the person's, and returns
// the paths. Nothing that exists is written over.
func (b *Box) NewTool(name string, own bool) ([]string, error) {
	if err := custom.CheckName(name); err != nil {
		return nil, err
	}
	dir := ""
	switch file := b.userFile(); {
	case own && file != "":
		dir = filepath.Dir(file)
	case !own && b.merged.ProjectDir != "":
		dir = filepath.Join(b.merged.ProjectDir, ".tackle")
	case !own:
		dir = filepath.Join(b.cfg.Dir, ".tackle")
	default:
		return nil, errors.New("there is no folder for the person's configuration here")
	}
	dir = filepath.Join(dir, toolsDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	files := custom.Scaffold(name)
	var out []string
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if _, err := os.Lstat(path); err == nil {
			return nil, fmt.Errorf("%s exists; choose another name, or remove it", path)
		}
		out = append(out, path)
	}
	for i, f := range files {
		if err := os.WriteFile(out[i], []byte(f.Content), f.Mode); err != nil {
			return out[:i], err
		}
	}
	return out, nil
}
