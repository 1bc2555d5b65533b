package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tackle-dev/tackle/internal/clip"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

// Options say where configuration comes from. The zero value reads the person's file, the project around the current
// folder, and the environment.
type Options struct {
	Dir      string // where the search for a project begins, and what relative flags are relative to; default the current folder
	UserFile string // default $XDG_CONFIG_HOME/tackle/config.yaml or ~/.config/tackle/config.yaml; a file that is named here must exist
	NoFiles  bool   // read no files
	Flags    []Flag // strongest, the last of one path wins
	// Trusted reports whether the person has trusted a project's file, by its TrustKey. Nil: no project is trusted.
	Trusted func(key string) bool

	Env      func(name string) (string, bool)  // default os.LookupEnv
	ReadFile func(path string) ([]byte, error) // default os.ReadFile
	Exists   func(path string) bool            // default: os.Lstat finds it
	Resolve  func(path string) (string, error) // follows links; default filepath.EvalSymlinks
}

// Flag is a setting from a command line: its path ("output.lines", "tools.grep.enabled") and its value; a list has
// several.
type Flag struct {
	Path   string
	Values []string
}

// Merged is the configuration with its origins.
type Merged struct {
	// Config is what all layers say together. Its Rules are empty: rules do not merge, see Layers.
	Config  Config
	Layers  []permission.Layer // the rules, one layer for each file that has any
	Origins map[string]Origin  // by path: "mode", "roots[0]", "tools.grep.name"; what is missing has its default
	Ignored []Ignored          // what a project says that does not count
	Files   []File             // that were read
	// ProjectDir is the folder that holds .tackle (resolved), else the top of the repository around Dir, else Dir. Patterns
	// of a project's rules are relative to it.
	ProjectDir string
}

// Ignored is a setting that does not count.
type Ignored struct {
	Path   string `json:"path"`
	Origin Origin `json:"origin"`
	Reason string `json:"reason"`
}

// File is a configuration file that was read.
type File struct {
	Layer   string `json:"layer"`
	Path    string `json:"path"`
	Key     string `json:"key,omitempty"` // of the project's file, for Trust
	Trusted bool   `json:"trusted"`
}

// Of wraps a configuration that was written in Go: its rules are the person's.
func Of(c Config) Merged {
	m := Merged{Config: c, Origins: map[string]Origin{}}
	if len(c.Rules) > 0 {
		m.Layers = []permission.Layer{{Name: LayerUser, Rules: slices.Clone(c.Rules)}}
		m.Config.Rules = nil
	}
	if len(c.Roots) > 0 {
		m.ProjectDir = c.Roots[0]
	}
	return m
}

// Load reads and merges all layers. Errors are *[Error] and *[permission.RuleError], joined, one for each mistake, and
// those of reading files; the Merged is then empty, and a caller that has one keeps it.
func Load(ctx context.Context, o Options) (Merged, error) {
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	if o.ReadFile == nil {
		o.ReadFile = os.ReadFile
	}
	if o.Exists == nil {
		o.Exists = func(path string) bool { _, err := os.Lstat(path); return err == nil }
	}
	if o.Resolve == nil {
		o.Resolve = filepath.EvalSymlinks
	}
	if o.Dir == "" {
		dir, err := os.Getwd()
		if err != nil {
			return Merged{}, fmt.Errorf("config: %w", err)
		}
		o.Dir = dir
	}
	if !filepath.IsAbs(o.Dir) {
		return Merged{}, fmt.Errorf("config: the folder %q is not absolute", o.Dir)
	}
	l := loader{Options: o, merged: &Merged{Origins: map[string]Origin{}}}
	l.home, _ = o.Env("HOME")
	for _, step := range []func(){l.user, l.project, l.environment, l.flags} {
		if err := ctx.Err(); err != nil {
			return Merged{}, err
		}
		step()
	}
	if err := errors.Join(l.errs...); err != nil {
		return Merged{}, err
	}
	return *l.merged, nil
}

type loader struct {
	Options
	merged *Merged
	home   string
	errs   []error
}

// user reads the person's file.
func (l *loader) user() {
	if l.NoFiles {
		return
	}
	path := l.UserFile
	if path == "" {
		path = UserFile(l.Env)
	}
	if path == "" {
		return
	}
	data, err := l.ReadFile(path)
	if err != nil {
		if l.UserFile != "" || !errors.Is(err, fs.ErrNotExist) {
			l.errs = append(l.errs, fmt.Errorf("config: %w", err))
		}
		return
	}
	l.merged.Files = append(l.merged.Files, File{Layer: LayerUser, Path: path, Trusted: true})
	l.read(decoder{origin: Origin{Layer: LayerUser, File: path}, env: l.Env}, data)
}

// UserFile returns the place of the person's file, or "" where neither XDG_CONFIG_HOME nor HOME says one.
func UserFile(env func(string) (string, bool)) string {
	if dir, _ := env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "tackle", "config.yaml")
	}
	if home, _ := env("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".config", "tackle", "config.yaml")
	}
	return ""
}

// projectFile is the place of a project's file below its folder.
var projectFile = filepath.Join(".tackle", "config.yaml")

// project reads the file of the project around Dir: the nearest one from Dir up to the top of the repository. Without a
// repository only Dir itself counts, so that nobody else's folder above decides anything.
func (l *loader) project() {
	l.merged.ProjectDir = l.Dir
	if l.NoFiles {
		return
	}
	top := l.Dir
	for dir := l.Dir; ; dir = filepath.Dir(dir) {
		if l.Exists(filepath.Join(dir, ".git")) {
			top = dir
			break
		}
		if filepath.Dir(dir) == dir {
			break
		}
	}
	l.merged.ProjectDir = top
	for dir := l.Dir; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, projectFile)
		data, err := l.ReadFile(path)
		switch {
		case err == nil:
			l.projectFile(dir, path, data)
			return
		case !errors.Is(err, fs.ErrNotExist) && l.Exists(filepath.Dir(path)):
			l.errs = append(l.errs, fmt.Errorf("config: %w", err))
			return
		case dir == top:
			return
		}
	}
}

func (l *loader) projectFile(dir, path string, data []byte) {
	dir, err := l.Resolve(dir)
	if err != nil {
		l.errs = append(l.errs, fmt.Errorf("config: %w", err))
		return
	}
	key := TrustKey(dir, data)
	trusted := l.Trusted != nil && l.Trusted(key)
	l.merged.ProjectDir = dir
	l.merged.Files = append(l.merged.Files, File{Layer: LayerProject, Path: path, Key: key, Trusted: trusted})
	d := decoder{origin: Origin{Layer: LayerProject, File: path}, base: dir, untrusted: !trusted}
	if trusted {
		d.env = l.Env
	}
	l.read(d, data)
}

func (l *loader) read(d decoder, data []byte) {
	d.merged, d.home = l.merged, l.home
	d.file(data)
	l.errs = append(l.errs, d.errs...)
	if len(d.rules) == 0 {
		return
	}
	layer := permission.Layer{Name: d.origin.Layer, Rules: d.rules, Untrusted: d.untrusted, Base: d.base}
	if err := permission.Check(layer); err != nil {
		l.errs = append(l.errs, err)
		return
	}
	l.merged.Layers = append(l.merged.Layers, layer)
}

// environment reads TACKLE_ variables: one for each setting that is not below a name ("output.lines" is
// TACKLE_OUTPUT_LINES). The parts of a list are separated as in PATH. An empty variable counts as unset.
func (l *loader) environment() {
	for _, s := range settings(Config{}) {
		name := Variable(s.path)
		value, _ := l.Env(name)
		if value == "" {
			continue
		}
		values := []string{value}
		if s.list {
			values = filepath.SplitList(value)
		}
		l.set(decoder{origin: Origin{Layer: LayerEnvironment, Name: name}, secrets: true}, s.path, values)
	}
}

// Variable returns the environment variable of a setting.
func Variable(path string) string {
	return "TACKLE_" + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

func (l *loader) flags() {
	for _, f := range l.Flags {
		l.set(decoder{origin: Origin{Layer: LayerFlags, Name: f.Path}, env: l.Env}, f.Path, f.Values)
	}
}

// set makes one setting by its path.
func (l *loader) set(d decoder, path string, values []string) {
	d.merged, d.home, d.base = l.merged, l.home, l.Dir
	parts := strings.Split(path, ".")
	n := node(reflect.TypeFor[Config](), parts, values)
	if strings.HasPrefix(path, "rules") {
		d.fail(&yaml.Node{}, path, "rules stand in files")
	} else {
		d.value(n, reflect.ValueOf(&l.merged.Config).Elem(), field{}, 0)
	}
	l.errs = append(l.errs, d.errs...)
}

// node builds what a file would hold for a setting. t is the type at the path so far, for telling lists.
func node(t reflect.Type, parts, values []string) *yaml.Node {
	if len(parts) > 0 {
		var next reflect.Type
		switch t.Kind() {
		case reflect.Struct:
			for sf := range t.Fields() {
				if key(sf) == parts[0] {
					next = sf.Type
				}
			}
		case reflect.Map:
			next = t.Elem()
		}
		if next == nil {
			next = reflect.TypeFor[string]()
		}
		return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{
			{Kind: yaml.ScalarNode, Tag: "!!str", Value: parts[0]}, node(next, parts[1:], values)}}
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for _, v := range values {
		list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v})
	}
	if t.Kind() == reflect.Slice || len(values) != 1 {
		return list
	}
	return list.Content[0]
}

// ToolEnvironment returns what tools get to know (T9).
func (m Merged) ToolEnvironment() tool.Environment {
	c := m.Config
	e := tool.Environment{Name: c.Environment, Mode: c.Mode, Project: tool.Project{ID: c.Project.ID, Name: c.Project.Name}}
	e.Workspace = tool.Workspace{ProjectDir: m.ProjectDir, CacheDir: c.CacheDir, WorkspaceDir: m.ProjectDir}
	if len(c.Roots) > 0 {
		e.Workspace.WorkspaceDir, e.Workspace.Roots = c.Roots[0], slices.Clone(c.Roots[1:])
	}
	e.Services.Google.CSE = tool.CSE{APIKey: c.Services.Google.CSE.APIKey, EngineID: c.Services.Google.CSE.EngineID}
	return e
}

// Bounds returns the shared output limit in the form that tools and the toolbox use.
func (m Merged) Bounds() tool.Bounds {
	return clip.Limits{Lines: m.Config.Output.Lines, Bytes: int(m.Config.Output.Bytes)}
}

// Disabled returns the names of the tools that are switched off, sorted.
func (m Merged) Disabled() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(m.Config.Tools)) {
		if on := m.Config.Tools[name].Enabled; on != nil && !*on {
			out = append(out, name)
		}
	}
	return out
}
