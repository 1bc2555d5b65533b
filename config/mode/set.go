package mode

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/config"
	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/schema"
)

//go:embed builtin/*.md
var builtin embed.FS

// order is that of the built-in modes in lists; others follow by name.
var order = []string{Code, "plan", "build", "debug", "research", "explore", Dev}

// BuiltIn returns the files of the built-in modes.
func BuiltIn() []File {
	var out []File
	for _, name := range order {
		data, err := fs.ReadFile(builtin, path.Join("builtin", name+Ext))
		if err != nil {
			panic(err) // of the embedded files, which a test reads
		}
		out = append(out, File{Layer: config.LayerBuiltIn, Path: name + Ext, Data: data})
	}
	return out
}

// Set is the modes of a deployment. It is immutable and safe for concurrent use.
type Set struct{ modes map[string]*Mode }

// Join reads files and returns the modes that they are together: built-in ones first, then the person's, then the project's,
// whatever their order. The error joins every mistake of every file; there is no set then.
func Join(files ...File) (*Set, error) {
	s := &Set{modes: map[string]*Mode{}}
	var errs []error
	for _, layer := range []string{config.LayerBuiltIn, config.LayerUser, config.LayerProject} {
		for _, f := range files {
			if f.Layer != layer {
				continue
			}
			m, err := Parse(f)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			s.add(m, f)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Set) add(m Mode, f File) {
	old := s.modes[m.Name]
	if f.Layer != config.LayerProject {
		s.modes[m.Name] = &m
		return
	}
	if f.Trusted {
		if old != nil {
			m.Layers = slices.Concat(old.Layers, m.Layers)
		}
		s.modes[m.Name] = &m
		return
	}
	if old != nil {
		old.Layers = append(old.Layers, m.Layers...)
		old.Notes = append(old.Notes, fmt.Sprintf("of %s only rules that tighten count until the project is trusted (tackle config --trust): a mode %q exists already", f.Path, m.Name))
		return
	}
	if m.Model != "" {
		m.Model = ""
		m.Notes = append(m.Notes, fmt.Sprintf("the model that %s names does not count until the project is trusted (tackle config --trust)", f.Path))
	}
	s.modes[m.Name] = &m
}

// Get returns a mode by its name.
func (s *Set) Get(name string) (Mode, bool) {
	m, ok := s.modes[name]
	if !ok {
		return Mode{}, false
	}
	return *m, true
}

// All returns the modes: built-in names first, then the others by name.
func (s *Set) All() []Mode {
	var out []Mode
	for _, name := range s.Names() {
		out = append(out, *s.modes[name])
	}
	return out
}

// Names returns the names of the modes in the order of All.
func (s *Set) Names() []string {
	var out []string
	for _, name := range order {
		if s.modes[name] != nil {
			out = append(out, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.modes)) {
		if !slices.Contains(order, name) {
			out = append(out, name)
		}
	}
	return out
}

// Layers returns the rules of the modes in the form that a gate takes.
func (s *Set) Layers() map[string][]permission.Layer {
	out := map[string][]permission.Layer{}
	for name, m := range s.modes {
		if len(m.Layers) > 0 {
			out[name] = m.Layers
		}
	}
	return out
}

// For returns the names of the modes that list a tool which is registered for the given modes, those included.
func (s *Set) For(tool string, registered ...string) []string {
	out := []string{}
	for _, name := range registered {
		if m := s.modes[name]; m == nil || m.Has(tool) {
			out = append(out, name)
		}
	}
	for _, name := range s.Names() {
		m := s.modes[name]
		if !slices.Contains(registered, name) && slices.Contains(registered, m.From) && m.Has(tool) {
			out = append(out, name)
		}
	}
	return out
}

// Unknown is the error for a name that no mode has. more are names that count beside those of the set.
func (s *Set) Unknown(name string, more ...string) error {
	names := s.Names()
	for _, n := range more {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	hint := ""
	if near := schema.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %s? ", near)
	}
	return fmt.Errorf("there is no mode %q; %smodes are %s", name, hint, strings.Join(names, ", "))
}
