package data

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tackle-dev/tackle/media"
)

// node is a JSON value with its place in the text.
type node struct {
	kind     byte // { [ " 0 (number) t (true, false) n (null)
	from, to int
	members  []member
	items    []*node
}

type member struct {
	key     string
	from    int // of the key
	val     *node
	rawName string
}

func (n *node) what() string {
	return map[byte]string{'{': "an object", '[': "an array", '"': "a text", '0': "a number", 't': "true or false", 'n': "null"}[n.kind]
}

// tree reads valid JSON. Depth is bounded by the caller's check.
type tree struct {
	src string
	at  int
}

func parseJSON(src string, lim media.Limits) (*node, error) {
	if err := checkJSON(src, lim.WithDefaults().Depth); err != nil {
		return nil, err
	}
	t := &tree{src: src}
	t.blanks()
	return t.value(), nil
}

// checkJSON says where a text is not JSON.
func checkJSON(src string, most int) error {
	depth, in := 0, false
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case in && c == '\\':
			i++
		case c == '"':
			in = !in
		case !in && (c == '{' || c == '['):
			if depth++; depth > most {
				return media.Failf("the JSON is nested deeper than %d.", most)
			}
		case !in && (c == '}' || c == ']'):
			depth--
		}
	}
	if json.Valid([]byte(src)) {
		return nil
	}
	var v any
	err := json.Unmarshal([]byte(src), &v)
	if se, ok := err.(*json.SyntaxError); ok {
		line := strings.Count(src[:min(len(src), int(se.Offset))], "\n") + 1
		return media.Failf("it is no valid JSON: line %d: %v. Mend it with update_text first.", line, se)
	}
	return media.Failf("it is no valid JSON: %v.", err)
}

func (t *tree) blanks() {
	for t.at < len(t.src) && strings.IndexByte(" \t\r\n", t.src[t.at]) >= 0 {
		t.at++
	}
}

func (t *tree) value() *node {
	n := &node{from: t.at, kind: t.src[t.at]}
	switch n.kind {
	case '{':
		t.at++
		for t.blanks(); t.src[t.at] != '}'; t.blanks() {
			if t.src[t.at] == ',' {
				t.at++
				t.blanks()
			}
			m := member{from: t.at}
			m.rawName = t.str()
			_ = json.Unmarshal([]byte(m.rawName), &m.key) // it is valid
			t.blanks()
			t.at++ // the colon
			t.blanks()
			m.val = t.value()
			n.members = append(n.members, m)
		}
		t.at++
	case '[':
		t.at++
		for t.blanks(); t.src[t.at] != ']'; t.blanks() {
			if t.src[t.at] == ',' {
				t.at++
				t.blanks()
			}
			n.items = append(n.items, t.value())
		}
		t.at++
	case '"':
		t.str()
	default:
		if n.kind == '-' || n.kind >= '0' && n.kind <= '9' {
			n.kind = '0'
		} else if n.kind == 'f' {
			n.kind = 't'
		}
		for t.at < len(t.src) && strings.IndexByte(" \t\r\n,]}", t.src[t.at]) < 0 {
			t.at++
		}
	}
	n.to = t.at
	return n
}

func (t *tree) str() string {
	from := t.at
	for t.at++; t.src[t.at] != '"'; t.at++ {
		if t.src[t.at] == '\\' {
			t.at++
		}
	}
	t.at++
	return t.src[from:t.at]
}

// document is a JSON text that is being edited.
type document struct {
	src    string
	lim    media.Limits
	unit   string // of indentation; "" where the document is on one line
	counts media.Counts
}

// indentUnit finds the indentation of the first nested line.
func indentUnit(src string) string {
	for line := range strings.Lines(src) {
		body := strings.TrimLeft(line, " \t")
		if n := len(line) - len(body); n > 0 && strings.TrimSpace(body) != "" {
			return line[:n]
		}
	}
	if strings.Contains(strings.TrimSpace(src), "\n") || len(strings.TrimSpace(src)) <= 2 {
		return "  "
	}
	return ""
}

// spread reports whether a container has its parts on lines of their own.
func (d *document) spread(n *node) bool { return strings.Contains(d.src[n.from:n.to], "\n") }

// indentAt returns the indentation of the line that holds an offset.
func (d *document) indentAt(at int) string {
	line := d.src[strings.LastIndexByte(d.src[:at], '\n')+1:]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// layout writes a value as the document is laid out.
func (d *document) layout(raw []byte, indent string, lines bool) string {
	if !lines || d.unit == "" {
		if d.unit == "" {
			return string(raw)
		}
		return spaced(raw)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, indent, d.unit); err != nil {
		return string(raw)
	}
	return b.String()
}

// spaced writes a value on one line with blanks, as people do within a line.
func spaced(raw []byte) string {
	var b strings.Builder
	in := false
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		b.WriteByte(c)
		switch {
		case in && c == '\\':
			i++
			b.WriteByte(raw[i])
		case c == '"':
			in = !in
		case !in && (c == ',' || c == ':'):
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func (d *document) splice(from, to int, with string) { d.src = d.src[:from] + with + d.src[to:] }

// step finds what a segment names in a node.
func step(n *node, s segment) (*node, bool) {
	if s.is {
		if n.kind == '[' && s.index < len(n.items) {
			return n.items[s.index], true
		}
		return nil, false
	}
	if n.kind == '{' {
		for i := len(n.members) - 1; i >= 0; i-- { // of two alike the last counts for every reader
			if n.members[i].key == s.key {
				return n.members[i].val, true
			}
		}
	}
	return nil, false
}

// set sets the value at a path, making the containers that are missing.
func (d *document) set(path []segment, raw []byte) error {
	root, err := parseJSON(d.src, d.lim)
	if err != nil {
		return err
	}
	n := root
	for i, s := range path {
		next, ok := step(n, s)
		if ok {
			n = next
			continue
		}
		if err := fromZero(path, i, n.kind != '{' && n.kind != '['); err != nil {
			return err
		}
		value := wrap(path[i+1:], raw)
		d.counts.Added++
		switch {
		case n.kind == 'n' || i == 0 && n.kind != '{' && n.kind != '[':
			d.counts.Added--
			d.counts.Modified++
			d.splice(n.from, n.to, d.layout(wrap(path[i:], raw), d.indentAt(n.from), d.unit != ""))
		case s.is && n.kind == '[':
			if s.index > len(n.items) {
				return media.Failf("%s has %d items, so the next index is %d, not %d.", printPath(path[:i]), len(n.items), len(n.items), s.index)
			}
			d.insert(n, "", value)
		case !s.is && n.kind == '{':
			key, _ := json.Marshal(s.key) // a string always encodes
			d.insert(n, string(key), value)
		case s.is:
			return media.Failf("%s is %s, so it has no %s.", printPath(path[:i]), n.what(), s)
		default:
			return media.Failf("%s is %s, so it has no %q.", printPath(path[:i]), n.what(), s.key)
		}
		return nil
	}
	d.counts.Modified++
	lines := d.unit != ""
	if n.kind == '{' || n.kind == '[' {
		lines = d.spread(n) || len(n.members)+len(n.items) == 0
	}
	d.splice(n.from, n.to, d.layout(raw, d.indentAt(n.from), lines))
	return nil
}

// fromZero refuses an index above 0 into an array that is about to be made; with self also path[i] is one of those.
func fromZero(path []segment, i int, self bool) error {
	if !self {
		i++
	}
	for ; i < len(path); i++ {
		if path[i].is && path[i].index > 0 {
			return media.Failf("%s is not there yet, so its first index is 0, not %d.", printPath(path[:i]), path[i].index)
		}
	}
	return nil
}

// wrap makes the containers of a path around a value.
func wrap(path []segment, raw []byte) []byte {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].is {
			raw = fmt.Appendf(nil, "[%s]", raw)
			continue
		}
		key, _ := json.Marshal(path[i].key)
		raw = fmt.Appendf(nil, "{%s:%s}", key, raw)
	}
	return raw
}

// insert adds a part at the end of a container.
func (d *document) insert(n *node, key string, raw []byte) {
	end := n.to - 1
	last := -1
	if k := len(n.members); k > 0 {
		last = n.members[k-1].val.to
	} else if k := len(n.items); k > 0 {
		last = n.items[k-1].to
	}
	lines := d.unit != "" && (last < 0 || d.spread(n))
	outer := d.indentAt(n.from)
	inner := outer + d.unit
	if key != "" {
		key += ":"
		if d.unit != "" || strings.Contains(d.src, `": `) {
			key += " "
		}
	}
	text := key + d.layout(raw, inner, lines)
	switch {
	case last < 0 && lines:
		d.splice(n.from, n.to, d.src[n.from:n.from+1]+"\n"+inner+text+"\n"+outer+d.src[end:n.to])
	case last < 0:
		d.splice(n.from+1, end, text)
	case lines:
		var first int
		if len(n.members) > 0 {
			first = n.members[0].from
		} else {
			first = n.items[0].from
		}
		d.splice(last, last, ",\n"+d.indentAt(first)+text)
	default:
		sep := ", "
		if !strings.Contains(d.src, ", ") && !strings.Contains(d.src, `": `) {
			sep = ","
		}
		d.splice(last, last, sep+text)
	}
}

// remove deletes the value at a path with its comma.
func (d *document) remove(path []segment) error {
	n, err := parseJSON(d.src, d.lim)
	if err != nil {
		return err
	}
	for i, s := range path {
		next, ok := step(n, s)
		if !ok {
			return media.Failf("there is no %s; %s.", printPath(path[:i+1]), holds(n, printPath(path[:i])))
		}
		if i < len(path)-1 {
			n = next
			continue
		}
		var from, to []int // of each part
		at := -1
		for k, m := range n.members {
			from, to = append(from, m.from), append(to, m.val.to)
			if m.val == next {
				at = k
			}
		}
		for k, v := range n.items {
			from, to = append(from, v.from), append(to, v.to)
			if v == next {
				at = k
			}
		}
		switch {
		case len(from) == 1:
			d.splice(n.from+1, n.to-1, "")
		case at == len(from)-1:
			d.splice(to[at-1], to[at], "")
		default:
			d.splice(from[at], from[at+1], "")
		}
	}
	d.counts.Removed++
	return nil
}

// holds says what a container has, for errors.
func holds(n *node, name string) string {
	switch n.kind {
	case '[':
		return fmt.Sprintf("%s has %d items, from [0]", name, len(n.items))
	case '{':
		var keys []string
		for i, m := range n.members {
			if i == 20 {
				keys = append(keys, "…")
				break
			}
			keys = append(keys, m.rawName)
		}
		if len(keys) == 0 {
			return name + " is empty"
		}
		return name + " has " + strings.Join(keys, ", ")
	}
	return name + " is " + n.what()
}

// merge merges an object into the value at a path.
func (d *document) merge(path []segment, fragment *node, text string, deep bool) error {
	for _, m := range fragment.members {
		at := append(path[:len(path):len(path)], segment{key: m.key})
		if deep && m.val.kind == '{' {
			root, err := parseJSON(d.src, d.lim)
			if err != nil {
				return err
			}
			n, ok := root, true
			for _, s := range at {
				if n, ok = step(n, s); !ok {
					break
				}
			}
			if ok && n.kind == '{' {
				if err := d.merge(at, m.val, text, deep); err != nil {
					return err
				}
				continue
			}
		}
		if err := d.set(at, []byte(text[m.val.from:m.val.to])); err != nil {
			return err
		}
	}
	return nil
}

func editJSON(_ context.Context, r *media.Request) (media.Result, error) {
	src, enc, err := decode(&r.In)
	if err != nil {
		return media.Result{}, err
	}
	d := &document{src: src, lim: r.Limits, unit: indentUnit(src)}
	if strings.TrimSpace(src) == "" {
		d.src, d.unit = "null\n", "  "
	}
	if r.Op == "data.merge" {
		fragment := string(r.Args["fragment"].(json.RawMessage))
		f, err := parseJSON(fragment, r.Limits)
		if err != nil {
			return media.Result{}, err
		}
		root, err := parseJSON(d.src, r.Limits)
		switch {
		case err != nil:
			return media.Result{}, err
		case f.kind != '{':
			return media.Result{}, media.Failf("the fragment is %s; only an object can be merged.", f.what())
		case root.kind != '{' && root.kind != 'n':
			return media.Result{}, media.Failf("%s is %s at its root; only into an object can be merged. Use data set with a path.", r.In.Name, root.what())
		}
		if root.kind == 'n' {
			d.splice(root.from, root.to, "{}")
		}
		err = d.merge(nil, f, fragment, r.Args["strategy"] != "shallow")
		if err != nil {
			return media.Result{}, err
		}
		return done(r, d.src, enc, nil, d.counts)
	}
	path, err := parsePath(r.Args["path"].(string))
	if err != nil {
		return media.Result{}, err
	}
	if r.Op == "data.set" {
		err = d.set(path, r.Args["value"].(json.RawMessage))
	} else {
		err = d.remove(path)
	}
	if err != nil {
		return media.Result{}, err
	}
	return done(r, d.src, enc, nil, d.counts)
}
