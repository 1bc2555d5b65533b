package tackle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tackle-dev/tackle/config"
	"github.com/tackle-dev/tackle/config/mode"
	"github.com/tackle-dev/tackle/schema"
)

// Mode is a named set of tools, rules and a prompt.
type Mode = mode.Mode

// modesDir is the name of the folders that hold modes, beside the configuration files.
const modesDir = "modes"

// loadModes reads the files of modes as they are now. What an agent makes of them meanwhile counts when the next box is opened.
func (b *Box) loadModes() error {
	files := mode.BuiltIn()
	var errs []error
	if !b.cfg.NoFiles {
		for _, path := range b.modeFiles(b.userModes(), &errs) {
			data, err := readPlain(path)
			files, errs = append(files, mode.File{Layer: config.LayerUser, Path: path, Data: data}), append(errs, err)
		}
		for _, path := range b.modeFiles(b.projectModes(), &errs) {
			data, err := readPlain(path)
			files, errs = append(files, mode.File{Layer: config.LayerProject, Path: path, Data: data, Base: b.merged.ProjectDir,
				Trusted: b.trust().Trusted(modeKey(path)(data))}), append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	var err error
	if b.modes, err = mode.Join(files...); err != nil {
		return err
	}
	for _, m := range b.modes.All() {
		b.notes = append(b.notes, m.Notes...)
	}
	return nil
}

// userModes returns the folder of the person's modes, projectModes that of the project's.
func (b *Box) userModes() string {
	if file := b.userFile(); file != "" {
		return filepath.Join(filepath.Dir(file), modesDir)
	}
	return ""
}

func (b *Box) projectModes() string {
	if b.merged.ProjectDir == "" || b.cfg.NoFiles {
		return ""
	}
	return filepath.Join(b.merged.ProjectDir, ".tackle", modesDir)
}

// modeFiles lists the files of modes in a folder, which need not exist.
func (b *Box) modeFiles(dir string, errs *[]error) []string {
	if dir == "" {
		return nil
	}
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		*errs = append(*errs, fmt.Errorf("modes: %w", err))
	}
	var out []string
	for _, e := range list {
		if strings.HasSuffix(e.Name(), mode.Ext) && !strings.HasPrefix(e.Name(), ".") && !e.IsDir() {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// modeKey names a project's mode at a path with some content, for the list of what is trusted.
func modeKey(path string) func(content []byte) string {
	return func(content []byte) string { return config.TrustKey(path, content) }
}

// Mode returns a mode by its name; "" is the box's own. Of a mode that only a program's tools name, nothing but the name is
// known.
func (b *Box) Mode(name string) (Mode, error) {
	if name == "" {
		name = b.Env().Mode
	}
	if m, ok := b.modes.Get(name); ok {
		return m, nil
	}
	if slices.Contains(b.Modes(), name) {
		return Mode{Name: name, From: name, Origin: config.Origin{Layer: config.LayerProgram}}, nil
	}
	return Mode{}, b.modes.Unknown(name, b.Modes()...)
}

// AllModes returns every mode: built-in names first, then the others.
func (b *Box) AllModes() []Mode {
	out := b.modes.All()
	for _, name := range b.Modes() {
		if !slices.ContainsFunc(out, func(m Mode) bool { return m.Name == name }) {
			m, _ := b.Mode(name)
			out = append(out, m)
		}
	}
	return out
}

// checkModes notes the tools that files of people name and that are not here: a mode with a name that is misspelt has less
// than it says.
func (b *Box) checkModes(tools []Tool) {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Definition().Name
	}
	for _, m := range b.modes.All() {
		if m.Origin.Layer == config.LayerBuiltIn {
			continue
		}
		for _, p := range m.Tools {
			if strings.Contains(p, "*") || slices.Contains(names, p) {
				continue
			}
			note := fmt.Sprintf("%s lists the tool %q, which is not here", m.Origin, p)
			if near := schema.Nearest(p, names); near != "" {
				note += fmt.Sprintf("; did you mean %s?", near)
			}
			b.notes = append(b.notes, note)
		}
	}
}
