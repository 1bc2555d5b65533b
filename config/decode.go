package config

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/tackle-dev/tackle/permission"
	"github.com/tackle-dev/tackle/schema"
	"github.com/tackle-dev/tackle/tool"
)

// Bounds on a file. What is larger is a mistake or an attack.
const (
	maxFile  = 1 << 20 // bytes
	maxDepth = 20      // nested nodes
)

// A decoder reads one layer into the merged configuration, and notes origins, what it ignored and what is wrong.
type decoder struct {
	merged    *Merged
	origin    Origin // without a position
	untrusted bool   // a project that is not trusted
	base      string // what relative folders are relative to; "" refuses them
	home      string
	env       func(string) (string, bool) // nil: nothing is expanded
	secrets   bool                        // a credential may stand here as it is: in the environment
	rules     []permission.Rule
	errs      []error
}

func (d *decoder) at(n *yaml.Node) Origin {
	o := d.origin
	if o.File != "" {
		o.Line, o.Column = n.Line, n.Column
	}
	return o
}

func (d *decoder) fail(n *yaml.Node, path, format string, args ...any) {
	d.errs = append(d.errs, &Error{Origin: d.at(n), Path: path, Reason: fmt.Sprintf(format, args...)})
}

var yamlLine = regexp.MustCompile(`^yaml: line (\d+): `)

// file reads a whole file.
func (d *decoder) file(data []byte) {
	if len(data) > maxFile {
		d.errs = append(d.errs, &Error{Origin: d.origin, Reason: fmt.Sprintf("the file has %d bytes; at most %d are read", len(data), maxFile)})
		return
	}
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	var doc, more yaml.Node
	err := dec.Decode(&doc)
	if err == nil && dec.Decode(&more) == nil {
		d.fail(&more, "", "a second document begins here; a configuration is one document")
		return
	}
	if err != nil {
		if doc.Kind == 0 && err.Error() == "EOF" {
			return // empty
		}
		o, text := d.origin, strings.TrimPrefix(err.Error(), "yaml: ")
		if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
			o.Line, _ = strconv.Atoi(m[1])
			text = strings.TrimPrefix(err.Error(), m[0])
		}
		if strings.Contains(text, "alphabetic or numeric") {
			text += `; a pattern that begins with "*" or "&" needs quotes`
		}
		d.errs = append(d.errs, &Error{Origin: o, Reason: "not YAML: " + text})
		return
	}
	if len(doc.Content) == 1 {
		d.value(doc.Content[0], reflect.ValueOf(&d.merged.Config).Elem(), field{}, 0)
	}
}

// A field is the place of a value in the configuration.
type field struct {
	path  string
	scope string
	dir   bool
}

func (f field) below(name string, tag reflect.StructTag) field {
	if f.path != "" {
		name = f.path + "." + name
	}
	scope := tag.Get("scope")
	if scope == "" {
		scope = f.scope
	}
	return field{path: name, scope: scope, dir: tag.Get("kind") == "dir"}
}

// value reads a node into v.
func (d *decoder) value(n *yaml.Node, v reflect.Value, f field, depth int) {
	switch {
	case depth > maxDepth:
		d.fail(n, f.path, "nested too deeply")
		return
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		d.fail(n, f.path, "anchors and aliases are not read here; write the value out")
		return
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
		return // a key without a value, as while editing
	case !plainTag(n.ShortTag()):
		d.fail(n, f.path, "the tag %s is not read here", n.ShortTag())
		return
	}
	switch t := v.Type(); {
	case t == reflect.TypeFor[[]permission.Rule]():
		d.readRules(n, f)
	case t.Kind() == reflect.Struct && t != reflect.TypeFor[tool.Secret]():
		d.object(n, v, f, depth)
	case t.Kind() == reflect.Map:
		d.mapping(n, v, f, depth)
	case t.Kind() == reflect.Slice:
		d.list(n, v, f)
	default:
		d.leaf(n, v, f)
	}
}

func plainTag(tag string) bool {
	return slices.Contains([]string{"!!str", "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq", "!!timestamp", ""}, tag)
}

// entries returns the keys and values of a mapping; a key that appears twice is an error.
func (d *decoder) entries(n *yaml.Node, path string) [][2]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		d.fail(n, path, "want keys and values here, not %s", kind(n))
		return nil
	}
	seen := map[string]int{}
	var out [][2]*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		switch line, twice := seen[k.Value]; {
		case k.Kind != yaml.ScalarNode:
			d.fail(k, path, "a key must be a plain word, not %s", kind(k))
			continue
		case twice:
			d.fail(k, path, "the key %q stands twice, first in line %d", k.Value, line)
			continue
		}
		seen[k.Value] = k.Line
		out = append(out, [2]*yaml.Node{k, n.Content[i+1]})
	}
	return out
}

func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys and values"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	return "a single value"
}

func (d *decoder) object(n *yaml.Node, v reflect.Value, f field, depth int) {
	fields := map[string]reflect.StructField{}
	for sf := range v.Type().Fields() {
		fields[key(sf)] = sf
	}
	for _, e := range d.entries(n, f.path) {
		name := e[0].Value
		sf, ok := fields[name]
		if !ok {
			d.unknown(e[0], f.below(name, "").path, slices.Sorted(maps.Keys(fields)))
			continue
		}
		d.value(e[1], v.FieldByIndex(sf.Index), f.below(name, sf.Tag), depth+1)
	}
}

func (d *decoder) unknown(n *yaml.Node, path string, known []string) {
	if why := reserved(path); why != "" {
		d.fail(n, path, "%s", why)
		return
	}
	hint := "; keys here are " + strings.Join(known, ", ")
	if near := schema.Nearest(n.Value, known); near != "" {
		hint = fmt.Sprintf("; did you mean %s?", near)
	}
	d.fail(n, path, "there is no setting of this name%s", hint)
}

// key returns the name of a field in files.
func key(sf reflect.StructField) string {
	name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
	return name
}

// mapping merges by key: a value that is there already is changed, not replaced.
func (d *decoder) mapping(n *yaml.Node, v reflect.Value, f field, depth int) {
	for _, e := range d.entries(n, f.path) {
		name := e[0].Value
		if strings.ContainsAny(name, ".[] ") || name == "" {
			d.fail(e[0], f.path, "the key %q is not a name", name)
			continue
		}
		elem := reflect.New(v.Type().Elem()).Elem()
		old := v.MapIndex(reflect.ValueOf(name))
		if old.IsValid() {
			elem.Set(old)
		}
		d.value(e[1], elem, f.below(name, ""), depth+1)
		if d.untrusted && !old.IsValid() && elem.IsZero() {
			continue // nothing of it counts, so there is no such thing: an empty one would be a mistake of nobody's
		}
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		v.SetMapIndex(reflect.ValueOf(name), elem)
	}
}

// list replaces a list of strings whole.
func (d *decoder) list(n *yaml.Node, v reflect.Value, f field) {
	if n.Kind != yaml.SequenceNode {
		d.fail(n, f.path, "want a list here, not %s", kind(n))
		return
	}
	if !d.may(n, f, nil) {
		return
	}
	out := reflect.MakeSlice(v.Type(), 0, len(n.Content))
	maps.DeleteFunc(d.merged.Origins, func(path string, _ Origin) bool { return strings.HasPrefix(path, f.path+"[") })
	for i, c := range n.Content {
		elem := reflect.New(v.Type().Elem()).Elem()
		at := f
		at.path = fmt.Sprintf("%s[%d]", f.path, i)
		if d.scalar(c, elem, at) {
			out = reflect.Append(out, elem)
			d.merged.Origins[at.path] = d.at(c)
		}
	}
	v.Set(out)
}

// leaf reads a single value.
func (d *decoder) leaf(n *yaml.Node, v reflect.Value, f field) {
	fresh := reflect.New(v.Type()).Elem()
	if v.Type() == reflect.TypeFor[tool.Secret]() && !d.secrets && !isReference(n) {
		d.fail(n, f.path, "a credential is written as a reference and never as itself: put it into an environment variable, write ${NAME} here, and change the credential if this file was shared")
		return
	}
	if d.untrusted {
		// References are not followed for an untrusted project: its values reach models and screens.
		if f.scope == "tighten" && !strings.Contains(n.Value, "${") && !d.scalar(n, fresh, f) {
			return
		}
		if !d.may(n, f, fresh.Interface()) {
			return
		}
	} else if !d.may(n, f, nil) || !d.scalar(n, fresh, f) {
		return
	}
	v.Set(fresh)
	d.merged.Origins[f.path] = d.at(n)
}

// isReference reports whether a value is ${NAME}, or ${NAME:-} for a credential that may be missing.
func isReference(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode || !strings.HasPrefix(n.Value, "${") {
		return false
	}
	_, fallback, _, rest, err := reference(n.Value)
	return err == nil && fallback == "" && rest == ""
}

// may reports whether the layer may make this setting; otherwise it is an error, or is noted as ignored.
func (d *decoder) may(n *yaml.Node, f field, value any) bool {
	switch {
	case d.origin.Layer != LayerProject:
		return true
	case f.scope == "user":
		d.fail(n, f.path, "a project cannot make this setting; it belongs into your own configuration")
		return false
	case !d.untrusted || f.scope == "tighten" && tightens(value):
		return true
	}
	d.merged.Ignored = append(d.merged.Ignored, Ignored{Path: f.path, Origin: d.at(n), Reason: "the project is not trusted"})
	return false
}

// tightens reports whether a value makes its setting stricter than its default.
func tightens(value any) bool {
	switch v := value.(type) {
	case bool:
		return v // require_read
	case *bool:
		return v != nil && !*v // enabled
	}
	return false
}

// text returns the text of a scalar with references replaced.
func (d *decoder) text(n *yaml.Node, f field) (string, bool) {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		d.fail(n, f.path, "anchors and aliases are not read here; write the value out")
		return "", false
	case n.Kind != yaml.ScalarNode:
		d.fail(n, f.path, "want a single value here, not %s", kind(n))
		return "", false
	case d.env == nil:
		return n.Value, true
	}
	s, err := expand(n.Value, d.env)
	if err != nil {
		d.fail(n, f.path, "%v", err)
		return "", false
	}
	return s, true
}

// scalar reads one value and reports whether it could.
func (d *decoder) scalar(n *yaml.Node, v reflect.Value, f field) bool {
	s, ok := d.text(n, f)
	if !ok {
		return false
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	err := d.parse(s, v, f)
	if err != nil {
		if s != n.Value {
			// What came out of the environment is not shown.
			err = fmt.Errorf("what %q stands for is not %s", n.Value, wanted(v))
		}
		d.fail(n, f.path, "%v", err)
	}
	return err == nil
}

// parse reads the text of a value.
func (d *decoder) parse(s string, v reflect.Value, f field) error {
	switch p := v.Addr().Interface().(type) {
	case *permission.Posture:
		*p = permission.Posture(s)
		return p.Check()
	case *time.Duration:
		value, err := ParseDuration(s)
		*p = value
		return err
	case *Size:
		return p.UnmarshalText([]byte(s))
	case *bool:
		switch s {
		case "true", "false":
			*p = s == "true"
			return nil
		}
		return fmt.Errorf("%q is neither true nor false", s)
	case *int:
		value, err := strconv.Atoi(s)
		if err != nil || value < -1 {
			return fmt.Errorf("%q is not a whole number from -1 on", s)
		}
		*p = value
		return nil
	case *float64:
		value, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
			return fmt.Errorf("%q is not a number", s)
		}
		*p = value
		return nil
	case *tool.Secret:
		*p = tool.NewSecret(s)
		return nil
	case *string:
		*p = s
		if f.dir {
			return d.dir(p)
		}
		return nil
	}
	return fmt.Errorf("the type %s cannot be set", v.Type())
}

func wanted(v reflect.Value) string {
	switch v.Addr().Interface().(type) {
	case *permission.Posture:
		return "a posture"
	case *time.Duration:
		return "a duration"
	case *Size:
		return "a size"
	case *bool:
		return "true or false"
	case *int:
		return "a whole number from -1 on"
	case *float64:
		return "a number"
	}
	return "a folder that can be used"
}

// dir makes a folder absolute and clean.
func (d *decoder) dir(p *string) error {
	switch s := *p; {
	case s == "":
		return fmt.Errorf("the folder is empty")
	case s == "~" || strings.HasPrefix(s, "~/"):
		if d.home == "" {
			return fmt.Errorf(`"~" means nothing here: HOME is not set`)
		}
		*p = filepath.Join(d.home, s[1:])
	case strings.HasPrefix(s, "~"):
		return fmt.Errorf("%q: only \"~/\" is read, not the homes of others", s)
	case !filepath.IsAbs(s):
		if d.base == "" {
			return fmt.Errorf("%q is relative, and this file belongs to no folder; write an absolute path or ~/", s)
		}
		*p = filepath.Join(d.base, s)
	default:
		*p = filepath.Clean(s)
	}
	return nil
}
