package query

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"
)

// selector is a compiled JSONPath.
type selector struct {
	text   string
	path   *jsonpath.Path
	single bool // selects at most one value
	sorted bool // visits members of objects, whose order is not given
}

// compile parses a JSONPath. A path without "$" means one from the root; "" is the root.
func compile(text string) (*selector, error) {
	full := strings.TrimSpace(text)
	switch {
	case full == "" || full == ".":
		full = "$"
	case strings.HasPrefix(full, "$"):
	case strings.HasPrefix(full, ".") || strings.HasPrefix(full, "["):
		full = "$" + full
	default:
		full = "$." + full
	}
	p, err := jsonpath.Parse(full)
	if err != nil {
		reason := strings.TrimPrefix(err.Error(), "jsonpath: ")
		return nil, invalid("path", `write it like $.items[0].name, $..id or $.items[?@.size > 10]`, "path %s is not a JSONPath: %s", quote(text), reason)
	}
	s := &selector{text: full, path: p, single: true}
	for _, seg := range p.Query().Segments() {
		if seg.IsDescendant() {
			s.sorted = true
		}
		if seg.IsDescendant() || len(seg.Selectors()) != 1 {
			s.single = false
		}
		for _, sel := range seg.Selectors() {
			switch sel.(type) {
			case spec.Name, spec.Index:
			case spec.SliceSelector:
				s.single = false
			default: // wildcards and filters visit objects too
				s.single, s.sorted = false, true
			}
		}
	}
	return s, nil
}

// root reports whether the path is the whole document.
func (s *selector) root() bool { return len(s.path.Query().Segments()) == 0 }

// node is a selected value and where it stands.
type node struct {
	path string
	v    any
}

// nodes returns what the path selects, always in the same order.
func (s *selector) nodes(v any) []node {
	if s.single {
		var out []node
		for _, n := range s.path.Select(v) {
			out = append(out, node{s.text, n})
		}
		return out
	}
	located := s.path.SelectLocated(v)
	if s.sorted {
		located.Sort()
	}
	out := make([]node, len(located))
	for i, n := range located {
		out[i] = node{shortPath(n.Path), n.Node}
	}
	return out
}

var bareName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// shortPath writes a normalized path as people do: $.items[0].name instead of $['items'][0]['name'].
func shortPath(p spec.NormalizedPath) string {
	var b strings.Builder
	b.WriteByte('$')
	for _, step := range p {
		if name, ok := step.(spec.Name); ok && bareName.MatchString(string(name)) {
			b.WriteString("." + string(name))
		} else {
			b.WriteString(strings.TrimPrefix(spec.Normalized(step).String(), "$"))
		}
	}
	return b.String()
}

// missing explains why the path selects nothing: where it stops to lead on, and what is there.
func (s *selector) missing(v any) *Error {
	e := &Error{Code: CodeNotFound, Field: "path", Message: fmt.Sprintf("nothing is at %s", s.text)}
	segs := s.path.Query().Segments()
	for n := len(segs) - 1; n >= 0; n-- {
		found := spec.Query(true, segs[:n]...).SelectLocated(nil, v, spec.Normalized())
		if len(found) == 0 {
			continue
		}
		at := shortPath(found[0].Path)
		switch got := found[0].Node.(type) {
		case map[string]any:
			e.Message += fmt.Sprintf("; %s is %s", at, describeValue(got))
			e.Exists = sortedKeys(got)
		case []any:
			e.Message += fmt.Sprintf("; %s is %s", at, describeValue(got))
		default:
			e.Message += fmt.Sprintf("; %s is %s and leads nowhere", at, describeValue(got))
		}
		break
	}
	return e
}
