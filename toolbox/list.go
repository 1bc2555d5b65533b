package toolbox

import (
	"maps"
	"slices"

	"github.com/tackle-dev/tackle/tool"
)

// View selects a list of tools. It is a function of deployment, mode, model and request, never of a connection.
type View struct {
	Mode    string
	Model   string          // "" matches every tool
	Overlay map[string]bool // per-request booleans; false hides
}

// Hider is a Gate that can also take tools out of a list (P3, third layer).
type Hider interface {
	// Hidden reports whether no call of the permission could ever pass in the mode, and which rule says so.
	Hidden(permission, mode string) (hidden bool, by string)
}

// Screener is a Gate that can also judge single targets, for listings and searches: what it does not allow is not shown.
type Screener interface {
	Screen(req GateRequest) func(tool.Target) tool.Verdict
}

// Tools returns the definitions that a model sees in the view, in the order of registration.
func (b *Box) Tools(v View) []tool.Definition {
	var out []tool.Definition
	for _, e := range b.visible(v) {
		out = append(out, b.describe(e, v.Mode, v.Model).def)
	}
	return out
}

// Names returns the names of Tools(v).
func (b *Box) Names(v View) []string {
	var out []string
	for _, e := range b.visible(v) {
		out = append(out, e.def.Name)
	}
	return out
}

// Modes returns every mode that a tool is registered for, sorted.
func (b *Box) Modes() []string {
	b.mu.RLock()
	defer b.mu.RUnlock()
	var out []string
	for _, e := range b.entries {
		out = append(out, e.modes...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Definition returns the definition of a tool by name, system tools included. With several tools of one name the one
// of the given mode is meant.
func (b *Box) Definition(name, mode string) (tool.Definition, bool) {
	e := b.find(name, mode, true)
	if e == nil {
		return tool.Definition{}, false
	}
	return e.def, true
}

// byName returns per-request booleans by the names of the list: what an alias says counts for its tool.
func (b *Box) byName(overlay map[string]bool) map[string]bool {
	out, cloned := overlay, false
	for old, name := range b.cfg.Aliases {
		on, set := overlay[old]
		if _, own := out[name]; !set || own && on { // of two opinions the stricter counts
			continue
		}
		if !cloned {
			out, cloned = maps.Clone(overlay), true
		}
		out[name] = on
	}
	return out
}

func (b *Box) visible(v View) []*entry {
	v.Overlay = b.byName(v.Overlay)
	env := b.env.Load()
	b.mu.RLock()
	defer b.mu.RUnlock()
	var out []*entry
	for _, e := range b.entries {
		if e.inMode(v.Mode) && b.absence(e, v, env) == "" {
			out = append(out, e)
		}
	}
	return out
}

// absence says why a tool of the mode is not in the view, or "".
func (b *Box) absence(e *entry, v View, env *tool.Environment) string {
	if v.Model != "" && e.def.Models != nil && !e.def.Models(v.Model) {
		return "model " + v.Model + " is served by another tool"
	}
	if !env.Has(e.def.Credential) {
		return "the environment holds no credential " + e.def.Credential
	}
	if on, set := v.Overlay[e.def.Name]; set && !on {
		return "switched off by the request"
	}
	if h, ok := b.cfg.Gate.(Hider); ok {
		if hidden, by := h.Hidden(e.def.Permission, v.Mode); hidden {
			return "denied by " + by
		}
	}
	if err := b.describe(e, v.Mode, v.Model).err; err != nil {
		return err.Error()
	}
	return ""
}

// Absence explains why a tool is not in the view: "" when it is (P4).
func (b *Box) Absence(name string, v View) string {
	v.Overlay = b.byName(v.Overlay)
	e := b.find(name, v.Mode, true)
	switch {
	case e == nil:
		return "no tool has this name"
	case len(e.modes) == 0:
		return "it is a system tool"
	case !e.inMode(v.Mode):
		return "it is not registered for mode " + v.Mode
	}
	return b.absence(e, v, b.env.Load())
}

// find looks a tool up by name, or else by alias. The tool of the mode wins; those of other modes, and system tools, count
// only for the platform.
func (b *Box) find(name, mode string, platform bool) *entry {
	names := []string{name}
	if to, ok := b.cfg.Aliases[name]; ok {
		names = append(names, to)
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	var other *entry
	for _, n := range names {
		for _, e := range b.entries {
			switch {
			case e.def.Name != n:
			case e.inMode(mode):
				return e
			case platform && other == nil:
				other = e
			}
		}
	}
	return other
}
