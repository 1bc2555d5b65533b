package schema

import (
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// accepts returns the types that a schema can accept, combinators and references included. The set is never too small:
// a value of another type is certainly invalid, which is what a repair must know. For null it is exact, so that a null
// is dropped from an optional property wherever the property refuses it. The schema is bounded.
func (c *compiler) accepts(s *jsonschema.Schema) types {
	t, ok := c.masks[s]
	if !ok {
		t = c.acceptsAnew(s)
		c.masks[s] = t
	}
	return t
}

func (c *compiler) acceptsAnew(s *jsonschema.Schema) types {
	if isFalse(s) {
		return 0
	}
	t := typeAny
	if names := typesOf(s); len(names) > 0 {
		t = acceptedTypes(s)
	}
	n := node{enum: s.Enum}
	if s.Const != nil {
		n.enum = []any{*s.Const}
	}
	if n.enum != nil {
		t &= n.enumTypes()
	}
	if s.Ref != "" {
		if target, err := resolve(c.root, s.Ref); err == nil {
			other := c.accepts(target)
			if strings.Contains(c.root.Schema, "draft-07") {
				return other // there a $ref stands alone
			}
			t &= other
		}
	}
	for _, b := range s.AllOf {
		t &= c.accepts(b)
	}
	t &= c.choice(s.AnyOf, false) & c.choice(s.OneOf, true)
	if t&typeNull != 0 && !c.conditionsTakeNull(s) {
		t &^= typeNull
	}
	return t
}

// choice joins the types of alternatives. Exactly one must accept null if one is exclusive of the others.
func (c *compiler) choice(branches []*jsonschema.Schema, exclusive bool) types {
	if len(branches) == 0 {
		return typeAny
	}
	var t types
	nulls := 0
	for _, b := range branches {
		a := c.accepts(b)
		t |= a
		if a&typeNull != 0 {
			nulls++
		}
	}
	if exclusive && nulls > 1 {
		t &^= typeNull
	}
	return t
}

// conditionsTakeNull evaluates not, if, then and else for null.
func (c *compiler) conditionsTakeNull(s *jsonschema.Schema) bool {
	takes := func(s *jsonschema.Schema) bool { return s == nil || c.accepts(s)&typeNull != 0 }
	switch {
	case s.Not != nil && takes(s.Not):
		return false
	case s.If == nil:
		return true
	case takes(s.If):
		return takes(s.Then)
	}
	return takes(s.Else)
}

// acceptedTypes returns the types of a schema's type keyword, any where it has none. number takes integers too.
func acceptedTypes(s *jsonschema.Schema) types {
	names := typesOf(s)
	if len(names) == 0 {
		return typeAny
	}
	var t types
	for i, name := range typeNames {
		for _, n := range names {
			if n == name {
				t |= 1 << i
			}
		}
	}
	if t&typeNumber != 0 {
		t |= typeInteger
	}
	return t
}
