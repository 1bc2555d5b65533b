package schema

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Checker mends and validates the arguments of one tool. It is immutable and safe for concurrent use.
type Checker struct {
	root      *node
	resolved  *jsonschema.Resolved // for keywords that the walker does not know; nil where there are none
	unchecked []string
}

// types is a set of JSON Schema types.
type types uint8

const (
	typeNull types = 1 << iota
	typeBoolean
	typeInteger
	typeNumber
	typeString
	typeArray
	typeObject
	typeAny types = 1<<iota - 1
)

var typeNames = [...]string{"null", "boolean", "integer", "number", "string", "array", "object"}

// node is a compiled schema: what the walker asks of one value.
type node struct {
	src    *jsonschema.Schema
	accept types
	orNull *node // the schema is this node or null
	opaque bool  // values are the tool's own business, see Element

	props    []property
	index    map[string]int32
	required int   // how many props are required
	closed   bool  // no other names
	extra    *node // the schema of other names, nil for any
	aliases  map[string]target

	items              *node
	minItems, maxItems int
	minChars, maxChars int
	pattern            *regexp.Regexp
	number             bool // has bounds
	enum               []any
	words              []string // the strings among enum
}

type property struct {
	name     string
	node     *node
	required bool
}

// Compile prepares a schema for checking arguments. Any local schema will do; keywords outside the usual ones are
// checked with jsonschema-go. Errors: a root that does not accept objects, an unknown type, a reference that leaves the
// schema or names nothing, $dynamicRef, references or combinators that make checking endless.
// The schema must not change afterwards.
func Compile(s *jsonschema.Schema) (*Checker, error) {
	c := compiler{root: s, nodes: map[*jsonschema.Schema]*node{}, masks: map[*jsonschema.Schema]types{}}
	if err := walk(s, "", c.inspect); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if err := c.bounded(); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	root, err := c.node(s)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if root.accept&typeObject == 0 {
		return nil, fmt.Errorf("schema: the root accepts %s, not an object", root.accept)
	}
	out := &Checker{root: root, unchecked: c.unchecked}
	if c.foreign {
		if out.resolved, err = c.resolver(); err != nil {
			return nil, fmt.Errorf("schema: %w", err)
		}
	}
	return out, nil
}

// Unchecked lists the constraints that cannot be checked here, such as patterns that Go's regular expressions lack.
func (c *Checker) Unchecked() []string { return slices.Clone(c.unchecked) }

type compiler struct {
	root      *jsonschema.Schema
	nodes     map[*jsonschema.Schema]*node
	masks     map[*jsonschema.Schema]types // what accepts found
	foreign   bool                         // a keyword that needs jsonschema-go
	unchecked []string
}

// inspect refuses what cannot be compiled and notices what needs the other validator.
func (c *compiler) inspect(s *jsonschema.Schema, path string) error {
	if s.Type != "" && s.Types != nil {
		return fmt.Errorf("%s: both Type and Types are set", at(path))
	}
	for _, t := range typesOf(s) {
		if !slices.Contains(typeNames[:], t) {
			return fmt.Errorf("%s: unknown type %q", at(path), t)
		}
	}
	if s.DynamicRef != "" || s.Extra["$recursiveRef"] != nil {
		return fmt.Errorf("%s: $dynamicRef is not supported", at(path))
	}
	if s.ID != "" && s != c.root {
		return fmt.Errorf("%s: a $id inside the schema is not supported", at(path))
	}
	if s.Ref != "" {
		if _, err := resolve(c.root, s.Ref); err != nil {
			return fmt.Errorf("%s: %w", at(path), err)
		}
	}
	if s.Pattern != "" {
		if _, err := regexp.Compile(s.Pattern); err != nil {
			c.unchecked = append(c.unchecked, fmt.Sprintf("%s: pattern %q", at(path), s.Pattern))
		}
	}
	for _, p := range slices.Sorted(keys(s.PatternProperties)) {
		if _, err := regexp.Compile(p); err != nil {
			c.unchecked = append(c.unchecked, fmt.Sprintf("%s: patternProperties %q", at(path), p))
		}
	}
	if needsOther(s) {
		c.foreign = true
	}
	return nil
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func typesOf(s *jsonschema.Schema) []string {
	if s.Type != "" {
		return []string{s.Type}
	}
	return s.Types
}

// needsOther reports keywords that the walker does not check itself.
func needsOther(s *jsonschema.Schema) bool {
	if s.Ref != "" {
		return !bareRef(s)
	}
	if _, ok := nullUnion(s); ok || isFalse(s) {
		return false
	}
	closed := s.AdditionalProperties != nil && isFalse(s.AdditionalProperties)
	for _, r := range s.Required {
		if s.Properties[r] == nil && closed {
			return true
		}
	}
	return s.AllOf != nil || s.AnyOf != nil || s.OneOf != nil || s.Not != nil || s.If != nil || s.DependentSchemas != nil ||
		s.DependencySchemas != nil || s.DependencyStrings != nil || s.DependentRequired != nil || s.PrefixItems != nil ||
		s.ItemsArray != nil || s.Contains != nil || s.UnevaluatedItems != nil || s.UnevaluatedProperties != nil ||
		s.UniqueItems || s.MinProperties != nil || s.MaxProperties != nil || s.PatternProperties != nil ||
		s.PropertyNames != nil || s.MultipleOf != nil
}

// maxInPlace bounds how many schemas may apply to one value.
const maxInPlace = 10_000

// bounded refuses schemas that would be checked without end or for very long: in-place references that form a ring, or
// that multiply. jsonschema-go would exhaust the stack on the first kind.
func (c *compiler) bounded() error {
	const open = -1
	costs := map[*jsonschema.Schema]int{}
	var cost func(s *jsonschema.Schema) (int, error)
	cost = func(s *jsonschema.Schema) (int, error) {
		if n, ok := costs[s]; ok {
			if n == open {
				return 0, errors.New("a $ref or combinator that leads back to itself for the same value")
			}
			return n, nil
		}
		costs[s] = open
		next := children(s, false)
		if s.Ref != "" {
			target, err := resolve(c.root, s.Ref)
			if err != nil {
				return 0, err
			}
			next = append(next, child{schema: target, inPlace: true})
		}
		n := 1
		for _, k := range next {
			if !k.inPlace {
				continue
			}
			m, err := cost(k.schema)
			if err != nil {
				return 0, err
			}
			if n += m; n > maxInPlace {
				return 0, fmt.Errorf("more than %d schemas apply to one value", maxInPlace)
			}
		}
		costs[s] = n
		return n, nil
	}
	return walk(c.root, "", func(s *jsonschema.Schema, path string) error {
		if _, err := cost(s); err != nil {
			return fmt.Errorf("%s: %w", at(path), err)
		}
		return nil
	})
}

func (c *compiler) node(s *jsonschema.Schema) (*node, error) {
	if n := c.nodes[s]; n != nil {
		return n, nil
	}
	if s.Ref != "" && bareRef(s) {
		target, err := resolve(c.root, s.Ref)
		if err != nil {
			return nil, err
		}
		return c.node(target)
	}
	n := &node{src: s, accept: c.accepts(s), maxItems: -1, maxChars: -1}
	c.nodes[s] = n
	if isFalse(s) {
		return n, nil
	}
	if s.Ref != "" {
		return n, nil // siblings mean different things in different drafts: left to the other validator
	}
	if x, ok := nullUnion(s); ok {
		inner, err := c.node(x)
		n.orNull = inner
		return n, err
	}
	return n, c.fill(n, s)
}

func (c *compiler) fill(n *node, s *jsonschema.Schema) error {
	if n.enum = s.Enum; s.Const != nil {
		n.enum = []any{*s.Const}
	}
	n.enumTypes()
	if s.Pattern != "" {
		n.pattern, _ = regexp.Compile(s.Pattern) // a pattern that Go lacks stands in unchecked
	}
	set := func(dst *int, src *int) {
		if src != nil {
			*dst = *src
		}
	}
	set(&n.minItems, s.MinItems)
	set(&n.maxItems, s.MaxItems)
	set(&n.minChars, s.MinLength)
	set(&n.maxChars, s.MaxLength)
	n.number = s.Minimum != nil || s.Maximum != nil || s.ExclusiveMinimum != nil || s.ExclusiveMaximum != nil
	if s.Items != nil && s.PrefixItems == nil {
		items, err := c.node(s.Items)
		if err != nil {
			return err
		}
		n.items = items
		n.opaque = s.Items.Extra[opaqueKey] != nil
	}
	return c.object(n, s)
}

// object compiles what concerns names.
func (c *compiler) object(n *node, s *jsonschema.Schema) (err error) {
	other := s.PatternProperties != nil // other names may match a pattern: left to the other validator
	if a := s.AdditionalProperties; a != nil && !other {
		if n.closed = isFalse(a); !n.closed {
			if n.extra, err = c.node(a); err != nil {
				return err
			}
		}
	}
	n.index = make(map[string]int32, len(s.Properties))
	add := func(name string, p *node) {
		required := slices.Contains(s.Required, name)
		if required {
			n.required++
		}
		n.index[name] = int32(len(n.props))
		n.props = append(n.props, property{name, p, required})
	}
	for _, name := range propertyNames(s) {
		p, err := c.node(s.Properties[name])
		if err != nil {
			return err
		}
		add(name, p)
	}
	for _, name := range s.Required {
		if _, ok := n.index[name]; !ok {
			p := n.extra
			if p == nil {
				p = &node{src: &jsonschema.Schema{}, accept: typeAny, maxItems: -1, maxChars: -1}
			}
			add(name, p)
		}
	}
	n.aliases = aliasesFor(n)
	return nil
}

// enumTypes sorts the enum's strings out and returns the types that its values have.
func (n *node) enumTypes() (t types) {
	for _, v := range n.enum {
		switch v := v.(type) {
		case nil:
			t |= typeNull
		case bool:
			t |= typeBoolean
		case string:
			t |= typeString
			n.words = append(n.words, v)
		case []any:
			t |= typeArray
		case map[string]any:
			t |= typeObject
		default:
			t |= typeNumber | typeInteger
		}
	}
	return t
}

// resolver prepares the other validator on a copy without what it cannot take.
func (c *compiler) resolver() (*jsonschema.Resolved, error) {
	copied := c.root.CloneSchemas()
	err := walk(copied, "", func(s *jsonschema.Schema, _ string) error {
		if _, err := regexp.Compile(s.Pattern); err != nil {
			s.Pattern = ""
		}
		for p := range s.PatternProperties {
			if _, err := regexp.Compile(p); err != nil {
				delete(s.PatternProperties, p)
			}
		}
		if s.Ref != "" {
			s.Ref, _ = localRef(c.root, s.Ref)
		}
		s.Vocabulary, s.Comment, s.Default, s.Examples = nil, "", nil, nil
		return nil
	})
	if err != nil {
		return nil, err
	}
	copied.ID = ""
	if !strings.Contains(copied.Schema, "draft-07") {
		copied.Schema = ""
	}
	return copied.Resolve(nil)
}

// String lists the types for a sentence.
func (t types) String() string {
	if t == typeAny {
		return "any value"
	}
	var names []string
	for i, name := range typeNames {
		if t&(1<<i) == 0 || name == "integer" && t&typeNumber != 0 {
			continue
		}
		article := "a "
		switch name {
		case "null":
			article = ""
		case "integer", "array", "object":
			article = "an "
		}
		names = append(names, article+name)
	}
	switch len(names) {
	case 0:
		return "nothing"
	case 1:
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}
