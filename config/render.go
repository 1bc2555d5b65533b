package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/tool"
)

// A setting is one value of a configuration as it is shown.
type setting struct {
	path, value string
	set         bool // is not zero
	list        bool
	def         string // what the zero value means
}

// settings lists the values of a configuration in the order of its fields; lists by element, maps by sorted key. An
// empty list or map is one setting, so that it can be shown and set.
func settings(c Config) []setting {
	var out []setting
	walk(reflect.ValueOf(c), "", "", &out)
	return out
}

func walk(v reflect.Value, path, def string, out *[]setting) {
	switch t := v.Type(); {
	case t == reflect.TypeFor[[]permission.Rule]():
	case t == reflect.TypeFor[tool.Secret]():
		*out = append(*out, setting{path: path, value: fmt.Sprint(v.Interface()), set: !v.IsZero(), def: def})
	case t.Kind() == reflect.Struct:
		for sf := range t.Fields() {
			name := key(sf)
			if path != "" {
				name = path + "." + name
			}
			walk(v.FieldByIndex(sf.Index), name, sf.Tag.Get("default"), out)
		}
	case t.Kind() == reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			walk(v.MapIndex(k), path+"."+k.String(), "", out)
		}
	case t.Kind() == reflect.Slice && v.Len() == 0:
		*out = append(*out, setting{path: path, list: true, def: def})
	case t.Kind() == reflect.Slice:
		for i := range v.Len() {
			*out = append(*out, setting{path: fmt.Sprintf("%s[%d]", path, i), value: show(v.Index(i)), set: true, list: true})
		}
	default:
		*out = append(*out, setting{path: path, value: show(v), set: !v.IsZero(), def: def})
	}
}

// show writes a value as a file would hold it.
func show(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	switch x := v.Interface().(type) {
	case time.Duration:
		return formatDuration(x)
	case Size:
		return x.String()
	case string:
		if strconv.Quote(x) != `"`+x+`"` {
			return strconv.Quote(x) // what does not print must not hide
		}
		return x
	}
	return fmt.Sprint(v.Interface())
}

// Value is one value with its origin, as MarshalJSON writes it.
type Value struct {
	Path    string `json:"path"`
	Value   string `json:"value"`
	Default bool   `json:"default,omitempty"` // nobody set it: Value is what the zero value means
	Origin  Origin `json:"origin"`
}

// Values lists every value with its origin, in the order of the fields of Config. Credentials are placeholders.
func (m Merged) Values() []Value {
	var out []Value
	for _, s := range settings(m.Config) {
		o, ok := m.Origins[s.path]
		switch {
		case ok:
			out = append(out, Value{Path: s.path, Value: s.value, Origin: o})
		case s.set:
			out = append(out, Value{Path: s.path, Value: s.value, Origin: Origin{Layer: LayerProgram}})
		case s.def != "":
			out = append(out, Value{Path: s.path, Value: s.def, Default: true, Origin: Origin{Layer: LayerBuiltIn}})
		}
	}
	return out
}

// MarshalJSON writes values with origins, rules by layer, files, and what is ignored.
func (m Merged) MarshalJSON() ([]byte, error) {
	type layer struct {
		Layer   string            `json:"layer"`
		Trusted bool              `json:"trusted"`
		Rules   []permission.Rule `json:"rules"`
	}
	var layers []layer
	for _, l := range m.Layers {
		layers = append(layers, layer{l.Name, !l.Untrusted, l.Rules})
	}
	return json.Marshal(struct {
		ProjectDir string    `json:"projectDir"`
		Values     []Value   `json:"values"`
		Rules      []layer   `json:"rules,omitempty"`
		Files      []File    `json:"files,omitempty"`
		Ignored    []Ignored `json:"ignored,omitempty"`
	}{m.ProjectDir, m.Values(), layers, m.Files, m.Ignored})
}

// Text renders the configuration for people: every value with its origin, then the rules, then what is ignored.
func (m Merged) Text() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	for _, v := range m.Values() {
		from := v.Origin.Layer
		if at := v.Origin.String(); at != from {
			from += " (" + at + ")"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", v.Path, v.Value, from)
	}
	w.Flush()
	for _, l := range m.Layers {
		trust := ""
		if l.Untrusted {
			trust = " (not trusted: allow rules do not count)"
		}
		fmt.Fprintf(&b, "\nrules of layer %s%s, the last that matches is its opinion\n", l.Name, trust)
		w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
		for i, r := range l.Rules {
			fmt.Fprintf(w, "  %d\t%s\t%s\t%q\t%s\n", i+1, r.Action, r.Permission, r.Pattern, r.Source)
		}
		w.Flush()
	}
	for i, g := range m.Ignored {
		if i == 0 {
			b.WriteString("\nignored\n")
		}
		fmt.Fprintf(&b, "  %s at %s: %s\n", g.Path, g.Origin, g.Reason)
	}
	return b.String()
}
